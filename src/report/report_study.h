/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how a study is shown before it runs: what it will do, how often it boots, what cannot be done here. */
#ifndef HVTUNE_REPORT_STUDY_H
#define HVTUNE_REPORT_STUDY_H

#include <jansson.h>

#include "study_check.h"
#include "term.h"

void report_study_check(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			const struct study_checked *checked);

/* Adds "study", "configurations", "factors", "workloads", "switches", "problems", "possible" to `json`. */
void report_study_check_json(json_t *json, const struct study_matrix *matrix, const struct study_checked *checked);

/* All mistakes of a file, to `out`, each as errors are printed. */
void report_study_mistakes(FILE *out, const struct study_mistakes *mistakes);

#endif

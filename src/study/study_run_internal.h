/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what running a study and reading it back have in common: how its runs stand in the store. */
#ifndef HVTUNE_STUDY_RUN_INTERNAL_H
#define HVTUNE_STUDY_RUN_INTERNAL_H

#include "study_run.h"

extern const char *const study_purposes[]; /* by enum study_purpose */

/* The name of the configuration in the store that is a workload in a configuration of the study. */
const char *study_subject_name(struct arena *arena, const struct study_matrix *matrix, size_t config, size_t workload);

/* A run of all workloads is put together one by one. `joules` may be NAN. */
void study_seen_begin(struct study_seen *seen, int config, int boot, enum study_purpose purpose);
void study_seen_add(struct study_seen *seen, const struct study *study, size_t workload, double wall_s, double value,
		    double joules);
void study_seen_end(struct study_seen *seen);

#endif

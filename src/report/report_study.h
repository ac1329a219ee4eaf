/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns how a study is shown: before it runs what it will do, how often it boots and what cannot be done here; then its
 * answer, as far as it has one.
 */
#ifndef HVTUNE_REPORT_STUDY_H
#define HVTUNE_REPORT_STUDY_H

#include <jansson.h>

#include "study_estimate.h"
#include "study_run.h"
#include "study_verdict.h"
#include "term.h"

void report_study_check(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			const struct study_checked *checked);

/* How long it takes by that estimate, "8 min to 12 min": what is announced. NULL: not known. In the arena. */
const char *report_study_length(struct arena *arena, const struct study_estimate *estimate);

/* Adds "study", "configurations", "factors", "workloads", "switches", "problems", "possible" to `json`. */
void report_study_check_json(json_t *json, const struct study_matrix *matrix, const struct study_checked *checked);

/* A share of 1 in per cent, "2.5 %"; odds of few draws are never told as 0 or 100 %: "less than 0.1 %". In the arena.
 */
const char *report_study_percent(struct arena *arena, double share);
const char *report_study_odds(struct arena *arena, double share);

/* What measuring a choice again beside the baseline has shown. */
struct report_confirmed {
	struct stat_interval ratio; /* to the baseline; bounded */
	double within;		    /* no difference larger than that share was found; NAN: one was */
	int pairs;
};

/* "-5.2 % (-6.1 % to -4.3 %, 12 pairs)" for whoever tells of it. In the arena; `utf8` as in struct term. */
const char *report_study_confirmed(struct arena *arena, const struct report_confirmed *confirmed, bool utf8);

/* The best of each target, how sure that is, and where what was measured stands. */
void report_study_answer(const struct term *term, const struct study_matrix *matrix,
			 const struct study_outcome *outcome);

/* A list, for each target: {"target", "best", "sure", "unsure" (why), "bad", "fallback", "configurations",
 * "confirmed"}. The last is null or {"ratio", "low", "high", "pairs", "within" (see struct report_confirmed), "alpha"
 * (nominal, of the interval)}. */
json_t *report_study_answer_json(const struct study_matrix *matrix, const struct study_outcome *outcome);

/* What to take, how sure that is and what more time would bring, the front, idle watts, shares. */
void report_study_verdict(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			  const struct study_verdict *verdict);

/*
 * The same as an object: {"baseline", "picks", "slower", "configurations", "idle", "idle_why", "break_even_s",
 * "shares", "together", "within", "void", "minutes"}. It is kept with the results, and `study apply` reads it.
 */
json_t *report_study_verdict_json(struct arena *arena, const struct study_matrix *matrix,
				  const struct study_verdict *verdict);

/* All mistakes of a file, to `out`, each as errors are printed. */
void report_study_mistakes(FILE *out, const struct study_mistakes *mistakes);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the estimate of what a study takes. */
#include "study_estimate.h"

#include <math.h>

#include "stat_select.h"
#include "study_engine.h"

/* Seconds of one run of all workloads; 0 when one does not say. */
static double run_seconds(const struct study *study)
{
	double sum = 0;

	for (size_t i = 0; i < study->workload_count; i++) {
		if (study->workloads[i].takes_s <= 0)
			return 0;
		sum += study->workloads[i].takes_s;
	}
	return sum;
}

static bool is_race(const struct study_matrix *matrix)
{
	const enum study_design design = matrix->study->design;

	return design == STUDY_RACE || (design == STUDY_AUTO && matrix->count >= STUDY_FEW_CONFIGS);
}

/* Rounds of the baseline, all together, each lever alone and each left out. */
static size_t configs_of_levers(const struct study_matrix *matrix)
{
	return MIN_OF(2 * matrix->study->factor_count + 2, matrix->count);
}

static size_t boots_of(const struct study_switches *switches)
{
	return switches->count[STUDY_HOST_BOOT] + switches->count[STUDY_PERSON];
}

void study_estimate(const struct study_matrix *matrix, struct study_estimate *ret)
{
	const struct study *study = matrix->study;
	struct study_estimate estimate = {.run_s = run_seconds(study)};
	size_t configs = study->design == STUDY_ONE_BY_ONE ? configs_of_levers(matrix) : matrix->count;
	double share, discarded = 0;

	study_count_switches(matrix, &estimate.once);
	for (size_t cost = 0; cost < STUDY_COSTS; cost++) {
		size_t count = estimate.once.count[cost];

		estimate.once_s += (double)count * study_cost_seconds((enum study_cost)cost);
		/* The first run after a restart or boot warms up only. */
		discarded += cost >= STUDY_VM_RESTART ? (double)count : 0;
	}
	estimate.once_s += ((double)matrix->count + discarded) * estimate.run_s;
	if (is_race(matrix)) {
		estimate.look = MIN_OF((size_t)STAT_DESIGN, matrix->count);
		share = (double)estimate.look / (double)MAX_OF(matrix->count, (size_t)1);
		estimate.least_s = share * estimate.once_s;
		estimate.most_s = study->budget_s;
		/* Nested, the first look visits every dear level; each more costs a boot at most. */
		estimate.least_boots = MIN_OF(boots_of(&estimate.once), estimate.look);
		*ret = estimate;
		return;
	}
	share = (double)configs / (double)MAX_OF(matrix->count, (size_t)1);
	estimate.least = study->runs_least;
	estimate.most = study->runs_most;
	estimate.least_s = share * estimate.once_s * (double)estimate.least;
	estimate.most_s = share * estimate.once_s * (double)estimate.most;
	if (study->budget_s > 0)
		estimate.most_s = fmin(estimate.most_s, study->budget_s);
	estimate.least_boots = (size_t)(share * (double)boots_of(&estimate.once)) * estimate.least;
	estimate.most_boots = (size_t)(share * (double)boots_of(&estimate.once)) * estimate.most;
	*ret = estimate;
}

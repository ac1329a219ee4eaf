/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the estimate of what a study takes. */
#include "study_estimate.h"

#include <math.h>

#include "stat_select.h"
#include "stat_sequential.h"
#include "study_engine.h"
#include "study_hand.h"

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
	return switches->count[STUDY_HOST_BOOT];
}

/* Seconds of a switch. Hooks that take a moment are not looked at again after they have run, as knobs are. */
static double switch_seconds(const struct study *study, enum study_cost cost)
{
	bool sets = false;

	for (size_t f = 0; f < study->factor_count && cost == STUDY_LIVE; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			sets = sets || study->factors[f].levels[l].ask_count;
	/* How long a person takes is his matter: the study does not count it. */
	if (cost == STUDY_PERSON)
		return 0;
	return cost == STUDY_LIVE && !sets ? 0 : study_switch_seconds(study, cost);
}

/* Pairs of fresh runs of the best and the baseline, each set anew; *ret_most: where chance wants more of them. */
static double confirm_seconds(const struct study *study, double run_s, double *ret_most)
{
	enum study_cost dearest = STUDY_LIVE;

	for (size_t f = 0; f < study->factor_count; f++)
		dearest = MAX_OF(dearest, study->factors[f].cost);
	double pair_s = 2 * (run_s + switch_seconds(study, dearest) + (dearest >= STUDY_VM_RESTART ? run_s : 0));
	bool boots = dearest >= STUDY_HOST_BOOT;

	*ret_most = study->confirm ? pair_s * (boots ? STUDY_CONFIRM_BOOTS : study_confirm_most(study)) : 0;
	return study->confirm ? pair_s * (boots ? STUDY_CONFIRM_BOOTS : STAT_BLOCKS_FIRST) : 0;
}

/* At most: where the best has another of a person's levels than the baseline, he is asked in the middle of each pair.
 */
static size_t asks_to_confirm(const struct study *study)
{
	size_t levels = 1;

	for (size_t f = 0; f < study->factor_count; f++)
		levels *= study->factors[f].ask ? study->factors[f].level_count : 1;
	/* Of more than two, once more for the first of them. */
	return study->confirm && levels > 1 ? STUDY_CONFIRM_BOOTS + (levels > 2) : 0;
}

void study_estimate(const struct study_matrix *matrix, struct study_estimate *ret)
{
	const struct study *study = matrix->study;
	struct study_estimate estimate = {.run_s = run_seconds(study)};
	size_t configs = study->design == STUDY_ONE_BY_ONE ? configs_of_levers(matrix) : matrix->count;
	double share, discarded = 0, confirm_most_s;
	double confirm_s = confirm_seconds(study, estimate.run_s, &confirm_most_s);

	study_count_switches(matrix, &estimate.once);
	for (size_t cost = 0; cost < STUDY_COSTS; cost++) {
		size_t count = estimate.once.count[cost];

		estimate.once_s += (double)count * switch_seconds(study, (enum study_cost)cost);
		/* The first run after a restart or boot warms up only. */
		discarded += cost >= STUDY_VM_RESTART ? (double)count : 0;
	}
	estimate.once_s += ((double)matrix->count + discarded) * estimate.run_s;
	estimate.least_asks = study_count_asks(matrix, 1);
	if (is_race(matrix)) {
		estimate.look = MIN_OF((size_t)STAT_DESIGN, matrix->count);
		share = (double)estimate.look / (double)MAX_OF(matrix->count, (size_t)1);
		estimate.least_s = share * estimate.once_s;
		estimate.most_s = study->budget_s;
		estimate.whole_least_s = estimate.least_s + confirm_s;
		estimate.whole_most_s = study->budget_s;
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
	estimate.whole_least_s = estimate.least_s + confirm_s;
	estimate.whole_most_s = estimate.most_s + confirm_most_s;
	if (study->budget_s > 0)
		estimate.whole_most_s = fmin(estimate.whole_most_s, study->budget_s);
	if (study->budget_s > 0)
		estimate.most_s = fmin(estimate.most_s, study->budget_s);
	estimate.least_asks = study_count_asks(matrix, study->runs_least);
	estimate.most_asks = study_count_asks(matrix, study->runs_most) + asks_to_confirm(study);
	estimate.least_boots = (size_t)(share * (double)boots_of(&estimate.once)) * estimate.least;
	estimate.most_boots = (size_t)(share * (double)boots_of(&estimate.once)) * estimate.most;
	*ret = estimate;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns which run is worth most next: the one that reduces the variance of (incumbent - challenger) most per minute,
 * costs of boots and restarts counted, until the incumbent is more than 1 % worse than the best with a probability of
 * at most 2 %. And what is known then: the regret, who else may be the best, and the set that no other dominates.
 */
#ifndef HVTUNE_STAT_SELECT_H
#define HVTUNE_STAT_SELECT_H

#include "stat_model.h"

struct stat_select_rule {
	double margin; /* .01: within 1 % of the best is good enough */
	double target; /* .98: stop when the incumbent is, with this probability; .99 each for several objectives */
	int most;      /* runs (300) */
	int least;     /* runs of the incumbent itself, before it is good enough (4): see stat_select() */
	uint64_t seed;
};

#define STAT_SELECT_RULE ((struct stat_select_rule){.01, .98, 300, 4, 1})

enum stat_select_what {
	STAT_SELECT_RUN,      /* run `configuration` `runs` times */
	STAT_SELECT_DONE,     /* the incumbent is good enough */
	STAT_SELECT_SPENT,    /* the runs are used up: report the incumbent and how sure it is */
	STAT_SELECT_FALLBACK, /* the model does not describe these runs: go on by successive halving, and say why */
};

struct stat_choice {
	enum stat_select_what what;
	int configuration, runs;
	int incumbent;
	double bad;		 /* P(the incumbent is more than the margin worse than the best) */
	struct stat_check check; /* for the report */
};

/*
 * Fits `model` to the runs, and tells whether it is given up, which it then stays. Both are of the runs alone, however
 * often and when this was called before: the model is fitted to the first 16 runs (three sweeps), then every four more
 * and of many every sixteenth part (one sweep each); at each of these it must fit. A model that was fitted to other
 * runs starts over.
 */
int stat_select_follow(struct stat_model *model, const struct stat_space *space, const struct stat_run *runs, int n,
		       bool *ret_given_up, struct err *err);

/*
 * Look at all runs so far, the first of which are those of stat_design in nested order. `model` keeps what was fitted
 * between calls; a new one comes to the same, and is slower: see stat_select_follow(). Where the runs do not
 * fit the model, or a cell stands out, its interactions are widened once more; if that is not enough, the configuration
 * that stands out most runs again until it has four runs; then the model is given up if it still does not fit. (Without
 * these runs 6-20 % of hosts that do follow the model leave it: docs/statistics.md.) The incumbent is good enough when
 * it was run rule->least times itself: what is inferred from its neighbours is wrong where the model is.
 * `configuration` (-1 not known) and `boot` are how the host is now. Values are minimised: give -ln of a rate.
 */
int stat_select(struct stat_model *model, const struct stat_space *space, const struct stat_costs *costs,
		const struct stat_select_rule *rule, const struct stat_run *runs, int n, int configuration, int boot,
		struct stat_choice *ret_choice, struct err *err);

struct stat_standing {
	double mean, sd; /* of theta: what to print, not the sample mean, which the winner's luck bends */
	double best;	 /* P(it is the best) */
	double good;	 /* P(it is within the margin of the best) */
};

struct stat_ranking {
	int incumbent;
	double regret_mean, regret_95; /* relative: of the incumbent over the best; mean and 95 % point */
};

/*
 * After stat_select (or stat_model_solve): where each configuration stands. `ret_standings` has space->count. By 1000
 * joint draws of the 512 most likely to be the best; of the others `good` is beside the incumbent, and `best` 0.
 * -EINVAL when the model has not been solved.
 */
int stat_rank(const struct stat_model *model, const struct stat_space *space, const struct stat_select_rule *rule,
	      struct stat_ranking *ret_ranking, struct stat_standing *ret_standings, struct err *err);

/*
 * P(some other is at most as high on both objectives and lower on one) for each of n configurations, from `draws` joint
 * draws [draw][configuration] of either objective. Those below .5 are the Pareto set to print, each with it.
 */
void stat_pareto(const double *first, const double *second, int draws, int n, double *ret_dominated);

#endif

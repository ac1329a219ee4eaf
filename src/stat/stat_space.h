/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the configurations that a study chooses among: their levels, what it costs to go from one to another, the order
 * that costs least, the first design, and successive halving.
 */
#ifndef HVTUNE_STAT_SPACE_H
#define HVTUNE_STAT_SPACE_H

#include "stat.h"

enum { STAT_FACTORS = 32, STAT_CONFIGURATIONS = 8192, STAT_DESIGN = 16, STAT_DESIGN_HOSTS = 4 };

/* What must happen to go from one configuration to another, by cost. */
enum stat_change {
	STAT_CHANGE_NONE,
	STAT_CHANGE_LIVE,
	STAT_CHANGE_GUEST, /* the VM or the guest starts anew */
	STAT_CHANGE_HOST,  /* the host boots */
};

struct stat_space {
	int factors, count;
	const int *levels;		 /* [configuration][factor], from 0 */
	const enum stat_change *changes; /* of each factor: what a change of it needs at most */
	const bool *out;		 /* configurations that cannot be measured and are no answer; NULL: none */
};

static inline bool stat_space_is_out(const struct stat_space *space, int c)
{
	return space->out && space->out[c];
}

/* 1 .. STAT_FACTORS factors, 1 .. STAT_CONFIGURATIONS configurations, no level below 0: 0 or -EINVAL. */
int stat_space_check(const struct stat_space *space, struct err *err);

struct stat_switch {
	enum stat_change change;
	double minutes; /* all of it: boot, settling, guest start, and the warm-up run that is left out */
};

/* Told by whoever runs the study. */
struct stat_costs {
	const void *context;
	struct stat_switch (*change)(const void *context, int from, int to); /* `from` -1: not known how the host is */
	double (*run)(const void *context, int configuration); /* minutes of one run with its preparation */
};

/*
 * Order `configurations` in place, beginning near `from`: always the cheapest to go to next, at random among equals.
 * Costs that are the highest of the changed factors' costs are an ultrametric, and there the sum of every such nested
 * order is that of the minimum spanning tree, below which no order can be.
 */
void stat_order_nested(const struct stat_costs *costs, int from, uint64_t seed, int *configurations, int count);

/*
 * The first configurations of a study: `want` (16) rows with each factor's levels balanced and permuted, host factors
 * in at most four combinations; where the space lacks a row, the configuration most like it. Without repetition.
 * `ret_configurations` has room for `want`. Returns their number.
 */
int stat_design(const struct stat_space *space, uint64_t seed, int want, int *ret_configurations);

/* Successive halving (Jamieson & Talwalkar 2016): the fallback, which assumes nothing. */
struct stat_halving {
	int runs;	     /* that each of those left gets in this round: 1, 3, then 5 */
	int count;	     /* of those left */
	int *configurations; /* the caller's array, from the best on after the first round */
};

enum { STAT_HALVING_ETA = 3, STAT_HALVING_CAP = 5 };

/* All `count` configurations of `array` (filled here), one run each. */
struct stat_halving stat_halving_begin(int *array, int count);

/* After a round: keep the third with the lowest means of all their logs. `means` by configuration. One left: done. */
void stat_halving_cut(struct stat_halving *halving, const double *means);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns variance in levels, boot > VM start > run: how much each level adds, the interval that a claim about a
 * configuration needs (from boot means: one boot's interval covers 20-43 % when boots differ by 1 %), and how many runs
 * a boot is worth.
 */
#ifndef HVTUNE_STAT_NESTED_H
#define HVTUNE_STAT_NESTED_H

#include "stat.h"

struct stat_nested_run {
	int boot, start; /* any numbers; a start belongs to its boot */
	double log;	 /* ln of the value */
};

enum { STAT_BOOTS = 4, STAT_BOOTS_LEAST = 3, STAT_RUNS_PER_BOOT = 2 };

struct stat_nested {
	int boots, starts, runs;
	double boot_variance, start_variance,
	    run_variance;		/* of logs; NAN where the data cannot tell, 0 is an estimate */
	double mean;			/* of logs: the mean of the boots' means */
	struct stat_interval geometric; /* exp(mean +- t(alpha, boots - 1) sd of boot means / sqrt(boots)) */
	struct stat_interval this_boot; /* of a single boot's runs: holds for that boot only; NAN for several boots */
	bool one_boot;			/* "this boot only": no claim about the configuration */
	bool few_boots;			/* fewer than STAT_BOOTS_LEAST */
};

/*
 * Components by equating mean squares with their expectations, for any numbers of starts and runs (Searle, Casella &
 * McCulloch, Variance Components, 1992, ch. 5; balanced with one start a boot: s_b^2 = max(0, MS_boots/m - MS_runs/m)).
 * One start in every boot leaves start_variance NAN and its part in boot_variance; one run in every start leaves
 * run_variance NAN and its part in start_variance. -EINVAL for no run or a log that is no number.
 */
int stat_nested(const struct stat_nested_run *runs, int n, double alpha, struct stat_nested *ret_nested,
		struct err *err);

/*
 * Runs per boot that give the narrowest interval for the time spent: ceil(sqrt(boot_cost / run_cost x run_variance /
 * boot_variance)) (Kalibera & Jones 2013), 1 .. most; STAT_RUNS_PER_BOOT when a variance is not known, `most` when
 * boots do not differ. Costs in any one unit.
 */
int stat_runs_per_boot(double boot_cost, double run_cost, double boot_variance, double run_variance, int most);

#endif

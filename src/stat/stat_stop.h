/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns when runs of one configuration are enough: after each run from the sixth the t interval at a nominal alpha is
 * looked at, until its relative half width is as small as asked, or the cap is met. Looking often makes a plain 95 %
 * interval cover 92.5 % only; at a nominal .030 it covers 95.2 % in the worst case (tests/sim/stat_one). And the
 * confidence sequence, whose interval may be looked at for ever.
 */
#ifndef HVTUNE_STAT_STOP_H
#define HVTUNE_STAT_STOP_H

#include "stat_estimate.h"

enum stat_stop {
	STAT_STOP_MORE,	  /* run again */
	STAT_STOP_TARGET, /* the precision asked for is reached */
	STAT_STOP_CAP,	  /* as many runs as allowed: print the interval, and that the target was not met */
};

struct stat_stop_rule {
	int first;	/* look from this number of runs */
	int cap;	/* never more than this */
	double target;	/* relative half width, .01 = 1 % */
	double nominal; /* alpha of the interval that is looked at and reported as 95 % */
};

enum { STAT_STOP_FIRST = 6, STAT_STOP_CAP_DEFAULT = 30 };

/*
 * The rule for a target and a cap, looking from `first` runs (3..10; else -EINVAL, as is a cap below first or a target
 * not in (0, 1)). Nominal alpha by the number of first runs: 3 .020, 4 .025, 5 .028, 6 .030, 7 .030, 8-10 .035, each
 * calibrated to a worst case of 95 % over sd/target in .4..4 and caps 16..60.
 */
int stat_stop_rule(int first, int cap, double target, struct stat_stop_rule *ret_rule, struct err *err);

/* Look at the runs so far. *ret_estimate has the interval to report now (at rule->nominal). Errors as stat_estimate. */
int stat_stop_look(const struct stat_stop_rule *rule, const double *values, int n, enum stat_stop *ret_stop,
		   struct stat_estimate *ret_estimate, struct err *err);

/* Runs that a target will take when the coefficient of variation is `cv`: (2.17 cv / target)^2 + 2, rounded up, at
 * least rule->first. May be above the cap. */
int stat_stop_runs(const struct stat_stop_rule *rule, double cv);

#define STAT_SEQUENCE_G 2. /* best over 4..30 values */

/*
 * Half width over sd of the always valid t confidence sequence after n values: with R = ((1 + ng) / alpha^2)^(1/n) and
 * u = (R - 1) / (1 - R / (1 + ng)) it is sqrt((n - 1) u / n); infinite while R >= 1 + ng. A Gaussian mixture over the
 * effect and the right Haar prior over sigma (Lai 1976; Wang & Ramdas, arXiv 2310.03722).
 */
double stat_sequence_factor(int n, double g, double alpha);

/* The interval of that sequence around the mean of the values (give logs for ratios). */
struct stat_interval stat_sequence_interval(const double *values, int n, double g, double alpha);

#endif

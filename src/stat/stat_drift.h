/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what happens over time: the warm-up that is left out, whether a host has settled, and the flag of drift. A
 * drifting series is flagged and never corrected: its interval must not be called "95 %", and blocks are recommended.
 */
#ifndef HVTUNE_STAT_DRIFT_H
#define HVTUNE_STAT_DRIFT_H

#include "stat.h"

/* Runs after each boot or guest start that are recorded, shown and left out. Rules that look at the data either break
 * clean series (MSER covers 90.6 %) or cannot see slow settling among ten runs. */
enum { STAT_WARM_UP = 1 };

struct stat_drift {
	int n;
	bool judged;	    /* n >= 6: below, neither test can say anything */
	double von_neumann; /* sum of squared steps / sum of squared deviations: 2 on average, low under drift */
	double von_neumann_critical; /* 2.5 % point; flagged below */
	long mann_kendall;	     /* S = pairs that rise less pairs that fall */
	long mann_kendall_critical;  /* two sided 2.5 %; flagged when |S| is at least that */
	bool von_neumann_flag, mann_kendall_flag;
	bool flagged; /* one of both */
};

/* Values in the order in which they were measured, one boot's, warm-up left out. A constant series is not flagged. */
struct stat_drift stat_drift(const double *values, int n);

/* 2.5 % point of von Neumann's ratio for n normal values (n >= 3): exact to 30 by inversion of the characteristic
 * function (Imhof 1961), above by the beta distribution with the ratio's first two moments,
 * and from 1000 by the normal one. NAN below 3. */
double stat_von_neumann_critical(int n);

/* The smallest S with P(|S| >= that) <= .025 (Kendall 1938, exact to n = 100; above normal). LONG_MAX if none. */
long stat_mann_kendall_critical(int n);

/* Slope of the least squares line through (at[i], values[i]), in value units per unit of time; NAN if it has none. */
double stat_slope(const double *at, const double *values, int n);

enum stat_settled {
	STAT_SETTLING,	  /* not yet */
	STAT_SETTLED,	  /* every series was flat over the window */
	STAT_SETTLE_LATE, /* not flat, but the limit has passed: begin, and say so */
};

/* One watched quantity: load, temperature, package power. */
struct stat_settling {
	const double *at; /* seconds, ascending */
	const double *values;
	int n;
	double
	    tolerance; /* flat: the line through the window moves by no more than this over the window, in its unit */
};

struct stat_settle_rule {
	double window; /* seconds of flatness, 30 */
	double limit;  /* seconds after which to begin anyway, 120 */
};

#define STAT_SETTLE_RULE ((struct stat_settle_rule){30, 120})

/* Has the host settled at `now`, `began` being when it was started to watch? A series whose samples do not reach back
 * over the window, or with fewer than 3 in it, is not flat yet. */
enum stat_settled stat_settled(const struct stat_settle_rule *rule, const struct stat_settling *series, int count,
			       double began, double now);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what each lever contributes to a change of many: on logs, so that contributions multiply. A chain of single
 * steps gives numbers that depend on the order (one lever's ranges over 2.5-8.4 %); here every lever has the mean of
 * first in and last in, which is the Shapley value where no three levers interact.
 */
#ifndef HVTUNE_STAT_EFFECTS_H
#define HVTUNE_STAT_EFFECTS_H

#include "stat.h"

/* One configuration's logs: n of them, their mean and standard deviation. */
struct stat_cell {
	int n;
	double mean, sd;
};

struct stat_cell stat_cell(const double *logs, int n);

struct stat_lever {
	struct stat_interval share; /* ratio that the lever contributes: exp(phi) */
	double first_in, last_in;   /* ratios: alone on the baseline; on top of all others. The range over orders. */
	double p;		    /* of phi = 0 */
};

struct stat_attribution {
	struct stat_interval total;    /* ratio of all on to the baseline, as measured: the end bar */
	struct stat_interval residual; /* total / product of shares: three-way interactions and higher */
	bool attributable;	       /* the residual's interval holds 1; else more corners must be run */
	double sd, df;		       /* pooled over the cells */
};

/*
 * From 2k + 2 configurations: the baseline, all levers on, each alone, each left out. phi_j = ((alone_j - baseline) +
 * (all - without_j)) / 2; its standard error is half the root of the four cells' sum of s^2/n, s pooled. Residual =
 * (all - baseline) - sum phi. -EINVAL for no lever, an empty cell, and cells that give no degree of freedom.
 */
int stat_attribute(const struct stat_cell *baseline, const struct stat_cell *all, const struct stat_cell *alone,
		   const struct stat_cell *without, int levers, double alpha, struct stat_attribution *ret_attribution,
		   struct stat_lever *ret_levers, struct err *err);

enum { STAT_SHAPLEY_LEVERS = 16 };

/*
 * Shapley value of each lever from all 2^k cells, indexed by the set of levers that are on (bit j = lever j): phi_j =
 * sum over S without j of |S|! (k - |S| - 1)! / k! (v(S + j) - v(S)) (Shapley 1953). *ret_variances, if not NULL, gets
 * the variances of phi with pooled s. -EINVAL as above and for k above STAT_SHAPLEY_LEVERS.
 */
int stat_shapley(const struct stat_cell *cells, int levers, double *ret_shares, double *ret_variances, struct err *err);

/*
 * Any contrast sum c_i mean_i of cells (main effects and interactions of a factorial) with pooled s: estimate and
 * interval on logs. Cells whose coefficient is 0 give their degrees of freedom as well.
 */
int stat_contrast(const struct stat_cell *cells, const double *coefficients, int n, double alpha,
		  struct stat_interval *ret_interval, struct err *err);

#endif

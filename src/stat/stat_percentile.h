/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns percentiles, such as latency's p95. The observations of one run are not independent of each other, so the honest
 * interval is over runs: the percentile of each run, then t on its logs. What one run alone says is a lower bound of
 * the error and is called that.
 */
#ifndef HVTUNE_STAT_PERCENTILE_H
#define HVTUNE_STAT_PERCENTILE_H

#include "stat_estimate.h"

struct stat_percentile {
	double p;		     /* .95 */
	struct stat_interval within; /* x(l) .. x(u); unbounded where too few observations lie on a side */
	int low_rank, high_rank;     /* l and u, 1-based; 0 for none */
	double confidence;	     /* exact, at least 1 - alpha if bounded and the observations were independent */
};

/*
 * Quantile p of the observations of one run and its order statistic interval: l the largest and u the smallest rank
 * with P(Bin(n, p) <= l - 1) <= alpha/2 and P(Bin(n, p) >= u) <= alpha/2 (David & Nagaraja, Order Statistics, 7.1).
 * -EINVAL for no observations, one that is no number, or p not in (0, 1).
 */
int stat_percentile(const double *values, int n, double p, double alpha, struct stat_percentile *ret_percentile,
		    struct err *err);

struct stat_observations {
	const double *values;
	int n;
};

/* Percentile p of each run, and stat_estimate over the runs: its `quoted` interval is the one to print. */
int stat_percentile_runs(const struct stat_observations *runs, int count, double p, double alpha,
			 struct stat_estimate *ret_estimate, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the estimate of one configuration from its runs: geometric and arithmetic mean by Student's t, the median by
 * order statistics, what may be unseen, and values that stand apart. Values are flagged, never dropped: every rule that
 * drops covers too little even on clean normal data (docs/statistics.md).
 */
#ifndef HVTUNE_STAT_ESTIMATE_H
#define HVTUNE_STAT_ESTIMATE_H

#include "stat.h"

struct stat_estimate {
	int n;
	double alpha; /* nominal, of the two means; the median's is in median_confidence */

	struct stat_interval quoted;	/* the one to print: geometric, or mean if a value is not above 0 */
	struct stat_interval geometric; /* exp of the t interval on logs; NAN if a value is not above 0 */
	struct stat_interval mean;	/* t on the values */
	struct stat_interval median;	/* x(k) .. x(n + 1 - k), unbounded for n < 6 */
	int median_rank;		/* k, 0 for n < 6 */
	double median_confidence;	/* exact, at least .95; 0 for n < 6 */

	double relative_half_width; /* of `quoted`: e^h - 1, or h / |mean|; infinite for n < 2 */
	double sd, cv;		    /* of the values; cv = sd / |mean|; NAN for n < 2 */
	double sd_logs;		    /* NAN if a value is not above 0 */
	double minimum, maximum;
	double unseen; /* share of runs that a mode may have and yet be unseen in n: 1 - .05^(1/n) */
};

/*
 * Needs n >= 1 finite values. `alpha` is STAT_ALPHA for a number of runs fixed before, or the stop rule's nominal one
 * (stat_stop.h), which the optional stopping lifts to 5 %. -EINVAL for no values, or one that is no number.
 *   m = mean ln x, s = sd ln x, h = t(alpha, n - 1) s / sqrt(n); geometric mean e^m, interval [e^(m-h), e^(m+h)].
 */
int stat_estimate(const double *values, int n, double alpha, struct stat_estimate *ret_estimate, struct err *err);

/*
 * Rank k of the exact interval x(k) .. x(n + 1 - k) of the median: the largest with 1 - 2 P(Bin(n, 1/2) <= k - 1) >=
 * 1 - alpha (David & Nagaraja, Order Statistics, 7.1). 0 when there is none. *ret_confidence is what it really covers.
 */
int stat_median_rank(int n, double alpha, double *ret_confidence);

/*
 * Flag |x - median| > 3.5 x 1.4826 MAD (Iglewicz & Hoaglin 1993); when the MAD is 0, > 3.5 x 1.2533 mean |x - median|.
 * `ret_flags` is an array of n. Returns how many are flagged.
 */
int stat_flag(const double *values, int n, bool *ret_flags);

struct stat_grubbs {
	int at;		 /* index of the value farthest from the mean */
	double g;	 /* |x - mean| / sd */
	double critical; /* two sided; g above it is flagged */
};

/* Grubbs 1969: (n-1)/sqrt(n) sqrt(t^2 / (n - 2 + t^2)), t = t(alpha / n two sided, n - 2). -EINVAL for n < 3. */
int stat_grubbs(const double *values, int n, double alpha, struct stat_grubbs *ret_grubbs, struct err *err);

#endif

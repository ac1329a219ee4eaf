/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what all of src/stat stands on: an interval, moments, order statistics, quantiles of Student's t. No input or
 * output, no clock, no chance that is not given in. Values are in the caller's unit; wherever "logs" are said they are
 * natural ones and the values must be above 0. Intervals are two sided: `alpha` .05 means 95 %.
 */
#ifndef HVTUNE_STAT_H
#define HVTUNE_STAT_H

#include "base.h"
#include "err.h"

#define STAT_ALPHA .05	/* of every interval and claim, unless a caller says otherwise */
#define STAT_MARGIN .01 /* differences below 1 % are none, unless a caller says otherwise */

/* Once at the start of a program: where GSL would end it, in a domain that no caller should reach, it gives NAN. */
void stat_survive(void);

/* An estimate and the bounds around it. Where too few values allow none the bounds are infinite (0 and infinity for
 * ratios and geometric means), never equal to the estimate. */
struct stat_interval {
	double estimate, low, high;
};

/* Is it one with finite bounds? */
bool stat_bounded(struct stat_interval interval);

/* exp() of all three: a difference of logs becomes a ratio. */
struct stat_interval stat_exp(struct stat_interval logs);

/* All `n` values finite, and above 0 if `positive`: 0, or -EINVAL naming the first that is not (1-based). */
int stat_check(const double *values, int n, bool positive, struct err *err);

/* Arithmetic mean; NAN for n < 1. */
double stat_mean(const double *values, int n);

/* Standard deviation with n - 1 below; NAN for n < 2. */
double stat_sd(const double *values, int n);

/* A new array of zeros, to be freed by CLEANUP(base_free); leaves the program when memory runs out. */
void *stat_zeroed(int count, size_t size);

/* New arrays of n, to be freed: in ascending order; as natural logs. Both leave the program when memory runs out. */
double *stat_sorted(const double *values, int n);
double *stat_logs(const double *values, int n);

/* Of values in ascending order: the median, and the quantile p (0..1) by linear interpolation between order statistics
 * (Hyndman & Fan 1996, type 7, the default of R and NumPy). NAN for n < 1. */
double stat_sorted_median(const double *sorted, int n);
double stat_sorted_quantile(const double *sorted, int n, double p);

/* Of n values in ascending order: the largest rank l (1-based) with P(Bin(n, p) <= l - 1) <= tail, so that the quantile
 * p lies below the l-th with no more than that probability. 0 for none. */
int stat_order_rank(int n, double p, double tail);

/* The t with P(|T| > t) = alpha at `df` degrees of freedom (need not be whole); infinite for df <= 0. */
double stat_t_critical(double alpha, double df);

/* P(|T| > |t|) at `df` degrees of freedom; 1 for df <= 0. */
double stat_t_p(double t, double df);

/* mean +- t(alpha, n - 1) sd / sqrt(n), on the scale of the values (Student 1908). Unbounded for n < 2. */
struct stat_interval stat_t_interval(const double *values, int n, double alpha);

#endif

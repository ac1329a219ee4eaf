/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the comparison of two configurations, A and B, measured in randomised complete blocks: in each block A and B in
 * random order, d = ln(B / A). A change that needs a reboot has a block of two boots, and d is the difference of the
 * two boots' mean logs. Only such blocks survive drift: one after the other has 17-58 % false alarms.
 *
 * The verdict is read off one interval of the ratio B / A. There is no "no significant difference": either it is shown
 * to be small, or nothing is decided.
 */
#ifndef HVTUNE_STAT_COMPARE_H
#define HVTUNE_STAT_COMPARE_H

#include "stat.h"

enum stat_verdict {
	STAT_UNDECIDED,
	STAT_LOWER,	 /* B is below A: the interval lies below 1 */
	STAT_HIGHER,	 /* B is above A */
	STAT_EQUIVALENT, /* the interval holds 1 and lies inside the margin */
};

struct stat_compare {
	int blocks;
	double alpha;		    /* nominal, of the interval */
	double margin;		    /* .01: ratios from 1 / 1.01 to 1.01 count as equal */
	struct stat_interval ratio; /* B / A: exp(mean d) with its interval */
	enum stat_verdict verdict;
	bool differs;	 /* 1 is outside the interval */
	bool equivalent; /* the interval is inside the margin (a small difference can be both) */
	double within;	 /* "no difference larger than": the smallest margin that holds the interval; may be infinite */

	double mean, sd;      /* of d, on logs */
	double t, df, p;      /* paired t, two sided */
	double equivalence_p; /* two one-sided tests at the margin (Schuirmann 1987) */

	struct stat_interval robust; /* ratio by Hodges-Lehmann with the exact signed rank interval at 5 %; n >= 6 */
	double robust_p;	     /* exact signed rank, two sided */
	bool outliers_matter;	     /* the two estimates differ by more than half of the interval */
};

/*
 * Compare by d = ln(B / A) of each block: m +- t(alpha, n - 1) s / sqrt(n), exponentiated. TOST: t1 = (m + theta) /
 * (s / sqrt n), t2 = (m - theta) / (s / sqrt n), p = max(P(T > t1), P(T < t2)), theta = ln(1 + margin). One block
 * gives an unbounded interval and p = 1. -EINVAL for no block, a d that is no number, a margin not above 0.
 */
int stat_compare_logs(const double *d, int blocks, double alpha, double margin, struct stat_compare *ret_compare,
		      struct err *err);

/* The same from the values of each block; all must be above 0. */
int stat_compare(const double *a, const double *b, int blocks, double alpha, double margin,
		 struct stat_compare *ret_compare, struct err *err);

/* As stat_compare_logs, with the verdict read off a given interval of mean d (a confidence sequence's). */
int stat_compare_interval(const double *d, int blocks, double alpha, double margin, struct stat_interval logs,
			  struct stat_compare *ret_compare, struct err *err);

/*
 * Median of the n(n+1)/2 Walsh averages (d_i + d_j)/2, with the exact interval by the signed rank distribution
 * (Hodges & Lehmann 1963; as R's wilcox.test). Unbounded where the distribution allows none (n < 6 at .05), and
 * without an estimate (NAN) above 2000 values.
 */
struct stat_interval stat_hodges_lehmann(const double *d, int n, double alpha);

/* Exact two sided p of Wilcoxon's signed rank test, ties by mid-ranks, zeros left out; normal above 200 values. */
double stat_signed_rank_p(const double *d, int n);

/* Exact two sided p of the Mann-Whitney test, ties by mid-ranks; normal above 60 values in all. */
double stat_mann_whitney_p(const double *x, int nx, const double *y, int ny);

struct stat_welch {
	double t, df, p;
	struct stat_interval difference; /* mean x - mean y */
};

/* Welch's t test with Satterthwaite's df, for runs that are not paired (give logs for ratios). -EINVAL below 2 each. */
int stat_welch(const double *x, int nx, const double *y, int ny, double alpha, struct stat_welch *ret_welch,
	       struct err *err);

/* The order in which `count` configurations run in a block: a permutation of 0 .. count - 1 that only `seed` and
 * `block` decide, so that a study that goes on finds the same. */
void stat_block_order(uint64_t seed, int block, int count, int *ret_order);

#endif

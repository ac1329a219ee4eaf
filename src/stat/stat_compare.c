/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the comparison of two configurations in blocks, its verdict, and Welch's test beside it. */
#include "stat_compare.h"

#include <errno.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static double tost_p(double mean, double error, double df, double theta)
{
	double t1, t2;

	if (df < 1)
		return 1;
	if (error <= 0)
		return fabs(mean) < theta ? 0 : 1;
	t1 = (mean + theta) / error;
	t2 = (mean - theta) / error;
	return MAX_OF(gsl_cdf_tdist_Q(t1, df), gsl_cdf_tdist_P(t2, df));
}

static enum stat_verdict verdict_of(const struct stat_compare *compare)
{
	if (compare->differs)
		return compare->mean < 0 ? STAT_LOWER : STAT_HIGHER;
	return compare->equivalent ? STAT_EQUIVALENT : STAT_UNDECIDED;
}

int stat_compare_interval(const double *d, int blocks, double alpha, double margin, struct stat_interval logs,
			  struct stat_compare *ret_compare, struct err *err)
{
	struct stat_compare compare = {.blocks = blocks, .alpha = alpha, .margin = margin};
	double theta = log1p(margin), error, widest;
	int r;

	if (blocks < 1)
		return err_set(err, EINVAL, NULL, "there is no block to compare in");
	if (!(margin > 0))
		return err_set(err, EINVAL, NULL, "a margin of %g %% is not above 0", margin * 100);
	r = stat_check(d, blocks, false, err);
	if (r < 0)
		return r;
	compare.mean = stat_mean(d, blocks);
	compare.sd = stat_sd(d, blocks);
	compare.df = blocks - 1;
	error = compare.sd / sqrt(blocks);
	/* Without any spread there is no t: all d are 0, or the difference is as sure as the values are exact. */
	compare.t = blocks < 2 ? 0 : error > 0 ? compare.mean / error : compare.mean == 0 ? 0 : INFINITY;
	compare.p = stat_t_p(compare.t, compare.df);
	compare.equivalence_p = tost_p(compare.mean, error, compare.df, theta);
	compare.ratio = stat_exp(logs);
	compare.differs = logs.low > 0 || logs.high < 0;
	compare.equivalent = logs.low > -theta && logs.high < theta;
	compare.verdict = verdict_of(&compare);
	widest = MAX_OF(fabs(logs.low), fabs(logs.high));
	compare.within = expm1(widest);
	compare.robust = stat_exp(stat_hodges_lehmann(d, blocks, STAT_ALPHA));
	compare.robust_p = stat_signed_rank_p(d, blocks);
	compare.outliers_matter = stat_bounded(logs) && logs.high > logs.low &&
				  fabs(log(compare.robust.estimate) - compare.mean) > (logs.high - logs.low) / 2;
	*ret_compare = compare;
	return 0;
}

int stat_compare_logs(const double *d, int blocks, double alpha, double margin, struct stat_compare *ret_compare,
		      struct err *err)
{
	return stat_compare_interval(d, blocks, alpha, margin, stat_t_interval(d, blocks, alpha), ret_compare, err);
}

int stat_compare(const double *a, const double *b, int blocks, double alpha, double margin,
		 struct stat_compare *ret_compare, struct err *err)
{
	CLEANUP(base_free) double *d = NULL;
	int r = stat_check(a, blocks, true, err);

	if (r < 0)
		return r;
	r = stat_check(b, blocks, true, err);
	if (r < 0)
		return r;
	d = stat_logs(b, blocks);
	for (int i = 0; i < blocks; i++)
		d[i] -= log(a[i]);
	return stat_compare_logs(d, blocks, alpha, margin, ret_compare, err);
}

int stat_welch(const double *x, int nx, const double *y, int ny, double alpha, struct stat_welch *ret_welch,
	       struct err *err)
{
	double vx, vy, v, half, difference;
	struct stat_welch welch;

	if (nx < 2 || ny < 2)
		return err_set(err, EINVAL, NULL, "Welch's test needs two values on each side, not %d and %d", nx, ny);
	vx = pow(stat_sd(x, nx), 2) / nx;
	vy = pow(stat_sd(y, ny), 2) / ny;
	v = vx + vy;
	difference = stat_mean(x, nx) - stat_mean(y, ny);
	welch.df = v > 0 ? v * v / (vx * vx / (nx - 1) + vy * vy / (ny - 1)) : nx + ny - 2;
	welch.t = v > 0 ? difference / sqrt(v) : difference == 0 ? 0 : copysign(INFINITY, difference);
	welch.p = stat_t_p(welch.t, welch.df);
	half = stat_t_critical(alpha, welch.df) * sqrt(v);
	welch.difference = (struct stat_interval){difference, difference - half, difference + half};
	*ret_welch = welch;
	return 0;
}

void stat_block_order(uint64_t seed, int block, int count, int *ret_order)
{
	/* Neighbouring seeds give unlike states only after some mixing (splitmix64, Steele, Lea & Flood 2014). */
	uint64_t mixed = seed + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(block + 1);
	gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);

	if (!random)
		err_no_memory();
	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	gsl_rng_set(random, (unsigned long)(mixed >> 32));
	for (int i = 0; i < count; i++)
		ret_order[i] = i;
	if (count > 1)
		gsl_ran_shuffle(random, ret_order, (size_t)count, sizeof(int));
	gsl_rng_free(random);
}

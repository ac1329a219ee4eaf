/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns percentiles within a run and over runs. */
#include "stat_percentile.h"

#include <errno.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

int stat_percentile(const double *values, int n, double p, double alpha, struct stat_percentile *ret_percentile,
		    struct err *err)
{
	struct stat_percentile percentile = {.p = p};
	CLEANUP(base_free) double *sorted = NULL;
	int r, above;

	if (n < 1)
		return err_set(err, EINVAL, NULL, "there is no observation to take a percentile of");
	if (!(p > 0 && p < 1))
		return err_set(err, EINVAL, NULL, "percentile %g is not between 0 and 100", p * 100);
	r = stat_check(values, n, false, err);
	if (r < 0)
		return r;
	sorted = stat_sorted(values, n);
	percentile.within = (struct stat_interval){stat_sorted_quantile(sorted, n, p), -INFINITY, INFINITY};
	percentile.low_rank = stat_order_rank(n, p, alpha / 2);
	/* Counted from the top the same holds with 1 - p. */
	above = stat_order_rank(n, 1 - p, alpha / 2);
	percentile.high_rank = above ? n + 1 - above : 0;
	if (percentile.low_rank)
		percentile.within.low = sorted[percentile.low_rank - 1];
	if (percentile.high_rank)
		percentile.within.high = sorted[percentile.high_rank - 1];
	/* Of few values interpolation stops below a bound that is the highest of them, or above the lowest. */
	percentile.within.estimate =
	    fmin(fmax(percentile.within.estimate, percentile.within.low), percentile.within.high);
	if (percentile.low_rank && percentile.high_rank)
		percentile.confidence = gsl_cdf_binomial_P((unsigned)(percentile.high_rank - 1), p, (unsigned)n) -
					gsl_cdf_binomial_P((unsigned)(percentile.low_rank - 1), p, (unsigned)n);
	*ret_percentile = percentile;
	return 0;
}

int stat_percentile_runs(const struct stat_observations *runs, int count, double p, double alpha,
			 struct stat_estimate *ret_estimate, struct err *err)
{
	CLEANUP(base_free) double *each = stat_zeroed(count, sizeof(double));

	for (int i = 0; i < count; i++) {
		struct stat_percentile percentile = {0};
		int r = stat_percentile(runs[i].values, runs[i].n, p, alpha, &percentile, err);

		if (r < 0)
			return r;
		each[i] = percentile.within.estimate;
	}
	return stat_estimate(each, count, alpha, ret_estimate, err);
}

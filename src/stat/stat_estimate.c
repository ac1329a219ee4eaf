/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the estimate of one configuration and the flags of values that stand apart. */
#include "stat_estimate.h"

#include <errno.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

/* Factors that make the MAD and the mean deviation estimates of a normal sd, and how many of those are far. */
#define FAR 3.5
#define MAD_TO_SD 1.4826
#define DEVIATION_TO_SD 1.2533

int stat_median_rank(int n, double alpha, double *ret_confidence)
{
	int rank = stat_order_rank(n, .5, alpha / 2);

	if (ret_confidence)
		*ret_confidence = rank ? 1 - 2 * gsl_cdf_binomial_P((unsigned)(rank - 1), .5, (unsigned)n) : 0;
	return rank;
}

static void add_median(const double *values, int n, struct stat_estimate *estimate)
{
	CLEANUP(base_free) double *sorted = stat_sorted(values, n);

	estimate->median_rank = stat_median_rank(n, STAT_ALPHA, &estimate->median_confidence);
	estimate->median = (struct stat_interval){stat_sorted_median(sorted, n), -INFINITY, INFINITY};
	if (estimate->median_rank) {
		estimate->median.low = sorted[estimate->median_rank - 1];
		estimate->median.high = sorted[n - estimate->median_rank];
	}
	estimate->minimum = sorted[0];
	estimate->maximum = sorted[n - 1];
}

int stat_estimate(const double *values, int n, double alpha, struct stat_estimate *ret_estimate, struct err *err)
{
	struct stat_estimate estimate = {.n = n, .alpha = alpha};
	int r;

	if (n < 1)
		return err_set(err, EINVAL, NULL, "there is no value to estimate from");
	r = stat_check(values, n, false, err);
	if (r < 0)
		return r;
	add_median(values, n, &estimate);
	estimate.mean = stat_t_interval(values, n, alpha);
	estimate.sd = stat_sd(values, n);
	estimate.cv = estimate.sd / fabs(estimate.mean.estimate);
	estimate.unseen = 1 - pow(.05, 1. / n);
	if (estimate.minimum > 0) {
		CLEANUP(base_free) double *logs = stat_logs(values, n);
		struct stat_interval interval = stat_t_interval(logs, n, alpha);

		estimate.geometric = estimate.quoted = stat_exp(interval);
		estimate.sd_logs = stat_sd(logs, n);
		estimate.relative_half_width = expm1(interval.high - interval.estimate);
	} else {
		estimate.geometric = (struct stat_interval){NAN, NAN, NAN};
		estimate.quoted = estimate.mean;
		estimate.sd_logs = NAN;
		estimate.relative_half_width =
		    n < 2 ? INFINITY : (estimate.mean.high - estimate.mean.estimate) / fabs(estimate.mean.estimate);
	}
	*ret_estimate = estimate;
	return 0;
}

int stat_flag(const double *values, int n, bool *ret_flags)
{
	CLEANUP(base_free) double *far = stat_sorted(values, n);
	double median = stat_sorted_median(far, n), limit;
	int flagged = 0;

	for (int i = 0; i < n; i++)
		far[i] = fabs(values[i] - median);
	if (n > 0)
		gsl_sort(far, 1, (size_t)n);
	limit = FAR * MAD_TO_SD * stat_sorted_median(far, n);
	if (limit <= 0)
		limit = FAR * DEVIATION_TO_SD * stat_mean(far, n);
	for (int i = 0; i < n; i++) {
		ret_flags[i] = fabs(values[i] - median) > limit;
		flagged += ret_flags[i];
	}
	return flagged;
}

int stat_grubbs(const double *values, int n, double alpha, struct stat_grubbs *ret_grubbs, struct err *err)
{
	double mean = stat_mean(values, n), sd = stat_sd(values, n), t;
	int at = 0;

	if (n < 3)
		return err_set(err, EINVAL, NULL, "Grubbs' test needs three values, not %d", n);
	for (int i = 1; i < n; i++)
		if (fabs(values[i] - mean) > fabs(values[at] - mean))
			at = i;
	t = stat_t_critical(alpha / n, n - 2);
	*ret_grubbs = (struct stat_grubbs){
	    .at = at,
	    .g = sd > 0 ? fabs(values[at] - mean) / sd : 0,
	    .critical = (n - 1) / sqrt(n) * sqrt(t * t / (n - 2 + t * t)),
	};
	return 0;
}

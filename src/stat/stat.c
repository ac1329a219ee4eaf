/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns moments, order statistics and Student's t for all of src/stat. */
#include "stat.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

void stat_survive(void)
{
	(void)gsl_set_error_handler_off();
}

bool stat_bounded(struct stat_interval interval)
{
	return isfinite(interval.low) && isfinite(interval.high);
}

struct stat_interval stat_exp(struct stat_interval logs)
{
	return (struct stat_interval){exp(logs.estimate), exp(logs.low), exp(logs.high)};
}

int stat_check(const double *values, int n, bool positive, struct err *err)
{
	for (int i = 0; i < n; i++) {
		if (!isfinite(values[i]))
			return err_set(err, EINVAL, NULL, "value %d of %d is no finite number", i + 1, n);
		if (positive && values[i] <= 0)
			return err_set(err, EINVAL, NULL, "value %d of %d is %g, and ratios need values above 0", i + 1,
				       n, values[i]);
	}
	return 0;
}

double stat_mean(const double *values, int n)
{
	return n < 1 ? NAN : gsl_stats_mean(values, 1, (size_t)n);
}

double stat_sd(const double *values, int n)
{
	return n < 2 ? NAN : gsl_stats_sd(values, 1, (size_t)n);
}

void *stat_zeroed(int count, size_t size)
{
	void *memory = calloc((size_t)MAX_OF(count, 1), size);

	if (!memory)
		err_no_memory();
	return memory;
}

static double *copy_of(const double *values, int n)
{
	double *copy = stat_zeroed(n, sizeof(double));

	if (n > 0)
		memcpy(copy, values, sizeof(double) * (size_t)n);
	return copy;
}

double *stat_sorted(const double *values, int n)
{
	double *sorted = copy_of(values, n);

	if (n > 0)
		gsl_sort(sorted, 1, (size_t)n);
	return sorted;
}

double *stat_logs(const double *values, int n)
{
	double *logs = copy_of(values, n);

	for (int i = 0; i < n; i++)
		logs[i] = log(logs[i]);
	return logs;
}

double stat_sorted_median(const double *sorted, int n)
{
	return n < 1 ? NAN : gsl_stats_median_from_sorted_data(sorted, 1, (size_t)n);
}

double stat_sorted_quantile(const double *sorted, int n, double p)
{
	return n < 1 ? NAN : gsl_stats_quantile_from_sorted_data(sorted, 1, (size_t)n, p);
}

int stat_order_rank(int n, double p, double tail)
{
	int low = 0, high = n;

	while (low < high) {
		int middle = low + (high - low + 1) / 2;

		if (gsl_cdf_binomial_P((unsigned)(middle - 1), p, (unsigned)n) <= tail)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

double stat_t_critical(double alpha, double df)
{
	return df > 0 ? gsl_cdf_tdist_Qinv(alpha / 2, df) : INFINITY;
}

double stat_t_p(double t, double df)
{
	return df > 0 && !isnan(t) ? MIN_OF(1, 2 * gsl_cdf_tdist_Q(fabs(t), df)) : 1;
}

struct stat_interval stat_t_interval(const double *values, int n, double alpha)
{
	double mean = stat_mean(values, n), half;

	if (n < 2)
		return (struct stat_interval){mean, -INFINITY, INFINITY};
	half = stat_t_critical(alpha, n - 1) * stat_sd(values, n) / sqrt(n);
	return (struct stat_interval){mean, mean - half, mean + half};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns variance in levels. */
#include "stat_nested.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int by_level(const void *left, const void *right)
{
	const struct stat_nested_run *a = left, *b = right;

	if (a->boot != b->boot)
		return a->boot < b->boot ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* Sums over the levels, for the mean squares and the coefficients of their expectations. */
struct sums {
	double within, starts, boots;	    /* sums of squares */
	double start_share;		    /* sum over starts of n_ij^2 / n_i */
	double start_squares, boot_squares; /* sums of n_ij^2 and n_i^2 */
};

static double mean_of(const struct stat_nested_run *runs, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += runs[i].log;
	return sum / n;
}

/* One boot: its starts and runs. Returns the number of starts. */
static int add_boot(const struct stat_nested_run *runs, int n, struct sums *sums)
{
	double mean = mean_of(runs, n);
	int starts = 0;

	for (int i = 0, end; i < n; i = end, starts++) {
		double own;
		int m;

		for (end = i + 1; end < n && runs[end].start == runs[i].start; end++)
			continue;
		m = end - i;
		own = mean_of(runs + i, m);
		for (int j = i; j < end; j++)
			sums->within += pow(runs[j].log - own, 2);
		sums->starts += m * pow(own - mean, 2);
		sums->start_share += (double)m * m / n;
		sums->start_squares += (double)m * m;
	}
	sums->boot_squares += (double)n * n;
	return starts;
}

static double component(double mean_square, double below, double coefficient)
{
	return MAX_OF(0, (mean_square - below) / coefficient);
}

static void components(const struct sums *sums, struct stat_nested *nested)
{
	int n = nested->runs, within_df = n - nested->starts, start_df = nested->starts - nested->boots;
	int boot_df = nested->boots - 1;
	double run = within_df ? sums->within / within_df : NAN, start = NAN, from_starts = 0, from_runs;

	from_runs = isnan(run) ? 0 : run;
	if (start_df) {
		double share = (n - sums->start_share) / start_df;

		start = component(sums->starts / start_df, from_runs, share);
		from_starts = start * (sums->start_share - sums->start_squares / n);
	}
	nested->run_variance = run;
	nested->start_variance = start;
	nested->boot_variance = NAN;
	if (boot_df)
		nested->boot_variance = component(sums->boots / boot_df, from_runs + from_starts / boot_df,
						  (n - sums->boot_squares / n) / boot_df);
}

int stat_nested(const struct stat_nested_run *runs, int n, double alpha, struct stat_nested *ret_nested,
		struct err *err)
{
	CLEANUP(base_free) struct stat_nested_run *sorted = NULL;
	CLEANUP(base_free) double *means = NULL;
	struct stat_nested nested = {.runs = n};
	struct sums sums = {0};
	double all;

	if (n < 1)
		return err_set(err, EINVAL, NULL, "there is no run");
	for (int i = 0; i < n; i++)
		if (!isfinite(runs[i].log))
			return err_set(err, EINVAL, NULL, "value %d of %d has no logarithm", i + 1, n);
	sorted = stat_zeroed(n, sizeof(*sorted));
	means = stat_zeroed(n, sizeof(double));
	memcpy(sorted, runs, sizeof(*sorted) * (size_t)n);
	qsort(sorted, (size_t)n, sizeof(*sorted), by_level);
	all = mean_of(sorted, n);
	for (int i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && sorted[end].boot == sorted[i].boot; end++)
			continue;
		means[nested.boots] = mean_of(sorted + i, end - i);
		sums.boots += (end - i) * pow(means[nested.boots++] - all, 2);
		nested.starts += add_boot(sorted + i, end - i, &sums);
	}
	components(&sums, &nested);
	nested.mean = stat_mean(means, nested.boots);
	nested.geometric = stat_exp(stat_t_interval(means, nested.boots, alpha));
	nested.one_boot = nested.boots == 1;
	nested.few_boots = nested.boots < STAT_BOOTS_LEAST;
	nested.this_boot = (struct stat_interval){NAN, NAN, NAN};
	if (nested.one_boot) {
		for (int i = 0; i < n; i++)
			means[i] = sorted[i].log;
		nested.this_boot = stat_exp(stat_t_interval(means, n, alpha));
	}
	*ret_nested = nested;
	return 0;
}

int stat_runs_per_boot(double boot_cost, double run_cost, double boot_variance, double run_variance, int most)
{
	double runs;

	if (isnan(boot_variance) || isnan(run_variance) || !(run_cost > 0))
		return MIN_OF(STAT_RUNS_PER_BOOT, most);
	if (boot_variance <= 0)
		return most;
	runs = ceil(sqrt(boot_cost / run_cost * run_variance / boot_variance));
	return runs < 1 ? 1 : runs > most ? most : (int)runs;
}

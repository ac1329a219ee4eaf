/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the flag of drift and whether a host has settled. */
#include "stat_drift.h"

#include <limits.h>
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>

enum { JUDGED_FROM = 6, KENDALL_EXACT = 100, NORMAL_FROM = 1000, FLAT_SAMPLES = 3 };
#define TAIL .025 /* of each of the two tests: together at most 5 % */

/* 2.5 % points from 3 values on, by Imhof's integral. */
static const double von_neumann[] = {
    1.0031, .6845,  .6645,  .7213,  .7795,  .8247,  .8697,  .9111,  .9486,  .9829,  1.0143, 1.0432, 1.0697, 1.0943,
    1.1171, 1.1383, 1.1581, 1.1766, 1.1940, 1.2103, 1.2257, 1.2403, 1.2540, 1.2671, 1.2795, 1.2913, 1.3026, 1.3133,
};

double stat_von_neumann_critical(int n)
{
	double shape;

	if (n < 3)
		return NAN;
	if ((size_t)n - 3 < ARRAY_SIZE(von_neumann))
		return von_neumann[n - 3];
	/* Mean 2 and variance 4 (n - 2) / (n^2 - 1) on 0 .. 4. */
	if (n > NORMAL_FROM)
		return 2 + gsl_cdf_ugaussian_Pinv(TAIL) * sqrt(4. * (n - 2) / ((double)n * n - 1));
	shape = (((double)n * n - 1) / (n - 2) - 1) / 2;
	return 4 * gsl_cdf_beta_Pinv(TAIL, shape, shape);
}

/* S = pairs - 2 x inversions; a random permutation of n has a sum of independent uniform 0 .. i - 1 inversions. */
static long kendall_exact(int n)
{
	static const int most = KENDALL_EXACT * (KENDALL_EXACT - 1) / 2;
	CLEANUP(base_free) double *share = stat_zeroed(most + 1, sizeof(double));
	int pairs = n * (n - 1) / 2;
	double tail = 0;

	share[0] = 1;
	for (int i = 2; i <= n; i++) {
		int top = i * (i - 1) / 2;

		/* Running sums: share'[s] = (share[s] + ... + share[s - i + 1]) / i. */
		for (int s = 1; s <= top; s++)
			share[s] += share[s - 1];
		for (int s = top; s >= i; s--)
			share[s] -= share[s - i];
		for (int s = 0; s <= top; s++)
			share[s] /= i;
	}
	for (int inversions = 0; 2 * inversions < pairs; inversions++) {
		tail += share[inversions];
		if (tail > TAIL / 2)
			return inversions ? pairs - 2L * (inversions - 1) : LONG_MAX;
	}
	return LONG_MAX;
}

long stat_mann_kendall_critical(int n)
{
	double sd = sqrt(n * (n - 1.) * (2. * n + 5) / 18);

	if (n < 2)
		return LONG_MAX;
	if (n <= KENDALL_EXACT)
		return kendall_exact(n);
	return (long)ceil(gsl_cdf_ugaussian_Qinv(TAIL / 2) * sd) + 1;
}

struct stat_drift stat_drift(const double *values, int n)
{
	struct stat_drift drift = {.n = n, .judged = n >= JUDGED_FROM, .von_neumann = NAN};
	double mean = stat_mean(values, n), steps = 0, deviations = 0;

	for (int i = 0; i < n; i++) {
		deviations += (values[i] - mean) * (values[i] - mean);
		if (i + 1 < n)
			steps += (values[i + 1] - values[i]) * (values[i + 1] - values[i]);
		for (int j = i + 1; j < n; j++)
			drift.mann_kendall += (values[j] > values[i]) - (values[j] < values[i]);
	}
	if (deviations > 0)
		drift.von_neumann = steps / deviations;
	drift.von_neumann_critical = stat_von_neumann_critical(n);
	drift.mann_kendall_critical = stat_mann_kendall_critical(n);
	drift.von_neumann_flag = drift.judged && deviations > 0 && drift.von_neumann < drift.von_neumann_critical;
	drift.mann_kendall_flag = drift.judged && labs(drift.mann_kendall) >= drift.mann_kendall_critical;
	drift.flagged = drift.von_neumann_flag || drift.mann_kendall_flag;
	return drift;
}

double stat_slope(const double *at, const double *values, int n)
{
	double c0, c1, v00, v01, v11, sum;

	if (n < 2 || at[0] == at[n - 1])
		return NAN;
	(void)gsl_fit_linear(at, 1, values, 1, (size_t)n, &c0, &c1, &v00, &v01, &v11, &sum);
	return c1;
}

static bool flat(const struct stat_settle_rule *rule, const struct stat_settling *series, double now)
{
	int first = series->n;

	while (first > 0 && series->at[first - 1] >= now - rule->window)
		first--;
	/* The sample before the window shows that the watch reaches back over all of it. */
	if (first == 0 && (series->n == 0 || series->at[0] > now - rule->window))
		return false;
	if (series->n - first < FLAT_SAMPLES)
		return false;
	return fabs(stat_slope(series->at + first, series->values + first, series->n - first)) * rule->window <=
	       series->tolerance;
}

enum stat_settled stat_settled(const struct stat_settle_rule *rule, const struct stat_settling *series, int count,
			       double began, double now)
{
	bool all = true;

	for (int i = 0; i < count && all; i++)
		all = flat(rule, &series[i], now);
	if (all)
		return STAT_SETTLED;
	return now - began >= rule->limit ? STAT_SETTLE_LATE : STAT_SETTLING;
}

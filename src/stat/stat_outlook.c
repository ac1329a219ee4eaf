/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is known of a choice among many. */
#include "stat_outlook.h"

#include <math.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>

/* Runs that the common variance is worth, and the deviation of runs that is usual, worth two of them (methods 3.4). */
#define PRIOR_DF 4.
#define USUAL_DF 2.
#define USUAL_SD .012

void stat_cell_spread(const struct stat_cell *cells, int n, double *ret_variances, double *ret_df)
{
	double squares = USUAL_DF * USUAL_SD * USUAL_SD, df = USUAL_DF;

	for (int i = 0; i < n; i++)
		if (cells[i].n > 1) {
			squares += (cells[i].n - 1) * cells[i].sd * cells[i].sd;
			df += cells[i].n - 1;
		}
	for (int i = 0; i < n; i++) {
		double own_df = MAX_OF(cells[i].n - 1, 0), own = own_df > 0 ? own_df * cells[i].sd * cells[i].sd : 0;

		ret_variances[i] = (PRIOR_DF * squares / df + own) / (PRIOR_DF + own_df);
		ret_df[i] = PRIOR_DF + own_df;
	}
}

void stat_cell_draw(const struct stat_cell *cells, int n, int draws, uint64_t seed, double *ret_draws)
{
	CLEANUP(base_free) double *variances = stat_zeroed(n, sizeof(double)), *df = stat_zeroed(n, sizeof(double));
	gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);

	if (!random)
		err_no_memory();
	gsl_rng_set(random, (unsigned long)(seed ^ seed >> 32) & 0xffffffff);
	stat_cell_spread(cells, n, variances, df);
	for (int draw = 0; draw < draws; draw++)
		for (int i = 0; i < n; i++)
			ret_draws[(size_t)draw * n + i] =
			    cells[i].n < 1
				? (double)NAN
				: cells[i].mean + sqrt(variances[i] / cells[i].n) * gsl_ran_tdist(random, df[i]);
	gsl_rng_free(random);
}

static double least(const double *values, int n, const bool *among)
{
	double lowest = INFINITY;

	for (int i = 0; i < n; i++)
		if ((!among || among[i]) && values[i] < lowest)
			lowest = values[i];
	return lowest;
}

void stat_outlook(const double *draws, int count, int n, const double *means, const bool *among, int pick,
		  double margin, struct stat_outlook *ret)
{
	CLEANUP(base_free) double *regrets = stat_zeroed(count, sizeof(double));
	CLEANUP(base_free) double *later = stat_zeroed(n, sizeof(double));
	struct stat_outlook outlook = {0};
	int best = 0, bad = 0;

	for (int d = 0; d < count; d++) {
		const double *draw = draws + (size_t)d * n;
		double behind = MAX_OF(draw[pick] - least(draw, n, among), 0.);

		for (int i = 0; i < n; i++)
			later[i] = means[i] + (draw[i] - means[i]) / sqrt(2);
		best += behind <= 0;
		bad += behind > log1p(margin);
		regrets[d] = expm1(behind);
		outlook.gain += expm1(MAX_OF(later[pick] - least(later, n, among), 0.)) / count;
	}
	gsl_sort(regrets, 1, (size_t)count);
	outlook.best = (double)best / count;
	outlook.bad = (double)bad / count;
	outlook.regret_mean = stat_mean(regrets, count);
	/* Of heavy tails the mean may lie beyond the 95 % point: no bound is told that lies below what is expected. */
	outlook.regret_95 = MAX_OF(stat_sorted_quantile(regrets, count, .95), outlook.regret_mean);
	/* Of a finite number of draws it may come out a hair above what it cannot exceed. */
	outlook.gain = MIN_OF(outlook.gain, outlook.regret_mean);
	*ret = outlook;
}

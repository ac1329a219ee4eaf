/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the numbers of the model: noise, how alike the runs of a boot are, and the variances, from the runs. */
#include <math.h>
#include <string.h>

#include "stat_model_internal.h"

#define NOISE_PRIOR (.012 * .012)
/* Before anything is seen: the probability that the runs of a boot are not alike. The others share the rest. */
#define NOT_ALIKE .5

static const double correlations[] = {0, .2, .4, .6, .8, .9, .95};

struct stat_hyper stat_hyper_prior(int factors)
{
	struct stat_hyper hyper = {.pair = .012 * .012, .rest = .005 * .005, .boot = .004 * .004, .noise = 1};

	for (int f = 0; f < factors; f++)
		hyper.factor[f] = .03 * .03;
	return hyper;
}

/*
 * Squares of the runs of a cell about their mean by generalized least squares, where the noise of two runs is the more
 * alike the closer they are: a chain of innovations. *ret_logs: ln of the determinant of what is left of their
 * correlation without the mean.
 */
static double squares_of(const struct stat_model *model, const struct stat_model_cell *cell, double *ret_logs)
{
	const int *places = model->places + cell->first;
	const double *logs = model->logs + cell->first;
	double ones = 1, product = logs[0] - cell->mean, squares = product * product;

	*ret_logs = 0;
	for (int i = 1; i < cell->runs; i++) {
		double keep = pow(model->hyper.alike, places[i] - places[i - 1]), fresh = 1 - keep * keep;
		double one = 1 - keep, y = (logs[i] - cell->mean) - keep * (logs[i - 1] - cell->mean);

		ones += one * one / fresh;
		product += one * y / fresh;
		squares += y * y / fresh;
		*ret_logs += log(fresh);
	}
	*ret_logs += log(ones / cell->runs);
	return squares - product * product / ones;
}

/* Noise of each configuration, drawn towards that of all, which is drawn towards 1.2 %. */
static void estimate_noise(struct stat_model *model)
{
	CLEANUP(base_free) double *df = stat_zeroed(model->space->count, sizeof(double));
	double squares = 0, all_df = 0, pooled, likely = 0;

	memset(model->noise, 0, sizeof(double) * (size_t)model->space->count);
	for (int i = 0; i < model->cell_count; i++) {
		const struct stat_model_cell *cell = &model->cells[i];
		double logs, within = squares_of(model, cell, &logs);

		squares += within;
		all_df += cell->runs - 1;
		model->noise[cell->configuration] += within;
		df[cell->configuration] += cell->runs - 1;
		likely -= logs / 2;
	}
	pooled = (squares + 2 * NOISE_PRIOR) / (all_df + 2);
	for (int c = 0; c < model->space->count; c++) {
		double all = 4 * pooled + model->noise[c];

		if (df[c] > 0)
			likely += 2 * log(4 * pooled) - (4 + df[c]) / 2 * log(all);
		model->noise[c] = all / (4 + df[c]);
	}
	model->within = likely;
}

static double alike_cells(const struct stat_model *model, const double *powers, const struct stat_model_cell *a,
			  const struct stat_model_cell *b)
{
	double sum = 0;

	for (int i = 0; i < a->runs; i++)
		for (int j = 0; j < b->runs; j++)
			sum += powers[abs(model->places[a->first + i] - model->places[b->first + j])];
	return sum / (a->runs * b->runs);
}

void stat_model_set_alike(struct stat_model *model, double alike)
{
	CLEANUP(base_free) double *powers = stat_zeroed(model->total + 1, sizeof(double));
	int n = model->cell_count;

	model->hyper.alike = alike;
	powers[0] = 1;
	for (int i = 1; i <= model->total; i++)
		powers[i] = powers[i - 1] * alike;
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++) {
			const struct stat_model_cell *a = &model->cells[i], *b = &model->cells[j];

			model->alike[i * n + j] = a->boot == b->boot ? alike_cells(model, powers, a, b) : 0;
		}
	if (!model->noise_given)
		estimate_noise(model);
}

static double prior_part(double value, double median, double sd)
{
	double z = log(value / median) / sd;

	return -z * z / 2;
}

static double posterior(struct stat_model *model)
{
	struct stat_hyper *hyper = &model->hyper, prior = stat_hyper_prior(model->space->factors);
	double sum = stat_model_likelihood(model);

	for (int f = 0; f < model->space->factors; f++)
		sum += prior_part(hyper->factor[f], prior.factor[f], 1.5);
	sum += model->within;
	return sum + prior_part(hyper->pair, prior.pair, 1) + prior_part(hyper->rest, prior.rest, 1) +
	       prior_part(hyper->boot, prior.boot, 1.2) + prior_part(hyper->noise, prior.noise, .3);
}

/*
 * How alike the runs of a boot are: not the likeliest value, which few runs put at 0 too often, but that of which the
 * noise of a mean is as large as it is expected to be, (1 + r) / (1 - r) times that of runs that are not alike. The
 * other numbers stay as they are.
 */
static void fit_alike(struct stat_model *model)
{
	const size_t n = ARRAY_SIZE(correlations);
	double weights[ARRAY_SIZE(correlations)], most = -INFINITY, sum = 0, longer = 0;

	for (size_t i = 0; i < n; i++) {
		stat_model_set_alike(model, correlations[i]);
		weights[i] = posterior(model) + log(i ? (1 - NOT_ALIKE) / (double)(n - 1) : NOT_ALIKE);
		most = fmax(most, weights[i]);
	}
	for (size_t i = 0; i < n; i++) {
		double weight = exp(weights[i] - most);

		sum += weight;
		longer += weight * (1 + correlations[i]) / (1 - correlations[i]);
	}
	longer /= sum;
	stat_model_set_alike(model, (longer - 1) / (longer + 1));
}

void stat_model_fit(struct stat_model *model, int sweeps, double step)
{
	double *values[STAT_FACTORS + 4], best = posterior(model);
	int count = 0;

	for (int f = 0; f < model->space->factors; f++)
		values[count++] = &model->hyper.factor[f];
	values[count++] = &model->hyper.pair;
	values[count++] = &model->hyper.rest;
	values[count++] = &model->hyper.boot;
	values[count++] = &model->hyper.noise;
	for (int sweep = 0; sweep < sweeps; sweep++, step = 1.6) {
		for (int i = 0; i < count; i++) {
			double before = *values[i];

			for (int up = 0; up < 2; up++) {
				double tried = up ? before * step : before / step, kept = *values[i], is;

				*values[i] = tried;
				is = posterior(model);
				if (is > best)
					best = is;
				else
					*values[i] = kept;
			}
		}
		fit_alike(model);
		best = posterior(model);
	}
}

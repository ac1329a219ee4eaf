/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the Gaussian process over configurations and boots. */
#include "stat_model.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_cblas.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#define JITTER 1e-6
#define NOISE_PRIOR (.012 * .012)
#define LOO_MEAN_SQUARE 1.6
#define LOO_LARGEST 4.

struct cell {
	int configuration, boot; /* boot: index of model->boots */
	int runs;
	double mean, squares; /* sum of squared deviations within */
};

struct stat_model {
	const struct stat_space *space;
	struct stat_hyper hyper;
	struct cell *cells;
	int *boots, *run_counts;
	double *noise; /* sig2 of each configuration */
	double jitter, mean, widen;
	int cell_count, boot_count, total, fitted; /* total: runs now; fitted: runs at the last fit */
	/* Rows one after the other. */
	double *factor; /* lower Cholesky factor of K */
	double *across; /* row c: L^-1 k(cell, c) */
	double *toward; /* row b: L^-1 (vb [boot of cell = b]) */
	double *alpha;	/* L^-1 (y - mean) */
	double *theta_mean, *theta_variance;
};

struct stat_hyper stat_hyper_prior(int factors)
{
	struct stat_hyper hyper = {.pair = .012 * .012, .rest = .005 * .005, .boot = .004 * .004, .noise = 1};

	for (int f = 0; f < factors; f++)
		hyper.factor[f] = .03 * .03;
	return hyper;
}

struct stat_model *stat_model_new(const struct stat_space *space)
{
	struct stat_model *model = stat_zeroed(1, sizeof(*model));

	model->space = space;
	model->hyper = stat_hyper_prior(space->factors);
	model->noise = stat_zeroed(space->count, sizeof(double));
	model->run_counts = stat_zeroed(space->count, sizeof(int));
	model->theta_mean = stat_zeroed(space->count, sizeof(double));
	model->theta_variance = stat_zeroed(space->count, sizeof(double));
	model->jitter = JITTER;
	return model;
}

static void forget(struct stat_model *model)
{
	free(model->factor);
	free(model->across);
	free(model->toward);
	free(model->alpha);
	free(model->cells);
	free(model->boots);
	model->factor = model->across = model->toward = model->alpha = NULL;
	model->cells = NULL;
	model->boots = NULL;
}

void stat_model_free(struct stat_model **model)
{
	if (!*model)
		return;
	forget(*model);
	free((*model)->noise);
	free((*model)->run_counts);
	free((*model)->theta_mean);
	free((*model)->theta_variance);
	free(*model);
	*model = NULL;
}

static int boot_index(const struct stat_model *model, int boot)
{
	for (int b = 0; b < model->boot_count; b++)
		if (model->boots[b] == boot)
			return b;
	return -1;
}

static struct cell *cell_of(struct stat_model *model, const struct stat_run *run)
{
	int boot = boot_index(model, run->boot);

	if (boot < 0) {
		boot = model->boot_count++;
		model->boots[boot] = run->boot;
	}
	for (int i = 0; i < model->cell_count; i++)
		if (model->cells[i].configuration == run->configuration && model->cells[i].boot == boot)
			return &model->cells[i];
	model->cells[model->cell_count] = (struct cell){.configuration = run->configuration, .boot = boot};
	return &model->cells[model->cell_count++];
}

/* Noise of each configuration, drawn towards that of all, which is drawn towards 1.2 %. */
static void estimate_noise(struct stat_model *model)
{
	CLEANUP(base_free) double *df = stat_zeroed(model->space->count, sizeof(double));
	double squares = 0, all_df = 0, pooled;

	memset(model->noise, 0, sizeof(double) * (size_t)model->space->count);
	for (int i = 0; i < model->cell_count; i++) {
		const struct cell *cell = &model->cells[i];

		squares += cell->squares;
		all_df += cell->runs - 1;
		model->noise[cell->configuration] += cell->squares;
		df[cell->configuration] += cell->runs - 1;
	}
	pooled = (squares + 2 * NOISE_PRIOR) / (all_df + 2);
	for (int c = 0; c < model->space->count; c++)
		model->noise[c] = (4 * pooled + model->noise[c]) / (4 + df[c]);
}

int stat_model_runs(struct stat_model *model, const struct stat_run *runs, int n, struct err *err)
{
	if (n < 1)
		return err_set(err, EINVAL, NULL, "there is no run to describe");
	for (int i = 0; i < n; i++) {
		if (runs[i].configuration < 0 || runs[i].configuration >= model->space->count)
			return err_set(err, EINVAL, NULL, "run %d is of configuration %d, and there are %d", i + 1,
				       runs[i].configuration, model->space->count);
		if (!isfinite(runs[i].log))
			return err_set(err, EINVAL, NULL, "run %d has no logarithm", i + 1);
	}
	forget(model);
	model->cells = stat_zeroed(n, sizeof(struct cell));
	model->boots = stat_zeroed(n, sizeof(int));
	model->cell_count = model->boot_count = 0;
	memset(model->run_counts, 0, sizeof(int) * (size_t)model->space->count);
	for (int i = 0; i < n; i++) {
		struct cell *cell = cell_of(model, &runs[i]);
		double step = runs[i].log - cell->mean;

		/* Welford 1962. */
		cell->mean += step / ++cell->runs;
		cell->squares += step * (runs[i].log - cell->mean);
		model->run_counts[runs[i].configuration]++;
	}
	model->total = n;
	estimate_noise(model);
	model->mean = 0;
	for (int i = 0; i < model->cell_count; i++)
		model->mean += model->cells[i].mean / model->cell_count;
	model->factor = stat_zeroed(model->cell_count * model->cell_count, sizeof(double));
	model->alpha = stat_zeroed(model->cell_count, sizeof(double));
	return 0;
}

void stat_model_noise(struct stat_model *model, double variance, double jitter)
{
	for (int c = 0; c < model->space->count; c++)
		model->noise[c] = variance;
	model->jitter = jitter;
}

struct stat_hyper *stat_model_hyper(struct stat_model *model)
{
	return &model->hyper;
}

static double kernel(const struct stat_model *model, double widen, int c, int d)
{
	int factors = model->space->factors, equal = 0;
	const int *left = model->space->levels + (size_t)c * factors,
		  *right = model->space->levels + (size_t)d * factors;
	double k = 1;

	for (int f = 0; f < factors; f++)
		if (left[f] == right[f]) {
			k += model->hyper.factor[f];
			equal++;
		}
	if (factors > 1)
		k += widen * model->hyper.pair * (equal * (equal - 1)) / (factors * (factors - 1));
	return c == d ? k + widen * model->hyper.rest : k;
}

/* Factor K and alpha. Returns 0, or -EDOM if K is not positive definite. */
static int decompose(struct stat_model *model, double widen)
{
	int n = model->cell_count;

	for (int i = 0; i < n; i++) {
		const struct cell *a = &model->cells[i];

		for (int j = 0; j <= i; j++) {
			const struct cell *b = &model->cells[j];
			double k = kernel(model, widen, a->configuration, b->configuration);

			if (a->boot == b->boot)
				k += model->hyper.boot;
			if (i == j)
				k += model->hyper.noise * model->noise[a->configuration] / a->runs + model->jitter;
			model->factor[i * n + j] = k;
		}
		model->alpha[i] = a->mean - model->mean;
	}
	/* Row by row; GSL's own ends the program when K is not positive. */
	for (int i = 0; i < n; i++) {
		double *row = model->factor + (size_t)i * n;

		for (int j = 0; j <= i; j++) {
			const double *other = model->factor + (size_t)j * n;
			double sum = row[j];

			for (int k = 0; k < j; k++)
				sum -= row[k] * other[k];
			if (i == j && !(sum > 0))
				return -EDOM;
			row[j] = i == j ? sqrt(sum) : sum / other[j];
		}
	}
	cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, model->factor, n, model->alpha, 1);
	return 0;
}

double stat_model_likelihood(struct stat_model *model)
{
	double logs = 0, square;

	if (decompose(model, 1) < 0)
		return -INFINITY;
	for (int i = 0; i < model->cell_count; i++)
		logs += log(model->factor[i * model->cell_count + i]);
	square = cblas_ddot(model->cell_count, model->alpha, 1, model->alpha, 1);
	return -square / 2 - logs;
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
	return sum + prior_part(hyper->pair, prior.pair, 1) + prior_part(hyper->rest, prior.rest, 1) +
	       prior_part(hyper->boot, prior.boot, 1.2) + prior_part(hyper->noise, prior.noise, .3);
}

void stat_model_fit(struct stat_model *model, int sweeps, double step)
{
	double *values[STAT_FACTORS + 4], best = posterior(model);
	int count = 0;

	model->fitted = model->total;
	for (int f = 0; f < model->space->factors; f++)
		values[count++] = &model->hyper.factor[f];
	values[count++] = &model->hyper.pair;
	values[count++] = &model->hyper.rest;
	values[count++] = &model->hyper.boot;
	values[count++] = &model->hyper.noise;
	for (int sweep = 0; sweep < sweeps; sweep++, step = 1.6)
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
}

int stat_model_fitted(const struct stat_model *model)
{
	return model->fitted;
}

/* Each row r becomes L^-1 r. */
static void solve_rows(const struct stat_model *model, int rows, double *matrix)
{
	cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, model->cell_count, 1,
		    model->factor, model->cell_count, matrix, model->cell_count);
}

int stat_model_solve(struct stat_model *model, double widen, struct err *err)
{
	int n = model->cell_count, configurations = model->space->count;

	if (!n)
		return err_set(err, EINVAL, NULL, "the model has no run");
	if (decompose(model, widen) < 0)
		return err_set(err, EDOM, NULL, "the covariance of %d cells is not positive", n);
	model->widen = widen;
	free(model->across);
	free(model->toward);
	model->across = stat_zeroed(configurations * n, sizeof(double));
	model->toward = stat_zeroed(model->boot_count * n, sizeof(double));
	for (int i = 0; i < n; i++) {
		model->toward[model->cells[i].boot * n + i] = model->hyper.boot;
		for (int c = 0; c < configurations; c++)
			model->across[c * n + i] = kernel(model, widen, model->cells[i].configuration, c);
	}
	solve_rows(model, configurations, model->across);
	solve_rows(model, model->boot_count, model->toward);
	for (int c = 0; c < configurations; c++) {
		const double *row = model->across + (size_t)c * n;

		model->theta_mean[c] = model->mean + cblas_ddot(n, row, 1, model->alpha, 1);
		model->theta_variance[c] = MAX_OF(0, kernel(model, widen, c, c) - cblas_ddot(n, row, 1, row, 1));
	}
	return 0;
}

bool stat_model_solved(const struct stat_model *model)
{
	return model->across != NULL;
}

double stat_model_mean(const struct stat_model *model, int c)
{
	return model->theta_mean[c];
}

double stat_model_variance(const struct stat_model *model, int c)
{
	return model->theta_variance[c];
}

static double dot_rows(const struct stat_model *model, const double *left, int i, const double *right, int j)
{
	int n = model->cell_count;

	return cblas_ddot(n, left + (size_t)i * n, 1, right + (size_t)j * n, 1);
}

double stat_model_covariance(const struct stat_model *model, int c, int d)
{
	return kernel(model, model->widen, c, d) - dot_rows(model, model->across, c, model->across, d);
}

double stat_model_boot_variance(const struct stat_model *model, int boot)
{
	int b = boot_index(model, boot);

	return b < 0 ? model->hyper.boot : model->hyper.boot - dot_rows(model, model->toward, b, model->toward, b);
}

double stat_model_boot_covariance(const struct stat_model *model, int boot, int c)
{
	int b = boot_index(model, boot);

	return b < 0 ? 0 : -dot_rows(model, model->toward, b, model->across, c);
}

double stat_model_noise_of(const struct stat_model *model, int c)
{
	return model->hyper.noise * model->noise[c];
}

int stat_model_runs_of(const struct stat_model *model, int c)
{
	return model->run_counts[c];
}

void stat_model_contrast(const struct stat_model *model, const double *a, double *ret_mean, double *ret_variance)
{
	double mean = 0, variance = 0;

	for (int c = 0; c < model->space->count; c++) {
		if (a[c] == 0)
			continue;
		mean += a[c] * model->theta_mean[c];
		for (int d = 0; d < model->space->count; d++)
			if (a[d] != 0)
				variance += a[c] * a[d] * stat_model_covariance(model, c, d);
	}
	*ret_mean = mean;
	*ret_variance = MAX_OF(0, variance);
}

/* Lower factor in place; a pivot that rounding made negative is a direction without variance. */
static void factor_loosely(double *matrix, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++) {
			double sum = matrix[i * n + j];

			for (int k = 0; k < j; k++)
				sum -= matrix[i * n + k] * matrix[j * n + k];
			if (i == j)
				matrix[i * n + j] = sqrt(MAX_OF(sum, 1e-16));
			else
				matrix[i * n + j] = sum / matrix[j * n + j];
		}
}

void stat_model_draw(const struct stat_model *model, const int *configurations, int n, int draws, uint64_t seed,
		     double *ret_draws)
{
	CLEANUP(base_free) double *matrix = stat_zeroed(n * n, sizeof(double));
	CLEANUP(base_free) double *normal = stat_zeroed(n, sizeof(double));
	gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);

	if (!random)
		err_no_memory();
	gsl_rng_set(random, (unsigned long)(seed ^ seed >> 32) & 0xffffffff);
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
			matrix[i * n + j] = stat_model_covariance(model, configurations[i], configurations[j]);
	factor_loosely(matrix, n);
	for (int draw = 0; draw < draws; draw++) {
		for (int i = 0; i < n; i++)
			normal[i] = gsl_ran_gaussian_ziggurat(random, 1);
		for (int i = 0; i < n; i++) {
			double sum = model->theta_mean[configurations[i]];

			for (int j = 0; j <= i; j++)
				sum += matrix[i * n + j] * normal[j];
			ret_draws[(size_t)draw * n + i] = sum;
		}
	}
	gsl_rng_free(random);
}

struct stat_check stat_model_check(const struct stat_model *model)
{
	int n = model->cell_count;
	CLEANUP(base_free) double *inverse = stat_zeroed(n * n, sizeof(double));
	struct stat_check check = {0};

	/* Row i is L^-1 e_i: its square is that entry of the diagonal of K^-1, and with alpha it is (K^-1 y)_i. */
	for (int i = 0; i < n; i++)
		inverse[i * n + i] = 1;
	solve_rows(model, n, inverse);
	for (int i = 0; i < n; i++) {
		const double *row = inverse + (size_t)i * n;
		double z = fabs(cblas_ddot(n, row, 1, model->alpha, 1) / sqrt(cblas_ddot(n, row, 1, row, 1)));

		check.mean_square += z * z / n;
		if (z >= check.largest) {
			check.largest = z;
			check.configuration = model->cells[i].configuration;
		}
	}
	if (n > 1)
		check.mean_square = (check.mean_square * n - check.largest * check.largest) / (n - 1);
	check.fits = check.mean_square <= LOO_MEAN_SQUARE;
	check.stands_out = check.largest > LOO_LARGEST;
	return check;
}

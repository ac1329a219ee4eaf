/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the Gaussian process over configurations and boots. */
#include "stat_model_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#define JITTER 1e-6
#define LOO_MEAN_SQUARE 1.6
#define LOO_LARGEST 4.

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
	free(model->ahead);
	free(model->alpha);
	free(model->alike);
	free(model->cells);
	free(model->boots);
	free(model->lengths);
	free(model->places);
	free(model->logs);
	model->factor = model->across = model->toward = model->ahead = model->alpha = model->alike = model->logs = NULL;
	model->cells = NULL;
	model->boots = model->lengths = model->places = NULL;
}

void stat_model_free(struct stat_model **model)
{
	if (!*model)
		return;
	forget(*model);
	free((*model)->past.runs);
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

static struct stat_model_cell *cell_of(struct stat_model *model, const struct stat_run *run)
{
	int boot = boot_index(model, run->boot);

	if (boot < 0) {
		boot = model->boot_count++;
		model->boots[boot] = run->boot;
	}
	for (int i = 0; i < model->cell_count; i++)
		if (model->cells[i].configuration == run->configuration && model->cells[i].boot == boot)
			return &model->cells[i];
	model->cells[model->cell_count] = (struct stat_model_cell){.configuration = run->configuration, .boot = boot};
	return &model->cells[model->cell_count++];
}

/* The runs, cell by cell. */
static void sort_runs(struct stat_model *model, const struct stat_run *runs, int n)
{
	CLEANUP(base_free) int *of = stat_zeroed(n, sizeof(int));
	CLEANUP(base_free) int *have = stat_zeroed(n, sizeof(int));

	for (int i = 0; i < n; i++) {
		struct stat_model_cell *cell = cell_of(model, &runs[i]);

		cell->runs++;
		of[i] = (int)(cell - model->cells);
		model->run_counts[runs[i].configuration]++;
	}
	for (int i = 1; i < model->cell_count; i++)
		model->cells[i].first = model->cells[i - 1].first + model->cells[i - 1].runs;
	for (int i = 0; i < n; i++) {
		struct stat_model_cell *cell = &model->cells[of[i]];
		int at = cell->first + have[of[i]]++;

		model->places[at] = model->lengths[cell->boot]++;
		model->logs[at] = runs[i].log;
		cell->mean += runs[i].log / cell->runs;
	}
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
	model->cells = stat_zeroed(n, sizeof(struct stat_model_cell));
	model->boots = stat_zeroed(n, sizeof(int));
	model->lengths = stat_zeroed(n, sizeof(int));
	model->places = stat_zeroed(n, sizeof(int));
	model->logs = stat_zeroed(n, sizeof(double));
	model->cell_count = model->boot_count = 0;
	memset(model->run_counts, 0, sizeof(int) * (size_t)model->space->count);
	sort_runs(model, runs, n);
	model->total = n;
	model->mean = 0;
	for (int i = 0; i < model->cell_count; i++)
		model->mean += model->cells[i].mean / model->cell_count;
	model->factor = stat_zeroed(model->cell_count * model->cell_count, sizeof(double));
	model->alike = stat_zeroed(model->cell_count * model->cell_count, sizeof(double));
	model->alpha = stat_zeroed(model->cell_count, sizeof(double));
	model->noise_given = false;
	stat_model_set_alike(model, model->hyper.alike);
	return 0;
}

void stat_model_noise(struct stat_model *model, double variance, double jitter)
{
	for (int c = 0; c < model->space->count; c++)
		model->noise[c] = variance;
	model->noise_given = true;
	model->within = 0;
	model->jitter = jitter;
}

struct stat_hyper *stat_model_hyper(struct stat_model *model)
{
	return &model->hyper;
}

/* Four sums at once, which the processor adds in parallel. */
static double dot(const double *a, const double *b, int n)
{
	double sums[4] = {0};
	int i = 0;

	for (; i + 4 <= n; i += 4)
		for (int j = 0; j < 4; j++)
			sums[j] += a[i + j] * b[i + j];
	for (; i < n; i++)
		sums[0] += a[i] * b[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
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

/* Covariance of the noise of two cells of one boot. */
static double shared_noise(const struct stat_model *model, int i, int j)
{
	double alike = model->alike[i * model->cell_count + j];
	const double *noise = model->noise;

	return alike == 0 ? 0
			  : model->hyper.noise * alike *
				sqrt(noise[model->cells[i].configuration] * noise[model->cells[j].configuration]);
}

/* Each row r becomes L^-1 r. */
static void solve_rows(const struct stat_model *model, int rows, double *matrix)
{
	int n = model->cell_count;

	for (int r = 0; r < rows; r++) {
		double *row = matrix + (size_t)r * n;

		for (int j = 0; j < n; j++) {
			const double *other = model->factor + (size_t)j * n;

			row[j] = (row[j] - dot(row, other, j)) / other[j];
		}
	}
}

/* Factor K and alpha. Returns 0, or -EDOM if K is not positive definite. */
static int decompose(struct stat_model *model, double widen)
{
	int n = model->cell_count;

	for (int i = 0; i < n; i++) {
		const struct stat_model_cell *a = &model->cells[i];

		for (int j = 0; j <= i; j++) {
			const struct stat_model_cell *b = &model->cells[j];
			double k = kernel(model, widen, a->configuration, b->configuration);

			if (a->boot == b->boot)
				k += model->hyper.boot + shared_noise(model, i, j);
			if (i == j)
				k += model->jitter;
			model->factor[i * n + j] = k;
		}
		model->alpha[i] = a->mean - model->mean;
	}
	/* Row by row; GSL's own ends the program when K is not positive. */
	for (int i = 0; i < n; i++) {
		double *row = model->factor + (size_t)i * n;

		for (int j = 0; j <= i; j++) {
			const double *other = model->factor + (size_t)j * n;
			double left = row[j] - dot(row, other, j);

			if (i == j && !(left > 0))
				return -EDOM;
			row[j] = i == j ? sqrt(left) : left / other[j];
		}
	}
	solve_rows(model, 1, model->alpha);
	return 0;
}

double stat_model_likelihood(struct stat_model *model)
{
	double logs = 0, square;

	if (decompose(model, 1) < 0)
		return -INFINITY;
	for (int i = 0; i < model->cell_count; i++)
		logs += log(model->factor[i * model->cell_count + i]);
	square = dot(model->alpha, model->alpha, model->cell_count);
	return -square / 2 - logs;
}

struct stat_past *stat_model_past(struct stat_model *model)
{
	return &model->past;
}

/* Covariance of a cell with the noise, of deviation 1, of the run that comes next in its boot. */
static double alike_ahead(const struct stat_model *model, const struct stat_model_cell *cell)
{
	double sum = 0;

	for (int i = 0; i < cell->runs && model->hyper.alike > 0; i++)
		sum += pow(model->hyper.alike, model->lengths[cell->boot] - model->places[cell->first + i]);
	return sum / cell->runs * sqrt(model->hyper.noise * model->noise[cell->configuration]);
}

int stat_model_factor(struct stat_model *model, double widen, struct err *err)
{
	if (!model->cell_count)
		return err_set(err, EINVAL, NULL, "the model has no run");
	if (decompose(model, widen) < 0)
		return err_set(err, EDOM, NULL, "the covariance of %d cells is not positive", model->cell_count);
	model->widen = widen;
	return 0;
}

int stat_model_solve(struct stat_model *model, double widen, struct err *err)
{
	int n = model->cell_count, configurations = model->space->count, r = stat_model_factor(model, widen, err);

	if (r < 0)
		return r;
	free(model->across);
	free(model->toward);
	free(model->ahead);
	model->ahead = stat_zeroed(model->boot_count * n, sizeof(double));
	model->across = stat_zeroed(configurations * n, sizeof(double));
	model->toward = stat_zeroed(model->boot_count * n, sizeof(double));
	for (int i = 0; i < n; i++) {
		model->toward[model->cells[i].boot * n + i] = model->hyper.boot;
		model->ahead[model->cells[i].boot * n + i] = alike_ahead(model, &model->cells[i]);
		for (int c = 0; c < configurations; c++)
			model->across[c * n + i] = kernel(model, widen, model->cells[i].configuration, c);
	}
	solve_rows(model, configurations, model->across);
	solve_rows(model, model->boot_count, model->toward);
	solve_rows(model, model->boot_count, model->ahead);
	for (int c = 0; c < configurations; c++) {
		const double *row = model->across + (size_t)c * n;

		model->theta_mean[c] = model->mean + dot(row, model->alpha, n);
		model->theta_variance[c] = MAX_OF(0, kernel(model, widen, c, c) - dot(row, row, n));
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

	return dot(left + (size_t)i * n, right + (size_t)j * n, n);
}

double stat_model_covariance(const struct stat_model *model, int c, int d)
{
	return kernel(model, model->widen, c, d) - dot_rows(model, model->across, c, model->across, d);
}

double stat_model_gain(const struct stat_model *model, int c, int boot, int runs, int a, int b)
{
	int n = model->cell_count, at = boot_index(model, boot);
	const double *across = model->across + (size_t)c * n, *left = model->across + (size_t)a * n,
		     *right = model->across + (size_t)b * n;
	double noise = model->hyper.noise * model->noise[c], power = 1, reach = 0, same = 0, seen = 0, tells = 0;
	double variance = kernel(model, model->widen, c, c) + model->hyper.boot;

	for (int i = 0; i < runs; i++, power *= model->hyper.alike) {
		reach += power / runs;
		same += power * (i ? 2 * (runs - i) : runs) / (runs * runs);
	}
	variance += noise * same;
	reach *= sqrt(noise);
	for (int i = 0; i < n; i++) {
		double z = across[i];

		if (at >= 0)
			z += model->toward[at * n + i] + reach * model->ahead[at * n + i];
		seen += z * z;
		tells += z * (left[i] - right[i]);
	}
	tells = kernel(model, model->widen, c, a) - kernel(model, model->widen, c, b) - tells;
	return tells * tells / (variance - seen);
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
			double sum = matrix[i * n + j] - dot(matrix + (size_t)i * n, matrix + (size_t)j * n, j);

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
		for (int i = 0; i < n; i++)
			ret_draws[(size_t)draw * n + i] =
			    model->theta_mean[configurations[i]] + dot(matrix + (size_t)i * n, normal, i + 1);
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
		double z = fabs(dot(row, model->alpha, n) / sqrt(dot(row, row, n)));

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

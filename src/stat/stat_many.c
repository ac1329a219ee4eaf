/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns comparing many configurations with one baseline. */
#include "stat_many.h"

#include <errno.h>
#include <math.h>

#include <gsl/gsl_sf_psi.h>
#include <gsl/gsl_sort.h>

/* Simulated for moderated tests at five blocks and 79 configurations; from eight blocks on at most 5.2 %. */
#define FAMILY_FEW_BLOCKS .063
#define VARIANCE_FLOOR 1e-5 /* of the median, as limma */

void stat_holm(const double *p, int n, double *ret_adjusted)
{
	CLEANUP(base_free) size_t *order = stat_zeroed(n, sizeof(size_t));
	double highest = 0;

	gsl_sort_index(order, p, 1, (size_t)n);
	for (int i = 0; i < n; i++) {
		highest = MAX_OF(highest, (n - i) * p[order[i]]);
		ret_adjusted[order[i]] = MIN_OF(1, highest);
	}
}

void stat_bh(const double *p, int n, double *ret_adjusted)
{
	CLEANUP(base_free) size_t *order = stat_zeroed(n, sizeof(size_t));
	double lowest = 1;

	gsl_sort_index(order, p, 1, (size_t)n);
	for (int i = n - 1; i >= 0; i--) {
		lowest = MIN_OF(lowest, p[order[i]] * n / (i + 1));
		ret_adjusted[order[i]] = lowest;
	}
}

/* Newton's iteration on 1 / trigamma, from .5 + 1 / x, as Smyth's appendix. */
static double trigamma_inverse(double x)
{
	double y = .5 + 1 / x, step = -1;

	for (int i = 0; i < 50 && -step / y > 1e-8; i++) {
		double trigamma = gsl_sf_psi_1(y);

		step = trigamma * (1 - trigamma / x) / gsl_sf_psi_n(2, y);
		y += step;
	}
	return y;
}

int stat_moderate(const double *variances, int n, double df, double *ret_d0, double *ret_s0, struct err *err)
{
	CLEANUP(base_free) double *z = NULL;
	double least, mean, spread;

	if (n < 2)
		return err_set(err, EINVAL, NULL, "moderation needs two variances, not %d", n);
	z = stat_sorted(variances, n);
	least = VARIANCE_FLOOR * stat_sorted_median(z, n);
	if (!(least > 0))
		return err_set(err, EINVAL, NULL, "half of the configurations have no spread at all");
	for (int i = 0; i < n; i++)
		z[i] = log(MAX_OF(variances[i], least)) - gsl_sf_psi(df / 2) + log(df / 2);
	mean = stat_mean(z, n);
	spread = pow(stat_sd(z, n), 2) - gsl_sf_psi_1(df / 2);
	if (spread > 0) {
		*ret_d0 = 2 * trigamma_inverse(spread);
		*ret_s0 = exp(mean + gsl_sf_psi(*ret_d0 / 2) - log(*ret_d0 / 2));
	} else {
		*ret_d0 = INFINITY;
		*ret_s0 = stat_mean(variances, n);
	}
	return 0;
}

/* Variance of each configuration about the block effects that all share. */
static void centred_variances(const double *logs, int configurations, int blocks, double *variances)
{
	CLEANUP(base_free) double *rest = stat_zeroed(configurations * blocks, sizeof(double));
	CLEANUP(base_free) double *column = stat_zeroed(configurations, sizeof(double));
	int k = configurations - 1;

	for (int j = 0; j < configurations; j++) {
		double mean = stat_mean(logs + (size_t)j * blocks, blocks);

		for (int b = 0; b < blocks; b++)
			rest[j * blocks + b] = logs[j * blocks + b] - mean;
	}
	for (int b = 0; b < blocks; b++) {
		double effect;

		for (int j = 0; j < configurations; j++)
			column[j] = rest[j * blocks + b];
		gsl_sort(column, 1, (size_t)configurations);
		effect = stat_sorted_median(column, configurations);
		for (int j = 0; j < configurations; j++)
			rest[j * blocks + b] -= effect;
	}
	for (int j = 0; j < configurations; j++)
		variances[j] = pow(stat_sd(rest + (size_t)j * blocks, blocks), 2) * (k + 1) / k;
}

static void fill(struct stat_many_row *row, double difference, double error, double df, double alpha, double margin,
		 int k)
{
	double half = stat_t_critical(alpha / k, df) * error, theta = log1p(margin);

	row->t = error > 0 ? difference / error : difference == 0 ? 0 : copysign(INFINITY, difference);
	row->df = df;
	row->p = stat_t_p(row->t, df);
	row->ratio = stat_exp((struct stat_interval){difference, difference - half, difference + half});
	row->equivalent = difference - half > -theta && difference + half < theta;
}

static int moderated(const double *logs, int configurations, int blocks, double alpha, double margin,
		     struct stat_many *many, struct stat_many_row *rows, struct err *err)
{
	CLEANUP(base_free) double *w = stat_zeroed(configurations, sizeof(double));
	int k = configurations - 1, d = blocks - 1, r;
	double base = stat_mean(logs, blocks), d0 = 0, s0 = 0, df;

	centred_variances(logs, configurations, blocks, w);
	r = stat_moderate(w, configurations, d, &d0, &s0, err);
	if (r < 0)
		return r;
	for (int j = 0; j < configurations; j++)
		w[j] = isinf(d0) ? s0 : (d0 * s0 + d * w[j]) / (d0 + d);
	df = MIN_OF(d0 + d, (double)k * d);
	for (int j = 1; j < configurations; j++) {
		double sum = w[j] + w[0], satterthwaite = sum * sum * df / (w[j] * w[j] + w[0] * w[0]);

		fill(&rows[j - 1], stat_mean(logs + (size_t)j * blocks, blocks) - base, sqrt(sum / blocks),
		     satterthwaite, alpha, margin, k);
	}
	many->prior_df = d0;
	many->prior_variance = s0;
	many->family_error = blocks < STAT_MANY_SURE_BLOCKS ? FAMILY_FEW_BLOCKS : alpha;
	return 0;
}

static void paired(const double *logs, int configurations, int blocks, double alpha, double margin,
		   struct stat_many *many, struct stat_many_row *rows)
{
	CLEANUP(base_free) double *d = stat_zeroed(blocks, sizeof(double));

	for (int j = 1; j < configurations; j++) {
		for (int b = 0; b < blocks; b++)
			d[b] = logs[j * blocks + b] - logs[b];
		fill(&rows[j - 1], stat_mean(d, blocks), stat_sd(d, blocks) / sqrt(blocks), blocks - 1, alpha, margin,
		     configurations - 1);
	}
	many->prior_df = many->prior_variance = NAN;
	many->family_error = alpha;
}

int stat_many(const double *logs, int configurations, int blocks, double alpha, double margin,
	      struct stat_many *ret_many, struct stat_many_row *ret_rows, struct err *err)
{
	struct stat_many many = {.configurations = configurations, .blocks = blocks};
	CLEANUP(base_free) double *p = NULL, *adjusted = NULL;
	int k = configurations - 1, r;

	if (k < 1 || blocks < 2)
		return err_set(err, EINVAL, NULL, "%d configurations in %d blocks cannot be compared: two of each",
			       configurations, blocks);
	r = stat_check(logs, configurations * blocks, false, err);
	if (r < 0)
		return r;
	many.method = k < STAT_MANY_MODERATED_FROM ? STAT_MANY_PAIRED : STAT_MANY_MODERATED;
	if (many.method == STAT_MANY_PAIRED) {
		paired(logs, configurations, blocks, alpha, margin, &many, ret_rows);
	} else {
		r = moderated(logs, configurations, blocks, alpha, margin, &many, ret_rows, err);
		if (r < 0)
			return r;
	}
	p = stat_zeroed(k, sizeof(double));
	adjusted = stat_zeroed(k, sizeof(double));
	for (int j = 0; j < k; j++)
		p[j] = ret_rows[j].p;
	stat_holm(p, k, adjusted);
	for (int j = 0; j < k; j++) {
		ret_rows[j].adjusted = adjusted[j];
		ret_rows[j].differs = adjusted[j] <= alpha;
		ret_rows[j].verdict = ret_rows[j].differs ? (ret_rows[j].ratio.estimate < 1 ? STAT_LOWER : STAT_HIGHER)
				      : ret_rows[j].equivalent ? STAT_EQUIVALENT
							       : STAT_UNDECIDED;
	}
	stat_bh(p, k, adjusted);
	for (int j = 0; j < k; j++)
		ret_rows[j].listed = adjusted[j];
	*ret_many = many;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what each lever contributes. */
#include "stat_effects.h"

#include <errno.h>
#include <math.h>

#include <gsl/gsl_sf_gamma.h>

struct stat_cell stat_cell(const double *logs, int n)
{
	return (struct stat_cell){n, stat_mean(logs, n), stat_sd(logs, n)};
}

struct pool {
	double squares, df;
};

static int pool_cells(struct pool *pool, const struct stat_cell *cells, int n, struct err *err)
{
	for (int i = 0; i < n; i++) {
		if (cells[i].n < 1 || !isfinite(cells[i].mean))
			return err_set(err, EINVAL, NULL, "configuration %d of %d has no run", i + 1, n);
		if (cells[i].n < 2)
			continue;
		pool->squares += (cells[i].n - 1) * cells[i].sd * cells[i].sd;
		pool->df += cells[i].n - 1;
	}
	return 0;
}

static int check_cells(const struct stat_cell *cells, int n, struct err *err)
{
	struct pool ignored = {0};

	return pool_cells(&ignored, cells, n, err);
}

static int pool_variance(const struct pool *pool, double *ret_variance, struct err *err)
{
	if (pool->df < 1)
		return err_set(err, EINVAL, NULL, "no configuration ran twice, so there is no error to compare with");
	*ret_variance = pool->squares / pool->df;
	return 0;
}

/* exp of estimate +- t sqrt(variance). */
static struct stat_interval ratio(double estimate, double variance, double df, double alpha)
{
	double half = variance > 0 ? stat_t_critical(alpha, df) * sqrt(variance) : 0;

	return stat_exp((struct stat_interval){estimate, estimate - half, estimate + half});
}

int stat_attribute(const struct stat_cell *baseline, const struct stat_cell *all, const struct stat_cell *alone,
		   const struct stat_cell *without, int levers, double alpha, struct stat_attribution *ret_attribution,
		   struct stat_lever *ret_levers, struct err *err)
{
	struct pool pool = {0};
	double variance = 0, total, sum = 0, residual_ns, edge = 1 - levers / 2., residual;
	int r;

	if (levers < 1)
		return err_set(err, EINVAL, NULL, "there is no lever");
	if ((r = pool_cells(&pool, baseline, 1, err)) < 0 || (r = pool_cells(&pool, all, 1, err)) < 0 ||
	    (r = check_cells(alone, levers, err)) < 0 || (r = check_cells(without, levers, err)) < 0 ||
	    /* Of one lever alone is all and without the baseline; of two each without is the other one alone. */
	    (levers > 1 && (r = pool_cells(&pool, alone, levers, err)) < 0) ||
	    (levers > 2 && (r = pool_cells(&pool, without, levers, err)) < 0) ||
	    (r = pool_variance(&pool, &variance, err)) < 0)
		return r;
	total = all->mean - baseline->mean;
	/* all and baseline stand in each phi as well: 1 - k/2 of each is left over. */
	residual_ns = edge * edge * (1. / all->n + 1. / baseline->n);
	for (int j = 0; j < levers; j++) {
		double first = alone[j].mean - baseline->mean, last = all->mean - without[j].mean;
		double phi = (first + last) / 2;
		double of_phi =
		    levers > 1 ? variance / 4 * (1. / alone[j].n + 1. / baseline->n + 1. / all->n + 1. / without[j].n)
			       : variance * (1. / baseline->n + 1. / all->n);

		ret_levers[j] = (struct stat_lever){ratio(phi, of_phi, pool.df, alpha), exp(first), exp(last),
						    of_phi > 0 ? stat_t_p(phi / sqrt(of_phi), pool.df) : phi == 0};
		sum += phi;
		residual_ns += (1. / alone[j].n + 1. / without[j].n) / 4;
	}
	/* The shares of one or two levers are the total, by definition. */
	residual = levers > 2 ? total - sum : 0;
	residual_ns = levers > 2 ? residual_ns : 0;
	*ret_attribution = (struct stat_attribution){
	    .total = ratio(total, variance * (1. / all->n + 1. / baseline->n), pool.df, alpha),
	    .residual = ratio(residual, variance * residual_ns, pool.df, alpha),
	    .sd = sqrt(variance),
	    .df = pool.df,
	};
	ret_attribution->attributable = ret_attribution->residual.low <= 1 && ret_attribution->residual.high >= 1;
	return 0;
}

int stat_shapley(const struct stat_cell *cells, int levers, double *ret_shares, double *ret_variances, struct err *err)
{
	struct pool pool = {0};
	double variance = 0;
	unsigned sets;
	int r;

	if (levers < 1 || levers > STAT_SHAPLEY_LEVERS)
		return err_set(err, EINVAL, NULL, "Shapley values of %d levers: 1 to %d are possible", levers,
			       STAT_SHAPLEY_LEVERS);
	sets = 1u << levers;
	r = pool_cells(&pool, cells, (int)sets, err);
	if (r < 0)
		return r;
	if (ret_variances && (r = pool_variance(&pool, &variance, err)) < 0)
		return r;
	for (int j = 0; j < levers; j++) {
		double phi = 0, of_phi = 0;

		for (unsigned set = 0; set < sets; set++) {
			unsigned with = set | 1u << j, size = (unsigned)__builtin_popcount(set);
			double weight;

			if (set == with)
				continue;
			weight = gsl_sf_fact(size) * gsl_sf_fact((unsigned)levers - size - 1) /
				 gsl_sf_fact((unsigned)levers);
			phi += weight * (cells[with].mean - cells[set].mean);
			of_phi += weight * weight * (1. / cells[with].n + 1. / cells[set].n);
		}
		ret_shares[j] = phi;
		if (ret_variances)
			ret_variances[j] = of_phi * variance;
	}
	return 0;
}

int stat_contrast(const struct stat_cell *cells, const double *coefficients, int n, double alpha,
		  struct stat_interval *ret_interval, struct err *err)
{
	struct pool pool = {0};
	double variance = 0, estimate = 0, of_it = 0, half;
	int r = pool_cells(&pool, cells, n, err);

	if (r < 0 || (r = pool_variance(&pool, &variance, err)) < 0)
		return r;
	for (int i = 0; i < n; i++) {
		estimate += coefficients[i] * cells[i].mean;
		of_it += coefficients[i] * coefficients[i] / cells[i].n;
	}
	half = stat_t_critical(alpha, pool.df) * sqrt(of_it * variance);
	*ret_interval = (struct stat_interval){estimate, estimate - half, estimate + half};
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the geometric mean over workloads. */
#include "stat_geomean.h"

#include <errno.h>
#include <math.h>

/* Variance of the mean and the sum that its degrees of freedom need; infinite where a workload has one block. */
static void spread_within(const struct stat_workload *workloads, int count, double weights,
			  struct stat_geomean *geomean)
{
	double denominator = 0;

	for (int i = 0; i < count; i++) {
		const struct stat_workload *of = &workloads[i];
		double part;

		if (!of->n)
			continue;
		if (of->n < 2) {
			geomean->variance = INFINITY;
			geomean->df = 0;
			return;
		}
		part = pow(of->weight * stat_sd(of->d, of->n) / weights, 2) / of->n;
		geomean->variance += part;
		denominator += part * part / (of->n - 1);
	}
	geomean->df = denominator > 0 ? geomean->variance * geomean->variance / denominator : INFINITY;
}

static struct stat_interval around(double mean, double variance, double df, double alpha)
{
	double half = variance > 0 ? stat_t_critical(alpha, df) * sqrt(variance) : 0;

	return stat_exp((struct stat_interval){mean, mean - half, mean + half});
}

int stat_geomean(const struct stat_workload *workloads, int count, double alpha, struct stat_geomean *ret_geomean,
		 struct err *err)
{
	struct stat_geomean geomean = {0};
	double weights = 0, spread = 0;
	int n;

	for (int i = 0; i < count; i++) {
		const struct stat_workload *of = &workloads[i];
		int r = stat_check(of->d, of->n, false, err);

		if (r < 0)
			return r;
		if (!(of->weight > 0 && isfinite(of->weight)))
			return err_set(err, EINVAL, NULL, "weight %g of workload %d is not above 0", of->weight, i + 1);
		if (!of->n) {
			geomean.left_out++;
			continue;
		}
		geomean.workloads++;
		weights += of->weight;
		geomean.mean += of->weight * stat_mean(of->d, of->n);
	}
	n = geomean.workloads;
	if (!n)
		return err_set(err, EINVAL, NULL, "no workload has run on both sides");
	geomean.mean /= weights;
	for (int i = 0; i < count; i++)
		if (workloads[i].n)
			spread += pow(workloads[i].weight / weights *
					  (stat_mean(workloads[i].d, workloads[i].n) - geomean.mean),
				      2);
	spread_within(workloads, count, weights, &geomean);
	geomean.these = around(geomean.mean, geomean.variance, geomean.df, alpha);
	/* With equal weights this is sd^2 / W. */
	geomean.alike = around(geomean.mean, n > 1 ? spread * n / (n - 1) : INFINITY, n - 1, alpha);
	*ret_geomean = geomean;
	return 0;
}

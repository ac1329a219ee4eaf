/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the geometric mean of ratios over workloads, with its two intervals: for these workloads, and for workloads like
 * these. They answer different questions (the second is 2-11 times wider), so neither is printed without saying which.
 *
 * Direction: times as ln(old / new), rates as ln(new / old). Performance per watt is work over energy: for fixed work
 * one mean of energy ratios; for rates d = ln rate ratio - ln power ratio, paired in the block.
 */
#ifndef HVTUNE_STAT_GEOMEAN_H
#define HVTUNE_STAT_GEOMEAN_H

#include "stat.h"

struct stat_workload {
	const double *d; /* ln ratio of each block; none = it failed on a side, and is left out of both */
	int n;
	double weight; /* 1 unless somebody gave weights */
};

struct stat_geomean {
	int workloads;		    /* in the mean */
	int left_out;		    /* without a block: to be listed by name */
	double mean;		    /* of logs */
	double variance, df;	    /* of the mean over these workloads; Satterthwaite */
	struct stat_interval these; /* ratio; unbounded if a workload has one block only */
	struct stat_interval alike; /* ratio for workloads like these: t over workloads */
};

/*
 * These: V = sum w^2 s_w^2/n_w / (sum w)^2, df = V^2 / sum[(w^2 s_w^2/n_w / (sum w)^2)^2 / (n_w - 1)], exp(mean +-
 * t(alpha, df) sqrt V). Alike: exp(mean +- t(alpha, W - 1) sd(d_w) / sqrt W), with weights the weighted sd and mean.
 * -EINVAL if no workload has a block, for a weight not above 0, and a d that is no number.
 */
int stat_geomean(const struct stat_workload *workloads, int count, double alpha, struct stat_geomean *ret_geomean,
		 struct err *err);

#endif

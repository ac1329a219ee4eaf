/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the sequential comparison, what it can show, and the comparison of a configuration with itself. */
#include "stat_sequential.h"

#include <errno.h>
#include <math.h>

#include <gsl/gsl_cdf.h>

/* Nominal alpha by blocks before the first look and by cap, each simulated to 5 % over all looks
 * (docs/statistics.md, 2.3). */
static const int caps[] = {8, 10, 12, 16, 20, 30, 60};
static const struct {
	int first;
	double nominal[ARRAY_SIZE(caps)];
} nominals[] = {
    {3, {.0142, .0120, .0107, .0090, .0079, .0063, .0047}}, {4, {.0182, .0146, .0128, .0105, .0090, .0071, .0052}},
    {5, {.0229, .0178, .0150, .0120, .0102, .0078, .0056}}, {6, {.0288, .0213, .0176, .0136, .0114, .0086, .0059}},
    {8, {.0500, .0312, .0237, .0173, .0137, .0100, .0066}},
};

enum { FIRST_LOW = 3, FIRST_HIGH = 8, CAP_HIGH = 60, OPEN_JUDGED = 30, CHI_STEPS = 400 };

int stat_sequential_plan(int first, int cap, double margin, struct stat_sequential *ret_plan, struct err *err)
{
	size_t row = 0, column = 0;

	if (first < FIRST_LOW || first > FIRST_HIGH)
		return err_set(err, EINVAL, NULL, "a comparison looks first after %d to %d blocks, not after %d",
			       FIRST_LOW, FIRST_HIGH, first);
	if (cap && (cap < first || cap > CAP_HIGH))
		return err_set(err, EINVAL, NULL, "a comparison has at most %d to %d blocks, or no limit; not %d",
			       first, CAP_HIGH, cap);
	if (!(margin > 0 && margin < 1))
		return err_set(err, EINVAL, NULL, "a margin of %g %% is not between 0 and 100 %%", margin * 100);
	*ret_plan = (struct stat_sequential){first, cap, margin, STAT_ALPHA};
	if (!cap || cap == first) /* one look is a plain interval */
		return 0;
	while (row + 1 < ARRAY_SIZE(nominals) && nominals[row + 1].first <= first)
		row++;
	while (caps[column] < cap)
		column++;
	ret_plan->nominal = nominals[row].nominal[column];
	return 0;
}

struct stat_sequential stat_sequential_open(const struct stat_sequential *plan)
{
	return (struct stat_sequential){plan->first, 0, plan->margin, STAT_ALPHA};
}

int stat_sequential_look(const struct stat_sequential *plan, const double *d, int blocks, enum stat_stop *ret_stop,
			 struct stat_compare *ret_compare, struct err *err)
{
	struct stat_interval interval = {stat_mean(d, blocks), -INFINITY, INFINITY};
	int r;

	if (blocks >= plan->first)
		interval = plan->cap ? stat_t_interval(d, blocks, plan->nominal)
				     : stat_sequence_interval(d, blocks, STAT_SEQUENCE_G, plan->nominal);
	r = stat_compare_interval(d, blocks, plan->nominal, plan->margin, interval, ret_compare, err);
	if (r < 0)
		return r;
	if (ret_compare->verdict != STAT_UNDECIDED)
		*ret_stop = STAT_STOP_TARGET;
	else
		*ret_stop = plan->cap && blocks >= plan->cap ? STAT_STOP_CAP : STAT_STOP_MORE;
	return 0;
}

/*
 * Weights of the sample's sd over the true one: the chi density s^(v-1) e^(-v s^2 / 2), v = n - 1, at equal steps. It
 * is smooth and vanishes at both ends (or is flat at 0), so that plain sums converge fast.
 */
static double chi_step(int df, int i, double *ret_s)
{
	double top = 1 + 8 / sqrt(df);

	*ret_s = (i + .5) / CHI_STEPS * top;
	return exp((df - 1) * log(*ret_s) - df * (*ret_s * *ret_s - 1) / 2);
}

double stat_power_difference(double sd, int n, double difference, double alpha)
{
	double critical = stat_t_critical(alpha, n - 1), shift, sum = 0, all = 0;

	if (n < 2)
		return 0;
	if (sd <= 0)
		return difference != 0;
	shift = difference * sqrt(n) / sd;
	for (int i = 0; i < CHI_STEPS; i++) {
		double s, weight = chi_step(n - 1, i, &s);

		all += weight;
		sum +=
		    weight * (gsl_cdf_ugaussian_Q(critical * s - shift) + gsl_cdf_ugaussian_P(-critical * s - shift));
	}
	return sum / all;
}

double stat_power_equivalence(double sd, int n, double theta, double alpha)
{
	double critical = stat_t_critical(2 * alpha, n - 1), room, sum = 0, all = 0;

	if (n < 2)
		return 0;
	if (sd <= 0)
		return theta > 0;
	room = theta * sqrt(n) / sd;
	for (int i = 0; i < CHI_STEPS; i++) {
		double s, weight = chi_step(n - 1, i, &s), within = room - critical * s;

		all += weight;
		sum += within > 0 ? weight * (1 - 2 * gsl_cdf_ugaussian_Q(within)) : 0;
	}
	return sum / all;
}

double stat_detectable(double sd, int n, double alpha, double power)
{
	double low = 0, high = sd;

	if (n < 2)
		return INFINITY;
	if (sd <= 0)
		return 0;
	while (stat_power_difference(sd, n, high, alpha) < power)
		high *= 2;
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (stat_power_difference(sd, n, middle, alpha) < power)
			low = middle;
		else
			high = middle;
	}
	return expm1(high);
}

int stat_aa(const struct stat_sequential *plan, const double *a, const double *b, const double *order, int blocks,
	    struct stat_aa *ret_aa, struct err *err)
{
	int last = plan->cap ? plan->cap : OPEN_JUDGED, r;
	struct stat_aa aa = {0};

	r = stat_compare(a, b, blocks, STAT_ALPHA, plan->margin, &aa.compare, err);
	if (r < 0)
		return r;
	aa.alarm = aa.compare.differs;
	if (blocks < 2) {
		aa.detectable = INFINITY;
	} else {
		aa.detectable = stat_detectable(aa.compare.sd, last, plan->nominal, .9);
		/* The verdict wants the two sided interval inside the margin, so half of alpha on each side. */
		aa.equivalence = stat_power_equivalence(aa.compare.sd, last, log1p(plan->margin), plan->nominal / 2);
	}
	aa.drift = stat_drift(order, 2 * blocks);
	*ret_aa = aa;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a meter's lag, and where a faster configuration begins to save. */
#include "stat_power.h"

#include <math.h>

static bool running(double at, const double *on, const double *off, int runs)
{
	for (int i = 0; i < runs; i++)
		if (at >= on[i] && at < off[i])
			return true;
	return false;
}

/* Correlation of the samples with the on/off signal shifted by `lag`; NAN where either does not vary. */
static double correlation(const struct stat_watts *samples, int n, const double *on, const double *off, int runs,
			  double lag)
{
	double p = 0, q = 0, pp = 0, qq = 0, pq = 0, variances;

	for (int i = 0; i < n; i++) {
		double is = running(samples[i].at - lag, on, off, runs);

		p += samples[i].watts;
		q += is;
		pp += samples[i].watts * samples[i].watts;
		qq += is * is;
		pq += samples[i].watts * is;
	}
	variances = (pp - p * p / n) * (qq - q * q / n);
	return variances > 0 ? (pq - p * q / n) / sqrt(variances) : NAN;
}

double stat_power_lag(const struct stat_watts *samples, int n, const double *on, const double *off, int runs,
		      double most, double step)
{
	double best = 0, first = NAN, last = NAN;

	for (int i = 0; step > 0 && i * step <= most; i++) {
		double is = correlation(samples, n, on, off, runs, i * step);

		/* Lags between two samples look the same. */
		if (is > best + 1e-12) {
			best = is;
			first = last = i * step;
		} else if (best > 0 && is > best - 1e-12 && i * step - last < 1.5 * step) {
			last = i * step;
		}
	}
	return (first + last) / 2;
}

double stat_break_even(double joules_f, double seconds_f, double idle_f, double joules_s, double seconds_s,
		       double idle_s)
{
	double saved = joules_s - idle_s * seconds_s - (joules_f - idle_f * seconds_f), dearer = idle_f - idle_s, tau;

	if (dearer == 0)
		return saved > 0 ? INFINITY : 0;
	tau = saved / dearer;
	if (dearer < 0)
		return tau <= seconds_s ? INFINITY : NAN;
	return tau < seconds_f ? 0 : tau;
}

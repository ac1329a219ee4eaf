/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns energy from samples of power, their error and lag, and where a faster configuration begins to save. */
#include "stat_energy.h"

#include <errno.h>
#include <math.h>

/* Period over length, and relative error of interpolated edges (docs/statistics.md, 5.2). */
static const struct {
	double ratio, error;
} errors[] = {{.1 / 75, .0002}, {.5 / 75, .0011}, {1. / 75, .0023},
	      {2. / 75, .0052}, {5. / 75, .0141}, {10. / 75, .0294}};

#define COARSE .1 /* of the length: a period above it */

double stat_power_error(double period, double length)
{
	double ratio = period / length, share;
	size_t i = 1;

	if (!(ratio > 0))
		return NAN;
	while (i + 1 < ARRAY_SIZE(errors) && errors[i].ratio < ratio)
		i++;
	share = log(ratio / errors[i - 1].ratio) / log(errors[i].ratio / errors[i - 1].ratio);
	return errors[i - 1].error * pow(errors[i].error / errors[i - 1].error, share);
}

static double at_time(const struct stat_watts *a, const struct stat_watts *b, double at)
{
	return a->watts + (b->watts - a->watts) * (at - a->at) / (b->at - a->at);
}

/* The samples that a machine can draw. Returns their number. */
static int believed(const struct stat_power_rule *rule, const struct stat_watts *samples, int n,
		    struct stat_watts *kept, struct stat_energy *energy)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		if (samples[i].watts >= rule->min_watts && samples[i].watts <= rule->max_watts)
			kept[count++] = samples[i];
		else
			energy->impossible++;
	return count;
}

/* Which stretches (from kept[i - 1] to kept[i]) say nothing. */
static void mark_void(const struct stat_power_rule *rule, const struct stat_watts *kept, int n, bool *is_void,
		      struct stat_energy *energy)
{
	for (int i = 1; i < n; i++)
		if (rule->gap > 0 && kept[i].at - kept[i - 1].at > rule->gap) {
			is_void[i] = true;
			energy->ambiguous++;
		}
	for (int i = 0, end; i < n && rule->still > 0; i = end) {
		for (end = i + 1; end < n && kept[end].watts == kept[i].watts; end++)
			continue;
		if (kept[end - 1].at - kept[i].at < rule->still)
			continue;
		energy->stuck++;
		for (int j = i + 1; j < end; j++)
			is_void[j] = true;
	}
}

static void integrate(const struct stat_watts *kept, const bool *is_void, int n, double from, double to,
		      struct stat_energy *energy)
{
	double inside = 0, first = NAN, last = NAN;
	int samples = 0;

	for (int i = 0; i < n; i++) {
		double begin = i ? MAX_OF(kept[i - 1].at, from) : 0, end = MIN_OF(kept[i].at, to);

		if (kept[i].at >= from && kept[i].at <= to) {
			inside += kept[i].watts;
			samples++;
		}
		if (!i || end <= begin)
			continue;
		first = isnan(first) ? kept[i - 1].at : first;
		last = kept[i].at;
		energy->used++;
		if (is_void[i])
			continue;
		energy->covered += end - begin;
		energy->joules +=
		    (at_time(&kept[i - 1], &kept[i], begin) + at_time(&kept[i - 1], &kept[i], end)) / 2 * (end - begin);
	}
	energy->period = energy->used ? (last - first) / energy->used : NAN;
	energy->used += energy->used > 0;
	energy->coarse = energy->used && energy->period > COARSE * (to - from) && samples > 0;
	if (energy->coarse)
		energy->joules = inside / samples * energy->covered;
}

int stat_power_energy(const struct stat_power_rule *rule, const struct stat_watts *samples, int n, double from,
		      double to, struct stat_energy *ret_energy, struct err *err)
{
	CLEANUP(base_free) struct stat_watts *kept = NULL;
	CLEANUP(base_free) bool *is_void = NULL;
	struct stat_energy energy = {0};
	int count;

	if (!isfinite(from) || !isfinite(to) || to <= from)
		return err_set(err, EINVAL, NULL, "from %g s to %g s is no interval", from, to);
	if (!(rule->max_watts > rule->min_watts))
		return err_set(err, EINVAL, NULL, "no power is between %g W and %g W", rule->min_watts,
			       rule->max_watts);
	for (int i = 0; i < n; i++)
		if (!isfinite(samples[i].at) || (i && samples[i].at <= samples[i - 1].at))
			return err_set(err, EINVAL, NULL, "sample %d of %d is not after the one before it", i + 1, n);
	kept = stat_zeroed(n, sizeof(*kept));
	is_void = stat_zeroed(n, sizeof(*is_void));
	count = believed(rule, samples, n, kept, &energy);
	mark_void(rule, kept, count, is_void, &energy);
	integrate(kept, is_void, count, from, to, &energy);
	energy.void_time = MAX_OF(0, to - from - energy.covered);
	energy.complete = energy.void_time <= 1e-9 * (fabs(from) + fabs(to));
	if (energy.complete)
		energy.void_time = 0;
	energy.watts = energy.covered > 0 ? energy.joules / energy.covered : NAN;
	energy.error = energy.used ? stat_power_error(energy.period, to - from) : NAN;
	*ret_energy = energy;
	return 0;
}

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

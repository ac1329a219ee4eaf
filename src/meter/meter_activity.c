/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what sums over all CPUs say of a window: intervals between two reads, of those at the edges the part that lies
 * in the window. Each sum is taken modulo 2^64, so that it goes on over the wrap of a counter.
 */
#include <math.h>

#include "meter_sampler.h"

/* The window may reach so far beyond the first or last read. */
static const double edge_s = 0.15;

static void add_part(struct meter_activity_sums *sums, const struct meter_activity_sample *before,
		     const struct meter_activity_sample *after, double part)
{
	sums->elapsed_s += part * (double)(after->time_ns - before->time_ns) / 1e9;
	/* Of tsc_hz the counts for now. */
	sums->tsc_hz += part * (double)(after->tsc - before->tsc);
	sums->aperf += part * (double)(after->aperf - before->aperf);
	sums->mperf += part * (double)(after->mperf - before->mperf);
	if (!before->clocks || !after->clocks)
		sums->aperf = sums->mperf = (double)NAN;
	sums->idle_known = sums->idle_known && before->idle && after->idle;
	for (size_t i = 0; i < METER_IDLE_MOST; i++)
		sums->idle_us[i] += part * (double)(after->idle_us[i] - before->idle_us[i]);
}

/* The sample with which the first interval ends that reaches into the window. */
static size_t first_interval(const struct meter_activity_sample *samples, size_t count, int64_t from_ns)
{
	size_t low = 1, high = MAX_OF(count, (size_t)1);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (samples[middle].time_ns > from_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct meter_cpu_activity meter_activity_between(const struct meter_activity_sample *samples, size_t count, size_t cpus,
						 size_t states, int64_t from_ns, int64_t to_ns)
{
	struct meter_activity_sums sums = {.cpus = cpus, .states = states, .idle_known = states > 0};
	double window_s = (double)(to_ns - from_ns) / 1e9;

	for (size_t i = first_interval(samples, count, from_ns); i < count && samples[i - 1].time_ns < to_ns; i++) {
		const struct meter_activity_sample *before = &samples[i - 1], *after = &samples[i];
		int64_t a_ns = MAX_OF(before->time_ns, from_ns), b_ns = MIN_OF(after->time_ns, to_ns);

		if (a_ns < b_ns)
			add_part(&sums, before, after,
				 (double)(b_ns - a_ns) / (double)(after->time_ns - before->time_ns));
	}
	/* What no reads cover is not guessed. */
	if (sums.elapsed_s <= 0 || window_s - sums.elapsed_s > fmin(2 * edge_s, window_s / 2))
		sums.elapsed_s = 0;
	else
		sums.tsc_hz /= sums.elapsed_s;
	/* A sum that was set back is nearly 2^64 ahead: no CPU has a clock of 10 GHz. */
	if (sums.elapsed_s > 0 &&
	    (sums.aperf > 1e10 * (double)cpus * sums.elapsed_s || sums.mperf > 1e10 * (double)cpus * sums.elapsed_s))
		sums.aperf = sums.mperf = (double)NAN;
	return meter_activity_of(&sums);
}

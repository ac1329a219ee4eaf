/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns energy from counters and from samples of power. */
#include "stat_energy.h"

#include <errno.h>
#include <math.h>

/* A point of the cumulative energy. The stretch that leads to it may be void. */
struct point {
	double at, joules;
	bool is_void; /* from the point before to this one nothing is known */
	bool slow;    /* no edge */
};

static int check_interval(double from, double to, struct err *err)
{
	if (!isfinite(from) || !isfinite(to) || to <= from)
		return err_set(err, EINVAL, NULL, "from %g s to %g s is no interval", from, to);
	return 0;
}

/* Seconds and joules of the part of [from, to] that one stretch covers. */
static void add_stretch(const struct point *a, const struct point *b, double from, double to,
			struct stat_energy *energy)
{
	double begin = MAX_OF(a->at, from), end = MIN_OF(b->at, to);

	if (end <= begin || b->is_void)
		return;
	energy->covered += end - begin;
	energy->joules += (b->joules - a->joules) * (end - begin) / (b->at - a->at);
}

/* A slow reading is no edge, so its two stretches become one; a void part makes it void. Returns the new count. */
static int merge_slow(struct point *points, int n)
{
	int kept = 0;
	bool is_void = false;

	for (int i = 0; i < n; i++) {
		is_void |= points[i].is_void;
		if (points[i].slow && i > 0 && i + 1 < n)
			continue;
		points[kept] = points[i];
		points[kept++].is_void = is_void;
		is_void = false;
	}
	return kept;
}

static void finish(const struct point *points, int n, double from, double to, struct stat_energy *energy)
{
	int first = 0, last = n - 1;

	for (int i = 1; i < n; i++)
		add_stretch(&points[i - 1], &points[i], from, to, energy);
	while (first + 1 < n && points[first + 1].at <= from)
		first++;
	while (last > 0 && points[last - 1].at >= to)
		last--;
	energy->used = n ? MAX_OF(last - first + 1, 0) : 0;
	energy->period = energy->used > 1 ? (points[last].at - points[first].at) / (energy->used - 1) : NAN;
	energy->void_time = MAX_OF(0, to - from - energy->covered);
	/* Sums of stretches end a rounding error beside the whole. */
	energy->complete = energy->void_time <= 1e-9 * (fabs(from) + fabs(to));
	if (energy->complete) {
		energy->void_time = 0;
		energy->covered = to - from;
	}
	energy->watts = energy->covered > 0 ? energy->joules / energy->covered : NAN;
}

static uint64_t counts_between(const struct stat_counter *counter, uint64_t a, uint64_t b)
{
	if (!counter->range || b >= a)
		return b - a; /* modulo 2^64 where that is the range */
	return counter->range - a + b;
}

static double middle(const struct stat_count *reading)
{
	return (reading->before + reading->after) / 2;
}

static double range_joules(const struct stat_counter *counter)
{
	return (counter->range ? (double)counter->range : 0x1p64) * counter->joules;
}

/* Can b follow a without more power than there is? One count more is rounding. */
static bool plausible(const struct stat_counter *counter, const struct stat_count *a, const struct stat_count *b)
{
	double joules = (double)counts_between(counter, a->count, b->count) * counter->joules;

	if (counter->range && (a->count >= counter->range || b->count >= counter->range))
		return false;
	return joules <= (middle(b) - middle(a)) * counter->max_watts + counter->joules;
}

/* A counter that has not moved since `since` is stuck once that is too long: all stretches since then are void. */
static void mark_stuck(const struct stat_counter *counter, struct point *points, int n, struct stat_energy *energy)
{
	if (counter->still <= 0)
		return;
	for (int i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !points[end].is_void && points[end].joules == points[i].joules; end++)
			continue;
		if (points[end - 1].at - points[i].at < counter->still)
			continue;
		energy->stuck++;
		for (int j = i + 1; j < end; j++)
			points[j].is_void = true;
		/* How far it moved while it was not read is unknown as well. */
		if (end < n)
			points[end].is_void = true;
	}
}

static int check_counter(const struct stat_counter *counter, const struct stat_count *readings, int n, struct err *err)
{
	if (!(counter->joules > 0 && counter->max_watts > 0))
		return err_set(err, EINVAL, NULL, "a counter needs a unit and a highest power, not %g J and %g W",
			       counter->joules, counter->max_watts);
	for (int i = 0; i < n; i++)
		if (!(readings[i].after >= readings[i].before) ||
		    (i && !(middle(&readings[i]) > middle(&readings[i - 1]))))
			return err_set(err, EINVAL, NULL, "reading %d of %d is not after the one before it", i + 1, n);
	return 0;
}

/* The cumulative energy at each reading that is to be believed. Returns their number. */
static int chain(const struct stat_counter *counter, const struct stat_count *readings, int n, struct point *points,
		 struct stat_energy *energy)
{
	int count = 0, last = 0;

	for (int i = 0; i < n; i++) {
		const struct stat_count *now = &readings[i];
		struct point point = {.at = middle(now), .slow = now->after - now->before > STAT_READ_SLOW};
		bool believed = count > 0 && plausible(counter, &readings[last], now);

		if (!believed) {
			/* Nonsense, if what comes next goes on from what was before, or not from this. */
			bool from_before =
			    count > 0 && i + 1 < n && plausible(counter, &readings[last], &readings[i + 1]);
			bool from_this = i + 1 >= n || plausible(counter, now, &readings[i + 1]) ||
					 (i + 2 < n && plausible(counter, now, &readings[i + 2]));

			if (from_before || !from_this || (counter->range && now->count >= counter->range) ||
			    (i + 1 >= n && count > 0)) {
				energy->impossible++;
				continue;
			}
			energy->resets += count > 0;
			point.is_void = true;
			point.joules = count ? points[count - 1].joules : 0;
		} else {
			uint64_t counts = counts_between(counter, readings[last].count, now->count);

			point.joules = points[count - 1].joules + (double)counts * counter->joules;
			if ((point.at - points[count - 1].at) * counter->max_watts >= range_joules(counter)) {
				point.is_void = true;
				energy->ambiguous++;
			} else {
				energy->wraps += now->count < readings[last].count;
			}
		}
		points[count++] = point;
		last = i;
	}
	return count;
}

int stat_counter_energy(const struct stat_counter *counter, const struct stat_count *readings, int n, double from,
			double to, struct stat_energy *ret_energy, struct err *err)
{
	CLEANUP(base_free) struct point *points = NULL;
	struct stat_energy energy = {0};
	int r = check_interval(from, to, err), count;

	if (r < 0)
		return r;
	r = check_counter(counter, readings, n, err);
	if (r < 0)
		return r;
	points = stat_zeroed(n, sizeof(*points));
	count = chain(counter, readings, n, points, &energy);
	mark_stuck(counter, points, count, &energy);
	count = merge_slow(points, count);
	finish(points, count, from, to, &energy);
	*ret_energy = energy;
	return 0;
}

double stat_counter_poll(const struct stat_counter *counter)
{
	return range_joules(counter) / (2 * counter->max_watts);
}

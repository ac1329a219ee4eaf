/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the arithmetic declared in meter_counter.h. */
#include "meter_counter.h"

#include <math.h>

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

double meter_counter_round_s(const struct meter_counter_kind *kind)
{
	return kind->range ? (double)kind->range * kind->unit_j / kind->most_w : (double)INFINITY;
}

/* Counts from `before` to `now`, round the end where there is one; false when no such number of counts can be. */
static bool counts_between(const struct meter_counter_kind *kind, uint64_t before, uint64_t now, double elapsed_s,
			   uint64_t *ret)
{
	uint64_t counts = now - before;

	/* Arithmetic of 64 bit does it for a counter that has them all. */
	if (now < before && kind->range)
		counts += kind->range;
	if (kind->range && (now > kind->range || before > kind->range))
		return false;
	/* A count more than the power allows is the grain of the counter, not a fault. */
	if ((double)counts * kind->unit_j > kind->most_w * elapsed_s + kind->unit_j)
		return false;
	*ret = counts;
	return true;
}

static void take(struct meter_counter *counter, int64_t time_ns, uint64_t value)
{
	counter->good = value;
	counter->good_ns = time_ns;
	counter->waits = false;
}

/* The time since the last good value is void; it counts anew from here. */
static void take_void(struct meter_counter *counter, uint32_t *reason, int64_t time_ns, uint64_t value)
{
	counter->void_ns += time_ns - counter->good_ns;
	(*reason)++;
	take(counter, time_ns, value);
}

static enum meter_counter_event add_counts(struct meter_counter *counter, const struct meter_counter_kind *kind,
					   int64_t time_ns, uint64_t value, uint64_t counts)
{
	bool wraps = value < counter->good, glitch = counter->waits;

	counter->energy_j += (double)counts * kind->unit_j;
	counter->wraps += wraps;
	counter->glitches += glitch;
	take(counter, time_ns, value);
	return glitch ? METER_COUNTER_GLITCH : wraps ? METER_COUNTER_WRAPS : METER_COUNTER_COUNTS;
}

/* Two values agree with each other and not with those before: the counter began anew with the first of them. */
static enum meter_counter_event begin_anew(struct meter_counter *counter, const struct meter_counter_kind *kind,
					   int64_t time_ns, uint64_t value, uint64_t counts)
{
	take_void(counter, &counter->resets, counter->suspect_ns, counter->suspect);
	counter->reset_ns = counter->good_ns;
	if (counts)
		(void)add_counts(counter, kind, time_ns, value, counts);
	return METER_COUNTER_RESETS;
}

enum meter_counter_event meter_counter_add(struct meter_counter *counter, const struct meter_counter_kind *kind,
					   int64_t time_ns, uint64_t value)
{
	int64_t elapsed_ns = time_ns - counter->good_ns;
	uint64_t counts;

	if (!counter->known) {
		counter->known = true;
		take(counter, time_ns, value);
		return METER_COUNTER_FIRST;
	}
	if (seconds(elapsed_ns) >= meter_counter_round_s(kind)) {
		take_void(counter, &counter->gaps, time_ns, value);
		return METER_COUNTER_GAP;
	}
	if (value == counter->good) {
		if (!kind->stands_ns || elapsed_ns < kind->stands_ns)
			return METER_COUNTER_SAME;
		take_void(counter, &counter->stands, time_ns, value);
		return METER_COUNTER_STANDS;
	}
	if (counts_between(kind, counter->good, value, seconds(elapsed_ns), &counts))
		return add_counts(counter, kind, time_ns, value, counts);
	if (counter->waits &&
	    counts_between(kind, counter->suspect, value, seconds(time_ns - counter->suspect_ns), &counts))
		return begin_anew(counter, kind, time_ns, value, counts);
	counter->waits = true;
	counter->suspect = value;
	counter->suspect_ns = time_ns;
	return METER_COUNTER_WAITS;
}

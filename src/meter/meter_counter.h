/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the arithmetic of energy counters: what was used between two reads of a counter that wraps, may be reset, may
 * stand still and may give a value that cannot be. An interval whose energy is not certain is void: it is never guessed
 * and never zero. No I/O and no clock in here.
 *
 * Used energy is ((now - before) mod range) * unit. That is certain only while less than one range can have gone by,
 * that is while elapsed time * the most that can be drawn < range * unit (a package counter of 32 bit in units of 2^-16
 * J: 65,536 J, 131 s at 500 W). A smaller value than before is a wrap when the power that follows from it can be, else
 * the counter was reset. A larger one whose power cannot be is either a reset too or one wrong reading: the next one
 * tells.
 */
#ifndef HVTUNE_METER_COUNTER_H
#define HVTUNE_METER_COUNTER_H

#include "base.h"

struct meter_counter_kind {
	uint64_t range;	   /* the counter goes back to 0 behind this; 0: it has all 64 bits */
	double unit_j;	   /* of one count */
	double most_w;	   /* more than this is not drawn */
	int64_t stands_ns; /* a counter that has not moved for so long stands still; 0: that is never held against it */
};

enum meter_counter_event {
	METER_COUNTER_FIRST,  /* the first value */
	METER_COUNTER_SAME,   /* it has not moved since the last value: the interval goes on */
	METER_COUNTER_COUNTS, /* energy was added */
	METER_COUNTER_WRAPS,  /* energy was added, over a wrap */
	METER_COUNTER_GLITCH, /* energy was added; the value before this one was wrong and does not count */
	METER_COUNTER_WAITS,  /* the value cannot be; the next one tells what it was */
	METER_COUNTER_RESETS, /* it was reset: void from good_ns to reset_ns, energy was added from there on */
	METER_COUNTER_GAP,    /* too long since the last value: void, as a range may have gone by unseen */
	METER_COUNTER_STANDS, /* it has not moved for too long: void */
};

struct meter_counter {
	int64_t good_ns, suspect_ns; /* of the last value that moved it, and of the one that waits */
	int64_t reset_ns;	     /* METER_COUNTER_RESETS: since when it counts anew */
	uint64_t good, suspect;
	bool known, waits;
	/* sums since the start */
	double energy_j;
	int64_t void_ns;
	uint32_t wraps, resets, gaps, stands, glitches;
};

/*
 * The counter has `value` at `time_ns`, which is later than the last. energy_j and void_ns grow by what the event says;
 * both are of whole intervals between values that moved it. A zeroed struct is a counter without a value.
 */
enum meter_counter_event meter_counter_add(struct meter_counter *counter, const struct meter_counter_kind *kind,
					   int64_t time_ns, uint64_t value);

/* In which time, at `most_w`, the counter goes round; infinite for one that does not. In seconds. */
double meter_counter_round_s(const struct meter_counter_kind *kind);

#endif

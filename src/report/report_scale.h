/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns axes: round ticks, the prefix of a unit, and numbers written with as many digits as they have meaning.
 */
#ifndef HVTUNE_REPORT_SCALE_H
#define HVTUNE_REPORT_SCALE_H

#include "arena.h"

enum { SCALE_TICKS_MAX = 16 };

struct scale {
	double low, high;  /* the ends, in the unit of the values */
	double from, to;   /* where the ends are drawn: pixels or columns; `to` may be the smaller */
	double unit_size;  /* of `unit`, in the unit of the values: 0.001 for ms where values are s */
	char unit[40];	   /* "ms", "kW", "GiB"; "" for a bare number */
	double step;	   /* between ticks, in the unit of the values */
	double first_tick; /* the lowest one */
	int tick_count;	   /* 0 to SCALE_TICKS_MAX */
	int decimals;	   /* of the tick labels, in `unit` */
};

/*
 * An axis that holds `low` to `high` with at most `most_ticks` (2 to SCALE_TICKS_MAX) ticks at 1, 2, 2.5 or 5 times a
 * power of ten of the unit that is shown; nothing is drawn outside of it. Values that are not finite, or an empty
 * range, give one that has a width all the same. `base_unit` is the unit of the values: "s", "W", "J", "Hz", "B",
 * "bit/s", "%", "°C", ...; "s" goes from ns to h, "B" and "B/s" by 1024, large values of units of no known family get
 * k, M, G before them. The drawing range is 0 to 1.
 */
struct scale scale_make(double low, double high, const char *base_unit, int most_ticks);

/* The same, its ends moved out to ticks; `most_ticks` of at least 4. */
struct scale scale_make_round(double low, double high, const char *base_unit, int most_ticks);

/* Where `value` is drawn; values outside are drawn at the end. */
double scale_at(const struct scale *scale, double value);

double scale_tick(const struct scale *scale, int index);

/* "82.5", without the unit; of a tick, so that neighbours differ. */
const char *scale_tick_text(struct arena *arena, const struct scale *scale, int index);

/*
 * "82.4 s": a value in the unit of the axis. `resolution`: what is known of it, for example half of its interval, in
 * the unit of the values: it gets two digits. 0 or NAN: four digits. "unknown" for a value that is not finite.
 */
const char *scale_value(struct arena *arena, const struct scale *scale, double value, double resolution);

/* The same with a sign, for differences: "+3.1 s", "−3.1 s" (a real minus sign where `utf8`). */
const char *scale_change(struct arena *arena, const struct scale *scale, double value, double resolution, bool utf8);

/* Without an axis: the prefix that suits the value alone. */
const char *scale_plain(struct arena *arena, double value, double resolution, const char *base_unit);

#endif

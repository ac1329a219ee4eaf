/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in report_scale.h. */
#include "report_scale.h"

#include <math.h>

#include "text.h"

/* ---- units ---- */

/* A prefix is taken for values of at least `from`; the last of a family for those below all. */
struct prefix {
	double size, from;
	const char *name;
};

struct family {
	const char *unit;
	const struct prefix *prefixes; /* from large to small, ended by size 0 */
};

/* A time stays in seconds for long: people compare builds of 82.4 s and 130.6 s. "s" is part of the names here. */
static const struct prefix of_time[] = {{3600, 14400, "h"}, {60, 900, "min"},	{1, 1, "s"}, {1e-3, 1e-3, "ms"},
					{1e-6, 1e-6, "us"}, {1e-9, 1e-9, "ns"}, {0, 0, NULL}};
static const struct prefix of_bytes[] = {{0x1p40, 0x1p40, "Ti"},
					 {0x1p30, 0x1p30, "Gi"},
					 {0x1p20, 0x1p20, "Mi"},
					 {0x1p10, 0x1p10, "Ki"},
					 {1, 1, ""},
					 {0, 0, NULL}};
/* Peak memory comes in these. */
static const struct prefix of_mib[] = {{0x1p20, 0x1p20, "TiB"}, {0x1p10, 0x1p10, "GiB"}, {1, 1, "MiB"}, {0, 0, NULL}};
static const struct prefix of_si[] = {{1e12, 1e12, "T"}, {1e9, 1e9, "G"},   {1e6, 1e6, "M"},
				      {1e3, 1e3, "k"},	 {1, 1, ""},	    {1e-3, 1e-3, "m"},
				      {1e-6, 1e-6, "u"}, {1e-9, 1e-9, "n"}, {0, 0, NULL}};
/* A count has no thousandths, and is written in full for long. */
static const struct prefix of_counts[] = {{1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"},
					  {1e3, 1e5, "k"},   {1, 1, ""},      {0, 0, NULL}};
static const struct prefix of_plain[] = {{1, 1, ""}, {0, 0, NULL}};

static const struct family families[] = {
    {"s", of_time}, {"B", of_bytes}, {"MiB", of_mib},	    {"B/s", of_bytes}, {"W", of_si},
    {"J", of_si},   {"Wh", of_si},   {"Hz", of_si},	    {"bit/s", of_si},  {"V", of_si},
    {"A", of_si},   {"%", of_plain}, {"\u00b0C", of_plain},
};

static const struct family *family_of(const char *unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (text_equal(families[i].unit, unit))
			return &families[i];
	return NULL;
}

static void choose_unit(struct scale *scale, const char *base_unit)
{
	const struct family *family = family_of(base_unit);
	const struct prefix *prefix = family ? family->prefixes : of_counts;
	double most = fmax(fabs(scale->low), fabs(scale->high));

	/* What is rounded up to 1000 W is 1 kW. Zero alone has no prefix. */
	while (prefix[1].name && (most > 0 ? most < prefix->from * 0.99995 : prefix->size > 1))
		prefix++;
	scale->unit_size = prefix->size;
	/* Whole names instead of prefixes. */
	if (family && (family->prefixes == of_time || family->prefixes == of_mib))
		(void)snprintf(scale->unit, sizeof(scale->unit), "%s", prefix->name);
	else
		(void)snprintf(scale->unit, sizeof(scale->unit), "%s%s%s", prefix->name,
			       !family && *prefix->name && *base_unit ? " " : "", base_unit);
}

/* ---- ticks ---- */

/* The smallest round step of at least `least`. */
static double round_step(double least)
{
	static const double steps[] = {1, 2, 2.5, 5, 10};
	double power = pow(10, floor(log10(least)));

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		/* A hair's breadth for what division and logarithm lose. */
		if (steps[i] * power >= least * (1 - 1e-9))
			return steps[i] * power;
	return 10 * power;
}

static int decimals_of(double step)
{
	int decimals = 0;

	/* 2.5 needs one more than its power of ten says. */
	while (decimals < 15 && fabs(step - round(step)) > step * 1e-6) {
		step *= 10;
		decimals++;
	}
	return decimals;
}

static void choose_ticks(struct scale *scale, int most)
{
	double low = scale->low / scale->unit_size, high = scale->high / scale->unit_size;
	double step = round_step((high - low) / (most - 1)), first;
	int count;

	for (;;) {
		first = ceil(low / step - 1e-9);
		count = (int)(floor(high / step + 1e-9) - first) + 1;
		if (count <= most)
			break;
		step = round_step(step * 1.01);
	}
	scale->step = step * scale->unit_size;
	scale->first_tick = first * scale->step;
	scale->tick_count = MAX_OF(count, 0);
	scale->decimals = decimals_of(step);
}

struct scale scale_make(double low, double high, const char *base_unit, int most_ticks)
{
	struct scale scale = {.to = 1};
	int most = MIN_OF(MAX_OF(most_ticks, 2), SCALE_TICKS_MAX);

	if (!isfinite(low) || !isfinite(high)) {
		low = isfinite(low) ? low : isfinite(high) ? high : 0;
		high = low;
	}
	if (low > high) {
		double swap = low;

		low = high;
		high = swap;
	}
	/* A range below what a double tells apart cannot be ticked. */
	if (high - low <= fmax(fabs(low), fabs(high)) * 1e-12) {
		double room = low == 0 ? 1 : fabs(low) * 0.01;

		low -= low == 0 ? 0 : room;
		high += room;
	}
	scale.low = low;
	scale.high = high;
	choose_unit(&scale, base_unit);
	choose_ticks(&scale, most);
	return scale;
}

struct scale scale_make_round(double low, double high, const char *base_unit, int most_ticks)
{
	/* Moving the ends out takes up to two more ticks. */
	struct scale scale = scale_make(low, high, base_unit, MAX_OF(most_ticks - 2, 2));
	double step = scale.step;
	double from = floor(scale.low / step + 1e-9), to = ceil(scale.high / step - 1e-9);

	scale.low = from * step;
	scale.high = to * step;
	scale.first_tick = scale.low;
	scale.tick_count = (int)(to - from) + 1;
	return scale;
}

double scale_at(const struct scale *scale, double value)
{
	double inside = fmin(fmax(value, scale->low), scale->high);

	return scale->from + (inside - scale->low) / (scale->high - scale->low) * (scale->to - scale->from);
}

double scale_tick(const struct scale *scale, int index)
{
	double tick = scale->first_tick + index * scale->step;

	/* -1e-17 is zero. */
	return fabs(tick) < scale->step * 1e-9 ? 0 : tick;
}

const char *scale_tick_text(struct arena *arena, const struct scale *scale, int index)
{
	return arena_printf(arena, "%.*f", scale->decimals, scale_tick(scale, index) / scale->unit_size);
}

/* ---- numbers ---- */

/* Decimals of a value in the unit shown: two digits of what is known of it, or four digits. */
static int value_decimals(double value, double resolution)
{
	/* Nothing is known to more than six digits: values that are alike by chance have hardly an interval. */
	double size =
	    isfinite(resolution) && resolution > 0 ? fmax(resolution, fabs(value) * 1e-6) : fabs(value) * 0.01;
	int decimals = size > 0 ? 1 - (int)floor(log10(size) + 1e-9) : 0;

	return MIN_OF(MAX_OF(decimals, 0), 9);
}

static const char *written(struct arena *arena, const char *sign, double value, int decimals, const char *unit)
{
	return arena_printf(arena, "%s%.*f%s%s", sign, decimals, value, *unit ? " " : "", unit);
}

const char *scale_value(struct arena *arena, const struct scale *scale, double value, double resolution)
{
	double shown = value / scale->unit_size;

	if (!isfinite(value))
		return "unknown";
	return written(arena, "", shown, value_decimals(shown, resolution / scale->unit_size), scale->unit);
}

const char *scale_change(struct arena *arena, const struct scale *scale, double value, double resolution, bool utf8)
{
	double shown = value / scale->unit_size;

	if (!isfinite(value))
		return "unknown";
	return written(arena,
		       value > 0   ? "+"
		       : value < 0 ? utf8 ? "\u2212" : "-"
				   : "",
		       fabs(shown), value_decimals(shown, resolution / scale->unit_size), scale->unit);
}

const char *scale_plain(struct arena *arena, double value, double resolution, const char *base_unit)
{
	struct scale scale = {.low = value, .high = value};

	if (!isfinite(value))
		return "unknown";
	choose_unit(&scale, base_unit);
	return scale_value(arena, &scale, value, resolution);
}

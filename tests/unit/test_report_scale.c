/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of axes: ticks, prefixes of units, and how many digits a number gets. */
#include <math.h>

#include "unit.h"
#include "report_scale.h"
#include "text.h"

static const char *const units[] = {"s", "W", "J", "Hz", "B", "bit/s", "%", "\u00b0C", "events/s", ""};

static double next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Ticks are round, inside, rising, as many as asked for at most, and no two read alike. */
static void assert_axis(struct arena *arena, const struct scale *scale, int most)
{
	double shown = scale->step / scale->unit_size, digit = shown / pow(10, floor(log10(shown) + 1e-9));

	assert_true(scale->low < scale->high);
	assert_in_range(scale->tick_count, 1, most);
	assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 2.5) < 1e-6 ||
		    fabs(digit - 5) < 1e-6);
	for (int i = 0; i < scale->tick_count; i++) {
		double tick = scale_tick(scale, i), read;
		const char *text = scale_tick_text(arena, scale, i);
		char *end;

		assert_true(tick >= scale->low - scale->step * 1e-6 && tick <= scale->high + scale->step * 1e-6);
		read = strtod(text, &end);
		assert_string_equal(end, "");
		assert_true(fabs(read * scale->unit_size - tick) < scale->step * 1e-6);
		assert_string_not_equal(text, "-0");
		if (i)
			assert_string_not_equal(text, scale_tick_text(arena, scale, i - 1));
	}
}

static void test_ticks(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	uint64_t seed = 6;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		double size = pow(10, next(&seed) * 22 - 8), low = (next(&seed) * 2 - 0.7) * size;
		double high = low + size * pow(10, -3 * next(&seed));
		int most = 2 + (int)(next(&seed) * 14);
		const char *unit = units[(int)(next(&seed) * ARRAY_SIZE(units))];
		struct scale scale = scale_make(low, high, unit, most);

		assert_true(scale.low <= low && scale.high >= high);
		/* Two ticks may not both fall inside a range that begins just above a round number. */
		if (scale.tick_count)
			assert_axis(arena, &scale, most);
		if (most < 4)
			continue;
		scale = scale_make_round(low, high, unit, most);
		assert_axis(arena, &scale, most);
		assert_true(scale.low <= low + scale.step * 1e-6 && scale.high >= high - scale.step * 1e-6);
	}
}

static void test_ends_that_are_none(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	static const double ends[][2] = {{NAN, NAN}, {0, 0},  {5, 5},	     {-3, -3},
					 {NAN, 7},   {1, -1}, {INFINITY, 2}, {1e300, 1e300}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct scale scale = scale_make(ends[i][0], ends[i][1], "s", 6);

		assert_axis(arena, &scale, 6);
		assert_true(isfinite(scale_at(&scale, ends[i][1])) || isnan(ends[i][1]));
	}
}

static void test_prefixes(void **state)
{
	static const struct {
		double value;
		const char *unit, *text;
	} cases[] = {
	    {82.4, "s", "82.40 s"},
	    {130.6, "s", "130.6 s"},
	    {0.0421, "s", "42.10 ms"},
	    {3.2e-6, "s", "3.200 us"},
	    {1800, "s", "30.00 min"},
	    {54000, "s", "15.00 h"},
	    {0, "s", "0 s"},
	    {412, "W", "412.0 W"},
	    {1500, "W", "1.500 kW"},
	    {0.25, "W", "250.0 mW"},
	    {999.99, "W", "1.0000 kW"},
	    {3.71e9, "Hz", "3.710 GHz"},
	    {12345, "J", "12.35 kJ"},
	    {1610612736, "B", "1.500 GiB"},
	    {512, "B", "512.0 B"},
	    {385.25, "MiB", "385.2 MiB"},
	    {4096, "MiB", "4.000 GiB"},
	    {45.6, "\u00b0C", "45.60 \u00b0C"},
	    {12, "%", "12.00 %"},
	    {60000, "events", "60000 events"},
	    {2.5e6, "events", "2.500 M events"},
	    {0.002, "events", "0.002000 events"},
	    {-12.3, "W", "-12.30 W"},
	    {NAN, "s", "unknown"},
	    {INFINITY, "s", "unknown"},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(scale_plain(arena, cases[i].value, NAN, cases[i].unit), cases[i].text);
}

/* Two digits of what is known, in the unit that is shown. */
static void test_digits(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct scale milliseconds = scale_make(0.01, 0.09, "s", 5), watts = scale_make(100, 500, "W", 5);

	(void)state;
	assert_string_equal(scale_value(arena, &milliseconds, 0.0421337, 0.0012), "42.1 ms");
	assert_string_equal(scale_value(arena, &milliseconds, 0.0421337, 0.00012), "42.13 ms");
	assert_string_equal(scale_value(arena, &watts, 412.345, 17), "412 W");
	assert_string_equal(scale_value(arena, &watts, 412.345, 170), "412 W");
	assert_string_equal(scale_change(arena, &watts, -12.34, 1.5, false), "-12.3 W");
	assert_string_equal(scale_change(arena, &watts, 12.34, 1.5, true), "+12.3 W");
	assert_string_equal(scale_change(arena, &watts, -12.34, 1.5, true), "\u221212.3 W");
	assert_string_equal(scale_change(arena, &watts, 0, 1.5, true), "0.0 W");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ticks),
	    cmocka_unit_test(test_ends_that_are_none),
	    cmocka_unit_test(test_prefixes),
	    cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

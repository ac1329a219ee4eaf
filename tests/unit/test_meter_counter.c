/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of counter arithmetic: traces with wraps, resets, stuck and impossible values give exact energies. */
#include <math.h>

#include "unit.h"
#include "meter_counter.h"

#define S INT64_C(1000000000)
#define RANGE_UJ UINT64_C(65532610987) /* max_energy_range_uj with the usual unit */

static const struct meter_counter_kind powercap = {
    .range = RANGE_UJ, .unit_j = 1e-6, .most_w = 1000, .stands_ns = 1000000000};

struct step {
	double time_s;
	uint64_t value;
	enum meter_counter_event event;
};

static struct meter_counter play(const struct meter_counter_kind *kind, const struct step *steps, size_t count)
{
	struct meter_counter counter = {0};

	for (size_t i = 0; i < count; i++)
		assert_int_equal(meter_counter_add(&counter, kind, (int64_t)(steps[i].time_s * 1e9), steps[i].value),
				 steps[i].event);
	return counter;
}

#define PLAY(kind, steps) play(kind, steps, ARRAY_SIZE(steps))

static void assert_joules(double is, double expected)
{
	assert_true(fabs(is - expected) < 1e-6 * fmax(1, expected));
}

static void test_counts(void **state)
{
	static const struct step steps[] = {{1, 5000000000, METER_COUNTER_FIRST},
					    {2, 5200000000, METER_COUNTER_COUNTS},
					    {2.0001, 5200000000, METER_COUNTER_SAME},
					    {3, 5350000000, METER_COUNTER_COUNTS}};
	struct meter_counter counter = PLAY(&powercap, steps);

	(void)state;
	assert_joules(counter.energy_j, 350);
	assert_int_equal(counter.void_ns, 0);
}

/* Seven projects have this wrong: a wrap as negative energy, as zero, or as the whole range. */
static void test_wrap(void **state)
{
	static const struct step steps[] = {{1, RANGE_UJ - 100000000, METER_COUNTER_FIRST},
					    {2, 100000000, METER_COUNTER_WRAPS},
					    {3, 300000000, METER_COUNTER_COUNTS}};
	struct meter_counter counter = PLAY(&powercap, steps);

	(void)state;
	assert_joules(counter.energy_j, 400);
	assert_int_equal(counter.wraps, 1);
	assert_int_equal(counter.void_ns, 0);
}

/* A raw register of 32 bit in units of 2^-16 J, from 0xffffffff over 0: one count. */
static void test_wrap_of_a_register(void **state)
{
	const struct meter_counter_kind kind = {
	    .range = UINT64_C(1) << 32, .unit_j = 1.0 / 65536, .most_w = 500, .stands_ns = S};
	static const struct step steps[] = {{1, 0xffffffff, METER_COUNTER_FIRST}, {1.001, 0, METER_COUNTER_WRAPS}};
	struct meter_counter counter = PLAY(&kind, steps);

	(void)state;
	assert_true(counter.energy_j == 1.0 / 65536);
	assert_true(fabs(meter_counter_round_s(&kind) - 131.072) < 1e-9);
}

/* Hours with many wraps, at the period that the sampler takes at most, a quarter of a round. */
static void test_many_wraps(void **state)
{
	struct meter_counter counter = {0};
	double period_s = meter_counter_round_s(&powercap) / 4;
	uint64_t total_uj = 12345;

	(void)state;
	for (int i = 0; i <= 4000; i++) {
		enum meter_counter_event event =
		    meter_counter_add(&counter, &powercap, (int64_t)(i * period_s * 1e9), total_uj % RANGE_UJ);

		assert_true(i == 0 || event == METER_COUNTER_COUNTS || event == METER_COUNTER_WRAPS);
		total_uj += (uint64_t)(period_s * 1e6 * (100 + i % 700));
	}
	total_uj -= (uint64_t)(period_s * 1e6 * (100 + 4000 % 700));
	assert_joules(counter.energy_j, (double)(total_uj - 12345) * 1e-6);
	assert_true(counter.wraps > 400);
	assert_int_equal(counter.void_ns, 0);
}

/* More than a round at the most that can be drawn: how often it went round is not known, so nothing is said. */
static void test_gap(void **state)
{
	static const struct step steps[] = {{1, 1000000, METER_COUNTER_FIRST},
					    {2, 101000000, METER_COUNTER_COUNTS},
					    {68, 201000000, METER_COUNTER_GAP},
					    {69, 301000000, METER_COUNTER_COUNTS}};
	struct meter_counter counter = PLAY(&powercap, steps);

	(void)state;
	assert_joules(counter.energy_j, 200);
	assert_int_equal(counter.gaps, 1);
	assert_int_equal(counter.void_ns, 66 * S);
}

/* A counter that began anew is no wrap: 65 kJ in a second cannot be. */
static void test_reset(void **state)
{
	static const struct step steps[] = {{1, 30000000000, METER_COUNTER_FIRST},
					    {2, 30200000000, METER_COUNTER_COUNTS},
					    {3, 50000000, METER_COUNTER_WAITS},
					    {4, 250000000, METER_COUNTER_RESETS},
					    {5, 450000000, METER_COUNTER_COUNTS}};
	struct meter_counter counter = PLAY(&powercap, steps);

	(void)state;
	assert_joules(counter.energy_j, 200 + 200 + 200);
	assert_int_equal(counter.resets, 1);
	assert_int_equal(counter.wraps, 0);
	assert_int_equal(counter.void_ns, 1 * S);
}

/* The same for one that has all 64 bits, where the difference is a number of 20 digits. */
static void test_reset_of_64_bits(void **state)
{
	const struct meter_counter_kind kind = {
	    .range = 0, .unit_j = 2.3283064365386962890625e-10, .most_w = 1000, .stands_ns = S};
	const uint64_t joule = UINT64_C(1) << 32;
	const struct step steps[] = {{1, 900 * joule, METER_COUNTER_FIRST},
				     {2, 1000 * joule, METER_COUNTER_COUNTS},
				     {3, 10 * joule, METER_COUNTER_WAITS},
				     {4, 110 * joule, METER_COUNTER_RESETS}};
	struct meter_counter counter = PLAY(&kind, steps);

	(void)state;
	assert_true(counter.energy_j == 200);
	assert_int_equal(counter.void_ns, 1 * S);
	assert_true(isinf(meter_counter_round_s(&kind)));
}

/* One reading of 0, or of anything else that cannot be, costs nothing: the values around it tell. */
static void test_glitch(void **state)
{
	static const struct step steps[] = {
	    {1, 30000000000, METER_COUNTER_FIRST}, {2, 0, METER_COUNTER_WAITS}, {3, 30400000000, METER_COUNTER_GLITCH},
	    {4, 60000000000, METER_COUNTER_WAITS}, {5, 0, METER_COUNTER_WAITS}, {6, 31000000000, METER_COUNTER_GLITCH}};
	struct meter_counter counter = PLAY(&powercap, steps);

	(void)state;
	assert_joules(counter.energy_j, 1000);
	assert_int_equal(counter.glitches, 2);
	assert_int_equal(counter.resets, 0);
	assert_int_equal(counter.void_ns, 0);
}

/* Beyond its own range it cannot be, however little that is. */
static void test_beyond_the_range(void **state)
{
	static const struct step steps[] = {{1, RANGE_UJ - 10, METER_COUNTER_FIRST},
					    {2, RANGE_UJ + 100, METER_COUNTER_WAITS},
					    {3, 200000000, METER_COUNTER_GLITCH}};
	struct meter_counter counter = PLAY(&powercap, steps);

	(void)state;
	assert_joules(counter.energy_j, 200.00001);
}

/* A counter that no longer moves does not say 0 W. */
static void test_stands(void **state)
{
	static const struct step steps[] = {
	    {1, 1000000, METER_COUNTER_FIRST},	    {2, 201000000, METER_COUNTER_COUNTS},
	    {2.5, 201000000, METER_COUNTER_SAME},   {3.5, 201000000, METER_COUNTER_STANDS},
	    {4.5, 201000000, METER_COUNTER_STANDS}, {5.5, 401000000, METER_COUNTER_COUNTS},
	};
	struct meter_counter counter = PLAY(&powercap, steps);

	(void)state;
	assert_joules(counter.energy_j, 400);
	assert_int_equal(counter.stands, 2);
	assert_true(counter.void_ns == (int64_t)(2.5 * 1e9));
}

/* Of a counter in steps of a kilojoule nobody asks that it moves each second. */
static void test_coarse(void **state)
{
	const struct meter_counter_kind kind = {.range = 0, .unit_j = 3600, .most_w = 4000, .stands_ns = 0};
	static const struct step steps[] = {{1, 5, METER_COUNTER_FIRST},
					    {2, 5, METER_COUNTER_SAME},
					    {60, 5, METER_COUNTER_SAME},
					    {61, 6, METER_COUNTER_COUNTS}};
	struct meter_counter counter = PLAY(&kind, steps);

	(void)state;
	assert_true(counter.energy_j == 3600);
	assert_int_equal(counter.void_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_wrap),
	    cmocka_unit_test(test_wrap_of_a_register),
	    cmocka_unit_test(test_many_wraps),
	    cmocka_unit_test(test_gap),
	    cmocka_unit_test(test_reset),
	    cmocka_unit_test(test_reset_of_64_bits),
	    cmocka_unit_test(test_glitch),
	    cmocka_unit_test(test_beyond_the_range),
	    cmocka_unit_test(test_stands),
	    cmocka_unit_test(test_coarse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

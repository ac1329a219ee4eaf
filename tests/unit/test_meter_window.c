/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of what samples say of a window. */
#include <math.h>
#include <stdlib.h>

#include "unit.h"
#include "meter_sampler.h"
#include "text.h"

#define S INT64_C(1000000000)
#define RANGE_UJ UINT64_C(65532610987)

static const struct meter_source package = {
    .name = "p",
    .quantity = METER_ENERGY,
    .boundary = METER_PACKAGE,
    .refresh_s = 0.001,
    .period_s = 1,
    .most = 1000,
    .counter = {.range = RANGE_UJ, .unit_j = 1e-6, .most_w = 1000, .stands_ns = 1000000000},
};
static const struct meter_source wall = {
    .name = "w", .quantity = METER_POWER, .boundary = METER_WALL, .period_s = 1, .most = 5000};

static struct meter_sample counted(double time_s, uint64_t count)
{
	return (struct meter_sample){.time_ns = (int64_t)(time_s * 1e9), .count = count};
}

static struct meter_sample watts(double time_s, double value)
{
	return (struct meter_sample){.time_ns = (int64_t)(time_s * 1e9), .value = value};
}

static struct meter_sample bad(double time_s, enum meter_state state)
{
	return (struct meter_sample){.time_ns = (int64_t)(time_s * 1e9), .state = (uint16_t)state};
}

static void assert_near(double is, double expected, double within)
{
	if (!(fabs(is - expected) <= within))
		fail_msg("%.9g is not %.9g", is, expected);
}

/* 200 W, then 100 W, over a wrap; the window starts and ends between samples. */
static void test_counter(void **state)
{
	const struct meter_sample samples[] = {counted(0, RANGE_UJ - 300000000),
					       counted(1, RANGE_UJ - 100000000),
					       counted(2, 100000000),
					       counted(3, 200000000),
					       counted(4, 300000000),
					       counted(5, 400000000)};
	struct meter_result result;

	(void)state;
	meter_window_of(&package, samples, ARRAY_SIZE(samples), S, 4 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_near(result.energy_j, 400, 1e-6);
	assert_near(result.mean, 400.0 / 3, 1e-6);
	assert_near(result.peak, 200, 1e-6);
	assert_near(result.least, 100, 1e-6);
	assert_int_equal(result.wraps, 1);
	meter_window_of(&package, samples, ARRAY_SIZE(samples), S / 2, 5 * S / 2, &result);
	assert_near(result.energy_j, 100 + 200 + 50, 1e-6);
	/* What no sample covers has no energy. */
	meter_window_of(&package, samples, ARRAY_SIZE(samples), 4 * S, 6 * S, &result);
	assert_int_equal(result.state, METER_UNREADABLE);
	assert_true(isnan(result.energy_j) && isnan(result.mean));
	assert_near(result.covered_s, 1, 1e-9);
	/* An end that the counter's step hides is no hole. */
	meter_window_of(&package, samples, ARRAY_SIZE(samples), S, 5 * S + 1000000, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_near(result.mean, 500.0 / 4, 1e-6);
}

/* Wrong readings within the window change nothing; a reset, a counter that stands and a long gap make it void. */
static void test_counter_faults(void **state)
{
	const struct meter_sample glitch[] = {counted(0, 30000000000), counted(1, 0), bad(1.5, METER_UNREADABLE),
					      counted(2, 30400000000), counted(3, 30600000000)};
	const struct meter_sample reset[] = {counted(0, 30000000000), counted(1, 30200000000), counted(2, 5),
					     counted(3, 200000005),   counted(4, 400000005),   counted(5, 600000005)};
	const struct meter_sample stands[] = {counted(0, 100000000), counted(1, 300000000), counted(2, 300000000),
					      counted(3, 300000000), counted(4, 500000000)};
	const struct meter_sample gap[] = {counted(0, 1000000), counted(1, 201000000), counted(70, 9000000000),
					   counted(71, 9200000000)};
	struct meter_result result;

	(void)state;
	meter_window_of(&package, glitch, ARRAY_SIZE(glitch), 0, 3 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_near(result.energy_j, 600, 1e-6);
	assert_int_equal(result.glitches, 1);
	assert_int_equal(result.bad, 1);

	meter_window_of(&package, reset, ARRAY_SIZE(reset), 0, 5 * S, &result);
	assert_int_equal(result.state, METER_IMPLAUSIBLE);
	assert_int_equal(result.resets, 1);
	assert_true(isnan(result.energy_j));
	assert_near(result.covered_s, 4, 1e-9);
	/* Behind it all is well again. */
	meter_window_of(&package, reset, ARRAY_SIZE(reset), 3 * S, 5 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_near(result.energy_j, 400, 1e-6);

	meter_window_of(&package, stands, ARRAY_SIZE(stands), 0, 4 * S, &result);
	assert_int_equal(result.state, METER_IMPLAUSIBLE);
	assert_string_equal(result.why, "the counter stood still");

	meter_window_of(&package, gap, ARRAY_SIZE(gap), 0, 71 * S, &result);
	assert_int_equal(result.state, METER_IMPLAUSIBLE);
	assert_int_equal(result.gaps, 1);
}

/* Marks 0.3 ms apart, in which a counter that steps once a millisecond gives any power: they make no peak. */
static void test_marks_make_no_peak(void **state)
{
	const struct meter_sample samples[] = {counted(0, 1000000000), counted(0.9995, 1199900000),
					       counted(0.9998, 1200100000), counted(2, 1400000000),
					       counted(3, 1600000000)};
	struct meter_result result;

	(void)state;
	meter_window_of(&package, samples, ARRAY_SIZE(samples), 0, 3 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_near(result.peak, 200, 0.2);
	assert_near(result.least, 200, 0.2);
}

/* The trapezoid over times as they were, with interpolated edges. */
static void test_power(void **state)
{
	const struct meter_sample samples[] = {watts(0, 100), watts(1.2, 200), watts(2, 200),  watts(2.9, 100),
					       watts(4, 100), watts(5, 100),   watts(6, 100),  watts(7, 100),
					       watts(8, 100), watts(9, 100),   watts(10, 100), watts(11, 100),
					       watts(12, 100)};
	struct meter_result result;

	(void)state;
	meter_window_of(&wall, samples, ARRAY_SIZE(samples), 0, 12 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_near(result.energy_j, 150 * 1.2 + 200 * 0.8 + 150 * 0.9 + 100 * 9.1, 1e-6);
	assert_near(result.peak, 200, 1e-9);
	assert_near(result.least, 100, 1e-9);
	assert_int_equal(result.samples, 13);
	assert_int_equal(result.distinct, 3);
	assert_null(result.why);
	meter_window_of(&wall, samples, ARRAY_SIZE(samples), (int64_t)(0.6 * 1e9), (int64_t)(11.5 * 1e9), &result);
	assert_near(result.energy_j, 175 * 0.6 + 200 * 0.8 + 150 * 0.9 + 100 * 8.6, 1e-6);
	/* Of few readings the plain mean. */
	meter_window_of(&wall, samples, ARRAY_SIZE(samples), (int64_t)(0.6 * 1e9), (int64_t)(2.45 * 1e9), &result);
	assert_near(result.energy_j, 200 * 1.85, 1e-6);
	assert_string_equal(result.why, "fewer than ten readings");
}

static void test_power_holes(void **state)
{
	const struct meter_sample one_bad[] = {watts(0, 100), watts(1, 100), bad(2, METER_IMPLAUSIBLE), watts(3, 100),
					       watts(4, 100)};
	const struct meter_sample hole[] = {watts(0, 100),
					    bad(1, METER_IMPLAUSIBLE),
					    bad(2, METER_IMPLAUSIBLE),
					    bad(3, METER_IMPLAUSIBLE),
					    bad(4, METER_IMPLAUSIBLE),
					    watts(5, 100),
					    watts(6, 100)};
	const struct meter_sample none[] = {bad(0, METER_UNREADABLE), bad(1, METER_UNREADABLE)};
	struct meter_result result;

	(void)state;
	meter_window_of(&wall, one_bad, ARRAY_SIZE(one_bad), 0, 4 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_near(result.energy_j, 400, 1e-9);
	assert_int_equal(result.bad, 1);
	meter_window_of(&wall, hole, ARRAY_SIZE(hole), 0, 6 * S, &result);
	assert_int_equal(result.state, METER_IMPLAUSIBLE);
	assert_string_equal(result.why, "readings that cannot be");
	assert_true(isnan(result.energy_j));
	meter_window_of(&wall, none, ARRAY_SIZE(none), 0, S, &result);
	assert_int_equal(result.state, METER_UNREADABLE);
	assert_string_equal(result.why, "readings failed");
	meter_window_of(&wall, none, 0, 0, S, &result);
	assert_int_equal(result.state, METER_ABSENT);
	assert_string_equal(result.why, "there was no reading");
	/* A window of no length has no value either. */
	meter_window_of(&wall, one_bad, ARRAY_SIZE(one_bad), S, S, &result);
	assert_int_not_equal(result.state, METER_VALUE);
}

static void test_constant(void **state)
{
	struct meter_sample samples[61];
	struct meter_result result;

	(void)state;
	for (int i = 0; i <= 60; i++)
		samples[i] = watts(i, 120);
	meter_window_of(&wall, samples, 61, 0, 60 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_non_null(result.why);
	assert_int_equal(result.distinct, 1);
	samples[30] = watts(30, 121);
	meter_window_of(&wall, samples, 61, 0, 60 * S, &result);
	assert_null(result.why);
}

/* A sampler may be cut off anywhere and a host may change its clock's rate: nothing that is not covered gets energy. */
static void test_random_traces(void **state)
{
	(void)state;
	srand(7);
	for (int round = 0; round < 300; round++) {
		struct meter_sample samples[200];
		double time_s = 0, true_j = 0;
		uint64_t start = (uint64_t)rand() * 65, counts = 0;
		struct meter_result result;

		for (int i = 0; i < 200; i++) {
			double watt = 20 + rand() % 700, step_s = 0.2 + rand() % 1000 / 500.0;

			samples[i] = counted(time_s, (start + counts) % RANGE_UJ);
			/* Wrong readings, never two in turn, never the ends. */
			if (rand() % 5 == 0 && i > 4 && i < 195 && i % 2)
				samples[i].count =
				    rand() % 2 ? 0 : RANGE_UJ - (samples[i].count + RANGE_UJ / 2) % RANGE_UJ;
			time_s = (double)(int64_t)((time_s + step_s) * 1e6) / 1e6;
			counts += (uint64_t)(watt * step_s * 1e6);
			true_j = (double)counts * 1e-6;
		}
		true_j = (double)((samples[199].count + RANGE_UJ - start % RANGE_UJ) % RANGE_UJ) * 1e-6;
		meter_window_of(&package, samples, 200, samples[0].time_ns, samples[199].time_ns, &result);
		/* A wrong reading may look right by chance (a 0 shortly before a wrap); then it must be void or exact.
		 */
		if (result.state == METER_VALUE)
			assert_near(fmod(result.energy_j, (double)RANGE_UJ * 1e-6), true_j, 1e-3);
		else
			assert_true(isnan(result.energy_j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counter),
	    cmocka_unit_test(test_counter_faults),
	    cmocka_unit_test(test_marks_make_no_peak),
	    cmocka_unit_test(test_power),
	    cmocka_unit_test(test_power_holes),
	    cmocka_unit_test(test_constant),
	    cmocka_unit_test(test_random_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

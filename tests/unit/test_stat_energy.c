/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of energy: traces of counters with every fault, samples of power, lag, and where faster begins to save. */
#include "digits.h"

#include <errno.h>

#include "stat_energy.h"

enum { SECONDS = 60 };

/* 2^-16 J in 32 bits: 65536 J. Read once a second at 100 W. */
static const struct stat_counter rapl = {0x1p-16, UINT64_C(1) << 32, 1000, 10};

static void trace(struct stat_count *readings, const struct stat_counter *counter, uint64_t begin, double watts)
{
	for (int i = 0; i < SECONDS; i++) {
		uint64_t count = begin + (uint64_t)llround(i * watts / counter->joules);

		readings[i] =
		    (struct stat_count){i - .0001, i + .0001, counter->range ? count % counter->range : count};
	}
}

static struct stat_energy energy_of(const struct stat_counter *counter, const struct stat_count *readings, double from,
				    double to)
{
	struct stat_energy energy;
	struct err err = {0};

	if (stat_counter_energy(counter, readings, SECONDS, from, to, &energy, &err) < 0)
		fail_msg("%s", err.what);
	return energy;
}

static void near(double value, double expected)
{
	if (fabs(value - expected) > 1e-3)
		fail_msg("%.9g is not %.9g", value, expected);
}

static void test_plain(void **state)
{
	struct stat_count readings[SECONDS];
	struct stat_energy is;

	(void)state;
	trace(readings, &rapl, 12345, 100);
	is = energy_of(&rapl, readings, 10.25, 40.5);
	near(is.joules, 3025);
	assert_true(is.complete && is.wraps == 0 && is.resets == 0 && is.impossible == 0 && is.stuck == 0);
	near(is.watts, 100);
	near(is.period, 1);
	/* Outside of the readings nothing is known. */
	is = energy_of(&rapl, readings, 50, 70);
	near(is.joules, 900);
	near(is.void_time, 11);
	assert_false(is.complete);
	near(stat_counter_poll(&rapl), 32.768);
}

static void test_wrap(void **state)
{
	struct stat_counter micro = {1e-6, 65532610987 + 1, 2000, 0}, wide = {1e-6, 0, 2000, 0};
	struct stat_count readings[SECONDS];
	struct stat_energy is;

	(void)state;
	trace(readings, &rapl, (UINT64_C(1) << 32) - (5 << 16), 500);
	is = energy_of(&rapl, readings, 0, 59);
	near(is.joules, 29500);
	assert_true(is.complete && is.wraps == 1);
	trace(readings, &micro, 65532610987 - 300, 1000);
	is = energy_of(&micro, readings, 0, 59);
	near(is.joules, 59000);
	assert_int_equal(is.wraps, 1);
	/* 64 bits go over their end as well. */
	trace(readings, &wide, UINT64_MAX - 1000, 1000);
	is = energy_of(&wide, readings, 0, 59);
	near(is.joules, 59000);
	assert_int_equal(is.wraps, 1);
}

/* From 20 s on the driver counts from 0: the second before it is void, all others are exact. */
static void test_reset(void **state)
{
	struct stat_count readings[SECONDS];
	struct stat_energy is;

	(void)state;
	trace(readings, &rapl, 3000000000, 100);
	for (int i = 20; i < SECONDS; i++)
		readings[i].count = (uint64_t)(i - 20) * 6553600 + 100;
	is = energy_of(&rapl, readings, 0, 59);
	assert_int_equal(is.resets, 1);
	near(is.joules, 5800);
	near(is.void_time, 1);
	near(is.watts, 100);
	/* An interval that the reset is not in does not care. */
	is = energy_of(&rapl, readings, 30, 40);
	assert_true(is.complete);
	near(is.joules, 1000);
}

/* Single readings of nonsense leave no gap: energy goes on from the reading before. */
static void test_impossible(void **state)
{
	struct stat_count readings[SECONDS];
	struct stat_energy is;

	(void)state;
	trace(readings, &rapl, 1000000, 100);
	readings[1].count = 0;
	readings[17].count = 0;
	readings[30].count = 4000000000;
	readings[44].count = UINT64_MAX; /* above the range */
	readings[59].count = 3000000000; /* the last */
	is = energy_of(&rapl, readings, 0, 58);
	assert_int_equal(is.impossible, 5);
	assert_true(is.complete && is.resets == 0);
	near(is.joules, 5800);
	trace(readings, &rapl, 1000000, 100);
	readings[0].count = 3000000000; /* the first */
	is = energy_of(&rapl, readings, 1, 58);
	assert_true(is.complete && is.impossible == 1);
	near(is.joules, 5700);
}

static void test_stuck(void **state)
{
	struct stat_counter no_limit = rapl;
	struct stat_count readings[SECONDS];
	struct stat_energy is;

	(void)state;
	trace(readings, &rapl, 1000000, 100);
	for (int i = 20; i <= 40; i++)
		readings[i].count = readings[20].count;
	for (int i = 41; i < SECONDS; i++)
		readings[i].count = readings[20].count + (uint64_t)(i - 40) * 6553600;
	is = energy_of(&rapl, readings, 0, 59);
	assert_int_equal(is.stuck, 1);
	near(is.void_time, 21); /* until it moves again */
	near(is.joules, 3800);
	near(is.watts, 100);
	/* Still for less than it may be: energy of 0 W is what it says. */
	no_limit.still = 0;
	is = energy_of(&no_limit, readings, 0, 59);
	assert_true(is.complete && is.stuck == 0);
	/* A counter that never moves measures nothing at all. */
	trace(readings, &rapl, 77, 0);
	is = energy_of(&rapl, readings, 0, 59);
	assert_true(is.covered == 0 && isnan(is.watts) && is.stuck == 1);
}

static void test_ambiguous(void **state)
{
	struct stat_count readings[SECONDS];
	struct stat_energy is;

	(void)state;
	/* A second is now two minutes: at 1000 W 32 bits may have wrapped twice. */
	trace(readings, &rapl, 5, 0);
	for (int i = 0; i < SECONDS; i++) {
		readings[i].before = readings[i].after = i * (i < 30 ? 1. : 120.);
		readings[i].count = (uint64_t)(i < 30 ? i : 5 * i) * 65536;
	}
	is = energy_of(&rapl, readings, 0, 29);
	assert_true(is.complete);
	is = energy_of(&rapl, readings, 0, 59 * 120.);
	assert_int_equal(is.ambiguous, 30);
	near(is.covered, 29);
}

/* A reading that took long is no edge; the energy around it is not lost. */
static void test_slow_reading(void **state)
{
	struct stat_count readings[SECONDS];
	struct stat_energy is;

	(void)state;
	trace(readings, &rapl, 0, 100);
	readings[20].after += .5; /* counted at 20, said to be at 20.25 */
	is = energy_of(&rapl, readings, 20.25, 30);
	near(is.joules, 975);
}

static void test_bad_input(void **state)
{
	struct stat_counter none = {0, 0, 100, 0};
	struct stat_count readings[SECONDS];
	struct stat_energy is;
	struct err err = {0};

	(void)state;
	trace(readings, &rapl, 0, 100);
	assert_int_equal(stat_counter_energy(&none, readings, SECONDS, 0, 1, &is, &err), -EINVAL);
	assert_int_equal(stat_counter_energy(&rapl, readings, SECONDS, 1, 1, &is, &err), -EINVAL);
	readings[9].before = readings[9].after = 3;
	assert_int_equal(stat_counter_energy(&rapl, readings, SECONDS, 0, 9, &is, &err), -EINVAL);
	assert_non_null(strstr(err.what, "reading 10"));
	assert_int_equal(stat_counter_energy(&rapl, readings, 0, 0, 9, &is, &err), 0);
	assert_true(is.covered == 0 && !is.complete && is.used == 0);
}

static void test_power(void **state)
{
	struct stat_power_rule rule = {1, 2000, 0, 5};
	struct stat_watts samples[100];
	struct stat_energy is;
	struct err err = {0};

	(void)state;
	/* A ramp of 1 W a second from 100 W: trapezia are exact, edges too. */
	for (int i = 0; i < 100; i++)
		samples[i] = (struct stat_watts){i, 100 + i};
	assert_int_equal(stat_power_energy(&rule, samples, 100, 10.5, 70.25, &is, &err), 0);
	near(is.joules, 59.75 * (100 + (10.5 + 70.25) / 2));
	assert_true(is.complete && !is.coarse);
	near(is.period, 1);
	/* A zero, a lost sample and a nonsense one are bridged. */
	samples[20].watts = 0;
	samples[30].watts = NAN;
	samples[40].watts = 65535;
	assert_int_equal(stat_power_energy(&rule, samples, 100, 10.5, 70.25, &is, &err), 0);
	assert_int_equal(is.impossible, 3);
	near(is.joules, 59.75 * (100 + (10.5 + 70.25) / 2));
	/* A gap is not. */
	for (int i = 50; i < 60; i++)
		samples[i].watts = 0;
	assert_int_equal(stat_power_energy(&rule, samples, 100, 10.5, 70.25, &is, &err), 0);
	near(is.void_time, 11);
	assert_false(is.complete);
	near(is.joules, 59.75 * (100 + (10.5 + 70.25) / 2) - 11 * (100 + (49 + 60) / 2.));
	rule.still = 10;
	for (int i = 0; i < 100; i++)
		samples[i].watts = i < 50 ? 100 : 150 + i % 2;
	assert_int_equal(stat_power_energy(&rule, samples, 100, 0, 99, &is, &err), 0);
	assert_int_equal(is.stuck, 1);
	near(is.void_time, 49);
	samples[7].at = 3;
	assert_int_equal(stat_power_energy(&rule, samples, 100, 0, 99, &is, &err), -EINVAL);
}

/* Five samples in a run: mean power times time. */
static void test_coarse_power(void **state)
{
	struct stat_power_rule rule = {1, 2000, 0, 0};
	struct stat_watts samples[12];
	struct stat_energy is;

	(void)state;
	for (int i = 0; i < 12; i++)
		samples[i] = (struct stat_watts){i * 10, i >= 3 && i <= 8 ? 300 : 50};
	assert_int_equal(stat_power_energy(&rule, samples, 12, 25, 85, &is, NULL), 0);
	assert_true(is.coarse);
	near(is.joules, 60 * 300);
	DIGITS(stat_power_error(1, 75), .0023);
	DIGITS(stat_power_error(10, 75), .0294);
	DIGITS(stat_power_error(.1, 75), .0002);
	assert_true(stat_power_error(3, 75) > .0052 && stat_power_error(3, 75) < .0141);
	assert_true(stat_power_error(20, 75) > .05);
}

static void test_lag(void **state)
{
	static const double on[] = {20, 80}, off[] = {50, 110};
	struct stat_watts samples[140];

	(void)state;
	for (int i = 0; i < 140; i++)
		samples[i] = (struct stat_watts){i, (i >= 23 && i < 53) || (i >= 83 && i < 113) ? 300 : 100 + i % 3};
	/* The step is seen between the samples at 22 and 23 s: late by more than 2 s and no more than 3. */
	near(stat_power_lag(samples, 140, on, off, 2, 10, .5), 2.75);
	for (int i = 0; i < 140; i++)
		samples[i].watts = 100;
	assert_true(isnan(stat_power_lag(samples, 140, on, off, 2, 10, .5)));
}

static void test_break_even(void **state)
{
	(void)state;
	/* F: 70 s, 28 kJ, idles at 90 W; S: 80 s, 31 kJ, at 75 W. Net 21700 and 25000: 3300 / 15. */
	near(stat_break_even(28000, 70, 90, 31000, 80, 75), 220);
	near(stat_break_even(30000, 70, 90, 31000, 80, 75), 86.667 + .0);
	assert_true(stat_break_even(31000, 70, 90, 31000, 80, 75) == 0);
	assert_true(isinf(stat_break_even(28000, 70, 70, 31000, 80, 75)));
	assert_true(isinf(stat_break_even(28000, 70, 75, 31000, 80, 75)));
	assert_true(isnan(stat_break_even(60000, 70, 70, 31000, 80, 75)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain),	 cmocka_unit_test(test_wrap),	   cmocka_unit_test(test_reset),
	    cmocka_unit_test(test_impossible),	 cmocka_unit_test(test_stuck),	   cmocka_unit_test(test_ambiguous),
	    cmocka_unit_test(test_slow_reading), cmocka_unit_test(test_bad_input), cmocka_unit_test(test_power),
	    cmocka_unit_test(test_coarse_power), cmocka_unit_test(test_lag),	   cmocka_unit_test(test_break_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

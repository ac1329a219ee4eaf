/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of a meter's lag, and of where a faster configuration begins to save. */
#include "digits.h"

#include "stat_power.h"

static void near(double value, double expected)
{
	if (fabs(value - expected) > 1e-3)
		fail_msg("%.9g is not %.9g", value, expected);
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
	    cmocka_unit_test(test_lag),
	    cmocka_unit_test(test_break_even),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

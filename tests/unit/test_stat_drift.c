/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the flag of drift, of settling and of percentiles. */
#include "digits.h"

#include <errno.h>
#include <limits.h>

#include "stat_drift.h"
#include "stat_percentile.h"

static const double runs[] = {67.41, 68.02, 67.55, 67.83, 67.60, 69.95, 67.48, 67.71};

static void test_reference(void **state)
{
	struct stat_drift drift = stat_drift(runs, 8);

	(void)state;
	DIGITS(drift.von_neumann, 2.545494667);
	assert_int_equal(drift.mann_kendall, 4);
	assert_true(drift.judged && !drift.flagged);
}

/* Of docs/statistics.md, 1.4; von Neumann's were simulated there, so the last digit may be off by two. */
static void test_critical_values(void **state)
{
	static const struct {
		int n;
		double von_neumann;
		long kendall;
	} table[] = {{6, .722, 13},   {8, .826, 20},   {10, .911, 27},	{12, .982, 34},
		     {16, 1.094, 52}, {20, 1.177, 70}, {24, 1.240, 92}, {30, 1.315, 127}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (fabs(stat_von_neumann_critical(table[i].n) - table[i].von_neumann) > .0022)
			fail_msg("n %d: %g, not %g", table[i].n, stat_von_neumann_critical(table[i].n),
				 table[i].von_neumann);
		if (stat_mann_kendall_critical(table[i].n) != table[i].kendall)
			fail_msg("n %d: %ld, not %ld", table[i].n, stat_mann_kendall_critical(table[i].n),
				 table[i].kendall);
	}
	/* Where the exact values end the approximations go on smoothly. */
	assert_true(fabs(stat_von_neumann_critical(31) - stat_von_neumann_critical(30) - .010) < .003);
	assert_true(fabs(stat_von_neumann_critical(1001) - stat_von_neumann_critical(1000)) < .001);
	assert_true(stat_von_neumann_critical(10000000) > 1.998 && stat_von_neumann_critical(10000000) < 2);
	assert_in_range(stat_mann_kendall_critical(101) - stat_mann_kendall_critical(100), 0, 30);
	assert_true(stat_mann_kendall_critical(3) == LONG_MAX && isnan(stat_von_neumann_critical(2)));
}

static void test_drift(void **state)
{
	double rising[12], same[12];

	(void)state;
	for (int i = 0; i < 12; i++) {
		rising[i] = 100 + i + (i % 3);
		same[i] = 5;
	}
	assert_true(stat_drift(rising, 12).von_neumann_flag && stat_drift(rising, 12).mann_kendall_flag);
	assert_false(stat_drift(rising, 5).flagged || stat_drift(rising, 5).judged);
	assert_false(stat_drift(same, 12).flagged);
	assert_false(stat_drift(NULL, 0).judged);
}

static void test_settling(void **state)
{
	double at[200], cooling[200], load[200];
	struct stat_settle_rule rule = STAT_SETTLE_RULE;
	struct stat_settling series[] = {{at, cooling, 0, .5}, {at, load, 0, .1}};
	enum stat_settled found = STAT_SETTLING;
	int n;

	(void)state;
	for (int i = 0; i < 200; i++) {
		at[i] = 1000 + i;
		cooling[i] = 40 + 20 * exp(-i / 15.);
		load[i] = .05;
	}
	for (n = 1; n < 200 && found == STAT_SETTLING; n++) {
		series[0].n = series[1].n = n;
		found = stat_settled(&rule, series, 2, 1000, at[n - 1]);
	}
	/* 20 e^(-t/15) moves by less than half a degree over 30 s once the window begins at about 50 s. */
	assert_int_equal(found, STAT_SETTLED);
	assert_in_range(n, 70, 100);
	for (int i = 0; i < 200; i++)
		load[i] = .01 * i;
	for (n = 1, found = STAT_SETTLING; n < 200 && found == STAT_SETTLING; n++) {
		series[0].n = series[1].n = n;
		found = stat_settled(&rule, series, 2, 1000, at[n - 1]);
	}
	assert_int_equal(found, STAT_SETTLE_LATE);
	assert_int_equal(n - 2, 120);
	/* No samples is not the same as flat ones. */
	series[0].n = 0;
	assert_int_equal(stat_settled(&rule, series, 1, 1000, 1040), STAT_SETTLING);
	assert_true(isnan(stat_slope(at, load, 1)));
}

static void test_percentile(void **state)
{
	double values[1000];
	struct stat_percentile is;
	struct err err = {0};

	(void)state;
	for (int i = 0; i < 1000; i++)
		values[i] = (i * 37 % 1000) + 1; /* 1 .. 1000, shuffled */
	assert_int_equal(stat_percentile(values, 1000, .95, .05, &is, &err), 0);
	DIGITS(is.within.estimate, 950.05);
	/* R: qbinom(.025, 1000, .95) = 936, qbinom(.975, 1000, .95) + 1 = 964 */
	assert_int_equal(is.low_rank, 936);
	assert_int_equal(is.high_rank, 964);
	assert_true(is.within.low == 936 && is.within.high == 964);
	assert_true(is.confidence >= .95 && is.confidence < .965);
	/* Of twenty the p95 has no upper bound. */
	assert_int_equal(stat_percentile(values, 20, .95, .05, &is, &err), 0);
	assert_true(isinf(is.within.high) && is.high_rank == 0 && is.confidence == 0);
	assert_int_equal(stat_percentile(values, 0, .95, .05, &is, &err), -EINVAL);
	assert_int_equal(stat_percentile(values, 20, 95, .05, &is, &err), -EINVAL);
}

static void test_percentile_runs(void **state)
{
	double values[4][100];
	struct stat_observations observations[4];
	struct stat_estimate is;
	struct err err = {0};

	(void)state;
	for (int run = 0; run < 4; run++) {
		for (int i = 0; i < 100; i++)
			values[run][i] = (i + 1) * exp(.01 * run);
		observations[run] = (struct stat_observations){values[run], 100};
	}
	assert_int_equal(stat_percentile_runs(observations, 4, .95, .05, &is, &err), 0);
	assert_true(fabs(is.quoted.estimate - 95.05 * exp(.015)) < 1e-9);
	assert_true(fabs(log(is.quoted.high / is.quoted.estimate) - 3.182446305 * .01290994449 / 2) < 1e-9);
	observations[2].n = 0;
	assert_int_equal(stat_percentile_runs(observations, 4, .95, .05, &is, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reference),  cmocka_unit_test(test_critical_values),
	    cmocka_unit_test(test_drift),      cmocka_unit_test(test_settling),
	    cmocka_unit_test(test_percentile), cmocka_unit_test(test_percentile_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

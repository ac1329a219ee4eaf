/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of sequential comparison and of what a plan can show: the power table of two one-sided tests. */
#include "digits.h"

#include <errno.h>

#include "stat_sequential.h"

static struct stat_sequential plan_of(int first, int cap)
{
	struct stat_sequential plan;
	struct err err = {0};

	if (stat_sequential_plan(first, cap, .01, &plan, &err) < 0)
		fail_msg("%s", err.what);
	return plan;
}

static void test_plans(void **state)
{
	static const struct {
		int first, cap;
		double nominal;
	} table[] = {
	    {5, 16, .0120}, {5, 10, .0178}, {5, 30, .0078}, {3, 60, .0047}, {8, 60, .0066}, {6, 8, .0288},
	    {5, 5, .05},    {8, 8, .05},    {5, 0, .05},    {8, 9, .0312},  {7, 16, .0136}, /* as 6: stricter than 8 */
	    {5, 17, .0102},								    /* as 20 */
	    {5, 31, .0056}, {5, 6, .0229},
	};
	struct stat_sequential plan;
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_true(plan_of(table[i].first, table[i].cap).nominal == table[i].nominal);
	assert_int_equal(stat_sequential_plan(2, 16, .01, &plan, &err), -EINVAL);
	assert_int_equal(stat_sequential_plan(5, 4, .01, &plan, &err), -EINVAL);
	assert_int_equal(stat_sequential_plan(5, 61, .01, &plan, &err), -EINVAL);
	assert_int_equal(stat_sequential_plan(5, 16, 0, &plan, &err), -EINVAL);
}

static void test_looks(void **state)
{
	double d[16];
	struct stat_sequential plan = plan_of(5, 16), open;
	struct stat_compare compare;
	enum stat_stop stop;

	(void)state;
	for (int i = 0; i < 16; i++)
		d[i] = .05 + .001 * (i % 3);
	/* Ever so clear, but looked at from five blocks on. */
	assert_int_equal(stat_sequential_look(&plan, d, 4, &stop, &compare, NULL), 0);
	assert_int_equal(stop, STAT_STOP_MORE);
	assert_int_equal(compare.verdict, STAT_UNDECIDED);
	assert_int_equal(stat_sequential_look(&plan, d, 5, &stop, &compare, NULL), 0);
	assert_int_equal(stop, STAT_STOP_TARGET);
	assert_int_equal(compare.verdict, STAT_HIGHER);
	DIGITS((log(compare.ratio.high) - compare.mean) / (compare.sd / sqrt(5)), 4.366595463);
	/* Never clear. */
	for (int i = 0; i < 16; i++)
		d[i] = i % 2 ? .05 : -.05;
	assert_int_equal(stat_sequential_look(&plan, d, 15, &stop, &compare, NULL), 0);
	assert_int_equal(stop, STAT_STOP_MORE);
	assert_int_equal(stat_sequential_look(&plan, d, 16, &stop, &compare, NULL), 0);
	assert_int_equal(stop, STAT_STOP_CAP);
	/* Going on after that takes the sequence, whose interval is wider. */
	open = stat_sequential_open(&plan);
	assert_int_equal(stat_sequential_look(&open, d, 16, &stop, &compare, NULL), 0);
	assert_int_equal(stop, STAT_STOP_MORE);
	assert_true(fabs(log(compare.ratio.high) - compare.mean - stat_sequence_factor(16, 2, .05) * compare.sd) <
		    1e-12);
}

/* Simulated (docs/statistics.md, 2.2), theta = 1 %: percentages of two one-sided tests at .05 each. */
static void test_equivalence_power(void **state)
{
	static const int n[] = {4, 6, 8, 10, 12, 16, 32, 64};
	static const struct {
		double q;
		int percent[ARRAY_SIZE(n)];
	} table[] = {
	    {.25, {100, 100, 100, 100, 100, 100, 100, 100}}, {.50, {83, 99, 100, 100, 100, 100, 100, 100}},
	    {.7071, {48, 81, 95, 99, 100, 100, 100, 100}},   {1.0, {19, 41, 64, 79, 89, 97, 100, 100}},
	    {1.4142, {7, 12, 23, 35, 48, 71, 98, 100}},	     {2.0, {2, 2, 4, 7, 11, 24, 74, 98}},
	};

	(void)state;
	for (size_t row = 0; row < ARRAY_SIZE(table); row++)
		for (size_t i = 0; i < ARRAY_SIZE(n); i++) {
			double is = 100 * stat_power_equivalence(table[row].q, n[i], 1, .05);

			/* The table was simulated and rounded. */
			if (fabs(is - table[row].percent[i]) > 1.2)
				fail_msg("q %g n %d: %.2f, not %d", table[row].q, n[i], is, table[row].percent[i]);
		}
}

/* R: power.t.test(n = 8, delta = 1, sd = 1, type = "paired", strict = TRUE): 0.6807129... */
static void test_difference_power(void **state)
{
	(void)state;
	assert_true(fabs(stat_power_difference(1, 8, 0, .05) - .05) < 1e-4);
	assert_true(fabs(stat_power_difference(1, 8, 1, .05) - .6807) < 2e-3);
	assert_true(stat_power_difference(0, 8, .1, .05) == 1 && stat_power_difference(1, 1, 1, .05) == 0);
	assert_true(fabs(stat_power_difference(.01, 12, log1p(stat_detectable(.01, 12, .05, .9)), .05) - .9) < 1e-6);
	assert_true(isinf(stat_detectable(.01, 1, .05, .9)));
}

static void test_aa(void **state)
{
	double a[12], b[12], order[24];
	struct stat_sequential plan = plan_of(5, 16);
	struct stat_aa aa;
	struct err err = {0};

	(void)state;
	for (int i = 0; i < 12; i++) {
		a[i] = 100 + (i * 7 % 5) * .2;
		b[i] = 100 + (i * 5 % 7) * .15;
		order[2 * i] = a[i];
		order[2 * i + 1] = b[i];
	}
	assert_int_equal(stat_aa(&plan, a, b, order, 12, &aa, &err), 0);
	assert_false(aa.alarm);
	assert_int_equal(aa.compare.verdict, STAT_EQUIVALENT);
	assert_true(aa.detectable > 0 && aa.detectable < .01 && aa.equivalence > .9 && aa.equivalence <= 1);
	assert_false(aa.drift.flagged);
	/* B is three percent above: the bench is not even with itself. */
	for (int i = 0; i < 12; i++)
		b[i] *= 1.03;
	assert_int_equal(stat_aa(&plan, a, b, order, 12, &aa, &err), 0);
	assert_true(aa.alarm);
	b[3] = -1;
	assert_int_equal(stat_aa(&plan, a, b, order, 12, &aa, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plans),
	    cmocka_unit_test(test_looks),
	    cmocka_unit_test(test_equivalence_power),
	    cmocka_unit_test(test_difference_power),
	    cmocka_unit_test(test_aa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

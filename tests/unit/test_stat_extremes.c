/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests with values that no bench should give and some day will: all equal, next to the limits of the type, of
 * sizes that differ by 600 orders. Whatever is returned, an interval holds its estimate, a p is a probability, and
 * nothing ends the program.
 */
#include "digits.h"

#include <float.h>

#include "stat_effects.h"
#include "stat_geomean.h"
#include "stat_many.h"
#include "stat_nested.h"
#include "stat_percentile.h"
#include "stat_select.h"
#include "stat_sequential.h"

enum { MOST = 60, ROUNDS = 600 };

static unsigned next(unsigned *noise)
{
	*noise = *noise * 1103515245 + 12345;
	return *noise >> 16;
}

static double extreme(unsigned *noise, unsigned kind)
{
	static const double odd[] = {DBL_MIN, DBL_MAX, 1, DBL_TRUE_MIN, 1e-9, 1e9, 1 + DBL_EPSILON, 100};
	double small = 1 + (next(noise) % 1000) * 1e-9;

	switch (kind % 6) {
	case 0:
		return odd[next(noise) % ARRAY_SIZE(odd)];
	case 1:
		return 42;
	case 2:
		return small;
	case 3:
		return DBL_MAX / 2 * small;
	case 4:
		return DBL_MIN * small;
	default:
		return ldexp(small, (int)(next(noise) % 2000) - 1000);
	}
}

static void probability(double p)
{
	if (!(p >= 0 && p <= 1) && !isnan(p))
		fail_msg("p %g", p);
}

/* Rounding may put the estimate beside an interval without width. */
static void holds(struct stat_interval interval)
{
	double slack = 1e-9 * fabs(interval.estimate);

	if (interval.low > interval.estimate + slack || interval.high < interval.estimate - slack)
		fail_msg("%g is not in %g .. %g", interval.estimate, interval.low, interval.high);
}

static void test_one(void **state)
{
	double x[MOST];
	unsigned noise = 1;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		int n = (int)(next(&noise) % MOST) + 1;
		struct stat_estimate estimate;
		struct stat_grubbs grubbs;
		struct stat_percentile percentile;
		bool flags[MOST];

		for (int i = 0; i < n; i++)
			x[i] = extreme(&noise, round);
		assert_int_equal(stat_estimate(x, n, .05, &estimate, NULL), 0);
		holds(estimate.median);
		holds(estimate.geometric);
		assert_in_range(stat_flag(x, n, flags), 0, n);
		assert_false(stat_drift(x, n).flagged && n < 6);
		(void)stat_grubbs(x, n, .05, &grubbs, NULL);
		assert_int_equal(stat_percentile(x, n, .99, .05, &percentile, NULL), 0);
		probability(percentile.confidence);
		holds(percentile.within);
	}
}

static void test_two(void **state)
{
	double a[MOST], b[MOST];
	unsigned noise = 2;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		int n = (int)(next(&noise) % MOST) + 1;
		struct stat_compare compare;
		struct stat_sequential plan;
		struct stat_aa aa;
		double order[2 * MOST];

		for (int i = 0; i < n; i++) {
			order[2 * i] = a[i] = extreme(&noise, round);
			order[2 * i + 1] = b[i] = extreme(&noise, round);
		}
		assert_int_equal(stat_compare(a, b, n, .05, .01, &compare, NULL), 0);
		probability(compare.p);
		probability(compare.equivalence_p);
		probability(compare.robust_p);
		holds(compare.ratio);
		if (round % 7)
			continue;
		probability(stat_mann_whitney_p(a, n, b, n));
		assert_int_equal(stat_sequential_plan(5, 16, .01, &plan, NULL), 0);
		assert_int_equal(stat_aa(&plan, a, b, order, n, &aa, NULL), 0);
		probability(aa.equivalence);
	}
}

static void test_several(void **state)
{
	double logs[MOST * 12];
	unsigned noise = 3;

	(void)state;
	for (unsigned round = 0; round < ROUNDS / 5; round++) {
		int configurations = (int)(next(&noise) % 20) + 2, blocks = (int)(next(&noise) % 11) + 2;
		struct stat_many many;
		struct stat_many_row rows[MOST];
		struct stat_nested_run runs[MOST * 12];
		struct stat_nested nested;
		struct stat_workload workloads[MOST];
		struct stat_geomean geomean;

		for (int i = 0; i < configurations * blocks; i++) {
			logs[i] = log(extreme(&noise, round));
			runs[i] = (struct stat_nested_run){(int)(next(&noise) % 4), (int)(next(&noise) % 8), logs[i]};
		}
		for (int j = 0; j < configurations; j++)
			workloads[j] = (struct stat_workload){logs + (size_t)j * (size_t)blocks, blocks, 1};
		if (stat_many(logs, configurations, blocks, .05, .01, &many, rows, NULL) == 0)
			for (int j = 0; j < configurations - 1; j++) {
				probability(rows[j].p);
				probability(rows[j].adjusted);
			}
		assert_int_equal(stat_nested(runs, configurations * blocks, .05, &nested, NULL), 0);
		assert_false(nested.boot_variance < 0 || nested.run_variance < 0 || nested.start_variance < 0);
		assert_int_equal(stat_geomean(workloads, configurations, .05, &geomean, NULL), 0);
	}
}

/* What stat_many() must not reach by checked values, and does by logs that nobody can have. */
static void test_beyond_logs(void **state)
{
	double logs[9 * 3];
	struct stat_many many;
	struct stat_many_row rows[9];

	(void)state;
	for (int i = 0; i < 9 * 3; i++)
		logs[i] = (i % 2 ? -1 : 1) * DBL_MAX / (i + 1);
	(void)stat_many(logs, 9, 3, .05, .01, &many, rows, NULL);
}

static struct stat_switch change(const void *context, int from, int to)
{
	(void)context;
	return (struct stat_switch){from == to ? STAT_CHANGE_NONE : STAT_CHANGE_HOST, from == to ? 0 : 1};
}

static double minutes(const void *context, int configuration)
{
	(void)context;
	(void)configuration;
	return 1;
}

static void test_choosing(void **state)
{
	static const int levels[] = {0, 1, 2, 3};
	static const enum stat_change changes[] = {STAT_CHANGE_HOST};
	const struct stat_space space = {1, 4, levels, changes, NULL};
	const struct stat_costs costs = {NULL, change, minutes};
	const struct stat_select_rule rule = STAT_SELECT_RULE;
	unsigned noise = 4;

	(void)state;
	for (unsigned round = 0; round < ROUNDS / 5; round++) {
		CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
		struct stat_run runs[20];
		struct stat_choice choice;
		int n = (int)(next(&noise) % 20) + 1;

		for (int i = 0; i < n; i++)
			runs[i] = (struct stat_run){(int)(next(&noise) % 4), (int)(next(&noise) % 3),
						    log(extreme(&noise, round))};
		if (stat_select(model, &space, &costs, &rule, runs, n, 0, 0, &choice, NULL) < 0)
			continue;
		probability(choice.bad);
		assert_in_range(choice.incumbent, 0, 3);
		assert_true(choice.what != STAT_SELECT_RUN || (choice.configuration >= 0 && choice.runs > 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one),		cmocka_unit_test(test_two),	 cmocka_unit_test(test_several),
	    cmocka_unit_test(test_beyond_logs), cmocka_unit_test(test_choosing),
	};

	stat_survive();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of many configurations beside one baseline, of geometric means and of variance in levels. */
#include "digits.h"

#include <errno.h>

#include "stat_geomean.h"
#include "stat_many.h"
#include "stat_nested.h"

static void test_adjusted(void **state)
{
	static const double p[] = {.01, .04, .03, .005};
	double adjusted[4];

	(void)state;
	stat_holm(p, 4, adjusted);
	DIGITS(adjusted[0], .03);
	DIGITS(adjusted[1], .06);
	DIGITS(adjusted[2], .06);
	DIGITS(adjusted[3], .02);
	stat_bh(p, 4, adjusted);
	DIGITS(adjusted[0], .02);
	DIGITS(adjusted[1], .04);
	DIGITS(adjusted[2], .04);
	DIGITS(adjusted[3], .02);
}

static void test_moderation(void **state)
{
	static const double wide[] = {.1, 2, .05, 9, 1.5, 30}, narrow[] = {1, 2, .5, 4, 1.5}, zero[] = {0, 0, 1};
	double d0, s0;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_moderate(wide, 6, 4, &d0, &s0, &err), 0);
	DIGITS(d0, .9335082276);
	DIGITS(s0, .4180827663);
	assert_int_equal(stat_moderate(narrow, 5, 4, &d0, &s0, &err), 0);
	assert_true(isinf(d0));
	DIGITS(s0, 1.8);
	assert_int_equal(stat_moderate(zero, 3, 4, &d0, &s0, &err), -EINVAL);
	assert_int_equal(stat_moderate(wide, 1, 4, &d0, &s0, &err), -EINVAL);
}

enum { MOST = 10, BLOCKS = 6 };

/* Ten configurations in six blocks that drift together; the third is 3 % up. */
static void scene(double *logs, int configurations)
{
	unsigned noise = 1;

	for (int j = 0; j < configurations; j++)
		for (int b = 0; b < BLOCKS; b++) {
			noise = noise * 1103515245 + 12345;
			logs[j * BLOCKS + b] = .02 * b + .001 * ((int)(noise >> 16) % 7 - 3) + (j == 3 ? .03 : 0);
		}
}

static void test_many(void **state)
{
	double logs[MOST * BLOCKS], d[BLOCKS];
	struct stat_many_row rows[MOST];
	struct stat_many many;
	struct stat_compare pair;
	struct err err = {0};

	(void)state;
	scene(logs, MOST);
	/* Below eight: the paired t of each, and Holm. */
	assert_int_equal(stat_many(logs, 5, BLOCKS, .05, .01, &many, rows, &err), 0);
	assert_int_equal(many.method, STAT_MANY_PAIRED);
	for (int b = 0; b < BLOCKS; b++)
		d[b] = logs[3 * BLOCKS + b] - logs[b];
	assert_int_equal(stat_compare_logs(d, BLOCKS, .05 / 4, .01, &pair, &err), 0);
	assert_true(fabs(rows[2].p - pair.p) < 1e-14 && fabs(rows[2].t - pair.t) < 1e-9);
	assert_true(fabs(rows[2].ratio.low - pair.ratio.low) < 1e-12);
	assert_int_equal(rows[2].verdict, STAT_HIGHER);
	assert_true(rows[2].adjusted >= rows[2].p && rows[2].adjusted <= 4 * rows[2].p + 1e-15);
	for (int j = 0; j < 4; j++)
		assert_true(j == 2 || rows[j].verdict == STAT_UNDECIDED || rows[j].verdict == STAT_EQUIVALENT);

	assert_int_equal(stat_many(logs, MOST, BLOCKS, .05, .01, &many, rows, &err), 0);
	assert_int_equal(many.method, STAT_MANY_MODERATED);
	assert_true(many.family_error == .063 && many.prior_variance > 0 && many.prior_df > 0);
	for (int j = 0; j < MOST - 1; j++)
		assert_int_equal(rows[j].differs, j == 2);

	assert_int_equal(stat_many(logs, 1, BLOCKS, .05, .01, &many, rows, &err), -EINVAL);
	assert_int_equal(stat_many(logs, 5, 1, .05, .01, &many, rows, &err), -EINVAL);
	logs[7] = INFINITY;
	assert_int_equal(stat_many(logs, 5, BLOCKS, .05, .01, &many, rows, &err), -EINVAL);
}

/* Blocks that shift all configurations alike change no claim. */
static void test_blocks_cancel(void **state)
{
	double logs[MOST * BLOCKS], moved[MOST * BLOCKS];
	struct stat_many_row rows[MOST], again[MOST];
	struct stat_many many;

	(void)state;
	scene(logs, MOST);
	for (int i = 0; i < MOST * BLOCKS; i++)
		moved[i] = logs[i] + 3 + .5 * (i % BLOCKS % 3);
	assert_int_equal(stat_many(logs, MOST, BLOCKS, .05, .01, &many, rows, NULL), 0);
	assert_int_equal(stat_many(moved, MOST, BLOCKS, .05, .01, &many, again, NULL), 0);
	for (int j = 0; j < MOST - 1; j++)
		assert_true(fabs(rows[j].t - again[j].t) < 1e-6);
}

static void test_geomean(void **state)
{
	/* s = .012 .02 .008 exactly, n = 5 6 8: values of mean 0 and given sd. */
	double d[3][8] = {{0}};
	static const double s[] = {.012, .02, .008};
	static const int n[] = {5, 6, 8};
	struct stat_workload workloads[4];
	struct stat_geomean is;
	struct err err = {0};
	double half;

	(void)state;
	for (int w = 0; w < 3; w++) {
		d[w][0] = s[w] * sqrt((n[w] - 1) / 2.);
		d[w][1] = -d[w][0];
		for (int i = 0; i < n[w]; i++)
			d[w][i] += .01 * w;
		workloads[w] = (struct stat_workload){d[w], n[w], 1};
	}
	assert_int_equal(stat_geomean(workloads, 3, .05, &is, &err), 0);
	DIGITS(is.variance, 1.14962963e-05);
	DIGITS(is.df, 9.684667132);
	half = log(is.these.high) - is.mean;
	DIGITS(half, .007588245431);
	DIGITS(is.mean, .01);
	/* t(.05, 2) x .01 / sqrt(3) */
	assert_true(fabs(log(is.alike.high / is.alike.estimate) - 4.302652730 * .01 / sqrt(3)) < 1e-10);
	/* One that failed is left out; one block gives no interval for these. */
	workloads[3] = (struct stat_workload){NULL, 0, 1};
	assert_int_equal(stat_geomean(workloads, 4, .05, &is, &err), 0);
	assert_true(is.left_out == 1 && is.workloads == 3);
	DIGITS(is.variance, 1.14962963e-05);
	workloads[3] = (struct stat_workload){d[0], 1, 1};
	assert_int_equal(stat_geomean(workloads, 4, .05, &is, &err), 0);
	assert_true(!stat_bounded(is.these) && stat_bounded(is.alike));
	/* Doubled weights are the same mean; a weight counts as it says. */
	for (int w = 0; w < 3; w++)
		workloads[w].weight = 2;
	assert_int_equal(stat_geomean(workloads, 3, .05, &is, &err), 0);
	DIGITS(is.variance, 1.14962963e-05);
	workloads[2].weight = 4;
	assert_int_equal(stat_geomean(workloads, 3, .05, &is, &err), 0);
	assert_true(fabs(is.mean - (.01 + 2 * .02) / 4) < 1e-12);
	workloads[0].weight = 0;
	assert_int_equal(stat_geomean(workloads, 3, .05, &is, &err), -EINVAL);
	assert_int_equal(stat_geomean(workloads, 0, .05, &is, &err), -EINVAL);
}

/* Balanced, two levels: the components by hand. */
static void test_nested(void **state)
{
	static const struct stat_nested_run two[] = {{1, 0, 1}, {1, 0, 3}, {2, 0, 5}, {2, 0, 7}, {9, 0, 2}, {9, 0, 6}};
	static const struct stat_nested_run three[] = {{0, 0, 0},  {0, 0, 2},  {0, 1, 4},  {0, 1, 6},
						       {1, 2, 10}, {1, 2, 12}, {1, 3, 10}, {1, 3, 12}};
	struct stat_nested is;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_nested(two, 6, .05, &is, &err), 0);
	assert_true(is.boots == 3 && is.starts == 3 && !is.one_boot && !is.few_boots);
	/* Means 2 6 4: MS boots 2 x 4 = 8; within 2 2 8 over 3 = 4; (8 - 4) / 2. */
	DIGITS(is.run_variance, 4.0000);
	DIGITS(is.boot_variance, 2.0000);
	assert_true(isnan(is.start_variance) && is.mean == 4);
	assert_true(fabs(log(is.geometric.high) - 4 - 4.302652730 * 2 / sqrt(3)) < 1e-8);

	assert_int_equal(stat_nested(three, 8, .05, &is, &err), 0);
	/* Within 2 each; starts of boot 0: 1 and 5, of boot 1: 11 and 11: MS 2 (4 + 4) / 2 = 8; boots 3 and 11: 128. */
	DIGITS(is.run_variance, 2.0000);
	DIGITS(is.start_variance, 3.0000);
	DIGITS(is.boot_variance, 30.0000); /* (128 - 8) / 4 */
	assert_true(is.few_boots && isnan(is.this_boot.low));

	assert_int_equal(stat_nested(two, 2, .05, &is, &err), 0);
	assert_true(is.one_boot && !stat_bounded(is.geometric) && stat_bounded(is.this_boot));
	assert_true(isnan(is.boot_variance));
	assert_int_equal(stat_nested(two, 0, .05, &is, &err), -EINVAL);
}

static void test_runs_per_boot(void **state)
{
	(void)state;
	/* Six minutes against 1.5, sd .5 % within and 1 % between: sqrt(4 x .25) = 1. */
	assert_int_equal(stat_runs_per_boot(6, 1.5, 1e-4, .25e-4, 10), 1);
	assert_int_equal(stat_runs_per_boot(6, 1.5, 1e-4, 1e-4, 10), 2);
	assert_int_equal(stat_runs_per_boot(6, 1.5, 1e-4, 1.01e-4, 10), 3);
	assert_int_equal(stat_runs_per_boot(6, 1.5, 0, 1e-4, 10), 10);
	assert_int_equal(stat_runs_per_boot(6, 1.5, NAN, 1e-4, 10), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_adjusted),	  cmocka_unit_test(test_moderation), cmocka_unit_test(test_many),
	    cmocka_unit_test(test_blocks_cancel), cmocka_unit_test(test_geomean),    cmocka_unit_test(test_nested),
	    cmocka_unit_test(test_runs_per_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

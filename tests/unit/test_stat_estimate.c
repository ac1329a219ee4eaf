/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the estimate of one configuration and of its stop rule, beside reference values of R 4.2.2. */
#include "digits.h"

#include <errno.h>

#include "stat_stop.h"

static const double runs[] = {67.41, 68.02, 67.55, 67.83, 67.60, 69.95, 67.48, 67.71};
enum { N = ARRAY_SIZE(runs) };

static struct stat_estimate estimate_of(const double *values, int n, double alpha)
{
	struct stat_estimate estimate;
	struct err err = {0};

	if (stat_estimate(values, n, alpha, &estimate, &err) < 0)
		fail_msg("%s", err.what);
	return estimate;
}

static void test_reference(void **state)
{
	struct stat_estimate is = estimate_of(runs, N, .05), stopped = estimate_of(runs, N, .03);
	struct stat_grubbs grubbs;
	bool flags[N];

	(void)state;
	DIGITS(is.mean.estimate, 67.94375);
	DIGITS(is.sd, .8342308262);
	DIGITS(is.cv * 100, 1.227825703);
	DIGITS(is.mean.low, 67.24631558);
	DIGITS(is.mean.high, 68.64118442);
	DIGITS(stopped.mean.low, 67.14309989);
	DIGITS(stopped.mean.high, 68.74440011);
	DIGITS((stopped.mean.high / stopped.mean.estimate - 1) * 100, 1.178401412);
	DIGITS(is.geometric.estimate, 67.93933685);
	DIGITS(is.geometric.low, 67.25338408);
	DIGITS(is.geometric.high, 68.63228602);
	assert_true(is.quoted.low == is.geometric.low);
	DIGITS(is.median.estimate, 67.655);
	assert_true(is.median.low == 67.41 && is.median.high == 69.95);
	assert_int_equal(stat_grubbs(runs, N, .05, &grubbs, NULL), 0);
	assert_int_equal(grubbs.at, 5);
	DIGITS(grubbs.g, 2.404909933);
	DIGITS(grubbs.critical, 2.126645087);
	assert_int_equal(stat_flag(runs, N, flags), 1);
	assert_true(flags[5]);
}

static void test_t_quantiles(void **state)
{
	(void)state;
	DIGITS(stat_t_critical(.03, 5), 3.002874974);
	DIGITS(stat_t_critical(.03, 7), 2.714573011);
	DIGITS(stat_t_critical(.012, 4), 4.366595463);
	DIGITS(stat_t_critical(.012, 7), 3.365123042);
	DIGITS(stat_t_critical(.012, 15), 2.856809936);
}

static void test_median_ranks(void **state)
{
	static const struct {
		int n, rank;
		double confidence;
	} table[] = {{6, 1, .9688},  {8, 1, .9922},  {9, 2, .9609},  {10, 2, .9785},
		     {12, 3, .9614}, {16, 4, .9787}, {20, 6, .9586}, {24, 7, .9773}};
	double confidence;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(stat_median_rank(table[i].n, .05, &confidence), table[i].rank);
		assert_true(fabs(confidence - table[i].confidence) <= .00005);
	}
	for (int n = 0; n < 6; n++)
		assert_int_equal(stat_median_rank(n, .05, NULL), 0);
}

static void test_unseen_mode(void **state)
{
	(void)state;
	assert_true(fabs(estimate_of(runs, 6, .05).unseen - .39) < .005);
	assert_true(fabs(estimate_of(runs, 8, .05).unseen - (1 - pow(.05, 1. / 8))) < 1e-12);
}

/* Too few values, values of which there are no logs, no spread. */
static void test_edges(void **state)
{
	static const double watts[] = {0, 1, 2, 3, 4, 5, 6}, same[] = {2, 2, 2, 2, 2, 2}, wrong[] = {1, 2, NAN};
	struct stat_estimate estimate = estimate_of(runs, 1, .05);
	struct stat_grubbs grubbs;
	struct err err = {0};
	bool flags[N];

	(void)state;
	assert_true(estimate.quoted.estimate > 67.4 && estimate.quoted.low == 0 && isinf(estimate.quoted.high));
	assert_true(isinf(estimate.relative_half_width) && isnan(estimate.sd));
	assert_false(stat_bounded(estimate.median));

	estimate = estimate_of(watts, 7, .05);
	assert_true(isnan(estimate.geometric.estimate));
	assert_true(estimate.quoted.estimate == 3 && estimate.quoted.low < 3);

	estimate = estimate_of(same, 6, .05);
	assert_true(fabs(estimate.quoted.low - 2) < 1e-12 && estimate.relative_half_width < 1e-12);
	assert_int_equal(stat_flag(same, 6, flags), 0);
	assert_int_equal(stat_grubbs(same, 6, .05, &grubbs, NULL), 0);
	assert_true(grubbs.g == 0);

	assert_int_equal(stat_estimate(wrong, 3, .05, &estimate, &err), -EINVAL);
	assert_non_null(strstr(err.what, "value 3"));
	assert_int_equal(stat_estimate(NULL, 0, .05, &estimate, &err), -EINVAL);
	assert_int_equal(stat_grubbs(runs, 2, .05, &grubbs, &err), -EINVAL);
}

/* Where more than half are equal the MAD is 0 and the mean deviation judges. */
static void test_flag_without_mad(void **state)
{
	static const double values[] = {5, 5, 5, 5, 5, 5, 5, 9};
	bool flags[8];

	(void)state;
	assert_int_equal(stat_flag(values, 8, flags), 1);
	assert_true(flags[7]);
}

static void test_stop_rule(void **state)
{
	struct stat_stop_rule rule;
	struct stat_estimate estimate;
	enum stat_stop stop;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_stop_rule(6, 30, .01, &rule, &err), 0);
	assert_true(rule.nominal == .030);
	/* The relative half width is 1.18 %: more runs at a target of 1 %, enough at 1.2 %. */
	assert_int_equal(stat_stop_look(&rule, runs, N, &stop, &estimate, &err), 0);
	assert_int_equal(stop, STAT_STOP_MORE);
	DIGITS(estimate.mean.low, 67.14309989);
	rule.target = .012;
	assert_int_equal(stat_stop_look(&rule, runs, N, &stop, &estimate, &err), 0);
	assert_int_equal(stop, STAT_STOP_TARGET);
	/* Five runs may be as narrow as they like. */
	rule.target = .5;
	assert_int_equal(stat_stop_look(&rule, runs, 5, &stop, &estimate, &err), 0);
	assert_int_equal(stop, STAT_STOP_MORE);
	rule.target = .001;
	rule.cap = 8;
	assert_int_equal(stat_stop_look(&rule, runs, N, &stop, &estimate, &err), 0);
	assert_int_equal(stop, STAT_STOP_CAP);

	assert_int_equal(stat_stop_rule(2, 30, .01, &rule, &err), -EINVAL);
	assert_int_equal(stat_stop_rule(6, 5, .01, &rule, &err), -EINVAL);
	assert_int_equal(stat_stop_rule(6, 30, 0, &rule, &err), -EINVAL);
	assert_int_equal(stat_stop_rule(6, 30, NAN, &rule, &err), -EINVAL);
}

static void test_runs_needed(void **state)
{
	struct stat_stop_rule rule;

	(void)state;
	assert_int_equal(stat_stop_rule(6, 30, .01, &rule, NULL), 0);
	assert_int_equal(stat_stop_runs(&rule, .005), 6);
	assert_int_equal(stat_stop_runs(&rule, .01), 7);  /* 6.7 */
	assert_int_equal(stat_stop_runs(&rule, .02), 21); /* 20.8 */
	assert_int_equal(stat_stop_runs(&rule, .04), 78); /* 77.3 */
}

static void test_sequence(void **state)
{
	struct stat_interval interval;

	(void)state;
	assert_true(isinf(stat_sequence_factor(3, 2, .05)));
	DIGITS(stat_sequence_factor(4, 2, .05), 6.025865681);
	DIGITS(stat_sequence_factor(5, 2, .05), 2.605123778);
	DIGITS(stat_sequence_factor(6, 2, .05), 1.968853567);
	DIGITS(stat_sequence_factor(8, 2, .05), 1.463333412);
	DIGITS(stat_sequence_factor(10, 2, .05), 1.223792736);
	DIGITS(stat_sequence_factor(12, 2, .05), 1.076116904);
	interval = stat_sequence_interval(runs, N, 2, .05);
	DIGITS(interval.high - interval.estimate, 1.220757842);
	assert_false(stat_bounded(stat_sequence_interval(runs, 3, 2, .05)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reference),	 cmocka_unit_test(test_t_quantiles),
	    cmocka_unit_test(test_median_ranks), cmocka_unit_test(test_unseen_mode),
	    cmocka_unit_test(test_edges),	 cmocka_unit_test(test_flag_without_mad),
	    cmocka_unit_test(test_stop_rule),	 cmocka_unit_test(test_runs_needed),
	    cmocka_unit_test(test_sequence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

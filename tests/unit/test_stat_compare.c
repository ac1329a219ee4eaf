/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of comparisons: reference values of R 4.2.2, verdicts, ranks with ties, and the order of blocks. */
#include "digits.h"

#include <errno.h>

#include "stat_compare.h"

static const double x[] = {67.41, 68.02, 67.55, 67.83, 67.60, 69.95, 67.48, 67.71};
static const double y[] = {82.1, 82.9, 82.0, 82.6, 82.4, 84.1, 82.3, 82.2};
static const double small[] = {.002, -.004, .003, .001, -.002, .0005, -.001, .0025};
enum { N = 8 };

static void test_reference(void **state)
{
	struct stat_compare is;
	struct stat_welch welch;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_welch(y, N, x, N, .05, &welch, &err), 0);
	DIGITS(welch.t, 38.45531801);
	DIGITS(welch.df, 13.45174702);
	DIGITS(welch.p, 3.769966342e-15);
	DIGITS(welch.difference.low, 13.81208304);
	DIGITS(welch.difference.high, 15.45041696);

	assert_int_equal(stat_compare(x, y, N, .05, .01, &is, &err), 0);
	DIGITS(is.t, 116.6549698);
	assert_true(is.df == 7);
	DIGITS(is.p, 8.969281338e-13);
	DIGITS(is.ratio.estimate, 1.215386764);
	DIGITS(is.ratio.low, 1.210590661);
	DIGITS(is.ratio.high, 1.220201869);
	assert_int_equal(is.verdict, STAT_HIGHER);
	DIGITS(is.robust_p, .0078125);
	DIGITS(log(is.robust.estimate), .1959318783);
	DIGITS(log(is.robust.low), .1906154857);
	DIGITS(log(is.robust.high), .1979774539);
	assert_false(is.outliers_matter);
	DIGITS(stat_mann_whitney_p(x, N, y, N), .0001554001554);
}

static void test_equivalence(void **state)
{
	struct stat_compare is;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_compare_logs(small, N, .05, .01, &is, &err), 0);
	DIGITS((is.mean + log(1.01)) / (is.sd / sqrt(N)), 11.92110035);
	DIGITS((is.mean - log(1.01)) / (is.sd / sqrt(N)), -11.33675164);
	DIGITS(is.equivalence_p, 4.651896348e-06);
	assert_int_equal(is.verdict, STAT_EQUIVALENT);
	assert_true(is.within > .002 && is.within < .003);
	assert_true(fabs(log1p(is.within) - fmax(fabs(log(is.ratio.low)), fabs(log(is.ratio.high)))) < 1e-12);
	/* The same values under a margin that they do not keep. */
	assert_int_equal(stat_compare_logs(small, N, .05, .0015, &is, &err), 0);
	assert_int_equal(is.verdict, STAT_UNDECIDED);
	assert_true(is.equivalence_p > .05);
}

/* A difference that is sure and smaller than the margin is both; the other way round it is lower. */
static void test_small_difference(void **state)
{
	double d[] = {-.0050, -.0052, -.0049, -.0051, -.0050, -.0048};
	struct stat_compare is;

	(void)state;
	assert_int_equal(stat_compare_logs(d, 6, .05, .01, &is, NULL), 0);
	assert_true(is.differs && is.equivalent);
	assert_int_equal(is.verdict, STAT_LOWER);
	assert_true(is.within > .005 && is.within < .0055);
}

static void test_one_block(void **state)
{
	double d[] = {.5};
	struct stat_compare is;

	(void)state;
	assert_int_equal(stat_compare_logs(d, 1, .05, .01, &is, NULL), 0);
	assert_int_equal(is.verdict, STAT_UNDECIDED);
	assert_true(is.p == 1 && is.equivalence_p == 1 && is.ratio.low == 0 && isinf(is.ratio.high));
	assert_true(isinf(is.within));
}

static void test_outliers_matter(void **state)
{
	double d[] = {.001, .002, .000, .001, .002, .001, .001, .000, .001, .002, .001, .9};
	struct stat_compare is;

	(void)state;
	assert_int_equal(stat_compare_logs(d, 12, .05, .01, &is, NULL), 0);
	assert_int_equal(is.verdict, STAT_UNDECIDED);
	assert_false(is.outliers_matter); /* the interval is as wide as the outlier is far */
	d[11] = .001;
	assert_int_equal(stat_compare_logs(d, 12, .05, .01, &is, NULL), 0);
	assert_int_equal(is.verdict, STAT_HIGHER);
	/* 24 pairs near 0 and 12 far up: the mean leaves the median of the averages behind. */
	double mixed[36] = {0};
	for (int i = 24; i < 36; i++)
		mixed[i] = .1 + i * 1e-6;
	assert_int_equal(stat_compare_logs(mixed, 36, .05, .01, &is, NULL), 0);
	assert_true(is.outliers_matter);
}

static void test_bad_input(void **state)
{
	static const double zero[] = {1, 0, 1};
	struct stat_compare is;
	struct stat_welch welch;
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_compare(x, zero, 3, .05, .01, &is, &err), -EINVAL);
	assert_non_null(strstr(err.what, "value 2"));
	assert_int_equal(stat_compare_logs(small, 0, .05, .01, &is, &err), -EINVAL);
	assert_int_equal(stat_compare_logs(small, 3, .05, 0, &is, &err), -EINVAL);
	assert_int_equal(stat_welch(x, 1, y, 8, .05, &welch, &err), -EINVAL);
}

/* Ties share ranks and zeros are left out; the figures are counted by hand. */
static void test_rank_ties(void **state)
{
	static const double tied[] = {1, 1, 1, -1}, zeros[] = {0, 0, 1, 2, 3}, p[] = {1, 1}, q[] = {1, 2};

	(void)state;
	/* Ranks 2.5 four times; at most one minus sign: 5 of 16 ways, doubled. */
	DIGITS(stat_signed_rank_p(tied, 4), .625);
	DIGITS(stat_signed_rank_p(zeros, 5), .25);
	assert_true(stat_signed_rank_p(zeros, 2) == 1);
	/* Ranks 2 2 2 4: of 6 choices 3 hold no 4. */
	assert_true(stat_mann_whitney_p(p, 2, q, 2) == 1);
	assert_true(stat_mann_whitney_p(p, 0, q, 2) == 1);
}

/* Beyond the exact sizes the normal approximation continues it. */
static void test_rank_sizes(void **state)
{
	double d[201], left[60], right[60];

	(void)state;
	for (int i = 0; i < 201; i++)
		d[i] = (i % 9 < 4 ? -1 : 1) * (i + 1.);
	assert_true(fabs(stat_signed_rank_p(d, 200) - stat_signed_rank_p(d, 201)) < .06);
	assert_true(stat_signed_rank_p(d, 200) > .01 && stat_signed_rank_p(d, 200) < .4);
	for (int i = 0; i < 60; i++) {
		left[i] = i;
		right[i] = i + 8.5;
	}
	DIGITS(stat_mann_whitney_p(left, 30, right, 30), .00097476);
	assert_true(fabs(stat_mann_whitney_p(left, 31, right, 30) - .00191) < .0005); /* exact: .0019126 */
	assert_true(stat_bounded(stat_hodges_lehmann(d, 201, .05)) && stat_bounded(stat_hodges_lehmann(d, 200, .05)));
	assert_false(stat_bounded(stat_hodges_lehmann(d, 5, .05)));
	assert_true(stat_bounded(stat_hodges_lehmann(d, 6, .05)));
}

static void test_block_order(void **state)
{
	int order[4], again[4], first[4] = {0}, changed = 0;

	(void)state;
	for (int block = 0; block < 4000; block++) {
		int seen = 0;

		stat_block_order(7, block, 4, order);
		stat_block_order(7, block, 4, again);
		assert_memory_equal(order, again, sizeof(order));
		for (int i = 0; i < 4; i++)
			seen |= 1 << order[i];
		assert_int_equal(seen, 15);
		first[order[0]]++;
		stat_block_order(8, block, 4, again);
		changed += memcmp(order, again, sizeof(order)) != 0;
	}
	for (int i = 0; i < 4; i++)
		assert_in_range(first[i], 1000 - 110, 1000 + 110); /* four standard deviations */
	assert_in_range(changed, 4000 * 23 / 24 - 60, 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reference),	     cmocka_unit_test(test_equivalence),
	    cmocka_unit_test(test_small_difference), cmocka_unit_test(test_one_block),
	    cmocka_unit_test(test_outliers_matter),  cmocka_unit_test(test_bad_input),
	    cmocka_unit_test(test_rank_ties),	     cmocka_unit_test(test_rank_sizes),
	    cmocka_unit_test(test_block_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of attribution: first in and last in, the Shapley value they equal, the residual, and contrasts. */
#include "digits.h"

#include <errno.h>

#include "stat_effects.h"

enum { LEVERS = 3, CELLS = 1 << LEVERS };

/* Main effects, pair interactions and one of all three. */
static void factorial(struct stat_cell *cells, double three)
{
	static const double mains[] = {-.10, -.04, .01};
	static const double pairs[] = {.02, -.006, .012}; /* 01 02 12 */

	for (unsigned set = 0; set < CELLS; set++) {
		double mean = 4;

		for (int j = 0; j < LEVERS; j++)
			mean += set >> j & 1 ? mains[j] : 0;
		mean += ((set & 3) == 3 ? pairs[0] : 0) + ((set & 5) == 5 ? pairs[1] : 0) +
			((set & 6) == 6 ? pairs[2] : 0) + (set == 7 ? three : 0);
		cells[set] = (struct stat_cell){5, mean, .01};
	}
}

static void attribute(const struct stat_cell *cells, struct stat_attribution *ret, struct stat_lever *levers)
{
	struct stat_cell alone[LEVERS], without[LEVERS];
	struct err err = {0};

	for (int j = 0; j < LEVERS; j++) {
		alone[j] = cells[1 << j];
		without[j] = cells[(CELLS - 1) & ~(1 << j)];
	}
	if (stat_attribute(&cells[0], &cells[CELLS - 1], alone, without, LEVERS, .05, ret, levers, &err) < 0)
		fail_msg("%s", err.what);
}

static void test_identity(void **state)
{
	struct stat_cell cells[CELLS];
	struct stat_attribution is;
	struct stat_lever levers[LEVERS];
	double shares[LEVERS], variances[LEVERS];

	(void)state;
	factorial(cells, 0);
	attribute(cells, &is, levers);
	assert_int_equal(stat_shapley(cells, LEVERS, shares, variances, NULL), 0);
	for (int j = 0; j < LEVERS; j++) {
		assert_true(fabs(log(levers[j].share.estimate) - shares[j]) < 1e-12);
		/* From all corners the same is known a little better. */
		assert_true(variances[j] > 0 && sqrt(variances[j]) * stat_t_critical(.05, CELLS * 4) <
						    log(levers[j].share.high) - shares[j]);
	}
	assert_true(fabs(shares[0] - (-.10 + .01 - .003)) < 1e-12);
	assert_true(fabs(log(levers[0].first_in) + .10) < 1e-12 && fabs(log(levers[0].last_in) + .086) < 1e-12);
	/* Equal n: the standard error of phi is sqrt(s^2 / n). */
	assert_true(fabs(log(levers[0].share.high) - shares[0] - stat_t_critical(.05, CELLS * 4) * .01 / sqrt(5)) <
		    1e-12);
	assert_true(fabs(log(is.residual.estimate)) < 1e-12 && is.attributable);
	assert_true(fabs(log(is.total.estimate) + .104) < 1e-12);
	assert_true(levers[0].p < 1e-6 && levers[2].p > 1e-3 && levers[2].p < .05);
}

static void test_three_way(void **state)
{
	struct stat_cell cells[CELLS];
	struct stat_attribution is;
	struct stat_lever levers[LEVERS];
	double shares[LEVERS];

	(void)state;
	factorial(cells, .06);
	attribute(cells, &is, levers);
	/* Each last-in has all of it, so half of it thrice: total .06, shares .09. */
	assert_true(fabs(log(is.residual.estimate) + .03) < 1e-12);
	assert_false(is.attributable);
	assert_int_equal(stat_shapley(cells, LEVERS, shares, NULL, NULL), 0);
	assert_true(fabs(shares[0] + shares[1] + shares[2] - (cells[7].mean - cells[0].mean)) < 1e-12);
	assert_true(fabs(shares[2] - (.01 - .003 + .006 + .02)) < 1e-12);
}

static void test_contrast(void **state)
{
	static const double main_effect[] = {-.25, .25, -.25, .25, -.25, .25, -.25, .25};
	struct stat_cell cells[CELLS];
	struct stat_interval is;

	(void)state;
	factorial(cells, 0);
	assert_int_equal(stat_contrast(cells, main_effect, CELLS, .05, &is, NULL), 0);
	assert_true(fabs(is.estimate - (-.10 + .01 - .003)) < 1e-12);
	assert_true(fabs(is.high - is.estimate - stat_t_critical(.05, 32) * .01 * sqrt(8 * .0625 / 5)) < 1e-12);
}

static void test_bad_input(void **state)
{
	static const double logs[] = {1, 2, 3};
	struct stat_cell cells[CELLS], cell = stat_cell(logs, 3);
	struct stat_attribution is;
	struct stat_lever levers[LEVERS];
	struct err err = {0};
	double shares[LEVERS];

	(void)state;
	assert_true(cell.n == 3 && cell.mean == 2 && cell.sd == 1);
	factorial(cells, 0);
	assert_int_equal(stat_attribute(cells, cells, cells, cells, 0, .05, &is, levers, &err), -EINVAL);
	cells[2].n = 0;
	assert_int_equal(stat_shapley(cells, LEVERS, shares, NULL, &err), -EINVAL);
	for (int i = 0; i < CELLS; i++)
		cells[i].n = 1;
	assert_int_equal(stat_attribute(cells, cells, cells, cells, LEVERS, .05, &is, levers, &err), -EINVAL);
	assert_non_null(strstr(err.what, "twice"));
	assert_int_equal(stat_shapley(cells, 17, shares, NULL, &err), -EINVAL);
}

/* Of one and of two levers some of the 2k + 2 cells are the same runs: they are counted once. */
static void test_few_levers(void **state)
{
	static const struct stat_cell none = {5, 4, .01}, a = {5, 3.9, .01}, b = {5, 3.95, .01}, both = {5, 3.84, .01};
	const struct stat_cell alone[] = {a, b}, without[] = {b, a};
	struct stat_attribution is;
	struct stat_lever levers[2];
	double half = stat_t_critical(.05, 8) * .01 * sqrt(.4);

	(void)state;
	assert_int_equal(stat_attribute(&none, &a, &a, &none, 1, .05, &is, levers, NULL), 0);
	assert_true(fabs(is.df - 8) < 1e-9);
	assert_true(fabs(log(levers[0].share.high) - (-.1 + half)) < 1e-9);
	assert_true(fabs(log(is.total.high) - (-.1 + half)) < 1e-9);
	assert_true(is.residual.low == 1 && is.residual.high == 1 && is.attributable);
	assert_int_equal(stat_attribute(&none, &both, alone, without, 2, .05, &is, levers, NULL), 0);
	assert_true(fabs(is.df - 16) < 1e-9);
	assert_true(fabs(log(levers[0].share.estimate) + .105) < 1e-9);
	assert_true(fabs(log(levers[0].share.high / levers[0].share.estimate) -
			 stat_t_critical(.05, 16) * .01 * sqrt(.2)) < 1e-9);
	assert_true(is.residual.low == 1 && is.residual.high == 1 && is.attributable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_few_levers), cmocka_unit_test(test_identity),	 cmocka_unit_test(test_three_way),
	    cmocka_unit_test(test_contrast),   cmocka_unit_test(test_bad_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

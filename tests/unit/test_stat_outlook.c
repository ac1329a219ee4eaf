/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of what is known of a choice: against figures that follow from the normal distribution. */
#include <math.h>

#include "digits.h"
#include "stat_outlook.h"

enum { DRAWS = 40000 };

/* Two of known difference: regret and gain of a normal difference are known in closed form. */
static void test_two(void **state)
{
	/* d = a - b of mean -.01 and sd .02: a is picked. E max(0, d) = sd phi(z) - |mean| Phi(-z), z = .5. */
	static const double means[] = {0, .01};
	struct stat_outlook is;
	double *draws = stat_zeroed(2 * DRAWS, sizeof(double));
	struct stat_cell cells[2] = {{400, 0, .02 * sqrt(200)}, {400, .01, .02 * sqrt(200)}};
	double z = .5, regret = .02 * exp(-z * z / 2) / sqrt(2 * M_PI) - .01 * erfc(z / sqrt(2)) / 2;
	double later = .02 / sqrt(2), y = .01 / later,
	       gain = later * exp(-y * y / 2) / sqrt(2 * M_PI) - .01 * erfc(y / sqrt(2)) / 2;

	(void)state;
	stat_cell_draw(cells, 2, DRAWS, 7, draws);
	stat_outlook(draws, DRAWS, 2, means, NULL, 0, .01, &is);
	assert_float_equal(is.best, .691, .015);
	/* P(d > ln 1.01) */
	assert_float_equal(is.bad, erfc((log(1.01) + .01) / .02 / sqrt(2)) / 2, .012);
	assert_float_equal(is.regret_mean, regret, .0006);
	assert_float_equal(is.gain, gain, .0006);
	assert_true(is.gain < is.regret_mean && is.regret_mean < is.regret_95);
	free(draws);
}

/* Who may not be picked is no rival. */
static void test_among(void **state)
{
	static const double means[] = {0, -1, NAN};
	static const bool among[] = {true, false, true};
	double *draws = stat_zeroed(3 * DRAWS, sizeof(double));
	struct stat_cell cells[3] = {{5, 0, .01}, {5, -1, .01}, {0, NAN, NAN}};
	struct stat_outlook is;

	(void)state;
	stat_cell_draw(cells, 3, DRAWS, 7, draws);
	stat_outlook(draws, DRAWS, 3, means, among, 0, .01, &is);
	assert_float_equal(is.best, 1, 0);
	assert_float_equal(is.regret_mean, 0, 0);
	stat_outlook(draws, DRAWS, 3, means, NULL, 0, .01, &is);
	assert_float_equal(is.bad, 1, 0);
	free(draws);
}

/* (4 p + SS_c) / (4 + df_c), p = (SS + 2 x .012^2) / (DF + 2). */
static void test_spread(void **state)
{
	static const struct stat_cell cells[] = {{5, 1, .02}, {1, 1, NAN}};
	double variances[2], df[2], p = (4 * .0004 + 2 * .000144) / 6;

	(void)state;
	stat_cell_spread(cells, 2, variances, df);
	assert_float_equal(variances[0], (4 * p + 4 * .0004) / 8, 1e-12);
	assert_float_equal(variances[1], p, 1e-12);
	assert_float_equal(df[0], 8, 0);
	assert_float_equal(df[1], 4, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_two), cmocka_unit_test(test_among),
					   cmocka_unit_test(test_spread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

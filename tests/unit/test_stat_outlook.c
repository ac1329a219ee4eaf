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

/* A twentieth of the draws is far behind: no bound is told that lies below what is expected. */
static void test_heavy_tail(void **state)
{
	static const double means[] = {0, .001};
	double draws[2 * 100] = {0};
	struct stat_outlook is;

	(void)state;
	for (int d = 0; d < 100; d++)
		draws[2 * d + 1] = d < 4 ? -1 : .001;
	stat_outlook(draws, 100, 2, means, NULL, 0, .01, &is);
	assert_true(fabs(is.regret_mean - .04 * expm1(1)) < 1e-9);
	assert_true(is.regret_95 >= is.regret_mean);
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

/* ---- on average it is right ---- */

static double uniform(uint64_t *chance)
{
	*chance = *chance * 6364136223846793005u + 1442695040888963407u;
	return (double)(*chance >> 11) / (double)(UINT64_C(1) << 53);
}

static double normal(uint64_t *chance)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += uniform(chance);
	return sum - 6;
}

/*
 * Six configurations of drawn truth, five runs each, the lowest mean picked: over many hosts it is bad as often as the
 * mean of what was said, its regret is that which was expected, and twice the runs gain what was expected of them.
 */
static void test_calibrated(void **state)
{
	enum { HOSTS = 1500, N = 6, RUNS = 5, FEW = 300 };
	double *draws = stat_zeroed(N * FEW, sizeof(double));
	double said_bad = 0, bad = 0, said_regret = 0, regret = 0, said_gain = 0, gain = 0;
	uint64_t chance = 11;

	(void)state;
	for (int host = 0; host < HOSTS; host++) {
		double truth[N], means[N], twice[N], least = INFINITY;
		struct stat_cell cells[N];
		struct stat_outlook is;
		int pick = 0, later = 0;

		for (int c = 0; c < N; c++) {
			double logs[2 * RUNS];

			truth[c] = .015 * normal(&chance);
			for (int i = 0; i < 2 * RUNS; i++)
				logs[i] = truth[c] + .012 * normal(&chance);
			cells[c] = stat_cell(logs, RUNS);
			means[c] = cells[c].mean;
			twice[c] = stat_mean(logs, 2 * RUNS);
			least = truth[c] < least ? truth[c] : least;
			pick = means[c] < means[pick] ? c : pick;
			later = twice[c] < twice[later] ? c : later;
		}
		stat_cell_draw(cells, N, FEW, (uint64_t)host + 1, draws);
		stat_outlook(draws, FEW, N, means, NULL, pick, .005, &is);
		said_bad += is.bad / HOSTS;
		bad += (truth[pick] > least + log(1.005)) / (double)HOSTS;
		said_regret += is.regret_mean / HOSTS;
		regret += expm1(truth[pick] - least) / HOSTS;
		said_gain += is.gain / HOSTS;
		gain += expm1(truth[pick] - truth[later]) / HOSTS;
	}
	if (fabs(said_bad - bad) > .04 || said_bad < bad - .02)
		fail_msg("it was bad in %.3f, said %.3f", bad, said_bad);
	if (said_regret < .9 * regret || said_regret > 1.4 * regret)
		fail_msg("regret %.5f, said %.5f", regret, said_regret);
	if (said_gain < .8 * gain || said_gain > 1.6 * gain)
		fail_msg("gain %.5f, said %.5f", gain, said_gain);
	free(draws);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_two), cmocka_unit_test(test_among),
					   cmocka_unit_test(test_heavy_tail), cmocka_unit_test(test_spread),
					   cmocka_unit_test(test_calibrated)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

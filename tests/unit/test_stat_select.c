/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of choosing: the model beside a reference in NumPy, orders, designs, halving, stopping, and Pareto sets.
 */
#include "digits.h"

#include <errno.h>

#include "stat_select.h"

enum { FACTORS = 3, COUNT = 12 };

/* Levels (3, 2, 2): the first needs a boot, the second a guest start, the third nothing. */
static const enum stat_change changes[FACTORS] = {STAT_CHANGE_HOST, STAT_CHANGE_GUEST, STAT_CHANGE_LIVE};

static struct stat_space space_of(int *levels)
{
	for (int c = 0; c < COUNT; c++) {
		levels[c * FACTORS] = c / 4;
		levels[c * FACTORS + 1] = c / 2 % 2;
		levels[c * FACTORS + 2] = c % 2;
	}
	return (struct stat_space){FACTORS, COUNT, levels, changes, NULL};
}

static int at(int a, int b, int c)
{
	return a * 4 + b * 2 + c;
}

static struct stat_switch change(const void *context, int from, int to)
{
	const struct stat_space *space = context;
	static const double minutes[] = {0, .25, 2, 8};
	enum stat_change most = from < 0 ? STAT_CHANGE_HOST : STAT_CHANGE_NONE;

	for (int f = 0; from >= 0 && f < FACTORS; f++)
		if (space->levels[from * FACTORS + f] != space->levels[to * FACTORS + f] && space->changes[f] > most)
			most = space->changes[f];
	return (struct stat_switch){most, minutes[most]};
}

static double run_minutes(const void *context, int configuration)
{
	(void)context;
	(void)configuration;
	return 1.5;
}

static void test_model_reference(void **state)
{
	int levels[COUNT * FACTORS];
	struct stat_space space = space_of(levels);
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
	const struct stat_run runs[] = {{at(0, 0, 0), 0, 4.3820}, {at(0, 0, 0), 0, 4.3820}, {at(0, 0, 1), 1, 4.2400},
					{at(1, 0, 1), 1, 4.2215}, {at(1, 0, 1), 1, 4.2215}, {at(2, 1, 0), 0, 4.3610},
					{at(1, 1, 1), 2, 4.2350}};
	struct err err = {0};
	double contrast[COUNT] = {0}, mean, variance;

	(void)state;
	*stat_model_hyper(model) = (struct stat_hyper){{.0009, .0004, .0016}, .000144, .000025, .000016, 1, 0};
	assert_int_equal(stat_model_runs(model, runs, ARRAY_SIZE(runs), &err), 0);
	stat_model_noise(model, .0001, 0);
	DIGITS(stat_model_likelihood(model), 9.3327493067);
	assert_int_equal(stat_model_solve(model, 1, &err), 0);
	DIGITS(stat_model_mean(model, at(0, 0, 0)), 4.37917183);
	DIGITS(sqrt(stat_model_variance(model, at(0, 0, 0))), .00798911);
	DIGITS(stat_model_mean(model, at(0, 0, 1)), 4.24384402);
	DIGITS(sqrt(stat_model_variance(model, at(0, 0, 1))), .01032930);
	DIGITS(stat_model_mean(model, at(1, 0, 1)), 4.22331025);
	DIGITS(sqrt(stat_model_variance(model, at(1, 0, 1))), .00782843);
	DIGITS(stat_model_mean(model, at(1, 1, 1)), 4.23369309);
	DIGITS(sqrt(stat_model_variance(model, at(1, 1, 1))), .01008300);
	DIGITS(stat_model_mean(model, at(2, 0, 1)), 4.22875812);
	DIGITS(sqrt(stat_model_variance(model, at(2, 0, 1))), .02710603);
	DIGITS(stat_model_mean(model, at(2, 1, 1)), 4.23662127);
	DIGITS(sqrt(stat_model_variance(model, at(2, 1, 1))), .02347288);
	DIGITS(stat_model_mean(model, at(1, 0, 0)), 4.35413119);
	DIGITS(sqrt(stat_model_variance(model, at(1, 0, 0))), .02060885);
	DIGITS(stat_model_covariance(model, at(1, 0, 1), at(2, 0, 1)), .0000507093);
	contrast[at(1, 0, 1)] = 1;
	contrast[at(2, 0, 1)] = -1;
	stat_model_contrast(model, contrast, &mean, &variance);
	assert_true(fabs(mean - (4.22331025 - 4.22875812)) < 2e-8);
	assert_true(fabs(variance - (.00782843 * .00782843 + .02710603 * .02710603 - 2 * .0000507093)) < 2e-9);
}

static double variance_between(const struct stat_model *model, int a, int b)
{
	return stat_model_variance(model, a) + stat_model_variance(model, b) - 2 * stat_model_covariance(model, a, b);
}

/* What a run is worth is what the model says once it was made: in the same boot, in one before, in a new one. */
static void test_gain(void **state)
{
	static const double correlations[] = {0, .6};
	enum { HAVE = 5, MORE = 2 };
	int levels[COUNT * FACTORS], a = at(0, 0, 1), b = at(1, 0, 1), c = at(0, 1, 1);
	struct stat_space space = space_of(levels);
	struct stat_run runs[HAVE + MORE] = {
	    {at(0, 0, 0), 0, 4.38}, {a, 0, 4.24}, {a, 1, 4.25}, {b, 1, 4.22}, {b, 1, 4.23}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(correlations); i++)
		for (int boot = 0; boot < 3; boot++) {
			CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
			double gain, before;

			stat_model_hyper(model)->alike = correlations[i];
			assert_int_equal(stat_model_runs(model, runs, HAVE, NULL), 0);
			stat_model_noise(model, .0001, 0);
			assert_int_equal(stat_model_solve(model, 3, NULL), 0);
			before = variance_between(model, a, b);
			gain = stat_model_gain(model, c, boot, MORE, a, b);
			for (int j = 0; j < MORE; j++)
				runs[HAVE + j] = (struct stat_run){c, boot, 4.3};
			assert_int_equal(stat_model_runs(model, runs, HAVE + MORE, NULL), 0);
			stat_model_noise(model, .0001, 0);
			assert_int_equal(stat_model_solve(model, 3, NULL), 0);
			assert_true(gain > 0);
			assert_true(fabs(before - variance_between(model, a, b) - gain) < 1e-9 * before);
		}
}

/* Means of two cells of a boot, places 0, 2 and 1, 3: their noise by hand. And what a second run in a cell is worth. */
static void test_alike_by_hand(void **state)
{
	const double r = .5, noise = .0001;
	int levels[COUNT * FACTORS];
	struct stat_space space = space_of(levels);
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
	const struct stat_run runs[] = {{0, 7, 4.1}, {1, 7, 4.2}, {0, 7, 4.1}, {1, 7, 4.2}};
	struct stat_hyper *hyper = stat_model_hyper(model);
	double k[2][2], y = .05, determinant, square;

	(void)state;
	*hyper = (struct stat_hyper){{.0009, .0004, .0016}, .000144, .000025, .000016, 1, r};
	assert_int_equal(stat_model_runs(model, runs, ARRAY_SIZE(runs), NULL), 0);
	stat_model_noise(model, noise, 0);
	/* Configurations 0 and 1 differ in the last factor. */
	k[0][0] = 1 + .0009 + .0004 + .0016 + .000144 + .000025 + .000016 + noise * (1 + r * r) / 2;
	k[0][1] = 1 + .0009 + .0004 + .000144 / 3 + .000016 + noise * (3 * r + r * r * r) / 4;
	k[1][1] = k[0][0];
	determinant = k[0][0] * k[1][1] - k[0][1] * k[0][1];
	square = (y * y * k[1][1] + y * y * k[0][0] + 2 * y * y * k[0][1]) / determinant;
	assert_true(fabs(stat_model_likelihood(model) + square / 2 + log(determinant) / 2) < 1e-9);
}

static double next_normal(unsigned *noise)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		*noise = *noise * 1103515245 + 12345;
		sum += (*noise >> 16 & 32767) / 32768.;
	}
	return sum - 6;
}

/* Runs that are alike are found out; those that are not are left as they are, and the noise is about the true one. */
static void test_alike(void **state)
{
	static const double correlations[] = {0, .8};
	enum { RUNS = 96, A_BOOT = 12 };
	double found[ARRAY_SIZE(correlations)], spread[ARRAY_SIZE(correlations)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(correlations); i++) {
		int levels[COUNT * FACTORS];
		struct stat_space space = space_of(levels);
		CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
		struct stat_run runs[RUNS];
		double last = 0, keep = correlations[i];
		unsigned noise = 5;

		for (int j = 0; j < RUNS; j++) {
			int c = j / 2 * 5 % COUNT;

			last = j % A_BOOT ? keep * last + sqrt(1 - keep * keep) * next_normal(&noise)
					  : next_normal(&noise);
			runs[j] = (struct stat_run){c, j / A_BOOT, 4 + .05 * levels[c * FACTORS] + .01 * last};
		}
		assert_int_equal(stat_model_runs(model, runs, RUNS, NULL), 0);
		stat_model_fit(model, 3, 3);
		found[i] = stat_model_hyper(model)->alike;
		assert_int_equal(stat_model_solve(model, 1, NULL), 0);
		spread[i] = variance_between(model, 0, 1);
	}
	assert_true(found[0] < .15);
	assert_true(found[1] > .6 && found[1] <= .9);
	assert_true(spread[0] < spread[1] * 2);
}

/* Whether a model is given up, and what it was fitted to, is of the runs alone; asked after each of them or once. */
static void test_follow(void **state)
{
	enum { RUNS = 96, CELL = 4 };
	int levels[COUNT * FACTORS];
	struct stat_space space = space_of(levels);
	CLEANUP(stat_model_free) struct stat_model *each = stat_model_new(&space);
	struct stat_run runs[RUNS];
	bool is_given_up = false;
	unsigned noise = 9;

	(void)state;
	/* In the second boot each is elsewhere, by far more than its runs differ: no effect of a boot is like that. */
	for (int i = 0; i < RUNS; i++)
		runs[i] = (struct stat_run){i / CELL % COUNT, i / CELL / COUNT,
					    4 + (i / CELL * 7 % 5 < 2 ? .1 : -.1) + .0005 * next_normal(&noise)};
	for (int n = 1; n <= RUNS; n++) {
		CLEANUP(stat_model_free) struct stat_model *once = stat_model_new(&space);
		bool by_once;

		assert_int_equal(stat_select_follow(each, &space, runs, n, &is_given_up, NULL), 0);
		assert_int_equal(stat_select_follow(once, &space, runs, n, &by_once, NULL), 0);
		assert_int_equal(is_given_up, by_once);
		assert_memory_equal(stat_model_hyper(each), stat_model_hyper(once), sizeof(struct stat_hyper));
		assert_true(n >= STAT_DESIGN || !is_given_up);
	}
	assert_true(is_given_up);
	/* Other runs: it starts over. */
	for (int i = 0; i < RUNS; i++)
		runs[i].log = 4 + .001 * next_normal(&noise);
	assert_int_equal(stat_select_follow(each, &space, runs, RUNS, &is_given_up, NULL), 0);
	assert_false(is_given_up);
	assert_int_equal(stat_select_follow(each, &space, runs, 0, &is_given_up, NULL), -EINVAL);
}

/* Draws have the posterior's means, deviations and covariances. */
static void test_draws(void **state)
{
	int levels[COUNT * FACTORS], who[] = {at(1, 0, 1), at(2, 0, 1)};
	struct stat_space space = space_of(levels);
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
	const struct stat_run runs[] = {{0, 0, 4.38}, {at(1, 0, 1), 0, 4.22}, {at(2, 1, 0), 0, 4.36}};
	enum { DRAWS = 20000 };
	CLEANUP(base_free) double *draws = stat_zeroed(2 * DRAWS, sizeof(double));
	double sum[2] = {0}, product = 0, mean[2], covariance;

	(void)state;
	assert_int_equal(stat_model_runs(model, runs, 3, NULL), 0);
	assert_int_equal(stat_model_solve(model, 1, NULL), 0);
	stat_model_draw(model, who, 2, DRAWS, 7, draws);
	for (int i = 0; i < 2; i++)
		mean[i] = stat_model_mean(model, who[i]);
	for (int d = 0; d < DRAWS; d++) {
		sum[0] += draws[2 * d];
		sum[1] += draws[2 * d + 1];
		product += (draws[2 * d] - mean[0]) * (draws[2 * d + 1] - mean[1]);
	}
	covariance = stat_model_covariance(model, who[0], who[1]);
	for (int i = 0; i < 2; i++)
		assert_true(fabs(sum[i] / DRAWS - mean[i]) < 4 * sqrt(stat_model_variance(model, who[i]) / DRAWS));
	assert_true(fabs(product / DRAWS - covariance) <
		    5 * sqrt(stat_model_variance(model, who[0]) * stat_model_variance(model, who[1]) / DRAWS));
}

static void test_fit(void **state)
{
	int levels[COUNT * FACTORS];
	struct stat_space space = space_of(levels);
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
	struct stat_run runs[2 * COUNT];
	double before;

	(void)state;
	/* The first factor moves 10 %, the others nothing; noise of .1 %. */
	for (int i = 0; i < 2 * COUNT; i++)
		runs[i] = (struct stat_run){i % COUNT, i / 6, 4 + .1 * (i % COUNT / 4) + .001 * (i * 7 % 5 - 2)};
	assert_int_equal(stat_model_runs(model, runs, 2 * COUNT, NULL), 0);
	before = stat_model_likelihood(model);
	stat_model_fit(model, 3, 3);
	assert_true(stat_model_likelihood(model) > before);
	assert_true(stat_model_hyper(model)->factor[0] > 5 * stat_model_hyper(model)->factor[1]);
	assert_true(stat_model_hyper(model)->factor[0] > 5 * stat_model_hyper(model)->factor[2]);
	assert_int_equal(stat_model_solve(model, 1, NULL), 0);
	for (int c = 0; c < COUNT; c++)
		assert_true(fabs(stat_model_mean(model, c) - 4 - .1 * (c / 4)) < .005);
	assert_true(stat_model_check(model).fits);
	/* One run that nothing explains. */
	runs[5].log += .3;
	assert_int_equal(stat_model_runs(model, runs, 2 * COUNT, NULL), 0);
	assert_int_equal(stat_model_solve(model, 1, NULL), 0);
	assert_true(stat_model_check(model).stands_out);
	assert_int_equal(stat_model_check(model).configuration, 5);
	/* Runs that nothing explains, with the model's certainty: it does not fit. */
	for (int i = 0; i < 2 * COUNT; i++)
		runs[i].log += i / 2 % 2 ? .1 : -.1;
	assert_int_equal(stat_model_runs(model, runs, 2 * COUNT, NULL), 0);
	stat_model_noise(model, 1e-6, 1e-6);
	assert_int_equal(stat_model_solve(model, 1, NULL), 0);
	assert_false(stat_model_check(model).fits);
}

static double path(const struct stat_costs *costs, int from, const int *order, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		sum += costs->change(costs->context, from, order[i]).minutes;
		from = order[i];
	}
	return sum;
}

/* Nested is the minimum spanning tree: 2 boots, 3 guest starts (one a host group), 6 live changes from 000. */
static void test_nested_order(void **state)
{
	int levels[COUNT * FACTORS], order[COUNT], other[COUNT], differs = 0;
	struct stat_space space = space_of(levels);
	struct stat_costs costs = {&space, change, run_minutes};

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		for (int i = 0; i < COUNT; i++)
			order[i] = other[i] = i;
		stat_order_nested(&costs, 0, seed, order, COUNT);
		assert_true(path(&costs, 0, order, COUNT) == 2 * 8 + 3 * 2 + 6 * .25);
		assert_int_equal(order[0], 0);
		stat_order_nested(&costs, 0, seed + 100, other, COUNT);
		differs += memcmp(order, other, sizeof(order)) != 0;
	}
	assert_true(differs > 10);
}

static void test_design(void **state)
{
	int levels[COUNT * FACTORS], chosen[STAT_DESIGN], hosts = 0, seen = 0;
	struct stat_space space = space_of(levels);
	int wide_levels[256 * 8];
	enum stat_change wide_changes[8] = {STAT_CHANGE_HOST,  STAT_CHANGE_HOST, STAT_CHANGE_HOST, STAT_CHANGE_GUEST,
					    STAT_CHANGE_GUEST, STAT_CHANGE_LIVE, STAT_CHANGE_LIVE, STAT_CHANGE_LIVE};
	struct stat_space wide = {8, 256, wide_levels, wide_changes, NULL};

	(void)state;
	assert_int_equal(stat_design(&space, 1, STAT_DESIGN, chosen), COUNT); /* all there are */
	for (int i = 0; i < 256 * 8; i++)
		wide_levels[i] = i / 8 >> i % 8 & 1;
	assert_int_equal(stat_design(&wide, 1, STAT_DESIGN, chosen), STAT_DESIGN);
	for (int i = 0; i < STAT_DESIGN; i++) {
		int bit = 1 << (chosen[i] & 7);

		hosts += !(seen & bit);
		seen |= bit;
	}
	assert_in_range(hosts, 2, STAT_DESIGN_HOSTS);
	/* Balance: each level of each factor half of the time, but for repetitions that were replaced. */
	for (int f = 0; f < 8; f++) {
		int ones = 0;

		for (int i = 0; i < STAT_DESIGN; i++)
			ones += chosen[i] >> f & 1;
		assert_in_range(ones, 6, 10);
	}
}

static void test_halving(void **state)
{
	int array[40];
	double means[40];
	struct stat_halving halving = stat_halving_begin(array, 40);
	static const int counts[] = {14, 5, 2, 1}, runs[] = {3, 5, 5, 5};

	(void)state;
	assert_int_equal(halving.runs, 1);
	for (int i = 0; i < 40; i++)
		means[i] = (i * 7 % 40) + 1;
	for (int round = 0; round < 4; round++) {
		stat_halving_cut(&halving, means);
		assert_int_equal(halving.count, counts[round]);
		assert_int_equal(halving.runs, runs[round]);
	}
	assert_int_equal(halving.configurations[0], 0);
}

/* A small study to its end, with exact effects and little noise: the best is found in far fewer runs than all. */
static void test_select(void **state)
{
	static const double host[] = {0, -.08, .02}, guest[] = {0, -.03}, live[] = {0, .01};
	int levels[COUNT * FACTORS], order[STAT_DESIGN], configuration = 0, boot = 0, n = 0, count;
	struct stat_space space = space_of(levels);
	struct stat_costs costs = {&space, change, run_minutes};
	struct stat_select_rule rule = STAT_SELECT_RULE;
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
	struct stat_run runs[310];
	struct stat_choice choice;
	struct stat_standing standings[COUNT];
	struct stat_ranking ranking;
	struct err err = {0};
	unsigned noise = 1;
	double sum = 0;

	(void)state;
	count = stat_design(&space, 3, 8, order);
	stat_order_nested(&costs, 0, 3, order, count);
	choice = (struct stat_choice){STAT_SELECT_RUN, .runs = 1};
	for (int step = 0; n < 300; step++) {
		if (step < count) {
			choice.configuration = order[step];
			choice.runs = 1;
		} else {
			if (stat_select(model, &space, &costs, &rule, runs, n, configuration, boot, &choice, &err) < 0)
				fail_msg("%s", err.what);
			if (choice.what != STAT_SELECT_RUN)
				break;
		}
		boot += change(&space, configuration, choice.configuration).change == STAT_CHANGE_HOST;
		configuration = choice.configuration;
		for (int i = 0; i < choice.runs; i++) {
			const int *l = levels + configuration * FACTORS;

			noise = noise * 1103515245 + 12345;
			runs[n++] = (struct stat_run){configuration, boot,
						      4 + host[l[0]] + guest[l[1]] + live[l[2]] +
							  .004 * ((double)(noise >> 16 & 1023) / 512 - 1)};
		}
	}
	assert_int_equal(choice.what, STAT_SELECT_DONE);
	assert_in_range(n, count + 1, 40);
	assert_int_equal(choice.incumbent, at(1, 1, 0));
	assert_true(choice.bad <= .02);
	assert_int_equal(stat_rank(model, &space, &rule, &ranking, standings, &err), 0);
	assert_int_equal(ranking.incumbent, choice.incumbent);
	assert_true(ranking.regret_mean >= 0 && ranking.regret_mean < .005 && ranking.regret_95 < .02);
	for (int c = 0; c < COUNT; c++)
		sum += standings[c].best;
	assert_true(fabs(sum - 1) < 1e-9);
	assert_true(standings[at(1, 1, 0)].good > .95 && standings[at(2, 0, 1)].good < .01);
	/* The same runs again give the same answer. */
	count = choice.incumbent;
	assert_int_equal(stat_select(model, &space, &costs, &rule, runs, n, configuration, boot, &choice, &err), 0);
	assert_int_equal(choice.incumbent, count);
	rule.most = n;
	rule.target = 1 + 1e-9;
	assert_int_equal(stat_select(model, &space, &costs, &rule, runs, n, configuration, boot, &choice, &err), 0);
	assert_int_equal(choice.what, STAT_SELECT_SPENT);
}

/* A thousand configurations: each stands somewhere, and the most likely have all of the chance to be the best. */
static void test_rank_many(void **state)
{
	enum { MANY = 1000 };
	static int levels[MANY * FACTORS];
	const struct stat_space space = {FACTORS, MANY, levels, changes, NULL};
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
	CLEANUP(base_free) struct stat_standing *standings = stat_zeroed(MANY, sizeof(*standings));
	const struct stat_select_rule rule = STAT_SELECT_RULE;
	struct stat_ranking ranking;
	struct stat_run runs[20];
	struct err err = {0};
	double sum = 0;

	(void)state;
	for (int i = 0; i < MANY * FACTORS; i++)
		levels[i] = i % FACTORS == 0   ? i / FACTORS / 100
			    : i % FACTORS == 1 ? i / FACTORS / 10 % 10
					       : i / FACTORS % 10;
	for (int i = 0; i < 20; i++)
		runs[i] = (struct stat_run){i * 53 % MANY, i / 5, 4 + .05 * levels[i * 53 % MANY * FACTORS]};
	assert_int_equal(stat_model_runs(model, runs, 20, &err), 0);
	assert_int_equal(stat_rank(model, &space, &rule, &ranking, standings, &err), -EINVAL);
	assert_int_equal(stat_model_solve(model, 1, &err), 0);
	assert_int_equal(stat_rank(model, &space, &rule, &ranking, standings, &err), 0);
	assert_int_equal(levels[ranking.incumbent * FACTORS], 0);
	for (int c = 0; c < MANY; c++) {
		sum += standings[c].best;
		assert_true(standings[c].good >= 0 && standings[c].good <= 1 + 1e-9);
		assert_true(standings[c].good >= standings[c].best - 1e-9);
		assert_true(levels[c * FACTORS] < 5 || standings[c].good < .01);
	}
	assert_true(fabs(sum - 1) < 1e-9);
}

static void test_bad_input(void **state)
{
	int levels[COUNT * FACTORS];
	struct stat_space space = space_of(levels), wrong = {33, 1, levels, changes, NULL};
	CLEANUP(stat_model_free) struct stat_model *model = stat_model_new(&space);
	struct stat_run run = {COUNT, 0, 4};
	struct err err = {0};

	(void)state;
	assert_int_equal(stat_space_check(&space, &err), 0);
	assert_int_equal(stat_space_check(&wrong, &err), -EINVAL);
	levels[5] = -1;
	assert_int_equal(stat_space_check(&space, &err), -EINVAL);
	assert_int_equal(stat_model_runs(model, &run, 0, &err), -EINVAL);
	assert_int_equal(stat_model_runs(model, &run, 1, &err), -EINVAL);
	run = (struct stat_run){0, 0, NAN};
	assert_int_equal(stat_model_runs(model, &run, 1, &err), -EINVAL);
	assert_int_equal(stat_model_solve(model, 1, &err), -EINVAL);
}

static void test_pareto(void **state)
{
	/* Two draws of four: time and energy. 0 and 1 trade; 2 is worse than 0 in both; 3 is like 1 but once better. */
	static const double time[] = {1, 2, 3, 2, 1, 2, 3, 1.5}, joules[] = {5, 3, 6, 3, 5, 3, 6, 3};
	double dominated[4];

	(void)state;
	stat_pareto(time, joules, 2, 4, dominated);
	assert_true(dominated[0] == 0 && dominated[1] == .5 && dominated[2] == 1 && dominated[3] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_gain),      cmocka_unit_test(test_alike_by_hand),   cmocka_unit_test(test_alike),
	    cmocka_unit_test(test_follow),    cmocka_unit_test(test_model_reference), cmocka_unit_test(test_draws),
	    cmocka_unit_test(test_fit),	      cmocka_unit_test(test_nested_order),    cmocka_unit_test(test_design),
	    cmocka_unit_test(test_halving),   cmocka_unit_test(test_select),	      cmocka_unit_test(test_rank_many),
	    cmocka_unit_test(test_bad_input), cmocka_unit_test(test_pareto),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

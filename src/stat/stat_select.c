/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns which run is worth most next, and what is known at the end. */
#include "stat_select.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

enum {
	RIVALS = 48,
	DRAWS = 400,
	FIRST_SWEEPS = 3,
	REFIT_RUNS = 4,
	RANK_DRAWS = 1000,
	RANK_RIVALS = 512,
	KNOWN_RUNS = 4,
	AGAIN = 2
};
#define FIRST_STEP 3.
#define NEXT_STEP 1.6
/* Whole numbers. */
#define WIDEN 3 /* v2 and v3 in decisions, and once more when the check fails */

/* -1: all are out. */
static int lowest(const struct stat_model *model, const struct stat_space *space)
{
	int best = -1;

	for (int c = 0; c < space->count; c++)
		if (!stat_space_is_out(space, c) &&
		    (best < 0 || stat_model_mean(model, c) < stat_model_mean(model, best)))
			best = c;
	return best;
}

/* The incumbent first, then those most likely to be below it. Returns how many. */
static int rivals(const struct stat_model *model, const struct stat_space *space, int incumbent, int most, int *ret)
{
	int count = space->count;
	CLEANUP(base_free) double *z = stat_zeroed(count, sizeof(double));
	CLEANUP(base_free) size_t *order = stat_zeroed(count, sizeof(size_t));
	int n = 0;

	for (int c = 0; c < count; c++)
		z[c] = (stat_model_mean(model, c) - stat_model_mean(model, incumbent)) /
		       sqrt(MAX_OF(stat_model_variance(model, c), 1e-16));
	gsl_sort_index(order, z, 1, (size_t)count);
	ret[n++] = incumbent;
	for (int i = 0; i < count && n < most; i++)
		if ((int)order[i] != incumbent && !stat_space_is_out(space, (int)order[i]))
			ret[n++] = (int)order[i];
	return n;
}

/* P(more than the margin worse) and, by lot among those that were the best of a draw, a challenger (-1: none was). */
static double judge(const struct stat_model *model, const struct stat_select_rule *rule, const int *who, int n,
		    uint64_t seed, int *ret_challenger)
{
	CLEANUP(base_free) double *draws = stat_zeroed(DRAWS * n, sizeof(double));
	int bad = 0, seen = 0;

	stat_model_draw(model, who, n, DRAWS, seed, draws);
	*ret_challenger = -1;
	for (int d = 0; d < DRAWS; d++) {
		const double *draw = draws + (size_t)d * n;
		int best = 0;

		for (int i = 1; i < n; i++)
			if (draw[i] < draw[best])
				best = i;
		bad += draw[best] < draw[0] - log1p(rule->margin);
		if (!best)
			continue;
		/* Each winner of a draw replaces the one before with the probability 1/seen: by lot, in proportion. */
		seen++;
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		if ((seed >> 33) % (uint64_t)seen == 0)
			*ret_challenger = who[best];
	}
	return (double)bad / DRAWS;
}

/* Reduction of the variance of theta_incumbent - theta_challenger per minute by running i. */
static double value_of(const struct stat_model *model, const struct stat_costs *costs, int i, int incumbent,
		       int challenger, int configuration, int boot, int *ret_runs)
{
	struct stat_switch needed = costs->change(costs->context, configuration, i);
	double minutes;

	*ret_runs = needed.change >= STAT_CHANGE_GUEST ? 2 : 1;
	minutes = needed.minutes + *ret_runs * costs->run(costs->context, i);
	return stat_model_gain(model, i, needed.change == STAT_CHANGE_HOST ? -1 : boot, *ret_runs, incumbent,
			       challenger) /
	       minutes;
}

static void choose(const struct stat_model *model, const struct stat_space *space, const struct stat_costs *costs,
		   int challenger, int configuration, int boot, struct stat_choice *choice)
{
	double best = -1;

	for (int i = 0; i < space->count; i++) {
		int runs;
		double value = value_of(model, costs, i, choice->incumbent, challenger, configuration, boot, &runs);

		if (value > best && !stat_space_is_out(space, i)) {
			best = value;
			choice->configuration = i;
			choice->runs = runs;
		}
	}
}

/* The factor for decisions: wider where the check fails once. Returns by how much, or an error. */
static int factor(struct stat_model *model, struct stat_check *ret_check, struct err *err)
{
	static const int widths[] = {WIDEN, WIDEN * WIDEN};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		r = stat_model_factor(model, widths[i], err);
		if (r < 0)
			return r;
		r = widths[i];
		*ret_check = stat_model_check(model);
		if (ret_check->fits && !ret_check->stands_out)
			break;
	}
	return r;
}

/* The one that stands out runs again, before anything is concluded from it. */
static bool wants_again(const struct stat_model *model, const struct stat_check *check)
{
	return (!check->fits || check->stands_out) && stat_model_runs_of(model, check->configuration) < KNOWN_RUNS;
}

/* Are these the runs of the last fit, and maybe more? */
static bool goes_on(const struct stat_past *past, const struct stat_run *runs, int n)
{
	if (n < past->count)
		return false;
	for (int i = 0; i < past->count; i++)
		if (runs[i].configuration != past->runs[i].configuration || runs[i].boot != past->runs[i].boot ||
		    runs[i].log != past->runs[i].log)
			return false;
	return true;
}

/* The first fit is to a design; then every four runs, and of many every sixteenth part of them. */
static int next_fit(int fitted)
{
	return fitted ? fitted + MAX_OF(REFIT_RUNS, fitted / 16) : STAT_DESIGN;
}

static void keep(struct stat_past *past, const struct stat_run *runs, int n)
{
	free(past->runs);
	past->runs = stat_zeroed(n, sizeof(*runs));
	memcpy(past->runs, runs, sizeof(*runs) * (size_t)n);
	past->count = n;
}

int stat_select_follow(struct stat_model *model, const struct stat_space *space, const struct stat_run *runs, int n,
		       bool *ret_given_up, struct err *err)
{
	struct stat_past *past = stat_model_past(model);
	struct stat_check check;
	int r = 0;

	if (!goes_on(past, runs, n))
		past->count = 0;
	if (!past->count) {
		past->given_up = false;
		*stat_model_hyper(model) = stat_hyper_prior(space->factors);
	}
	for (int next = next_fit(past->count); next <= n; next = next_fit(next)) {
		r = stat_model_runs(model, runs, next, err);
		if (r < 0)
			return r;
		stat_model_fit(model, past->count ? 1 : FIRST_SWEEPS, past->count ? NEXT_STEP : FIRST_STEP);
		keep(past, runs, next);
		r = factor(model, &check, err);
		if (r < 0)
			return r;
		past->given_up = past->given_up || (!check.fits && !wants_again(model, &check));
	}
	r = stat_model_runs(model, runs, n, err);
	/* Of fewer than a design nothing is kept. */
	if (r == 0 && !past->count)
		stat_model_fit(model, FIRST_SWEEPS, FIRST_STEP);
	*ret_given_up = past->given_up;
	return r;
}

int stat_select(struct stat_model *model, const struct stat_space *space, const struct stat_costs *costs,
		const struct stat_select_rule *rule, const struct stat_run *runs, int n, int configuration, int boot,
		struct stat_choice *ret_choice, struct err *err)
{
	struct stat_choice choice = {.configuration = -1};
	int who[RIVALS], count, challenger, r;
	bool given_up, again;

	r = stat_select_follow(model, space, runs, n, &given_up, err);
	if (r == 0)
		r = factor(model, &choice.check, err);
	if (r >= 0)
		r = stat_model_solve(model, r, err);
	if (r < 0)
		return r;
	choice.incumbent = lowest(model, space);
	if (choice.incumbent < 0)
		return err_set(err, EINVAL, NULL, "none of the %d configurations can be measured", space->count);
	count = rivals(model, space, choice.incumbent, RIVALS, who);
	choice.bad = judge(model, rule, who, count, rule->seed + (uint64_t)n, &challenger);
	again = wants_again(model, &choice.check);
	if (given_up) {
		choice.what = STAT_SELECT_FALLBACK;
	} else if (!again && choice.check.fits && choice.bad <= 1 - rule->target &&
		   stat_model_runs_of(model, choice.incumbent) >= rule->least) {
		choice.what = STAT_SELECT_DONE;
	} else if (n >= rule->most) {
		choice.what = STAT_SELECT_SPENT;
	} else if (again) {
		choice.configuration = choice.check.configuration;
		choice.runs = AGAIN;
	} else if (choice.bad <= 1 - rule->target || challenger < 0) {
		choice.configuration = choice.incumbent;
		choice.runs = 1;
	} else {
		choose(model, space, costs, challenger, configuration, boot, &choice);
	}
	*ret_choice = choice;
	return 0;
}

/* Of one that is not among the rivals: P(it is within the margin of the incumbent). */
static double good_beside(const struct stat_model *model, int c, int incumbent, double margin)
{
	double variance = stat_model_variance(model, c) + stat_model_variance(model, incumbent) -
			  2 * stat_model_covariance(model, c, incumbent);

	return gsl_cdf_ugaussian_P((stat_model_mean(model, incumbent) + margin - stat_model_mean(model, c)) /
				   sqrt(MAX_OF(variance, 1e-16)));
}

int stat_rank(const struct stat_model *model, const struct stat_space *space, const struct stat_select_rule *rule,
	      struct stat_ranking *ret_ranking, struct stat_standing *ret_standings, struct err *err)
{
	int incumbent = -1, who[RANK_RIVALS], n;
	CLEANUP(base_free) double *draws = stat_zeroed(RANK_RIVALS * RANK_DRAWS, sizeof(double));
	CLEANUP(base_free) double *regrets = stat_zeroed(RANK_DRAWS, sizeof(double));

	if (!stat_model_solved(model))
		return err_set(err, EINVAL, NULL, "the model has not looked at any run");
	incumbent = lowest(model, space);
	if (incumbent < 0)
		return err_set(err, EINVAL, NULL, "none of the %d configurations can be measured", space->count);
	n = rivals(model, space, incumbent, RANK_RIVALS, who);
	for (int c = 0; c < space->count; c++)
		ret_standings[c] = (struct stat_standing){
		    stat_model_mean(model, c), sqrt(stat_model_variance(model, c)), 0,
		    stat_space_is_out(space, c) ? 0 : good_beside(model, c, incumbent, log1p(rule->margin))};
	for (int i = 0; i < n; i++)
		ret_standings[who[i]].good = 0;
	stat_model_draw(model, who, n, RANK_DRAWS, rule->seed, draws);
	for (int d = 0; d < RANK_DRAWS; d++) {
		const double *draw = draws + (size_t)d * n;
		int best = 0;

		for (int i = 1; i < n; i++)
			if (draw[i] < draw[best])
				best = i;
		ret_standings[who[best]].best += 1. / RANK_DRAWS;
		for (int i = 0; i < n; i++)
			if (draw[i] <= draw[best] + log1p(rule->margin))
				ret_standings[who[i]].good += 1. / RANK_DRAWS;
		regrets[d] = expm1(draw[0] - draw[best]);
	}
	gsl_sort(regrets, 1, RANK_DRAWS);
	double mean = stat_mean(regrets, RANK_DRAWS);

	/* As in stat_outlook(): no bound below what is expected. */
	*ret_ranking =
	    (struct stat_ranking){incumbent, mean, MAX_OF(stat_sorted_quantile(regrets, RANK_DRAWS, .95), mean)};
	return 0;
}

void stat_pareto(const double *first, const double *second, int draws, int n, double *ret_dominated)
{
	CLEANUP(base_free) size_t *order = stat_zeroed(n, sizeof(size_t));

	for (int c = 0; c < n; c++)
		ret_dominated[c] = 0;
	for (int d = 0; d < draws; d++) {
		const double *a = first + (size_t)d * n, *b = second + (size_t)d * n;
		double least = INFINITY; /* of the second, among all with a lower first */

		gsl_sort_index(order, a, 1, (size_t)n);
		for (int i = 0, end; i < n; i = end) {
			double among = INFINITY; /* of the second, among those with the same first */

			for (end = i; end < n && a[order[end]] == a[order[i]]; end++)
				among = MIN_OF(among, b[order[end]]);
			for (int j = i; j < end; j++)
				ret_dominated[order[j]] +=
				    (least <= b[order[j]] || among < b[order[j]]) / (double)draws;
			least = MIN_OF(least, among);
		}
	}
}

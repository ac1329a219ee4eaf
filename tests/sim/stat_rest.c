/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the simulation of many configurations beside a baseline (family error and power), of the shares of levers, and
 * of energy from samples of power.
 *
 * usage: stat_rest [--reps N]     (3000)
 */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "stat_cases.h"
#include "stat_effects.h"
#include "meter_sampler.h"
#include "stat_many.h"

enum { MOST = 80, BLOCKS = 12, STATED = 3000 };

static struct judge judge;

enum spread { EQUAL, LOGNORMAL, CLASSES };

static const char *const spread_names[] = {"equal sd", "sds lognormal .8", "two classes 8x"};

/* Every second configuration is 3 % lower; sd 1 %, or about it; runs in the random order of their block, if it drifts
 * on top of OU_20. */
static void draw(gsl_rng *random, enum spread spread, bool drifts, int k, int n, double *logs)
{
	struct series series = series_begin(OU_20, random);
	int order[MOST];
	double sd[MOST];

	for (int j = 0; j <= k; j++) {
		order[j] = j;
		sd[j] = .01;
		if (spread == LOGNORMAL)
			sd[j] *= exp(gsl_ran_gaussian_ziggurat(random, .8));
		if (spread == CLASSES)
			sd[j] = gsl_rng_uniform(random) < .5 ? .0025 : .02;
	}
	for (int b = 0; b < n; b++) {
		gsl_ran_shuffle(random, order, (size_t)k + 1, sizeof(int));
		for (int i = 0; i <= k; i++) {
			int j = order[i];

			logs[j * n + b] = gsl_ran_gaussian_ziggurat(random, sd[j]) - (j && j % 2 == 0 ? .03 : 0) +
					  (drifts ? log(series_next(&series)) : 0);
		}
	}
}

static void family(long reps)
{
	static const struct {
		int k, n;
		enum spread spread;
		bool drift;
		double error, power, listed, listed_power; /* NAN: not stated for the rule that is picked */
	} rows[] = {
	    {4, 5, EQUAL, false, 4.1, 71, NAN, NAN},	  {4, 5, LOGNORMAL, false, 3.5, 51, NAN, NAN},
	    {19, 5, EQUAL, true, 3.6, 76, 16.4, 90},	  {19, 5, LOGNORMAL, false, 6.3, 58, 20.8, 72},
	    {19, 5, LOGNORMAL, true, 4.9, 48, 16.5, 65},  {79, 5, LOGNORMAL, false, 6.0, 44, 44.9, 71},
	    {79, 5, CLASSES, true, 6.1, 27, 36.6, 64},	  {19, 8, LOGNORMAL, false, NAN, NAN, NAN, NAN},
	    {79, 8, LOGNORMAL, true, NAN, NAN, NAN, NAN}, {19, 12, LOGNORMAL, false, NAN, NAN, NAN, NAN},
	};
	char what[96];

	printf("  2.4 chance of any false claim, and power at 3 %%\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(100 + row);
		long any = 0, any_listed = 0;
		double sum[2] = {0}, squares[2] = {0};
		int k = rows[row].k, real = k / 2;

		for (long rep = 0; rep < reps; rep++) {
			double logs[MOST * BLOCKS], found[2] = {0};
			struct stat_many_row result[MOST];
			struct stat_many many;
			bool wrong = false, wrong_listed = false;

			draw(random, rows[row].spread, rows[row].drift, k, rows[row].n, logs);
			(void)stat_many(logs, k + 1, rows[row].n, STAT_ALPHA, STAT_MARGIN, &many, result, NULL);
			for (int j = 1; j <= k; j++) {
				bool is_real = j % 2 == 0, listed = result[j - 1].listed <= STAT_ALPHA;

				wrong |= !is_real && result[j - 1].differs;
				wrong_listed |= !is_real && listed;
				found[0] += 100. * (is_real && result[j - 1].differs) / real;
				found[1] += 100. * (is_real && listed) / real;
			}
			any += wrong;
			any_listed += wrong_listed;
			for (int i = 0; i < 2; i++) {
				sum[i] += found[i];
				squares[i] += found[i] * found[i];
			}
		}
		(void)snprintf(what, sizeof(what), "k %d, n %d, %s%s", k, rows[row].n, spread_names[rows[row].spread],
			       rows[row].drift ? ", drift" : "");
		if (isnan(rows[row].error)) {
			judge_most(&judge, what, any, reps, 5.2);
		} else {
			judge_percent(&judge, what, any, reps, rows[row].error, STATED, .1);
			judge_mean(&judge, "  power", sum[0], squares[0], reps, rows[row].power, STATED, 1);
		}
		if (!isnan(rows[row].listed)) {
			judge_percent(&judge, "  listed (BH)", any_listed, reps, rows[row].listed, STATED, .1);
			judge_mean(&judge, "  listed, power", sum[1], squares[1], reps, rows[row].listed_power, STATED,
				   1);
		}
		gsl_rng_free(random);
	}
}

/* ---- 4: shares of levers ---- */

enum { LEVERS = 8, LEVER_RUNS = 6 };

/* A game of single, paired and threefold effects on the logs. */
struct game {
	int levers;
	double one[LEVERS], two[LEVERS][LEVERS], three[LEVERS][LEVERS][LEVERS]; /* of i < j < k */
};

static void draw_game(struct game *game, gsl_rng *random, double three_sd)
{
	for (int i = 0; i < game->levers; i++) {
		game->one[i] = gsl_ran_gaussian_ziggurat(random, .05);
		for (int j = i + 1; j < game->levers; j++) {
			game->two[i][j] = gsl_ran_gaussian_ziggurat(random, .015);
			for (int k = j + 1; k < game->levers; k++)
				game->three[i][j][k] = gsl_ran_gaussian_ziggurat(random, three_sd);
		}
	}
}

/* Value of a set of levers; with `of` the share of the lever that is the only one in `of`: the whole of its own
 * effect, half of each pair's and a third of each three's. */
static double worth(const struct game *game, unsigned set, unsigned of)
{
	double sum = 0;

	for (int i = 0; i < game->levers; i++) {
		if (!(set >> i & 1))
			continue;
		sum += !of || of >> i & 1 ? game->one[i] : 0;
		for (int j = i + 1; j < game->levers; j++) {
			unsigned pair = 1u << i | 1u << j;

			if (!(set >> j & 1))
				continue;
			sum += !of ? game->two[i][j] : of & pair ? game->two[i][j] / 2 : 0;
			for (int k = j + 1; k < game->levers; k++)
				if (set >> k & 1)
					sum += !of		       ? game->three[i][j][k]
					       : of & (pair | 1u << k) ? game->three[i][j][k] / 3
								       : 0;
		}
	}
	return sum;
}

static struct stat_cell measured(const struct game *game, gsl_rng *random, unsigned set)
{
	double logs[LEVER_RUNS], is = worth(game, set, 0);

	for (int i = 0; i < LEVER_RUNS; i++)
		logs[i] = is + gsl_ran_gaussian_ziggurat(random, .01);
	return stat_cell(logs, LEVER_RUNS);
}

static void shares(long reps)
{
	static const struct {
		int levers;
		double three_sd, stated; /* the ends of the stated ranges belong to few and to many levers */
	} rows[] = {{3, 0, 95}, {8, 0, 95}, {3, .003, 95}, {8, .003, 91}, {3, .01, 93}, {8, .01, 65}};
	char what[96];

	printf("  4 coverage of shares by first in and last in, six runs of 1 %%\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(800 + row);
		struct game game = {.levers = rows[row].levers};
		unsigned all = (1u << game.levers) - 1;
		long hits = 0, residuals = 0;

		for (long rep = 0; rep < reps; rep++) {
			struct stat_cell none, whole, alone[LEVERS], without[LEVERS];
			struct stat_attribution is;
			struct stat_lever levers[LEVERS];
			double rest;

			draw_game(&game, random, rows[row].three_sd);
			none = measured(&game, random, 0);
			whole = measured(&game, random, all);
			rest = worth(&game, all, 0);
			for (int j = 0; j < game.levers; j++) {
				alone[j] = measured(&game, random, 1u << j);
				without[j] = measured(&game, random, all & ~(1u << j));
				rest -= (worth(&game, 1u << j, 0) + worth(&game, all, 0) -
					 worth(&game, all & ~(1u << j), 0)) /
					2;
			}
			(void)stat_attribute(&none, &whole, alone, without, game.levers, STAT_ALPHA, &is, levers, NULL);
			for (int j = 0; j < game.levers; j++) {
				double share = worth(&game, all, 1u << j);

				hits += log(levers[j].share.low) <= share && share <= log(levers[j].share.high);
			}
			residuals += log(is.residual.low) <= rest && rest <= log(is.residual.high);
		}
		(void)snprintf(what, sizeof(what), "%d levers, three-way sd %g %%", game.levers,
			       rows[row].three_sd * 100);
		/* The shares of one study lean on the same baseline: they count as one. */
		judge_percent(&judge, what, hits / game.levers, reps, rows[row].stated, STATED, 1);
		judge_percent(&judge, "  residual", residuals, reps, 95, 1000000, 0);
		gsl_rng_free(random);
	}
}

/* ---- 5.2: energy of a run of 75 s ---- */

/* Power of a host: idle, a rise and fall with a time constant, and a slow wave of the load. */
struct host {
	double idle, load, tau, wave, period, phase;
};

static double level(const struct host *host, double t)
{
	double on = t < 0 ? 0 : 1 - exp(-t / host->tau);

	if (t > 75)
		on = (1 - exp(-75 / host->tau)) * exp(-(t - 75) / host->tau);
	return host->idle + (host->load - host->idle) * on +
	       (t >= 0 && t <= 75 ? host->wave * sin(2 * M_PI * t / host->period + host->phase) : 0);
}

static void power(long reps)
{
	static const struct {
		double period, error, bias;
	} rows[] = {{.1, .02, .01}, {.5, .11, .05}, {1, .23, -.10}, {2, .52, -.26}, {5, 1.41, -.89}, {10, 2.94, -1.93}};
	char what[96];

	printf("  5.2 error of the energy of 75 s, 1 W steps, +-20 %% jitter: root mean square, %%\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(900 + row);
		double sum = 0, squares = 0, h = rows[row].period;
		const struct meter_source wall = {.name = "wall", .quantity = METER_POWER, .period_s = h, .most = 5000};

		for (long rep = 0; rep < reps; rep++) {
			struct host host = {160, 280, .3, 12, 20, 2 * M_PI * gsl_rng_uniform(random)};
			struct meter_sample samples[1200];
			struct meter_result energy;
			double t = -3 * h - h * gsl_rng_uniform(random), truth = 0, error;
			int n = 0;

			for (; t < 75 + 3 * h && n < 1200; n++) {
				samples[n] = (struct meter_sample){.time_ns = (int64_t)(t * 1e9),
								   .value = round(level(&host, t))};
				t += h * (.8 + .4 * gsl_rng_uniform(random));
			}
			for (int i = 0; i < 7500; i++)
				truth += level(&host, (i + .5) * .01) * .01;
			meter_window_of(&wall, samples, (size_t)n, 0, INT64_C(75000000000), &energy);
			error = 100 * (energy.energy_j / truth - 1);
			sum += error;
			squares += error * error;
		}
		(void)snprintf(what, sizeof(what), "period %g s", h);
		judge_below(&judge, what, sqrt(squares / (double)reps), 0, rows[row].error);
		judge_below(&judge, "  bias", fabs(sum / (double)reps), 0, 1.5 * fabs(rows[row].bias));
		gsl_rng_free(random);
	}
}

int main(int argc, char **argv)
{
	long reps = reps_of(argc, argv, 3000);

	family(reps);
	shares(reps);
	power(reps);
	return judge_end(&judge);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the simulation of one configuration's rules: coverage of the intervals, of the stop rule and of the confidence
 * sequence, what is kept though it stands apart, the warm-up, the drift flag, boots and percentiles.
 *
 * usage: stat_one [--reps N]     (20000)
 */
#include <math.h>

#include <gsl/gsl_randist.h>

#include "stat_cases.h"
#include "stat_drift.h"
#include "stat_nested.h"
#include "stat_percentile.h"
#include "stat_stop.h"

enum { MOST = 60, STATED = 20000 };

static struct judge judge;

static bool holds(struct stat_interval interval, double target)
{
	return interval.low <= target && target <= interval.high;
}

/* ---- 1.1: runs fixed before ---- */

static const enum source columns[] = {NORMAL_1, NORMAL_2, LOGNORMAL_2, FLOOR_EXP,  BIMODAL,
				      OUTLIERS, AR_5,	  OU_20,       FIRST_RUNS, ONE_BOOT};
enum { COLUMNS = ARRAY_SIZE(columns) };

enum kind { LOGS, MEDIAN };

static const struct {
	const char *name;
	enum kind kind;
	int n;
	double stated[COLUMNS];
} fixed[] = {
    {"t on logs, n 5", LOGS, 5, {94.9, 95.1, 94.8, 88.6, 70.3, 82.5, 79.7, 49.4, 96.6, 42.5}},
    {"t on logs, n 10", LOGS, 10, {94.9, 95.1, 95.2, 90.3, 88.7, 70.2, 75.6, 36.2, 93.5, 27.2}},
    {"median, n 6", MEDIAN, 6, {96.8, 96.8, 96.7, 96.8, 96.9, 96.7, 84.5, 53.9, 90.7, 45.3}},
    {"median, n 10", MEDIAN, 10, {97.8, 97.9, 97.7, 98.0, 97.8, 98.0, 87.3, 49.7, 94.9, 37.9}},
};

static void runs_fixed(long reps)
{
	char what[96];

	printf("  1.1 coverage, number of runs fixed\n");
	for (int c = 0; c < COLUMNS; c++) {
		struct targets targets = targets_of(columns[c]);
		gsl_rng *random = random_of(100 + (unsigned)c);

		for (size_t row = 0; row < ARRAY_SIZE(fixed); row++) {
			long hits = 0;

			for (long rep = 0; rep < reps; rep++) {
				struct series series = series_begin(columns[c], random);
				struct stat_estimate estimate;
				double x[MOST];

				for (int i = 0; i < fixed[row].n; i++)
					x[i] = series_next(&series);
				(void)stat_estimate(x, fixed[row].n, STAT_ALPHA, &estimate, NULL);
				hits += fixed[row].kind == LOGS ? holds(estimate.geometric, targets.geometric)
								: holds(estimate.median, targets.median);
			}
			(void)snprintf(what, sizeof(what), "%s, %s", fixed[row].name, source_names[columns[c]]);
			judge_percent(&judge, what, hits, reps, fixed[row].stated[c], STATED, .1);
		}
		gsl_rng_free(random);
	}
}

/* ---- 1.1: runs until 1 % ---- */

/* There on the values themselves (with outliers the logs cover 3 points more). */
static int run_until(enum source source, gsl_rng *random, double nominal, struct stat_interval *ret)
{
	struct series series = series_begin(source, random);
	double x[MOST];
	int n = 0;

	do {
		x[n++] = series_next(&series);
		*ret = stat_t_interval(x, n, nominal);
	} while (n < 5 || (n < 30 && ret->high / ret->estimate - 1 > .01));
	return n;
}

static void stop_at_target(long reps)
{
	static const double coverage[] = {96.3, 94.9, 96.8, 85.6, 71.8, 75.5, 75.2, 53.2, 95.8, 47.3};
	static const double runs[] = {7.6, 20.1, 30, 25, 18, 14, NAN, NAN, NAN, NAN};
	char what[96];

	printf("  1.1 coverage, five runs and then until 1 %% at a nominal .03, at most 30\n");
	for (int c = 0; c < COLUMNS; c++) {
		struct targets targets = targets_of(columns[c]);
		gsl_rng *random = random_of(200 + (unsigned)c);
		double sum = 0, squares = 0;
		long hits = 0;

		for (long rep = 0; rep < reps; rep++) {
			struct stat_interval interval;
			int n = run_until(columns[c], random, .03, &interval);

			hits += holds(interval, targets.mean);
			sum += n;
			squares += (double)n * n;
		}
		(void)snprintf(what, sizeof(what), "coverage, %s", source_names[columns[c]]);
		judge_percent(&judge, what, hits, reps, coverage[c], STATED, .1);
		if (isfinite(runs[c])) {
			(void)snprintf(what, sizeof(what), "runs, %s", source_names[columns[c]]);
			judge_mean(&judge, what, sum, squares, reps, runs[c], STATED, c < 2 ? .1 : 1);
		}
		gsl_rng_free(random);
	}
}

/* ---- 1.2: the nominal level of the stop rule ---- */

static const struct {
	int first;
	double worst_plain; /* at a plain .05 */
	double worst[3];    /* at caps 16, 30, 60 */
	double runs[2];	    /* sd / target 1 and 2, cap 30 */
} calibration[] = {
    {3, 90.1, {95.3, 95.3, 95.4}, {8.1, 22.5}}, {4, 91.1, {95.3, 95.0, 95.0}, {7.7, 21.2}},
    {5, 91.9, {95.3, 95.1, 95.1}, {7.7, 20.6}}, {6, 92.5, {95.3, 95.2, 95.2}, {7.9, 20.2}},
    {8, 92.9, {95.3, 94.9, 94.9}, {8.6, 19.3}}, {10, 93.4, {95.8, 95.3, 95.3}, {10.2, 19.6}},
};

static const double ratios[] = {.4, .5, .6, .7, .8, .9, 1, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 3.5, 4};
static const int caps[] = {16, 30, 60};
enum { RATIOS = ARRAY_SIZE(ratios), CAPS = ARRAY_SIZE(caps) };

/* Where the rule stops on one series, its interval taken on the values as there. */
struct stopped {
	int n;
	bool covers;
};

static struct stopped stop_series(const double *z, const double *critical, int first, int cap, double ratio)
{
	double sum = 0, squares = 0;

	for (int n = 1; n <= cap; n++) {
		double mean, sd, half;

		sum += z[n - 1];
		squares += z[n - 1] * z[n - 1];
		if (n < first)
			continue;
		mean = sum / n;
		sd = sqrt(fmax(0, squares - n * mean * mean) / (n - 1));
		half = critical[n] * sd / sqrt(n);
		if (half * ratio <= 1 || n == cap)
			return (struct stopped){n, fabs(mean) <= half};
	}
	return (struct stopped){cap, false};
}

/* Half the reps draw the same z for all ratios: the worst of many noisy figures would be worse than it is. */
static void calibrate(long reps)
{
	char what[96];

	printf("  1.2 worst coverage over sd / target .4 .. 4\n");
	for (size_t row = 0; row < ARRAY_SIZE(calibration); row++) {
		struct stat_stop_rule rule;
		double plain[MOST + 1], nominal[MOST + 1], z[MOST], sum[2] = {0}, squares[2] = {0};
		long hits[CAPS + 1][RATIOS] = {{0}};
		gsl_rng *random = random_of(300 + row);

		(void)stat_stop_rule(calibration[row].first, 60, .01, &rule, NULL);
		for (int n = 2; n <= MOST; n++) {
			plain[n] = stat_t_critical(STAT_ALPHA, n - 1);
			nominal[n] = stat_t_critical(rule.nominal, n - 1);
		}
		for (long rep = 0; rep < reps; rep++) {
			for (int i = 0; i < MOST; i++)
				z[i] = gsl_ran_gaussian_ziggurat(random, 1);
			for (int r = 0; r < RATIOS; r++) {
				for (int c = 0; c < CAPS; c++)
					hits[c][r] += stop_series(z, nominal, rule.first, caps[c], ratios[r]).covers;
				hits[CAPS][r] += stop_series(z, plain, rule.first, 30, ratios[r]).covers;
			}
			for (int i = 0; i < 2; i++) {
				int n = stop_series(z, nominal, rule.first, 30, i + 1).n;

				sum[i] += n;
				squares[i] += (double)n * n;
			}
		}
		for (int c = 0; c <= CAPS; c++) {
			long worst = reps;

			for (int r = 0; r < RATIOS; r++)
				worst = MIN_OF(worst, hits[c][r]);
			(void)snprintf(what, sizeof(what), "first %d, nominal %g, cap %d", rule.first,
				       c < CAPS ? rule.nominal : STAT_ALPHA, c < CAPS ? caps[c] : 30);
			/* The worst of the grid, on both sides. */
			judge_percent(&judge, what, worst, reps,
				      c < CAPS ? calibration[row].worst[c] : calibration[row].worst_plain, STATED, .3);
		}
		for (int i = 0; i < 2; i++) {
			(void)snprintf(what, sizeof(what), "first %d, runs at sd / target %d", rule.first, i + 1);
			judge_mean(&judge, what, sum[i], squares[i], reps, calibration[row].runs[i], STATED, .1);
		}
		gsl_rng_free(random);
	}
}

/* The rule as the program runs it, on logs of normal runs, at the worst ratio. */
static void stop_rule(long reps)
{
	static const double cvs[] = {.005, .01, .015, .02, .04};
	struct stat_stop_rule rule;
	char what[96];

	(void)stat_stop_rule(STAT_STOP_FIRST, STAT_STOP_CAP_DEFAULT, .01, &rule, NULL);
	printf("  1.2 the rule as it is used: at least 95.2 %%\n");
	for (size_t i = 0; i < ARRAY_SIZE(cvs); i++) {
		gsl_rng *random = random_of(400 + i);
		long hits = 0;

		for (long rep = 0; rep < reps; rep++) {
			struct stat_estimate estimate;
			enum stat_stop stop = STAT_STOP_MORE;
			double x[MOST];
			int n = 0;

			while (stop == STAT_STOP_MORE) {
				x[n++] = 1 + gsl_ran_gaussian_ziggurat(random, cvs[i]);
				if (n >= rule.first)
					(void)stat_stop_look(&rule, x, n, &stop, &estimate, NULL);
			}
			hits += holds(estimate.quoted, exp(-cvs[i] * cvs[i] / 2));
		}
		(void)snprintf(what, sizeof(what), "cv %g %%", cvs[i] * 100);
		judge_least(&judge, what, hits, reps, 95.2);
		gsl_rng_free(random);
	}
}

/* ---- 1.3: keep all ---- */

static void keep_all(long reps)
{
	static const enum source sources[] = {NORMAL_1, LOGNORMAL_2, FLOOR_EXP, OUTLIERS, BIMODAL};
	static const double stated[] = {95.0, 94.5, 90.3, 65.1, 91.3};

	printf("  1.3 coverage of the mean, eleven runs, all kept\n");
	for (size_t s = 0; s < ARRAY_SIZE(sources); s++) {
		struct targets targets = targets_of(sources[s]);
		gsl_rng *random = random_of(500 + s);
		long hits = 0;

		for (long rep = 0; rep < reps; rep++) {
			struct series series = series_begin(sources[s], random);
			double x[11];

			for (int i = 0; i < 11; i++)
				x[i] = series_next(&series);
			hits += holds(stat_t_interval(x, 11, STAT_ALPHA), targets.mean);
		}
		judge_percent(&judge, source_names[sources[s]], hits, reps, stated[s], STATED, .1);
		gsl_rng_free(random);
	}
}

/* ---- 1.4: warm-up, drift, boots ---- */

static void warm_up(long reps)
{
	static const struct {
		const char *name;
		double start, decay, stated;
	} rows[] = {
	    {"none", 0, 1, 94.9},	   {"5 % e^(-1.2 i)", .05, 1.2, 92.4}, {"2 % e^(-i/3)", .02, 1. / 3, 64.0},
	    {"30 % once", .30, 700, 95.2}, {"1 % once", .01, 700, 94.8},
	};

	printf("  1.4 coverage after one of eleven runs is left out, sd .7 %%\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(600 + row);
		long hits = 0;

		for (long rep = 0; rep < reps; rep++) {
			double x[11];

			for (int i = 0; i < 11; i++)
				x[i] = 1 + rows[row].start * exp(-rows[row].decay * i) +
				       gsl_ran_gaussian_ziggurat(random, .007);
			hits += holds(stat_t_interval(x + STAT_WARM_UP, 11 - STAT_WARM_UP, STAT_ALPHA), 1);
		}
		judge_percent(&judge, rows[row].name, hits, reps, rows[row].stated, STATED, .1);
		gsl_rng_free(random);
	}
}

static void drift_flag(long reps)
{
	static const int n[] = {6, 10, 20, 30};
	char what[96];

	printf("  1.4 drift flag on clean runs: each test at most 2.5 %%\n");
	for (size_t i = 0; i < ARRAY_SIZE(n); i++) {
		gsl_rng *random = random_of(700 + i);
		long neumann = 0, kendall = 0;

		for (long rep = 0; rep < reps; rep++) {
			struct series series = series_begin(NORMAL_1, random);
			struct stat_drift drift;
			double x[MOST];

			for (int k = 0; k < n[i]; k++)
				x[k] = series_next(&series);
			drift = stat_drift(x, n[i]);
			neumann += drift.von_neumann_flag;
			kendall += drift.mann_kendall_flag;
		}
		(void)snprintf(what, sizeof(what), "von Neumann, n %d", n[i]);
		judge_percent(&judge, what, neumann, reps, 2.5, 400000, 0);
		(void)snprintf(what, sizeof(what), "Mann-Kendall, n %d", n[i]);
		judge_most(&judge, what, kendall, reps, 2.5);
		gsl_rng_free(random);
	}
}

/* Stated for both tests at 5 % each; the flag takes 2.5 % each, and sees less. */
static void drift_seen(long reps)
{
	enum { N = 10, KENDALL_5 = 23 };
	static const double von_neumann_5 = 1.062;
	static const char *const names[] = {"AR(1) .5", "a step of two sd", "OU drift, 20"};
	static const double at_5[] = {38, 60, 31}, flagged[] = {25.7, 40.3, 19.7};
	char what[96];

	printf("  1.4 drift seen in ten runs\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		gsl_rng *random = random_of(750 + i);
		long seen = 0, flags = 0;

		for (long rep = 0; rep < reps; rep++) {
			struct series series = series_begin(i == 0 ? AR_5 : i == 1 ? NORMAL_1 : OU_20, random);
			struct stat_drift drift;
			double x[N];

			for (int k = 0; k < N; k++)
				x[k] = series_next(&series) + (i == 1 && k >= N / 2 ? .02 : 0);
			drift = stat_drift(x, N);
			seen += drift.von_neumann < von_neumann_5 || labs(drift.mann_kendall) >= KENDALL_5;
			flags += drift.flagged;
		}
		(void)snprintf(what, sizeof(what), "%s, 5 %% each", names[i]);
		judge_percent(&judge, what, seen, reps, at_5[i], STATED, 1);
		(void)snprintf(what, sizeof(what), "%s, the flag", names[i]);
		judge_percent(&judge, what, flags, reps, flagged[i], STATED, .1);
		gsl_rng_free(random);
	}
}

static void boots(long reps)
{
	static const struct {
		int boots, runs;
		double coverage, half, pooled;
	} rows[] = {{3, 2, 94.8, 2.33, 82.4},
		    {3, 5, 95.0, 2.25, 58.9},
		    {4, 2, 95.2, 1.55, 83.3},
		    {6, 2, 95.0, 1.06, 83.8},
		    {10, 1, 94.9, .78, 94.9}};
	char what[96];

	printf("  1.4 boots of sd 1 %%, runs of .5 %%: interval from boot means, and (wrong) from all runs\n");
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		gsl_rng *random = random_of(800 + row);
		long hits = 0, pooled = 0;
		double sum = 0, squares = 0;

		for (long rep = 0; rep < reps; rep++) {
			struct stat_nested_run runs[32];
			struct stat_nested nested;
			double x[32], half;
			int n = 0;

			for (int b = 0; b < rows[row].boots; b++) {
				double boot = gsl_ran_gaussian_ziggurat(random, .01);

				for (int i = 0; i < rows[row].runs; i++, n++) {
					x[n] = boot + gsl_ran_gaussian_ziggurat(random, .005);
					runs[n] = (struct stat_nested_run){b, 0, x[n]};
				}
			}
			(void)stat_nested(runs, n, STAT_ALPHA, &nested, NULL);
			hits += holds(nested.geometric, 1);
			half = 100 * (log(nested.geometric.high) - nested.mean);
			sum += half;
			squares += half * half;
			pooled += holds(stat_t_interval(x, n, STAT_ALPHA), 0);
		}
		(void)snprintf(what, sizeof(what), "%d boots x %d, coverage", rows[row].boots, rows[row].runs);
		judge_percent(&judge, what, hits, reps, rows[row].coverage, STATED, .1);
		(void)snprintf(what, sizeof(what), "%d boots x %d, half width %%", rows[row].boots, rows[row].runs);
		judge_mean(&judge, what, sum, squares, reps, rows[row].half, STATED, .01);
		(void)snprintf(what, sizeof(what), "%d boots x %d, pooled", rows[row].boots, rows[row].runs);
		judge_percent(&judge, what, pooled, reps, rows[row].pooled, STATED, .1);
		gsl_rng_free(random);
	}
}

/* ---- percentiles ---- */

enum { OBSERVATIONS = 200, P95_RUNS = 6 };
#define P95 .95

/* Latencies of one run: lognormal .5, the run's level `run_sd` about 1. */
static void latencies(gsl_rng *random, double run_sd, double *values)
{
	double level = gsl_ran_gaussian_ziggurat(random, run_sd);

	for (int i = 0; i < OBSERVATIONS; i++)
		values[i] = exp(level + gsl_ran_gaussian_ziggurat(random, .5));
}

/* Over runs, and (a lower bound of the error) within one: right only while runs are alike. */
static void percentiles(long reps)
{
	static const double run_sds[] = {0, .15};
	char what[96];

	printf("  percentiles: p95 of 200 observations a run\n");
	for (size_t row = 0; row < ARRAY_SIZE(run_sds); row++) {
		/* What a run's p95 is on average: interpolated order statistics lie a little beside the population's.
		 */
		double target = 0, truth = exp(.5 * 1.6448536269514722);
		gsl_rng *random = random_of(900 + row);
		long over = 0, within = 0;

		for (long rep = 0; rep < 20000; rep++) {
			double values[OBSERVATIONS];
			struct stat_percentile is;

			latencies(random, run_sds[row], values);
			(void)stat_percentile(values, OBSERVATIONS, P95, STAT_ALPHA, &is, NULL);
			target += log(is.within.estimate) / 20000;
		}
		for (long rep = 0; rep < reps / 4; rep++) {
			double values[P95_RUNS][OBSERVATIONS];
			struct stat_observations runs[P95_RUNS];
			struct stat_estimate estimate;
			struct stat_percentile one;

			for (int i = 0; i < P95_RUNS; i++) {
				latencies(random, run_sds[row], values[i]);
				runs[i] = (struct stat_observations){values[i], OBSERVATIONS};
			}
			(void)stat_percentile_runs(runs, P95_RUNS, P95, STAT_ALPHA, &estimate, NULL);
			over += holds(estimate.geometric, exp(target));
			(void)stat_percentile(values[0], OBSERVATIONS, P95, STAT_ALPHA, &one, NULL);
			within += holds(one.within, truth);
		}
		(void)snprintf(what, sizeof(what), "six runs, sd between them %g %%", run_sds[row] * 100);
		judge_percent(&judge, what, over, reps / 4, 95, 1000000, 0);
		if (run_sds[row] > 0)
			judge_most(&judge, "  within one run", within, reps / 4, 75);
		else
			judge_least(&judge, "  within one run", within, reps / 4, 95);
		gsl_rng_free(random);
	}
}

int main(int argc, char **argv)
{
	long reps = reps_of(argc, argv, 20000);

	runs_fixed(reps);
	stop_at_target(reps);
	calibrate(reps);
	stop_rule(reps);
	keep_all(reps);
	warm_up(reps);
	drift_flag(reps);
	drift_seen(reps);
	boots(reps);
	percentiles(reps);
	return judge_end(&judge);
}

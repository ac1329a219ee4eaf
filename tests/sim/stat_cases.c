/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the sources of runs and the judgement of figures. */
#include "stat_cases.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>

const char *const source_names[SOURCES] = {
    "normal cv 1 %", "normal cv 2 %", "lognormal .2", "floor + exp",  "bimodal",
    "outliers",	     "AR(1) .5",      "OU drift, 20", "OU drift, 5",  "first runs",
    "one boot",	     "boot a run",    "linear drift", "lognormal .8", "floor + exp 1 %",
};

static double gauss(struct series *series, double sd)
{
	return gsl_ran_gaussian_ziggurat(series->random, sd);
}

struct series series_begin(enum source source, gsl_rng *random)
{
	struct series series = {source, random, 0, 0};

	if (source == AR_5)
		series.state = gauss(&series, .02);
	if (source == OU_20 || source == OU_5 || source == ONE_BOOT)
		series.state = gauss(&series, .01);
	return series;
}

/* A stationary process with correlation rho from one run to the next. */
static double drift(struct series *series, double sd, double rho)
{
	double now = series->state;

	series->state = rho * now + gauss(series, sd * sqrt(1 - rho * rho));
	return now;
}

double series_next(struct series *series)
{
	int i = series->i++;

	switch (series->source) {
	case NORMAL_2:
		return 1 + gauss(series, .02);
	case LOGNORMAL_2:
		return exp(gauss(series, .2));
	case LOGNORMAL_8:
		return exp(gauss(series, .8));
	case FLOOR_EXP:
		return 1 + gsl_ran_exponential(series->random, .03);
	case FLOOR_EXP_1:
		return 1 + gsl_ran_exponential(series->random, .01);
	case BIMODAL:
		return (gsl_rng_uniform(series->random) < .2 ? 1.05 : 1) + gauss(series, .005);
	case OUTLIERS:
		return 1 + gauss(series, .01) + (gsl_rng_uniform(series->random) < .05 ? .15 : 0);
	case AR_5:
		return 1 + drift(series, .02, .5);
	case OU_20:
		return 1 + drift(series, .01, exp(-1. / 20)) + gauss(series, .005);
	case OU_5:
		return 1 + drift(series, .01, exp(-1. / 5)) + gauss(series, .005);
	case FIRST_RUNS:
		return 1 + .05 * exp(-1.2 * i) + gauss(series, .01);
	case ONE_BOOT:
		return 1 + series->state + gauss(series, .005);
	case BOOT_A_RUN:
		return 1 + gauss(series, .01) + gauss(series, .005);
	case LINEAR:
		return 1 + .001 * i + gauss(series, .01);
	case NORMAL_1:
	case SOURCES:
	default:
		return 1 + gauss(series, .01);
	}
}

struct targets targets_of(enum source source)
{
	enum { DRAWS = 1000000 };
	struct targets targets = {0};
	double *values;
	gsl_rng *random;

	/* What a series does over time moves around these. */
	if (source == AR_5 || source == OU_20 || source == OU_5 || source == ONE_BOOT || source == BOOT_A_RUN ||
	    source == LINEAR || source == FIRST_RUNS || source == NORMAL_1 || source == NORMAL_2) {
		bool both = source == OU_20 || source == OU_5 || source == ONE_BOOT || source == BOOT_A_RUN;
		double sd = source == NORMAL_2 || source == AR_5 ? .02 : both ? sqrt(.01 * .01 + .005 * .005) : .01;

		return (struct targets){1, exp(-sd * sd / 2), 1};
	}
	random = random_of(99);
	values = stat_zeroed(DRAWS, sizeof(double));
	for (int i = 0; i < DRAWS; i++) {
		struct series series = series_begin(source, random);

		values[i] = series_next(&series);
		targets.mean += values[i] / DRAWS;
		targets.geometric += log(values[i]) / DRAWS;
	}
	gsl_sort(values, 1, DRAWS);
	targets.median = stat_sorted_median(values, DRAWS);
	targets.geometric = exp(targets.geometric);
	free(values);
	gsl_rng_free(random);
	return targets;
}

/* Each of some hundred figures may be off by chance: 3.5 standard errors leave one false alarm in ten simulations. */
#define FAR 3.5

static void say(struct judge *judge, const char *what, double is, double error, double stated, double allowed)
{
	bool out = !(fabs(is - stated) <= allowed);

	judge->seen++;
	judge->out += out;
	printf("    %-46s %8.3f +- %.3f   stated %8.3f%s\n", what, is, error, stated, out ? "   OUT" : "");
}

void judge_percent(struct judge *judge, const char *what, long hits, long reps, double stated, long stated_reps,
		   double unit)
{
	double p = (double)hits / (double)reps, q = stated / 100;
	/* The stated share's own error where ours is 0 or 1. */
	double spread = fmax(p * (1 - p), q * (1 - q)), error = 100 * sqrt(spread / (double)reps);

	say(judge, what, 100 * p, error, stated,
	    FAR * sqrt(error * error + 1e4 * spread / (double)stated_reps) + unit / 2);
}

static void judge_bound(struct judge *judge, const char *what, long hits, long reps, double bound, int side)
{
	double p = (double)hits / (double)reps, q = bound / 100, error = 100 * sqrt(q * (1 - q) / (double)reps);
	bool out = side * (100 * p - bound) > FAR * error;

	judge->seen++;
	judge->out += out;
	printf("    %-46s %8.3f +- %.3f   at %s %6.3f%s\n", what, 100 * p, error, side > 0 ? "most " : "least", bound,
	       out ? "   OUT" : "");
}

void judge_most(struct judge *judge, const char *what, long hits, long reps, double most)
{
	judge_bound(judge, what, hits, reps, most, 1);
}

void judge_least(struct judge *judge, const char *what, long hits, long reps, double least)
{
	judge_bound(judge, what, hits, reps, least, -1);
}

void judge_below(struct judge *judge, const char *what, double is, double error, double bound)
{
	bool out = !(is - FAR * error <= bound);

	judge->seen++;
	judge->out += out;
	printf("    %-46s %8.3f +- %.3f   at most  %6.3f%s\n", what, is, error, bound, out ? "   OUT" : "");
}

void judge_mean(struct judge *judge, const char *what, double sum, double squares, long reps, double stated,
		long stated_reps, double unit)
{
	double mean = sum / (double)reps, variance = fmax(0, squares / (double)reps - mean * mean);
	double error = sqrt(variance / (double)reps);

	say(judge, what, mean, error, stated, FAR * sqrt(error * error + variance / (double)stated_reps) + unit / 2);
}

int judge_end(const struct judge *judge)
{
	printf("%d figures, %d out of bounds\n", judge->seen, judge->out);
	return judge->out != 0;
}

long reps_of(int argc, char **argv, long usual)
{
	if (argc == 3 && strcmp(argv[1], "--reps") == 0 && atol(argv[2]) > 0) /* NOLINT(cert-err34-c) */
		return atol(argv[2]);					      /* NOLINT(cert-err34-c) */
	if (argc != 1) {
		(void)fprintf(stderr, "usage: %s [--reps N]\n", argv[0]);
		exit(2);
	}
	return usual;
}

gsl_rng *random_of(unsigned long seed)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);

	gsl_rng_set(random, seed);
	return random;
}

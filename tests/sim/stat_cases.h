/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the simulations of src/stat draw from, and the judgement of a simulated figure beside the one that
 * docs/statistics.md states: they agree when they are no farther apart than both simulations' standard errors allow.
 */
#ifndef HVTUNE_STAT_CASES_H
#define HVTUNE_STAT_CASES_H

#include <gsl/gsl_rng.h>

#include "stat.h"

enum source {
	NORMAL_1,    /* cv 1 % */
	NORMAL_2,    /* cv 2 % */
	LOGNORMAL_2, /* sigma .2 */
	FLOOR_EXP,   /* a floor, and an exponential of 3 % of it */
	BIMODAL,     /* a fifth of the runs 5 % up, noise .5 % */
	OUTLIERS,    /* cv 1 %, 5 % of the runs 15 % up */
	AR_5,	     /* autocorrelation .5, cv 2 % */
	OU_20,	     /* drift of sd 1 % with a memory of 20 runs, noise .5 % */
	OU_5,	     /* the same with a memory of 5 runs */
	FIRST_RUNS,  /* 5 % e^(-1.2 i) up, cv 1 % */
	ONE_BOOT,    /* sd 1 % between boots, .5 % within, one boot */
	BOOT_A_RUN,  /* the same, each run a boot */
	LINEAR,	     /* .1 % more each run, cv 1 % */
	LOGNORMAL_8, /* sigma .8 */
	FLOOR_EXP_1, /* a floor, and an exponential of 1 % of it */
	SOURCES,
};

extern const char *const source_names[SOURCES];

/* Runs one after the other, around 1. */
struct series {
	enum source source;
	gsl_rng *random;
	int i;
	double state;
};

struct series series_begin(enum source source, gsl_rng *random);
double series_next(struct series *series);

/* The population's: by a million draws where there is no formula. */
struct targets {
	double mean, geometric, median;
};

struct targets targets_of(enum source source);

/* Figures that are out of bounds, and how many were looked at. */
struct judge {
	int out, seen;
};

/* A share of `reps` beside the stated percentage, which was simulated with `stated_reps` and rounded to `unit`. */
void judge_percent(struct judge *judge, const char *what, long hits, long reps, double stated, long stated_reps,
		   double unit);
/* The share must not be above, or below, a bound. */
void judge_most(struct judge *judge, const char *what, long hits, long reps, double most);
void judge_least(struct judge *judge, const char *what, long hits, long reps, double least);
/* A figure with its standard error (0: exact) that must not be above a bound. */
void judge_below(struct judge *judge, const char *what, double is, double error, double bound);
/* A mean of `reps` values (sum and sum of squares) beside a stated one. */
void judge_mean(struct judge *judge, const char *what, double sum, double squares, long reps, double stated,
		long stated_reps, double unit);
/* Prints the count. Returns the exit code. */
int judge_end(const struct judge *judge);

/* "--reps N", or the given number. */
long reps_of(int argc, char **argv, long usual);

gsl_rng *random_of(unsigned long seed);

#endif

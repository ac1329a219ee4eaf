/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns comparing until it is decided: after each block from the fifth the interval is looked at, at a constant nominal
 * alpha that holds all looks together at 5 % (repeated confidence intervals, Jennison & Turnbull 1989). Looking after
 * each block with a plain 95 % interval has 12-23 % false alarms. Without a cap the confidence sequence is used.
 * And what a plan can show at all: power, and the smallest difference that it sees.
 */
#ifndef HVTUNE_STAT_SEQUENTIAL_H
#define HVTUNE_STAT_SEQUENTIAL_H

#include "stat_compare.h"
#include "stat_drift.h"
#include "stat_stop.h"

enum { STAT_BLOCKS_FIRST = 5, STAT_BLOCKS_CAP = 16 };

struct stat_sequential {
	int first, cap; /* blocks; cap 0 = open */
	double margin;
	double nominal; /* alpha of each look; STAT_ALPHA of the whole sequence when open */
};

/*
 * A plan that looks from `first` (3..8) blocks to `cap` (0 = open, at most 60). Between the simulated numbers the next
 * stricter entry is taken. -EINVAL outside these.
 */
int stat_sequential_plan(int first, int cap, double margin, struct stat_sequential *ret_plan, struct err *err);

/* Go on beyond the cap of a plan that was looked at already: the confidence sequence is valid then, a table is not. */
struct stat_sequential stat_sequential_open(const struct stat_sequential *plan);

/*
 * Look at d = ln(B / A) of all blocks so far. *ret_stop: more blocks, decided (STAT_STOP_TARGET), or the cap is met
 * undecided. Below plan->first blocks the interval is unbounded and nothing decided. Errors as stat_compare_logs.
 */
int stat_sequential_look(const struct stat_sequential *plan, const double *d, int blocks, enum stat_stop *ret_stop,
			 struct stat_compare *ret_compare, struct err *err);

/*
 * Probability that n blocks whose d has standard deviation `sd` give an interval that excludes 0 when the truth is
 * `difference` (logs); and one inside +- theta, at `alpha` on each side (two one-sided tests), when it is 0. By
 * integration over the chi distribution of the sample's deviation.
 */
double stat_power_difference(double sd, int n, double difference, double alpha);
double stat_power_equivalence(double sd, int n, double theta, double alpha);

/* Smallest ratio above 1, less 1, that n blocks see with the probability `power`; infinite for n < 2. */
double stat_detectable(double sd, int n, double alpha, double power);

/* A configuration compared with itself: what the bench sees where there is nothing, and how little it could see. */
struct stat_aa {
	struct stat_compare compare;
	bool alarm;		 /* it sees a difference: by chance in 5 % of cases, else the blocks are not alike */
	double detectable;	 /* ratio less 1, with 90 % power at the cap's last look */
	double equivalence;	 /* probability to show equivalence at the cap if there is no difference */
	struct stat_drift drift; /* of the runs in the order in which they ran */
};

enum { STAT_AA_BLOCKS = 12 };

/*
 * `a` and `b` are the values of each block, `order` the same 2 x blocks values as they ran. `plan` is the comparison
 * that is to follow (an open one is judged at 30 blocks). The interval here is the plain 95 % one: the number of blocks
 * was fixed.
 */
int stat_aa(const struct stat_sequential *plan, const double *a, const double *b, const double *order, int blocks,
	    struct stat_aa *ret_aa, struct err *err);

#endif

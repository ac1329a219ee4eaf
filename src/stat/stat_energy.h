/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns energy from what meters give: counters that wrap, are reset, stand still or answer nonsense, and samples of
 * power. What is not known is never guessed: seconds without a trustworthy reading are counted as void, and the joules
 * are those of the rest.
 */
#ifndef HVTUNE_STAT_ENERGY_H
#define HVTUNE_STAT_ENERGY_H

#include "stat.h"

#define STAT_READ_SLOW .005 /* seconds: a reading that took longer has no sharp time and is no edge */

struct stat_energy {
	double joules;	  /* over the covered seconds; 0 when covered is 0, so look at that first */
	double covered;	  /* seconds of the interval with a trustworthy energy */
	double void_time; /* seconds of it without; the interval's length is the sum of both */
	bool complete;	  /* void_time is 0 */
	double watts;	  /* joules / covered, NAN when nothing is covered */
	int used;	  /* readings in or next to the interval that were used */
	int wraps;	  /* of the counter, resolved */
	int resets;	  /* the counter began anew: that gap is void */
	int impossible;	  /* single readings that no power explains, left out */
	int ambiguous;	  /* gaps so long that the counter may have wrapped more than once: void */
	int stuck;	  /* stretches in which the reading did not move for longer than it can: void */
	double period;	  /* mean seconds between used readings, NAN for fewer than two */
	double error;	  /* relative error of the edges for sampled power (stat_power_error); 0 for counters */
	bool coarse;	  /* sampled power with a period above a tenth of the interval: mean power x time was taken */
};

struct stat_counter {
	double joules;	  /* a count, e.g. 2^-16 */
	uint64_t range;	  /* counts run from 0 to range - 1 and wrap; 0 = 2^64. powercap: max_energy_range_uj + 1 */
	double max_watts; /* more than this is not possible here */
	double still;	  /* seconds after which an unmoved counter is stuck (many refresh periods); 0 = never */
};

struct stat_count {
	double before, after; /* monotonic seconds around the reading; its time is the middle */
	uint64_t count;
};

/*
 * Energy from `from` to `to` (seconds on the readings' clock): dE = ((b - a) mod range) x joules over the readings in
 * ascending time, and linear in between, so that an edge between two readings gets its share.
 *   - a gap with seconds x max_watts >= range x joules is ambiguous (32 bit at 2^-16 J wrap in 131 s at 500 W);
 *   - a difference above max_watts is a reset if the readings go on from the new value, else that reading is
 * impossible;
 *   - a time outside of all readings is void.
 * -EINVAL for an interval that is none, a counter without unit or max_watts, or times that go backward.
 */
int stat_counter_energy(const struct stat_counter *counter, const struct stat_count *readings, int n, double from,
			double to, struct stat_energy *ret_energy, struct err *err);

/* Longest poll period, in seconds, that never leaves a gap ambiguous: range x joules / (2 max_watts). */
double stat_counter_poll(const struct stat_counter *counter);

struct stat_watts {
	double at; /* seconds */
	double watts;
};

struct stat_power_rule {
	double min_watts, max_watts; /* outside is impossible; a running machine never draws 0 */
	double still;		     /* seconds after which an unmoved value is stuck; 0 = never */
	double gap;		     /* seconds without a sample that may be bridged; 0 = any */
};

/*
 * Energy of sampled power: the sum of (P_i + P_(i+1)) / 2 x (t_(i+1) - t_i), start and end interpolated linearly
 * between the samples around them. With a mean period above a tenth of the interval the mean power x its length
 * (unbiased, where interpolated edges lose 2 %). Errors as stat_counter_energy.
 */
int stat_power_energy(const struct stat_power_rule *rule, const struct stat_watts *samples, int n, double from,
		      double to, struct stat_energy *ret_energy, struct err *err);

/*
 * Relative error of that energy, one standard deviation and bias together, by period / length: .02 % at 1/750, .23 % at
 * 1/75, 2.94 % at 1/7.5, on logs in between (docs/statistics.md, 5.2). To be added in quadrature.
 */
double stat_power_error(double period, double length);

/*
 * Seconds by which a meter reports late (a BMC averages over 1-5 s): the lag in 0 .. most, in steps of `step`, at which
 * the samples correlate best with the runs' on/off signal (the middle of those that do). `on` and `off` hold the `runs`
 * edges. NAN when no lag correlates.
 */
double stat_power_lag(const struct stat_watts *samples, int n, const double *on, const double *off, int runs,
		      double most, double step);

/*
 * Seconds between starts below which the faster configuration F uses less energy than the slower S, if idle between
 * runs: (Enet_S - Enet_F) / (Pidle_F - Pidle_S), Enet = E - Pidle T. INFINITY when F always uses less, 0 when never
 * (also where it would have to start again before it ends), NAN where F idles at less than S and yet needs so much more
 * for a run that it pays only beyond some interval.
 */
double stat_break_even(double joules_f, double seconds_f, double idle_f, double joules_s, double seconds_s,
		       double idle_s);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns two questions about power whose answer is a time: how late a meter reports, and how often a job must run before
 * the configuration that runs it faster also uses less energy. (Energy itself, from counters and from samples, is
 * src/meter's.)
 */
#ifndef HVTUNE_STAT_POWER_H
#define HVTUNE_STAT_POWER_H

#include "stat.h"

struct stat_watts {
	double at; /* seconds */
	double watts;
};

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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns how long a study takes on this machine before anything is changed: each workload is run once, and what does not
 * fit into the time is left out.
 */
#ifndef HVTUNE_STUDY_TIME_H
#define HVTUNE_STUDY_TIME_H

#include "bench_spawn.h"
#include "study_suit.h"

/*
 * Would running each workload once tell more than what the file says? Not where it says "takes" itself, nor where one
 * runs elsewhere. What `takes` of a workload that is known by name says is of another machine.
 */
bool study_time_wanted(const struct study *study, struct arena *arena);

/*
 * Set up, run and clean up each workload once, in a directory of its own that goes again, and put the seconds of run,
 * prepare and cleanup into its takes_s. -EPROTO: one fails, with its last line; -EINTR: stopped by a signal.
 */
int study_time_run(struct study *study, struct arena *arena, struct bench_signals *signals, struct err *err);

/*
 * Leave out of optional factors what cannot be measured within the budget: the last factors first, then levels of the
 * one that is left, then confirming. Texts of what went are added to `ret`. What is not optional stays,
 * and so does all of a study whose levels take more than a moment.
 */
void study_time_fit(struct study *study, struct arena *arena, struct study_left_out *ret);

#endif

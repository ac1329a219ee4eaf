/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns making a study suit a machine: of optional factors what cannot be set there is left out, and the baseline is
 * what the machine has now. So one file serves many hosts, and what it leaves out is told.
 */
#ifndef HVTUNE_STUDY_SUIT_H
#define HVTUNE_STUDY_SUIT_H

#include "study_check.h"

struct study_left_out {
	const char **texts; /* "epp: this machine has no such setting" */
	size_t count;
};

/*
 * Change `study`: levels of optional factors that cannot be set on the machine go, factors with less than two levels
 * go, pairs of levels that exclude each other are added to "never" where one is of an optional factor; "never" loses
 * what speaks of what went. Without a baseline of the file the level of each factor that holds now becomes it. Texts
 * live in the machine's arena. -ENOENT: nothing is left to compare.
 */
int study_suit(struct knob_machine *machine, struct study *study, struct study_left_out *ret, struct err *err);

#endif

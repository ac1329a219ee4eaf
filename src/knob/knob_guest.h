/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a word of a guest's kernel command line as a point of a knob. It is named "UUID WORD", and the files that it
 * stands in, which undo gives back byte for byte, "UUID PATH".
 */
#ifndef HVTUNE_KNOB_GUEST_H
#define HVTUNE_KNOB_GUEST_H

#include "knob_plan.h"

#define KNOB_GUEST_FAMILY "guest."

extern const struct knob_actuator knob_guest_word;
extern const struct knob knob_guest_files;

/* As struct knob's `expand` and `judge`. */
int knob_guest_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err);
int knob_guest_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the knobs of the kernel's command line have in common. */
#ifndef HVTUNE_KNOB_BOOT_KNOB_H
#define HVTUNE_KNOB_BOOT_KNOB_H

#include "knob.h"
#include "knob_plan.h"

#define KNOB_BOOT_FAMILY "boot."

extern const struct knob_actuator knob_boot_word;
extern const struct knob knob_boot_files; /* the files that words of the default line are written to */

/* The word that a point is about: "skew_tick". */
const char *knob_boot_name(const char *where);

/* As struct knob's `expand` and `judge`. */
int knob_boot_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		     struct knob_points *points, struct err *err);
int knob_boot_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		    struct err *err);

/*
 * Of the word that a point is about, on a host or in a guest: is its value one that the kernel knows (-EINVAL with what
 * it takes; lists of CPUs are not looked at), remarks on the name, and does the value leave the machine open?
 */
int knob_boot_check_value(struct knob_machine *machine, const struct knob_point *point, struct err *err);
void knob_boot_note_word(struct knob_machine *machine, struct knob_plan *plan, const struct knob_point *point);
bool knob_boot_opens_hole(const char *name, const char *value);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what apply and undo share. */
#ifndef HVTUNE_KNOB_APPLY_INTERNAL_H
#define HVTUNE_KNOB_APPLY_INTERNAL_H

#include "knob_apply.h"

void knob_report_add(struct knob_machine *machine, struct knob_report *report, const struct knob_event *event);

/*
 * Put back what a change wrote, under the lock that the caller holds. Events are added to the report. 0, or -EIO when a
 * point could not be put back; the journal's undo records are written here.
 */
int knob_put_back(struct knob_machine *machine, struct knob_change *change, struct knob_report *report,
		  struct err *err);

/* What the actuators of these points have to do after they were written or put back, each once. */
int knob_settle(struct knob_machine *machine, const struct knob_point *points, size_t count, struct err *err);

/* Does a change still count: is anything of it in force, or would a look at the machine be needed to say so? */
bool knob_counts(struct knob_machine *machine, const struct knob_change *change);

/*
 * The directories that the plan's files need and that are not there, or were made for another change that still
 * counts; each behind those above it, in the machine's arena.
 */
void knob_dirs_to_make(struct knob_machine *machine, const struct knob_journal *journal, const struct knob_plan *plan,
		       const char *const **ret, size_t *ret_count);

/* Take away what of them is empty. */
int knob_dirs_remove(struct knob_machine *machine, const struct knob_change *change, struct err *err);

/* Lock the machine and read its journal. */
int knob_begin_work(struct knob_machine *machine, struct knob_journal *ret, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns who else writes the knobs: services that are active on the machine and would overwrite what is set, each with
 * when it does and what to do instead.
 */
#ifndef HVTUNE_KNOB_RIVALS_H
#define HVTUNE_KNOB_RIVALS_H

#include "knob_plan.h"

struct knob_rival {
	const char *daemon; /* "tuned" */
	const char *text;   /* a sentence without a full stop */
};

/*
 * The active services that write one of `count` knobs, in *ret (in the machine's arena); the number of them. The
 * machine is only looked at when a service could write one of these knobs at all. Sources: host_daemons.c and each
 * service's manual.
 */
size_t knob_rivals(struct knob_machine *machine, const struct knob *const *knobs, size_t count,
		   struct knob_rival **ret);

/* Note them on a plan, for the knobs that it writes. */
void knob_rivals_note(struct knob_machine *machine, struct knob_plan *plan);

#endif

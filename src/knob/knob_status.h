/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the look at changes in force: what a reboot would clear, what no longer holds what was written, what was cut
 * short. Nothing is written and no lock is taken.
 */
#ifndef HVTUNE_KNOB_STATUS_H
#define HVTUNE_KNOB_STATUS_H

#include "knob_apply.h"

struct knob_standing {
	const struct knob_change *change;
	bool cut_short;	 /* neither finished nor put back: the process or the machine died, or a value is stuck */
	bool other_boot; /* made under another boot than this */
	size_t lasting;	 /* points that outlive a reboot */
	size_t passing;	 /* points that a reboot clears, or has cleared */
	struct knob_report
	    drift; /* events KNOB_DRIFTED: points that no later change wrote and that hold another value */
};

/* Look at a change of the journal. */
void knob_standing(struct knob_machine *machine, const struct knob_journal *journal, const struct knob_change *change,
		   struct knob_standing *ret);

/* Is another hvtune changing this machine right now? Then an open change is not cut short, only not done yet. */
bool knob_at_work(struct knob_machine *machine);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns making a machine as a configuration wants it: knobs through the journal, one change in force at a time, undone
 * before the next and at the end; or a command of the user's. A kill leaves a change that `hvtune undo` takes back.
 */
#ifndef HVTUNE_COMPARE_SWITCH_H
#define HVTUNE_COMPARE_SWITCH_H

#include "bench.h"
#include "change.h"
#include "cli.h"

struct compare_switch {
	const char *root;		     /* of the machine, see knob_machine_open() */
	unsigned change;		     /* in force; 0: none */
	struct bench *bench;		     /* for the command */
	const struct bench_command *command; /* NULL: knobs */
	char left[256];			     /* what somebody else has set meanwhile and was left alone; "": nothing */
};

/* One configuration of it. */
struct compare_side {
	struct compare_switch *from;
	const char *name;
	const char *given; /* "governor=powersave,epp=128" */
	struct knob_ask *asks;
	size_t count;
	struct bench_command command; /* --switch with the name behind it */
};

/*
 * Cut "knob=value,knob@0,2=value" into asks; "" and "now" are none: as it is. A piece without '=' belongs to what is
 * before it when it is a number, else to what follows. -EINVAL with a hint.
 */
int compare_side_parse(struct arena *arena, const char *text, struct compare_side *ret, struct err *err);

/* Can it be set here, now and without a reboot? 0, or an exit code after a line. */
int compare_side_check(const struct cli *cli, const struct compare_switch *from, const struct compare_side *side);

/* For bench_subject.enter; `data` is a struct compare_side. */
int compare_side_enter(void *data, struct err *err);

/* Put back what is in force. Its refusal says how to try again. */
int compare_switch_undo(struct compare_switch *from, struct err *err);

/* {"governor": "powersave"} as text. */
const char *compare_side_settings(struct arena *arena, const struct compare_side *side);

#endif

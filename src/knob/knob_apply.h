/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns carrying out a plan and taking it back. Both work under the lock of the machine, write one point after the other
 * with the journal ahead of them, and read back what they wrote.
 */
#ifndef HVTUNE_KNOB_APPLY_H
#define HVTUNE_KNOB_APPLY_H

#include "knob_journal.h"

enum knob_outcome {
	KNOB_PUT_BACK,	 /* undo: it holds the old value again */
	KNOB_WAS_BACK,	 /* undo: it held the old value already */
	KNOB_GONE,	 /* undo: the point is not there any more (CPU offline, VM off, reboot) */
	KNOB_LEFT,	 /* undo: someone else has changed it since; left alone */
	KNOB_STUCK,	 /* it could not be put back */
	KNOB_NOT_STICKY, /* apply: it was written and holds another value */
	KNOB_REFUSED,	 /* apply: the write failed */
	KNOB_DRIFTED,	 /* status: it no longer holds what was written */
};

struct knob_event {
	enum knob_outcome outcome;
	struct knob_point point;
	const char *now; /* what it holds; NULL: absent or unreadable */
	const char *why; /* for KNOB_REFUSED, KNOB_STUCK, KNOB_LEFT; else NULL */
};

struct knob_report {
	struct knob_event *events;
	size_t count, room;
	unsigned id;	    /* of the change */
	const char *what;   /* the command that made it */
	bool rolled_back;   /* apply failed and everything is as before */
	bool interrupted;   /* by a signal */
	const char *damage; /* one line about records of the journal that could not be understood, or NULL */
};

struct knob_apply_options {
	const char *what;	  /* the command, for the journal */
	unsigned settle_ms;	  /* time until the second look; 2000 on a real machine */
	bool (*stop)(void *data); /* asked between writes: shall it stop and put back? NULL: never */
	/* Told of each point written, and while it waits with written == count. NULL: nobody wants to know. */
	void (*tell)(void *data, size_t written, size_t count);
	void *data;
};

/*
 * Apply a plan: lock, look again at what it found, journal, write, read back at once and after settle_ms. When a step
 * fails, does not stick, or a stop is asked, everything is put back: -ECANCELED (interrupted) or the errno of the
 * fault, with report->rolled_back telling whether that was possible. -EWOULDBLOCK: another hvtune; -EAGAIN: the machine
 * has changed since the plan was made; -EBUSY: an earlier change was cut short and must be undone first.
 */
int knob_apply(struct knob_machine *machine, const struct knob_plan *plan, const struct knob_apply_options *options,
	       struct knob_report *ret, struct err *err);

/*
 * Undo one change (`id`), or the newest in force (`id` 0). Values that are neither what the change wrote nor what stood
 * there before belong to someone else and are left. What does not outlive a reboot is not looked at after one. 0 also
 * when something was left; -ENOENT: no such change in force; -EBUSY: a later change wrote the same points; -EIO:
 * something could not be put back, the change stays in force and undo can be tried again.
 */
int knob_undo(struct knob_machine *machine, unsigned id, struct knob_report *ret, struct err *err);

/*
 * What an undo has left alone, since somebody else has set it: "swappiness holds 50 (before: 60)", with how many
 * others; in the arena. NULL: nothing.
 */
const char *knob_report_left(struct arena *arena, const struct knob_report *report);

/*
 * The ids of changes in force, newest first; count returned. What only a reboot has undone is not in force. The array
 * has room for one more.
 */
size_t knob_in_force(struct knob_machine *machine, const struct knob_journal *journal, unsigned **ret_ids);

/* Is the change's boot another one than this? */
bool knob_other_boot(struct knob_machine *machine, const struct knob_change *change);

#endif

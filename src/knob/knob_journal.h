/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the journal: /var/lib/hvtune/journal, one record a line, each with a checksum and synced before the next thing
 * happens. What a change intends and what stood there before is on disk before the first write, so that a kill or power
 * cut at any moment loses nothing. A torn last line is a record that never was; damage further up is told and skipped.
 *
 * A record is eight hexadecimal digits of CRC-32, a blank and a JSON object:
 * - begin: id, boot, time, what, points [[name, where, label, old, new]], guards [[name, where, label, old]],
 *   steps [count of points], dirs [path] (absent: none)
 * - step: id, step, state "writing" or "written"
 * - end: id, state "done" or "failed", now [text of each point], moved [text of each guard], why
 * - undo: id, state "begin", "done" or "partly", why
 */
#ifndef HVTUNE_KNOB_JOURNAL_H
#define HVTUNE_KNOB_JOURNAL_H

#include "knob_plan.h"

#define KNOB_STATE_DIR "/var/lib/hvtune"
#define KNOB_JOURNAL KNOB_STATE_DIR "/journal"
#define KNOB_LOCK KNOB_STATE_DIR "/lock"
/* Of a study that runs (src/study/study_state.h), and the unit that goes on with it after a boot. */
#define KNOB_STUDY KNOB_STATE_DIR "/study"
#define KNOB_STUDY_WISH KNOB_STATE_DIR "/study.wish"
#define KNOB_STUDY_UNIT "/etc/systemd/system/hvtune-study.service"

/*
 * From this size on a journal is compacted, when that halves it. Every command that looks for changes in force reads
 * all of it: a megabyte takes ten times as long as the rest of a check.
 */
enum { KNOB_JOURNAL_LARGE = 1 << 16 };

enum knob_step_state { KNOB_STEP_NOT_BEGUN, KNOB_STEP_WRITING, KNOB_STEP_WRITTEN };

enum knob_change_state {
	KNOB_CHANGE_OPEN,   /* begun and never ended: the process or the machine died */
	KNOB_CHANGE_DONE,   /* applied and verified */
	KNOB_CHANGE_FAILED, /* a step failed; what was written is to be put back */
	KNOB_CHANGE_UNDONE,
};

struct knob_change {
	unsigned id;
	enum knob_change_state state;
	bool undo_begun;  /* an undo began; without KNOB_CHANGE_UNDONE it was cut short or something is stuck */
	const char *boot; /* boot id under which it was applied */
	int64_t time_s;	  /* seconds since 1970 */
	const char *what; /* "set governor=powersave" */
	const char *why;  /* of a failure, or NULL */
	struct knob_point *points; /* knob NULL: of a newer hvtune, unknown to this one */
	size_t point_count;
	struct knob_point *guards;
	size_t guard_count;
	const char **now;   /* point_count: what each point held when it was verified; NULL without an end record */
	const char **moved; /* guard_count, likewise */
	struct knob_step *steps;
	enum knob_step_state *step_states;
	size_t step_count;
	const char *const *dirs; /* directories that are made on the way to its files, each behind those above it */
	size_t dir_count;
};

struct knob_journal {
	struct knob_change *changes; /* in order of id */
	size_t count;
	const char *damage; /* one line about records that could not be understood, or NULL */
	size_t whole;	    /* bytes up to the last whole line; what stands after it was torn by a kill */
	bool torn;	    /* there is something after it; who takes the lock cuts it off */
};

/* Read it; a missing journal is an empty one. -EIO etc. when it is there and cannot be read. */
int knob_journal_read(struct knob_machine *machine, struct knob_journal *ret, struct err *err);

/*
 * When the journal is large, keep of it only the records of changes in force: a new file is renamed over it. Under the
 * lock, before a new change begins.
 */
int knob_journal_compact(struct knob_machine *machine, struct knob_journal *journal, struct err *err);

/* The boot id of the running kernel ("" when the root is no running machine and tells none). */
const char *knob_boot_id(struct knob_machine *machine);

/* The release of the running kernel, as `uname -r` prints it; NULL where none is told. In the machine's arena. */
const char *knob_kernel_release(struct knob_machine *machine);

/*
 * The records. Each returns when it is on disk. knob_journal_begin() also makes sure that there is room for the rest,
 * and gives the change's id.
 */
int knob_journal_begin(struct knob_machine *machine, struct knob_journal *journal, const struct knob_plan *plan,
		       const char *what, struct knob_change **ret, struct err *err);
int knob_journal_step(struct knob_machine *machine, struct knob_change *change, size_t step, enum knob_step_state state,
		      struct err *err);
int knob_journal_end(struct knob_machine *machine, struct knob_change *change, enum knob_change_state state,
		     const char *why, struct err *err);
int knob_journal_undo(struct knob_machine *machine, struct knob_change *change, const char *state, const char *why,
		      struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns boot changes on a machine: the host seen afresh for the boot loader, its plans carried out, and what is known of
 * the trial boot that waits.
 */
#ifndef HVTUNE_KNOB_BOOT_STATE_H
#define HVTUNE_KNOB_BOOT_STATE_H

#include "knob_boot.h"
#include "knob_journal.h"

#define BOOT_TRIAL_STATE KNOB_STATE_DIR "/trial"

/* The host as it is now; nothing that was read before is believed. What is read from it lives until it is closed. */
struct boot_view {
	struct arena *arena;
	struct sys *sys;
	struct host *host;
	struct knob_boot_loader loader;
};

int boot_view_open(struct knob_machine *machine, struct boot_view *ret, struct err *err);
void boot_view_close(struct boot_view *view); /* also for CLEANUP() */

/* The line that the next ordinary boot has, through the loader's own tool where no file tells. In the view's arena. */
int boot_view_line(struct knob_machine *machine, struct boot_view *view, const char **ret, struct err *err);

/*
 * What a word of that line is set to, in the form of knob_boot_value(); of KNOB_BOOT_KERNEL_NAME the kernel's release.
 * In the view's arena.
 */
int boot_view_value(struct knob_machine *machine, struct boot_view *view, const char *name, const char **ret,
		    struct err *err);

/* The same of the boot that runs, in the view's arena; never NULL. */
const char *boot_view_running(struct boot_view *view, const char *name);

/*
 * Write a plan's files and run its commands; those that make anew what boots only with `make`. On a directory that
 * holds a machine as files nothing is run.
 */
int boot_carry_out(struct knob_machine *machine, const struct knob_boot_plan *plan, bool make, struct err *err);

/* Run a program, unless the machine is only files. The output may be NULL. */
int boot_run(struct knob_machine *machine, const char *const *argv, const char **ret_output, struct err *err);

/* A trial boot that was asked for, and neither confirmed nor forgotten. */
struct boot_trial {
	const char *id;		      /* stands on its line as hvtune.trial= */
	const char *boot;	      /* boot id under which it was asked */
	const char *of;		      /* who asked, as in struct knob_trial_of; NULL: a person */
	const char **names, **values; /* the words, in the form of knob_boot_value() */
	size_t count;
	const char **failed; /* units that had failed already */
	size_t failed_count;
};

/* *ret is NULL when there is none. -EBADMSG for a file that is none of hvtune's. In the machine's arena. */
int boot_trial_read(struct knob_machine *machine, struct boot_trial **ret, struct err *err);

/* Set one of its words, or take it out for a NULL value; the first makes it, the last ends it. */
int boot_trial_set(struct knob_machine *machine, const char *name, const char *value, struct err *err);

/* Its words as changes, in the arena. */
struct knob_boot_change *boot_trial_changes(struct arena *arena, const struct boot_trial *trial);

/* The units that have failed, in the machine's arena; none on a machine of files. */
int boot_failed_units(struct knob_machine *machine, const char ***ret, size_t *ret_count, struct err *err);

#endif

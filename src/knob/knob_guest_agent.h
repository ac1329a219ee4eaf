/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns files and programs of a guest, reached through its QEMU guest agent. Paths are the guest's. Errors beside those
 * that each function names: -ENOENT when there is no such VM, -EHOSTDOWN when it is off, -ENOTCONN when no agent
 * answers, -EPERM when the guest blocks the command, -EPROTO for an answer that is none.
 * `err` is never NULL here.
 *
 * Source: qga/qapi-schema.json of QEMU (guest-file-*, guest-exec, guest-exec-status).
 */
#ifndef HVTUNE_KNOB_GUEST_AGENT_H
#define HVTUNE_KNOB_GUEST_AGENT_H

#include "knob.h"

/* Contents and size of a text file, at most 1 MiB, in the machine's arena; *ret NULL when there is none. -EFBIG,
 * -EILSEQ: no text. */
int knob_guest_read(struct knob_machine *machine, const char *uuid, const char *path, const char **ret,
		    struct err *err);

/* Is there a file of that name? */
int knob_guest_has(struct knob_machine *machine, const char *uuid, const char *path, bool *ret, struct err *err);

/*
 * Give a file that is there new contents: a copy with its owner, mode and label is made beside it (path + ".hvtune"),
 * written, synced and renamed over it, so that the file is whole at all times.
 */
int knob_guest_replace(struct knob_machine *machine, const char *uuid, const char *path, const char *text,
		       struct err *err);

/* Remove the copy that a knob_guest_replace() which was killed has left. */
int knob_guest_tidy(struct knob_machine *machine, const char *uuid, const char *path, struct err *err);

/*
 * Run a program without a shell, `argv` ended by NULL, and wait for it, up to two minutes: -ETIMEDOUT (it goes on by
 * itself). `changes`: it is told to the gate. *ret_output (may be NULL) is what it printed. -EREMOTEIO when it fails,
 * with its last line.
 */
int knob_guest_run(struct knob_machine *machine, const char *uuid, bool changes, const char *const *argv,
		   const char **ret_output, struct err *err);

#endif

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

struct knob_guest_command {
	const char *const *argv; /* ended by NULL; the agent looks for argv[0] in its $PATH, no shell comes between */
	const char *input;	 /* input_size bytes for standard input, at most 1 MiB; NULL: /dev/null */
	size_t input_size;
};

/* A program that runs in a guest, or what came of it. */
struct knob_guest_program {
	int64_t pid; /* in the guest; it shares the agent's process group unless it leaves that */
	bool ended;
	int exit_code; /* -1: ended by a signal */
	int signal;    /* 0: it ended by itself */
	const char *output, *errors;
	size_t output_size, errors_size;
};

/*
 * Start a program and leave it running. `change` is what the gate is told of one that changes the guest; NULL for
 * others. -ENOEXEC: there is no such program.
 */
int knob_guest_start(struct knob_machine *machine, const char *uuid, const char *change,
		     const struct knob_guest_command *start, struct knob_guest_program *ret, struct err *err);

/*
 * Has it ended, and both its outputs with it (a process that it left behind may hold them open)? The agent tells the
 * end once and forgets it then; outputs, in `arena`, are at most 16 MiB each by the agent and 3 MiB together by
 * libvirt.
 */
int knob_guest_look(struct knob_machine *machine, const char *uuid, struct arena *arena,
		    struct knob_guest_program *program, struct err *err);

/*
 * Run a program without a shell, `argv` ended by NULL, and wait for it, up to two minutes: -ETIMEDOUT (it goes on by
 * itself). `changes`: it is told to the gate. *ret_output (may be NULL) is what it printed. -EREMOTEIO when it fails,
 * with its last line.
 */
int knob_guest_run(struct knob_machine *machine, const char *uuid, bool changes, const char *const *argv,
		   const char **ret_output, struct err *err);

#endif

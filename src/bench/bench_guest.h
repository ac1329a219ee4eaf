/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns running a command in a VM of libvirt through its QEMU guest agent: no network and no key is needed. The clock of
 * the guest measures (bench_remote.h); what the agent takes to start it and to say that it ended is in no figure.
 *
 * What can't be done so: the agent has no command that ends a program. A timeout or Ctrl-C ends the command's process
 * group by another program in the guest; what has left that group, and everything when hvtune is killed or the agent
 * does not answer, goes on there. Of the outputs BENCH_GUEST_OUTPUT bytes come (bench_remote.h).
 */
#ifndef HVTUNE_BENCH_GUEST_H
#define HVTUNE_BENCH_GUEST_H

#include "bench_spawn.h"
#include "knob.h"

struct bench_guest {
	struct knob_machine *machine; /* must outlive it */
	const char *uuid, *name;
	int pid; /* of QEMU, whose CPU time is that of the run; 0: not known */
};

/*
 * The VM of that name, whose agent has answered and can run commands. -ENOENT: libvirt knows none; -EHOSTDOWN: it is
 * off; -ENOTSUP: it has no channel for an agent; -ENOTCONN: none answers; -EPERM: it may not run programs; -ENOEXEC: it
 * has no shell, or no setsid; or the errors of knob_libvirt_open(). err has the hint.
 */
int bench_guest_open(struct knob_machine *machine, const char *name, struct bench_guest *ret, struct err *err);

/* Is there such a program there? -ENOENT. */
int bench_guest_find_program(const struct bench_guest *guest, const char *program, struct err *err);

/*
 * bench_spawn() of a command with a guest. 0 also when the VM was lost while it ran: outcome.lost. Its input is at most
 * 1 MiB: -EFBIG.
 */
int bench_guest_spawn(const struct bench_command *command, struct bench_signals *signals, struct bench_outcome *ret,
		      struct err *err);

#endif

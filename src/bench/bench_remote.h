/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a workload on another machine is given to run there (over ssh(1), or by the agent of a VM: bench_guest.h),
 * timed by the clock of that machine: neither the connection nor the clock of this one is in the figures. The command
 * runs between two looks at its clock, in a POSIX shell there; a line on standard error brings back the times, its boot
 * id and its name.
 */
#ifndef HVTUNE_BENCH_REMOTE_H
#define HVTUNE_BENCH_REMOTE_H

#include "bench_spawn.h"

struct bench_remote {
	double wall_s;
	double user_s, system_s; /* of the command and all that it waited for */
	const char *boot, *name; /* of that machine; NULL: it did not say */
	int64_t printed;	 /* bytes on standard output, of which a guest's agent brings the first; -1: all came */
};

/* Does a configuration with that place (see store.h) run elsewhere, so that its times come by bench_remote_take()? */
bool bench_is_remote(const char *place);

/*
 * The ssh command that runs `words` on `host` ("user@host"), in `cwd` (NULL: the home directory there) with the
 * variables of `environment` ("NAME=value", ended by NULL; may be NULL). No password is asked for.
 */
const char *const *bench_remote_argv(struct arena *arena, const char *host, const char *const *words, const char *cwd,
				     const char *const *environment);

/* What a guest's agent brings of each output: the beginning of standard output, the end of standard error. */
enum { BENCH_GUEST_OUTPUT = 1 << 20 };

/*
 * The same as the agent of a guest starts it: a session of its own, so that all that the command starts can be ended by
 * its process group, which is the agent's pid of it. Its outputs are files meanwhile, in BENCH_GUEST_DIRECTORY with
 * that pid behind it: what the command leaves running holds nothing open that the agent waits for.
 */
const char *const *bench_guest_argv(struct arena *arena, const char *const *words, const char *cwd,
				    const char *const *environment);

#define BENCH_GUEST_DIRECTORY "/tmp/hvtune-run."

/*
 * Find the line in what the run printed on standard error and take it out there. -EBADMSG: it is not there, so the
 * command was not timed (the connection failed, or the machine was lost).
 */
int bench_remote_take(struct arena *arena, struct bench_outcome *outcome, struct bench_remote *ret, struct err *err);

#endif

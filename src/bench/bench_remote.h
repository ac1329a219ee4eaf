/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns running a workload on another machine over ssh(1), timed by the clock of that machine: neither the connection
 * nor the clock of this one is in the figures. The command runs between two looks at its clock, in a POSIX shell there;
 * a line on standard error brings back the times, its boot id and its name.
 */
#ifndef HVTUNE_BENCH_REMOTE_H
#define HVTUNE_BENCH_REMOTE_H

#include "bench_spawn.h"

struct bench_remote {
	double wall_s;
	double user_s, system_s; /* of the command and all that it waited for */
	const char *boot, *name; /* of that machine; NULL: it did not say */
};

/*
 * The ssh command that runs `words` on `host` ("user@host"), in `cwd` (NULL: the home directory there) with the
 * variables of `environment` ("NAME=value", ended by NULL; may be NULL). No password is asked for.
 */
const char *const *bench_remote_argv(struct arena *arena, const char *host, const char *const *words, const char *cwd,
				     const char *const *environment);

/*
 * Find the line in what the run printed on standard error and take it out there. -EBADMSG: it is not there, so the
 * command was not timed (the connection failed, or the machine was lost).
 */
int bench_remote_take(struct arena *arena, struct bench_outcome *outcome, struct bench_remote *ret, struct err *err);

#endif

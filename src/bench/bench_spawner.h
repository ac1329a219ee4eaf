/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what hvtune and its spawner say to each other. The spawner is a process of hvtune's own, forked while it is
 * still small, that starts the commands: the kernel counts into a command's peak memory what the process had from which
 * it was started. It is also the reaper of what commands leave behind, so that nothing a run has started gets out of
 * sight, not by setsid(2), nor by a parent that ends first.
 */
#ifndef HVTUNE_BENCH_SPAWNER_H
#define HVTUNE_BENCH_SPAWNER_H

#include "bench_spawn.h"

enum bench_order_kind {
	BENCH_ORDER_RUN = 1, /* the texts follow; answered by a struct bench_reply when the command has ended */
	BENCH_ORDER_TERM,    /* SIGTERM to the group of the command that runs */
	BENCH_ORDER_KILL,    /* SIGKILL, likewise. After either, all that the command has left is killed too */
};

struct bench_order {
	enum bench_order_kind kind;
	enum bench_output output; /* BENCH_OUTPUT_CAPTURE: with two descriptors to write to (SCM_RIGHTS) */
	uint32_t words, variables;
	uint64_t
	    size; /* of the texts: program, directory and input ("" for none), words and variables, each with its NUL
		   */
};

struct bench_reply {
	int error;  /* errno: it could not be started, and nothing else holds; 0 */
	int status; /* of wait4(2) */
	int64_t began_ns, ended_ns;
	int64_t user_us, system_us, peak_kib; /* also of what the command left and what has ended by now */
	int64_t floor_kib;		      /* of the spawner itself: a peak no larger cannot be told */
	int64_t spent_us;		      /* CPU time of the spawner since it began */
	int left;			      /* processes that the command left and that still run */
	char left_names[BENCH_LEFT_NAMES];
};

/* The spawner, until the other end of `control` is closed; what still runs of a command is killed then. */
_Noreturn void bench_spawner_serve(int control);

#endif

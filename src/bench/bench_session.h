/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files that make up a session share. */
#ifndef HVTUNE_BENCH_SESSION_H
#define HVTUNE_BENCH_SESSION_H

#include "bench.h"
#include "bench_energy.h"
#include "bench_remote.h"

/* What a run needs besides the command's own environment: another length for each. */
#define BENCH_OFFSET_NAME "HVTUNE_ENVIRONMENT_OFFSET="

enum { BENCH_OFFSET = 4096, BENCH_WAITING = 64 };

struct bench_private {
	struct bench_setup setup;
	struct bench_subject *subjects;
	size_t subject_count, subject_room;
	int last;				     /* the subject that the machine is set for, -1 */
	struct bench_spawner *spawner, *own_spawner; /* own_spawner: NULL when the caller has opened it */
	struct bench_gate *gate;
	struct bench_energy *energy;
	bool has_meter;	       /* joules or watts are measured, as far as runs are long enough */
	struct arena *scratch; /* of one run */
	const char *boot;
	size_t run_room, stored_metrics;
	int64_t block_count, began_ns, row_began_us;
	double began_cpu_s;			   /* of hvtune itself */
	struct store_ended waiting[BENCH_WAITING]; /* of runs that are not in the store yet */
	size_t waiting_count;
	int64_t waited_ns;	    /* since when */
	struct bench_remote remote; /* of the last run, if it was on another machine */
	int64_t looked_ns;	    /* when the gate looked at all of the machine */
	char offset[sizeof(BENCH_OFFSET_NAME) + BENCH_OFFSET];
	uint64_t chance;
};

/* A run with the values that stand in bench->values now; it stays as long as the session. */
struct bench_run *bench_keep_run(struct bench *bench, const struct bench_run *run);

/*
 * Its row, when there is a store; `run` is the one that stays. `begun`: the row is there already (store_run_begin());
 * else it is kept now, or with the next ones when it was very short.
 */
int bench_store_run(struct bench *bench, const struct store_run *row, const struct bench_run *run, bool begun,
		    const struct bench_outcome *outcome, struct err *err);

/* Was the last run of the configuration so short that a note of its beginning would cost more than it tells? */
bool bench_is_short(const struct bench *bench, int configuration);

#endif

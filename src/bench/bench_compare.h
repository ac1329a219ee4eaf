/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns comparing configurations in one session: a calibration in which the first is compared with itself, then blocks
 * that hold each configuration once in random order, until an interval decides. Whatever drifts over time hits all
 * configurations of a block alike.
 */
#ifndef HVTUNE_BENCH_COMPARE_H
#define HVTUNE_BENCH_COMPARE_H

#include "bench.h"
#include "stat_sequential.h"

/* Of blocks in which a run was void, so many more than whole ones are repeated. */
enum { BENCH_CALIBRATE_AUTO = -1 };

struct bench_compare_rule {
	const char *metric; /* as in struct bench_rule */
	unsigned warmup;    /* runs of each configuration that are kept but left out */
	int calibration;    /* blocks of the first with itself; 0: none; BENCH_CALIBRATE_AUTO: 12, or 5 of long runs */
	unsigned blocks;    /* exactly so many; 0: two configurations are looked at after each block */
	struct stat_sequential plan; /* of the looks, and the margin */
	int64_t time_ns;	     /* no block begins after this; 0: no limit */
	uint64_t seed;		     /* of the order within blocks */
	/* Told before each run: of `expected` blocks `done` are, `what` is "calibrating" or "comparing". */
	void (*tell)(void *data, const char *what, unsigned done, unsigned expected, double left_s);
	void *data;
};

enum bench_compare_end {
	BENCH_COMPARE_STOPPED,
	BENCH_DECIDED,
	BENCH_BLOCKS,
	BENCH_MOST_BLOCKS,
	BENCH_COMPARE_TIME,
	BENCH_COMPARE_VOID
};

struct bench_compared {
	const char *metric;
	enum bench_compare_end end;
	unsigned blocks;      /* whole ones */
	unsigned void_blocks; /* in which a run was void; repeated */
	bool calibrated;
	struct stat_aa aa;	     /* of the calibration */
	struct stat_compare compare; /* of two configurations; blocks == 0: none */
};

/*
 * Compare `count` configurations (numbers of bench_add(), 2 or more, the first is the one that others are compared
 * with). Errors as bench_measure(); *ret is filled with what there is then too.
 */
int bench_compare(struct bench *bench, const int *configurations, size_t count, const struct bench_compare_rule *rule,
		  struct bench_compared *ret, struct err *err);

const char *bench_compare_end_text(enum bench_compare_end end);

#endif

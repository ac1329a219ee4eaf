/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns waiting for the machine: until it is cool enough for a run, and until it has settled before an idle window. Both
 * waits have an end.
 */
#ifndef HVTUNE_BENCH_SETTLE_H
#define HVTUNE_BENCH_SETTLE_H

#include "bench.h"

/* A run waits at most so long for a machine that is too hot. Idle watts take as long to settle (stat_drift.h). */
enum { BENCH_COOL_S = 120 };

/*
 * Wait until no sensor is above limits.temperature_c. *ret_why: how hot it still is after limits.cool_s, in the arena,
 * or NULL; a machine without a sensor is never too hot. -EINTR: stopped.
 */
int bench_cool(struct bench *bench, struct arena *arena, const char **ret_why, struct err *err);

struct bench_settled {
	bool settled;  /* load, power and temperature were flat, before the limit had passed */
	double took_s; /* waited for */
};

/*
 * Wait until load, watts of the widest boundary that is measured and the highest temperature are flat, at most
 * `limit_s`. Flat over 30 s (a quarter of a shorter limit): within 2 % of the CPUs, 1 degree, and the larger of 1 W and
 * 1 % of the watts. `tell` (may be NULL) hears about twice a second how long it lasts at most. -EINTR: stopped.
 */
int bench_settle(struct bench *bench, double limit_s, void (*tell)(void *data, double left_s), void *data,
		 struct bench_settled *ret, struct err *err);

#endif

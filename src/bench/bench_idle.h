/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns idle windows: the machine is left alone until it has settled, but not for ever, and then for a window in which
 * its power is measured in parts, so that the mean has an error (batch means: what follows close upon itself is alike).
 */
#ifndef HVTUNE_BENCH_IDLE_H
#define HVTUNE_BENCH_IDLE_H

#include "bench.h"

/* A machine whose CPUs are busier than that is not idle. */
#define BENCH_BUSY .02

/* The metrics that hold power, the widest boundary first: the wall knows more than the sockets. */
enum { BENCH_POWERS = 3 };
extern const char *const bench_powers[BENCH_POWERS];

struct bench_idle {
	struct bench_subject subject; /* name, settings, enter and data are taken */
	const char *metric; /* whose watts count: one of bench_powers; NULL: the first of them that is measured */
	double settle_s;    /* wait at most so long until load, watts and temperature are flat (see bench_settle()) */
	double window_s;
	int parts;
	/* Told about twice a second while it settles, and before each part. NULL: nobody listens. */
	void (*tell)(void *data, bool settles, double left_s);
	void *data;
	/* Kept between windows of one session: numbers of the session's configurations, 0 before the first. */
	int number, whole; /* 1 + number: in parts; all of the window at once */
};

struct bench_idle_window {
	bool settled; /* before settle_s had passed */
	double settle_took_s;
	bool valid;
	const char *why;	    /* it is not valid, in the session's arena */
	int parts;		    /* that the figures are of */
	const char *metric;	    /* "wall power": whose watts these are; NULL: there are none */
	double mean, lowest, error; /* W; error: standard error of the mean, NAN for one part; NAN: not measured */
	double busy;		    /* share of the CPUs, NAN: not known */
};

/*
 * Bring the machine to the configuration, let it settle, measure. A meter that is too slow for the parts measures the
 * window again as a whole. -EINTR: stopped by a signal; other errors as bench_measure(). `block`: see there.
 */
int bench_idle(struct bench *bench, struct bench_idle *idle, int64_t block, struct bench_idle_window *ret,
	       struct err *err);

#endif

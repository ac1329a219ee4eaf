/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what makes a run void although its command did its work: the machine was not what it should have been meanwhile.
 * Looks before and after a run are compared: what other processes and the hypervisor took of the CPUs, throttling, a
 * sleep, a clock that was set, and settings that somebody changed. The run stays in the store, marked with the reason.
 */
#ifndef HVTUNE_BENCH_GATE_H
#define HVTUNE_BENCH_GATE_H

#include "arena.h"
#include "err.h"
#include "knob.h"
#include "sys_again.h"

struct bench_limits {
	double load;	      /* share of all CPUs that others may use, 0..1; 0: no limit, it is only told */
	double temperature_c; /* no run begins while a sensor is above it; 0: no limit */
	double cool_s;	      /* a run waits at most so long for it; 0: BENCH_COOL_S */
};

/* The machine at one moment. */
struct bench_view {
	int64_t at_ns;		   /* CLOCK_MONOTONIC */
	int64_t busy_us, steal_us; /* of all CPUs together, since boot; steps of 10 ms */
	int64_t cpus;		   /* CPUs online; 0: /proc/stat cannot be read */
	int64_t slept_ns, set_ns;  /* CLOCK_BOOTTIME and CLOCK_REALTIME less CLOCK_MONOTONIC */
	uint64_t throttles;	   /* sum of the counts of thermal throttling */
};

struct bench_gate;

/* `machine` NULL: settings are not watched. Both must outlive the gate. */
/* `also`: knobs that are watched besides the usual ones, ended by NULL; NULL: none. */
struct bench_gate *bench_gate_open(struct sys *sys, struct knob_machine *machine, const char *const *also);
struct bench_gate *bench_gate_close(struct bench_gate *gate); /* takes NULL, returns NULL */

/* `only_clocks`: what costs next to nothing; load and throttling are unknown then. */
void bench_gate_look(struct bench_gate *gate, bool only_clocks, struct bench_view *ret);

/* The share of the CPUs that neither the run nor idling took between two looks; NAN when it is too short to tell. */
double bench_gate_foreign(const struct bench_view *before, const struct bench_view *after, int64_t own_us);

/* Why a run between two looks is void, in the arena, or NULL. `own_us` is the CPU time of the run itself. */
const char *bench_gate_judge(struct arena *arena, const struct bench_view *before, const struct bench_view *after,
			     int64_t own_us, const struct bench_limits *limits);

/* Remember how the settings stand: hvtune itself has just changed some. */
void bench_gate_remember(struct bench_gate *gate);

/*
 * Has somebody changed a setting since they were remembered or told? What and how, in the arena, or NULL. It costs a
 * read for each, so a look is left out when the last one took more than a hundredth of the time since; `sure` looks
 * anyway.
 */
const char *bench_gate_changed(struct bench_gate *gate, struct arena *arena, bool sure);

/*
 * What holds another value now than when the gate was opened: "swappiness holds 50 (before: 60)", with how many others;
 * in the arena. NULL: nothing.
 */
const char *bench_gate_left(struct bench_gate *gate, struct arena *arena);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what each CPU did between two moments: its clock while it ran, the share of time in which it ran (C0) and the
 *shares of its idle states.
 *
 * MPERF counts at the frequency of the time stamp counter (P0) while a CPU is in C0, APERF at the frequency it really
 *has: clock = tsc_hz * dAPERF / dMPERF		C0 share = dMPERF / dTSC They are read by the PMU "msr" of perf, both at
 *once; else by /dev/cpu/N/msr, from the copies that no other program can set back (MSR 0xC00000E7 and E8, AMD) where
 *the CPU has them. The time stamp counter is read on one CPU; it is the same on all. Time in idle states is what
 *cpuidle counts (stateN/time, microseconds), which it does when a CPU wakes up.
 */
#ifndef HVTUNE_METER_CPUS_H
#define HVTUNE_METER_CPUS_H

#include "meter.h"

enum { METER_IDLE_MOST = 10 };

struct meter_cpu_counts {
	bool clocks, idle; /* the counts below could be read */
	uint64_t aperf, mperf;
	uint64_t idle_us[METER_IDLE_MOST];
};

/* All CPUs at a moment; `cpus` has meter_cpus_count() entries. */
struct meter_cpus_moment {
	int64_t time_ns; /* the middle of the read */
	uint64_t tsc;
	bool tsc_known;
	struct meter_cpu_counts *cpus;
};

/* What one CPU did between two moments; NAN for what is not known. Shares are of time, 0 to 1. */
struct meter_cpu_activity {
	double busy_mhz; /* its clock while it was in C0 */
	double c0_share;
	double idle_share[METER_IDLE_MOST];
};

/* The sums over some CPUs that such an activity follows from; aperf and mperf are NAN when they are not known. */
struct meter_activity_sums {
	double elapsed_s, tsc_hz, aperf, mperf;
	double idle_us[METER_IDLE_MOST];
	bool idle_known;
	size_t cpus, states;
};
struct meter_cpu_activity meter_activity_of(const struct meter_activity_sums *sums);

struct meter_cpus;

/*
 * Open the counters of all online CPUs. What cannot be opened is told by meter_cpus_clocks() and meter_cpus_idle(), too
 * many open files included. `sys` must outlive it.
 */
void meter_cpus_open(struct sys *sys, struct meter_cpus **ret);
struct meter_cpus *meter_cpus_close(struct meter_cpus *cpus); /* takes NULL, returns NULL */
void meter_cpus_close_pointer(struct meter_cpus **cpus);      /* for CLEANUP() */

size_t meter_cpus_count(const struct meter_cpus *cpus);
int meter_cpus_number(const struct meter_cpus *cpus, size_t index); /* of the CPU */

/* Idle states beside polling, in their order: "C1", "C2". NULL past the end. */
const char *meter_cpus_state(const struct meter_cpus *cpus, size_t index);

/* How clocks and idle times are read, or why not: METER_VALUE, METER_ABSENT or METER_UNREADABLE with a reason and a
 * hint. */
struct meter_cpus_way {
	enum meter_state state;
	const char *place; /* "perf msr", "/dev/cpu/N/msr", the path */
	const char *why, *hint;
};
struct meter_cpus_way meter_cpus_clocks(const struct meter_cpus *cpus);
struct meter_cpus_way meter_cpus_idle(const struct meter_cpus *cpus);

/* Room for a moment, freed with meter_cpus_moment_free(). */
struct meter_cpus_moment meter_cpus_moment_new(const struct meter_cpus *cpus);
void meter_cpus_moment_free(struct meter_cpus_moment *moment);

/* Read all CPUs, without allocation. Reading wakes a CPU that sleeps. */
void meter_cpus_read(struct meter_cpus *cpus, struct meter_cpus_moment *ret);

/* What the CPU with that index did from `before` to `after`. */
struct meter_cpu_activity meter_cpus_between(const struct meter_cpus *cpus, const struct meter_cpus_moment *before,
					     const struct meter_cpus_moment *after, size_t index);

/* The same for all of them together: the clock weighted by the time in C0, means of the shares. */
struct meter_cpu_activity meter_cpus_all_between(const struct meter_cpus *cpus, const struct meter_cpus_moment *before,
						 const struct meter_cpus_moment *after);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns idle states and who holds them off: cpuidle, /dev/cpu_dma_latency and its holders, per-CPU resume latency.
 */
#ifndef HVTUNE_HOST_IDLE_H
#define HVTUNE_HOST_IDLE_H

#include "fact.h"

struct host;
struct host_rows;

/* What /dev/cpu_dma_latency reads when nobody asks (PM_QOS_CPU_LATENCY_DEFAULT_VALUE = 2000 s). */
#define IDLE_LATENCY_NO_REQUEST INT64_C(2000000000)

struct idle_state {
	int number;			      /* K of stateK */
	struct fact name, desc;		      /* text */
	struct fact latency_us, residency_us; /* numbers, of CPU 0 */
	struct fact usage, time_us;	      /* numbers, of CPU 0 */
	struct fact default_status;	      /* text: "enabled", "disabled" by the driver; only read when disabled */
	struct cpuset disabled_on;	      /* CPUs on which `disable` is set; not looked at for POLL */
	struct cpuset allowed_on;	      /* online CPUs on which neither `disable` nor a latency shuts it out */
	bool polls;			      /* state 0 as a busy loop, no sleep */
	bool allowed;			      /* on at least one CPU */
};

struct idle_holder {
	int pid;
	const char *command; /* comm, or "?" */
};

struct host_idle {
	struct fact driver, governor; /* text */
	struct idle_state *states;    /* of CPU 0 (the first online CPU); AMD parts are uniform */
	int state_count;
	struct fact dma_latency_us; /* number: the effective request; IDLE_LATENCY_NO_REQUEST when nobody asks */
	struct fact holders_state; /* switch: whether all of /proc/<pid>/fd could be looked at; absent: not looked at */
	struct idle_holder *holders;
	int holder_count;
	struct cpuset resume_limited_on; /* CPUs with pm_qos_resume_latency_us other than 0 */
	struct fact resume_latency;	 /* text: of the first such CPU ("n/a": only POLL); absent when none */
};

/*
 * Linux allows a state whose latency is at most the limit of a CPU: the smaller one of the request on cpu_dma_latency
 * and of its pm_qos_resume_latency_us (drivers/cpuidle/governor.c).
 */
/* The deepest state, or NULL; the deepest one that is allowed now, or NULL. */
const struct idle_state *host_idle_deepest(const struct host_idle *idle);
const struct idle_state *host_idle_deepest_allowed(const struct host_idle *idle);

void host_idle_read(struct host *host);
void host_idle_rows(const struct host *host, struct host_rows *rows);

#endif

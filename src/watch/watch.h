/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a host does now: clocks, C0 and idle states of its CPUs and L3 groups, watts and temperatures, and its VMs
 * with the CPUs on which the threads of their vCPUs really are. Everything is read through the host's door; nothing is
 * written.
 */
#ifndef HVTUNE_WATCH_H
#define HVTUNE_WATCH_H

#include "host.h"
#include "meter.h"
#include "meter_cpus.h"

/* NAN is what is not known, and everything that needs a second reading in the first view. Shares are 0 to 1. */
struct watch_cpu {
	int cpu, core, l3, package; /* the latter three: indices of the topology, -1 unknown */
	double clock_mhz;	    /* while it ran, by APERF and MPERF; else what cpufreq says now */
	double c0;		    /* share of time in C0, by MPERF */
	double use;		    /* share of time that the scheduler gave to something, of /proc/stat */
	double idle[METER_IDLE_MOST];
};

/* All CPUs that share an L3, or those of unknown L3. Clock weighted by the time in C0 (where known), means of shares.
 */
struct watch_group {
	int l3; /* index in topology.l3s, -1 unknown */
	struct cpuset cpus;
	double clock_mhz, c0, use;
	double idle[METER_IDLE_MOST];
};

struct watch_vcpu {
	int id, tid;
	int cpu;    /* on which it ran last, -1 unknown */
	double use; /* share of one CPU */
};

struct watch_vm {
	const char *name;
	int pid;
	struct watch_vcpu *vcpus; /* count */
	int count;
	double use;	/* of all its vCPUs: 1 is one CPU */
	double power_w; /* its share of the packages' watts, an estimate (watch_share.h); NAN: not known */
	double halts;	/* per second, of KVM's statistics; NAN where debugfs cannot be read */
};

struct watch_reading {
	const struct meter_source *source;
	double value;	 /* W or degrees Celsius */
	const char *why; /* why there is none, or NULL */
};

struct watch_view {
	int64_t at_us;	  /* since 1970 */
	double elapsed_s; /* since the view before; NAN in the first */
	const struct host *host;
	const char *const *states; /* idle states: state_count */
	size_t state_count;
	struct watch_cpu *cpus;
	size_t cpu_count;
	struct watch_group *groups;
	size_t group_count;
	struct watch_vm *vms;
	size_t vm_count;
	struct watch_reading *readings;
	size_t reading_count;
	const char *const *remarks; /* what is not known here and why; ends with NULL */
};

struct watch;

/*
 * Open the host (`what` as host_open() takes it; NULL: this machine) and take a first reading. `connect` as
 * vm_joined_read() takes it. Errors are those of opening the host and of its VMs.
 */
int watch_open(const char *what, const char *connect, struct watch **ret, struct err *err);
struct watch *watch_close(struct watch *watch); /* takes NULL, returns NULL */
void watch_close_pointer(struct watch **watch); /* for CLEANUP() */

/*
 * Read all again. The view is valid until the next call. VMs that were started or ended are found within
 * half a minute; a VM whose process is gone is left out at once.
 */
const struct watch_view *watch_read(struct watch *watch);

#endif

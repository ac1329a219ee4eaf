/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns placement on a real host: makes the abstract problem (place.h) of a host's facts and the VMs wished for, and
 * turns its solution into CPU numbers, nodes and pages.
 *
 * Only online CPUs are used, whole cores only. What runs the host itself (the reserve) and what kept VMs hold is not
 * given out. Nodes closer than 12 (SLIT), as with L3-as-NUMA, are one node for memory; the L3 stays the cache level.
 */
#ifndef HVTUNE_PLACE_HOST_H
#define HVTUNE_PLACE_HOST_H

#include "host.h"
#include "place.h"

enum place_smt {
	PLACE_SMT_THREADS,  /* two vCPUs a core, as siblings: the guest must see threads=2 */
	PLACE_SMT_ISOLATED, /* one vCPU a core; the sibling stays idle */
};

enum { PLACE_PAGES_AUTO = -1 }; /* 1 GiB pages where its memory per node is whole GiB and enough are free, else 2 MiB */

/* One VM, in the host's terms. Zeroed fields but vcpus mean: new, no wish, threads exposed. */
struct place_request {
	const char *name;
	int vcpus;
	enum place_smt smt;
	int64_t memory_kib; /* 0: memory is left aside */
	int64_t page_kib;   /* 0: ordinary pages; 2048, 1048576; or PLACE_PAGES_AUTO */
	bool has_device;    /* it has a passed-through device, on this node: */
	int device_os_node;
	enum place_class wish;
	int max_nodes; /* 0: no limit */
	bool even;
	enum place_apart apart;
	const char *apart_group; /* NULL: none */
	int priority;		 /* 0 counts as 1 */
	int overcommit_percent;	 /* 0: its CPUs are its own. 400: shares a pool with four vCPUs a thread; never with
				  * dedicated  VMs on one core */
	enum place_right right;
	struct cpuset cpus_now; /* for all but PLACE_NEW: where its vCPUs are pinned */
	const int64_t
	    *memory_now_kib; /* topology.node_count entries: where its memory is now, or NULL when not known */
};

struct place_what_if {
	int nps;	 /* 0: as it is; else 1, 2, 4 nodes a socket */
	bool l3_as_numa; /* a node per L3 */
};

struct place_wishes {
	enum place_policy policy;
	bool strict;
	int max_excess_ns;     /* -1: no limit */
	int max_changes;       /* -1: no limit */
	int reserve_cores;     /* whole cores of each node for the host; -1: 1, or 2 from 64 cores a node */
	struct cpuset reserve; /* these CPUs (their whole cores) instead, when not empty */
	struct cpuset allowed; /* only whole cores within; empty: all online CPUs */
	struct place_what_if what_if;
	int64_t effort; /* as in place.h */
};

struct place_host_node {
	struct cpuset os_nodes; /* of the host as it is (or would be); more than one when they are merged */
	struct cpuset cpus, reserve;
};

struct place_vm_plan {
	const struct place_request *request;
	const struct place_vm_result *result; /* of a shared VM: its pool's */
	int pool;			      /* index of its pool, -1: none */
	const int *cpus_of_vcpus;    /* vcpus entries: the CPU of each vCPU; NULL for shared, kept and unplaced VMs */
	struct cpuset cpus;	     /* all of them; of a shared VM: its pool's CPUs */
	struct cpuset idle_siblings; /* isolated: threads that must stay idle */
	struct cpuset service;	     /* for emulator, I/O and vhost threads: the reserve of its nodes */
	struct cpuset os_nodes;	     /* of its memory */
	const int64_t *memory_kib;   /* by OS node, topology.node_count entries (what-if: node_count of the plan) */
	bool memory_stays;	     /* it is not moved, wherever it is */
	int64_t page_kib;	     /* 4 for ordinary pages */
	/* What the guest should be shown. dies x cores x threads per socket; a socket per node when there is more than
	 * one. l3_even: its L3 groups are equal, so dies can show them; else one flat L3 per socket. Where product
	 * differs from vcpus (odd counts with threads) topology_note says what to do. */
	int sockets, dies, cores, threads;
	bool l3_even;
	const char *topology_note;
};

struct place_pool {
	const char *name;
	int vcpus, cores;
	int overcommit_percent;
	struct cpuset cpus;
	const struct place_vm_result *result;
};

struct place_plan {
	const struct host *host;
	const struct place_problem *problem;
	const struct place_solution *solution;
	const struct place_vm_plan *vms; /* vm_count, in the order of the requests */
	int vm_count;
	const struct place_pool *pools;
	int pool_count;
	const struct place_host_node *nodes; /* as the problem's */
	int os_node_count;
	const int *os_nodes; /* their numbers, in the order of memory_kib */
	struct cpuset reserve;
	const char *reserve_why;       /* how the reserve was chosen */
	const struct cpuset *ccx_cpus; /* of each CCX of the problem */
	const int *ccx_l3;	       /* topology.l3s index of each, -1 when L3 is not known */
	const char *const *notes;      /* note_count lines on what could not be known or was left aside */
	int note_count;
};

/*
 * Plan VMs on a host. -EINVAL or -ENOTSUP with the reason for a host that can't be planned on (lscpu text: no sibling
 * and node lists that can be trusted) and for requests that contradict themselves. `requests` must outlive the plan.
 */
int place_host(struct arena *arena, const struct host *host, const struct place_request *requests, int request_count,
	       const struct place_wishes *wishes, const struct place_plan **ret, struct err *err);

/* Wishes with their defaults. */
struct place_wishes place_wishes_default(void);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the shape of the host: package > NUMA node, die (CCD) > CCX (L3 group) > core > thread, kept as distinct levels.
 * Read with hwloc; OS numbers everywhere. An L3 group is what shares one L3 cache; a core complex die (CCD) is one or
 * two of them. Neither is assumed to be a power of two, nor are siblings assumed to be numbered N and N + cores.
 */
#ifndef HVTUNE_HOST_TOPOLOGY_H
#define HVTUNE_HOST_TOPOLOGY_H

#include "fact.h"

struct host;
struct host_rows;

struct topology_core {
	struct cpuset cpus;   /* its online threads */
	int os_core_id;	      /* core_id, -1 unknown */
	int l3, ccd, package; /* indices, -1 unknown */
};

struct topology_l3 {
	struct cpuset cpus;
	int64_t id;	     /* cache id of sysfs (the resctrl domain), -1 unknown */
	int64_t size_kib;    /* -1 unknown */
	int package, ccd;    /* indices, -1 unknown */
	struct cpuset nodes; /* OS numbers of the NUMA nodes its CPUs belong to */
	int core_count;
	bool large; /* one of the large caches of a part with unlike L3 sizes (X3D) */
};

struct topology_ccd {
	struct cpuset cpus;
	int package;
	int l3_count;
};

struct topology_node {
	int os_node;
	struct cpuset cpus;		  /* online ones; may be empty */
	struct fact memory_kib, free_kib; /* numbers (MemTotal, MemFree); absent when not known */
	bool memoryless;		  /* memory is known to be 0 */
	struct cpuset packages;		  /* indices of the packages that its CPUs are in */
	const int *distances;		  /* node_count entries in the order of topology.nodes, or NULL */
};

struct topology_package {
	struct cpuset cpus;
	int os_package; /* physical_package_id */
	int core_count, l3_count, ccd_count;
};

struct topology_cpu {
	bool known;		    /* is it part of the topology (online)? */
	int core, l3, ccd, package; /* indices, -1 unknown */
	int node;		    /* index, -1 unknown */
	int smt;		    /* 0 for the first thread of its core, 1 for the second... */
};

struct host_topology {
	struct fact state; /* switch, on when there is a topology; else absent/unreadable with the reason */

	struct topology_package *packages;
	struct topology_node *nodes;
	struct topology_ccd *ccds; /* ccd_count 0 when dies are not known */
	struct topology_l3 *l3s;   /* l3_count 0 when L3 is not known */
	struct topology_core *cores;
	int package_count, node_count, ccd_count, l3_count, core_count, thread_count;
	struct topology_cpu *cpus; /* cpu_count entries, indexed by OS CPU number */
	int cpu_count;		   /* highest online CPU number + 1 */

	bool l3_known;	 /* every CPU is in an L3 group that is known */
	bool core_known; /* sibling threads are known */
	bool node_known;
	const char
	    *ccd_source; /* how CCDs are known: "die_id of the kernel", "one L3 group each on Zen 3"..., or NULL */
	const char *l3_conflict;   /* what disagrees in the kernel's L3 lists and how it was settled, or NULL */
	const char *node_conflict; /* nodes that contradict packages, or NULL */

	int threads_per_core; /* of most cores; 0 unknown */
	struct fact nps; /* number: NUMA nodes per socket by BIOS setting; absent with a note when it can't be told */
	struct fact l3_as_numa;	     /* switch; absent when it can't be told */
	bool x3d;		     /* L3 groups of unlike size and at least 64 MiB in the large ones */
	struct topology_load *load;  /* private to host_topology*.c: what host_topology_start() has begun; else NULL */
	struct cpuset large_l3_cpus; /* for x3d: CPUs of the large groups */
};

/* The index of the entry that `cpu` is in, or -1. */
int topology_l3_of(const struct host_topology *topology, int cpu);
int topology_core_of(const struct host_topology *topology, int cpu);
int topology_node_of(const struct host_topology *topology, int cpu);
int topology_package_of(const struct host_topology *topology, int cpu);

/* The node with this OS number, or NULL. */
const struct topology_node *topology_node_by_os(const struct host_topology *topology, int os_node);

/* All CPUs of all cores that `cpus` touches: whole cores. */
struct cpuset topology_whole_cores(const struct host_topology *topology, const struct cpuset *cpus);

/* Cores of which `cpus` holds some threads, but not all. */
int topology_split_cores(const struct host_topology *topology, const struct cpuset *cpus);

/* L3 groups of which `cpus` holds some CPUs, but not all. */
int topology_split_l3s(const struct host_topology *topology, const struct cpuset *cpus);

/*
 * Start reading ahead of the other subjects, then read: between the two hwloc works in a thread of its own. What reads
 * topology facts comes after host_topology_read().
 */
void host_topology_start(struct host *host);
void host_topology_read(struct host *host);
/* For hosts that are only a topology. `is_xml`: text is hwloc XML of `size` bytes, else a synthetic description. */
int host_topology_read_hwloc(struct host *host, const char *text, size_t size, bool is_xml, struct err *err);
/* hwloc's own XML of this host for a capture, without names and serials; free() it. Only on HOST_LIVE/HOST_DIRECTORY.
 */
int host_topology_export_xml(const struct host *host, char **ret_xml, size_t *ret_size, struct err *err);
void host_topology_rows(const struct host *host, struct host_rows *rows);

#endif

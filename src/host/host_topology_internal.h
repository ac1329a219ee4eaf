/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of host_topology*.c share: sets of CPUs are gathered by one of the sources (hwloc, or the lists
 * of sysfs through the door), then host_topology.c orders them and derives everything else, in the same way for all.
 */
#ifndef HVTUNE_HOST_TOPOLOGY_INTERNAL_H
#define HVTUNE_HOST_TOPOLOGY_INTERNAL_H

#include "host.h"

struct topology_die {
	struct cpuset cpus;
	int os_die;
};

struct topology_gather {
	struct host *host;
	struct cpuset cpus; /* all that the source knows */
	struct topology_die *dies;
	int die_count;
	int package_room, die_room, l3_room, core_room;
	bool has_nodes; /* the source has filled topology.nodes (hwloc XML, synthetic) */
	const char *source;
};

/* Append; an empty set is ignored. */
void topology_add_package(struct topology_gather *gather, const struct cpuset *cpus, int os_package);
void topology_add_die(struct topology_gather *gather, const struct cpuset *cpus, int os_die);
void topology_add_l3(struct topology_gather *gather, const struct cpuset *cpus, int64_t size_kib);
void topology_add_core(struct topology_gather *gather, const struct cpuset *cpus, int os_core_id);

/*
 * Source 1: hwloc. On a live host or a directory a load is started first, in a thread where there can be one; every
 * start must be ended by topology_gather_hwloc(), which takes what was loaded, or loads `text` when `started` is NULL:
 * hwloc XML (size > 0) or a synthetic description (size 0). The load lives in the host's arena.
 */
struct topology_load *topology_start_hwloc(struct host *host);
int topology_gather_hwloc(struct topology_gather *gather, struct topology_load *started, const char *text, size_t size,
			  struct err *err);

/* Source 2: the lists in /sys/devices/system/cpu, through the door. False when there are none. */
bool topology_gather_lists(struct topology_gather *gather);

/* Fill CCDs, and where each CPU, core and L3 group has its own. Sorts the dies. Needs packages, L3 groups and cores. */
void topology_find_ccds(struct host *host, struct topology_gather *gather);

/* The same for Zen 1, whose dies are told by nodes: after topology_judge_nodes(). */
void topology_find_zen1_dies(struct host *host);

/* /sys/devices/system/node through the door; sets node_known. Needs the packages. */
void topology_read_nodes(struct host *host);

/* Fill what follows from nodes, packages and L3 groups: nodes of L3s, packages of nodes, conflict, NPS, L3 as NUMA. */
void topology_judge_nodes(struct host *host);

#endif

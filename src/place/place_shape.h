/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the shape of a host as the solver sees it: CCXs of whole cores, nodes after merging (or as a BIOS change would
 * make them), pages. Between place_host.c and the files that it is made of.
 */
#ifndef HVTUNE_PLACE_SHAPE_H
#define HVTUNE_PLACE_SHAPE_H

#include "place_host.h"

struct shape_core {
	struct cpuset cpus;
	int *threads; /* thread_count CPUs, first thread first */
	int thread_count;
	int ccx, rank; /* preferred-core rank, 0 unknown */
	bool reserved; /* the host's own */
	bool kept;     /* held by a kept VM */
	int owner;     /* index of the VM (or pool) of the problem that gets it, -1 none */
};

/* A node as the operating system has it, or would have it. */
struct shape_os_node {
	int os_node, socket;
	int base;	    /* nodes of one base share their memory controllers: one node of the problem */
	struct cpuset cpus; /* may be empty */
	int64_t free_pages[PLACE_PAGE_SIZES], total_pages[PLACE_PAGE_SIZES]; /* PLACE_MEMORY_UNKNOWN */
};

struct place_shape {
	struct arena *arena;
	const struct host *host;
	const struct place_wishes *wishes;

	struct shape_core *cores;
	int core_count, threads_per_core;
	struct place_ccx *ccxs;
	struct cpuset *ccx_cpus;
	int *ccx_l3;
	int ccx_count;
	struct shape_os_node *os_nodes;
	int os_node_count;
	struct place_node *nodes;
	struct place_host_node *host_nodes;
	int node_count;
	int64_t page_kib[PLACE_PAGE_SIZES];
	struct cpuset reserve;
	const char *reserve_why;
	const char **notes;
	int note_count, note_room;
};

void shape_note(struct place_shape *shape, const char *format, ...) PRINTF_LIKE(2, 3);

/* Nodes as they are or would be, with their memory (place_nodes.c). */
int shape_read_nodes(struct place_shape *shape, struct err *err);
/* Join nodes that share memory controllers into the nodes of the problem. */
void shape_merge_nodes(struct place_shape *shape);
/* The node of the problem that a device on this OS node of the host as it is belongs to; -1 when it can't be told. */
int shape_device_node(const struct place_shape *shape, int os_node);

/* Cores, CCXs and the reserve; `taken` are CPUs of VMs that exist, which the reserve avoids where it can. */
int shape_read_cores(struct place_shape *shape, struct err *err);
void shape_choose_reserve(struct place_shape *shape, const struct cpuset *taken);
/* Count free and kept cores of each CCX, after reserve and kept are marked. */
void shape_count_cores(struct place_shape *shape);

/* Is planned on the host's nodes as they are? Then those of its topology are the shape's. */
bool shape_as_is(const struct place_shape *shape);

/* The index of a page size in page_kib: 4, 2048, 1048576; -1 for others. */
int shape_page_size(int64_t page_kib);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns memory: hugepages per size and node, transparent hugepages, KSM, NUMA balancing, swap and the VM sysctls.
 */
#ifndef HVTUNE_HOST_MEMORY_H
#define HVTUNE_HOST_MEMORY_H

#include "fact.h"
#include "host_hugewords.h"

struct host;
struct host_rows;

/* The note of an absent hugetlb_mounts when the mounts are known and none is a hugetlbfs. */
#define MEMORY_NO_HUGETLBFS "no hugetlbfs among the mounts"

struct memory_node_pages {
	int os_node;
	struct fact total, free, surplus; /* numbers of pages */
};

struct memory_pages {
	int64_t size_kib;					/* 2048, 1048576 */
	struct fact total, free, reserved, surplus, overcommit; /* numbers of pages */
	struct memory_node_pages *nodes;
	int node_count;
};

struct host_memory {
	struct fact total_kib, free_kib, available_kib; /* numbers: /proc/meminfo */
	struct fact swap_total_kib, swap_free_kib;	/* numbers: /proc/meminfo */
	struct fact commit_limit_kib, committed_kib;	/* numbers: CommitLimit, Committed_AS */
	struct fact default_page_kib;			/* number: Hugepagesize */
	struct fact anon_huge_kib;			/* number: AnonHugePages */
	struct memory_pages *pages;			/* one per size, smallest first */
	int page_size_count;
	struct fact thp_enabled, thp_defrag, thp_shmem;	       /* text: the chosen word */
	struct fact ksm_run;				       /* number: 0, 1, 2 */
	struct fact ksm_pages_sharing, ksm_merge_across_nodes; /* numbers */
	struct fact ksm_general_profit; /* number: bytes saved less what KSM itself needs; 6.4 on */
	struct fact numa_balancing;	/* number: bits */
	struct fact swappiness, dirty_ratio, dirty_background_ratio, dirty_bytes, dirty_background_bytes;
	struct fact zone_reclaim_mode, min_free_kbytes, overcommit_memory, nr_hugepages_mempolicy;
	struct fact compaction_proactiveness;
	struct hugewords hugewords; /* what the host's own command line asks for */
	struct fact hugetlb_mounts; /* text: "/dev/hugepages (2 MiB), /dev/hugepages1G (1 GiB)" of /proc/mounts */
};

/* Memory that the pools of all sizes hold, and what of it nobody uses, in KiB; 0 without pools. */
int64_t host_memory_reserved_kib(const struct host_memory *memory);
int64_t host_memory_idle_kib(const struct host_memory *memory);

/* The pool of this page size, or NULL. */
const struct memory_pages *host_memory_pages_of(const struct host_memory *memory, int64_t size_kib);

void host_memory_read(struct host *host);
void host_memory_rows(const struct host *host, struct host_rows *rows);

#endif

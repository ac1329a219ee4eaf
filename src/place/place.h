/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the placement problem as mathematics, and its solution: how many cores of which L3 group (CCX) and how much
 * memory of which node each VM gets. Which cores of a CCX is immaterial here: they are alike. place_host.h makes a
 * problem of a host and turns counts into CPU numbers.
 *
 * Objective, lexicographic, each term a whole number so that no comparison depends on rounding:
 *  1. priority x cores of VMs that could not be placed;
 *  2. excess: sum over placed VMs of cores x (latency - latency of that VM alone on the empty host), where the latency
 * of a VM is the mean over its pairs of cores, plus memory, device and class terms (struct place_latency);
 *  3. for VMs that exist already: memory moved between nodes, then how many are pinned anew;
 *  4. what the policy asks: pack: large holes survive (sum of squares of free cores per CCX, largest first); spread:
 * free cores are even (smallest first); power: fewest CCDs with a core in use, then as pack;
 *  5. sharing: cores that meet another VM's cores in their CCX.
 *
 * All memory of a solution is in the arena that is given. Nothing here reads a clock, and
 * what is drawn is drawn from a fixed seed: the same problem has the same solution everywhere.
 */
#ifndef HVTUNE_PLACE_H
#define HVTUNE_PLACE_H

#include "arena.h"
#include "err.h"

enum {
	PLACE_CCX_MAX = 1024,
	PLACE_NODES_MAX = 256,
	PLACE_VMS_MAX = 8192,
	PLACE_PAGE_SIZES = 3, /* ordinary, 2 MiB, 1 GiB */
	PLACE_MEMORY_UNKNOWN = -1,
};

enum place_class { PLACE_CLASS_NONE, PLACE_CLASS_CACHE, PLACE_CLASS_FREQUENCY };

/* What may be done with a VM. */
enum place_right {
	PLACE_NEW,   /* it has no place yet */
	PLACE_KEEP,  /* stays where it is: its cores and memory are not among the free ones, it only counts as a
			neighbour */
	PLACE_REPIN, /* other cores of the same nodes, as many on each node as now; its memory is not touched */
	PLACE_MOVE,  /* anywhere */
};

enum place_apart { PLACE_APART_NONE, PLACE_APART_CCX, PLACE_APART_NODE, PLACE_APART_SOCKET };

enum place_policy {
	PLACE_PACK,   /* leave large holes for the next VM */
	PLACE_SPREAD, /* VMs stay whole, but with as few neighbours in their L3 as possible */
	PLACE_POWER,  /* leave whole CCDs empty, so that they reach deep idle */
};

/* One-way latencies, in ns. The defaults are place_latency_default with their sources; a measured matrix replaces them.
 */
struct place_latency {
	int64_t ccx;		/* between cores of one CCX */
	int64_t node;		/* other CCX, same node and quadrant */
	int64_t socket;		/* other node or quadrant, same socket */
	int64_t other;		/* other socket */
	int64_t memory_node;	/* more for memory of another node of the socket */
	int64_t memory_other;	/* more for memory of another socket */
	int64_t device;		/* more for a core off the node of the VM's device */
	int64_t class_mismatch; /* more for a core that is not of the class wished for */
};
extern const struct place_latency place_latency_default;

struct place_ccx {
	int cores; /* whole cores that VMs could have on an empty host: all but the reserve */
	int free;  /* of those, what this problem may hand out: not held by kept VMs; cores of VMs that may be re-pinned
		    * or moved are among them */
	int kept;  /* cores held by kept VMs (may be more than cores - free, when they overlap) */
	int node;  /* index */
	int socket;
	int quadrant; /* of the socket, when known; -1: the node is all that is known */
	int ccd;      /* index, -1 unknown */
	enum place_class class;
};

struct place_node {
	int socket;
	int64_t free_pages[PLACE_PAGE_SIZES];  /* by page size, PLACE_MEMORY_UNKNOWN: no limit is known. Without what
						* kept and re-pinned VMs hold, with what VMs that may move hold */
	int64_t total_pages[PLACE_PAGE_SIZES]; /* on an empty host; for the ideal. PLACE_MEMORY_UNKNOWN as above */
};

struct place_vm {
	const char *name;
	int cores;	     /* whole cores: SMT exposed: ceil(vCPUs/2); isolated: vCPUs. At least 1 */
	int64_t memory_kib;  /* 0: memory is no matter here */
	unsigned page_sizes; /* bit mask of allowed indices of page_kib; the largest that fits is taken, never mixed */
	int device_node;     /* index, -1 none */
	enum place_class wish;
	int max_nodes; /* 0: no limit */
	bool even;     /* equal parts, as many on each node, so that a guest's dies can show them: must
			* hold where the empty host allows it, else left aside (place_vm_result.even tells) */
	enum place_apart apart;
	int apart_group; /* VMs of one group (>= 0) with `apart` have nothing of that level in common */
	int priority;	 /* weight of its cores when not all fit; 1 is usual, at least 1 */
	enum place_right right;
	const int *now;		  /* ccx_count counts for all but PLACE_NEW, else NULL */
	const int64_t *now_pages; /* node_count pages held now, for PLACE_MOVE; of size now_page_size */
	int now_page_size;	  /* index of page_kib */
};

struct place_problem {
	const struct place_ccx *ccxs;
	int ccx_count;
	const struct place_node *nodes;
	int node_count;
	int64_t page_kib[PLACE_PAGE_SIZES]; /* ascending; 0: that size is not used here */
	const struct place_vm *vms;
	int vm_count;
	const struct place_latency *latency; /* NULL: place_latency_default */
	enum place_policy policy;
	bool strict;	   /* never more nodes or sockets than the VM needs, and its device's node where that can hold
			    * it at all: reject rather than that */
	int max_excess_ns; /* a VM with more excess per core is rejected; -1: no limit */
	int max_changes;   /* at most so many existing VMs are pinned anew or moved; -1: no limit */
	int64_t effort;	   /* 0: the usual (about 100 ms of one core at most); else so many steps of the search */
};

struct place_part {
	int ccx, cores;
};

struct place_vm_result {
	bool placed;
	const char *reason; /* not placed: why, in words. Placed with an excess: what stood in the way. Else NULL */
	const struct place_part *parts; /* part_count, ascending by ccx */
	int part_count;
	int page_size;	      /* index of page_kib; -1: no memory asked */
	const int64_t *pages; /* node_count pages of that size */
	int node_count;	      /* nodes with a core of it */
	int ccx_fewest;	      /* the fewest CCXs it could do with on the empty host */
	bool even;	      /* its parts are equal */
	/* All in ps x cores: divide by the VM's cores and 1000 for ns. ideal: alone on the empty host. bound: no
	 * placement that is allowed here can be below it. cost == bound proves that this VM cannot be better. */
	int64_t cost, pair_cost, memory_cost, device_cost, class_cost;
	int64_t ideal, bound;
	bool changed;	   /* an existing VM on other cores than now */
	int64_t moved_kib; /* memory that changes its node */
};

enum place_proof {
	PLACE_PROVED_ALL,     /* no placement is better in any term: all were looked at */
	PLACE_PROVED_LATENCY, /* terms 1 and 2 are at their bounds */
	PLACE_NOT_PROVED,     /* see gap_ns_x1000 */
};

struct place_score {
	int64_t unplaced;  /* 1: priority x cores */
	int64_t excess;	   /* 2: ps x cores */
	int64_t moved_kib; /* 3 */
	int64_t changed;   /* 3: VMs */
	int64_t policy;	   /* 4: smaller is better */
	int64_t sharing;   /* 5: cores */
};

struct place_solution {
	const struct place_vm_result *vms; /* vm_count, as in the problem */
	struct place_score score;
	int64_t unplaced_bound; /* no placement leaves less than this of term 1 */
	enum place_proof proof;
	int64_t gap_ps; /* term 2 less its bound, per placed core, in ps ("within 0.4 ns per core of a bound") */
	int placed_cores;
	int64_t steps;	 /* work done, for the curious */
	const int *free; /* ccx_count free cores that remain */
};

/* Solve the whole problem. -EINVAL with the reason when the problem contradicts itself; a VM without a place is no
 * error. */
int place_solve(struct arena *arena, const struct place_problem *problem, const struct place_solution **ret,
		struct err *err);

/* -1, 0, 1 as `a` is better than, equal to or worse than `b`. */
int place_score_compare(const struct place_score *a, const struct place_score *b);

/* What a VM of `cores` cores without wishes would get in what is free after `solution`: its latency in ps x cores and
 * the number of CCXs; false when it does not fit. */
bool place_next(const struct place_problem *problem, const struct place_solution *solution, int cores,
		int64_t *ret_cost, int *ret_ccxs);

/* ps x cores of a VM as ns per core. */
static inline double place_ns(int64_t ps_cores, int cores)
{
	return cores > 0 ? (double)ps_cores / (1000.0 * cores) : 0;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of the solver share: the state of a partial placement and the moves on it.
 *
 * A cell is a set of CCXs that differ in nothing but their free cores: same node, quadrant and class. Inside a cell the
 * counts that fill the largest free CCXs first majorise all others, so they are the best for any VM (the mean latency
 * over pairs falls with the sum of squares of the counts, which is Schur-convex); only the last, partly used CCX is a
 * choice.
 */
#ifndef HVTUNE_PLACE_INTERNAL_H
#define HVTUNE_PLACE_INTERNAL_H

#include <limits.h>

#include "place.h"

struct place_cell {
	int node, quadrant, socket, class;
	int first, count; /* in state.order */
};

/* Where a VM sits. `parts` has room for all that it can have. */
struct place_spot {
	bool placed;
	struct place_part *parts;
	int part_count;
	int page_size; /* -1: none asked */
	int64_t cost;
	int64_t moved_kib;
	bool changed;
};

struct place_state {
	struct arena *arena;
	const struct place_problem *problem;
	const struct place_latency *latency;
	int ccx_count, node_count, vm_count;

	struct place_cell *cells; /* by socket, node, quadrant */
	int cell_count;
	int *cell_of;	   /* by CCX */
	int *order;	   /* CCXs, cell by cell, by free cores descending inside a cell */
	bool cell_is_node; /* every node is one cell */

	int *free, *used, *owners;	    /* by CCX: cores free, cores of placed VMs, VMs on it (kept ones too) */
	int *ccd_used;			    /* by CCD: cores in use, kept ones too */
	int64_t (*pages)[PLACE_PAGE_SIZES]; /* by node: free; PLACE_MEMORY_UNKNOWN no limit */
	struct place_spot *spots;	    /* by VM; kept VMs are never placed here */
	int64_t *bound;			    /* by VM: what term 2 counts its excess from */
	int64_t *most_cost;		    /* by VM: more than this and it is rejected */
	int *nodes_fewest;		    /* by VM: nodes it needs on the empty host, 0 unknown */
	bool *one_socket;  /* by VM: with `strict`, it must lie in one socket, as it could on the empty host */
	bool *device_fits; /* by VM: its device's node can hold it on the empty host */
	bool *even_fits;   /* by VM: equal parts are possible on the empty host */

	struct place_score score; /* of what is placed, with term 1 counting all that is not */
	int64_t steps;		  /* work done so far */

	bool *blocked;		       /* scratch: CCXs that anti-affinity forbids to the VM at hand */
	struct place_part *scratch[2]; /* ccx_count each */
	void *spans;		       /* scratch of place_spans.c */
};

/* What a choice for one VM is worth; smaller is better, term by term. */
struct place_key {
	int64_t cost, moved_kib, changed, policy, sharing;
};

struct place_state *place_state_new(struct arena *arena, const struct place_problem *problem, bool empty_host);
void place_put(struct place_state *state, int index, const struct place_spot *spot);
void place_take(struct place_state *state, int index);
/* Can these parts and pages be put now? */
bool place_fits(const struct place_state *state, int index, const struct place_spot *spot);
/* Fill in cost, moved_kib and changed of a spot whose parts are known. */
void place_spot_price(const struct place_state *state, int index, struct place_spot *spot);
struct place_key place_spot_key(const struct place_state *state, const struct place_spot *spot);
int place_key_compare(const struct place_key *a, const struct place_key *b);
/* The components of the cost, ps x cores. */
void place_cost_parts(const struct place_state *state, const struct place_vm *vm, const struct place_part *parts,
		      int part_count, int64_t *ret_pair, int64_t *ret_memory, int64_t *ret_device, int64_t *ret_class);
/* From a sum of latencies scaled by cores x (cores - 1) to ps x cores. */
int64_t place_unscale(int64_t scaled, int cores);

/* Pages of this size that `cores` of the VM's cores bring to their node; -1 when the size may not be used so. */
int64_t place_pages_of(const struct place_problem *problem, const struct place_vm *vm, int cores, int page_size);
/* Would they fit on the node now? */
bool place_node_holds(const struct place_state *state, const struct place_vm *vm, int node, int cores, int page_size);
/* The page sizes to try, largest first; -1 alone when no memory is asked. Returns their number. */
int place_page_sizes(const struct place_problem *problem, const struct place_vm *vm, int ret[PLACE_PAGE_SIZES]);
/* The most nodes that this VM may have now; INT_MAX when there is no limit. */
int place_node_limit(const struct place_state *state, int index);
/* Nodes with a core of the spot. */
int place_nodes_of(const struct place_state *state, const struct place_spot *spot);
/* Does `strict` keep this VM in one socket? */
bool place_one_socket(const struct place_state *state, int index);
/* Does the rule on devices of `strict` bind this VM? */
bool place_device_binds(const struct place_state *state, int index);
/* Mark the CCXs that anti-affinity forbids to the VM; true when there are any. */
bool place_block(const struct place_state *state, int index, bool *ret_blocked);

/* Fill `cores` into a cell: parts appended, the last CCX chosen by the policy. False when they do not fit. */
bool place_fill(const struct place_state *state, int index, int cores, const bool *blocked, struct place_part *parts,
		int *part_count);
/* The policy's and sharing's change when `cores` more are used on a CCX. */
int64_t place_policy_delta(const struct place_state *state, int ccx, int cores);
int64_t place_sharing_delta(const struct place_state *state, int ccx, int cores);

/* The best spot for one VM in what is free (place_one.c). `ret->parts` is scratch of the state, good until the next
 * call. */
bool place_one(struct place_state *state, int index, struct place_spot *ret);
/* The same over several nodes or cells, exact (place_spans.c); `best` is replaced when something better is found. */
bool place_spans(struct place_state *state, int index, const bool *blocked, struct place_spot *best, bool found);
bool place_even(struct place_state *state, int index, const bool *blocked, struct place_spot *best);

/* Ruin and recreate until the bounds are met or the steps are spent (place_all.c). */
void place_search(struct place_state *state, int64_t unplaced_bound, int64_t step_limit);
void place_arrivals(struct place_state *state);			 /* place_online.c */
bool place_exact(struct place_state *state, int64_t step_limit); /* place_exact.c: true when it looked at all */
int64_t place_unplaced_bound(const struct place_state *state);
const char *place_reason(const struct place_state *state, const struct place_state *empty, int v, int64_t ideal);

/* The order of terms 1 to 3 only: moving on a plateau of the others is what finds the way down. */
int place_compare_main(const struct place_score *a, const struct place_score *b);
/* Copy a spot with its parts; `to->parts` has room for them. */
void place_spot_copy(struct place_spot *to, const struct place_spot *from);

/* A copy of where all VMs are, to come back to. */
struct place_saved {
	struct place_spot *spots;
	struct place_score score;
};
struct place_saved place_saved_new(struct arena *arena, const struct place_state *state);
void place_save(const struct place_state *state, struct place_saved *saved);
void place_restore(struct place_state *state, const struct place_saved *saved);

#endif

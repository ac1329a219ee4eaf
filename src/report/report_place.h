/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns how a plan is shown: as text, as JSON, as pictures of the host before and after, and as an ordered list of what
 * is to be done.
 */
#ifndef HVTUNE_REPORT_PLACE_H
#define HVTUNE_REPORT_PLACE_H

#include <jansson.h>

#include "place_vm.h"
#include "report.h"
#include "report_topology.h"

/* A VM of the plan, in the order of the plan's requests. */
struct report_place_vm {
	const struct vm *vm;	   /* NULL: it does not exist yet */
	bool asked;		   /* its place is asked for; else it only stands in the way of others */
	struct vm_layout layout;   /* when it is placed and not merely kept */
	const int64_t *memory_kib; /* place_memory() */
	enum place_vm_smt smt;	   /* as asked for */
	const char *restart;	   /* vm_layout_restart() of the layout */
};

struct report_place {
	const struct host *host;
	const struct place_plan *plan;
	const struct place_wishes *wishes;
	const struct report_place_vm *vms; /* plan->vm_count */
	const char *const *notes;	   /* what was left aside before planning, note_count lines */
	int note_count;
};

void report_place(const struct term *term, const struct report_place *place);

/* Only what is to be done, in order. */
void report_place_steps(const struct term *term, const struct report_place *place);

json_t *report_place_json(const struct report_place *place);

/* The host with the VMs in it, after the plan. 0 or a negative errno. */
int report_place_svg(FILE *out, const struct report_place *place);

/* ---- shared by the forms ---- */

/* What is to be done with VM `index`. */
enum report_place_step {
	STEP_NONE,  /* it stays, or has no place */
	STEP_REPIN, /* other CPUs, the same memory */
	STEP_MOVE,  /* memory moves too */
	STEP_START, /* it is not running yet: with its next start */
};

struct report_place_order {
	int vm; /* index */
	enum report_place_step step;
};

/* Re-pins first, then moves by memory that moves, then what starts; `ret_count` entries. */
const struct report_place_order *report_place_order(struct arena *arena, const struct report_place *place,
						    int *ret_count);

/* "CCX 4-5 of node 1", "node 1 (its L3 groups are not known)", "CCX 3-4 (nodes 0-1)". */
const char *report_place_where(struct arena *arena, const struct report_place *place, int index);

/* Why VM `index` is where it is, in a sentence. */
const char *report_place_why(struct arena *arena, const struct report_place *place, int index);

/* "A", "B" ... "Z", "AA": the mark of VM `index` in pictures. */
const char *report_place_mark(struct arena *arena, int index);

/* To whom CPUs belong: before the plan or after it. */
const struct report_owners *report_place_owners(struct arena *arena, const struct report_place *place, bool after);

/* "proved optimal", "within 0.4 ns per core of a bound", of the whole plan. */
const char *report_place_proof(struct arena *arena, const struct place_plan *plan);

/* The same of one VM. */
const char *report_place_vm_proof(struct arena *arena, const struct place_vm_result *result, int cores);

/* Memory of VM `index` that has to change its node, in KiB; -1: it runs, but where its memory is now is not known. */
int64_t report_place_moved_kib(const struct report_place *place, int index);

/* Cores of VM `index`. */
int report_place_cores(const struct place_plan *plan, int index);

/* VMs of the plan that were asked for and are placed, and all that were asked for. */
int report_place_placed(const struct report_place *place, int *ret_asked);

/* CCXs without a core of any VM, by number (topology.l3s); those whose L3 is not known are left out. */
struct cpuset report_place_free_ccxs(const struct place_plan *plan);

#endif

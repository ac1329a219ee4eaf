/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns arrivals among VMs that may be pinned anew: when a new VM would be split or rejected, re-pin at most three VMs
 * of one node, without touching memory. Few and cheap changes first; the first set that gives the new VM its best ends
 * the search.
 */
#include "place_internal.h"

enum { SET_MAX = 3, STEPS_PER_ARRIVAL = 60000 };

struct arrival {
	struct place_state *state;
	int vm;
	int *near; /* VMs of the node that may be re-pinned */
	int near_count;
	int set[SET_MAX];
	struct place_spot before[SET_MAX + 1];
	struct place_score score; /* before */
	/* the best set so far */
	struct place_score best;
	struct place_spot after[SET_MAX + 1];
	int best_set[SET_MAX], best_size;
	int64_t step_limit;
};

/* VMs wholly in the node, or anywhere (-1) for an arrival that needs several nodes itself. */
static void find_near(struct arrival *arrival, int node)
{
	struct place_state *state = arrival->state;

	arrival->near_count = 0;
	for (int v = 0; v < state->vm_count; v++) {
		const struct place_spot *spot = &state->spots[v];
		enum place_right right = state->problem->vms[v].right;
		bool inside = spot->placed && (right == PLACE_REPIN || right == PLACE_MOVE);

		for (int i = 0; inside && i < spot->part_count; i++)
			inside = node < 0 || state->problem->ccxs[spot->parts[i].ccx].node == node;
		if (inside)
			arrival->near[arrival->near_count++] = v;
	}
}

static bool put_one(struct place_state *state, int v)
{
	struct place_spot spot;

	if (!place_one(state, v, &spot))
		return false;
	place_put(state, v, &spot);
	return true;
}

static void remember(struct arrival *arrival, int size)
{
	struct place_state *state = arrival->state;

	arrival->best = state->score;
	arrival->best_size = size;
	for (int i = 0; i < size; i++) {
		arrival->best_set[i] = arrival->set[i];
		place_spot_copy(&arrival->after[i], &state->spots[arrival->set[i]]);
	}
	place_spot_copy(&arrival->after[SET_MAX], &state->spots[arrival->vm]);
}

/* Take the set away, place the new VM, then the set, the largest first; remember it when that is the best so far. */
static void try_set(struct arrival *arrival, int size)
{
	struct place_state *state = arrival->state;
	const struct place_vm *vms = state->problem->vms;
	int order[SET_MAX];
	bool all = true;

	place_spot_copy(&arrival->before[SET_MAX], &state->spots[arrival->vm]);
	if (state->spots[arrival->vm].placed)
		place_take(state, arrival->vm);
	for (int i = 0; i < size; i++) {
		int at = i;

		for (; at > 0 && vms[order[at - 1]].cores < vms[arrival->set[i]].cores; at--)
			order[at] = order[at - 1];
		order[at] = arrival->set[i];
		place_spot_copy(&arrival->before[i], &state->spots[arrival->set[i]]);
		place_take(state, arrival->set[i]);
	}
	all = put_one(state, arrival->vm);
	for (int i = 0; i < size; i++)
		all = all && put_one(state, order[i]);
	if (all && place_compare_main(&state->score, &arrival->best) < 0 &&
	    (state->problem->max_changes < 0 || state->score.changed <= state->problem->max_changes))
		remember(arrival, size);
	for (int i = 0; i < size; i++) {
		if (state->spots[arrival->set[i]].placed)
			place_take(state, arrival->set[i]);
	}
	if (state->spots[arrival->vm].placed)
		place_take(state, arrival->vm);
	for (int i = 0; i < size; i++)
		place_put(state, arrival->set[i], &arrival->before[i]);
	if (arrival->before[SET_MAX].placed)
		place_put(state, arrival->vm, &arrival->before[SET_MAX]);
}

static void try_sets(struct arrival *arrival, int size, int depth, int first)
{
	if (depth == size) {
		try_set(arrival, size);
		return;
	}
	for (int i = first; i < arrival->near_count && arrival->state->steps < arrival->step_limit; i++) {
		arrival->set[depth] = arrival->near[i];
		try_sets(arrival, size, depth + 1, i + 1);
	}
}

static void use_best(struct arrival *arrival)
{
	struct place_state *state = arrival->state;

	if (state->spots[arrival->vm].placed)
		place_take(state, arrival->vm);
	for (int i = 0; i < arrival->best_size; i++)
		place_take(state, arrival->best_set[i]);
	for (int i = 0; i < arrival->best_size; i++)
		place_put(state, arrival->best_set[i], &arrival->after[i]);
	place_put(state, arrival->vm, &arrival->after[SET_MAX]);
}

static bool in_trouble(const struct place_state *state, int v)
{
	if (state->problem->vms[v].right != PLACE_NEW || state->bound[v] < 0)
		return false;
	return !state->spots[v].placed || state->spots[v].cost > state->bound[v];
}

static void make_room(struct arrival *arrival)
{
	struct place_state *state = arrival->state;

	arrival->score = arrival->best = state->score;
	arrival->best_size = 0;
	arrival->step_limit = state->steps + STEPS_PER_ARRIVAL;
	for (int size = 1; size <= SET_MAX; size++) {
		bool wide = state->nodes_fewest[arrival->vm] > 1;

		for (int node = wide ? -1 : 0; node < (wide ? 0 : state->node_count); node++) {
			find_near(arrival, node);
			try_sets(arrival, size, 0, 0);
		}
		/* As good as alone: more changes can't be better. */
		if (arrival->best_size > 0 && arrival->after[SET_MAX].cost <= state->bound[arrival->vm] &&
		    arrival->best.excess <= arrival->score.excess)
			break;
	}
	if (arrival->best_size > 0)
		use_best(arrival);
}

void place_arrivals(struct place_state *state)
{
	struct arrival arrival = {.state = state};
	struct arena *arena = state->arena;
	bool any = false;

	for (int v = 0; v < state->vm_count; v++)
		any |= state->problem->vms[v].right == PLACE_REPIN || state->problem->vms[v].right == PLACE_MOVE;
	if (!any || state->problem->max_changes == 0)
		return;
	arrival.near = ARENA_ARRAY(arena, (size_t)state->vm_count, int);
	for (int i = 0; i <= SET_MAX; i++) {
		arrival.before[i].parts = ARENA_ARRAY(arena, (size_t)state->ccx_count, struct place_part);
		arrival.after[i].parts = ARENA_ARRAY(arena, (size_t)state->ccx_count, struct place_part);
	}
	for (int v = 0; v < state->vm_count; v++) {
		arrival.vm = v;
		if (in_trouble(state, v))
			make_room(&arrival);
	}
}

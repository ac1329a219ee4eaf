/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the best spot for one VM in what is free: whole in one cell when nothing wider can be better, else the exact
 * search of place_spans.c.
 */
#include "place_internal.h"

struct tail {
	int ccx;
	int64_t policy, sharing;
};

/* Of the CCXs of the cell from `at` on, which should take the last `cores`? -1 when none has so many. */
static struct tail best_tail(const struct place_state *state, const struct place_cell *cell, int at, int cores,
			     const bool *blocked)
{
	struct tail best = {.ccx = -1};

	for (int i = at; i < cell->count; i++) {
		int ccx = state->order[cell->first + i];
		struct tail one = {.ccx = ccx};

		if (state->free[ccx] < cores)
			break;
		if (blocked && blocked[ccx])
			continue;
		one.policy = place_policy_delta(state, ccx, cores);
		one.sharing = place_sharing_delta(state, ccx, cores);
		if (best.ccx < 0 || one.policy < best.policy ||
		    (one.policy == best.policy && one.sharing < best.sharing))
			best = one;
	}
	return best;
}

bool place_fill(const struct place_state *state, int index, int cores, const bool *blocked, struct place_part *parts,
		int *part_count)
{
	const struct place_cell *cell = &state->cells[index];
	int count = *part_count;

	for (int i = 0; i < cell->count && cores > 0; i++) {
		int ccx = state->order[cell->first + i], free = state->free[ccx];

		if (free == 0)
			return false;
		if (blocked && blocked[ccx])
			continue;
		if (cores < free) {
			ccx = best_tail(state, cell, i, cores, blocked).ccx;
			free = cores;
		}
		parts[count++] = (struct place_part){.ccx = ccx, .cores = free};
		cores -= free;
	}
	if (cores > 0)
		return false;
	*part_count = count;
	return true;
}

/* The largest page size in which the whole VM fits on the node; -1 no memory asked, -2 none. */
static int page_size_on(const struct place_state *state, const struct place_vm *vm, int node)
{
	int sizes[PLACE_PAGE_SIZES];
	int count = place_page_sizes(state->problem, vm, sizes);

	for (int i = 0; i < count; i++) {
		if (place_node_holds(state, vm, node, vm->cores, sizes[i]))
			return sizes[i];
	}
	return -2;
}

/* Sum of squares of the counts that place_fill() would choose; 0 when they do not fit. */
static int64_t fill_squares(const struct place_state *state, const struct place_cell *cell, int cores,
			    const bool *blocked)
{
	int64_t sum = 0;

	for (int i = 0; i < cell->count && cores > 0; i++) {
		int ccx = state->order[cell->first + i], part = MIN_OF(cores, state->free[ccx]);

		if (part == 0)
			return 0;
		if (blocked && blocked[ccx])
			continue;
		sum += (int64_t)part * part;
		cores -= part;
	}
	return cores > 0 ? 0 : sum;
}

static int64_t cost_in_cell(const struct place_state *state, const struct place_vm *vm, const struct place_cell *cell,
			    int64_t squares)
{
	const struct place_latency *is = state->latency;
	int64_t c = vm->cores, cost = 0;

	cost = place_unscale(1000 * c * ((is->ccx - is->node) * squares + is->node * c * c - is->ccx * c), vm->cores);
	if (vm->device_node >= 0 && vm->device_node != cell->node)
		cost += 1000 * is->device * c;
	if (vm->wish != PLACE_CLASS_NONE && (int)vm->wish != cell->class)
		cost += 1000 * is->class_mismatch * c;
	return cost;
}

/*
 * What the VM costs at least when it lies in more than one cell: as compact as the fullest free CCX allows, and with at
 * least c - 1 pairs of cores that cross.
 */
static int64_t crossing_bound(const struct place_state *state, const struct place_vm *vm)
{
	const struct place_latency *is = state->latency;
	int64_t c = vm->cores, largest = 1, squares = 0, scaled = 0;
	int64_t cross = state->cell_is_node ? is->socket - is->node : 0;

	for (int i = 0; i < state->cell_count; i++)
		largest = MAX_OF(largest, state->free[state->order[state->cells[i].first]]);
	squares = c / largest * largest * largest + (c % largest) * (c % largest);
	scaled = c * ((is->ccx - is->node) * squares + is->node * c * c - is->ccx * c + 2 * (c - 1) * cross);
	if (vm->memory_kib > 0 && state->cell_is_node)
		scaled += (c - 1) * 2 * (c - 1) * is->memory_node;
	return place_unscale(1000 * scaled, vm->cores);
}

static void keep_best(struct place_state *state, int index, struct place_spot *spot, struct place_spot *best,
		      bool *found, struct place_key *best_key)
{
	struct place_key key;

	place_spot_price(state, index, spot);
	if (*found && spot->cost > best->cost)
		return;
	key = place_spot_key(state, spot);
	if (*found && place_key_compare(&key, best_key) >= 0)
		return;
	place_spot_copy(best, spot);
	*best_key = key;
	*found = true;
}

/* An existing VM's place of now, when it is free. */
static void consider_now(struct place_state *state, int index, struct place_spot *spot, struct place_spot *best,
			 bool *found, struct place_key *best_key)
{
	const struct place_vm *vm = &state->problem->vms[index];

	if (!vm->now)
		return;
	spot->part_count = 0;
	spot->page_size = vm->memory_kib > 0 ? vm->now_page_size : -1;
	for (int i = 0; i < state->ccx_count; i++) {
		if (vm->now[i] > 0)
			spot->parts[spot->part_count++] = (struct place_part){.ccx = i, .cores = vm->now[i]};
	}
	if (place_fits(state, index, spot) && place_nodes_of(state, spot) <= place_node_limit(state, index))
		keep_best(state, index, spot, best, found, best_key);
}

/* May the VM lie in this node alone? */
static bool node_allowed(const struct place_state *state, int index, int node)
{
	const struct place_vm *vm = &state->problem->vms[index];

	if (place_device_binds(state, index) && node != vm->device_node)
		return false;
	if (vm->right == PLACE_REPIN && vm->now) {
		for (int i = 0; i < state->ccx_count; i++) {
			if (vm->now[i] > 0 && state->problem->ccxs[i].node != node)
				return false;
		}
	}
	return true;
}

bool place_one(struct place_state *state, int index, struct place_spot *ret)
{
	const struct place_vm *vm = &state->problem->vms[index];
	struct place_spot spot = {.placed = true, .parts = state->scratch[0]}, best = {.parts = state->scratch[1]};
	const bool *blocked = place_block(state, index, state->blocked) ? state->blocked : NULL;
	struct place_key best_key = {0};
	bool found = false;

	state->steps += 1 + state->cell_count / 4;
	if (vm->even && state->even_fits[index]) {
		found = place_even(state, index, blocked, &best);
		*ret = best;
		return found && best.cost <= state->most_cost[index];
	}
	if (vm->right != PLACE_NEW && !blocked && !place_device_binds(state, index))
		consider_now(state, index, &spot, &best, &found, &best_key);
	for (int i = 0; i < state->cell_count; i++) {
		const struct place_cell *cell = &state->cells[i];
		int64_t squares = fill_squares(state, cell, vm->cores, blocked);

		if (squares == 0 || (found && cost_in_cell(state, vm, cell, squares) > best.cost) ||
		    !node_allowed(state, index, cell->node))
			continue;
		spot.page_size = page_size_on(state, vm, cell->node);
		spot.part_count = 0;
		if (spot.page_size >= -1 && place_fill(state, i, vm->cores, blocked, spot.parts, &spot.part_count))
			keep_best(state, index, &spot, &best, &found, &best_key);
	}
	if (vm->cores > 1 && (state->cell_count > 1) && (!state->cell_is_node || place_node_limit(state, index) > 1) &&
	    (!found || best.cost >= crossing_bound(state, vm)))
		found = place_spans(state, index, blocked, &best, found);
	*ret = best;
	return found && best.cost <= state->most_cost[index];
}

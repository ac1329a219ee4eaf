/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the best spot in equal parts, for guests that are shown their L3 groups: QEMU's dies and clusters are of equal
 * size.
 */
#include <string.h>

#include "place_internal.h"

struct even {
	struct place_state *state;
	const struct place_vm *vm;
	int index, part; /* cores of each part */
	const bool *blocked;
};

static bool takes_before(const struct even *even, int a, int b)
{
	const struct place_state *state = even->state;
	const struct place_problem *problem = state->problem;
	enum place_class wish = even->vm->wish;
	const int64_t keys[][2] = {
	    {wish != PLACE_CLASS_NONE && problem->ccxs[a].class != wish,
	     wish != PLACE_CLASS_NONE && problem->ccxs[b].class != wish},
	    {place_policy_delta(state, a, even->part), place_policy_delta(state, b, even->part)},
	    {place_sharing_delta(state, a, even->part), place_sharing_delta(state, b, even->part)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1];
	}
	return a < b;
}

/* The `want` best CCXs of the node that have a part free, appended. False when it has not so many. */
static bool take_of_node(const struct even *even, int node, int want, struct place_spot *spot)
{
	const struct place_state *state = even->state;
	int first = spot->part_count;

	for (int ccx = 0; ccx < state->ccx_count; ccx++) {
		int at = spot->part_count;

		if (state->problem->ccxs[ccx].node != node || state->free[ccx] < even->part ||
		    (even->blocked && even->blocked[ccx]))
			continue;
		while (at > first && takes_before(even, ccx, spot->parts[at - 1].ccx))
			at--;
		if (at - first >= want)
			continue;
		if (spot->part_count - first < want)
			spot->part_count++;
		memmove(&spot->parts[at + 1], &spot->parts[at],
			(size_t)(spot->part_count - 1 - at) * sizeof(*spot->parts));
		spot->parts[at] = (struct place_part){.ccx = ccx, .cores = even->part};
	}
	if (spot->part_count - first == want)
		return true;
	spot->part_count = first;
	return false;
}

static bool node_allowed(const struct even *even, int node, int cores, int page_size)
{
	const struct place_vm *vm = even->vm;
	const struct place_state *state = even->state;
	int now = 0;

	if (vm->right == PLACE_REPIN) {
		for (int i = 0; i < state->ccx_count; i++)
			now += state->problem->ccxs[i].node == node ? vm->now[i] : 0;
		return now == cores;
	}
	return place_node_holds(state, vm, node, cores, page_size);
}

/* `nodes` nodes with as many parts each, the seed's socket first. */
static bool take_of_nodes(const struct even *even, int seed, int nodes, int parts, struct place_spot *spot)
{
	const struct place_state *state = even->state;
	int found = 0, cores = parts / nodes * even->part;

	spot->part_count = 0;
	for (int round = 0; round < 3 && found < nodes; round++) {
		for (int node = 0; node < state->node_count && found < nodes; node++) {
			bool near = state->problem->nodes[node].socket == state->problem->nodes[seed].socket;

			if ((round == 0) != (node == seed) || (round == 1 && !near) || (round == 2 && near))
				continue;
			if (!node_allowed(even, node, cores, spot->page_size) ||
			    !take_of_node(even, node, parts / nodes, spot)) {
				if (node == seed)
					return false;
				continue;
			}
			found++;
		}
	}
	return found == nodes;
}

static void consider(struct even *even, struct place_spot *spot, struct place_spot *best, bool *found)
{
	struct place_state *state = even->state;
	struct place_key key, best_key;

	place_spot_price(state, even->index, spot);
	if (*found) {
		key = place_spot_key(state, spot);
		best_key = place_spot_key(state, best);
		if (place_key_compare(&key, &best_key) >= 0)
			return;
	}
	place_spot_copy(best, spot);
	*found = true;
}

bool place_even(struct place_state *state, int index, const bool *blocked, struct place_spot *best)
{
	const struct place_vm *vm = &state->problem->vms[index];
	struct even even = {.state = state, .vm = vm, .index = index, .blocked = blocked};
	struct place_spot spot = {.placed = true, .parts = state->scratch[0]};
	int sizes[PLACE_PAGE_SIZES], node_limit = MIN_OF(place_node_limit(state, index), state->node_count);
	int size_count = place_page_sizes(state->problem, vm, sizes);
	bool found = false;

	for (int parts = 1; parts <= MIN_OF(vm->cores, state->ccx_count) && !found; parts++) {
		if (vm->cores % parts != 0)
			continue;
		even.part = vm->cores / parts;
		for (int nodes = 1; nodes <= MIN_OF(parts, node_limit) && !found; nodes++) {
			for (int at = 0; at < size_count * state->node_count && parts % nodes == 0; at++) {
				int seed = at % state->node_count;

				spot.page_size = sizes[at / state->node_count];
				state->steps++;
				if (place_device_binds(state, index) && seed != vm->device_node)
					continue;
				if (take_of_nodes(&even, seed, nodes, parts, &spot))
					consider(&even, &spot, best, &found);
			}
		}
	}
	return found;
}

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

enum { RANKS = 5 };

/* In which order nodes are taken: the seed, its socket, the other sockets, in each the device's node first. */
static int rank_of(const struct even *even, int seed, int node)
{
	const struct place_node *nodes = even->state->problem->nodes;
	int of_socket = nodes[node].socket == nodes[seed].socket ? 1 : 3;

	return node == seed ? 0 : of_socket + (node != even->vm->device_node);
}

/* `nodes` nodes with as many parts each. */
static bool take_of_nodes(const struct even *even, int seed, int nodes, int parts, struct place_spot *spot)
{
	const struct place_state *state = even->state;
	int found = 0, cores = parts / nodes * even->part;

	spot->part_count = 0;
	for (int rank = 0; rank < RANKS && found < nodes; rank++) {
		for (int node = 0; node < state->node_count && found < nodes; node++) {
			if (rank_of(even, seed, node) != rank)
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

/* No equal parts of this size cost less, however they lie: all in one node, and nothing wrong but that. */
static int64_t least_cost(const struct place_state *state, int64_t cores, int64_t part)
{
	const struct place_latency *is = state->latency;

	return cores > 1 ? 1000 * cores * ((part - 1) * is->ccx + (cores - part) * is->node) / (cores - 1) : 0;
}

/*
 * The best equal parts. In terms 1 and 2 exact on hosts of up to two sockets whose nodes have L3 groups of one class
 * (all that are built): nodes of a socket are equally far from each other, so only how many of which socket there are
 * counts, and whether the device's is among them. Which of equal nodes is taken is not weighed by terms 4 and 5.
 */
bool place_even(struct place_state *state, int index, const bool *blocked, struct place_spot *best)
{
	const struct place_vm *vm = &state->problem->vms[index];
	struct even even = {.state = state, .vm = vm, .index = index, .blocked = blocked};
	struct place_spot spot = {.placed = true, .parts = state->scratch[0]};
	int sizes[PLACE_PAGE_SIZES], node_limit = MIN_OF(place_node_limit(state, index), state->node_count);
	int size_count = place_page_sizes(state->problem, vm, sizes);
	bool found = false;

	for (int parts = 1; parts <= MIN_OF(vm->cores, state->ccx_count); parts++) {
		if (vm->cores % parts != 0)
			continue;
		even.part = vm->cores / parts;
		if (found && best->cost <= least_cost(state, vm->cores, even.part))
			break;
		for (int nodes = 1; nodes <= MIN_OF(parts, node_limit); nodes++) {
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

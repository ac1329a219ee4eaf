/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a spot costs a VM, and whether it may have it: latency, pages, anti-affinity.
 *
 * Sums over ordered pairs of cores are sums of squares by level: with n_i cores on CCX i, Q_q in quadrant q, N_a on
 * node a and S_s on socket s, the sum of L over ordered pairs of different cores is (ccx - node) sum n^2 + (node -
 * socket) sum Q^2 + (socket - other) sum S^2 + other c^2 - ccx c, and that of the memory terms, with memory spread like
 * cores,
 *   - memory_node sum N^2 + (memory_node - memory_other) sum S^2 + memory_other c^2.
 */
#include <string.h>

#include "place_internal.h"

/* Divide and round to nearest; a sum of latencies is never negative. */
static int64_t rounded(int64_t value, int64_t by)
{
	return (value + by / 2) / by;
}

int64_t place_unscale(int64_t scaled, int cores)
{
	return rounded(scaled, (int64_t)cores * MAX_OF(cores - 1, 1));
}

struct level_sums {
	int64_t ccx, quadrant, node, socket;
};

/* Sums of squares by level. Parts are few, so each group is summed at its first part. */
static struct level_sums sum_levels(const struct place_problem *problem, const struct place_part *parts, int count)
{
	struct level_sums sums = {0};

	for (int i = 0; i < count; i++) {
		const struct place_ccx *one = &problem->ccxs[parts[i].ccx];

		for (int j = 0; j < count; j++) {
			const struct place_ccx *other = &problem->ccxs[parts[j].ccx];
			int64_t product = (int64_t)parts[i].cores * parts[j].cores;

			if (one->socket != other->socket)
				continue;
			sums.socket += product;
			if (one->node != other->node)
				continue;
			sums.node += product;
			if (one->quadrant == other->quadrant)
				sums.quadrant += product;
			if (i == j)
				sums.ccx += product;
		}
	}
	return sums;
}

static int64_t pair_sum(const struct place_latency *is, const struct level_sums *sums, int64_t c)
{
	return (is->ccx - is->node) * sums->ccx + (is->node - is->socket) * sums->quadrant +
	       (is->socket - is->other) * sums->socket + is->other * c * c - is->ccx * c;
}

static int64_t memory_sum(const struct place_latency *is, const struct level_sums *sums, int64_t c)
{
	return -is->memory_node * sums->node + (is->memory_node - is->memory_other) * sums->socket +
	       is->memory_other * c * c;
}

void place_cost_parts(const struct place_state *state, const struct place_vm *vm, const struct place_part *parts,
		      int part_count, int64_t *ret_pair, int64_t *ret_memory, int64_t *ret_device, int64_t *ret_class)
{
	const struct place_problem *problem = state->problem;
	struct level_sums sums = sum_levels(problem, parts, part_count);
	int64_t c = vm->cores, off_device = 0, off_class = 0;
	int64_t pairs = 1000 * c * pair_sum(state->latency, &sums, c);
	int64_t memory = vm->memory_kib > 0 ? 1000 * MAX_OF(c - 1, 1) * memory_sum(state->latency, &sums, c) : 0;

	for (int i = 0; i < part_count; i++) {
		const struct place_ccx *ccx = &problem->ccxs[parts[i].ccx];

		if (vm->device_node >= 0 && ccx->node != vm->device_node)
			off_device += parts[i].cores;
		if (vm->wish != PLACE_CLASS_NONE && ccx->class != vm->wish)
			off_class += parts[i].cores;
	}
	/* Rounded once, so that the sum is in the order of the exact costs. */
	*ret_pair = place_unscale(pairs, vm->cores);
	*ret_memory = place_unscale(pairs + memory, vm->cores) - *ret_pair;
	*ret_device = 1000 * state->latency->device * off_device;
	*ret_class = 1000 * state->latency->class_mismatch * off_class;
}

static int64_t moved_kib_of(const struct place_state *state, const struct place_vm *vm, const struct place_spot *spot)
{
	const struct place_problem *problem = state->problem;
	int64_t moved = 0;

	if (vm->right != PLACE_MOVE || !vm->now_pages || spot->page_size < 0)
		return 0;
	for (int node = 0; node < problem->node_count; node++) {
		int64_t size_kib = problem->page_kib[spot->page_size], pages = 0;
		int cores = 0;

		for (int i = 0; i < spot->part_count; i++) {
			if (problem->ccxs[spot->parts[i].ccx].node == node)
				cores += spot->parts[i].cores;
		}
		pages = cores > 0 ? place_pages_of(problem, vm, cores, spot->page_size) : 0;
		if (vm->now_page_size != spot->page_size)
			moved += pages * size_kib;
		else if (pages > vm->now_pages[node])
			moved += (pages - vm->now_pages[node]) * size_kib;
	}
	return moved;
}

static bool changed_of(const struct place_state *state, const struct place_vm *vm, const struct place_spot *spot)
{
	int same = 0, now = 0;

	if (vm->right == PLACE_NEW || !vm->now)
		return false;
	for (int i = 0; i < spot->part_count; i++)
		same += vm->now[spot->parts[i].ccx] == spot->parts[i].cores;
	for (int i = 0; i < state->ccx_count; i++)
		now += vm->now[i] > 0;
	return same != spot->part_count || now != spot->part_count;
}

void place_spot_price(const struct place_state *state, int index, struct place_spot *spot)
{
	const struct place_vm *vm = &state->problem->vms[index];
	int64_t pair = 0, memory = 0, device = 0, class = 0;

	place_cost_parts(state, vm, spot->parts, spot->part_count, &pair, &memory, &device, &class);
	spot->cost = pair + memory + device + class;
	spot->moved_kib = moved_kib_of(state, vm, spot);
	spot->changed = changed_of(state, vm, spot);
}

struct place_key place_spot_key(const struct place_state *state, const struct place_spot *spot)
{
	struct place_key key = {.cost = spot->cost, .moved_kib = spot->moved_kib, .changed = spot->changed};

	for (int i = 0; i < spot->part_count; i++) {
		key.policy += place_policy_delta(state, spot->parts[i].ccx, spot->parts[i].cores);
		key.sharing += place_sharing_delta(state, spot->parts[i].ccx, spot->parts[i].cores);
	}
	return key;
}

int place_key_compare(const struct place_key *a, const struct place_key *b)
{
	const int64_t terms[][2] = {{a->cost, b->cost},
				    {a->moved_kib, b->moved_kib},
				    {a->changed, b->changed},
				    {a->policy, b->policy},
				    {a->sharing, b->sharing}};

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		if (terms[i][0] != terms[i][1])
			return terms[i][0] < terms[i][1] ? -1 : 1;
	}
	return 0;
}

int64_t place_pages_of(const struct place_problem *problem, const struct place_vm *vm, int cores, int page_size)
{
	int64_t page_kib = problem->page_kib[page_size];
	/* memory_kib is below 2^50 and cores below 2^13 (place_check): no overflow. */
	int64_t share = vm->memory_kib * cores;
	int64_t whole = page_kib * vm->cores;
	bool smaller_allowed = (vm->page_sizes & ((1U << page_size) - 1)) != 0;

	/* The largest pages only where they come out whole, when smaller ones would do. */
	if (smaller_allowed && share % whole != 0)
		return -1;
	return (share + whole - 1) / whole;
}

bool place_node_holds(const struct place_state *state, const struct place_vm *vm, int node, int cores, int page_size)
{
	int64_t pages = 0;

	if (page_size < 0 || cores == 0 || vm->right == PLACE_REPIN)
		return true;
	pages = place_pages_of(state->problem, vm, cores, page_size);
	return pages >= 0 &&
	       (state->pages[node][page_size] == PLACE_MEMORY_UNKNOWN || pages <= state->pages[node][page_size]);
}

int place_page_sizes(const struct place_problem *problem, const struct place_vm *vm, int ret[PLACE_PAGE_SIZES])
{
	int count = 0;

	for (int size = PLACE_PAGE_SIZES - 1; size >= 0 && vm->memory_kib > 0; size--) {
		if ((vm->page_sizes & (1U << size)) && problem->page_kib[size] > 0)
			ret[count++] = size;
	}
	if (vm->right == PLACE_REPIN && count > 0) {
		ret[0] = vm->now_page_size;
		return 1;
	}
	if (count == 0)
		ret[count++] = -1;
	return count;
}

int place_node_limit(const struct place_state *state, int index)
{
	const struct place_vm *vm = &state->problem->vms[index];
	int limit = vm->max_nodes > 0 ? vm->max_nodes : INT_MAX;

	if (vm->right == PLACE_REPIN) /* its nodes are what they are */
		return INT_MAX;
	if (state->problem->strict && state->nodes_fewest[index] > 0)
		limit = MIN_OF(limit, state->nodes_fewest[index]);
	return limit;
}

bool place_device_binds(const struct place_state *state, int index)
{
	return state->problem->strict && state->device_fits[index] && state->problem->vms[index].right != PLACE_REPIN;
}

bool place_one_socket(const struct place_state *state, int index)
{
	return state->problem->strict && state->one_socket[index] && state->problem->vms[index].right != PLACE_REPIN;
}

static bool shares_level(const struct place_problem *problem, enum place_apart level, int a, int b)
{
	const struct place_ccx *one = &problem->ccxs[a], *other = &problem->ccxs[b];

	if (level == PLACE_APART_SOCKET)
		return one->socket == other->socket;
	if (level == PLACE_APART_NODE)
		return one->node == other->node;
	return a == b;
}

bool place_block(const struct place_state *state, int index, bool *ret_blocked)
{
	const struct place_problem *problem = state->problem;
	const struct place_vm *vm = &problem->vms[index];
	bool any = false;

	if (vm->apart == PLACE_APART_NONE || vm->apart_group < 0)
		return false;
	memset(ret_blocked, 0, (size_t)state->ccx_count * sizeof(*ret_blocked));
	for (int v = 0; v < state->vm_count; v++) {
		const struct place_vm *other = &problem->vms[v];
		const struct place_spot *spot = &state->spots[v];
		enum place_apart level = MAX_OF(vm->apart, other->apart);
		bool kept = other->right == PLACE_KEEP;

		if (v == index || other->apart == PLACE_APART_NONE || other->apart_group != vm->apart_group ||
		    (!spot->placed && !kept))
			continue;
		for (int at = 0; at < (kept ? state->ccx_count : spot->part_count); at++) {
			int there = kept ? at : spot->parts[at].ccx;

			if (kept && other->now[at] == 0)
				continue;
			for (int i = 0; i < state->ccx_count; i++)
				ret_blocked[i] |= shares_level(problem, level, i, there);
			any = true;
		}
	}
	return any;
}

int place_nodes_of(const struct place_state *state, const struct place_spot *spot)
{
	int count = 0;

	for (int i = 0; i < spot->part_count; i++) {
		int node = state->problem->ccxs[spot->parts[i].ccx].node;
		bool first = true;

		for (int j = 0; j < i; j++)
			first &= state->problem->ccxs[spot->parts[j].ccx].node != node;
		count += first;
	}
	return count;
}

bool place_fits(const struct place_state *state, int index, const struct place_spot *spot)
{
	const struct place_problem *problem = state->problem;
	const struct place_vm *vm = &problem->vms[index];

	for (int i = 0; i < spot->part_count; i++) {
		int node = problem->ccxs[spot->parts[i].ccx].node, cores = 0;

		if (spot->parts[i].cores > state->free[spot->parts[i].ccx])
			return false;
		for (int j = 0; j < spot->part_count; j++)
			cores += problem->ccxs[spot->parts[j].ccx].node == node ? spot->parts[j].cores : 0;
		if (!place_node_holds(state, vm, node, cores, spot->page_size))
			return false;
	}
	return true;
}

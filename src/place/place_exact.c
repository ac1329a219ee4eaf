/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns looking at every placement of a small problem, depth first, cutting off what the best known one already beats.
 */
#include <string.h>

#include "place_internal.h"

enum { EXACT_VMS_MAX = 12, EXACT_CCXS_MAX = 8 };

struct exact {
	struct place_state *state;
	int *order; /* VMs to place, the largest first */
	int count;
	int64_t *rest;		   /* priority x cores of order[i..] */
	struct place_part **parts; /* by depth */
	bool **blocked;		   /* by depth */
	struct place_saved best;
	int64_t steps, limit;
};

/* Can what is placed so far still be part of something as good as the best? The four terms below only grow. */
static bool hopeful(const struct exact *exact, int depth)
{
	struct place_score so_far = exact->state->score, best = exact->best.score;

	so_far.unplaced -= exact->rest[depth];
	so_far.policy = so_far.sharing = best.policy = best.sharing = 0;
	return place_score_compare(&so_far, &best) <= 0;
}

static void place_from(struct exact *exact, int depth);

/* Equal parts, and as many of them on each node: the dies of a guest are alike in all its sockets. */
static bool is_even(const struct exact *exact, const struct place_spot *spot)
{
	const struct place_ccx *ccxs = exact->state->problem->ccxs;
	int of_first = 0;

	for (int i = 0; i < spot->part_count; i++)
		of_first += ccxs[spot->parts[i].ccx].node == ccxs[spot->parts[0].ccx].node;
	for (int i = 0; i < spot->part_count; i++) {
		int here = 0;

		for (int j = 0; j < spot->part_count; j++)
			here += ccxs[spot->parts[j].ccx].node == ccxs[spot->parts[i].ccx].node;
		if (here != of_first || spot->parts[i].cores != spot->parts[0].cores)
			return false;
	}
	return true;
}

static bool allowed_parts(const struct exact *exact, int v, const struct place_spot *spot)
{
	const struct place_state *state = exact->state;
	const struct place_vm *vm = &state->problem->vms[v];
	bool on_device = false;

	if (place_nodes_of(state, spot) > place_node_limit(state, v))
		return false;
	for (int i = 0; i < spot->part_count; i++) {
		if (place_one_socket(state, v) &&
		    state->problem->ccxs[spot->parts[i].ccx].socket != state->problem->ccxs[spot->parts[0].ccx].socket)
			return false;
		on_device |= state->problem->ccxs[spot->parts[i].ccx].node == vm->device_node;
	}
	if (vm->even && state->even_fits[v] && !is_even(exact, spot))
		return false;
	if (vm->right == PLACE_REPIN) {
		for (int node = 0; node < state->node_count; node++) {
			int cores = 0;

			for (int i = 0; i < state->ccx_count; i++)
				cores += state->problem->ccxs[i].node == node ? vm->now[i] : 0;
			for (int i = 0; i < spot->part_count; i++)
				cores -=
				    state->problem->ccxs[spot->parts[i].ccx].node == node ? spot->parts[i].cores : 0;
			if (cores != 0)
				return false;
		}
	}
	return on_device || !place_device_binds(state, v);
}

static void try_parts(struct exact *exact, int depth, int part_count)
{
	struct place_state *state = exact->state;
	int v = exact->order[depth], sizes[PLACE_PAGE_SIZES];
	int size_count = place_page_sizes(state->problem, &state->problem->vms[v], sizes);
	struct place_spot spot = {.placed = true, .parts = exact->parts[depth], .part_count = part_count};

	if (!allowed_parts(exact, v, &spot))
		return;
	exact->steps += part_count;
	for (int i = 0; i < size_count; i++) {
		spot.page_size = sizes[i];
		if (!place_fits(state, v, &spot))
			continue;
		place_spot_price(state, v, &spot);
		if (spot.cost > state->most_cost[v])
			return;
		exact->steps += 2 * (int64_t)part_count;
		place_put(state, v, &spot);
		if (hopeful(exact, depth + 1))
			place_from(exact, depth + 1);
		place_take(state, v);
		return;
	}
}

/* Every way to divide the rest of the VM's cores over the CCXs from `ccx` on. */
static void divide(struct exact *exact, int depth, int ccx, int rest, int part_count)
{
	struct place_state *state = exact->state;
	const bool *blocked = exact->blocked[depth];

	if (rest == 0) {
		try_parts(exact, depth, part_count);
		return;
	}
	if (ccx == state->ccx_count || ++exact->steps > exact->limit)
		return;
	if (!blocked[ccx]) {
		for (int n = MIN_OF(rest, state->free[ccx]); n > 0; n--) {
			exact->parts[depth][part_count] = (struct place_part){.ccx = ccx, .cores = n};
			divide(exact, depth, ccx + 1, rest - n, part_count + 1);
		}
	}
	divide(exact, depth, ccx + 1, rest, part_count);
}

static void place_from(struct exact *exact, int depth)
{
	struct place_state *state = exact->state;
	const struct place_problem *problem = state->problem;
	const struct place_vm *vm = NULL;

	if (exact->steps > exact->limit)
		return;
	if (depth == exact->count) {
		bool too_many = problem->max_changes >= 0 && state->score.changed > problem->max_changes;

		if (!too_many && place_score_compare(&state->score, &exact->best.score) < 0)
			place_save(state, &exact->best);
		return;
	}
	vm = &problem->vms[exact->order[depth]];
	memset(exact->blocked[depth], 0, (size_t)state->ccx_count * sizeof(bool));
	(void)place_block(state, exact->order[depth], exact->blocked[depth]);
	divide(exact, depth, 0, vm->cores, 0);
	/* Without it: its weight leaves the rest, and so counts as unplaced from here on. */
	if (vm->right == PLACE_NEW && hopeful(exact, depth + 1))
		place_from(exact, depth + 1);
}

static bool prepare(struct exact *exact)
{
	struct place_state *state = exact->state;
	struct arena *arena = state->arena;

	exact->order = ARENA_ARRAY(arena, (size_t)state->vm_count, int);
	for (int v = 0; v < state->vm_count; v++) {
		const struct place_vm *vm = &state->problem->vms[v];
		int at = exact->count;

		/* Existing VMs that lost their place are beyond what is looked at here. */
		if (vm->right != PLACE_NEW && vm->right != PLACE_KEEP && !state->spots[v].placed)
			return false;
		if (vm->right == PLACE_KEEP || state->bound[v] < 0)
			continue;
		for (; at > 0 && state->problem->vms[exact->order[at - 1]].cores < vm->cores; at--)
			exact->order[at] = exact->order[at - 1];
		exact->order[at] = v;
		exact->count++;
	}
	if (exact->count > EXACT_VMS_MAX || state->ccx_count > EXACT_CCXS_MAX)
		return false;
	exact->rest = ARENA_ARRAY(arena, (size_t)exact->count + 1, int64_t);
	exact->parts = ARENA_ARRAY(arena, (size_t)exact->count + 1, struct place_part *);
	exact->blocked = ARENA_ARRAY(arena, (size_t)exact->count + 1, bool *);
	for (int i = exact->count - 1; i >= 0; i--) {
		const struct place_vm *vm = &state->problem->vms[exact->order[i]];

		exact->rest[i] = exact->rest[i + 1] + (int64_t)vm->priority * vm->cores;
		exact->parts[i] = ARENA_ARRAY(arena, (size_t)state->ccx_count, struct place_part);
		exact->blocked[i] = ARENA_ARRAY(arena, (size_t)state->ccx_count, bool);
	}
	return true;
}

bool place_exact(struct place_state *state, int64_t step_limit)
{
	struct exact exact = {.state = state, .limit = step_limit};

	if (!prepare(&exact))
		return false;
	exact.best = place_saved_new(state->arena, state);
	place_save(state, &exact.best);
	for (int i = 0; i < exact.count; i++) {
		if (state->spots[exact.order[i]].placed)
			place_take(state, exact.order[i]);
	}
	place_from(&exact, 0);
	place_restore(state, &exact.best);
	return exact.steps <= exact.limit;
}

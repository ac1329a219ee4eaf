/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the state of a partial placement: putting VMs somewhere and taking them away, with the score kept current.
 */
#include <string.h>

#include "place_internal.h"

static int compare_ccx(const struct place_problem *problem, int a, int b)
{
	const struct place_ccx *one = &problem->ccxs[a], *other = &problem->ccxs[b];
	const int keys[][2] = {{one->socket, other->socket},
			       {one->node, other->node},
			       {one->quadrant, other->quadrant},
			       {(int)one->class, (int)other->class}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	}
	return 0;
}

/* Keep the order of the cell by free cores descending, then by number, after those of one CCX changed. */
static void reorder(struct place_state *state, int ccx)
{
	const struct place_cell *cell = &state->cells[state->cell_of[ccx]];
	int *order = &state->order[cell->first];
	int at = 0;

	while (order[at] != ccx)
		at++;
	for (; at > 0; at--) {
		int before = order[at - 1];

		if (state->free[before] > state->free[ccx] || (state->free[before] == state->free[ccx] && before < ccx))
			break;
		order[at] = before;
	}
	for (; at + 1 < cell->count; at++) {
		int after = order[at + 1];

		if (state->free[after] < state->free[ccx] || (state->free[after] == state->free[ccx] && after > ccx))
			break;
		order[at] = after;
	}
	order[at] = ccx;
}

static void make_cells(struct place_state *state)
{
	const struct place_problem *problem = state->problem;

	for (int i = 0; i < state->ccx_count; i++) {
		int at = i;

		for (; at > 0 && compare_ccx(problem, i, state->order[at - 1]) < 0; at--)
			state->order[at] = state->order[at - 1];
		state->order[at] = i;
	}
	for (int i = 0; i < state->ccx_count; i++) {
		int ccx = state->order[i];
		const struct place_ccx *is = &problem->ccxs[ccx];

		if (i == 0 || compare_ccx(problem, ccx, state->order[i - 1]) != 0)
			state->cells[state->cell_count++] = (struct place_cell){.node = is->node,
										.quadrant = is->quadrant,
										.socket = is->socket,
										.class = (int)is->class,
										.first = i};
		state->cells[state->cell_count - 1].count++;
		state->cell_of[ccx] = state->cell_count - 1;
	}
	state->cell_is_node = true;
	for (int i = 1; i < state->cell_count; i++)
		state->cell_is_node &= state->cells[i].node != state->cells[i - 1].node;
}

static int64_t squares(const struct place_state *state, int free)
{
	return state->problem->policy == PLACE_SPREAD ? (int64_t)free * free : -(int64_t)free * free;
}

/* A CCD in use outweighs any sum of squares: CPUSET_MAX squared is 2^26, and there are at most 2^10 CCXs. */
static const int64_t ccd_weight = (int64_t)1 << 40;

int64_t place_policy_delta(const struct place_state *state, int ccx, int cores)
{
	int free = state->free[ccx];
	int64_t delta = squares(state, free - cores) - squares(state, free);
	int ccd = state->problem->ccxs[ccx].ccd;

	if (state->problem->policy == PLACE_POWER && ccd >= 0) {
		if (cores > 0 && state->ccd_used[ccd] == 0)
			delta += ccd_weight;
		if (cores < 0 && state->ccd_used[ccd] == -cores)
			delta -= ccd_weight;
	}
	return delta;
}

static int64_t sharing_of(int owners, int cores)
{
	return owners >= 2 ? cores : 0;
}

int64_t place_sharing_delta(const struct place_state *state, int ccx, int cores)
{
	int owners = state->owners[ccx], there = state->used[ccx] + state->problem->ccxs[ccx].kept;

	return sharing_of(owners + (cores > 0 ? 1 : -1), there + cores) - sharing_of(owners, there);
}

static void use(struct place_state *state, int ccx, int cores)
{
	int ccd = state->problem->ccxs[ccx].ccd;

	state->score.policy += place_policy_delta(state, ccx, cores);
	state->score.sharing += place_sharing_delta(state, ccx, cores);
	state->free[ccx] -= cores;
	state->used[ccx] += cores;
	state->owners[ccx] += cores > 0 ? 1 : -1;
	if (ccd >= 0)
		state->ccd_used[ccd] += cores;
	reorder(state, ccx);
}

static void use_pages(struct place_state *state, const struct place_vm *vm, const struct place_spot *spot, int sign)
{
	int at = 0;

	if (spot->page_size < 0)
		return;
	while (at < spot->part_count) {
		/* Parts of one node need not be neighbours: each node is counted at its first part. */
		int node = state->problem->ccxs[spot->parts[at].ccx].node, cores = 0;
		bool first = true;

		for (int i = 0; i < spot->part_count; i++) {
			if (state->problem->ccxs[spot->parts[i].ccx].node != node)
				continue;
			first &= i >= at;
			cores += spot->parts[i].cores;
		}
		if (first && state->pages[node][spot->page_size] != PLACE_MEMORY_UNKNOWN)
			state->pages[node][spot->page_size] -=
			    sign * place_pages_of(state->problem, vm, cores, spot->page_size);
		at++;
	}
}

/* A VM of PLACE_REPIN keeps its memory, which is not among the free pages. */
static bool has_pages(const struct place_vm *vm)
{
	return vm->right != PLACE_REPIN;
}

void place_put(struct place_state *state, int index, const struct place_spot *spot)
{
	const struct place_vm *vm = &state->problem->vms[index];
	struct place_spot *to = &state->spots[index];

	for (int i = 0; i < spot->part_count; i++) {
		use(state, spot->parts[i].ccx, spot->parts[i].cores);
		to->parts[i] = spot->parts[i];
	}
	to->placed = true;
	to->part_count = spot->part_count;
	to->page_size = spot->page_size;
	to->cost = spot->cost;
	to->moved_kib = spot->moved_kib;
	to->changed = spot->changed;
	if (has_pages(vm))
		use_pages(state, vm, to, 1);
	state->score.unplaced -= (int64_t)vm->priority * vm->cores;
	state->score.excess += to->cost - state->bound[index];
	state->score.moved_kib += to->moved_kib;
	state->score.changed += to->changed;
}

void place_take(struct place_state *state, int index)
{
	const struct place_vm *vm = &state->problem->vms[index];
	struct place_spot *spot = &state->spots[index];

	for (int i = 0; i < spot->part_count; i++)
		use(state, spot->parts[i].ccx, -spot->parts[i].cores);
	if (has_pages(vm))
		use_pages(state, vm, spot, -1);
	spot->placed = false;
	state->score.unplaced += (int64_t)vm->priority * vm->cores;
	state->score.excess -= spot->cost - state->bound[index];
	state->score.moved_kib -= spot->moved_kib;
	state->score.changed -= spot->changed;
}

static void count_kept(struct place_state *state, bool empty_host)
{
	const struct place_problem *problem = state->problem;

	for (int i = 0; i < problem->ccx_count; i++) {
		const struct place_ccx *ccx = &problem->ccxs[i];

		state->free[i] = empty_host ? ccx->cores : ccx->free;
		if (ccx->ccd >= 0 && !empty_host)
			state->ccd_used[ccx->ccd] += ccx->kept;
		for (int v = 0; v < problem->vm_count && !empty_host; v++)
			state->owners[i] += problem->vms[v].right == PLACE_KEEP && problem->vms[v].now[i] > 0;
		if (ccx->kept > 0 && state->owners[i] == 0 && !empty_host)
			state->owners[i] = 1; /* held by something that is not among the VMs */
	}
}

static void first_score(struct place_state *state)
{
	for (int i = 0; i < state->ccx_count; i++) {
		state->score.policy += squares(state, state->free[i]);
		state->score.sharing += sharing_of(state->owners[i], state->problem->ccxs[i].kept);
	}
	for (int i = 0; i < PLACE_CCX_MAX; i++)
		state->score.policy += state->problem->policy == PLACE_POWER && state->ccd_used[i] > 0 ? ccd_weight : 0;
	for (int i = 0; i < state->vm_count; i++) {
		const struct place_vm *vm = &state->problem->vms[i];

		if (vm->right != PLACE_KEEP)
			state->score.unplaced += (int64_t)vm->priority * vm->cores;
	}
}

struct place_state *place_state_new(struct arena *arena, const struct place_problem *problem, bool empty_host)
{
	struct place_state *state = ARENA_NEW(arena, struct place_state);
	size_t ccxs = (size_t)problem->ccx_count, vms = (size_t)problem->vm_count;

	state->arena = arena;
	state->problem = problem;
	state->latency = problem->latency ? problem->latency : &place_latency_default;
	state->ccx_count = problem->ccx_count;
	state->node_count = problem->node_count;
	state->vm_count = problem->vm_count;
	state->cells = ARENA_ARRAY(arena, ccxs, struct place_cell);
	state->cell_of = ARENA_ARRAY(arena, ccxs, int);
	state->order = ARENA_ARRAY(arena, ccxs, int);
	state->free = ARENA_ARRAY(arena, ccxs, int);
	state->used = ARENA_ARRAY(arena, ccxs, int);
	state->owners = ARENA_ARRAY(arena, ccxs, int);
	state->ccd_used = ARENA_ARRAY(arena, PLACE_CCX_MAX, int);
	state->pages = arena_array(arena, (size_t)problem->node_count, sizeof(*state->pages));
	state->spots = ARENA_ARRAY(arena, vms, struct place_spot);
	state->bound = ARENA_ARRAY(arena, vms, int64_t);
	state->most_cost = ARENA_ARRAY(arena, vms, int64_t);
	state->nodes_fewest = ARENA_ARRAY(arena, vms, int);
	state->one_socket = ARENA_ARRAY(arena, vms, bool);
	state->device_fits = ARENA_ARRAY(arena, vms, bool);
	state->even_fits = ARENA_ARRAY(arena, vms, bool);
	state->blocked = ARENA_ARRAY(arena, ccxs, bool);
	for (size_t i = 0; i < ARRAY_SIZE(state->scratch); i++)
		state->scratch[i] = ARENA_ARRAY(arena, ccxs, struct place_part);
	for (size_t i = 0; i < vms; i++) {
		size_t room = (size_t)MIN_OF(problem->vms[i].cores, problem->ccx_count);

		state->spots[i].parts = ARENA_ARRAY(arena, room, struct place_part);
		state->most_cost[i] = INT64_MAX;
	}
	for (int i = 0; i < problem->node_count; i++)
		memcpy(state->pages[i], empty_host ? problem->nodes[i].total_pages : problem->nodes[i].free_pages,
		       sizeof(state->pages[i]));
	make_cells(state);
	count_kept(state, empty_host);
	for (int i = 0; i < state->ccx_count; i++)
		reorder(state, i);
	first_score(state);
	return state;
}

void place_spot_copy(struct place_spot *to, const struct place_spot *from)
{
	struct place_part *parts = to->parts;

	if (from->placed)
		memcpy(parts, from->parts, (size_t)from->part_count * sizeof(*parts));
	*to = *from;
	to->parts = parts;
}

struct place_saved place_saved_new(struct arena *arena, const struct place_state *state)
{
	struct place_saved saved = {.spots = ARENA_ARRAY(arena, (size_t)state->vm_count, struct place_spot)};

	for (int i = 0; i < state->vm_count; i++) {
		size_t room = (size_t)MIN_OF(state->problem->vms[i].cores, state->ccx_count);

		saved.spots[i].parts = ARENA_ARRAY(arena, room, struct place_part);
	}
	return saved;
}

void place_save(const struct place_state *state, struct place_saved *saved)
{
	for (int i = 0; i < state->vm_count; i++)
		place_spot_copy(&saved->spots[i], &state->spots[i]);
	saved->score = state->score;
}

void place_restore(struct place_state *state, const struct place_saved *saved)
{
	for (int i = 0; i < state->vm_count; i++) {
		if (state->spots[i].placed)
			place_take(state, i);
	}
	for (int i = 0; i < state->vm_count; i++) {
		if (saved->spots[i].placed)
			place_put(state, i, &saved->spots[i]);
	}
}

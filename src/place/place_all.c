/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns placing all VMs: the largest first, each at its best; then ruin and recreate: take a few VMs around one that has
 * an excess (or no place) away and place them again in a slightly other order, until the bound is met or the effort is
 * spent.
 */
#include "place_internal.h"

enum { RUIN_MAX = 24, RUIN_USUAL = 13, CCXS_RUINED = 4 };

/* splitmix64 (Steele, Lea, Flood 2014): small, and the same everywhere. */
static uint64_t draw(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15U;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

static int draw_below(uint64_t *seed, int below)
{
	return (int)((draw(seed) >> 32) * (uint64_t)below >> 32);
}

int64_t place_unplaced_bound(const struct place_state *state)
{
	const struct place_problem *problem = state->problem;
	int64_t lost = 0, over = 0;
	int lowest = INT_MAX;

	for (int i = 0; i < state->ccx_count; i++)
		over -= problem->ccxs[i].free;
	for (int v = 0; v < state->vm_count; v++) {
		const struct place_vm *vm = &problem->vms[v];

		if (vm->right == PLACE_KEEP)
			continue;
		if (state->bound[v] < 0) {
			lost += (int64_t)vm->priority * vm->cores; /* it has no place even alone */
		} else {
			over += vm->cores;
			lowest = MIN_OF(lowest, vm->priority);
		}
	}
	return lost + (over > 0 ? over * lowest : 0);
}

struct search {
	struct place_state *state;
	uint64_t seed;
	int vms[RUIN_MAX]; /* taken away */
	int count;
	struct place_spot before[RUIN_MAX]; /* where they were */
	int keys[RUIN_MAX];
	int *open; /* VMs with an excess or no place */
};

static bool has_trouble(const struct place_state *state, int v)
{
	if (state->problem->vms[v].right == PLACE_KEEP || state->bound[v] < 0)
		return false;
	return !state->spots[v].placed || state->spots[v].cost > state->bound[v];
}

static bool on_any(const struct place_spot *spot, const int *ccxs, int count)
{
	for (int i = 0; i < spot->part_count; i++) {
		for (int j = 0; j < count; j++) {
			if (spot->parts[i].ccx == ccxs[j])
				return true;
		}
	}
	return false;
}

static void ruin_one(struct search *search, int v)
{
	struct place_state *state = search->state;

	for (int i = 0; i < search->count; i++) {
		if (search->vms[i] == v)
			return;
	}
	place_spot_copy(&search->before[search->count], &state->spots[v]);
	if (state->spots[v].placed)
		place_take(state, v);
	search->vms[search->count++] = v;
}

/* The CCXs to look at: some of the VM's own, some near it, some anywhere. */
static int pick_ccxs(struct search *search, int v, int *ret)
{
	struct place_state *state = search->state;
	const struct place_spot *spot = &state->spots[v];
	int count = 0, want = 1 + draw_below(&search->seed, CCXS_RUINED), home = -1;

	if (spot->placed) {
		int part = draw_below(&search->seed, spot->part_count);

		ret[count++] = spot->parts[part].ccx;
		home = state->cell_of[spot->parts[part].ccx];
	} else if (state->problem->vms[v].device_node >= 0 && draw_below(&search->seed, 2)) {
		for (int i = 0; i < state->cell_count; i++) {
			if (state->cells[i].node == state->problem->vms[v].device_node)
				home = i;
		}
	}
	if (home < 0 || draw_below(&search->seed, 3) == 0)
		home = draw_below(&search->seed, state->cell_count);
	while (count < 1 + want) {
		const struct place_cell *cell = &state->cells[home];

		if (draw_below(&search->seed, 4) == 0)
			ret[count++] = draw_below(&search->seed, state->ccx_count);
		else
			ret[count++] = state->order[cell->first + draw_below(&search->seed, cell->count)];
	}
	return count;
}

static void ruin(struct search *search, int v)
{
	struct place_state *state = search->state;
	int ccxs[CCXS_RUINED + 2], most = 2 + draw_below(&search->seed, RUIN_USUAL - 1);
	int ccx_count = pick_ccxs(search, v, ccxs);
	int start = draw_below(&search->seed, state->vm_count);

	search->count = 0;
	ruin_one(search, v);
	for (int i = 0; i < state->vm_count && search->count < most; i++) {
		int other = start + i < state->vm_count ? start + i : start + i - state->vm_count;

		if (state->spots[other].placed && on_any(&state->spots[other], ccxs, ccx_count))
			ruin_one(search, other);
	}
	for (int i = 0; i < state->vm_count && search->count < RUIN_MAX && state->score.unplaced > 0; i++) {
		int other = start + i < state->vm_count ? start + i : start + i - state->vm_count;

		if (!state->spots[other].placed && state->problem->vms[other].right != PLACE_KEEP &&
		    state->bound[other] >= 0)
			ruin_one(search, other);
	}
}

/* Existing VMs must have a place, and not more of them a new one than is allowed. */
static bool allowed(const struct search *search)
{
	const struct place_problem *problem = search->state->problem;

	for (int i = 0; i < search->count; i++) {
		if (!search->state->spots[search->vms[i]].placed && search->before[i].placed &&
		    problem->vms[search->vms[i]].right != PLACE_NEW)
			return false;
	}
	return problem->max_changes < 0 || search->state->score.changed <= problem->max_changes;
}

static void recreate(struct search *search)
{
	struct place_state *state = search->state;
	int order[RUIN_MAX];

	for (int i = 0; i < search->count; i++) {
		const struct place_vm *vm = &state->problem->vms[search->vms[i]];
		int at = i, noise = draw_below(&search->seed, 8) == 0 ? 64 : 3;

		search->keys[i] = vm->cores * 4 + draw_below(&search->seed, noise * 4);
		for (; at > 0 && search->keys[order[at - 1]] < search->keys[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (int i = 0; i < search->count; i++) {
		int v = search->vms[order[i]];
		struct place_spot spot;

		if (place_one(state, v, &spot))
			place_put(state, v, &spot);
	}
}

static void go_back(struct search *search)
{
	struct place_state *state = search->state;

	for (int i = 0; i < search->count; i++) {
		if (state->spots[search->vms[i]].placed)
			place_take(state, search->vms[i]);
	}
	for (int i = 0; i < search->count; i++) {
		if (search->before[i].placed)
			place_put(state, search->vms[i], &search->before[i]);
	}
}

static bool done(const struct place_score *score, int64_t unplaced_bound)
{
	return score->unplaced <= unplaced_bound && score->excess == 0;
}

static void search_once(struct search *search, struct place_saved *best)
{
	struct place_state *state = search->state;
	struct place_score before = state->score;
	int open = 0;

	for (int v = 0; v < state->vm_count; v++) {
		if (has_trouble(state, v))
			search->open[open++] = v;
	}
	if (open == 0)
		return;
	ruin(search, search->open[draw_below(&search->seed, open)]);
	recreate(search);
	state->steps += 1 + state->vm_count / 16;
	if (place_compare_main(&state->score, &before) > 0 || !allowed(search))
		go_back(search);
	else if (place_score_compare(&state->score, &best->score) < 0)
		place_save(state, best);
}

/* Existing VMs that were moved and need not have been go back: place_one() prefers their place of now. */
static void undo_needless(struct place_state *state)
{
	for (int v = 0; v < state->vm_count; v++) {
		struct place_score before = state->score;
		struct place_spot spot, was = {.parts = NULL};

		if (!state->spots[v].placed || !state->spots[v].changed)
			continue;
		was.parts = arena_alloc(state->arena, (size_t)state->spots[v].part_count * sizeof(*was.parts));
		place_spot_copy(&was, &state->spots[v]);
		place_take(state, v);
		if (place_one(state, v, &spot))
			place_put(state, v, &spot);
		if (place_compare_main(&state->score, &before) > 0) {
			if (state->spots[v].placed)
				place_take(state, v);
			place_put(state, v, &was);
		}
	}
}

void place_search(struct place_state *state, int64_t unplaced_bound, int64_t step_limit)
{
	struct search search = {.state = state, .seed = 1};
	struct place_saved best = place_saved_new(state->arena, state);
	int64_t last = 0;

	search.open = ARENA_ARRAY(state->arena, (size_t)state->vm_count, int);
	for (int i = 0; i < RUIN_MAX; i++)
		search.before[i].parts = ARENA_ARRAY(state->arena, (size_t)state->ccx_count, struct place_part);
	place_save(state, &best);
	while (!done(&state->score, unplaced_bound) && state->steps < step_limit) {
		last = state->steps;
		search_once(&search, &best);
		if (state->steps == last)
			break; /* nothing is left to improve */
	}
	if (place_score_compare(&best.score, &state->score) < 0)
		place_restore(state, &best);
	undo_needless(state);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns saying why a VM has no place, or a worse one than alone.
 */
#include "place_internal.h"

static int free_cores(const struct place_state *state)
{
	int sum = 0;

	for (int i = 0; i < state->ccx_count; i++)
		sum += state->free[i];
	return sum;
}

/* Is there enough memory in all nodes together, in any page size that it may use? */
static bool memory_enough(const struct place_state *state, const struct place_vm *vm)
{
	int sizes[PLACE_PAGE_SIZES];
	int count = place_page_sizes(state->problem, vm, sizes);

	for (int i = 0; i < count; i++) {
		int64_t sum_kib = 0;

		if (sizes[i] < 0)
			return true;
		for (int node = 0; node < state->node_count; node++) {
			if (state->pages[node][sizes[i]] == PLACE_MEMORY_UNKNOWN)
				return true;
			sum_kib += state->pages[node][sizes[i]] * state->problem->page_kib[sizes[i]];
		}
		if (sum_kib >= vm->memory_kib)
			return true;
	}
	return false;
}

static const char *why_unplaced(const struct place_state *state, const struct place_state *empty, int v, int64_t ideal)
{
	struct arena *arena = state->arena;
	const struct place_vm *vm = &state->problem->vms[v];

	if (vm->cores > free_cores(empty))
		return arena_printf(arena, "it needs %d cores, and the host has %d beside its reserve", vm->cores,
				    free_cores(empty));
	if (!memory_enough(empty, vm))
		return "the host has not so much memory in pages of the sizes that it may use";
	if (ideal < 0)
		return "it does not fit on the empty host: its memory is more than the nodes that its cores may lie in "
		       "have";
	if (vm->cores > free_cores(state))
		return arena_printf(arena, "it needs %d cores, and %d are free", vm->cores, free_cores(state));
	if (!memory_enough(state, vm))
		return "not so much memory is free in pages of the sizes that it may use";
	if (vm->apart != PLACE_APART_NONE)
		return "the VMs that it must be apart from leave no place for it";
	if (state->problem->max_excess_ns >= 0)
		return arena_printf(arena, "no place is within %d ns a core of what it would have alone",
				    state->problem->max_excess_ns);
	if (state->problem->strict)
		return "no place is left on as few nodes as it needs";
	return "no node has both the free cores and the free memory for it";
}

static const char *why_excess(const struct place_state *state, int v, int64_t ideal)
{
	const struct place_vm *vm = &state->problem->vms[v];
	const struct place_spot *spot = &state->spots[v];
	int64_t pair = 0, memory = 0, device = 0, class = 0;

	place_cost_parts(state, vm, spot->parts, spot->part_count, &pair, &memory, &device, &class);
	if (state->bound[v] > ideal && spot->cost == state->bound[v])
		return vm->right == PLACE_REPIN ? "its nodes stay, and there it cannot be better"
						: "VMs that are kept hold the place that would be better";
	if (class > 0)
		return "more cores want this class of CCX than it has";
	if (device > 0)
		return "its device's node has not enough free cores or memory";
	return memory > 0 ? "no single node has enough free cores and memory"
			  : "other VMs hold the whole CCXs that would be better";
}

const char *place_reason(const struct place_state *state, const struct place_state *empty, int v, int64_t ideal)
{
	if (!state->spots[v].placed)
		return why_unplaced(state, empty, v, ideal);
	return state->spots[v].cost > ideal ? why_excess(state, v, ideal) : NULL;
}

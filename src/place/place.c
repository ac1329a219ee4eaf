/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns solving a placement problem from end to end: checks, bounds, the order of the steps, and the solution.
 */
#include <errno.h>
#include <string.h>

#include "cpuset.h"
#include "place_internal.h"

enum { EFFORT_USUAL = 160000, EFFORT_FIRST = 10000, EXACT_STEPS = 200000 };

static int check_host(const struct place_problem *problem, struct err *err)
{
	if (problem->ccx_count < 1 || problem->ccx_count > PLACE_CCX_MAX || problem->node_count < 1 ||
	    problem->node_count > PLACE_NODES_MAX || problem->vm_count < 0 || problem->vm_count > PLACE_VMS_MAX)
		return err_set(err, EINVAL, NULL, "%d L3 groups, %d nodes, %d VMs: more (or fewer) than can be planned",
			       problem->ccx_count, problem->node_count, problem->vm_count);
	for (int i = 0; i < problem->ccx_count; i++) {
		const struct place_ccx *ccx = &problem->ccxs[i];

		if (ccx->cores < 0 || ccx->cores > CPUSET_MAX || ccx->free < 0 || ccx->free > ccx->cores ||
		    ccx->kept < 0 || ccx->node < 0 || ccx->node >= problem->node_count || ccx->ccd >= PLACE_CCX_MAX ||
		    ccx->socket != problem->nodes[ccx->node].socket)
			return err_set(err, EINVAL, NULL, "L3 group %d contradicts itself or its node", i);
	}
	return 0;
}

static int check_vm(const struct place_problem *problem, const struct place_vm *vm, struct err *err)
{
	const char *name = vm->name ? vm->name : "VM";
	bool exists = vm->right != PLACE_NEW;
	int64_t now = 0;

	if (vm->cores < 1 || vm->cores > CPUSET_MAX)
		return err_set(err, EINVAL, name, "%d cores: from 1 to %d can be planned", vm->cores, (int)CPUSET_MAX);
	if (vm->memory_kib < 0 || vm->memory_kib >= (int64_t)1 << 48)
		return err_set(err, EINVAL, name, "its memory is out of range");
	if (vm->memory_kib > 0 && vm->page_sizes == 0)
		return err_set(err, EINVAL, name, "it has memory, but no page size is allowed");
	if (vm->device_node >= problem->node_count || vm->priority < 1 || vm->priority > 1000)
		return err_set(err, EINVAL, name, "its device's node or its priority is out of range");
	if (exists && !vm->now)
		return err_set(err, EINVAL, name, "it exists, but where is not said");
	for (int i = 0; exists && i < problem->ccx_count; i++) {
		if (vm->now[i] < 0)
			return err_set(err, EINVAL, name, "it has a negative count of cores");
		now += vm->now[i];
	}
	if (exists && vm->right != PLACE_KEEP && now != vm->cores)
		return err_set(err, EINVAL, name, "it has %d cores, but lies on %d", vm->cores, (int)now);
	if (exists && vm->memory_kib > 0 && (vm->now_page_size < 0 || vm->now_page_size >= PLACE_PAGE_SIZES))
		return err_set(err, EINVAL, name, "its page size is out of range");
	return 0;
}

/* The most cores that a node of the empty host can give the VM. */
static int node_capacity(const struct place_state *empty, const struct place_vm *vm, int node)
{
	int cores = 0, sizes[PLACE_PAGE_SIZES], best = 0;
	int count = place_page_sizes(empty->problem, vm, sizes);

	for (int i = 0; i < empty->ccx_count; i++)
		cores += empty->problem->ccxs[i].node == node ? empty->free[i] : 0;
	cores = MIN_OF(cores, vm->cores);
	for (int i = 0; i < count; i++) {
		int n = cores;

		while (n > best && !place_node_holds(empty, vm, node, n, sizes[i]))
			n--;
		best = MAX_OF(best, n);
	}
	return best;
}

static int compare_descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

/* Can so many nodes of one socket hold the VM? */
static bool socket_fits(const struct place_state *empty, const int *by_node, int nodes, int cores)
{
	for (int seed = 0; seed < empty->node_count; seed++) {
		int of_socket[PLACE_NODES_MAX], count = 0, sum = 0;

		for (int i = 0; i < empty->node_count; i++) {
			if (empty->problem->nodes[i].socket == empty->problem->nodes[seed].socket)
				of_socket[count++] = by_node[i];
		}
		qsort(of_socket, (size_t)count, sizeof(*of_socket), compare_descending);
		for (int i = 0; i < MIN_OF(count, nodes); i++)
			sum += of_socket[i];
		if (sum >= cores)
			return true;
	}
	return false;
}

/* How many nodes the VM needs on the empty host, and whether its device's node can be one of them. */
static void count_nodes(struct place_state *empty, int index)
{
	const struct place_vm *vm = &empty->problem->vms[index];
	int capacity[PLACE_NODES_MAX], by_node[PLACE_NODES_MAX], sum = 0, count = 0, device = 0;

	for (int i = 0; i < empty->node_count; i++)
		capacity[i] = by_node[i] = node_capacity(empty, vm, i);
	device = vm->device_node >= 0 ? capacity[vm->device_node] : 0;
	qsort(capacity, (size_t)empty->node_count, sizeof(*capacity), compare_descending);
	while (count < empty->node_count && sum < vm->cores)
		sum += capacity[count++];
	if (sum < vm->cores)
		return;
	empty->nodes_fewest[index] = count;
	empty->one_socket[index] = socket_fits(empty, by_node, count, vm->cores);
	for (int i = 0; i < count - 1; i++)
		device += vm->device_node >= 0 ? capacity[i] : 0;
	empty->device_fits[index] = vm->device_node >= 0 && device >= vm->cores;
}

/* The problem with no VM there yet: what each would have alone. */
static const struct place_problem *as_new(struct arena *arena, const struct place_problem *problem)
{
	struct place_problem *copy = ARENA_NEW(arena, struct place_problem);
	struct place_vm *vms = ARENA_ARRAY(arena, (size_t)problem->vm_count, struct place_vm);

	for (int i = 0; i < problem->vm_count; i++) {
		vms[i] = problem->vms[i];
		vms[i].right = PLACE_NEW;
	}
	*copy = *problem;
	copy->vms = vms;
	return copy;
}

struct solving {
	struct arena *arena;
	const struct place_problem *problem;
	struct place_state *empty, *state;
	int64_t *ideal; /* by VM, -1: it does not fit on the empty host */
	int *ccx_fewest;
	struct place_vm_result *results;
};

static void find_ideals(struct solving *solving)
{
	struct place_state *empty = solving->empty;

	for (int v = 0; v < empty->vm_count; v++) {
		struct place_spot spot;

		if (empty->node_count > 1 && (empty->problem->strict || empty->problem->vms[v].device_node >= 0))
			count_nodes(empty, v);
		empty->even_fits[v] = true;
		empty->even_fits[v] = empty->problem->vms[v].even && place_one(empty, v, &spot);
		solving->ideal[v] = place_one(empty, v, &spot) ? spot.cost : -1;
		solving->ccx_fewest[v] = solving->ideal[v] >= 0 ? spot.part_count : 0;
	}
}

/* What is known of the empty host, and the bounds of each VM with only the kept ones there. */
static void find_bounds(struct solving *solving)
{
	struct place_state *state = solving->state;
	const struct place_problem *problem = solving->problem;

	for (int v = 0; v < state->vm_count; v++) {
		const struct place_vm *vm = &problem->vms[v];
		struct place_spot spot;

		state->nodes_fewest[v] = solving->empty->nodes_fewest[v];
		state->one_socket[v] = solving->empty->one_socket[v];
		state->device_fits[v] = solving->empty->device_fits[v];
		state->even_fits[v] = solving->empty->even_fits[v] && vm->right != PLACE_KEEP;
		if (problem->max_excess_ns >= 0 && vm->right == PLACE_NEW && solving->ideal[v] >= 0)
			state->most_cost[v] = solving->ideal[v] + (int64_t)problem->max_excess_ns * 1000 * vm->cores;
		if (vm->right != PLACE_KEEP)
			state->bound[v] = place_one(state, v, &spot) ? spot.cost : -1;
	}
}

/* VMs that exist begin where they are, as far as that is free. */
static void put_existing(struct place_state *state)
{
	for (int v = 0; v < state->vm_count; v++) {
		const struct place_vm *vm = &state->problem->vms[v];
		struct place_spot spot = {.parts = state->scratch[0],
					  .page_size = vm->memory_kib > 0 ? vm->now_page_size : -1};

		if (vm->right != PLACE_REPIN && vm->right != PLACE_MOVE)
			continue;
		for (int i = 0; i < state->ccx_count; i++) {
			if (vm->now[i] > 0)
				spot.parts[spot.part_count++] = (struct place_part){.ccx = i, .cores = vm->now[i]};
		}
		place_spot_price(state, v, &spot);
		if (place_fits(state, v, &spot))
			place_put(state, v, &spot);
	}
}

static bool goes_before(const struct place_problem *problem, int a, int b, bool by_priority)
{
	const struct place_vm *one = &problem->vms[a], *other = &problem->vms[b];

	/* What exists must not lose its place. */
	if ((one->right == PLACE_NEW) != (other->right == PLACE_NEW))
		return one->right != PLACE_NEW;
	if (by_priority && one->priority != other->priority)
		return one->priority > other->priority;
	if (one->cores != other->cores)
		return one->cores > other->cores;
	if (one->memory_kib != other->memory_kib)
		return one->memory_kib > other->memory_kib;
	return one->device_node >= 0 && other->device_node < 0;
}

/* Place what has no place yet, the largest first. */
static void put_others(struct place_state *state, bool by_priority)
{
	int *order = ARENA_ARRAY(state->arena, (size_t)state->vm_count, int);
	int count = 0;

	for (int v = 0; v < state->vm_count; v++) {
		int at = count;

		if (state->problem->vms[v].right == PLACE_KEEP || state->spots[v].placed || state->bound[v] < 0)
			continue;
		for (; at > 0 && goes_before(state->problem, v, order[at - 1], by_priority); at--)
			order[at] = order[at - 1];
		order[at] = v;
		count++;
	}
	for (int i = 0; i < count; i++) {
		struct place_spot spot;

		if (place_one(state, order[i], &spot))
			place_put(state, order[i], &spot);
	}
}

static int compare_parts(const void *a, const void *b)
{
	return ((const struct place_part *)a)->ccx - ((const struct place_part *)b)->ccx;
}

static void fill_result(struct solving *solving, int v, struct place_spot *spot)
{
	const struct place_problem *problem = solving->problem;
	const struct place_vm *vm = &problem->vms[v];
	struct place_vm_result *result = &solving->results[v];
	int64_t *pages = ARENA_ARRAY(solving->arena, (size_t)problem->node_count, int64_t);
	int *cores = ARENA_ARRAY(solving->arena, (size_t)problem->node_count, int);
	struct place_part *parts = ARENA_ARRAY(solving->arena, (size_t)spot->part_count, struct place_part);

	memcpy(parts, spot->parts, (size_t)spot->part_count * sizeof(*parts));
	qsort(parts, (size_t)spot->part_count, sizeof(*parts), compare_parts);
	result->placed = true;
	result->parts = parts;
	result->part_count = spot->part_count;
	result->page_size = spot->page_size;
	result->pages = pages;
	result->even = true;
	for (int i = 0; i < spot->part_count; i++) {
		cores[problem->ccxs[parts[i].ccx].node] += parts[i].cores;
		result->even &= parts[i].cores == parts[0].cores;
	}
	for (int node = 0; node < problem->node_count; node++) {
		result->node_count += cores[node] > 0;
		if (cores[node] > 0 && spot->page_size >= 0 && vm->right != PLACE_KEEP)
			pages[node] = MAX_OF(place_pages_of(problem, vm, cores[node], spot->page_size), 0);
		if (vm->right != PLACE_NEW && vm->right != PLACE_MOVE && vm->now_pages)
			pages[node] = vm->now_pages[node];
	}
	place_cost_parts(solving->state, vm, parts, spot->part_count, &result->pair_cost, &result->memory_cost,
			 &result->device_cost, &result->class_cost);
	result->cost = result->pair_cost + result->memory_cost + result->device_cost + result->class_cost;
	result->changed = spot->changed;
	result->moved_kib = spot->moved_kib;
}

/* A kept VM as it lies. Its cores are those of `now`, which may be more or fewer than it asks for. */
static void fill_kept(struct solving *solving, int v)
{
	const struct place_vm *vm = &solving->problem->vms[v];
	struct place_spot spot = {.parts = solving->state->scratch[0],
				  .page_size = vm->memory_kib > 0 ? vm->now_page_size : -1};

	for (int i = 0; i < solving->state->ccx_count; i++) {
		if (vm->now[i] > 0)
			spot.parts[spot.part_count++] = (struct place_part){.ccx = i, .cores = vm->now[i]};
	}
	/* One that floats has nothing that could be priced. */
	solving->results[v].placed = true;
	if (spot.part_count > 0)
		fill_result(solving, v, &spot);
	solving->results[v].bound = solving->results[v].cost;
}

static void fill_results(struct solving *solving, struct place_solution *solution)
{
	struct place_state *state = solving->state;

	for (int v = 0; v < state->vm_count; v++) {
		struct place_vm_result *result = &solving->results[v];

		result->page_size = -1;
		result->ideal = solving->ideal[v];
		result->bound = state->bound[v];
		result->ccx_fewest = solving->ccx_fewest[v];
		if (solving->problem->vms[v].right == PLACE_KEEP)
			fill_kept(solving, v);
		else if (state->spots[v].placed)
			fill_result(solving, v, &state->spots[v]);
		if (state->spots[v].placed)
			solution->placed_cores += solving->problem->vms[v].cores;
		if (solving->problem->vms[v].right != PLACE_KEEP)
			result->reason = place_reason(state, solving->empty, v, solving->ideal[v]);
	}
}

static struct place_solution *make_solution(struct solving *solving, bool looked_at_all)
{
	struct place_solution *solution = ARENA_NEW(solving->arena, struct place_solution);
	struct place_state *state = solving->state;

	solution->vms = solving->results;
	solution->score = state->score;
	solution->unplaced_bound = place_unplaced_bound(state);
	solution->free = state->free;
	solution->steps = state->steps;
	fill_results(solving, solution);
	solution->proof = PLACE_NOT_PROVED;
	if (looked_at_all)
		solution->proof = PLACE_PROVED_ALL;
	else if (state->score.unplaced <= solution->unplaced_bound && state->score.excess == 0)
		solution->proof = PLACE_PROVED_LATENCY;
	else if (solution->placed_cores > 0)
		solution->gap_ps = state->score.excess / solution->placed_cores;
	return solution;
}

/* Returns whether every placement was looked at. */
static bool solve(struct solving *solving)
{
	struct place_state *state = solving->state;
	int64_t effort = solving->problem->effort > 0 ? solving->problem->effort : EFFORT_USUAL;
	int64_t bound = place_unplaced_bound(state);

	put_existing(state);
	put_others(state, bound > 0);
	place_arrivals(state);
	/* A small problem is looked at whole; that goes faster the better the best known placement is. */
	place_search(state, bound, MIN_OF(effort, EFFORT_FIRST));
	if (place_exact(state, EXACT_STEPS))
		return true;
	place_search(state, bound, effort);
	return false;
}

int place_solve(struct arena *arena, const struct place_problem *problem, const struct place_solution **ret,
		struct err *err)
{
	struct solving solving = {.arena = arena, .problem = problem};
	bool looked_at_all = false;
	int bad = check_host(problem, err);

	for (int i = 0; i < problem->vm_count && bad == 0; i++)
		bad = check_vm(problem, &problem->vms[i], err);
	if (bad != 0)
		return bad;
	solving.empty = place_state_new(arena, as_new(arena, problem), true);
	solving.state = place_state_new(arena, problem, false);
	solving.ideal = ARENA_ARRAY(arena, (size_t)problem->vm_count, int64_t);
	solving.ccx_fewest = ARENA_ARRAY(arena, (size_t)problem->vm_count, int);
	solving.results = ARENA_ARRAY(arena, (size_t)problem->vm_count, struct place_vm_result);
	find_ideals(&solving);
	find_bounds(&solving);
	looked_at_all = solve(&solving);
	*ret = make_solution(&solving, looked_at_all);
	return 0;
}

bool place_next(const struct place_problem *problem, const struct place_solution *solution, int cores,
		int64_t *ret_cost, int *ret_ccxs)
{
	struct arena *arena = arena_new();
	struct place_ccx *ccxs = ARENA_ARRAY(arena, (size_t)problem->ccx_count, struct place_ccx);
	const struct place_vm vm = {.cores = cores, .device_node = -1, .priority = 1, .apart_group = -1};
	struct place_problem next = *problem;
	struct place_state *state = NULL;
	struct place_spot spot;
	bool found = false;

	for (int i = 0; i < problem->ccx_count; i++) {
		ccxs[i] = problem->ccxs[i];
		ccxs[i].free = solution->free[i];
	}
	next.ccxs = ccxs;
	next.vms = &vm;
	next.vm_count = 1;
	state = place_state_new(arena, &next, false);
	found = cores > 0 && place_one(state, 0, &spot);
	if (found) {
		*ret_cost = spot.cost;
		*ret_ccxs = spot.part_count;
	}
	(void)arena_free(arena);
	return found;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the proof by brute force: on hundreds of small hosts every placement is looked at, priced core by core, and none
 * may be better than the solver's in the lexicographic order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "place.h"

enum { CCXS = 4, NODES = 4, VMS = 5, CORES = 16 };

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return *seed >> 33;
}

static int below(uint64_t *seed, int count)
{
	return (int)(next(seed) % (uint64_t)count);
}

struct instance {
	struct place_ccx ccxs[CCXS];
	struct place_node nodes[NODES];
	struct place_vm vms[VMS];
	int now[VMS][CCXS];
	int64_t now_pages[VMS][NODES];
	struct place_problem problem;
};

/* ---- the oracle ---- */

struct oracle {
	const struct place_problem *problem;
	int counts[VMS][CCXS];
	bool placed[VMS];
	int free[CCXS];
	int64_t pages[NODES];
	int64_t bound[VMS];
	int64_t cost[VMS];
	struct place_score best;
	bool found;
	int alone; /* only this VM; -1: all */
	int64_t alone_cost;
};

/* The latency between two cores, and where a core is. */
static int64_t latency(const struct place_problem *problem, int a, int b)
{
	const struct place_latency *is = &place_latency_default;
	const struct place_ccx *one = &problem->ccxs[a], *other = &problem->ccxs[b];

	if (a == b)
		return is->ccx;
	if (one->socket != other->socket)
		return is->other;
	return one->node == other->node && one->quadrant == other->quadrant ? is->node : is->socket;
}

/* Straight from the definition: the mean over all pairs of cores, and over all cores and places of memory. */
static int64_t price(const struct place_problem *problem, const struct place_vm *vm, const int *counts)
{
	const struct place_latency *is = &place_latency_default;
	int where[CORES], c = 0;
	int64_t pairs = 0, memory = 0, flat = 0, d = 0;

	for (int i = 0; i < problem->ccx_count; i++) {
		for (int n = 0; n < counts[i]; n++)
			where[c++] = i;
	}
	for (int a = 0; a < c; a++) {
		const struct place_ccx *at = &problem->ccxs[where[a]];

		for (int b = 0; b < c; b++) {
			const struct place_ccx *other = &problem->ccxs[where[b]];

			pairs += a == b ? 0 : latency(problem, where[a], where[b]);
			if (at->socket != other->socket)
				memory += is->memory_other;
			else if (at->node != other->node)
				memory += is->memory_node;
		}
		flat += vm->device_node >= 0 && at->node != vm->device_node ? 1000 * is->device : 0;
		flat += vm->wish != PLACE_CLASS_NONE && at->class != vm->wish ? 1000 * is->class_mismatch : 0;
	}
	/* c P = pairs / (c - 1); c M = memory / c */
	d = c > 1 ? c - 1 : 1;
	return (1000 * (pairs * c + (vm->memory_kib > 0 ? memory * d : 0)) + c * d / 2) / (c * d) + flat;
}

static bool conflicts(const struct oracle *oracle, int v)
{
	const struct place_problem *problem = oracle->problem;
	const struct place_vm *vm = &problem->vms[v];

	for (int w = 0; w < v; w++) {
		const struct place_vm *other = &problem->vms[w];

		if (vm->apart == PLACE_APART_NONE || other->apart == PLACE_APART_NONE ||
		    vm->apart_group != other->apart_group || !oracle->placed[w])
			continue;
		for (int i = 0; i < problem->ccx_count; i++) {
			for (int j = 0; j < problem->ccx_count; j++) {
				bool meet = i == j;

				if (vm->apart == PLACE_APART_NODE)
					meet = problem->ccxs[i].node == problem->ccxs[j].node;
				if (vm->apart == PLACE_APART_SOCKET)
					meet = problem->ccxs[i].socket == problem->ccxs[j].socket;
				if (meet && oracle->counts[v][i] > 0 && oracle->counts[w][j] > 0)
					return true;
			}
		}
	}
	return false;
}

static struct place_score score_of(const struct oracle *oracle)
{
	const struct place_problem *problem = oracle->problem;
	struct place_score score = {0};
	bool ccd_used[CCXS] = {0};

	for (int v = 0; v < problem->vm_count; v++) {
		const struct place_vm *vm = &problem->vms[v];

		if (oracle->placed[v])
			score.excess += oracle->cost[v] - oracle->bound[v];
		else
			score.unplaced += (int64_t)vm->priority * vm->cores;
		score.changed += vm->right != PLACE_NEW &&
				 memcmp(oracle->counts[v], vm->now, (size_t)problem->ccx_count * sizeof(int)) != 0;
	}
	for (int i = 0; i < problem->ccx_count; i++) {
		int owners = 0, used = 0;
		int64_t square = (int64_t)oracle->free[i] * oracle->free[i];

		for (int v = 0; v < problem->vm_count; v++) {
			owners += oracle->placed[v] && oracle->counts[v][i] > 0;
			used += oracle->placed[v] ? oracle->counts[v][i] : 0;
		}
		score.policy += problem->policy == PLACE_SPREAD ? square : -square;
		score.sharing += owners > 1 ? used : 0;
		ccd_used[problem->ccxs[i].ccd] |= used > 0;
	}
	for (int i = 0; i < CCXS && problem->policy == PLACE_POWER; i++)
		score.policy += ccd_used[i] ? (int64_t)1 << 40 : 0;
	return score;
}

static void all_from(struct oracle *oracle, int v);

static void with_counts(struct oracle *oracle, int v)
{
	const struct place_problem *problem = oracle->problem;
	const struct place_vm *vm = &problem->vms[v];
	int64_t need[NODES] = {0};
	int cores[NODES] = {0}, nodes = 0;

	for (int i = 0; i < problem->ccx_count; i++)
		cores[problem->ccxs[i].node] += oracle->counts[v][i];
	for (int n = 0; n < problem->node_count; n++) {
		int now = 0;

		for (int i = 0; i < problem->ccx_count && vm->right == PLACE_REPIN; i++)
			now += problem->ccxs[i].node == n ? vm->now[i] : 0;
		if (vm->right == PLACE_REPIN && now != cores[n])
			return;
		nodes += cores[n] > 0;
		if (vm->memory_kib > 0 && vm->right == PLACE_NEW)
			need[n] = (vm->memory_kib * cores[n] + problem->page_kib[1] * vm->cores - 1) /
				  (problem->page_kib[1] * vm->cores);
		if (need[n] > oracle->pages[n])
			return;
	}
	if (vm->max_nodes > 0 && nodes > vm->max_nodes)
		return;
	if (oracle->alone < 0 && conflicts(oracle, v))
		return;
	oracle->cost[v] = price(problem, vm, oracle->counts[v]);
	if (oracle->alone >= 0) {
		oracle->alone_cost = MIN_OF(oracle->alone_cost, oracle->cost[v]);
		return;
	}
	for (int n = 0; n < problem->node_count; n++)
		oracle->pages[n] -= need[n];
	oracle->placed[v] = true;
	all_from(oracle, v + 1);
	oracle->placed[v] = false;
	for (int n = 0; n < problem->node_count; n++)
		oracle->pages[n] += need[n];
}

static void divide(struct oracle *oracle, int v, int ccx, int rest)
{
	if (ccx == oracle->problem->ccx_count) {
		if (rest == 0)
			with_counts(oracle, v);
		return;
	}
	for (int n = 0; n <= MIN_OF(rest, oracle->free[ccx]); n++) {
		oracle->counts[v][ccx] = n;
		oracle->free[ccx] -= n;
		divide(oracle, v, ccx + 1, rest - n);
		oracle->free[ccx] += n;
	}
	oracle->counts[v][ccx] = 0;
}

static void all_from(struct oracle *oracle, int v)
{
	if (v == oracle->problem->vm_count) {
		struct place_score score = score_of(oracle);

		if (!oracle->found || place_score_compare(&score, &oracle->best) < 0)
			oracle->best = score;
		oracle->found = true;
		return;
	}
	divide(oracle, v, 0, oracle->problem->vms[v].cores);
	memset(oracle->counts[v], 0, sizeof(oracle->counts[v]));
	if (oracle->problem->vms[v].right == PLACE_NEW)
		all_from(oracle, v + 1);
}

static struct place_score brute_force(const struct place_problem *problem)
{
	struct oracle oracle = {.problem = problem};

	for (int i = 0; i < problem->ccx_count; i++)
		oracle.free[i] = problem->ccxs[i].free;
	for (int n = 0; n < problem->node_count; n++)
		oracle.pages[n] = problem->nodes[n].free_pages[1];
	for (int v = 0; v < problem->vm_count; v++) {
		oracle.alone = v;
		oracle.alone_cost = INT64_MAX;
		divide(&oracle, v, 0, problem->vms[v].cores);
		memset(oracle.counts[v], 0, sizeof(oracle.counts[v]));
		oracle.bound[v] = oracle.alone_cost;
	}
	oracle.alone = -1;
	all_from(&oracle, 0);
	return oracle.best;
}

/* ---- instances ---- */

/* Shapes of up to four CCXs: sockets x nodes a socket x CCXs a node. */
static const struct {
	int sockets, nodes, ccxs;
} shapes[] = {{1, 1, 4}, {1, 2, 2}, {2, 1, 2}, {2, 2, 1}, {1, 1, 2}, {1, 1, 3}, {1, 4, 1}};

static void make_host(struct instance *is, uint64_t *seed)
{
	size_t shape = (size_t)below(seed, ARRAY_SIZE(shapes));
	int nodes = shapes[shape].nodes, ccxs = shapes[shape].ccxs, cores = 2 + below(seed, 3);
	bool classes = below(seed, 4) == 0, quadrants = below(seed, 6) == 0;

	is->problem.node_count = shapes[shape].sockets * nodes;
	is->problem.ccx_count = is->problem.node_count * ccxs;
	is->problem.page_kib[1] = 2048;
	for (int n = 0; n < is->problem.node_count; n++) {
		is->nodes[n].socket = n / nodes;
		for (int size = 0; size < PLACE_PAGE_SIZES; size++)
			is->nodes[n].free_pages[size] = is->nodes[n].total_pages[size] = 4 + below(seed, 12);
	}
	for (int i = 0; i < is->problem.ccx_count; i++) {
		int free = MAX_OF(cores - (below(seed, 3) == 0), 1);

		is->ccxs[i] = (struct place_ccx){.cores = free,
						 .free = free,
						 .node = i / ccxs,
						 .socket = i / ccxs / nodes,
						 .quadrant = quadrants ? i % 2 : -1,
						 .ccd = i / 2};
		if (classes)
			is->ccxs[i].class = i % 2 ? PLACE_CLASS_FREQUENCY : PLACE_CLASS_CACHE;
	}
}

static void make_vms(struct instance *is, uint64_t *seed)
{
	bool memory = below(seed, 2), apart = below(seed, 4) == 0;
	int total = 0, count = 0, load = 60 + below(seed, 60);

	for (int i = 0; i < is->problem.ccx_count; i++)
		total += is->ccxs[i].free;
	while (count < VMS && total * load / 100 > 0) {
		struct place_vm *vm = &is->vms[count];

		*vm =
		    (struct place_vm){.cores = 1 + below(seed, 5), .device_node = -1, .apart_group = -1, .priority = 1};
		load -= vm->cores * 100 / total;
		if (load < 0 && count > 0)
			break;
		vm->cores = MIN_OF(vm->cores, total);
		if (memory) {
			vm->memory_kib = (1 + below(seed, 3)) * vm->cores * 2048 - below(seed, 2) * 1024;
			vm->page_sizes = 2;
		}
		if (is->problem.node_count > 1 && below(seed, 5) == 0)
			vm->device_node = below(seed, is->problem.node_count);
		if (below(seed, 3) == 0)
			vm->wish = PLACE_CLASS_CACHE;
		if (below(seed, 8) == 0)
			vm->max_nodes = 1;
		if (below(seed, 8) == 0)
			vm->priority = 3;
		if (apart) {
			vm->apart = PLACE_APART_CCX;
			vm->apart_group = 0;
		}
		count++;
	}
	is->problem.vm_count = count;
}

/* Some VMs exist already: each CCX in turn filled with what fits whole. */
static void make_existing(struct instance *is, uint64_t *seed)
{
	int free[CCXS];

	for (int i = 0; i < is->problem.ccx_count; i++)
		free[i] = is->ccxs[i].free;
	for (int v = 0; v < is->problem.vm_count; v++) {
		int rest = is->vms[v].cores, taken[CCXS] = {0};

		if (below(seed, 2) || is->vms[v].apart != PLACE_APART_NONE || is->vms[v].max_nodes > 0)
			continue;
		for (int i = 0; i < is->problem.ccx_count && rest > 0; i++) {
			int ccx = (i + v) % is->problem.ccx_count, n = MIN_OF(rest, MIN_OF(free[ccx], 2));

			taken[ccx] = n;
			rest -= n;
		}
		if (rest > 0)
			continue;
		for (int i = 0; i < is->problem.ccx_count; i++) {
			is->now[v][i] = taken[i];
			free[i] -= taken[i];
		}
		is->vms[v].right = PLACE_REPIN;
		is->vms[v].now = is->now[v];
		is->vms[v].now_page_size = 1;
	}
}

static void make_instance(struct instance *is, uint64_t seed, enum place_policy policy, bool existing)
{
	memset(is, 0, sizeof(*is));
	is->problem = (struct place_problem){.ccxs = is->ccxs,
					     .nodes = is->nodes,
					     .vms = is->vms,
					     .policy = policy,
					     .max_excess_ns = -1,
					     .max_changes = -1};
	(void)next(&seed);
	make_host(is, &seed);
	make_vms(is, &seed);
	if (existing)
		make_existing(is, &seed);
}

static void check_counts(const struct place_problem *problem, const struct place_solution *solution)
{
	int free[CCXS];
	int64_t pages[NODES];

	for (int i = 0; i < problem->ccx_count; i++)
		free[i] = problem->ccxs[i].free;
	for (int n = 0; n < problem->node_count; n++)
		pages[n] = problem->nodes[n].free_pages[1];
	for (int v = 0; v < problem->vm_count; v++) {
		const struct place_vm_result *result = &solution->vms[v];
		int sum = 0;

		for (int i = 0; i < result->part_count; i++) {
			free[result->parts[i].ccx] -= result->parts[i].cores;
			sum += result->parts[i].cores;
		}
		assert_int_equal(sum, result->placed ? problem->vms[v].cores : 0);
		for (int n = 0; n < problem->node_count && result->placed; n++)
			pages[n] -= problem->vms[v].right == PLACE_NEW ? result->pages[n] : 0;
		assert_true(result->placed || result->reason);
	}
	for (int i = 0; i < problem->ccx_count; i++) {
		assert_true(free[i] >= 0);
		assert_int_equal(free[i], solution->free[i]);
	}
	for (int n = 0; n < problem->node_count; n++)
		assert_true(pages[n] >= 0);
}

static void compare_with_all(enum place_policy policy, bool existing, int instances)
{
	int proved = 0;

	for (int seed = 0; seed < instances; seed++) {
		struct arena *arena CLEANUP(arena_free_pointer) = arena_new();
		struct instance is;
		const struct place_solution *solution = NULL;
		struct err err = {0};
		struct place_score best;

		make_instance(&is, (uint64_t)seed + 1000 * policy, policy, existing);
		assert_int_equal(place_solve(arena, &is.problem, &solution, &err), 0);
		best = brute_force(&is.problem);
		check_counts(&is.problem, solution);
		if (place_score_compare(&solution->score, &best) != 0)
			fail_msg("instance %d: unplaced %ld excess %ld changed %ld policy %ld sharing %ld, best %ld "
				 "%ld %ld %ld %ld",
				 seed, (long)solution->score.unplaced, (long)solution->score.excess,
				 (long)solution->score.changed, (long)solution->score.policy,
				 (long)solution->score.sharing, (long)best.unplaced, (long)best.excess,
				 (long)best.changed, (long)best.policy, (long)best.sharing);
		proved += solution->proof == PLACE_PROVED_ALL;
	}
	assert_int_equal(proved, instances);
}

static void test_pack(void **unused)
{
	(void)unused;
	compare_with_all(PLACE_PACK, false, 160);
}

static void test_spread(void **unused)
{
	(void)unused;
	compare_with_all(PLACE_SPREAD, false, 40);
}

static void test_power(void **unused)
{
	(void)unused;
	compare_with_all(PLACE_POWER, false, 40);
}

static void test_existing(void **unused)
{
	(void)unused;
	compare_with_all(PLACE_PACK, true, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pack),
	    cmocka_unit_test(test_spread),
	    cmocka_unit_test(test_power),
	    cmocka_unit_test(test_existing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

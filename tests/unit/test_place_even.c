/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the proof that equal parts are the best equal parts: on hundreds of hosts of up to two sockets and twelve CCXs
 * every choice of CCXs is looked at, and none that is as even may cost less than the solver's.
 */
#include "place.h"
#include "unit.h"

enum { CCXS = 12, NODES = 8, CORES_MAX = 16, INSTANCES = 1500 };

struct instance {
	struct place_ccx ccxs[CCXS];
	struct place_node nodes[NODES];
	struct place_vm vm;
	struct place_problem problem;
};

static int below(uint64_t *seed, int count)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return (int)((*seed >> 33) % (uint64_t)count);
}

static void make(struct instance *is, uint64_t seed)
{
	static const struct {
		int sockets, nodes, ccxs;
	} shapes[] = {{1, 1, 12}, {1, 2, 4}, {1, 4, 2}, {1, 4, 3}, {2, 1, 6}, {2, 2, 3}, {2, 2, 2}, {2, 4, 1}};
	bool memory = below(&seed, 2), classes = below(&seed, 4) == 0;
	size_t shape = (size_t)below(&seed, ARRAY_SIZE(shapes));
	int nodes = shapes[shape].sockets * shapes[shape].nodes, cores = 2 + below(&seed, 5);

	*is = (struct instance){.problem = {.ccxs = is->ccxs,
					    .nodes = is->nodes,
					    .vms = &is->vm,
					    .vm_count = 1,
					    .ccx_count = nodes * shapes[shape].ccxs,
					    .node_count = nodes,
					    .page_kib = {0, 2048, 0},
					    .max_excess_ns = -1,
					    .max_changes = -1}};
	for (int n = 0; n < nodes; n++) {
		is->nodes[n].socket = n / shapes[shape].nodes;
		for (int size = 0; size < PLACE_PAGE_SIZES; size++)
			is->nodes[n].free_pages[size] = is->nodes[n].total_pages[size] = 2 + below(&seed, 16);
	}
	for (int i = 0; i < is->problem.ccx_count; i++) {
		int free = MAX_OF(cores - (below(&seed, 3) == 0 ? 1 + below(&seed, 2) : 0), 0);

		is->ccxs[i] = (struct place_ccx){.cores = free,
						 .free = free,
						 .node = i / shapes[shape].ccxs,
						 .socket = is->nodes[i / shapes[shape].ccxs].socket,
						 .quadrant = -1,
						 .ccd = i};
		if (classes && nodes == 1) /* as all hosts with unlike L3 groups are */
			is->ccxs[i].class = below(&seed, 2) ? PLACE_CLASS_FREQUENCY : PLACE_CLASS_CACHE;
	}
	is->vm = (struct place_vm){.cores = 2 + below(&seed, CORES_MAX - 1),
				   .device_node = below(&seed, 3) == 0 ? below(&seed, nodes) : -1,
				   .even = true,
				   .apart_group = -1,
				   .priority = 1};
	if (memory) {
		is->vm.memory_kib = (1 + below(&seed, 3)) * is->vm.cores * 2048;
		is->vm.page_sizes = 2;
	}
	if (classes && nodes == 1 && below(&seed, 3))
		is->vm.wish = PLACE_CLASS_CACHE;
}

/* The cost of equal parts on these CCXs, straight from the definition; -1 when that is none, or does not fit. */
static int64_t cost_of(const struct instance *is, unsigned chosen, int part)
{
	const struct place_latency *l = &place_latency_default;
	const struct place_vm *vm = &is->vm;
	int parts_of[NODES] = {0}, most = 0;
	int64_t pairs = 0, memory = 0, flat = 0, c = vm->cores, d = c > 1 ? c - 1 : 1;

	for (int i = 0; i < is->problem.ccx_count; i++) {
		if (!(chosen >> i & 1))
			continue;
		if (is->ccxs[i].free < part)
			return -1;
		parts_of[is->ccxs[i].node]++;
	}
	for (int n = 0; n < is->problem.node_count; n++) {
		int64_t need = (vm->memory_kib * parts_of[n] * part + 2048 * c - 1) / (2048 * c);

		most = MAX_OF(most, parts_of[n]);
		if (need > is->nodes[n].free_pages[1])
			return -1;
	}
	/* As many parts on each node: the sockets of the guest are alike. */
	for (int n = 0; n < is->problem.node_count; n++)
		if (parts_of[n] && parts_of[n] != most)
			return -1;
	for (int i = 0; i < is->problem.ccx_count; i++) {
		const struct place_ccx *a = &is->ccxs[i];

		if (!(chosen >> i & 1))
			continue;
		flat += vm->device_node >= 0 && a->node != vm->device_node ? 1000 * l->device * part : 0;
		flat += vm->wish != PLACE_CLASS_NONE && a->class != vm->wish ? 1000 * l->class_mismatch * part : 0;
		for (int j = 0; j < is->problem.ccx_count; j++) {
			const struct place_ccx *b = &is->ccxs[j];
			int64_t between = (int64_t)part * part;

			if (!(chosen >> j & 1))
				continue;
			pairs += i == j			  ? (int64_t)part * (part - 1) * l->ccx
				 : a->socket != b->socket ? between * l->other
				 : a->node != b->node	  ? between * l->socket
							  : between * l->node;
			memory += a->socket != b->socket ? between * l->memory_other
				  : a->node != b->node	 ? between * l->memory_node
							 : 0;
		}
	}
	return (1000 * (pairs * c + (vm->memory_kib > 0 ? memory * d : 0)) + c * d / 2) / (c * d) + flat;
}

/* The least cost of equal parts; -1: there are none. */
static int64_t best_of(const struct instance *is)
{
	int64_t best = -1;

	for (int parts = 1; parts <= MIN_OF(is->vm.cores, is->problem.ccx_count); parts++)

		for (unsigned chosen = 0; chosen < 1U << is->problem.ccx_count && is->vm.cores % parts == 0; chosen++) {
			int64_t cost =
			    __builtin_popcount(chosen) == parts ? cost_of(is, chosen, is->vm.cores / parts) : -1;

			if (cost >= 0 && (best < 0 || cost < best))
				best = cost;
		}
	return best;
}

static void test_no_equal_parts_are_better(void **state)
{
	int even = 0, over_nodes = 0;

	(void)state;
	for (int seed = 0; seed < INSTANCES; seed++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		const struct place_solution *solution = NULL;
		struct instance is;

		make(&is, (uint64_t)seed);

		int64_t best = best_of(&is);

		assert_int_equal(place_solve(arena, &is.problem, &solution, NULL), 0);
		const struct place_vm_result *result = &solution->vms[0];

		/* Where there are none the wish is left aside. */
		if (best < 0) {
			if (result->placed && result->even && result->part_count > 1 && result->node_count == 1)
				fail_msg("instance %d: equal parts that were not found by all", seed);
			continue;
		}
		if (!result->placed || !result->even || result->cost != best)
			fail_msg("instance %d: %d cores in %d parts for %ld ps, best %ld ps", seed, is.vm.cores,
				 result->part_count, (long)result->cost, (long)best);
		assert_int_equal(result->bound, best);
		even += result->part_count > 1;
		over_nodes += result->node_count > 1;
	}
	/* The draw makes both. */
	assert_true(even > INSTANCES / 4);
	assert_true(over_nodes > INSTANCES / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_equal_parts_are_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

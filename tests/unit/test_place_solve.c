/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of the solver on problems whose answer is known: wishes one by one, refusals, and that it always says the
 * same. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "place.h"

enum { NODES = 4, CCXS = 8, VMS = 40 };

/* Two sockets of two nodes of two CCXs of eight cores; 64 GiB in 2 MiB pages a node. */
struct fixture {
	struct arena *arena;
	struct place_ccx ccxs[CCXS];
	struct place_node nodes[NODES];
	struct place_vm vms[VMS];
	struct place_problem problem;
	const struct place_solution *solution;
};

static struct fixture *begin(void)
{
	struct arena *arena = arena_new();
	struct fixture *is = ARENA_NEW(arena, struct fixture);

	is->arena = arena;
	for (int n = 0; n < NODES; n++)
		is->nodes[n] =
		    (struct place_node){.socket = n / 2, .free_pages = {0, 32768, 0}, .total_pages = {0, 32768, 0}};
	for (int i = 0; i < CCXS; i++)
		is->ccxs[i] = (struct place_ccx){
		    .cores = 8, .free = 8, .node = i / 2, .socket = i / 4, .quadrant = -1, .ccd = i / 2};
	for (int v = 0; v < VMS; v++)
		is->vms[v] = (struct place_vm){.cores = 1, .device_node = -1, .apart_group = -1, .priority = 1};
	is->problem = (struct place_problem){.ccxs = is->ccxs,
					     .ccx_count = CCXS,
					     .nodes = is->nodes,
					     .node_count = NODES,
					     .page_kib = {4, 2048, 1048576},
					     .vms = is->vms,
					     .max_excess_ns = -1,
					     .max_changes = -1};
	return is;
}

static const struct place_vm_result *solve(struct fixture *is, int vm_count)
{
	struct err err = {0};

	is->problem.vm_count = vm_count;
	if (place_solve(is->arena, &is->problem, &is->solution, &err) < 0)
		fail_msg("%s", err.what);
	return is->solution->vms;
}

static void end(struct fixture *is)
{
	struct arena *arena = is->arena;

	arena_free_pointer(&arena);
}

static void test_unequal_parts_are_better(void **state)
{
	struct fixture *is = begin();
	const struct place_vm_result *vm = NULL;

	(void)state;
	is->vms[0].cores = 9;
	vm = solve(is, 1);
	assert_int_equal(vm->part_count, 2);
	assert_int_equal(vm->parts[0].cores, 8);
	/* 28 pairs in the first CCX and 8 across: (28 x 25 + 8 x 105) / 36 ns, times nine cores. */
	assert_int_equal(vm->cost, 385000);
	assert_int_equal(vm->cost, vm->bound);
	end(is);
}

static void test_even(void **state)
{
	struct fixture *is = begin();
	const struct place_vm_result *vm = NULL;

	(void)state;
	is->vms[0].cores = 12;
	is->vms[0].even = true;
	is->vms[1].cores = 11;
	is->vms[1].even = true;
	vm = solve(is, 2);
	assert_true(vm[0].even);
	assert_int_equal(vm[0].part_count, 2);
	assert_int_equal(vm[0].parts[0].cores, 6);
	assert_int_equal(vm[0].node_count, 1);
	/* A prime above the CCX: eleven single cores do not exist, so the wish is left aside. */
	assert_true(vm[1].placed);
	assert_false(vm[1].even);
	end(is);
}

static void test_memory_spans_nodes(void **state)
{
	struct fixture *is = begin();
	const struct place_vm_result *vm = NULL;

	(void)state;
	is->vms[0].cores = 8;
	is->vms[0].memory_kib = 100LL * 1048576;
	is->vms[0].page_sizes = 2;
	vm = solve(is, 1);
	assert_true(vm->placed);
	assert_int_equal(vm->node_count, 2);
	/* Both of one socket, 5 + 3: more than five eighths of 100 GiB are not in a node. */
	assert_int_equal(vm->parts[0].cores + vm->parts[1].cores, 8);
	assert_int_equal(MAX_OF(vm->parts[0].cores, vm->parts[1].cores), 5);
	assert_int_equal(is->ccxs[vm->parts[0].ccx].socket, is->ccxs[vm->parts[1].ccx].socket);
	is->vms[0].max_nodes = 1;
	vm = solve(is, 1);
	assert_false(vm->placed);
	assert_non_null(vm->reason);
	end(is);
}

static void test_strict(void **state)
{
	struct fixture *is = begin();
	const struct place_vm_result *vm = NULL;

	(void)state;
	/* Nine free on each node: a VM of twelve would need two. */
	for (int i = 0; i < CCXS; i++)
		is->ccxs[i].free = i % 2 ? 1 : 8;
	is->vms[0].cores = 12;
	vm = solve(is, 1);
	assert_true(vm->placed);
	assert_non_null(vm->reason);
	is->problem.strict = true;
	vm = solve(is, 1);
	assert_false(vm->placed);
	is->problem.strict = false;
	is->problem.max_excess_ns = 5;
	vm = solve(is, 1);
	assert_false(vm->placed);
	assert_non_null(strstr(vm->reason, "5 ns"));
	end(is);
}

static void test_strict_device(void **state)
{
	struct fixture *is = begin();

	(void)state;
	is->vms[0].cores = 8;
	is->vms[0].device_node = 2;
	assert_int_equal(is->ccxs[solve(is, 1)->parts[0].ccx].node, 2);
	is->ccxs[4].free = is->ccxs[5].free = 0;
	assert_int_equal(solve(is, 1)->device_cost, 8 * 40000);
	is->problem.strict = true;
	assert_false(solve(is, 1)->placed);
	end(is);
}

static void test_apart(void **state)
{
	struct fixture *is = begin();
	const struct place_vm_result *vm = NULL;

	(void)state;
	for (int v = 0; v < 5; v++) {
		is->vms[v].apart = PLACE_APART_NODE;
		is->vms[v].apart_group = 0;
	}
	vm = solve(is, 5);
	for (int a = 0; a < 5; a++) {
		for (int b = 0; b < a; b++)
			assert_true(!vm[a].placed || !vm[b].placed ||
				    is->ccxs[vm[a].parts[0].ccx].node != is->ccxs[vm[b].parts[0].ccx].node);
	}
	/* Four nodes: the fifth has no place. */
	assert_int_equal(is->solution->score.unplaced, 1);
	for (int v = 0; v < 5; v++)
		is->vms[v].apart = PLACE_APART_SOCKET;
	(void)solve(is, 5);
	assert_int_equal(is->solution->score.unplaced, 3);
	end(is);
}

static int ccds_in_use(const struct fixture *is)
{
	int used = 0;

	for (int ccd = 0; ccd < CCXS / 2; ccd++)
		used += is->solution->free[2 * ccd] + is->solution->free[2 * ccd + 1] < 16;
	return used;
}

static void test_policies(void **state)
{
	struct fixture *is = begin();

	(void)state;
	for (int v = 0; v < 8; v++)
		is->vms[v].cores = 2;
	is->problem.policy = PLACE_SPREAD;
	(void)solve(is, 8);
	assert_int_equal(is->solution->score.sharing, 0);
	assert_int_equal(ccds_in_use(is), 4);
	is->problem.policy = PLACE_POWER;
	(void)solve(is, 8);
	assert_int_equal(ccds_in_use(is), 1);
	is->problem.policy = PLACE_PACK;
	(void)solve(is, 8);
	assert_int_equal(is->solution->score.policy, -6 * 64);
	end(is);
}

static void test_priority(void **state)
{
	struct fixture *is = begin();

	(void)state;
	for (int i = 1; i < CCXS; i++)
		is->ccxs[i].free = is->ccxs[i].cores = 0;
	is->vms[0].cores = is->vms[1].cores = 8;
	is->vms[1].priority = 2;
	assert_false(solve(is, 2)[0].placed);
	assert_true(is->solution->vms[1].placed);
	assert_int_equal(is->solution->proof, PLACE_PROVED_ALL);
	end(is);
}

static void test_next(void **state)
{
	struct fixture *is = begin();
	int64_t cost = 0;
	int ccxs = 0;

	(void)state;
	is->vms[0].cores = 3;
	(void)solve(is, 1);
	assert_true(place_next(&is->problem, is->solution, 8, &cost, &ccxs));
	assert_int_equal(ccxs, 1);
	assert_int_equal(cost, 8 * 25000);
	assert_false(place_next(&is->problem, is->solution, 62, &cost, &ccxs));
	end(is);
}

static void test_the_same_again(void **state)
{
	struct fixture *one = begin(), *other = begin();

	(void)state;
	for (int v = 0; v < VMS; v++) {
		one->vms[v].cores = other->vms[v].cores = 1 + v % 3;
		one->vms[v].device_node = other->vms[v].device_node = v % 5 - 1;
		one->vms[v].memory_kib = other->vms[v].memory_kib = (1 + v % 4) * 2LL * 1048576;
		one->vms[v].page_sizes = other->vms[v].page_sizes = 2;
	}
	(void)solve(one, 31);
	(void)solve(other, 31);
	assert_int_equal(place_score_compare(&one->solution->score, &other->solution->score), 0);
	assert_memory_equal(one->solution->free, other->solution->free, CCXS * sizeof(int));
	for (int v = 0; v < 31; v++) {
		assert_int_equal(one->solution->vms[v].part_count, other->solution->vms[v].part_count);
		assert_memory_equal(one->solution->vms[v].parts, other->solution->vms[v].parts,
				    (size_t)one->solution->vms[v].part_count * sizeof(struct place_part));
	}
	end(one);
	end(other);
}

static void test_refusals(void **state)
{
	struct fixture *is = begin();
	struct err err = {0};

	(void)state;
	is->problem.vm_count = 1;
	is->vms[0].cores = 0;
	assert_int_equal(place_solve(is->arena, &is->problem, &is->solution, &err), -EINVAL);
	is->vms[0].cores = 4;
	is->vms[0].memory_kib = 1024;
	assert_int_equal(place_solve(is->arena, &is->problem, &is->solution, &err), -EINVAL);
	is->vms[0].memory_kib = 0;
	is->vms[0].right = PLACE_REPIN;
	assert_int_equal(place_solve(is->arena, &is->problem, &is->solution, &err), -EINVAL);
	is->vms[0].right = PLACE_NEW;
	is->ccxs[3].free = 9;
	assert_int_equal(place_solve(is->arena, &is->problem, &is->solution, &err), -EINVAL);
	assert_null(is->solution);
	end(is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_unequal_parts_are_better),
	    cmocka_unit_test(test_even),
	    cmocka_unit_test(test_memory_spans_nodes),
	    cmocka_unit_test(test_strict),
	    cmocka_unit_test(test_strict_device),
	    cmocka_unit_test(test_apart),
	    cmocka_unit_test(test_policies),
	    cmocka_unit_test(test_priority),
	    cmocka_unit_test(test_next),
	    cmocka_unit_test(test_the_same_again),
	    cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

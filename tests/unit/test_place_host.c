/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of placing on hosts: CPU numbers, siblings, reserve, memory, merged nodes, what-if, pools. */
#include "unit.h"

#include <errno.h>

#include "machine.h"
#include "place_host.h"
#include "text.h"

enum { ZEN3 = 0x19, MILAN = 0x01, GIB = 1048576 };

static struct cpuset set_of(const char *list)
{
	struct cpuset set;

	assert_int_equal(cpuset_parse(list, &set, NULL), 0);
	return set;
}

static void assert_set(const struct cpuset *set, const char *list)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	assert_string_equal(cpuset_format(arena, set), list);
}

static struct place_wishes no_reserve(void)
{
	struct place_wishes wishes = place_wishes_default();

	wishes.reserve_cores = 0;
	return wishes;
}

static const struct place_plan *plan(struct arena *arena, struct tree *tree, const struct place_request *requests,
				     int count, const struct place_wishes *wishes)
{
	const struct place_plan *made = NULL;
	struct err err = {0};

	if (place_host(arena, tree_host(tree), requests, count, wishes, &made, &err) < 0)
		fail_msg("%s", err.what);
	return made;
}

/* No thread twice, whole cores only, nothing of the reserve. */
static void check_cores(const struct place_plan *made)
{
	struct cpuset seen = made->reserve;

	for (int i = 0; i < made->vm_count; i++) {
		const struct place_vm_plan *vm = &made->vms[i];
		struct cpuset all = cpuset_or(&vm->cpus, &vm->idle_siblings);

		if (!vm->result->placed || !vm->cpus_of_vcpus)
			continue;
		assert_false(cpuset_meets(&seen, &all));
		assert_int_equal(topology_split_cores(&made->host->topology, &all), 0);
		assert_int_equal(cpuset_count(&vm->cpus), vm->request->vcpus);
		seen = cpuset_or(&seen, &all);
	}
}

static void test_siblings(void **state)
{
	static const struct machine machine = {1, 1, 2, 4, 2, .family = ZEN3, .model = MILAN};
	static const struct place_request requests[] = {{.name = "threads", .vcpus = 5},
							{.name = "isolated", .vcpus = 4, .smt = PLACE_SMT_ISOLATED}};
	static const int threads[] = {4, 12, 5, 13, 6}, isolated[] = {0, 1, 2, 3};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = plan(arena, tree, requests, 2, &wishes);

	(void)state;
	assert_memory_equal(made->vms[0].cpus_of_vcpus, threads, sizeof(threads));
	assert_memory_equal(made->vms[1].cpus_of_vcpus, isolated, sizeof(isolated));
	assert_set(&made->vms[0].idle_siblings, "14");
	assert_set(&made->vms[1].idle_siblings, "8-11");
	assert_int_equal(made->vms[0].threads, 2);
	assert_int_equal(made->vms[1].threads, 1);
	assert_int_equal(made->vms[1].cores, 4);
	assert_non_null(made->vms[0].topology_note);
	assert_null(made->vms[1].topology_note);
	assert_int_equal(made->solution->proof, PLACE_PROVED_ALL);
	check_cores(made);
	tree_free(tree);
}

/* What the CPU manager of Kubernetes with its split-L3 policy picks must be met or beaten. */
static void test_kubernetes_picks(void **state)
{
	static const struct machine machines[] = {
	    {2, 1, 2, 4, 1, .family = ZEN3, .model = MILAN},
	    {1, 1, 2, 4, 2, .family = ZEN3, .model = MILAN},
	    {1, 2, 2, 4, 1, .family = ZEN3, .model = MILAN},
	};
	static const struct {
		int machine;
		const char *free;
		int need;
		const char *pick;
	} picks[] = {
	    {2, "3,4-8,12", 2, "4-5"},
	    {1, "2-3,10-11,4-7,12-15", 6, "4-6,12-14"},
	    {1, "1-7,9-15", 10, "1,4-7,9,12-15"},
	    {0, "2-15", 6, "2-7"},
	    {0, "8-15", 4, "8-11"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(picks); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		struct tree *tree = machine_tree(&machines[picks[i].machine]);
		struct place_request request = {.name = "pod", .vcpus = picks[i].need};
		struct place_wishes wishes = no_reserve();

		wishes.allowed = set_of(picks[i].free);
		assert_set(&plan(arena, tree, &request, 1, &wishes)->vms[0].cpus, picks[i].pick);
		tree_free(tree);
	}
}

/* karpenter-provider-proxmox: 16 GiB a node, CPUs 0 and 3 reserved, 4 CPUs and 12 GiB. */
static void test_memory_decides_the_node(void **state)
{
	static const struct machine machine = {1, 2, 2, 4, 1, .family = ZEN3, .model = MILAN};
	static const struct place_request request = {.name = "pod", .vcpus = 4, .memory_kib = 12LL * GIB};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = NULL;

	(void)state;
	wishes.reserve = set_of("0,3");
	made = plan(arena, tree, &request, 1, &wishes);
	assert_set(&made->vms[0].cpus, "4-7");
	assert_set(&made->vms[0].os_nodes, "0");
	assert_int_equal(made->vms[0].memory_kib[0], 12LL * GIB);
	assert_set(&made->reserve, "0,3");
	assert_set(&made->vms[0].service, "0,3");
	tree_free(tree);
}

static void add_pools(struct tree *tree, int node, int pages_2m, int pages_1g)
{
	static const char *const sizes[] = {"2048kB", "1048576kB"};
	const int pages[] = {pages_2m, pages_1g};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		static const char *const files[] = {"nr_hugepages", "free_hugepages"};
		char path[160], text[16];

		(void)snprintf(text, sizeof(text), "%d\n", pages[i]);
		for (size_t file = 0; file < ARRAY_SIZE(files); file++) {
			(void)snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/hugepages/hugepages-%s/%s",
				       node, sizes[i], files[file]);
			tree_write(tree, path, text);
			(void)snprintf(path, sizeof(path), "/sys/kernel/mm/hugepages/hugepages-%s/%s", sizes[i],
				       files[file]);
			tree_write(tree, path, text);
		}
	}
}

static void test_huge_pages(void **state)
{
	static const struct machine machine = {1, 2, 1, 4, 2, .family = ZEN3, .model = MILAN};
	static const struct place_request requests[] = {
	    {.name = "whole", .vcpus = 2, .memory_kib = 2LL * GIB, .page_kib = PLACE_PAGES_AUTO},
	    {.name = "half", .vcpus = 2, .memory_kib = 3LL * GIB / 2, .page_kib = PLACE_PAGES_AUTO},
	    {.name = "large", .vcpus = 2, .memory_kib = 9LL * GIB, .page_kib = GIB},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = NULL;

	(void)state;
	add_pools(tree, 0, 1024, 0);
	add_pools(tree, 1, 1024, 4);
	made = plan(arena, tree, requests, 3, &wishes);
	assert_int_equal(made->vms[0].page_kib, GIB);
	assert_set(&made->vms[0].os_nodes, "1");
	assert_int_equal(made->vms[1].page_kib, 2048);
	assert_false(made->vms[2].result->placed);
	assert_non_null(strstr(made->vms[2].result->reason, "memory"));
	tree_free(tree);
}

static void test_l3_as_numa_is_merged(void **state)
{
	static const struct machine machine = {1, 4, 1, 4, 2, .family = ZEN3, .model = MILAN};
	static const struct place_request request = {.name = "vm", .vcpus = 12, .memory_kib = 20LL * GIB};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = NULL;
	int64_t sum_kib = 0;

	(void)state;
	tree_write(tree, "/sys/devices/system/node/node0/distance", "10 11 11 11\n");
	tree_write(tree, "/sys/devices/system/node/node1/distance", "11 10 11 11\n");
	tree_write(tree, "/sys/devices/system/node/node2/distance", "11 11 10 11\n");
	tree_write(tree, "/sys/devices/system/node/node3/distance", "11 11 11 10\n");
	made = plan(arena, tree, &request, 1, &wishes);
	assert_int_equal(made->problem->node_count, 1);
	assert_int_equal(made->problem->ccx_count, 4);
	assert_int_equal(made->os_node_count, 4);
	assert_set(&made->nodes[0].os_nodes, "0-3");
	/* Its memory by the nodes that its cores are in: 4 and 2 cores. */
	assert_set(&made->vms[0].os_nodes, "0-1");
	for (int i = 0; i < made->os_node_count; i++)
		sum_kib += made->vms[0].memory_kib[i];
	assert_int_equal(sum_kib, 20LL * GIB);
	assert_true(made->vms[0].memory_kib[0] > made->vms[0].memory_kib[1]);
	assert_int_equal(made->vms[0].result->memory_cost, 0);
	tree_free(tree);
}

static void test_what_if(void **state)
{
	static const struct machine machine = {2, 1, 8, 4, 2, .family = ZEN3, .model = MILAN};
	static const struct place_request request = {.name = "vm", .vcpus = 48, .memory_kib = 4LL * GIB};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = plan(arena, tree, &request, 1, &wishes);
	struct err err = {0};

	(void)state;
	assert_int_equal(made->problem->node_count, 2);
	assert_int_equal(made->vms[0].sockets, 1);
	wishes.what_if.nps = 4;
	made = plan(arena, tree, &request, 1, &wishes);
	assert_int_equal(made->problem->node_count, 8);
	assert_int_equal(made->vms[0].result->node_count, 3);
	assert_set(&made->nodes[1].cpus, "8-15,72-79");
	wishes.what_if.l3_as_numa = true;
	made = plan(arena, tree, &request, 1, &wishes);
	assert_int_equal(made->os_node_count, 16);
	assert_int_equal(made->problem->node_count, 8);
	wishes.what_if = (struct place_what_if){.nps = 3};
	assert_int_equal(place_host(arena, tree_host(tree), &request, 1, &wishes, &made, &err), -EINVAL);
	tree_free(tree);
}

static void test_reserve(void **state)
{
	static const struct machine machine = {1, 2, 2, 4, 2, .family = ZEN3, .model = MILAN};
	static const struct place_request requests[] = {
	    {.name = "a", .vcpus = 14}, {.name = "b", .vcpus = 8}, {.name = "c", .vcpus = 6}};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = place_wishes_default();
	const struct place_plan *made = plan(arena, tree, requests, 3, &wishes);

	(void)state;
	assert_set(&made->reserve, "0,8,16,24");
	check_cores(made);
	for (int i = 0; i < 3; i++)
		assert_true(made->vms[i].result->placed);
	assert_true(cpuset_subset(&made->vms[0].service, &made->reserve));
	tree_free(tree);
	tree = machine_tree(&machine);
	tree_write(tree, "/sys/devices/system/cpu/isolated", "2-15,18-31\n");
	made = plan(arena, tree, requests, 1, &wishes);
	assert_set(&made->reserve, "0-1,16-17");
	tree_free(tree);
}

static void test_existing(void **state)
{
	static const struct machine machine = {1, 1, 2, 4, 2, .family = ZEN3, .model = MILAN};
	struct place_request requests[] = {{.name = "old", .vcpus = 4, .right = PLACE_KEEP},
					   {.name = "new", .vcpus = 8}};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = NULL;

	(void)state;
	/* It lies across both L3 groups, so that no whole one is left. */
	requests[0].cpus_now = set_of("3,11,4,12");
	made = plan(arena, tree, requests, 2, &wishes);
	assert_set(&made->vms[0].cpus, "3-4,11-12");
	assert_int_equal(made->vms[1].result->part_count, 2);
	assert_non_null(strstr(made->vms[1].result->reason, "kept"));
	check_cores(made);
	/* One re-pin makes a whole one. */
	requests[0].right = PLACE_REPIN;
	made = plan(arena, tree, requests, 2, &wishes);
	assert_int_equal(made->vms[1].result->part_count, 1);
	assert_true(made->vms[0].result->changed);
	assert_int_equal(made->vms[0].result->moved_kib, 0);
	assert_int_equal(made->solution->score.excess, 0);
	check_cores(made);
	wishes.max_changes = 0;
	made = plan(arena, tree, requests, 2, &wishes);
	assert_false(made->vms[0].result->changed);
	/* One that floats holds nothing. */
	requests[0].right = PLACE_KEEP;
	requests[0].cpus_now = set_of("0-15");
	made = plan(arena, tree, requests, 2, &wishes);
	assert_int_equal(made->vms[1].result->part_count, 1);
	assert_int_equal(made->note_count, 1);
	tree_free(tree);
}

/* What stays is where it is, but for stray pages of QEMU's; what is not touched yet comes to its CPUs. */
static void test_existing_memory(void **state)
{
	static const struct machine machine = {1, 2, 2, 4, 2, .family = ZEN3, .model = MILAN};
	static const struct {
		int64_t now_kib[2];
		const char *cpus, *nodes;
		int64_t kib[2];
	} cases[] = {
	    {{GIB, 0}, "0,4", "0", {GIB, 0}},		{{GIB, 4}, "0,4", "0", {GIB, 0}},
	    {{4, GIB / 10 - 1}, "0,4", "0", {GIB, 0}},	{{GIB / 2, GIB / 4}, "0,4", "0-1", {GIB * 3 / 4, GIB / 4}},
	    {{0, GIB}, "0,4", "1", {0, GIB}},		{{GIB + 100, 0}, "0,4", "0", {GIB + 100, 0}},
	    {{0, 0}, "0,8", "0-1", {GIB / 2, GIB / 2}},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct place_request request = {.name = "old",
						.vcpus = 2,
						.memory_kib = GIB,
						.smt = PLACE_SMT_ISOLATED,
						.right = PLACE_REPIN,
						.cpus_now = set_of(cases[i].cpus),
						.memory_now_kib = cases[i].now_kib};
		const struct place_plan *made = plan(arena, tree, &request, 1, &wishes);

		assert_true(made->vms[0].memory_stays);
		assert_set(&made->vms[0].os_nodes, cases[i].nodes);
		assert_int_equal(made->vms[0].memory_kib[0], cases[i].kib[0]);
		assert_int_equal(made->vms[0].memory_kib[1], cases[i].kib[1]);
	}
	/* As it would be with one node: there is no such node of what it has now. */
	struct place_request request = {.name = "old",
					.vcpus = 2,
					.memory_kib = GIB,
					.smt = PLACE_SMT_ISOLATED,
					.right = PLACE_REPIN,
					.cpus_now = set_of("0,4"),
					.memory_now_kib = cases[0].now_kib};

	wishes.what_if.l3_as_numa = true;
	assert_int_equal(plan(arena, tree, &request, 1, &wishes)->os_node_count, 4);
	tree_free(tree);
}

static void test_pools(void **state)
{
	static const struct machine machine = {1, 2, 2, 4, 2, .family = ZEN3, .model = MILAN};
	static const struct place_request requests[] = {
	    {.name = "a", .vcpus = 16, .overcommit_percent = 400},
	    {.name = "b", .vcpus = 8, .overcommit_percent = 400},
	    {.name = "c", .vcpus = 8, .overcommit_percent = 400},
	    {.name = "d", .vcpus = 8},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = plan(arena, tree, requests, 4, &wishes);

	(void)state;
	assert_int_equal(made->pool_count, 1);
	assert_int_equal(made->pools[0].cores, 4); /* 32 vCPUs, four a thread, two threads a core */
	assert_int_equal(made->pools[0].result->part_count, 1);
	for (int i = 0; i < 3; i++) {
		assert_true(cpuset_equal(&made->vms[i].cpus, &made->pools[0].cpus));
		assert_null(made->vms[i].cpus_of_vcpus);
	}
	assert_false(cpuset_meets(&made->vms[3].cpus, &made->pools[0].cpus));
	tree_free(tree);
}

static void test_x3d(void **state)
{
	static const struct machine machine = {1, 1, 2, 8, 2, .family = ZEN3, .model = 0x61, .l3_kib = {98304, 32768}};
	static const struct place_request requests[] = {{.name = "game", .vcpus = 8, .wish = PLACE_CLASS_CACHE},
							{.name = "build", .vcpus = 8, .wish = PLACE_CLASS_FREQUENCY}};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = machine_tree(&machine);
	struct place_wishes wishes = no_reserve();
	const struct place_plan *made = plan(arena, tree, requests, 2, &wishes);

	(void)state;
	assert_set(&made->vms[0].cpus, "0-3,16-19");
	assert_set(&made->vms[1].cpus, "8-11,24-27");
	tree_free(tree);
}

static void test_refusals(void **state)
{
	static const struct machine bare = {1, 1, 2, 4, 2, .family = ZEN3, .model = MILAN, .no_caches = true};
	static const struct place_request good = {.name = "vm", .vcpus = 4};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct host *text = ARENA_NEW(arena, struct host);
	struct place_wishes wishes = no_reserve();
	struct place_request bad = good;
	const struct place_plan *made = NULL;
	struct tree *tree = machine_tree(&bare);
	struct err err = {0};

	(void)state;
	text->kind = HOST_LSCPU;
	assert_int_equal(place_host(arena, text, &good, 1, &wishes, &made, &err), -ENOTSUP);
	assert_non_null(strstr(err.what, "lscpu"));
	bad.vcpus = 0;
	assert_int_equal(place_host(arena, tree_host(tree), &bad, 1, &wishes, &made, &err), -EINVAL);
	bad = good;
	bad.page_kib = 64;
	assert_int_equal(place_host(arena, tree_host(tree), &bad, 1, &wishes, &made, &err), -EINVAL);
	bad = good;
	bad.right = PLACE_KEEP;
	assert_int_equal(place_host(arena, tree_host(tree), &bad, 1, &wishes, &made, &err), -EINVAL);
	assert_null(made);
	/* Without L3 groups by node only, and it says so. */
	made = plan(arena, tree, &good, 1, &wishes);
	assert_int_equal(made->problem->ccx_count, 1);
	assert_non_null(strstr(made->notes[0], "L3"));
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_siblings),
	    cmocka_unit_test(test_kubernetes_picks),
	    cmocka_unit_test(test_memory_decides_the_node),
	    cmocka_unit_test(test_huge_pages),
	    cmocka_unit_test(test_l3_as_numa_is_merged),
	    cmocka_unit_test(test_what_if),
	    cmocka_unit_test(test_reserve),
	    cmocka_unit_test(test_existing),
	    cmocka_unit_test(test_existing_memory),
	    cmocka_unit_test(test_pools),
	    cmocka_unit_test(test_x3d),
	    cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

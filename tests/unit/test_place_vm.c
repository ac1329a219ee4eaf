/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of VMs as requests for a place: VMs in words, VMs that exist, and whether these have a place. */
#include "unit.h"

#include <errno.h>

#include "machine.h"
#include "place_vm.h"
#include "text.h"

/* One node, two L3 groups of four cores with two threads: CPUs 0-7 and their siblings 8-15; a NIC on node 0. */
static struct host *small_host(struct tree **ret)
{
	static const struct machine machine = {
	    .packages = 1, .nodes = 1, .l3s = 2, .cores = 4, .threads = 2, .family = 25, .model = 17};
	struct tree *tree = machine_tree(&machine);

	*ret = tree;
	return tree_host(tree);
}

static struct place_request words(struct arena *arena, const struct host *host, const char *text, int *ret_count)
{
	struct place_request request;
	struct err err = {0};

	if (place_request_of_words(arena, host, text, &request, ret_count, &err) < 0)
		fail_msg("%s: %s", text, err.what);
	return request;
}

static void test_words(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree;
	struct host *host = small_host(&tree);
	int count;
	struct place_request request =
	    words(arena, host, "16vcpu,64G,threads=1,pages=2M,prefer=cache,nodes=2,name=web,count=3", &count);

	(void)state;
	assert_int_equal(request.vcpus, 16);
	assert_int_equal(request.memory_kib, 64 * 1048576);
	assert_int_equal(request.smt, PLACE_SMT_ISOLATED);
	assert_int_equal(request.page_kib, 2048);
	assert_int_equal(request.wish, PLACE_CLASS_CACHE);
	assert_int_equal(request.max_nodes, 2);
	assert_string_equal(request.name, "web");
	assert_int_equal(count, 3);
	request = words(arena, host, "4", &count);
	assert_int_equal(request.vcpus, 4);
	assert_int_equal(request.memory_kib, 0);
	assert_int_equal(request.smt, PLACE_SMT_THREADS);
	assert_int_equal(count, 1);
	request = words(arena, host, "4vcpus,overcommit=4,apart=node,priority=7", &count);
	assert_int_equal(request.overcommit_percent, 400);
	assert_int_equal(request.apart, PLACE_APART_NODE);
	assert_int_equal(request.priority, 7);
	/* Without a pool of hugepages ordinary ones; asking for pages that the host lacks is for the solver to refuse.
	 */
	assert_int_equal(words(arena, host, "4,8G", &count).page_kib, 0);
	assert_int_equal(words(arena, host, "4,8G,pages=1G", &count).page_kib, 1048576);
	tree_free(tree);
}

static void test_words_refused(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
	} cases[] = {
	    {"", 1},
	    {"64G", 1},
	    {"0vcpu", 1},
	    {"16cpus", 1},
	    {"9999999999vcpu", 1},
	    {"4,64", 3},
	    {"4,8G,8G", 6},
	    {"4,", 3},
	    {"4,threads=3", 3},
	    {"4,threads=", 3},
	    {"4,thread=2", 3},
	    {"4,8G,pages=3M", 6},
	    {"4,device=0000:99:00.0", 3},
	    {"4,prefer=speed", 3},
	    {"4,nodes=0", 3},
	    {"4,apart=rack", 3},
	    {"4,overcommit=1000", 3},
	    {"4,priority=-1", 3},
	    {"4,name=", 3},
	    {"4,count=0", 3},
	    {"4,8G,threads=2,nodes=x", 16},
	    {"4,12E", 3},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree;
	struct host *host = small_host(&tree);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct place_request request = {.vcpus = -7};
		struct err err = {0};
		int count = -7;

		if (place_request_of_words(arena, host, cases[i].text, &request, &count, &err) != -EINVAL)
			fail_msg("\"%s\" is taken", cases[i].text);
		assert_int_equal(err.column, cases[i].column);
		assert_int_equal(request.vcpus, -7);
		assert_int_equal(count, -7);
	}
	tree_free(tree);
}

static struct vm *vm_of(int count, const int *cpus)
{
	struct vm *vm = vm_new(VM_LIBVIRT_XML, "test.xml");

	vm->name = "test";
	vm->vcpu_max = count;
	vm->vcpus = ARENA_ARRAY(vm->arena, (size_t)count, struct vm_vcpu);
	for (int i = 0; i < count; i++) {
		if (cpus[i] < 0)
			continue;
		vm->vcpus[i].pin.given = true;
		cpuset_add(&vm->vcpus[i].pin.set, cpus[i]);
	}
	return vm;
}

static void test_has_place(void **state)
{
	CLEANUP(vm_free_pointer) struct vm *pinned = vm_of(2, (const int[]){4, 5});
	CLEANUP(vm_free_pointer) struct vm *loose = vm_of(2, (const int[]){4, -1});
	struct cpuset cpus = {0};

	(void)state;
	assert_true(place_vm_has_place(pinned, &cpus));
	assert_int_equal(cpuset_count(&cpus), 2);
	assert_false(place_vm_has_place(loose, NULL));
	/* One set for all is a place while it is narrow. */
	loose->cpuset.given = true;
	loose->cpuset.set = cpuset_range(4, 7);
	assert_true(place_vm_has_place(loose, NULL));
	loose->cpuset.set = cpuset_range(0, 15);
	assert_false(place_vm_has_place(loose, NULL));
	/* What runs counts before what is declared. */
	pinned->vcpus[0].running = (struct vm_set){.given = true, .set = cpuset_range(0, 15)};
	assert_false(place_vm_has_place(pinned, NULL));
}

static struct place_request request_of(struct arena *arena, const struct host *host, const struct vm *vm,
				       enum place_vm_smt smt, enum place_right right)
{
	struct place_request request;
	struct err err = {0};

	if (place_request_of_vm(arena, host, vm, smt, right, &request, &err) < 0)
		fail_msg("%s", err.what);
	return request;
}

static void test_smt_as_declared(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *cores = vm_of(2, (const int[]){4, 5});
	CLEANUP(vm_free_pointer) struct vm *siblings = vm_of(2, (const int[]){4, 12});
	CLEANUP(vm_free_pointer) struct vm *none = vm_of(0, NULL);
	struct tree *tree;
	struct host *host = small_host(&tree);
	struct place_request request;

	(void)state;
	assert_int_equal(request_of(arena, host, cores, PLACE_VM_SMT_AS_DECLARED, PLACE_MOVE).smt, PLACE_SMT_ISOLATED);
	assert_int_equal(request_of(arena, host, siblings, PLACE_VM_SMT_AS_DECLARED, PLACE_MOVE).smt,
			 PLACE_SMT_THREADS);
	assert_int_equal(request_of(arena, host, cores, PLACE_VM_SMT_EXPOSED, PLACE_MOVE).smt, PLACE_SMT_THREADS);
	assert_int_equal(request_of(arena, host, siblings, PLACE_VM_SMT_ONE_PER_CORE, PLACE_MOVE).smt,
			 PLACE_SMT_ISOLATED);
	cores->cpu.topology_given = true;
	cores->cpu.threads = 2;
	assert_int_equal(request_of(arena, host, cores, PLACE_VM_SMT_AS_DECLARED, PLACE_MOVE).smt, PLACE_SMT_THREADS);
	/* Nothing to keep: a place is found anew. */
	siblings->vcpus[0].pin.given = false;
	assert_int_equal(request_of(arena, host, siblings, PLACE_VM_SMT_AS_DECLARED, PLACE_KEEP).right, PLACE_NEW);
	assert_int_equal(place_request_of_vm(arena, host, none, PLACE_VM_SMT_AS_DECLARED, PLACE_NEW, &request, NULL),
			 -EINVAL);
	tree_free(tree);
}

static void test_pages(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(vm_free_pointer) struct vm *vm = vm_of(2, (const int[]){4, 5});
	struct vm_pages pages = {.size_kib = 1048576};
	struct tree *tree;
	struct host *host = small_host(&tree);

	(void)state;
	vm->memory_kib = 4 * 1048576;
	assert_int_equal(request_of(arena, host, vm, PLACE_VM_SMT_AS_DECLARED, PLACE_MOVE).page_kib, 0);
	vm->hugepages = true;
	assert_int_equal(request_of(arena, host, vm, PLACE_VM_SMT_AS_DECLARED, PLACE_MOVE).page_kib, 2048);
	vm->pages = &pages;
	vm->page_count = 1;
	assert_int_equal(request_of(arena, host, vm, PLACE_VM_SMT_AS_DECLARED, PLACE_MOVE).page_kib, 1048576);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),     cmocka_unit_test(test_words_refused),
	    cmocka_unit_test(test_has_place), cmocka_unit_test(test_smt_as_declared),
	    cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

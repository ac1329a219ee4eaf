/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of what a plan gives a VM: pins, memory that adds up, guest cells, and the edits of its XML. */
#include "unit.h"

#include "machine.h"
#include "place_vm.h"
#include "text.h"
#include "vm_write_edit.h"
#include "vm_xml.h"

/* Two nodes of one package, two L3 groups of four cores with two threads each: CPUs 0-15, siblings 16-31. */
static struct tree *two_nodes(void)
{
	static const struct tree_file files[] = {
	    {"/sys/devices/system/node/node0/meminfo",
	     "Node 0 MemTotal:       33554432 kB\nNode 0 MemFree:        30000000 kB\n"},
	    {"/sys/devices/system/node/node1/meminfo",
	     "Node 1 MemTotal:       33554432 kB\nNode 1 MemFree:        30000000 kB\n"},
	    {NULL, NULL},
	};
	static const struct machine machine = {
	    .packages = 1, .nodes = 2, .l3s = 2, .cores = 4, .threads = 2, .family = 25, .model = 17};
	struct tree *tree = machine_tree(&machine);

	tree_add(tree, files);
	return tree;
}

static const struct place_plan *plan_of(struct arena *arena, const struct host *host,
					const struct place_request *request)
{
	struct place_wishes wishes = place_wishes_default();
	const struct place_plan *plan = NULL;
	struct err err = {0};

	if (place_host(arena, host, request, 1, &wishes, &plan, &err) < 0)
		fail_msg("%s", err.what);
	assert_true(plan->vms[0].result->placed);
	return plan;
}

static void test_one_ccx(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = two_nodes();
	const struct place_request request = {.name = "web", .vcpus = 8, .memory_kib = 8 * 1048576};
	const struct place_plan *plan = plan_of(arena, tree_host(tree), &request);
	struct vm_layout layout = place_layout(arena, plan, 0, PLACE_VM_SMT_AS_DECLARED);

	(void)state;
	assert_int_equal(layout.cell_count, 0);
	assert_int_equal(cpuset_count(&layout.nodes), 1);
	assert_true(layout.dies_are_l3s);
	assert_true(layout.amd);
	for (int i = 0; i < 8; i += 2)
		assert_int_equal(cpuset_first(&layout.pins[i + 1]) - cpuset_first(&layout.pins[i]), 16);
	struct cpuset cpus = vm_layout_cpus(&layout);

	assert_false(cpuset_meets(&cpus, &layout.service));
	tree_free(tree);
}

static void test_memory_adds_up(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = two_nodes();
	/* Ten cores over nodes of seven: memory that no count of cores divides. */
	const struct place_request request = {.name = "db", .vcpus = 20, .memory_kib = 9 * 1048576 + 1024};
	const struct place_plan *plan = plan_of(arena, tree_host(tree), &request);
	struct vm_layout layout = place_layout(arena, plan, 0, PLACE_VM_SMT_AS_DECLARED);
	int64_t sum = 0;
	struct cpuset vcpus = {0};

	(void)state;
	assert_int_equal(layout.cell_count, 2);
	for (int i = 0; i < 2; i++) {
		assert_false(cpuset_meets(&vcpus, &layout.cells[i].vcpus));
		vcpus = cpuset_or(&vcpus, &layout.cells[i].vcpus);
		sum += layout.cells[i].memory_kib;
		assert_int_equal(layout.cells[i].memory_kib % 1024, 0);
	}
	assert_int_equal(cpuset_count(&vcpus), 20);
	assert_int_equal(sum, request.memory_kib);
	tree_free(tree);
}

static void test_wants_even(void **state)
{
	struct tree *tree = two_nodes();
	struct host *host = tree_host(tree);

	(void)state;
	/* Four cores in an L3 group, eight in a node. */
	assert_false(place_request_wants_even(host, &(struct place_request){.vcpus = 8}));
	assert_true(place_request_wants_even(host, &(struct place_request){.vcpus = 10}));
	assert_true(place_request_wants_even(host, &(struct place_request){.vcpus = 16}));
	assert_false(place_request_wants_even(host, &(struct place_request){.vcpus = 18}));
	assert_true(place_request_wants_even(host, &(struct place_request){.vcpus = 5, .smt = PLACE_SMT_ISOLATED}));
	tree_free(tree);
}

static struct vm *read_vm(const char *text)
{
	struct vm *vm = NULL;
	struct err err = {0};

	if (vm_read_libvirt_xml("x.xml", text, strlen(text), &vm, &err) < 0)
		fail_msg("%s", err.what);
	return vm;
}

static const char *edited(struct arena *arena, const struct vm_layout *layout, const struct vm *vm, const char *text)
{
	const struct vm_xml_edit *edits;
	int count = vm_write_edits(arena, layout, vm, &edits);
	const char *changed = NULL;
	size_t size;
	struct err err = {0};

	if (vm_xml_edit(arena, "x.xml", text, strlen(text), edits, count, &changed, &size, &err) < 0)
		fail_msg("%s", err.what);
	return changed;
}

/* A VM that knows nothing of its host: after the edits it is what the plan says, and a second time nothing changes. */
static void test_edits(void **state)
{
	static const char text[] = "<domain type='kvm'>\n  <name>db</name>\n  <memory unit='KiB'>9438208</memory>\n"
				   "  <vcpu placement='auto'>20</vcpu>\n  <iothreads>2</iothreads>\n"
				   "  <cpu mode='host-passthrough'>\n"
				   "    <topology sockets='20' cores='1' threads='1'/>\n"
				   "    <cache mode='passthrough'/>\n  </cpu>\n</domain>\n";
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct tree *tree = two_nodes();
	CLEANUP(vm_free_pointer) struct vm *vm = read_vm(text);
	struct place_request request;

	(void)state;
	assert_int_equal(
	    place_request_of_vm(arena, tree_host(tree), vm, PLACE_VM_SMT_AS_DECLARED, PLACE_NEW, &request, NULL), 0);
	const struct place_plan *plan = plan_of(arena, tree_host(tree), &request);
	struct vm_layout layout = place_layout(arena, plan, 0, PLACE_VM_SMT_AS_DECLARED);
	const char *changed = edited(arena, &layout, vm, text);
	CLEANUP(vm_free_pointer) struct vm *after = read_vm(changed);

	assert_true(vm_is_pinned_one_to_one(after));
	for (int i = 0; i < 20; i++)
		assert_true(cpuset_equal(&after->vcpus[i].pin.set, &layout.pins[i]));
	assert_true(cpuset_equal(&after->emulator.set, &layout.service));
	assert_int_equal(after->iothread_count, 2);
	assert_true(cpuset_equal(&after->iothreads[1].pin.set, &layout.service));
	assert_false(after->placement_auto);
	assert_int_equal(after->cell_count, 2);
	assert_int_equal(after->memnode_count, 2);
	assert_int_equal(after->cpu.threads, 2);
	assert_int_equal(vm_feature(after->cpu.features, after->cpu.feature_count, "topoext"), 1);
	/* Cache leaves of the host would tell of an L3 that the guest's dies are not. */
	assert_string_equal(after->cpu.cache_mode, "emulate");
	assert_null(vm_layout_restart(arena, &layout, after));
	assert_string_equal(edited(arena, &layout, after, changed), changed);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_ccx),
	    cmocka_unit_test(test_memory_adds_up),
	    cmocka_unit_test(test_wants_even),
	    cmocka_unit_test(test_edits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of what follows from a declared VM. */
#include "unit.h"
#include "vm.h"

static struct vm *pinned(int count, const int *cpus)
{
	struct vm *vm = vm_new(VM_LIBVIRT_XML, "test.xml");

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

static void test_one_to_one(void **state)
{
	CLEANUP(vm_free_pointer) struct vm *right = pinned(3, (const int[]){4, 5, 6});
	CLEANUP(vm_free_pointer) struct vm *shared = pinned(3, (const int[]){4, 5, 4});
	CLEANUP(vm_free_pointer) struct vm *loose = pinned(3, (const int[]){4, -1, 6});
	CLEANUP(vm_free_pointer) struct vm *empty = pinned(0, (const int[]){0});

	(void)state;
	assert_true(vm_is_pinned_one_to_one(right));
	assert_false(vm_is_pinned_one_to_one(shared));
	assert_false(vm_is_pinned_one_to_one(loose));
	assert_false(vm_is_pinned_one_to_one(empty));
}

static void test_cpuset_is_the_default(void **state)
{
	CLEANUP(vm_free_pointer) struct vm *vm = pinned(2, (const int[]){4, -1});

	(void)state;
	assert_null(vm_vcpu_declared(vm, 1));
	vm->cpuset.given = true;
	vm->cpuset.set = cpuset_range(8, 9);
	assert_true(cpuset_has(vm_vcpu_declared(vm, 0), 4));
	assert_true(cpuset_has(vm_vcpu_declared(vm, 1), 8));
	assert_true(cpuset_has(vm_vcpu_declared(vm, 7), 9));

	struct cpuset all = vm_vcpu_cpus(vm);

	assert_int_equal(cpuset_count(&all), 3);
}

static void test_features_last_wins(void **state)
{
	const struct vm_feature features[] = {{"topoext", true}, {"svm", false}, {"topoext", false}};

	(void)state;
	assert_int_equal(vm_feature(features, 3, "topoext"), 0);
	assert_int_equal(vm_feature(features, 2, "topoext"), 1);
	assert_int_equal(vm_feature(features, 3, "x2apic"), -1);
}

static void test_guest_cores(void **state)
{
	CLEANUP(vm_free_pointer) struct vm *vm = pinned(4, (const int[]){0, 1, 2, 3});

	(void)state;
	assert_int_equal(vm_guest_core_of(vm, 3), 3);
	vm->cpu.threads = 2;
	assert_int_equal(vm_guest_core_of(vm, 3), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_to_one),
	    cmocka_unit_test(test_cpuset_is_the_default),
	    cmocka_unit_test(test_features_last_wins),
	    cmocka_unit_test(test_guest_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

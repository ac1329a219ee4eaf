/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the CPUs of slices, with a systemd on a bus of the test's own. */
#include <errno.h>

#include "crash.h"
#include "fake_bus.h"
#include "text.h"
#include "unit.h"

#define KERNEL "/sys/fs/cgroup/machine.slice/cpuset.cpus"
#define RUNTIME "/run/systemd/system/machine.slice.d/91-hvtune.conf"
#define LASTING "/etc/systemd/system/machine.slice.d/90-hvtune.conf"
#define OWNER "/etc/systemd/system/machine.slice.d/50-owner.conf"

static void begin(struct kernel *kernel, const struct crash_scene *scene, void *data)
{
	(void)data;
	kernel_start(kernel, "active");
	fake_systemd_install(kernel);
	fake_tuned_install(kernel);
	if (scene && scene->add)
		scene->add(kernel);
	fake_services_start(&fake_bus_shared, kernel);
}

static void end(struct kernel *kernel, void *data)
{
	(void)data;
	fake_services_stop(&fake_bus_shared);
	kernel_stop(kernel);
}

static const struct crash_world world = {begin, end, NULL};

/* The host's owner has given machine.slice two of the three CPUs. */
static void add_owner(struct kernel *kernel)
{
	tree_write(kernel->tree, OWNER, "[Slice]\nAllowedCPUs=1-2\n");
	tree_write(kernel->tree, KERNEL, "1-2\n");
}

/* A VM in machine.slice, its vCPU on CPU 2 and its main thread anywhere. */
static void add_vm(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/sys/fs/cgroup/machine.slice/machine-qemu\\x2d1\\x2dweb1.scope/cgroup.procs", "4000\n"},
	    {"/proc/1/comm", "systemd\n"},
	    {"/proc/4000/comm", "qemu-system-x86\n"},
	    {"/proc/4000/cgroup", "0::/machine.slice/machine-qemu\\x2d1\\x2dweb1.scope\n"},
	    {"/proc/4000/task/4000/comm", "qemu-system-x86\n"},
	    {"/proc/4000/task/4000/status", "Name:\tqemu-system-x86\nCpus_allowed_list:\t0-2\n"},
	    {"/proc/4000/task/4001/comm", "CPU 0/KVM\n"},
	    {"/proc/4000/task/4001/status", "Name:\tCPU 0/KVM\nCpus_allowed_list:\t2\n"},
	    {NULL, NULL},
	};

	tree_write_bytes(kernel->tree, "/proc/4000/cmdline", "qemu-system-x86_64\0-name\0web1\0-smp\0001\0", 37);
	tree_add(kernel->tree, files);
}

static void apply(struct kernel *kernel, const char *ask)
{
	const struct crash_scene scene = {NULL, {ask}, NULL};
	struct err err = {0};

	if (crash_apply(kernel, &scene, &err) < 0)
		fail_msg("%s: %s: %s", ask, err.where, err.what);
}

static void assert_holds(const struct kernel *kernel, const char *path, const char *wanted)
{
	char text[4096];

	kernel_read(kernel, path, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void open_machine(struct kernel *kernel, struct knob_machine *ret)
{
	struct err err = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, NULL, ret, &err), 0);
	ret->bus_address = kernel->bus_address;
}

static int plan(struct kernel *kernel, const char *text, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_plan plan;
	struct knob_ask ask;

	open_machine(kernel, &machine);
	assert_int_equal(knob_ask_parse(machine.arena, text, &ask, err), 0);
	return knob_plan_make(&machine, &ask, 1, &plan, err);
}

static void until_the_reboot(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "slice.cpus@machine.slice,system.slice=0-1");
	assert_holds(&kernel, KERNEL, "0-1");
	assert_holds(&kernel, "/sys/fs/cgroup/system.slice/cpuset.cpus", "0-1");
	apply(&kernel, "slice.cpus@machine.slice=2");
	assert_holds(&kernel, KERNEL, "2");
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_holds(&kernel, KERNEL, "0-1");
	crash_check_undone(&kernel, before, "narrowed");
	end(&kernel, NULL);
}

/* What the owner set is what comes back, and lists are not added up. */
static void over_the_owners_limit(void **state)
{
	struct crash_scene scene = {NULL, {NULL}, add_owner};
	struct kernel kernel;

	(void)state;
	begin(&kernel, &scene, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "slice.cpus@machine.slice=0");
	assert_holds(&kernel, KERNEL, "0");
	crash_check_undone(&kernel, before, "narrowed");
	apply(&kernel, "slice.cpus@machine.slice=all");
	assert_holds(&kernel, KERNEL, "");
	crash_check_undone(&kernel, before, "opened");
	end(&kernel, NULL);
}

static void lasting(void **state)
{
	struct kernel kernel;
	char text[4096];

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "slice.cpus.lasting@machine.slice=1-2");
	kernel_read(&kernel, LASTING, text, sizeof(text));
	assert_non_null(strstr(text, "[Slice]\nAllowedCPUs=\nAllowedCPUs=1-2"));
	assert_holds(&kernel, KERNEL, "1-2");
	crash_check_undone(&kernel, before, "lasting");
	end(&kernel, NULL);
}

/* A directory that was there before stays, though it is empty. */
static void directory_of_the_owner(void **state)
{
	static const struct tree_file empty[] = {{"/etc/systemd/system/system.slice.d/", NULL}, {NULL, NULL}};
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	tree_add(kernel.tree, empty);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	assert_non_null(strstr(before, "/etc/systemd/system/system.slice.d/\n"));
	apply(&kernel, "slice.cpus.lasting@machine.slice,system.slice=0-1");
	crash_check_undone(&kernel, before, "an empty directory");
	end(&kernel, NULL);
}

/* One that was made for two changes goes with whichever is undone last. */
static void directory_of_two(void **state)
{
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	assert_null(strstr(before, "/run/"));
	apply(&kernel, "latency.hold=50");
	apply(&kernel, "slice.cpus@machine.slice=0-1");
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_report report = {0};
		struct err err = {0};

		open_machine(&kernel, &machine);
		assert_int_equal(knob_undo(&machine, 1, &report, &err), 0);
	}
	assert_true(kernel_exists(&kernel, RUNTIME));
	crash_check_undone(&kernel, before, "the second, undone last");
	assert_false(kernel_exists(&kernel, "/run"));
	end(&kernel, NULL);
}

static void refusals(void **state)
{
	static const struct {
		const char *ask;
		int status;
		const char *what;
	} cases[] = {
	    {"slice.cpus=0-1", -EINVAL, "name of a slice"},
	    {"slice.cpus@../x.slice=0", -EINVAL, "no slice"},
	    {"slice.cpus@libvirtd.service=0", -EINVAL, "no slice"},
	    {"slice.cpus@machine.slice=0-3", -EINVAL, "no CPU 3"},
	    {"slice.cpus@machine.slice=few", -EINVAL, "list of CPUs"},
	    {"slice.cpus@machine.slice=none", -EINVAL, "list of CPUs"},
	    {"slice.cpus@machine.slice=", -EINVAL, "list of CPUs"},
	};
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(plan(&kernel, cases[i].ask, &err), cases[i].status);
		if (!strstr(err.what, cases[i].what))
			fail_msg("%s: %s", cases[i].ask, err.what);
	}
	end(&kernel, NULL);
}

static void never_narrower_than_the_pins(void **state)
{
	struct crash_scene scene = {NULL, {NULL}, add_vm};
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, &scene, NULL);
	assert_int_equal(plan(&kernel, "slice.cpus@machine.slice=0-1", &err), -EINVAL);
	assert_string_equal(err.where, "web1");
	assert_string_equal(err.what, "its vCPU 0 is kept on CPUs 2, which 0-1 has not all");
	assert_int_equal(plan(&kernel, "slice.cpus@machine.slice=1-2", &err), 0);
	/* It is in another slice. */
	assert_int_equal(plan(&kernel, "slice.cpus@system.slice=0-1", &err), 0);
	end(&kernel, NULL);
}

static const struct crash_scene scenes[] = {
    {NULL, {"slice.cpus@machine.slice,system.slice=0-1"}, NULL},
    {NULL, {"slice.cpus@machine.slice=0"}, add_owner},
    {NULL, {"slice.cpus.lasting@machine.slice=0-1", "slice.cpus@machine.slice=0"}, NULL},
};

static const int errnums[] = {EIO, 0};
static const struct crash_set all_scenes = {&world, scenes, ARRAY_SIZE(scenes), errnums};

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(until_the_reboot),
	    cmocka_unit_test(over_the_owners_limit),
	    cmocka_unit_test(lasting),
	    cmocka_unit_test(directory_of_the_owner),
	    cmocka_unit_test(directory_of_two),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(never_narrower_than_the_pins),
	    CRASH_TESTS(all_scenes),
	};

	return cmocka_run_group_tests(tests, fake_bus_group_start, fake_bus_group_stop);
}

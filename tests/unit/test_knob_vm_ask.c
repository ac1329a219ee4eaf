/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of what is asked of VMs in words: what it becomes, what is refused, and that undo takes it back. */
#include <errno.h>
#include <stdlib.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"
#include "vm_scene.h"

enum { MOST_ASKS = 4 };

static int plan(struct knob_machine *machine, const char *const *words, struct knob_plan *ret, struct err *err)
{
	struct knob_ask asks[MOST_ASKS];
	size_t count = 0;
	int r = 0;

	for (; count < MOST_ASKS && words[count] && r == 0; count++)
		r = knob_ask_parse(machine->arena, words[count], &asks[count], err);
	return r < 0 ? r : knob_plan_make(machine, asks, count, ret, err);
}

static void open_machine(struct vm_scene *scene, struct knob_machine *ret)
{
	const struct sys_write_gate gate = vm_scene_gate(scene);

	assert_int_equal(knob_machine_open(scene->tree->root, &gate, ret, NULL), 0);
	scene->log[0] = '\0';
}

static void set(struct vm_scene *scene, const char *const *words)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	const struct knob_apply_options options = {.what = "set"};
	struct knob_report report;
	struct knob_plan made;
	struct err err = {0};

	open_machine(scene, &machine);
	if (plan(&machine, words, &made, &err) < 0 || knob_apply(&machine, &made, &options, &report, &err) < 0)
		fail_msg("%s: %s: %s", words[0], err.where, err.what);
}

static void undo(struct vm_scene *scene)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report;
	struct err err = {0};

	open_machine(scene, &machine);
	if (knob_undo(&machine, 0, &report, &err) < 0)
		fail_msg("undo: %s: %s", err.where, err.what);
}

static char *dump(const struct vm_scene *scene)
{
	return kernel_dump(&(struct kernel){.tree = scene->tree});
}

/* What is asked, a piece of the definition that it leaves behind, and a thread with its CPUs. */
static const struct {
	const char *words[MOST_ASKS];
	const char *definition;
	int tid;
	const char *cpus;
} asks[] = {
    {{"vm.pins@web=12-15"}, "<vcpupin vcpu=\"3\" cpuset=\"15\"/>", 1004, "15"},
    {{"vm.pins@web=15,12,14,13"}, "<vcpupin vcpu=\"0\" cpuset=\"15\"/>", 1002, "12"},
    {{"vm.pins@web=2:10+12"}, "<vcpupin vcpu=\"2\" cpuset=\"10,12\"/>", 1003, "10,12"},
    {{"vm.pins@web=2:10+12"}, "<vcpupin vcpu=\"1\" cpuset=\"5\"/>", 1002, "5"},
    {{"vm.pins@web=0-1:8-9,2-3:10-11"}, "<vcpupin vcpu=\"1\" cpuset=\"8-9\"/>", 1002, "8-9"},
    {{"vm.emulator@web=3"}, "<emulatorpin cpuset=\"3\"/>", SCENE_VHOST, "3"},
    {{"vm.iothreads@web=3"}, "<iothreadpin iothread=\"1\" cpuset=\"3\"/>", SCENE_IOTHREAD, "3"},
    {{"vm.memory@web=1"}, "<memory mode=\"restrictive\" nodeset=\"1\"/>", 1001, "4"},
    {{"vm.pins.next@web=12-15"}, "<vcpupin vcpu=\"3\" cpuset=\"15\"/>", 1004, "7"},
    {{"vm.pages@web=1G"}, "<page size=\"1048576\" unit=\"KiB\"/>", 1001, "4"},
    {{"vm.pages@web=default"}, "<hugepages/>", 1001, "4"},
    {{"vm.topology@web=1x1x2x2"}, "<topology sockets=\"1\" cores=\"2\" threads=\"2\" clusters=\"1\"/>", 1001, "4"},
    {{"vm.topology@web=1x1x2x2"}, "<feature policy=\"require\" name=\"topoext\"/>", 1001, "4"},
    {{"vm.queues@web=4"}, "<driver queues=\"4\"/>", 1001, "4"},
    {{"vm.pins@web=12-15", "vm.emulator@web=3", "vm.pages@web=2M"}, "<page size=\"2048\"", 1001, "12"},
    {{"vm.emulator@web=3", "vm.emulator@db=2"}, "<emulatorpin cpuset=\"3\"/>", SCENE_WEB, "3"},
};

static void each_and_back(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		set(&scene, asks[i].words);
		const char *text = vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml");

		if (!strstr(text, asks[i].definition))
			fail_msg("%s: no %s in %s", asks[i].words[0], asks[i].definition, text);
		assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, asks[i].tid), asks[i].cpus);
		undo(&scene);
		CLEANUP(base_free) char *after = dump(&scene);

		if (strcmp(before, after) != 0)
			fail_msg("%s: not as before:\n%s", asks[i].words[0],
				 vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"));
	}
	vm_scene_stop(&scene);
}

/* One queue pair is what a NIC has that says nothing of it: libvirt does not keep the word. */
static void one_queue(void **state)
{
	static const char *const two[] = {"vm.queues@web=2", NULL}, *const one[] = {"vm.queues@web=01", NULL};
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	set(&scene, two);
	set(&scene, one);
	assert_null(strstr(vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"), "queues"));
	undo(&scene);
	assert_non_null(strstr(vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"), "queues=\"2\""));
	undo(&scene);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_string_equal(before, after);
	vm_scene_stop(&scene);
}

/* A definition that says nothing of it yet: what undo leaves has no trace of it either. */
static void from_nothing(void **state)
{
	static const char *const words[] = {"vm.pins@db=10-11", "vm.emulator@db=2", "vm.memory@db=0", NULL};
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	vm_scene_write(&scene, "/etc/libvirt/qemu/db.xml",
		       "<?xml version=\"1.0\"?>\n<domain type=\"kvm\">\n  <name>db</name>\n"
		       "  <uuid>22222222-2222-4333-8444-555555555555</uuid>\n  <memory unit=\"KiB\">4194304</memory>\n"
		       "  <vcpu>2</vcpu>\n  <os>\n    <type>hvm</type>\n  </os>\n</domain>\n");
	set(&scene, words);
	assert_non_null(strstr(vm_scene_read(&scene, "/etc/libvirt/qemu/db.xml"), "<memory mode=\"strict\""));
	undo(&scene);
	const char *text = vm_scene_read(&scene, "/etc/libvirt/qemu/db.xml");

	assert_null(strstr(text, "pin "));
	assert_null(strstr(text, "<memory mode"));
	vm_scene_stop(&scene);
}

static const struct {
	const char *ask;
	int errnum;
	const char *what;
} refused[] = {
    {"vm.pins=8-11", EINVAL, "needs the name of a VM: vm.pins@NAME=8-11"},
    {"vm.pins@nobody=8-11", ENOENT, "there is no such VM"},
    {"vm.pins@web=8-10", EINVAL, "are 3 CPUs for the 4 vCPUs of web"},
    {"vm.pins@web=8,9,10,x", EINVAL, "is neither a CPU for each vCPU"},
    {"vm.pins@web=4:8", EINVAL, "there is no number 4: they are 0 to 3"},
    {"vm.pins@web=0:8,1", EINVAL, "\"1\" is no NUMBER:CPUS"},
    {"vm.emulator@web=x", EINVAL, ""},
    {"vm.pins@web=", EINVAL, "takes a CPU for each vCPU"},
    {"vm.pages@web=3", EINVAL, "is no size of a page"},
    {"vm.pages@plain=2M", ENOENT, "is plain QEMU"},
    {"vm.topology@web=1x2x3", EINVAL, "is no topology"},
    {"vm.topology@web=1x2x3x2", EINVAL, "is a topology of 12 vCPUs; web has 4"},
    {"vm.queues@web=0", ERANGE, "vm.queues takes 1 to 256"},
    {"vm.queues@web=4x", ERANGE, "vm.queues takes 1 to 256"},
    {"vm.power=off", EINVAL, "needs the name of a VM: vm.power@NAME=off"},
    {"vm.power@nobody=off", ENOENT, "libvirt knows no such VM"},
    {"vm.power@plain=off", ENOENT, "libvirt knows no such VM"},
    {"vm.power@web=reset", EINVAL, "vm.power takes on off cut"},
    {"vm.definition@web=x", EINVAL, "is set through the other knobs of VMs"},
};

static void refusals(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		const char *words[] = {refused[i].ask, NULL};
		struct knob_plan made;
		struct err err = {0};

		open_machine(&scene, &machine);
		int r = plan(&machine, words, &made, &err);

		if (r != -refused[i].errnum || !strstr(err.what, refused[i].what))
			fail_msg("%s: %d: %s: %s", refused[i].ask, r, err.where, err.what);
	}
	vm_scene_stop(&scene);
}

/* Without a name and a value: all there is, as `hvtune knobs` shows it. */
static void listed(void **state)
{
	static const struct {
		const char *name;
		size_t count;
		const char *label, *old;
	} lists[] = {
	    {"vm.pins", 8, "web vCPU 3", "7"},
	    {"vm.pins.next", 2, "web", "0:4,1:5,2:6,3:7"},
	    {"vm.emulator", 4, "plain emulator", "0-31"},
	    {"vm.iothreads", 2, "web I/O thread 1", "2"},
	    {"vm.memory", 1, "web memory", "0"},
	    {"vm.memory.next", 2, "web", "restrictive 0"},
	    {"vm.pages", 2, "db", "-"},
	    {"vm.topology", 2, "web", "-"},
	    {"vm.queues", 2, "web NIC 52:54:00:00:00:01", "1"},
	    {"vm.power", 2, "db", "on"},
	};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	open_machine(&scene, &machine);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct knob_ask all = {.name = lists[i].name, .value = ""};
		struct knob_points points = {.arena = machine.arena};
		struct err err = {0};
		const char *old = NULL;

		if (knob_expand(&machine, &all, KNOB_EXPAND_READABLE, &points, &err) < 0)
			fail_msg("%s: %s: %s", lists[i].name, err.where, err.what);
		assert_int_equal(points.count, lists[i].count);
		for (size_t j = 0; j < points.count; j++)
			if (text_equal(points.items[j].label, lists[i].label))
				old = points.items[j].old;
		assert_string_equal(old, lists[i].old);
	}
	vm_scene_stop(&scene);
}

static bool runs(const struct vm_scene *scene)
{
	return *vm_scene_read(scene, "/run/libvirt/qemu/web.live") != '\0';
}

/* Off and on again, with what was defined meanwhile; undo starts what ran. */
static void power(void **state)
{
	static const char *const off[] = {"vm.power@web=off", NULL}, *const cut[] = {"vm.power@web=cut", NULL};
	static const char *const pins[] = {"vm.pins.next@web=12-15", NULL};
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	set(&scene, off);
	assert_false(runs(&scene));
	undo(&scene);
	assert_true(runs(&scene));
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1001), "4");
	set(&scene, pins);
	set(&scene, cut);
	assert_false(runs(&scene));
	undo(&scene);
	assert_true(runs(&scene));
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1001), "12");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, SCENE_IOTHREAD), "2");
	vm_scene_stop(&scene);
}

static void fails_to_set(struct vm_scene *scene, const char *word, const char *control, const char *what)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	const struct knob_apply_options options = {.what = "set"};
	const char *words[] = {word, NULL};
	struct knob_report report = {0};
	struct knob_plan made;
	struct err err = {0};

	vm_scene_write(scene, control, "");
	open_machine(scene, &machine);
	assert_int_equal(plan(&machine, words, &made, &err), 0);
	assert_true(knob_apply(&machine, &made, &options, &report, &err) < 0);
	assert_true(report.rolled_back);
	assert_true(report.count > 0 && strstr(report.events[0].why, what));
	vm_scene_remove(scene, control);
}

/* A guest that does not hear, and a VM that cannot be started, are told and leave nothing in force. */
static void power_that_fails(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	fails_to_set(&scene, "vm.power@web=off", "/run/libvirt/qemu/web.hang", "does not shut down for");
	assert_true(runs(&scene));
	set(&scene, (const char *const[]){"vm.power@web=off", NULL});
	fails_to_set(&scene, "vm.power@web=on", "/run/libvirt/qemu/web.broken", "unable to map backing store");
	assert_false(runs(&scene));
	undo(&scene);
	assert_true(runs(&scene));
	vm_scene_stop(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_and_back),	cmocka_unit_test(from_nothing), cmocka_unit_test(one_queue),
	    cmocka_unit_test(refusals),		cmocka_unit_test(listed),	cmocka_unit_test(power),
	    cmocka_unit_test(power_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

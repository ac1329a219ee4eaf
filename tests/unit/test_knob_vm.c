/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of changing VMs: what a plan writes and in which order, what is verified, what is rolled back, what undo
 * gives back and what it leaves alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"
#include "vm_scene.h"

static char *dump(const struct vm_scene *scene)
{
	return kernel_dump(&(struct kernel){.tree = scene->tree});
}

static void open_machine(struct vm_scene *scene, struct knob_machine *ret)
{
	const struct sys_write_gate gate = vm_scene_gate(scene);
	struct err err = {0};

	if (knob_machine_open(scene->tree->root, &gate, ret, &err) < 0)
		fail_msg("%s", err.what);
	scene->log[0] = '\0';
	scene->calls = 0;
}

static void make_plan(struct knob_machine *machine, const struct vm_layout *layouts, size_t count,
		      struct knob_plan *ret)
{
	struct knob_vm_placing placings[4] = {0};
	struct err err = {0};

	for (size_t i = 0; i < count; i++)
		placings[i] = (struct knob_vm_placing){.name = layouts[i].name, .layout = &layouts[i]};
	if (knob_vm_plan(machine, placings, count, ret, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
}

static int apply(struct knob_machine *machine, const struct knob_plan *plan, struct knob_report *report,
		 struct err *err)
{
	const struct knob_apply_options options = {.what = "place --apply"};

	return knob_apply(machine, plan, &options, report, err);
}

/* Put a VM somewhere, to the end. */
static void place(struct vm_scene *scene, const char *name, const char *cpus, const char *service, const char *nodes)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report;
	struct knob_plan plan;
	struct err err = {0};

	open_machine(scene, &machine);
	struct vm_layout layout = vm_scene_layout(machine.arena, name, cpus, service, nodes);

	make_plan(&machine, &layout, 1, &plan);
	if (apply(&machine, &plan, &report, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
}

static int undo(struct vm_scene *scene, struct knob_report *ret, struct arena *arena, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};

	open_machine(scene, &machine);
	int r = knob_undo(&machine, 0, &report, err);

	/* Events are looked at after the machine is closed. */
	if (ret) {
		*ret = report;
		ret->events = ARENA_ARRAY(arena, report.count + 1, struct knob_event);
		for (size_t i = 0; i < report.count; i++) {
			ret->events[i] = report.events[i];
			ret->events[i].point.label = arena_strdup(arena, report.events[i].point.label);
			ret->events[i].why = report.events[i].why ? arena_strdup(arena, report.events[i].why) : NULL;
		}
	}
	return r;
}

/* The last word on a point. */
static enum knob_outcome outcome_of(const struct knob_report *report, const char *label)
{
	for (size_t i = report->count; i-- > 0;)
		if (text_equal(report->events[i].point.label, label))
			return report->events[i].outcome;
	fail_msg("no event of %s", label);
	return KNOB_STUCK;
}

/* The first line that differs. */
static void assert_same(const char *before, const char *after)
{
	size_t same = 0, line;

	while (before[same] && before[same] == after[same])
		same++;
	if (!before[same] && !after[same])
		return;
	for (line = same; line && before[line - 1] != '\n'; line--)
		;
	fail_msg("%.*s\n%.*s", (int)strcspn(before + line, "\n"), before + line, (int)strcspn(after + line, "\n"),
		 after + line);
}

/* Definition, service threads, vCPUs wide and then narrow, memory: and all is where it was asked to be. */
static void in_order(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	place(&scene, "web", "12-15", "3", "0");
	assert_string_equal(scene.log, "virDomainDefineXMLFlags  \n"
				       "virDomainPinEmulator  0-1,3\nsched_setaffinity 1007 0-1,3\n"
				       "virDomainPinEmulator  3\nsched_setaffinity 1007 3\n"
				       "virDomainPinIOThread  2-3\nvirDomainPinIOThread  3\n"
				       "virDomainPinVcpuFlags  4,12\nvirDomainPinVcpuFlags  5,13\n"
				       "virDomainPinVcpuFlags  6,14\nvirDomainPinVcpuFlags  7,15\n"
				       "virDomainPinVcpuFlags  12\nvirDomainPinVcpuFlags  13\n"
				       "virDomainPinVcpuFlags  14\nvirDomainPinVcpuFlags  15\n");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1001), "12");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1004), "15");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, SCENE_WEB), "3");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, SCENE_IOTHREAD), "3");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, SCENE_VHOST), "3");
	assert_non_null(
	    strstr(vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"), "<vcpupin vcpu=\"3\" cpuset=\"15\"/>"));
	assert_non_null(strstr(vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"), "passwd=\"secret\""));
	assert_null(strstr(vm_scene_read(&scene, "/var/lib/hvtune/journal"), "secret"));

	assert_int_equal(undo(&scene, NULL, NULL, NULL), 0);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_same(before, after);
	vm_scene_stop(&scene);
}

static void what_is_right_is_not_written(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_plan plan;

	open_machine(&scene, &machine);
	struct vm_layout layout = vm_scene_layout(machine.arena, "web", "4-7", "0-1", "0");

	make_plan(&machine, &layout, 1, &plan);
	/* Only the I/O thread is elsewhere. */
	assert_int_equal(plan.points.count, 2);
	assert_string_equal(plan.points.items[0].label, "web's definition");
	assert_string_equal(plan.points.items[1].label, "web I/O thread 1");
	assert_int_equal(plan.already.count, 7);
	assert_int_equal(scene.calls, 0);
	vm_scene_stop(&scene);
}

/* Two VMs change places: no vCPU is put where another still has to stay. */
static void changing_places(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report;
	struct knob_plan plan;
	struct err err = {0};

	open_machine(&scene, &machine);
	struct vm_layout layouts[] = {vm_scene_layout(machine.arena, "db", "4-5", "0-1", ""),
				      vm_scene_layout(machine.arena, "web", "8-11", "0-1", "0")};

	make_plan(&machine, layouts, 2, &plan);
	assert_int_equal(apply(&machine, &plan, &report, &err), 0);
	const char *pins = strstr(scene.log, "virDomainPinVcpuFlags");

	assert_string_equal(pins, "virDomainPinVcpuFlags  4,8\nvirDomainPinVcpuFlags  5,9\n"
				  "virDomainPinVcpuFlags  4,8\nvirDomainPinVcpuFlags  5,9\n"
				  "virDomainPinVcpuFlags  6,10\nvirDomainPinVcpuFlags  7,11\n"
				  "virDomainPinVcpuFlags  4\nvirDomainPinVcpuFlags  5\n"
				  "virDomainPinVcpuFlags  8\nvirDomainPinVcpuFlags  9\n"
				  "virDomainPinVcpuFlags  10\nvirDomainPinVcpuFlags  11\n");
	vm_scene_stop(&scene);
}

/* Plain QEMU: thread by thread, by the kernel. */
static void plain(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	place(&scene, "plain", "6-7", "2-3", "");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_PLAIN, 3001), "6");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_PLAIN, 3002), "7");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_PLAIN, 3000), "2-3");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_PLAIN, 3003), "2-3");
	assert_null(strstr(scene.log, "vir"));
	assert_int_equal(undo(&scene, NULL, NULL, NULL), 0);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_same(before, after);
	vm_scene_stop(&scene);
}

/* The n-th change of libvirt's fails, for every n: everything is as before at once. */
static void failing_pin(void **state)
{
	int at = 1;

	(void)state;
	for (bool failed = true; failed; at++) {
		struct vm_scene scene;

		vm_scene_start(&scene);
		CLEANUP(base_free) char *before = dump(&scene);
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_report report = {0};
		struct knob_plan plan;
		struct err err = {0};

		open_machine(&scene, &machine);
		struct vm_layout layout = vm_scene_layout(machine.arena, "web", "12-15", "3", "0");

		make_plan(&machine, &layout, 1, &plan);
		scene.libvirt->fail_at = at;
		int r = apply(&machine, &plan, &report, &err);

		failed = scene.libvirt->changes >= at;
		scene.libvirt->fail_at = 0;
		assert_int_equal(r < 0, failed);
		if (failed) {
			CLEANUP(base_free) char *after = dump(&scene);

			assert_true(report.rolled_back);
			assert_true(text_starts(err.what, "libvirt: "));
			assert_true(text_starts(err.where, "web"));
			if (strcmp(before, after) != 0)
				fail_msg("call %d:\n%s---\n%s", at, before, after);
		}
		vm_scene_stop(&scene);
	}
	assert_int_equal(at, 15); /* 13 calls, and the round that none of them failed in */
}

/* A control group narrower than the pins: libvirt is content, /proc is not, and all is put back. */
static void narrow_group(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	struct knob_plan plan;
	struct err err = {0};

	open_machine(&scene, &machine);
	struct vm_layout layout = vm_scene_layout(machine.arena, "web", "12-15", "0-1", "0");

	vm_scene_write(&scene, "/run/libvirt/qemu/web.cpuset", "0-14\n");
	make_plan(&machine, &layout, 1, &plan);
	assert_int_equal(apply(&machine, &plan, &report, &err), -EREMOTEIO);
	assert_string_equal(err.where, "web vCPU 3");
	assert_non_null(strstr(err.what, "15 was written, and at once it holds 15 but on 0-14"));
	assert_true(report.rolled_back);
	vm_scene_remove(&scene, "/run/libvirt/qemu/web.cpuset");
	CLEANUP(base_free) char *after = dump(&scene);

	assert_same(before, after);
	vm_scene_stop(&scene);
}

/* The VM ends in the middle: what is left of it is put back, the rest is told to be gone. */
static void vanishing(void **state)
{
	(void)state;
	for (int at = 1; at <= 13; at++) {
		struct vm_scene scene;

		vm_scene_start(&scene);
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		const char *definition = vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml");
		struct knob_report report = {0};
		struct knob_plan plan;
		struct err err = {0};

		open_machine(&scene, &machine);
		struct vm_layout layout = vm_scene_layout(machine.arena, "web", "12-15", "3", "0");

		make_plan(&machine, &layout, 1, &plan);
		scene.libvirt->vanish_at = at;
		int r = apply(&machine, &plan, &report, &err);

		/* The first call is the definition, which outlives the VM's run. */
		assert_true(at == 1 ? r == 0 || r == -ENOENT : r == -ENOENT);
		if (r < 0) {
			assert_true(report.rolled_back);
			assert_string_equal(vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"), definition);
			/* Those not begun yet need no look. */
			assert_int_equal(outcome_of(&report, "web vCPU 0"), at > 5 ? KNOB_GONE : KNOB_WAS_BACK);
		}
		vm_scene_stop(&scene);
	}
}

/* A VM that was started again has the pins of its definition; undo takes back that, and leaves its threads alone. */
static void restarted(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct knob_report report;

	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	const char *definition = vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml");

	place(&scene, "web", "12-15", "3", "0");
	vm_scene_restart_web(&scene);
	assert_int_equal(undo(&scene, &report, arena, NULL), 0);
	assert_int_equal(outcome_of(&report, "web vCPU 1"), KNOB_GONE);
	assert_string_equal(report.events[1].why, "the VM has ended, or was started again since");
	assert_int_equal(outcome_of(&report, "web's definition"), KNOB_PUT_BACK);
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1002), "12-15");
	assert_string_equal(vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"), definition);
	assert_string_equal(scene.log, "virDomainDefineXMLFlags  \n");
	vm_scene_stop(&scene);
}

/* What others have changed since stays: a pin, and a disk in the definition. */
static void others(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct knob_report report;

	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	place(&scene, "web", "12-15", "3", "0");
	const char *text = vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml"), *at = strstr(text, "    <graphics");

	vm_scene_write(
	    &scene, "/etc/libvirt/qemu/web.xml",
	    arena_printf(arena, "%.*s    <disk type=\"block\" device=\"disk\"/>\n%s", (int)(at - text), text, at));
	vm_scene_taskset(&scene, SCENE_WEB, 1002, "11");
	assert_int_equal(undo(&scene, &report, arena, NULL), 0);
	assert_int_equal(outcome_of(&report, "web vCPU 0"), KNOB_PUT_BACK);
	assert_int_equal(outcome_of(&report, "web vCPU 1"), KNOB_LEFT);
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1001), "4");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1002), "11");
	text = vm_scene_read(&scene, "/etc/libvirt/qemu/web.xml");
	assert_non_null(strstr(text, "<disk type=\"block\" device=\"disk\"/>"));
	assert_non_null(strstr(text, "<vcpupin vcpu=\"1\" cpuset=\"5\"/>"));
	vm_scene_stop(&scene);
}

/* Somebody pinned past libvirt before: both the pin and where it ran come back. */
static void past_libvirt(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	vm_scene_taskset(&scene, SCENE_WEB, 1001, "9");
	CLEANUP(base_free) char *before = dump(&scene);

	place(&scene, "web", "12-15", "3", "0");
	assert_string_equal(vm_scene_affinity(&scene, SCENE_WEB, 1001), "12");
	assert_int_equal(undo(&scene, NULL, NULL, NULL), 0);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_same(before, after);
	vm_scene_stop(&scene);
}

static void memory(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	place(&scene, "web", "12-15", "3", "1");
	assert_string_equal(strstr(scene.log, "virDomainSetNumaParameters"), "virDomainSetNumaParameters  1\n");
	assert_non_null(strstr(vm_scene_read(&scene, "/proc/1000/task/1000/status"), "Mems_allowed_list:\t1\n"));
	assert_int_equal(undo(&scene, NULL, NULL, NULL), 0);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_same(before, after);
	vm_scene_stop(&scene);
}

static int plan_of(struct vm_scene *scene, const char *name, const char *cpus, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_plan plan;

	open_machine(scene, &machine);
	struct vm_layout layout = vm_scene_layout(machine.arena, name, cpus, "0", "");
	struct knob_vm_placing placing = {.name = name, .layout = &layout};

	return knob_vm_plan(&machine, &placing, 1, &plan, err);
}

static void refusals(void **state)
{
	struct err err = {0};

	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	assert_int_equal(plan_of(&scene, "nobody", "1", &err), -ENOENT);
	assert_int_equal(plan_of(&scene, "web", "1-6", &err), -EINVAL);
	assert_string_equal(err.what, "has 4 vCPUs, not 6");
	/* A libvirt that refuses is no reason to move its VMs past it. */
	scene.libvirt->refuse = 1;
	assert_int_equal(plan_of(&scene, "web", "8-11", &err), -EACCES);
	scene.libvirt->refuse = 2;
	assert_int_equal(plan_of(&scene, "web", "8-11", &err), -ECONNREFUSED);
	assert_int_equal(plan_of(&scene, "plain", "8-9", &err), 0);
	/* Not in this libvirt, though a libvirt runs it. */
	scene.libvirt->refuse = 0;
	vm_scene_remove(&scene, "/etc/libvirt/qemu/db.xml");
	vm_scene_remove(&scene, "/run/libvirt/qemu/db.live");
	assert_int_equal(plan_of(&scene, "db", "8-9", &err), -ENOTSUP);
	assert_non_null(strstr(err.what, "the libvirt of a session"));
	vm_scene_stop(&scene);
}

/* Who may only look sees the plan; nothing comes of it. */
static void looking_only(void **state)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report;
	struct knob_plan plan;
	struct err err = {0};

	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	scene.libvirt->refuse = 3;
	open_machine(&scene, &machine);
	struct vm_layout layout = vm_scene_layout(machine.arena, "web", "12-15", "3", "0");

	make_plan(&machine, &layout, 1, &plan);
	assert_true(plan.step_count > 0);
	assert_int_equal(apply(&machine, &plan, &report, &err), -EACCES);
	assert_non_null(strstr(err.what, "no polkit agent"));
	CLEANUP(base_free) char *after = dump(&scene);

	assert_same(before, after);
	vm_scene_stop(&scene);
}

/* libvirt does not answer when undo comes: the change stays in force, and can be taken back later. */
static void undo_without_libvirt(void **state)
{
	struct err err = {0};

	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	place(&scene, "web", "12-15", "3", "0");
	scene.libvirt->refuse = 2;
	assert_int_equal(undo(&scene, NULL, NULL, &err), -EIO);
	scene.libvirt->refuse = 0;
	assert_int_equal(undo(&scene, NULL, NULL, &err), 0);
	CLEANUP(base_free) char *after = dump(&scene);

	assert_same(before, after);
	vm_scene_stop(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(in_order),
	    cmocka_unit_test(looking_only),
	    cmocka_unit_test(what_is_right_is_not_written),
	    cmocka_unit_test(plain),
	    cmocka_unit_test(changing_places),
	    cmocka_unit_test(failing_pin),
	    cmocka_unit_test(narrow_group),
	    cmocka_unit_test(vanishing),
	    cmocka_unit_test(restarted),
	    cmocka_unit_test(others),
	    cmocka_unit_test(past_libvirt),
	    cmocka_unit_test(memory),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(undo_without_libvirt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

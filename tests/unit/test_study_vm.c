/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of a study's VMs: that each configuration is what its VMs run with, that the rest is left alone, how each
 * step that fails is told, and that everything is as before afterwards, also when the process was killed at any call.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "knob_vm.h"
#include "study_check.h"
#include "study_host.h"
#include "study_vm.h"
#include "text.h"
#include "unit.h"
#include "vm_scene.h"

#define QEMU "/run/libvirt/qemu/web"
#define GUEST QEMU ".guest"
#define GRUB "/etc/default/grub"
#define BOOT "/proc/sys/kernel/random/boot_id"
#define DEFAULTS "GRUB_CMDLINE_LINUX_DEFAULT='quiet mitigations=auto'\n"
#define DEFINITION "/etc/libvirt/qemu/web.xml"

static const struct tree_file guest[] = {
    {GUEST GRUB, DEFAULTS},
    {GUEST "/usr/sbin/update-grub", ""},
    {GUEST "/boot/grub/grub.cfg", DEFAULTS},
    {GUEST BOOT, "boot-1\n"},
    {GUEST "/proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet mitigations=auto\n"},
    {NULL, NULL},
};

#define PINS "  pins: {levels: {found: as-found, far: {set: {'vm.pins.next@web': 12-15}}}}\n"
#define LINE "  line: {levels: {found: as-found, off: {set: {'guest.mitigations@web': 'off'}}}}\n"
#define THP "  thp: {levels: {found: as-found, never: {set: {swappiness: 10}}}}\n"

/* What runs in the guest, and what runs beside it. */
#define IN_GUEST "study: s\nworkloads: {w: {run: 'true', on: vm:web}}\n"
#define BESIDE "study: s\nworkloads: {w: {run: 'true'}}\n"

struct scene {
	struct vm_scene vms;
	struct knob_machine machine;
	struct study_matrix matrix;
	struct study_host host;
};

static void open_study(struct scene *scene, const char *text)
{
	const struct sys_write_gate gate = vm_scene_gate(&scene->vms);
	struct study_mistakes mistakes = {0};
	struct study *study = NULL;

	scene->machine = (struct knob_machine){0};
	assert_int_equal(knob_machine_open(scene->vms.tree->root, &gate, &scene->machine, NULL), 0);
	mistakes.arena = scene->machine.arena;
	if (study_read(scene->machine.arena, "s.yaml", text, strlen(text), &study, &mistakes) < 0)
		fail_msg("line %u: %s", mistakes.items[0].line, mistakes.items[0].what);
	study_matrix_make(scene->machine.arena, study, &scene->matrix);
	scene->host =
	    (struct study_host){.arena = scene->machine.arena, .machine = &scene->machine, .matrix = &scene->matrix};
	study_host_begin(&scene->host);
}

static void open_host(struct scene *scene, const char *vms)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), IN_GUEST "vms: %s\nfactors:\n" PINS LINE THP, vms);
	open_study(scene, text);
}

static void start_tree(struct scene *scene)
{
	vm_scene_start(&scene->vms);
	tree_add(scene->vms.tree, guest);
	tree_write(scene->vms.tree, "/proc/sys/vm/swappiness", "60\n");
}

static void start(struct scene *scene, const char *vms)
{
	start_tree(scene);
	open_host(scene, vms);
}

static void stop(struct scene *scene)
{
	knob_machine_close(&scene->machine);
	vm_scene_stop(&scene->vms);
}

/* The configuration with these levels. */
static int config_of(const struct scene *scene, size_t pins, size_t line, size_t thp)
{
	return (int)study_find_config(&scene->matrix, (const size_t[]){pins, line, thp});
}

static void enter(struct scene *scene, int config)
{
	struct err err = {0};

	if (study_host_enter(&scene->host, config, &err) < 0)
		fail_msg("%d: %s: %s", config, err.where, err.what);
}

static const char *cpus(const struct scene *scene)
{
	return vm_scene_affinity(&scene->vms, SCENE_WEB, 1001);
}

static bool runs(const struct scene *scene)
{
	return *vm_scene_read(&scene->vms, QEMU ".live") != '\0';
}

/* Starts of its guest so far. */
static long boots(const struct scene *scene)
{
	return strtol(vm_scene_read(&scene->vms, GUEST BOOT) + strlen("boot-"), NULL, 10);
}

static bool is_in_force(struct scene *scene)
{
	struct knob_journal journal = {0};
	unsigned *ids;

	assert_int_equal(knob_journal_read(&scene->machine, &journal, NULL), 0);
	return knob_in_force(&scene->machine, &journal, &ids) > 0;
}

static void assert_as_before(struct scene *scene, const char *definition)
{
	assert_string_equal(vm_scene_read(&scene->vms, DEFINITION), definition);
	assert_string_equal(vm_scene_read(&scene->vms, GUEST GRUB), DEFAULTS);
	assert_string_equal(vm_scene_read(&scene->vms, GUEST "/boot/grub/grub.cfg"), DEFAULTS);
	assert_string_equal(vm_scene_read(&scene->vms, "/proc/sys/vm/swappiness"), "60\n");
	assert_false(is_in_force(scene));
}

static void there_and_back(void **state)
{
	struct scene scene;
	struct err err = {0};

	(void)state;
	start(&scene, "[web]");
	const char *before = arena_strdup(scene.machine.arena, vm_scene_read(&scene.vms, DEFINITION));

	assert_int_equal(study_vm_begin(&scene.host, &err), 0);
	assert_string_equal(study_vm_guest(&scene.host, "web")->name, "web");
	enter(&scene, config_of(&scene, 0, 0, 0));
	assert_int_equal(boots(&scene), 1);
	enter(&scene, config_of(&scene, 1, 1, 0));
	assert_int_equal(boots(&scene), 2);
	assert_string_equal(cpus(&scene), "12");
	assert_string_equal(vm_scene_read(&scene.vms, GUEST "/proc/cmdline"),
			    "BOOT_IMAGE=/vmlinuz quiet mitigations=off\n");
	/* What does not concern it leaves it alone. */
	enter(&scene, config_of(&scene, 1, 1, 1));
	assert_int_equal(boots(&scene), 2);
	enter(&scene, config_of(&scene, 1, 0, 1));
	assert_int_equal(boots(&scene), 3);
	assert_string_equal(cpus(&scene), "12");
	assert_string_equal(vm_scene_read(&scene.vms, GUEST "/proc/cmdline"),
			    "BOOT_IMAGE=/vmlinuz quiet mitigations=auto\n");
	enter(&scene, config_of(&scene, 0, 1, 1));
	assert_int_equal(boots(&scene), 4);
	assert_string_equal(cpus(&scene), "4");
	assert_int_equal(study_host_leave(&scene.host, &err), 0);
	assert_true(runs(&scene));
	assert_int_equal(boots(&scene), 5);
	assert_string_equal(vm_scene_read(&scene.vms, GUEST "/proc/cmdline"),
			    "BOOT_IMAGE=/vmlinuz quiet mitigations=auto\n");
	assert_as_before(&scene, before);
	stop(&scene);
}

/* One that was off runs for the study, and is off afterwards. */
static void off_before(void **state)
{
	struct scene scene;
	struct err err = {0};

	(void)state;
	start(&scene, "[{name: web, wait: 1 min}]");
	const char *before = arena_strdup(scene.machine.arena, vm_scene_read(&scene.vms, DEFINITION));

	assert_int_equal(knob_libvirt_power(&scene.machine, SCENE_WEB_UUID, KNOB_LIBVIRT_CUT, &err), 0);
	assert_int_equal(study_vm_begin(&scene.host, &err), 0);
	assert_true(runs(&scene));
	enter(&scene, config_of(&scene, 1, 1, 1));
	assert_string_equal(cpus(&scene), "12");
	assert_int_equal(study_host_leave(&scene.host, &err), 0);
	assert_false(runs(&scene));
	assert_as_before(&scene, before);
	stop(&scene);
}

/* One that its guest's crash has ended between two runs is started again, with what it was asked. */
static void gone_off(void **state)
{
	struct scene scene;
	struct err err = {0};

	(void)state;
	start(&scene, "[web]");
	assert_int_equal(study_vm_begin(&scene.host, &err), 0);
	enter(&scene, config_of(&scene, 1, 0, 0));
	assert_int_equal(knob_libvirt_power(&scene.machine, SCENE_WEB_UUID, KNOB_LIBVIRT_CUT, &err), 0);
	enter(&scene, config_of(&scene, 1, 0, 1));
	assert_true(runs(&scene));
	assert_string_equal(cpus(&scene), "12");
	assert_int_equal(study_host_leave(&scene.host, &err), 0);
	assert_true(runs(&scene));
	assert_string_equal(cpus(&scene), "4");
	stop(&scene);
}

/* What goes wrong on the way to the far pins with mitigations off. */
static const struct {
	const char *control, *text, *what;
	int errnum;
} faults[] = {
    {QEMU ".hang", "", "does not shut down for 120 seconds", EHOSTUNREACH},
    {QEMU ".broken", "cpuset=\"12\"", "unable to map backing store", EHOSTUNREACH},
    {QEMU ".loose", "", "its vCPU 0 may run on 0-15 and is pinned to 12", EHOSTUNREACH},
    {QEMU ".blocked", "guest-exec\n", "does not carry out guest-exec", EHOSTUNREACH},
};

static void failures(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct scene scene;
		struct err err = {0};

		start(&scene, "[web]");
		const char *before = arena_strdup(scene.machine.arena, vm_scene_read(&scene.vms, DEFINITION));

		assert_int_equal(study_vm_begin(&scene.host, &err), 0);
		vm_scene_write(&scene.vms, faults[i].control, faults[i].text);
		int r = study_host_enter(&scene.host, config_of(&scene, 1, 0, 0), &err);

		if (r != -faults[i].errnum || !strstr(err.what, faults[i].what))
			fail_msg("%s: %d: %s: %s", faults[i].control, r, err.where, err.what);
		vm_scene_remove(&scene.vms, faults[i].control);
		if (study_host_leave(&scene.host, &err) < 0)
			fail_msg("%s: %s: %s", faults[i].control, err.where, err.what);
		assert_true(runs(&scene));
		assert_string_equal(cpus(&scene), "4");
		assert_as_before(&scene, before);
		stop(&scene);
	}
}

/* The agent says nothing after the start: it is told, and where the agent stays silent all that can be is put back. */
static void silent_guest(void **state)
{
	struct scene scene;
	struct err err = {0};

	(void)state;
	start(&scene, "[web]");
	const char *before = arena_strdup(scene.machine.arena, vm_scene_read(&scene.vms, DEFINITION));

	assert_int_equal(study_vm_begin(&scene.host, &err), 0);
	vm_scene_write(&scene.vms, QEMU ".silent", "");
	assert_int_equal(study_host_enter(&scene.host, config_of(&scene, 1, 0, 0), &err), -EHOSTUNREACH);
	assert_non_null(strstr(err.what, "its guest does not come up: libvirt: Guest agent is not responding"));
	assert_non_null(strstr(err.hint, "qemu-guest-agent"));
	assert_true(runs(&scene));
	assert_as_before(&scene, before);
	stop(&scene);
}

/* One that has no channel for an agent, and of whose guest nothing is asked: it is up when it runs where it is pinned.
 */
static void without_an_agent(void **state)
{
	static const size_t far[] = {1, 0}, far_and_thp[] = {1, 1};
	struct study_checked checked;
	struct scene scene;
	struct err err = {0};
	bool silent = false;

	(void)state;
	start_tree(&scene);
	vm_scene_write(&scene.vms, QEMU ".mute", "");
	open_study(&scene, BESIDE "vms: [web]\nfactors:\n" PINS THP);
	const char *before = arena_strdup(scene.machine.arena, vm_scene_read(&scene.vms, DEFINITION));

	assert_int_equal(study_vm_check(&scene.machine, scene.matrix.study, 0, &silent, &err), 0);
	assert_true(silent);
	/* `study check` tells it, and it is in nobody's way. */
	study_check(&scene.machine, &scene.matrix, &checked);
	assert_true(checked.possible);
	assert_int_equal(checked.count, 1);
	assert_int_equal(checked.problems[0].kind, STUDY_VM_SILENT);
	assert_string_equal(checked.problems[0].what, "web");
	assert_int_equal(study_vm_begin(&scene.host, &err), 0);
	enter(&scene, (int)study_find_config(&scene.matrix, far));
	assert_int_equal(boots(&scene), 2);
	assert_string_equal(cpus(&scene), "12");
	enter(&scene, (int)study_find_config(&scene.matrix, far_and_thp));
	assert_int_equal(boots(&scene), 2);
	/* Gone off between two runs. */
	assert_int_equal(knob_libvirt_power(&scene.machine, SCENE_WEB_UUID, KNOB_LIBVIRT_CUT, &err), 0);
	enter(&scene, (int)study_find_config(&scene.matrix, far));
	assert_true(runs(&scene));
	assert_string_equal(cpus(&scene), "12");
	assert_int_equal(study_host_leave(&scene.host, &err), 0);
	assert_true(runs(&scene));
	assert_string_equal(cpus(&scene), "4");
	assert_as_before(&scene, before);
	stop(&scene);
}

/* It runs, and that is not enough. */
static const struct {
	const char *study, *control, *what;
	bool begins, silent;
} not_up[] = {
    {BESIDE "vms: [web]\nfactors:\n" PINS THP, ".loose", "its vCPU 0 may run on 0-15 and is pinned to 12", true, true},
    {BESIDE "vms: [web]\nfactors:\n" PINS THP, ".silent", "Guest agent is not responding", false, false},
    {BESIDE "vms: [web]\nfactors:\n" LINE THP, NULL, "QEMU guest agent is not configured", false, false},
    {IN_GUEST "vms: [web]\nfactors:\n" PINS THP, NULL, "QEMU guest agent is not configured", false, false},
};

static void without_an_agent_not_up(void **state)
{
	static const size_t far[] = {1, 0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(not_up); i++) {
		struct scene scene;
		struct err err = {0};
		const char *control = not_up[i].control ? not_up[i].control : "";
		bool silent = !not_up[i].silent;

		start_tree(&scene);
		/* An agent that has a channel and does not answer is not one that is not there. */
		if (!text_equal(control, ".silent"))
			vm_scene_write(&scene.vms, QEMU ".mute", "");
		open_study(&scene, not_up[i].study);
		if (*control)
			vm_scene_write(&scene.vms, arena_printf(scene.machine.arena, QEMU "%s", control), "");
		int r = study_vm_check(&scene.machine, scene.matrix.study, 0, &silent, &err);

		assert_int_equal(silent, not_up[i].silent);
		assert_int_equal(r == 0, not_up[i].silent);
		err = (struct err){0};
		r = study_vm_begin(&scene.host, &err);
		assert_int_equal(r == 0, not_up[i].begins);
		if (r == 0)
			r = study_host_enter(&scene.host, (int)study_find_config(&scene.matrix, far), &err);
		if (r != -EHOSTUNREACH || !strstr(err.what, not_up[i].what))
			fail_msg("%zu: %d: %s: %s", i, r, err.where, err.what);
		stop(&scene);
	}
}

/* Only where the file says so its plug is pulled. */
static void forced(void **state)
{
	struct scene scene;
	struct err err = {0};

	(void)state;
	start(&scene, "[{name: web, force: yes}]");
	assert_int_equal(study_vm_begin(&scene.host, &err), 0);
	vm_scene_write(&scene.vms, QEMU ".hang", "");
	enter(&scene, config_of(&scene, 1, 0, 0));
	assert_string_equal(cpus(&scene), "12");
	assert_non_null(strstr(scene.vms.log, "virDomainDestroy"));
	assert_int_equal(study_host_leave(&scene.host, &err), 0);
	assert_string_equal(cpus(&scene), "4");
	stop(&scene);
}

static const struct {
	const char *path, *text, *what;
	int errnum;
} refused[] = {
    {DEFINITION, NULL, "is not defined at libvirt", ENOTSUP},
    {QEMU ".save", "", "has a saved image", ENOTSUP},
    {QEMU ".mute", "", "QEMU guest agent is not configured", EHOSTUNREACH},
    {QEMU ".blocked", "guest-exec\n", "does not carry out guest-exec", EHOSTUNREACH},
};

static void refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct scene scene;
		struct err err = {0};

		start(&scene, "[web]");
		if (refused[i].text)
			vm_scene_write(&scene.vms, refused[i].path, refused[i].text);
		else
			vm_scene_remove(&scene.vms, refused[i].path);
		int r = study_vm_begin(&scene.host, &err);

		if (r != -refused[i].errnum || !strstr(err.what, refused[i].what))
			fail_msg("%s: %d: %s: %s", refused[i].path, r, err.where, err.what);
		assert_false(is_in_force(&scene));
		/* `study check` says the same, without the wait. */
		bool silent = true;

		err = (struct err){0};
		r = study_vm_check(&scene.machine, scene.matrix.study, 0, &silent, &err);
		if (r == 0 || !strstr(err.what, refused[i].what))
			fail_msg("%s: check: %d: %s: %s", refused[i].path, r, err.where, err.what);
		stop(&scene);
	}
}

/*
 * A power cut of the host, and it boots without starting its VMs: those that ran when the study began are started, and
 * what has to be put back inside a guest can be. At first libvirt does not start any, for /dev/kvm is not there yet.
 */
static void after_a_power_cut(void **state)
{
	struct scene scene;
	struct err err = {0};

	(void)state;
	start(&scene, "[web]");
	const char *before = strdup(vm_scene_read(&scene.vms, DEFINITION));
	json_t *ran = study_vm_running_json(&scene.machine, scene.matrix.study);

	assert_true(json_is_true(json_object_get(ran, "web")));
	assert_int_equal(study_vm_begin(&scene.host, &err), 0);
	enter(&scene, config_of(&scene, 1, 1, 1));
	assert_int_equal(knob_libvirt_power(&scene.machine, SCENE_WEB_UUID, KNOB_LIBVIRT_CUT, &err), 0);
	knob_machine_close(&scene.machine);
	vm_scene_write(&scene.vms, BOOT, "second\n");
	vm_scene_write(&scene.vms, "/proc/sys/vm/swappiness", "60\n");
	open_host(&scene, "[web]");
	assert_int_equal(study_host_tidy(&scene.machine, NULL, &err), -EIO);
	scene.vms.libvirt->fail_at = scene.vms.libvirt->changes + 1;
	assert_int_equal(study_vm_wake(&scene.machine, scene.matrix.study, ran, true, &err), 0);
	assert_true(runs(&scene));
	if (study_host_tidy(&scene.machine, NULL, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
	assert_as_before(&scene, before);
	json_decref(ran);
	free((char *)before);
	stop(&scene);
}

/* ---- killed ---- */

static int walk(struct scene *scene, struct err *err)
{
	int r = study_vm_begin(&scene->host, err);

	if (r == 0)
		r = study_host_enter(&scene->host, config_of(scene, 1, 1, 1), err);
	if (r == 0)
		r = study_host_enter(&scene->host, config_of(scene, 1, 0, 0), err);
	return r < 0 ? r : study_host_leave(&scene->host, err);
}

/* In a process that kills itself at a call. False when it came to its end before. */
static bool killed(struct scene *scene, long at)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct err err = {0};

		scene->vms.calls = 0;
		scene->vms.kill_at = at;
		_exit(-walk(scene, &err));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	return WIFSIGNALED(status);
}

static void undo_all(struct scene *scene, long at)
{
	for (int i = 0; i < 10; i++) {
		struct knob_report report = {0};
		struct err err = {0};
		int r = knob_undo(&scene->machine, 0, &report, &err);

		if (r == -ENOENT)
			return;
		if (r < 0)
			fail_msg("killed at %ld: undo: %s: %s", at, err.where, err.what);
	}
	fail_msg("killed at %ld: undo has no end", at);
}

/* Undo, newest first, gives back definition and kernel line byte for byte, and the VM runs. */
static void killed_anywhere(void **state)
{
	struct scene scene;
	bool was_killed = true;

	(void)state;
	start(&scene, "[web]");
	const char *before = arena_strdup(scene.machine.arena, vm_scene_read(&scene.vms, DEFINITION));

	for (long at = 1; was_killed; at++) {
		was_killed = killed(&scene, at);
		knob_vm_forget(&scene.machine);
		if (was_killed && is_in_force(&scene)) {
			struct err err = {0};

			/* A study does not take what the last one left for the machine's own. */
			assert_int_equal(study_host_clean(&scene.machine, &err), -EBUSY);
		}
		undo_all(&scene, at);
		if (!runs(&scene))
			fail_msg("killed at %ld: the VM is off", at);
		assert_as_before(&scene, before);
		vm_scene_remove(&scene.vms, KNOB_JOURNAL);
	}
	stop(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(there_and_back),	cmocka_unit_test(off_before),
	    cmocka_unit_test(gone_off),		cmocka_unit_test(failures),
	    cmocka_unit_test(silent_guest),	cmocka_unit_test(forced),
	    cmocka_unit_test(without_an_agent), cmocka_unit_test(without_an_agent_not_up),
	    cmocka_unit_test(refusals),		cmocka_unit_test(after_a_power_cut),
	    cmocka_unit_test(killed_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

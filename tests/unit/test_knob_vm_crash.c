/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the proof that no placement is lost: the process is killed before and after every call that changes something,
 * of libvirt's and of the kernel's, first while applying, then while undoing; undo afterwards gives back every thread,
 * every pin and every definition as they were.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"
#include "vm_scene.h"

enum { MOST_VMS = 3 };

struct plan {
	struct {
		const char *name, *cpus, *service, *nodes;
	} vms[MOST_VMS];
};

static const struct plan plans[] = {
    {{{"db", "4-5", "0-1", ""}, {"web", "8-11", "2", "0"}}},
    {{{"plain", "4-5", "2", ""}, {"web", "8-11", "3", "1"}, {"db", "6-7", "3", "0"}}},
};

static char *dump(const struct vm_scene *scene)
{
	return kernel_dump(&(struct kernel){.tree = scene->tree});
}

static int apply(struct vm_scene *scene, const struct plan *plan, struct err *err)
{
	const struct sys_write_gate gate = vm_scene_gate(scene);
	const struct knob_apply_options options = {.what = "a test"};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_vm_placing placings[MOST_VMS];
	struct vm_layout layouts[MOST_VMS];
	struct knob_report report = {0};
	struct knob_plan made;
	size_t count = 0;

	assert_int_equal(knob_machine_open(scene->tree->root, &gate, &machine, err), 0);
	for (; count < MOST_VMS && plan->vms[count].name; count++) {
		layouts[count] = vm_scene_layout(machine.arena, plan->vms[count].name, plan->vms[count].cpus,
						 plan->vms[count].service, plan->vms[count].nodes);
		placings[count] = (struct knob_vm_placing){.name = layouts[count].name, .layout = &layouts[count]};
	}
	if (knob_vm_plan(&machine, placings, count, &made, err) < 0)
		fail_msg("%s: %s", err->where, err->what);
	scene->calls = 0;
	return knob_apply(&machine, &made, &options, &report, err);
}

static int undo(struct vm_scene *scene, struct err *err)
{
	const struct sys_write_gate gate = vm_scene_gate(scene);
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};

	assert_int_equal(knob_machine_open(scene->tree->root, &gate, &machine, err), 0);
	scene->calls = 0;
	return knob_undo(&machine, 0, &report, err);
}

/* Do it in a process that kills itself at a call. False when it came to its end before. */
static bool killed(struct vm_scene *scene, long at, const struct plan *plan)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct err err = {0};

		scene->kill_at = at;
		_exit(plan ? -apply(scene, plan, &err) : -undo(scene, &err));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGKILL);
	return WIFSIGNALED(status);
}

static void check_undone(struct vm_scene *scene, const char *before, size_t plan, long at, long undo_at)
{
	struct err err = {0};
	int r = undo(scene, &err);
	CLEANUP(base_free) char *after = dump(scene);
	size_t same = 0;

	/* -ENOENT: it died before anything was begun. */
	if (r < 0 && r != -ENOENT)
		fail_msg("plan %zu, killed at %ld and %ld: undo: %s: %s", plan, at, undo_at, err.where, err.what);
	while (before[same] && before[same] == after[same])
		same++;
	if (before[same] || after[same])
		fail_msg("plan %zu, killed at %ld and %ld: %.200s\n%.200s", plan, at, undo_at, before + same,
			 after + same);
}

/* As it was, for the next round: all else is the same, that was checked. */
static void forget(struct vm_scene *scene)
{
	vm_scene_remove(scene, KNOB_JOURNAL);
	scene->kill_at = scene->fail_at = 0;
}

static void killed_anywhere_in_apply(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		long at = 1;

		for (bool dead = true; dead; at++) {
			dead = killed(&scene, at, &plans[i]);
			check_undone(&scene, before, i, at, 0);
			forget(&scene);
		}
		assert_true(at > 20);
	}
	vm_scene_stop(&scene);
}

/* Applied to its end or killed half-way, and then killed anywhere in undo. */
static void killed_anywhere_in_undo(void **state)
{
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		for (long half = 0; half <= 25; half += 25) {
			long at = 1;

			for (bool dead = true; dead; at++) {
				struct err err = {0};

				if (half == 0 && apply(&scene, &plans[i], &err) < 0)
					fail_msg("plan %zu: %s: %s", i, err.where, err.what);
				if (half)
					(void)killed(&scene, half, &plans[i]);
				dead = killed(&scene, at, NULL);
				check_undone(&scene, before, i, half, at);
				forget(&scene);
			}
		}
	}
	vm_scene_stop(&scene);
}

/* Each call made to fail: apply says so, and everything is as before, by itself or after undo. */
static void failing_anywhere(void **state)
{
	static const int errnums[] = {EBUSY, EINVAL, EIO};
	struct vm_scene scene;

	(void)state;
	vm_scene_start(&scene);
	CLEANUP(base_free) char *before = dump(&scene);

	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		bool reached = true;

		for (long at = 1; reached; at += 2) {
			struct err err = {0};

			scene.fail_at = at;
			scene.fail_errnum = errnums[at / 2 % ARRAY_SIZE(errnums)];
			int r = apply(&scene, &plans[i], &err);

			reached = scene.calls >= at;
			assert_true(reached || r == 0);
			assert_true(r == 0 || err.what[0]);
			scene.fail_at = 0;
			check_undone(&scene, before, i, at, 0);
			forget(&scene);
		}
	}
	vm_scene_stop(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(killed_anywhere_in_apply),
	    cmocka_unit_test(killed_anywhere_in_undo),
	    cmocka_unit_test(failing_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the exhaustive crash test; see crash.h. */
#include "crash.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static void begin_plain(struct kernel *kernel, const struct crash_scene *scene, void *data)
{
	(void)data;
	kernel_start(kernel, scene->mode);
	if (scene->add)
		scene->add(kernel);
}

static void end_plain(struct kernel *kernel, void *data)
{
	(void)data;
	kernel_stop(kernel);
}

const struct crash_world crash_plain = {begin_plain, end_plain, NULL};

static void open_machine(struct kernel *kernel, struct knob_machine *ret)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	struct err err = {0};

	if (knob_machine_open(kernel->tree->root, &gate, ret, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
	ret->bus_address = kernel->bus_address;
	ret->no_trial = kernel->no_trial;
}

static void make_plan(struct knob_machine *machine, const struct crash_scene *scene, struct knob_plan *ret)
{
	struct knob_ask asks[CRASH_ASKS];
	size_t count = 0;
	struct err err = {0};

	while (count < CRASH_ASKS && scene->asks[count]) {
		assert_int_equal(knob_ask_parse(machine->arena, scene->asks[count], &asks[count], &err), 0);
		count++;
	}
	if (knob_plan_make(machine, asks, count, ret, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
}

int crash_apply(struct kernel *kernel, const struct crash_scene *scene, struct err *err)
{
	const struct knob_apply_options options = {.what = "a test"};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};
	struct knob_plan plan = {0};

	open_machine(kernel, &machine);
	make_plan(&machine, scene, &plan);
	kernel->calls = 0;
	return knob_apply(&machine, &plan, &options, &report, err);
}

int crash_undo(struct kernel *kernel, struct err *err)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report = {0};

	open_machine(kernel, &machine);
	kernel->calls = 0;
	return knob_undo(&machine, 0, &report, err);
}

/* Do it in a process that kills itself at a call. False when it came to its end before. */
static bool killed(struct kernel *kernel, long at, const struct crash_scene *scene)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct err err = {0};

		kernel->kill_at = at;
		_exit(scene ? -crash_apply(kernel, scene, &err) : -crash_undo(kernel, &err));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGKILL);
	return WIFSIGNALED(status);
}

void crash_wait_killed(pid_t pid)
{
	int status = 0;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* The first line of each that is not in the other; NULL when they are alike. */
static const char *first_difference(const char *before, const char *after)
{
	static char text[2048];

	while (*before && *after) {
		size_t length = strcspn(before, "\n"), other = strcspn(after, "\n");

		if (length != other || strncmp(before, after, length) != 0)
			break;
		before += length + (before[length] == '\n');
		after += other + (after[other] == '\n');
	}
	if (!*before && !*after)
		return NULL;
	(void)snprintf(text, sizeof(text), "was \"%.*s\", is \"%.*s\"", (int)strcspn(before, "\n"), before,
		       (int)strcspn(after, "\n"), after);
	return text;
}

void crash_check_undone(struct kernel *kernel, const char *before, const char *how)
{
	struct err err = {0};
	int r = crash_undo(kernel, &err);
	CLEANUP(base_free) char *after = kernel_dump(kernel);

	/* -ENOENT: it died before anything was begun. */
	if (r < 0 && r != -ENOENT)
		fail_msg("%s: undo: %s: %s", how, err.where, err.what);
	const char *difference = first_difference(before, after);

	if (difference)
		fail_msg("%s: %s", how, difference);
}

static void check_undone(struct kernel *kernel, const char *before, const struct crash_scene *scene, long at,
			 long undo_at)
{
	char how[256];

	(void)snprintf(how, sizeof(how), "%s, killed or failed at %ld and %ld", scene->asks[0], at, undo_at);
	crash_check_undone(kernel, before, how);
}

void crash_in_apply(const struct crash_world *world, const struct crash_scene *scene)
{
	long at = 1;

	for (bool dead = true; dead; at++) {
		struct kernel kernel;

		world->begin(&kernel, scene, world->data);
		CLEANUP(base_free) char *before = kernel_dump(&kernel);

		dead = killed(&kernel, at, scene);
		check_undone(&kernel, before, scene, at, 0);
		world->end(&kernel, world->data);
	}
	assert_true(at > 10);
}

static bool crash_once_in_undo(const struct crash_world *world, const struct crash_scene *scene, long half, long at)
{
	struct kernel kernel;
	struct err err = {0};
	bool dead;

	world->begin(&kernel, scene, world->data);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	if (half == 0 && crash_apply(&kernel, scene, &err) < 0)
		fail_msg("%s: %s: %s", scene->asks[0], err.where, err.what);
	if (half)
		(void)killed(&kernel, half, scene);
	dead = killed(&kernel, at, NULL);
	check_undone(&kernel, before, scene, half, at);
	world->end(&kernel, world->data);
	return dead;
}

void crash_in_undo(const struct crash_world *world, const struct crash_scene *scene)
{
	for (long half = 0; half <= 30; half += 15)
		for (long at = 1; crash_once_in_undo(world, scene, half, at); at++)
			;
}

void crash_by_failures(const struct crash_world *world, const struct crash_scene *scene, int errnum)
{
	bool all = false;

	for (long at = 1; !all; at += 2) {
		struct kernel kernel;
		struct err err = {0};

		world->begin(&kernel, scene, world->data);
		CLEANUP(base_free) char *before = kernel_dump(&kernel);

		kernel.fail_at = at;
		kernel.fail_errnum = errnum;
		int r = crash_apply(&kernel, scene, &err);

		all = kernel.calls < at;
		if (all && r < 0)
			fail_msg("%s: %s: %s", scene->asks[0], err.where, err.what);
		kernel.fail_at = 0;
		assert_true(r == 0 || err.what[0]);
		check_undone(&kernel, before, scene, at, 0);
		world->end(&kernel, world->data);
	}
}

void killed_anywhere_in_apply(void **state)
{
	const struct crash_set *set = *state;

	for (size_t i = 0; i < set->count; i++)
		crash_in_apply(set->world, &set->scenes[i]);
}

void killed_anywhere_in_undo(void **state)
{
	const struct crash_set *set = *state;

	for (size_t i = 0; i < set->count; i++)
		crash_in_undo(set->world, &set->scenes[i]);
}

void failing_anywhere(void **state)
{
	const struct crash_set *set = *state;

	for (size_t i = 0; i < set->count; i++)
		for (const int *errnum = set->errnums; *errnum; errnum++)
			crash_by_failures(set->world, &set->scenes[i], *errnum);
}

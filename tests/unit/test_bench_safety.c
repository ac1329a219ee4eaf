/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of what heat and power have to say of runs: one is ended when the machine exceeds its limits, none
 * begins while it is too hot, one that was slowed down for its heat is void, and idle windows wait until the machine
 * has settled. The machine is a tree of files whose sensors are written meanwhile.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bench_settle.h"
#include "text.h"
#include "tree.h"
#include "unit.h"

#define HWMON "/sys/class/hwmon/"

static const struct tree_file sensors[] = {
    {HWMON "hwmon0/name", "k10temp\n"},
    {HWMON "hwmon0/temp1_input", "61250\n"},
    {HWMON "hwmon0/temp1_label", "Tctl\n"},
    {HWMON "hwmon1/name", "power_meter\n"},
    {HWMON "hwmon1/power1_average", "250000000\n"},
    {NULL, NULL},
};

static const struct {
	struct bench_safety safety;
	const char *file, *text; /* what a run writes into which file; NULL: nothing */
	const char *why;	 /* the run is ended with that in its reason; NULL: it ends by itself */
} scenes[] = {
    {{.temperature_c = 80}, NULL, NULL, NULL},
    {{.temperature_c = 80}, HWMON "hwmon0/temp1_input", "79000", NULL},
    {{.temperature_c = 80}, HWMON "hwmon0/temp1_input", "84000", "Tctl is at 84 C, above the limit of 80 C"},
    {{.power_w = 300, .boundary = METER_BOARD}, HWMON "hwmon1/power1_average", "299000000", NULL},
    {{.power_w = 300, .boundary = METER_BOARD}, HWMON "hwmon1/power1_average", "450000000", "above the limit of 300 W"},
    /* A sensor that says nothing is no reason. */
    {{.temperature_c = 80, .power_w = 300, .boundary = METER_BOARD}, HWMON "hwmon0/temp1_input", "broken", NULL},
};

struct machine {
	struct tree *tree;
	struct bench_setup setup;
	struct meter_set *meters;
	struct bench *bench;
};

static struct machine machine_open(const struct tree_file *files, struct bench_safety safety,
				   struct bench_limits limits)
{
	struct machine machine = {
	    .tree = tree_new(files),
	    .setup = {.session = {.kind = "run", .command = "[]"}, .safety = safety, .limits = limits}};
	struct err err = {0};

	assert_int_equal(sys_open_dir(machine.tree->root, &machine.setup.sys, &err), 0);
	assert_int_equal(meter_set_open(machine.setup.sys, NULL, &machine.meters, &err), 0);
	machine.setup.meters = machine.meters;
	assert_int_equal(bench_open(&machine.setup, &machine.bench, &err), 0);
	return machine;
}

static void machine_close(struct machine *machine)
{
	struct err err = {0};

	assert_int_equal(bench_close(machine->bench, "done", NULL, NULL, &err), 0);
	(void)meter_set_close(machine->meters);
	machine->setup.sys = sys_close(machine->setup.sys);
	machine->tree = tree_free(machine->tree);
}

/* A command of the shell as a configuration; its number. `script` must outlive the machine. */
static int machine_add(struct machine *machine, const char *script)
{
	const char **argv = ARENA_ARRAY(machine->bench->arena, 4, const char *);
	const struct bench_subject subject = {.name = "a", .command = {.argv = argv}};
	int number = -1;

	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = script;
	assert_int_equal(bench_add(machine->bench, &subject, &number, NULL), 0);
	return number;
}

static void play(size_t at)
{
	struct machine machine = machine_open(sensors, scenes[at].safety, (struct bench_limits){0});
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	/* What ends by itself takes as long as it takes to see a limit exceeded. */
	const char *script =
	    arena_printf(arena, "%s%s%s%s; sleep %s", scenes[at].file ? "echo " : "true",
			 scenes[at].file ? scenes[at].text : "", scenes[at].file ? " > " : "",
			 scenes[at].file ? arena_printf(arena, "%s%s", machine.tree->root, scenes[at].file) : "",
			 scenes[at].why ? "60" : "4");
	const struct bench_run *run = NULL;
	struct err err = {0};
	int number = machine_add(&machine, script), r;

	r = bench_measure(machine.bench, number, "measure", -1, &run, &err);
	if (!scenes[at].why) {
		if (r || !run->valid)
			fail_msg("scene %zu: %d %s", at, r, r ? err.what : run->why);
	} else {
		if (r != -EINTR || !strstr(err.what, scenes[at].why) || !strstr(run->why, scenes[at].why))
			fail_msg("scene %zu: %d \"%s\"", at, r, err.what);
		assert_non_null(machine.bench->signals.over);
		assert_false(machine.bench->signals.stopped);
		assert_int_equal(bench_measure(machine.bench, number, "measure", -1, &run, &err), -EINTR);
	}
	machine_close(&machine);
}

static void test_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		play(i);
}

/* In the background, after so long; it is a child of this process, reaped by the caller. */
static pid_t write_later(const struct tree *tree, const char *path, const char *text, long wait_ms)
{
	char whole[512];
	pid_t pid;

	(void)snprintf(whole, sizeof(whole), "%s%s", tree->root, path);
	pid = fork();
	if (pid == 0) {
		FILE *file;

		(void)nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000}, NULL);
		file = fopen(whole, "we");
		_exit(!file || fputs(text, file) < 0 || fclose(file) != 0);
	}
	return pid;
}

static void test_a_run_waits_for_a_cool_machine(void **state)
{
	struct machine machine =
	    machine_open(sensors, (struct bench_safety){0}, (struct bench_limits){.temperature_c = 60, .cool_s = 20});
	int number = machine_add(&machine, "exit 0");
	const struct bench_run *run = NULL;
	int64_t began_ns = bench_now_ns();
	pid_t pid = write_later(machine.tree, HWMON "hwmon0/temp1_input", "48000\n", 1200);

	(void)state;
	assert_int_equal(bench_measure(machine.bench, number, "measure", -1, &run, NULL), 0);
	assert_true(run->valid);
	assert_true(bench_now_ns() - began_ns > 1000000000);
	assert_true(run->values[0] < 1); /* the wait is no part of it */
	(void)waitpid(pid, NULL, 0);
	machine_close(&machine);
}

static void test_a_run_is_void_on_a_machine_that_stays_hot(void **state)
{
	struct machine machine =
	    machine_open(sensors, (struct bench_safety){0}, (struct bench_limits){.temperature_c = 60, .cool_s = 1});
	char script[512], mark[300];
	const struct bench_run *run = NULL;

	(void)state;
	(void)snprintf(mark, sizeof(mark), "%s/ran", machine.tree->root);
	(void)snprintf(script, sizeof(script), "touch %s", mark);
	assert_int_equal(bench_measure(machine.bench, machine_add(&machine, script), "measure", -1, &run, NULL), 0);
	assert_false(run->valid);
	assert_non_null(strstr(run->why, "Tctl was still at 61 C after 1 s of waiting, above the 60 C"));
	assert_int_equal(access(mark, F_OK), -1);
	machine_close(&machine);
}

static void test_a_run_that_was_slowed_down_is_void(void **state)
{
	static const struct tree_file files[] = {{"/dev/hsmp", ""},
						 {"/hsmp/0/4", "211500\n"},
						 {"/hsmp/0/7", "360000\n"},
						 {"/hsmp/0/25", "222822408\n"}, /* 3400 MHz, PPT: as under any load */
						 {NULL, NULL}};
	struct machine machine = machine_open(files, (struct bench_safety){0}, (struct bench_limits){0});
	int number = machine_add(&machine, "sleep 2.5");
	const struct bench_run *run = NULL;
	pid_t pid;

	(void)state;
	assert_int_equal(bench_measure(machine.bench, number, "measure", -1, &run, NULL), 0);
	if (!run->valid)
		fail_msg("%s", run->why);
	pid = write_later(machine.tree, "/hsmp/0/25", "222822410\n", 100); /* PPT and PROCHOT */
	assert_int_equal(bench_measure(machine.bench, number, "measure", -1, &run, NULL), 0);
	assert_false(run->valid);
	assert_non_null(strstr(run->why, "slowed down meanwhile by PROCHOT (hsmp.limit-0)"));
	(void)waitpid(pid, NULL, 0);
	machine_close(&machine);
}

static void test_settling(void **state)
{
	struct machine machine = machine_open(sensors, (struct bench_safety){0}, (struct bench_limits){0});
	struct bench_settled settled;
	pid_t pid;

	(void)state;
	/* Nothing to wait for. */
	assert_int_equal(bench_settle(machine.bench, 0, NULL, NULL, &settled, NULL), 0);
	assert_false(settled.settled);
	assert_true(settled.took_s < .5);
	/* All of it is flat: a quarter of the limit is enough (the tree has no /proc/stat). */
	assert_int_equal(bench_settle(machine.bench, 12, NULL, NULL, &settled, NULL), 0);
	assert_true(settled.settled);
	assert_true(settled.took_s >= 3 && settled.took_s < 9);
	/* The watts fall in the second second. */
	pid = write_later(machine.tree, HWMON "hwmon1/power1_average", "120000000\n", 1500);
	assert_int_equal(bench_settle(machine.bench, 4, NULL, NULL, &settled, NULL), 0);
	assert_false(settled.settled);
	assert_true(settled.took_s >= 4);
	(void)waitpid(pid, NULL, 0);
	machine_close(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_a_run_waits_for_a_cool_machine),
	    cmocka_unit_test(test_a_run_is_void_on_a_machine_that_stays_hot),
	    cmocka_unit_test(test_a_run_that_was_slowed_down_is_void),
	    cmocka_unit_test(test_settling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

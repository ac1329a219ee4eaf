/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of limits of heat and power: a run is ended when the machine exceeds them, no other begins, and what
 * stays below is left alone. The machine is a tree of files whose sensors are written meanwhile.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
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

static void play(size_t at)
{
	struct tree *tree = tree_new(sensors);
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct bench_setup setup = {.session = {.kind = "run", .command = "[]"}, .safety = scenes[at].safety};
	/* What ends by itself takes as long as it takes to see a limit exceeded. */
	const char *script =
	    arena_printf(arena, "%s%s%s%s; sleep %s", scenes[at].file ? "echo " : "true",
			 scenes[at].file ? scenes[at].text : "", scenes[at].file ? " > " : "",
			 scenes[at].file ? arena_printf(arena, "%s%s", tree->root, scenes[at].file) : "",
			 scenes[at].why ? "60" : "4");
	const struct bench_subject subject = {
	    .name = "a", .command = {.argv = (const char *const[]){"/bin/sh", "-c", script, NULL}}};
	struct meter_set *meters = NULL;
	struct bench *bench = NULL;
	const struct bench_run *run = NULL;
	struct err err = {0};
	int number, r;

	assert_int_equal(sys_open_dir(tree->root, &setup.sys, &err), 0);
	assert_int_equal(meter_set_open(setup.sys, NULL, &meters, &err), 0);
	setup.meters = meters;
	assert_int_equal(bench_open(&setup, &bench, &err), 0);
	assert_int_equal(bench_add(bench, &subject, &number, &err), 0);
	r = bench_measure(bench, number, "measure", -1, &run, &err);
	if (!scenes[at].why) {
		if (r || !run->valid)
			fail_msg("scene %zu: %d %s", at, r, r ? err.what : run->why);
	} else {
		if (r != -EINTR || !strstr(err.what, scenes[at].why) || !strstr(run->why, scenes[at].why))
			fail_msg("scene %zu: %d \"%s\"", at, r, err.what);
		assert_non_null(bench->signals.over);
		assert_false(bench->signals.stopped);
		assert_int_equal(bench_measure(bench, number, "measure", -1, &run, &err), -EINTR);
	}
	assert_int_equal(bench_close(bench, "done", NULL, NULL, &err), 0);
	(void)meter_set_close(meters);
	setup.sys = sys_close(setup.sys);
	(void)tree_free(tree);
}

static void test_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		play(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

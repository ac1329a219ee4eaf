/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of bench's sessions: what a run's row in the store holds, void runs, rules of stopping, blocks in their order,
 * the calibration, and entering configurations. Workloads are shells that print what they are to be measured by.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "bench_compare.h"
#include "text.h"

struct scene {
	struct arena *arena;
	struct store *store;
	struct sys *sys;
	struct bench *bench;
	struct bench_reader reader;
	char folder[64];
	char entered[256]; /* a letter for each enter() */
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct err err = {0};

	assert_non_null(scene);
	scene->arena = arena_new();
	(void)strcpy(scene->folder, "/tmp/hvtune-bench-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	assert_int_equal(store_open(STORE_IN_MEMORY, STORE_WRITE, &scene->store, &err), 0);
	assert_int_equal(sys_open_dir("/", &scene->sys, &err), 0);
	assert_int_equal(bench_reader_parse(scene->arena, "x:MB:more=regex:x=([0-9.]+)", &scene->reader, &err), 0);
	const struct bench_setup setup = {.store = scene->store,
					  .session = {.kind = "run", .command = "[]"},
					  .sys = scene->sys,
					  .readers = &scene->reader,
					  .reader_count = 1,
					  .random_offset = true};

	assert_int_equal(bench_open(&setup, &scene->bench, &err), 0);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;
	char path[128];

	(void)bench_close(scene->bench, "done", NULL, NULL, NULL);
	(void)store_close(scene->store);
	(void)sys_close(scene->sys);
	(void)arena_free(scene->arena);
	(void)snprintf(path, sizeof(path), "%s/count", scene->folder);
	(void)unlink(path);
	assert_int_equal(rmdir(scene->folder), 0);
	free(scene);
	return 0;
}

/* A script that has the number of its run in $n, counting from 0 over all that share the folder. */
static struct bench_subject subject(struct scene *scene, const char *name, const char *script)
{
	const char *text =
	    arena_printf(scene->arena, "n=$(cat %s/count 2>/dev/null || echo 0); echo $((n + 1)) > %s/count; %s",
			 scene->folder, scene->folder, script);

	return (struct bench_subject){.name = name, .command = {.argv = bench_shell_argv(scene->arena, "", text)}};
}

static int add(struct scene *scene, const struct bench_subject *which)
{
	struct err err = {0};
	int number = -1;

	assert_int_equal(bench_add(scene->bench, which, &number, &err), 0);
	return number;
}

static void load(struct scene *scene, struct store_whole *whole)
{
	struct err err = {0};

	assert_int_equal(bench_flush(scene->bench, &err), 0);
	assert_int_equal(store_load(scene->store, scene->arena, scene->bench->session, whole, &err), 0);
}

static void test_a_run_and_its_row(void **state)
{
	struct scene *scene = *state;
	struct bench_subject good = subject(scene, "good", "echo x=12.5"),
			     bad = subject(scene, "bad", "echo oh no >&2; exit 4"),
			     mute = subject(scene, "mute", "true");
	int numbers[] = {add(scene, &good), add(scene, &bad), add(scene, &mute)};
	const struct bench_run *run;
	struct store_whole whole;
	struct err err = {0};

	assert_int_equal(bench_measure(scene->bench, numbers[0], "measure", -1, &run, &err), 0);
	assert_true(run->valid);
	assert_int_equal(bench_measure(scene->bench, numbers[1], "measure", -1, &run, &err), 0);
	assert_false(run->valid);
	assert_string_equal(run->why, "exit code 4: oh no");
	assert_int_equal(bench_measure(scene->bench, numbers[2], "measure", -1, &run, &err), 0);
	assert_false(run->valid);
	assert_non_null(strstr(run->why, "nothing in it matches"));
	assert_int_equal(scene->bench->void_count, 2);
	load(scene, &whole);
	assert_int_equal(whole.run_count, 3);
	assert_string_equal(whole.runs[0].state, "valid");
	assert_true(whole.runs[0].took_ns > 0);
	assert_true(whole.runs[0].values[store_metric_named(&whole, "x")->id] == 12.5);
	assert_string_equal(store_metric_named(&whole, "x")->direction, "more");
	assert_true(fabs(whole.runs[0].values[store_metric_named(&whole, BENCH_WALL)->id] -
			 (double)whole.runs[0].took_ns / 1e9) < 1e-12);
	assert_string_equal(whole.runs[1].state, "invalid");
	assert_string_equal(whole.runs[1].why, "exit code 4: oh no");
	assert_int_equal(whole.runs[1].exit_code, 4);
	assert_int_equal(strlen(whole.runs[0].boot), 36);
}

static void test_what_cannot_be_started(void **state)
{
	struct scene *scene = *state;
	const struct bench_subject none = {.name = "none",
					   .command = {.argv = (const char *const[]){"/no/such", NULL}}};
	const struct bench_run *run;
	struct store_whole whole;
	struct err err = {0};
	int number = add(scene, &none);

	assert_int_equal(bench_measure(scene->bench, number, "measure", -1, &run, &err), -ENOENT);
	assert_string_equal(err.where, "/no/such");
	load(scene, &whole);
	assert_string_equal(whole.runs[0].state, "invalid");
}

static void test_stopping(void **state)
{
	struct scene *scene = *state;
	struct bench_subject steady = subject(scene, "steady", "echo x=100"),
			     rough = subject(scene, "rough", "echo x=$((100 + 60 * (n % 2)))");
	struct bench_rule rule = {.warmup = 1, .precision = .01, .least = STAT_STOP_FIRST, .most = 12};
	struct bench_result result;
	struct err err = {0};

	assert_int_equal(bench_repeat(scene->bench, add(scene, &steady), &rule, &result, &err), 0);
	assert_string_equal(result.metric, "x");
	assert_int_equal(result.end, BENCH_PRECISE);
	assert_int_equal(result.estimate.n, 6);
	assert_int_equal(scene->bench->run_count, 7);
	assert_int_equal(bench_repeat(scene->bench, add(scene, &rough), &rule, &result, &err), 0);
	assert_int_equal(result.end, BENCH_MOST_RUNS);
	assert_int_equal(result.estimate.n, 12);
	rule.runs = 4;
	rule.metric = BENCH_WALL;
	int third = add(scene, &steady);

	assert_int_equal(bench_repeat(scene->bench, third, &rule, &result, &err), 0);
	assert_int_equal(result.end, BENCH_RUNS);
	assert_int_equal(result.estimate.n, 4);
	assert_string_equal(result.metric, BENCH_WALL);
}

static void test_a_command_that_never_does_well_is_given_up(void **state)
{
	struct scene *scene = *state;
	struct bench_subject bad = subject(scene, "bad", "exit 1");
	struct bench_rule rule = {.precision = .01, .least = STAT_STOP_FIRST, .most = 12};
	struct bench_result result;
	struct err err = {0};

	assert_int_equal(bench_repeat(scene->bench, add(scene, &bad), &rule, &result, &err), 0);
	assert_int_equal(result.end, BENCH_VOID);
	assert_int_equal(result.estimate.n, 0);
	assert_int_equal(scene->bench->run_count, 3);
}

static struct bench_compare_rule compare_rule(int calibration, unsigned blocks)
{
	struct bench_compare_rule rule = {.calibration = calibration, .blocks = blocks, .seed = 11};
	struct err err = {0};

	assert_int_equal(stat_sequential_plan(STAT_BLOCKS_FIRST, STAT_BLOCKS_CAP, STAT_MARGIN, &rule.plan, &err), 0);
	return rule;
}

static void test_a_difference_is_found(void **state)
{
	struct scene *scene = *state;
	struct bench_subject a = subject(scene, "a", "echo x=$((1000 + n % 3))"),
			     b = subject(scene, "b", "echo x=$((1040 + n % 3))");
	const int numbers[] = {add(scene, &a), add(scene, &b)};
	struct bench_compare_rule rule = compare_rule(6, 0);
	struct bench_compared result;
	struct store_whole whole;
	struct err err = {0};

	assert_int_equal(bench_compare(scene->bench, numbers, 2, &rule, &result, &err), 0);
	assert_int_equal(result.end, BENCH_DECIDED);
	assert_int_equal(result.blocks, 5);
	assert_int_equal(result.compare.verdict, STAT_HIGHER);
	assert_true(fabs(result.compare.ratio.estimate - 1.04) < .003);
	assert_true(result.calibrated);
	assert_int_equal(result.aa.compare.blocks, 6);
	assert_false(result.aa.alarm);
	load(scene, &whole);
	assert_int_equal(whole.block_count, 11);
	assert_int_equal(whole.run_count, 22);
	/* As the store says the order was, so the runs were. */
	for (size_t i = 0; i < whole.run_count; i++) {
		const struct store_run *run = &whole.runs[i];
		const char *order = whole.blocks[run->block].order;

		assert_int_equal(run->block, i / 2);
		assert_int_equal(order[i % 2 ? 3 : 1] - '0', run->configuration);
		assert_string_equal(run->purpose, i < 12 ? "calibration" : "measure");
	}
}

static void test_a_block_with_a_void_run_counts_for_nothing(void **state)
{
	struct scene *scene = *state;
	struct bench_subject a = subject(scene, "a", "[ $n != 3 ] || exit 9; echo x=5"),
			     b = subject(scene, "b", "echo x=7");
	const int numbers[] = {add(scene, &a), add(scene, &b)};
	struct bench_compare_rule rule = compare_rule(0, 6);
	struct bench_compared result;
	struct err err = {0};

	/* Run 3 may be either's; when it is b's nothing is void. */
	assert_int_equal(bench_compare(scene->bench, numbers, 2, &rule, &result, &err), 0);
	assert_int_equal(result.end, BENCH_BLOCKS);
	assert_int_equal(result.blocks, 6);
	assert_int_equal(result.void_blocks, scene->bench->void_count);
	assert_true(fabs(result.compare.ratio.estimate - 1.4) < 1e-9);
	assert_false(result.calibrated);
}

static void test_hopeless(void **state)
{
	struct scene *scene = *state;
	struct bench_subject a = subject(scene, "a", "echo x=5"), b = subject(scene, "b", "exit 1");
	const int numbers[] = {add(scene, &a), add(scene, &b)};
	struct bench_compare_rule rule = compare_rule(0, 6);
	struct bench_compared result;
	struct err err = {0};

	assert_int_equal(bench_compare(scene->bench, numbers, 2, &rule, &result, &err), 0);
	assert_int_equal(result.end, BENCH_COMPARE_VOID);
	assert_int_equal(result.blocks, 0);
	assert_int_equal(result.compare.blocks, 0);
	assert_int_equal(bench_compare(scene->bench, numbers, 1, &rule, &result, &err), -EINVAL);
}

struct entering {
	struct scene *scene;
	char letter;
	bool fails;
};

static int enter(void *data, struct err *err)
{
	struct entering *entering = data;
	size_t length = strlen(entering->scene->entered);

	entering->scene->entered[length] = entering->letter;
	return entering->fails ? err_set(err, EIO, "enter", "it failed") : 0;
}

static void test_configurations_are_entered_when_they_change(void **state)
{
	struct scene *scene = *state;
	struct entering a = {scene, 'a', false}, b = {scene, 'b', false};
	struct bench_subject first = subject(scene, "a", "echo x=5"), second = subject(scene, "b", "echo x=7");
	struct bench_compare_rule rule = compare_rule(0, 20);
	struct bench_compared result;
	struct err err = {0};

	first.enter = second.enter = enter;
	first.data = &a;
	second.data = &b;
	const int numbers[] = {add(scene, &first), add(scene, &second)};

	assert_int_equal(bench_compare(scene->bench, numbers, 2, &rule, &result, &err), 0);
	for (size_t i = 1; scene->entered[i]; i++)
		assert_int_not_equal(scene->entered[i], scene->entered[i - 1]);
	/* Random order: some blocks begin with what the last ended with, some do not. */
	assert_true(strlen(scene->entered) > 20 && strlen(scene->entered) < 40);
	b.fails = true;
	assert_int_equal(bench_compare(scene->bench, numbers, 2, &rule, &result, &err), -EIO);
	assert_string_equal(err.what, "it failed");
}

static void test_the_gate(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct bench_view before = {.at_ns = 0, .cpus = 4, .busy_us = 1000000};
	const struct bench_limits none = {0}, strict = {.load = .1};
	struct bench_view after = {.at_ns = 2000000000, .cpus = 4, .busy_us = 2000000};

	(void)state;
	/* 1 s of CPU in 2 s of 4 CPUs, of which the run took 0.2 s. */
	assert_true(fabs(bench_gate_foreign(&before, &after, 200000) - .1) < 1e-9);
	assert_null(bench_gate_judge(arena, &before, &after, 200000, &none));
	assert_null(bench_gate_judge(arena, &before, &after, 300000, &strict));
	assert_non_null(strstr(bench_gate_judge(arena, &before, &after, 0, &strict), "12 % of the CPUs"));
	after.steal_us = 1000000;
	assert_non_null(strstr(bench_gate_judge(arena, &before, &after, 1000000, &strict), "hypervisor"));
	after.steal_us = 0;
	/* Too short to tell. */
	after.at_ns = 100000000;
	assert_true(isnan(bench_gate_foreign(&before, &after, 0)));
	assert_null(bench_gate_judge(arena, &before, &after, 0, &strict));
	after = before;
	after.slept_ns = 5000000000;
	assert_non_null(strstr(bench_gate_judge(arena, &before, &after, 0, &none), "slept"));
	after = before;
	after.set_ns = -3000000000;
	assert_non_null(strstr(bench_gate_judge(arena, &before, &after, 0, &none), "set by -3.0 s"));
	after = before;
	after.throttles = 1;
	assert_non_null(strstr(bench_gate_judge(arena, &before, &after, 0, &none), "throttled"));
}

static void write_thp(const char *root, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/sys/kernel/mm/transparent_hugepage/enabled", root);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_a_setting_that_somebody_changes(void **state)
{
	static const char *const folders[] = {"sys", "sys/kernel", "sys/kernel/mm",
					      "sys/kernel/mm/transparent_hugepage"};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	char root[] = "/tmp/hvtune-gate-XXXXXX", path[256];
	struct bench_gate *gate;
	struct err err = {0};

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	write_thp(root, "always [madvise] never\n");
	assert_int_equal(knob_machine_open(root, NULL, &machine, &err), 0);
	gate = bench_gate_open(machine.sys, &machine, NULL);
	assert_null(bench_gate_changed(gate, arena, true));
	write_thp(root, "always madvise [never]\n");
	assert_string_equal(bench_gate_changed(gate, arena, true),
			    "thp was changed from \"always [madvise] never\" to \"always madvise [never]\" meanwhile");
	/* Told once; and what hvtune sets itself is nobody's. */
	assert_null(bench_gate_changed(gate, arena, true));
	write_thp(root, "[always] madvise never\n");
	bench_gate_remember(gate);
	assert_null(bench_gate_changed(gate, arena, true));
	(void)bench_gate_close(gate);
	(void)snprintf(path, sizeof(path), "%s/sys/kernel/mm/transparent_hugepage/enabled", root);
	assert_int_equal(unlink(path), 0);
	for (size_t i = ARRAY_SIZE(folders); i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(rmdir(root), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_a_run_and_its_row),
	    TEST(test_what_cannot_be_started),
	    TEST(test_stopping),
	    TEST(test_a_command_that_never_does_well_is_given_up),
	    TEST(test_a_difference_is_found),
	    TEST(test_a_block_with_a_void_run_counts_for_nothing),
	    TEST(test_hopeless),
	    TEST(test_configurations_are_entered_when_they_change),
	    cmocka_unit_test(test_the_gate),
	    cmocka_unit_test(test_a_setting_that_somebody_changes),
	};

	return cmocka_run_group_tests_name("bench_compare", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of clocks, C0 share and idle states of CPUs. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "meter_sampler.h"
#include "text.h"
#include "tree.h"

#define CPU "/sys/devices/system/cpu/"
#define PMU "/sys/bus/event_source/devices/msr/"
#define S INT64_C(1000000000)

/* Two CPUs with two idle states, clocks by perf: tsc is event 0, aperf 1, mperf 2. */
static const struct tree_file by_perf[] = {
    {CPU "online", "0-1\n"},
    {CPU "cpu0/cpuidle/state0/name", "POLL\n"},
    {CPU "cpu0/cpuidle/state1/name", "C1\n"},
    {CPU "cpu0/cpuidle/state2/name", "C2\n"},
    {CPU "cpu0/cpuidle/state1/time", "1000\n"},
    {CPU "cpu0/cpuidle/state2/time", "5000000\n"},
    {CPU "cpu1/cpuidle/state1/time", "0\n"},
    {CPU "cpu1/cpuidle/state2/time", "0\n"},
    {PMU "type", "10\n"},
    {PMU "events/tsc", "event=0x00\n"},
    {PMU "events/aperf", "event=0x01\n"},
    {PMU "events/mperf", "event=0x02\n"},
    {"/perf/msr/0/cpu0", "1000\n"},
    {"/perf/msr/1/cpu0", "1000\n"},
    {"/perf/msr/2/cpu0", "1000\n"},
    {"/perf/msr/1/cpu1", "18446744073709551000\n"},
    {"/perf/msr/2/cpu1", "18446744073709551000\n"},
    {NULL, NULL},
};

/* A second later, at 2 GHz of the time stamp counter: CPU 0 ran half the time at 3 GHz, CPU 1 a tenth at 1 GHz. */
static const struct tree_file a_second_later[] = {
    {"/perf/msr/0/cpu0", "2000001000\n"},
    {"/perf/msr/1/cpu0", "1500001000\n"},
    {"/perf/msr/2/cpu0", "1000001000\n"},
    {"/perf/msr/1/cpu1", "99999384\n"},
    {"/perf/msr/2/cpu1", "199999384\n"},
    {CPU "cpu0/cpuidle/state1/time", "101000\n"},
    {CPU "cpu0/cpuidle/state2/time", "5400000\n"},
    {CPU "cpu1/cpuidle/state2/time", "900000\n"},
    {NULL, NULL},
};

struct scene {
	struct tree *tree;
	struct sys *sys;
	struct meter_cpus *cpus;
	struct meter_cpus_moment before, after;
};

static struct scene scene_of(struct tree *tree)
{
	struct scene scene = {.tree = tree};

	assert_int_equal(sys_open_dir(tree->root, &scene.sys, NULL), 0);
	meter_cpus_open(scene.sys, &scene.cpus);
	scene.before = meter_cpus_moment_new(scene.cpus);
	scene.after = meter_cpus_moment_new(scene.cpus);
	meter_cpus_read(scene.cpus, &scene.before);
	return scene;
}

static void scene_close(struct scene *scene)
{
	meter_cpus_moment_free(&scene->before);
	meter_cpus_moment_free(&scene->after);
	scene->cpus = meter_cpus_close(scene->cpus);
	scene->sys = sys_close(scene->sys);
	scene->tree = tree_free(scene->tree);
}

static void assert_near(double is, double expected)
{
	if (!(fabs(is - expected) <= 1e-6 * fmax(1, fabs(expected))))
		fail_msg("%.12g is not %.12g", is, expected);
}

static void test_perf(void **state)
{
	struct scene scene = scene_of(tree_new(by_perf));
	struct meter_cpu_activity activity;

	(void)state;
	assert_int_equal(meter_cpus_count(scene.cpus), 2);
	assert_string_equal(meter_cpus_state(scene.cpus, 0), "C1");
	assert_string_equal(meter_cpus_state(scene.cpus, 1), "C2");
	assert_null(meter_cpus_state(scene.cpus, 2));
	assert_int_equal(meter_cpus_clocks(scene.cpus).state, METER_VALUE);
	assert_int_equal(meter_cpus_idle(scene.cpus).state, METER_VALUE);
	tree_add(scene.tree, a_second_later);
	meter_cpus_read(scene.cpus, &scene.after);
	scene.after.time_ns = scene.before.time_ns + S;

	activity = meter_cpus_between(scene.cpus, &scene.before, &scene.after, 0);
	assert_near(activity.busy_mhz, 3000);
	assert_near(activity.c0_share, 0.5);
	assert_near(activity.idle_share[0], 0.1);
	assert_near(activity.idle_share[1], 0.4);
	/* The counters of this one went over their 64 bits. */
	activity = meter_cpus_between(scene.cpus, &scene.before, &scene.after, 1);
	assert_near(activity.busy_mhz, 1000);
	assert_near(activity.c0_share, 0.1);
	assert_near(activity.idle_share[0], 0);
	/* All: 1600 of 1200 million counts. */
	activity = meter_cpus_all_between(scene.cpus, &scene.before, &scene.after);
	assert_near(activity.busy_mhz, 2000.0 * 1600 / 1200);
	assert_near(activity.c0_share, 0.3);
	assert_near(activity.idle_share[1], 0.65);
	scene_close(&scene);
}

/* A CPU that slept all the time has no clock, and a share of 0 that is known. */
static void test_a_cpu_that_sleeps(void **state)
{
	struct scene scene = scene_of(tree_new(by_perf));
	struct meter_cpu_activity activity;

	(void)state;
	tree_write(scene.tree, "/perf/msr/0/cpu0", "2000001000\n");
	meter_cpus_read(scene.cpus, &scene.after);
	scene.after.time_ns = scene.before.time_ns + S;
	activity = meter_cpus_between(scene.cpus, &scene.before, &scene.after, 1);
	assert_true(isnan(activity.busy_mhz));
	assert_true(activity.c0_share == 0);
	scene_close(&scene);
}

/* A counter that another program set back, and a file that can no longer be read: not known, never 0. */
static void test_faults(void **state)
{
	struct scene scene = scene_of(tree_new(by_perf));
	struct meter_cpu_activity activity;

	(void)state;
	tree_add(scene.tree, a_second_later);
	tree_write(scene.tree, "/perf/msr/1/cpu0", "3\n");
	tree_write(scene.tree, CPU "cpu1/cpuidle/state2/time", "\n");
	meter_cpus_read(scene.cpus, &scene.after);
	scene.after.time_ns = scene.before.time_ns + S;
	activity = meter_cpus_between(scene.cpus, &scene.before, &scene.after, 0);
	assert_true(isnan(activity.busy_mhz) && isnan(activity.c0_share));
	assert_near(activity.idle_share[1], 0.4);
	activity = meter_cpus_between(scene.cpus, &scene.before, &scene.after, 1);
	assert_near(activity.busy_mhz, 1000);
	assert_true(isnan(activity.idle_share[1]));
	activity = meter_cpus_all_between(scene.cpus, &scene.before, &scene.after);
	assert_true(isnan(activity.busy_mhz) && isnan(activity.idle_share[1]));
	scene_close(&scene);
}

static void write_register(const struct tree *tree, int cpu, uint32_t number, uint64_t value)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/dev/cpu/%d/msr", tree->root, cpu);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &value, sizeof(value), (off_t)number * 8), sizeof(value));
	(void)close(fd);
}

/* Registers where perf has no such events; the copies that cannot be set back come first. */
static void test_msr(void **state)
{
	static const struct tree_file files[] = {{CPU "online", "3\n"}, {"/dev/cpu/3/", ""}, {NULL, NULL}};
	struct tree *tree = tree_new(files);
	struct meter_cpu_activity activity;

	(void)state;
	write_register(tree, 3, 0x10, 1000);
	write_register(tree, 3, 0xe7, 77);
	write_register(tree, 3, 0xe8, 77);
	write_register(tree, 3, 0xc00000e7, 1000);
	write_register(tree, 3, 0xc00000e8, 1000);
	struct scene scene = scene_of(tree);

	assert_int_equal(meter_cpus_clocks(scene.cpus).state, METER_VALUE);
	assert_string_equal(meter_cpus_clocks(scene.cpus).place, "/dev/cpu/N/msr");
	assert_int_equal(meter_cpus_idle(scene.cpus).state, METER_ABSENT);
	assert_int_equal(meter_cpus_number(scene.cpus, 0), 3);
	write_register(tree, 3, 0x10, 2000001000);
	write_register(tree, 3, 0xc00000e7, 1000001000);
	write_register(tree, 3, 0xc00000e8, 1250001000);
	meter_cpus_read(scene.cpus, &scene.after);
	scene.after.time_ns = scene.before.time_ns + S;
	activity = meter_cpus_between(scene.cpus, &scene.before, &scene.after, 0);
	assert_near(activity.busy_mhz, 2500);
	assert_near(activity.c0_share, 0.5);
	assert_true(isnan(activity.idle_share[0]));
	scene_close(&scene);
}

static void test_nothing(void **state)
{
	static const struct tree_file files[] = {{CPU "online", "0-1\n"}, {NULL, NULL}};
	struct scene scene = scene_of(tree_new(files));

	(void)state;
	assert_int_equal(meter_cpus_clocks(scene.cpus).state, METER_ABSENT);
	assert_non_null(meter_cpus_clocks(scene.cpus).why);
	assert_non_null(meter_cpus_clocks(scene.cpus).hint);
	assert_int_equal(meter_cpus_idle(scene.cpus).state, METER_ABSENT);
	meter_cpus_read(scene.cpus, &scene.after);
	struct meter_cpu_activity activity = meter_cpus_all_between(scene.cpus, &scene.before, &scene.after);

	assert_true(isnan(activity.busy_mhz) && isnan(activity.c0_share) && isnan(activity.idle_share[0]));
	scene_close(&scene);
}

static struct meter_activity_sample sums(double time_s, uint64_t tsc, uint64_t aperf, uint64_t mperf, uint64_t c1_us)
{
	return (struct meter_activity_sample){.time_ns = (int64_t)(time_s * 1e9),
					      .tsc = tsc,
					      .aperf = aperf,
					      .mperf = mperf,
					      .idle_us = {c1_us},
					      .clocks = true,
					      .idle = true};
}

/* Windows between the reads: the sums are interpolated; what no read covers is not known. */
static void test_windows(void **state)
{
	const uint64_t g = 1000000000;
	struct meter_activity_sample samples[] = {sums(0, 0, UINT64_MAX - g + 1, 0, 0), sums(1, 2 * g, 2 * g, 2 * g, 0),
						  sums(2, 4 * g, 3 * g, 3 * g, 1000000),
						  sums(3, 6 * g, 4 * g, 4 * g, 2000000)};
	struct meter_cpu_activity activity;

	(void)state;
	activity = meter_activity_between(samples, 4, 2, 1, 0, S);
	assert_near(activity.busy_mhz, 3000);
	assert_near(activity.c0_share, 0.5);
	activity = meter_activity_between(samples, 4, 2, 1, S / 2, 3 * S / 2);
	assert_near(activity.busy_mhz, 2000.0 * (1.5 + 0.5) / (1 + 0.5));
	assert_near(activity.idle_share[0], 0.25);
	activity = meter_activity_between(samples, 4, 2, 1, 2 * S, 5 * S);
	assert_true(isnan(activity.c0_share));
	assert_true(isnan(meter_activity_between(samples, 0, 2, 1, 0, S).c0_share));
	assert_true(isnan(meter_activity_between(samples, 4, 2, 1, S, S).c0_share));
	samples[1].clocks = false;
	activity = meter_activity_between(samples, 4, 2, 1, 0, 3 * S);
	assert_true(isnan(activity.busy_mhz));
	assert_near(activity.idle_share[0], 1.0 / 3);
}

/* With the sampler: marks read the CPUs, and what it cost is told. */
static void test_sampler(void **state)
{
	struct scene scene = scene_of(tree_new(by_perf));
	struct meter_set *set = NULL;
	struct meter_sampler *sampler = NULL;
	const struct meter_sampling how = {.cpus = scene.cpus};
	const struct meter_activity_sample *samples;

	(void)state;
	assert_int_equal(meter_set_open(scene.sys, NULL, &set, NULL), 0);
	assert_int_equal(meter_sampler_start(set, &how, &sampler, NULL), 0);
	int64_t from_ns = meter_sampler_mark(sampler);

	(void)nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL);
	tree_add(scene.tree, a_second_later);
	int64_t to_ns = meter_sampler_mark(sampler);

	meter_sampler_stop(sampler);
	assert_true(meter_activity_samples(sampler, &samples) >= 2);
	struct meter_cpu_activity activity = meter_activity(sampler, from_ns, to_ns);

	/* 2e9 counts in a fraction of a second: the ratio of the two clocks stands, whatever that fraction is. */
	assert_true(activity.busy_mhz > 2000.0 * 1600 / 1200 / 1.2);
	assert_near(activity.c0_share, 0.3);
	assert_true(meter_sampler_cost(sampler).reads >= 4);
	(void)meter_sampler_free(sampler);
	(void)meter_set_close(set);
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_perf),    cmocka_unit_test(test_a_cpu_that_sleeps), cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_msr),	    cmocka_unit_test(test_nothing),	      cmocka_unit_test(test_windows),
	    cmocka_unit_test(test_sampler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

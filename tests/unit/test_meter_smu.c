/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of sources that are no files of sysfs (HSMP, registers), of limits, and of boundaries beside each
 * other. */
#include <errno.h>
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
#define S INT64_C(1000000000)

struct scene {
	struct tree *tree;
	struct sys *sys;
	struct meter_set *set;
};

static struct scene scene_of(struct tree *tree)
{
	struct scene scene = {.tree = tree};

	assert_int_equal(sys_open_dir(tree->root, &scene.sys, NULL), 0);
	assert_int_equal(meter_set_open(scene.sys, NULL, &scene.set, NULL), 0);
	return scene;
}

static void scene_close(struct scene *scene)
{
	scene->set = meter_set_close(scene->set);
	scene->sys = sys_close(scene->sys);
	scene->tree = tree_free(scene->tree);
}

static const struct meter_source *source_of(const struct scene *scene, const char *name)
{
	int index = meter_source_find(scene->set, name);

	if (index < 0)
		fail_msg("there is no source %s", name);
	return meter_source_at(scene->set, (size_t)index);
}

static struct meter_reading reading_of(const struct scene *scene, const char *name)
{
	struct meter_reading reading;

	(void)source_of(scene, name);
	meter_read(scene->set, (size_t)meter_source_find(scene->set, name), &reading);
	return reading;
}

static void test_hsmp(void **state)
{
	static const struct tree_file files[] = {
	    {CPU "online", "0-3\n"},
	    {CPU "cpu0/topology/physical_package_id", "0\n"},
	    {CPU "cpu1/topology/physical_package_id", "0\n"},
	    {CPU "cpu2/topology/physical_package_id", "1\n"},
	    {CPU "cpu3/topology/physical_package_id", "1\n"},
	    {"/dev/hsmp", ""},
	    {"/hsmp/0/4", "211500\n"}, /* mW */
	    {"/hsmp/0/7", "360000\n"},
	    {"/hsmp/0/25", "222822408\n"}, /* 3400 MHz, PPT */
	    {"/hsmp/1/4", "721000\n"},	   /* more than twice its limit */
	    {"/hsmp/1/7", "360000\n"},	   /* no message 19h: Milan */
	    {NULL, NULL},
	};
	struct scene scene = scene_of(tree_new(files));
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	assert_true(fabs(reading_of(&scene, "hsmp.power-0").value - 211.5) < 1e-9);
	assert_int_equal(source_of(&scene, "hsmp.power-0")->boundary, METER_SOCKET);
	assert_true(source_of(&scene, "hsmp.power-0")->most == 720);
	assert_true(source_of(&scene, "hsmp.power-0")->chosen);
	assert_int_equal(source_of(&scene, "hsmp.power-1")->state, METER_IMPLAUSIBLE);
	assert_string_equal(meter_limit_text(arena, (uint32_t)reading_of(&scene, "hsmp.limit-0").value),
			    "the package power limit (PPT)");
	assert_int_equal(source_of(&scene, "hsmp.limit-1")->state, METER_ABSENT);
	assert_false(source_of(&scene, "hsmp.limit-0")->chosen);
	assert_string_equal(meter_limit_text(arena, 0), "nothing");
	assert_string_equal(meter_limit_text(arena, 0x802), "PROCHOT, bit 11");
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

static struct scene registers(int family, int model, uint64_t value)
{
	static const struct tree_file files[] = {
	    {CPU "online", "0\n"}, {CPU "cpu0/topology/physical_package_id", "0\n"}, {"/dev/cpu/0/", ""}, {NULL, NULL}};
	struct tree *tree = tree_new(files);
	char text[256];

	(void)snprintf(
	    text, sizeof(text),
	    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: %d\nmodel\t\t: %d\nmodel name\t: AMD\n", family,
	    model);
	tree_write(tree, "/proc/cpuinfo", text);
	/* The unit of power, bits 3:0, is 0 on some parts (amd_energy issue 9), and means nothing here. */
	write_register(tree, 0, 0xc0010299, 0xa1000);
	write_register(tree, 0, 0xc001029b, value);
	return scene_of(tree);
}

/* 32 bit on Milan, with what stands above masked away; 64 on Genoa, by the model or by what is seen. */
static void test_registers(void **state)
{
	struct scene scene = registers(0x19, 0x01, 0x12345678);

	(void)state;
	assert_true(source_of(&scene, "msr.package-0")->counter.range == UINT64_C(1) << 32);
	assert_true(source_of(&scene, "msr.package-0")->counter.unit_j == 1.0 / 65536);
	assert_true(source_of(&scene, "msr.package-0")->chosen);
	assert_true(reading_of(&scene, "msr.package-0").count == 0x12345678);
	write_register(scene.tree, 0, 0xc001029b, UINT64_C(0xdead00000007));
	assert_true(reading_of(&scene, "msr.package-0").count == 7);
	scene_close(&scene);

	scene = registers(0x19, 0x11, 0x12345678);
	assert_true(source_of(&scene, "msr.package-0")->counter.range == 0);
	write_register(scene.tree, 0, 0xc001029b, UINT64_C(0x100000007));
	assert_true(reading_of(&scene, "msr.package-0").count == UINT64_C(0x100000007));
	scene_close(&scene);

	scene = registers(0x1a, 0x70, UINT64_C(0x912345678));
	assert_true(source_of(&scene, "msr.package-0")->counter.range == 0);
	scene_close(&scene);

	/* Zen's predecessors have other registers there. */
	scene = registers(0x15, 0x70, 5);
	assert_int_equal(meter_source_find(scene.set, "msr.package-0"), -1);
	scene_close(&scene);
}

/* Half of the time nothing limits, the other half one thing or another. */
static void test_limits_over_time(void **state)
{
	const struct meter_source source = {.quantity = METER_LIMIT, .boundary = METER_SOCKET, .period_s = 1};
	struct meter_sample samples[11];
	struct meter_result result;

	(void)state;
	for (int i = 0; i <= 10; i++)
		samples[i] = (struct meter_sample){.time_ns = i * S, .value = i < 5 ? 0 : i % 2 ? 8 : 4};
	meter_window_of(&source, samples, 11, 0, 10 * S, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_int_equal(result.limits, 12);
	assert_true(fabs(result.mean - 0.55) < 1e-9);
	assert_true(isnan(result.energy_j));
	meter_window_of(&source, samples, 11, 0, 4 * S, &result);
	assert_int_equal(result.limits, 0);
	assert_true(result.mean == 0);
}

/* A socket that draws more than the whole machine: one of the meters is wrong. */
static void test_contradiction(void **state)
{
	static const struct tree_file files[] = {{CPU "online", "0\n"},
						 {"/dev/hsmp", ""},
						 {"/hsmp/0/4", "600000\n"},
						 {"/sys/class/hwmon/hwmon0/name", "power_meter\n"},
						 {"/sys/class/hwmon/hwmon0/power1_average", "250000000\n"},
						 {NULL, NULL}};
	/* A busy machine makes no hole of 0.3 s. */
	const struct meter_sampling quick = {.period_s = 0.1, .room = 1000};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	for (int right = 0; right <= 1; right++) {
		struct tree *tree = tree_new(files);

		if (right)
			tree_write(tree, "/hsmp/0/4", "200000\n");
		struct scene scene = scene_of(tree);
		struct meter_sampler *sampler = NULL;

		assert_int_equal(meter_sampler_start(scene.set, &quick, &sampler, NULL), 0);
		int64_t from_ns = meter_sampler_mark(sampler);

		(void)nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
		const char *text = meter_contradiction(sampler, from_ns, meter_sampler_mark(sampler), arena);

		if (right)
			assert_null(text);
		else
			assert_true(text &&
				    text_starts(text, "600.0 W at the boundary \"socket\" is more than the 250.0 W"));
		(void)meter_sampler_free(sampler);
		scene_close(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hsmp),
	    cmocka_unit_test(test_registers),
	    cmocka_unit_test(test_limits_over_time),
	    cmocka_unit_test(test_contradiction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

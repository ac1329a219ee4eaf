/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the sources that a host offers, and of the thread that samples them, on trees of files. */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "unit.h"
#include "meter_sampler.h"
#include "text.h"
#include "tree.h"

#define RAPL "/sys/class/powercap/"
#define PMU "/sys/bus/event_source/devices/power/"
#define HWMON "/sys/class/hwmon/"
#define CPU "/sys/devices/system/cpu/"

static const struct tree_file two_packages[] = {
    {RAPL "intel-rapl/enabled", "1\n"},
    {RAPL "intel-rapl:0/name", "package-0\n"},
    {RAPL "intel-rapl:0/energy_uj", "65532000000\n"},
    {RAPL "intel-rapl:0/max_energy_range_uj", "65532610987\n"},
    {RAPL "intel-rapl:1/name", "package-1\n"},
    {RAPL "intel-rapl:1/energy_uj", "7\n"},
    {RAPL "intel-rapl:1/max_energy_range_uj", "65532610987\n"},
    {RAPL "intel-rapl:0:0/name", "core\n"},
    {RAPL "intel-rapl:0:0/energy_uj", "77\n"},
    {RAPL "intel-rapl:0:0/max_energy_range_uj", "65532610987\n"},
    {NULL, NULL},
};

struct scene {
	struct tree *tree;
	struct sys *sys;
	struct meter_set *set;
};

static struct scene scene_open(const struct tree_file *files, const struct tree_file *more)
{
	struct scene scene = {.tree = tree_new(files)};

	if (more)
		tree_add(scene.tree, more);
	assert_int_equal(sys_open_dir(scene.tree->root, &scene.sys, NULL), 0);
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

static void test_powercap(void **state)
{
	struct scene scene = scene_open(two_packages, NULL);
	const struct meter_source *package = source_of(&scene, "powercap.package-0");
	const struct meter_source *core = source_of(&scene, "powercap.intel-rapl:0:0.core");

	(void)state;
	assert_int_equal(package->state, METER_VALUE);
	assert_int_equal(package->boundary, METER_PACKAGE);
	assert_int_equal(package->package, 0);
	assert_true(package->counter.range == 65532610987);
	assert_true(package->chosen);
	assert_true(source_of(&scene, "powercap.package-1")->chosen);
	/* On AMD it is one core, and never the sum of the cores. */
	assert_int_equal(core->boundary, METER_CORE);
	assert_true(meter_has(scene.set, METER_PACKAGE));
	assert_false(meter_has(scene.set, METER_WALL));
	assert_int_equal(meter_source_count(scene.set), 3);
	scene_close(&scene);
}

/* Kernels of about 6.9 to 6.11: a zone and a perf CPU for each CCD, all of the same counter. */
static void test_duplicates(void **state)
{
	static const struct tree_file dies[] = {
	    {RAPL "intel-rapl:0/name", "package-0-die-0\n"},
	    {RAPL "intel-rapl:1/name", "package-0-die-1\n"},
	    {RAPL "intel-rapl:2/name", "package-1-die-0\n"},
	    {RAPL "intel-rapl:2/energy_uj", "9\n"},
	    {RAPL "intel-rapl:2/max_energy_range_uj", "65532610987\n"},
	    {PMU "type", "9\n"},
	    {PMU "cpumask", "0,8,16,24\n"},
	    {PMU "format/event", "config:0-7\n"},
	    {PMU "events/energy-pkg", "event=0x02\n"},
	    {PMU "events/energy-pkg.scale", "2.3283064365386962890625e-10\n"},
	    {PMU "events/energy-pkg.unit", "Joules\n"},
	    {CPU "cpu0/topology/physical_package_id", "0\n"},
	    {CPU "cpu8/topology/physical_package_id", "0\n"},
	    {CPU "cpu16/topology/physical_package_id", "1\n"},
	    {CPU "cpu24/topology/physical_package_id", "1\n"},
	    {"/perf/power/2/cpu0", "4294967296\n"},
	    {"/perf/power/2/cpu16", "8589934592\n"},
	    {NULL, NULL},
	};
	struct scene scene = scene_open(two_packages, dies);
	const struct meter_source *perf = source_of(&scene, "perf.pkg-0");
	size_t packages = 0, chosen = 0;

	(void)state;
	for (size_t i = 0; i < meter_source_count(scene.set); i++) {
		const struct meter_source *source = meter_source_at(scene.set, i);

		packages += source->boundary == METER_PACKAGE;
		chosen += source->boundary == METER_PACKAGE && source->chosen;
	}
	assert_int_equal(packages, 4);
	assert_int_equal(chosen, 2);
	/* perf before powercap: the kernel has extended it to 64 bit. The scale is the kernel's, never a literal. */
	assert_true(perf->chosen);
	assert_true(perf->counter.range == 0);
	assert_true(perf->counter.unit_j == 2.3283064365386962890625e-10);
	assert_true(source_of(&scene, "perf.pkg-1")->chosen);
	assert_false(source_of(&scene, "powercap.package-0-die-0")->chosen);
	/* By its place: with a source for each package the one that works speaks for it. */
	assert_ptr_equal(meter_source_of(scene.set, PMU "events/energy-pkg"), perf);
	assert_null(meter_source_of(scene.set, PMU "events/energy-psys"));
	scene_close(&scene);
}

/* Nothing that is missing, refused or wrong becomes a zero, and each says why. */
static void test_refused(void **state)
{
	static const struct tree_file faults[] = {
	    {RAPL "intel-rapl:0/energy_uj", "0\n"},
	    {RAPL "intel-rapl:1/max_energy_range_uj", "\n"},
	    {RAPL "intel-rapl:2/name", "package-2\n"},
	    {RAPL "intel-rapl:2/energy_uj", "65532610999\n"},
	    {RAPL "intel-rapl:2/max_energy_range_uj", "65532610987\n"},
	    {RAPL "intel-rapl:3/name", "package-3\n"},
	    {RAPL "intel-rapl:3/max_energy_range_uj", "65532610987\n"},
	    {RAPL "intel-rapl:4/name", "package-4\n"},
	    {RAPL "intel-rapl:4/energy_uj", "-5\n"},
	    {RAPL "intel-rapl:4/max_energy_range_uj", "65532610987\n"},
	    {PMU "type", "9\n"},
	    {PMU "cpumask", "0\n"},
	    {PMU "events/energy-pkg", "event=0x02\n"},
	    {PMU "events/energy-pkg.scale", "zero\n"},
	    {NULL, NULL},
	};
	struct scene scene = scene_open(two_packages, faults);
	struct meter_reading reading;

	(void)state;
	assert_int_equal(source_of(&scene, "powercap.package-0")->state, METER_IMPLAUSIBLE);
	assert_string_equal(source_of(&scene, "powercap.package-0")->why, "a counter that counts is not 0");
	assert_int_equal(source_of(&scene, "powercap.package-1")->state, METER_UNREADABLE);
	assert_int_equal(source_of(&scene, "powercap.package-2")->state, METER_IMPLAUSIBLE);
	assert_int_equal(source_of(&scene, "powercap.package-3")->state, METER_ABSENT);
	assert_int_equal(source_of(&scene, "powercap.package-4")->state, METER_UNREADABLE);
	assert_int_equal(meter_source_find(scene.set, "perf.pkg"), -1);
	for (size_t i = 0; i < meter_source_count(scene.set); i++) {
		const struct meter_source *source = meter_source_at(scene.set, i);

		if (source->boundary != METER_PACKAGE)
			continue;
		assert_false(source->chosen);
		assert_non_null(source->why);
		meter_read(scene.set, i, &reading);
		assert_int_not_equal(reading.state, METER_VALUE);
	}
	assert_false(meter_has(scene.set, METER_PACKAGE));
	scene_close(&scene);
}

static void test_hwmon(void **state)
{
	static const struct tree_file chips[] = {
	    {HWMON "hwmon0/name", "nvme\n"},
	    {HWMON "hwmon0/power1_input", "5000000\n"},
	    {HWMON "hwmon1/name", "amd_hsmp_hwmon\n"},
	    {HWMON "hwmon1/power1_input", "153250000\n"},
	    {HWMON "hwmon1/power1_cap_max", "400000000\n"},
	    {HWMON "hwmon2/name", "amd_hsmp_hwmon\n"},
	    {HWMON "hwmon2/power1_input", "900000000\n"},
	    {HWMON "hwmon2/power1_cap_max", "400000000\n"},
	    {HWMON "hwmon3/device/power1_average", "287000000\n"}, /* an old kernel's meter */
	    {HWMON "hwmon3/device/power1_average_interval", "1000\n"},
	    {HWMON "hwmon4/name", "power_meter\n"},
	    {HWMON "hwmon4/power1_average", "4294967295000\n"},
	    {HWMON "hwmon5/name", "power_meter\n"},
	    {HWMON "hwmon5/power1_average", "12000000\n"},
	    {HWMON "hwmon5/power1_is_battery", "1\n"},
	    {HWMON "hwmon6/name", "k10temp\n"},
	    {HWMON "hwmon6/temp1_input", "61250\n"},
	    {HWMON "hwmon6/temp1_label", "Tctl\n"},
	    {HWMON "hwmon6/temp3_input", "-255000\n"},
	    {HWMON "hwmon6/temp3_label", "Tccd1\n"},
	    {HWMON "hwmon7/name", "amd_energy\n"},
	    {HWMON "hwmon7/energy1_label", "Ecore000\n"},
	    {HWMON "hwmon7/energy1_input", "1\n"},
	    {HWMON "hwmon7/energy2_label", "Esocket0\n"},
	    {HWMON "hwmon7/energy2_input", "81000000\n"},
	    {HWMON "hwmon8/name", "power_meter\n"},
	    {HWMON "hwmon8/power1_average", "0\n"},
	    {NULL, NULL},
	};
	struct scene scene = scene_open(chips, NULL);
	struct meter_reading reading;
	const struct meter_source *old = source_of(&scene, "hwmon.power_meter");

	(void)state;
	assert_int_equal(source_of(&scene, "hwmon.amd_hsmp_hwmon.0")->boundary, METER_SOCKET);
	meter_read(scene.set, (size_t)meter_source_find(scene.set, "hwmon.amd_hsmp_hwmon.0"), &reading);
	assert_int_equal(reading.state, METER_VALUE);
	assert_true(fabs(reading.value - 153.25) < 1e-9);
	/* More than twice the limit of the socket. */
	assert_int_equal(source_of(&scene, "hwmon.amd_hsmp_hwmon.1")->state, METER_IMPLAUSIBLE);
	assert_int_equal(old->state, METER_VALUE);
	assert_true(old->refresh_s == 1);
	assert_true(old->chosen);
	assert_int_equal(source_of(&scene, "hwmon.power_meter.2")->state, METER_IMPLAUSIBLE);
	assert_string_equal(source_of(&scene, "hwmon.power_meter.2")->why, "the meter says that it does not know");
	assert_string_equal(source_of(&scene, "hwmon.power_meter.3")->place, HWMON "hwmon8/power1_average");
	assert_int_equal(source_of(&scene, "hwmon.power_meter.3")->state, METER_IMPLAUSIBLE);
	assert_int_equal(source_of(&scene, "hwmon.k10temp.Tctl")->quantity, METER_TEMPERATURE);
	assert_int_equal(source_of(&scene, "hwmon.k10temp.Tccd1")->state, METER_IMPLAUSIBLE);
	assert_true(source_of(&scene, "hwmon.amd_energy.0")->chosen);
	/* The battery and the disk are no sources, nor is a single core of amd_energy. */
	assert_int_equal(meter_source_count(scene.set), 8);
	scene_close(&scene);
}

/* A guest: nothing is there, and that is said, for each driver with what would help. */
static void test_nothing(void **state)
{
	static const struct tree_file nothing[] = {{"/proc/cmdline", "quiet\n"}, {NULL, NULL}};
	struct scene scene = scene_open(nothing, NULL);
	struct meter_sampler *sampler = NULL;
	struct meter_result total;

	(void)state;
	assert_int_equal(meter_source_count(scene.set), 0);
	assert_null(meter_source_at(scene.set, 0));
	for (size_t i = 0; i < 3; i++)
		assert_non_null(meter_missing_at(scene.set, i)->why);
	assert_int_equal(meter_sampler_start(scene.set, NULL, &sampler, NULL), 0);
	int64_t from_ns = meter_sampler_mark(sampler);

	meter_total(sampler, METER_PACKAGE, from_ns, meter_sampler_mark(sampler), &total);
	assert_int_equal(total.state, METER_ABSENT);
	assert_string_equal(total.why, "not measurable here");
	assert_true(isnan(total.energy_j));
	(void)meter_sampler_free(sampler);
	scene_close(&scene);
}

static void pause_ms(long ms)
{
	(void)nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* The thread reads again what the files hold: a package over its wrap, a meter that fails for a while. */
static void test_sampler(void **state)
{
	static const struct tree_file meter[] = {
	    {HWMON "hwmon0/name", "power_meter\n"}, {HWMON "hwmon0/power1_average", "200000000\n"}, {NULL, NULL}};
	const struct meter_sampling quick = {.period_s = 0.005, .room = 1000}, seldom = {.period_s = 60};
	struct scene scene = scene_open(two_packages, meter);
	size_t package = (size_t)meter_source_find(scene.set, "powercap.package-0");
	size_t board = (size_t)meter_source_find(scene.set, "hwmon.power_meter");
	struct meter_sampler *sampler = NULL;
	const struct meter_sample *samples;
	struct meter_result result, total;
	struct meter_cost cost;
	uint64_t lost;

	(void)state;
	/* Only the marks read, so that nothing depends on how busy this machine is. */
	assert_int_equal(meter_sampler_start(scene.set, &seldom, &sampler, NULL), 0);
	int64_t from_ns = meter_sampler_mark(sampler);

	pause_ms(40);
	tree_write(scene.tree, HWMON "hwmon0/power1_average", "0\n");
	tree_write(scene.tree, RAPL "intel-rapl:0/energy_uj", "1000000\n");
	tree_write(scene.tree, RAPL "intel-rapl:1/energy_uj", "2000007\n");
	int64_t to_ns = meter_sampler_mark(sampler);

	meter_window(sampler, package, from_ns, to_ns, &result);
	assert_int_equal(result.state, METER_VALUE);
	assert_int_equal(result.wraps, 1);
	/* Energy that came at once is spread evenly between the two values around it, and a part lies before the mark.
	 */
	assert_true(result.energy_j > 0.01 && result.energy_j < 1.6109871);
	meter_total(sampler, METER_PACKAGE, from_ns, to_ns, &total);
	assert_int_equal(total.state, METER_VALUE);
	assert_true(total.energy_j > 0.02 && total.energy_j < 3.610988);

	meter_sampler_stop(sampler);
	size_t count = meter_samples(sampler, board, &samples, &lost);

	assert_int_equal(count, 3);
	assert_int_equal(lost, 0);
	assert_int_equal(samples[0].state, METER_VALUE);
	assert_true(samples[0].value == 200);
	assert_int_equal(samples[count - 1].state, METER_IMPLAUSIBLE);
	for (size_t i = 1; i < count; i++)
		assert_true(samples[i].time_ns > samples[i - 1].time_ns);
	cost = meter_sampler_cost(sampler);
	assert_true(cost.reads >= 3 * count);
	assert_true(cost.cpu_s > 0 && cost.cpu_s < cost.wall_s);
	sampler = meter_sampler_free(sampler);

	/* And at a period of their own. */
	assert_int_equal(meter_sampler_start(scene.set, &quick, &sampler, NULL), 0);
	for (int i = 0; i < 200 && meter_samples(sampler, board, &samples, NULL) < 5; i++)
		pause_ms(10);
	assert_true(meter_samples(sampler, board, &samples, NULL) >= 5);
	assert_true(samples[4].time_ns - samples[0].time_ns >= 15000000);
	(void)meter_sampler_free(sampler);
	scene_close(&scene);
}

/* When there is no room any more what is there stays, and it is told how much more there was. */
static void test_room(void **state)
{
	const struct meter_sampling small = {.period_s = 0.001, .room = 4};
	struct scene scene = scene_open(two_packages, NULL);
	struct meter_sampler *sampler = NULL;
	const struct meter_sample *samples;
	uint64_t lost;

	(void)state;
	assert_int_equal(meter_sampler_start(scene.set, &small, &sampler, NULL), 0);
	for (int i = 0; i < 10; i++)
		(void)meter_sampler_mark(sampler);
	assert_int_equal(meter_samples(sampler, 0, &samples, &lost), 4);
	assert_true(lost >= 6);
	(void)meter_sampler_free(sampler);
	scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_powercap), cmocka_unit_test(test_duplicates), cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_hwmon),    cmocka_unit_test(test_nothing),	cmocka_unit_test(test_sampler),
	    cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the latency hold, with a systemd on a bus of the test's own. */
#include <errno.h>

#include "crash.h"
#include "fake_bus.h"
#include "text.h"
#include "unit.h"

#define RUNTIME "/run/systemd/system/hvtune-latency.service"
#define LASTING "/etc/systemd/system/hvtune-latency-boot.service"

static void add_idle(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"},
	    {"/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"},
	    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1\n"},
	    {"/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "1\n"},
	    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C2\n"},
	    {"/sys/devices/system/cpu/cpu0/cpuidle/state2/latency", "400\n"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
}

static void begin(struct kernel *kernel, const struct crash_scene *scene, void *data)
{
	(void)data, (void)scene;
	kernel_start(kernel, "active");
	fake_systemd_install(kernel);
	fake_tuned_install(kernel);
	add_idle(kernel);
	fake_services_start(&fake_bus_shared, kernel);
}

static void end(struct kernel *kernel, void *data)
{
	(void)data;
	fake_services_stop(&fake_bus_shared);
	kernel_stop(kernel);
}

static const struct crash_world world = {begin, end, NULL};

static void apply(struct kernel *kernel, const char *ask)
{
	const struct crash_scene scene = {NULL, {ask}, NULL};
	struct err err = {0};

	if (crash_apply(kernel, &scene, &err) < 0)
		fail_msg("%s: %s: %s", ask, err.where, err.what);
}

static void assert_holds(const struct kernel *kernel, const char *path, const char *part)
{
	char text[4096];

	kernel_read(kernel, path, text, sizeof(text));
	if (!strstr(text, part))
		fail_msg("%s: \"%s\" has no \"%s\"", path, text, part);
}

static void until_the_reboot(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "latency.hold=50");
	assert_holds(&kernel, RUNTIME, "hold-latency 50\n");
	assert_holds(&kernel, RUNTIME, "Type=notify");
	assert_holds(&kernel, "/fake/latency/hvtune-latency.service", "50");
	/* Another value needs the unit read and started anew. */
	apply(&kernel, "latency.hold=200");
	assert_holds(&kernel, "/fake/latency/hvtune-latency.service", "200");
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_holds(&kernel, "/fake/latency/hvtune-latency.service", "50");
	crash_check_undone(&kernel, before, "held");
	end(&kernel, NULL);
}

static void lasting(void **state)
{
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "latency.hold.lasting=100");
	assert_holds(&kernel, LASTING, "WantedBy=multi-user.target");
	assert_holds(&kernel, "/fake/latency/hvtune-latency-boot.service", "100");
	assert_holds(&kernel, "/etc/systemd/system/multi-user.target.wants/hvtune-latency-boot.service", "link");
	crash_check_undone(&kernel, before, "held");
	end(&kernel, NULL);
}

static void states_are_told(void **state)
{
	static const struct {
		const char *ask, *note;
	} cases[] = {
	    {"latency.hold=50", "kept out of C2 (400 us)"},
	    {"latency.hold=0", "kept out of C1 (1 us), C2 (400 us)"},
	    {"latency.hold=400", NULL},
	};
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_plan plan;
		struct knob_ask ask;
		struct err err = {0};
		bool told = false;

		assert_int_equal(knob_machine_open(kernel.tree->root, NULL, &machine, &err), 0);
		machine.bus_address = kernel.bus_address;
		assert_int_equal(knob_ask_parse(machine.arena, cases[i].ask, &ask, &err), 0);
		assert_int_equal(knob_plan_make(&machine, &ask, 1, &plan, &err), 0);
		for (size_t j = 0; j < plan.note_count; j++)
			told = told || strstr(plan.notes[j], cases[i].note ? cases[i].note : "kept out of");
		assert_int_equal(told, cases[i].note != NULL);
	}
	end(&kernel, NULL);
}

static const struct crash_scene scenes[] = {
    {NULL, {"latency.hold=50"}, NULL},
    {NULL, {"latency.hold.lasting=50", "service.irqbalance=stopped"}, NULL},
};

static const int errnums[] = {EROFS, 0};
static const struct crash_set all_scenes = {&world, scenes, ARRAY_SIZE(scenes), errnums};

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(until_the_reboot),
	    cmocka_unit_test(lasting),
	    cmocka_unit_test(states_are_told),
	    CRASH_TESTS(all_scenes),
	};

	return cmocka_run_group_tests(tests, fake_bus_group_start, fake_bus_group_stop);
}

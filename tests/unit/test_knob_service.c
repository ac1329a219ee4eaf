/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of services as knobs, with a systemd on a bus of the test's own. */
#include <errno.h>

#include "crash.h"
#include "fake_bus.h"
#include "text.h"
#include "unit.h"

#define EPP "/sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference"

static struct fake_bus bus;

static void begin(struct kernel *kernel, const struct crash_scene *scene, void *data)
{
	(void)data;
	kernel_start(kernel, "active");
	fake_systemd_install(kernel);
	fake_tuned_install(kernel);
	if (scene && scene->add)
		scene->add(kernel);
	fake_services_start(&bus, kernel);
}

static void end(struct kernel *kernel, void *data)
{
	(void)data;
	fake_services_stop(&bus);
	kernel_stop(kernel);
}

static const struct crash_world world = {begin, end, NULL};

static void open_machine(struct kernel *kernel, struct knob_machine *ret)
{
	struct err err = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, NULL, ret, &err), 0);
	ret->bus_address = kernel->bus_address;
}

static void assert_state(struct kernel *kernel, const char *unit, const char *wanted)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct err err = {0};
	const char *now = NULL;

	open_machine(kernel, &machine);
	assert_int_equal(knob_find("service.tuned")->actuator->get(&machine, unit, &now, &err), 0);
	assert_string_equal(now, wanted);
}

static int apply(struct kernel *kernel, const char *ask, struct err *err)
{
	const struct crash_scene scene = {NULL, {ask}, NULL};

	return crash_apply(kernel, &scene, err);
}

static void both_halves(void **state)
{
	static const struct {
		const char *ask, *unit, *before, *after;
	} cases[] = {
	    {"service.irqbalance=off", "irqbalance.service", "running,enabled", "stopped,disabled"},
	    {"service.irqbalance=stopped", "irqbalance.service", "running,enabled", "stopped,enabled"},
	    {"service.irqbalance=disabled", "irqbalance.service", "running,enabled", "running,disabled"},
	    {"service.irqbalance=masked", "irqbalance.service", "running,enabled", "stopped,masked"},
	    {"service.ksmtuned=on", "ksmtuned.service", "stopped,disabled", "running,enabled"},
	    {"service.ksmtuned=running,disabled", "ksmtuned.service", "stopped,disabled", "running,disabled"},
	    {"service.thermald=on", "thermald.service", "stopped,static", "running,static"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel kernel;
		struct err err = {0};

		begin(&kernel, NULL, NULL);
		CLEANUP(base_free) char *before = kernel_dump(&kernel);

		assert_state(&kernel, cases[i].unit, cases[i].before);
		if (apply(&kernel, cases[i].ask, &err) < 0)
			fail_msg("%s: %s: %s", cases[i].ask, err.where, err.what);
		assert_state(&kernel, cases[i].unit, cases[i].after);
		crash_check_undone(&kernel, before, cases[i].ask);
		end(&kernel, NULL);
	}
}

static void refusals(void **state)
{
	static const struct {
		const char *ask;
		int status;
		const char *what;
	} cases[] = {
	    {"service.irqbalance=maybe", -EINVAL, "takes on, off"},
	    {"service.irqbalance=running,masked", -EINVAL, "cannot run"},
	    {"service.irqbalance=running,static", -EINVAL, "do not change"},
	    {"service.thermald=running,enabled", -EINVAL, "is static"},
	    {"service.tlp=off", -ENOENT, "no such unit"},
	    {"service.tuned@0=off", -EINVAL, "no @WHERE"},
	};
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_plan plan;
		struct knob_ask ask;
		struct err err = {0};

		open_machine(&kernel, &machine);
		assert_int_equal(knob_ask_parse(machine.arena, cases[i].ask, &ask, &err), 0);
		assert_int_equal(knob_plan_make(&machine, &ask, 1, &plan, &err), cases[i].status);
		if (!strstr(err.what, cases[i].what))
			fail_msg("%s: %s", cases[i].ask, err.what);
	}
	end(&kernel, NULL);
}

static void failing_unit(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	assert_int_equal(apply(&kernel, "service.numad=on", &err), -EPROTO);
	assert_string_equal(err.what, "it did not start (exit-code)");
	CLEANUP(base_free) char *after = kernel_dump(&kernel);

	assert_string_equal(before, after);
	end(&kernel, NULL);
}

/* Stopping tuned takes its profile back, but for EPP. */
static void tuned_stopped_and_back(void **state)
{
	struct kernel kernel;
	struct err err = {0};
	char epp[64];

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	assert_int_equal(apply(&kernel, "tuned.profile=throughput-performance", &err), 0);
	assert_int_equal(apply(&kernel, "service.tuned=off", &err), 0);
	assert_state(&kernel, "tuned.service", "stopped,disabled");
	kernel_read(&kernel, EPP, epp, sizeof(epp));
	assert_string_equal(epp, "performance");
	assert_int_equal(crash_undo(&kernel, &err), 0);
	crash_check_undone(&kernel, before, "tuned stopped");
	end(&kernel, NULL);
}

static const struct crash_scene scenes[] = {
    {NULL, {"service.irqbalance=off"}, NULL},
    {NULL, {"service.ksmtuned=on", "ksm=0"}, NULL},
    {NULL, {"service.irqbalance=masked"}, NULL},
    {NULL, {"service.tuned=off", "governor=performance"}, NULL},
};

static void killed_anywhere_in_apply(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		crash_in_apply(&world, &scenes[i]);
}

static void killed_anywhere_in_undo(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		crash_in_undo(&world, &scenes[i]);
}

static void failing_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		crash_by_failures(&world, &scenes[i], EBUSY);
}

static int start_bus(void **state)
{
	(void)state;
	if (!fake_bus_start(&bus))
		(void)fprintf(stderr, "dbus-daemon is not installed\n");
	return bus.daemon > 0 ? 0 : -1;
}

static int stop_bus(void **state)
{
	(void)state;
	fake_bus_stop(&bus);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_halves),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(failing_unit),
	    cmocka_unit_test(tuned_stopped_and_back),
	    cmocka_unit_test(killed_anywhere_in_apply),
	    cmocka_unit_test(killed_anywhere_in_undo),
	    cmocka_unit_test(failing_anywhere),
	};

	return cmocka_run_group_tests(tests, start_bus, stop_bus);
}

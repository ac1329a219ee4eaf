/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of services as knobs, with a systemd on a bus of the test's own. */
#include <errno.h>

#include "crash.h"
#include "fake_bus.h"
#include "knob_status.h"
#include "text.h"
#include "unit.h"

#define EPP "/sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference"

static void begin(struct kernel *kernel, const struct crash_scene *scene, void *data)
{
	(void)data;
	kernel_start(kernel, "active");
	fake_systemd_install(kernel);
	fake_tuned_install(kernel);
	if (scene && scene->add)
		scene->add(kernel);
	fake_services_start(&fake_bus_shared, kernel);
}

static void end(struct kernel *kernel, void *data)
{
	(void)data;
	fake_services_stop(&fake_bus_shared);
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

static void assert_drift(struct kernel *kernel, size_t wanted)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_journal journal = {0};
	struct knob_standing standing;
	struct err err = {0};

	open_machine(kernel, &machine);
	assert_int_equal(knob_journal_read(&machine, &journal, &err), 0);
	assert_int_equal(journal.count, 1);
	knob_standing(&machine, &journal, &journal.changes[0], &standing);
	assert_true(standing.other_boot);
	assert_int_equal(standing.drift.count, wanted);
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

/* What is enabled runs after the boot, and what is not does not: that is nobody's hand but ours. */
static void rebooted(void **state)
{
	static const struct {
		const char *ask, *unit, *before, *after;
	} cases[] = {
	    {"service.ksmtuned=enabled", "ksmtuned.service", "stopped,disabled", "running,enabled"},
	    {"service.irqbalance=disabled", "irqbalance.service", "running,enabled", "stopped,disabled"},
	    {"service.irqbalance=stopped", "irqbalance.service", "running,enabled", "running,enabled"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel kernel;
		struct err err = {0};

		begin(&kernel, NULL, NULL);
		assert_int_equal(apply(&kernel, cases[i].ask, &err), 0);
		fake_services_reboot(&fake_bus_shared, &kernel, "active", "second");
		assert_state(&kernel, cases[i].unit, cases[i].after);
		assert_drift(&kernel, 0);
		assert_int_equal(crash_undo(&kernel, &err), 0);
		assert_state(&kernel, cases[i].unit, cases[i].before);
		end(&kernel, NULL);
	}
}

/* A service that did not come up at the boot drifts; what it does at the next boot is still ours to put back. */
static void rebooted_and_failed(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	assert_int_equal(apply(&kernel, "service.ksmtuned=on", &err), 0);
	tree_write(kernel.tree, "/usr/lib/systemd/system/ksmtuned.service",
		   "[Service]\nExecStart=/bin/false\n[Install]\n");
	fake_services_reboot(&fake_bus_shared, &kernel, "active", "second");
	assert_state(&kernel, "ksmtuned.service", "stopped,enabled");
	assert_drift(&kernel, 1);
	assert_int_equal(crash_undo(&kernel, &err), 0);
	assert_state(&kernel, "ksmtuned.service", "stopped,disabled");
	end(&kernel, NULL);
}

/* Somebody has switched it anew after the boot: that is left alone. */
static void rebooted_and_switched(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	assert_int_equal(apply(&kernel, "service.irqbalance=off", &err), 0);
	fake_services_reboot(&fake_bus_shared, &kernel, "active", "second");
	tree_write(kernel.tree, "/fake/masked/irqbalance.service", "link\n");
	assert_drift(&kernel, 1);
	(void)crash_undo(&kernel, &err);
	assert_state(&kernel, "irqbalance.service", "stopped,masked");
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

static const int errnums[] = {EBUSY, 0};
static const struct crash_set all_scenes = {&world, scenes, ARRAY_SIZE(scenes), errnums};

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_halves),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(failing_unit),
	    cmocka_unit_test(rebooted),
	    cmocka_unit_test(rebooted_and_failed),
	    cmocka_unit_test(rebooted_and_switched),
	    cmocka_unit_test(tuned_stopped_and_back),
	    CRASH_TESTS(all_scenes),
	};

	return cmocka_run_group_tests(tests, fake_bus_group_start, fake_bus_group_stop);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of tuned's profile as a knob, with a tuned that has the faults of the real one on a bus of the test's
 * own: EPP comes back where tuned alone leaves it, and no kill of either of the two loses anything.
 */
#include <errno.h>
#include <unistd.h>

#include "crash.h"
#include "fake_bus.h"
#include "knob_bus.h"
#include "text.h"
#include "unit.h"

#define EPP "/sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference"
#define GOVERNOR "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor"

static void begin(struct kernel *kernel, const struct crash_scene *scene, void *data)
{
	(void)data;
	kernel_start(kernel, scene ? scene->mode : "active");
	fake_systemd_install(kernel);
	fake_tuned_install(kernel);
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

static void assert_holds(const struct kernel *kernel, const char *path, const char *wanted)
{
	char text[256];

	kernel_read(kernel, path, text, sizeof(text));
	assert_string_equal(text, wanted);
}

/* Switch as tuned-adm does, with nobody who looks after what tuned forgets. */
static void switch_plainly(struct kernel *kernel, const char *profile)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct err err = {0};

	open_machine(kernel, &machine);
	if (knob_find("tuned.profile")->actuator->set(&machine, "tuned", profile, &err) < 0)
		fail_msg("%s: %s", err.where, err.what);
}

static void apply(struct kernel *kernel, const char *one, const char *other)
{
	const struct crash_scene scene = {NULL, {one, other}, NULL};
	struct err err = {0};

	if (crash_apply(kernel, &scene, &err) < 0)
		fail_msg("%s: %s: %s", one, err.where, err.what);
}

static int plan(struct kernel *kernel, struct knob_machine *machine, const char *text, struct knob_plan *ret,
		struct err *err)
{
	struct knob_ask ask;

	open_machine(kernel, machine);
	assert_int_equal(knob_ask_parse(machine->arena, text, &ask, err), 0);
	return knob_plan_make(machine, &ask, 1, ret, err);
}

static bool has_note(const struct knob_plan *plan, const char *part)
{
	for (size_t i = 0; i < plan->note_count; i++)
		if (strstr(plan->notes[i], part))
			return true;
	return false;
}

/* The fault of facts: after a round trip the governor is back and EPP is not. */
static void tuned_alone_leaves_epp(void **state)
{
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	assert_holds(&kernel, EPP, "balance_performance");
	switch_plainly(&kernel, "throughput-performance");
	assert_holds(&kernel, EPP, "performance");
	switch_plainly(&kernel, "balanced");
	assert_holds(&kernel, GOVERNOR, "powersave");
	assert_holds(&kernel, EPP, "performance");
	end(&kernel, NULL);
}

static void undo_brings_epp_back(void **state)
{
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "tuned.profile=throughput-performance", NULL);
	assert_holds(&kernel, GOVERNOR, "performance");
	assert_holds(&kernel, "/proc/sys/vm/dirty_ratio", "40");
	crash_check_undone(&kernel, before, "switched");
	apply(&kernel, "tuned.profile=virtual-host", NULL);
	assert_holds(&kernel, "/sys/kernel/mm/ksm/run", "0");
	crash_check_undone(&kernel, before, "switched again");
	end(&kernel, NULL);
}

static void epp_is_in_the_plan_of_a_switch(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	apply(&kernel, "tuned.profile=throughput-performance", NULL);
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_plan made;

		assert_int_equal(plan(&kernel, &machine, "tuned.profile=balanced", &made, &err), 0);
		assert_int_equal(made.step_count, 2);
		assert_string_equal(made.steps[1].name, "epp");
		assert_int_equal(made.steps[1].count, KERNEL_CPUS);
		assert_true(has_note(&made, "balance_performance as before change 1"));
	}
	apply(&kernel, "tuned.profile=balanced", NULL);
	assert_holds(&kernel, EPP, "balance_performance");
	end(&kernel, NULL);
}

/* Somebody else made the switch to performance: nobody knows what EPP was, so the plan asks and does not guess. */
static void unknown_epp_is_asked_for(void **state)
{
	static const char *const others[] = {"tuned.profile=powersave", "tuned.profile=throughput-performance"};
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	switch_plainly(&kernel, "throughput-performance");
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_plan made;

		assert_int_equal(plan(&kernel, &machine, "tuned.profile=balanced", &made, &err), 0);
		assert_int_equal(made.step_count, 1);
		assert_true(has_note(&made, "hvtune set tuned.profile=balanced epp=balance_performance"));
	}
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_plan made;

		assert_int_equal(plan(&kernel, &machine, "tuned.profile=off", &made, &err), 0);
		assert_true(has_note(&made, "governor=powersave epp=balance_performance"));
	}
	/* A profile that sets EPP itself, and one that keeps the governor, need no word. */
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_plan made;

		assert_int_equal(plan(&kernel, &machine, others[i], &made, &err), 0);
		assert_false(has_note(&made, "epp:"));
	}
	apply(&kernel, "tuned.profile=balanced", "epp=balance_power");
	assert_holds(&kernel, EPP, "balance_power");
	end(&kernel, NULL);
}

static void latency_is_told(void **state)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct kernel kernel;
	struct knob_plan made;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	assert_int_equal(plan(&kernel, &machine, "tuned.profile=virtual-host", &made, &err), 0);
	assert_true(has_note(&made, "force_latency=cstate.id_no_zero:3|70"));
	end(&kernel, NULL);
}

static void off_and_auto(void **state)
{
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "tuned.profile=off", NULL);
	assert_holds(&kernel, "/etc/tuned/active_profile", "");
	crash_check_undone(&kernel, before, "off");
	apply(&kernel, "tuned.profile=auto", NULL);
	assert_holds(&kernel, "/etc/tuned/profile_mode", "auto");
	crash_check_undone(&kernel, before, "auto");
	switch_plainly(&kernel, "auto:balanced");
	apply(&kernel, "tuned.profile=powersave", NULL);
	assert_holds(&kernel, "/etc/tuned/profile_mode", "manual");
	{
		struct err err = {0};

		assert_int_equal(crash_undo(&kernel, &err), 0);
		assert_holds(&kernel, "/etc/tuned/profile_mode", "auto");
		assert_holds(&kernel, "/etc/tuned/active_profile", "balanced");
	}
	end(&kernel, NULL);
}

/* Loaded and not applied: what the method stop leaves. */
static void stopped(void **state)
{
	struct kernel kernel;
	struct err err = {0};

	(void)state;
	begin(&kernel, NULL, NULL);
	switch_plainly(&kernel, "stopped:powersave");
	assert_holds(&kernel, EPP, "balance_performance");
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	apply(&kernel, "tuned.profile=powersave", NULL);
	assert_holds(&kernel, EPP, "power");
	assert_int_equal(crash_undo(&kernel, &err), 0);
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		const char *now;

		open_machine(&kernel, &machine);
		assert_int_equal(knob_find("tuned.profile")->actuator->get(&machine, "tuned", &now, &err), 0);
		assert_string_equal(now, "stopped:powersave");
	}
	CLEANUP(base_free) char *after = kernel_dump(&kernel);

	assert_string_equal(before, after);
	end(&kernel, NULL);
}

static void refusals(void **state)
{
	static const struct {
		const char *ask;
		int status;
		const char *what;
	} cases[] = {
	    {"tuned.profile=balancd", -EINVAL, "no such profile"},
	    {"tuned.profile=balanced nosuch", -EINVAL, "no such profile"},
	    {"tuned.profile=", -EINVAL, "name of a profile"},
	    {"tuned.profile@0=balanced", -EINVAL, "no @WHERE"},
	};
	struct kernel kernel;
	struct err err = {0};
	struct knob_plan made;

	(void)state;
	begin(&kernel, NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};

		assert_int_equal(plan(&kernel, &machine, cases[i].ask, &made, &err), cases[i].status);
		assert_non_null(strstr(err.what, cases[i].what));
	}
	fake_services_stop(&fake_bus_shared);
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};

		err = (struct err){0};
		assert_int_equal(plan(&kernel, &machine, "tuned.profile=powersave", &made, &err), -ECONNREFUSED);
		assert_string_equal(err.where, "tuned");
		assert_string_equal(err.what, "it is not running");
		assert_string_equal(err.hint, "systemctl start tuned");
	}
	/* No bus at all: that is said, not what tuned would need besides. */
	kernel.bus_address = "unix:path=/nowhere/bus";
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};

		err = (struct err){0};
		assert_int_equal(plan(&kernel, &machine, "tuned.profile=powersave", &made, &err), -ECONNREFUSED);
		assert_string_equal(err.where, "D-Bus");
		assert_string_equal(err.what, "there is no bus here: unix:path=/nowhere/bus is missing");
		assert_non_null(strstr(err.hint, "systemctl start tuned"));
	}
	/* A directory has no services, and this machine's are none of its business. */
	kernel.bus_address = NULL;
	{
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};

		assert_int_equal(plan(&kernel, &machine, "tuned.profile=powersave", &made, &err), -EXDEV);
	}
	kernel_stop(&kernel);
}

static void not_installed(void **state)
{
	struct kernel kernel;
	struct err err = {0};
	struct knob_plan made;
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};

	(void)state;
	kernel_start(&kernel, "active");
	kernel.bus_address = "unix:path=/nowhere/bus";
	assert_int_equal(plan(&kernel, &machine, "tuned.profile=powersave", &made, &err), -ECONNREFUSED);
	assert_string_equal(err.where, "tuned");
	assert_string_equal(err.what, "it is not installed");
	assert_non_null(strstr(err.hint, "apt install tuned"));
	kernel.bus_address = NULL;
	kernel_stop(&kernel);
}

/* tuned dies in the middle of a profile: all that it wrote is put back, and itself as soon as it runs again. */
static void tuned_dies(void **state)
{
	(void)state;
	for (int after = 1; after <= 2 * KERNEL_CPUS + 2; after++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct kernel kernel;
		struct knob_plan made;
		struct knob_report report = {0};
		struct err err = {0};
		size_t stuck = 0;

		begin(&kernel, NULL, NULL);
		CLEANUP(base_free) char *before = kernel_dump(&kernel);

		assert_int_equal(plan(&kernel, &machine, "tuned.profile=throughput-performance", &made, &err), 0);
		fake_bus_shared.orders->tuned_dies_after = after;
		assert_true(knob_apply(&machine, &made, &(struct knob_apply_options){.what = "a test"}, &report, &err) <
			    0);
		assert_string_equal(err.where, "tuned");
		assert_false(report.rolled_back);
		for (size_t i = 0; i < report.count; i++)
			stuck += report.events[i].outcome == KNOB_STUCK;
		assert_int_equal(stuck, 1);
		assert_holds(&kernel, GOVERNOR, "powersave");
		assert_holds(&kernel, EPP, "balance_performance");
		assert_holds(&kernel, "/proc/sys/vm/dirty_ratio", "20");
		knob_machine_close(&machine);
		machine = (struct knob_machine){0};
		/* It comes back with the new profile, which is what its file names. */
		fake_services_stop(&fake_bus_shared);
		fake_services_start(&fake_bus_shared, &kernel);
		assert_holds(&kernel, GOVERNOR, "performance");
		crash_check_undone(&kernel, before, "tuned died");
		end(&kernel, NULL);
	}
}

/* hvtune dies while tuned is writing, and tuned goes on. */
static void hvtune_dies_while_tuned_writes(void **state)
{
	static const struct crash_scene scene = {"active", {"tuned.profile=throughput-performance"}, NULL};

	(void)state;
	for (int after = 1; after <= 2 * KERNEL_CPUS + 2; after++) {
		struct kernel kernel;

		begin(&kernel, &scene, NULL);
		CLEANUP(base_free) char *before = kernel_dump(&kernel);
		pid_t pid = fork();

		if (pid == 0) {
			struct err err = {0};

			fake_bus_shared.orders->caller = getpid();
			fake_bus_shared.orders->caller_dies_after = after;
			_exit(-crash_apply(&kernel, &scene, &err));
		}
		crash_wait_killed(pid);
		fake_bus_shared.orders->caller_dies_after = 0;
		crash_check_undone(&kernel, before, "hvtune died");
		end(&kernel, NULL);
	}
}

/* After a reboot tuned has applied the new profile again: undo brings all back although the kernel is another one. */
static void undone_after_a_reboot(void **state)
{
	struct kernel kernel;

	(void)state;
	begin(&kernel, NULL, NULL);
	CLEANUP(base_free) char *before = kernel_dump(&kernel);
	static const char *const paths[][2] = {{GOVERNOR, "powersave"}, {EPP, "balance_performance"}};
	char *at = strstr(before, "boot_id: first");

	apply(&kernel, "tuned.profile=throughput-performance", NULL);
	fake_services_reboot(&fake_bus_shared, &kernel, "active", "other");
	assert_non_null(at);
	memcpy(at + strlen("boot_id: "), "other", 5);
	assert_holds(&kernel, EPP, "performance");
	crash_check_undone(&kernel, before, "rebooted");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_holds(&kernel, paths[i][0], paths[i][1]);
	end(&kernel, NULL);
}

static const struct crash_scene scenes[] = {
    {"active", {"tuned.profile=throughput-performance"}, NULL},
    {"active", {"tuned.profile=off", "swappiness=1"}, NULL},
    {"active", {"tuned.profile=virtual-host", "governor=powersave", "epp=power"}, NULL},
    {"passive", {"tuned.profile=powersave"}, NULL},
};

static const int errnums[] = {EBUSY, ENOSPC, 0};
static const struct crash_set all_scenes = {&world, scenes, ARRAY_SIZE(scenes), errnums};

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tuned_alone_leaves_epp),
	    cmocka_unit_test(undo_brings_epp_back),
	    cmocka_unit_test(epp_is_in_the_plan_of_a_switch),
	    cmocka_unit_test(unknown_epp_is_asked_for),
	    cmocka_unit_test(latency_is_told),
	    cmocka_unit_test(off_and_auto),
	    cmocka_unit_test(stopped),
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(not_installed),
	    cmocka_unit_test(tuned_dies),
	    cmocka_unit_test(hvtune_dies_while_tuned_writes),
	    cmocka_unit_test(undone_after_a_reboot),
	    CRASH_TESTS(all_scenes),
	};

	return cmocka_run_group_tests(tests, fake_bus_group_start, fake_bus_group_stop);
}

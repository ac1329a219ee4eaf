/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of single changes and their undo, where what is right is more than the same text in the same file. */
#include <errno.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"

#define CPU "/sys/devices/system/cpu/"
#define MAX_FREQ CPU "cpufreq/policy0/scaling_max_freq"

enum { MOST_ASKS = 4 };

static void open_machine(struct kernel *kernel, struct knob_machine *ret)
{
	const struct sys_write_gate gate = kernel_gate(kernel);
	struct err err = {0};

	assert_int_equal(knob_machine_open(kernel->tree->root, &gate, ret, &err), 0);
}

static void change(struct kernel *kernel, const char *const asks[MOST_ASKS])
{
	const struct knob_apply_options options = {.what = "a test"};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_ask parsed[MOST_ASKS];
	struct knob_report report;
	struct knob_plan plan;
	struct err err = {0};
	size_t count = 0;

	open_machine(kernel, &machine);
	for (; count < MOST_ASKS && asks[count]; count++)
		assert_int_equal(knob_ask_parse(machine.arena, asks[count], &parsed[count], &err), 0);
	if (knob_plan_make(&machine, parsed, count, &plan, &err) < 0 ||
	    knob_apply(&machine, &plan, &options, &report, &err) < 0)
		fail_msg("%s: %s: %s", asks[0], err.where, err.what);
}

static void undo(struct kernel *kernel)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report;
	struct err err = {0};

	open_machine(kernel, &machine);
	if (knob_undo(&machine, 0, &report, &err) < 0)
		fail_msg("undo: %s: %s", err.where, err.what);
}

/* While boost is off, no limit reads like a limit; put back as one it would keep boost out when it is on again. */
static void no_limit_is_put_back_as_none(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel, "active");
	kernel_write(&kernel, CPU "cpufreq/boost", "0");
	change(&kernel, (const char *const[MOST_ASKS]){"max_freq=2000000"});
	assert_int_equal(kernel_number(&kernel, MAX_FREQ), 2000000);
	undo(&kernel);
	assert_int_equal(kernel_number(&kernel, MAX_FREQ), 2800000);
	kernel_write(&kernel, CPU "cpufreq/boost", "1");
	assert_int_equal(kernel_number(&kernel, MAX_FREQ), 3700000);
	kernel_stop(&kernel);
}

static void assert_text(const struct kernel *kernel, const char *path, const char *expected)
{
	char text[256];

	kernel_read(kernel, path, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* The driver begins anew, and what somebody had chosen is there again; what was asked for goes before it. */
static void what_was_chosen_outlives_the_driver(void **state)
{
	struct kernel kernel;

	(void)state;
	kernel_start(&kernel, "passive");
	kernel_write(&kernel, CPU "cpufreq/policy0/scaling_governor", "performance");
	kernel_write(&kernel, CPU "cpufreq/policy1/scaling_governor", "performance");
	kernel_write(&kernel, CPU "cpufreq/policy2/scaling_governor", "ondemand");
	kernel_write(&kernel, CPU "cpufreq/boost", "0");
	kernel_write(&kernel, MAX_FREQ, "2000000");
	kernel_write(&kernel, CPU "cpufreq/policy1/scaling_min_freq", "1800000");
	CLEANUP(base_free) char *before = kernel_dump(&kernel);

	change(&kernel, (const char *const[MOST_ASKS]){"amd_pstate=active", "governor@1=powersave"});
	assert_text(&kernel, CPU "cpufreq/policy0/scaling_governor", "performance");
	assert_text(&kernel, CPU "cpufreq/policy1/scaling_governor", "powersave");
	assert_text(&kernel, CPU "cpufreq/policy2/scaling_governor", "powersave");
	assert_text(&kernel, CPU "cpufreq/boost", "0");
	assert_text(&kernel, MAX_FREQ, "2000000");
	assert_text(&kernel, CPU "cpufreq/policy1/scaling_max_freq", "2800000");
	assert_text(&kernel, CPU "cpufreq/policy1/scaling_min_freq", "1800000");
	undo(&kernel);
	CLEANUP(base_free) char *after = kernel_dump(&kernel);
	assert_string_equal(before, after);
	kernel_stop(&kernel);
}

/* Boost of single CPUs is kept where it is a choice of its own; it cannot be written while that of all is off. */
static void boost_of_all_and_of_one(void **state)
{
	static const struct {
		const char *all, *one;
		const char *asks[MOST_ASKS];
		const char *all_after, *one_after;
	} cases[] = {
	    {"0", "0", {"amd_pstate=passive"}, "0", "0"},
	    {"1", "0", {"amd_pstate=passive"}, "1", "0"},
	    {"1", "0", {"amd_pstate=passive", "boost=0"}, "0", "0"},
	    {"0", "0", {"boost=1", "cpu_boost@1=0"}, "1", "0"},
	    {"1", "1", {"boost=0"}, "0", "0"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct kernel kernel;

		kernel_start(&kernel, "active");
		kernel_add_cpu_boost(&kernel);
		kernel_write(&kernel, CPU "cpufreq/boost", cases[i].all);
		if (text_equal(cases[i].all, "1"))
			kernel_write(&kernel, CPU "cpufreq/policy1/boost", cases[i].one);
		CLEANUP(base_free) char *before = kernel_dump(&kernel);

		change(&kernel, cases[i].asks);
		assert_text(&kernel, CPU "cpufreq/boost", cases[i].all_after);
		assert_text(&kernel, CPU "cpufreq/policy1/boost", cases[i].one_after);
		assert_text(&kernel, CPU "cpufreq/policy2/boost", cases[i].all_after);
		undo(&kernel);
		CLEANUP(base_free) char *after = kernel_dump(&kernel);

		assert_string_equal(before, after);
		kernel_stop(&kernel);
	}
}

/* One that the kernel would not take is refused before anything is written. */
static void boost_of_one_while_it_is_off(void **state)
{
	static const char *const asks[][2] = {{"boost=0", "cpu_boost@1=0"}, {"boost=0", "cpu_boost@1=1"}};

	(void)state;
	for (size_t i = 0; i <= ARRAY_SIZE(asks); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		bool off = i == ARRAY_SIZE(asks);
		const char *const *words = off ? (const char *const[]){"cpu_boost@1=1"} : asks[i];
		struct knob_ask list[2];
		struct knob_plan plan;
		struct kernel kernel;
		struct err err = {0};
		size_t count = off ? 1 : 2;

		kernel_start(&kernel, "active");
		kernel_add_cpu_boost(&kernel);
		kernel_write(&kernel, CPU "cpufreq/boost", off ? "0" : "1");
		if (i == 1)
			kernel_write(&kernel, CPU "cpufreq/policy1/boost", "0");
		open_machine(&kernel, &machine);
		for (size_t j = 0; j < count; j++)
			assert_int_equal(knob_ask_parse(machine.arena, words[j], &list[j], &err), 0);
		assert_int_equal(knob_plan_make(&machine, list, count, &plan, &err), off ? -EBUSY : -EINVAL);
		assert_non_null(strstr(err.what, "while boost of all CPUs is off"));
		knob_machine_close(&machine);
		kernel_stop(&kernel);
	}
}

/* Nothing was chosen, so nothing is written beside what was asked for; between passive and guided nothing is lost. */
static void what_nobody_chose_is_left_to_the_driver(void **state)
{
	static const char *const modes[][2] = {{"passive", "amd_pstate=active"},
					       {"active", "amd_pstate=passive"},
					       {"active", "amd_pstate=disable"},
					       {"disable", "amd_pstate=active"},
					       {"passive", "amd_pstate=guided"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct kernel kernel;
		struct knob_ask ask;
		struct knob_plan plan;
		struct err err = {0};

		kernel_start(&kernel, modes[i][0]);
		if (i == ARRAY_SIZE(modes) - 1)
			kernel_write(&kernel, MAX_FREQ, "2000000");
		open_machine(&kernel, &machine);
		assert_int_equal(knob_ask_parse(machine.arena, modes[i][1], &ask, &err), 0);
		assert_int_equal(knob_plan_make(&machine, &ask, 1, &plan, &err), 0);
		assert_int_equal(plan.points.count, 1);
		knob_machine_close(&machine);
		kernel_stop(&kernel);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_limit_is_put_back_as_none),
	    cmocka_unit_test(what_was_chosen_outlives_the_driver),
	    cmocka_unit_test(what_nobody_chose_is_left_to_the_driver),
	    cmocka_unit_test(boost_of_all_and_of_one),
	    cmocka_unit_test(boost_of_one_while_it_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

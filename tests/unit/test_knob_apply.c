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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_limit_is_put_back_as_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

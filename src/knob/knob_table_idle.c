/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of idle states: each state of each CPU, and the longest wake-up time allowed. Sources:
 * Documentation/admin-guide/pm/cpuidle.rst of Linux, drivers/cpuidle/sysfs.c, drivers/base/power/sysfs.c.
 */
#include <errno.h>

#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define CPUIDLE "/sys/devices/system/cpu/cpu*/cpuidle"
#define FAMILY "idle."

enum { MOST_STATES = 10 }; /* CPUIDLE_STATE_MAX */

/* The file says what is off, the knob what is on. */
static int get_state(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	const char *disabled;
	int r = knob_get_value(machine, where, &disabled, err);

	if (r == 0)
		*ret = text_equal(disabled, "0") ? "on" : "off";
	return r;
}

static const char *raw_state(struct arena *arena, const char *text)
{
	(void)arena;
	return text_equal(text, "on") ? "0" : "1";
}

static int set_state(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return knob_set_value(machine, where, raw_state(machine->arena, text), err);
}

static const struct knob_actuator state_file = {.name = "idle", .get = get_state, .set = set_state, .raw = raw_state};

/* The name of a CPU's state; NULL when there is no such state. */
static const char *state_name(struct knob_machine *machine, const char *cpuidle, int state)
{
	const struct sys_look *look = sys_read(machine->sys, "%s/state%d/name", cpuidle, state);

	return look->state == SYS_VALUE ? text_trim(machine->arena, look->data) : NULL;
}

static int refuse_member(struct knob_machine *machine, const struct knob_ask *ask, const struct knob_points *cpus,
			 struct err *err)
{
	const char *names = "", *name;

	for (int state = 0; cpus->count && state < MOST_STATES; state++) {
		name = state_name(machine, cpus->items[0].where, state);
		if (name)
			names = arena_printf(machine->arena, "%s%s%s", names, *names ? ", " : "", name);
	}
	(void)err_set(err, ENOENT, ask->name, "no CPU%s%s has such an idle state", ask->where ? " of " : "",
		      ask->where ? ask->where : "");
	return *names
		   ? err_hint(err, "%s has %s", cpus->items[0].label, names)
		   : err_hint(err, "there is no cpuidle driver: a virtual machine, or idle=poll on the command line");
}

static int expand_states(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			 struct knob_points *points, struct err *err)
{
	const char *member = ask->name + strlen(FAMILY);
	struct knob_points cpus = {.arena = machine->arena};
	size_t before = points->count;
	int64_t number;
	int r = knob_expand_path(machine, knob, ask, CPUIDLE, &cpus, err);

	if (r < 0)
		return r;
	if (text_int(member, 10, &number) < 0)
		number = -1;
	for (size_t i = 0; i < cpus.count; i++) {
		for (int state = 0; state < MOST_STATES; state++) {
			struct knob_point point = cpus.items[i];
			const char *name = state_name(machine, point.where, state);
			bool all = text_equal(member, "*");

			if (!name || !(all || text_equal(name, member) || number == state))
				continue;
			point.name = all ? arena_printf(machine->arena, FAMILY "%s", name) : ask->name;
			point.where = arena_printf(machine->arena, "%s/state%d/disable", point.where, state);
			knob_points_add(points, &point);
		}
	}
	return points->count > before ? 0 : refuse_member(machine, ask, &cpus, err);
}

/* What a state's file is to hold in the end. */
static bool stays_on(struct knob_machine *machine, const struct knob_plan *plan, const char *where)
{
	const char *now = "off";
	struct err ignored = {0};

	for (size_t i = 0; i < plan->points.count; i++)
		if (text_equal(plan->points.items[i].where, where))
			return text_equal(plan->points.items[i].new, "on");
	(void)get_state(machine, where, &now, &ignored);
	return text_equal(now, "on");
}

/* A CPU that is left with its polling state burns full power when it idles. */
static int judge_states(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			struct err *err)
{
	(void)err;
	for (size_t i = step->first; i < step->first + step->count; i++) {
		const struct knob_point *point = &plan->points.items[i];
		const char *cpuidle = arena_strndup(machine->arena, point->where,
						    (size_t)(strstr(point->where, "/state") - point->where));
		bool sleeps = false;

		if (text_equal(point->new, "on"))
			continue;
		for (int state = 0; state < MOST_STATES && !sleeps; state++) {
			const char *name = state_name(machine, cpuidle, state);

			sleeps =
			    name && !text_equal(name, "POLL") &&
			    stays_on(machine, plan, arena_printf(machine->arena, "%s/state%d/disable", cpuidle, state));
		}
		if (sleeps)
			continue;
		knob_plan_note(machine, plan,
			       arena_printf(machine->arena,
					    "%s would have no idle state left but polling, which draws full power",
					    point->label));
		return 0;
	}
	return 0;
}

static const struct knob idle_states = {
    .name = FAMILY "*",
    .summary = "an idle state of single CPUs",
    .value = "on|off",
    .members = "idle.C2 (by name) or idle.2 (by number)",
    .unit = KNOB_OF_CPUS,
    .actuator = &state_file,
    .path = CPUIDLE "/state*/disable",
    .expand = expand_states,
    .words = "on off",
    .rank = KNOB_RANK_PLAIN,
    .judge = judge_states,
    .hurts = "CPUs kept out of a deep state draw more watts when idle and leave less headroom for boost; with it "
	     "wake-ups take longer",
};

static const struct knob latency = {
    .name = "latency",
    .summary = "longest wake-up time allowed to single CPUs",
    .value = "us, 0 (no limit) or n/a (no idle state at all)",
    .unit = KNOB_OF_CPUS,
    .actuator = &knob_value_file,
    .path = "/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
    .words = "n/a",
    .least = 0,
    .most = INT32_MAX,
    .rank = KNOB_RANK_PLAIN,
    .hurts =
	"a limit below the exit latency of C2 keeps these CPUs out of it: idle watts rise, and boost of others falls",
};

const struct knob *const knob_table_idle[] = {&idle_states, &latency, NULL};

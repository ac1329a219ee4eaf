/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a new registration of the cpufreq driver would lose. All policies are built anew then, and limits, boost
 * and the governor performance that somebody chose are gone. What means the same afterwards is written again, as
 * points of the plan that are seen and undone like all others.
 *
 * A value counts as chosen where the driver would not have begun with it (Linux, drivers/cpufreq/amd-pstate.c): an
 * upper limit below the hardware's, a lower one that is neither the hardware's nor the lowest nonlinear frequency,
 * boost that is off. Where boost of all CPUs is off that of each is with it, and the kernel lets nobody write it. Of
 * the governors only performance means the same in all modes. EPP is there in one mode only.
 */
#include <errno.h>

#include "cpuset.h"
#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

/* CPUs for which one value is kept. */
struct kept {
	const char *value;
	struct cpuset cpus;
};

static bool is_number_of(struct knob_machine *machine, const char *where, const char *file, const char *value)
{
	const char *text = knob_beside(machine, where, file);
	int64_t a, b;

	return text && text_int(text, 10, &a) == 0 && text_int(value, 10, &b) == 0 && a == b;
}

static bool is_chosen_max(struct knob_machine *machine, const struct knob_point *point)
{
	return !is_number_of(machine, point->where, "cpuinfo_max_freq", point->old) &&
	       !is_number_of(machine, point->where, "amd_pstate_max_freq", point->old);
}

static bool is_chosen_min(struct knob_machine *machine, const struct knob_point *point)
{
	return !is_number_of(machine, point->where, "cpuinfo_min_freq", point->old) &&
	       !is_number_of(machine, point->where, "amd_pstate_lowest_nonlinear_freq", point->old);
}

static bool is_off(struct knob_machine *machine, const struct knob_point *point)
{
	(void)machine;
	return text_equal(point->old, "0");
}

static bool is_performance(struct knob_machine *machine, const struct knob_point *point)
{
	(void)machine;
	return text_equal(point->old, "performance");
}

static const struct {
	const char *knob;
	bool (*is_chosen)(struct knob_machine *machine, const struct knob_point *point);
} keepers[] = {
    {"boost", is_off},		 {"cpu_boost", is_off},	      {"governor", is_performance},
    {"max_freq", is_chosen_max}, {"min_freq", is_chosen_min},
};

/* The points of that knob that somebody asked for. */
static struct knob_points asked_points(struct knob_machine *machine, const struct knob_following *following,
				       const char *knob)
{
	struct knob_points points = {.arena = machine->arena};

	for (size_t i = 0; i < following->count; i++) {
		struct err ignored = {0};

		if (text_equal(following->asks[i].name, knob))
			(void)knob_expand(machine, &following->asks[i], KNOB_EXPAND_UNREAD, &points, &ignored);
	}
	return points;
}

static bool has_point(const struct knob_points *points, const struct knob_point *point)
{
	for (size_t i = 0; i < points->count; i++)
		if (text_equal(points->items[i].where, point->where))
			return true;
	return false;
}

/* -1: it is no point of a single CPU. */
static int cpu_of(const struct knob_point *point)
{
	int64_t cpu;

	return text_starts(point->label, "CPU ") && text_int(point->label + 4, 10, &cpu) == 0 ? (int)cpu : -1;
}

static void keep(struct knob_machine *machine, const char *knob, const struct kept *kept,
		 struct knob_following *following)
{
	struct arena *arena = machine->arena;
	const char *cpus = cpuset_empty(&kept->cpus) ? NULL : cpuset_format(arena, &kept->cpus);

	knob_following_add(machine, following, &(struct knob_ask){.name = knob, .where = cpus, .value = kept->value});
	knob_plan_note(machine, following->plan,
		       arena_printf(arena, "%s=%s%s%s is written again: the driver begins anew and would lose it", knob,
				    kept->value, cpus ? " of CPUs " : "", cpus ? cpus : ""));
}

/* Is boost of all CPUs off once the plan is done? */
static bool is_boost_off(struct knob_machine *machine, const struct knob_following *following)
{
	const struct knob_ask boost = {.name = "boost", .value = ""};
	struct knob_points points = asked_points(machine, following, boost.name);
	struct err ignored = {0};

	if (points.count > 0)
		return text_equal(points.items[0].new, "0");
	return knob_expand(machine, &boost, KNOB_EXPAND_READABLE, &points, &ignored) == 0 && points.count > 0 &&
	       text_equal(points.items[0].old, "0");
}

static void keep_knob(struct knob_machine *machine, size_t keeper, struct knob_following *following)
{
	const struct knob_ask all = {.name = keepers[keeper].knob, .value = ""};
	struct knob_points points = {.arena = machine->arena};
	const struct knob_points asked = asked_points(machine, following, all.name);
	struct err ignored = {0};
	struct kept *kept;
	size_t count = 0;

	if (text_equal(all.name, "cpu_boost") && is_boost_off(machine, following))
		return;
	if (knob_expand(machine, &all, KNOB_EXPAND_READABLE, &points, &ignored) < 0)
		return;
	kept = ARENA_ARRAY(machine->arena, points.count + 1, struct kept);
	for (size_t i = 0; i < points.count; i++) {
		const struct knob_point *point = &points.items[i];
		size_t same = 0;

		if (!keepers[keeper].is_chosen(machine, point) || has_point(&asked, point))
			continue;
		while (same < count && !text_equal(kept[same].value, point->old))
			same++;
		if (same == count)
			kept[count++].value = point->old;
		cpuset_add(&kept[same].cpus, cpu_of(point));
	}
	for (size_t i = 0; i < count; i++)
		keep(machine, all.name, &kept[i], following);
}

int knob_keep_policies(struct knob_machine *machine, const struct knob_point *point, struct knob_following *following,
		       struct err *err)
{
	bool is_mode = text_equal(point->knob->name, "amd_pstate");
	bool anew = !is_mode || text_equal(point->old, "active") || text_equal(point->new, "active");

	(void)err;
	/* Between passive and guided nothing is built anew; without a driver there is nothing to keep. */
	if (!anew || text_equal(point->old, "disable") || text_equal(point->new, "disable"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(keepers); i++)
		keep_knob(machine, i, following);
	return 0;
}

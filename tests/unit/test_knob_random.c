/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the proof by chance: plans drawn from the whole table, on a machine in a drawn state, applied and undone, give
 * back every file byte for byte; changes on top of each other too; and what somebody else wrote in between is left
 * alone and told. The draws are the same in every run; HVTUNE_TEST_SEED draws others.
 */
#include <errno.h>
#include <stdlib.h>

#include "kernel.h"
#include "knob_apply.h"
#include "text.h"
#include "unit.h"

enum { MOST_ASKS = 4, PLANS = 400, STACKS = 60, MOST_TEXT = 64 };

struct draw {
	struct kernel kernel;
	uint64_t state;
	char asks[MOST_ASKS][3 * MOST_TEXT];
	size_t ask_count;
	unsigned applied, refused, failed;
};

static uint32_t number(struct draw *draw, uint32_t below)
{
	draw->state ^= draw->state << 13;
	draw->state ^= draw->state >> 7;
	draw->state ^= draw->state << 17;
	return below ? (uint32_t)(draw->state >> 32) % below : 0;
}

static const char *pick_word(struct draw *draw, const char *words)
{
	static char copy[512];
	char *found[32] = {copy};
	uint32_t count = 0;

	(void)snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok(copy, " "); word && count < ARRAY_SIZE(found); word = strtok(NULL, " "))
		found[count++] = word;
	return found[number(draw, count)];
}

/* Members of families, and names, that the simulated machine has. */
static const struct {
	const char *knob, *members;
} members[] = {
    {"idle.*", "C1 C2 2"},
    {"hugepages.*", "2M 1G"},
    {"overcommit_hugepages.*", "2M"},
    {"thp.*", "64k 2M 64k.shmem"},
    {"module.*", "kvm_amd.avic kvm.halt_poll_ns kvm.mitigate_smt_rsb"},
    {"lasting.*", "swappiness ksm thp idle.C2 governor dirty_bytes hugepages.2M"},
};

/* False where this machine has no member of the family. */
static bool draw_name(struct draw *draw, const struct knob *knob, char *ret)
{
	size_t length = strlen(knob->name) - 1;

	if (knob->name[length] != '*') {
		(void)snprintf(ret, MOST_TEXT, "%s", knob->name);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (text_equal(members[i].knob, knob->name)) {
			(void)snprintf(ret, MOST_TEXT, "%.*s%s", (int)length, knob->name,
				       pick_word(draw, members[i].members));
			return true;
		}
	return false;
}

static void draw_value(struct draw *draw, const struct knob *of, const char *name, char *ret)
{
	/* A value that is to last is one of the knob that it is about. */
	const struct knob *about = text_starts(name, "lasting.") ? knob_find(name + strlen("lasting.")) : NULL;
	const struct knob *knob = about ? about : of;

	bool has_range = knob->least < knob->most;
	int64_t span = has_range ? knob->most - knob->least : 0;

	if (strstr(knob->name, "_freq"))
		(void)snprintf(ret, MOST_TEXT, "%u", 400000 + 100000 * number(draw, 34));
	else if (text_equal(knob->name, "hsmp.power_limit"))
		(void)snprintf(ret, MOST_TEXT, "%u.%u", 50 + number(draw, 200), number(draw, 10));
	else if (knob->words && (!has_range || number(draw, 2)))
		(void)snprintf(ret, MOST_TEXT, "%s", pick_word(draw, knob->words));
	else if (has_range)
		(void)snprintf(ret, MOST_TEXT, "%lld",
			       (long long)knob->least + number(draw, (uint32_t)(span < 800 ? span + 1 : 800)));
	else
		(void)snprintf(ret, MOST_TEXT, "%u", number(draw, 3));
}

/* False where this machine has nothing of that name. */
static bool draw_where(struct draw *draw, const struct knob *knob, char *ret)
{
	uint32_t most = knob->unit == KNOB_OF_CPUS ? KERNEL_CPUS : knob->unit == KNOB_OF_NODES ? 2 : 0;

	*ret = '\0';
	if (knob->unit == KNOB_OF_IRQS)
		(void)snprintf(ret, MOST_TEXT, "@%u", 24 + number(draw, 2));
	if (most && number(draw, 2))
		(void)snprintf(ret, MOST_TEXT, "@%u", number(draw, most));
	if (knob->unit == KNOB_OF_SOCKETS && number(draw, 2))
		(void)snprintf(ret, MOST_TEXT, "@%u", number(draw, 2));
	if (text_equal(knob->name, "nic.queues") || text_equal(knob->name, "sriov.vfs"))
		(void)snprintf(ret, MOST_TEXT, "@eth0");
	return knob->unit != KNOB_OF_NAMES || *ret || strchr(knob->name, '*');
}

static void draw_asks(struct draw *draw)
{
	uint32_t wanted = 1 + number(draw, MOST_ASKS);
	size_t knobs = 0;

	while (knob_at(knobs))
		knobs++;
	draw->ask_count = 0;
	while (draw->ask_count < wanted) {
		const struct knob *knob = knob_at(number(draw, (uint32_t)knobs));
		char name[MOST_TEXT], where[MOST_TEXT], value[MOST_TEXT];

		if (!draw_name(draw, knob, name) || !draw_where(draw, knob, where))
			continue;
		draw_value(draw, knob, name, value);
		(void)snprintf(draw->asks[draw->ask_count++], sizeof(draw->asks[0]), "%s%s=%s", name, where, value);
	}
}

static void start(struct draw *draw)
{
	static const char *const modes[] = {"passive", "active", "guided", "disable"};

	kernel_start(&draw->kernel, modes[number(draw, ARRAY_SIZE(modes))]);
	kernel_add_idle(&draw->kernel);
	kernel_add_x3d(&draw->kernel);
	kernel_add_memory(&draw->kernel);
	kernel_add_pages(&draw->kernel);
	kernel_add_devices(&draw->kernel);
	if (number(draw, 4) == 0)
		kernel_write(&draw->kernel, "/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance");
	if (number(draw, 4) == 0)
		kernel_write(&draw->kernel, "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq", "2000000");
	if (number(draw, 4) == 0)
		kernel_write(&draw->kernel, "/sys/devices/system/cpu/cpufreq/boost", "0");
	if (number(draw, 4) == 0)
		kernel_write(&draw->kernel, "/proc/sys/vm/dirty_bytes", "123456789");
}

/* The first files that are not as they were. */
static void print_unlike(const char *before, const char *after)
{
	int shown = 0;

	while (*before && *after && shown < 5) {
		size_t length_before = strcspn(before, "\n"), length_after = strcspn(after, "\n");

		if (length_before != length_after || strncmp(before, after, length_before) != 0) {
			print_error("- %.*s\n+ %.*s\n", (int)length_before, before, (int)length_after, after);
			shown++;
		}
		before += length_before + (before[length_before] == '\n');
		after += length_after + (after[length_after] == '\n');
	}
}

static void open_machine(struct draw *draw, struct knob_machine *ret)
{
	const struct sys_write_gate gate = kernel_gate(&draw->kernel);
	struct err err = {0};

	assert_int_equal(knob_machine_open(draw->kernel.tree->root, &gate, ret, &err), 0);
}

static void fail_drawn(const struct draw *draw, const char *what, const struct err *err)
{
	char asks[MOST_ASKS * 3 * MOST_TEXT] = "";

	for (size_t i = 0; i < draw->ask_count; i++)
		(void)snprintf(asks + strlen(asks), sizeof(asks) - strlen(asks), "%s ", draw->asks[i]);
	fail_msg("%s%s: %s: %s", asks, what, err->where, err->what);
}

/* Draw asks until they make a plan that has something to do. */
static void draw_plan(struct draw *draw, struct knob_machine *machine, struct knob_plan *ret)
{
	for (;;) {
		struct knob_ask asks[MOST_ASKS];
		struct err err = {0};

		draw_asks(draw);
		for (size_t i = 0; i < draw->ask_count; i++)
			if (knob_ask_parse(machine->arena, draw->asks[i], &asks[i], &err) < 0)
				fail_drawn(draw, "parse", &err);
		int r = knob_plan_make(machine, asks, draw->ask_count, ret, &err);

		if (r < 0 && (r == -EIO || !err.what[0]))
			fail_drawn(draw, "plan", &err);
		if (r == 0 && ret->points.count)
			return;
		draw->refused++;
	}
}

/* Apply what was drawn. A machine that refuses half-way is as it was before; that is checked here. */
static bool apply(struct draw *draw, struct knob_machine *machine, const struct knob_plan *plan, const char *before)
{
	const struct knob_apply_options options = {.what = "a test"};
	struct knob_report report;
	struct err err = {0};
	int r = knob_apply(machine, plan, &options, &report, &err);

	if (r == 0) {
		draw->applied++;
		return true;
	}
	CLEANUP(base_free) char *after = kernel_dump(&draw->kernel);

	draw->failed++;
	if (!report.rolled_back)
		fail_drawn(draw, "not rolled back", &err);
	if (strcmp(before, after) != 0) {
		print_unlike(before, after);
		fail_drawn(draw, "rolled back to something else", &err);
	}
	return false;
}

static void undo(struct draw *draw, struct knob_report *ret)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct err err = {0};

	open_machine(draw, &machine);
	if (knob_undo(&machine, 0, ret, &err) < 0)
		fail_drawn(draw, "undo", &err);
}

static void assert_as_before(const struct draw *draw, const char *before)
{
	CLEANUP(base_free) char *after = kernel_dump(&draw->kernel);
	const struct err none = {0};

	if (strcmp(before, after) != 0) {
		print_unlike(before, after);
		fail_drawn(draw, "not as before", &none);
	}
}

static uint64_t seed(void)
{
	const char *text = getenv("HVTUNE_TEST_SEED");
	int64_t chosen;

	return text && text_int(text, 10, &chosen) == 0 && chosen ? (uint64_t)chosen : UINT64_C(0x9e3779b97f4a7c15);
}

static void undo_gives_back_everything(void **state)
{
	struct draw draw = {.state = seed()};

	(void)state;
	for (int i = 0; i < PLANS; i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		struct knob_plan plan;
		struct knob_report report;

		start(&draw);
		CLEANUP(base_free) char *before = kernel_dump(&draw.kernel);

		open_machine(&draw, &machine);
		draw_plan(&draw, &machine, &plan);
		if (apply(&draw, &machine, &plan, before)) {
			knob_machine_close(&machine);
			undo(&draw, &report);
		}
		assert_as_before(&draw, before);
		kernel_stop(&draw.kernel);
	}
	print_message("# %u applied, %u failed and rolled back, %u refused in the plan\n", draw.applied, draw.failed,
		      draw.refused);
	/* What a plan lets through should be what the machine takes. */
	assert_true(draw.failed * 10 < draw.applied);
}

static void undo_of_one_after_the_other(void **state)
{
	struct draw draw = {.state = seed()};

	(void)state;
	for (int i = 0; i < STACKS; i++) {
		char *before[3];
		bool applied[3];
		struct knob_report report;

		start(&draw);
		for (size_t level = 0; level < ARRAY_SIZE(before); level++) {
			CLEANUP(knob_machine_close) struct knob_machine machine = {0};
			struct knob_plan plan;

			before[level] = kernel_dump(&draw.kernel);
			open_machine(&draw, &machine);
			draw_plan(&draw, &machine, &plan);
			applied[level] = apply(&draw, &machine, &plan, before[level]);
		}
		for (size_t level = ARRAY_SIZE(before); level-- > 0;) {
			if (applied[level])
				undo(&draw, &report);
			assert_as_before(&draw, before[level]);
			free(before[level]);
		}
		kernel_stop(&draw.kernel);
	}
}

/* Does nothing that the plan writes move this knob, nor it anything? */
static bool stands_alone(const struct knob_plan *plan, const struct knob *knob)
{
	return !knob->moves && !knob_plan_moves(plan, knob->name) && !knob->appears && !text_starts(knob->name, "huge");
}

/* Another text that the knob may hold, unlike both. NULL where there is none. */
static const char *foreign_value(struct draw *draw, const struct knob_point *point, char *value)
{
	for (int tries = 0; tries < 50; tries++) {
		draw_value(draw, point->knob, point->name, value);
		if (!knob_same(point->knob, value, point->old) && !knob_same(point->knob, value, point->new))
			return value;
	}
	return NULL;
}

/* What undo makes of one foreign value: it stays and is told; everything else is as it was. */
static void undo_around(struct draw *draw, const char *where, const char *value)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_report report;
	struct err err = {0};

	open_machine(draw, &machine);
	if (knob_undo(&machine, 0, &report, &err) < 0)
		fail_drawn(draw, "undo", &err);
	for (size_t i = 0; i < report.count; i++) {
		const struct knob_event *event = &report.events[i];
		bool is_foreign = text_equal(event->point.where, where);
		const char *now = NULL;

		(void)knob_get(&machine, &event->point, &now, &err);
		if (is_foreign != (event->outcome == KNOB_LEFT) ||
		    !knob_same(event->point.knob, now, is_foreign ? value : event->point.old))
			fail_drawn(draw, event->point.where, &err);
	}
}

static void what_others_wrote_is_left(void **state)
{
	struct draw draw = {.state = seed()};
	unsigned tried = 0;

	(void)state;
	for (int i = 0; i < PLANS; i++) {
		CLEANUP(knob_machine_close) struct knob_machine machine = {0};
		const struct knob_point *victim = NULL;
		struct knob_plan plan;
		struct err err = {0};
		const char *now;
		char value[MOST_TEXT], where[256];

		start(&draw);
		CLEANUP(base_free) char *before = kernel_dump(&draw.kernel);

		open_machine(&draw, &machine);
		draw_plan(&draw, &machine, &plan);
		if (apply(&draw, &machine, &plan, before))
			victim = &plan.points.items[number(&draw, (uint32_t)plan.points.count)];
		/* Through the knob, for what it is called and what stands in its file may differ. */
		if (victim && stands_alone(&plan, victim->knob) && foreign_value(&draw, victim, value) &&
		    victim->knob->actuator->set(&machine, victim->where, value, &err) == 0 &&
		    knob_get(&machine, victim, &now, &err) == 0 && knob_same(victim->knob, now, value)) {
			tried++;
			(void)snprintf(where, sizeof(where), "%s", victim->where);
			knob_machine_close(&machine);
			undo_around(&draw, where, value);
		}
		knob_machine_close(&machine);
		kernel_stop(&draw.kernel);
	}
	assert_true(tried > PLANS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(undo_gives_back_everything),
	    cmocka_unit_test(undo_of_one_after_the_other),
	    cmocka_unit_test(what_others_wrote_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

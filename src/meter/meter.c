/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the set of sources: the drivers in their order, the first read of each, the gate, the choice among alternatives.
 */
#include "meter.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "fact.h"
#include "meter_driver.h"
#include "text.h"

/* In the order in which they are preferred: a counter that the kernel extends to 64 bit before one that wraps. */
static const struct meter_driver *const drivers[] = {&meter_perf,  &meter_powercap, &meter_msr,
						     &meter_hwmon, &meter_hsmp,	    &meter_configured};

static const struct boundary {
	const char *name;
	/*
	 * More is not drawn. Twice the largest configurable TDP of a package (500 W, EPYC 9755 and 9965) or what its
	 * own limit says; a core of EPYC 9175F may take some 30 W of 400; the rest is far above any single machine.
	 */
	double most_w;
} boundaries[METER_BOUNDARIES] = {
    [METER_CORE] = {"core", 100},      [METER_PART] = {"part", 1000},	      [METER_PACKAGE] = {"package", 1000},
    [METER_SOCKET] = {"socket", 1000}, [METER_MEMORY] = {"memory", 1000},     [METER_BOARD] = {"board", 50000},
    [METER_WALL] = {"wall", 50000},    [METER_VM_SHARE] = {"VM share", 1000},
};

static const struct {
	const char *name, *unit;
} quantities[METER_QUANTITIES] = {[METER_ENERGY] = {"energy", "J"},
				  [METER_POWER] = {"power", "W"},
				  [METER_TEMPERATURE] = {"temperature", "°C"},
				  [METER_LIMIT] = {"limit", ""}};

enum { PERIOD_S = 1, MOST_CELSIUS = 150 };

const char *meter_boundary_name(enum meter_boundary boundary)
{
	return boundaries[boundary].name;
}

const char *meter_quantity_name(enum meter_quantity quantity)
{
	return quantities[quantity].name;
}

const char *meter_quantity_unit(enum meter_quantity quantity)
{
	return quantities[quantity].unit;
}

/* Bits of HSMP message 19h, the names as in the kernel's drivers/platform/x86/amd/hsmp/acpi.c, told in words. */
const char *meter_limit_text(struct arena *arena, uint32_t bits)
{
	static const char *const names[] = {"its temperature (cHTC)",
					    "PROCHOT",
					    "the current limit (TDC)",
					    "the package power limit (PPT)",
					    "the most that the part can do",
					    "the reliability limit",
					    "the BMC (APML)",
					    "a limit set by HSMP",
					    "the temperature of a regulator (VRHOT)"};
	const char *text = "";

	for (size_t i = 0; i < 16; i++)
		if (bits & 1U << i)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
					    i < ARRAY_SIZE(names) ? names[i] : arena_printf(arena, "bit %zu", i));
	return *text ? text : "nothing";
}

const char *meter_state_name(enum meter_state state)
{
	static const char *const names[] = {[METER_VALUE] = "value",
					    [METER_ABSENT] = "absent",
					    [METER_UNREADABLE] = "unreadable",
					    [METER_IMPLAUSIBLE] = "implausible"};

	return names[state];
}

/* ---- for drivers ---- */

static bool name_is_taken(const struct meter_set *set, const char *name)
{
	return meter_source_find(set, name) >= 0;
}

struct meter_input *meter_add(struct meter_set *set, const struct meter_driver *driver, struct meter_source source)
{
	struct meter_input *input = ARENA_NEW(set->arena, struct meter_input);
	const char *name = source.name;

	for (unsigned number = 2; name_is_taken(set, source.name); number++)
		source.name = arena_printf(set->arena, "%s.%u", name, number);
	source.driver = driver->name;
	if (source.period_s <= 0)
		source.period_s = PERIOD_S;
	if (source.most <= 0)
		source.most = source.quantity == METER_TEMPERATURE ? MOST_CELSIUS : boundaries[source.boundary].most_w;
	source.counter.most_w = source.most;
	source.state = METER_VALUE; /* until something speaks against it */
	*input = (struct meter_input){.source = source, .driver = driver, .file = {.fd = -1}, .scale = 1};
	if (set->count == set->room) {
		size_t room = set->room ? 2 * set->room : 16;
		struct meter_input **larger = ARENA_ARRAY(set->arena, room, struct meter_input *);

		if (set->count)
			memcpy(larger, set->inputs, set->count * sizeof(*larger));
		set->inputs = larger;
		set->room = room;
	}
	set->inputs[set->count++] = input;
	return input;
}

void meter_refuse(struct meter_set *set, struct meter_input *input, int errnum, const char *hint)
{
	bool absent = errnum == ENOENT || errnum == ENODEV || errnum == ENXIO;

	input->source.state = absent ? METER_ABSENT : METER_UNREADABLE;
	input->source.why = arena_strdup(set->arena, sys_reason(errnum));
	input->source.hint = hint;
}

void meter_lacks(struct meter_set *set, const char *driver, const char *why, const char *hint)
{
	if (set->missing_count == set->missing_room) {
		size_t room = set->missing_room ? 2 * set->missing_room : 16;
		struct meter_missing *larger = ARENA_ARRAY(set->arena, room, struct meter_missing);

		if (set->missing_count)
			memcpy(larger, set->missing, set->missing_count * sizeof(*larger));
		set->missing = larger;
		set->missing_room = room;
	}
	set->missing[set->missing_count++] = (struct meter_missing){driver, why, hint};
}

void meter_open_file(struct meter_set *set, struct meter_input *input, const char *hint)
{
	int r = set->setup.only_look ? 0 : sys_again_open(set->sys, input->source.place, &input->file);

	if (r < 0)
		meter_refuse(set, input, -r, hint);
}

int meter_number(struct sys *sys, int64_t *ret, const char *format, ...)
{
	char path[512];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(path, sizeof(path), format, arguments);

	va_end(arguments);
	if (length < 0 || length >= (int)sizeof(path))
		return -ENOENT;
	const struct sys_look *look = sys_read(sys, "%s", path);

	if (look->state != SYS_VALUE)
		return look->state == SYS_ABSENT ? -ENOENT : -look->errnum;
	return text_int(look->data, 10, ret) < 0 ? -EBADMSG : 0;
}

const char *meter_text(struct meter_set *set, const char *format, ...)
{
	char path[512];
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(path, sizeof(path), format, arguments);

	va_end(arguments);
	if (length < 0 || length >= (int)sizeof(path))
		return NULL;
	const struct sys_look *look = sys_read(set->sys, "%s", path);

	return look->state == SYS_VALUE ? text_trim(set->arena, look->data) : NULL;
}

int meter_package_of(struct sys *sys, int cpu)
{
	int64_t package;

	if (meter_number(sys, &package, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu) < 0)
		return -1;
	return package >= 0 && package < CPUSET_MAX ? (int)package : -1;
}

/* ---- reading ---- */

/* A machine that runs draws power, and has a temperature that things which run have. */
static void gate(const struct meter_source *source, struct meter_reading *reading)
{
	if (source->quantity == METER_ENERGY) {
		if (source->counter.range && reading->count > source->counter.range)
			meter_implausible(reading, "the counter is beyond its own range");
	} else if (!isfinite(reading->value))
		meter_implausible(reading, "it is no number");
	else if (source->quantity == METER_POWER && reading->value <= 0)
		meter_implausible(reading, "0 W or less, which nothing that runs draws");
	else if (source->quantity == METER_POWER && reading->value > source->most)
		meter_implausible(reading, "more than can be drawn");
	else if (source->quantity == METER_TEMPERATURE && (reading->value < -40 || reading->value > source->most))
		meter_implausible(reading, "no temperature of a machine that runs");
}

void meter_read_input(struct meter_input *input, struct meter_reading *ret)
{
	*ret = (struct meter_reading){.state = METER_VALUE};
	input->driver->read(input, ret);
	if (ret->state == METER_VALUE)
		gate(&input->source, ret);
}

void meter_read(struct meter_set *set, size_t index, struct meter_reading *ret)
{
	struct meter_input *input = set->inputs[index];

	if (input->source.state == METER_VALUE)
		meter_read_input(input, ret);
	else
		*ret = (struct meter_reading){.state = input->source.state, .why = input->source.why};
}

static void judge(struct meter_set *set, struct meter_input *input, const struct meter_reading *reading)
{
	if (reading->state == METER_UNREADABLE) {
		meter_refuse(set, input, reading->errnum, reading->why ? NULL : input->source.hint);
		if (reading->why) {
			input->source.state = METER_UNREADABLE;
			input->source.why = arena_strdup(set->arena, reading->why);
		}
		if (reading->hint)
			input->source.hint = arena_strdup(set->arena, reading->hint);
	} else if (reading->state != METER_VALUE) {
		input->source.state = reading->state;
		input->source.why = reading->why;
		input->source.hint = NULL;
	}
}

/* The first read of a source; those that may wait for a network wait side by side. */
struct first {
	struct meter_input *input;
	struct meter_reading reading;
	pthread_t thread;
	bool has_thread;
};

static void *read_in_thread(void *data)
{
	struct first *first = data;

	meter_read_input(first->input, &first->reading);
	return NULL;
}

/* Signals are for the thread that runs the command. */
static void begin_first(struct first *first)
{
	sigset_t all, before;

	if (first->input->source.state != METER_VALUE)
		return;
	if (first->input->source.slow) {
		(void)sigfillset(&all);
		(void)pthread_sigmask(SIG_SETMASK, &all, &before);
		first->has_thread = pthread_create(&first->thread, NULL, read_in_thread, first) == 0;
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (!first->has_thread)
		meter_read_input(first->input, &first->reading);
}

/* What a source says the first time decides whether it is used at all. */
static void end_first(struct meter_set *set, struct first *first)
{
	struct meter_input *input = first->input;
	struct meter_reading *ret = &first->reading;

	if (input->source.state != METER_VALUE)
		return;
	if (first->has_thread)
		(void)pthread_join(first->thread, NULL);
	/* A counter starts anywhere, but one that has counted since the machine came up is not at 0. */
	if (ret->state == METER_VALUE && input->source.quantity == METER_ENERGY && !ret->count && !input->from_zero)
		meter_implausible(ret, "a counter that counts is not 0");
	judge(set, input, ret);
}

static bool is_quick_counter(const struct meter_source *source)
{
	return source->state == METER_VALUE && source->quantity == METER_ENERGY && source->counter.stands_ns;
}

/* On a machine that runs a counter moves: a package at 5 W adds a thousand counts in this time. */
static void see_them_move(struct meter_set *set, const struct first *first)
{
	static const struct timespec wait = {.tv_nsec = 5000000};
	bool any = false;

	for (size_t i = 0; i < set->count; i++)
		any |= is_quick_counter(&set->inputs[i]->source);
	if (!any || !sys_is_live(set->sys))
		return;
	(void)nanosleep(&wait, NULL);
	for (size_t i = 0; i < set->count; i++) {
		struct meter_reading reading;

		if (!is_quick_counter(&set->inputs[i]->source))
			continue;
		meter_read_input(set->inputs[i], &reading);
		if (reading.state == METER_VALUE && reading.count == first[i].reading.count)
			meter_implausible(&reading, "the counter does not move");
		judge(set, set->inputs[i], &reading);
	}
}

static void read_all_first(struct meter_set *set)
{
	struct first *first = ARENA_ARRAY(set->arena, set->count + 1, struct first);

	for (size_t i = 0; i < set->count; i++) {
		first[i].input = set->inputs[i];
		begin_first(&first[i]);
	}
	for (size_t i = 0; i < set->count; i++)
		end_first(set, &first[i]);
	see_them_move(set, first);
}

/* Of the usable sources of energy or power of one boundary and package the first is taken. */
static void choose(struct meter_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct meter_source *source = &set->inputs[i]->source;
		bool taken = (source->quantity != METER_ENERGY && source->quantity != METER_POWER) ||
			     source->state != METER_VALUE;

		for (size_t j = 0; j < i && !taken; j++) {
			const struct meter_source *other = &set->inputs[j]->source;

			taken = other->chosen && other->boundary == source->boundary &&
				!(other->part && source->part) &&
				(other->package == source->package || other->package < 0 || source->package < 0);
		}
		source->chosen = !taken;
	}
}

int meter_set_open(struct sys *sys, const struct meter_setup *setup, struct meter_set **ret, struct err *err)
{
	CLEANUP(meter_set_close_pointer) struct meter_set *set = calloc(1, sizeof(*set));

	if (!set)
		err_no_memory();
	set->arena = arena_new();
	set->sys = sys;
	if (setup)
		set->setup = *setup;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		int r = drivers[i]->find(set, err);

		if (r < 0)
			return r;
	}
	if (!set->setup.only_look)
		read_all_first(set);
	choose(set);
	*ret = set;
	set = NULL;
	return 0;
}

struct meter_set *meter_set_close(struct meter_set *set)
{
	if (!set)
		return NULL;
	for (size_t i = 0; i < set->count; i++) {
		if (set->inputs[i]->driver->close)
			set->inputs[i]->driver->close(set->inputs[i]);
		sys_again_close(&set->inputs[i]->file);
	}
	(void)arena_free(set->arena);
	free(set);
	return NULL;
}

void meter_set_close_pointer(struct meter_set **set)
{
	*set = meter_set_close(*set);
}

/* ---- looking at the set ---- */

const struct meter_source *meter_source_at(const struct meter_set *set, size_t index)
{
	return index < set->count ? &set->inputs[index]->source : NULL;
}

size_t meter_source_count(const struct meter_set *set)
{
	return set->count;
}

int meter_source_find(const struct meter_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (text_equal(set->inputs[i]->source.name, name))
			return (int)i;
	return -1;
}

const struct meter_source *meter_source_of(const struct meter_set *set, const char *place)
{
	const struct meter_source *found = NULL;

	for (size_t i = 0; i < set->count; i++) {
		const struct meter_source *source = &set->inputs[i]->source;

		if (text_equal(source->place, place) && (!found || found->state != METER_VALUE))
			found = source->state == METER_VALUE || !found ? source : found;
	}
	return found;
}

bool meter_has(const struct meter_set *set, enum meter_boundary boundary)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->inputs[i]->source.chosen && set->inputs[i]->source.boundary == boundary)
			return true;
	return false;
}

const struct meter_missing *meter_missing_at(const struct meter_set *set, size_t index)
{
	return index < set->missing_count ? &set->missing[index] : NULL;
}

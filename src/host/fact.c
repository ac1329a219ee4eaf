/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the making and showing of facts. */
#include "fact.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "text.h"

bool fact_is_number(const struct fact *fact, int64_t number)
{
	return fact_known(fact) && (fact->type == FACT_NUMBER || fact->type == FACT_SWITCH) && fact->number == number;
}

bool fact_is_text(const struct fact *fact, const char *text)
{
	return fact_known(fact) && fact->type == FACT_TEXT && text_equal(fact->text, text);
}

bool fact_is_on(const struct fact *fact)
{
	return fact_known(fact) && (fact->type == FACT_NUMBER || fact->type == FACT_SWITCH) && fact->number != 0;
}

bool fact_is_off(const struct fact *fact)
{
	return fact_is_number(fact, 0);
}

int64_t fact_number_or(const struct fact *fact, int64_t otherwise)
{
	bool has_number = fact->type == FACT_NUMBER || fact->type == FACT_SWITCH;

	return fact_known(fact) && has_number ? fact->number : otherwise;
}

const char *fact_text_or(const struct fact *fact, const char *otherwise)
{
	return fact_known(fact) && fact->type == FACT_TEXT ? fact->text : otherwise;
}

struct fact fact_absent(const char *name, const char *source)
{
	return (struct fact){.state = FACT_ABSENT, .name = name, .source = source};
}

struct fact fact_implausible(const char *name, const char *source, const char *raw, const char *note)
{
	return (struct fact){.state = FACT_IMPLAUSIBLE, .name = name, .source = source, .raw = raw, .note = note};
}

struct fact fact_unreadable(const char *name, const char *source, int errnum, const char *note)
{
	return (struct fact){.state = FACT_UNREADABLE, .name = name, .source = source, .errnum = errnum, .note = note};
}

struct fact fact_number(const char *name, enum fact_unit unit, int64_t number, const char *source)
{
	return (struct fact){
	    .state = FACT_VALUE, .type = FACT_NUMBER, .unit = unit, .name = name, .source = source, .number = number};
}

struct fact fact_switch(const char *name, bool on, const char *source)
{
	return (struct fact){.state = FACT_VALUE, .type = FACT_SWITCH, .name = name, .source = source, .number = on};
}

struct fact fact_text(const char *name, const char *text, const char *source)
{
	return (struct fact){.state = FACT_VALUE, .type = FACT_TEXT, .name = name, .source = source, .text = text};
}

struct fact fact_cpus(struct arena *arena, const char *name, const struct cpuset *cpus, const char *source)
{
	struct cpuset *copy = ARENA_NEW(arena, struct cpuset);

	*copy = *cpus;
	return (struct fact){.state = FACT_VALUE, .type = FACT_CPUS, .name = name, .source = source, .cpus = copy};
}

struct fact fact_of_look(const char *name, const struct sys_look *look)
{
	if (look->state == SYS_UNREADABLE)
		return fact_unreadable(name, look->path, look->errnum, sys_reason(look->errnum));
	return fact_absent(name, look->path);
}

/* The trimmed text of a file, as a text fact with ->raw set; the other readers refine it. */
static PRINTF_LIKE(4, 0) struct fact
    read_raw(struct arena *arena, struct sys *sys, const char *name, const char *format, va_list arguments)
{
	const char *path = arena_vprintf(arena, format, arguments);
	const struct sys_look *look = sys_read(sys, "%s", path);

	if (look->state != SYS_VALUE)
		return fact_of_look(name, look);
	const char *raw = text_trim(arena, look->data);
	struct fact fact = fact_text(name, raw, look->path);

	fact.raw = raw;
	return fact;
}

#define READ_RAW(fact)                                                                                                 \
	do {                                                                                                           \
		va_list arguments;                                                                                     \
		va_start(arguments, format);                                                                           \
		(fact) = read_raw(arena, sys, name, format, arguments);                                                \
		va_end(arguments);                                                                                     \
	} while (0)

struct fact fact_read_text(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
{
	struct fact fact;

	READ_RAW(fact);
	return fact;
}

/* What no machine has: 1 THz, 64 PiB. Counters of time and events may be anything. */
static int64_t most_of(enum fact_unit unit)
{
	static const int64_t most[] = {
	    [UNIT_KHZ] = 1000000000, [UNIT_MHZ] = 1000000, [UNIT_KIB] = INT64_C(1) << 46, [UNIT_PERCENT] = 10000};

	return (size_t)unit < ARRAY_SIZE(most) && most[unit] ? most[unit] : INT64_MAX;
}

struct fact fact_read_number(struct arena *arena, struct sys *sys, enum fact_unit unit, const char *name,
			     const char *format, ...)
{
	struct fact fact;
	int64_t number;

	READ_RAW(fact);
	if (!fact_known(&fact))
		return fact;
	/* Sizes of caches carry a suffix: "32768K". */
	if (unit == UNIT_KIB && text_size(fact.raw, &number) == 0 &&
	    !isdigit((unsigned char)fact.raw[strlen(fact.raw) - 1]))
		number /= 1024;
	else if (text_int(fact.raw, 10, &number) < 0)
		return fact_implausible(name, fact.source, fact.raw, "not a number");
	const char *raw = fact.raw;

	fact = fact_number(name, unit, number, fact.source);
	fact.raw = raw;
	return unit == UNIT_NONE || unit == UNIT_BYTES ? fact : fact_within(fact, 0, most_of(unit), "no such quantity");
}

struct fact fact_within(struct fact fact, int64_t least, int64_t most, const char *note)
{
	if (!fact_known(&fact) || fact.type != FACT_NUMBER || (fact.number >= least && fact.number <= most))
		return fact;
	return fact_implausible(fact.name, fact.source, fact.raw, note);
}

struct fact fact_read_switch(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
{
	struct fact fact;

	READ_RAW(fact);
	if (!fact_known(&fact))
		return fact;
	bool on = text_has_word("1 Y y on enabled", " ", fact.raw);

	if (!on && !text_has_word("0 N n off disabled", " ", fact.raw))
		return fact_implausible(name, fact.source, fact.raw, "neither on nor off");
	const char *raw = fact.raw;

	fact = fact_switch(name, on, fact.source);
	fact.raw = raw;
	return fact;
}

static struct fact list_of(struct arena *arena, struct fact fact, enum fact_type type)
{
	struct cpuset set;
	struct err err = {0};

	if (!fact_known(&fact))
		return fact;
	if (cpuset_parse(fact.raw, &set, &err) < 0)
		return fact_implausible(fact.name, fact.source, fact.raw, arena_strdup(arena, err.what));
	const char *raw = fact.raw;

	fact = fact_cpus(arena, fact.name, &set, fact.source);
	fact.type = type;
	fact.raw = raw;
	return fact;
}

struct fact fact_read_cpus(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
{
	struct fact fact;

	READ_RAW(fact);
	return list_of(arena, fact, FACT_CPUS);
}

struct fact fact_read_nodes(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
{
	struct fact fact;

	READ_RAW(fact);
	return list_of(arena, fact, FACT_NODES);
}

struct fact fact_read_choice(struct arena *arena, struct sys *sys, const char *name, const char *format, ...)
{
	struct fact fact;

	READ_RAW(fact);
	if (!fact_known(&fact))
		return fact;
	const char *open = strchr(fact.raw, '[');
	const char *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return fact_implausible(name, fact.source, fact.raw, "no word in brackets");
	fact.text = arena_strndup(arena, open + 1, (size_t)(close - open - 1));
	return fact;
}

static const char *shown_number(struct arena *arena, const struct fact *fact)
{
	static const char *const suffixes[] = {
	    [UNIT_US] = " us", [UNIT_NS] = " ns", [UNIT_MS] = " ms", [UNIT_BYTES] = " bytes", [UNIT_PERCENT] = " %"};

	if (fact->unit == UNIT_KHZ)
		return text_khz(arena, fact->number);
	if (fact->unit == UNIT_MHZ)
		return text_khz(arena, fact->number * 1000);
	if (fact->unit == UNIT_KIB)
		return text_kib(arena, fact->number);
	const char *suffix = (size_t)fact->unit < ARRAY_SIZE(suffixes) ? suffixes[fact->unit] : NULL;

	return arena_printf(arena, "%" PRId64 "%s", fact->number, suffix ? suffix : "");
}

/* Most switches are on or off; of what exists or is so, other words are true. */
static const char *switch_word(const struct fact *fact)
{
	static const struct {
		const char *name, *yes, *no;
	} words[] = {
	    {"cpu.microcode_mixed", "yes", "no"},
	    {"cpufreq.cppc", "present", "absent"},
	    {"cpufreq.cppc_flag", "present", "absent"},
	    {"cpufreq.policies", "present", "absent"},
	    {"kvm.device", "present", "absent"},
	    {"kvm.flag", "present", "absent"},
	    {"kvm.module", "loaded", "not loaded"},
	    {"kvm.module_vendor", "loaded", "not loaded"},
	    {"kvm.module_vhost_net", "loaded", "not loaded"},
	    {"mitigations.directory", "present", "absent"},
	    {"os.proxmox", "yes", "no"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words) && fact->name; i++)
		if (text_equal(words[i].name, fact->name))
			return fact->number ? words[i].yes : words[i].no;
	return fact->number ? "on" : "off";
}

const char *fact_shown(struct arena *arena, const struct fact *fact)
{
	if (fact->state == FACT_ABSENT)
		return fact->note ? arena_printf(arena, "absent (%s)", fact->note) : "absent";
	if (fact->state == FACT_UNREADABLE)
		return arena_printf(arena, "unreadable (%s)", fact->note ? fact->note : "unknown reason");
	if (fact->state == FACT_IMPLAUSIBLE)
		return arena_printf(arena, "implausible \"%.60s\" (%s)", fact->raw ? fact->raw : "",
				    fact->note ? fact->note : "unknown reason");
	if (fact->type == FACT_TEXT)
		return *fact->text ? fact->text : "(empty)";
	if (fact->type == FACT_SWITCH)
		return switch_word(fact);
	if (fact->type == FACT_NUMBER)
		return shown_number(arena, fact);
	const char *list = cpuset_format(arena, fact->cpus);

	return *list ? list : "none";
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_cpu.h. */
#include "host_cpu.h"

#include <ctype.h>
#include <limits.h>

#include "host.h"
#include "text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define CPUINFO "/proc/cpuinfo"

/*
 * Generations by family and model. Sources: the ranges in init_amd_zen*() and bsp_init_amd() of Linux
 * arch/x86/kernel/cpu/amd.c, AMD's E-SMI library for the EPYC ranges. The first row that fits counts; a row with a
 * word is only for model names with that word, because server, workstation and desktop parts share models.
 * `one_l3_per_ccd`: each core complex die of this part carries one L3 group. It is left out for monolithic parts and
 * for dies with two L3 groups.
 */
static const struct generation {
	int family, first_model, last_model;
	enum cpu_zen zen;
	const char *word; /* in the model name, or NULL */
	const char *codename;
	bool one_l3_per_ccd;
} generations[] = {
    {0x17, 0x00, 0x07, ZEN_1, "EPYC", "Naples", false},
    {0x17, 0x00, 0x07, ZEN_1, "Threadripper", "Whitehaven", false},
    {0x17, 0x00, 0x07, ZEN_1, NULL, "Summit Ridge", false},
    {0x17, 0x08, 0x0f, ZEN_PLUS, "Threadripper", "Colfax", false},
    {0x17, 0x08, 0x0f, ZEN_PLUS, NULL, "Pinnacle Ridge", false},
    {0x17, 0x10, 0x17, ZEN_1, NULL, "Raven Ridge", false},
    {0x17, 0x18, 0x1f, ZEN_PLUS, NULL, "Picasso", false},
    {0x17, 0x20, 0x2f, ZEN_1, NULL, "Dali", false},
    {0x17, 0x30, 0x3f, ZEN_2, "Threadripper", "Castle Peak", false},
    {0x17, 0x30, 0x3f, ZEN_2, NULL, "Rome", false},
    {0x17, 0x60, 0x67, ZEN_2, NULL, "Renoir", false},
    {0x17, 0x68, 0x6f, ZEN_2, NULL, "Lucienne", false},
    {0x17, 0x70, 0x7f, ZEN_2, NULL, "Matisse", false},
    {0x17, 0x90, 0x9f, ZEN_2, NULL, "Van Gogh", false},
    {0x17, 0xa0, 0xaf, ZEN_2, NULL, "Mendocino", false},
    {0x17, 0x30, 0xff, ZEN_2, NULL, NULL, false},
    {0x18, 0x00, 0xff, ZEN_1, NULL, "Dhyana", false},
    {0x19, 0x00, 0x0f, ZEN_3, "Threadripper", "Chagall", true},
    {0x19, 0x00, 0x0f, ZEN_3, NULL, "Milan", true},
    {0x19, 0x10, 0x1f, ZEN_4, "Threadripper", "Storm Peak", true},
    {0x19, 0x10, 0x1f, ZEN_4, NULL, "Genoa", true},
    {0x19, 0x20, 0x2f, ZEN_3, NULL, "Vermeer", true},
    {0x19, 0x40, 0x4f, ZEN_3, NULL, "Rembrandt", false},
    {0x19, 0x50, 0x5f, ZEN_3, NULL, "Cezanne", false},
    {0x19, 0x60, 0x6f, ZEN_4, NULL, "Raphael", true},
    {0x19, 0x70, 0x7f, ZEN_4, NULL, "Phoenix", false},
    {0x19, 0xa0, 0xaf, ZEN_4C, "EPYC 8", "Siena", false},
    {0x19, 0xa0, 0xaf, ZEN_4C, NULL, "Bergamo", false},
    {0x19, 0x60, 0xaf, ZEN_4, NULL, NULL, false},
    {0x19, 0x00, 0xff, ZEN_3, NULL, NULL, false},
    {0x1a, 0x00, 0x0f, ZEN_5, "Threadripper", "Shimada Peak", true},
    {0x1a, 0x00, 0x0f, ZEN_5, NULL, "Turin", true},
    {0x1a, 0x10, 0x1f, ZEN_5C, NULL, "Turin Dense", true},
    {0x1a, 0x20, 0x2f, ZEN_5, NULL, "Strix Point", false},
    {0x1a, 0x40, 0x4f, ZEN_5, NULL, "Granite Ridge", true},
    {0x1a, 0x60, 0x6f, ZEN_5, NULL, "Krackan Point", false},
    {0x1a, 0x70, 0x7f, ZEN_5, NULL, "Strix Halo", true},
    {0x1a, 0x00, 0xff, ZEN_LATER, NULL, NULL, false},
};

static const char *const zen_names[] = {
    [ZEN_1] = "Zen",	 [ZEN_PLUS] = "Zen+", [ZEN_2] = "Zen 2",   [ZEN_3] = "Zen 3", [ZEN_4] = "Zen 4",
    [ZEN_4C] = "Zen 4c", [ZEN_5] = "Zen 5",   [ZEN_5C] = "Zen 5c", [ZEN_NONE] = NULL, [ZEN_LATER] = NULL,
};

bool host_cpu_has_flag(const struct host_cpu *cpu, const char *flag)
{
	return text_has_word(fact_text_or(&cpu->flags, ""), " ", flag);
}

bool host_cpu_is_desktop(const struct host_cpu *cpu)
{
	const char *name = fact_text_or(&cpu->model_name, "");

	return strstr(name, "Ryzen") && !strstr(name, "Threadripper");
}

const struct cpuset *host_cpu_online(const struct host *host)
{
	static const struct cpuset none;

	return fact_known(&host->cpu.online) ? host->cpu.online.cpus : &none;
}

struct cpuset host_cpu_switched_off(const struct host *host)
{
	const struct host_cpu *cpu = &host->cpu;

	if (!fact_known(&cpu->present) || !fact_known(&cpu->online))
		return (struct cpuset){0};
	return cpuset_minus(cpu->present.cpus, cpu->online.cpus);
}

void host_cpu_name_generation(struct host_cpu *cpu)
{
	const char *name = fact_text_or(&cpu->model_name, "");
	int64_t family = fact_number_or(&cpu->family, -1), model = fact_number_or(&cpu->model, -1);

	cpu->is_amd = fact_is_text(&cpu->vendor, "AuthenticAMD") || fact_is_text(&cpu->vendor, "HygonGenuine");
	cpu->zen = ZEN_NONE;
	cpu->zen_name = cpu->codename = NULL;
	cpu->one_l3_per_ccd = false;
	if (!cpu->is_amd)
		return;
	if (family > 0x1a)
		cpu->zen = ZEN_LATER;
	for (size_t i = 0; i < ARRAY_SIZE(generations); i++) {
		const struct generation *row = &generations[i];

		if (family != row->family || model < row->first_model || model > row->last_model ||
		    (row->word && !strstr(name, row->word)))
			continue;
		cpu->zen = row->zen;
		cpu->codename = row->codename;
		cpu->one_l3_per_ccd = row->one_l3_per_ccd;
		break;
	}
	cpu->zen_name = zen_names[cpu->zen];
}

/* The value of "key<blanks>: value" when the line of `length` bytes has that key. */
static const char *value_of(const char *line, size_t length, const char *key, size_t *ret_length)
{
	size_t key_length = strlen(key), at = key_length;

	if (length <= key_length || strncmp(line, key, key_length) != 0)
		return NULL;
	while (at < length && (line[at] == ' ' || line[at] == '\t'))
		at++;
	if (at >= length || line[at] != ':')
		return NULL;
	for (at++; at < length && isspace((unsigned char)line[at]);)
		at++;
	while (length > at && isspace((unsigned char)line[length - 1]))
		length--;
	*ret_length = length - at;
	return line + at;
}

/* One pass over /proc/cpuinfo. The first CPU is read whole; of the others only the number and the microcode count. */
struct cpuinfo_pass {
	struct arena *arena;
	struct host_cpu *cpu;
	struct cpuset processors;
	struct cpuset other_microcode; /* CPUs whose microcode differs from the first CPU's */
	int blocks;
	int current; /* the number in the block's "processor" line, -1 before one */
};

static void take_first(struct cpuinfo_pass *pass, const char *line, size_t length)
{
	struct host_cpu *cpu = pass->cpu;
	const struct {
		const char *key;
		struct fact *fact;
		bool is_number;
	} wanted[] = {
	    {"vendor_id", &cpu->vendor, false},
	    {"cpu family", &cpu->family, true},
	    {"model", &cpu->model, true},
	    {"stepping", &cpu->stepping, true},
	    {"model name", &cpu->model_name, false},
	    {"flags", &cpu->flags, false},
	    {"microcode", &cpu->microcode, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct fact *fact = wanted[i].fact;
		size_t value_length;
		const char *value = value_of(line, length, wanted[i].key, &value_length);
		int64_t number;

		if (!value || fact_known(fact))
			continue;
		const char *text = arena_strndup(pass->arena, value, value_length);

		if (!wanted[i].is_number)
			*fact = fact_text(fact->name, text, CPUINFO);
		else if (text_int(text, 10, &number) == 0 && number >= 0)
			*fact = fact_number(fact->name, UNIT_NONE, number, CPUINFO);
		else if (text_equal(text, "unknown"))
			*fact = fact_absent(fact->name, CPUINFO);
		else
			*fact = fact_implausible(fact->name, CPUINFO, text, "not a number");
		return;
	}
}

static void take_line(struct cpuinfo_pass *pass, const char *line, size_t length)
{
	size_t value_length;
	const char *value;
	int64_t number;

	if (*line == 'p' && (value = value_of(line, length, "processor", &value_length))) {
		char text[16] = "";

		memcpy(text, value, MIN_OF(value_length, sizeof(text) - 1));
		pass->blocks++;
		pass->current =
		    text_int(text, 10, &number) == 0 && number >= 0 && number < CPUSET_MAX ? (int)number : -1;
		cpuset_add(&pass->processors, pass->current);
	} else if (pass->blocks <= 1) {
		take_first(pass, line, length);
	} else if (*line == 'm' && (value = value_of(line, length, "microcode", &value_length))) {
		const char *first = fact_text_or(&pass->cpu->microcode, NULL);

		if (first && (strncmp(first, value, value_length) != 0 || first[value_length]))
			cpuset_add(&pass->other_microcode, pass->current);
	}
}

void host_cpu_forget(struct host_cpu *cpu, const char *source)
{
	*cpu = (struct host_cpu){
	    .vendor = fact_absent("cpu.vendor", source),
	    .family = fact_absent("cpu.family", source),
	    .model = fact_absent("cpu.model", source),
	    .stepping = fact_absent("cpu.stepping", source),
	    .model_name = fact_absent("cpu.model_name", source),
	    .flags = fact_absent("cpu.flags", source),
	    .microcode = fact_absent("cpu.microcode", source),
	    .microcode_mixed = fact_absent("cpu.microcode_mixed", source),
	    .online = fact_absent("cpu.online", source),
	    .present = fact_absent("cpu.present", source),
	    .possible = fact_absent("cpu.possible", source),
	    .offline = fact_absent("cpu.offline", source),
	    .isolated = fact_absent("cpu.isolated", source),
	    .nohz_full = fact_absent("cpu.nohz_full", source),
	    .kernel_max = fact_absent("cpu.kernel_max", source),
	    .smt_control = fact_absent("cpu.smt_control", source),
	    .smt_active = fact_absent("cpu.smt_active", source),
	};
}

static void refuse_cpuinfo(struct host_cpu *cpu, const struct sys_look *look)
{
	struct fact *const facts[] = {&cpu->vendor,	&cpu->family, &cpu->model,     &cpu->stepping,
				      &cpu->model_name, &cpu->flags,  &cpu->microcode, &cpu->microcode_mixed};

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		*facts[i] = fact_of_look(facts[i]->name, look);
}

static void read_cpuinfo(struct host *host, struct cpuinfo_pass *pass)
{
	const struct sys_look *look = sys_read(host->sys, CPUINFO);
	struct host_cpu *cpu = pass->cpu;

	if (look->state != SYS_VALUE) {
		refuse_cpuinfo(cpu, look);
		return;
	}
	for (const char *line = look->data, *end = line + look->size; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((stop ? stop : end) - line);

		if (length)
			take_line(pass, line, length);
		line += length + 1;
	}
	if (!fact_known(&cpu->microcode))
		return;
	bool mixed = !cpuset_empty(&pass->other_microcode);

	cpu->microcode_mixed = fact_switch("cpu.microcode_mixed", mixed, CPUINFO);
	if (mixed)
		cpu->microcode_mixed.note = arena_printf(pass->arena, "CPUs %s differ from the first",
							 cpuset_format(pass->arena, &pass->other_microcode));
}

void host_cpu_read(struct host *host)
{
	struct arena *arena = host->arena;
	struct sys *sys = host->sys;
	struct host_cpu *cpu = &host->cpu;
	struct cpuinfo_pass pass = {.arena = arena, .cpu = cpu, .current = -1};

	host_cpu_forget(cpu, CPUINFO);
	read_cpuinfo(host, &pass);
	host_cpu_name_generation(cpu);
	cpu->online = fact_read_cpus(arena, sys, "cpu.online", CPU_DIR "/online");
	cpu->present = fact_read_cpus(arena, sys, "cpu.present", CPU_DIR "/present");
	cpu->possible = fact_read_cpus(arena, sys, "cpu.possible", CPU_DIR "/possible");
	cpu->offline = fact_read_cpus(arena, sys, "cpu.offline", CPU_DIR "/offline");
	cpu->isolated = fact_read_cpus(arena, sys, "cpu.isolated", CPU_DIR "/isolated");
	cpu->nohz_full = fact_read_cpus(arena, sys, "cpu.nohz_full", CPU_DIR "/nohz_full");
	/* Kernels print " (null)" into nohz_full when the mask was never set (since 3.19; the file exists regardless).
	 */
	if (cpu->nohz_full.state == FACT_IMPLAUSIBLE && strstr(cpu->nohz_full.raw, "(null)"))
		cpu->nohz_full = fact_cpus(arena, "cpu.nohz_full", &(struct cpuset){0}, CPU_DIR "/nohz_full");
	cpu->kernel_max = fact_within(fact_read_number(arena, sys, UNIT_NONE, "cpu.kernel_max", CPU_DIR "/kernel_max"),
				      0, CPUSET_MAX - 1, "no number of a CPU");
	cpu->smt_control = fact_read_text(arena, sys, "cpu.smt_control", CPU_DIR "/smt/control");
	cpu->smt_active = fact_read_switch(arena, sys, "cpu.smt_active", CPU_DIR "/smt/active");
	if (!fact_known(&cpu->online) && !cpuset_empty(&pass.processors))
		cpu->online = fact_cpus(arena, "cpu.online", &pass.processors, CPUINFO);
}

void host_cpu_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_cpu *cpu = &host->cpu;
	struct fact zen = fact_absent("cpu.generation", "derived from family and model");
	struct fact flags = cpu->flags;

	if (cpu->zen_name)
		zen = fact_text(zen.name,
				cpu->codename ? arena_printf(rows->arena, "%s (%s)", cpu->zen_name, cpu->codename)
					      : cpu->zen_name,
				zen.source);
	/* The whole list has 150 words; here stand those on which findings look. */
	if (fact_known(&flags)) {
		static const char *const shown[] = {"svm", "npt",	"avic",		"x2avic",      "cppc",
						    "cpb", "hw_pstate", "constant_tsc", "nonstop_tsc", "topoext",
						    "sme", "sev",	"sev_es",	"sev_snp",     "hypervisor"};
		const char *text = "";

		for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
			if (host_cpu_has_flag(cpu, shown[i]))
				text = arena_printf(rows->arena, "%s%s%s", text, *text ? " " : "", shown[i]);
		flags.text = text;
	}
	host_rows_add(rows, "Model", &cpu->model_name);
	host_rows_add(rows, "Vendor", &cpu->vendor);
	host_rows_add(rows, "Generation", &zen);
	host_rows_add(rows, "Family", &cpu->family);
	host_rows_add(rows, "Model number", &cpu->model);
	host_rows_add(rows, "Stepping", &cpu->stepping);
	host_rows_add(rows, "Flags of interest", &flags);
	host_rows_add(rows, "Microcode", &cpu->microcode);
	host_rows_add(rows, "Microcode mixed", &cpu->microcode_mixed);
	host_rows_add(rows, "Online CPUs", &cpu->online);
	host_rows_add(rows, "Present CPUs", &cpu->present);
	host_rows_add(rows, "Possible CPUs", &cpu->possible);
	host_rows_add(rows, "Offline CPUs", &cpu->offline);
	host_rows_add(rows, "Isolated CPUs", &cpu->isolated);
	host_rows_add(rows, "nohz_full CPUs", &cpu->nohz_full);
	host_rows_add(rows, "Largest CPU number", &cpu->kernel_max);
	host_rows_add(rows, "SMT control", &cpu->smt_control);
	host_rows_add(rows, "SMT active", &cpu->smt_active);
}

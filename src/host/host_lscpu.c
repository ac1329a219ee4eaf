/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading lscpu texts: the fields of both forms, and the facts that they make. */
#include "host_lscpu.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>

#include "text.h"

enum { FIELD_LIMIT = 2048, JSON_DEPTH_LIMIT = 8 };

/* "On-line CPU(s) list" with "0-63". Where lscpu groups fields (since 2.37), `section` is the field above. */
struct lscpu_field {
	const char *section, *label, *value;
	const char *source; /* "FILE:7", or for JSON "FILE: On-line CPU(s) list" */
	unsigned line;	    /* 0 for JSON */
};

struct lscpu {
	struct host *host;
	struct lscpu_field *fields;
	int count;
};

/* Any of these at the start of a line, two of them in a text. */
static const char *const known_labels[] = {"Architecture", "CPU(s)",	 "On-line CPU(s) list",
					   "Vendor ID",	   "Model name", "Thread(s) per core"};

static bool starts_label(const char *line, const char *end, const char *label)
{
	size_t length = strlen(label);

	return (size_t)(end - line) > length && memcmp(line, label, length) == 0 && line[length] == ':';
}

bool host_is_lscpu(const char *text, size_t size)
{
	enum { LOOK_AT = 16 * 1024 };
	const char *end = text + MIN_OF(size, (size_t)LOOK_AT);
	size_t found = 0;

	if (*text == '{')
		return memmem(text, (size_t)(end - text), "\"lscpu\"", strlen("\"lscpu\"")) != NULL;
	for (const char *line = text; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		for (size_t i = 0; i < ARRAY_SIZE(known_labels); i++)
			found += starts_label(line, end, known_labels[i]);
		line = newline ? newline + 1 : end;
	}
	return found >= 2;
}

/* ---- fields ---- */

static void add_field(struct lscpu *lscpu, const char *section, const char *label, const char *value, unsigned line)
{
	struct arena *arena = lscpu->host->arena;
	const char *name = lscpu->host->name;

	if (lscpu->count == FIELD_LIMIT)
		return;
	lscpu->fields[lscpu->count++] = (struct lscpu_field){
	    .section = section,
	    .label = label,
	    .value = value,
	    .line = line,
	    .source = line ? arena_printf(arena, "%s:%u", name, line) : arena_printf(arena, "%s: %s", name, label)};
}

static void take_line(struct lscpu *lscpu, const char *line, size_t length, const char **section, unsigned number)
{
	struct arena *arena = lscpu->host->arena;
	const char *colon = memchr(line, ':', length);

	if (!colon)
		return;
	const char *label = text_trim(arena, arena_strndup(arena, line, (size_t)(colon - line)));
	const char *value = text_trim(arena, arena_strndup(arena, colon + 1, length - (size_t)(colon + 1 - line)));

	if (!isspace((unsigned char)*line))
		*section = label;
	add_field(lscpu, *section, label, value, number);
}

static void take_plain(struct lscpu *lscpu, const char *text, size_t size)
{
	const char *end = text + size, *section = "";
	unsigned number = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		take_line(lscpu, text, length, &section, ++number);
		text += length + 1;
	}
}

static void take_array(struct lscpu *lscpu, const json_t *array, const char *section, int depth)
{
	struct arena *arena = lscpu->host->arena;

	for (size_t i = 0; i < json_array_size(array) && depth < JSON_DEPTH_LIMIT; i++) {
		const json_t *entry = json_array_get(array, i);
		const char *label = json_string_value(json_object_get(entry, "field"));
		const json_t *data = json_object_get(entry, "data");

		if (!label)
			continue;
		label = text_trim(arena, arena_strndup(arena, label, strcspn(label, ":")));
		if (json_is_string(data))
			add_field(lscpu, section, label, text_trim(arena, json_string_value(data)), 0);
		else if (json_is_integer(data))
			add_field(lscpu, section, label,
				  arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(data)), 0);
		take_array(lscpu, json_object_get(entry, "children"), label, depth + 1);
	}
}

static int take_json(struct lscpu *lscpu, const char *text, size_t size, struct err *err)
{
	json_error_t why;
	json_t *json = json_loadb(text, size, 0, &why);
	const char *name = lscpu->host->name;

	if (!json)
		return err_set_at(err, EINVAL, name, why.line > 0 ? (unsigned)why.line : 0,
				  why.column > 0 ? (unsigned)why.column : 0, "not the JSON of lscpu -J: %s", why.text);
	take_array(lscpu, json_object_get(json, "lscpu"), "", 0);
	json_decref(json);
	return 0;
}

/* The first field of that label; `section` NULL: any. */
static const struct lscpu_field *field_of(const struct lscpu *lscpu, const char *section, const char *label)
{
	for (int i = 0; i < lscpu->count; i++)
		if (text_equal(lscpu->fields[i].label, label) &&
		    (!section || text_starts(lscpu->fields[i].section, section)))
			return &lscpu->fields[i];
	return NULL;
}

/* ---- facts ---- */

static struct fact with_raw(struct fact fact, const struct lscpu_field *field)
{
	fact.raw = field->value;
	return fact;
}

static void take_text(const struct lscpu *lscpu, const char *label, struct fact *ret)
{
	const struct lscpu_field *field = field_of(lscpu, NULL, label);

	if (field && *field->value)
		*ret = with_raw(fact_text(ret->name, field->value, field->source), field);
}

static void take_number(const struct lscpu *lscpu, const char *label, struct fact *ret)
{
	const struct lscpu_field *field = field_of(lscpu, NULL, label);
	int64_t number;

	if (!field || text_equal(field->value, "-") || text_equal(field->value, ""))
		return;
	if (text_int(field->value, 0, &number) == 0 && number >= 0)
		*ret = with_raw(fact_number(ret->name, UNIT_NONE, number, field->source), field);
	else
		*ret = fact_implausible(ret->name, field->source, field->value, "not a number");
}

static void take_cpus(const struct lscpu *lscpu, const char *list_label, const char *mask_label, struct fact *ret)
{
	const struct lscpu_field *list = field_of(lscpu, NULL, list_label), *mask = field_of(lscpu, NULL, mask_label);
	const struct lscpu_field *field = list ? list : mask;
	struct err err = {0};
	struct cpuset cpus;

	if (!field)
		return;
	const char *text = field->value;
	int r = list ? cpuset_parse(text, &cpus, &err)
		     : cpuset_parse_mask(text + (text_starts(text, "0x") ? 2 : 0), &cpus, &err);

	*ret = r < 0 ? fact_implausible(ret->name, field->source, text, arena_strdup(lscpu->host->arena, err.what))
		     : with_raw(fact_cpus(lscpu->host->arena, ret->name, &cpus, field->source), field);
}

/* A count of 1 to CPUSET_MAX, or 0 when it is not told or cannot be true ("Thread(s) per core: 0" occurs). */
static int count_of(const struct lscpu *lscpu, const char *label)
{
	const struct lscpu_field *field = field_of(lscpu, NULL, label);
	int64_t number;

	if (!field || text_int(field->value, 10, &number) < 0 || number < 1 || number > CPUSET_MAX)
		return 0;
	return (int)number;
}

static void fill_cpu(const struct lscpu *lscpu)
{
	struct host_cpu *cpu = &lscpu->host->cpu;

	host_cpu_forget(cpu, lscpu->host->name);
	take_text(lscpu, "Vendor ID", &cpu->vendor);
	take_text(lscpu, "Model name", &cpu->model_name);
	take_text(lscpu, "Flags", &cpu->flags);
	take_number(lscpu, "CPU family", &cpu->family);
	take_number(lscpu, "Model", &cpu->model);
	take_number(lscpu, "Stepping", &cpu->stepping);
	take_cpus(lscpu, "On-line CPU(s) list", "On-line CPU(s) mask", &cpu->online);
	take_cpus(lscpu, "Off-line CPU(s) list", "Off-line CPU(s) mask", &cpu->offline);
	host_cpu_name_generation(cpu);
	if (!fact_known(&cpu->online))
		return;
	struct cpuset present = *cpu->online.cpus;

	if (fact_known(&cpu->offline))
		present = cpuset_or(&present, cpu->offline.cpus);
	if (cpuset_count(&present) == count_of(lscpu, "CPU(s)"))
		cpu->present = fact_cpus(lscpu->host->arena, cpu->present.name, &present, cpu->online.source);
	const struct lscpu_field *threads = field_of(lscpu, NULL, "Thread(s) per core");

	if (threads && count_of(lscpu, "Thread(s) per core"))
		cpu->smt_active =
		    fact_switch(cpu->smt_active.name, count_of(lscpu, "Thread(s) per core") > 1, threads->source);
}

/* The file name of "Spec store bypass" is spec_store_bypass. */
static const char *vulnerability_name(struct arena *arena, const char *label)
{
	char *name = arena_strdup(arena, label);

	for (char *at = name; *at; at++)
		*at = *at == ' ' ? '_' : (char)tolower((unsigned char)*at);
	return name;
}

/* lscpu writes the kernel's "Mitigation: ..." with a semicolon. */
static const char *kernel_words(struct arena *arena, const char *value)
{
	char *words = arena_strdup(arena, value);
	char *mark = strpbrk(words, ":;");

	if (mark && *mark == ';' &&
	    (text_starts(words, "Mitigation;") || text_starts(words, "Vulnerable;") || text_starts(words, "KVM;") ||
	     text_starts(words, "Processor vulnerable;")))
		*mark = ':';
	return words;
}

static void fill_mitigations(const struct lscpu *lscpu)
{
	static const char prefix[] = "Vulnerability ";
	struct host_mitigations *mitigations = &lscpu->host->mitigations;
	struct arena *arena = lscpu->host->arena;

	mitigations->list = ARENA_ARRAY(arena, (size_t)lscpu->count, struct mitigation);
	mitigations->count = 0;
	for (int i = 0; i < lscpu->count; i++) {
		const struct lscpu_field *field = &lscpu->fields[i];
		bool has_prefix = text_starts(field->label, prefix);
		bool in_section =
		    text_starts(field->section, "Vulnerabilit") && !text_equal(field->section, field->label);

		if ((!has_prefix && !in_section) || !*field->value)
			continue;
		struct mitigation *mitigation = &mitigations->list[mitigations->count++];

		mitigation->name = vulnerability_name(arena, has_prefix ? field->label + strlen(prefix) : field->label);
		mitigation->text = fact_text(mitigation->name, kernel_words(arena, field->value), field->source);
		mitigation->text.raw = field->value;
		mitigation->state = host_mitigation_state(mitigation->text.text);
	}
	if (mitigations->count)
		mitigations->directory = fact_switch("mitigations.directory", true, mitigations->list[0].text.source);
}

static void fill_hypervisor(const struct lscpu *lscpu)
{
	struct host_os *os = &lscpu->host->os;

	take_text(lscpu, "Hypervisor vendor", &os->hypervisor);
	if (!fact_known(&os->hypervisor) && host_cpu_has_flag(&lscpu->host->cpu, "hypervisor"))
		os->hypervisor = fact_text(os->hypervisor.name, "unknown", lscpu->host->cpu.flags.source);
}

/* "32 MiB (2 instances)" is a sum since 2.34; "8192K" is one of them before. -1 when it tells no such size. */
static int64_t l3_size_kib(const struct lscpu *lscpu, int instances)
{
	const struct lscpu_field *field = field_of(lscpu, NULL, "L3 cache");
	static const char *const units[] = {"KiB", "MiB", "GiB"};
	char *end;

	field = field ? field : field_of(lscpu, "Caches", "L3");
	if (!field || !isdigit((unsigned char)*field->value))
		return -1;
	double value = strtod(field->value, &end);
	int64_t factor = *end == 'K' ? 1 : *end == 'M' ? 1024 : 0;

	if (*end != ' ')
		return factor && value < 1e9 ? (int64_t)value * factor : -1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (text_starts(end + 1, units[i]) && instances && value < 1e9)
			return (int64_t)(value * (double)(INT64_C(1) << (10 * i))) / instances;
	return -1;
}

static int l3_instances(const struct lscpu *lscpu)
{
	const struct lscpu_field *field = field_of(lscpu, NULL, "L3 cache");

	field = field ? field : field_of(lscpu, "Caches", "L3");
	const char *open = field ? strchr(field->value, '(') : NULL;
	char *end;
	long count = open ? strtol(open + 1, &end, 10) : 0;

	return count > 0 && count <= CPUSET_MAX && text_starts(end, " instance") ? (int)count : 0;
}

static void fill_nodes(const struct lscpu *lscpu)
{
	static const char prefix[] = "NUMA node";
	struct host_topology *topology = &lscpu->host->topology;
	struct arena *arena = lscpu->host->arena;

	topology->nodes = ARENA_ARRAY(arena, (size_t)lscpu->count, struct topology_node);
	for (int i = 0; i < lscpu->count; i++) {
		const struct lscpu_field *field = &lscpu->fields[i];
		struct cpuset cpus;
		char *end = NULL;

		if (!text_starts(field->label, prefix))
			continue;
		long number = strtol(field->label + strlen(prefix), &end, 10);

		if (end == field->label + strlen(prefix) || !text_equal(end, " CPU(s)") || number < 0 ||
		    number >= CPUSET_MAX || cpuset_parse(field->value, &cpus, NULL) < 0)
			continue;
		struct topology_node *node = &topology->nodes[topology->node_count];

		*node = (struct topology_node){
		    .packages = topology->package_count == 1 ? cpuset_range(0, 0) : cpuset_range(1, 0),
		    .os_node = (int)number,
		    .cpus = cpuset_and(&cpus, host_cpu_online(lscpu->host)),
		    .memory_kib = fact_absent("topology.node.memory", field->source),
		    .free_kib = fact_absent("topology.node.free", field->source),
		};
		CPUSET_FOREACH (cpu, &node->cpus)
			topology->cpus[cpu].node = topology->node_count;
		topology->node_count++;
	}
	topology->node_known = topology->node_count > 0;
}

/* Counts, with entries for them of which nothing more is known. */
static void fill_counts(const struct lscpu *lscpu)
{
	struct host_topology *topology = &lscpu->host->topology;
	struct arena *arena = lscpu->host->arena;
	int sockets = count_of(lscpu, "Socket(s)"), per_socket = count_of(lscpu, "Core(s) per socket");
	int l3s = l3_instances(lscpu);

	/* More packages than CPUs: a count that cannot be. */
	sockets = sockets <= topology->thread_count ? sockets : 0;
	topology->package_count = sockets;
	topology->packages = ARENA_ARRAY(arena, (size_t)MAX_OF(sockets, 1), struct topology_package);
	for (int i = 0; i < sockets; i++)
		topology->packages[i] = (struct topology_package){.os_package = i, .core_count = per_socket};
	if (sockets == 1)
		topology->packages[0].cpus = *host_cpu_online(lscpu->host);
	/* With CPUs off line lscpu's counts contradict each other: then the number of cores is not known. */
	if ((int64_t)sockets * per_socket <= topology->thread_count)
		topology->core_count = sockets * per_socket;
	topology->cores = ARENA_ARRAY(arena, (size_t)MAX_OF(topology->core_count, 1), struct topology_core);
	for (int i = 0; i < topology->core_count; i++)
		topology->cores[i] =
		    (struct topology_core){.os_core_id = -1, .l3 = -1, .ccd = -1, .package = sockets == 1 ? 0 : -1};
	topology->l3_count = l3s <= topology->thread_count ? l3s : 0;
	topology->l3s = ARENA_ARRAY(arena, (size_t)MAX_OF(topology->l3_count, 1), struct topology_l3);
	for (int i = 0; i < topology->l3_count; i++)
		topology->l3s[i] = (struct topology_l3){
		    .id = -1, .size_kib = l3_size_kib(lscpu, l3s), .package = sockets == 1 ? 0 : -1, .ccd = -1};
	topology->threads_per_core = count_of(lscpu, "Thread(s) per core");
}

/* With one thread per core every CPU is a core: which, need not be told. */
static void fill_single_threads(struct host_topology *topology, const struct cpuset *online)
{
	int count = 0;

	if (topology->threads_per_core != 1 || topology->core_count != topology->thread_count)
		return;
	CPUSET_FOREACH (cpu, online) {
		topology->cores[count].cpus = cpuset_range(cpu, cpu);
		topology->cpus[cpu].core = count++;
	}
	topology->core_known = true;
}

/* One L3 in all is that of all CPUs. */
static void fill_only_l3(struct host_topology *topology, const struct cpuset *online)
{
	struct topology_l3 *l3 = topology->l3s;

	if (topology->l3_count != 1 || topology->package_count > 1)
		return;
	l3->cpus = *online;
	l3->core_count = topology->core_known ? topology->core_count : 0;
	for (int i = 0; i < topology->core_count; i++)
		topology->cores[i].l3 = 0;
	for (int i = 0; i < topology->node_count; i++)
		if (cpuset_meets(&topology->nodes[i].cpus, online))
			cpuset_add(&l3->nodes, topology->nodes[i].os_node);
	CPUSET_FOREACH (cpu, online)
		topology->cpus[cpu].l3 = 0;
	if (topology->package_count == 1)
		topology->packages[0].l3_count = 1;
	topology->l3_known = true;
}

static void fill_topology(const struct lscpu *lscpu)
{
	struct host *host = lscpu->host;
	struct host_topology *topology = &host->topology;
	const struct cpuset *online = host_cpu_online(host);

	topology->thread_count = cpuset_count(online);
	CPUSET_FOREACH (cpu, online)
		topology->cpu_count = cpu + 1;
	topology->cpus = ARENA_ARRAY(host->arena, (size_t)topology->cpu_count, struct topology_cpu);
	for (int cpu = 0; cpu < topology->cpu_count; cpu++)
		topology->cpus[cpu] = (struct topology_cpu){.known = cpuset_has(online, cpu),
							    .core = -1,
							    .l3 = -1,
							    .ccd = -1,
							    .package = count_of(lscpu, "Socket(s)") == 1 ? 0 : -1,
							    .node = -1};
	fill_counts(lscpu);
	fill_single_threads(topology, online);
	fill_nodes(lscpu);
	fill_only_l3(topology, online);
	topology->state = fact_switch("topology", true, host->cpu.online.source);
	if (!topology->core_known || !topology->l3_known)
		topology->state.note = "lscpu's summary: which CPUs share a core or an L3 cache is not in it";
}

int host_lscpu_read(struct host *host, const char *text, size_t size, struct err *err)
{
	struct lscpu lscpu = {.host = host, .fields = ARENA_ARRAY(host->arena, FIELD_LIMIT, struct lscpu_field)};

	if (*text == '{') {
		int r = take_json(&lscpu, text, size, err);

		if (r < 0)
			return r;
	} else {
		take_plain(&lscpu, text, size);
	}
	fill_cpu(&lscpu);
	const struct fact *online = &host->cpu.online;

	if (!fact_known(online) || cpuset_empty(online->cpus)) {
		const struct lscpu_field *field = field_of(&lscpu, NULL, "On-line CPU(s) list");

		return err_set_at(err, EINVAL, host->name, field ? field->line : 0, 0,
				  field ? "lscpu's \"On-line CPU(s) list\" is no list of CPUs: \"%.80s\""
					: "an lscpu text without \"On-line CPU(s) list\"%s",
				  field ? field->value : "");
	}
	fill_topology(&lscpu);
	fill_hypervisor(&lscpu);
	fill_mitigations(&lscpu);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the description of the host in a report, from the facts that were kept with the session: an object of texts, by
 * the names of `hvtune show --json`, and where several have one name, that and a label. First what decides how fast and
 * how hungry a host is, then everything. What is missing has no row.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "report.h"
#include "report_result_internal.h"
#include "report_scale.h"
#include "text.h"

enum { MOST_PARTS = 12 };

struct facts {
	struct arena *arena;
	const json_t *json;
	const char **cells;
	int rows;
};

/* Sizes and clocks as people read them; other values as they are. */
static const char *readable(struct arena *arena, const char *text)
{
	static const struct {
		const char *unit, *base;
		double size;
	} units[] = {{"kHz", "Hz", 1e3}, {"MHz", "Hz", 1e6}, {"KiB", "B", 1024}};
	char *end = NULL;
	double value = strtod(text, &end);

	for (size_t i = 0; i < ARRAY_SIZE(units) && end != text && *end == ' '; i++) {
		size_t length = strlen(units[i].unit);

		if (strncmp(end + 1, units[i].unit, length) == 0 && (!end[1 + length] || end[1 + length] == ' '))
			return arena_printf(arena, "%s%s",
					    scale_plain(arena, value * units[i].size, NAN, units[i].base),
					    end + 1 + length);
	}
	return text_equal(text, "true") ? "yes" : text_equal(text, "false") ? "no" : text;
}

/* The fact, or all of that name with their labels; NULL: none is known. */
static const char *fact(const struct facts *facts, const char *name)
{
	const char *text = NULL, *key;
	size_t length = strlen(name);
	int count = 0;
	json_t *value;

	json_object_foreach ((json_t *)facts->json, key, value) {
		const char *one = json_string_value(value), *label = key + length;

		if (!one || !*one || strncmp(key, name, length) != 0 || (*label && *label != ' '))
			continue;
		if (++count > MOST_PARTS)
			continue;
		one = readable(facts->arena, one);
		/* "Governor" of cpufreq.governor says nothing new. */
		if (*label && strcasecmp(label + 1, strrchr(name, '.') ? strrchr(name, '.') + 1 : name) != 0)
			one = arena_printf(facts->arena, "%s: %s", label + 1, one);
		text = text ? arena_printf(facts->arena, "%s; %s", text, one) : arena_strdup(facts->arena, one);
	}
	return count > MOST_PARTS ? arena_printf(facts->arena, "%s; and %d more", text, count - MOST_PARTS) : text;
}

static void put(struct facts *facts, const char *label, const char *value)
{
	if (!value)
		return;
	const char **row = &facts->cells[(size_t)facts->rows++ * 2];

	row[0] = label;
	row[1] = value;
}

/* "1 package, 2 CCDs, 8 threads": what the topology counts. */
static const char *topology(const struct facts *facts)
{
	static const struct {
		const char *name, *one, *many;
	} parts[] = {{"topology.packages", "package", "packages"},
		     {"topology.nodes", "node", "nodes"},
		     {"topology.ccds", "CCD", "CCDs"},
		     {"topology.l3s", "L3 group", "L3 groups"},
		     {"topology.cores", "core", "cores"},
		     {"topology.threads", "thread", "threads"}};
	const char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *count = fact(facts, parts[i].name);

		if (count)
			text = arena_printf(facts->arena, "%s%s%s %s", text ? text : "", text ? ", " : "", count,
					    text_equal(count, "1") ? parts[i].one : parts[i].many);
	}
	return text;
}

/* Which vulnerabilities the kernel names as `state`, with what it says of each where `told`. */
static const char *vulnerabilities(const struct facts *facts, const char *state, bool told)
{
	const char *text = NULL, *key;
	json_t *value;

	json_object_foreach ((json_t *)facts->json, key, value) {
		const char *one = json_string_value(value);

		/* Names of the kernel's own; those of hvtune have a dot. */
		if (!one || strchr(key, '.') || !text_starts(one, state))
			continue;
		text = arena_printf(
		    facts->arena, "%s%s%s%s%s%s", text ? text : "", text ? ", " : "", key, told ? " (" : "",
		    told ? one + strlen(state) + strspn(one + strlen(state), ": ") : "", told ? ")" : "");
	}
	return text;
}

/* The kernel's command line, put together again. */
static const char *command_line(const struct facts *facts)
{
	static const char name[] = "cmdline.word ";
	const char *text = NULL, *key;
	json_t *value;

	json_object_foreach ((json_t *)facts->json, key, value) {
		const char *one = json_string_value(value);
		bool bare = text_equal(one, "set");

		if (one && text_starts(key, name))
			text = arena_printf(facts->arena, "%s%s%s%s%s", text ? text : "", text ? " " : "",
					    key + strlen(name), bare ? "" : "=", bare ? "" : one);
	}
	return text;
}

/* What stands between `start` and `end` of a text, or NULL. */
static const char *between(struct arena *arena, const char *text, const char *start, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return text_starts(text, start) && length >= strlen(start) + tail && text_equal(text + length - tail, end)
		   ? arena_strndup(arena, text + strlen(start), length - strlen(start) - tail)
		   : NULL;
}

/* "node 0: 256, 0 free; node 1: ..." of a size; NULL: there is one node. */
static const char *hugepages_by_node(const struct facts *facts, const char *size)
{
	const char *start = arena_printf(facts->arena, "memory.node_hugepages Hugepages of %s, Node ", size);
	const char *text = "", *key;
	json_t *value;
	int count = 0;

	json_object_foreach ((json_t *)facts->json, key, value) {
		const char *node = between(facts->arena, key, start, "");

		if (node && json_is_string(value) && ++count <= MOST_PARTS)
			text = arena_printf(facts->arena, "%s%snode %s: %s", text, *text ? "; " : "", node,
					    json_string_value(value));
	}
	return count > MOST_PARTS ? arena_printf(facts->arena, "%s; and %d more", text, count - MOST_PARTS)
	       : count > 1	  ? text
				  : NULL;
}

/* "512 of 2 MiB (node 0: 256, 0 free; node 1: 256, 0 free), 4 of 1 GiB; usual size 2 MiB". */
static const char *hugepages(const struct facts *facts)
{
	const char *usual = fact(facts, "memory.default_hugepage"), *text = "", *key;
	json_t *value;

	json_object_foreach ((json_t *)facts->json, key, value) {
		const char *size = between(facts->arena, key, "memory.hugepages Hugepages of ", ", Total");
		const char *count = json_string_value(value), *nodes = NULL;

		if (!size || !count)
			continue;
		if (!text_equal(count, "0"))
			nodes = hugepages_by_node(facts, size);
		text = arena_printf(facts->arena, "%s%s%s of %s%s%s%s", text, *text ? ", " : "", count, size,
				    nodes ? " (" : "", nodes ? nodes : "", nodes ? ")" : "");
	}
	/* Kept by an older hvtune, or of one size: the sum is all that is known. */
	if (!*text)
		text = fact(facts, "memory.hugepages");
	return text && usual ? arena_printf(facts->arena, "%s; usual size %s", text, usual) : text;
}

/* Daemons that are running. */
static const char *daemons(const struct facts *facts)
{
	static const char name[] = "daemons.running ";
	const char *text = "none of those that change settings", *key;
	bool any = false;
	json_t *value;

	json_object_foreach ((json_t *)facts->json, key, value)
		if (text_starts(key, name) && text_equal(json_string_value(value), "true")) {
			text =
			    arena_printf(facts->arena, "%s%s%s", any ? text : "", any ? ", " : "", key + strlen(name));
			any = true;
		}
	return text;
}

static void add_main(struct doc *doc, struct facts *facts, const struct store_session *session)
{
	static const char *const heads[] = {"what", "as found"};
	static const struct {
		const char *label, *name;
		const char *(*make)(const struct facts *facts);
	} rows[] = {
	    {"processor", "cpu.model_name", NULL},
	    {"generation", "cpu.generation", NULL},
	    {"topology", NULL, topology},
	    {"L3 groups", "topology.l3", NULL},
	    {"NUMA nodes", "topology.node", NULL},
	    {"SMT", "cpu.smt_active", NULL},
	    {"online CPUs", "cpu.online", NULL},
	    {"isolated CPUs", "cpu.isolated", NULL},
	    {"microcode", "cpu.microcode", NULL},
	    {"distribution", "os.distribution", NULL},
	    {"kernel", "os.kernel_release", NULL},
	    {"kernel's command line", NULL, command_line},
	    {"runs under", "os.hypervisor", NULL},
	    {"in a container", "os.container", NULL},
	    {"clock", "os.clocksource", NULL},
	    {"memory", "memory.total", NULL},
	    {"hugepages", NULL, hugepages},
	    {"transparent hugepages", "memory.thp_enabled", NULL},
	    {"NUMA balancing", "memory.numa_balancing", NULL},
	    {"frequency driver", "cpufreq.driver", NULL},
	    {"amd_pstate mode", "cpufreq.amd_pstate_status", NULL},
	    {"governor", "cpufreq.governor", NULL},
	    {"energy preference (EPP)", "cpufreq.epp", NULL},
	    {"boost", "cpufreq.boost", NULL},
	    {"highest clock of the hardware", "cpufreq.cpuinfo_max_khz", NULL},
	    {"highest clock that is set", "cpufreq.scaling_max_khz", NULL},
	    {"idle driver", "idle.driver", NULL},
	    {"idle governor", "idle.governor", NULL},
	    {"latency that is asked for", "idle.dma_latency", NULL},
	    {"tuned profile", "tuned.active_profile", NULL},
	    {"daemons", NULL, daemons},
	    {"sources of energy and power", "power.usable", NULL},
	};
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);

	facts->cells = ARENA_ARRAY(doc->arena, 2 * (ARRAY_SIZE(rows) + 4), const char *);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		put(facts, rows[i].label, rows[i].make ? rows[i].make(facts) : fact(facts, rows[i].name));
	put(facts, "vulnerable", vulnerabilities(facts, "Vulnerable", true));
	put(facts, "mitigated", vulnerabilities(facts, "Mitigation", false));
	put(facts, "not affected by", vulnerabilities(facts, "Not affected", false));
	put(facts, "hvtune", session->version);
	*table =
	    (struct doc_table){.caption = "What the host is", .heads = heads, .cells = facts->cells, 2, facts->rows, 2};
	doc_add_table(doc, table);
}

/* Everything that was noted, folded away. */
static void add_all(struct doc *doc, const struct facts *facts)
{
	static const char *const heads[] = {"fact", "value"};
	const char **cells = ARENA_ARRAY(doc->arena, 2 * json_object_size(facts->json) + 1, const char *), *key;
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);
	json_t *value;
	int rows = 0;

	json_object_foreach ((json_t *)facts->json, key, value) {
		if (!json_is_string(value))
			continue;
		const char **row = &cells[(size_t)rows++ * 2];

		row[0] = arena_strdup(doc->arena, key);
		row[1] = arena_strdup(doc->arena, json_string_value(value));
	}
	*table = (struct doc_table){"All facts about the host that were noted", heads, cells, 2, rows, 2};
	doc_add_folded(doc, table);
}

bool report_result_host(struct doc *doc, const struct store_session *session)
{
	json_t *json = result_json(session->facts);
	const char *summary = json_string_value(json_object_get(json, "host"));
	struct facts facts = {.arena = doc->arena, .json = json};

	if (summary) {
		doc_add(doc, DOC_TEXT,
			arena_printf(doc->arena, "%s: %s", session->host ? session->host : "a host", summary));
		add_main(doc, &facts, session);
		add_all(doc, &facts);
	}
	json_decref(json);
	return summary;
}

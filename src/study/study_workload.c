/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the workloads of a study file. */
#include <errno.h>
#include <regex.h>

#include "study_named.h"
#include "study_reader.h"
#include "text.h"

/* "more" or "less". */
static void read_better(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const char *const names[] = {"less", "more"};
	int at = study_choice(reader, node, names, ARRAY_SIZE(names), "a direction");

	if (at >= 0)
		*(bool *)into = at == 1;
}

struct metric_keys {
	const char *json, *regex, *unit;
	bool more;
};

static void check_regex(struct study_reader *reader, const struct study_node *node, const char *pattern)
{
	char text[160];
	regex_t regex;
	int r = regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE);

	if (r) {
		(void)regerror(r, &regex, text, sizeof(text));
		study_mistake(reader, node, "\"%s\" is no extended regular expression: %s", pattern, text);
		return;
	}
	if (!regex.re_nsub)
		study_mistake(reader, node, "\"%s\" has no group in parentheses; the first one is the value", pattern);
	regfree(&regex);
}

static void read_metric(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const struct study_field fields[] = {
	    {"json", study_read_text, offsetof(struct metric_keys, json), false},
	    {"regex", study_read_text, offsetof(struct metric_keys, regex), false},
	    {"unit", study_read_text, offsetof(struct metric_keys, unit), false},
	    {"better", read_better, offsetof(struct metric_keys, more), false},
	};
	struct study_metric *metric = into;
	struct metric_keys keys = {0};

	if (node->kind == STUDY_SCALAR && text_equal(node->text, "wall"))
		return;
	if (node->kind == STUDY_SCALAR) {
		study_mistake(reader, node, "\"%s\" is no metric: wall, or keys (json or regex)", node->text);
		return;
	}
	if (!study_read_fields(reader, node, fields, ARRAY_SIZE(fields), &keys, "a metric"))
		return;
	if (!keys.json == !keys.regex) {
		study_mistake(reader, node, "a metric is found by json or regex; %s here",
			      keys.json ? "there are both" : "there is neither");
		return;
	}
	metric->line = node->line;
	metric->kind = keys.json ? STUDY_JSON : STUDY_REGEX;
	metric->pattern = keys.json ? keys.json : keys.regex;
	metric->unit = keys.unit ? keys.unit : "";
	metric->more_is_better = keys.more;
	if (keys.json && *keys.json != '/')
		study_mistake(reader, study_node_get(node, "json", NULL),
			      "\"%s\" is no JSON pointer; it begins with a slash, as /end/sum/seconds", keys.json);
	if (keys.regex)
		check_regex(reader, study_node_get(node, "regex", NULL), keys.regex);
	/* Whether more is better cannot be guessed, and a wrong guess would choose the worst. */
	if (!study_node_get(node, "better", NULL))
		study_mistake(reader, node, "a metric needs \"better: more\" or \"better: less\"");
}

static void read_packages(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char **names = ARENA_ARRAY(reader->arena, node->item_count + 1, const char *);

	if (node->kind != STUDY_LIST) {
		study_mistake(reader, node, "packages are a list, \"[gcc, make]\"");
		return;
	}
	for (size_t i = 0; i < node->item_count; i++) {
		names[i] = "?";
		study_read_name(reader, node->items[i], &names[i]);
	}
	*(const char *const **)into = names;
}

/* host, vm:NAME (NAME alone too) or ssh:USER@MACHINE. */
void study_read_on(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const char places[] = "host, vm:NAME or ssh:USER@MACHINE";
	struct study_workload *workload = into;
	const char *text = study_scalar(reader, node, places);
	const char *name = text;

	if (!text || text_equal(text, "host"))
		return;
	if (text_starts(text, "ssh:")) {
		workload->ssh = text + strlen("ssh:");
		/* What begins with a dash would be an option of ssh(1). */
		if (!*workload->ssh || *workload->ssh == '-' || strpbrk(workload->ssh, " \t\n"))
			study_mistake(reader, node, "\"%s\" names no machine; ssh:USER@MACHINE does", text);
		return;
	}
	if (text_starts(text, "vm:"))
		name = text + strlen("vm:");
	if (strchr(name, ':') || !*name)
		study_mistake(reader, node, "\"%s\" is no place to run; it is %s", text, places);
	else
		workload->on = name;
}

static void read_workload(struct study_reader *reader, const struct study_node *node, struct study_workload *workload)
{
	static const struct study_field fields[] = {
	    {"run", study_read_command, offsetof(struct study_workload, run), true},
	    {"setup", study_read_command, offsetof(struct study_workload, setup), false},
	    {"prepare", study_read_command, offsetof(struct study_workload, prepare), false},
	    {"cleanup", study_read_command, offsetof(struct study_workload, cleanup), false},
	    {"directory", study_read_text, offsetof(struct study_workload, directory), false},
	    {"on", study_read_on, 0, false},
	    {"group", study_read_name, offsetof(struct study_workload, group), false},
	    {"packages", read_packages, offsetof(struct study_workload, packages), false},
	    {"timeout", study_read_duration, offsetof(struct study_workload, timeout_s), false},
	    {"takes", study_read_duration, offsetof(struct study_workload, takes_s), false},
	    {"weight", study_read_weight, offsetof(struct study_workload, weight), false},
	    {"metric", read_metric, offsetof(struct study_workload, metric), false},
	};

	workload->line = node->line;
	workload->weight = 1;
	workload->metric.unit = "s";
	/* The short form: the command alone. */
	if (node->kind != STUDY_MAP) {
		study_read_command(reader, node, &workload->run);
		return;
	}
	(void)study_read_fields(reader, node, fields, ARRAY_SIZE(fields), workload, "a workload");
	if (workload->timeout_s > 0 && workload->takes_s >= workload->timeout_s)
		study_mistake(reader, study_node_get(node, "timeout", NULL),
			      "\"timeout\" ends a run of %.0f s after %.0f s (\"takes\" says how long it is)",
			      workload->takes_s, workload->timeout_s);
	if (workload->directory && *workload->directory != '/')
		study_mistake(reader, study_node_get(node, "directory", NULL),
			      "\"%s\" is no absolute path; a study goes on after a boot, from another directory",
			      workload->directory);
}

/* A list: workloads by name, and groups of them as @group. */
static void read_named(struct study_reader *reader, const struct study_node *node)
{
	const struct study_workload *all;
	size_t count = study_named(reader->arena, &all);
	const char **names = ARENA_ARRAY(reader->arena, 2 * count + 1, const char *);
	struct study *study = reader->study;

	for (size_t w = 0; w < count; w++) {
		names[2 * w] = all[w].name;
		names[2 * w + 1] = arena_printf(reader->arena, "@%s", all[w].group);
	}
	study->workloads = ARENA_ARRAY(reader->arena, count * (node->item_count + 1), struct study_workload);
	for (size_t i = 0; i < node->item_count; i++) {
		const char *name =
		    study_scalar(reader, node->items[i], "the name of a workload, or of a group as @name");
		bool found = false;

		for (size_t w = 0; name && w < count; w++) {
			bool there = false;

			if (!(*name == '@' ? text_equal(all[w].group, name + 1) : text_equal(all[w].name, name)))
				continue;
			found = true;
			for (size_t j = 0; j < study->workload_count; j++)
				there = there || text_equal(study->workloads[j].name, all[w].name);
			if (there)
				continue;
			study->workloads[study->workload_count] = all[w];
			study->workloads[study->workload_count++].line = node->items[i]->line;
		}
		if (name && !found) {
			study_mistake(reader, node->items[i], "there is no workload \"%s\"%s", name,
				      study_near(reader, name, names, 2 * count));
			study_advice(reader, "`hvtune workloads` lists those that are known by name");
		}
	}
}

void study_read_workloads(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study *study = reader->study;

	(void)into;
	if (node->kind == STUDY_LIST && node->item_count) {
		read_named(reader, node);
		return;
	}
	if (node->kind != STUDY_MAP || !node->item_count) {
		study_mistake(reader, node, "workloads are names with their commands, \"build: make -j8\"");
		return;
	}
	if (node->item_count > STUDY_MOST_WORKLOADS) {
		study_mistake(reader, node, "%zu workloads; a study has at most %d", node->item_count,
			      STUDY_MOST_WORKLOADS);
		return;
	}
	study->workloads = ARENA_ARRAY(reader->arena, node->item_count + 1, struct study_workload);
	study->workload_count = node->item_count;
	for (size_t i = 0; i < node->item_count; i++) {
		study_read_name(reader, node->keys[i], &study->workloads[i].name);
		read_workload(reader, node->items[i], &study->workloads[i]);
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the description of the host in a report: the facts that were kept with the session, as `hvtune show --json`
 * prints them. Those without a value are left out: what is missing on a host is for `hvtune show` to tell.
 */
#include <math.h>

#include "report.h"
#include "report_result.h"
#include "report_scale.h"
#include "text.h"

struct facts {
	struct arena *arena;
	const char **cells;
	size_t rows;
};

/* Sizes, times and clocks as people read them; other numbers as they are. */
static const char *number_text(struct arena *arena, double value, const char *unit)
{
	static const struct {
		const char *unit, *base;
		double size;
	} units[] = {{"kHz", "Hz", 1e3}, {"MHz", "Hz", 1e6}, {"KiB", "B", 1024}, {"B", "B", 1},
		     {"us", "s", 1e-6},	 {"ns", "s", 1e-9},  {"ms", "s", 1e-3}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (text_equal(units[i].unit, unit))
			return scale_plain(arena, value * units[i].size, NAN, units[i].base);
	return arena_printf(arena, "%.15g%s%s", value, unit ? " " : "", unit ? unit : "");
}

static const char *value_text(struct arena *arena, const json_t *row)
{
	const json_t *value = json_object_get(row, "value");
	const char *unit = json_string_value(json_object_get(row, "unit"));

	if (json_is_number(value))
		return number_text(arena, json_number_value(value), unit);
	if (json_is_boolean(value))
		return json_is_true(value) ? "yes" : "no";
	if (!json_is_string(value))
		return NULL;
	/* An empty list of CPUs. */
	return *json_string_value(value) ? arena_strdup(arena, json_string_value(value)) : "none";
}

static void add_row(struct facts *facts, const json_t *row)
{
	const char *label = json_string_value(json_object_get(row, "label"));
	const char *cpus = json_string_value(json_object_get(row, "cpus"));
	const char *value;

	if (!label || !text_equal(json_string_value(json_object_get(row, "state")), "value"))
		return;
	value = value_text(facts->arena, row);
	if (!value)
		return;
	facts->cells[facts->rows * 2] = arena_strdup(facts->arena, label);
	facts->cells[facts->rows * 2 + 1] = cpus ? arena_printf(facts->arena, "%s (CPUs %s)", value, cpus) : value;
	facts->rows++;
}

static const char *title_of(const char *subject)
{
	const char *name, *title;

	for (size_t i = 0; report_subject_at(i, &name, &title); i++)
		if (text_equal(name, subject))
			return title;
	return subject;
}

static void add_subject(struct doc *doc, const char *subject, const json_t *rows)
{
	static const char *const heads[] = {"fact", "value"};
	struct facts facts = {.arena = doc->arena};
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);
	json_t *row;
	size_t i;

	facts.cells = ARENA_ARRAY(doc->arena, json_array_size(rows) * 2 + 2, const char *);
	json_array_foreach (rows, i, row)
		add_row(&facts, row);
	*table =
	    (struct doc_table){arena_strdup(doc->arena, title_of(subject)), heads, facts.cells, 2, (int)facts.rows, 2};
	doc_add_table(doc, table);
}

bool report_result_host(struct doc *doc, const char *facts)
{
	json_t *json = facts ? json_loads(facts, 0, NULL) : NULL, *subjects = json_object_get(json, "facts"), *rows;
	const char *subject, *summary = json_string_value(json_object_get(json, "host"));
	bool understood = json_is_object(subjects);

	if (understood && summary)
		doc_add(doc, DOC_TEXT, arena_strdup(doc->arena, summary));
	json_object_foreach (subjects, subject, rows)
		add_subject(doc, subject, rows);
	json_decref(json);
	return understood;
}

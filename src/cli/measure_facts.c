/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts about the host that are kept with what was measured on it. */
#include "measure.h"
#include "report.h"
#include "text.h"

/* "12 KiB" of {"name", "value", "unit"}; NULL of one without a value. */
static const char *fact_value(struct arena *arena, const json_t *fact)
{
	const json_t *value = json_object_get(fact, "value");
	const char *unit = json_string_value(json_object_get(fact, "unit")), *kept;
	char *text;

	if (!value || json_is_null(value))
		return NULL;
	text = json_is_string(value) ? strdup(json_string_value(value))
				     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	kept = arena_printf(arena, "%s%s%s", text ? text : "", unit && *unit ? " " : "", unit ? unit : "");
	free(text);
	return kept;
}

/* A file of a source of energy says that it may be read; what it is worth is for the meters to say, who have read it.
 */
static const char *judged(const struct measure *measure, const json_t *fact, const char *value)
{
	const char *name = json_string_value(json_object_get(fact, "name"));
	const char *place = json_string_value(json_object_get(fact, "source"));
	const struct meter_source *source =
	    text_equal(name, "power.usable") && measure->meters ? meter_source_of(measure->meters, place) : NULL;

	if (!value || !source || source->state == METER_VALUE)
		return value;
	return arena_printf(measure->arena, "%s%s%s", meter_state_name(source->state), source->why ? ": " : "",
			    source->why ? source->why : "");
}

static const char *text_in(const json_t *list, size_t index, const char *key)
{
	return json_string_value(json_object_get(json_array_get(list, index), key));
}

static bool is_alone(const json_t *list, size_t index)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (i != index && text_equal(text_in(list, i, "name"), text_in(list, index, "name")))
			return false;
	return true;
}

/* Is there one of its name and label in another section? "Total" of the hugepages of each size. */
static bool is_in_sections(const json_t *list, size_t index)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (i != index && text_equal(text_in(list, i, "name"), text_in(list, index, "name")) &&
		    text_equal(text_in(list, i, "label"), text_in(list, index, "label")) &&
		    text_in(list, index, "section") &&
		    !text_equal(text_in(list, i, "section"), text_in(list, index, "section")))
			return true;
	return false;
}

static void add_facts(const struct measure *measure, json_t *flat, const json_t *list)
{
	struct arena *arena = measure->arena;
	static const char about[] = "power.usable idle.state cmdline.word kvm.parameter daemons.running device";
	size_t index;
	json_t *fact;

	json_array_foreach (list, index, fact) {
		const char *name = json_string_value(json_object_get(fact, "name"));
		const char *label = json_string_value(json_object_get(fact, "label"));
		const char *value = judged(measure, fact, fact_value(arena, fact));
		const char *cpus = json_string_value(json_object_get(fact, "cpus")), *before;

		if (!name || !value)
			continue;
		if (cpus)
			value = arena_printf(arena, "%s (CPUs %s)", value, cpus);
		if (label && is_in_sections(list, index))
			label = arena_printf(arena, "%s, %s", text_in(list, index, "section"), label);
		/*
		 * Several of one name are told apart by their labels, and those of one label are one text. Where the
		 * label is what the fact is about, one alone has it too.
		 */
		if (label && (text_has_word(about, " ", name) || !is_alone(list, index)))
			name = arena_printf(arena, "%s %s", name, label);
		before = json_string_value(json_object_get(flat, name));
		if (before)
			value = arena_printf(arena, "%s; %s", before, value);
		json_object_set_new(flat, name, report_json_text(value));
	}
}

const char *measure_facts(const struct measure *measure)
{
	json_t *all = report_facts_json(measure->host, NULL, NULL, 0), *flat = json_object();
	const char *key;
	json_t *list;

	json_object_set_new(flat, "host", report_json_text(host_summary(measure->host, measure->arena)));
	json_object_foreach (json_object_get(all, "facts"), key, list) {
		add_facts(measure, flat, list);
	}
	json_decref(all);
	return measure_json_text(measure->arena, flat);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the common parts of JSON output. */
#include <errno.h>

#include "config.h"
#include "report.h"
#include "text.h"

json_t *report_json_text(const char *text)
{
	json_t *json = text ? json_string(text) : json_null();

	/* Foreign texts need not be UTF-8: what can be read of them is kept. */
	if (!json) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

		json = json_string(text_visible(arena, text));
	}
	return json;
}

json_t *report_json_fact(const struct fact *fact)
{
	static const char *const states[] = {[FACT_ABSENT] = "absent",
					     [FACT_VALUE] = "value",
					     [FACT_UNREADABLE] = "unreadable",
					     [FACT_IMPLAUSIBLE] = "implausible"};
	static const char *const units[] = {
	    [UNIT_KHZ] = "kHz", [UNIT_MHZ] = "MHz", [UNIT_KIB] = "KiB",	 [UNIT_BYTES] = "B",  [UNIT_US] = "us",
	    [UNIT_NS] = "ns",	[UNIT_MS] = "ms",   [UNIT_COUNT] = NULL, [UNIT_PERCENT] = "%"};
	json_t *json = json_object();
	json_t *value = json_null();

	if (fact_known(fact) && fact->type == FACT_NUMBER)
		value = json_integer(fact->number);
	else if (fact_known(fact) && fact->type == FACT_SWITCH)
		value = json_boolean(fact->number);
	else if (fact_known(fact) && fact->type == FACT_TEXT)
		value = report_json_text(fact->text);
	else if (fact_known(fact)) {
		struct arena *arena = arena_new();

		value = json_string(cpuset_format(arena, fact->cpus));
		(void)arena_free(arena);
	}
	json_object_set_new(json, "name", report_json_text(fact->name));
	json_object_set_new(json, "state", json_string(states[fact->state]));
	json_object_set_new(json, "value", value);
	if (fact_known(fact) && fact->type == FACT_NUMBER && (size_t)fact->unit < ARRAY_SIZE(units) &&
	    units[fact->unit])
		json_object_set_new(json, "unit", json_string(units[fact->unit]));
	json_object_set_new(json, "source", report_json_text(fact->source));
	if (fact->note)
		json_object_set_new(json, "note", report_json_text(fact->note));
	return json;
}

json_t *report_json_start(const char *command, const struct host *host)
{
	struct arena *arena = arena_new();
	json_t *json = json_object();

	json_object_set_new(json, "schema", json_integer(REPORT_SCHEMA));
	json_object_set_new(json, "command", json_string(command));
	json_object_set_new(json, "hvtune", json_string(HVTUNE_VERSION));
	if (host)
		json_object_set_new(json, "host", report_json_text(host_summary(host, arena)));
	(void)arena_free(arena);
	return json;
}

int report_json_print(FILE *out, json_t *json)
{
	int r = json_dumpf(json, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);

	json_decref(json);
	if (r < 0 || fputc('\n', out) == EOF || fflush(out) != 0)
		return -EIO;
	return 0;
}

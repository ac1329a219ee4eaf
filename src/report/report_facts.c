/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns facts as text and JSON. */
#include "report.h"
#include "text.h"

static bool is_chosen(const struct host_subject *subject, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(names[i], subject->name))
			return true;
	return !names || count == 0;
}

void report_facts(const struct term *term, const struct host *host, const char *const *names, size_t count)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	size_t subject_count;
	const struct host_subject *subjects = host_subjects(&subject_count);

	for (size_t i = 0; i < subject_count; i++) {
		struct host_rows rows = {.arena = arena};

		if (!is_chosen(&subjects[i], names, count))
			continue;
		subjects[i].rows(host, &rows);
		(void)fprintf(term->out, "%s%s%s\n", term_on(term, TERM_BOLD), subjects[i].title,
			      term_on(term, TERM_PLAIN));
		for (size_t j = 0; j < rows.count; j++)
			(void)fprintf(term->out, "  %-28s %s\n", rows.rows[j].label,
				      fact_shown(arena, &rows.rows[j].fact));
	}
}

json_t *report_facts_json(const struct host *host, const char *const *names, size_t count)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	json_t *json = report_json_start("show", host);
	json_t *all = json_object();
	size_t subject_count;
	const struct host_subject *subjects = host_subjects(&subject_count);

	for (size_t i = 0; i < subject_count; i++) {
		struct host_rows rows = {.arena = arena};
		json_t *list = json_array();

		if (!is_chosen(&subjects[i], names, count)) {
			json_decref(list);
			continue;
		}
		subjects[i].rows(host, &rows);
		for (size_t j = 0; j < rows.count; j++) {
			json_t *fact = report_json_fact(&rows.rows[j].fact);

			json_object_set_new(fact, "label", json_string(rows.rows[j].label));
			if (rows.rows[j].section)
				json_object_set_new(fact, "section", json_string(rows.rows[j].section));
			json_array_append_new(list, fact);
		}
		json_object_set_new(all, subjects[i].name, list);
	}
	json_object_set_new(json, "facts", all);
	return json;
}

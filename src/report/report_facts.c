/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns facts as text and JSON. */
#include "report.h"
#include "text.h"

static bool is_chosen(const char *subject, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(names[i], subject))
			return true;
	return !names || count == 0;
}

bool report_subject_at(size_t index, const char **ret_name, const char **ret_title)
{
	size_t count;
	const struct host_subject *subjects = host_subjects(&count);

	if (index > count)
		return false;
	*ret_name = index < count ? subjects[index].name : "vms";
	*ret_title = index < count ? subjects[index].title : "Virtual machines";
	return true;
}

/* The rows of a subject, when it is chosen and there is something to ask. */
static bool rows_of(const struct host *host, const struct vm_joined *vms, size_t index, const char *const *names,
		    size_t count, struct host_rows *rows)
{
	size_t of_host;
	const struct host_subject *subjects = host_subjects(&of_host);

	if (!is_chosen(index < of_host ? subjects[index].name : "vms", names, count) || (index == of_host && !vms))
		return false;
	if (index < of_host)
		subjects[index].rows(host, rows);
	else
		vm_joined_rows(host, vms, rows);
	return true;
}

enum { LABEL_INDENT = 4, LABEL_LONGEST = 32 };

static int label_width(const struct host_rows *rows)
{
	int width = 16;

	for (size_t i = 0; i < rows->count; i++)
		width = MAX_OF(width, term_columns(rows->rows[i].label));
	return MIN_OF(width, LABEL_LONGEST);
}

static enum term_colour state_colour(const struct fact *fact)
{
	static const enum term_colour colours[] = {[FACT_ABSENT] = TERM_DIM,
						   [FACT_VALUE] = TERM_PLAIN,
						   [FACT_UNREADABLE] = TERM_YELLOW,
						   [FACT_IMPLAUSIBLE] = TERM_RED};

	return colours[fact->state];
}

static void print_source(const struct term *term, int indent, bool started, const char *source)
{
	(void)fputs(term_on(term, TERM_DIM), term->out);
	term_flow(term, indent, started, source);
	(void)fputs(term_on(term, TERM_PLAIN), term->out);
}

/* "governor   powersave (CPUs 0-63)"; the label only where it differs from the row above. */
static void print_row(const struct term *term, struct arena *arena, const struct host_row *row, bool repeated,
		      int width, bool sources)
{
	/* Labels and values may be names that strangers chose: of devices, options, VMs. */
	const char *label = repeated ? "" : text_visible(arena, row->label);
	/* The row of what is missing carries its list as it stands. */
	bool list = row->fact.state == FACT_ABSENT && row->fact.raw;
	const char *shown = list ? row->fact.raw : fact_shown(arena, &row->fact);
	enum term_colour colour = state_colour(&row->fact);
	int gap = MAX_OF(width - term_columns(label), 0) + 2;
	int column = LABEL_INDENT + MAX_OF(width, term_columns(label)) + 2;
	int indent = LABEL_INDENT + width + 2; /* of what goes on below: a name of a megabyte does not push it away */

	if (row->cpus)
		shown = arena_printf(arena, "%s (CPUs %s)", shown, *row->cpus ? row->cpus : "none");
	shown = *shown ? shown : "(empty)";
	(void)fprintf(term->out, "%*s%s%*s%s", LABEL_INDENT, "", label, gap, "",
		      colour == TERM_PLAIN ? "" : term_on(term, colour));
	if (sources && row->fact.source &&
	    column + term_columns(shown) + 2 + term_columns(row->fact.source) <= term->width) {
		(void)fprintf(term->out, "%s%s  ", text_visible(arena, shown),
			      colour == TERM_PLAIN ? "" : term_on(term, TERM_PLAIN));
		print_source(term, indent, true, row->fact.source);
		return;
	}
	term_flow(term, indent, true, shown);
	if (colour != TERM_PLAIN)
		(void)fputs(term_on(term, TERM_PLAIN), term->out);
	if (sources && row->fact.source)
		print_source(term, indent, false, row->fact.source);
}

/* Rows that only say that a thing is not there are told of together, at the end of their section. */
static bool is_missing(const struct host_row *row)
{
	return row->fact.state == FACT_ABSENT && !row->fact.note && !row->cpus;
}

static bool same_section(const struct host_row *a, const struct host_row *b)
{
	return a->section == b->section || text_equal(a->section, b->section);
}

/* `count` rows of one section. */
static void print_section(const struct term *term, struct arena *arena, const struct host_row *rows, size_t count,
			  int width, bool sources)
{
	const char *missing = NULL, *above = NULL;

	if (rows[0].section)
		(void)fprintf(term->out, "  %s%s%s\n", term_on(term, TERM_CYAN), text_visible(arena, rows[0].section),
			      term_on(term, TERM_PLAIN));
	for (size_t i = 0; i < count; i++) {
		/* With sources, where it was looked for in vain is what is asked. */
		if (is_missing(&rows[i]) && !sources) {
			missing = missing ? arena_printf(arena, "%s, %s", missing, rows[i].label) : rows[i].label;
			continue;
		}
		print_row(term, arena, &rows[i], text_equal(above, rows[i].label), width, sources);
		above = rows[i].label;
	}
	if (missing)
		print_row(term, arena,
			  &(struct host_row){.label = "Absent",
					     .fact = {.state = FACT_ABSENT, .type = FACT_TEXT, .raw = missing}},
			  false, width, false);
}

static void print_rows(const struct term *term, struct arena *arena, const struct host_rows *rows, bool sources)
{
	int width = label_width(rows);

	for (size_t start = 0, end; start < rows->count; start = end) {
		for (end = start + 1; end < rows->count && same_section(&rows->rows[start], &rows->rows[end]);)
			end++;
		print_section(term, arena, &rows->rows[start], end - start, width, sources);
	}
}

void report_facts(const struct term *term, const struct host *host, const struct vm_joined *vms,
		  const char *const *names, size_t count, bool sources)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *name, *title;
	bool first = true;

	for (size_t i = 0; report_subject_at(i, &name, &title); i++) {
		struct host_rows rows = {.arena = arena};

		if (!rows_of(host, vms, i, names, count, &rows))
			continue;
		(void)fprintf(term->out, "%s%s%s%s\n", first ? "" : "\n", term_on(term, TERM_BOLD), title,
			      term_on(term, TERM_PLAIN));
		first = false;
		print_rows(term, arena, &rows, sources);
	}
}

json_t *report_facts_json(const struct host *host, const struct vm_joined *vms, const char *const *names, size_t count)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	json_t *json = report_json_start("show", host);
	json_t *all = json_object();
	const char *name, *title;

	for (size_t i = 0; report_subject_at(i, &name, &title); i++) {
		struct host_rows rows = {.arena = arena};

		if (!rows_of(host, vms, i, names, count, &rows))
			continue;
		json_t *list = json_array();

		for (size_t j = 0; j < rows.count; j++) {
			json_t *fact = report_json_fact(&rows.rows[j].fact);

			json_object_set_new(fact, "label", report_json_text(rows.rows[j].label));
			if (rows.rows[j].cpus)
				json_object_set_new(fact, "cpus", json_string(rows.rows[j].cpus));
			if (rows.rows[j].section)
				json_object_set_new(fact, "section", report_json_text(rows.rows[j].section));
			json_array_append_new(list, fact);
		}
		json_object_set_new(all, name, list);
	}
	json_object_set_new(json, "facts", all);
	return json;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the table of knobs as text and JSON, with what they hold on a machine. */
#include "report.h"
#include "report_knob.h"
#include "text.h"

enum { NAME = 26, PART = 13 };

static const char *const scopes[] = {
    [KNOB_RUNTIME] = "the running kernel; a reboot clears it",
    [KNOB_CONFIG] = "a file or service; it outlives a reboot",
    [KNOB_BOOT] = "the next boots",
    [KNOB_MODULE] = "the next time that the module is loaded",
    [KNOB_VM] = "a VM",
    [KNOB_GUEST] = "a guest",
};

static const char *const scope_words[] = {
    [KNOB_RUNTIME] = "runtime", [KNOB_CONFIG] = "config", [KNOB_BOOT] = "boot",
    [KNOB_MODULE] = "module",	[KNOB_VM] = "vm",	  [KNOB_GUEST] = "guest",
};

static const char *const units[] = {
    [KNOB_OF_HOST] = "",	[KNOB_OF_CPUS] = "a list of CPUs",	 [KNOB_OF_NODES] = "a list of nodes",
    [KNOB_OF_NAMES] = "a name", [KNOB_OF_IRQS] = "a list of interrupts", [KNOB_OF_SOCKETS] = "a list of sockets",
};

static bool same_value(const void *data, size_t a, size_t b)
{
	const struct knob_points *points = data;
	const char *one = points->items[a].old, *other = points->items[b].old;

	return one == other || text_equal(one, other);
}

/* "powersave (CPUs 0-3), performance (CPU 4)"; members of a family with their names. */
static const char *values_text(struct arena *arena, const struct knob *knob, const struct knob_points *points)
{
	const struct knob_point **list = ARENA_ARRAY(arena, points->count + 1, const struct knob_point *);
	struct report_fold *folds;
	const char *text = "";
	size_t count;

	for (size_t i = 0; i < points->count; i++)
		list[i] = &points->items[i];
	count = report_fold(arena, list, points->count, same_value, points, &folds);
	for (size_t i = 0; i < count; i++) {
		const struct knob_point *point = folds[i].first;
		const char *value = !point->old ? "absent" : strchr(point->old, '\n') ? "a text" : point->old;
		bool member = !text_equal(point->name, knob->name);

		text = arena_printf(arena, "%s%s%s%s%s%s%s%s", text, i ? ", " : "", member ? point->name : "",
				    member ? " " : "", *value ? value : "(empty)", *folds[i].who ? " (" : "",
				    folds[i].who, *folds[i].who ? ")" : "");
	}
	return text;
}

static void print_part(const struct term *term, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	(void)fprintf(term->out, "  %s%-*s%s", term_on(term, TERM_CYAN), PART - 2, label, term_on(term, TERM_PLAIN));
	term_flow(term, PART, true, text);
}

/* What may be written here: what the machine says, else what the table says. */
static const char *legal_text(struct knob_machine *machine, const struct knob *knob, const struct knob_points *points)
{
	const char *choices = points->count ? knob_choices(machine, &points->items[0]) : NULL;
	const char *words = choices ? choices : knob->words;

	if (knob->least >= knob->most)
		return words ? words : knob->value;
	return arena_printf(machine->arena, "%lld %s%s%s", (long long)knob->least,
			    knob->most == INT64_MAX ? "or more"
						    : arena_printf(machine->arena, "to %lld", (long long)knob->most),
			    words ? ", or one of: " : "", words ? words : "");
}

void report_knob_line(const struct term *term, struct arena *arena, const struct knob *knob,
		      const struct knob_points *points)
{
	(void)fprintf(term->out, "  %s%-*s%s", term_on(term, TERM_BOLD), NAME - 2, knob->name,
		      term_on(term, TERM_PLAIN));
	if (term_columns(knob->name) >= NAME - 2)
		(void)fprintf(term->out, "\n%*s", NAME, "");
	term_flow(term, NAME, true, values_text(arena, knob, points));
	(void)fprintf(term->out, "%*s%s", NAME, "", term_on(term, TERM_DIM));
	term_flow(term, NAME, true, knob->summary);
	(void)fputs(term_on(term, TERM_PLAIN), term->out);
}

void report_knob_page(const struct term *term, struct knob_machine *machine, const struct knob *knob,
		      const struct knob_points *points, const char *absent)
{
	(void)fprintf(term->out, "%s%s%s  ", term_on(term, TERM_BOLD), knob->name, term_on(term, TERM_PLAIN));
	term_flow(term, term_columns(knob->name) + 2, true, knob->summary);
	(void)fputc('\n', term->out);
	print_part(term, "value", knob->value);
	print_part(term, "members", knob->members);
	print_part(term, "here", points->count ? values_text(machine->arena, knob, points) : absent);
	print_part(term, "legal", legal_text(machine, knob, points));
	print_part(term, "@WHERE", units[knob->unit]);
	print_part(term, "of", scopes[knob->scope]);
	print_part(term, "may move", knob->moves);
	print_part(term, "comes with", knob->appears);
	print_part(term, "then", knob->after);
	print_part(term, "costs", knob->hurts);
	print_part(term, "security", knob->hole ? arena_printf(machine->arena, "a hole with: %s", knob->hole) : NULL);
	print_part(term, "written at", knob->written ? knob->written : knob->path);
}

json_t *report_knob_json(struct knob_machine *machine, const struct knob *knob, const struct knob_points *points,
			 const char *absent)
{
	const char *choices = points->count ? knob_choices(machine, &points->items[0]) : NULL;
	json_t *json = json_object(), *list = json_array();

	json_object_set_new(json, "name", json_string(knob->name));
	json_object_set_new(json, "summary", json_string(knob->summary));
	json_object_set_new(json, "value", report_json_text(knob->value));
	json_object_set_new(json, "members", report_json_text(knob->members));
	json_object_set_new(json, "scope", json_string(scope_words[knob->scope]));
	json_object_set_new(json, "lasts", json_boolean(knob_lasts(knob)));
	json_object_set_new(json, "where", json_string(units[knob->unit]));
	json_object_set_new(json, "words", report_json_text(choices ? choices : knob->words));
	json_object_set_new(json, "least", knob->least < knob->most ? json_integer(knob->least) : json_null());
	json_object_set_new(
	    json, "most", knob->least < knob->most && knob->most != INT64_MAX ? json_integer(knob->most) : json_null());
	json_object_set_new(json, "moves", report_json_text(knob->moves));
	json_object_set_new(json, "hurts", report_json_text(knob->hurts));
	json_object_set_new(json, "follows", report_json_text(knob->after));
	json_object_set_new(json, "hole", report_json_text(knob->hole));
	json_object_set_new(json, "path", report_json_text(knob->path));
	json_object_set_new(json, "written", report_json_text(knob->written));
	for (size_t i = 0; i < points->count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:o}", "knob", report_json_text(points->items[i].name),
						"at", report_json_text(points->items[i].where), "label",
						report_json_text(points->items[i].label), "value",
						report_json_text(points->items[i].old)));
	json_object_set_new(json, "points", list);
	json_object_set_new(json, "absent", points->count ? json_null() : report_json_text(absent));
	return json;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns findings as text and JSON. */
#include "report.h"
#include "text.h"

enum { ID_WIDTH = 28, INDENT = 6, EVIDENCE_SHOWN = 4 };

static enum term_colour colour_of(enum advise_severity severity)
{
	static const enum term_colour colours[] = {[ADVISE_FAIL] = TERM_RED,
						   [ADVISE_WARN] = TERM_YELLOW,
						   [ADVISE_ADVICE] = TERM_CYAN,
						   [ADVISE_INFO] = TERM_DIM,
						   [ADVISE_GOOD] = TERM_GREEN};

	return colours[severity];
}

static const char *label_of(enum advise_severity severity)
{
	static const char *const labels[] = {[ADVISE_FAIL] = "FAIL",
					     [ADVISE_WARN] = "WARN",
					     [ADVISE_ADVICE] = "HINT",
					     [ADVISE_INFO] = "info",
					     [ADVISE_GOOD] = "good"};

	return labels[severity];
}

static const char *evidence_line(struct arena *arena, const struct advise_finding *finding)
{
	const char *line = "";

	for (size_t i = 0; i < finding->evidence_count && i < EVIDENCE_SHOWN; i++) {
		const struct advise_evidence *evidence = &finding->evidence[i];
		/* The file that the finding points into has just been named. */
		bool named = finding->line && text_equal(evidence->source, finding->path);

		line = arena_printf(arena, "%s%s%s%s%s", line, i ? "; " : "", named ? "" : evidence->source,
				    named ? "" : " = ", evidence->shown);
	}
	if (finding->evidence_count > EVIDENCE_SHOWN)
		line = arena_printf(arena, "%s; and %zu more", line, finding->evidence_count - EVIDENCE_SHOWN);
	return line;
}

static void print_finding(const struct term *term, struct arena *arena, const struct advise_finding *finding)
{
	const struct advise_rule *rule = finding->rule;
	int id_width = term_columns(rule->id);

	(void)fprintf(term->out, "%s%-4s%s  %s%s%s", term_on(term, colour_of(finding->severity)),
		      label_of(finding->severity), term_on(term, TERM_PLAIN), term_on(term, TERM_BOLD), rule->id,
		      term_on(term, TERM_PLAIN));
	if (id_width + INDENT + 2 + term_columns(finding->title) > term->width) {
		(void)fputc('\n', term->out);
		term_flow(term, INDENT, false, finding->title);
	} else {
		(void)fprintf(term->out, "  %*s%s\n",
			      MAX_OF(0, MIN_OF(ID_WIDTH - id_width,
					       term->width - INDENT - 2 - id_width - term_columns(finding->title))),
			      "", finding->title);
	}
	if (finding->line)
		term_flow(
		    term, INDENT, false,
		    arena_printf(arena, "at %s:%u:%u", finding->path, finding->line, MAX_OF(1U, finding->column)));
	if (finding->evidence_count)
		term_flow(term, INDENT, false, evidence_line(arena, finding));
	if (finding->detail)
		term_flow(term, INDENT, false, finding->detail);
	if (finding->severity >= ADVISE_INFO)
		return;
	if (rule->effect)
		term_flow(term, INDENT, false,
			  arena_printf(arena, "%s [%s%s%s]", rule->effect, advise_basis_name(rule->basis),
				       rule->source ? ": " : "", rule->source ? rule->source : ""));
	if (finding->by_hand)
		term_flow(term, INDENT, false, arena_printf(arena, "put right: %s", finding->by_hand));
	if (rule->experiment)
		term_flow(term, INDENT, false, arena_printf(arena, "decide by measuring: %s", rule->experiment));
	if (rule->hurts && !text_equal(rule->hurts, "nothing") && (finding->by_hand || rule->knobs))
		term_flow(term, INDENT, false, arena_printf(arena, "that costs: %s", rule->hurts));
}

/* "2 warnings, 1 hint, 41 checks fine." with what was left out. */
static void print_counts(const struct term *term, struct arena *arena, const struct advise_result *result, bool all)
{
	static const char *const one[] = {"failure", "warning", "hint", "note", "good point"};
	static const char *const many[] = {"failures", "warnings", "hints", "notes", "good points"};
	const char *line = "";
	size_t hidden = result->count_by_severity[ADVISE_INFO] + result->count_by_severity[ADVISE_GOOD];
	size_t asking_root = 0;

	for (size_t i = ADVISE_FAIL; i <= ADVISE_GOOD; i++) {
		size_t count = result->count_by_severity[i];

		if (count && (i < ADVISE_INFO || all))
			line = arena_printf(arena, "%s%zu %s, ", line, count, count == 1 ? one[i] : many[i]);
	}
	line = arena_printf(arena, "%s%zu checks fine", line, result->fine_count);
	if (result->unknown_count)
		line = arena_printf(arena, "%s, %zu not decidable", line, result->unknown_count);
	if (result->nothing_count + result->not_asked_count)
		line = arena_printf(arena, "%s, %zu without anything to judge here", line,
				    result->nothing_count + result->not_asked_count);
	line = arena_printf(arena, "%s.", line);
	if (hidden && !all)
		line = arena_printf(arena, "%s --all shows %zu more notes.", line, hidden);
	for (size_t i = 0; i < result->unknown_count; i++)
		asking_root += result->unknowns[i].root_helps;
	if (asking_root)
		line = arena_printf(arena, "%s Root would decide %zu more.", line, asking_root);
	term_flow(term, 0, true, line);
}

void report_findings(const struct term *term, const struct host *host, const struct advise_result *result, bool all)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	size_t shown = 0;

	term_flow(term, 0, true, host_summary(host, arena));
	for (size_t i = 0; i < result->finding_count; i++) {
		if (result->findings[i].severity >= ADVISE_INFO && !all)
			continue;
		if (!shown++)
			(void)fputc('\n', term->out);
		print_finding(term, arena, &result->findings[i]);
	}
	for (size_t i = 0; all && i < result->unknown_count; i++)
		term_flow(term, 0, true,
			  arena_printf(arena, "?     %s  not decidable: %s", result->unknowns[i].rule->id,
				       result->unknowns[i].why));
	if (!shown)
		(void)fputs("Nothing wrong found. ", term->out);
	else
		(void)fputc('\n', term->out);
	print_counts(term, arena, result, all);
}

static json_t *finding_json(const struct advise_finding *finding)
{
	const struct advise_rule *rule = finding->rule;
	json_t *evidence = json_array();
	json_t *json;

	for (size_t i = 0; i < finding->evidence_count; i++)
		json_array_append_new(evidence, json_pack("{s:s, s:s}", "source", finding->evidence[i].source, "value",
							  finding->evidence[i].shown));
	json = json_pack("{s:s, s:s, s:s, s:s?, s:o, s:s, s:s?, s:s, s:s?, s:s?, s:s?, s:s?, s:s?}", "id", rule->id,
			 "severity", advise_severity_name(finding->severity), "title", finding->title, "detail",
			 finding->detail, "evidence", evidence, "mechanism", rule->mechanism, "effect", rule->effect,
			 "basis", advise_basis_name(rule->basis), "source", rule->source, "hurts", rule->hurts, "knobs",
			 finding->knobs, "by_hand", finding->by_hand, "experiment", rule->experiment);
	if (json && finding->path)
		json_object_set_new(json, "path", json_string(finding->path));
	if (json && finding->line) {
		json_object_set_new(json, "line", json_integer(finding->line));
		json_object_set_new(json, "column", json_integer(finding->column));
	}
	return json;
}

json_t *report_findings_json(const struct host *host, const struct advise_result *result, const char *command)
{
	json_t *json = report_json_start(command, host);
	json_t *findings = json_array();
	json_t *unknowns = json_array();

	for (size_t i = 0; i < result->finding_count; i++)
		json_array_append_new(findings, finding_json(&result->findings[i]));
	for (size_t i = 0; i < result->unknown_count; i++)
		json_array_append_new(unknowns,
				      json_pack("{s:s, s:s, s:b}", "id", result->unknowns[i].rule->id, "why",
						result->unknowns[i].why, "root_helps", result->unknowns[i].root_helps));
	json_object_set_new(json, "findings", findings);
	json_object_set_new(json, "undecided", unknowns);
	json_object_set_new(json, "fine", json_integer((json_int_t)result->fine_count));
	json_object_set_new(json, "nothing", json_integer((json_int_t)result->nothing_count));
	json_object_set_new(json, "not_asked", json_integer((json_int_t)result->not_asked_count));
	return json;
}

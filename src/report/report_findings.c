/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns findings as text and JSON. */
#include "knob_fix.h"
#include "report.h"
#include "text.h"

enum { INDENT = 8, LABEL_WIDTH = 11, EVIDENCE_SHOWN = 4, FEW_JUDGED = 5 };

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
					     [ADVISE_ADVICE] = "ADVICE",
					     [ADVISE_INFO] = "info",
					     [ADVISE_GOOD] = "good"};

	return labels[severity];
}

/* "why:       ..." */
static void print_part(const struct term *term, const char *label, const char *text)
{
	(void)fprintf(term->out, "%*s%-*s", INDENT, "", LABEL_WIDTH, label);
	term_flow(term, INDENT + LABEL_WIDTH, true, text);
}

static const char *evidence_text(struct arena *arena, const struct advise_finding *finding, size_t at)
{
	const struct advise_evidence *evidence = &finding->evidence[at];
	/* The file that the finding points into has just been named. */
	bool named = finding->line && text_equal(evidence->source, finding->path);

	return named ? evidence->shown : arena_printf(arena, "%s = %s", evidence->source, evidence->shown);
}

/* What was looked at: on one line where it fits, else a line each. */
static void print_evidence(const struct term *term, struct arena *arena, const struct advise_finding *finding)
{
	size_t shown = MIN_OF(finding->evidence_count, (size_t)EVIDENCE_SHOWN);
	const char *line = "";

	for (size_t i = 0; i < shown; i++)
		line = arena_printf(arena, "%s%s%s", line, i ? "; " : "", evidence_text(arena, finding, i));
	if (finding->evidence_count > shown)
		line = arena_printf(arena, "%s; and %zu more", line, finding->evidence_count - shown);
	if (INDENT + LABEL_WIDTH + term_columns(line) <= term->width) {
		print_part(term, "read from:", line);
		return;
	}
	for (size_t i = 0; i < shown; i++)
		print_part(term, i ? "" : "read from:", evidence_text(arena, finding, i));
	if (finding->evidence_count > shown)
		print_part(term, "", arena_printf(arena, "and %zu more", finding->evidence_count - shown));
}

static void print_title(const struct term *term, struct arena *arena, const struct advise_finding *finding)
{
	const char *id = finding->rule->id;
	const char *title = finding->vm ? arena_printf(arena, "%s: %s", finding->vm, finding->title) : finding->title;

	(void)fprintf(term->out, "%s%-6s%s  %s%s%s", term_on(term, colour_of(finding->severity)),
		      label_of(finding->severity), term_on(term, TERM_PLAIN), term_on(term, TERM_BOLD), id,
		      term_on(term, TERM_PLAIN));
	if (INDENT + term_columns(id) + 2 + term_columns(title) > term->width) {
		(void)fputc('\n', term->out);
		term_flow(term, INDENT, false, title);
	} else {
		(void)fputs("  ", term->out);
		term_flow(term, INDENT + term_columns(id) + 2, true, title);
	}
}

/* The command that puts it right, where there is one: not of a file, which stays as it is. */
static void print_fix(const struct term *term, struct arena *arena, const struct advise_finding *finding, bool linted)
{
	struct knob_ask *asks;
	struct err ignored = {0};
	size_t count;
	bool settable = !linted && knob_fix_asks(arena, finding->knobs, &asks, &count, &ignored) == 0;

	if (settable)
		print_part(term, "fix:",
			   arena_printf(arena, "hvtune set %s%s%s", finding->knobs,
					finding->by_hand ? "; by hand: " : "",
					finding->by_hand ? finding->by_hand : ""));
	else if (finding->by_hand)
		print_part(term, "fix:", finding->by_hand);
}

/* In the order in which a person asks: what, why, what it brings, what to do, what that costs; then what it rests on.
 */
static void print_finding(const struct term *term, struct arena *arena, const struct advise_finding *finding,
			  bool linted)
{
	const struct advise_rule *rule = finding->rule;
	bool to_do = finding->severity < ADVISE_INFO;

	print_title(term, arena, finding);
	if (finding->line)
		print_part(term, "at:",
			   arena_printf(arena, "%s:%u:%u", finding->path, finding->line, MAX_OF(1U, finding->column)));
	if (finding->detail)
		print_part(term, "why:", finding->detail);
	if (to_do && finding->effect)
		print_part(term, "effect:",
			   arena_printf(arena, "%s [%s%s%s]", finding->effect, advise_basis_name(rule->basis),
					rule->source ? ": " : "", rule->source ? rule->source : ""));
	if (to_do)
		print_fix(term, arena, finding, linted);
	if (to_do && rule->hurts && !text_equal(rule->hurts, "nothing") && (finding->by_hand || rule->knobs))
		print_part(term, "fix costs:", rule->hurts);
	if (to_do && finding->experiment)
		print_part(term, "measure:", finding->experiment);
	if (finding->evidence_count)
		print_evidence(term, arena, finding);
}

static const char *counted(struct arena *arena, size_t count, const char *one, const char *many)
{
	return arena_printf(arena, "%zu %s", count, count == 1 ? one : many);
}

/* "2 warnings, 1 piece of advice", "Nothing wrong found", "Nothing could be judged: this source has no settings". */
static const char *verdict(struct arena *arena, const struct advise_result *result, bool all)
{
	static const char *const one[] = {"failure", "warning", "piece of advice", "note", "good point"};
	static const char *const many[] = {"failures", "warnings", "pieces of advice", "notes", "good points"};
	size_t judged = result->fine_count + result->finding_count;
	const char *line = NULL;

	for (size_t i = ADVISE_FAIL; i <= ADVISE_GOOD; i++) {
		size_t count = result->count_by_severity[i];

		if (count && (i < ADVISE_INFO || all))
			line = arena_printf(arena, "%s%s%s", line ? line : "", line ? ", " : "",
					    counted(arena, count, one[i], many[i]));
	}
	if (line)
		return line;
	if (judged == 0 && result->unknown_count == 0)
		return "Nothing could be judged: this source has no settings";
	if (judged < FEW_JUDGED && result->nothing_count > judged)
		return "Nothing wrong found, but next to nothing could be judged: this source has few settings";
	return "Nothing wrong found";
}

/* The last line: what was found, what was asked, and what was left out. */
static void print_counts(const struct term *term, struct arena *arena, const struct advise_result *result, bool all)
{
	size_t hidden = result->count_by_severity[ADVISE_INFO] + result->count_by_severity[ADVISE_GOOD];
	size_t elsewhere = result->nothing_count + result->not_asked_count, asking_root = 0;
	const char *line = verdict(arena, result, all);

	if (result->fine_count)
		line = arena_printf(arena, "%s; %s", line,
				    counted(arena, result->fine_count, "check passed", "checks passed"));
	if (result->unknown_count)
		line = arena_printf(arena, "%s, %zu could not be decided", line, result->unknown_count);
	if (elsewhere)
		line = arena_printf(arena, "%s, %zu %s here", line, elsewhere,
				    elsewhere == 1 ? "does not apply" : "do not apply");
	if (result->ignored_count)
		line = arena_printf(arena, "%s; %s", line,
				    counted(arena, result->ignored_count, "finding ignored", "findings ignored"));
	if (result->below_count)
		line = arena_printf(arena, "%s; %zu below --min", line, result->below_count);
	if (hidden && !all)
		line =
		    arena_printf(arena, "%s; --all shows %s", line, counted(arena, hidden, "more note", "more notes"));
	for (size_t i = 0; i < result->unknown_count; i++)
		asking_root += result->unknowns[i].root_helps;
	line = arena_printf(arena, "%s.", line);
	if (asking_root)
		line = arena_printf(arena, "%s Root would decide %zu more.", line, asking_root);
	term_flow(term, 0, true, line);
}

/* Is the vendor known, and another than AMD? */
static bool is_another_vendor(const struct host *host)
{
	return fact_known(&host->cpu.vendor) && !host_is_amd(host);
}

void report_findings(const struct term *term, const struct host *host, const char *also,
		     const struct advise_result *result, bool all)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	bool shown = false;

	term_flow(term, 0, true,
		  also && *also ? arena_printf(arena, "%s %s.", host_summary(host, arena), also)
				: host_summary(host, arena));
	if (is_another_vendor(host))
		term_flow(term, 0, true, "Not an AMD host: only vendor-neutral checks were made.");
	for (size_t i = 0; i < result->finding_count; i++) {
		if (result->findings[i].severity >= ADVISE_INFO && !all)
			continue;
		(void)fputc('\n', term->out);
		print_finding(term, arena, &result->findings[i], result->linted);
		shown = true;
	}
	for (size_t i = 0; all && i < result->unknown_count; i++) {
		if (!i)
			(void)fputc('\n', term->out);
		(void)fprintf(term->out, "%-*s", INDENT, "?");
		term_flow(term, INDENT, true,
			  arena_printf(arena, "%s could not be decided: %s", result->unknowns[i].rule->id,
				       result->unknowns[i].why));
		shown = true;
	}
	if (shown)
		(void)fputc('\n', term->out);
	print_counts(term, arena, result, all);
}

static json_t *finding_json(const struct advise_finding *finding)
{
	const struct advise_rule *rule = finding->rule;
	json_t *evidence = json_array();
	json_t *json;

	for (size_t i = 0; i < finding->evidence_count; i++)
		json_array_append_new(evidence,
				      json_pack("{s:o, s:o}", "source", report_json_text(finding->evidence[i].source),
						"value", report_json_text(finding->evidence[i].shown)));
	json = json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s?, s:s, s:s?, s:s?, s:s?, s:s?, s:s?}", "id", rule->id,
			 "severity", advise_severity_name(finding->severity), "title", report_json_text(finding->title),
			 "detail", report_json_text(finding->detail), "evidence", evidence, "mechanism",
			 rule->mechanism, "effect", finding->effect, "basis", advise_basis_name(rule->basis), "source",
			 rule->source, "hurts", rule->hurts, "knobs", finding->knobs, "by_hand", finding->by_hand,
			 "experiment", finding->experiment);
	if (json && finding->vm)
		json_object_set_new(json, "vm", report_json_text(finding->vm));
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
	json_object_set_new(json, "ignored", json_integer((json_int_t)result->ignored_count));
	json_object_set_new(json, "below", json_integer((json_int_t)result->below_count));
	return json;
}

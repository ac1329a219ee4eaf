/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how a study is shown before it runs. */
#include "report_study.h"

#include <math.h>

#include "report.h"
#include "study_estimate.h"
#include "study_hand.h"
#include "study_named.h"
#include "text.h"

static const struct {
	const char *word;
	enum term_colour colour;
} kinds[] = {
    [STUDY_LEVEL_REFUSED] = {"not here", TERM_RED}, [STUDY_PAIR_REFUSED] = {"not together", TERM_RED},
    [STUDY_LEVEL_TWICE] = {"twice", TERM_RED},	    [STUDY_LEVEL_LATER] = {"not known yet", TERM_YELLOW},
    [STUDY_WORKLOAD] = {"no workload", TERM_RED},   [STUDY_VM] = {"VM", TERM_RED},
    [STUDY_VM_SILENT] = {"VM", TERM_YELLOW},	    [STUDY_NOT_YET] = {"not yet", TERM_RED},
    [STUDY_NO_METER] = {"no meter", TERM_RED},	    [STUDY_NO_IDLE] = {"no meter", TERM_YELLOW},
    [STUDY_NO_DESIGN] = {"no design", TERM_RED},    [STUDY_NOT_HERE] = {"not here", TERM_RED},
    [STUDY_RISK] = {"risk", TERM_YELLOW},
};

static const char *baseline_of(struct arena *arena, const struct study *study, size_t factor)
{
	return arena_printf(arena, "%s=%s", study->factors[factor].name,
			    study->factors[factor].levels[study->baseline[factor]].name);
}

/* Why the baseline's level of a factor cannot be, as far as the problems tell: ", which ..."; "": it can. */
static const char *baseline_fault(struct arena *arena, const struct study *study, const struct study_checked *checked,
				  size_t factor)
{
	const char *own = baseline_of(arena, study, factor);

	for (size_t i = 0; i < checked->count; i++) {
		const struct study_problem *problem = &checked->problems[i];

		if (problem->kind == STUDY_LEVEL_REFUSED && text_equal(problem->what, own))
			return ", which cannot be set here";
		for (size_t f = 0; problem->kind == STUDY_PAIR_REFUSED && f < study->factor_count; f++) {
			const char *other = baseline_of(arena, study, f);

			if (f != factor && (text_equal(problem->what, arena_printf(arena, "%s with %s", own, other)) ||
					    text_equal(problem->what, arena_printf(arena, "%s with %s", other, own))))
				return arena_printf(arena, ", which cannot be set with %s", other);
		}
	}
	return "";
}

static void print_factors(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			  const struct study_checked *checked)
{
	const struct study *study = matrix->study;

	for (size_t i = 0; i < study->factor_count; i++) {
		const struct study_factor *factor = &study->factors[matrix->order[i]];
		const char *levels = "";

		for (size_t l = 0; l < factor->level_count; l++)
			levels = arena_printf(arena, "%s%s%s", levels, l ? ", " : "", factor->levels[l].name);
		(void)fprintf(term->out, "  %-11s ", study_cost_name(factor->cost));
		term_flow(term, 14, true,
			  arena_printf(arena, "%s: %s; baseline %s%s", factor->name, levels,
				       factor->levels[study->baseline[matrix->order[i]]].name,
				       baseline_fault(arena, study, checked, matrix->order[i])));
	}
}

static const char *command_text(struct arena *arena, const struct study_command *command)
{
	const char *text = "";

	for (size_t i = 0; command->words[i]; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? " " : "", command->words[i]);
	return command->shell ? arena_printf(arena, "%s (by the shell)", text) : text;
}

static const char *place_text(struct arena *arena, const struct study_workload *workload)
{
	return workload->on    ? arena_printf(arena, " in VM %s", workload->on)
	       : workload->ssh ? arena_printf(arena, " on %s", workload->ssh)
			       : "";
}

/* Those that are known by name are long scripts; their names say what they are. */
static void print_workloads(const struct term *term, struct arena *arena, const struct study *study)
{
	const char *named = "";

	for (size_t i = 0; i < study->workload_count; i++) {
		const struct study_workload *workload = &study->workloads[i];
		const char *place = place_text(arena, workload);

		if (workload->group && study_named_find(arena, workload->name)) {
			named = arena_printf(arena, "%s%s%s%s", named, *named ? ", " : "", workload->name, place);
			continue;
		}
		(void)fputs("  ", term->out);
		term_flow(term, 4, true,
			  arena_printf(arena, "%s%s: %s", workload->name, place, command_text(arena, &workload->run)));
	}
	if (*named) {
		(void)fputs("  ", term->out);
		term_flow(term, 4, true, arena_printf(arena, "of those known by name: %s", named));
	}
}

/* "from 5 min to 2 h", "5 min" when they are alike. */
static const char *span(struct arena *arena, double from_s, double to_s)
{
	const char *from = text_duration(arena, from_s), *to = text_duration(arena, to_s);

	return text_equal(from, to) ? from : arena_printf(arena, "%s to %s", from, to);
}

const char *report_study_length(struct arena *arena, const struct study_estimate *estimate)
{
	if (estimate->run_s <= 0)
		return NULL;
	if (estimate->whole_most_s <= 0)
		return arena_printf(arena, "%s or more", text_duration(arena, estimate->whole_least_s));
	return span(arena, fmin(estimate->whole_least_s, estimate->whole_most_s), estimate->whole_most_s);
}

/* "5 to 16 times". */
static const char *times(struct arena *arena, const struct study *study)
{
	return study->runs_least == study->runs_most
		   ? text_count(arena, study->runs_most, "time", "times")
		   : arena_printf(arena, "%u to %u times", study->runs_least, study->runs_most);
}

static void print_length(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			 const struct study_estimate *estimate)
{
	const char *length = report_study_length(arena, estimate), *boots = "";
	const char *confirming = matrix->study->confirm ? ", the best confirmed in fresh runs" : "";

	if (estimate->look) {
		term_flow(
		    term, 0, true,
		    arena_printf(arena,
				 "As a race, which looks at %zu first and then measures what tells most%s: %s in all.",
				 estimate->look, confirming, length));
		return;
	}
	if (estimate->most_boots)
		boots = estimate->least_boots == estimate->most_boots
			    ? arena_printf(arena, ", with %s of the host",
					   text_count(arena, (long long)estimate->most_boots, "boot", "boots"))
			    : arena_printf(arena, ", with %zu to %zu boots of the host", estimate->least_boots,
					   estimate->most_boots);
	term_flow(term, 0, true,
		  arena_printf(arena, "In blocks, %s%s: %s in all%s.", times(arena, matrix->study), confirming, length,
			       boots));
}

static void print_costs(const struct term *term, struct arena *arena, const struct study_matrix *matrix)
{
	const struct study *study = matrix->study;
	struct study_estimate estimate;
	const char *text = "";

	study_estimate(matrix, &estimate);
	for (size_t cost = STUDY_COSTS; cost-- > 0;)
		if (estimate.once.count[cost])
			text = arena_printf(arena, "%s%s%zu %s", text, *text ? ", " : "", estimate.once.count[cost],
					    study_cost_name((enum study_cost)cost));
	term_flow(
	    term, 0, true,
	    arena_printf(arena, "Each configuration once, in the cheapest order, takes these switches: %s; about %s%s.",
			 text, text_duration(arena, estimate.once_s),
			 estimate.run_s > 0
			     ? arena_printf(arena, " with the runs of %s each", text_duration(arena, estimate.run_s))
			     : " for them alone"));
	if (estimate.run_s > 0)
		print_length(term, arena, matrix, &estimate);
	else
		term_flow(term, 0, true,
			  "How long a run takes is not said (\"takes: 80 s\"); it is measured with the first one.");
	if (study->budget_s > 0)
		term_flow(term, 0, true, arena_printf(arena, "Budget: %s.", text_duration(arena, study->budget_s)));
}

/* What a person is asked for, and how often; what he has set before is believed. */
static void print_asks(const struct term *term, struct arena *arena, const struct study_matrix *matrix)
{
	const struct study *study = matrix->study;
	struct study_estimate estimate;
	const char *assumed = "", *told = "";

	if (!study_asks(study))
		return;
	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_factor *factor = &study->factors[f];

		if (!factor->ask)
			continue;
		assumed = arena_printf(arena, "%s%s%s is %s", assumed, *assumed ? ", " : "", factor->name,
				       factor->levels[study->baseline[f]].name);
		if (!factor->levels[0].see.line)
			told = arena_printf(arena, "%s%s%s", told, *told ? ", " : "", factor->name);
	}
	study_estimate(matrix, &estimate);
	term_flow(
	    term, 0, true,
	    arena_printf(
		arena,
		"As the study assumes, %s now. A person is asked to change that: %zu %s, the last time to "
		"put it back; how long he takes is not counted. Each time everything else is put back, and "
		"it waits until he says hvtune study resume --done.%s",
		assumed, estimate.least_asks,
		estimate.look ? "times to see each configuration once, in a race oftener if that is worth his time"
		: estimate.most_asks == estimate.least_asks ? "times"
							    : arena_printf(arena, "to %zu times", estimate.most_asks),
		*told
		    ? arena_printf(arena, " Nothing tells whether that is so of %s (\"see\"): his word is taken.", told)
		    : ""));
}

static void print_problems(const struct term *term, struct arena *arena, const struct study *study,
			   const struct study_checked *checked)
{
	for (size_t i = 0, next; i < checked->count; i = next) {
		const struct study_problem *problem = &checked->problems[i];
		const char *what = problem->what;

		/* Levels of a factor often have one reason. */
		for (next = i + 1; next < checked->count && checked->problems[next].kind == problem->kind &&
				   text_equal(checked->problems[next].why, problem->why);
		     next++)
			what = arena_printf(arena, "%s, %s", what, checked->problems[next].what);
		(void)fprintf(term->out, "%s%s%s  ", term_on(term, kinds[problem->kind].colour),
			      kinds[problem->kind].word, term_on(term, TERM_PLAIN));
		/* What hvtune itself or the command line has put in stands in no line. */
		if (problem->line)
			term_flow(term, 4, true,
				  arena_printf(arena, "%s:%u: %s: %s", study->file, problem->line, what, problem->why));
		else
			term_flow(term, 4, true, arena_printf(arena, "%s: %s", what, problem->why));
	}
}

void report_study_check(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			const struct study_checked *checked)
{
	const struct study *study = matrix->study;

	term_flow(term, 0, true,
		  arena_printf(arena, "Study %s%s%s: %s, %s, %s.", study->name, study->title ? ": " : "",
			       study->title ? study->title : "",
			       text_count(arena, (long long)study->factor_count, "factor", "factors"),
			       text_count(arena, (long long)matrix->count, "configuration", "configurations"),
			       text_count(arena, (long long)study->workload_count, "workload", "workloads")));
	(void)fputs("Factors, the dearest to change first:\n", term->out);
	print_factors(term, arena, matrix, checked);
	(void)fputs("Workloads:\n", term->out);
	print_workloads(term, arena, study);
	print_costs(term, arena, matrix);
	print_asks(term, arena, matrix);
	print_problems(term, arena, study, checked);
	term_flow(term, 0, true,
		  checked->possible ? "It can be done on this machine."
				    : "As it is, it cannot be done on this machine.");
}

void report_study_check_json(json_t *json, const struct study_matrix *matrix, const struct study_checked *checked)
{
	static const char *const words[] = {[STUDY_LEVEL_REFUSED] = "level",
					    [STUDY_PAIR_REFUSED] = "pair",
					    [STUDY_LEVEL_TWICE] = "level-twice",
					    [STUDY_LEVEL_LATER] = "level-after-boot",
					    [STUDY_WORKLOAD] = "workload",
					    [STUDY_VM] = "vm",
					    [STUDY_VM_SILENT] = "vm-silent",
					    [STUDY_NOT_YET] = "not-yet",
					    [STUDY_NO_METER] = "no-meter",
					    [STUDY_NO_IDLE] = "no-idle",
					    [STUDY_NOT_HERE] = "not-here",
					    [STUDY_NO_DESIGN] = "no-design",
					    [STUDY_RISK] = "risk"};
	const struct study *study = matrix->study;
	struct study_estimate estimate;
	json_t *factors = json_array(), *workloads = json_array(), *problems = json_array(), *costs = json_object();

	for (size_t i = 0; i < study->factor_count; i++) {
		const struct study_factor *factor = &study->factors[i];
		json_t *levels = json_array();

		for (size_t l = 0; l < factor->level_count; l++)
			json_array_append_new(levels, report_json_text(factor->levels[l].name));
		json_array_append_new(factors,
				      json_pack("{s:o, s:s, s:o, s:o}", "name", report_json_text(factor->name), "cost",
						study_cost_name(factor->cost), "levels", levels, "baseline",
						report_json_text(factor->levels[study->baseline[i]].name)));
	}
	for (size_t i = 0; i < study->workload_count; i++)
		json_array_append_new(workloads, report_json_text(study->workloads[i].name));
	for (size_t i = 0; i < checked->count; i++)
		json_array_append_new(problems,
				      json_pack("{s:s, s:i, s:o, s:o, s:b}", "kind", words[checked->problems[i].kind],
						"line", (int)checked->problems[i].line, "what",
						report_json_text(checked->problems[i].what), "why",
						report_json_text(checked->problems[i].why), "blocks",
						study_problem_blocks(checked->problems[i].kind)));
	study_estimate(matrix, &estimate);
	for (size_t cost = 0; cost < STUDY_COSTS; cost++)
		json_object_set_new(costs, study_cost_name((enum study_cost)cost),
				    json_integer((json_int_t)estimate.once.count[cost]));
	json_object_set_new(json, "estimate",
			    json_pack("{s:o, s:f, s:f, s:o, s:I, s:o, s:I, s:o}", "run_s",
				      estimate.run_s > 0 ? json_real(estimate.run_s) : json_null(), "once_s",
				      estimate.once_s, "least_s", estimate.whole_least_s, "most_s",
				      estimate.whole_most_s > 0 ? json_real(estimate.whole_most_s) : json_null(),
				      "least_boots", (json_int_t)estimate.least_boots, "most_boots",
				      estimate.look ? json_null() : json_integer((json_int_t)estimate.most_boots),
				      "least_asks", (json_int_t)estimate.least_asks, "most_asks",
				      estimate.look ? json_null() : json_integer((json_int_t)estimate.most_asks)));
	json_object_set_new(json, "study", report_json_text(study->name));
	json_object_set_new(json, "configurations", json_integer((json_int_t)matrix->count));
	json_object_set_new(json, "factors", factors);
	json_object_set_new(json, "workloads", workloads);
	json_object_set_new(json, "switches", costs);
	json_object_set_new(json, "problems", problems);
	json_object_set_new(json, "possible", json_boolean(checked->possible));
}

void report_study_mistakes(FILE *out, const struct study_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++)
		err_print(out, &mistakes->items[i]);
}

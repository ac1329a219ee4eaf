/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how a study is shown before it runs. */
#include "report_study.h"

#include "report.h"
#include "text.h"

static const struct {
	const char *word;
	enum term_colour colour;
} kinds[] = {
    [STUDY_LEVEL_REFUSED] = {"not here", TERM_RED},
    [STUDY_PAIR_REFUSED] = {"not together", TERM_RED},
    [STUDY_LEVEL_LATER] = {"not known yet", TERM_YELLOW},
    [STUDY_WORKLOAD] = {"no workload", TERM_RED},
    [STUDY_NOT_YET] = {"not yet", TERM_RED},
    [STUDY_NO_METER] = {"no meter", TERM_RED},
    [STUDY_NO_IDLE] = {"no meter", TERM_YELLOW},
    [STUDY_NO_DESIGN] = {"no design", TERM_RED},
    [STUDY_RISK] = {"risk", TERM_YELLOW},
};

static const char *plural(struct arena *arena, size_t count, const char *one, const char *many)
{
	return arena_printf(arena, "%zu %s", count, count == 1 ? one : many);
}

static const char *minutes(struct arena *arena, double seconds)
{
	if (seconds < 90)
		return arena_printf(arena, "%.0f s", seconds);
	if (seconds < 5400)
		return arena_printf(arena, "%.0f min", seconds / 60);
	return arena_printf(arena, "%.1f h", seconds / 3600);
}

static void print_factors(const struct term *term, struct arena *arena, const struct study_matrix *matrix)
{
	const struct study *study = matrix->study;

	for (size_t i = 0; i < study->factor_count; i++) {
		const struct study_factor *factor = &study->factors[matrix->order[i]];
		const char *levels = "";

		for (size_t l = 0; l < factor->level_count; l++)
			levels = arena_printf(arena, "%s%s%s", levels, l ? ", " : "", factor->levels[l].name);
		(void)fprintf(term->out, "  %-11s ", study_cost_name(factor->cost));
		term_flow(term, 14, true,
			  arena_printf(arena, "%s: %s; baseline %s", factor->name, levels,
				       factor->levels[study->baseline[matrix->order[i]]].name));
	}
}

static const char *command_text(struct arena *arena, const struct study_command *command)
{
	const char *text = "";

	for (size_t i = 0; command->words[i]; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? " " : "", command->words[i]);
	return command->shell ? arena_printf(arena, "%s (by the shell)", text) : text;
}

static void print_workloads(const struct term *term, struct arena *arena, const struct study *study)
{
	for (size_t i = 0; i < study->workload_count; i++) {
		const struct study_workload *workload = &study->workloads[i];

		(void)fputs("  ", term->out);
		term_flow(term, 4, true,
			  arena_printf(arena, "%s%s%s: %s", workload->name, workload->on ? " on " : "",
				       workload->on ? workload->on : "", command_text(arena, &workload->run)));
	}
}

/* Seconds of one run of all workloads; false when one does not say. */
static bool run_seconds(const struct study *study, double *ret)
{
	*ret = 0;
	for (size_t i = 0; i < study->workload_count; i++) {
		if (study->workloads[i].takes_s <= 0)
			return false;
		*ret += study->workloads[i].takes_s;
	}
	return true;
}

static void print_costs(const struct term *term, struct arena *arena, const struct study_matrix *matrix)
{
	const struct study *study = matrix->study;
	struct study_switches switches;
	const char *text = "";
	double seconds = 0, run;

	study_count_switches(matrix, &switches);
	for (size_t cost = STUDY_COSTS; cost-- > 0;) {
		if (!switches.count[cost])
			continue;
		text = arena_printf(arena, "%s%s%zu %s", text, *text ? ", " : "", switches.count[cost],
				    study_cost_name((enum study_cost)cost));
		seconds += (double)switches.count[cost] * study_cost_seconds((enum study_cost)cost);
	}
	term_flow(term, 0, true,
		  arena_printf(arena,
			       "Each configuration once, in the cheapest order, takes these switches: %s; about %s "
			       "for them alone.",
			       text, minutes(arena, seconds)));
	if (run_seconds(study, &run))
		term_flow(term, 0, true,
			  arena_printf(arena, "With the runs (%s each): %s.", minutes(arena, run),
				       minutes(arena, seconds + (double)matrix->count * run)));
	else
		term_flow(term, 0, true,
			  "How long a run takes is not said (\"takes: 80 s\"); it is measured with the first one.");
	if (study->budget_s > 0)
		term_flow(term, 0, true, arena_printf(arena, "Budget: %s.", minutes(arena, study->budget_s)));
}

static void print_problems(const struct term *term, struct arena *arena, const struct study *study,
			   const struct study_checked *checked)
{
	for (size_t i = 0; i < checked->count; i++) {
		const struct study_problem *problem = &checked->problems[i];

		(void)fprintf(term->out, "%s%s%s  ", term_on(term, kinds[problem->kind].colour),
			      kinds[problem->kind].word, term_on(term, TERM_PLAIN));
		term_flow(
		    term, 4, true,
		    arena_printf(arena, "%s:%u: %s: %s", study->file, problem->line, problem->what, problem->why));
	}
}

void report_study_check(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
			const struct study_checked *checked)
{
	const struct study *study = matrix->study;

	term_flow(term, 0, true,
		  arena_printf(arena, "Study %s%s%s: %s, %s, %s.", study->name, study->title ? ": " : "",
			       study->title ? study->title : "",
			       plural(arena, study->factor_count, "factor", "factors"),
			       plural(arena, matrix->count, "configuration", "configurations"),
			       plural(arena, study->workload_count, "workload", "workloads")));
	(void)fputs("Factors, the dearest to change first:\n", term->out);
	print_factors(term, arena, matrix);
	(void)fputs("Workloads:\n", term->out);
	print_workloads(term, arena, study);
	print_costs(term, arena, matrix);
	print_problems(term, arena, study, checked);
	term_flow(term, 0, true,
		  checked->possible ? "It can be done on this machine."
				    : "As it is, it cannot be done on this machine.");
}

void report_study_check_json(json_t *json, const struct study_matrix *matrix, const struct study_checked *checked)
{
	static const char *const words[] = {
	    [STUDY_LEVEL_REFUSED] = "level", [STUDY_PAIR_REFUSED] = "pair",   [STUDY_LEVEL_LATER] = "level-after-boot",
	    [STUDY_WORKLOAD] = "workload",   [STUDY_NOT_YET] = "not-yet",     [STUDY_NO_METER] = "no-meter",
	    [STUDY_NO_IDLE] = "no-idle",     [STUDY_NO_DESIGN] = "no-design", [STUDY_RISK] = "risk"};
	const struct study *study = matrix->study;
	struct study_switches switches;
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
	study_count_switches(matrix, &switches);
	for (size_t cost = 0; cost < STUDY_COSTS; cost++)
		json_object_set_new(costs, study_cost_name((enum study_cost)cost),
				    json_integer((json_int_t)switches.count[cost]));
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

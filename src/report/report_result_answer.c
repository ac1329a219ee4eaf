/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a study said at its end, as it is kept with the results (report_study_verdict_json): what to take and how
 * sure that is, where time and energy stand, idle watts with the traces that settings leave, and the shares. It rests
 * on the whole design, which the runs alone do not tell; a study that was cut has none, and its report goes without.
 */
#include <math.h>
#include <string.h>

#include "report_result_internal.h"
#include "report_scale.h"
#include "report_study.h"
#include "text.h"

/* More points cannot be told apart. */
enum { MOST_POINTS = 200 };

static double number(const json_t *json, const char *name)
{
	const json_t *value = json_object_get(json, name);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *word_or(struct arena *arena, const json_t *json, const char *name, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(json, name));

	return arena_strdup(arena, text ? text : otherwise);
}

static const char *word(struct arena *arena, const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? arena_strdup(arena, text) : NULL;
}

/* {"estimate", "low", "high"}; NAN where it is null. */
static struct stat_interval interval(const json_t *json, const char *name)
{
	const json_t *is = json_object_get(json, name);

	return (struct stat_interval){number(is, "estimate"), number(is, "low"), number(is, "high")};
}

static size_t items(const json_t *list)
{
	return json_is_array(list) ? json_array_size(list) : 0;
}

/* ---- reading ---- */

static const char *pick_title(struct arena *arena, const char *pick, double slower)
{
	static const struct {
		const char *pick, *title;
	} titles[] = {{"fastest", "fastest"},
		      {"efficient", "most efficient"},
		      {"knee", "knee of time and energy"},
		      {"idle", "lowest idle watts"}};

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (text_equal(titles[i].pick, pick))
			return titles[i].title;
	if (text_equal(pick, "near") && isfinite(slower))
		return arena_printf(arena, "most efficient within %.3g %% of the fastest", 100 * slower);
	return pick;
}

static void read_picks(struct report_answer *answer, struct arena *arena, const json_t *json)
{
	const json_t *list = json_object_get(json, "picks"), *one;
	size_t i;

	answer->picks = ARENA_ARRAY(arena, items(list) + 1, struct report_pick);
	json_array_foreach (list, i, one) {
		const char *pick = word(arena, one, "pick");
		struct report_pick *into = &answer->picks[answer->pick_count];

		*into = (struct report_pick){.pick = pick,
					     .title = pick ? pick_title(arena, pick, number(json, "slower")) : NULL,
					     .configuration = word(arena, one, "configuration"),
					     .why = word(arena, one, "why"),
					     .sure = json_is_true(json_object_get(one, "sure")),
					     .unsure = word(arena, one, "unsure"),
					     .bad = number(one, "bad"),
					     .regret_95 = number(one, "regret_95"),
					     .gain = number(one, "gain")};
		answer->pick_count += pick && (into->configuration || into->why);
	}
}

static void read_idles(struct report_answer *answer, struct arena *arena, const json_t *json)
{
	const json_t *list = json_object_get(json, "idle"), *one;
	size_t i;

	answer->idles = ARENA_ARRAY(arena, items(list) + 1, struct report_idle);
	json_array_foreach (list, i, one) {
		const char *name = word(arena, one, "name");

		if (name)
			answer->idles[answer->idle_count++] =
			    (struct report_idle){.name = name,
						 .windows = (int)json_integer_value(json_object_get(one, "windows")),
						 .watts = interval(one, "watts"),
						 .lowest = number(one, "lowest"),
						 .over = interval(one, "over_baseline"),
						 .trace = interval(one, "trace"),
						 .left = json_is_true(json_object_get(one, "left")),
						 .behind = word(arena, one, "behind")};
	}
	answer->idle_why = word(arena, json, "idle_why");
	answer->break_even_s = number(json, "break_even_s");
}

/* Time and energy of each configuration that was measured in both. */
static void read_points(struct report_answer *answer, struct arena *arena, const json_t *json)
{
	const json_t *list = json_object_get(json, "configurations"), *one;
	size_t i;

	answer->points = ARENA_ARRAY(arena, items(list) + 1, struct chart_point);
	json_array_foreach (list, i, one) {
		struct stat_interval time = interval(json_object_get(one, "time"), "value");
		struct stat_interval energy = interval(json_object_get(one, "energy"), "value");
		const char *name = word(arena, one, "name");

		if (!name || !isfinite(time.estimate) || !isfinite(energy.estimate) ||
		    answer->point_count == MOST_POINTS)
			continue;
		answer->points[answer->point_count++] =
		    (struct chart_point){.label = name,
					 .x = time.estimate,
					 .x_low = stat_bounded(time) ? time.low : (double)NAN,
					 .x_high = stat_bounded(time) ? time.high : (double)NAN,
					 .y = energy.estimate,
					 .y_low = stat_bounded(energy) ? energy.low : (double)NAN,
					 .y_high = stat_bounded(energy) ? energy.high : (double)NAN,
					 .front = json_is_true(json_object_get(one, "front"))};
	}
}

static const char *how(const char *by)
{
	static const struct {
		const char *by, *words;
	} all[] = {
	    {"first-and-last-in",
	     "Each bar is the mean of the setting alone and on top of all others, its Shapley value "
	     "where no three interact."},
	    {"all-corners", "Each bar is the setting's Shapley value over all combinations, which were all measured."},
	    {"model", "Each bar is the setting's Shapley value by the study's model of what was measured."}};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (text_equal(all[i].by, by))
			return all[i].words;
	return "";
}

static struct chart_measure measure_of(const struct report_result *result, const char *goal)
{
	static const struct {
		const char *goal, *name, *unit;
	} goals[] = {{"energy", "energy per run", "J"}, {"load-watts", "power under load", "W"}};
	int metric = result->workload_count == 1 ? result_metric_of(result, 0) : -1;

	for (size_t i = 0; i < ARRAY_SIZE(goals); i++)
		if (text_equal(goals[i].goal, goal))
			return (struct chart_measure){goals[i].name, goals[i].unit, CHART_LOWER};
	/* Of a rate the study seeks the least of its inverse, of several workloads of their mean. */
	if (metric >= 0 && result->metrics[metric].measure.better == CHART_LOWER)
		return result->metrics[metric].measure;
	return (struct chart_measure){result->workload_count > 1 ? "geometric mean of times"
								 : "time for a unit of work",
				      result->workload_count > 1 ? "s" : "", CHART_LOWER};
}

static void read_shares(struct report_result *result, const char *goal, const json_t *json)
{
	const json_t *levers = json_object_get(json, "levers"), *chain = json_object_get(json, "in_this_order"), *one;
	struct report_attribution *into = &result->attributions[result->attribution_count];
	struct arena *arena = result->arena;
	size_t i;

	if (!items(levers) || !json_string_value(json_object_get(json, "by")))
		return;
	*into = (struct report_attribution){.measure = measure_of(result, goal),
					    .goal = arena_strdup(arena, goal),
					    .from = "the baseline",
					    .to = word(arena, json, "configuration"),
					    .how = how(json_string_value(json_object_get(json, "by"))),
					    .start = number(json, "start"),
					    .end = number(json, "end"),
					    .total = interval(json, "total"),
					    .residual = interval(json, "residual"),
					    .attributable = json_is_true(json_object_get(json, "attributable")),
					    .levers = ARENA_ARRAY(arena, items(levers), struct report_lever),
					    .chain = ARENA_ARRAY(arena, items(chain) + 1, struct report_step)};
	if (!text_equal(json_string_value(json_object_get(json, "by")), "first-and-last-in")) {
		into->residual = (struct stat_interval){NAN, NAN, NAN};
		into->attributable = true;
	}
	json_array_foreach (levers, i, one)
		into->levers[into->count++] =
		    (struct report_lever){.knobs = word_or(arena, one, "factor", "?"),
					  .from = word_or(arena, one, "from", "?"),
					  .to = word_or(arena, one, "to", "?"),
					  .share = interval(one, "share"),
					  .alone = number(one, "alone"),
					  .least = number(one, "least"),
					  .most = number(one, "most"),
					  .equivalent = json_is_true(json_object_get(one, "equivalent"))};
	json_array_foreach (chain, i, one) {
		const char *factor = word(arena, one, "factor");
		double alone = NAN;

		for (int k = 0; k < into->count; k++)
			if (text_equal(into->levers[k].knobs, factor))
				alone = into->levers[k].alone;
		into->chain[into->chain_count++] =
		    (struct report_step){factor ? factor : "?", number(one, "value"), number(one, "step"), alone};
	}
	/* What is not whole is no picture. */
	result->attribution_count += isfinite(into->start) && isfinite(into->end) && into->to != NULL;
}

void result_answer(struct report_result *result)
{
	json_t *kept = result->study ? result_json(result->whole->session.verdict) : NULL;
	const json_t *json = json_object_get(kept, "answer"), *goals = json_object_get(json, "shares"), *shares;
	const char *goal;

	result->attributions = ARENA_ARRAY(result->arena, json_object_size(goals) + 2 * (size_t)result->workload_count,
					   struct report_attribution);
	read_picks(&result->answer, result->arena, json);
	read_idles(&result->answer, result->arena, json);
	read_points(&result->answer, result->arena, json);
	json_object_foreach ((json_t *)goals, goal, shares)
		read_shares(result, goal, shares);
	json_decref(kept);
}

const char *result_picked(const struct report_result *result, const char *name)
{
	const char *text = NULL;

	for (int i = 0; i < result->answer.pick_count; i++)
		if (text_equal(result->answer.picks[i].configuration, name))
			text = text ? arena_printf(result->arena, "%s, %s", text, result->answer.picks[i].title)
				    : result->answer.picks[i].title;
	return text;
}

const struct report_idle *result_idle_of(const struct report_result *result, size_t configuration)
{
	for (int i = 0; i < result->answer.idle_count; i++)
		if (text_equal(result->answer.idles[i].name, result_setting_label(result, configuration)) &&
		    isfinite(result->answer.idles[i].watts.estimate))
			return &result->answer.idles[i];
	return NULL;
}

/* ---- how it is shown ---- */

bool result_chart_answer(struct report_result *result)
{
	struct report_answer *answer = &result->answer;

	if (answer->point_count < 3)
		return false;
	for (int i = 0; i < answer->point_count; i++)
		answer->points[i].note = result_picked(result, answer->points[i].label);
	result_chart(result, CHART_PARETO, "Time and energy, and what is picked",
		     "On the front: it is more likely than not that no other is as good in both.")
	    ->pareto = (struct chart_pareto){measure_of(result, "time"), measure_of(result, "energy"), answer->points,
					     answer->point_count};
	return true;
}

static const char *share(struct arena *arena, double value)
{
	return isfinite(value) ? report_study_percent(arena, value) : "not known";
}

static const char *how_sure(struct arena *arena, const struct report_pick *pick)
{
	const char *odds =
	    isfinite(pick->bad) ? arena_printf(arena, "%s that it is not", report_study_odds(arena, pick->bad)) : NULL;

	if (pick->sure)
		return "as asked for";
	if (!pick->unsure)
		return odds ? arena_printf(arena, "not sure: %s", odds) : "not sure";
	return arena_printf(arena, "not sure: %s%s%s", pick->unsure, odds ? "; by the runs " : "", odds ? odds : "");
}

void result_doc_picks(struct doc *doc, const struct report_result *result)
{
	static const char *const heads[] = {"pick", "configuration", "how sure", "worst it may be behind the best",
					    "gain of as long again"};
	const struct report_answer *answer = &result->answer;
	size_t columns = ARRAY_SIZE(heads);
	const char **cells = ARENA_ARRAY(doc->arena, (size_t)answer->pick_count * columns + 1, const char *);
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);

	if (!answer->pick_count)
		return;
	for (int i = 0; i < answer->pick_count; i++) {
		const struct report_pick *pick = &answer->picks[i];
		const char **row = &cells[(size_t)i * columns];

		row[0] = pick->title;
		row[1] = pick->configuration ? pick->configuration : arena_printf(doc->arena, "none: %s", pick->why);
		if (!pick->configuration)
			continue;
		row[2] = how_sure(doc->arena, pick);
		row[3] = share(doc->arena, pick->regret_95);
		row[4] = share(doc->arena, pick->gain);
	}
	*table = (struct doc_table){
	    "What the study picks; the worst holds with 95 %", heads, cells, (int)columns, answer->pick_count, 3};
	doc_add(doc, DOC_HEADING, "What to take");
	doc_add_table(doc, table);
}

static const char *watts(struct arena *arena, struct stat_interval is)
{
	struct scale bare = {.unit_size = 1};
	double half = stat_bounded(is) ? (is.high - is.low) / 2 : (double)NAN;

	if (!isfinite(is.estimate))
		return "";
	return stat_bounded(is)
		   ? arena_printf(arena, "%s (%s to %s)", scale_plain(arena, is.estimate, half, "W"),
				  scale_value(arena, &bare, is.low, half), scale_value(arena, &bare, is.high, half))
		   : scale_plain(arena, is.estimate, NAN, "W");
}

static const char *trace(struct arena *arena, const struct report_idle *idle)
{
	const char *text = idle->left ? arena_printf(arena, "left behind: %s", watts(arena, idle->trace))
			   : isfinite(idle->trace.estimate) ? "none"
							    : "not looked at";

	return idle->behind ? arena_printf(arena, "%s; measured behind %s", text, idle->behind) : text;
}

void result_doc_idle(struct doc *doc, const struct report_result *result)
{
	static const char *const heads[] = {"configuration", "trace after it was left", "windows", "idle watts",
					    "lowest",	     "over the baseline"};
	const struct report_answer *answer = &result->answer;
	size_t columns = ARRAY_SIZE(heads);
	const char **cells = ARENA_ARRAY(doc->arena, (size_t)answer->idle_count * columns + 1, const char *);
	struct doc_table *table = ARENA_NEW(doc->arena, struct doc_table);

	if (answer->idle_count || answer->idle_why)
		doc_add(doc, DOC_HEADING, "Idle");
	if (answer->idle_why)
		doc_add(doc, DOC_TEXT, arena_printf(doc->arena, "Idle watts: %s.", answer->idle_why));
	for (int i = 0; i < answer->idle_count; i++) {
		const struct report_idle *idle = &answer->idles[i];
		const char **row = &cells[(size_t)i * columns];

		row[0] = idle->name;
		row[1] = trace(doc->arena, idle);
		row[2] = arena_printf(doc->arena, "%d", idle->windows);
		row[3] = watts(doc->arena, idle->watts);
		row[4] = scale_plain(doc->arena, idle->lowest, NAN, "W");
		row[5] = watts(doc->arena, idle->over);
	}
	*table = (struct doc_table){"Idle watts: settled, then a window; mean over windows, with 95 % intervals",
				    heads,
				    cells,
				    (int)columns,
				    answer->idle_count,
				    2};
	doc_add_table(doc, table);
	if (isfinite(answer->break_even_s))
		doc_add(
		    doc, DOC_TEXT,
		    answer->break_even_s <= 0
			? "The fastest draws more at idle, and never earns it back, however often runs start."
			: arena_printf(doc->arena,
				       "The fastest draws more at idle: it takes less energy in all only where a run "
				       "starts more often than every %s.",
				       scale_plain(doc->arena, answer->break_even_s, NAN, "s")));
}

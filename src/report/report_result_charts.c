/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns which charts a session has, and their data. */
#include <math.h>
#include <string.h>

#include "report_result_internal.h"
#include "stat_estimate.h"
#include "text.h"

/* So many runs are drawn on top of each other, and so many configurations below each other. */
enum { RUNS_DRAWN = 60, ROWS_DRAWN = 48 };

struct chart *result_chart(struct report_result *result, enum chart_kind kind, const char *title, const char *note)
{
	if (result->chart_count == result->chart_room) {
		int room = result->chart_room ? 2 * result->chart_room : 16;
		struct chart *larger = ARENA_ARRAY(result->arena, (size_t)room, struct chart);

		if (result->chart_count)
			memcpy(larger, result->charts, (size_t)result->chart_count * sizeof(*larger));
		result->charts = larger;
		result->chart_room = room;
	}
	struct chart *chart = &result->charts[result->chart_count++];

	*chart = (struct chart){.kind = kind, .title = title, .note = note};
	return chart;
}

/* How the intervals came about, and of energy what measured it. */
static const char *metric_note(const struct report_result *result, const struct store_metric *metric)
{
	return arena_printf(result->arena, "%.4g %% intervals%s%s%s%s%s.", 100 * (1 - STAT_ALPHA),
			    metric->source ? "; measured by " : "", metric->source ? metric->source : "",
			    metric->boundary ? ", boundary " : "", metric->boundary ? metric->boundary : "",
			    result->study		 ? "; not compared in blocks"
			    : result->whole->block_count ? "; runs in blocks of random order"
							 : "");
}

/* ---- intervals ---- */

static enum chart_mark mark_of(const struct report_metric *metric, size_t index)
{
	enum stat_verdict verdict = metric->differences[index].verdict;
	bool less_is_better = metric->measure.better == CHART_LOWER;

	if (index == 0)
		return CHART_REFERENCE;
	if (verdict == STAT_UNDECIDED || verdict == STAT_EQUIVALENT)
		return CHART_UNSURE;
	if (metric->measure.better == CHART_NEITHER)
		return CHART_PLAIN;
	return (verdict == STAT_LOWER) == less_is_better ? CHART_BEST : CHART_BAD;
}

static bool any_runs(const struct report_result *result, const struct report_metric *metric)
{
	for (size_t i = 0; i < result->whole->configuration_count; i++)
		if (metric->estimates[i].runs)
			return true;
	return false;
}

static const char *title_of(const struct report_result *result, const struct report_metric *metric)
{
	return arena_printf(result->arena, "%s%s", metric->measure.name,
			    result->study			     ? " of each configuration, the best estimate first"
			    : result->whole->configuration_count > 1 ? " of each configuration"
								     : "");
}

static double known_or(double value, double otherwise)
{
	return isfinite(value) ? value : otherwise;
}

/* Configurations of a study by workload and estimate, the best first; else as they are. */
static size_t *row_order(const struct report_result *result, const struct report_metric *metric)
{
	size_t count = result->whole->configuration_count;
	size_t *order = ARENA_ARRAY(result->arena, count + 1, size_t);
	double sign = metric->measure.better == CHART_HIGHER ? -1 : 1;

	for (size_t i = 0; i < count; i++) {
		double value = known_or(sign * metric->estimates[i].value.estimate, INFINITY);
		size_t k = i;

		for (; k > 0 && result->study; k--) {
			size_t before = order[k - 1];
			double other = known_or(sign * metric->estimates[before].value.estimate, INFINITY);
			int apart = result->workloads[before] - result->workloads[i];

			if (apart < 0 || (apart == 0 && other <= value))
				break;
			order[k] = before;
		}
		order[k] = i;
	}
	return order;
}

static const char *note_of(const struct report_result *result, const struct report_metric *metric, size_t index)
{
	if (!metric->estimates[index].runs)
		return "no valid run";
	if (result->study && result_is_baseline(result, index))
		return isfinite(metric->estimates[index].half) ? "the baseline"
							       : "the baseline; too few runs for an interval";
	if (!isfinite(metric->estimates[index].half) && (!index || result->study))
		return "too few runs for an interval";
	if (index)
		return metric->differences[index].brief;
	return result->whole->configuration_count > 1 && !result->study ? "the others are compared with it" : NULL;
}

/* Of a study with two factors the level of the first is a heading, and rows are named by the second. */
static const char *const *two_factors(const struct report_result *result)
{
	const char *const *knobs = report_settings(result->arena, result->whole);

	return result->study && knobs[0] && knobs[1] && !knobs[2] ? knobs : NULL;
}

static const char *level(const struct report_result *result, size_t configuration, const char *knob)
{
	const char *value = report_setting(result->arena, &result->whole->configurations[configuration], knob);

	return value ? value : "as it was";
}

static const char *group_of(const struct report_result *result, size_t configuration, const char *const *knobs)
{
	const char *workload =
	    result->workload_count > 1 ? result_workload_label(result, result->workloads[configuration]) : "";

	if (!knobs)
		return *workload ? workload : NULL;
	return arena_printf(result->arena, "%s%s%s=%s", workload, *workload ? ", " : "", knobs[0],
			    level(result, configuration, knobs[0]));
}

/* Those of one heading below each other, the heading with the best of all first. */
static void gather_groups(const struct report_result *result, size_t *order, size_t count, const char *const *knobs)
{
	for (size_t i = 1; i < count; i++) {
		size_t one = order[i], k = i, last = i;

		while (last > 0 && !text_equal(group_of(result, order[last - 1], knobs), group_of(result, one, knobs)))
			last--;
		/* None before it: a heading of its own. */
		for (; last > 0 && k > last; k--)
			order[k] = order[k - 1];
		order[k] = one;
	}
}

static void add_intervals(struct report_result *result, const struct report_metric *metric)
{
	const struct store_whole *whole = result->whole;
	struct chart_interval *rows = ARENA_ARRAY(result->arena, whole->configuration_count + 1, struct chart_interval);
	size_t *order = row_order(result, metric), count = MIN_OF(whole->configuration_count, (size_t)ROWS_DRAWN);
	const char *const *knobs = two_factors(result);

	if (knobs)
		gather_groups(result, order, count, knobs);
	for (size_t i = 0; i < count; i++) {
		const struct report_estimate *found = &metric->estimates[order[i]];
		bool bounded = isfinite(found->half);
		const char *group = group_of(result, order[i], knobs);

		rows[i] = (struct chart_interval){
		    .label = knobs ? arena_printf(result->arena, "%s=%s", knobs[1], level(result, order[i], knobs[1]))
				   : result_setting_label(result, order[i]),
		    .group = i == 0 || !text_equal(group, group_of(result, order[i - 1], knobs)) ? group : NULL,
		    .value = found->value.estimate,
		    .low = bounded ? found->value.low : NAN,
		    .high = bounded ? found->value.high : NAN,
		    .note = note_of(result, metric, order[i]),
		    .mark = result->study ? CHART_PLAIN : mark_of(metric, order[i])};
	}
	const char *note = metric_note(result, metric->metric);

	if (count < whole->configuration_count)
		note = arena_printf(result->arena, "%s The first %zu of %zu; the table has all.", note, count,
				    whole->configuration_count);
	result_chart(result, CHART_INTERVALS, title_of(result, metric), note)->intervals =
	    (struct chart_intervals){metric->measure, rows, (int)count};
}

/* ---- chain and grid of settings ---- */

/* In how many knobs do two configurations differ? *ret_knob is the last of them. */
static int differing(const struct report_result *result, const char *const *knobs, size_t a, size_t b,
		     const char **ret_knob)
{
	const struct store_configuration *all = result->whole->configurations;
	int count = 0;

	for (size_t i = 0; knobs[i]; i++) {
		const char *left = report_setting(result->arena, &all[a], knobs[i]);
		const char *right = report_setting(result->arena, &all[b], knobs[i]);

		if (text_equal(left, right) || (!left && !right))
			continue;
		*ret_knob = knobs[i];
		count++;
	}
	return count;
}

/*
 * Is each configuration the one before with one knob more? Then it is a chain of single changes. Three at least: a
 * single change is shown by its interval.
 */
static bool is_chain(const struct report_result *result, const char *const *knobs)
{
	const char *knob, *seen[64] = {0};
	size_t count = result->whole->configuration_count;

	/* The order of a study is what was cheap to switch, or told most. */
	if (result->study || count < 3 || count > ARRAY_SIZE(seen))
		return false;
	for (size_t i = 1; i < count; i++) {
		if (differing(result, knobs, i - 1, i, &knob) != 1)
			return false;
		for (size_t k = 1; k < i; k++)
			if (text_equal(seen[k], knob))
				return false;
		seen[i] = knob;
	}
	return true;
}

/* What a knob brings alone, on top of the first configuration, beside its step in the chain. */
static const char *alone(const struct report_result *result, size_t metric, const char *const *knobs, size_t step,
			 const char *knob)
{
	const struct store_configuration *all = result->whole->configurations;
	const char *value = report_setting(result->arena, &all[step], knob), *other;

	for (size_t i = 1; i < result->whole->configuration_count; i++) {
		struct stat_interval ratio;

		if (differing(result, knobs, 0, i, &other) != 1 || !text_equal(other, knob) ||
		    !text_equal(report_setting(result->arena, &all[i], knob), value))
			continue;
		ratio = report_result_pair(result, metric, 0, i);
		return isfinite(ratio.estimate) ? arena_printf(result->arena, "alone %s",
							       result_ratio_words(result->arena, ratio.estimate,
										  (ratio.high - ratio.low) / 2))
						: "alone: too few runs";
	}
	return "alone: not measured";
}

static void add_waterfall(struct report_result *result, const struct report_metric *metric, const char *const *knobs)
{
	const struct store_whole *whole = result->whole;
	struct chart_step *steps = ARENA_ARRAY(result->arena, whole->configuration_count, struct chart_step);
	size_t index = (size_t)(metric - result->metrics);

	for (size_t i = 0; i < whole->configuration_count; i++) {
		double before = i ? metric->estimates[i - 1].value.estimate : NAN;
		struct stat_interval ratio = {NAN, NAN, NAN};
		const char *knob = NULL;

		if (i) {
			(void)differing(result, knobs, i - 1, i, &knob);
			ratio = report_result_pair(result, index, i - 1, i);
		}
		const char *value = knob ? report_setting(result->arena, &whole->configurations[i], knob) : NULL;

		steps[i] = (struct chart_step){
		    .label = !knob ? whole->configurations[i].name
				   : arena_printf(result->arena, "%s=%s", knob, value ? value : "as it was"),
		    .value = metric->estimates[i].value.estimate,
		    .change_low = before * (ratio.low - 1),
		    .change_high = before * (ratio.high - 1),
		    .note = knob ? alone(result, index, knobs, i, knob) : NULL};
	}
	result_chart(result, CHART_WATERFALL,
		     arena_printf(result->arena, "%s in single steps, in this order", metric->measure.name),
		     "What a step brings depends on those before it; what it brings alone stands beside it.")
	    ->waterfall = (struct chart_waterfall){metric->measure, steps, (int)whole->configuration_count};
}

/* The values that a knob takes, in their order; NULL where it is not set counts as "as it was". */
static const char *const *levels(const struct report_result *result, const char *knob, int *ret_count)
{
	const struct store_whole *whole = result->whole;
	const char **found = ARENA_ARRAY(result->arena, whole->configuration_count + 1, const char *);
	int count = 0;

	for (size_t i = 0; i < whole->configuration_count; i++) {
		const char *value = report_setting(result->arena, &whole->configurations[i], knob);
		bool known = false;

		value = value ? value : "as it was";
		for (int k = 0; k < count; k++)
			known |= text_equal(found[k], value);
		if (!known)
			found[count++] = value;
	}
	*ret_count = count;
	return found;
}

static int level_index(const char *const *all, int count, const char *value)
{
	for (int i = 0; i < count; i++)
		if (text_equal(all[i], value ? value : "as it was"))
			return i;
	return -1;
}

/* Two knobs that both take several values, on a grid of which at least half is filled, for one workload. */
static void add_heat(struct report_result *result, const struct report_metric *metric, const char *const *knobs,
		     int workload)
{
	const char *of = "";

	const struct store_whole *whole = result->whole;
	struct chart_heat heat = {.measure = metric->measure};
	double *values;

	if (!knobs[0] || !knobs[1] || knobs[2])
		return;
	heat.row_name = knobs[0];
	heat.column_name = knobs[1];
	heat.rows = levels(result, knobs[0], &heat.row_count);
	heat.columns = levels(result, knobs[1], &heat.column_count);
	size_t cells = (size_t)heat.row_count * (size_t)heat.column_count;

	if (heat.row_count < 2 || heat.column_count < 2 ||
	    whole->configuration_count / (size_t)result->workload_count * 2 < cells)
		return;
	values = ARENA_ARRAY(result->arena, cells, double);
	for (size_t i = 0; i < cells; i++)
		values[i] = NAN;
	for (size_t i = 0; i < whole->configuration_count; i++) {
		if (result->workloads[i] != workload)
			continue;
		if (result->workload_count > 1)
			of = arena_printf(result->arena, ": %s", result_workload_label(result, workload));
		int row = level_index(heat.rows, heat.row_count,
				      report_setting(result->arena, &whole->configurations[i], knobs[0]));
		int column = level_index(heat.columns, heat.column_count,
					 report_setting(result->arena, &whole->configurations[i], knobs[1]));

		values[row * heat.column_count + column] = metric->estimates[i].value.estimate;
	}
	heat.values = values;
	result_chart(result, CHART_HEAT,
		     arena_printf(result->arena, "%s by %s and %s%s", metric->measure.name, knobs[0], knobs[1], of),
		     metric_note(result, metric->metric))
	    ->heat = heat;
}

/* ---- time and energy ---- */

static bool at_least(const struct chart_measure *measure, double a, double b)
{
	return measure->better == CHART_HIGHER ? a >= b : a <= b;
}

void result_mark_front(const struct chart_pareto *pareto, struct chart_point *points)
{
	for (int i = 0; i < pareto->count; i++) {
		struct chart_point *self = &points[i];

		self->front = isfinite(self->x) && isfinite(self->y);
		for (int k = 0; k < pareto->count; k++) {
			const struct chart_point *other = &points[k];
			bool same = other->x == self->x && other->y == self->y;

			if (k != i && !same && at_least(&pareto->x, other->x, self->x) &&
			    at_least(&pareto->y, other->y, self->y))
				self->front = false;
		}
	}
}

static void add_pareto(struct report_result *result, const struct report_metric *x, const struct report_metric *y)
{
	const struct store_whole *whole = result->whole;
	struct chart_point *points = ARENA_ARRAY(result->arena, whole->configuration_count, struct chart_point);

	for (size_t i = 0; i < whole->configuration_count; i++) {
		const struct stat_interval *a = &x->estimates[i].value, *b = &y->estimates[i].value;
		bool first = isfinite(x->estimates[i].half), second = isfinite(y->estimates[i].half);

		points[i] = (struct chart_point){.label = whole->configurations[i].name,
						 .x = a->estimate,
						 .x_low = first ? a->low : NAN,
						 .x_high = first ? a->high : NAN,
						 .y = b->estimate,
						 .y_low = second ? b->low : NAN,
						 .y_high = second ? b->high : NAN};
	}
	const struct chart_pareto pareto = {x->measure, y->measure, points, (int)whole->configuration_count};

	result_mark_front(&pareto, points);
	result_chart(result, CHART_PARETO, arena_printf(result->arena, "%s and %s", x->measure.name, y->measure.name),
		     "On the front: no other is better in both, by the estimates.")
	    ->pareto = pareto;
}

/* ---- every run ---- */

static void mark_outliers(struct report_result *result, struct chart_runs *row, enum chart_run *kinds)
{
	double *valid = ARENA_ARRAY(result->arena, (size_t)row->count + 1, double);
	bool *flags = ARENA_ARRAY(result->arena, (size_t)row->count + 1, bool);
	int *places = ARENA_ARRAY(result->arena, (size_t)row->count + 1, int), count = 0;

	for (int i = 0; i < row->count; i++)
		if (kinds[i] == CHART_RUN_VALID) {
			places[count] = i;
			valid[count++] = row->values[i];
		}
	if (count < 3 || !stat_flag(valid, count, flags))
		return;
	for (int i = 0; i < count; i++)
		if (flags[i])
			kinds[places[i]] = CHART_RUN_OUTLIER;
}

static void add_dots(struct report_result *result, const struct report_metric *metric)
{
	const struct store_whole *whole = result->whole;
	size_t index = (size_t)(metric - result->metrics);
	struct chart_runs *rows = ARENA_ARRAY(result->arena, whole->configuration_count + 1, struct chart_runs);
	size_t *order = row_order(result, metric), row_count = MIN_OF(whole->configuration_count, (size_t)ROWS_DRAWN);

	for (size_t at = 0; at < row_count; at++) {
		size_t i = order[at];
		const struct report_estimate *found = &metric->estimates[i];
		double *values = ARENA_ARRAY(result->arena, whole->run_count + 1, double);
		enum chart_run *kinds = ARENA_ARRAY(result->arena, whole->run_count + 1, enum chart_run);
		bool bounded = isfinite(found->half);
		int count = 0;

		for (size_t k = 0; k < whole->run_count; k++) {
			const struct store_run *run = &whole->runs[k];
			double value = run->values ? run->values[index] : NAN;

			/* Calibration compares the first with itself: its runs are no part of the result. */
			if (run->configuration != whole->configurations[i].id || !isfinite(value) ||
			    text_equal(run->purpose, "calibration"))
				continue;
			kinds[count] = !text_equal(run->state, "valid")	    ? CHART_RUN_VOID
				       : text_equal(run->purpose, "warmup") ? CHART_RUN_WARM_UP
									    : CHART_RUN_VALID;
			values[count++] = value;
		}
		rows[at] = (struct chart_runs){.label = whole->configurations[i].name,
					       .values = values,
					       .kinds = kinds,
					       .count = count,
					       .value = found->value.estimate,
					       .low = bounded ? found->value.low : NAN,
					       .high = bounded ? found->value.high : NAN};
		mark_outliers(result, &rows[at], kinds);
	}
	result_chart(result, CHART_DOTS, arena_printf(result->arena, "%s of every run", metric->measure.name), NULL)
	    ->dots = (struct chart_dots){metric->measure, rows, (int)row_count};
}

void report_result_charts(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	const char *const *knobs = report_settings(result->arena, whole);
	const struct report_metric *main = result->main >= 0 ? &result->metrics[result->main] : NULL;
	int energy = result_energy(result);

	result_chart_means(result);
	result_chart_changes(result);
	if (main && any_runs(result, main)) {
		add_intervals(result, main);
		for (size_t i = 0; i < whole->metric_count; i++)
			if ((int)i != result->main && any_runs(result, &result->metrics[i]) &&
			    (text_equal(whole->metrics[i].unit, "J") || text_equal(whole->metrics[i].unit, "W")))
				add_intervals(result, &result->metrics[i]);
		for (int i = 0; i < result->attribution_count; i++)
			result_chart_attribution(result, &result->attributions[i]);
		if (is_chain(result, knobs))
			add_waterfall(result, main, knobs);
		for (int workload = 0; workload < result->workload_count; workload++)
			add_heat(result, main, knobs, workload);
		if (energy >= 0 && whole->configuration_count > 2 && result->workload_count == 1)
			add_pareto(result, main, &result->metrics[energy]);
		add_dots(result, main);
	}
	if (result->sample_count && whole->run_count <= RUNS_DRAWN)
		result_chart_runs_over_time(result);
	result_chart_series(result);
}

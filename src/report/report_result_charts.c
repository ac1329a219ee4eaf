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
const char *result_metric_note(const struct report_result *result, const struct store_metric *metric)
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
	const char *workload = result->workload_count > 1 && !result_is_idle(result, configuration)
				   ? result_workload_label(result, result->workloads[configuration])
				   : "";

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

/* `idle`: of idle windows, which are beside no run. */
static void add_intervals(struct report_result *result, const struct report_metric *metric, bool idle)
{
	const struct store_whole *whole = result->whole;
	struct chart_interval *rows = ARENA_ARRAY(result->arena, whole->configuration_count + 1, struct chart_interval);
	size_t *order = row_order(result, metric), all = 0, count;
	const char *const *knobs = two_factors(result);

	for (size_t i = 0; i < whole->configuration_count; i++)
		if (result_is_idle(result, order[i]) == idle &&
		    result_has_runs(result, result->workloads[order[i]], (size_t)(metric - result->metrics)))
			order[all++] = order[i];
	if (!all)
		return;
	count = MIN_OF(all, (size_t)ROWS_DRAWN);

	if (knobs)
		gather_groups(result, order, count, knobs);
	for (size_t i = 0; i < count; i++) {
		const struct report_estimate *found = &metric->estimates[order[i]];
		const struct report_idle *window = idle ? result_idle_of(result, order[i]) : NULL;
		struct stat_interval value = window ? window->watts : found->value;
		bool bounded = window ? stat_bounded(value) : isfinite(found->half);
		const char *group = group_of(result, order[i], knobs);

		rows[i] = (struct chart_interval){
		    .label = knobs ? arena_printf(result->arena, "%s=%s", knobs[1], level(result, order[i], knobs[1]))
				   : result_setting_label(result, order[i]),
		    .group = i == 0 || !text_equal(group, group_of(result, order[i - 1], knobs)) ? group : NULL,
		    .value = value.estimate,
		    .low = bounded ? value.low : NAN,
		    .high = bounded ? value.high : NAN,
		    .note = note_of(result, metric, order[i]),
		    .mark = result->study ? CHART_PLAIN : mark_of(metric, order[i])};
	}
	const char *note = result_metric_note(result, metric->metric);

	if (count < all)
		note = arena_printf(result->arena, "%s The first %zu of %zu; the table has all.", note, count, all);
	result_chart(result, CHART_INTERVALS,
		     arena_printf(result->arena, "%s%s", idle ? "Idle: " : "", title_of(result, metric)), note)
	    ->intervals = (struct chart_intervals){metric->measure, rows, (int)count};
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
	const size_t *order = row_order(result, x);
	int count = 0;

	for (size_t at = 0; at < whole->configuration_count && count < ROWS_DRAWN; at++) {
		size_t i = order[at];
		const struct stat_interval *a = &x->estimates[i].value, *b = &y->estimates[i].value;
		bool first = isfinite(x->estimates[i].half), second = isfinite(y->estimates[i].half);

		if (result_is_idle(result, i))
			continue;
		points[count++] = (struct chart_point){.label = whole->configurations[i].name,
						       .x = a->estimate,
						       .x_low = first ? a->low : NAN,
						       .x_high = first ? a->high : NAN,
						       .y = b->estimate,
						       .y_low = second ? b->low : NAN,
						       .y_high = second ? b->high : NAN,
						       .note = result_picked(result, whole->configurations[i].name)};
	}
	const struct chart_pareto pareto = {x->measure, y->measure, points, count};

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
	size_t *order = row_order(result, metric), all = 0, row_count;

	for (size_t i = 0; i < whole->configuration_count; i++)
		if (!result_is_idle(result, order[i]))
			order[all++] = order[i];
	row_count = MIN_OF(all, (size_t)ROWS_DRAWN);
	for (size_t at = 0; at < row_count; at++) {
		size_t i = order[at];
		const struct report_estimate *found = &metric->estimates[i];
		size_t room = (size_t)result->runs_of[i] + 1;
		double *values = ARENA_ARRAY(result->arena, room, double);
		enum chart_run *kinds = ARENA_ARRAY(result->arena, room, enum chart_run);
		bool bounded = isfinite(found->half);
		int count = 0;

		for (int k = result->first_run[i]; k >= 0; k = result->next_run[k]) {
			const struct store_run *run = &whole->runs[k];
			double value = run->values ? run->values[index] : NAN;

			/* Calibration compares the first with itself: its runs are no part of the result. */
			if (!isfinite(value) || text_equal(run->purpose, "calibration"))
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

static bool is_power(const struct store_metric *metric)
{
	return text_equal(metric->unit, "J") || text_equal(metric->unit, "W");
}

/* Figures of configurations and of settings in one metric. */
static void add_main(struct report_result *result, const struct report_metric *main, bool pareto)
{
	const struct store_whole *whole = result->whole;
	const char *const *knobs = report_settings(result->arena, whole);
	int energy = result->energy;

	add_intervals(result, main, false);
	for (size_t i = 0; i < whole->metric_count; i++) {
		/* Of a study each workload may have a figure of its own. */
		bool own = false;

		for (int workload = 0; workload < result->workload_count; workload++)
			own = own || (result->study && result_metric_of(result, workload) == (int)i);
		if ((int)i != result->main && (own || is_power(&whole->metrics[i])))
			add_intervals(result, &result->metrics[i], false);
	}
	for (size_t i = 0; i < whole->metric_count; i++)
		/* Joules of a part of a window say nothing. */
		if (text_equal(whole->metrics[i].unit, "W") && result_has_runs(result, result->workload_count, i)) {
			add_intervals(result, &result->metrics[i], true);
			result_chart_heat(result, &result->metrics[i], knobs, result->workload_count);
		}
	for (int i = 0; i < result->attribution_count; i++)
		result_chart_attribution(result, &result->attributions[i]);
	bool chain = result_is_chain(result, knobs);

	if (chain)
		result_chart_chain(result, main, knobs);
	for (int workload = 0; workload < result->workload_count && !chain && result_is_few(result); workload++)
		result_chart_heat(result, &result->metrics[MAX_OF(result_metric_of(result, workload), 0)], knobs,
				  workload);
	if (pareto && energy >= 0 && whole->configuration_count > 2 && result->workload_count == 1)
		add_pareto(result, main, &result->metrics[energy]);
	add_dots(result, main);
	result_chart_boots(result, main, row_order(result, main));
}

void report_result_charts(struct report_result *result)
{
	const struct report_metric *main = result->main >= 0 ? &result->metrics[result->main] : NULL;

	bool points = result_chart_answer(result);

	result_chart_means(result);
	result_chart_changes(result);
	if (main && any_runs(result, main))
		add_main(result, main, !points);
	if (result->sample_count && result->whole->run_count <= RUNS_DRAWN)
		result_chart_runs_over_time(result);
	result_chart_series(result);
}

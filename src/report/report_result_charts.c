/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns which charts a session has, and their data. */
#include <math.h>
#include <string.h>

#include "report_result.h"
#include "stat_estimate.h"
#include "text.h"

enum { EVENTS_NAMED = 12, CHARTS_FIXED = 6, RUNS_DRAWN = 60 };

static struct chart *add(struct report_result *result, enum chart_kind kind, const char *title, const char *note)
{
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
	/* Of two configurations the verdict says it all. */
	if (result->whole->configuration_count == 2 && metric->differences[1].words && !result->study)
		return metric->differences[1].words;
	return arena_printf(result->arena, "%s%s", metric->measure.name,
			    result->study			     ? " of each configuration, the best estimate first"
			    : result->whole->configuration_count > 1 ? " of each configuration"
								     : "");
}

/* Configurations of a study by workload and estimate, the best first; else as they are. */
static const size_t *row_order(const struct report_result *result, const struct report_metric *metric)
{
	size_t count = result->whole->configuration_count;
	size_t *order = ARENA_ARRAY(result->arena, count + 1, size_t);
	double sign = metric->measure.better == CHART_HIGHER ? -1 : 1;

	for (size_t i = 0; i < count; i++) {
		double value = sign * metric->estimates[i].value.estimate;
		size_t k = i;

		for (; k > 0 && result->study; k--) {
			size_t before = order[k - 1];
			int apart = result->workloads[before] - result->workloads[i];

			if (apart < 0 || (apart == 0 && sign * metric->estimates[before].value.estimate <= value))
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
	if (index)
		return metric->differences[index].brief;
	return result->whole->configuration_count > 1 && !result->study ? "the others are compared with it" : NULL;
}

static const char *workload_name(const struct report_result *result, size_t configuration)
{
	const char *command = result->whole->configurations[configuration].command;

	return command ? report_command(result->arena, command) : "nothing is run";
}

static void add_intervals(struct report_result *result, const struct report_metric *metric)
{
	const struct store_whole *whole = result->whole;
	struct chart_interval *rows = ARENA_ARRAY(result->arena, whole->configuration_count + 1, struct chart_interval);
	const size_t *order = row_order(result, metric);

	for (size_t i = 0; i < whole->configuration_count; i++) {
		const struct report_estimate *found = &metric->estimates[order[i]];
		bool bounded = isfinite(found->half);

		bool another = i == 0 || result->workloads[order[i]] != result->workloads[order[i - 1]];

		rows[i] = (struct chart_interval){
		    .label = whole->configurations[order[i]].name,
		    .group = another && result->workload_count > 1 ? workload_name(result, order[i]) : NULL,
		    .value = found->value.estimate,
		    .low = bounded ? found->value.low : NAN,
		    .high = bounded ? found->value.high : NAN,
		    .note = note_of(result, metric, order[i]),
		    .mark = result->study ? CHART_PLAIN : mark_of(metric, order[i])};
	}
	add(result, CHART_INTERVALS, title_of(result, metric), metric_note(result, metric->metric))->intervals =
	    (struct chart_intervals){metric->measure, rows, (int)whole->configuration_count};
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

static void add_waterfall(struct report_result *result, const struct report_metric *metric, const char *const *knobs)
{
	const struct store_whole *whole = result->whole;
	struct chart_step *steps = ARENA_ARRAY(result->arena, whole->configuration_count, struct chart_step);

	for (size_t i = 0; i < whole->configuration_count; i++) {
		double now = metric->estimates[i].value.estimate,
		       before = i ? metric->estimates[i - 1].value.estimate : NAN;
		struct stat_interval ratio = {NAN, NAN, NAN};
		const char *knob = NULL;

		if (i) {
			(void)differing(result, knobs, i - 1, i, &knob);
			ratio = report_result_pair(result, (size_t)(metric - result->metrics), i - 1, i);
		}
		const char *value = knob ? report_setting(result->arena, &whole->configurations[i], knob) : NULL;

		steps[i] = (struct chart_step){
		    .label = !knob ? whole->configurations[i].name
				   : arena_printf(result->arena, "%s=%s", knob, value ? value : "as it was"),
		    .value = now,
		    .change_low = before * (ratio.low - 1),
		    .change_high = before * (ratio.high - 1)};
	}
	add(result, CHART_WATERFALL,
	    arena_printf(result->arena, "%s in single steps, in the order in which they were taken",
			 metric->measure.name),
	    "What a step brings depends on those before it.")
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
			of = arena_printf(result->arena, ": %s", workload_name(result, i));
		int row = level_index(heat.rows, heat.row_count,
				      report_setting(result->arena, &whole->configurations[i], knobs[0]));
		int column = level_index(heat.columns, heat.column_count,
					 report_setting(result->arena, &whole->configurations[i], knobs[1]));

		values[row * heat.column_count + column] = metric->estimates[i].value.estimate;
	}
	heat.values = values;
	add(result, CHART_HEAT,
	    arena_printf(result->arena, "%s by %s and %s%s", metric->measure.name, knobs[0], knobs[1], of),
	    metric_note(result, metric->metric))
	    ->heat = heat;
}

/* ---- time and energy ---- */

static const struct report_metric *energy_metric(const struct report_result *result)
{
	static const char *const units[] = {"J", "W"};

	for (size_t u = 0; u < ARRAY_SIZE(units); u++)
		for (size_t i = 0; i < result->whole->metric_count; i++)
			if (text_equal(result->whole->metrics[i].unit, units[u]) && (int)i != result->main &&
			    any_runs(result, &result->metrics[i]))
				return &result->metrics[i];
	return NULL;
}

static bool at_least(const struct chart_measure *measure, double a, double b)
{
	return measure->better == CHART_HIGHER ? a >= b : a <= b;
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
						 .y_high = second ? b->high : NAN,
						 .front = isfinite(a->estimate) && isfinite(b->estimate)};
	}
	for (size_t i = 0; i < whole->configuration_count; i++)
		for (size_t k = 0; k < whole->configuration_count; k++) {
			const struct chart_point *other = &points[k], *self = &points[i];
			bool same = other->x == self->x && other->y == self->y;

			if (k != i && !same && at_least(&x->measure, other->x, self->x) &&
			    at_least(&y->measure, other->y, self->y))
				points[i].front = false;
		}
	add(result, CHART_PARETO, arena_printf(result->arena, "%s and %s", x->measure.name, y->measure.name),
	    "On the front: no other is better in both, by the estimates.")
	    ->pareto = (struct chart_pareto){x->measure, y->measure, points, (int)whole->configuration_count};
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

	for (size_t i = 0; i < whole->configuration_count; i++) {
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
		rows[i] = (struct chart_runs){.label = whole->configurations[i].name,
					      .values = values,
					      .kinds = kinds,
					      .count = count,
					      .value = found->value.estimate,
					      .low = bounded ? found->value.low : NAN,
					      .high = bounded ? found->value.high : NAN};
		mark_outliers(result, &rows[i], kinds);
	}
	add(result, CHART_DOTS, arena_printf(result->arena, "%s of every run", metric->measure.name), NULL)->dots =
	    (struct chart_dots){metric->measure, rows, (int)whole->configuration_count};
}

/* ---- over time ---- */

static const char *configuration_name(const struct store_whole *whole, int64_t id)
{
	for (size_t i = 0; i < whole->configuration_count; i++)
		if (whole->configurations[i].id == id)
			return whole->configurations[i].name;
	return "?";
}

/* Samples of a source as a line; of a counter of energy the power between its readings. */
static struct chart_line line_of(const struct report_result *result, const struct store_source *source)
{
	double *times = ARENA_ARRAY(result->arena, result->sample_count + 1, double);
	double *values = ARENA_ARRAY(result->arena, result->sample_count + 1, double);
	bool energy = text_equal(source->quantity, "energy");
	const struct store_sample *before = NULL;
	int count = 0;

	for (size_t i = 0; i < result->sample_count; i++) {
		const struct store_sample *sample = &result->samples[i];

		if (sample->source != source->id)
			continue;
		double at = (double)sample->at_ns / 1e9,
		       took = before ? (double)(sample->at_ns - before->at_ns) / 1e9 : 0;

		if (!energy || (before && took > 0)) {
			times[count] = at;
			/* Counted backwards: it was reset, and what was used is not known. */
			values[count++] = !energy			   ? sample->value
					  : sample->value >= before->value ? (sample->value - before->value) / took
									   : NAN;
		}
		before = sample;
	}
	return (struct chart_line){source->name, times, values, count};
}

static const struct chart_event *events_of(const struct report_result *result, int *ret_count)
{
	const struct store_whole *whole = result->whole;
	struct chart_event *events =
	    ARENA_ARRAY(result->arena, whole->run_count + whole->note_count + 1, struct chart_event);
	int count = 0;

	for (size_t i = 0; i < whole->run_count && whole->run_count <= EVENTS_NAMED; i++)
		events[count++] = (struct chart_event){
		    (double)(whole->runs[i].began_us - whole->session.began_us) / 1e6,
		    arena_printf(result->arena, "run %lld of %s begins", (long long)whole->runs[i].id + 1,
				 configuration_name(whole, whole->runs[i].configuration))};
	for (size_t i = 0; i < whole->note_count && whole->note_count <= EVENTS_NAMED; i++) {
		/* What hvtune itself used is of the whole session. */
		if (text_equal(whole->notes[i].kind, "cost"))
			continue;
		events[count++] = (struct chart_event){(double)(whole->notes[i].at_us - whole->session.began_us) / 1e6,
						       whole->notes[i].text};
	}
	*ret_count = count;
	return events;
}

/* Sources of one quantity share a panel: watts of all packages, temperatures of all sensors. */
static void add_series(struct report_result *result)
{
	static const char *const quantities[] = {"energy", "power", "clock", "temperature"};
	const struct store_whole *whole = result->whole;
	struct chart_panel *panels = ARENA_ARRAY(result->arena, ARRAY_SIZE(quantities), struct chart_panel);
	struct chart_series series = {.panels = panels};

	for (size_t q = 0; q < ARRAY_SIZE(quantities); q++) {
		struct chart_line *lines = ARENA_ARRAY(result->arena, whole->source_count + 1, struct chart_line);
		struct chart_panel *panel = &panels[series.panel_count];
		const char *unit = NULL;
		int count = 0;

		for (size_t i = 0; i < whole->source_count; i++) {
			const struct store_source *source = &whole->sources[i];

			if (!text_equal(source->quantity, quantities[q]))
				continue;
			unit = q == 0 ? "W" : text_equal(source->unit, "C") ? "\u00b0C" : source->unit;
			lines[count] = line_of(result, source);
			count += lines[count].count > 0;
		}
		if (!count)
			continue;
		*panel = (struct chart_panel){{q == 0 ? "power, from energy" : quantities[q], unit ? unit : "",
					       q == 2 ? CHART_NEITHER : CHART_LOWER},
					      lines,
					      count};
		series.panel_count++;
	}
	if (!series.panel_count)
		return;
	series.events = events_of(result, &series.event_count);
	add(result, CHART_SERIES, "What was sampled meanwhile", NULL)->series = series;
}

/* What a source said during one run, in seconds since the run began. */
static struct chart_line line_of_run(const struct report_result *result, const struct store_source *source,
				     const struct store_run *run)
{
	double *times = ARENA_ARRAY(result->arena, result->sample_count + 1, double);
	double *values = ARENA_ARRAY(result->arena, result->sample_count + 1, double);
	double began = (double)(run->began_us - result->whole->session.began_us) / 1e6,
	       took = (double)run->took_ns / 1e9;
	struct chart_line whole = line_of(result, source), line = {.times_s = times, .values = values};

	for (int i = 0; i < whole.count; i++) {
		double at = whole.times_s[i] - began;

		if (at < 0 || at > took)
			continue;
		times[line.count] = at;
		values[line.count++] = whole.values[i];
	}
	return line;
}

/* The runs of each configuration on top of each other. */
static void fill_panel(const struct report_result *result, const struct store_source *source, struct chart_panel *panel)
{
	const struct store_whole *whole = result->whole;
	struct chart_line *lines = ARENA_ARRAY(result->arena, whole->run_count + 1, struct chart_line);
	bool energy = text_equal(source->quantity, "energy");

	*panel = (struct chart_panel){
	    {arena_printf(result->arena, "%s, %s", energy ? "power" : source->quantity, source->name),
	     energy			     ? "W"
	     : text_equal(source->unit, "C") ? "\u00b0C"
					     : source->unit,
	     text_equal(source->quantity, "clock") ? CHART_NEITHER : CHART_LOWER},
	    lines,
	    0};
	for (size_t c = 0; c < whole->configuration_count; c++) {
		const char *label = whole->configurations[c].name;

		for (size_t i = 0; i < whole->run_count; i++) {
			const struct store_run *run = &whole->runs[i];

			if (run->configuration != whole->configurations[c].id || !text_equal(run->purpose, "measure") ||
			    !text_equal(run->state, "valid") || run->took_ns <= 0)
				continue;
			lines[panel->line_count] = line_of_run(result, source, run);
			lines[panel->line_count].label = label;
			if (!lines[panel->line_count].count)
				continue;
			label = NULL;
			panel->line_count++;
		}
	}
}

/* One source of each quantity, the first: what happens in the course of a run. */
static void add_runs_over_time(struct report_result *result)
{
	static const char *const quantities[] = {"energy", "power", "clock", "temperature"};
	const struct store_whole *whole = result->whole;
	struct chart_panel *panels = ARENA_ARRAY(result->arena, ARRAY_SIZE(quantities), struct chart_panel);
	struct chart_series series = {.panels = panels, .time = "time since the run began"};

	for (size_t q = 0; q < ARRAY_SIZE(quantities); q++)
		for (size_t i = 0; i < whole->source_count; i++) {
			if (!text_equal(whole->sources[i].quantity, quantities[q]))
				continue;
			fill_panel(result, &whole->sources[i], &panels[series.panel_count]);
			series.panel_count += panels[series.panel_count].line_count > 0;
			break;
		}
	if (series.panel_count)
		add(result, CHART_SERIES, "The course of each run", NULL)->series = series;
}

void report_result_charts(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	const char *const *knobs = report_settings(result->arena, whole);
	const struct report_metric *main = result->main >= 0 ? &result->metrics[result->main] : NULL, *energy;

	result->charts = ARENA_ARRAY(result->arena, whole->metric_count + (size_t)result->workload_count + CHARTS_FIXED,
				     struct chart);
	if (main && any_runs(result, main)) {
		add_intervals(result, main);
		for (size_t i = 0; i < whole->metric_count; i++)
			if ((int)i != result->main && any_runs(result, &result->metrics[i]) &&
			    (text_equal(whole->metrics[i].unit, "J") || text_equal(whole->metrics[i].unit, "W")))
				add_intervals(result, &result->metrics[i]);
		if (is_chain(result, knobs))
			add_waterfall(result, main, knobs);
		for (int workload = 0; workload < result->workload_count; workload++)
			add_heat(result, main, knobs, workload);
		energy = energy_metric(result);
		if (energy && whole->configuration_count > 2 && result->workload_count == 1)
			add_pareto(result, main, energy);
		add_dots(result, main);
	}
	if (result->sample_count && whole->run_count <= RUNS_DRAWN)
		add_runs_over_time(result);
	add_series(result);
}

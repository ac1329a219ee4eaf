/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a session shows over time: samples of meters in its course and in the course of each run. */
#include <math.h>

#include "report_result_internal.h"
#include "text.h"

/* More lines cannot be told apart. */
enum { EVENTS_NAMED = 12, BOOTS_NAMED = 24, LINES_DRAWN = 5 };

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
	    ARENA_ARRAY(result->arena, 2 * whole->run_count + whole->note_count + 1, struct chart_event);
	int count = 0;

	for (size_t i = 0; i < whole->run_count && whole->run_count <= EVENTS_NAMED; i++)
		events[count++] = (struct chart_event){
		    (double)(whole->runs[i].began_us - whole->session.began_us) / 1e6,
		    arena_printf(result->arena, "run %lld of %s begins", (long long)whole->runs[i].id + 1,
				 result_configuration_name(result, whole->runs[i].configuration))};
	for (size_t i = 0; i < whole->run_count && result->boot_count > 1 && result->boot_count <= BOOTS_NAMED; i++)
		if (result->boots[i] >= 0 && (i == 0 || result->boots[i] != result->boots[i - 1]))
			events[count++] =
			    (struct chart_event){(double)(whole->runs[i].began_us - whole->session.began_us) / 1e6,
						 arena_printf(result->arena, "boot %d", result->boots[i] + 1)};
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
void result_chart_series(struct report_result *result)
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
	result_chart(result, CHART_SERIES, "What was sampled meanwhile", NULL)->series = series;
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
void result_chart_runs_over_time(struct report_result *result)
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
		result_chart(result, CHART_SERIES, "The course of each run", NULL)->series = series;
}

/* The runs of a configuration in the order of time, between the boots of the host. */
static struct chart_line line_of_values(const struct report_result *result, size_t configuration, size_t metric)
{
	const struct store_whole *whole = result->whole;
	size_t room = (size_t)result->runs_of[configuration] + 1;
	double *times = ARENA_ARRAY(result->arena, room, double), *values = ARENA_ARRAY(result->arena, room, double);
	struct chart_line line = {result_setting_label(result, configuration), times, values, 0};

	for (int i = result->first_run[configuration]; i >= 0; i = result->next_run[i]) {
		double value = result_value(whole, &whole->runs[i], metric);

		if (!result_counts(&whole->runs[i]) || !isfinite(value))
			continue;
		times[line.count] = (double)(whole->runs[i].began_us - whole->session.began_us) / 1e6;
		values[line.count++] = value;
	}
	return line;
}

void result_chart_boots(struct report_result *result, const struct report_metric *metric, const size_t *order)
{
	size_t index = (size_t)(metric - result->metrics);
	struct chart_line *lines = ARENA_ARRAY(result->arena, LINES_DRAWN, struct chart_line);
	struct chart_panel *panel = ARENA_NEW(result->arena, struct chart_panel);
	struct chart_series series = {.panels = panel, .panel_count = 1};

	if (result->boot_count < 2)
		return;
	*panel = (struct chart_panel){metric->measure, lines, 0};
	for (size_t i = 0; i < result->whole->configuration_count && panel->line_count < LINES_DRAWN; i++) {
		/* Of several workloads the first: values of others are not beside it. */
		if (result->workloads[order[i]])
			continue;
		lines[panel->line_count] = line_of_values(result, order[i], index);
		panel->line_count += lines[panel->line_count].count > 0;
	}
	series.events = events_of(result, &series.event_count);
	result_chart(result, CHART_SERIES,
		     arena_printf(result->arena, "%s in the order of time, with the boots of the host%s%s",
				  metric->measure.name, result->workload_count > 1 ? ": " : "",
				  result->workload_count > 1 ? result_workload_label(result, 0) : ""),
		     panel->line_count == LINES_DRAWN
			 ? arena_printf(result->arena, "At most %d configurations, the best first.", LINES_DRAWN)
			 : NULL)
	    ->series = series;
}

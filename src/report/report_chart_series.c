/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns drawing measures over time: panels that share the axis of time, a line for each run or source. */
#include "report_chart_svg.h"

#include <math.h>

#include "err.h"
#include "text.h"

enum { EDGE = 4, PANEL = 110, PATTERNS = 6 };

struct series {
	struct canvas *canvas;
	const struct chart_series *chart;
	struct scale time;
	double names_at; /* where names of lines begin */
	double names;	 /* how wide they may be; 0: below the panel */
};

/*
 * A line through all samples; where a pixel holds many, its lowest and highest, so that no peak is lost. A NAN leaves a
 * gap.
 */
static const char *line_path(struct arena *arena, const struct scale *x, const struct scale *y,
			     const struct chart_line *line)
{
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	CLEANUP(base_fclose) FILE *out = open_memstream(&text, &size);
	bool down = false;

	if (!out)
		err_no_memory();
	for (int i = 0; i < line->count;) {
		double at = scale_at(x, line->times_s[i]), low = NAN, high = NAN, last = NAN;
		int first = i;

		for (; i < line->count && scale_at(x, line->times_s[i]) - at < 0.5; i++) {
			if (!isfinite(line->values[i]))
				break;
			chart_hold(&low, &high, line->values[i]);
			last = line->values[i];
		}
		if (i == first) {
			down = false;
			i++;
			continue;
		}
		if (i - first == 1)
			(void)fprintf(out, "%c%.1f %.1f", down ? 'L' : 'M', at, scale_at(y, last));
		else
			(void)fprintf(out, "%c%.1f %.1fL%.1f %.1fL%.1f %.1f", down ? 'L' : 'M', at, scale_at(y, low),
				      at, scale_at(y, high), at, scale_at(y, last));
		/* A sample alone between gaps is a dot. */
		if (!down && (i >= line->count || !isfinite(line->values[i])))
			(void)fprintf(out, "h0.1");
		down = true;
	}
	base_fclose(&out);
	return arena_strdup(arena, text);
}

/* The last value that a line has; NAN: none. */
static double last_value(const struct chart_line *line)
{
	for (int i = line->count - 1; i >= 0; i--)
		if (isfinite(line->values[i]))
			return line->values[i];
	return NAN;
}

/* Names at the ends of their lines, pushed apart so that none touches another. */
static void put_names(const struct series *series, const struct chart_panel *panel, const struct scale *y, double top,
		      double bottom)
{
	struct arena *arena = series->canvas->arena;
	double *at = ARENA_ARRAY(arena, (size_t)panel->line_count + 1, double);
	int *order = ARENA_ARRAY(arena, (size_t)panel->line_count + 1, int);

	for (int i = 0; i < panel->line_count; i++) {
		double value = last_value(&panel->lines[i]);
		int k = i;

		at[i] = isfinite(value) ? scale_at(y, value) : bottom;
		for (; k > 0 && at[order[k - 1]] > at[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (int i = 0; i < panel->line_count; i++) {
		double least = i ? at[order[i - 1]] + CANVAS_LINE - 2 : top + 4;

		at[order[i]] = fmax(at[order[i]], least);
	}
	for (int i = panel->line_count - 1; i >= 0; i--) {
		double most = i + 1 < panel->line_count ? at[order[i + 1]] - CANVAS_LINE + 2 : bottom;

		at[order[i]] = fmin(at[order[i]], most);
	}
	for (int i = 0; i < panel->line_count; i++) {
		canvas_line(series->canvas, arena_printf(arena, "s%d", i % PATTERNS), series->names_at - 22, at[i],
			    series->names_at - 4, at[i]);
		(void)canvas_text(series->canvas, "small", CANVAS_START, series->names_at, at[i] + 4,
				  panel->lines[i].label, CANVAS_SMALL, series->names);
	}
}

/* The line that tells how line `index` is drawn: the number of names up to it. */
static int pattern(const struct chart_panel *panel, int index)
{
	int names = 0;

	for (int i = 0; i <= index; i++)
		names += i > 0 && panel->lines[i].label;
	return names % PATTERNS;
}

/* A key below the panel where it is narrow or there are many lines. The y below it. */
static double put_key(const struct series *series, const struct chart_panel *panel, double y)
{
	double x = EDGE;

	for (int i = 0; i < panel->line_count; i++) {
		if (!panel->lines[i].label)
			continue;
		double most = series->canvas->width - 2 * EDGE - 26;
		double width = fmin(canvas_text_width(panel->lines[i].label, CANVAS_SMALL), most);

		if (x > EDGE && x + 26 + width > series->canvas->width - EDGE) {
			x = EDGE;
			y += CANVAS_LINE;
		}
		canvas_line(series->canvas, arena_printf(series->canvas->arena, "s%d", pattern(panel, i)), x, y + 8,
			    x + 20, y + 8);
		(void)canvas_text(series->canvas, "small", CANVAS_START, x + 26, y + CANVAS_SMALL,
				  panel->lines[i].label, CANVAS_SMALL, most);
		x += 26 + width + 16;
	}
	return y + CANVAS_LINE + 4;
}

static double put_panel(const struct series *series, const struct chart_panel *panel, double y)
{
	struct canvas *canvas = series->canvas;
	double low = NAN, high = NAN, left = series->time.from, right = series->time.to;
	bool none = true;

	for (int i = 0; i < panel->line_count; i++)
		for (int k = 0; k < panel->lines[i].count; k++)
			chart_hold(&low, &high, panel->lines[i].values[k]);
	none = !isfinite(low);
	chart_pad(&low, &high, 0.05);
	struct scale scale = scale_make(low, high, panel->measure.unit, 5);

	y += canvas_lines(canvas, "small strong-ink", CANVAS_START, EDGE, y + CANVAS_SMALL,
			  none ? arena_printf(canvas->arena, "%s: nothing was measured", panel->measure.name)
			       : chart_measure_words(canvas->arena, &panel->measure, scale.unit),
			  CANVAS_SMALL, canvas->width - 2 * EDGE, 3) *
	     CANVAS_LINE;
	if (none)
		return y + 8;
	double top = y + 8, bottom = top + PANEL;

	scale.from = bottom;
	scale.to = top;
	for (int i = 0; i < scale.tick_count; i++) {
		double at = scale_at(&scale, scale_tick(&scale, i));

		canvas_line(canvas, "grid", left, at, right, at);
		(void)canvas_text(canvas, "small", CANVAS_END, left - 6, at + 4,
				  scale_tick_text(canvas->arena, &scale, i), CANVAS_SMALL, 0);
	}
	for (int i = 0; i < series->chart->event_count; i++) {
		double at = scale_at(&series->time, series->chart->events[i].time_s);

		canvas_line(canvas, "ref dashed", at, top, at, bottom);
	}
	for (int i = 0; i < panel->line_count; i++)
		canvas_path(canvas, arena_printf(canvas->arena, "s%d line", pattern(panel, i)),
			    line_path(canvas->arena, &series->time, &scale, &panel->lines[i]));
	canvas_line(canvas, "axis", left, bottom, right, bottom);
	if (series->names > 0)
		put_names(series, panel, &scale, top, bottom);
	else if (panel->line_count > 1)
		return put_key(series, panel, bottom + 8) + 6;
	return bottom + 14;
}

/* What happened when: below, since texts at the lines would stand on each other. */
static double put_events(const struct series *series, double y)
{
	struct arena *arena = series->canvas->arena;

	for (int i = 0; i < series->chart->event_count; i++)
		y += canvas_lines(series->canvas, "small", CANVAS_START, EDGE, y + CANVAS_SMALL,
				  arena_printf(arena, "%s: %s",
					       scale_value(arena, &series->time, series->chart->events[i].time_s,
							   series->time.step / 2),
					       series->chart->events[i].label),
				  CANVAS_SMALL, series->canvas->width - 2 * EDGE, 3) *
		     CANVAS_LINE;
	return y;
}

/* The widest texts left of the panels. */
static double ticks_of_all(const struct series *series)
{
	double width = 0;

	for (int p = 0; p < series->chart->panel_count; p++) {
		const struct chart_panel *panel = &series->chart->panels[p];
		double low = NAN, high = NAN;

		for (int i = 0; i < panel->line_count; i++)
			for (int k = 0; k < panel->lines[i].count; k++)
				chart_hold(&low, &high, panel->lines[i].values[k]);
		chart_pad(&low, &high, 0.05);
		struct scale scale = scale_make(low, high, panel->measure.unit, 5);

		width = fmax(width, chart_ticks_width(series->canvas->arena, &scale));
	}
	return width;
}

void chart_svg_series(struct canvas *canvas, const struct chart_series *chart, double y)
{
	struct series series = {.canvas = canvas, .chart = chart};
	double low = NAN, high = NAN, names = 0, left, right = canvas->width - 28;
	int most_lines = 0;
	bool all_named = true;

	for (int p = 0; p < chart->panel_count; p++)
		for (int i = 0; i < chart->panels[p].line_count; i++) {
			const struct chart_line *line = &chart->panels[p].lines[i];

			all_named &= line->label != NULL;
			names = fmax(names, line->label ? canvas_text_width(line->label, CANVAS_SMALL) : 0);
			most_lines = MAX_OF(most_lines, chart->panels[p].line_count);
			for (int k = 0; k < line->count; k++)
				chart_hold(&low, &high, line->times_s[k]);
		}
	left = EDGE + ticks_of_all(&series) + 10;
	/* Names stand at their lines where there is room for them. */
	if (canvas->width >= 560 && all_named && most_lines > 1 && most_lines * (CANVAS_LINE - 2) <= PANEL) {
		series.names = fmin(names, canvas->width * 0.25);
		series.names_at = canvas->width - EDGE - series.names;
		right = series.names_at - 30;
	}
	series.time = chart_across(canvas->arena, low, high, "s", left, right);
	for (int p = 0; p < chart->panel_count; p++)
		y = put_panel(&series, &chart->panels[p], y);
	y = chart_axis_below(
	    canvas, &series.time,
	    arena_printf(canvas->arena, "%s, %s", chart->time ? chart->time : "time", series.time.unit), y);
	(void)put_events(&series, y);
}

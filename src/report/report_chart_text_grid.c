/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns charts of two axes in the terminal: heat map, Pareto, series. */
#include <math.h>

#include "report_chart_svg.h"
#include "report_chart_text.h"

#include "err.h"
#include "text.h"

/* ---- heat map ---- */

static const char *shade(const struct term *term, double share)
{
	static const char *const drawn[] = {"\u00b7", "\u2591", "\u2592", "\u2593", "\u2588"};
	static const char *const plain[] = {".", ":", "+", "*", "#"};
	int index = isfinite(share) ? (int)fmin(4, floor(share * 5)) : 0;

	return term->utf8 ? drawn[index] : plain[index];
}

struct heat_cells {
	const struct chart_heat *chart;
	struct scale bare;
	double low, high;
	int label, cell; /* columns */
};

/* A run of columns as a table, as many as fit; the first that did not. */
static int put_heat_columns(const struct term *term, struct arena *arena, const struct heat_cells *heat, int first)
{
	const struct chart_heat *chart = heat->chart;
	int fit = MAX_OF(1, (term->width - heat->label) / (heat->cell + 2));
	int last = MIN_OF(first + fit, chart->column_count);

	(void)fprintf(term->out, "%*s", heat->label, "");
	for (int i = first; i < last; i++)
		(void)fprintf(term->out, "  %s", text_fill(term, arena, chart->columns[i], heat->cell));
	(void)fputc('\n', term->out);
	for (int row = 0; row < chart->row_count; row++) {
		(void)fputs(text_fill(term, arena, chart->rows[row], heat->label), term->out);
		for (int i = first; i < last; i++) {
			double value = chart->values[row * chart->column_count + i];
			const char *text =
			    isfinite(value)
				? arena_printf(arena, "%s %s",
					       shade(term, (value - heat->low) / (heat->high - heat->low)),
					       scale_value(arena, &heat->bare, value, (heat->high - heat->low) / 20))
				: "?";

			(void)fprintf(term->out, "  %s", text_fill(term, arena, text, heat->cell));
		}
		(void)fputc('\n', term->out);
	}
	return last;
}

void chart_text_heat(const struct term *term, struct arena *arena, const struct chart_heat *chart)
{
	struct heat_cells heat = {.chart = chart, .low = NAN, .high = NAN};

	for (int i = 0; i < chart->row_count * chart->column_count; i++)
		chart_hold(&heat.low, &heat.high, chart->values[i]);
	heat.bare = scale_make(heat.low, heat.high, chart->measure.unit, 5);
	text_flow(term, arena, 0, false,
		  arena_printf(arena, "%s; rows: %s, columns: %s",
			       chart_measure_words(arena, &chart->measure, heat.bare.unit), chart->row_name,
			       chart->column_name));
	heat.bare.unit[0] = '\0';
	if (!(heat.low < heat.high)) {
		heat.low = heat.bare.low;
		heat.high = heat.bare.high;
	}
	for (int i = 0; i < chart->row_count; i++)
		heat.label = MAX_OF(heat.label, term_columns(chart->rows[i]));
	heat.label = MIN_OF(heat.label, term->width / 3);
	for (int i = 0; i < chart->column_count; i++)
		heat.cell = MAX_OF(heat.cell, MIN_OF(term_columns(chart->columns[i]), 16));
	for (int i = 0; i < chart->row_count * chart->column_count; i++)
		if (isfinite(chart->values[i]))
			heat.cell = MAX_OF(heat.cell, 2 + term_columns(scale_value(arena, &heat.bare, chart->values[i],
										   (heat.high - heat.low) / 20)));
	heat.cell = MIN_OF(heat.cell, term->width - heat.label - 2);
	for (int first = 0; first < chart->column_count;)
		first = put_heat_columns(term, arena, &heat, first);
}

/* ---- a plot of rows of cells, the first on top ---- */

struct text_plot {
	const struct term *term;
	struct arena *arena;
	struct scale x, y;
	int left, width, height;
	struct text_track *rows;
};

static struct text_plot plot_new(const struct term *term, struct arena *arena, const char *unit, double low,
				 double high, int height)
{
	struct text_plot plot = {.term = term, .arena = arena, .height = height};

	plot.y = scale_make(low, high, unit, 4);
	plot.y.from = height - 1;
	for (int i = 0; i < plot.y.tick_count; i++)
		plot.left = MAX_OF(plot.left, term_columns(scale_tick_text(arena, &plot.y, i)));
	plot.y.to = 0;
	plot.width = MIN_OF(term->width - plot.left - 2, 100);
	plot.rows = ARENA_ARRAY(arena, (size_t)height, struct text_track);
	for (int i = 0; i < height; i++)
		plot.rows[i] = text_track_new(arena, plot.width);
	return plot;
}

static void plot_print(const struct text_plot *plot)
{
	for (int row = 0; row < plot->height; row++) {
		const char *number = "";

		for (int i = 0; i < plot->y.tick_count; i++)
			if (text_column(&plot->y, scale_tick(&plot->y, i)) == row)
				number = scale_tick_text(plot->arena, &plot->y, i);
		(void)fprintf(plot->term->out, "%*s %s%s\n", plot->left, number,
			      *number ? (plot->term->utf8 ? "\u2524" : "+") : (plot->term->utf8 ? "\u2502" : "|"),
			      text_track_line(&plot->rows[row]));
	}
}

/* ---- Pareto ---- */

static const char *point_mark(struct arena *arena, int index)
{
	return index < 26   ? arena_printf(arena, "%c", 'A' + index)
	       : index < 52 ? arena_printf(arena, "%c", 'a' + index - 26)
			    : "*";
}

void chart_text_pareto(const struct term *term, struct arena *arena, const struct chart_pareto *chart)
{
	double low_x = NAN, high_x = NAN, low_y = NAN, high_y = NAN;

	for (int i = 0; i < chart->count; i++) {
		chart_hold(&low_x, &high_x, chart->points[i].x);
		chart_hold(&low_y, &high_y, chart->points[i].y);
	}
	chart_pad(&low_x, &high_x, 0.05);
	chart_pad(&low_y, &high_y, 0.05);
	struct text_plot plot = plot_new(term, arena, chart->y.unit, low_y, high_y, 16);

	plot.x = text_scale(arena, low_x, high_x, chart->x.unit, plot.width);
	text_flow(term, arena, 0, false, chart_measure_words(arena, &chart->y, plot.y.unit));
	for (int i = 0; i < chart->count; i++) {
		const struct chart_point *point = &chart->points[i];
		int column = text_column(&plot.x, point->x), row = text_column(&plot.y, point->y);

		if (column < 0 || row < 0)
			continue;
		/* Two at one place: a sign of its own, and the list below tells both. */
		text_track_put(&plot.rows[row], column,
			       text_equal(plot.rows[row].cells[column], " ") ? point_mark(arena, i) : "&");
	}
	plot_print(&plot);
	text_axis(term, arena, &plot.x, plot.left + 2, plot.width, chart_measure_words(arena, &chart->x, plot.x.unit));
	for (int i = 0; i < chart->count; i++) {
		const struct chart_point *point = &chart->points[i];

		(void)fprintf(term->out, "%s%s%s ", point->front ? term_on(term, TERM_GREEN) : "", point_mark(arena, i),
			      point->front ? term_on(term, TERM_PLAIN) : "");
		text_flow(term, arena, 2, true,
			  arena_printf(arena, "%s: %s, %s%s%s%s", point->label,
				       chart_estimate(arena, &plot.x, point->x, point->x_low, point->x_high),
				       chart_estimate(arena, &plot.y, point->y, point->y_low, point->y_high),
				       point->front ? ", on the front" : "", point->note ? "; " : "",
				       point->note ? point->note : ""));
	}
}

/* ---- series ---- */

/* Two by four dots in a character, U+2800 and on: the bit of each. */
static const unsigned char braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

static const char *braille_character(struct arena *arena, unsigned bits)
{
	char text[4] = {(char)0xe2, (char)(0xa0 | (bits >> 6)), (char)(0x80 | (bits & 0x3f)), '\0'};

	return bits ? arena_strdup(arena, text) : " ";
}

/* Each sample is a dot: eight in a character, or a star. */
static void plot_line(struct text_plot *plot, const struct chart_line *line)
{
	int fine_x = plot->term->utf8 ? 2 : 1, fine_y = plot->term->utf8 ? 4 : 1;
	unsigned *bits = ARENA_ARRAY(plot->arena, (size_t)plot->width * (size_t)plot->height, unsigned);
	struct scale x = plot->x, y = plot->y;

	x.to = plot->width * fine_x - 1;
	y.from = plot->height * fine_y - 1;
	for (int i = 0; i < line->count; i++) {
		int column = text_column(&x, line->times_s[i]), row = text_column(&y, line->values[i]);

		if (column >= 0 && row >= 0)
			bits[row / fine_y * plot->width + column / fine_x] |= braille[row % fine_y][column % fine_x];
	}
	for (int row = 0; row < plot->height; row++)
		for (int column = 0; column < plot->width; column++) {
			unsigned dots = bits[row * plot->width + column];

			if (dots)
				text_track_put(&plot->rows[row], column,
					       plot->term->utf8 ? braille_character(plot->arena, dots) : "*");
		}
}

/* The lines of a panel below each other, all with the same axes. */
static void put_panel(const struct term *term, struct arena *arena, const struct chart_panel *panel, double first,
		      double last, const char *time)
{
	double low = NAN, high = NAN;

	for (int i = 0; i < panel->line_count; i++)
		for (int k = 0; k < panel->lines[i].count; k++)
			chart_hold(&low, &high, panel->lines[i].values[k]);
	if (!isfinite(low))
		text_flow(term, arena, 0, false, arena_printf(arena, "%s: nothing was measured", panel->measure.name));
	for (int i = 0; i < panel->line_count && isfinite(low);) {
		struct text_plot plot = plot_new(term, arena, panel->measure.unit, low, high, 5);
		const char *name = panel->lines[i].label ? panel->lines[i].label : "?";

		plot.x = text_scale(arena, first, last, "s", plot.width);
		text_flow(
		    term, arena, 0, false,
		    arena_printf(arena, "%s: %s", name, chart_measure_words(arena, &panel->measure, plot.y.unit)));
		/* With those that belong to it. */
		do
			plot_line(&plot, &panel->lines[i++]);
		while (i < panel->line_count && !panel->lines[i].label);
		plot_print(&plot);
		if (i == panel->line_count)
			text_axis(term, arena, &plot.x, plot.left + 2, plot.width,
				  arena_printf(arena, "%s, %s", time, plot.x.unit));
	}
}

void chart_text_series(const struct term *term, struct arena *arena, const struct chart_series *chart)
{
	double first = NAN, last = NAN;

	for (int p = 0; p < chart->panel_count; p++)
		for (int i = 0; i < chart->panels[p].line_count; i++)
			for (int k = 0; k < chart->panels[p].lines[i].count; k++)
				chart_hold(&first, &last, chart->panels[p].lines[i].times_s[k]);
	for (int p = 0; p < chart->panel_count; p++)
		put_panel(term, arena, &chart->panels[p], first, last, chart->time ? chart->time : "time");
	struct scale time = text_scale(arena, first, last, "s", term->width);

	for (int i = 0; i < chart->event_count; i++)
		text_flow(term, arena, 0, false,
			  arena_printf(arena, "%s: %s",
				       scale_value(arena, &time, chart->events[i].time_s, time.step / 2),
				       chart->events[i].label));
}

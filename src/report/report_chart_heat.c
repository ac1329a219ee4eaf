/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns drawing a heat map: a value for each pair of levels, readable without its colours. */
#include "report_chart_svg.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "text.h"

enum { EDGE = 4, SHADES = 7, PAD = 6, LABEL_LINES = 3 };

struct heat {
	struct canvas *canvas;
	const struct chart_heat *chart;
	struct scale scale;
	double low, high;
	double left; /* of the cells */
	double cell; /* their width */
	int columns; /* beside each other */
	int first;   /* of those that are being drawn */
	bool keyed;  /* columns carry letters, told below */
};

static const char *letters(struct arena *arena, int index)
{
	if (index < 26)
		return arena_printf(arena, "%c", 'A' + index);
	return arena_printf(arena, "%s%c", letters(arena, index / 26 - 1), 'A' + index % 26);
}

/* The best of all cells, or -1. */
static int best_cell(const struct chart_heat *chart)
{
	int best = -1;

	for (int i = 0; i < chart->row_count * chart->column_count && chart->measure.better != CHART_NEITHER; i++)
		if (isfinite(chart->values[i]) &&
		    (best < 0 || (chart->measure.better == CHART_LOWER ? chart->values[i] < chart->values[best]
								       : chart->values[i] > chart->values[best])))
			best = i;
	return best;
}

static const char *cell_text(const struct heat *heat, double value)
{
	struct scale bare = heat->scale;

	bare.unit[0] = '\0';
	return isfinite(value) ? scale_value(heat->canvas->arena, &bare, value, (heat->high - heat->low) / 20) : "?";
}

static double widest_cell(const struct heat *heat)
{
	double width = 0;

	for (int i = 0; i < heat->chart->row_count * heat->chart->column_count; i++)
		width = fmax(width, canvas_text_width(cell_text(heat, heat->chart->values[i]), CANVAS_SMALL));
	return width;
}

/* The longest part of a column's name that is not broken. */
static double widest_word(const struct heat *heat)
{
	double widest = 0;

	for (int i = 0; i < heat->chart->column_count; i++)
		for (const char *at = heat->chart->columns[i]; *at;) {
			size_t length = strcspn(at, " " CANVAS_JOINTS);

			length += at[length] != '\0';
			widest = fmax(widest,
				      canvas_text_width(arena_strndup(heat->canvas->arena, at, length), CANVAS_SMALL));
			at += length;
		}
	return widest;
}

/* As many columns beside each other as have room for their values. */
static void choose_columns(struct heat *heat)
{
	const struct chart_heat *chart = heat->chart;
	double width = heat->canvas->width, labels = 0;

	for (int i = 0; i < chart->row_count; i++)
		labels = fmax(labels, canvas_text_width(chart->rows[i], CANVAS_TEXT));
	heat->left = EDGE + fmin(labels, width * 0.34) + 10;
	double room = width - EDGE - heat->left;
	int fit = MAX_OF((int)(room / (widest_cell(heat) + PAD)), 1);

	heat->columns = MIN_OF(fit, chart->column_count);
	heat->cell = fmin(room / heat->columns, 110);
	heat->keyed = heat->cell < widest_word(heat) + PAD;
}

static void put_cell(const struct heat *heat, int row, int column, double y, double height, bool best)
{
	double value = heat->chart->values[row * heat->chart->column_count + column];
	double x = heat->left + (column - heat->first) * heat->cell,
	       share = (value - heat->low) / (heat->high - heat->low);
	int shade = isfinite(value) ? (int)fmin(SHADES - 1, floor(share * SHADES)) : -1;
	struct arena *arena = heat->canvas->arena;
	const char *text = cell_text(heat, value);

	canvas_rect(heat->canvas, shade < 0 ? "missing" : arena_printf(arena, "h%d", shade), x + 1, y + 1,
		    heat->cell - 2, height - 2);
	if (best)
		canvas_rect(heat->canvas, "frame", x + 2.5, y + 2.5, heat->cell - 5, height - 5);
	(void)canvas_text(heat->canvas, shade < 0 ? "small" : arena_printf(arena, "small t%d", shade), CANVAS_MIDDLE,
			  x + heat->cell / 2, y + height / 2 + 4, text, CANVAS_SMALL, 0);
}

/* Names above the columns, or their letters. The y below them. */
static double put_columns(const struct heat *heat, int last, double y)
{
	const struct chart_heat *chart = heat->chart;
	int lines = 1;

	for (int i = heat->first; i < last && !heat->keyed; i++)
		lines =
		    MAX_OF(lines, canvas_lines_count(chart->columns[i], CANVAS_SMALL, heat->cell - PAD, LABEL_LINES));
	for (int i = heat->first; i < last; i++)
		(void)canvas_lines(heat->canvas, "small strong-ink", CANVAS_MIDDLE,
				   heat->left + (i - heat->first + 0.5) * heat->cell, y + CANVAS_SMALL + 2,
				   heat->keyed ? letters(heat->canvas->arena, i) : chart->columns[i], CANVAS_SMALL,
				   heat->cell - PAD, LABEL_LINES);
	return y + lines * CANVAS_LINE + 4;
}

static void put_key(const struct heat *heat, double y)
{
	struct canvas *canvas = heat->canvas;
	const char *text = "";

	for (int i = 0; heat->keyed && i < heat->chart->column_count; i++)
		text = arena_printf(canvas->arena, "%s%s%s: %s", text, i ? "; " : "", letters(canvas->arena, i),
				    heat->chart->columns[i]);
	if (*text)
		(void)canvas_lines(canvas, "small", CANVAS_START, EDGE, y + CANVAS_SMALL, text, CANVAS_SMALL,
				   canvas->width - 2 * EDGE, INT_MAX);
}

/* All rows of the columns from heat->first up to `last`. The y below them. */
static double put_rows(const struct heat *heat, int last, double y)
{
	const struct chart_heat *chart = heat->chart;
	double most = heat->left - EDGE - 10;
	int best = best_cell(chart);

	for (int row = 0; row < chart->row_count; row++) {
		int lines = canvas_lines_count(chart->rows[row], CANVAS_TEXT, most, LABEL_LINES);
		double height = fmax(28, lines * CANVAS_LINE + 8);

		(void)canvas_lines(heat->canvas, "", CANVAS_START, EDGE,
				   y + (height - lines * CANVAS_LINE) / 2 + CANVAS_TEXT, chart->rows[row], CANVAS_TEXT,
				   most, LABEL_LINES);
		for (int column = heat->first; column < last; column++)
			put_cell(heat, row, column, y, height, row * chart->column_count + column == best);
		y += height;
	}
	return y;
}

void chart_svg_heat(struct canvas *canvas, const struct chart_heat *chart, double y)
{
	struct heat heat = {.canvas = canvas, .chart = chart, .low = NAN, .high = NAN};
	struct arena *arena = canvas->arena;

	for (int i = 0; i < chart->row_count * chart->column_count; i++)
		chart_hold(&heat.low, &heat.high, chart->values[i]);
	heat.scale = scale_make(heat.low, heat.high, chart->measure.unit, 5);
	/* One value alone: the range of the axis that was made of it. */
	if (!(heat.low < heat.high)) {
		heat.low = heat.scale.low;
		heat.high = heat.scale.high;
	}
	choose_columns(&heat);
	y += canvas_lines(canvas, "small", CANVAS_START, EDGE, y + CANVAS_SMALL,
			  arena_printf(arena, "%s; rows: %s; columns: %s",
				       chart_measure_words(arena, &chart->measure, heat.scale.unit), chart->row_name,
				       chart->column_name),
			  CANVAS_SMALL, canvas->width - 2 * EDGE, 5) *
	     CANVAS_LINE;
	while (heat.first < chart->column_count) {
		int last = MIN_OF(heat.first + heat.columns, chart->column_count);

		y = put_columns(&heat, last, y + 6);
		y = put_rows(&heat, last, y);
		heat.first = last;
	}
	put_key(&heat, y + 8);
}

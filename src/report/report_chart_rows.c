/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns rows and axes of charts. */
#include "report_chart_svg.h"

#include <math.h>
#include <string.h>

#include "text.h"

enum {
	EDGE = 4,	 /* free at the sides of the picture */
	HALF_TICK = 26,	 /* a tick text may stand half of this beyond the track */
	GAP = 12,	 /* between columns */
	NARROW = 560,	 /* below this many pixels texts stand above their tracks */
	LABEL_LINES = 4, /* a longer label is cut */
	ROW_GAP = 10,	 /* between rows */
	STRONG = 17,	 /* bold text of 13 pixels is no wider than plain text of this size */
};

/* ---- ranges and words ---- */

void chart_hold(double *low, double *high, double value)
{
	if (!isfinite(value))
		return;
	*low = isfinite(*low) ? fmin(*low, value) : value;
	*high = isfinite(*high) ? fmax(*high, value) : value;
}

void chart_pad(double *low, double *high, double share)
{
	double room = (*high - *low) * share;

	/* Where all is positive, nothing below zero is shown. */
	*low = *low >= 0 ? fmax(*low - room, 0) : *low - room;
	*high += room;
}

const char *chart_measure_words(struct arena *arena, const struct chart_measure *measure, const char *unit)
{
	static const char *const better[] = {
	    [CHART_NEITHER] = "", [CHART_LOWER] = " (less is better)", [CHART_HIGHER] = " (more is better)"};

	return arena_printf(arena, "%s%s%s%s", measure->name, *unit ? ", " : "", unit, better[measure->better]);
}

const char *chart_estimate(struct arena *arena, const struct scale *scale, double value, double low, double high)
{
	double half = (high - low) / 2;
	const char *text = scale_value(arena, scale, value, half);

	if (!isfinite(value) || !isfinite(low) || !isfinite(high))
		return text;
	/* The unit stands once. */
	struct scale bare = *scale;

	bare.unit[0] = '\0';
	return arena_printf(arena, "%s (%s to %s)", text, scale_value(arena, &bare, low, half),
			    scale_value(arena, &bare, high, half));
}

const char *chart_runs_words(struct arena *arena, const struct chart_runs *row)
{
	int warm_up = 0, out = 0;

	for (int i = 0; row->kinds && i < row->count; i++) {
		warm_up += row->kinds[i] == CHART_RUN_WARM_UP;
		out += row->kinds[i] == CHART_RUN_VOID;
	}
	int count = row->count - warm_up - out;
	const char *text = arena_printf(arena, "%d %s", count, count == 1 ? "run" : "runs");

	if (warm_up)
		text = arena_printf(arena, "%s, %d warm-up", text, warm_up);
	return out ? arena_printf(arena, "%s, %d void", text, out) : text;
}

/* ---- axes ---- */

double chart_ticks_width(struct arena *arena, const struct scale *scale)
{
	double width = 0;

	for (int i = 0; i < scale->tick_count; i++)
		width = fmax(width, canvas_text_width(scale_tick_text(arena, scale, i), CANVAS_SMALL));
	return width;
}

struct scale chart_across(struct arena *arena, double low, double high, const char *unit, double left, double right)
{
	struct scale scale;

	for (int ticks = 8;; ticks--) {
		scale = scale_make(low, high, unit, ticks);
		scale.from = left;
		scale.to = right;
		double apart = scale.step / (scale.high - scale.low) * (right - left);

		if (ticks <= 2 || chart_ticks_width(arena, &scale) + GAP <= apart)
			return scale;
	}
}

double chart_axis_below(struct canvas *canvas, const struct scale *scale, const char *what, double y)
{
	double text_y = y + 6 + CANVAS_SMALL;

	canvas_line(canvas, "axis", scale->from, y, scale->to, y);
	for (int i = 0; i < scale->tick_count; i++) {
		double x = scale_at(scale, scale_tick(scale, i));
		const char *text = scale_tick_text(canvas->arena, scale, i);
		double half = canvas_text_width(text, CANVAS_SMALL) / 2;

		canvas_line(canvas, "axis", x, y, x, y + 4);
		/* At the edge of the picture the text is moved in; ticks are too far apart to touch then. */
		(void)canvas_text(canvas, "small", CANVAS_MIDDLE, fmin(fmax(x, half + 1), canvas->width - half - 1),
				  text_y, text, CANVAS_SMALL, 0);
	}
	double left = scale->from > canvas->width * 0.25 ? scale->from : EDGE;
	int lines = canvas_lines(canvas, "small", CANVAS_START, left, text_y + CANVAS_LINE, what, CANVAS_SMALL,
				 canvas->width - left - EDGE, 3);

	return text_y + lines * CANVAS_LINE + 6;
}

/* ---- rows ---- */

static double column(const struct chart_row *rows, int count, bool labels, double most)
{
	double width = 0;

	for (int i = 0; i < count; i++) {
		const char *texts[] = {labels ? rows[i].label : rows[i].value, labels ? NULL : rows[i].note};

		for (int k = 0; k < 2; k++)
			if (texts[k])
				width = fmax(width, canvas_text_width(texts[k], k ? CANVAS_SMALL : CANVAS_TEXT));
	}
	return fmin(width, most);
}

struct chart_rows chart_rows_new(struct canvas *canvas, const struct chart_row *rows, int count, double low,
				 double high, const char *unit)
{
	double width = canvas->width;
	struct chart_rows all = {.canvas = canvas, .narrow = width < NARROW};

	all.left = HALF_TICK;
	all.right = width - HALF_TICK;
	all.label_width = width - 2 * EDGE;
	if (!all.narrow) {
		double values = column(rows, count, false, width * 0.3);

		all.label_width = column(rows, count, true, width * 0.34);
		all.left = EDGE + all.label_width + GAP + 4;
		all.value_at = width - EDGE - values;
		all.right = all.value_at - GAP - 4;
	}
	all.scale = chart_across(canvas->arena, low, high, unit, all.left, all.right);
	return all;
}

static int lines_of(const char *text, int size, double most)
{
	return text && *text ? canvas_lines_count(text, size, most, LABEL_LINES) : 0;
}

static void grid(struct chart_rows *rows, double top, double bottom)
{
	for (int i = 0; i < rows->scale.tick_count; i++) {
		double x = scale_at(&rows->scale, scale_tick(&rows->scale, i));

		canvas_line(rows->canvas, "grid", x, top, x, bottom);
	}
}

/* The value and the note below it, from the base line `y` on. */
static void put_value(struct chart_rows *rows, const struct chart_row *row, double x, double y, double most)
{
	int lines = 0;

	if (row->value)
		lines = canvas_lines(rows->canvas, "", CANVAS_START, x, y, row->value, CANVAS_TEXT, most, LABEL_LINES);
	if (row->note && *row->note)
		(void)canvas_lines(rows->canvas, "small", CANVAS_START, x, y + lines * CANVAS_LINE, row->note,
				   CANVAS_SMALL, most, LABEL_LINES);
}

double chart_rows_add(struct chart_rows *rows, const struct chart_row *row, double y, double track, double *ret_middle)
{
	double values = rows->narrow ? rows->label_width : rows->canvas->width - EDGE - rows->value_at;
	int label = MAX_OF(lines_of(row->label, CANVAS_TEXT, rows->label_width), 1);
	int value = lines_of(row->value, CANVAS_TEXT, values) + lines_of(row->note, CANVAS_SMALL, values);
	double base = y + CANVAS_TEXT;
	double texts = (rows->narrow ? label + value : MAX_OF(label, value)) * CANVAS_LINE;
	double height = rows->narrow ? texts + 4 + track : fmax(texts, track);
	double track_top = rows->narrow ? y + texts + 4 : y;

	grid(rows, track_top - (rows->narrow ? 0 : ROW_GAP), y + height);
	*ret_middle = rows->narrow ? track_top + track / 2 : y + height / 2;
	/* Beside a high track the texts stand in the middle of it. */
	double label_y = rows->narrow ? base : base + (height - label * CANVAS_LINE) / 2;
	double value_y = rows->narrow ? base + label * CANVAS_LINE : base + (height - value * CANVAS_LINE) / 2;

	(void)canvas_lines(rows->canvas, "", CANVAS_START, EDGE, label_y, row->label, CANVAS_TEXT, rows->label_width,
			   LABEL_LINES);
	put_value(rows, row, rows->narrow ? EDGE : rows->value_at, value_y, values);
	return y + height + ROW_GAP;
}

double chart_rows_heading(struct chart_rows *rows, const char *text, double y)
{
	int lines = canvas_lines(rows->canvas, "strong", CANVAS_START, EDGE, y + 6 + CANVAS_TEXT, text, STRONG,
				 rows->canvas->width - 2 * EDGE, 3);

	return y + 6 + lines * CANVAS_LINE + 6;
}

double chart_rows_axis(struct chart_rows *rows, const struct chart_measure *measure, double y)
{
	return chart_axis_below(rows->canvas, &rows->scale,
				chart_measure_words(rows->canvas->arena, measure, rows->scale.unit), y);
}

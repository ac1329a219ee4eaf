/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the kinds of charts share when they are drawn: rows with texts beside or above a track, axes, and words for
 * a measure. Used by the files of charts only.
 */
#ifndef HVTUNE_REPORT_CHART_SVG_H
#define HVTUNE_REPORT_CHART_SVG_H

#include "report_canvas.h"
#include "report_chart.h"
#include "report_scale.h"

/* The texts of one row: who, how much, and what to know of it. NULL: nothing. */
struct chart_row {
	const char *label, *value, *note;
};

/* Rows below each other that share an axis. In wide pictures the texts stand beside the track, in narrow ones above. */
struct chart_rows {
	struct canvas *canvas;
	struct scale scale; /* drawn from `left` to `right` */
	bool narrow;
	double label_width, value_at;
	double left, right; /* of the tracks */
};

/* Lay out `count` rows over values of `low` to `high`. */
struct chart_rows chart_rows_new(struct canvas *canvas, const struct chart_row *rows, int count, double low,
				 double high, const char *unit);

/*
 * Draw the texts and the grid of one row from `y` down, with a track at least `track` high; where that is comes back in
 * `ret_middle`. The y below the row.
 */
double chart_rows_add(struct chart_rows *rows, const struct chart_row *row, double y, double track, double *ret_middle);

/* A heading over the whole width. The y below it. */
double chart_rows_heading(struct chart_rows *rows, const char *text, double y);

/* The axis with its ticks and what is measured. The y below it. */
double chart_rows_axis(struct chart_rows *rows, const struct chart_measure *measure, double y);

/* An axis for `low` to `high` drawn from `left` to `right`, with ticks whose texts have room beside each other. */
struct scale chart_across(struct arena *arena, double low, double high, const char *unit, double left, double right);

/* Ticks with texts below a line at `y`, and what is measured below them. The y below all. */
double chart_axis_below(struct canvas *canvas, const struct scale *scale, const char *what, double y);

/* The widest of the tick texts. */
double chart_ticks_width(struct arena *arena, const struct scale *scale);

/* "time per run, s (less is better)"; `unit` is that of the axis. */
const char *chart_measure_words(struct arena *arena, const struct chart_measure *measure, const char *unit);

/* "82.4 s (81.9 to 82.9)"; without an interval the value alone. */
const char *chart_estimate(struct arena *arena, const struct scale *scale, double value, double low, double high);

/* "8 runs, 1 warm-up, 2 void". */
const char *chart_runs_words(struct arena *arena, const struct chart_runs *row);

/* "-3.1 s to 79.3 s (-3.8 %)": a step of a waterfall after the value `before`, NAN for the first. */
const char *chart_step_value(struct arena *arena, const struct scale *scale, const struct chart_step *step,
			     double before);

/* Widen *low and *high to hold `value`, unless it is NAN. Start with NAN for both. */
void chart_hold(double *low, double *high, double value);

/* The range with room at both ends. */
void chart_pad(double *low, double *high, double share);

/* Said instead of a chart in which no value is known. */
#define CHART_EMPTY "No value is known."
bool chart_is_empty(const struct chart *chart);

/* One for each kind. */
void chart_svg_intervals(struct canvas *canvas, const struct chart_intervals *chart, double y);
void chart_svg_waterfall(struct canvas *canvas, const struct chart_waterfall *chart, double y);
void chart_svg_dots(struct canvas *canvas, const struct chart_dots *chart, double y);
void chart_svg_heat(struct canvas *canvas, const struct chart_heat *chart, double y);
void chart_svg_pareto(struct canvas *canvas, const struct chart_pareto *chart, double y);
void chart_svg_series(struct canvas *canvas, const struct chart_series *chart, double y);

#endif

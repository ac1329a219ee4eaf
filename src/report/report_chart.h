/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns charts: what each shows, as plain data, and its forms: SVG for the page and for files, text for the terminal,
 * a paragraph for those who cannot see it.
 *
 * Nothing here reads or computes results: estimates and intervals come from the caller. NAN stands for what is not
 * known, which is never drawn as zero. Texts are UTF-8 and may be foreign: what may not be shown is replaced, long ones
 * are broken into lines. All data is borrowed and stays as it is.
 */
#ifndef HVTUNE_REPORT_CHART_H
#define HVTUNE_REPORT_CHART_H

#include "arena.h"
#include "term.h"

/* Which values are good: it decides words and colours, never the order. */
enum chart_better { CHART_NEITHER, CHART_LOWER, CHART_HIGHER };

struct chart_measure {
	const char *name; /* "time per run", "package power": the label of the axis */
	const char *unit; /* of the values, as scale_make() takes it */
	enum chart_better better;
};

/* What stands out. */
enum chart_mark {
	CHART_PLAIN,
	CHART_REFERENCE, /* what the others are compared with: a line through the chart */
	CHART_BEST,
	CHART_UNSURE, /* no difference was shown: hollow */
	CHART_BAD,    /* shown to be worse */
};

/* ---- one estimate with its interval for each configuration ---- */

struct chart_interval {
	const char *label;
	const char *group; /* a heading above those that follow; NULL: as the one before */
	double value, low, high;
	const char *note; /* beside the value: "5.1 % faster"; or why there is none. NULL: nothing */
	enum chart_mark mark;
};

struct chart_intervals {
	struct chart_measure measure;
	const struct chart_interval *rows;
	int count;
};

/* ---- a chain of single changes, from a start to an end ---- */

struct chart_step {
	const char *label;
	double value;			/* after this step; of the first row: the start */
	double change_low, change_high; /* interval of the step: value minus the one before. NAN: none is known */
	const char *note;
	double order_low, order_high; /* what the step would be in another order, as the interval; equal: not known */
	bool measured;		      /* no step, but where the others lead to, as measured; the interval is its own */
};

struct chart_waterfall {
	struct chart_measure measure;
	const struct chart_step *steps;
	int count;
};

/* ---- one value for each pair of levels ---- */

struct chart_heat {
	struct chart_measure measure;
	const char *row_name, *column_name; /* the factors: "tuned profile", "amd_pstate mode" */
	const char *const *rows, *const *columns;
	int row_count, column_count;
	const double *values; /* row by row */
};

/* ---- two measures at once ---- */

struct chart_point {
	const char *label;
	double x, x_low, x_high, y, y_low, y_high;
	bool front; /* not dominated, as the caller decided */
	const char *note;
};

struct chart_pareto {
	struct chart_measure x, y;
	const struct chart_point *points;
	int count;
};

/* ---- measures over time, one panel each ---- */

struct chart_line {
	const char *label; /* NULL: it belongs to the line before it, another run of the same, and is drawn like it */
	const double *times_s, *values; /* `count`, times rising; a NAN value leaves a gap */
	int count;
};

struct chart_panel {
	struct chart_measure measure;
	const struct chart_line *lines;
	int line_count;
};

struct chart_event {
	double time_s;
	const char *label;
};

struct chart_series {
	const struct chart_panel *panels;
	int panel_count;
	const struct chart_event *events; /* vertical lines through all panels: starts of runs, changes */
	int event_count;
	const char *time; /* what the times count from: "time since the run began"; NULL: "time" */
};

/* ---- every run ---- */

enum chart_run { CHART_RUN_VALID, CHART_RUN_WARM_UP, CHART_RUN_VOID, CHART_RUN_OUTLIER };

struct chart_runs {
	const char *label;
	const double *values;	     /* count */
	const enum chart_run *kinds; /* count; NULL: all are valid */
	int count;
	double value, low, high; /* the estimate and its interval */
};

struct chart_dots {
	struct chart_measure measure;
	const struct chart_runs *rows;
	int count;
};

/* ---- any of them ---- */

enum chart_kind { CHART_INTERVALS, CHART_WATERFALL, CHART_HEAT, CHART_PARETO, CHART_SERIES, CHART_DOTS };

struct chart {
	enum chart_kind kind;
	const char *title; /* a sentence that says what is shown */
	const char *note;  /* below: source, boundary, number of runs; NULL: nothing */
	union {
		struct chart_intervals intervals;
		struct chart_waterfall waterfall;
		struct chart_heat heat;
		struct chart_pareto pareto;
		struct chart_series series;
		struct chart_dots dots;
	};
};

enum { CHART_WIDTH_LEAST = 300, CHART_WIDTH_NARROW = 342, CHART_WIDTH_WIDE = 760 };

/*
 * One picture of `width` CSS pixels (at least CHART_WIDTH_LEAST), as high as it needs to be. `id` is unique in the page
 * for the text that describes it. `alone`: a file of its own, with the style sheet inside; else the page has it.
 */
void chart_svg(FILE *out, const struct chart *chart, int width, const char *id, bool alone);

/* The style sheet for charts in a page: colours as variables, for light and dark and for print. */
void chart_svg_style(FILE *out);

/* For the terminal: within its width; ASCII where it can draw no more. */
void chart_text(const struct term *term, const struct chart *chart);

/* What the chart shows, in sentences, for screen readers and for text: each value with its unit and interval. */
const char *chart_words(struct arena *arena, const struct chart *chart);

#endif

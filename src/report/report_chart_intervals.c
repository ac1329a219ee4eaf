/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns drawing the charts of rows: intervals, the chain of single changes, and every run. */
#include "report_chart_svg.h"

#include <math.h>
#include <string.h>

#include "text.h"

enum { TRACK = 18, CAP = 5, BAR = 14, DOT = 3 };

/* ---- intervals ---- */

static const struct chart_interval *reference(const struct chart_intervals *chart)
{
	for (int i = 0; i < chart->count; i++)
		if (chart->rows[i].mark == CHART_REFERENCE && isfinite(chart->rows[i].value))
			return &chart->rows[i];
	return NULL;
}

/* The interval as a line with caps, the estimate as a shape of its own for each mark. */
static void put_interval(struct canvas *canvas, const struct scale *scale, enum chart_mark mark, double value,
			 double low, double high, double y)
{
	static const char *const classes[] = {[CHART_PLAIN] = "main",
					      [CHART_REFERENCE] = "ref",
					      [CHART_BEST] = "good",
					      [CHART_UNSURE] = "main hollow",
					      [CHART_BAD] = "bad"};
	double x = scale_at(scale, value);

	if (!isfinite(value))
		return;
	if (isfinite(low) && isfinite(high)) {
		double from = scale_at(scale, low), to = scale_at(scale, high);

		canvas_line(canvas, classes[mark], from, y, to, y);
		canvas_line(canvas, classes[mark], from, y - CAP, from, y + CAP);
		canvas_line(canvas, classes[mark], to, y - CAP, to, y + CAP);
	}
	if (mark == CHART_REFERENCE)
		canvas_rect(canvas, classes[mark], x - 4.5, y - 4.5, 9, 9);
	else if (mark == CHART_BEST || mark == CHART_BAD)
		canvas_path(canvas, classes[mark],
			    arena_printf(canvas->arena, "M%.1f %.1fL%.1f %.1f %.1f %.1f %.1f %.1fZ", x, y - 6.5,
					 x + 6.5, y, x, y + 6.5, x - 6.5, y));
	else
		canvas_circle(canvas, classes[mark], x, y, 5);
}

void chart_svg_intervals(struct canvas *canvas, const struct chart_intervals *chart, double y)
{
	struct arena *arena = canvas->arena;
	struct chart_row *rows = ARENA_ARRAY(arena, (size_t)chart->count + 1, struct chart_row);
	const struct chart_interval *base = reference(chart);
	double low = NAN, high = NAN;

	for (int i = 0; i < chart->count; i++) {
		chart_hold(&low, &high, chart->rows[i].value);
		chart_hold(&low, &high, chart->rows[i].low);
		chart_hold(&low, &high, chart->rows[i].high);
	}
	chart_pad(&low, &high, 0.06);
	struct scale scale = scale_make(low, high, chart->measure.unit, 8);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_interval *row = &chart->rows[i];

		rows[i] = (struct chart_row){
		    row->label,
		    isfinite(row->value) ? chart_estimate(arena, &scale, row->value, row->low, row->high) : "not known",
		    row->note};
	}
	struct chart_rows all = chart_rows_new(canvas, rows, chart->count, low, high, chart->measure.unit);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_interval *row = &chart->rows[i];
		double middle, top = y;

		if (row->group) {
			y = chart_rows_heading(&all, row->group, y);
			top = y;
		}
		y = chart_rows_add(&all, &rows[i], y, TRACK, &middle);
		if (base) {
			double x = scale_at(&all.scale, base->value);

			canvas_line(canvas, "ref dashed", x, all.narrow ? middle - TRACK / 2. : top - 6, x,
				    all.narrow ? middle + TRACK / 2. : y - 6);
		}
		put_interval(canvas, &all.scale, row->mark, row->value, row->low, row->high, middle);
	}
	(void)chart_rows_axis(&all, &chart->measure, y);
}

/* ---- waterfall ---- */

/* Is the step shown to be good or bad, or is its interval not clear of zero? */
static const char *step_class(const struct chart_waterfall *chart, double change, double low, double high)
{
	bool clear = !isfinite(low) || !isfinite(high) || low > 0 || high < 0;

	if (!clear || chart->measure.better == CHART_NEITHER || change == 0)
		return clear ? "main" : "main hollow";
	return (change < 0) == (chart->measure.better == CHART_LOWER) ? "good" : "bad";
}

const char *chart_step_value(struct arena *arena, const struct scale *scale, const struct chart_step *step,
			     double before)
{
	double half = (step->change_high - step->change_low) / 2, change = step->value - before;

	if (!isfinite(step->value))
		return "not known";
	if (step->measured)
		return chart_estimate(arena, scale, step->value, step->value + step->change_low,
				      step->value + step->change_high);
	if (!isfinite(before))
		return scale_value(arena, scale, step->value, NAN);
	return arena_printf(arena, "%s to %s (%s\u00a0%%)", scale_change(arena, scale, change, half, true),
			    scale_value(arena, scale, step->value, half),
			    before != 0 ? scale_change(arena, &(struct scale){.unit_size = 1}, 100 * change / before,
						       100 * half / fabs(before), true)
					: "?");
}

/* The last value known before row `index`. */
static double value_before(const struct chart_waterfall *chart, int index)
{
	while (index-- > 0)
		if (isfinite(chart->steps[index].value))
			return chart->steps[index].value;
	return NAN;
}

/* The interval of a step from `before`; below it, thin, the range over orders. */
static void put_span(struct canvas *canvas, const struct scale *scale, const struct chart_step *step, double before,
		     double y)
{
	if (isfinite(step->change_low) && isfinite(step->change_high))
		canvas_line(canvas, "ink", scale_at(scale, before + step->change_low), y,
			    scale_at(scale, before + step->change_high), y);
	if (step->order_high > step->order_low) {
		double from = scale_at(scale, before + step->order_low),
		       to = scale_at(scale, before + step->order_high);
		double below = y + BAR / 2. + 3;

		canvas_line(canvas, "axis", from, below, to, below);
		canvas_line(canvas, "axis", from, below - 2, from, below + 2);
		canvas_line(canvas, "axis", to, below - 2, to, below + 2);
	}
}

void chart_svg_waterfall(struct canvas *canvas, const struct chart_waterfall *chart, double y)
{
	struct arena *arena = canvas->arena;
	struct chart_row *rows = ARENA_ARRAY(arena, (size_t)chart->count + 1, struct chart_row);
	double low = NAN, high = NAN;

	for (int i = 0; i < chart->count; i++) {
		double before = value_before(chart, i);

		chart_hold(&low, &high, chart->steps[i].value);
		chart_hold(&low, &high, before + chart->steps[i].change_low);
		chart_hold(&low, &high, before + chart->steps[i].change_high);
		chart_hold(&low, &high, before + chart->steps[i].order_low);
		chart_hold(&low, &high, before + chart->steps[i].order_high);
	}
	chart_pad(&low, &high, 0.06);
	struct scale scale = scale_make(low, high, chart->measure.unit, 8);

	for (int i = 0; i < chart->count; i++)
		rows[i] = (struct chart_row){chart->steps[i].label,
					     chart_step_value(arena, &scale, &chart->steps[i], value_before(chart, i)),
					     chart->steps[i].note};
	struct chart_rows all = chart_rows_new(canvas, rows, chart->count, low, high, chart->measure.unit);
	double last = NAN;

	for (int i = 0; i < chart->count; i++) {
		const struct chart_step *step = &chart->steps[i];
		double before = value_before(chart, i), middle;

		y = chart_rows_add(&all, &rows[i], y, TRACK + 4, &middle);
		double from = scale_at(&all.scale, isfinite(before) ? before : step->value);
		double to = scale_at(&all.scale, step->value);
		const char *class = step_class(chart, step->value - before, step->change_low, step->change_high);

		/* Wide: the steps hang on each other. In narrow pictures texts are between. */
		if (!all.narrow && isfinite(before) && isfinite(last))
			canvas_line(canvas, "ref", from, last + BAR / 2., from, middle - BAR / 2.);
		if (!isfinite(step->value))
			continue;
		if (!isfinite(before) || step->measured) {
			put_span(canvas, &all.scale, step, step->value, middle);
			canvas_rect(canvas, "ref", to - 2, middle - BAR / 2., 4, BAR);
		} else {
			canvas_rect(canvas, class, fmin(from, to), middle - BAR / 2., fmax(fabs(to - from), 1.5), BAR);
			put_span(canvas, &all.scale, step, before, middle);
		}
		last = middle;
	}
	(void)chart_rows_axis(&all, &chart->measure, y);
}

/* ---- every run ---- */

static int by_value(const void *a, const void *b, void *values)
{
	double left = ((const double *)values)[*(const int *)a], right = ((const double *)values)[*(const int *)b];

	return (left > right) - (left < right);
}

/* Runs with a value, the lowest first. */
static int sorted_runs(const struct chart_runs *row, int *order)
{
	int count = 0;

	for (int i = 0; i < row->count; i++)
		if (isfinite(row->values[i]))
			order[count++] = i;
	qsort_r(order, (size_t)count, sizeof(*order), by_value, (void *)row->values);
	return count;
}

/* Each dot on the lowest level on which it touches none: how many levels that makes. `ends` is where each level ends.
 */
static int pile(const struct chart_runs *row, const struct scale *scale, double size, const int *order, int count,
		double *ends, int *levels)
{
	int highest = 0;

	for (int i = 0; i < count; i++) {
		double x = scale_at(scale, row->values[order[i]]);
		int level = 0;

		while (level < highest && ends[level] > x + 1e-9)
			level++;
		highest = MAX_OF(highest, level + 1);
		levels[order[i]] = level;
		ends[level] = x + size;
	}
	return highest;
}

static void put_run(struct canvas *canvas, enum chart_run kind, double x, double y, double radius)
{
	if (kind == CHART_RUN_VOID) {
		canvas_path(canvas, "bad",
			    arena_printf(canvas->arena, "M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f", x - radius, y - radius,
					 2 * radius, 2 * radius, -2 * radius, -2 * radius, 2 * radius));
		return;
	}
	canvas_circle(canvas,
		      kind == CHART_RUN_WARM_UP	  ? "main hollow"
		      : kind == CHART_RUN_OUTLIER ? "bad hollow"
		      : radius < DOT		  ? "main fine"
						  : "main dot",
		      x, y, radius);
}

/* What the signs mean, of those that occur. */
static const char *dots_key(struct arena *arena, const struct chart_dots *chart)
{
	bool seen[4] = {false};

	for (int i = 0; i < chart->count; i++)
		for (int k = 0; chart->rows[i].kinds && k < chart->rows[i].count; k++)
			seen[chart->rows[i].kinds[k]] = true;
	return arena_printf(arena, "One dot is one run%s%s%s; the line is the estimate with its interval.",
			    seen[CHART_RUN_WARM_UP] ? ", hollow: warm-up, left out" : "",
			    seen[CHART_RUN_OUTLIER] ? ", hollow and red: far from the others, kept" : "",
			    seen[CHART_RUN_VOID] ? ", a cross: void, left out" : "");
}

void chart_svg_dots(struct canvas *canvas, const struct chart_dots *chart, double y)
{
	struct arena *arena = canvas->arena;
	struct chart_row *rows = ARENA_ARRAY(arena, (size_t)chart->count + 1, struct chart_row);
	double low = NAN, high = NAN;

	for (int i = 0; i < chart->count; i++) {
		for (int k = 0; k < chart->rows[i].count; k++)
			chart_hold(&low, &high, chart->rows[i].values[k]);
		chart_hold(&low, &high, chart->rows[i].low);
		chart_hold(&low, &high, chart->rows[i].high);
	}
	chart_pad(&low, &high, 0.04);
	struct scale scale = scale_make(low, high, chart->measure.unit, 8);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_runs *row = &chart->rows[i];

		rows[i] = (struct chart_row){row->label, chart_estimate(arena, &scale, row->value, row->low, row->high),
					     chart_runs_words(arena, row)};
	}
	struct chart_rows all = chart_rows_new(canvas, rows, chart->count, low, high, chart->measure.unit);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_runs *row = &chart->rows[i];
		double radius = DOT, middle;
		double *ends = ARENA_ARRAY(arena, (size_t)row->count + 1, double);
		int *levels = ARENA_ARRAY(arena, (size_t)row->count + 1, int);
		int *order = ARENA_ARRAY(arena, (size_t)row->count + 1, int), known = sorted_runs(row, order);
		int highest = pile(row, &all.scale, 2 * radius, order, known, ends, levels);

		/* Thousands of runs make small dots, never a hidden one. */
		while (highest * 2 * radius > 120 && radius > 0.5) {
			radius = fmax(radius * 0.7, 0.5);
			highest = pile(row, &all.scale, 2 * radius, order, known, ends, levels);
		}
		double stack = highest * 2 * radius;

		y = chart_rows_add(&all, &rows[i], y, stack + 16, &middle);
		double floor_y = middle + stack / 2 - 4;

		for (int k = 0; k < row->count; k++)
			if (isfinite(row->values[k]))
				put_run(canvas, row->kinds ? row->kinds[k] : CHART_RUN_VALID,
					scale_at(&all.scale, row->values[k]), floor_y - radius - levels[k] * 2 * radius,
					radius);
		put_interval(canvas, &all.scale, CHART_REFERENCE, row->value, row->low, row->high, floor_y + 8);
	}
	y = chart_rows_axis(&all, &chart->measure, y);
	(void)canvas_lines(canvas, "small", CANVAS_START, 4, y + CANVAS_SMALL, dots_key(arena, chart), CANVAS_SMALL,
			   canvas->width - 8, 4);
}

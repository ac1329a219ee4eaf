/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns charts as sentences: what a picture shows, for those who cannot see it. */
#include <math.h>

#include "report_chart_svg.h"

#include "err.h"
#include "text.h"

static const char *sentence_end(const char *text)
{
	return *text && strchr(".!?", text[strlen(text) - 1]) ? "" : ".";
}

/* Each value with the prefix that suits the largest, so that they can be compared. */
static struct scale scale_of(const struct chart_measure *measure, double low, double high)
{
	return scale_make(low, high, measure->unit, 5);
}

static void say_intervals(FILE *out, struct arena *arena, const struct chart_intervals *chart)
{
	double low = NAN, high = NAN;
	const char *group = NULL;

	for (int i = 0; i < chart->count; i++)
		chart_hold(&low, &high, chart->rows[i].value);
	struct scale scale = scale_of(&chart->measure, low, high);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_interval *row = &chart->rows[i];

		group = row->group ? row->group : group;
		(void)fprintf(out, " %s%s%s: %s%s%s.", group ? group : "", group ? ", " : "", row->label,
			      isfinite(row->value) ? chart_estimate(arena, &scale, row->value, row->low, row->high)
						   : "not known",
			      row->note ? "; " : "", row->note ? row->note : "");
	}
}

static void say_waterfall(FILE *out, struct arena *arena, const struct chart_waterfall *chart)
{
	double low = NAN, high = NAN, before = NAN;

	for (int i = 0; i < chart->count; i++)
		chart_hold(&low, &high, chart->steps[i].value);
	struct scale scale = scale_of(&chart->measure, low, high);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_step *step = &chart->steps[i];
		double half = (step->change_high - step->change_low) / 2;

		(void)fprintf(out, " %s: ", step->label);
		if (!isfinite(step->value))
			(void)fputs("not known.", out);
		else if (!isfinite(before) || step->measured)
			(void)fprintf(out, "%s.", chart_step_value(arena, &scale, step, before));
		else
			(void)fprintf(out, "%s, to %s.", scale_change(arena, &scale, step->value - before, half, false),
				      scale_value(arena, &scale, step->value, half));
		if (step->order_high > step->order_low)
			(void)fprintf(out, " In other orders %s to %s.",
				      scale_change(arena, &scale, step->order_low, half, false),
				      scale_change(arena, &scale, step->order_high, half, false));
		if (step->note)
			(void)fprintf(out, " %s%s", step->note, sentence_end(step->note));
		before = isfinite(step->value) ? step->value : before;
	}
}

static void say_heat(FILE *out, struct arena *arena, const struct chart_heat *chart)
{
	double low = NAN, high = NAN;

	for (int i = 0; i < chart->row_count * chart->column_count; i++)
		chart_hold(&low, &high, chart->values[i]);
	struct scale scale = scale_of(&chart->measure, low, high);

	for (int row = 0; row < chart->row_count; row++) {
		(void)fprintf(out, " %s %s:", chart->row_name, chart->rows[row]);
		for (int column = 0; column < chart->column_count; column++) {
			double value = chart->values[row * chart->column_count + column];

			(void)fprintf(out, "%s %s %s", column ? "," : "", chart->columns[column],
				      isfinite(value) ? scale_value(arena, &scale, value, (high - low) / 20)
						      : "not known");
		}
		(void)fputc('.', out);
	}
}

static void say_pareto(FILE *out, struct arena *arena, const struct chart_pareto *chart)
{
	double low_x = NAN, high_x = NAN, low_y = NAN, high_y = NAN;

	for (int i = 0; i < chart->count; i++) {
		chart_hold(&low_x, &high_x, chart->points[i].x);
		chart_hold(&low_y, &high_y, chart->points[i].y);
	}
	struct scale x = scale_of(&chart->x, low_x, high_x), y = scale_of(&chart->y, low_y, high_y);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_point *point = &chart->points[i];

		(void)fprintf(out, " %s: %s %s, %s %s%s%s%s.", point->label, chart->x.name,
			      chart_estimate(arena, &x, point->x, point->x_low, point->x_high), chart->y.name,
			      chart_estimate(arena, &y, point->y, point->y_low, point->y_high),
			      point->front ? ", on the front" : "", point->note ? "; " : "",
			      point->note ? point->note : "");
	}
}

/* A line and those that belong to it. The index of the next that has a name. */
static int say_lines(FILE *out, struct arena *arena, const struct chart_panel *panel, int first)
{
	double low = NAN, high = NAN, sum = 0;
	int count = 0, next = first;

	for (; next < panel->line_count && (next == first || !panel->lines[next].label); next++)
		for (int k = 0; k < panel->lines[next].count; k++) {
			double value = panel->lines[next].values[k];

			chart_hold(&low, &high, value);
			sum += isfinite(value) ? value : 0;
			count += isfinite(value);
		}
	struct scale scale = scale_of(&panel->measure, low, high);
	const char *name = panel->lines[first].label ? panel->lines[first].label : "?";

	if (!count)
		(void)fprintf(out, " %s, %s: nothing was measured.", panel->measure.name, name);
	else
		(void)fprintf(out, " %s, %s: %s to %s, mean of %d samples %s.", panel->measure.name, name,
			      scale_value(arena, &scale, low, NAN), scale_value(arena, &scale, high, NAN), count,
			      scale_value(arena, &scale, sum / count, NAN));
	return next;
}

static void say_series(FILE *out, struct arena *arena, const struct chart_series *chart)
{
	for (int p = 0; p < chart->panel_count; p++)
		for (int i = 0; i < chart->panels[p].line_count;)
			i = say_lines(out, arena, &chart->panels[p], i);
}

static void say_dots(FILE *out, struct arena *arena, const struct chart_dots *chart)
{
	double low = NAN, high = NAN;

	for (int i = 0; i < chart->count; i++)
		for (int k = 0; k < chart->rows[i].count; k++)
			chart_hold(&low, &high, chart->rows[i].values[k]);
	struct scale scale = scale_of(&chart->measure, low, high);

	for (int i = 0; i < chart->count; i++) {
		const struct chart_runs *row = &chart->rows[i];
		double least = NAN, most = NAN;

		for (int k = 0; k < row->count; k++)
			chart_hold(&least, &most, row->values[k]);
		(void)fprintf(out, " %s: %s, from %s to %s, estimate %s.", row->label, chart_runs_words(arena, row),
			      scale_value(arena, &scale, least, NAN), scale_value(arena, &scale, most, NAN),
			      chart_estimate(arena, &scale, row->value, row->low, row->high));
	}
}

const char *chart_words(struct arena *arena, const struct chart *chart)
{
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	CLEANUP(base_fclose) FILE *out = open_memstream(&text, &size);

	if (!out)
		err_no_memory();
	(void)fprintf(out, "%s%s", chart->title, sentence_end(chart->title));
	switch (chart->kind) {
	case CHART_INTERVALS:
		say_intervals(out, arena, &chart->intervals);
		break;
	case CHART_WATERFALL:
		say_waterfall(out, arena, &chart->waterfall);
		break;
	case CHART_HEAT:
		say_heat(out, arena, &chart->heat);
		break;
	case CHART_PARETO:
		say_pareto(out, arena, &chart->pareto);
		break;
	case CHART_SERIES:
		say_series(out, arena, &chart->series);
		break;
	case CHART_DOTS:
		say_dots(out, arena, &chart->dots);
		break;
	}
	if (chart->note)
		(void)fprintf(out, " %s", chart->note);
	base_fclose(&out);
	return arena_strdup(arena, text);
}

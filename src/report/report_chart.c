/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns charts as SVG: the frame around each kind, and the style sheet. */
#include <math.h>

#include "report_chart_svg.h"

#include "err.h"

/*
 * Blue, vermilion and green of Okabe and Ito's palette, darker on white and lighter on black, so that each has a
 * contrast of at least 3:1 to its ground and no two are alike to a colour-blind eye; the shades of a heat map differ in
 * lightness alone. Print gets the light ones.
 */
static const char style[] =
    ".chart { --ink: #1f2933; --dim: #52606d; --grid: #e1e6eb; --paper: #ffffff; --main: #0067a6; --good: #00785a;\n"
    "  --bad: #b8430a; --ref: #6b7885; --s2: #00785a; --s3: #a8507f; --s4: #8a6100; --s5: #4b4fb0;\n"
    "  --h0: #eef5fb; --h1: #d3e5f4; --h2: #a9cde8; --h3: #80b6da; --h4: #5fa3ce; --h5: #1f6ea6; --h6: #0b4a7c;\n"
    "  --t0: #1f2933; --t1: #1f2933; --t2: #1f2933; --t3: #1f2933; --t4: #101820; --t5: #ffffff; --t6: #ffffff;\n"
    "  max-width: 100%; height: auto; font-family: system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans',\n"
    "  sans-serif; font-variant-numeric: tabular-nums; }\n"
    "@media screen and (prefers-color-scheme: dark) { .chart { --ink: #e4e9ee; --dim: #a9b6c2; --grid: #333d47;\n"
    "  --paper: #14191e; --main: #56b4e9; --good: #2ec79b; --bad: #f5915c; --ref: #93a1ae; --s2: #2ec79b;\n"
    "  --s3: #e39cc4; --s4: #e0b13c; --s5: #a5a8f5;\n"
    "  --h0: #12283a; --h1: #173a55; --h2: #1d5075; --h3: #286895; --h4: #5fa3ce; --h5: #93c4e4; --h6: #cfe6f7;\n"
    "  --t0: #e4e9ee; --t1: #e4e9ee; --t2: #ffffff; --t3: #ffffff; --t4: #0a1118; --t5: #101820; --t6: #101820; } }\n"
    ".chart text { font-size: 13px; fill: var(--ink); }\n"
    ".chart .small { font-size: 12px; fill: var(--dim); }\n"
    ".chart .strong { font-weight: 600; } .chart .head { font-size: 15px; font-weight: 600; }\n"
    ".chart .strong-ink { fill: var(--ink); }\n"
    ".chart .halo { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }\n"
    ".chart .mid { text-anchor: middle; } .chart .end { text-anchor: end; }\n"
    ".chart .paper { fill: var(--paper); }\n"
    ".chart .axis { stroke: var(--dim); } .chart .grid { stroke: var(--grid); }\n"
    ".chart .leader { stroke: var(--dim); stroke-width: 0.75; }\n"
    ".chart .ink { stroke: var(--ink); stroke-width: 1.5; }\n"
    ".chart .main { fill: var(--main); stroke: var(--main); stroke-width: 2; }\n"
    ".chart .good { fill: var(--good); stroke: var(--good); stroke-width: 2; }\n"
    ".chart .bad { fill: var(--bad); stroke: var(--bad); stroke-width: 2; }\n"
    ".chart .ref { fill: var(--ref); stroke: var(--ref); stroke-width: 1.5; }\n"
    ".chart .hollow { fill: var(--paper); }\n"
    ".chart .dot { fill-opacity: 0.75; stroke: var(--paper); stroke-width: 0.5; }\n"
    ".chart .fine { stroke: none; }\n"
    ".chart .faint { opacity: 0.75; }\n"
    ".chart .thin { fill: none; stroke-width: 1.5; stroke-dasharray: 6 3; }\n"
    ".chart .dashed { stroke-width: 1; stroke-dasharray: 3 3; }\n"
    ".chart .missing { fill: none; stroke: var(--grid); stroke-dasharray: 3 2; }\n"
    ".chart .frame { fill: none; stroke: var(--ink); stroke-width: 2; }\n"
    ".chart .h0 { fill: var(--h0); } .chart .h1 { fill: var(--h1); } .chart .h2 { fill: var(--h2); }\n"
    ".chart .h3 { fill: var(--h3); } .chart .h4 { fill: var(--h4); } .chart .h5 { fill: var(--h5); }\n"
    ".chart .h6 { fill: var(--h6); }\n"
    ".chart .t0 { fill: var(--t0); } .chart .t1 { fill: var(--t1); } .chart .t2 { fill: var(--t2); }\n"
    ".chart .t3 { fill: var(--t3); } .chart .t4 { fill: var(--t4); } .chart .t5 { fill: var(--t5); }\n"
    ".chart .t6 { fill: var(--t6); }\n"
    ".chart .s0, .chart .s1, .chart .s2, .chart .s3, .chart .s4, .chart .s5 { fill: none; stroke-width: 1.75; }\n"
    ".chart .s0 { stroke: var(--main); } .chart .s1 { stroke: var(--bad); stroke-dasharray: 7 3; }\n"
    ".chart .s2 { stroke: var(--s2); stroke-dasharray: 2 2; } .chart .s3 { stroke: var(--s3); stroke-dasharray: 9 2 2 "
    "2; "
    "}\n"
    ".chart .s4 { stroke: var(--s4); stroke-dasharray: 5 2; } .chart .s5 { stroke: var(--s5); stroke-dasharray: 1 3; "
    "}\n"
    ".chart .line { stroke-linejoin: round; stroke-linecap: round; }\n";

void chart_svg_style(FILE *out)
{
	(void)fputs(style, out);
}

/* The title of a file of its own: the page has it as a heading. The y below it. */
static double put_title(struct canvas *canvas, const char *title)
{
	/* Bold text of 15 pixels is no wider than plain text of 20. */
	int lines = canvas_lines(canvas, "head", CANVAS_START, 4, 20, title, 20, canvas->width - 8, 4);

	return 20 + lines * CANVAS_LINE;
}

/* Is there a value among `count` that lie `step` bytes apart? */
static bool any(const double *first, int count, size_t step)
{
	for (int i = 0; i < count; i++)
		if (isfinite(*(const double *)((const char *)first + (size_t)i * step)))
			return true;
	return false;
}

static bool any_sample(const struct chart_series *series)
{
	for (int p = 0; p < series->panel_count; p++)
		for (int i = 0; i < series->panels[p].line_count; i++)
			if (any(series->panels[p].lines[i].values, series->panels[p].lines[i].count, sizeof(double)))
				return true;
	return false;
}

static bool any_point(const struct chart_pareto *pareto)
{
	for (int i = 0; i < pareto->count; i++)
		if (isfinite(pareto->points[i].x) && isfinite(pareto->points[i].y))
			return true;
	return false;
}

static bool any_run(const struct chart_dots *dots)
{
	for (int i = 0; i < dots->count; i++)
		if (any(dots->rows[i].values, dots->rows[i].count, sizeof(double)))
			return true;
	return false;
}

bool chart_is_empty(const struct chart *chart)
{
	switch (chart->kind) {
	case CHART_INTERVALS:
		return !chart->intervals.count ||
		       !any(&chart->intervals.rows->value, chart->intervals.count, sizeof(*chart->intervals.rows));
	case CHART_WATERFALL:
		return !chart->waterfall.count ||
		       !any(&chart->waterfall.steps->value, chart->waterfall.count, sizeof(*chart->waterfall.steps));
	case CHART_HEAT:
		return !any(chart->heat.values, chart->heat.row_count * chart->heat.column_count, sizeof(double));
	case CHART_PARETO:
		return !any_point(&chart->pareto);
	case CHART_SERIES:
		return !any_sample(&chart->series);
	case CHART_DOTS:
		return !any_run(&chart->dots);
	}
	return true;
}

static void put_kind(struct canvas *canvas, const struct chart *chart, double y)
{
	switch (chart->kind) {
	case CHART_INTERVALS:
		chart_svg_intervals(canvas, &chart->intervals, y);
		break;
	case CHART_WATERFALL:
		chart_svg_waterfall(canvas, &chart->waterfall, y);
		break;
	case CHART_HEAT:
		chart_svg_heat(canvas, &chart->heat, y);
		break;
	case CHART_PARETO:
		chart_svg_pareto(canvas, &chart->pareto, y);
		break;
	case CHART_SERIES:
		chart_svg_series(canvas, &chart->series, y);
		break;
	case CHART_DOTS:
		chart_svg_dots(canvas, &chart->dots, y);
		break;
	}
}

void chart_svg(FILE *out, const struct chart *chart, int width, const char *id, bool alone)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct canvas *canvas = canvas_new(arena, MAX_OF(width, CHART_WIDTH_LEAST));

	if (!canvas)
		err_no_memory();
	double y = alone ? put_title(canvas, chart->title) : 4;

	if (chart_is_empty(chart))
		(void)canvas_lines(canvas, "small", CANVAS_START, 4, y + CANVAS_SMALL, CHART_EMPTY, CANVAS_SMALL,
				   canvas->width - 8, 2);
	else
		put_kind(canvas, chart, y);
	if (alone && chart->note)
		(void)canvas_lines(canvas, "small", CANVAS_START, 4, canvas->bottom + 18, chart->note, CANVAS_SMALL,
				   canvas->width - 8, 8);
	canvas_finish(canvas, out, id, chart->title, chart_words(arena, chart), alone ? style : NULL);
}

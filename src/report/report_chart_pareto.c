/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns drawing two measures of each configuration, the front of those that none beats in both, and finding a free place
 * for each name.
 */
#include "report_chart_svg.h"

#include <math.h>
#include <string.h>

#include "text.h"

enum { EDGE = 4, MARK = 5, NAMES_SIDE_BY_SIDE = 12 };

struct box {
	double left, top, right, bottom;
};

struct scatter {
	struct canvas *canvas;
	const struct chart_pareto *chart;
	struct scale x, y;
	struct box plot;
	struct box *taken; /* by points and names */
	int taken_count;
};

static bool known(const struct chart_point *point)
{
	return isfinite(point->x) && isfinite(point->y);
}

static bool meet(const struct box *a, const struct box *b)
{
	return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static bool is_free(const struct scatter *scatter, const struct box *box)
{
	if (box->left < scatter->plot.left || box->right > scatter->plot.right || box->top < scatter->plot.top ||
	    box->bottom > scatter->plot.bottom)
		return false;
	for (int i = 0; i < scatter->taken_count; i++)
		if (meet(&scatter->taken[i], box))
			return false;
	return true;
}

/* Around the point, near first: a place for a text of `width`. False where there is none. */
static bool find_place(const struct scatter *scatter, double x, double y, double width, struct box *ret)
{
	static const double directions[][2] = {{1, 0}, {1, -1}, {1, 1}, {0, -1}, {0, 1}, {-1, 0}, {-1, -1}, {-1, 1}};

	for (int away = MARK + 4; away < 90; away += 7)
		for (size_t i = 0; i < ARRAY_SIZE(directions); i++) {
			double to_x = x + directions[i][0] * away, to_y = y + directions[i][1] * away;
			double left = directions[i][0] > 0   ? to_x
				      : directions[i][0] < 0 ? to_x - width
							     : to_x - width / 2;
			double top =
			    to_y - CANVAS_LINE / 2. + (directions[i][0] == 0 ? directions[i][1] * CANVAS_LINE / 2. : 0);
			struct box box = {left - 1, top, left + width + 1, top + CANVAS_LINE};

			if (is_free(scatter, &box)) {
				*ret = box;
				return true;
			}
		}
	return false;
}

/* The name at the point, or NULL-sized nothing where there is no room. A line leads to it from far away. */
static bool put_name(struct scatter *scatter, const struct chart_point *point, const char *name)
{
	double x = scale_at(&scatter->x, point->x), y = scale_at(&scatter->y, point->y);
	double width = canvas_text_width(name, CANVAS_SMALL);
	struct box box;

	if (width > (scatter->plot.right - scatter->plot.left) * 0.45 || !find_place(scatter, x, y, width, &box))
		return false;
	double middle_x = fmin(fmax(x, box.left), box.right), middle_y = fmin(fmax(y, box.top + 4), box.bottom - 4);

	if (hypot(middle_x - x, middle_y - y) > 24)
		canvas_line(scatter->canvas, "leader", x, y, middle_x, middle_y);
	(void)canvas_text(scatter->canvas, point->front ? "small halo strong-ink" : "small halo", CANVAS_START,
			  box.left + 1, box.bottom - 4, name, CANVAS_SMALL, 0);
	scatter->taken[scatter->taken_count++] = box;
	return true;
}

static void put_point(const struct scatter *scatter, const struct chart_point *point)
{
	const char *class = point->front ? "good" : "ref faint";
	double x = scale_at(&scatter->x, point->x), y = scale_at(&scatter->y, point->y);
	struct canvas *canvas = scatter->canvas;

	if (isfinite(point->x_low) && isfinite(point->x_high))
		canvas_line(canvas, class, scale_at(&scatter->x, point->x_low), y, scale_at(&scatter->x, point->x_high),
			    y);
	if (isfinite(point->y_low) && isfinite(point->y_high))
		canvas_line(canvas, class, x, scale_at(&scatter->y, point->y_low), x,
			    scale_at(&scatter->y, point->y_high));
	if (point->front)
		canvas_path(canvas, class,
			    arena_printf(canvas->arena, "M%.1f %.1fL%.1f %.1f %.1f %.1f %.1f %.1fZ", x, y - 6.5,
					 x + 6.5, y, x, y + 6.5, x - 6.5, y));
	else
		canvas_circle(canvas, class, x, y, MARK);
}

/* qsort has no context: the order of x is all that is needed. */
static int by_x(const void *a, const void *b)
{
	const struct chart_point *const *left = a, *const *right = b;

	return ((*left)->x > (*right)->x) - ((*left)->x < (*right)->x);
}

static void put_front(const struct scatter *scatter)
{
	struct arena *arena = scatter->canvas->arena;
	const struct chart_pareto *chart = scatter->chart;
	const struct chart_point **front = ARENA_ARRAY(arena, (size_t)chart->count + 1, const struct chart_point *);
	const char *path = "";
	int count = 0;

	for (int i = 0; i < chart->count; i++)
		if (chart->points[i].front && known(&chart->points[i]))
			front[count++] = &chart->points[i];
	qsort(front, (size_t)count, sizeof(*front), by_x);
	for (int i = 0; i < count; i++)
		path = arena_printf(arena, "%s%s%.1f %.1f", path, i ? "L" : "M", scale_at(&scatter->x, front[i]->x),
				    scale_at(&scatter->y, front[i]->y));
	if (count > 1)
		canvas_path(scatter->canvas, "good thin", path);
}

static void put_axes(const struct scatter *scatter)
{
	struct canvas *canvas = scatter->canvas;
	const struct box *plot = &scatter->plot;

	for (int i = 0; i < scatter->x.tick_count; i++) {
		double x = scale_at(&scatter->x, scale_tick(&scatter->x, i));

		canvas_line(canvas, "grid", x, plot->top, x, plot->bottom);
	}
	for (int i = 0; i < scatter->y.tick_count; i++) {
		double y = scale_at(&scatter->y, scale_tick(&scatter->y, i));

		canvas_line(canvas, "grid", plot->left, y, plot->right, y);
		(void)canvas_text(canvas, "small", CANVAS_END, plot->left - 6, y + 4,
				  scale_tick_text(canvas->arena, &scatter->y, i), CANVAS_SMALL, 0);
	}
}

/* What has no room in the picture, or no value, is told below. */
static double put_key(struct scatter *scatter, const char *const *names, double y)
{
	struct canvas *canvas = scatter->canvas;
	struct arena *arena = canvas->arena;

	for (int i = 0; i < scatter->chart->count; i++) {
		const struct chart_point *point = &scatter->chart->points[i];
		const char *text;

		if (names[i] == point->label && known(point) && !point->note)
			continue;
		text = arena_printf(arena, "%s%s%s: %s, %s%s%s", names[i] == point->label ? "" : names[i],
				    names[i] == point->label ? "" : " ", point->label,
				    chart_estimate(arena, &scatter->x, point->x, point->x_low, point->x_high),
				    chart_estimate(arena, &scatter->y, point->y, point->y_low, point->y_high),
				    point->note ? "; " : "", point->note ? point->note : "");
		y += canvas_lines(canvas, "small", CANVAS_START, EDGE, y + CANVAS_SMALL, text, CANVAS_SMALL,
				  canvas->width - 2 * EDGE, 4) *
			 CANVAS_LINE +
		     2;
	}
	return y;
}

/* Names keep off intervals too. */
static void take_bars(struct scatter *scatter, const struct chart_point *point, double x, double y)
{
	if (isfinite(point->x_low) && isfinite(point->x_high))
		scatter->taken[scatter->taken_count++] = (struct box){scale_at(&scatter->x, point->x_low), y - 2,
								      scale_at(&scatter->x, point->x_high), y + 2};
	if (isfinite(point->y_low) && isfinite(point->y_high))
		scatter->taken[scatter->taken_count++] = (struct box){x - 2, scale_at(&scatter->y, point->y_high),
								      x + 2, scale_at(&scatter->y, point->y_low)};
}

static void put_points(struct scatter *scatter, const char **names)
{
	const struct chart_pareto *chart = scatter->chart;
	struct arena *arena = scatter->canvas->arena;

	scatter->taken = ARENA_ARRAY(arena, (size_t)chart->count * 4 + 1, struct box);
	for (int i = 0; i < chart->count; i++) {
		double x = scale_at(&scatter->x, chart->points[i].x), y = scale_at(&scatter->y, chart->points[i].y);

		if (!known(&chart->points[i]))
			continue;
		take_bars(scatter, &chart->points[i], x, y);
		scatter->taken[scatter->taken_count++] =
		    (struct box){x - MARK - 1, y - MARK - 1, x + MARK + 1, y + MARK + 1};
		put_point(scatter, &chart->points[i]);
	}
	/* The front is named first: it is what people look for. */
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < chart->count; i++) {
			const struct chart_point *point = &chart->points[i];

			names[i] = pass && names[i] ? names[i] : point->label;
			if (!known(point) || point->front != (pass == 0))
				continue;
			if (chart->count <= NAMES_SIDE_BY_SIDE && put_name(scatter, point, point->label))
				continue;
			names[i] = arena_printf(arena, "%d", i + 1);
			(void)put_name(scatter, point, names[i]);
		}
}

void chart_svg_pareto(struct canvas *canvas, const struct chart_pareto *chart, double y)
{
	struct scatter scatter = {.canvas = canvas, .chart = chart};
	struct arena *arena = canvas->arena;
	const char **names = ARENA_ARRAY(arena, (size_t)chart->count + 1, const char *);
	double low_x = NAN, high_x = NAN, low_y = NAN, high_y = NAN;

	for (int i = 0; i < chart->count; i++) {
		const struct chart_point *point = &chart->points[i];
		const double xs[] = {point->x, point->x_low, point->x_high},
			     ys[] = {point->y, point->y_low, point->y_high};

		for (int k = 0; k < 3 && known(point); k++) {
			chart_hold(&low_x, &high_x, xs[k]);
			chart_hold(&low_y, &high_y, ys[k]);
		}
	}
	chart_pad(&low_x, &high_x, 0.1);
	chart_pad(&low_y, &high_y, 0.1);
	scatter.y = scale_make(low_y, high_y, chart->y.unit, 7);
	y += canvas_lines(canvas, "small", CANVAS_START, EDGE, y + CANVAS_SMALL,
			  chart_measure_words(arena, &chart->y, scatter.y.unit), CANVAS_SMALL, canvas->width - 2 * EDGE,
			  3) *
	     CANVAS_LINE;
	scatter.plot = (struct box){EDGE + chart_ticks_width(arena, &scatter.y) + 10, y + 10, canvas->width - 12,
				    y + 10 + fmin(canvas->width * 0.75, 400)};
	scatter.y.from = scatter.plot.bottom;
	scatter.y.to = scatter.plot.top;
	scatter.x = chart_across(arena, low_x, high_x, chart->x.unit, scatter.plot.left, scatter.plot.right);
	put_axes(&scatter);
	put_front(&scatter);
	put_points(&scatter, names);
	y = chart_axis_below(canvas, &scatter.x, chart_measure_words(arena, &chart->x, scatter.x.unit),
			     scatter.plot.bottom);
	(void)put_key(&scatter, names, y + 4);
}

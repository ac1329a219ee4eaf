/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the drawing of charts as SVG: shapes and texts in CSS pixels, how wide a text can be at most, lines that a long
 * text is broken into, and the style sheet. Colours are classes; none carries a meaning alone.
 */
#ifndef HVTUNE_REPORT_CANVAS_H
#define HVTUNE_REPORT_CANVAS_H

#include "arena.h"

struct canvas {
	struct arena *arena;
	FILE *body;
	char *text; /* what `body` wrote */
	size_t size;
	int width;
	double bottom; /* lowest point that was drawn */
};

enum canvas_anchor { CANVAS_START, CANVAS_MIDDLE, CANVAS_END };

/* Line heights and sizes of the two sizes of text. */
enum { CANVAS_TEXT = 13, CANVAS_SMALL = 12, CANVAS_LINE = 17 };

/* Behind these a long word is broken. */
#define CANVAS_JOINTS "-/=,;:_."

/* A canvas in the arena, or NULL without memory. */
struct canvas *canvas_new(struct arena *arena, int width);

/*
 * Write the picture with its title and description and free what the canvas held. `id` makes the ids of these unique in
 * a page; `style` is put inside, NULL: the page has it.
 */
void canvas_finish(struct canvas *canvas, FILE *out, const char *id, const char *title, const char *description,
		   const char *style);

void canvas_line(struct canvas *canvas, const char *classes, double x1, double y1, double x2, double y2);
void canvas_rect(struct canvas *canvas, const char *classes, double x, double y, double width, double height);
void canvas_circle(struct canvas *canvas, const char *classes, double x, double y, double radius);

/* A shape through points: "M1 2L3 4". */
void canvas_path(struct canvas *canvas, const char *classes, const char *path);

/*
 * One line; `y` is its base line. `size` is the font size of its class. What does not fit into `most` pixels is cut,
 * with an ellipsis, and the whole is told when pointed at; `most` 0: it is known to fit. The width that it takes.
 */
double canvas_text(struct canvas *canvas, const char *classes, enum canvas_anchor anchor, double x, double y,
		   const char *text, int size, double most);

/*
 * A text in lines of `most` pixels, the first with its base line at `y`, CANVAS_LINE apart, at most `lines_most` of
 * them. The number of lines.
 */
int canvas_lines(struct canvas *canvas, const char *classes, enum canvas_anchor anchor, double x, double y,
		 const char *text, int size, double most, int lines_most);

/* How many lines canvas_lines() would take. */
int canvas_lines_count(const char *text, int size, double most, int lines_most);

/* The most that a text takes in the fonts of the style sheet. */
double canvas_text_width(const char *text, int size);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a command needs to know of the terminal, and text flowed to its width.
 */
#ifndef HVTUNE_TERM_H
#define HVTUNE_TERM_H

#include <stdio.h>

#include "base.h"

enum term_colour { TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_RED, TERM_YELLOW, TERM_GREEN, TERM_BLUE, TERM_CYAN };

struct term {
	FILE *out;
	int width;   /* columns, at least 40 */
	bool colour; /* only when `out` is a terminal, NO_COLOR is not set and TERM is not "dumb" */
	bool utf8;   /* the locale's character set can draw boxes */
};

/* Look at `out`. Where it is no terminal, width is COLUMNS or 80 and colour is off. */
struct term term_of(FILE *out);

/* Columns and rows of the terminal that `out` is; false: it is none, or does not tell. */
bool term_size(FILE *out, int *ret_columns, int *ret_rows);

/* Escape sequences for a colour, "" without colour. TERM_PLAIN resets. */
const char *term_on(const struct term *term, enum term_colour colour);

/*
 * Print `text` flowed between `indent` columns and the width; the first line starts at column `indent` too, which the
 * caller has already reached if `started`. A number and its unit stay together. Control characters are shown as '?'.
 * Ends with a newline.
 */
void term_flow(const struct term *term, int indent, bool started, const char *text);

/* Columns that `text` takes (UTF-8). */
int term_columns(const char *text);

#endif

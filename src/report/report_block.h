/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns blocks of text lines that are put into boxes, beside and below each other: the terminal's pictures.
 */
#ifndef HVTUNE_REPORT_BLOCK_H
#define HVTUNE_REPORT_BLOCK_H

#include "arena.h"
#include "term.h"

struct block {
	struct arena *arena;
	const struct term *term; /* colours, and whether there are characters for boxes */
	const char **lines;	 /* may hold escape sequences, which take no columns */
	int count, room;
	int width; /* columns of the widest line */
};

struct block *block_new(struct arena *arena, const struct term *term);
void block_add(struct block *block, const char *line);

/* All lines of the other block. */
void block_append(struct block *block, const struct block *other);

/*
 * A box around `inner`, at least `width` columns wide, with a title in its upper edge that is cut where it would make
 * the box wider than `most` columns.
 */
struct block *block_box(const struct block *inner, const char *title, enum term_colour colour, int width, int most);

/*
 * Blocks beside each other, as many in a row as fit into `width` columns, in columns of equal width with `gap` blanks
 * between; rows below each other.
 */
struct block *block_grid(struct arena *arena, const struct term *term, struct block *const *blocks, int count,
			 int width, int gap);

/* Columns that a line takes: UTF-8, without escape sequences. */
int block_columns(const char *line);

void block_print(const struct block *block);

#endif

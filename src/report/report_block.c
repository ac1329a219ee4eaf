/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in report_block.h. */
#include "report_block.h"

#include <string.h>

#include "text.h"

struct edges {
	const char *top_left, *top_right, *bottom_left, *bottom_right, *across, *down;
};

static const struct edges *edges_of(const struct term *term)
{
	static const struct edges drawn = {"┌", "┐", "└", "┘", "─", "│"}, plain = {"+", "+", "+", "+", "-", "|"};

	return term->utf8 ? &drawn : &plain;
}

int block_columns(const char *line)
{
	int columns = 0;

	while (*line) {
		if (*line == '\033') {
			line += strcspn(line, "m");
			line += *line == 'm';
			continue;
		}
		columns += ((unsigned char)*line & 0xc0) != 0x80;
		line++;
	}
	return columns;
}

struct block *block_new(struct arena *arena, const struct term *term)
{
	struct block *block = ARENA_NEW(arena, struct block);

	block->arena = arena;
	block->term = term;
	return block;
}

void block_add(struct block *block, const char *line)
{
	if (block->count == block->room) {
		int room = block->room ? block->room * 2 : 8;
		const char **larger = ARENA_ARRAY(block->arena, (size_t)room, const char *);

		if (block->count)
			memcpy(larger, block->lines, (size_t)block->count * sizeof(*larger));
		block->lines = larger;
		block->room = room;
	}
	block->lines[block->count++] = line;
	block->width = MAX_OF(block->width, block_columns(line));
}

void block_append(struct block *block, const struct block *other)
{
	for (int i = 0; i < other->count; i++)
		block_add(block, other->lines[i]);
}

static const char *repeat(struct arena *arena, const char *text, int count)
{
	char *line = arena_alloc(arena, strlen(text) * (size_t)MAX_OF(count, 0) + 1), *end = line;

	for (int i = 0; i < count; i++)
		end = stpcpy(end, text);
	return line;
}

/*
 * As much of a title without escape sequences as fits into `columns`: whole parts, since half a number is another one.
 * Its first part is cut where it must be.
 */
static const char *cut(struct arena *arena, const char *text, int columns)
{
	const char *at = text, *end = text;
	bool visible;

	if (term_columns(text) <= columns)
		return text;
	for (; *at && columns > 0; columns--) {
		if (text_starts(at, ", ") || text_starts(at, " \u00b7 "))
			end = at;
		at += text_character(at, &visible);
	}
	return arena_strndup(arena, text, (size_t)((end > text ? end : at) - text));
}

struct block *block_box(const struct block *inner, const char *title, enum term_colour colour, int width, int most)
{
	struct arena *arena = inner->arena;
	const struct term *term = inner->term;
	const struct edges *edges = edges_of(term);
	struct block *box = block_new(arena, term);
	/* "┌ title ┐": edge, blank, title, blank, edge; at least one stroke after it. */
	int inside = MAX_OF(MAX_OF(inner->width, term_columns(title) + 1), width - 4);
	const char *on = term_on(term, colour), *off = colour == TERM_PLAIN ? "" : term_on(term, TERM_PLAIN);

	inside = MIN_OF(inside, MAX_OF(inner->width, most - 4));
	title = cut(arena, title, inside);
	block_add(box, arena_printf(arena, "%s %s%s%s %s%s", edges->top_left, on, title, off,
				    repeat(arena, edges->across, inside - term_columns(title)), edges->top_right));
	for (int i = 0; i < inner->count; i++)
		block_add(box, arena_printf(arena, "%s %s%*s %s", edges->down, inner->lines[i],
					    inside - block_columns(inner->lines[i]), "", edges->down));
	block_add(box, arena_printf(arena, "%s%s%s", edges->bottom_left, repeat(arena, edges->across, inside + 2),
				    edges->bottom_right));
	return box;
}

struct block *block_grid(struct arena *arena, const struct term *term, struct block *const *blocks, int count,
			 int width, int gap)
{
	struct block *grid = block_new(arena, term);
	int widest = 1;

	for (int i = 0; i < count; i++)
		widest = MAX_OF(widest, blocks[i]->width);
	int in_row = MAX_OF(1, (width + gap) / (widest + gap));

	for (int first = 0; first < count; first += in_row) {
		int last = MIN_OF(first + in_row, count), height = 0;

		for (int i = first; i < last; i++)
			height = MAX_OF(height, blocks[i]->count);
		for (int row = 0; row < height; row++) {
			const char *line = "";

			for (int i = first; i < last; i++) {
				const char *part = row < blocks[i]->count ? blocks[i]->lines[row] : "";
				int pad = i + 1 < last ? widest + gap - block_columns(part) : 0;

				line = arena_printf(arena, "%s%s%*s", line, part, pad, "");
			}
			block_add(grid, line);
		}
	}
	return grid;
}

void block_print(const struct block *block)
{
	for (int i = 0; i < block->count; i++) {
		size_t length = strlen(block->lines[i]);

		while (length && block->lines[i][length - 1] == ' ')
			length--;
		(void)fprintf(block->term->out, "%.*s\n", (int)length, block->lines[i]);
	}
}

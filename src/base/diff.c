/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in diff.h: the longest common subsequence of lines, then hunks of it. */
#include "diff.h"

#include <string.h>

#include "arena.h"
#include "text.h"

enum {
	AROUND = 3,	     /* lines of context */
	TABLE_MOST = 1 << 23 /* cells of the table, 16 MiB */
};

struct line {
	const char *text;
	size_t size; /* with its end */
};

struct lines {
	struct line *line;
	int count;
};

/* Of the script: a line that stays, goes or comes, with its numbers in both texts (0-based). */
struct step {
	char kind; /* ' ', '-', '+' */
	int before, after;
};

struct comparing {
	struct arena *arena;
	struct lines before, after;
	struct step *steps;
	int count;
};

static struct lines split(struct arena *arena, const char *text)
{
	struct lines lines = {0};

	for (const char *at = text; *at; lines.count++)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : at + strlen(at);
	lines.line = ARENA_ARRAY(arena, (size_t)lines.count + 1, struct line);
	for (int i = 0; i < lines.count; i++) {
		const char *end = strchr(text, '\n');

		lines.line[i] = (struct line){text, end ? (size_t)(end + 1 - text) : strlen(text)};
		text += lines.line[i].size;
	}
	return lines;
}

static bool same(const struct comparing *c, int before, int after)
{
	const struct line *a = &c->before.line[before], *b = &c->after.line[after];

	return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static void add(struct comparing *c, char kind, int before, int after)
{
	c->steps[c->count++] = (struct step){kind, before, after};
}

/* Lines [first, last) of both texts by the table of longest common subsequences of their ends. */
static void compare_middle(struct comparing *c, int before, int before_end, int after, int after_end)
{
	int rows = before_end - before, columns = after_end - after;
	size_t stride = (size_t)columns + 1;
	bool small = (int64_t)(rows + 1) * (columns + 1) <= TABLE_MOST && columns < UINT16_MAX && rows < UINT16_MAX;
	uint16_t *table = small ? ARENA_ARRAY(c->arena, (size_t)(rows + 1) * stride, uint16_t) : NULL;
	int i = 0, j = 0;

	for (int row = rows - 1; small && row >= 0; row--)
		for (int column = columns - 1; column >= 0; column--) {
			uint16_t *cell = &table[(size_t)row * stride + (size_t)column];

			*cell = same(c, before + row, after + column) ? (uint16_t)(cell[stride + 1] + 1)
								      : MAX_OF(cell[stride], cell[1]);
		}
	while (i < rows || j < columns) {
		const uint16_t *cell = small ? &table[(size_t)i * stride + (size_t)j] : NULL;

		if (small && i < rows && j < columns && same(c, before + i, after + j)) {
			add(c, ' ', before + i, after + j);
			i++;
			j++;
		} else if (i < rows && (j == columns || !cell || cell[stride] >= cell[1])) {
			add(c, '-', before + i++, after + j);
		} else {
			add(c, '+', before + i, after + j++);
		}
	}
}

static void compare(struct comparing *c)
{
	int start = 0, before_end = c->before.count, after_end = c->after.count;

	while (start < before_end && start < after_end && same(c, start, start)) {
		add(c, ' ', start, start);
		start++;
	}
	while (before_end > start && after_end > start && same(c, before_end - 1, after_end - 1)) {
		before_end--;
		after_end--;
	}
	compare_middle(c, start, before_end, start, after_end);
	for (; before_end < c->before.count; before_end++, after_end++)
		add(c, ' ', before_end, after_end);
}

static void print_line(FILE *out, char kind, const struct line *line)
{
	(void)fputc(kind, out);
	(void)fwrite(line->text, 1, line->size, out);
	if (line->size == 0 || line->text[line->size - 1] != '\n')
		(void)fputs("\n\\ No newline at end of file\n", out);
}

static void print_hunk(FILE *out, const struct comparing *c, int first, int last)
{
	int removed = 0, added = 0;

	for (int i = first; i < last; i++) {
		removed += c->steps[i].kind != '+';
		added += c->steps[i].kind != '-';
	}
	/* The number of an empty range is that of the line before it. */
	(void)fprintf(out, "@@ -%d,%d +%d,%d @@\n", c->steps[first].before + (removed > 0), removed,
		      c->steps[first].after + (added > 0), added);
	for (int i = first; i < last; i++)
		print_line(out, c->steps[i].kind,
			   c->steps[i].kind == '+' ? &c->after.line[c->steps[i].after]
						   : &c->before.line[c->steps[i].before]);
}

void diff_unified(FILE *out, const char *before_name, const char *after_name, const char *before, const char *after)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct comparing c = {.arena = arena, .before = split(arena, before), .after = split(arena, after)};

	c.steps = ARENA_ARRAY(arena, (size_t)(c.before.count + c.after.count) + 1, struct step);
	compare(&c);
	for (int i = 0, printed = 0, done = 0; i < c.count; i++) {
		int last = i + 1, quiet = 0;

		if (c.steps[i].kind == ' ')
			continue;
		if (!printed++)
			(void)fprintf(out, "--- %s\n+++ %s\n", text_visible(arena, before_name),
				      text_visible(arena, after_name));
		/* Changes with no more than twice the context between them are one hunk. */
		for (int j = i + 1; j < c.count && quiet <= 2 * AROUND; j++) {
			quiet = c.steps[j].kind == ' ' ? quiet + 1 : 0;
			last = quiet ? last : j + 1;
		}
		print_hunk(out, &c, MAX_OF(MAX_OF(i - AROUND, 0), done), MIN_OF(last + AROUND, c.count));
		done = MIN_OF(last + AROUND, c.count);
		i = last - 1;
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns documents in the making, and as Markdown and as text. */
#include "report_doc.h"

#include <string.h>

#include "err.h"
#include "text.h"

struct doc *doc_new(struct arena *arena, const char *title)
{
	struct doc *doc = ARENA_NEW(arena, struct doc);

	doc->arena = arena;
	doc->title = title;
	return doc;
}

static struct doc_part *add(struct doc *doc, enum doc_kind kind)
{
	if (doc->count == doc->room) {
		int room = doc->room ? doc->room * 2 : 32;
		struct doc_part *larger = ARENA_ARRAY(doc->arena, (size_t)room, struct doc_part);

		if (doc->count)
			memcpy(larger, doc->parts, (size_t)doc->count * sizeof(*larger));
		doc->parts = larger;
		doc->room = room;
	}
	doc->parts[doc->count] = (struct doc_part){.kind = kind};
	return &doc->parts[doc->count++];
}

void doc_add(struct doc *doc, enum doc_kind kind, const char *text)
{
	if (text && *text)
		add(doc, kind)->text = text;
}

void doc_add_table(struct doc *doc, const struct doc_table *table)
{
	if (table->rows)
		add(doc, DOC_TABLE)->table = table;
}

void doc_add_folded(struct doc *doc, const struct doc_table *table)
{
	if (table->rows)
		add(doc, DOC_FOLDED)->table = table;
}

void doc_add_chart(struct doc *doc, const struct chart *chart)
{
	add(doc, DOC_CHART)->chart = chart;
}

/* ---- Markdown ---- */

/* What would begin something in Markdown is escaped; a cell has one line. */
static void put_marked(FILE *out, const char *text)
{
	for (bool visible; *text;) {
		size_t length = text_character(text, &visible);

		if (length == 1 && strchr("\\`*_{}[]<>#|~", *text))
			(void)fputc('\\', out);
		if (*text == '\n')
			(void)fputc(' ', out);
		else
			text_put(out, text, length);
		text += length;
	}
}

/* What stands for a table that is folded away. */
static const char *folded_words(struct arena *arena, const struct doc_table *table)
{
	return arena_printf(arena, "%s: %d, in the page (--format html) and in JSON.", table->caption, table->rows);
}

static void marked_table(FILE *out, const struct doc_table *table)
{
	put_marked(out, table->caption);
	(void)fputs(":\n\n|", out);
	for (int i = 0; i < table->columns; i++) {
		(void)fputc(' ', out);
		put_marked(out, table->heads[i]);
		(void)fputs(" |", out);
	}
	(void)fputs("\n|", out);
	for (int i = 0; i < table->columns; i++)
		(void)fputs(i >= table->numbers_from ? " ---: |" : " --- |", out);
	for (int row = 0; row < table->rows; row++) {
		(void)fputs("\n|", out);
		for (int i = 0; i < table->columns; i++) {
			const char *cell = table->cells[row * table->columns + i];

			(void)fputc(' ', out);
			put_marked(out, cell ? cell : "");
			(void)fputs(" |", out);
		}
	}
	(void)fputs("\n\n", out);
}

/* Lines of foreign text: none may end the block. */
static void fenced(FILE *out, const char *text)
{
	(void)fputs("    ", out);
	for (; *text; text++) {
		(void)fputc(*text, out);
		if (*text == '\n' && text[1])
			(void)fputs("    ", out);
	}
	(void)fputs("\n\n", out);
}

static void marked_chart(FILE *out, const struct chart *chart)
{
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	CLEANUP(base_fclose) FILE *lines = open_memstream(&text, &size);
	struct term term = {.out = lines, .width = 100, .utf8 = true};

	if (!lines)
		err_no_memory();
	chart_text(&term, chart);
	base_fclose(&lines);
	fenced(out, text);
}

void doc_markdown(FILE *out, const struct doc *doc)
{
	(void)fputs("# ", out);
	put_marked(out, doc->title);
	(void)fputs("\n\n", out);
	for (int i = 0; i < doc->count; i++) {
		const struct doc_part *part = &doc->parts[i];

		switch (part->kind) {
		case DOC_HEADING:
			(void)fputs("## ", out);
			put_marked(out, part->text);
			(void)fputs("\n\n", out);
			break;
		case DOC_VERDICT:
			(void)fputs("**", out);
			put_marked(out, part->text);
			(void)fputs("**\n\n", out);
			break;
		case DOC_TEXT:
		case DOC_NOTE:
			put_marked(out, part->text);
			(void)fputs("\n\n", out);
			break;
		case DOC_CODE:
			fenced(out, part->text);
			break;
		case DOC_TABLE:
			marked_table(out, part->table);
			break;
		case DOC_FOLDED:
			put_marked(out, folded_words(doc->arena, part->table));
			(void)fputs("\n\n", out);
			break;
		case DOC_CHART:
			marked_chart(out, part->chart);
			break;
		}
	}
}

/* ---- text ---- */

/* Rows of more columns than the terminal has are told one below the other. */
static void listed_table(const struct term *term, const struct doc_table *table)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	for (int row = 0; row < table->rows && table->columns == 2; row++) {
		const char *const *cells = &table->cells[(size_t)row * 2];

		term_flow(term, 2, false, arena_printf(arena, "%s: %s", cells[0], cells[1] ? cells[1] : ""));
	}
	for (int row = 0; row < table->rows && table->columns != 2; row++)
		for (int i = 0; i < table->columns; i++) {
			const char *cell = table->cells[row * table->columns + i];

			if (cell && *cell)
				term_flow(term, i ? 4 : 2, false,
					  i ? arena_printf(arena, "%s: %s", table->heads[i], cell) : cell);
		}
}

static void text_table(const struct term *term, const struct doc_table *table)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int *widths = ARENA_ARRAY(arena, (size_t)table->columns + 1, int), sum = 0;

	term_flow(term, 0, false, arena_printf(arena, "%s:", table->caption));
	for (int i = 0; i < table->columns; i++) {
		widths[i] = term_columns(table->heads[i]);
		for (int row = 0; row < table->rows; row++) {
			const char *cell = table->cells[row * table->columns + i];

			widths[i] = MAX_OF(widths[i], cell ? term_columns(cell) : 0);
		}
		sum += widths[i] + 2;
	}
	if (sum > term->width) {
		listed_table(term, table);
		return;
	}
	for (int row = -1; row < table->rows; row++) {
		const char *line = "";

		for (int i = 0; i < table->columns; i++) {
			const char *cell = row < 0 ? table->heads[i] : table->cells[row * table->columns + i];
			int pad = widths[i] - term_columns(cell ? cell : "");
			bool right = i >= table->numbers_from;

			line = arena_printf(arena, "%s%*s%s%*s", line, 2 + (right ? pad : 0), "",
					    text_visible(arena, cell ? cell : ""),
					    right || i + 1 == table->columns ? 0 : pad, "");
		}
		(void)fprintf(term->out, "%s%s%s\n", row < 0 ? term_on(term, TERM_DIM) : "", line,
			      row < 0 ? term_on(term, TERM_PLAIN) : "");
	}
}

void doc_text(const struct term *term, const struct doc *doc)
{
	(void)fputs(term_on(term, TERM_BOLD), term->out);
	term_flow(term, 0, false, doc->title);
	(void)fputs(term_on(term, TERM_PLAIN), term->out);
	for (int i = 0; i < doc->count; i++) {
		const struct doc_part *part = &doc->parts[i];

		switch (part->kind) {
		case DOC_HEADING:
			(void)fprintf(term->out, "\n%s", term_on(term, TERM_BOLD));
			term_flow(term, 0, false, part->text);
			(void)fputs(term_on(term, TERM_PLAIN), term->out);
			break;
		case DOC_VERDICT:
		case DOC_TEXT:
		case DOC_NOTE:
			term_flow(term, 0, false, part->text);
			break;
		case DOC_CODE:
			for (const char *line = part->text; *line;) {
				size_t length = strcspn(line, "\n");

				(void)fputs("  ", term->out);
				text_put(term->out, line, length);
				(void)fputc('\n', term->out);
				line += length + (line[length] == '\n');
			}
			break;
		case DOC_TABLE:
			text_table(term, part->table);
			break;
		case DOC_FOLDED:
			term_flow(term, 0, false, folded_words(doc->arena, part->table));
			break;
		case DOC_CHART:
			chart_text(term, part->chart);
			(void)fputc('\n', term->out);
			break;
		}
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns documents: headings, sentences, tables, commands and charts in their order, and the forms in which they are
 * given: one HTML page that needs nothing else, Markdown, and text for the terminal.
 *
 * Texts may be foreign: they are escaped, and what may not be shown is '?'.
 */
#ifndef HVTUNE_REPORT_DOC_H
#define HVTUNE_REPORT_DOC_H

#include "report_chart.h"

enum doc_kind { DOC_HEADING, DOC_VERDICT, DOC_TEXT, DOC_NOTE, DOC_CODE, DOC_TABLE, DOC_FOLDED, DOC_CHART };

struct doc_table {
	const char *caption;	  /* what it shows, in a few words */
	const char *const *heads; /* columns */
	const char *const *cells; /* row by row; NULL: empty */
	int columns, rows;
	int numbers_from; /* columns from here on are numbers, set to the right; `columns` for none */
};

struct doc_part {
	enum doc_kind kind;
	const char *text; /* of headings, sentences, code (may have several lines) */
	const struct doc_table *table;
	const struct chart *chart;
};

struct doc {
	struct arena *arena;
	const char *title;
	struct doc_part *parts;
	int count, room;
};

struct doc *doc_new(struct arena *arena, const char *title);

/* `text` is kept, not copied; "" and NULL add nothing. */
void doc_add(struct doc *doc, enum doc_kind kind, const char *text);
void doc_add_table(struct doc *doc, const struct doc_table *table); /* one without rows adds nothing */
/* For who looks for it: opened by a click in the page, elsewhere only told. */
void doc_add_folded(struct doc *doc, const struct doc_table *table);
void doc_add_chart(struct doc *doc, const struct chart *chart);

void doc_html(FILE *out, const struct doc *doc);
void doc_markdown(FILE *out, const struct doc *doc);
void doc_text(const struct term *term, const struct doc *doc);

#endif

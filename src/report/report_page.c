/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns pages of Markdown laid out for the terminal. */
#include "report.h"
#include "text.h"

void report_page(const struct term *term, const char *page, bool markdown)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	if (markdown) {
		(void)fputs(page, term->out);
		return;
	}
	while (*page) {
		size_t length = strcspn(page, "\n");
		const char *line = arena_strndup(arena, page, length);
		size_t marks = strspn(line, "#");

		if (marks)
			(void)fprintf(term->out, "%s%s%s\n", term_on(term, TERM_BOLD),
				      line + marks + (line[marks] == ' '), term_on(term, TERM_PLAIN));
		else if (*line)
			term_flow(term, 2, false, line);
		else
			(void)fputc('\n', term->out);
		page += length + (page[length] == '\n');
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a page with all sample charts, to be looked at and to be measured in a browser, and the same as text.
 * usage: chart_page html | text COLUMNS | file INDEX WIDTH
 */
#include <locale.h>

#include "chart_samples.h"
#include "text.h"

static void put_page(const struct chart *charts, int count)
{
	(void)puts("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>charts</title><meta "
		   "name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light "
		   "dark\"><style>");
	chart_svg_style(stdout);
	(void)puts(
	    "body { margin: 0 16px; font-family: sans-serif } @media (min-width: 800px) { .narrow { display: none } "
	    "} @media (max-width: 799px) { .wide { display: none } }</style></head><body>");
	for (int i = 0; i < count; i++) {
		char id[32];

		(void)printf("<h3>%s</h3><div class=\"wide\">", charts[i].title);
		(void)snprintf(id, sizeof(id), "w%d", i);
		chart_svg(stdout, &charts[i], CHART_WIDTH_WIDE, id, false);
		(void)snprintf(id, sizeof(id), "n%d", i);
		(void)printf("</div><div class=\"narrow\">");
		chart_svg(stdout, &charts[i], CHART_WIDTH_NARROW, id, false);
		(void)puts("</div>");
	}
	(void)puts("</body></html>");
}

int main(int argc, char **argv)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	int count;
	const struct chart *charts = chart_samples(arena, &count);
	int64_t numbers[2] = {0, 0};

	(void)setlocale(LC_CTYPE, "");
	for (int i = 2; i < argc && i < 4; i++)
		if (text_int(argv[i], 10, &numbers[i - 2]) < 0)
			return 2;
	if (argc == 2 && text_equal(argv[1], "html")) {
		put_page(charts, count);
	} else if (argc == 3 && text_equal(argv[1], "text")) {
		struct term term = term_of(stdout);

		term.width = (int)numbers[0];
		for (int i = 0; i < count; i++) {
			chart_text(&term, &charts[i]);
			(void)putchar('\n');
		}
	} else if (argc == 4 && text_equal(argv[1], "file") && numbers[0] >= 0 && numbers[0] < count) {
		chart_svg(stdout, &charts[numbers[0]], (int)numbers[1], "chart", true);
	} else {
		return 2;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns documents as one HTML page: no script, nothing from a network, light and dark, for a screen of any width and for
 * paper. Charts are in it twice, laid out for wide and for narrow screens, of which one is shown.
 */
#include "report_doc.h"

#include <string.h>

#include "config.h"
#include "report_svg.h"
#include "text.h"

/* Below this many pixels the narrow pictures are shown: the wide ones and the margins of the page need more. */
#define WIDE_FROM "820px"

static const char style[] =
    ":root { --text: #1f2933; --soft: #52606d; --edge: #d5dbe1; --ground: #ffffff; --block: #f3f6f9; color-scheme: "
    "light "
    "dark; }\n"
    "@media screen and (prefers-color-scheme: dark) { :root { --text: #e4e9ee; --soft: #a9b6c2; --edge: #3a4652;\n"
    "  --ground: #14191e; --block: #1d252c; } }\n"
    "body { margin: 0 auto; padding: 1rem 16px 3rem; max-width: 780px; background: var(--ground); color: var(--text);\n"
    "  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif; }\n"
    "h1 { font-size: 1.4rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }\n"
    "h1, h2, p, figcaption { overflow-wrap: anywhere; }\n"
    ".verdict { font-size: 1.15rem; font-weight: 600; line-height: 1.4; margin: 0.5rem 0; }\n"
    "figure { margin: 1.5rem 0 2rem; } figcaption { font-weight: 600; margin-bottom: 0.25rem; }\n"
    ".note { color: var(--soft); font-size: 0.85rem; }\n"
    ".table { overflow-x: auto; margin: 0.75rem 0; }\n"
    "table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; min-width: 50%; }\n"
    "caption { text-align: left; color: var(--soft); padding-bottom: 0.25rem; }\n"
    "th, td { text-align: left; vertical-align: top; padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid "
    "var(--edge); }\n"
    "td, th { overflow-wrap: break-word; max-width: 26rem; } tbody th { min-width: 7rem; }\n"
    "summary { cursor: pointer; margin: 0.75rem 0; }\n"
    "th { font-weight: 600; } .number { text-align: right; } td.number { white-space: nowrap; } td:not(.number) { "
    "min-width: 6rem; }\n"
    "pre { background: var(--block); padding: 0.75rem; white-space: pre-wrap; overflow-wrap: anywhere; font: "
    "0.875rem/1.45\n"
    "  ui-monospace, 'DejaVu Sans Mono', monospace; border-radius: 4px; }\n"
    "@media (max-width: 500px) { td, th { max-width: 12rem; } }\n"
    "@media (min-width: " WIDE_FROM ") { .narrow { display: none; } }\n"
    "@media not all and (min-width: " WIDE_FROM ") { .wide { display: none; } }\n"
    "@media print { body { max-width: none; font-size: 11pt; padding: 0; } .narrow { display: none; } .wide { "
    "display:\n"
    "  block; } .table { overflow: visible; } figure, tr, pre { break-inside: avoid; } h2 { break-after: avoid; } }\n";

static void put(FILE *out, const char *before, const char *text, const char *after)
{
	(void)fputs(before, out);
	svg_escape(out, text);
	(void)fputs(after, out);
}

/* One escaped line after another: svg_escape() shows an end of line as '?'. */
static void put_lines(FILE *out, const char *text)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	while (*text) {
		size_t length = strcspn(text, "\n");

		svg_escape(out, arena_strndup(arena, text, length));
		text += length;
		if (*text == '\n') {
			(void)fputc('\n', out);
			text++;
		}
	}
}

static void put_table(FILE *out, const struct doc_table *table, bool folded)
{
	if (folded)
		put(out, "<details><summary>", table->caption, "</summary>\n");
	put(out, "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"", table->caption, "\">\n<table>");
	if (!folded)
		put(out, "<caption>", table->caption, "</caption>\n");
	(void)fputs("<thead><tr>", out);
	for (int i = 0; i < table->columns; i++)
		put(out, i >= table->numbers_from ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">",
		    table->heads[i], "</th>");
	(void)fputs("</tr></thead>\n<tbody>\n", out);
	for (int row = 0; row < table->rows; row++) {
		(void)fputs("<tr>", out);
		for (int i = 0; i < table->columns; i++) {
			const char *cell = table->cells[row * table->columns + i];

			put(out,
			    i == 0		       ? "<th scope=\"row\">"
			    : i >= table->numbers_from ? "<td class=\"number\">"
						       : "<td>",
			    cell ? cell : "", i ? "</td>" : "</th>");
		}
		(void)fputs("</tr>\n", out);
	}
	(void)fprintf(out, "</tbody></table></div>%s\n", folded ? "</details>" : "");
}

static void put_chart(FILE *out, const struct chart *chart, int index)
{
	char id[32];

	put(out, "<figure><figcaption>", chart->title, "</figcaption>\n<div class=\"wide\">");
	(void)snprintf(id, sizeof(id), "wide%d", index);
	chart_svg(out, chart, CHART_WIDTH_WIDE, id, false);
	(void)fputs("</div>\n<div class=\"narrow\">", out);
	(void)snprintf(id, sizeof(id), "narrow%d", index);
	chart_svg(out, chart, CHART_WIDTH_NARROW, id, false);
	(void)fputs("</div>\n", out);
	if (chart->note)
		put(out, "<div class=\"note\">", chart->note, "</div>");
	(void)fputs("</figure>\n", out);
}

void doc_html(FILE *out, const struct doc *doc)
{
	(void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"generator\" content=\"hvtune " HVTUNE_VERSION "\">\n",
		    out);
	put(out, "<title>", doc->title, "</title>\n<style>\n");
	(void)fputs(style, out);
	chart_svg_style(out);
	(void)fputs("</style>\n</head>\n<body>\n<main>\n", out);
	put(out, "<h1>", doc->title, "</h1>\n");
	for (int i = 0; i < doc->count; i++) {
		const struct doc_part *part = &doc->parts[i];

		switch (part->kind) {
		case DOC_HEADING:
			put(out, "<h2>", part->text, "</h2>\n");
			break;
		case DOC_VERDICT:
			put(out, "<p class=\"verdict\">", part->text, "</p>\n");
			break;
		case DOC_NOTE:
			put(out, "<p class=\"note\">", part->text, "</p>\n");
			break;
		case DOC_TEXT:
			put(out, "<p>", part->text, "</p>\n");
			break;
		case DOC_CODE:
			(void)fputs("<pre><code>", out);
			put_lines(out, part->text);
			(void)fputs("</code></pre>\n", out);
			break;
		case DOC_TABLE:
		case DOC_FOLDED:
			put_table(out, part->table, part->kind == DOC_FOLDED);
			break;
		case DOC_CHART:
			put_chart(out, part->chart, i);
			break;
		}
	}
	(void)fputs("</main>\n</body>\n</html>\n", out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in report_svg.h. */
#include "report_svg.h"

#include <string.h>

#include "term.h"
#include "text.h"

/*
 * Colours carry a meaning each: tints are nodes, blue-grey boxes L3 groups, amber the large L3, green preferred cores,
 * stripes isolated CPUs, grey what is off line. None is needed to read the numbers, and stripes do without colour.
 */
static const char style[] =
    "  <style>\n"
    "    text { font-family: system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif; fill: "
    "#1f2933; }\n"
    "    .ground { fill: #ffffff; stroke: #d5dbe1; }\n"
    "    .title { font-size: 16px; font-weight: 600; }\n"
    "    .package { fill: #f6f8fa; stroke: #8795a1; stroke-width: 1.5; }\n"
    "    .package-title { font-size: 14px; font-weight: 600; }\n"
    "    .package-note { font-size: 12px; fill: #52606d; text-anchor: end; }\n"
    "    .node { stroke: #b6c2cd; }\n"
    "    .tint0 { fill: #e6f0fa; } .tint1 { fill: #e8f5ea; } .tint2 { fill: #fdf3e1; } .tint3 { fill: #f3eafa; }\n"
    "    .tint4 { fill: #e2f4f5; } .tint5 { fill: #fbeaec; } .tint6 { fill: #f2f5dc; } .tint7 { fill: #ebecfa; }\n"
    "    .node-title { font-size: 13px; font-weight: 600; }\n"
    "    .node-note { font-size: 12px; fill: #52606d; text-anchor: end; }\n"
    "    .missing { fill: #b42318; font-weight: 600; }\n"
    "    .group { fill: #ffffff; stroke: #486581; stroke-width: 1.5; }\n"
    "    .large { fill: #fff6dc; stroke: #b7791f; stroke-width: 2.5; }\n"
    "    .group-title { font-size: 12px; font-weight: 600; }\n"
    "    .group-note { font-size: 11px; fill: #52606d; text-anchor: end; }\n"
    "    .core { fill: #dbe4ee; stroke: #9fb3c8; }\n"
    "    .preferred { fill: #cdebd3; stroke: #3c8d50; stroke-width: 1.5; }\n"
    "    .thread { fill: #ffffff; stroke: #bcccdc; }\n"
    "    .isolated { fill: url(#stripes); stroke: #c05621; }\n"
    "    .off { fill: #e4e7eb; stroke: #cbd2d9; stroke-dasharray: 3 2; }\n"
    "    .cpu { font-size: 11px; text-anchor: middle; font-variant-numeric: tabular-nums; }\n"
    "    .off-cpu { font-size: 11px; text-anchor: middle; fill: #7b8794; }\n"
    "    .legend, .remark { font-size: 12px; }\n"
    "    .remark { fill: #3e4c59; }\n"
    "  </style>\n"
    "  <defs><pattern id=\"stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\">"
    "<rect width=\"6\" height=\"6\" fill=\"#fff7ed\"/><rect width=\"2\" height=\"6\" "
    "fill=\"#fbd3a8\"/></pattern></defs>\n";

void svg_escape(FILE *out, const char *text)
{
	for (const char *at = text; *at;) {
		size_t length = text_character(at, &(bool){0});
		const char *name = *at == '&'	? "&amp;"
				   : *at == '<' ? "&lt;"
				   : *at == '>' ? "&gt;"
				   : *at == '"' ? "&quot;"
						: NULL;

		if (name)
			(void)fputs(name, out);
		else
			text_put(out, at, length);
		at += length;
	}
}

void svg_start(FILE *out, int width, int height, const char *description)
{
	(void)fprintf(
	    out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
	    "  <title>",
	    width, height, width, height);
	svg_escape(out, description);
	(void)fprintf(out, "</title>\n%s", style);
	svg_rect(out, "ground", 0, 0, width, height, 10);
}

void svg_end(FILE *out)
{
	(void)fputs("</svg>\n", out);
}

void svg_rect(FILE *out, const char *classes, int x, int y, int width, int height, int radius)
{
	/* Half a pixel in, so that lines of one pixel are sharp. */
	(void)fprintf(out, "  <rect class=\"%s\" x=\"%d.5\" y=\"%d.5\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n",
		      classes, x, y, width - 1, height - 1, radius);
}

void svg_text(FILE *out, const char *classes, int x, int y, const char *text)
{
	if (!*text)
		return;
	(void)fprintf(out, "  <text class=\"%s\" x=\"%d\" y=\"%d\">", classes, x, y);
	svg_escape(out, text);
	(void)fputs("</text>\n", out);
}

int svg_text_width(const char *text, int font_size)
{
	/* Six tenths of the size for a character: DejaVu Sans, the widest of the fonts in use, needs 0.58 in texts. */
	return term_columns(text) * font_size * 6 / 10;
}

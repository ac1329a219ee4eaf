/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in report_canvas.h. */
#include "report_canvas.h"

#include <math.h>
#include <string.h>

#include "report_svg.h"
#include "text.h"

/* ---- how wide a text is ---- */

/*
 * Advance widths of DejaVu Sans in thousandths of the size, from U+0020 on: the widest of the fonts in the style sheet.
 * A text that is placed by it fits in the others too.
 */
static const short advances[] = {318,  401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337,
				 637,  637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531,
				 1000, 685, 687, 699, 771, 632, 576, 775, 752, 295, 295, 656, 558, 863, 749, 788,
				 604,  788, 695, 635, 611, 732, 685, 989, 686, 611, 686, 391, 337, 391, 838, 500,
				 500,  613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
				 635,  635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838};

/* Everything else: as wide as Cyrillic, Greek and CJK get; pictures are wider still (four bytes begin with 0xf0). */
enum { OTHER_ADVANCE = 1100, PICTURE_ADVANCE = 1400, FIRST = 0x20 };

static double advance(const char *at, size_t length, bool visible)
{
	unsigned char first = (unsigned char)*at;

	if (length == 1 && visible && first >= FIRST && (size_t)(first - FIRST) < ARRAY_SIZE(advances))
		return advances[first - FIRST];
	if (length == 1 || !visible)
		return advances['?' - FIRST];
	return first >= 0xf0 ? PICTURE_ADVANCE : OTHER_ADVANCE;
}

double canvas_text_width(const char *text, int size)
{
	double width = 0;

	for (bool visible; *text;) {
		size_t length = text_character(text, &visible);

		width += advance(text, length, visible);
		text += length;
	}
	return width * size / 1000;
}

/* Bytes of `text` that fit into `most` pixels: at least one character, so that it goes on. */
static size_t fitting(const char *text, int size, double most)
{
	double width = 0;
	const char *at = text;

	for (bool visible; *at;) {
		size_t length = text_character(at, &visible);

		width += advance(at, length, visible) * size / 1000;
		if (width > most + 0.01 && at > text)
			break;
		at += length;
	}
	return (size_t)(at - text);
}

/* ---- lines ---- */

/* Where the line that begins at `text` ends: between words where there is a gap, or after a joint of a long word. */
static size_t line_length(const char *text, int size, double most)
{
	size_t room = fitting(text, size, most), cut = room;

	if (!text[room])
		return room;
	while (cut && text[cut] != ' ')
		cut--;
	if (cut)
		return cut;
	for (cut = room; cut > room / 2; cut--)
		if (strchr(CANVAS_JOINTS, text[cut - 1]))
			return cut;
	return room;
}

int canvas_lines_count(const char *text, int size, double most, int lines_most)
{
	int count = 0;

	while (*text && count < lines_most) {
		text += line_length(text, size, most);
		text += strspn(text, " ");
		count++;
	}
	return MAX_OF(count, 1);
}

int canvas_lines(struct canvas *canvas, const char *classes, enum canvas_anchor anchor, double x, double y,
		 const char *text, int size, double most, int lines_most)
{
	int count = 0;

	while (*text && count < lines_most) {
		size_t length = count + 1 < lines_most ? line_length(text, size, most) : strlen(text);

		(void)canvas_text(canvas, classes, anchor, x, y + count * CANVAS_LINE,
				  arena_strndup(canvas->arena, text, length), size, most);
		text += length;
		text += strspn(text, " ");
		count++;
	}
	return MAX_OF(count, 1);
}

/* ---- shapes ---- */

struct canvas *canvas_new(struct arena *arena, int width)
{
	struct canvas *canvas = ARENA_NEW(arena, struct canvas);

	canvas->arena = arena;
	canvas->width = width;
	canvas->body = open_memstream(&canvas->text, &canvas->size);
	return canvas->body ? canvas : NULL;
}

/* A coordinate with a tenth of a pixel, without needless digits. */
static void number(struct canvas *canvas, const char *name, double value)
{
	double tenths = round(value * 10);

	(void)fprintf(canvas->body, fmod(tenths, 10) == 0 ? " %s=\"%.0f\"" : " %s=\"%.1f\"", name,
		      tenths == 0 ? 0 : tenths / 10);
}

static void reach(struct canvas *canvas, double y)
{
	canvas->bottom = fmax(canvas->bottom, y);
}

void canvas_line(struct canvas *canvas, const char *classes, double x1, double y1, double x2, double y2)
{
	(void)fprintf(canvas->body, "<line class=\"%s\"", classes);
	number(canvas, "x1", x1);
	number(canvas, "y1", y1);
	number(canvas, "x2", x2);
	number(canvas, "y2", y2);
	(void)fputs("/>\n", canvas->body);
	reach(canvas, fmax(y1, y2));
}

void canvas_rect(struct canvas *canvas, const char *classes, double x, double y, double width, double height)
{
	(void)fprintf(canvas->body, "<rect class=\"%s\"", classes);
	number(canvas, "x", x);
	number(canvas, "y", y);
	number(canvas, "width", fmax(width, 0));
	number(canvas, "height", fmax(height, 0));
	(void)fputs("/>\n", canvas->body);
	reach(canvas, y + height);
}

void canvas_circle(struct canvas *canvas, const char *classes, double x, double y, double radius)
{
	(void)fprintf(canvas->body, "<circle class=\"%s\"", classes);
	number(canvas, "cx", x);
	number(canvas, "cy", y);
	number(canvas, "r", radius);
	(void)fputs("/>\n", canvas->body);
	reach(canvas, y + radius);
}

void canvas_path(struct canvas *canvas, const char *classes, const char *path)
{
	(void)fprintf(canvas->body, "<path class=\"%s\" d=\"%s\"/>\n", classes, path);
}

double canvas_text(struct canvas *canvas, const char *classes, enum canvas_anchor anchor, double x, double y,
		   const char *text, int size, double most)
{
	static const char *const anchors[] = {[CANVAS_START] = "", [CANVAS_MIDDLE] = " mid", [CANVAS_END] = " end"};
	double width = canvas_text_width(text, size);
	const char *shown = text;

	if (!*text)
		return 0;
	if (most > 0 && width > most + 0.01) {
		double dots = canvas_text_width("\u2026", size);

		shown = arena_printf(canvas->arena, "%.*s\u2026", (int)fitting(text, size, most - dots), text);
		width = canvas_text_width(shown, size);
	}
	(void)fprintf(canvas->body, "<text class=\"%s%s\"", classes, anchors[anchor]);
	number(canvas, "x", x);
	number(canvas, "y", y);
	(void)fputc('>', canvas->body);
	if (shown != text) {
		(void)fputs("<title>", canvas->body);
		svg_escape(canvas->body, text);
		(void)fputs("</title>", canvas->body);
	}
	svg_escape(canvas->body, shown);
	(void)fputs("</text>\n", canvas->body);
	reach(canvas, y + size * 0.3);
	return width;
}

void canvas_finish(struct canvas *canvas, FILE *out, const char *id, const char *title, const char *description,
		   const char *style)
{
	int height = (int)ceil(canvas->bottom) + 8;

	base_fclose(&canvas->body);
	(void)fprintf(
	    out,
	    "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 "
	    "%d %d\" role=\"img\" aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">",
	    canvas->width, height, canvas->width, height, id, id, id);
	svg_escape(out, title);
	(void)fprintf(out, "</title>\n<desc id=\"%s-d\">", id);
	svg_escape(out, description);
	(void)fputs("</desc>\n", out);
	if (style)
		(void)fprintf(out, "<style>\n%s</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", style,
			      canvas->width, height);
	(void)fwrite(canvas->text, 1, canvas->size, out);
	(void)fputs("</svg>\n", out);
	base_free(&canvas->text);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the writing of SVG elements: escaping, the style sheet, rectangles and texts in user units (CSS pixels).
 */
#ifndef HVTUNE_REPORT_SVG_H
#define HVTUNE_REPORT_SVG_H

#include "base.h"

/* Head, style sheet and ground. `description` is for screen readers. */
void svg_start(FILE *out, int width, int height, const char *description);
void svg_end(FILE *out);

/* Classes are those of the style sheet. Nothing is written for an empty text. */
void svg_rect(FILE *out, const char *classes, int x, int y, int width, int height, int radius);
void svg_text(FILE *out, const char *classes, int x, int y, const char *text);

/* A text as XML and HTML want it; what may not be shown is '?'. */
void svg_escape(FILE *out, const char *text);

/* About how wide a text is in the fonts of the style sheet: none can be measured here. */
int svg_text_width(const char *text, int font_size);

#endif

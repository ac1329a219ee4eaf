/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the text forms of charts share. Used by their files only. */
#ifndef HVTUNE_REPORT_CHART_TEXT_H
#define HVTUNE_REPORT_CHART_TEXT_H

#include "report_chart.h"
#include "report_scale.h"

/* A line of character cells that is drawn into. */
struct text_track {
	struct arena *arena;
	const char **cells; /* one character each */
	int width;
};

struct text_track text_track_new(struct arena *arena, int width);
void text_track_put(struct text_track *track, int at, const char *character);
void text_track_run(struct text_track *track, int from, int to, const char *character);
void text_track_words(struct text_track *track, int at, const char *ascii);
const char *text_track_line(const struct text_track *track);

/* The column in a track of `width` for a value; -1 where it is not finite. */
int text_column(const struct scale *scale, double value);

/* An axis of one column's ticks with their numbers in two lines, indented. */
void text_axis(const struct term *term, struct arena *arena, const struct scale *scale, int indent, int width,
	       const char *what);

/* A scale whose tick texts have room in `width` columns. */
struct scale text_scale(struct arena *arena, double low, double high, const char *unit, int width);

/* The text with its own characters where the terminal can draw no others: "°C" becomes "C". */
const char *text_for(const struct term *term, struct arena *arena, const char *text);

/* term_flow() with text_for(), and words that are wider than the terminal broken. */
void text_flow(const struct term *term, struct arena *arena, int indent, bool started, const char *text);

/* The text cut to `columns`, foreign characters made visible, and blanks up to them. */
const char *text_fill(const struct term *term, struct arena *arena, const char *text, int columns);

void chart_text_heat(const struct term *term, struct arena *arena, const struct chart_heat *chart);
void chart_text_pareto(const struct term *term, struct arena *arena, const struct chart_pareto *chart);
void chart_text_series(const struct term *term, struct arena *arena, const struct chart_series *chart);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a host does now as lines for a screen, as CSV for a log, and in the text format of Prometheus.
 */
#ifndef HVTUNE_REPORT_WATCH_H
#define HVTUNE_REPORT_WATCH_H

#include "term.h"
#include "watch.h"

struct watch_line {
	const char *text; /* no longer than the width; no escape sequences */
	enum term_colour colour;
};

struct watch_look {
	int width;	 /* columns, at least 40 */
	bool utf8;	 /* "°C" */
	bool cpus;	 /* a line for each CPU too */
	double period_s; /* told in the first line */
};

/* The view as lines, in the arena. Returns how many. What is not known is "?". */
int report_watch_lines(struct arena *arena, const struct watch_view *view, const struct watch_look *look,
		       const struct watch_line **ret);

/* "time,kind,name,quantity,value,unit" and a newline. */
void report_watch_csv_head(FILE *out);

/* A line for each value that is known; `cpus`: of each CPU too. Times are UTC with microseconds (ISO 8601). */
void report_watch_csv(FILE *out, const struct watch_view *view, bool cpus);

/* One scrape: gauges in base units (Hz, W, degrees, shares of 1), those that are known. */
void report_watch_prometheus(FILE *out, const struct watch_view *view);

#endif

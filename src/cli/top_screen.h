/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the whole screen of a terminal, by ncurses. The library is loaded when it is needed: no other command pays for
 * it.
 */
#ifndef HVTUNE_TOP_SCREEN_H
#define HVTUNE_TOP_SCREEN_H

#include "report_watch.h"

enum screen_key {
	SCREEN_NONE,
	SCREEN_QUIT,
	SCREEN_CPUS,
	SCREEN_UP,
	SCREEN_DOWN,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_FASTER,
	SCREEN_SLOWER,
};

struct screen;

/* Take the terminal of standard input and output. -ENOENT: there is no ncurses; -ENOTTY: TERM is none that it knows. */
int screen_open(struct screen **ret, struct err *err);

/* Give it back as it was. Takes NULL, returns NULL. */
struct screen *screen_close(struct screen *screen);

/* The terminal has another size now: ask for it. */
void screen_resized(struct screen *screen);
void screen_size(const struct screen *screen, int *ret_columns, int *ret_rows);

/* Show the lines from `first` on, and `foot` in the last row. */
void screen_draw(struct screen *screen, const struct watch_line *lines, int count, int first, const char *foot);

/* The next key that was pressed, without waiting. */
enum screen_key screen_key(struct screen *screen);

#endif

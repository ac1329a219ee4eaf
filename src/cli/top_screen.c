/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in top_screen.h. Compiled only where ncurses' headers are. */
#include "top_screen.h"

#include <dlfcn.h>
#include <errno.h>

/* Functions, not macros on structs of the library that we are not linked with. */
#define NCURSES_NOMACROS 1
#include <curses.h>

#include "err.h"
#include "library.h"

/* clang-format off */
#define CURSES_FUNCTIONS(X)                                                                                            \
	X(newterm) X(endwin) X(delscreen) X(cbreak) X(noecho) X(curs_set) X(keypad) X(wtimeout) X(wgetch) X(wmove)     \
	X(waddnstr) X(werase) X(wrefresh) X(wattrset) X(resizeterm) X(has_colors) X(start_color)                       \
	X(use_default_colors) X(init_pair) X(set_escdelay) X(COLOR_PAIR) X(tigetstr)
/* clang-format on */

/* NOLINTNEXTLINE(bugprone-macro-parentheses): names of fields cannot stand in parentheses. */
#define DECLARE(name) __typeof__(&(name)) name;

struct api {
	CURSES_FUNCTIONS(DECLARE)
};

struct screen {
	struct api api;
	SCREEN *terminal;
	WINDOW *window;
	bool colour;
	int columns, rows;
};

static const struct {
	enum term_colour colour;
	short pair;
} pairs[] = {{TERM_RED, COLOR_RED},
	     {TERM_YELLOW, COLOR_YELLOW},
	     {TERM_GREEN, COLOR_GREEN},
	     {TERM_BLUE, COLOR_BLUE},
	     {TERM_CYAN, COLOR_CYAN}};

static int load(struct api *api, void **ret_library, struct err *err)
{
	const struct library_function functions[] = {
#define ENTRY(name) {#name, (void **)&api->name},
	    CURSES_FUNCTIONS(ENTRY)};
	const struct library library = {
	    .files = {"libncursesw.so.6"},
	    .name = "ncurses",
	    .where = "top",
	    .install = "libncursesw6 (Debian, Ubuntu) or ncurses-libs (Fedora, RHEL), or use --batch",
	    .errnum = ENOENT};

	return library_load(&library, functions, ARRAY_SIZE(functions), ret_library, err);
}

static void start_colours(struct screen *screen)
{
	const char *no_colour = getenv("NO_COLOR");

	screen->colour = !(no_colour && *no_colour) && screen->api.has_colors() && screen->api.start_color() == OK &&
			 screen->api.use_default_colors() == OK;
	for (size_t i = 0; i < ARRAY_SIZE(pairs) && screen->colour; i++)
		(void)screen->api.init_pair((short)(i + 1), pairs[i].pair, -1);
}

/* A terminal whose cursor cannot be put anywhere ("dumb") would show a mess. */
static bool can_draw(const struct screen *screen)
{
	const char *move = screen->terminal ? screen->api.tigetstr("cup") : NULL;

	/* terminfo(3): -1 where the name is of no text. */
	return move && (intptr_t)move != -1;
}

int screen_open(struct screen **ret, struct err *err)
{
	enum { ESCAPE_WAIT_MS = 25 };
	struct screen *screen = malloc(sizeof(*screen));
	void *library = NULL;
	WINDOW **standard;

	if (!screen)
		err_no_memory();
	*screen = (struct screen){.terminal = NULL};
	int r = load(&screen->api, &library, err);

	if (r >= 0) {
		/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): load() has filled all, or failed. */
		screen->terminal = screen->api.newterm(NULL, stdout, stdin);
		if (!can_draw(screen))
			r = err_set(err, ENOTTY, "top",
				    "ncurses cannot draw on a terminal of the kind \"%s\"; use --batch",
				    getenv("TERM") ? getenv("TERM") : "");
	}
	if (r < 0) {
		(void)screen_close(screen);
		return r;
	}
	standard = dlsym(library, "stdscr");
	screen->window = standard ? *standard : NULL;
	if (!screen->window) {
		(void)screen_close(screen);
		return err_set(err, ENOENT, "top", "this ncurses has no stdscr; use --batch");
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): as above. */
	(void)screen->api.cbreak();
	(void)screen->api.noecho();
	(void)screen->api.curs_set(0);
	(void)screen->api.keypad(screen->window, TRUE);
	(void)screen->api.set_escdelay(ESCAPE_WAIT_MS);
	screen->api.wtimeout(screen->window, 0);
	start_colours(screen);
	screen_resized(screen);
	*ret = screen;
	return 0;
}

struct screen *screen_close(struct screen *screen)
{
	if (!screen)
		return NULL;
	(void)screen->api.endwin();
	screen->api.delscreen(screen->terminal);
	free(screen);
	return NULL;
}

void screen_resized(struct screen *screen)
{
	if (!term_size(stdout, &screen->columns, &screen->rows)) {
		screen->columns = 80;
		screen->rows = 24;
	}
	(void)screen->api.resizeterm(screen->rows, screen->columns);
}

void screen_size(const struct screen *screen, int *ret_columns, int *ret_rows)
{
	*ret_columns = screen->columns;
	*ret_rows = screen->rows;
}

static int attributes(const struct screen *screen, enum term_colour colour)
{
	if (colour == TERM_BOLD)
		return (int)A_BOLD;
	if (colour == TERM_DIM)
		return (int)A_DIM;
	for (size_t i = 0; i < ARRAY_SIZE(pairs) && screen->colour; i++)
		if (pairs[i].colour == colour)
			return screen->api.COLOR_PAIR((int)i + 1);
	return 0;
}

static void put(struct screen *screen, int row, enum term_colour colour, const char *text)
{
	(void)screen->api.wmove(screen->window, row, 0);
	(void)screen->api.wattrset(screen->window, attributes(screen, colour));
	(void)screen->api.waddnstr(screen->window, text, -1);
	(void)screen->api.wattrset(screen->window, 0);
}

void screen_draw(struct screen *screen, const struct watch_line *lines, int count, int first, const char *foot)
{
	(void)screen->api.werase(screen->window);
	for (int i = first; i < count && i - first < screen->rows - 1; i++)
		put(screen, i - first, lines[i].colour, lines[i].text);
	put(screen, screen->rows - 1, TERM_DIM, foot);
	(void)screen->api.wrefresh(screen->window);
}

enum screen_key screen_key(struct screen *screen)
{
	static const struct {
		int code;
		enum screen_key key;
	} keys[] = {{'q', SCREEN_QUIT},
		    {'Q', SCREEN_QUIT},
		    {3, SCREEN_QUIT}, /* Ctrl-C where the terminal gives it as a key */
		    {'c', SCREEN_CPUS},
		    {KEY_UP, SCREEN_UP},
		    {'k', SCREEN_UP},
		    {KEY_DOWN, SCREEN_DOWN},
		    {'j', SCREEN_DOWN},
		    {KEY_PPAGE, SCREEN_PAGE_UP},
		    {KEY_NPAGE, SCREEN_PAGE_DOWN},
		    {' ', SCREEN_PAGE_DOWN},
		    {'-', SCREEN_FASTER},
		    {'+', SCREEN_SLOWER}};

	for (int code = screen->api.wgetch(screen->window); code != ERR; code = screen->api.wgetch(screen->window))
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (keys[i].code == code)
				return keys[i].key;
	return SCREEN_NONE;
}

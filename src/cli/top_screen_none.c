/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the screen of a build without ncurses: there is none. */
#include <errno.h>

#include "err.h"
#include "top_screen.h"

int screen_open(struct screen **ret, struct err *err)
{
	(void)ret;
	(void)err_set(err, ENOENT, "top", "this hvtune was built without ncurses");
	return err_hint(err, "use --batch or --prometheus");
}

struct screen *screen_close(struct screen *screen)
{
	(void)screen;
	return NULL;
}

void screen_resized(struct screen *screen)
{
	(void)screen;
}

void screen_size(const struct screen *screen, int *ret_columns, int *ret_rows)
{
	(void)screen;
	*ret_columns = *ret_rows = 0;
}

void screen_draw(struct screen *screen, const struct watch_line *lines, int count, int first, const char *foot)
{
	(void)screen, (void)lines, (void)count, (void)first, (void)foot;
}

enum screen_key screen_key(struct screen *screen)
{
	(void)screen;
	return SCREEN_QUIT;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the line that tells how far a command is. */
#include "progress.h"

#include <stdarg.h>
#include <unistd.h>

struct progress progress_start(void)
{
	struct progress progress = {.wanted = isatty(STDERR_FILENO) == 1};

	(void)clock_gettime(CLOCK_MONOTONIC, &progress.start);
	return progress;
}

void progress_show(struct progress *progress, const char *format, ...)
{
	struct timespec now;
	va_list arguments;

	if (!progress->wanted)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - progress->start.tv_sec < 2 && !progress->shown)
		return;
	progress->shown = true;
	(void)fputs("\rhvtune: ", stderr);
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputs("\033[K", stderr);
	(void)fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		(void)fputs("\r\033[K", stderr);
	progress->shown = false;
}

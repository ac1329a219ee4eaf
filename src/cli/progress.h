/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the line on the terminal that tells how far a command is, once it has taken two seconds. */
#ifndef HVTUNE_PROGRESS_H
#define HVTUNE_PROGRESS_H

#include <time.h>

#include "base.h"

struct progress {
	struct timespec start;
	bool wanted; /* standard error is a terminal */
	bool shown;
};

struct progress progress_start(void);

/* "hvtune: writing, 40 %" over what stood there; nothing before two seconds have passed. */
void progress_show(struct progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);

/* Take the line away. */
void progress_end(struct progress *progress);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns walking over the processes of a host, for what can only be told by looking at each of them.
 */
#ifndef HVTUNE_HOST_PROCESS_H
#define HVTUNE_HOST_PROCESS_H

#include "base.h"

struct host;

/* A walk stops behind so many processes. */
enum { HOST_PROCESS_LIMIT = 20000 };

/*
 * Call `look` with the number of each process, as text, and its name (comm, at most 15 characters). Processes that end
 * meanwhile are left out. Returns how many there were, HOST_PROCESS_LIMIT when there may be more.
 */
size_t host_each_process(struct host *host, void (*look)(void *context, const char *pid, const char *name),
			 void *context);

#endif

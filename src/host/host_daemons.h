/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the services that write the same knobs as an admin does; tuned's profiles are in host_tuned.h.
 */
#ifndef HVTUNE_HOST_DAEMONS_H
#define HVTUNE_HOST_DAEMONS_H

#include "fact.h"
#include "host_tuned.h"

struct host;
struct host_rows;

struct daemon {
	const char *name;    /* "tuned", "power-profiles-daemon", "tlp"... */
	const char *writes;  /* what it writes, in a few words */
	struct fact running; /* switch, with where it was seen; absent when that can't be told */
};

struct host_daemons {
	struct daemon *list; /* all that hvtune knows of, in a fixed order */
	int count;
	bool looked;	     /* could running services be told at all? */
	bool walked;	     /* the names of all processes were read for that */
	struct fact scx_ops; /* text: name of the sched_ext scheduler that is loaded; absent when none */
	struct host_tuned tuned;
};

/* The daemon by name, or NULL. */
const struct daemon *host_daemon(const struct host_daemons *daemons, const char *name);

/* Is the daemon known to run? `name` as in struct daemon. */
bool host_daemon_runs(const struct host_daemons *daemons, const char *name);

void host_daemons_read(struct host *host);
void host_daemons_rows(const struct host *host, struct host_rows *rows);

#endif

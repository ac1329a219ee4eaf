/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the services that write the same knobs as an admin does, and tuned with its profiles.
 */
#ifndef HVTUNE_HOST_DAEMONS_H
#define HVTUNE_HOST_DAEMONS_H

#include "fact.h"

struct host;
struct host_rows;

struct daemon {
	const char *name;    /* "tuned", "power-profiles-daemon", "tlp"... */
	const char *writes;  /* what it writes, in a few words */
	struct fact running; /* switch, with where it was seen; absent when that can't be told */
};

/* One setting of a tuned profile after its include chain was merged. */
struct tuned_setting {
	const char *section; /* name of the instance: "cpu" */
	const char *type;    /* plug-in: `type=` or the section's name */
	const char *option, *value;
	const char *path; /* the file that it comes from */
	unsigned line;
};

struct tuned_profile {
	const char *name;
	const char *path;		/* tuned.conf of the profile; NULL: not found */
	struct tuned_setting *settings; /* merged, in order */
	int setting_count;
	const char *const *missing; /* profiles that an include names and that are not there */
	int missing_count;
};

struct host_tuned {
	struct fact version;		/* text; absent when it can't be told from files */
	struct fact layout;		/* text: "/usr/lib/tuned/profiles" (2.23 and later) or "/usr/lib/tuned" */
	struct fact active_profile;	/* text: names; empty when none */
	struct fact mode;		/* text: manual, auto */
	struct fact dynamic_tuning;	/* switch: tuned-main.conf */
	struct fact isolated_cores;	/* CPU set: /etc/tuned/cpu-partitioning-variables.conf */
	struct fact boot_cmdline;	/* text: /etc/tuned/bootcmdline */
	struct tuned_profile *profiles; /* the active ones (a name list is several), merged one after the other */
	int profile_count;
};

struct host_daemons {
	struct daemon *list; /* all that hvtune knows of, in a fixed order */
	int count;
	struct host_tuned tuned;
};

/* Is the daemon known to run? `name` as in struct daemon. */
bool host_daemon_runs(const struct host_daemons *daemons, const char *name);

/* The last setting of that plug-in type and option in the active profiles, or NULL. */
const struct tuned_setting *host_tuned_setting(const struct host_tuned *tuned, const char *type, const char *option);

/*
 * Read a profile file that stands alone (for lint): its includes are looked for on the host. `text` is the contents.
 * -EINVAL with line on a syntax that tuned would not take.
 */
int tuned_profile_parse(struct host *host, const char *path, const char *text, struct tuned_profile *ret,
			struct err *err);

void host_daemons_read(struct host *host);
void host_daemons_rows(const struct host *host, struct host_rows *rows);

#endif

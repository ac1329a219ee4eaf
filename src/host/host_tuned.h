/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tuned: where it keeps its profiles, which one is active, and what that profile sets after its includes.
 *
 * The file format is that of Python's configparser as tuned uses it: sections are instances, "=" is the only
 * delimiter, "#" behind a blank starts a comment, an indented line continues the value before it.
 */
#ifndef HVTUNE_HOST_TUNED_H
#define HVTUNE_HOST_TUNED_H

#include "fact.h"

struct host;
struct host_rows;

/* One setting of a tuned profile after its include chain was merged. */
struct tuned_setting {
	const char *section; /* name of the instance: "cpu" */
	const char *type;    /* plug-in: `type=` or the section's name */
	const char *option, *value;
	const char *path; /* the file that it comes from, or TUNED_STOCK_PATH */
	unsigned line;	  /* 1-based; 0 for stock values */
};

/* The `path` of settings of a stock profile whose file is not on the host: from hvtune's own table. */
#define TUNED_STOCK_PATH "stock values of tuned"

struct tuned_profile {
	const char *name;
	const char *path;		/* tuned.conf of the profile; NULL: not found */
	bool stock;			/* its own settings come from the table of stock values */
	struct tuned_setting *settings; /* merged, in order; `setting_count` entries */
	int setting_count;
	const char *const *missing; /* `missing_count` profiles that an include names and that are not there */
	int missing_count;
	const char *const *included; /* `included_count` names of profiles that were merged in, nearest first */
	int included_count;
	bool unresolved;       /* an include holds a variable: what it brings is not known */
	const char *elsewhere; /* not found: a tuned.conf of this name in a directory that this tuned does not search */
	const char *fault;     /* what tuned cannot read in a file of the chain, or NULL */
	const char *fault_path;
	unsigned fault_line;
};

struct host_tuned {
	struct fact version;		/* text; absent when it can't be told from files */
	struct fact layout;		/* text: "/usr/lib/tuned/profiles" (2.23 and later) or "/usr/lib/tuned" */
	struct fact active_profile;	/* text: names; empty when none */
	struct fact mode;		/* text: manual, auto */
	struct fact dynamic_tuning;	/* switch: tuned-main.conf */
	struct fact isolated_cores;	/* CPU set: what the active profiles isolate; absent when they isolate none */
	struct fact boot_cmdline;	/* text: the words of /etc/tuned/bootcmdline */
	struct tuned_profile *profiles; /* the active ones (a name list is several), merged one after the other */
	int profile_count;
	const char *const *dirs; /* `dir_count` directories that are searched; the last one wins */
	int dir_count;
	bool system_dir_known;	     /* the directory of the shipped profiles is there: what is not in it, is missing */
	int minor_least, minor_most; /* the version is 2.minor within these bounds, as far as files tell */
};

/* The last setting of that plug-in type and option in the active profiles, or NULL. */
const struct tuned_setting *host_tuned_setting(const struct host_tuned *tuned, const char *type, const char *option);

/* The same in one profile. */
const struct tuned_setting *tuned_profile_setting(const struct tuned_profile *profile, const char *type,
						  const char *option);

/* Is `name` this profile or one that it includes? */
bool tuned_profile_is_a(const struct tuned_profile *profile, const char *name);

/* Load a profile by name with all its includes. A name that is not found leaves ret->path NULL. */
void tuned_profile_load(struct host *host, const char *name, struct tuned_profile *ret);

/*
 * Read a profile file that stands alone (for lint): its includes are looked for on the host. `text` is the contents.
 * -EINVAL with line on a syntax that tuned would not take: *ret then has what stood before and the fault.
 */
int tuned_profile_parse(struct host *host, const char *path, const char *text, struct tuned_profile *ret,
			struct err *err);

/*
 * The CPUs that a profile isolates: [scheduler] isolated_cores, or isolated_cores in [variables] or the file that
 * [variables] includes. Absent (with a note) when it isolates none or the list is computed by tuned at run time;
 * implausible on bad syntax.
 */
struct fact tuned_profile_isolated(struct host *host, const struct tuned_profile *profile);

/* tuned takes only letters, digits, '_', '.' and '-' in names of profiles given to it (since 2.24.1). */
bool tuned_name_is_safe(const char *name);

/* Does tuned take the value for "yes"? False for NULL. */
bool tuned_is_true(const char *value);

/* The value of `name` in a file of NAME="value" lines, or NULL. In the arena. */
const char *tuned_assignment(struct arena *arena, const char *text, const char *name);

void host_tuned_read(struct host *host);
void host_tuned_rows(const struct host *host, struct host_rows *rows);

#endif

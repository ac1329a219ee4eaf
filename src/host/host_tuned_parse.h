/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the syntax of tuned's files.
 */
#ifndef HVTUNE_HOST_TUNED_PARSE_H
#define HVTUNE_HOST_TUNED_PARSE_H

#include "arena.h"
#include "err.h"

struct tuned_option {
	const char *section, *name, *value; /* a continued value holds newlines */
	unsigned line;			    /* 1-based */
};

struct tuned_file {
	const char *path;
	struct tuned_option
	    *options; /* `count` in the order of the file; a name may stand there twice: the last counts */
	int count;
	const char **sections; /* `section_count` names, each once, in the order in which they appear */
	int section_count;
};

/*
 * Cut a file into options. -EINVAL with path and line on what tuned (Python's configparser) refuses; *ret then holds
 * what stood before. -E2BIG on more than 4096 options, 512 sections or 128 KiB. All in the arena; `path` is kept.
 */
int tuned_file_parse(struct arena *arena, const char *path, const char *text, struct tuned_file *ret, struct err *err);

#endif

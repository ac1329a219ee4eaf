/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the patterns of secrets: what in a line is replaced, and by what kind of replacement. */
#ifndef HVTUNE_SYS_PATTERNS_H
#define HVTUNE_SYS_PATTERNS_H

#include "sys_secret.h"

enum edge {
	EDGE_NONE,
	EDGE_WORD,  /* no letter or digit beside the match */
	EDGE_COLON, /* nor a colon */
};

struct match {
	const char *path; /* of the file or directory that the line is of */
	const char *line;
	size_t start, end; /* of what is to be replaced */
};

/*
 * What is replaced is the group `group` of the pattern (POSIX extended), where `must` (a plain text, a cheap test
 * first; NULL: eight hexadecimal digits in a row) is in the line, the edges fit and `accept` has nothing against it.
 */
struct pattern {
	const char *must, *regex;
	size_t group;
	enum secret_kind kind;
	enum edge edge;
	bool (*accept)(const struct match *match);
};

/* All, in the order in which they are applied: longer shapes before shorter ones. */
extern const struct pattern sys_patterns[];
extern const size_t sys_pattern_count;

#endif

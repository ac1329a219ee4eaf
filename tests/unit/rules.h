/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns running tables of rule cases: files that make a rule fire on an otherwise healthy host, and files with which the
 * same rule must stay silent.
 */
#ifndef HVTUNE_RULES_H
#define HVTUNE_RULES_H

#include "tree.h"

enum { RULE_FILES_MAX = 16 };

struct rule_case {
	const char *id;
	bool fires;
	enum advise_severity severity;		/* of the finding; looked at when it fires */
	const char *title;			/* a part of the finding's title; may be NULL */
	struct tree_file files[RULE_FILES_MAX]; /* on top of the healthy host; end with a NULL path */
};

/* Lay the files of each case over `healthy`, run all rules, and fail with the case's id and number where it differs. */
void rules_check(const struct tree_file *healthy, const struct rule_case *cases, size_t count);

/* Each rule of a table (it ends with a NULL id) has a case in which it fires, and one in which it stays silent. */
void rules_covered(const struct advise_rule *rules, const struct rule_case *cases, size_t count);

#endif

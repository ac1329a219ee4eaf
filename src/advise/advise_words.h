/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the table of kernel parameters: names for telling a typing error, values for those that matter on a KVM host.
 * From Documentation/admin-guide/kernel-parameters.txt and the parsers of Linux 6.1 to 7.2.
 */
#ifndef HVTUNE_ADVISE_WORDS_H
#define HVTUNE_ADVISE_WORDS_H

#include "base.h"

enum kernel_word_flags {
	WORD_LAST_WINS = 1 << 0,  /* of several, the last one counts */
	WORD_INTEL = 1 << 1,	  /* read by code that runs on Intel CPUs only */
	WORD_AMD = 1 << 2,	  /* the same for AMD */
	WORD_LIST = 1 << 3,	  /* `values` may stand in it several times, with commas */
	WORD_CPUS = 1 << 4,	  /* a list of CPUs */
	WORD_NUMBER = 1 << 5,	  /* a number is a value too */
	WORD_MITIGATION = 1 << 6, /* turns one mitigation on or off */
};

struct kernel_word {
	const char *name; /* with '_'; the kernel takes '-' as the same */
	unsigned flags;
	const char *values; /* what the kernel takes, blank separated; NULL: anything */
};

/* By name, where '-' and '_' are alike; NULL: not in the table (which does not hold all parameters of the kernel). */
const struct kernel_word *advise_kernel_word(const char *name);

/*
 * The known name that is at most `distance` edits away and the nearest, or NULL. Only for names of five letters or
 * more: shorter ones are all near to each other.
 */
const struct kernel_word *advise_kernel_word_near(const char *name, int distance);

/* A known name of at least five letters with '=' behind it inside `value`, right behind a letter or digit; or NULL. */
const struct kernel_word *advise_kernel_word_inside(const char *value, const char **ret_at);

#endif

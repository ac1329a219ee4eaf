/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the rules about the kernel command line share.
 */
#ifndef HVTUNE_ADVISE_CMDLINE_H
#define HVTUNE_ADVISE_CMDLINE_H

#include "advise_check.h"
#include "advise_words.h"

/* The next of the kernel's words from index `*at` on that is called `name`, noted as only evidence; NULL at the end. */
const struct cmdline_word *advise_next_word(struct advise_check *c, int *at, const char *name);

/* The first part of `value` that the kernel does not take for this parameter, or NULL. `known` has values. */
const char *advise_bad_part(struct advise_check *c, const struct kernel_word *known, const char *value);

#endif

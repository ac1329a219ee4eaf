/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about memory and pages. */
#include "advise_check.h"

const struct advise_rule advise_memory_rules[] = {
    {.id = NULL},
};

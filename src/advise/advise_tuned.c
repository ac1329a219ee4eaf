/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about tuned and its profiles. */
#include "advise_check.h"

const struct advise_rule advise_tuned_rules[] = {
    {.id = NULL},
};

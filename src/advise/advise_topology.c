/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about topology. */
#include "advise_check.h"

const struct advise_rule advise_topology_rules[] = {
    {.id = NULL},
};

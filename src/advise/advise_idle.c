/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about idle states and latency requests. */
#include "advise_check.h"

const struct advise_rule advise_idle_rules[] = {
    {.id = NULL},
};

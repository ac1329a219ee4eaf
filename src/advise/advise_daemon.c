/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about services that write the same knobs. */
#include "advise_check.h"

const struct advise_rule advise_daemon_rules[] = {
    {.id = NULL},
};

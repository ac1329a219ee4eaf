/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about clock, firmware and the host as a guest. */
#include "advise_check.h"

const struct advise_rule advise_system_rules[] = {
    {.id = NULL},
};

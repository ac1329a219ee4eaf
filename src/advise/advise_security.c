/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about mitigations and microcode. */
#include "advise_check.h"

const struct advise_rule advise_security_rules[] = {
    {.id = NULL},
};

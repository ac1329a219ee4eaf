/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about words of the kernel command line. */
#include "advise_check.h"

const struct advise_rule advise_cmdline_rules[] = {
    {.id = NULL},
};

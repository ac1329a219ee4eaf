/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about CPU lists of the kernel command line. */
#include "advise_check.h"

const struct advise_rule advise_cmdline_cpu_rules[] = {
    {.id = NULL},
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about frequency scaling. */
#include "advise_check.h"

const struct advise_rule advise_cpufreq_rules[] = {
    {.id = NULL},
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about KVM. */
#include "advise_check.h"

const struct advise_rule advise_kvm_rules[] = {
    {.id = NULL},
};

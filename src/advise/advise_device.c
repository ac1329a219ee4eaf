/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about devices, IOMMU and interrupts. */
#include "advise_check.h"

const struct advise_rule advise_device_rules[] = {
    {.id = NULL},
};

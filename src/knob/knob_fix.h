/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the way from the setting that a finding recommends ("governor=powersave epp=balance_performance") to asks. */
#ifndef HVTUNE_KNOB_FIX_H
#define HVTUNE_KNOB_FIX_H

#include "knob.h"

/*
 * The asks that a setting stands for, in the arena. -EINVAL when it cannot be set: there is none (NULL), it leaves a
 * choice ("kvm.halt_poll_ns=0|200000", "governor=..."), or it is no knob of the table (a word of the boot loader, an
 * option of a module); err says which.
 */
int knob_fix_asks(struct arena *arena, const char *setting, struct knob_ask **ret, size_t *ret_count, struct err *err);

#endif

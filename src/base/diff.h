/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the unified form of what differs between two texts.
 */
#ifndef HVTUNE_DIFF_H
#define HVTUNE_DIFF_H

#include "base.h"

/*
 * Print how `after` differs from `before` as patch(1) takes it, with three lines around each change; nothing when they
 * are equal. The lines that stay are the most that can stay, except in texts where more than some thousand lines lie
 * between the first and the last difference: those are shown as replaced.
 */
void diff_unified(FILE *out, const char *before_name, const char *after_name, const char *before, const char *after);

#endif

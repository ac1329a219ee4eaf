/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what reading and writing the journal share. */
#ifndef HVTUNE_KNOB_JOURNAL_INTERNAL_H
#define HVTUNE_KNOB_JOURNAL_INTERNAL_H

#include "knob_journal.h"

/* The checksum of a record's JSON text. */
uint32_t knob_journal_sum(const char *text, size_t size);

#endif

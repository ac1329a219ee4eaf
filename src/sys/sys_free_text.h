/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what people write to each other in libvirt's XML: it goes as a whole, since no pattern tells what of it is a
 * secret.
 */
#ifndef HVTUNE_SYS_FREE_TEXT_H
#define HVTUNE_SYS_FREE_TEXT_H

#include "arena.h"

/*
 * The XML without comments, titles, descriptions and metadata; what libosinfo notes there of the operating system
 * stays. Lines keep their numbers, and what was well-formed is. *ret_size: of the result, which lives in the arena.
 */
const char *sys_without_free_text(struct arena *arena, const char *xml, size_t size, size_t *ret_size);

#endif

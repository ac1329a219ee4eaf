/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns memory that lives and dies together: the facts of one host, the findings of one check.
 * Nothing here returns NULL; when memory runs out the program says so and leaves (err_no_memory).
 */
#ifndef HVTUNE_ARENA_H
#define HVTUNE_ARENA_H

#include <stdarg.h>

#include "base.h"

struct arena;

struct arena *arena_new(void);
struct arena *arena_free(struct arena *arena); /* takes NULL, returns NULL */
void arena_free_pointer(struct arena **arena); /* for CLEANUP() */

/* Zeroed memory of `size` bytes, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);

/* Zeroed array; the product is checked for overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);
#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, count, type) ((type *)arena_array((arena), (count), sizeof(type)))

char *arena_strdup(struct arena *arena, const char *text);
/* The first `size` bytes of `data` and a terminating NUL. */
char *arena_strndup(struct arena *arena, const char *data, size_t size);
char *arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments) PRINTF_LIKE(2, 0);

/* Bytes handed out so far. */
size_t arena_used(const struct arena *arena);

#endif

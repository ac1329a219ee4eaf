/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the few attributes and macros that every layer uses.
 */
#ifndef HVTUNE_BASE_H
#define HVTUNE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PRINTF_LIKE(text_at, values_at) __attribute__((__format__(__printf__, text_at, values_at)))
#define NORETURN __attribute__((noreturn))
#define CLEANUP(function) __attribute__((cleanup(function)))

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))

/* For variables: CLEANUP(base_free) char *text = NULL; */
static inline void base_free(void *pointer)
{
	void **memory = pointer;

	free(*memory);
	*memory = NULL;
}

static inline void base_fclose(FILE **file)
{
	if (*file)
		(void)fclose(*file);
	*file = NULL;
}

#endif

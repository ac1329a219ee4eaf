/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the arena: a list of growing blocks, freed together. */
#include "arena.h"

#include <stdalign.h>
#include <string.h>

#include "err.h"

enum { FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 1024 * 1024 };

struct block {
	struct block *next;
	size_t size, used;
	alignas(max_align_t) unsigned char data[];
};

struct arena {
	struct block *blocks;
	size_t used, next_size;
};

struct arena *arena_new(void)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		err_no_memory();
	arena->next_size = FIRST_BLOCK;
	return arena;
}

struct arena *arena_free(struct arena *arena)
{
	if (!arena)
		return NULL;
	while (arena->blocks) {
		struct block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	free(arena);
	return NULL;
}

void arena_free_pointer(struct arena **arena)
{
	*arena = arena_free(*arena);
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t alignment = alignof(max_align_t);
	struct block *block = arena->blocks;

	if (size > SIZE_MAX / 2)
		err_no_memory();
	size = (size + alignment - 1) / alignment * alignment;
	if (!block || block->size - block->used < size) {
		size_t block_size = MAX_OF(arena->next_size, size);

		block = calloc(1, sizeof(*block) + block_size);
		if (!block)
			err_no_memory();
		block->size = block_size;
		block->next = arena->blocks;
		arena->blocks = block;
		arena->next_size = MIN_OF(arena->next_size * 2, (size_t)LARGEST_BLOCK);
	}
	void *memory = block->data + block->used;

	block->used += size;
	arena->used += size;
	return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		err_no_memory();
	return arena_alloc(arena, total);
}

char *arena_strndup(struct arena *arena, const char *data, size_t size)
{
	char *copy = arena_alloc(arena, size + 1);

	if (size)
		memcpy(copy, data, size);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
	char *text = NULL;
	int length = vasprintf(&text, format, arguments);

	if (length < 0)
		err_no_memory();
	char *copy = arena_strndup(arena, text, (size_t)length);

	free(text);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *text = arena_vprintf(arena, format, arguments);

	va_end(arguments);
	return text;
}

size_t arena_used(const struct arena *arena)
{
	return arena->used;
}

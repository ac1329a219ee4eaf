/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes what a capture replaces: contents with a path in their first line; a planted address is never left in. */
#include <string.h>

#include "sys_anonymise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char planted[] = "\nroot=UUID=0b5c3f1e-4a7d-4c62-9f00-1d2e3f4a5b6c\n";
	CLEANUP(sys_anonymiser_free_pointer) struct sys_anonymiser *anonymiser = sys_anonymiser_new();
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const uint8_t *newline = memchr(data, '\n', size);
	size_t path_length = newline ? (size_t)(newline - data) : 0, result_size;
	const char *path = path_length ? arena_strndup(arena, (const char *)data, path_length) : "/etc/x";
	size_t length = size - path_length + strlen(planted);
	char *contents = arena_strndup(arena, (const char *)data + path_length, size - path_length);

	contents = memcpy(arena_alloc(arena, length + 1), contents, size - path_length);
	memcpy(contents + size - path_length, planted, strlen(planted));
	const char *result = sys_anonymise_contents(anonymiser, arena, path, contents, length, &result_size);

	/* Only the planted line counts: what else the fuzzer makes may look like it. */
	size_t tail = strlen(planted);

	if (result[result_size] != '\0')
		abort();
	if (strcmp(path, "/proc/cpuinfo") != 0 && result_size >= tail &&
	    memcmp(result + result_size - tail, planted, tail) == 0)
		abort();
	if (*path == '/') {
		(void)sys_anonymise_path(anonymiser, arena, path);
		(void)sys_anonymise_name(anonymiser, arena, path, "enx3cecef123456");
		(void)sys_anonymise_target(anonymiser, arena, path, contents);
	}
	return 0;
}

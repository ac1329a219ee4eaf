/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes CPU lists and masks: what is taken reads back the same. */
#include <string.h>

#include "cpuset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *text = arena_strndup(arena, (const char *)data, size);
	struct cpuset set, again;

	if (cpuset_parse(text, &set, NULL) == 0 &&
	    (cpuset_parse(cpuset_format(arena, &set), &again, NULL) < 0 || !cpuset_equal(&set, &again)))
		abort();
	(void)cpuset_parse_mask(text, &set, NULL);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes study files, and the matrix of those that are read. */
#include <string.h>

#include "study_matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes mistakes = {0};
	struct study_matrix matrix;
	struct study *study = NULL;

	if (study_read(arena, "fuzz", (const char *)data, size, &study, &mistakes) < 0) {
		/* What is refused says why. */
		if (!mistakes.count || !*mistakes.items[0].what)
			abort();
		return 0;
	}
	study_matrix_make(arena, study, &matrix);
	if (!matrix.count || matrix.baseline >= matrix.count)
		abort();
	return 0;
}

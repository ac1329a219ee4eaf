/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzes study files, the matrix of those that are read, the estimate of what they take, and what is left out where
 * there is no time; studies of the program with whatever stands for their words.
 */
#include <math.h>
#include <string.h>

#include "study_estimate.h"
#include "study_ready.h"
#include "study_time.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The baseline is always among the configurations: all is compared with it. */
static void look(struct arena *arena, const struct study *study)
{
	struct study_estimate estimate;
	struct study_matrix matrix;

	study_matrix_make(arena, study, &matrix);
	if (!matrix.count || matrix.baseline >= matrix.count ||
	    memcmp(study_levels(&matrix, matrix.baseline), study->baseline,
		   study->factor_count * sizeof(*study->baseline)) != 0)
		abort();
	study_estimate(&matrix, &estimate);
	if (!isfinite(estimate.once_s) || !isfinite(estimate.whole_least_s) || estimate.once_s < 0 ||
	    estimate.least_boots >
		estimate.most_boots * (estimate.look == 0) + estimate.least_boots * (estimate.look > 0))
		abort();
}

/* Small files only: each that does not fit makes its matrix anew. */
static void fit(struct arena *arena, struct study *study)
{
	struct study_left_out left_out = {0};

	if (study_product(study) > 256)
		return;
	study_time_fit(study, arena, &left_out);
	if (!study->factor_count || (left_out.count && !left_out.texts[left_out.count - 1]))
		abort();
	look(arena, study);
}

static void fill(struct arena *arena, const char *text)
{
	const struct study_ready_words words = {.vm = text, .placed = text, .floating = text, .pool_2m = text};
	const char *const *left_out;

	for (size_t i = 0; study_ready_at(i); i++)
		if (!study_ready_fill(arena, study_ready_at(i), &words, &left_out))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_mistakes mistakes = {0};
	struct study *study = NULL;

	if (size && size < 32)
		fill(arena, arena_strndup(arena, (const char *)data, size));
	if (study_read(arena, "fuzz", (const char *)data, size, &study, &mistakes) < 0) {
		/* What is refused says why. */
		if (!mistakes.count || !*mistakes.items[0].what)
			abort();
		return 0;
	}
	look(arena, study);
	fit(arena, study);
	return 0;
}

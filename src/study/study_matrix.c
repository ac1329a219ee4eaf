/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns enumerating the configurations of a study in nested order. */
#include <string.h>

#include "study_matrix.h"

double study_product(const struct study *study)
{
	double product = 1;

	for (size_t i = 0; i < study->factor_count; i++)
		product *= (double)study->factors[i].level_count;
	return product;
}

bool study_is_allowed(const struct study *study, const size_t *levels)
{
	for (size_t i = 0; i < study->forbid_count; i++) {
		const struct study_forbid *forbid = &study->forbids[i];
		size_t meet = 0;

		while (meet < forbid->count && levels[forbid->factors[meet]] == forbid->levels[meet])
			meet++;
		if (meet == forbid->count)
			return false;
	}
	return true;
}

/* Dearest first; factors of one cost keep the order of the file. */
static void find_order(const struct study *study, size_t *order)
{
	for (size_t i = 0; i < study->factor_count; i++) {
		size_t at = i;

		while (at && study->factors[order[at - 1]].cost < study->factors[i].cost) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
}

void study_matrix_make(struct arena *arena, const struct study *study, struct study_matrix *ret)
{
	size_t product = (size_t)study_product(study), factors = study->factor_count;
	struct study_matrix matrix = {.study = study};
	size_t *row = ARENA_ARRAY(arena, factors + 1, size_t);

	matrix.order = ARENA_ARRAY(arena, factors + 1, size_t);
	matrix.levels = ARENA_ARRAY(arena, product * factors + 1, size_t);
	find_order(study, matrix.order);
	for (size_t number = 0; number < product; number++) {
		size_t rest = number;

		for (size_t i = factors; i-- > 0;) {
			size_t factor = matrix.order[i], count = study->factors[factor].level_count;

			row[factor] = rest % count;
			rest /= count;
		}
		if (!study_is_allowed(study, row))
			continue;
		memcpy(matrix.levels + matrix.count * factors, row, factors * sizeof(*row));
		if (memcmp(row, study->baseline, factors * sizeof(*row)) == 0)
			matrix.baseline = matrix.count;
		matrix.count++;
	}
	*ret = matrix;
}

const char *study_config_name(struct arena *arena, const struct study_matrix *matrix, size_t config)
{
	const size_t *levels = study_levels(matrix, config);
	const char *name = "";

	for (size_t i = 0; i < matrix->study->factor_count; i++)
		name = arena_printf(arena, "%s%s%s=%s", name, i ? " " : "", matrix->study->factors[i].name,
				    matrix->study->factors[i].levels[levels[i]].name);
	return name;
}

/* Level names may hold blanks: the rest of the name has to fit too. */
static bool match(const struct study *study, size_t factor, const char *name, size_t *levels)
{
	if (factor == study->factor_count)
		return !*name;
	const struct study_factor *of = &study->factors[factor];
	size_t length = strlen(of->name);

	for (size_t l = 0; l < of->level_count && strncmp(name, of->name, length) == 0 && name[length] == '='; l++) {
		const char *rest = name + length + 1;
		size_t size = strlen(of->levels[l].name);

		if (strncmp(rest, of->levels[l].name, size) != 0 || (rest[size] && rest[size] != ' '))
			continue;
		levels[factor] = l;
		if (match(study, factor + 1, rest + size + (rest[size] == ' '), levels))
			return true;
	}
	levels[factor] = STUDY_LEFT_OUT;
	return match(study, factor + 1, name, levels);
}

bool study_levels_named(const struct study *study, const char *name, size_t *ret_levels)
{
	return *name && match(study, 0, name, ret_levels);
}

int study_switch_cost(const struct study_matrix *matrix, size_t from, size_t to)
{
	const size_t *a = study_levels(matrix, from), *b = study_levels(matrix, to);
	int cost = -1;

	for (size_t i = 0; i < matrix->study->factor_count; i++) {
		const struct study_level *levels = matrix->study->factors[i].levels;

		if (a[i] != b[i])
			cost = MAX_OF(cost, (int)MAX_OF(levels[a[i]].cost, levels[b[i]].cost));
	}
	return cost;
}

ptrdiff_t study_find_config(const struct study_matrix *matrix, const size_t *levels)
{
	size_t size = matrix->study->factor_count * sizeof(*levels);

	for (size_t i = 0; i < matrix->count; i++)
		if (memcmp(study_levels(matrix, i), levels, size) == 0)
			return (ptrdiff_t)i;
	return -1;
}

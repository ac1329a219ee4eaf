/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the configurations of a study: all combinations of levels that are allowed, and what going from one to the next
 * costs. */
#ifndef HVTUNE_STUDY_MATRIX_H
#define HVTUNE_STUDY_MATRIX_H

#include "study.h"

/* The product of the numbers of levels, before "never" is asked. */
double study_product(const struct study *study);

/* Is the combination of study->factor_count levels allowed? */
bool study_is_allowed(const struct study *study, const size_t *levels);

struct study_matrix {
	const struct study *study;
	size_t count;	 /* configurations */
	size_t *levels;	 /* count rows of study->factor_count levels; use study_levels() */
	size_t *order;	 /* count factors' indices, dearest first: how configurations are nested */
	size_t baseline; /* the row that is the baseline */
};

/*
 * All allowed configurations, nested: neighbours differ in the cheapest factors first, which is optimal since the cost
 * of a switch is that of the dearest factor that changes (methods 3.3). Lives in the arena.
 */
void study_matrix_make(struct arena *arena, const struct study *study, struct study_matrix *ret);

static inline const size_t *study_levels(const struct study_matrix *matrix, size_t config)
{
	return matrix->levels + config * matrix->study->factor_count;
}

/* "profile=balanced driver=active", in the arena. */
const char *study_config_name(struct arena *arena, const struct study_matrix *matrix, size_t config);

/*
 * The levels of a name as study_config_name() makes it, also of a study of which factors were left out to suit a
 * machine: their level is STUDY_LEFT_OUT. False: it is no such name.
 */
#define STUDY_LEFT_OUT SIZE_MAX
bool study_levels_named(const struct study *study, const char *name, size_t *ret_levels);

/*
 * The dearest of what leaving the old and coming to the new level costs, among the factors whose level differs; -1 when
 * none does. amd_pstate goes from passive to active while the host runs, and to "disable" by a boot.
 */
int study_switch_cost(const struct study_matrix *matrix, size_t from, size_t to);

/* The configuration with these levels; -1: it is not allowed. */
ptrdiff_t study_find_config(const struct study_matrix *matrix, const size_t *levels);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns making a study suit a machine. */
#include "study_suit.h"

#include <errno.h>
#include <string.h>

#include "text.h"

enum { GONE = STUDY_MOST_LEVELS };

struct suiting {
	struct knob_machine *machine;
	struct study *study;
	struct study_left_out *left_out;
	size_t room;
	size_t factors[STUDY_MOST_FACTORS];			  /* new number by old one; STUDY_MOST_FACTORS: gone */
	size_t levels[STUDY_MOST_FACTORS][STUDY_MOST_LEVELS + 1]; /* by old numbers; GONE: gone */
};

static void tell(struct suiting *suiting, const char *text)
{
	struct study_left_out *left_out = suiting->left_out;

	if (left_out->count == suiting->room) {
		size_t room = MAX_OF(2 * suiting->room, 8U);
		const char **texts = ARENA_ARRAY(suiting->machine->arena, room, const char *);

		if (left_out->count)
			memcpy(texts, left_out->texts, left_out->count * sizeof(*texts));
		left_out->texts = texts;
		suiting->room = room;
	}
	left_out->texts[left_out->count++] = text;
}

/* Which levels of an optional factor stay; why others do not is told once for a factor that goes as a whole. */
static size_t suit_levels(struct suiting *suiting, size_t f)
{
	struct study_factor *factor = &suiting->study->factors[f];
	struct arena *arena = suiting->machine->arena;
	const char *whys[STUDY_MOST_LEVELS], *why = "";
	size_t kept = 0;

	for (size_t l = 0; l < factor->level_count; l++) {
		struct err err = {0};

		suiting->levels[f][l] = GONE;
		if (!factor->optional || study_level_later(suiting->machine, suiting->study, &factor->levels[l]) ||
		    study_level_possible(suiting->machine, suiting->study, f, l, &err) != STUDY_NOT_AT_ALL)
			suiting->levels[f][l] = kept++;
		else
			whys[l] = why = arena_strdup(arena, err.what);
	}
	for (size_t l = 0; l < factor->level_count && kept >= 2; l++)
		if (suiting->levels[f][l] == GONE)
			tell(suiting, arena_printf(arena, "%s=%s: %s", factor->name, factor->levels[l].name, whys[l]));
	if (kept < 2)
		tell(suiting,
		     arena_printf(arena, "%s: %s", factor->name, *why ? why : "less than two levels are left"));
	return kept;
}

static void drop(struct suiting *suiting)
{
	struct study *study = suiting->study;
	size_t factors = 0, forbids = 0;

	for (size_t f = 0; f < study->factor_count; f++) {
		struct study_factor factor = study->factors[f];
		size_t kept = suit_levels(suiting, f), baseline = suiting->levels[f][study->baseline[f]];

		suiting->factors[f] = kept < 2 ? (size_t)STUDY_MOST_FACTORS : factors;
		if (kept < 2)
			continue;
		for (size_t l = 0; l < factor.level_count; l++)
			if (suiting->levels[f][l] != GONE)
				factor.levels[suiting->levels[f][l]] = factor.levels[l];
		factor.level_count = kept;
		study->baseline[factors] = baseline == GONE ? 0 : baseline;
		study->factors[factors++] = factor;
	}
	study->factor_count = factors;
	for (size_t n = 0; n < study->forbid_count; n++) {
		struct study_forbid forbid = study->forbids[n];
		bool whole = true;

		for (size_t i = 0; i < forbid.count; i++) {
			size_t f = forbid.factors[i], l = suiting->levels[f][forbid.levels[i]];

			whole = whole && suiting->factors[f] != STUDY_MOST_FACTORS && l != GONE;
			forbid.factors[i] = suiting->factors[f];
			forbid.levels[i] = l;
		}
		if (whole)
			study->forbids[forbids++] = forbid;
	}
	study->forbid_count = forbids;
}

static void forbid(struct suiting *suiting, size_t f, size_t i, size_t g, size_t j, const char *why)
{
	struct arena *arena = suiting->machine->arena;
	struct study *study = suiting->study;
	struct study_forbid *forbids = ARENA_ARRAY(arena, study->forbid_count + 1, struct study_forbid);
	struct study_forbid *added = &forbids[study->forbid_count];

	if (study->forbid_count)
		memcpy(forbids, study->forbids, study->forbid_count * sizeof(*forbids));
	*added = (struct study_forbid){
	    .factors = ARENA_ARRAY(arena, 2, size_t), .levels = ARENA_ARRAY(arena, 2, size_t), .count = 2};
	added->factors[0] = f;
	added->factors[1] = g;
	added->levels[0] = i;
	added->levels[1] = j;
	study->forbids = forbids;
	study->forbid_count++;
	tell(suiting,
	     arena_printf(arena, "%s=%s with %s=%s: %s", study->factors[f].name, study->factors[f].levels[i].name,
			  study->factors[g].name, study->factors[g].levels[j].name, why));
}

static void forbid_pairs(struct suiting *suiting)
{
	struct study *study = suiting->study;

	for (size_t f = 1; f < study->factor_count; f++)
		for (size_t g = 0; g < f; g++) {
			const struct study_factor *a = &study->factors[f], *b = &study->factors[g];

			if (!a->optional && !b->optional)
				continue;
			/* What is asked for after a boot is not what the machine is now. */
			if ((a->cost >= STUDY_HOST_BOOT) != (b->cost >= STUDY_HOST_BOOT))
				continue;
			for (size_t n = 0; n < a->level_count * b->level_count; n++) {
				size_t i = n / b->level_count, j = n % b->level_count;
				struct knob_plan plan;
				struct err err = {0};

				if (study_pair_forbidden(study, f, i, g, j))
					continue;
				if (study_level_later(suiting->machine, study, &a->levels[i]) ||
				    study_level_later(suiting->machine, study, &b->levels[j]))
					continue;
				if (study_pair_plan(suiting->machine, &a->levels[i], &b->levels[j], &plan, &err) < 0)
					forbid(suiting, f, i, g, j, arena_strdup(suiting->machine->arena, err.what));
			}
		}
}

/* A level that holds already: a plan of it has nothing to write. */
static void find_baseline(struct suiting *suiting)
{
	struct study *study = suiting->study;

	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = study->factors[f].level_count; l-- > 0;) {
			const struct study_level *level = &study->factors[f].levels[l];
			struct knob_plan plan = {0};

			if (level->ask_count && study_pair_plan(suiting->machine, level, NULL, &plan, NULL) == 0 &&
			    !plan.points.count)
				study->baseline[f] = l;
		}
}

int study_suit(struct knob_machine *machine, struct study *study, struct study_left_out *ret, struct err *err)
{
	struct suiting suiting = {.machine = machine, .study = study, .left_out = ret};

	*ret = (struct study_left_out){0};
	drop(&suiting);
	if (!study->factor_count) {
		(void)err_set(err, ENOENT, study->file, "none of its factors can be changed on this machine");
		return -ENOENT;
	}
	if (!study->baseline_given)
		find_baseline(&suiting);
	forbid_pairs(&suiting);
	return 0;
}

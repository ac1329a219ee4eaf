/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns levels by their names: what a study was made to suit a machine is kept that way, since the machine of another
 * boot would make something else of the same file.
 */
#include <errno.h>

#include "study_state.h"
#include "text.h"

static int unknown(const char *factor, const char *level, struct err *err)
{
	return level ? err_set(err, EBADMSG, factor, "the study file has no level \"%s\" of it", level)
		     : err_set(err, EBADMSG, factor, "the study file has no such factor");
}

static int find_level(const struct study *study, const char *factor, const char *level, size_t *ret_factor,
		      size_t *ret_level, struct err *err)
{
	for (size_t f = 0; f < study->factor_count; f++) {
		if (!text_equal(study->factors[f].name, factor))
			continue;
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			if (text_equal(study->factors[f].levels[l].name, level)) {
				*ret_factor = f;
				*ret_level = l;
				return 0;
			}
		return unknown(factor, level ? level : "", err);
	}
	return unknown(factor, NULL, err);
}

/* ---- what suits the machine ---- */

json_t *study_suited_json(const struct study *study)
{
	json_t *factors = json_object(), *baseline = json_object(), *never = json_array();

	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_factor *factor = &study->factors[f];
		json_t *levels = json_array();

		for (size_t l = 0; l < factor->level_count; l++)
			(void)json_array_append_new(levels, json_string(factor->levels[l].name));
		(void)json_object_set_new(factors, factor->name, levels);
		(void)json_object_set_new(baseline, factor->name, json_string(factor->levels[study->baseline[f]].name));
	}
	for (size_t n = 0; n < study->forbid_count; n++) {
		const struct study_forbid *forbid = &study->forbids[n];
		json_t *levels = json_object();

		for (size_t i = 0; i < forbid->count; i++) {
			const struct study_factor *factor = &study->factors[forbid->factors[i]];

			(void)json_object_set_new(levels, factor->name,
						  json_string(factor->levels[forbid->levels[i]].name));
		}
		(void)json_array_append_new(never, levels);
	}
	return json_pack("{s:o, s:o, s:o}", "factors", factors, "baseline", baseline, "never", never);
}

/* The levels of a factor that are named, in the order of their names. */
static int keep_levels(struct study *study, struct study_factor *factor, const json_t *names, struct err *err)
{
	struct study_level kept[STUDY_MOST_LEVELS];
	size_t count = 0, index;
	json_t *name;

	json_array_foreach (names, index, name) {
		size_t f = 0, l = 0;
		int r = find_level(study, factor->name, json_string_value(name), &f, &l, err);

		if (r < 0)
			return r;
		if (count == STUDY_MOST_LEVELS)
			return unknown(factor->name, json_string_value(name), err);
		kept[count++] = factor->levels[l];
	}
	if (count < 2)
		return unknown(factor->name, "", err);
	memcpy(factor->levels, kept, count * sizeof(*kept));
	factor->level_count = count;
	return 0;
}

static int keep_factors(struct study *study, const json_t *factors, struct err *err)
{
	size_t count = 0;

	for (size_t f = 0; f < study->factor_count; f++) {
		struct study_factor factor = study->factors[f];
		const json_t *names = json_object_get(factors, factor.name);
		int r = names ? keep_levels(study, &factor, names, err) : 0;

		if (r < 0)
			return r;
		/* Only places of factors that were looked at already are written over. */
		if (names)
			study->factors[count++] = factor;
	}
	study->factor_count = count;
	return count == json_object_size(factors) && count > 0 ? 0 : unknown("factors", NULL, err);
}

int study_suit_again(struct arena *arena, struct study *study, const json_t *suited, struct err *err)
{
	int r = keep_factors(study, json_object_get(suited, "factors"), err);
	const json_t *never = json_object_get(suited, "never");
	json_t *baseline = json_object_get(suited, "baseline"), *value, *levels;
	const char *name;
	size_t index;

	if (r < 0)
		return r;
	json_object_foreach (baseline, name, value) {
		size_t f = 0, l = 0;

		r = find_level(study, name, json_string_value(value), &f, &l, err);
		if (r < 0)
			return r;
		study->baseline[f] = l;
	}
	study->forbid_count = 0;
	json_array_foreach (never, index, levels) {
		r = study_forbid_levels(arena, study, levels, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int study_forbid_levels(struct arena *arena, struct study *study, const json_t *levels, struct err *err)
{
	struct study_forbid *forbids = ARENA_ARRAY(arena, study->forbid_count + 1, struct study_forbid);
	size_t count = json_object_size(levels);
	struct study_forbid added = {.factors = ARENA_ARRAY(arena, count + 1, size_t),
				     .levels = ARENA_ARRAY(arena, count + 1, size_t)};
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)levels, name, value) {
		int r = find_level(study, name, json_string_value(value), &added.factors[added.count],
				   &added.levels[added.count], err);

		if (r < 0)
			return r;
		added.count++;
	}
	if (study->forbid_count)
		memcpy(forbids, study->forbids, study->forbid_count * sizeof(*forbids));
	forbids[study->forbid_count++] = added;
	study->forbids = forbids;
	return 0;
}

const char *study_levels_text(struct arena *arena, const json_t *levels)
{
	const char *text = "", *name;
	json_t *value;

	json_object_foreach ((json_t *)levels, name, value)
		text = arena_printf(arena, "%s%s%s=%s", text, *text ? " " : "", name,
				    json_is_string(value) ? json_string_value(value) : "?");
	return text;
}

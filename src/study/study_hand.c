/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a person changes in a study. */
#include "study_hand.h"

#include <errno.h>
#include <time.h>

#include "bench_spawn.h"
#include "knob_boot_state.h"
#include "study_engine.h"
#include "study_host.h"
#include "text.h"

/* What tells a level is to look, not to work. */
enum { SEE_S = 60 };

bool study_asks(const struct study *study)
{
	for (size_t f = 0; f < study->factor_count; f++)
		if (study->factors[f].ask)
			return true;
	return false;
}

bool study_hand_waits(const struct study_state *state)
{
	return json_object_size(state->hand.wanted) > 0;
}

/* ---- levels ---- */

static json_t *levels_json(const struct study *study, const size_t *levels)
{
	json_t *json = json_object();

	for (size_t f = 0; f < study->factor_count; f++)
		if (study->factors[f].ask)
			(void)json_object_set_new(json, study->factors[f].name,
						  json_string(study->factors[f].levels[levels[f]].name));
	return json;
}

json_t *study_hand_levels(const struct study_matrix *matrix, size_t config)
{
	return levels_json(matrix->study, study_levels(matrix, config));
}

bool study_hand_is_here(const struct study_matrix *matrix, const struct study_state *state, size_t config)
{
	json_t *levels = study_hand_levels(matrix, config);
	bool here = !json_object_size(levels) || (state && json_equal(levels, state->hand.levels));

	json_decref(levels);
	return here;
}

/* The level of the factor that `levels` names; NULL: it names none. */
static const struct study_level *level_in(const struct study_factor *factor, const json_t *levels)
{
	const char *name = json_string_value(json_object_get(levels, factor->name));

	for (size_t l = 0; l < factor->level_count; l++)
		if (text_equal(factor->levels[l].name, name))
			return &factor->levels[l];
	return NULL;
}

/* ---- does it show? ---- */

static bool shows(struct arena *arena, const struct study_level *level)
{
	const struct bench_command command = study_command(arena, &level->see, NULL, NULL, SEE_S);
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};

	return !level->see.line || (bench_spawn(&command, NULL, &outcome, NULL) == 0 && outcome.exit_code == 0);
}

/* The levels that do not show, {} when all do; the caller's. *ret_why: in words. */
static json_t *find_missing(const struct study_hands *hands, const json_t *levels, const char **ret_why)
{
	const struct study *study = hands->study;
	struct arena *arena = hands->machine->arena;
	json_t *missing = json_object();

	*ret_why = NULL;
	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_factor *factor = &study->factors[f];
		const struct study_level *level = factor->ask ? level_in(factor, levels) : NULL;

		if (!level || shows(arena, level))
			continue;
		(void)json_object_set_new(missing, factor->name, json_string(level->name));
		*ret_why = arena_printf(arena, "%s%s%s is not %s: its \"see\" (line %u of the study file) fails",
					*ret_why ? *ret_why : "", *ret_why ? "; " : "", factor->name, level->name,
					level->see.line);
		for (size_t l = 0; l < factor->level_count; l++)
			if (&factor->levels[l] != level && factor->levels[l].see.line &&
			    shows(arena, &factor->levels[l]))
				*ret_why = arena_printf(arena, "%s, and that of %s does not", *ret_why,
							factor->levels[l].name);
	}
	return missing;
}

/* ---- the beginning ---- */

static const char *line_now(const struct study_hands *hands)
{
	const char *line = NULL;

	return sys_writer_read(hands->machine->writer, hands->machine->arena, "/proc/cmdline", &line, NULL, NULL) == 0
		   ? text_trim(hands->machine->arena, line)
		   : NULL;
}

int study_hand_begin(const struct study_hands *hands, struct err *err)
{
	struct study_hand *hand = &hands->state->hand;
	bool anew = !hand->levels;
	const char *why = NULL;

	if (anew)
		*hand = (struct study_hand){.levels = levels_json(hands->study, hands->study->baseline),
					    .wanted = json_object(),
					    .texts = json_array(),
					    .line = line_now(hands)};
	json_t *missing = find_missing(hands, hand->levels, &why);
	bool well = json_object_size(missing) == 0;

	json_decref(missing);
	if (well)
		return 0;
	(void)err_set(err, EPROTO, hands->study->name, "%s: %s",
		      anew ? "the baseline is not in force" : "the machine is not as the study left it", why);
	(void)err_hint(err, anew ? "set it, or name the level that is in force: \"baseline\""
				 : "set it again and say hvtune study resume; hvtune study abort ends it");
	return -EPROTO;
}

/* ---- asking ---- */

/* `wanted` is taken over. */
static int want(const struct study_hands *hands, json_t *wanted, const char *fault, struct err *err)
{
	struct study_hand *hand = &hands->state->hand;
	const struct study *study = hands->study;

	json_decref(hand->wanted);
	hand->wanted = wanted;
	(void)json_array_clear(hand->texts);
	hand->boots = false;
	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_factor *factor = &study->factors[f];
		const struct study_level *level = level_in(factor, wanted);

		if (!level)
			continue;
		hand->boots = hand->boots || factor->ask_boots;
		(void)json_array_append_new(hand->texts, json_string(study_ask_text(hands->machine->arena, factor,
										    (size_t)(level - factor->levels))));
	}
	hand->boot = knob_boot_id(hands->machine);
	hand->fault = fault;
	hands->state->clean = true;
	int r = study_state_write(hands->machine, hands->state, err);

	return r < 0 ? r : STUDY_ASKS;
}

int study_hand_ask(const struct study_hands *hands, const json_t *levels, struct err *err)
{
	json_t *wanted = json_object(), *level;
	const char *name;

	json_object_foreach ((json_t *)levels, name, level)
		if (!json_equal(level, json_object_get(hands->state->hand.levels, name)))
			(void)json_object_set(wanted, name, level);
	if (json_object_size(wanted))
		return want(hands, wanted, NULL, err);
	json_decref(wanted);
	return 0;
}

int study_hand_look(const struct study_hands *hands, struct err *err)
{
	const char *why = NULL;
	json_t *missing = find_missing(hands, hands->state->hand.levels, &why);

	if (json_object_size(missing))
		return want(hands, missing, why, err);
	json_decref(missing);
	return 0;
}

int study_hand_leave(const struct study_hands *hands, const json_t *levels, struct err *err)
{
	return hands->state->hand.kept ? 0 : study_hand_ask(hands, levels, err);
}

/* ---- the answer ---- */

static int answered(const struct study_hands *hands, struct err *err)
{
	struct study_hand *hand = &hands->state->hand;

	(void)json_object_clear(hand->wanted);
	(void)json_array_clear(hand->texts);
	hand->fault = NULL;
	return study_state_write(hands->machine, hands->state, err);
}

static int still_waits(const struct study_hands *hands, const char *why, struct err *err)
{
	struct err ignored = {0};

	hands->state->hand.fault = why;
	(void)study_state_write(hands->machine, hands->state, &ignored);
	return err_set(err, EAGAIN, NULL, "%s", why);
}

/* Units that fail now and did not when the study began; NULL: none, or nobody can be asked. */
static const char *new_failures(const struct study_hands *hands)
{
	struct arena *arena = hands->machine->arena;
	const char **names = NULL, *text = NULL;
	size_t count = 0, index;
	json_t *known;

	if (boot_failed_units(hands->machine, &names, &count, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bool old = false;

		json_array_foreach (hands->state->units, index, known)
			old = old || text_equal(json_string_value(known), names[i]);
		if (!old)
			text = arena_printf(arena, "%s%s%s", text ? text : "", text ? ", " : "", names[i]);
	}
	return text;
}

/* What is wrong with the boot that runs, in which nothing was measured yet; NULL: nothing. */
static const char *fault_of_boot(const struct study_hands *hands)
{
	const struct study_state *state = hands->state;
	struct arena *arena = hands->machine->arena;
	const char *line = line_now(hands), *kernel = knob_kernel_release(hands->machine), *units;

	if (state->kernel && kernel && !text_equal(state->kernel, kernel))
		return arena_printf(arena, "the kernel is %s, and the study began with %s: boot that one", kernel,
				    state->kernel);
	if (state->hand.line && line && !text_equal(state->hand.line, line))
		return arena_printf(arena, "the kernel's line is \"%s\", and the study began with \"%s\": boot that",
				    line, state->hand.line);
	units = new_failures(hands);
	return units ? arena_printf(arena, "units have failed that had not when the study began: %s", units) : NULL;
}

/* Why it cannot be so that what was asked for is done; NULL: it can. */
static const char *why_not(const struct study_hands *hands, const json_t *levels)
{
	const struct study_state *state = hands->state;
	const char *now = knob_boot_id(hands->machine), *why = NULL;

	if (state->hand.boots && text_equal(now, state->hand.boot))
		return arena_printf(hands->machine->arena,
				    "this is still the boot in which it was asked for, and it takes another one "
				    "(\"needs: live\" in the study file says of a factor that it takes none)");
	/* What the host boots for itself is judged when it is gone on with. */
	if (!study_needs_boots(hands->study) && !text_equal(now, state->boot))
		why = fault_of_boot(hands);
	if (!why)
		json_decref(find_missing(hands, levels, &why));
	return why;
}

int study_hand_done(const struct study_hands *hands, struct err *err)
{
	struct study_state *state = hands->state;
	json_t *levels = json_copy(state->hand.levels);

	(void)json_object_update(levels, state->hand.wanted);
	const char *why = why_not(hands, levels);

	if (why) {
		json_decref(levels);
		return still_waits(hands, why, err);
	}
	json_decref(state->hand.levels);
	state->hand.levels = levels;
	if (!study_needs_boots(hands->study))
		state->boot = knob_boot_id(hands->machine);
	return answered(hands, err);
}

static void end_as(struct study_state *state, const char *why)
{
	state->end = "failed";
	state->why = why;
}

int study_hand_cannot(const struct study_hands *hands, const char *why, struct err *err)
{
	struct study_state *state = hands->state;
	struct arena *arena = hands->machine->arena;
	struct study *study = ARENA_NEW(arena, struct study);
	struct study_matrix matrix;

	if (state->end) {
		state->hand.kept = true;
		return answered(hands, err);
	}
	*study = *hands->study;
	json_t *wanted = json_copy(state->hand.wanted);
	int r = study_forbid_levels(arena, study, wanted, err);

	(void)json_array_append_new(state->out, json_pack("{s:o, s:s}", "levels", wanted, "why", why));
	if (r < 0)
		return r;
	study_matrix_make(arena, study, &matrix);
	state->hand.kept = !study_is_allowed(study, study->baseline);
	if (state->hand.kept)
		end_as(state, arena_printf(arena, "the baseline cannot be set again: %s", why));
	else if (matrix.count < 2)
		end_as(state, arena_printf(arena, "nothing is left to compare: %s", why));
	return answered(hands, err);
}

/* ---- words ---- */

const char *study_hand_left(struct arena *arena, const struct study *study, const struct study_state *state)
{
	const char *text = NULL;

	for (size_t f = 0; f < study->factor_count; f++) {
		const struct study_factor *factor = &study->factors[f];
		const struct study_level *level = factor->ask ? level_in(factor, state->hand.levels) : NULL;

		if (level && level != &factor->levels[study->baseline[f]])
			text =
			    arena_printf(arena, "%s%s%s=%s (to put it back: %s)", text ? text : "", text ? "; " : "",
					 factor->name, level->name, study_ask_text(arena, factor, study->baseline[f]));
	}
	return text;
}

const char *study_hand_asked(struct arena *arena, const struct study_state *state)
{
	const char *text = "";
	json_t *item;
	size_t index;

	json_array_foreach (state->hand.texts, index, item)
		text = arena_printf(arena, "%s%s%s", text, index ? "; " : "",
				    json_is_string(item) ? json_string_value(item) : "?");
	return text;
}

const char *study_hand_todo(struct arena *arena, const struct study_state *state)
{
	const char *levels = study_levels_text(arena, state->hand.wanted);

	return arena_printf(arena,
			    "%s, then say so: hvtune study resume --done%s. If it cannot be done: hvtune study resume "
			    "--cannot WHY; then %s.",
			    state->hand.boots ? "Shut the host down, or reboot it into its setup; do this, boot it"
					      : "Do this",
			    state->hand.boots ? " (a boot alone is not taken for it)" : "",
			    state->end ? "it stays as it is" : arena_printf(arena, "%s is left out", levels));
}

const char *study_hand_say(struct arena *arena, const struct study_state *state)
{
	return arena_printf(arena, "study %s %s a person: %s. %s", state->name,
			    state->end ? "has ended, and to put back what was changed by hand it waits for"
				       : "waits for",
			    study_hand_asked(arena, state), study_hand_todo(arena, state));
}

/* ---- how often ---- */

static bool same_hand(const struct study_matrix *matrix, size_t a, size_t b)
{
	return study_switch_cost(matrix, a, b) < STUDY_PERSON;
}

unsigned study_count_asks(const struct study_matrix *matrix, unsigned blocks)
{
	CLEANUP(base_free) int *configs = stat_zeroed((int)matrix->count + 1, sizeof(*configs));
	size_t at = matrix->baseline;
	unsigned asks = 0;

	for (unsigned block = 0; block < blocks; block++) {
		for (size_t i = 0; i < matrix->count; i++)
			configs[i] = (int)i;
		study_block_order(matrix, matrix->study->seed, (int)block, configs, matrix->count);
		for (size_t i = 0; i < matrix->count; i++) {
			asks += !same_hand(matrix, at, (size_t)configs[i]);
			at = (size_t)configs[i];
		}
	}
	return asks + (matrix->count && !same_hand(matrix, at, matrix->baseline));
}

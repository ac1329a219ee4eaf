/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the step that a study does next when it may have been decided in another process: the same observations give the
 * same decision, wherever the machine has come up meanwhile.
 */
#include "study_hand.h"
#include "study_run_internal.h"
#include "text.h"

struct stepping {
	struct arena *arena;
	const struct study_setup *setup;
	const struct study_outcome *outcome;
};

static int config_named(const struct stepping *stepping, const char *name)
{
	const struct study_matrix *matrix = stepping->setup->matrix;

	for (size_t i = 0; name && i < matrix->count; i++)
		if (text_equal(study_config_name(stepping->arena, matrix, i), name))
			return (int)i;
	return -1;
}

/* The step that a boot was asked for, or that a kill has cut short, as long as nothing was seen since. */
static bool begun_step(const struct stepping *stepping, struct study_step *ret)
{
	const struct study_state *state = stepping->setup->state;
	int config = state && state->step.config && state->step.seen == stepping->outcome->count
			 ? config_named(stepping, state->step.config)
			 : -1;

	if (config < 0)
		return false;
	*ret = (struct study_step){.what = STUDY_RUN,
				   .purpose = state->step.purpose,
				   .config = config,
				   .runs = (int)state->step.runs,
				   .own_boot = state->step.own_boot,
				   .incumbent = config_named(stepping, state->step.incumbent),
				   .words = arena_strdup(stepping->arena, state->step.words)};
	return true;
}

static void keep_step(const struct stepping *stepping, const struct study_step *step)
{
	struct arena *arena = stepping->setup->machine->arena;
	const struct study_matrix *matrix = stepping->setup->matrix;

	if (stepping->setup->state)
		stepping->setup->state->step = (struct study_asked_step){
		    .config = study_config_name(arena, matrix, (size_t)step->config),
		    .incumbent = step->incumbent < 0 ? NULL : study_config_name(arena, matrix, (size_t)step->incumbent),
		    .words = arena_strdup(arena, step->words),
		    .purpose = step->purpose,
		    .runs = (unsigned)step->runs,
		    .own_boot = step->own_boot,
		    .seen = stepping->outcome->count};
}

static bool is_here(const struct stepping *stepping, int config)
{
	const struct study_setup *setup = stepping->setup;

	return config >= 0 && study_hand_is_here(setup->matrix, setup->state, (size_t)config) &&
	       (!setup->boot || study_boot_is_here(setup->boot, (size_t)config, NULL) > 0);
}

/* How the machine is now: in no configuration, but booted, or made ready by a person, for one it may be. */
static int config_now(const struct stepping *stepping, int config)
{
	const struct study_setup *setup = stepping->setup;
	const struct study_matrix *matrix = setup->matrix;
	bool asks = study_asks(matrix->study);

	if (config >= 0 || !setup->state || (!setup->boot && !asks))
		return config;
	config = config_named(stepping, setup->state->config);
	if (is_here(stepping, config))
		return config;
	if (asks && is_here(stepping, (int)matrix->baseline))
		return (int)matrix->baseline;
	for (size_t i = 0; asks && i < matrix->count; i++)
		if (is_here(stepping, (int)i))
			return (int)i;
	return -1;
}

int study_step_next(struct arena *arena, const struct study_setup *setup, const struct study_outcome *outcome,
		    int config, int boot, struct study_step *ret, struct err *err)
{
	const struct stepping stepping = {arena, setup, outcome};
	int r = begun_step(&stepping, ret) ? 0
					   : study_next(outcome->engine, outcome->seen, outcome->count,
							config_now(&stepping, config), boot, ret, err);

	if (r == 0 && ret->what == STUDY_RUN && !ret->cut)
		keep_step(&stepping, ret);
	return r;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what keeps an answer from being called sure: what was not measured, and too few runs of what was. */
#include "study_engine.h"
#include "text.h"

/* Below that many runs of each nothing is said of odds: their spread is the prior's, not that of this machine. */
enum { LEAST_RUNS = 3 };

static size_t count_missing(struct study_engine *engine, const int *configs, size_t config_count,
			    const struct study_seen *runs, size_t count)
{
	bool *there = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, bool);
	size_t missing = 0;

	for (size_t i = 0; i < count; i++)
		there[runs[i].config] = true;
	for (size_t i = 0; i < config_count; i++)
		missing += !there[configs[i]];
	return missing;
}

static const char *say_missing(struct study_engine *engine, size_t missing, size_t all)
{
	return arena_printf(engine->arena, "%zu of %zu configurations %s not measured", missing, all,
			    missing == 1 ? "was" : "were");
}

static const char *lack_of_race(struct study_engine *engine, const struct study_seen *runs, size_t count, bool *ret_few)
{
	int *configs = ARENA_ARRAY(engine->arena, (size_t)engine->first_count + 1, int);
	size_t config_count = 0, missing;
	bool given_up = false;

	for (size_t t = 0; t < engine->target_count; t++)
		given_up = given_up || engine->halves[t];
	*ret_few = true;
	if (given_up)
		return "chosen by successive halving, since the model does not describe these runs; how sure that is, "
		       "is not known";
	for (int i = 0; i < engine->first_count; i++)
		if (!engine->out[engine->first[i]])
			configs[config_count++] = engine->first[i];
	missing = count_missing(engine, configs, config_count, runs, count);
	if (missing)
		return arena_printf(engine->arena, "too few runs to say how sure: of the first look %s",
				    say_missing(engine, missing, config_count));
	*ret_few = false;
	return NULL;
}

const char *study_lack(struct study_engine *engine, const struct study_seen *runs, size_t count, bool *ret_few)
{
	int *configs = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);
	unsigned least = engine->matrix->study->runs_least;
	size_t config_count, missing;
	int blocks;

	if (engine->design == STUDY_RACE)
		return lack_of_race(engine, runs, count, ret_few);
	config_count = study_design_configs(engine, configs);
	missing = count_missing(engine, configs, config_count, runs, count);
	blocks = study_whole_blocks(engine, configs, config_count, runs, count);
	*ret_few = blocks < LEAST_RUNS || config_count < 2;
	if (missing)
		return say_missing(engine, missing, config_count);
	if (config_count < 2)
		return "no other could be measured";
	if (blocks < LEAST_RUNS)
		return arena_printf(engine->arena, "too few runs to say how sure, %d of each where it takes %d", blocks,
				    LEAST_RUNS);
	if (blocks < (int)least)
		return arena_printf(engine->arena, "it was stopped after %s of each, before the %u it was to make",
				    text_count(engine->arena, blocks, "run", "runs"), least);
	return NULL;
}

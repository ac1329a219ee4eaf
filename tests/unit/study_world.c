/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns simulated hosts for the tests of studies. */
#include "study_world.h"

#include <math.h>
#include <string.h>

#include "unit.h"

#define BASE_LOG 4.
#define BASE_ENERGY 9.
#define BASE_IDLE 100.

void world_make(struct world *world, const char *text)
{
	struct study_mistakes mistakes = {0};

	*world = (struct world){.arena = arena_new(), .chance = 42, .noise = .005, .broken = -1, .before = -1};
	if (study_read(world->arena, "s.yaml", text, strlen(text), &world->study, &mistakes) < 0)
		fail_msg("line %u: %s", mistakes.items[0].line, mistakes.items[0].what);
	study_matrix_make(world->arena, world->study, &world->matrix);
}

/* About normal, from the sum of twelve. */
static double draw(struct world *world)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		world->chance = world->chance * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(world->chance >> 33) / (double)(1u << 31);
	}
	return sum - 6;
}

static double sum_of(const struct world *world, const double *effects, int config)
{
	const size_t *levels = study_levels(&world->matrix, (size_t)config);
	size_t at = 0;
	double sum = 0;

	for (size_t f = 0; f < world->study->factor_count; f++) {
		sum += effects[at + levels[f]];
		at += world->study->factors[f].level_count;
	}
	return sum;
}

double world_truth(const struct world *world, int config)
{
	const size_t *levels = study_levels(&world->matrix, (size_t)config);
	bool meet = true;

	for (size_t f = 0; f < world->study->factor_count; f++)
		meet = meet && levels[f] > 0;
	return sum_of(world, world->effects, config) + (meet ? world->meet : 0);
}

double world_energy(const struct world *world, int config)
{
	return sum_of(world, world->energy, config);
}

double world_idle(const struct world *world, int config)
{
	return BASE_IDLE + sum_of(world, world->idle, config);
}

/* Leaving a level leaves its trace, until a boot. */
static void enter(struct world *world, int config)
{
	if (world->trace && world->before >= 0 && world->before != config)
		world->drawn = MAX_OF(world->drawn, sum_of(world, world->trace, world->before));
	world->before = config;
}

static void boot(struct world *world)
{
	world->boots++;
	world->drawn = 0;
	world->before = -1;
}

void world_run(struct world *world, int config, enum study_purpose purpose)
{
	struct study_seen *seen = &world->seen[world->count++];

	assert_true(world->count < WORLD_MOST);
	enter(world, config);
	*seen = (struct study_seen){.config = config,
				    .boot = world->boots,
				    .purpose = purpose,
				    .valid = true,
				    .minutes = 1,
				    .lowest = NAN,
				    .error = NAN,
				    .busy = NAN};
	for (size_t goal = 0; goal < STUDY_GOALS; goal++)
		seen->value[goal] = NAN;
	if (purpose == STUDY_IDLE) {
		double watts = world_idle(world, config) + world->drawn + .1 * draw(world);

		seen->value[STUDY_IDLE_WATTS] = watts;
		seen->lowest = watts - .3;
		seen->error = .1;
		seen->busy = .001;
		return;
	}
	seen->valid = config != world->broken;
	seen->value[STUDY_TIME] = exp(BASE_LOG + world_truth(world, config) + world->noise * draw(world));
	if (!world->energy)
		return;
	seen->value[STUDY_ENERGY] = exp(BASE_ENERGY + world_energy(world, config) + world->noise * draw(world));
	seen->value[STUDY_LOAD_WATTS] = seen->value[STUDY_ENERGY] / 60;
}

/* One step; false: there is none any more. */
static bool go(struct world *world, struct study_engine *engine, int *config, struct study_step *step)
{
	struct err err = {0};

	if (study_next(engine, world->seen, world->count, *config, world->boots, step, &err) < 0)
		fail_msg("%s", err.what);
	if (step->what != STUDY_RUN)
		return false;
	bool boots = study_switch_cost(&world->matrix, (size_t)*config, (size_t)step->config) >= STUDY_HOST_BOOT;

	if (boots || (step->own_boot && !study_boot_is_fresh(world->seen, world->count, world->boots))) {
		boot(world);
		if (step->purpose != STUDY_IDLE)
			world_run(world, step->config, STUDY_WARM_UP);
	}
	*config = step->config;
	for (int i = 0; i < step->runs; i++)
		world_run(world, *config, step->purpose);
	return true;
}

struct study_step world_go_on(struct world *world, struct study_engine *engine)
{
	int config = world->before >= 0 ? world->before : (int)world->matrix.baseline;
	struct study_step step;

	while (go(world, engine, &config, &step))
		continue;
	return step;
}

struct study_step world_play(struct world *world, bool anew, struct study_engine **ret)
{
	int config = (int)world->matrix.baseline;
	struct study_engine *engine = NULL;
	struct study_step step;
	struct err err = {0};
	bool more = true;

	while (more) {
		if (!engine && study_engine_new(world->arena, &world->matrix, &engine, &err) < 0)
			fail_msg("%s", err.what);
		more = go(world, engine, &config, &step);
		if (anew && more)
			study_engine_free(&engine);
	}
	if (ret)
		*ret = engine;
	else
		study_engine_free(&engine);
	return step;
}

void world_clear(struct world *world, struct study_engine **engine)
{
	study_engine_free(engine);
	world->arena = arena_free(world->arena);
}

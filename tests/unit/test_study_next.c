/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of what a study measures next: drawn hosts whose best is known are found out, blocks are whole, and
 * the same runs give the same decision in another process.
 */
#include <errno.h>
#include <math.h>

#include "study_estimate.h"
#include "study_hand.h"
#include "study_world.h"
#include "text.h"
#include "unit.h"

#define FEW                                                                                                            \
	"study: s\nworkloads: {w: make}\nruns: [5, 16]\nfactors:\n  a: {knob: thp, levels: [always, madvise, "         \
	"never]}\n"                                                                                                    \
	"  b: {knob: swappiness, levels: [1, 60]}\n"

static void test_blocks(void **state)
{
	static const double effects[] = {.05, 0, -.04, 0, .03};
	struct study_engine *engine;
	struct study_answer answer;
	struct stat_compare compare;
	struct study_step step;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, FEW);
	world.effects = effects;
	step = world_play(&world, false, &engine);
	assert_int_equal(study_engine_design(engine), STUDY_FULL);
	assert_int_equal(step.what, STUDY_DONE);
	assert_string_equal(study_config_name(world.arena, &world.matrix, (size_t)step.incumbent), "a=never b=1");
	/* Blocks are whole, and each configuration stands in each once. */
	size_t chosen = 0;

	for (size_t i = 0; i < world.count; i++) {
		if (world.seen[i].purpose != STUDY_CHOOSE)
			continue;
		for (size_t j = chosen - chosen % 6; j < chosen; j++)
			assert_true(world.seen[j].config != world.seen[i].config);
		assert_int_equal(i, chosen++);
	}
	assert_int_equal(chosen % 6, 0);
	assert_true(chosen >= 30);
	assert_int_equal(study_answer(engine, 0, world.seen, world.count, &answer, &err), 0);
	assert_true(answer.sure);
	/* Fresh pairs confirm it: -9 % against the baseline, which is a=always b=1. */
	assert_int_equal(study_confirmed(engine, 0, world.seen, world.count, step.incumbent, &compare, &err), 0);
	assert_true(compare.ratio.low < exp(-.09) && exp(-.09) < compare.ratio.high);
	assert_int_equal(compare.verdict, STAT_LOWER);
	study_engine_free(&engine);
	world.arena = arena_free(world.arena);
}

/* Nothing but noise: never a sure claim that another one is better than the baseline. */
static void test_nothing(void **state)
{
	static const double effects[] = {0, 0, 0, 0, 0};
	struct study_engine *engine;
	struct stat_compare compare;
	struct study_step step;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, FEW);
	world.effects = effects;
	step = world_play(&world, false, &engine);
	assert_int_equal(step.what, STUDY_DONE);
	if (study_confirmed(engine, 0, world.seen, world.count, step.incumbent, &compare, &err) == 0)
		assert_int_equal(compare.verdict, STAT_EQUIVALENT);
	study_engine_free(&engine);
	world.arena = arena_free(world.arena);
}

/* Too noisy for the runs that are allowed: that is said, not hidden. */
static void test_spent(void **state)
{
	static const double effects[] = {.004, 0, -.004, 0, .003};
	struct study_step step;
	struct world world;

	(void)state;
	world_make(&world, FEW "confirm: no\n");
	world.effects = effects;
	world.noise = .2;
	step = world_play(&world, false, NULL);
	assert_int_equal(step.what, STUDY_SPENT);
	assert_int_equal(world.count, 16 * 6);
	world.arena = arena_free(world.arena);
}

/* An engine that is made anew for each decision, as after a boot or a kill, asks for the same runs. */
static void test_resume(void **state)
{
	static const double effects[] = {.05, 0, -.04, 0, .03};
	struct world one, two;

	(void)state;
	world_make(&one, FEW);
	world_make(&two, FEW);
	one.effects = two.effects = effects;
	(void)world_play(&one, false, NULL);
	(void)world_play(&two, true, NULL);
	assert_int_equal(one.count, two.count);
	for (size_t i = 0; i < one.count; i++)
		assert_int_equal(one.seen[i].config, two.seen[i].config);
	one.arena = arena_free(one.arena);
	two.arena = arena_free(two.arena);
}

#define MANY                                                                                                           \
	"study: s\nworkloads: {w: make}\nconfirm: no\nfactors:\n  a: {knob: thp, levels: [always, madvise, never]}\n"  \
	"  b: {knob: swappiness, levels: [1, 20, 60]}\n  c: {knob: boot.mitigations, levels: [auto, off]}\n"           \
	"  d: {knob: numa_balancing, levels: [0, 1]}\n"

/* A race too: what it was fitted to is of the runs, not of when it was asked. */
static void test_race_resume(void **state)
{
	static const double effects[] = {.03, 0, .02, 0, -.05, .01, .1, 0, 0, .02};
	struct world one, two;

	(void)state;
	world_make(&one, MANY);
	world_make(&two, MANY);
	one.effects = two.effects = effects;
	(void)world_play(&one, false, NULL);
	(void)world_play(&two, true, NULL);
	assert_true(one.count > STAT_DESIGN);
	assert_int_equal(one.count, two.count);
	for (size_t i = 0; i < one.count; i++)
		assert_int_equal(one.seen[i].config, two.seen[i].config);
	one.arena = arena_free(one.arena);
	two.arena = arena_free(two.arena);
}

/* The model does not describe the runs: an engine that was made after them knows it, and does not call it sure. */
static void test_race_halves(void **state)
{
	enum { CONFIGS = 12, CELL = 4 };
	static const double effects[10];
	CLEANUP(study_engine_free) struct study_engine *engine = NULL;
	struct study_answer answer;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, MANY);
	world.effects = effects;
	for (int boot = 0; boot < 2; boot++)
		for (int i = 0; i < CONFIGS * CELL; i++) {
			int cell = boot * CONFIGS + i / CELL;

			world_run(&world, i / CELL, STUDY_CHOOSE);
			world.seen[world.count - 1].boot = boot;
			world.seen[world.count - 1].value[STUDY_TIME] =
			    60 * exp((cell * 7 % 5 < 2 ? .1 : -.1) + .0005 * (i % 3));
		}
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	assert_int_equal(study_answer(engine, 0, world.seen, world.count, &answer, &err), 0);
	assert_true(answer.fallback && !answer.sure);
	assert_true(strstr(answer.unsure, "successive halving"));
	study_engine_free(&engine);
	world.arena = arena_free(world.arena);
}

static void test_race(void **state)
{
	static const double effects[] = {.03, 0, .02, 0, -.05, .01, .1, 0, 0, .02};

	(void)state;
	for (int anew = 0; anew < 2; anew++) {
		struct study_engine *engine;
		struct study_answer answer;
		struct study_step step;
		struct world world;
		struct err err = {0};
		double best = INFINITY;

		world_make(&world, MANY);
		world.effects = effects;
		step = world_play(&world, anew, &engine);
		assert_int_equal(study_engine_design(engine), STUDY_RACE);
		assert_int_equal(step.what, STUDY_DONE);
		for (size_t c = 0; c < world.matrix.count; c++)
			best = MIN_OF(best, world_truth(&world, (int)c));
		assert_true(world_truth(&world, step.incumbent) <= best + .01);
		/* 36 configurations by far fewer runs than five of each. */
		assert_true(world.count < 100);
		assert_int_equal(study_answer(engine, 0, world.seen, world.count, &answer, &err), 0);
		assert_true(answer.sure && answer.bad <= .02);
		study_engine_free(&engine);
		world.arena = arena_free(world.arena);
	}
}

/* The configuration that would be the best cannot be run: a race gives it up, and finds the best of the others. */
static void test_race_given_up(void **state)
{
	static const double effects[] = {.03, 0, .02, 0, -.05, .01, .1, 0, 0, .02};
	struct study_engine *engine;
	struct study_answer answer;
	struct study_step step;
	struct world world;
	struct err err = {0};
	int best = 0, other = -1, voids = 0;

	(void)state;
	world_make(&world, MANY);
	world.effects = effects;
	for (int c = 0; c < (int)world.matrix.count; c++)
		if (world_truth(&world, c) < world_truth(&world, best))
			best = c;
	for (int c = 0; c < (int)world.matrix.count; c++)
		if (c != best && (other < 0 || world_truth(&world, c) < world_truth(&world, other)))
			other = c;
	world.broken = best;
	step = world_play(&world, false, &engine);
	assert_int_equal(step.what, STUDY_DONE);
	assert_int_not_equal(step.incumbent, best);
	assert_true(world_truth(&world, step.incumbent) <= world_truth(&world, other) + .01);
	for (size_t i = 0; i < world.count; i++)
		voids += !world.seen[i].valid;
	/* Two runs at once after a restart may make one more. */
	assert_true(voids >= STUDY_MOST_VOID && voids <= STUDY_MOST_VOID + 1);
	assert_int_equal(study_answer(engine, 0, world.seen, world.count, &answer, &err), 0);
	assert_true(answer.sure && answer.standings[best].best == 0 && answer.standings[best].good == 0);
	study_engine_free(&engine);
	world.arena = arena_free(world.arena);
}

static void test_levers(void **state)
{
	static const double effects[] = {0, -.05, 0, -.03, 0, -.01};
	struct world world;

	(void)state;
	world_make(&world,
		   "study: s\nworkloads: {w: make}\ndesign: one-by-one\nruns: 4\nconfirm: no\nfactors:\n  a: {knob: "
		   "thp, levels: [always, "
		   "never]}\n  b: {knob: swappiness, levels: [1, 60]}\n  c: {knob: numa_balancing, levels: [0, 1]}\n");
	world.effects = effects;
	assert_int_equal(world_play(&world, false, NULL).what, STUDY_DONE);
	assert_int_equal(world.count, 4 * (2 * 3 + 2));
	world.arena = arena_free(world.arena);
}

/* What is sought must be measurable; that is said after the first runs, not answered with nothing. */
static void test_no_energy(void **state)
{
	static const double effects[] = {.05, 0, -.04, 0, .03};
	CLEANUP(study_engine_free) struct study_engine *engine = NULL;
	struct study_step step;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, FEW "objectives: [time, energy]\n");
	world.effects = effects;
	assert_int_equal(study_engine_new(world.arena, &world.matrix, &engine, &err), 0);
	world_run(&world, 0, STUDY_CHOOSE);
	assert_int_equal(study_next(engine, world.seen, world.count, 0, 0, &step, &err), -ENODATA);
	assert_non_null(strstr(err.what, "energy"));
	study_engine_free(&engine);
	world.arena = arena_free(world.arena);
}

/* Weights make one answer of all that is sought, whatever they are multiples of. */
static void test_weights(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = NULL;
	CLEANUP(study_engine_free) struct study_engine *engine = NULL;
	const struct study_target *targets;
	struct world world;
	struct err err = {0};

	(void)state;
	world_make(&world, "study: s\nworkloads: {w: make}\nfactors: {f: {knob: thp, levels: [never, always]}}\n"
			   "objectives: [time, energy]\nweights: {time: 6, energy: 2}\n");
	arena = world.arena;
	assert_int_equal(study_engine_new(arena, &world.matrix, &engine, &err), 0);
	assert_int_equal(study_engine_targets(engine, &targets), 1);
	assert_string_equal(targets[0].name, "time 75 %, energy 25 %");
	assert_float_equal(study_log(&targets[0], &(struct study_seen){.value = {exp(2), exp(4), NAN, NAN}}), 2.5,
			   1e-12);
}

/* How often a person was asked, to put it back at the end too. */
static unsigned count_asks(const struct world *world)
{
	size_t at = world->matrix.baseline;
	unsigned asks = 0;

	for (size_t i = 0; i < world->count; i++) {
		asks += study_switch_cost(&world->matrix, at, (size_t)world->seen[i].config) == STUDY_PERSON;
		at = (size_t)world->seen[i].config;
	}
	return asks + (study_switch_cost(&world->matrix, at, world->matrix.baseline) == STUDY_PERSON);
}

/* There and back, pair by pair too: never oftener than `study check` says, and once a block. */
static void test_person_in_blocks(void **state)
{
	static const double effects[] = {.05, 0, -.04, 0, .03};
	static const char *const confirms[] = {"", "confirm: no\n"};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(confirms); i++) {
		struct study_estimate estimate;
		struct study_engine *engine;
		struct study_step step;
		struct world world;

		world_make(&world, arena_printf(arena,
						"study: s\nworkloads: {w: make}\nruns: 4\n%sfactors:\n"
						"  a: {knob: thp, levels: [always, madvise, never]}\n"
						"  nps: {ask: 'Set NPS to {level}', levels: [1, 4]}\n",
						confirms[i]));
		world.effects = effects;
		step = world_play(&world, true, &engine);
		assert_int_equal(step.what, STUDY_DONE);
		assert_string_equal(study_config_name(world.arena, &world.matrix, (size_t)step.incumbent),
				    "a=never nps=1");
		study_estimate(&world.matrix, &estimate);
		/* 1 4 | 4 1 | 1 4 | 4 1; the best needs nothing of him. */
		assert_int_equal(count_asks(&world), 4);
		assert_int_equal(estimate.least_asks, 4);
		assert_int_equal(estimate.most_asks, *confirms[i] ? 4 : 8);
		study_engine_free(&engine);
		world.arena = arena_free(world.arena);
	}
}

/* The best is on his other level: one pair after another begins where the last one has ended. */
static void test_person_confirms(void **state)
{
	static const double effects[] = {.05, 0, -.04, .03, 0};
	struct study_estimate estimate;
	struct study_engine *engine;
	struct study_step step;
	struct world world;

	(void)state;
	world_make(&world, "study: s\nworkloads: {w: make}\nruns: 5\nfactors:\n"
			   "  a: {knob: thp, levels: [always, madvise, never]}\n"
			   "  nps: {ask: 'Set NPS to {level}', levels: [1, 4]}\n");
	world.effects = effects;
	step = world_play(&world, true, &engine);
	assert_string_equal(study_config_name(world.arena, &world.matrix, (size_t)step.incumbent), "a=never nps=4");
	study_estimate(&world.matrix, &estimate);
	assert_int_equal(estimate.most_asks, 6 + 4);
	assert_int_equal(count_asks(&world), 10);
	study_engine_free(&engine);
	world.arena = arena_free(world.arena);
}

/* A race asks him when nothing cheaper tells as much: a few times, where levels of a running host go to and fro. */
static void test_person_in_a_race(void **state)
{
	static const double effects[] = {.03, 0, .02, 0, -.05, .01, .06, 0, 0, .02};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	unsigned asks[2] = {0};

	(void)state;
	for (size_t live = 0; live < 2; live++) {
		struct study_engine *engine;
		struct study_step step;
		struct world world;

		world_make(&world,
			   arena_printf(arena,
					"study: s\nworkloads: {w: make}\nconfirm: no\nfactors:\n"
					"  a: {knob: thp, levels: [always, madvise, never]}\n"
					"  b: {knob: swappiness, levels: [1, 20, 60]}\n  c: {%s, levels: [0, 1]}\n"
					"  d: {knob: numa_balancing, levels: [0, 1]}\n",
					live ? "knob: hugepages.2M" : "ask: 'Set it to {level}'"));
		world.effects = effects;
		step = world_play(&world, true, &engine);
		assert_int_equal(study_engine_design(engine), STUDY_RACE);
		assert_int_equal(step.what, STUDY_DONE);
		for (size_t i = 1; i < world.count; i++)
			asks[live] += study_levels(&world.matrix, (size_t)world.seen[i].config)[2] !=
				      study_levels(&world.matrix, (size_t)world.seen[i - 1].config)[2];
		study_engine_free(&engine);
		world.arena = arena_free(world.arena);
	}
	assert_in_range(asks[0], 1, 8);
	assert_in_range(asks[1], 2 * asks[0], 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_weights),	    cmocka_unit_test(test_blocks),
	    cmocka_unit_test(test_nothing),	    cmocka_unit_test(test_spent),
	    cmocka_unit_test(test_resume),	    cmocka_unit_test(test_race),
	    cmocka_unit_test(test_race_resume),	    cmocka_unit_test(test_race_halves),
	    cmocka_unit_test(test_race_given_up),   cmocka_unit_test(test_levers),
	    cmocka_unit_test(test_no_energy),	    cmocka_unit_test(test_person_in_blocks),
	    cmocka_unit_test(test_person_confirms), cmocka_unit_test(test_person_in_a_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the race: a first design, then the run that tells most about the best per minute, until it is known
 * (methods 3.4); successive halving where the model does not describe the runs.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "study_engine.h"

/* Several targets at once: each has to be surer (methods 3.5). */
#define SEVERAL_TARGETS .99
/* Preparation and settling of one run, minutes. */
#define PREPARATION .25
/* Of the error that a study allows, the share that the model may use up. */
#define MODEL_SHARE .4

double study_model_target(const struct study *study)
{
	return 1 - MODEL_SHARE * (1 - study->confidence);
}

static struct stat_switch change(const void *context, int from, int to)
{
	static const enum stat_change changes[] = {[STUDY_LIVE] = STAT_CHANGE_LIVE,
						   [STUDY_VM_RESTART] = STAT_CHANGE_GUEST,
						   [STUDY_GUEST_BOOT] = STAT_CHANGE_GUEST,
						   [STUDY_HOST_BOOT] = STAT_CHANGE_HOST,
						   [STUDY_PERSON] = STAT_CHANGE_HOST};
	const struct study_engine *engine = context;
	int cost = from < 0 ? STUDY_HOST_BOOT : study_switch_cost(engine->matrix, (size_t)from, (size_t)to);

	if (cost < 0)
		return (struct stat_switch){STAT_CHANGE_NONE, 0};
	double minutes = study_switch_seconds(engine->matrix->study, (enum study_cost)cost) / 60;

	/* A host that boots starts its guests too, and the first run after each is left out. */
	if (cost >= STUDY_VM_RESTART)
		minutes += engine->run_minutes + PREPARATION;
	if (cost >= STUDY_HOST_BOOT && *engine->matrix->study->vms)
		minutes += study_cost_seconds(STUDY_VM_RESTART) / 60;
	return (struct stat_switch){changes[cost], minutes};
}

static double run(const void *context, int configuration)
{
	const struct study_engine *engine = context;

	(void)configuration;
	return engine->run_minutes + PREPARATION;
}

void study_race_prepare(struct study_engine *engine)
{
	const struct study_matrix *matrix = engine->matrix;
	const struct study *study = matrix->study;
	int *levels = ARENA_ARRAY(engine->arena, matrix->count * study->factor_count + 1, int);
	enum stat_change *changes = ARENA_ARRAY(engine->arena, study->factor_count + 1, enum stat_change);

	for (size_t i = 0; i < matrix->count * study->factor_count; i++)
		levels[i] = (int)matrix->levels[i];
	for (size_t f = 0; f < study->factor_count; f++)
		changes[f] = study->factors[f].cost >= STUDY_HOST_BOOT ? STAT_CHANGE_HOST
			     : study->factors[f].cost == STUDY_LIVE    ? STAT_CHANGE_LIVE
								       : STAT_CHANGE_GUEST;
	engine->space = (struct stat_space){.factors = (int)study->factor_count,
					    .count = (int)matrix->count,
					    .levels = levels,
					    .changes = changes,
					    .out = engine->out};
	engine->costs = (struct stat_costs){.context = engine, .change = change, .run = run};
	engine->first_count = stat_design(&engine->space, study->seed, STAT_DESIGN, engine->first);
	stat_order_nested(&engine->costs, (int)matrix->baseline, study->seed, engine->first, engine->first_count);
	for (size_t t = 0; t < engine->target_count; t++)
		engine->models[t] = stat_model_new(&engine->space);
}

static struct stat_select_rule rule_of(const struct study_engine *engine)
{
	const struct study *study = engine->matrix->study;
	struct stat_select_rule rule = STAT_SELECT_RULE;

	rule.margin = study->within;
	rule.target = study_model_target(study);
	if (engine->target_count > 1)
		rule.target = MAX_OF(rule.target, SEVERAL_TARGETS);
	rule.seed = study->seed;
	return rule;
}

static struct stat_run *runs_of(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count)
{
	struct stat_run *runs = ARENA_ARRAY(engine->arena, count + 1, struct stat_run);

	for (size_t i = 0; i < count; i++)
		runs[i] =
		    (struct stat_run){seen[i].config, seen[i].boot, study_log(&engine->targets[target], &seen[i])};
	return runs;
}

/*
 * Halving from the runs alone: round after round, each judged by the first runs that it asks for, so that later runs do
 * not change an earlier cut. Of the configurations that lack runs in the round the one that is the least away from
 * `from`, and how many runs it lacks; -1 when one is left, which is *ret_best, or none can be measured.
 */
static int halve(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count, int from,
		 int *ret_best, int *ret_lacks)
{
	size_t configs = engine->matrix->count;
	CLEANUP(base_free) int *array = stat_zeroed((int)configs, sizeof(int));
	CLEANUP(base_free) double *means = stat_zeroed((int)configs, sizeof(double));
	struct stat_halving halving = stat_halving_begin(array, (int)configs);
	int need = 0, left = 0;

	for (int c = 0; c < halving.count; c++)
		if (!engine->out[c])
			array[left++] = c;
	halving.count = left;
	while (halving.count > 1) {
		int nearest = -1;
		double least = INFINITY;

		need += halving.runs;
		for (int i = 0; i < halving.count; i++) {
			int config = halving.configurations[i], have = 0;

			means[config] = 0;
			for (size_t s = 0; s < count && have < need; s++)
				if (seen[s].config == config) {
					means[config] += study_log(&engine->targets[target], &seen[s]);
					have++;
				}
			means[config] /= MAX_OF(have, 1);
			double minutes = change(engine, from, config).minutes;

			if (have < need && minutes < least) {
				nearest = config;
				least = minutes;
				*ret_lacks = need - have;
			}
		}
		if (nearest >= 0)
			return nearest;
		stat_halving_cut(&halving, means);
	}
	*ret_best = halving.count ? halving.configurations[0] : -1;
	return -1;
}

void study_race_find_halves(struct study_engine *engine, const struct study_seen *seen, size_t count)
{
	for (size_t target = 0; target < engine->target_count; target++) {
		engine->halves[target] = false;
		/* Of no runs nothing is known. */
		(void)stat_select_follow(engine->models[target], &engine->space, runs_of(engine, target, seen, count),
					 (int)count, &engine->halves[target], NULL);
	}
}

static int next_halving(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
			int from, struct study_step *ret)
{
	int best = -1, lacks = 0, config = halve(engine, target, seen, count, from, &best, &lacks);

	if (target == 0)
		ret->incumbent = best;
	if (config < 0)
		return 0;
	ret->what = STUDY_RUN;
	ret->config = config;
	ret->runs = lacks;
	ret->words = "halving";
	return 0;
}

/* One target's wish; ret->what stays STUDY_DONE when it has none. */
static int next_of_target(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
			  int config, int boot, struct study_step *ret, struct err *err)
{
	const struct stat_select_rule rule = rule_of(engine);
	struct stat_choice choice;
	int r;

	if (engine->halves[target])
		return next_halving(engine, target, seen, count, config, ret);
	r = stat_select(engine->models[target], &engine->space, &engine->costs, &rule,
			runs_of(engine, target, seen, count), (int)count, config, boot, &choice, err);
	if (r < 0)
		return r;
	if (target == 0)
		ret->incumbent = choice.incumbent;
	if (choice.what == STAT_SELECT_SPENT) {
		ret->what = STUDY_SPENT;
		return 0;
	}
	if (choice.what == STAT_SELECT_DONE)
		return 0;
	ret->what = STUDY_RUN;
	ret->config = choice.configuration;
	ret->runs = choice.runs;
	ret->words =
	    arena_printf(engine->arena, "%s: %.0f %% sure", engine->targets[target].name, 100 * (1 - choice.bad));
	return 0;
}

int study_next_race(struct study_engine *engine, const struct study_seen *seen, size_t count, int config, int boot,
		    struct study_step *ret, struct err *err)
{
	/* First each of the design once. */
	for (int i = 0; i < engine->first_count; i++) {
		bool met = engine->out[engine->first[i]];

		for (size_t s = 0; s < count && !met; s++)
			met = seen[s].config == engine->first[i];
		if (met)
			continue;
		ret->what = STUDY_RUN;
		ret->config = engine->first[i];
		ret->runs = 1;
		ret->words = arena_printf(engine->arena, "first look, %d of %d", i + 1, engine->first_count);
		return 0;
	}
	enum study_what worst = STUDY_DONE;

	/* Targets take turns. */
	for (size_t n = 0; n < engine->target_count; n++) {
		size_t target = (count + n) % engine->target_count;
		int r;

		ret->what = STUDY_DONE;
		r = next_of_target(engine, target, seen, count, config, boot, ret, err);
		if (r < 0 || ret->what == STUDY_RUN)
			return r;
		if (ret->what == STUDY_SPENT)
			worst = STUDY_SPENT;
	}
	ret->what = worst;
	return 0;
}

static int runs_with(const struct study_seen *seen, size_t count, int config)
{
	int n = 0;

	for (size_t i = 0; i < count; i++)
		n += seen[i].config == config;
	return n;
}

/* The best by the model of those that were measured: nothing else is an answer. */
static int best_measured(const struct stat_standing *standings, const struct study_seen *seen, size_t count)
{
	int best = -1;

	for (size_t i = 0; i < count; i++)
		if (best < 0 || standings[seen[i].config].mean < standings[best].mean)
			best = seen[i].config;
	return best;
}

/* Which part of the rule is not met. */
static const char *say_unmet(struct study_engine *engine, const struct stat_select_rule *rule, int own, double bad)
{
	if (own < rule->least)
		return arena_printf(engine->arena, "it was run %s itself, and %d runs are needed",
				    own == 1 ? "once" : arena_printf(engine->arena, "%d times", own), rule->least);
	return bad > 1 - rule->target
		   ? arena_printf(engine->arena, "more than %.3g %% are left that it is not", 100 * (1 - rule->target))
		   : "it was stopped before its rule was met";
}

int study_answer_race(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
		      struct study_answer *ret, struct err *err)
{
	const struct stat_select_rule rule = rule_of(engine);
	struct stat_standing *standings = ARENA_ARRAY(engine->arena, engine->matrix->count, struct stat_standing);
	struct stat_ranking ranking = {.incumbent = -1};
	struct stat_choice choice = {0};
	bool few;
	int r;

	ret->unsure = study_lack(engine, seen, count, &few);
	ret->fallback = engine->halves[target];
	if (ret->fallback) {
		int lacks;

		/* How sure it is, is not known: it is never said to be. */
		(void)halve(engine, target, seen, count, -1, &ret->incumbent, &lacks);
		return 0;
	}
	r = stat_select(engine->models[target], &engine->space, &engine->costs, &rule,
			runs_of(engine, target, seen, count), (int)count, -1, -1, &choice, err);
	if (r == 0)
		r = stat_rank(engine->models[target], &engine->space, &rule, &ranking, standings, err);
	if (r < 0)
		return r;
	ret->incumbent = ranking.incumbent;
	ret->bad = choice.bad;
	ret->regret_mean = ranking.regret_mean;
	ret->regret_95 = ranking.regret_95;
	ret->standings = standings;
	if (!runs_with(seen, count, ret->incumbent)) {
		ret->incumbent = best_measured(standings, seen, count);
		ret->bad = ret->incumbent < 0 ? (double)NAN : 1 - standings[ret->incumbent].good;
		ret->regret_mean = ret->regret_95 = (double)NAN;
	}
	if (!ret->unsure && (choice.what != STAT_SELECT_DONE || ret->incumbent != ranking.incumbent))
		ret->unsure = say_unmet(engine, &rule, runs_with(seen, count, ret->incumbent), ret->bad);
	ret->sure = !ret->unsure;
	if (few)
		ret->bad = ret->regret_mean = ret->regret_95 = (double)NAN;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the decision above the designs: targets, which design, confirmation on fresh data. */
#include "study_engine.h"

#include <errno.h>
#include <math.h>

#include "stat_sequential.h"

bool study_is_sought(const struct study *study, enum study_goal goal)
{
	for (size_t i = 0; i < study->objective_count; i++)
		if (study->objectives[i].goal == goal && study->objectives[i].at_most == 0)
			return true;
	return false;
}

double study_limit(const struct study *study, enum study_goal goal)
{
	for (size_t i = 0; i < study->objective_count; i++)
		if (study->objectives[i].goal == goal)
			return study->objectives[i].at_most;
	return 0;
}

bool study_has_boots(const struct study *study)
{
	for (size_t f = 0; f < study->factor_count; f++)
		if (study->factors[f].cost == STUDY_HOST_BOOT || study->factors[f].ask_boots)
			return true;
	return false;
}

bool study_idle_only(const struct study_engine *engine)
{
	return engine->target_count == 1 && engine->targets[0].weight[STUDY_IDLE_WATTS] >= 1;
}

static void add_target(struct study_engine *engine, const char *name, enum study_goal first, enum study_goal second)
{
	struct study_target *target = &engine->targets[engine->target_count++];

	target->name = name;
	target->weight[first] += .5;
	target->weight[second] += .5;
}

/* With weights there is one answer: the weighted mean of what is sought. */
static bool find_weighted(struct study_engine *engine)
{
	const struct study *study = engine->matrix->study;
	struct study_target target = {.name = ""};
	double sum = 0;

	for (size_t i = 0; i < study->objective_count; i++)
		sum += study->objectives[i].weight;
	for (size_t i = 0; i < study->objective_count && sum > 0; i++) {
		const struct study_objective *objective = &study->objectives[i];

		if (objective->weight <= 0)
			continue;
		target.weight[objective->goal] = objective->weight / sum;
		target.name = arena_printf(engine->arena, "%s%s%s %.0f %%", target.name, *target.name ? ", " : "",
					   study_goal_name(objective->goal), 100 * objective->weight / sum);
	}
	if (sum > 0)
		engine->targets[engine->target_count++] = target;
	return sum > 0;
}

/* Time and energy both sought: the middle of them too, which is the knee of the two (methods 3.5). */
static void find_targets(struct study_engine *engine)
{
	const struct study *study = engine->matrix->study;
	bool time = study_is_sought(study, STUDY_TIME), energy = study_is_sought(study, STUDY_ENERGY);

	if (find_weighted(engine))
		return;
	if (time)
		add_target(engine, "time", STUDY_TIME, STUDY_TIME);
	if (energy)
		add_target(engine, "energy", STUDY_ENERGY, STUDY_ENERGY);
	if (time && energy)
		add_target(engine, "time and energy", STUDY_TIME, STUDY_ENERGY);
	else if (study_is_sought(study, STUDY_LOAD_WATTS))
		add_target(engine, "watts under load", STUDY_LOAD_WATTS, STUDY_LOAD_WATTS);
	/* Idle watts are of the settings alone; they are measured for the finalists (methods 3.5). */
	if (!engine->target_count)
		add_target(engine, "idle watts", STUDY_IDLE_WATTS, STUDY_IDLE_WATTS);
}

int study_engine_new(struct arena *arena, const struct study_matrix *matrix, struct study_engine **ret, struct err *err)
{
	const struct study *study = matrix->study;
	struct study_engine *engine = ARENA_NEW(arena, struct study_engine);

	engine->arena = arena;
	engine->matrix = matrix;
	engine->design = study->design;
	engine->run_minutes = 1;
	engine->out = ARENA_ARRAY(arena, matrix->count + 1, bool);
	if (engine->design == STUDY_AUTO)
		engine->design = matrix->count < STUDY_FEW_CONFIGS ? STUDY_FULL : STUDY_RACE;
	find_targets(engine);
	for (size_t i = 0; engine->design == STUDY_ONE_BY_ONE && i < study->factor_count; i++)
		if (study->factors[i].level_count != 2)
			return err_set_at(err, EINVAL, study->file, study->factors[i].line, 0,
					  "design one-by-one takes factors of two levels; \"%s\" has %zu",
					  study->factors[i].name, study->factors[i].level_count);
	if (matrix->count < 2)
		return err_set(err, EINVAL, study->file, "\"never\" leaves less than two configurations");
	if (engine->design == STUDY_RACE)
		study_race_prepare(engine);
	*ret = engine;
	return 0;
}

void study_engine_free(struct study_engine **engine)
{
	for (size_t i = 0; *engine && i < (*engine)->target_count; i++)
		stat_model_free(&(*engine)->models[i]);
	*engine = NULL;
}

enum study_design study_engine_design(const struct study_engine *engine)
{
	return engine->design;
}

size_t study_engine_targets(const struct study_engine *engine, const struct study_target **ret)
{
	*ret = engine->targets;
	return engine->target_count;
}

double study_log(const struct study_target *target, const struct study_seen *seen)
{
	double sum = 0;

	for (size_t goal = 0; goal < STUDY_GOALS; goal++)
		if (target->weight[goal] > 0)
			sum += target->weight[goal] * log(seen->value[goal]);
	return sum;
}

bool study_given_up(const struct study_seen *seen, size_t count, int config)
{
	int row = 0;

	for (size_t i = 0; i < count && row < STUDY_MOST_VOID; i++)
		if (seen[i].config == config && seen[i].purpose != STUDY_IDLE)
			row = seen[i].valid ? 0 : row + 1;
	return row >= STUDY_MOST_VOID;
}

void study_find_given_up(struct study_engine *engine, const struct study_seen *seen, size_t count)
{
	int *row = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);

	for (size_t c = 0; c < engine->matrix->count; c++)
		engine->out[c] = false;
	for (size_t i = 0; i < count; i++) {
		int config = seen[i].config;

		if (seen[i].purpose == STUDY_IDLE)
			continue;
		row[config] = seen[i].valid ? 0 : row[config] + 1;
		engine->out[config] = engine->out[config] || row[config] >= STUDY_MOST_VOID;
	}
	if (engine->design == STUDY_RACE) {
		struct study_seen *chosen;
		size_t n = study_pick_seen(engine, seen, count, STUDY_CHOOSE, &chosen);

		study_race_find_halves(engine, chosen, n);
	}
}

size_t study_pick_seen(const struct study_engine *engine, const struct study_seen *seen, size_t count,
		       enum study_purpose purpose, struct study_seen **ret)
{
	struct study_seen *picked = ARENA_ARRAY(engine->arena, count + 1, struct study_seen);
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		bool whole = seen[i].valid && seen[i].purpose == purpose && !engine->out[seen[i].config];

		for (size_t t = 0; t < engine->target_count && whole; t++)
			whole = isfinite(study_log(&engine->targets[t], &seen[i]));
		if (whole)
			picked[n++] = seen[i];
	}
	*ret = picked;
	return n;
}

/* Runs that were meant to count and have no value of a target: the meter that is sought is not there. */
static int check_values(const struct study_engine *engine, const struct study_seen *seen, size_t count, struct err *err)
{
	if (study_idle_only(engine))
		return engine->no_idle
			   ? err_set(err, ENODATA, engine->matrix->study->file,
				     "\"idle watts\" are sought, and cannot be measured here: %s", engine->no_idle)
			   : 0;
	for (size_t t = 0; t < engine->target_count; t++) {
		size_t without = 0, with = 0;

		for (size_t i = 0; i < count; i++) {
			if (!seen[i].valid || seen[i].purpose == STUDY_IDLE)
				continue;
			if (isfinite(study_log(&engine->targets[t], &seen[i])))
				with++;
			else
				without++;
		}
		if (without && !with)
			return err_set(err, ENODATA, engine->matrix->study->file, "\"%s\" is sought, and %s",
				       engine->targets[t].name,
				       engine->no_energy ? engine->no_energy : "is not measurable here");
	}
	return 0;
}

static void find_minutes(struct study_engine *engine, const struct study_seen *seen, size_t count)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (seen[i].valid && seen[i].purpose != STUDY_IDLE && seen[i].minutes > 0) {
			sum += seen[i].minutes;
			n++;
		}
	if (n)
		engine->run_minutes = sum / (double)n;
}

/* ---- confirmation ---- */

/* d = ln(incumbent / baseline) of each pair of fresh runs, in order. Returns the number of pairs. */
static int confirm_pairs(const struct study_engine *engine, size_t target, const struct study_seen *fresh, size_t count,
			 int incumbent, double *ret)
{
	int baseline = (int)engine->matrix->baseline, pairs = 0;
	size_t a = 0, b = 0;

	for (;;) {
		while (a < count && fresh[a].config != incumbent)
			a++;
		while (b < count && fresh[b].config != baseline)
			b++;
		if (a == count || b == count)
			return pairs;
		ret[pairs++] =
		    study_log(&engine->targets[target], &fresh[a++]) - study_log(&engine->targets[target], &fresh[b++]);
	}
}

static bool needs_boot(const struct study_engine *engine, int incumbent)
{
	return study_switch_cost(engine->matrix, engine->matrix->baseline, (size_t)incumbent) >= STUDY_HOST_BOOT;
}

static int confirm_plan(const struct study_engine *engine, int incumbent, struct stat_sequential *ret, struct err *err)
{
	int most = (int)study_confirm_most(engine->matrix->study);

	if (needs_boot(engine, incumbent))
		return stat_sequential_plan(STUDY_CONFIRM_BOOTS, STUDY_CONFIRM_BOOTS, engine->matrix->study->within,
					    ret, err);
	return stat_sequential_plan(STAT_BLOCKS_FIRST, most, engine->matrix->study->within, ret, err);
}

int study_confirmed(const struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
		    int incumbent, struct stat_compare *ret, struct err *err)
{
	double *d = ARENA_ARRAY(engine->arena, count + 1, double);
	struct study_seen *fresh;
	struct stat_sequential plan;
	enum stat_stop stop;
	int pairs, r;

	count = study_pick_seen(engine, seen, count, STUDY_CONFIRM, &fresh);
	pairs = confirm_pairs(engine, target, fresh, count, incumbent, d);
	r = confirm_plan(engine, incumbent, &plan, err);
	if (r < 0)
		return r;
	if (pairs < plan.first)
		return err_set(err, ENODATA, engine->matrix->study->file, "%d of %d pairs %s measured again", pairs,
			       plan.first, pairs == 1 ? "was" : "were");
	return stat_sequential_look(&plan, d, pairs, &stop, ret, err);
}

/* The winner against the baseline in pairs, until it is decided; STUDY_DONE when it is, or there is nothing to confirm.
 */
static int next_confirm(struct study_engine *engine, const struct study_seen *seen, size_t count, int incumbent,
			struct study_step *ret, struct err *err)
{
	int baseline = (int)engine->matrix->baseline, order[2], pairs, r;
	struct study_seen *fresh;
	struct stat_sequential plan;
	struct stat_compare compare;
	enum stat_stop stop = STAT_STOP_MORE;
	int last = count ? seen[count - 1].config : baseline;

	if (incumbent < 0 || incumbent == baseline)
		return 0;
	count = study_pick_seen(engine, seen, count, STUDY_CONFIRM, &fresh);
	/* Of two that are as good either may come first in another boot; the one that was begun is gone on with. */
	for (size_t i = 0; i < count; i++)
		if (fresh[i].config != baseline)
			incumbent = ret->incumbent = fresh[i].config;
	double *d = ARENA_ARRAY(engine->arena, count + 1, double);

	pairs = confirm_pairs(engine, 0, fresh, count, incumbent, d);
	r = confirm_plan(engine, incumbent, &plan, err);
	if (r == 0 && pairs >= plan.first)
		r = stat_sequential_look(&plan, d, pairs, &stop, &compare, err);
	if (r < 0 || stop != STAT_STOP_MORE)
		return r;
	stat_block_order(engine->matrix->study->seed + 1, pairs, 2, order);
	const int both[] = {incumbent, baseline};
	size_t have[2] = {0};

	for (size_t i = 0; i < count; i++)
		for (int j = 0; j < 2; j++)
			have[j] += fresh[i].config == both[j];
	/* The one that stands first in this pair, unless it is there already. */
	int first = order[0];

	/* What a person has set just now is not taken back for chance's sake. */
	if (study_switch_cost(engine->matrix, (size_t)baseline, (size_t)incumbent) >= STUDY_PERSON)
		first = study_switch_cost(engine->matrix, (size_t)last, (size_t)baseline) < STUDY_PERSON;
	if ((int)have[first] > pairs)
		first = 1 - first;
	ret->what = STUDY_RUN;
	ret->purpose = STUDY_CONFIRM;
	ret->config = both[first];
	ret->runs = 1;
	ret->words = arena_printf(engine->arena, "confirming, pair %d", pairs + 1);
	return 0;
}

/* What the design wants next. */
static int next_choice(struct study_engine *engine, const struct study_seen *seen, size_t count, int config, int boot,
		       struct study_step *step, struct err *err)
{
	struct study_seen *chosen;
	size_t n = study_pick_seen(engine, seen, count, STUDY_CHOOSE, &chosen);

	if (study_idle_only(engine))
		return 0;
	if (engine->design == STUDY_RACE)
		return study_next_race(engine, chosen, n, config, boot, step, err);
	if (engine->design == STUDY_ONE_BY_ONE)
		return study_next_levers(engine, chosen, n, step, err);
	return study_next_blocks(engine, chosen, n, step, err);
}

/* With the time over no run is begun. */
static void cut(const struct study_engine *engine, struct study_step *step)
{
	if (!engine->hurry || step->what != STUDY_RUN)
		return;
	step->what = STUDY_SPENT;
	step->cut = true;
}

int study_next(struct study_engine *engine, const struct study_seen *seen, size_t count, int config, int boot,
	       struct study_step *ret, struct err *err)
{
	struct study_step step = {.what = STUDY_DONE, .purpose = STUDY_CHOOSE, .incumbent = -1, .words = ""};
	struct study_answer answer = {.incumbent = -1};
	enum study_what what;
	int r;

	study_find_given_up(engine, seen, count);
	r = check_values(engine, seen, count, err);
	if (r < 0)
		return r;
	find_minutes(engine, seen, count);
	r = next_choice(engine, seen, count, config, boot, &step, err);
	cut(engine, &step);
	what = step.what;
	/* The watts come before the confirmation: what is confirmed has to keep the limits. */
	if (r == 0 && step.what != STUDY_RUN)
		r = study_next_idle(engine, seen, count, &step, err);
	if (r == 0 && step.what != STUDY_RUN && study_answer(engine, 0, seen, count, &answer, NULL) == 0)
		step.incumbent = answer.incumbent;
	if (r == 0 && step.what != STUDY_RUN && engine->matrix->study->confirm && !study_idle_only(engine)) {
		r = next_confirm(engine, seen, count, step.incumbent, &step, err);
		cut(engine, &step);
		if (step.what == what)
			step.purpose = STUDY_CHOOSE;
	}
	if (r == 0)
		*ret = step;
	return r;
}

int study_answer_design(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
			struct study_answer *ret, struct err *err)
{
	struct study_answer answer = {.incumbent = -1, .bad = NAN, .regret_mean = NAN, .regret_95 = NAN};
	struct study_seen *chosen;
	size_t n = study_pick_seen(engine, seen, count, STUDY_CHOOSE, &chosen);
	int r;

	if (!n)
		return err_set(err, ENODATA, engine->matrix->study->file, "nothing was measured yet");
	r = engine->design == STUDY_RACE ? study_answer_race(engine, target, chosen, n, &answer, err)
					 : study_answer_blocks(engine, target, chosen, n, &answer, err);
	if (r == 0)
		*ret = answer;
	return r;
}

/* The least of `means` among those allowed (NULL: all); -1: there is none. */
static int least_of(const struct study_engine *engine, const double *means, const bool *allowed)
{
	int best = -1;

	for (size_t c = 0; c < engine->matrix->count; c++)
		if (isfinite(means[c]) && (!allowed || allowed[c]) && (best < 0 || means[c] < means[best]))
			best = (int)c;
	return best;
}

int study_answer(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
		 struct study_answer *ret, struct err *err)
{
	struct study_answer answer = {.incumbent = -1, .bad = NAN, .regret_mean = NAN, .regret_95 = NAN};
	const bool *allowed;
	int r;

	study_find_given_up(engine, seen, count);
	if (study_idle_only(engine)) {
		answer.incumbent = least_of(engine, study_watts(engine, STUDY_IDLE_WATTS, seen, count), NULL);
		if (answer.incumbent < 0)
			return err_set(err, ENODATA, engine->matrix->study->file, "nothing was measured yet");
		answer.unsure = "idle windows are few; their odds stand at the pick";
		*ret = answer;
		return 0;
	}
	r = study_answer_design(engine, target, seen, count, &answer, err);
	if (r < 0)
		return r;
	allowed = study_allowed(engine, seen, count);
	/* The best of those that keep the limits; the design has not asked how sure that one is. */
	if (allowed && answer.incumbent >= 0 && !allowed[answer.incumbent]) {
		answer.incumbent = least_of(engine, study_means(engine, target, &answer, seen, count), allowed);
		answer.limited = true;
		answer.sure = false;
		answer.unsure = "it is the best of those that keep the limits, of which the design has not asked";
		answer.bad = answer.regret_mean = answer.regret_95 = (double)NAN;
	}
	*ret = answer;
	return 0;
}

/* ---- means and limits ---- */

double *study_means(struct study_engine *engine, size_t target, const struct study_answer *answer,
		    const struct study_seen *seen, size_t count)
{
	double *means = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, double);
	int *runs = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);
	struct study_seen *chosen;
	size_t n = study_pick_seen(engine, seen, count, STUDY_CHOOSE, &chosen);

	for (size_t i = 0; i < n; i++) {
		means[chosen[i].config] += study_log(&engine->targets[target], &chosen[i]);
		runs[chosen[i].config]++;
	}
	for (size_t c = 0; c < engine->matrix->count; c++)
		means[c] = !runs[c] ? (double)NAN : answer->standings ? answer->standings[c].mean : means[c] / runs[c];
	return means;
}

double *study_watts(struct study_engine *engine, enum study_goal goal, const struct study_seen *seen, size_t count)
{
	enum study_purpose purpose = goal == STUDY_IDLE_WATTS ? STUDY_IDLE : STUDY_CHOOSE;
	double *means = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, double);
	int *runs = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);

	for (size_t i = 0; i < count; i++)
		if (seen[i].valid && seen[i].purpose == purpose && isfinite(seen[i].value[goal])) {
			means[seen[i].config] += seen[i].value[goal];
			runs[seen[i].config]++;
		}
	for (size_t c = 0; c < engine->matrix->count; c++)
		means[c] = runs[c] ? means[c] / runs[c] : (double)NAN;
	return means;
}

bool *study_allowed(struct study_engine *engine, const struct study_seen *seen, size_t count)
{
	bool *allowed = NULL;

	for (size_t goal = 0; goal < STUDY_GOALS; goal++) {
		double most = study_limit(engine->matrix->study, (enum study_goal)goal);

		/* Without a meter a limit of idle watts restricts nothing, which is told. */
		if (most <= 0 || (goal == STUDY_IDLE_WATTS && engine->no_idle))
			continue;
		const double *watts = study_watts(engine, (enum study_goal)goal, seen, count);

		for (size_t c = 0; c < engine->matrix->count; c++) {
			if (!allowed) {
				allowed = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, bool);
				for (size_t i = 0; i < engine->matrix->count; i++)
					allowed[i] = true;
			}
			allowed[c] = allowed[c] && watts[c] <= most;
		}
	}
	return allowed;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns which configurations are picked, for what, and how sure that is. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "study_known.h"

static const char *const pick_names[STUDY_PICKS] = {[STUDY_FASTEST] = "fastest",
						    [STUDY_EFFICIENT] = "efficient",
						    [STUDY_NEAR] = "near",
						    [STUDY_KNEE] = "knee",
						    [STUDY_QUIET] = "idle"};

const char *study_pick_name(enum study_pick pick)
{
	return pick_names[pick];
}

static size_t place_of(const struct study_judging *judging, int config)
{
	for (size_t i = 0; i < judging->places.count; i++)
		if (judging->places.configs[i] == config)
			return i;
	return SIZE_MAX;
}

/* The middle of time and energy on logs, as one more thing that is known. */
static void make_middle(struct study_judging *judging, struct study_known *ret)
{
	const struct study_known *time = &judging->known[STUDY_TIME], *energy = &judging->known[STUDY_ENERGY];
	size_t n = judging->places.count;

	*ret = (struct study_known){.measured = time->measured && energy->measured,
				    .goals = {[STUDY_TIME] = true, [STUDY_ENERGY] = true}};
	if (!ret->measured)
		return;
	ret->means = ARENA_ARRAY(judging->engine->arena, n + 1, double);
	ret->draws = stat_zeroed((int)(STUDY_DRAWS * n), sizeof(double));
	for (size_t i = 0; i < n; i++)
		ret->means[i] = (time->means[i] + energy->means[i]) / 2;
	for (size_t i = 0; i < STUDY_DRAWS * n; i++)
		ret->draws[i] = (time->draws[i] + energy->draws[i]) / 2;
}

/* Those that may be picked; of a race those that were not measured are looked at as rivals all the same. */
static bool *eligible(struct study_judging *judging, const struct study_known *known, bool rivals)
{
	bool *among = ARENA_ARRAY(judging->engine->arena, judging->places.count + 1, bool);

	for (size_t i = 0; i < judging->places.count; i++) {
		const struct study_row *row = study_verdict_row(judging->verdict, judging->places.configs[i]);

		among[i] = isfinite(known->means[i]) && (row ? row->allowed && !row->given_up : rivals);
	}
	return among;
}

static bool has_limits(const struct study *study)
{
	for (size_t i = 0; i < study->objective_count; i++)
		if (study->objectives[i].at_most > 0)
			return true;
	return false;
}

/* The place with the least mean among those; -1. */
static int least_of(const double *means, const bool *among, size_t count)
{
	int best = -1;

	for (size_t i = 0; i < count; i++)
		if (among[i] && isfinite(means[i]) && (best < 0 || means[i] < means[best]))
			best = (int)i;
	return best;
}

/* Sure by odds, where nothing is lacking. */
static void find_sure(struct study_judging *judging, const char *lack, bool few, struct study_picked *ret)
{
	double most = 1 - study_model_target(judging->study);

	ret->unsure = lack;
	if (!lack && !(ret->outlook.bad <= most))
		ret->unsure =
		    arena_printf(judging->engine->arena, "more than %.3g %% are left that it is not", 100 * most);
	ret->sure = !ret->unsure;
	if (few)
		ret->outlook = (struct stat_outlook){NAN, NAN, NAN, NAN, NAN};
}

/* What the runs with these goals lack, and a race that has not met its rule; NULL: nothing. */
static const char *lack_of(struct study_judging *judging, const bool *goals, bool *ret_few)
{
	const struct study_target *targets;
	size_t count = study_engine_targets(judging->engine, &targets);
	const char *lack = NULL;

	*ret_few = false;
	for (size_t goal = 0; goal < STUDY_IDLE_WATTS; goal++)
		if (goals[goal]) {
			lack = lack ? lack : judging->lack[goal];
			*ret_few = *ret_few || judging->verdict->few[goal];
		}
	for (size_t t = 0; t < count && !lack && judging->engine->design == STUDY_RACE; t++) {
		struct study_answer answer;

		if (study_answer_design(judging->engine, t, judging->seen, judging->count, &answer, NULL) < 0)
			lack = "nothing was measured that has all that is sought";
		else if (!answer.sure)
			lack = arena_printf(judging->engine->arena, "the race for %s has not met its rule: %s",
					    targets[t].name, answer.unsure);
	}
	return lack;
}

/* A limit of idle watts bars what has no window yet. */
static const char *lack_of_idle(struct study_judging *judging)
{
	struct study_step step = {.what = STUDY_DONE};
	int r = study_next_idle(judging->engine, judging->seen, judging->count, &step, NULL);

	return r < 0 || step.what == STUDY_RUN ? "not all idle windows were measured" : NULL;
}

static void look_out(struct study_judging *judging, const struct study_known *known, const bool *among, int place,
		     struct study_picked *ret)
{
	bool few;
	const char *lack = lack_of(judging, known->goals, &few);

	if (!lack && study_limit(judging->study, STUDY_IDLE_WATTS) > 0)
		lack = lack_of_idle(judging);
	stat_outlook(known->draws, STUDY_DRAWS, (int)judging->places.count, known->means, among, place,
		     judging->study->within, &ret->outlook);
	ret->config = judging->places.configs[place];
	find_sure(judging, lack, few, ret);
}

static void choose(struct study_judging *judging, const struct study_known *known, const bool *among,
		   const bool *rivals, const char *missing, struct study_picked *ret)
{
	int best;

	*ret = (struct study_picked){.config = -1, .why = missing};
	if (!known->measured)
		return;
	best = least_of(known->means, among, judging->places.measured);
	ret->why = best < 0 ? "none of those measured keeps the limits" : NULL;
	if (best >= 0)
		look_out(judging, known, rivals, best, ret);
}

/* Where the study itself ran until it knew, its own word stands, as long as no limit takes part in it. */
static void take_word(struct study_judging *judging, const char *name, const struct study_known *known,
		      const bool *rivals, struct study_picked *pick)
{
	const struct study_target *targets;
	size_t count = study_engine_targets(judging->engine, &targets);
	struct study_answer answer;

	for (size_t t = 0; t < count; t++) {
		if (strcmp(targets[t].name, name) != 0)
			continue;
		pick->sought = true;
		if (pick->config < 0 ||
		    study_answer(judging->engine, t, judging->seen, judging->count, &answer, NULL) < 0 ||
		    answer.incumbent < 0)
			return;
		const struct study_row *row = study_verdict_row(judging->verdict, answer.incumbent);
		size_t place = place_of(judging, answer.incumbent);

		/* One study, one best: what is told of the target is what is picked for it. */
		if (!row || !row->allowed || place == SIZE_MAX)
			return;
		look_out(judging, known, rivals, (int)place, pick);
		if (has_limits(judging->study))
			return;
		pick->sure = answer.sure;
		pick->unsure = answer.unsure;
		if (isfinite(answer.bad))
			pick->outlook.bad = answer.bad;
		if (isfinite(answer.bad) && isfinite(answer.regret_mean)) {
			pick->outlook.regret_mean = answer.regret_mean;
			pick->outlook.regret_95 = answer.regret_95;
			pick->outlook.gain = MIN_OF(pick->outlook.gain, answer.regret_mean);
		}
	}
}

/* ln of time over that of the fastest, of those that may be picked for their energy; INFINITY: of others. */
static double *find_behind(struct study_judging *judging)
{
	const struct study_known *time = &judging->known[STUDY_TIME];
	const bool *among = eligible(judging, &judging->known[STUDY_ENERGY], false);
	double fastest = time->means[place_of(judging, judging->verdict->picks[STUDY_FASTEST].config)];
	double *behind = ARENA_ARRAY(judging->engine->arena, judging->places.count + 1, double);

	for (size_t i = 0; i < judging->places.count; i++)
		behind[i] = among[i] && isfinite(time->means[i]) ? MAX_OF(time->means[i] - fastest, 0) : INFINITY;
	return behind;
}

/* The least energy of those that are at most so much behind. */
static void pick_near(struct study_judging *judging, const double *behind, double most, struct study_picked *ret)
{
	bool *near = ARENA_ARRAY(judging->engine->arena, judging->places.count + 1, bool);

	for (size_t i = 0; i < judging->places.count; i++)
		near[i] = behind[i] <= most;
	choose(judging, &judging->known[STUDY_ENERGY], near, near, STUDY_NO_ENERGY, ret);
}

/* The place that is the next to take less energy than all that are no more behind; -1: none. */
static int next_near(const struct study_judging *judging, const double *behind, double after, double least)
{
	const double *energy = judging->known[STUDY_ENERGY].means;
	int next = -1;

	for (size_t i = 0; i < judging->places.count; i++)
		if (behind[i] >= after && isfinite(behind[i]) && energy[i] < least &&
		    (next < 0 || behind[i] < behind[next] || (behind[i] == behind[next] && energy[i] < energy[next])))
			next = (int)i;
	return next;
}

/* By every share at once: from one that takes less energy to the next. */
static void find_nears(struct study_judging *judging, const double *behind)
{
	struct study_verdict *verdict = judging->verdict;
	const double *energy = judging->known[STUDY_ENERGY].means;
	int at = next_near(judging, behind, 0, INFINITY);

	verdict->nears = ARENA_ARRAY(judging->engine->arena, judging->places.count + 1, struct study_near);
	while (at >= 0) {
		int next = next_near(judging, behind, behind[at], energy[at]);
		struct study_near *near = &verdict->nears[verdict->near_count++];

		near->slower = expm1(behind[at]);
		pick_near(judging, behind, next < 0 ? DBL_MAX : nextafter(behind[next], 0), &near->pick);
		at = next;
	}
}

static void pick_runs(struct study_judging *judging)
{
	struct study_known *time = &judging->known[STUDY_TIME], *energy = &judging->known[STUDY_ENERGY];
	struct study_picked *picks = judging->verdict->picks;
	struct study_known middle[STUDY_GOALS] = {{0}};

	if (time->measured) {
		const bool *rivals = eligible(judging, time, true);

		choose(judging, time, eligible(judging, time, false), rivals, NULL, &picks[STUDY_FASTEST]);
		take_word(judging, "time", time, rivals, &picks[STUDY_FASTEST]);
	}
	if (!energy->measured)
		return;
	const bool *among = eligible(judging, energy, false), *rivals = eligible(judging, energy, true);

	choose(judging, energy, among, rivals, STUDY_NO_ENERGY, &picks[STUDY_EFFICIENT]);
	take_word(judging, "energy", energy, rivals, &picks[STUDY_EFFICIENT]);
	if (!time->measured || picks[STUDY_FASTEST].config < 0)
		return;
	const double *behind = find_behind(judging);

	pick_near(judging, behind, log1p(judging->verdict->slower), &picks[STUDY_NEAR]);
	find_nears(judging, behind);
	make_middle(judging, middle);
	choose(judging, middle, eligible(judging, middle, false), eligible(judging, middle, true), STUDY_NO_ENERGY,
	       &picks[STUDY_KNEE]);
	take_word(judging, "time and energy", middle, eligible(judging, middle, true), &picks[STUDY_KNEE]);
	base_free(&middle->draws);
}

static void pick_quiet(struct study_judging *judging)
{
	struct study_verdict *verdict = judging->verdict;
	struct study_picked *pick = &verdict->picks[STUDY_QUIET];
	size_t n = verdict->idle_count;
	double *means = ARENA_ARRAY(judging->engine->arena, n + 1, double);
	bool *among = ARENA_ARRAY(judging->engine->arena, n + 1, bool);
	CLEANUP(base_free) double *draws = NULL;
	int best;

	pick->sought = study_is_sought(judging->study, STUDY_IDLE_WATTS);
	pick->why = verdict->idle_why ? verdict->idle_why
		    : pick->sought || study_limit(judging->study, STUDY_IDLE_WATTS) > 0
			? "no idle window was measured"
			: "idle watts were not asked for (objectives: [time, idle-watts])";
	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		means[i] = judging->idle_cells[i].mean;
		among[i] = study_verdict_row(verdict, verdict->idles[i].config)->allowed;
	}
	best = least_of(means, among, n);
	pick->why = best < 0 ? "none of those measured keeps the limits" : NULL;
	if (best < 0)
		return;
	draws = stat_zeroed((int)(STUDY_DRAWS * n), sizeof(double));
	stat_cell_draw(judging->idle_cells, (int)n, STUDY_DRAWS, judging->study->seed + 5, draws);
	stat_outlook(draws, STUDY_DRAWS, (int)n, means, among, best, judging->study->within, &pick->outlook);
	pick->config = verdict->idles[best].config;
	find_sure(judging, n < 2 ? "no other has an idle window" : lack_of_idle(judging), n < 2, pick);
}

void study_pick(struct study_judging *judging)
{
	pick_runs(judging);
	pick_quiet(judging);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns which idle windows a study wants: of the baseline and the finalists, once the question of time and energy is
 * decided (methods 3.5). Each finalist stands between two windows of the baseline, so that drift is seen, and the trace
 * that a level leaves behind: idle watts before it was entered, and after it was left without a boot.
 */
#include <errno.h>
#include <math.h>

#include "study_engine.h"
#include "text.h"

bool study_leaves_traces(const struct study *study)
{
	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			for (size_t i = 0; i < study->factors[f].levels[l].ask_count; i++)
				if (text_equal(study->factors[f].levels[l].asks[i].name, "tuned.profile"))
					return true;
	return false;
}

bool study_boot_is_fresh(const struct study_seen *seen, size_t count, int boot)
{
	for (size_t i = 0; i < count; i++)
		if (seen[i].boot == boot)
			return false;
	return true;
}

void study_engine_no_idle(struct study_engine *engine, const char *why)
{
	engine->no_idle = why;
}

void study_engine_no_energy(struct study_engine *engine, const char *why)
{
	engine->no_energy = why;
}

void study_engine_hurry(struct study_engine *engine)
{
	engine->hurry = true;
}

static bool is_wanted(const struct study_engine *engine)
{
	const struct study *study = engine->matrix->study;

	return study_is_sought(study, STUDY_IDLE_WATTS) || study_limit(study, STUDY_IDLE_WATTS) > 0;
}

struct study_window {
	int config;
	bool own_boot;
	int leaving; /* the configuration whose trace it shows, as the baseline right after it; -1 */
};

/* ---- the finalists ---- */

struct finalists {
	const struct study_engine *engine;
	int *configs;
	size_t count, most;
};

static void add(struct finalists *finalists, int config)
{
	if (config < 0 || config == (int)finalists->engine->matrix->baseline || finalists->engine->out[config] ||
	    finalists->count >= finalists->most)
		return;
	for (size_t i = 0; i < finalists->count; i++)
		if (finalists->configs[i] == config)
			return;
	finalists->configs[finalists->count++] = config;
}

static bool one_keeps(const struct finalists *finalists, double most, const double *watts)
{
	if (watts[finalists->engine->matrix->baseline] <= most)
		return true;
	for (size_t i = 0; i < finalists->count; i++)
		if (watts[finalists->configs[i]] <= most)
			return true;
	return false;
}

static bool all_known(const struct finalists *finalists, const double *watts)
{
	if (isnan(watts[finalists->engine->matrix->baseline]))
		return false;
	for (size_t i = 0; i < finalists->count; i++)
		if (isnan(watts[finalists->configs[i]]))
			return false;
	return true;
}

/* The one of the least mean above `above`; -1: there is none. */
static int next_by_mean(const struct study_engine *engine, const double *means, double above, int after)
{
	int best = -1;

	for (size_t c = 0; c < engine->matrix->count; c++) {
		bool behind = means[c] > above || (means[c] == above && (int)c > after);

		if (isfinite(means[c]) && behind && (best < 0 || means[c] < means[best]))
			best = (int)c;
	}
	return best;
}

/* Those that are as good as the best when low idle watts are a wish; when they are a limit, on until one keeps it. */
static void add_by_mean(struct study_engine *engine, const struct study_seen *seen, size_t count,
			struct finalists *finalists)
{
	const struct study *study = engine->matrix->study;
	double limit = study_limit(study, STUDY_IDLE_WATTS);
	const double *watts = study_watts(engine, STUDY_IDLE_WATTS, seen, count);
	struct study_answer answer;

	if (study_answer_design(engine, 0, seen, count, &answer, NULL) < 0)
		return;
	const double *means = study_means(engine, 0, &answer, seen, count);
	double best = answer.incumbent >= 0 ? means[answer.incumbent] : (double)NAN;
	int at = -1;

	for (;;) {
		at = next_by_mean(engine, means, at < 0 ? -INFINITY : means[at], at);
		if (at < 0)
			return;
		bool as_good = study_is_sought(study, STUDY_IDLE_WATTS) && means[at] <= best + log1p(study->within);
		bool searched = limit > 0 && all_known(finalists, watts) && !one_keeps(finalists, limit, watts);

		if (as_good || searched)
			add(finalists, at);
	}
}

/* A person is asked as seldom as can be: first those that need nothing of him, then one of his levels after another. */
static void sort_for_person(const struct study_matrix *matrix, int *configs, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t at = i; at; at--) {
			int a = configs[at - 1], b = configs[at];
			bool asks_a = study_switch_cost(matrix, matrix->baseline, (size_t)a) >= STUDY_PERSON;
			bool asks_b = study_switch_cost(matrix, matrix->baseline, (size_t)b) >= STUDY_PERSON;

			if (asks_a < asks_b || (asks_a == asks_b && (!asks_a || a < b)))
				break;
			configs[at - 1] = b;
			configs[at] = a;
		}
}

static size_t find_finalists(struct study_engine *engine, const struct study_seen *seen, size_t count, int *ret)
{
	struct finalists finalists = {.engine = engine, .configs = ret, .most = STUDY_MOST_FINALISTS};

	if (study_idle_only(engine)) {
		int *all = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);

		finalists.most = engine->matrix->count;
		for (size_t c = 0; c < engine->matrix->count; c++)
			all[c] = (int)c;
		study_block_order(engine->matrix, engine->matrix->study->seed, 0, all, engine->matrix->count);
		for (size_t c = 0; c < engine->matrix->count; c++)
			add(&finalists, all[c]);
		return finalists.count;
	}
	for (size_t t = 0; t < engine->target_count; t++) {
		struct study_answer answer;

		if (study_answer_design(engine, t, seen, count, &answer, NULL) == 0)
			add(&finalists, answer.incumbent);
	}
	add_by_mean(engine, seen, count, &finalists);
	sort_for_person(engine->matrix, ret, finalists.count);
	return finalists.count;
}

/* ---- the windows ---- */

size_t study_idle_windows(const struct study_engine *engine, const struct study_seen *seen, size_t count, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (seen[i].purpose == STUDY_IDLE && seen[i].valid && seen[i].config < (int)engine->matrix->count)
			ret[n++] = i;
	return n;
}

/* A window of the configuration; of the baseline after another one the window that came next to it. */
static bool is_measured(const struct study_window *window, const struct study_seen *seen, const size_t *windows,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (seen[windows[i]].config == window->config &&
		    (window->leaving < 0 || (i && seen[windows[i - 1]].config == window->leaving)))
			return true;
	return false;
}

/* The first window that is wanted and was not measured; false: there is none. Numbers count from 1. */
static bool find_next(struct study_engine *engine, const struct study_seen *seen, size_t count,
		      struct study_window *ret, size_t *ret_number, size_t *ret_wanted)
{
	int *finalists = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);
	size_t *measured = ARENA_ARRAY(engine->arena, count + 1, size_t);
	struct study_window *wanted;
	int baseline = (int)engine->matrix->baseline;
	bool own = study_has_boots(engine->matrix->study) && study_leaves_traces(engine->matrix->study);
	size_t finalist_count = find_finalists(engine, seen, count, finalists), n = 0;
	size_t measured_count = study_idle_windows(engine, seen, count, measured);

	/* The baseline, and two windows a finalist. */
	wanted = ARENA_ARRAY(engine->arena, 2 * finalist_count + 1, struct study_window);
	wanted[n++] = (struct study_window){baseline, own, -1};
	for (size_t i = 0; i < finalist_count; i++) {
		wanted[n++] = (struct study_window){finalists[i], own, -1};
		/* Behind a boot there is no trace to see. */
		if (study_switch_cost(engine->matrix, (size_t)finalists[i], (size_t)baseline) < STUDY_HOST_BOOT)
			wanted[n++] = (struct study_window){baseline, false, finalists[i]};
	}
	for (size_t i = 0; i < n; i++) {
		if (is_measured(&wanted[i], seen, measured, measured_count))
			continue;
		*ret = wanted[i];
		*ret_number = i + 1;
		*ret_wanted = n;
		return true;
	}
	return false;
}

/* The last windows were all void: they are not had here. */
static bool is_hopeless(const struct study_seen *seen, size_t count)
{
	int row = 0;

	for (size_t i = 0; i < count; i++)
		if (seen[i].purpose == STUDY_IDLE)
			row = seen[i].valid ? 0 : row + 1;
	return row >= STUDY_MOST_VOID;
}

double study_idle_seconds(struct study_engine *engine, const struct study_seen *seen, size_t count)
{
	/* Who the finalists are is not known before; of three targets and the baseline there are this many windows. */
	enum { USUAL_WINDOWS = 2 * STUDY_MOST_TARGETS + 1 };
	const struct study *study = engine->matrix->study;
	size_t windows = study_idle_only(engine) ? 2 * engine->matrix->count + 1 : (size_t)USUAL_WINDOWS, done = 0;

	if (!is_wanted(engine) || engine->no_idle || is_hopeless(seen, count))
		return 0;
	for (size_t i = 0; i < count; i++)
		done += seen[i].purpose == STUDY_IDLE && seen[i].valid;
	return done < windows ? (double)(windows - done) * (study->idle_settle_s + study->idle_window_s) : 0;
}

int study_next_idle(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_step *ret,
		    struct err *err)
{
	struct study_window window;
	size_t number, wanted;

	if (!is_wanted(engine) || engine->no_idle)
		return 0;
	if (is_hopeless(seen, count))
		return study_idle_only(engine)
			   ? err_set(err, ENODATA, engine->matrix->study->file,
				     "%d idle windows in a row were void, and nothing else is sought", STUDY_MOST_VOID)
			   : 0;
	if (!find_next(engine, seen, count, &window, &number, &wanted))
		return 0;
	ret->what = STUDY_RUN;
	ret->purpose = STUDY_IDLE;
	ret->config = window.config;
	ret->own_boot = window.own_boot;
	ret->runs = 1;
	ret->words = arena_printf(engine->arena, "idle window %zu of %zu%s", number, wanted,
				  window.leaving < 0 ? "" : ", what the last one left behind");
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the runs of a study tell of each configuration: means on logs, and draws of what they may truly be. In a
 * race they are the model's; else they are those of the runs, freed of what all runs of a block have in common.
 */
#include "study_known.h"

#include <errno.h>
#include <math.h>

/* Of a race: so many configurations that were not measured, the most likely to be better, are looked at too. */
enum { MOST_RIVALS = 128, FIT_SWEEPS = 3 };
#define FIT_STEP 3.
/* Interactions larger than fitted must not fool a decision (methods 3.4). */
#define WIDEN 3.

void study_known_clear(struct study_known *known)
{
	for (size_t goal = 0; goal < STUDY_GOALS; goal++) {
		base_free(&known[goal].draws);
		stat_model_free(&known[goal].model);
	}
}

/* The level that varies beside the runs themselves: a boot of the host, else a start of a VM. */
static enum study_cost unit_cost(const struct study *study)
{
	enum study_cost dearest = STUDY_LIVE;

	for (size_t f = 0; f < study->factor_count; f++)
		dearest = MAX_OF(dearest, study->factors[f].cost);
	return dearest;
}

/* Was a VM started, or the host booted, between two runs that follow each other? */
static bool is_started_anew(const struct study_matrix *matrix, const struct study_seen *before,
			    const struct study_seen *now)
{
	return before->boot != now->boot ||
	       study_switch_cost(matrix, (size_t)before->config, (size_t)now->config) >= STUDY_VM_RESTART;
}

size_t study_runs_with(const struct study_engine *engine, const struct study_seen *seen, size_t count,
		       enum study_goal goal, struct study_seen **ret)
{
	struct study_seen *picked = ARENA_ARRAY(engine->arena, count + 1, struct study_seen);
	enum study_cost cost = unit_cost(engine->matrix->study);
	int starts = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		starts += i && is_started_anew(engine->matrix, &seen[i - 1], &seen[i]);
		if (!seen[i].valid || seen[i].purpose != STUDY_CHOOSE || engine->out[seen[i].config] ||
		    !isfinite(seen[i].value[goal]) || seen[i].value[goal] <= 0)
			continue;
		picked[n] = seen[i];
		picked[n++].unit = cost >= STUDY_HOST_BOOT ? seen[i].boot : cost >= STUDY_VM_RESTART ? starts : (int)i;
	}
	*ret = picked;
	return n;
}

/* ---- by a model ---- */

static bool has_model(const struct study_engine *engine)
{
	bool given_up = false;

	for (size_t t = 0; t < engine->target_count; t++)
		given_up = given_up || engine->halves[t];
	return engine->design == STUDY_RACE && !given_up;
}

static int fit(struct study_engine *engine, const struct study_seen *runs, size_t count, enum study_goal goal,
	       struct study_known *known, struct err *err)
{
	struct stat_run *logs = ARENA_ARRAY(engine->arena, count, struct stat_run);
	int r;

	for (size_t i = 0; i < count; i++)
		logs[i] = (struct stat_run){runs[i].config, runs[i].boot, log(runs[i].value[goal])};
	known->model = stat_model_new(&engine->space);
	r = stat_model_runs(known->model, logs, (int)count, err);
	if (r < 0)
		return r;
	stat_model_fit(known->model, FIT_SWEEPS, FIT_STEP);
	return stat_model_solve(known->model, WIDEN, err);
}

struct rival {
	int config;
	double z;
};

static int by_z(const void *a, const void *b)
{
	const struct rival *x = a, *y = b;

	return x->z < y->z ? -1 : x->z > y->z;
}

static void add_rivals(const struct study_engine *engine, const struct stat_model *model, const bool *there,
		       struct study_places *places)
{
	struct rival *rivals = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, struct rival);
	double best = INFINITY;
	size_t count = 0;

	for (size_t c = 0; c < engine->matrix->count; c++)
		best = MIN_OF(best, stat_model_mean(model, (int)c));
	for (size_t c = 0; c < engine->matrix->count; c++)
		if (!there[c] && !engine->out[c])
			rivals[count++] =
			    (struct rival){(int)c, (stat_model_mean(model, (int)c) - best) /
						       sqrt(MAX_OF(stat_model_variance(model, (int)c), 1e-12))};
	if (count)
		qsort(rivals, count, sizeof(*rivals), by_z);
	for (size_t i = 0; i < count && i < MOST_RIVALS; i++)
		places->configs[places->count++] = rivals[i].config;
}

static void draw_model(const struct study_places *places, uint64_t seed, struct study_known *known)
{
	stat_model_draw(known->model, places->configs, (int)places->count, STUDY_DRAWS, seed, known->draws);
	for (size_t i = 0; i < places->count; i++)
		known->means[i] = stat_model_mean(known->model, places->configs[i]);
}

/* ---- by the runs themselves ---- */

/* Takes what all runs of a block have in common out of the logs: logs[i] is of runs[i]. The number of whole blocks. */
static int centre(struct study_engine *engine, const struct study_seen *runs, size_t count, double *logs)
{
	int *configs = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);
	int *block = ARENA_ARRAY(engine->arena, count + 1, int), *made;
	size_t config_count;
	int blocks;

	if (engine->design == STUDY_RACE)
		return 0;
	config_count = study_design_configs(engine, configs);
	blocks = study_whole_blocks(engine, configs, config_count, runs, count);
	if (blocks < 1 || config_count < 2)
		return 0;
	double *effects = ARENA_ARRAY(engine->arena, (size_t)blocks, double);
	double *means = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, double);

	made = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);
	for (size_t i = 0; i < count; i++) {
		block[i] = made[runs[i].config]++;
		if (block[i] < blocks)
			means[runs[i].config] += logs[i] / blocks;
	}
	for (size_t i = 0; i < count; i++)
		if (block[i] < blocks)
			effects[block[i]] += (logs[i] - means[runs[i].config]) / (double)config_count;
	for (size_t i = 0; i < count; i++)
		logs[i] = block[i] < blocks ? logs[i] - effects[block[i]] : (double)NAN;
	return blocks;
}

/* Runs of one boot, or VM start, are one value where these may differ: claims need them (methods, decision 6). */
static struct stat_cell cell_of(struct study_engine *engine, const struct study_seen *runs, size_t count,
				const double *logs, int config)
{
	double *values = ARENA_ARRAY(engine->arena, count + 1, double);
	int *units = ARENA_ARRAY(engine->arena, count + 1, int), *sizes = ARENA_ARRAY(engine->arena, count + 1, int);
	int n = 0;

	for (size_t i = 0; i < count; i++) {
		int at = n;

		if (runs[i].config != config || isnan(logs[i]))
			continue;
		for (int b = 0; b < n; b++)
			if (units[b] == runs[i].unit)
				at = b;
		if (at == n) {
			units[n] = runs[i].unit;
			values[n++] = 0;
		}
		values[at] += logs[i];
		sizes[at]++;
	}
	for (int b = 0; b < n; b++)
		values[b] /= sizes[b];
	return stat_cell(values, n);
}

static void draw_cells(struct study_engine *engine, const struct study_seen *runs, size_t count, enum study_goal goal,
		       const struct study_places *places, uint64_t seed, struct study_known *known)
{
	double *logs = ARENA_ARRAY(engine->arena, count + 1, double), lost;
	size_t cells = 0;

	for (size_t i = 0; i < count; i++)
		logs[i] = log(runs[i].value[goal]);
	known->blocks = centre(engine, runs, count, logs);
	known->cells = ARENA_ARRAY(engine->arena, places->count + 1, struct stat_cell);
	for (size_t i = 0; i < places->count; i++) {
		known->cells[i] = cell_of(engine, runs, count, logs, places->configs[i]);
		cells += known->cells[i].n > 0;
		known->cells_df += MAX_OF(known->cells[i].n - 1, 0);
	}
	/* The effects of the blocks took their share of the spread and of its degrees of freedom. */
	lost = known->blocks > 1 && cells > 1 ? (double)cells / (double)(cells - 1) : 1;
	known->cells_df /= lost;
	for (size_t i = 0; i < places->count; i++) {
		known->cells[i].sd *= sqrt(lost);
		known->means[i] = known->cells[i].n ? known->cells[i].mean : (double)NAN;
	}
	stat_cell_draw(known->cells, (int)places->count, STUDY_DRAWS, seed, known->draws);
}

/* ---- both ---- */

int study_know(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_places *places,
	       struct study_known *ret, struct err *err)
{
	bool *there = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, bool);
	struct study_seen *runs[STUDY_GOALS];
	size_t counts[STUDY_GOALS] = {0};
	const struct stat_model *model = NULL;
	int r = 0;

	places->configs = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int);
	for (size_t goal = 0; goal < STUDY_IDLE_WATTS; goal++) {
		counts[goal] = study_runs_with(engine, seen, count, (enum study_goal)goal, &runs[goal]);
		ret[goal].measured = counts[goal] > 0;
		ret[goal].goals[goal] = true;
		for (size_t i = 0; i < counts[goal]; i++)
			if (!there[runs[goal][i].config]) {
				there[runs[goal][i].config] = true;
				places->configs[places->count++] = runs[goal][i].config;
			}
		if (counts[goal] && has_model(engine)) {
			r = fit(engine, runs[goal], counts[goal], (enum study_goal)goal, &ret[goal], err);
			model = model ? model : ret[goal].model;
		}
		if (r < 0)
			return r;
	}
	places->measured = places->count;
	if (model)
		add_rivals(engine, model, there, places);
	for (size_t goal = 0; goal < STUDY_IDLE_WATTS; goal++) {
		struct study_known *known = &ret[goal];
		uint64_t seed = engine->matrix->study->seed + goal;

		if (!known->measured)
			continue;
		known->means = ARENA_ARRAY(engine->arena, places->count + 1, double);
		known->draws = stat_zeroed((int)(STUDY_DRAWS * places->count), sizeof(double));
		if (known->model)
			draw_model(places, seed, known);
		else
			draw_cells(engine, runs[goal], counts[goal], (enum study_goal)goal, places, seed, known);
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a study answers: rows, picks, and how sure they are. */
#include "study_verdict.h"

#include <errno.h>
#include <math.h>

#include "stat_many.h"
#include "study_known.h"

#define USUALLY_SLOWER .05
/* A normal posterior holds this many deviations with 95 %. */
#define NORMAL_95 1.959963985

static const struct stat_interval unknown = {NAN, NAN, NAN};

static void clear(struct study_judging *judging)
{
	study_known_clear(judging->known);
}

const struct study_row *study_verdict_row(const struct study_verdict *verdict, int config)
{
	for (size_t i = 0; i < verdict->row_count; i++)
		if (verdict->rows[i].config == config)
			return &verdict->rows[i];
	return NULL;
}

static struct study_row *row_of(struct study_judging *judging, int config)
{
	struct study_verdict *verdict = judging->verdict;

	for (size_t i = 0; i < verdict->row_count; i++)
		if (verdict->rows[i].config == config)
			return &verdict->rows[i];
	struct study_row *row = &verdict->rows[verdict->row_count++];

	*row = (struct study_row){.config = config, .dominated = NAN, .allowed = true};
	for (size_t goal = 0; goal < STUDY_GOALS; goal++) {
		row->value[goal] = row->ratio[goal] = unknown;
		row->good[goal] = (double)NAN;
	}
	return row;
}

/* ---- values ---- */

static void count_runs(struct study_judging *judging)
{
	int *boots = ARENA_ARRAY(judging->engine->arena, judging->count + 1, int);

	for (size_t i = 0; i < judging->count; i++) {
		const struct study_seen *seen = &judging->seen[i];

		judging->verdict->voids += !seen->valid;
		if (seen->purpose != STUDY_CHOOSE)
			continue;
		struct study_row *row = row_of(judging, seen->config);

		row->runs += seen->valid;
		row->voids += !seen->valid;
		row->given_up = judging->engine->out[seen->config];
		if (seen->valid)
			judging->verdict->minutes += seen->minutes;
	}
	for (size_t r = 0; r < judging->verdict->row_count; r++) {
		struct study_row *row = &judging->verdict->rows[r];
		int met = 0;

		for (size_t i = 0; i < judging->count; i++) {
			const struct study_seen *seen = &judging->seen[i];
			bool known = seen->purpose != STUDY_CHOOSE || !seen->valid || seen->config != row->config;

			for (int b = 0; b < met && !known; b++)
				known = boots[b] == seen->boot;
			if (!known)
				boots[met++] = seen->boot;
		}
		row->boots = met;
	}
}

/* A configuration by its own runs: of boots or VM starts, where these may differ, or of runs. */
static struct stat_interval own_interval(struct study_judging *judging, int config, enum study_goal goal)
{
	struct arena *arena = judging->engine->arena;
	double *values = ARENA_ARRAY(arena, judging->count + 1, double);
	double *sums = ARENA_ARRAY(arena, judging->count + 1, double);
	int *units = ARENA_ARRAY(arena, judging->count + 1, int), *sizes = ARENA_ARRAY(arena, judging->count + 1, int);
	struct study_seen *runs;
	size_t count = study_runs_with(judging->engine, judging->seen, judging->count, goal, &runs);
	int n = 0;

	for (size_t i = 0; i < count; i++) {
		int at = n;

		if (runs[i].config != config)
			continue;
		for (int b = 0; b < n; b++)
			if (units[b] == runs[i].unit)
				at = b;
		n += at == n;
		units[at] = runs[i].unit;
		sums[at] += log(runs[i].value[goal]);
		sizes[at]++;
	}
	for (int b = 0; b < n; b++)
		values[b] = sums[b] / sizes[b];
	return n ? stat_exp(stat_t_interval(values, n, STAT_ALPHA)) : unknown;
}

static struct stat_interval model_interval(const struct stat_model *model, int config)
{
	double mean = stat_model_mean(model, config), half = NORMAL_95 * sqrt(stat_model_variance(model, config));

	return stat_exp((struct stat_interval){mean, mean - half, mean + half});
}

static struct stat_interval model_ratio(const struct stat_model *model, int config, int baseline)
{
	double mean = stat_model_mean(model, config) - stat_model_mean(model, baseline);
	double variance = stat_model_variance(model, config) + stat_model_variance(model, baseline) -
			  2 * stat_model_covariance(model, config, baseline);
	double half = NORMAL_95 * sqrt(MAX_OF(variance, 0.));

	return stat_exp((struct stat_interval){mean, mean - half, mean + half});
}

/* Ratios of whole blocks, which hold all together: the logs as stat_many() takes them, the baseline first. */
static void block_ratios(struct study_judging *judging, enum study_goal goal)
{
	struct study_engine *engine = judging->engine;
	int *configs = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, int),
	    baseline = (int)engine->matrix->baseline;
	size_t config_count = study_design_configs(engine, configs), place = 1;
	struct study_seen *runs;
	size_t count = study_runs_with(engine, judging->seen, judging->count, goal, &runs);
	int blocks = study_whole_blocks(engine, configs, config_count, runs, count);
	struct stat_many_row *found = ARENA_ARRAY(engine->arena, config_count + 1, struct stat_many_row);
	double *logs = ARENA_ARRAY(engine->arena, config_count * (size_t)MAX_OF(blocks, 1) + 1, double);
	bool has_baseline = false;
	struct stat_many many;

	for (size_t i = 0; i < config_count; i++) {
		size_t at = configs[i] == baseline ? 0 : place++;
		int block = 0;

		has_baseline = has_baseline || configs[i] == baseline;
		for (size_t s = 0; s < count && block < blocks && at < config_count; s++)
			if (runs[s].config == configs[i])
				logs[at * (size_t)blocks + (size_t)block++] = log(runs[s].value[goal]);
	}
	if (!has_baseline || config_count < 2 || blocks < 2 ||
	    stat_many(logs, (int)config_count, blocks, STAT_ALPHA, judging->study->within, &many, found, NULL) < 0)
		return;
	place = 0;
	for (size_t i = 0; i < config_count; i++)
		if (configs[i] != baseline)
			row_of(judging, configs[i])->ratio[goal] = found[place++].ratio;
}

/* P(within the margin of the best) of each row. */
static void find_good(struct study_judging *judging, enum study_goal goal)
{
	const struct study_known *known = &judging->known[goal];
	size_t n = judging->places.count;
	double margin = log1p(judging->study->within);
	double *good = ARENA_ARRAY(judging->engine->arena, n + 1, double);

	for (size_t d = 0; d < STUDY_DRAWS; d++) {
		const double *draw = known->draws + d * n;
		double least = INFINITY;

		for (size_t i = 0; i < n; i++)
			least = draw[i] < least ? draw[i] : least;
		for (size_t i = 0; i < n; i++)
			good[i] += draw[i] <= least + margin ? 1. / STUDY_DRAWS : 0;
	}
	for (size_t i = 0; i < judging->places.measured && !judging->verdict->few[goal]; i++)
		if (isfinite(known->means[i]))
			row_of(judging, judging->places.configs[i])->good[goal] = good[i];
}

static void find_values(struct study_judging *judging, enum study_goal goal)
{
	const struct study_known *known = &judging->known[goal];
	int baseline = (int)judging->engine->matrix->baseline;

	judging->verdict->measured[goal] = known->measured;
	if (!known->measured)
		return;
	for (size_t i = 0; i < judging->places.measured; i++) {
		int config = judging->places.configs[i];
		struct study_row *row = row_of(judging, config);

		if (isnan(known->means[i]))
			continue;
		row->value[goal] =
		    known->model ? model_interval(known->model, config) : own_interval(judging, config, goal);
		if (known->model && config != baseline)
			row->ratio[goal] = model_ratio(known->model, config, baseline);
	}
	if (!known->model)
		block_ratios(judging, goal);
	find_good(judging, goal);
}

/* ---- the front ---- */

static void find_front(struct study_judging *judging)
{
	const struct study_known *time = &judging->known[STUDY_TIME], *energy = &judging->known[STUDY_ENERGY];
	size_t n = 0, all = judging->places.count;
	size_t *places = ARENA_ARRAY(judging->engine->arena, all + 1, size_t);
	double *dominated = ARENA_ARRAY(judging->engine->arena, all + 1, double);
	CLEANUP(base_free) double *first = NULL, *second = NULL;

	if (!time->measured || !energy->measured)
		return;
	for (size_t i = 0; i < judging->places.measured; i++)
		if (isfinite(time->means[i]) && isfinite(energy->means[i]))
			places[n++] = i;
	if (!n)
		return;
	first = stat_zeroed((int)(STUDY_DRAWS * n), sizeof(double));
	second = stat_zeroed((int)(STUDY_DRAWS * n), sizeof(double));
	for (size_t d = 0; d < STUDY_DRAWS; d++)
		for (size_t i = 0; i < n; i++) {
			first[d * n + i] = time->draws[d * all + places[i]];
			second[d * n + i] = energy->draws[d * all + places[i]];
		}
	stat_pareto(first, second, STUDY_DRAWS, (int)n, dominated);
	for (size_t i = 0; i < n; i++) {
		struct study_row *row = row_of(judging, judging->places.configs[places[i]]);

		row->dominated = judging->verdict->few[STUDY_TIME] || judging->verdict->few[STUDY_ENERGY]
				     ? (double)NAN
				     : dominated[i];
		row->front = dominated[i] < .5;
	}
}

/* ---- limits ---- */

static void find_limits(struct study_judging *judging)
{
	const struct study_engine *engine = judging->engine;

	for (size_t r = 0; r < judging->verdict->row_count; r++) {
		struct study_row *row = &judging->verdict->rows[r];

		for (size_t goal = 0; goal < STUDY_GOALS; goal++) {
			double most = study_limit(judging->study, (enum study_goal)goal);
			double value = row->value[goal].estimate;

			if (most <= 0)
				continue;
			row->keeps[goal] = isnan(value)	   ? STUDY_KEEPS_UNKNOWN
					   : value <= most ? STUDY_KEEPS
							   : STUDY_BREAKS;
			if (!(goal == STUDY_IDLE_WATTS && engine->no_idle))
				row->allowed = row->allowed && row->keeps[goal] == STUDY_KEEPS;
		}
	}
}

/* ---- idle watts ---- */

static void put_idles(struct study_judging *judging)
{
	struct study_verdict *verdict = judging->verdict;

	verdict->measured[STUDY_IDLE_WATTS] = verdict->idle_count > 0;
	for (size_t i = 0; i < verdict->idle_count; i++) {
		const struct study_idle *idle = &verdict->idles[i];
		struct study_row *row = row_of(judging, idle->config);
		double base = verdict->idles[0].watts.estimate;

		row->value[STUDY_IDLE_WATTS] = idle->watts;
		if (i)
			row->ratio[STUDY_IDLE_WATTS] = (struct stat_interval){
			    1 + idle->over.estimate / base, 1 + idle->over.low / base, 1 + idle->over.high / base};
	}
}

/* ---- together ---- */

static const struct study_idle *idle_of(const struct study_verdict *verdict, int config)
{
	for (size_t i = 0; i < verdict->idle_count; i++)
		if (verdict->idles[i].config == config)
			return &verdict->idles[i];
	return NULL;
}

/* Seconds by the clock of one run of all workloads. */
static double wall_of(const struct study_judging *judging, int config)
{
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < judging->count; i++)
		if (judging->seen[i].config == config && judging->seen[i].valid &&
		    judging->seen[i].purpose == STUDY_CHOOSE) {
			sum += judging->seen[i].minutes * 60;
			n++;
		}
	return n ? sum / n : (double)NAN;
}

/* tau = (Enet_S - Enet_F) / (Pidle_F - Pidle_S), Enet = E_run - P_idle T (methods 3.5). */
static void find_break_even(struct study_judging *judging)
{
	struct study_verdict *verdict = judging->verdict;
	int fast = verdict->picks[STUDY_FASTEST].config, quiet = verdict->picks[STUDY_QUIET].config;
	const struct study_idle *of_fast = idle_of(verdict, fast), *of_quiet = idle_of(verdict, quiet);

	verdict->break_even_s = (double)NAN;
	if (fast < 0 || quiet < 0 || fast == quiet || !of_fast || !of_quiet)
		return;
	double more = of_fast->watts.estimate - of_quiet->watts.estimate;
	double net_fast = study_verdict_row(verdict, fast)->value[STUDY_ENERGY].estimate -
			  of_fast->watts.estimate * wall_of(judging, fast);
	double net_quiet = study_verdict_row(verdict, quiet)->value[STUDY_ENERGY].estimate -
			   of_quiet->watts.estimate * wall_of(judging, quiet);

	if (isnan(net_fast) || isnan(net_quiet) || more <= 0)
		return;
	verdict->break_even_s = (net_quiet - net_fast) / more;
	/* Runs cannot start more often than they take. */
	if (verdict->break_even_s < wall_of(judging, fast))
		verdict->break_even_s = 0;
}

/* The way whose shares are told: of one-by-one to all levers on, else to the best. */
static int way_of(const struct study_judging *judging, int best)
{
	const struct study_matrix *matrix = judging->engine->matrix;
	size_t levels[STUDY_MOST_FACTORS];

	if (judging->engine->design != STUDY_ONE_BY_ONE)
		return best;
	for (size_t f = 0; f < judging->study->factor_count; f++)
		levels[f] = 1 - judging->study->baseline[f];
	ptrdiff_t all = study_find_config(matrix, levels);

	return all >= 0 ? (int)all : best;
}

static void find_shares(struct study_judging *judging)
{
	static const enum study_pick picks[] = {
	    [STUDY_TIME] = STUDY_FASTEST, [STUDY_ENERGY] = STUDY_EFFICIENT, [STUDY_LOAD_WATTS] = STUDY_FASTEST};
	struct study_verdict *verdict = judging->verdict;

	for (size_t goal = 0; goal < STUDY_GOALS; goal++) {
		verdict->shares[goal] = (struct study_shares){.config = -1, .why = "it was not measured"};
		if (goal < STUDY_IDLE_WATTS && judging->known[goal].measured)
			study_share(judging->engine, &judging->places, &judging->known[goal],
				    way_of(judging, verdict->picks[picks[goal]].config), &verdict->shares[goal]);
	}
}

/* All levers that gain by their shares, where that is a configuration that was not measured. */
static void find_together(struct study_judging *judging)
{
	struct study_verdict *verdict = judging->verdict;
	const struct study_shares *shares = &verdict->shares[STUDY_TIME];
	const struct study_row *fastest = study_verdict_row(verdict, verdict->picks[STUDY_FASTEST].config);
	size_t levels[STUDY_MOST_FACTORS];
	double ratio = 1;

	verdict->together = -1;
	verdict->together_ratio = (double)NAN;
	if (judging->engine->design != STUDY_ONE_BY_ONE || !shares->count || !fastest)
		return;
	for (size_t f = 0; f < judging->study->factor_count; f++)
		levels[f] = judging->study->baseline[f];
	for (size_t i = 0; i < shares->count; i++)
		if (shares->levers[i].share.estimate < 1) {
			levels[shares->levers[i].factor] = shares->levers[i].to;
			ratio *= shares->levers[i].share.estimate;
		}
	ptrdiff_t config = study_find_config(judging->engine->matrix, levels);
	double known =
	    fastest->config == (int)judging->engine->matrix->baseline ? 1 : fastest->ratio[STUDY_TIME].estimate;

	if (config < 0 || study_verdict_row(verdict, (int)config) || !(ratio < known))
		return;
	verdict->together = (int)config;
	verdict->together_ratio = ratio;
}

static void find_lacks(struct study_judging *judging)
{
	for (size_t goal = 0; goal < STUDY_IDLE_WATTS; goal++) {
		struct study_seen *runs;
		size_t count =
		    study_runs_with(judging->engine, judging->seen, judging->count, (enum study_goal)goal, &runs);

		judging->lack[goal] = study_lack(judging->engine, runs, count, &judging->verdict->few[goal]);
	}
}

static double sort_key(const struct study_row *row)
{
	for (size_t goal = 0; goal < STUDY_GOALS; goal++)
		if (isfinite(row->value[goal].estimate))
			return row->value[goal].estimate;
	return INFINITY;
}

static int by_key(const void *a, const void *b)
{
	double x = sort_key(a), y = sort_key(b);

	return x < y ? -1 : x > y;
}

int study_verdict(struct study_engine *engine, const struct study_seen *seen, size_t count,
		  const struct study_verdict_options *options, struct study_verdict *ret, struct err *err)
{
	CLEANUP(clear)
	struct study_judging judging = {.engine = engine, .study = engine->matrix->study, .seen = seen, .count = count};
	struct study_verdict verdict = {.slower = options && options->slower > 0 ? options->slower : USUALLY_SLOWER};
	int r;

	judging.verdict = &verdict;
	study_find_given_up(engine, seen, count);
	verdict.rows = ARENA_ARRAY(engine->arena, engine->matrix->count + 1, struct study_row);
	for (size_t i = 0; i < STUDY_PICKS; i++)
		verdict.picks[i] = (struct study_picked){
		    .config = -1, .why = i == STUDY_FASTEST ? "no run was measured" : STUDY_NO_ENERGY};
	count_runs(&judging);
	r = study_know(engine, seen, count, &judging.places, judging.known, err);
	if (r < 0)
		return r;
	find_lacks(&judging);
	study_idle_results(&judging);
	if (!judging.places.count && !verdict.idle_count)
		return err_set(err, ENODATA, engine->matrix->study->file, "nothing was measured yet");
	for (size_t goal = 0; goal < STUDY_IDLE_WATTS; goal++)
		find_values(&judging, (enum study_goal)goal);
	put_idles(&judging);
	find_front(&judging);
	find_limits(&judging);
	study_pick(&judging);
	find_break_even(&judging);
	find_shares(&judging);
	find_together(&judging);
	qsort(verdict.rows, verdict.row_count, sizeof(*verdict.rows), by_key);
	*ret = verdict;
	return 0;
}

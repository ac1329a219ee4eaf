/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the designs that measure all their configurations in blocks: a full one, where the best is sought until no other
 * can be better by more than the margin, and the 2k + 2 configurations from which each lever's share follows.
 */
#include <errno.h>
#include <math.h>

#include "stat_sequential.h"
#include "study_engine.h"
#include "text.h"

/* ---- the order of a block ---- */

struct place {
	int config;
	uint64_t key[STUDY_MOST_FACTORS + 1];
	size_t keys;
};

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	for (size_t i = 0; i < x->keys; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

/* The place of `number` in a permutation that seed and block decide. */
static uint64_t shuffled(uint64_t seed, int block, size_t number, size_t count)
{
	int order[STUDY_MOST_LEVELS];

	stat_block_order(seed, block, (int)count, order);
	for (size_t i = 0; i < count; i++)
		if ((size_t)order[i] == number)
			return i;
	return count;
}

/*
 * What a person sets begins with the baseline's, which is in force, and the next block goes back the way that this one
 * came: he is asked once less in each block, and what drifts meets the levels alike.
 */
static uint64_t there_and_back(const struct study *study, size_t factor, int block, size_t level)
{
	size_t count = study->factors[factor].level_count;
	uint64_t place = (level + count - study->baseline[factor]) % count;

	return block % 2 ? count - 1 - place : place;
}

void study_block_order(const struct study_matrix *matrix, uint64_t seed, int block, int *configs, size_t count)
{
	const struct study *study = matrix->study;
	CLEANUP(base_free) struct place *places = stat_zeroed((int)count + 1, sizeof(*places));
	CLEANUP(base_free) int *order = stat_zeroed((int)count + 1, sizeof(*order));

	stat_block_order(seed, block, (int)count, order);
	for (size_t i = 0; i < count; i++) {
		struct place *place = &places[i];

		place->config = configs[i];
		for (size_t f = 0; f < study->factor_count; f++) {
			size_t factor = matrix->order[f];

			/* Live levels are changed for each run: chance is worth more than the seconds. */
			if (study->factors[factor].cost == STUDY_LIVE)
				break;
			place->key[place->keys++] =
			    study->factors[factor].cost == STUDY_PERSON
				? there_and_back(study, factor, block, study_levels(matrix, (size_t)configs[i])[factor])
				: shuffled(seed + 1000 * (factor + 1), block,
					   study_levels(matrix, (size_t)configs[i])[factor],
					   study->factors[factor].level_count);
		}
	}
	for (size_t i = 0; i < count; i++)
		places[order[i]].key[places[order[i]].keys++] = i;
	qsort(places, count, sizeof(*places), by_key);
	for (size_t i = 0; i < count; i++)
		configs[i] = places[i].config;
}

/* ---- which run of the blocks is missing ---- */

/* Runs of each configuration, by number. */
static void count_runs(const struct study_seen *seen, size_t count, int *ret_runs)
{
	for (size_t i = 0; i < count; i++)
		ret_runs[seen[i].config]++;
}

/* Blocks that are whole; `configs` as study_block_order() takes them. */
static int whole_blocks(const int *configs, size_t count, const int *runs)
{
	int least = INT32_MAX;

	for (size_t i = 0; i < count; i++)
		least = MIN_OF(least, runs[configs[i]]);
	return least;
}

/* The first configuration of the block that has no run in it yet. */
static void next_of_block(struct study_engine *engine, int block, int *configs, size_t count, const int *runs,
			  struct study_step *ret)
{
	study_block_order(engine->matrix, engine->matrix->study->seed, block, configs, count);
	for (size_t i = 0; i < count; i++)
		if (runs[configs[i]] <= block) {
			ret->what = STUDY_RUN;
			ret->config = configs[i];
			ret->runs = 1;
			ret->words = arena_printf(engine->arena, "block %d", block + 1);
			return;
		}
}

int study_whole_blocks(struct study_engine *engine, const int *configs, size_t config_count,
		       const struct study_seen *seen, size_t count)
{
	int *runs = ARENA_ARRAY(engine->arena, engine->matrix->count, int);

	count_runs(seen, count, runs);
	return config_count ? whole_blocks(configs, config_count, runs) : 0;
}

/* logs[config * blocks + block] of the first `blocks` runs of each. */
static double *block_logs(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
			  int blocks)
{
	double *logs = ARENA_ARRAY(engine->arena, engine->matrix->count * (size_t)blocks + 1, double);
	int *runs = ARENA_ARRAY(engine->arena, engine->matrix->count, int);

	for (size_t i = 0; i < count; i++) {
		int run = runs[seen[i].config]++;

		if (run < blocks)
			logs[seen[i].config * blocks + run] = study_log(&engine->targets[target], &seen[i]);
	}
	return logs;
}

static int lowest(const double *logs, const int *configs, size_t config_count, int blocks)
{
	double least = INFINITY;
	int best = -1;

	for (size_t i = 0; i < config_count; i++) {
		double mean = stat_mean(logs + (size_t)configs[i] * (size_t)blocks, blocks);

		if (mean < least) {
			least = mean;
			best = configs[i];
		}
	}
	return best;
}

/*
 * The best of `configs` by its mean, and whether every other is shown to be at most the margin better: an interval of
 * each ratio, all together at the confidence that is asked for (Hsu 1984, by Bonferroni on repeated intervals).
 */
static int judge(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
		 const int *configs, size_t config_count, int blocks, int *ret_best, bool *ret_sure, struct err *err)
{
	const struct study *study = engine->matrix->study;
	const double *logs = block_logs(engine, target, seen, count, blocks);
	double *d = ARENA_ARRAY(engine->arena, (size_t)blocks + 1, double);
	struct stat_sequential plan;
	bool sure = true;
	int r, first = (int)MAX_OF(MIN_OF(study->runs_least, 8U), 3U);

	*ret_best = lowest(logs, configs, config_count, blocks);
	*ret_sure = false;
	r = stat_sequential_plan(first, (int)MIN_OF(MAX_OF(study->runs_most, (unsigned)first), 60U), study->within,
				 &plan, err);
	if (r < 0 || blocks < plan.first)
		return r;
	/* The table is for 5 % of one comparison; a stricter confidence and several of them take their share of it. */
	plan.nominal *= MIN_OF((1 - study->confidence) / STAT_ALPHA, 1.) / (double)MAX_OF(config_count - 1, 1U);
	for (size_t i = 0; i < config_count && sure; i++) {
		const double *other = logs + (size_t)configs[i] * (size_t)blocks;
		struct stat_compare compare;
		enum stat_stop stop;

		if (configs[i] == *ret_best)
			continue;
		for (int b = 0; b < blocks; b++)
			d[b] = logs[(size_t)*ret_best * (size_t)blocks + (size_t)b] - other[b];
		r = stat_sequential_look(&plan, d, blocks, &stop, &compare, err);
		if (r < 0)
			return r;
		sure = compare.ratio.high <= 1 + study->within;
	}
	*ret_sure = sure;
	return 0;
}

/* None is left that could be measured. */
static int nothing_left(const struct study_engine *engine, struct err *err)
{
	return err_set(err, ENODATA, engine->matrix->study->file,
		       "every configuration gave %d void runs in a row; none can be measured here", STUDY_MOST_VOID);
}

int study_next_blocks(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_step *ret,
		      struct err *err)
{
	int *runs = ARENA_ARRAY(engine->arena, engine->matrix->count, int);
	int *configs = ARENA_ARRAY(engine->arena, engine->matrix->count, int);
	size_t config_count = study_design_configs(engine, configs);
	bool sure = true, begun = false;
	int blocks, r = 0;

	if (!config_count)
		return nothing_left(engine, err);
	count_runs(seen, count, runs);
	blocks = whole_blocks(configs, config_count, runs);
	for (size_t t = 0; t < engine->target_count && blocks > 0 && r == 0 && sure; t++) {
		int best;

		r = judge(engine, t, seen, count, configs, config_count, blocks, &best, &sure, err);
		if (t == 0)
			ret->incumbent = best;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < config_count; i++)
		begun = begun || runs[configs[i]] > blocks;
	/* A block that was begun is finished: half of one would favour those that came first. */
	if (blocks > 0 && !begun && (sure || blocks >= (int)engine->matrix->study->runs_most)) {
		ret->what = sure ? STUDY_DONE : STUDY_SPENT;
		return 0;
	}
	next_of_block(engine, blocks, configs, config_count, runs, ret);
	return 0;
}

int study_answer_blocks(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
			struct study_answer *ret, struct err *err)
{
	int *configs = ARENA_ARRAY(engine->arena, engine->matrix->count, int);
	size_t config_count = study_design_configs(engine, configs);
	int blocks = study_whole_blocks(engine, configs, config_count, seen, count);

	if (!config_count)
		return nothing_left(engine, err);
	if (!blocks)
		return err_set(err, ENODATA, engine->matrix->study->file,
			       "no block of all configurations is whole yet");
	bool few;
	int r = judge(engine, target, seen, count, configs, config_count, blocks, &ret->incumbent, &ret->sure, err);

	if (r < 0)
		return r;
	ret->unsure = study_lack(engine, seen, count, &few);
	if (!ret->unsure && !ret->sure)
		ret->unsure =
		    arena_printf(engine->arena, "%s of each %s not show that no other is more than %.3g %% better",
				 text_count(engine->arena, blocks, "run", "runs"), blocks == 1 ? "does" : "do",
				 100 * engine->matrix->study->within);
	ret->sure = !ret->unsure;
	return 0;
}

/* ---- each lever alone and left out ---- */

/* The 2k + 2 configurations that are allowed, without repetition (k = 1 has but two). */
static size_t lever_configs(struct study_engine *engine, int *ret)
{
	const struct study *study = engine->matrix->study;
	size_t levels[STUDY_MOST_FACTORS], count = 0;

	for (size_t n = 0; n < 2 * study->factor_count + 2; n++) {
		ptrdiff_t config;
		bool there = false;

		for (size_t f = 0; f < study->factor_count; f++) {
			bool is_on = n >= study->factor_count + 1; /* all but one, or all */

			if (n % (study->factor_count + 1) == f + 1)
				is_on = !is_on;
			levels[f] = is_on ? 1 - study->baseline[f] : study->baseline[f];
		}
		config = study_find_config(engine->matrix, levels);
		for (size_t i = 0; i < count && !there; i++)
			there = ret[i] == config;
		if (config >= 0 && !there)
			ret[count++] = (int)config;
	}
	return count;
}

size_t study_design_configs(struct study_engine *engine, int *ret)
{
	size_t count = 0, left = 0;

	if (engine->design == STUDY_ONE_BY_ONE)
		count = lever_configs(engine, ret);
	else
		for (size_t c = 0; c < engine->matrix->count; c++)
			ret[count++] = (int)c;
	for (size_t i = 0; i < count; i++)
		if (!engine->out[ret[i]])
			ret[left++] = ret[i];
	return left;
}

int study_next_levers(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_step *ret,
		      struct err *err)
{
	int *runs = ARENA_ARRAY(engine->arena, engine->matrix->count, int);
	int *configs = ARENA_ARRAY(engine->arena, engine->matrix->count, int);
	size_t config_count = study_design_configs(engine, configs);
	int blocks, r = 0;
	bool sure;

	if (!config_count)
		return nothing_left(engine, err);
	count_runs(seen, count, runs);
	blocks = whole_blocks(configs, config_count, runs);
	if (blocks > 0)
		r = judge(engine, 0, seen, count, configs, config_count, blocks, &ret->incumbent, &sure, err);
	if (r < 0)
		return r;
	/* The shares are what is asked for: so many runs of each, however near two of them come. */
	if (blocks >= (int)engine->matrix->study->runs_least) {
		ret->what = STUDY_DONE;
		return 0;
	}
	next_of_block(engine, blocks, configs, config_count, runs, ret);
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns each lever's share (methods 4): of the way from the baseline to another configuration each factor whose level
 * differs is a lever. Its share is its Shapley value on logs, or (first in + last in) / 2, which equals it where no
 * three levers act together. An order of single steps would give every lever an arbitrary number.
 */
#include <math.h>

#include <gsl/gsl_sort.h>

#include "study_known.h"

/* 2^k corners are drawn of a model with up to that many levers; of more only the 2k + 2 ends. */
enum { DRAWN_LEVERS = 8 };

struct sharing {
	struct study_engine *engine;
	const struct study_places *places;
	const struct study_known *known;
	struct study_shares *shares;
	size_t levers[STUDY_MOST_FACTORS]; /* factors that differ */
	size_t count;
};

/* The configuration in which the levers of `set` are on; -1: it is not allowed. */
static ptrdiff_t corner(const struct sharing *sharing, size_t set)
{
	const struct study_matrix *matrix = sharing->engine->matrix;
	const size_t *from = study_levels(matrix, matrix->baseline),
		     *to = study_levels(matrix, (size_t)sharing->shares->config);
	size_t levels[STUDY_MOST_FACTORS];

	for (size_t f = 0; f < matrix->study->factor_count; f++)
		levels[f] = from[f];
	for (size_t j = 0; j < sharing->count; j++)
		if (set >> j & 1)
			levels[sharing->levers[j]] = to[sharing->levers[j]];
	return study_find_config(matrix, levels);
}

static const struct stat_cell *cell_of(const struct sharing *sharing, size_t set)
{
	ptrdiff_t config = corner(sharing, set);

	for (size_t i = 0; i < sharing->places->measured && config >= 0; i++)
		if (sharing->places->configs[i] == config && sharing->known->cells[i].n)
			return &sharing->known->cells[i];
	return NULL;
}

static struct stat_interval around(double estimate, double variance, double df)
{
	double half = variance > 0 ? stat_t_critical(STAT_ALPHA, df) * sqrt(variance) : 0;

	return stat_exp((struct stat_interval){estimate, estimate - half, estimate + half});
}

/* What lever j does on top of the set, from the means of all corners. */
static void find_range(const double *means, size_t levers, size_t j, struct study_lever *ret)
{
	ret->least = INFINITY;
	ret->most = -INFINITY;
	for (size_t set = 0; set < (size_t)1 << levers; set++) {
		if (set >> j & 1)
			continue;
		double step = means[set | (size_t)1 << j] - means[set];

		ret->least = MIN_OF(ret->least, step);
		ret->most = MAX_OF(ret->most, step);
	}
	ret->alone = exp(means[(size_t)1 << j] - means[0]);
	ret->least = exp(ret->least);
	ret->most = exp(ret->most);
}

/* ---- corners that were measured ---- */

static bool by_corners(struct sharing *sharing, double *means)
{
	size_t k = sharing->count, corners = (size_t)1 << k;
	struct stat_cell *cells = ARENA_ARRAY(sharing->engine->arena, corners, struct stat_cell);
	double *shares = ARENA_ARRAY(sharing->engine->arena, k, double);
	double *variances = ARENA_ARRAY(sharing->engine->arena, k, double);
	struct study_shares *ret = sharing->shares;
	double df = sharing->known->cells_df, variance = 0;

	for (size_t set = 0; set < corners; set++) {
		const struct stat_cell *cell = cell_of(sharing, set);

		if (!cell)
			return false;
		cells[set] = *cell;
		means[set] = cell->mean;
	}
	if (stat_shapley(cells, (int)k, shares, variances, NULL) < 0)
		return false;
	for (size_t j = 0; j < k; j++) {
		ret->levers[j].share = around(shares[j], variances[j], df);
		find_range(means, k, j, &ret->levers[j]);
	}
	/* A single lever's variance is that of the two ends of the way. */
	double end[2] = {-1, 1};
	struct stat_cell ends[2] = {cells[0], cells[corners - 1]};
	struct stat_interval logs;

	if (stat_contrast(ends, end, 2, STAT_ALPHA, &logs, NULL) == 0)
		variance = pow((logs.high - logs.estimate) / stat_t_critical(STAT_ALPHA, ends[0].n + ends[1].n - 2), 2);
	ret->total = around(means[corners - 1] - means[0], variance, ends[0].n + ends[1].n - 2);
	ret->residual = (struct stat_interval){1, 1, 1};
	ret->attributable = true;
	ret->by = STUDY_SHARES_SHAPLEY;
	return true;
}

/* At other degrees of freedom: those that the effects of the blocks have taken. */
static struct stat_interval at_df(struct stat_interval ratio, double from, double to)
{
	double wider = stat_t_critical(STAT_ALPHA, to) / stat_t_critical(STAT_ALPHA, from);
	double low = log(ratio.low / ratio.estimate) * wider, high = log(ratio.high / ratio.estimate) * wider;

	return (struct stat_interval){ratio.estimate, ratio.estimate * exp(low), ratio.estimate * exp(high)};
}

static bool by_ends(struct sharing *sharing)
{
	size_t k = sharing->count, all = ((size_t)1 << k) - 1;
	struct stat_cell alone[STUDY_MOST_FACTORS], without[STUDY_MOST_FACTORS];
	const struct stat_cell *base = cell_of(sharing, 0), *end = cell_of(sharing, all);
	struct stat_lever levers[STUDY_MOST_FACTORS];
	struct stat_attribution found;
	struct study_shares *ret = sharing->shares;
	double df = sharing->known->cells_df;

	if (!base || !end)
		return false;
	for (size_t j = 0; j < k; j++) {
		const struct stat_cell *first = cell_of(sharing, (size_t)1 << j),
				       *last = cell_of(sharing, all & ~((size_t)1 << j));

		if (!first || !last)
			return false;
		alone[j] = *first;
		without[j] = *last;
	}
	if (stat_attribute(base, end, alone, without, (int)k, STAT_ALPHA, &found, levers, NULL) < 0)
		return false;
	for (size_t j = 0; j < k; j++) {
		struct study_lever *lever = &ret->levers[j];

		lever->share = at_df(levers[j].share, found.df, df);
		lever->alone = levers[j].first_in;
		lever->least = MIN_OF(levers[j].first_in, levers[j].last_in);
		lever->most = MAX_OF(levers[j].first_in, levers[j].last_in);
	}
	ret->total = at_df(found.total, found.df, df);
	ret->residual = at_df(found.residual, found.df, df);
	ret->attributable = ret->residual.low <= 1 && ret->residual.high >= 1;
	ret->by = STUDY_SHARES_ENDS;
	return true;
}

/* ---- the model's posterior ---- */

static struct stat_interval quantiles(double *draws, int count)
{
	double mean = stat_mean(draws, count);

	gsl_sort(draws, 1, (size_t)count);
	return stat_exp((struct stat_interval){mean, stat_sorted_quantile(draws, count, STAT_ALPHA / 2),
					       stat_sorted_quantile(draws, count, 1 - STAT_ALPHA / 2)});
}

/* Draws of all corners, and from each draw the Shapley values. */
static bool by_model(struct sharing *sharing, double *means)
{
	size_t k = sharing->count, corners = (size_t)1 << k;
	struct arena *arena = sharing->engine->arena;
	int *configs = ARENA_ARRAY(arena, corners, int);
	struct stat_cell *cells = ARENA_ARRAY(arena, corners, struct stat_cell);
	double *shares = ARENA_ARRAY(arena, k, double);
	struct study_shares *ret = sharing->shares;
	CLEANUP(base_free) double *draws = NULL, *phi = NULL, *total = NULL;

	for (size_t set = 0; set < corners; set++) {
		ptrdiff_t config = corner(sharing, set);

		if (config < 0)
			return false;
		configs[set] = (int)config;
		means[set] = stat_model_mean(sharing->known->model, (int)config);
	}
	draws = stat_zeroed((int)(STUDY_DRAWS * corners), sizeof(double));
	phi = stat_zeroed((int)(STUDY_DRAWS * k), sizeof(double));
	total = stat_zeroed(STUDY_DRAWS, sizeof(double));
	stat_model_draw(sharing->known->model, configs, (int)corners, STUDY_DRAWS,
			sharing->engine->matrix->study->seed + 71, draws);
	for (size_t d = 0; d < STUDY_DRAWS; d++) {
		for (size_t set = 0; set < corners; set++)
			cells[set] = (struct stat_cell){1, draws[d * corners + set], 0};
		if (stat_shapley(cells, (int)k, shares, NULL, NULL) < 0)
			return false;
		for (size_t j = 0; j < k; j++)
			phi[j * STUDY_DRAWS + d] = shares[j];
		total[d] = cells[corners - 1].mean - cells[0].mean;
	}
	for (size_t j = 0; j < k; j++) {
		ret->levers[j].share = quantiles(phi + j * STUDY_DRAWS, STUDY_DRAWS);
		find_range(means, k, j, &ret->levers[j]);
	}
	ret->total = quantiles(total, STUDY_DRAWS);
	ret->residual = (struct stat_interval){1, 1, 1};
	ret->attributable = true;
	ret->by = STUDY_SHARES_MODEL;
	return true;
}

/* ---- what is made of them ---- */

static int by_share(const void *a, const void *b)
{
	const struct study_lever *x = a, *y = b;

	return x->share.estimate < y->share.estimate ? -1 : x->share.estimate > y->share.estimate;
}

/* The levers one by one in the order of their shares, where every configuration on that way is known. */
static void find_chain(struct sharing *sharing, const double *means)
{
	struct study_shares *ret = sharing->shares;
	size_t set = 0;

	ret->chain = ARENA_ARRAY(sharing->engine->arena, ret->count + 1, struct study_chain);
	for (size_t i = 0; i < ret->count; i++) {
		size_t bit = 0, before = set;

		while (sharing->levers[bit] != ret->levers[i].factor)
			bit++;
		set |= (size_t)1 << bit;
		ret->chain[i] = (struct study_chain){i, (int)corner(sharing, set), exp(means[set]),
						     exp(means[set] - means[before])};
	}
}

static const char *why_not(const struct sharing *sharing)
{
	struct arena *arena = sharing->engine->arena;

	if (sharing->count == 1)
		return "it takes the one lever off and on; that was not all measured";
	return arena_printf(arena,
			    "it takes each of the %zu levers alone and left out; these configurations are not all "
			    "measured, or not allowed (design: one-by-one measures them)",
			    sharing->count);
}

void study_share(struct study_engine *engine, const struct study_places *places, const struct study_known *known,
		 int config, struct study_shares *ret)
{
	const struct study_matrix *matrix = engine->matrix;
	struct sharing sharing = {.engine = engine, .places = places, .known = known, .shares = ret};
	double theta = log1p(matrix->study->within), *means;
	bool found = false, corners;

	*ret = (struct study_shares){.config = config, .start = NAN, .end = NAN};
	if (config < 0 || config == (int)matrix->baseline) {
		ret->why = config < 0 ? "no other configuration is known" : "the baseline itself is the best";
		return;
	}
	for (size_t f = 0; f < matrix->study->factor_count; f++)
		if (study_levels(matrix, matrix->baseline)[f] != study_levels(matrix, (size_t)config)[f])
			sharing.levers[sharing.count++] = f;
	ret->count = sharing.count;
	ret->levers = ARENA_ARRAY(engine->arena, sharing.count + 1, struct study_lever);
	for (size_t j = 0; j < sharing.count; j++) {
		ret->levers[j].factor = sharing.levers[j];
		ret->levers[j].from = study_levels(matrix, matrix->baseline)[sharing.levers[j]];
		ret->levers[j].to = study_levels(matrix, (size_t)config)[sharing.levers[j]];
	}
	corners = sharing.count <= (known->model ? (size_t)DRAWN_LEVERS : (size_t)STAT_SHAPLEY_LEVERS);
	means = ARENA_ARRAY(engine->arena, corners ? (size_t)1 << sharing.count : 1, double);
	if (corners)
		found = known->model ? by_model(&sharing, means) : by_corners(&sharing, means);
	if (found)
		ret->start = exp(means[0]);
	if (found)
		ret->end = exp(means[((size_t)1 << sharing.count) - 1]);
	if (!found && !known->model && by_ends(&sharing)) {
		ret->start = exp(cell_of(&sharing, 0)->mean);
		ret->end = exp(cell_of(&sharing, ((size_t)1 << sharing.count) - 1)->mean);
	}
	if (ret->by == STUDY_SHARES_NONE) {
		ret->count = 0;
		ret->why = why_not(&sharing);
		return;
	}
	for (size_t j = 0; j < ret->count; j++)
		ret->levers[j].equivalent =
		    ret->levers[j].share.low > exp(-theta) && ret->levers[j].share.high < exp(theta);
	qsort(ret->levers, ret->count, sizeof(*ret->levers), by_share);
	if (found)
		find_chain(&sharing, means);
}

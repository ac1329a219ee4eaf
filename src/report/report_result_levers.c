/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what each setting contributes to a change of several: which configurations tell it. The rules are those of
 * stat_effects.h: needed are the start, all levers on, each alone, each left out.
 *
 * Settings that always move together are one lever. A share is the mean of first in and last in, with the range between
 * them beside it; the end is what was measured, never the product.
 */
#include <math.h>
#include <string.h>

#include "report_result_internal.h"
#include "text.h"

/* More levers than that have no room in a chart; and so many ends are tried for one whose cells were all measured. */
enum { MOST_LEVERS = 16, MOST_ENDS = 64 };

struct lever {
	const char *knobs; /* "governor", "profile and epp" */
	const char *knob;  /* the first of them */
	int *levels;	   /* of each configuration, counted in the order of their first appearance */
};

struct levers {
	struct report_result *result;
	size_t metric;
	int workload;
	struct lever *items;
	int count;
};

/* ---- levers ---- */

static int *levels_of(const struct report_result *result, const char *knob)
{
	const struct store_whole *whole = result->whole;
	int *levels = ARENA_ARRAY(result->arena, whole->configuration_count + 1, int);
	const char **values = ARENA_ARRAY(result->arena, whole->configuration_count + 1, const char *);
	int count = 0;

	for (size_t i = 0; i < whole->configuration_count; i++) {
		const char *value = report_setting(result->arena, &whole->configurations[i], knob);
		int level = 0;

		value = value ? value : "as it was";
		while (level < count && !text_equal(values[level], value))
			level++;
		if (level == count)
			values[count++] = value;
		levels[i] = level;
	}
	return levels;
}

static void find_levers(struct levers *levers)
{
	struct arena *arena = levers->result->arena;
	const char *const *knobs = report_settings(arena, levers->result->whole);
	size_t size = levers->result->whole->configuration_count * sizeof(int), count = 0;

	while (knobs[count])
		count++;
	levers->items = ARENA_ARRAY(arena, count + 1, struct lever);
	for (size_t k = 0; k < count; k++) {
		int *levels = levels_of(levers->result, knobs[k]), same = 0;

		while (same < levers->count && memcmp(levers->items[same].levels, levels, size) != 0)
			same++;
		if (same < levers->count)
			levers->items[same].knobs =
			    arena_printf(arena, "%s and %s", levers->items[same].knobs, knobs[k]);
		else
			levers->items[levers->count++] = (struct lever){knobs[k], knobs[k], levels};
	}
}

/* ---- cells ---- */

static bool usable(const struct levers *levers, size_t configuration)
{
	const struct report_estimate *found = &levers->result->metrics[levers->metric].estimates[configuration];

	return levers->result->workloads[configuration] == levers->workload && found->runs && !found->arithmetic;
}

/* The configuration that is `of`, but for one lever (-1: none) that is as in `with`; -1: it was not measured. */
static int cell_of(const struct levers *levers, size_t of, int lever, size_t with)
{
	for (size_t i = 0; i < levers->result->whole->configuration_count; i++) {
		int k = 0;

		if (!usable(levers, i))
			continue;
		while (k < levers->count &&
		       levers->items[k].levels[i] == levers->items[k].levels[k == lever ? with : of])
			k++;
		if (k == levers->count)
			return (int)i;
	}
	return -1;
}

/* The levers in which two configurations differ. */
static int differing(const struct levers *levers, size_t a, size_t b, int *ret)
{
	int count = 0;

	for (int k = 0; k < levers->count; k++)
		if (levers->items[k].levels[a] != levers->items[k].levels[b]) {
			if (count == MOST_LEVERS)
				return 0;
			ret[count++] = k;
		}
	return count;
}

static struct stat_cell cell(const struct levers *levers, size_t configuration)
{
	double *logs;
	int count = result_logs(levers->result, configuration, levers->metric, &logs);

	return stat_cell(logs, count);
}

/* ---- the way from a start to an end ---- */

static bool attribute(struct levers *levers, size_t from, size_t to, struct report_attribution *into)
{
	struct arena *arena = levers->result->arena;
	struct stat_cell alone[MOST_LEVERS], without[MOST_LEVERS], first = cell(levers, from), last = cell(levers, to);
	int which[MOST_LEVERS], count = differing(levers, from, to, which);

	if (count < 2)
		return false;
	for (int k = 0; k < count; k++) {
		int a = cell_of(levers, from, which[k], to), b = cell_of(levers, to, which[k], from);

		if (a < 0 || b < 0)
			return false;
		alone[k] = cell(levers, (size_t)a);
		without[k] = cell(levers, (size_t)b);
	}
	struct stat_lever *shares = ARENA_ARRAY(arena, (size_t)count, struct stat_lever);
	struct stat_attribution total;

	if (stat_attribute(&first, &last, alone, without, count, levers->result->alpha, &total, shares, NULL) < 0)
		return false;
	const struct report_metric *metric = &levers->result->metrics[levers->metric];
	const struct store_configuration *all = levers->result->whole->configurations;

	*into = (struct report_attribution){
	    .measure = metric->measure,
	    .goal = metric->metric->name,
	    .workload =
		levers->result->workload_count > 1 ? result_workload_label(levers->result, levers->workload) : NULL,
	    .from = result_setting_label(levers->result, from),
	    .to = result_setting_label(levers->result, to),
	    .how =
		"Each bar is the mean of the setting alone and on top of all others, its Shapley value where no three "
		"interact.",
	    .end = metric->estimates[to].value.estimate,
	    .total = total.total,
	    .residual = total.residual,
	    .attributable = total.attributable,
	    .levers = ARENA_ARRAY(arena, (size_t)count, struct report_lever),
	    .count = count};
	into->start = into->end / total.total.estimate;
	for (int k = 0; k < count; k++) {
		const struct lever *lever = &levers->items[which[k]];
		const char *old = report_setting(arena, &all[from], lever->knob);
		const char *new = report_setting(arena, &all[to], lever->knob);
		double one = shares[k].first_in, other = shares[k].last_in, margin = levers->result->margin;

		into->levers[k] = (struct report_lever){.knobs = lever->knobs,
							.from = old ? old : "as it was",
							.to = new ? new : "as it was",
							.share = shares[k].share,
							.alone = one,
							.least = fmin(one, other),
							.most = fmax(one, other),
							.equivalent = shares[k].share.low > 1 / (1 + margin) &&
								      shares[k].share.high < 1 + margin};
	}
	return true;
}

static int by_size(const void *a, const void *b)
{
	double x = fabs(log(((const struct report_lever *)a)->share.estimate)),
	       y = fabs(log(((const struct report_lever *)b)->share.estimate));

	return (x < y) - (x > y);
}

/* The start: the baseline of a workload. -1: it has no runs. */
static int start_of(const struct levers *levers)
{
	for (size_t i = 0; i < levers->result->whole->configuration_count; i++)
		if (levers->result->workloads[i] == levers->workload && result_is_baseline(levers->result, i))
			return usable(levers, i) ? (int)i : -1;
	return -1;
}

/*
 * The ends to try: of a study the best estimate first, since that is where it leads; of a comparison the one that sets
 * most.
 */
static int ends_of(const struct levers *levers, size_t start, size_t *ret)
{
	const struct report_metric *metric = &levers->result->metrics[levers->metric];
	size_t all = levers->result->whole->configuration_count;
	double *keys = ARENA_ARRAY(levers->result->arena, all + 1, double);
	int count = 0, which[MOST_LEVERS];

	for (size_t i = 0; i < all; i++) {
		double key = levers->result->study ? metric->estimates[i].value.estimate *
							 (metric->measure.better == CHART_HIGHER ? -1 : 1)
						   : -(double)differing(levers, start, i, which);
		int at = count;

		if (!usable(levers, i) || i == start)
			continue;
		for (; at > 0 && keys[at - 1] > key; at--) {
			keys[at] = keys[at - 1];
			ret[at] = ret[at - 1];
		}
		keys[at] = key;
		ret[at] = i;
		count++;
	}
	return MIN_OF(count, MOST_ENDS);
}

void result_attribute(struct report_result *result, size_t metric, int workload)
{
	struct levers levers = {.result = result, .metric = metric, .workload = workload};
	size_t *ends = ARENA_ARRAY(result->arena, result->whole->configuration_count + 1, size_t);
	struct report_attribution *into = &result->attributions[result->attribution_count];

	find_levers(&levers);
	int start = levers.count < 2 ? -1 : start_of(&levers);
	int count = start < 0 ? 0 : ends_of(&levers, (size_t)start, ends);

	for (int i = 0; i < count; i++)
		if (attribute(&levers, (size_t)start, ends[i], into)) {
			qsort(into->levers, (size_t)into->count, sizeof(*into->levers), by_size);
			result->attribution_count++;
			return;
		}
}

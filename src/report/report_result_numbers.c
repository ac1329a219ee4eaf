/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the estimates and comparisons of a session. */
#include <math.h>
#include <string.h>

#include "report_result_internal.h"
#include "stat_estimate.h"
#include "stat_many.h"
#include "stat_nested.h"
#include "text.h"

/* ---- numbers ---- */

double result_method_number(const struct store_whole *whole, const char *name, double otherwise)
{
	json_t *method = result_json(whole->session.method), *value = json_object_get(method, name);
	double number = json_is_number(value) ? json_number_value(value) : otherwise;

	json_decref(method);
	return number > 0 && number < 1 ? number : otherwise;
}

bool result_counts(const struct store_run *run)
{
	return text_equal(run->state, "valid") && !text_equal(run->purpose, "warmup") &&
	       !text_equal(run->purpose, "calibration");
}

double result_value(const struct store_whole *whole, const struct store_run *run, size_t metric)
{
	return metric < whole->metric_count && run->values ? run->values[metric] : NAN;
}

void result_boots(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	int *boots = ARENA_ARRAY(result->arena, whole->run_count + 1, int);

	for (size_t i = 0; i < whole->run_count; i++) {
		const char *boot = whole->runs[i].boot;
		size_t same = 0;

		while (same < i && !text_equal(whole->runs[same].boot, boot))
			same++;
		boots[i] = !boot ? -1 : same < i ? boots[same] : result->boot_count++;
	}
	result->boots = boots;
}

void result_index_runs(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	int *first = ARENA_ARRAY(result->arena, whole->configuration_count + 1, int);
	int *next = ARENA_ARRAY(result->arena, whole->run_count + 1, int);
	int *counts = ARENA_ARRAY(result->arena, whole->configuration_count + 1, int);

	for (size_t i = 0; i < whole->configuration_count; i++)
		first[i] = -1;
	for (size_t i = whole->run_count; i-- > 0;) {
		int64_t id = whole->runs[i].configuration;
		size_t of = 0;

		/* Ids count from 0, but for what somebody deleted by hand. */
		if (id >= 0 && (size_t)id < whole->configuration_count && whole->configurations[id].id == id)
			of = (size_t)id;
		else
			while (of < whole->configuration_count && whole->configurations[of].id != id)
				of++;
		if (of == whole->configuration_count)
			continue;
		next[i] = first[of];
		first[of] = (int)i;
		counts[of]++;
	}
	result->first_run = first;
	result->next_run = next;
	result->runs_of = counts;
}

/* The runs of a configuration that count, with their boots. */
struct taken {
	double *values;
	struct stat_nested_run *runs;
	int count, boots;
	bool positive, negative; /* all above 0; one below */
};

static struct taken take(const struct report_result *result, size_t configuration, size_t metric)
{
	const struct store_whole *whole = result->whole;
	size_t room = (size_t)result->runs_of[configuration] + 1;
	struct taken taken = {.values = ARENA_ARRAY(result->arena, room, double),
			      .runs = ARENA_ARRAY(result->arena, room, struct stat_nested_run),
			      .positive = true};

	for (int i = result->first_run[configuration]; i >= 0; i = result->next_run[i]) {
		const struct store_run *run = &whole->runs[i];
		double value = result_value(whole, run, metric);
		bool seen = result->boots[i] < 0;

		if (!result_counts(run) || !isfinite(value))
			continue;
		for (int k = 0; k < taken.count && !seen; k++)
			seen = taken.runs[k].boot == result->boots[i];
		taken.boots += !seen;
		taken.positive = taken.positive && value > 0;
		taken.negative = taken.negative || value < 0;
		taken.runs[taken.count] = (struct stat_nested_run){.boot = result->boots[i], .log = log(value)};
		taken.values[taken.count++] = value;
	}
	return taken;
}

int result_estimate(struct report_result *result, size_t configuration, size_t metric, struct err *err)
{
	struct report_estimate *into = &result->metrics[metric].estimates[configuration];
	struct taken taken = take(result, configuration, metric);
	struct stat_estimate found;
	struct stat_nested nested;
	int r;

	*into = (struct report_estimate){.value = {NAN, NAN, NAN}, .half = NAN};
	if (!taken.count)
		return 0;
	r = stat_estimate(taken.values, taken.count, result->alpha, &found, err);
	if (r < 0)
		return r;
	*into = (struct report_estimate){.runs = taken.count,
					 .boots = taken.boots,
					 .value = found.quoted,
					 .half = NAN,
					 .arithmetic = !taken.positive};
	/* Boots differ by themselves: what is claimed of a configuration rests on their means. */
	if (taken.positive && taken.boots >= RESULT_LEAST) {
		r = stat_nested(taken.runs, taken.count, result->alpha, &nested, err);
		if (r < 0)
			return r;
		into->value = nested.geometric;
	}
	if (taken.count < RESULT_LEAST)
		into->value.low = -INFINITY, into->value.high = INFINITY;
	/* Nothing that was never below 0 has a mean below it. */
	else if (!taken.positive && !taken.negative)
		into->value.low = fmax(into->value.low, 0);
	if (stat_bounded(into->value))
		into->half = (into->value.high - into->value.low) / 2;
	return 0;
}

int result_logs(const struct report_result *result, size_t configuration, size_t metric, double **ret_logs)
{
	struct taken taken = take(result, configuration, metric);
	double *ret = *ret_logs = ARENA_ARRAY(result->arena, (size_t)taken.count + 1, double);
	double *sums = ARENA_ARRAY(result->arena, (size_t)result->boot_count + 1, double);
	int *counts = ARENA_ARRAY(result->arena, (size_t)result->boot_count + 1, int), boots = 0;

	if (!taken.positive)
		return 0;
	for (int i = 0; i < taken.count; i++) {
		int boot = taken.runs[i].boot;

		ret[i] = taken.runs[i].log;
		sums[MAX_OF(boot, 0)] += ret[i];
		counts[MAX_OF(boot, 0)]++;
	}
	if (result->boot_count < 2)
		return taken.count;
	for (int i = 0; i < result->boot_count; i++)
		if (counts[i])
			ret[boots++] = sums[i] / counts[i];
	return boots;
}

/* The value of a configuration in a block, or NAN. Several runs of one in a block count as their mean log. */
static double block_log(const struct store_whole *whole, size_t block, size_t configuration, size_t metric)
{
	double sum = 0;
	int count = 0;

	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		double value = result_value(whole, run, metric);

		if (run->block != whole->blocks[block].id ||
		    run->configuration != whole->configurations[configuration].id)
			continue;
		if (!result_counts(run) || !(value > 0))
			return NAN;
		sum += log(value);
		count++;
	}
	return count ? sum / count : NAN;
}

/* ---- comparisons ---- */

static void take_row(struct report_difference *into, int blocks, struct stat_interval ratio, enum stat_verdict verdict)
{
	into->blocks = blocks;
	into->ratio = blocks < RESULT_LEAST ? (struct stat_interval){ratio.estimate, 0, INFINITY} : ratio;
	into->verdict = verdict;
	into->within = fmax(ratio.high, 1 / ratio.low) - 1;
}

/* All configurations with the first, over the blocks in which each has a value. */
int result_compare(struct report_result *result, size_t metric, struct err *err)
{
	const struct store_whole *whole = result->whole;
	struct arena *arena = result->arena;
	size_t configurations = whole->configuration_count;
	double *logs = ARENA_ARRAY(arena, configurations * (whole->block_count + 1), double);
	double *packed = ARENA_ARRAY(arena, configurations * (whole->block_count + 1), double);
	struct report_difference *into = result->metrics[metric].differences;
	int blocks = 0, r;

	for (size_t block = 0; block < whole->block_count; block++) {
		bool complete = true;

		for (size_t i = 0; i < configurations; i++) {
			logs[i * whole->block_count + (size_t)blocks] = block_log(whole, block, i, metric);
			complete &= isfinite(logs[i * whole->block_count + (size_t)blocks]);
		}
		blocks += complete;
	}
	for (size_t i = 0; i < configurations; i++)
		for (int block = 0; block < blocks; block++)
			packed[i * (size_t)blocks + (size_t)block] = logs[i * whole->block_count + (size_t)block];
	if (configurations == 2 && blocks) {
		struct stat_compare pair;

		for (int block = 0; block < blocks; block++)
			logs[block] = packed[blocks + block] - packed[block];
		r = stat_compare_logs(logs, blocks, result->alpha, result->margin, &pair, err);
		if (r < 0)
			return r;
		take_row(&into[1], blocks, pair.ratio, pair.verdict);
	} else if (configurations > 2 && blocks >= 2) {
		struct stat_many_row *rows = ARENA_ARRAY(arena, configurations, struct stat_many_row);
		struct stat_many many;

		r = stat_many(packed, (int)configurations, blocks, result->alpha, result->margin, &many, rows, err);
		if (r < 0)
			return r;
		for (size_t i = 1; i < configurations; i++)
			take_row(&into[i], blocks, rows[i - 1].ratio, rows[i - 1].verdict);
	}
	for (size_t i = 1; i < configurations; i++)
		result_words(result, &whole->metrics[metric], whole->configurations[i].name, &into[i]);
	return 0;
}

struct stat_interval report_result_pair(const struct report_result *result, size_t metric, size_t a, size_t b)
{
	const struct store_whole *whole = result->whole;
	double *logs = ARENA_ARRAY(result->arena, whole->block_count + 1, double);
	struct stat_compare pair;
	int blocks = 0;

	for (size_t block = 0; block < whole->block_count; block++) {
		double d = block_log(whole, block, b, metric) - block_log(whole, block, a, metric);

		if (isfinite(d))
			logs[blocks++] = d;
	}
	if (!blocks || stat_compare_logs(logs, blocks, result->alpha, result->margin, &pair, NULL) < 0 ||
	    !stat_bounded(pair.ratio))
		return (struct stat_interval){NAN, NAN, NAN};
	return pair.ratio;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the estimates and comparisons of a session, and its verdict in words. */
#include "report_result.h"

#include <math.h>
#include <string.h>

#include "report_scale.h"
#include "stat_estimate.h"
#include "stat_many.h"
#include "text.h"

/* ---- settings and commands ---- */

static json_t *parsed(const char *text)
{
	return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

static const char *value_text(struct arena *arena, const json_t *value)
{
	CLEANUP(base_free) char *dumped = NULL;

	if (json_is_string(value))
		return arena_strdup(arena, json_string_value(value));
	dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	return arena_strdup(arena, dumped ? dumped : "?");
}

const char *report_setting(struct arena *arena, const struct store_configuration *configuration, const char *knob)
{
	json_t *settings = parsed(configuration->settings), *value = json_object_get(settings, knob);
	const char *text = value ? value_text(arena, value) : NULL;

	json_decref(settings);
	return text;
}

static bool listed(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(names[i], name))
			return true;
	return false;
}

const char *const *report_settings(struct arena *arena, const struct store_whole *whole)
{
	size_t count = 0, room = 1;
	const char **names;

	for (size_t i = 0; i < whole->configuration_count; i++) {
		json_t *settings = parsed(whole->configurations[i].settings);

		room += json_object_size(settings);
		json_decref(settings);
	}
	names = ARENA_ARRAY(arena, room, const char *);
	for (size_t i = 0; i < whole->configuration_count; i++) {
		json_t *settings = parsed(whole->configurations[i].settings), *value;
		const char *name;

		json_object_foreach (settings, name, value)
			if (!listed(names, count, name))
				names[count++] = arena_strdup(arena, name);
		json_decref(settings);
	}
	return names;
}

const char *report_word(struct arena *arena, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=,:+@%";
	const char *text = "'";

	if (*word && strspn(word, plain) == strlen(word))
		return word;
	for (const char *at = word; *at; at++)
		text = *at == '\'' ? arena_printf(arena, "%s'\\''", text) : arena_printf(arena, "%s%c", text, *at);
	return arena_printf(arena, "%s'", text);
}

const char *report_command(struct arena *arena, const char *words)
{
	json_t *list = parsed(words), *word;
	const char *text = "";
	size_t i;

	json_array_foreach (list, i, word)
		text = arena_printf(arena, "%s%s%s", text, i ? " " : "",
				    report_word(arena, json_is_string(word) ? json_string_value(word) : "?"));
	if (!list && words)
		text = words;
	text = arena_strdup(arena, text);
	json_decref(list);
	return text;
}

/* ---- numbers ---- */

static double method_number(const struct store_whole *whole, const char *name, double otherwise)
{
	json_t *method = parsed(whole->session.method), *value = json_object_get(method, name);
	double number = json_is_number(value) ? json_number_value(value) : otherwise;

	json_decref(method);
	return number > 0 && number < 1 ? number : otherwise;
}

static bool counts(const struct store_run *run)
{
	return text_equal(run->state, "valid") && !text_equal(run->purpose, "warmup") &&
	       !text_equal(run->purpose, "calibration");
}

static double run_value(const struct store_whole *whole, const struct store_run *run, size_t metric)
{
	return metric < whole->metric_count && run->values ? run->values[metric] : NAN;
}

/* Values of a configuration's runs that count. */
static int values_of(const struct report_result *result, size_t configuration, size_t metric, double *values)
{
	const struct store_whole *whole = result->whole;
	int count = 0;

	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		double value = run_value(whole, run, metric);

		if (run->configuration == whole->configurations[configuration].id && counts(run) && isfinite(value))
			values[count++] = value;
	}
	return count;
}

static int estimate(struct report_result *result, size_t configuration, size_t metric, struct err *err)
{
	struct report_estimate *into = &result->metrics[metric].estimates[configuration];
	double *values = ARENA_ARRAY(result->arena, result->whole->run_count + 1, double);
	int count = values_of(result, configuration, metric, values);
	struct stat_estimate found;

	*into = (struct report_estimate){.value = {NAN, NAN, NAN}, .half = NAN};
	if (!count)
		return 0;
	int r = stat_estimate(values, count, result->alpha, &found, err);

	if (r < 0)
		return r;
	into->runs = count;
	into->value = found.quoted;
	into->half = stat_bounded(found.quoted) ? (found.quoted.high - found.quoted.low) / 2 : NAN;
	return 0;
}

/* The value of a configuration in a block, or NAN. Several runs of one in a block count as their mean log. */
static double block_log(const struct store_whole *whole, size_t block, size_t configuration, size_t metric)
{
	double sum = 0;
	int count = 0;

	for (size_t i = 0; i < whole->run_count; i++) {
		const struct store_run *run = &whole->runs[i];
		double value = run_value(whole, run, metric);

		if (run->block != whole->blocks[block].id ||
		    run->configuration != whole->configurations[configuration].id)
			continue;
		if (!counts(run) || !(value > 0))
			return NAN;
		sum += log(value);
		count++;
	}
	return count ? sum / count : NAN;
}

/* ---- words ---- */

struct wording {
	const char *verb, *less, *more, *noun; /* "takes", "less", "more", " time" */
};

static struct wording wording_of(const struct store_metric *metric)
{
	if (text_equal(metric->unit, "s"))
		return (struct wording){"takes", "less", "more", " time"};
	if (text_equal(metric->unit, "J"))
		return (struct wording){"uses", "less", "more", " energy"};
	if (text_equal(metric->unit, "W"))
		return (struct wording){"draws", "less", "more", " power"};
	return (struct wording){"has", "lower", "higher", ""};
}

static const char *percent(struct arena *arena, double share, double half)
{
	return scale_plain(arena, fabs(share) * 100, half * 100, "%");
}

/* "2.2 to 4.0 % less", "1.2 % less to 3.4 % more". */
static const char *range_words(struct arena *arena, const struct wording *word, struct stat_interval ratio, double half)
{
	double low = ratio.low - 1, high = ratio.high - 1;
	struct scale bare = {.unit_size = 1};

	if (low >= 0)
		return arena_printf(arena, "%s to %s %s", scale_value(arena, &bare, low * 100, half * 100),
				    percent(arena, high, half), word->more);
	if (high <= 0)
		return arena_printf(arena, "%s to %s %s", scale_value(arena, &bare, -high * 100, half * 100),
				    percent(arena, low, half), word->less);
	return arena_printf(arena, "%s %s to %s %s", percent(arena, low, half), word->less, percent(arena, high, half),
			    word->more);
}

static void put_words(const struct report_result *result, const struct store_metric *metric, const char *name,
		      struct report_difference *difference)
{
	struct arena *arena = result->arena;
	const char *base = result->whole->configurations[0].name;
	struct wording word = wording_of(metric);
	struct stat_interval ratio = difference->ratio;
	double half = (ratio.high - ratio.low) / 2, change = ratio.estimate - 1;
	const char *what = *word.noun ? word.noun : arena_printf(arena, " %s", metric->name);

	if (result->study) {
		difference->brief = "";
		difference->words = arena_printf(arena, "%s and %s were not compared in blocks.", name, base);
		return;
	}
	if (!difference->blocks || !stat_bounded(ratio)) {
		difference->brief = "too few runs to compare";
		difference->words =
		    arena_printf(arena, "%s and %s: too few blocks to compare their %s.", name, base, metric->name);
		return;
	}
	const char *range = range_words(arena, &word, ratio, half);
	const char *size = percent(arena, change, half), *side = change < 0 ? word.less : word.more;

	switch (difference->verdict) {
	case STAT_LOWER:
	case STAT_HIGHER:
		difference->brief = arena_printf(arena, "%s %s", size, side);
		difference->words =
		    arena_printf(arena, "%s %s %s %s%s than %s (%s).", name, word.verb, size, side, what, base, range);
		break;
	case STAT_EQUIVALENT:
		difference->brief =
		    arena_printf(arena, "no difference larger than %s", percent(arena, difference->within, half));
		difference->words = arena_printf(arena, "%s and %s: no difference in %s larger than %s (%s).", name,
						 base, metric->name, percent(arena, difference->within, half), range);
		break;
	case STAT_UNDECIDED:
		difference->brief = arena_printf(arena, "undecided: %s", range);
		difference->words = arena_printf(arena, "Undecided whether %s differs from %s in %s: %s.", name, base,
						 metric->name, range);
		break;
	}
}

/* ---- comparisons ---- */

static void take_row(struct report_difference *into, int blocks, struct stat_interval ratio, enum stat_verdict verdict)
{
	into->blocks = blocks;
	into->ratio = ratio;
	into->verdict = verdict;
	into->within = fmax(ratio.high, 1 / ratio.low) - 1;
}

/* All configurations with the first, over the blocks in which each has a value. */
static int compare(struct report_result *result, size_t metric, struct err *err)
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
		put_words(result, &whole->metrics[metric], whole->configurations[i].name, &into[i]);
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

/* ---- the verdict ---- */

/* The configuration with the best estimate among those of a workload, or -1. */
static int best_of(const struct report_result *result, const struct report_metric *metric, int workload)
{
	int best = -1;

	for (size_t i = 0; i < result->whole->configuration_count; i++) {
		double value = metric->estimates[i].value.estimate;
		double other = best < 0 ? NAN : metric->estimates[best].value.estimate;

		if (result->workloads[i] == workload && isfinite(value) &&
		    (best < 0 || (metric->measure.better == CHART_HIGHER ? value > other : value < other)))
			best = (int)i;
	}
	return best;
}

/* Of three and more: the best, and whether it is shown to be better than the first. The others stand in the table. */
static const char *say_best(const struct report_result *result, const struct report_metric *metric, int best)
{
	const struct report_estimate *found = &metric->estimates[best];
	struct arena *arena = result->arena;
	const char *value = scale_plain(arena, found->value.estimate, found->half, metric->measure.unit);
	const char *most = metric->measure.better == CHART_HIGHER ? "Most" : "Least";

	if (result->study)
		return arena_printf(arena,
				    "%s %s so far: %s, with %s. It was selected among %zu by their estimates; no "
				    "difference is claimed by that; hvtune compare shows one.",
				    most, metric->measure.name, result->whole->configurations[best].name, value,
				    result->whole->configuration_count / (size_t)result->workload_count);
	if (best == 0)
		return arena_printf(arena, "%s %s: %s, with %s; no other has a better estimate.", most,
				    metric->measure.name, result->whole->configurations[0].name, value);
	return arena_printf(arena, "%s %s: %s, with %s. %s", most, metric->measure.name,
			    result->whole->configurations[best].name, value, metric->differences[best].words);
}

/* The sentences of one metric. */
static void say_metric(const struct report_result *result, const struct report_metric *metric, const char **lines,
		       size_t *count)
{
	const struct store_whole *whole = result->whole;
	struct arena *arena = result->arena;

	if (whole->configuration_count == 1 && metric->estimates[0].runs) {
		const struct report_estimate *found = &metric->estimates[0];
		struct scale scale = scale_make(found->value.estimate, found->value.estimate, metric->measure.unit, 4);
		struct scale bare = scale;

		bare.unit[0] = '\0';
		lines[(*count)++] =
		    isfinite(found->half)
			? arena_printf(arena, "%s: %s (%s to %s) over %d runs.", metric->measure.name,
				       scale_value(arena, &scale, found->value.estimate, found->half),
				       scale_value(arena, &bare, found->value.low, found->half),
				       scale_value(arena, &bare, found->value.high, found->half), found->runs)
			: arena_printf(arena, "%s: %s in %d %s, too few for an interval.", metric->measure.name,
				       scale_value(arena, &scale, found->value.estimate, NAN), found->runs,
				       found->runs == 1 ? "run" : "runs");
	}
	if (whole->configuration_count == 2 && !result->study &&
	    (metric->estimates[1].runs || metric->estimates[0].runs))
		lines[(*count)++] = metric->differences[1].words;
	if (whole->configuration_count <= (result->study ? 1 : 2) || metric->measure.better == CHART_NEITHER)
		return;
	for (int workload = 0; workload < result->workload_count; workload++) {
		int best = best_of(result, metric, workload);

		if (best >= 0)
			lines[(*count)++] = say_best(result, metric, best);
	}
}

static bool any_energy(const struct report_result *result)
{
	for (size_t i = 0; i < result->whole->metric_count; i++)
		for (size_t k = 0; k < result->whole->configuration_count; k++)
			if ((text_equal(result->whole->metrics[i].unit, "J") ||
			     text_equal(result->whole->metrics[i].unit, "W")) &&
			    result->metrics[i].estimates[k].runs)
				return true;
	return false;
}

static void put_verdict(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	size_t count = 0;
	const char **lines =
	    ARENA_ARRAY(result->arena, whole->metric_count * (whole->configuration_count + 1) + 3, const char *);

	if (!whole->run_count)
		lines[count++] = "Nothing has been measured.";
	if (result->main >= 0)
		say_metric(result, &result->metrics[result->main], lines, &count);
	/* Energy and power belong to the verdict; processor times and the like stand in the table. */
	for (size_t i = 0; i < whole->metric_count; i++)
		if ((int)i != result->main &&
		    (text_equal(whole->metrics[i].unit, "J") || text_equal(whole->metrics[i].unit, "W")))
			say_metric(result, &result->metrics[i], lines, &count);
	if (whole->run_count && !any_energy(result))
		lines[count++] = "Energy: not measurable here.";
	result->verdict = lines;
}

/*
 * In a study configurations of one command belong together, and different commands are different workloads. In other
 * sessions the commands are what is compared.
 */
static void find_workloads(struct report_result *result)
{
	const struct store_whole *whole = result->whole;

	result->workloads = ARENA_ARRAY(result->arena, whole->configuration_count + 1, int);
	result->workload_count = 1;
	for (size_t i = 1; i < whole->configuration_count && result->study; i++) {
		size_t same = 0;

		while (same < i && !text_equal(whole->configurations[same].command, whole->configurations[i].command))
			same++;
		result->workloads[i] = same < i ? result->workloads[same] : result->workload_count++;
	}
}

/* The one that decided; of a session that is not over time, which most are about, or the first. */
static int main_metric(const struct store_whole *whole)
{
	json_t *verdict = parsed(whole->session.verdict);
	const char *decided = json_string_value(json_object_get(verdict, "metric"));
	int found = -1;

	for (size_t i = 0; i < whole->metric_count && decided; i++)
		found = text_equal(whole->metrics[i].name, decided) ? (int)i : found;
	json_decref(verdict);
	if (found >= 0)
		return found;
	for (size_t i = 0; i < whole->metric_count; i++)
		if (text_equal(whole->metrics[i].name, "wall time"))
			return (int)i;
	return whole->metric_count ? 0 : -1;
}

int report_result_make(struct arena *arena, const struct store_whole *whole, const struct store_sample *samples,
		       size_t sample_count, struct report_result **ret, struct err *err)
{
	struct report_result *result = ARENA_NEW(arena, struct report_result);

	*result =
	    (struct report_result){.arena = arena, .whole = whole, .samples = samples, .sample_count = sample_count};
	result->study = text_equal(whole->session.kind, "study");
	find_workloads(result);
	result->alpha = method_number(whole, "alpha", STAT_ALPHA);
	result->margin = method_number(whole, "margin", STAT_MARGIN);
	result->metrics = ARENA_ARRAY(arena, whole->metric_count + 1, struct report_metric);
	for (size_t i = 0; i < whole->metric_count; i++) {
		const struct store_metric *metric = &whole->metrics[i];

		result->metrics[i] = (struct report_metric){
		    .metric = metric,
		    .measure = {.name = metric->boundary
					    ? arena_printf(arena, "%s (%s)", metric->name, metric->boundary)
					    : metric->name,
				.unit = metric->unit ? metric->unit : "",
				.better = text_equal(metric->direction, "less")	  ? CHART_LOWER
					  : text_equal(metric->direction, "more") ? CHART_HIGHER
										  : CHART_NEITHER},
		    .estimates = ARENA_ARRAY(arena, whole->configuration_count + 1, struct report_estimate),
		    .differences = ARENA_ARRAY(arena, whole->configuration_count + 1, struct report_difference)};
		for (size_t k = 0; k < whole->configuration_count; k++) {
			result->metrics[i].differences[k] = (struct report_difference){.ratio = {NAN, NAN, NAN}};
			int r = estimate(result, k, i, err);

			if (r < 0)
				return r;
		}
		int r = compare(result, i, err);

		if (r < 0)
			return r;
	}
	result->main = main_metric(whole);
	put_verdict(result);
	report_result_charts(result);
	*ret = result;
	return 0;
}

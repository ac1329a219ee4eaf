/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns putting a session together: its settings and commands, what is computed of it, and in which order. */
#include "report_result_internal.h"

#include <math.h>
#include <string.h>

#include "text.h"

/* ---- settings and commands ---- */

json_t *result_json(const char *text)
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
	json_t *settings = result_json(configuration->settings), *value = json_object_get(settings, knob);
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
		json_t *settings = result_json(whole->configurations[i].settings);

		room += json_object_size(settings);
		json_decref(settings);
	}
	names = ARENA_ARRAY(arena, room, const char *);
	for (size_t i = 0; i < whole->configuration_count; i++) {
		json_t *settings = result_json(whole->configurations[i].settings), *value;
		const char *name;

		json_object_foreach (settings, name, value)
			if (!listed(names, count, name))
				names[count++] = arena_strdup(arena, name);
		json_decref(settings);
	}
	return names;
}

const char *result_configuration_name(const struct report_result *result, int64_t id)
{
	for (size_t i = 0; i < result->whole->configuration_count; i++)
		if (result->whole->configurations[i].id == id)
			return result->whole->configurations[i].name;
	return "?";
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
	json_t *list = result_json(words), *word;
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

/*
 * In a study configurations of one command belong together, and different commands are different workloads. In other
 * sessions the commands are what is compared.
 */
static void find_workloads(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	int *workloads = ARENA_ARRAY(result->arena, whole->configuration_count + 1, int), count = 0;

	for (size_t i = 0; i < whole->configuration_count && result->study; i++) {
		size_t same = 0;

		if (result_is_idle(result, i))
			continue;
		while (same < i && (result_is_idle(result, same) ||
				    !text_equal(whole->configurations[same].command, whole->configurations[i].command)))
			same++;
		workloads[i] = same < i ? workloads[same] : count++;
	}
	result->workload_count = MAX_OF(count, 1);
	for (size_t i = 0; i < whole->configuration_count; i++)
		if (result_is_idle(result, i))
			workloads[i] = result->workload_count;
	result->workloads = workloads;
}

bool result_is_idle(const struct report_result *result, size_t configuration)
{
	int first = result->first_run[configuration];

	/* Its runs tell; without any, that nothing is run in it. */
	return result->study && (first >= 0 ? text_equal(result->whole->runs[first].purpose, "idle")
					    : !result->whole->configurations[configuration].command);
}

size_t result_configurations_of(const struct report_result *result, int workload)
{
	size_t count = 0;

	for (size_t i = 0; i < result->whole->configuration_count; i++)
		count += result->workloads[i] == workload;
	return count;
}

/* Of a session that names its baseline the configurations with its settings, else the first of each workload. */
static void find_baselines(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	json_t *method = result_json(whole->session.method), *baseline = json_object_get(method, "baseline");
	int *found = ARENA_ARRAY(result->arena, (size_t)result->workload_count + 2, int);

	result->baselines = found;
	for (int i = 0; i <= result->workload_count; i++)
		found[i] = -1;
	for (size_t i = whole->configuration_count; i-- > 0;) {
		json_t *settings = result_json(whole->configurations[i].settings);

		if (!baseline || json_equal(settings, baseline))
			found[result->workloads[i]] = (int)i;
		json_decref(settings);
	}
	json_decref(method);
}

bool result_is_baseline(const struct report_result *result, size_t configuration)
{
	return result->baselines[result->workloads[configuration]] == (int)configuration;
}

/* The metric of energy, else of power, beside the main one; -1: nothing measured it. */
static int find_energy(const struct report_result *result)
{
	static const char *const units[] = {"J", "W"};

	for (size_t u = 0; u < ARRAY_SIZE(units); u++)
		for (size_t i = 0; i < result->whole->metric_count; i++)
			for (size_t k = 0; k < result->whole->configuration_count; k++)
				if (text_equal(result->whole->metrics[i].unit, units[u]) && (int)i != result->main &&
				    result->metrics[i].estimates[k].runs)
					return (int)i;
	return -1;
}

static void find_shares(struct report_result *result)
{
	const int metrics[] = {result->main, result->energy};

	/* What the study said rests on all that it knew. */
	result_answer(result);
	if (result->attribution_count)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		for (int workload = 0; workload < result->workload_count && metrics[i] >= 0 && result_is_few(result);
		     workload++)
			result_attribute(result, (size_t)metrics[i], workload);
}

/* The one that decided; of a session that is not over time, which most are about, or the first. */
static int main_metric(const struct store_whole *whole)
{
	json_t *verdict = result_json(whole->session.verdict);
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
	result_index_runs(result);
	find_workloads(result);
	find_baselines(result);
	result_boots(result);
	result->alpha = result_method_number(whole, "alpha", STAT_ALPHA);
	result->margin = result_method_number(whole, "margin", STAT_MARGIN);
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
			int r = result_estimate(result, k, i, err);

			if (r < 0)
				return r;
		}
		int r = result_compare(result, i, err);

		if (r < 0)
			return r;
	}
	result->main = main_metric(whole);
	result->energy = find_energy(result);
	find_shares(result);
	result_changes(result);
	int r = result_means(result, err);

	if (r < 0)
		return r;
	result_verdict(result);
	report_result_charts(result);
	*ret = result;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the charts that follow from what configurations set: a chain of single changes, and a grid of two settings. */
#include <math.h>

#include "report_result_internal.h"
#include "text.h"

/* In how many knobs do two configurations differ? *ret_knob is the last of them. */
static int differing(const struct report_result *result, const char *const *knobs, size_t a, size_t b,
		     const char **ret_knob)
{
	const struct store_configuration *all = result->whole->configurations;
	int count = 0;

	for (size_t i = 0; knobs[i]; i++) {
		const char *left = report_setting(result->arena, &all[a], knobs[i]);
		const char *right = report_setting(result->arena, &all[b], knobs[i]);

		if (text_equal(left, right) || (!left && !right))
			continue;
		*ret_knob = knobs[i];
		count++;
	}
	return count;
}

/*
 * Is each configuration the one before with one knob more? Then it is a chain of single changes. Three at least: a
 * single change is shown by its interval.
 */
bool result_is_chain(const struct report_result *result, const char *const *knobs)
{
	const char *knob, *seen[64] = {0};
	size_t count = result->whole->configuration_count;

	/* The order of a study is what was cheap to switch, or told most. */
	if (result->study || count < 3 || count > ARRAY_SIZE(seen))
		return false;
	for (size_t i = 1; i < count; i++) {
		if (differing(result, knobs, i - 1, i, &knob) != 1)
			return false;
		for (size_t k = 1; k < i; k++)
			if (text_equal(seen[k], knob))
				return false;
		seen[i] = knob;
	}
	return true;
}

/* What a knob brings alone, on top of the first configuration, beside its step in the chain. */
static const char *alone(const struct report_result *result, size_t metric, const char *const *knobs, size_t step,
			 const char *knob)
{
	const struct store_configuration *all = result->whole->configurations;
	const char *value = report_setting(result->arena, &all[step], knob), *other;

	for (size_t i = 1; i < result->whole->configuration_count; i++) {
		struct stat_interval ratio;

		if (differing(result, knobs, 0, i, &other) != 1 || !text_equal(other, knob) ||
		    !text_equal(report_setting(result->arena, &all[i], knob), value))
			continue;
		ratio = report_result_pair(result, metric, 0, i);
		return isfinite(ratio.estimate) ? arena_printf(result->arena, "alone %s",
							       result_ratio_words(result->arena, ratio.estimate,
										  (ratio.high - ratio.low) / 2))
						: "alone: too few runs";
	}
	return "alone: not measured";
}

void result_chart_chain(struct report_result *result, const struct report_metric *metric, const char *const *knobs)
{
	const struct store_whole *whole = result->whole;
	struct chart_step *steps = ARENA_ARRAY(result->arena, whole->configuration_count, struct chart_step);
	size_t index = (size_t)(metric - result->metrics);

	for (size_t i = 0; i < whole->configuration_count; i++) {
		double before = i ? metric->estimates[i - 1].value.estimate : NAN;
		struct stat_interval ratio = {NAN, NAN, NAN};
		const char *knob = NULL;

		if (i) {
			(void)differing(result, knobs, i - 1, i, &knob);
			ratio = report_result_pair(result, index, i - 1, i);
		}
		const char *value = knob ? report_setting(result->arena, &whole->configurations[i], knob) : NULL;

		steps[i] = (struct chart_step){
		    .label = !knob ? whole->configurations[i].name
				   : arena_printf(result->arena, "%s=%s", knob, value ? value : "as it was"),
		    .value = metric->estimates[i].value.estimate,
		    .change_low = before * (ratio.low - 1),
		    .change_high = before * (ratio.high - 1),
		    .note = knob ? alone(result, index, knobs, i, knob) : NULL};
	}
	result_chart(result, CHART_WATERFALL,
		     arena_printf(result->arena, "%s in single steps, in this order", metric->measure.name),
		     "What a step brings depends on those before it; what it brings alone stands beside it.")
	    ->waterfall = (struct chart_waterfall){metric->measure, steps, (int)whole->configuration_count};
}

/* The values that a knob takes, in their order; NULL where it is not set counts as "as it was". */
static const char *const *levels(const struct report_result *result, const char *knob, int *ret_count)
{
	const struct store_whole *whole = result->whole;
	const char **found = ARENA_ARRAY(result->arena, whole->configuration_count + 1, const char *);
	int count = 0;

	for (size_t i = 0; i < whole->configuration_count; i++) {
		const char *value = report_setting(result->arena, &whole->configurations[i], knob);
		bool known = false;

		value = value ? value : "as it was";
		for (int k = 0; k < count; k++)
			known |= text_equal(found[k], value);
		if (!known)
			found[count++] = value;
	}
	*ret_count = count;
	return found;
}

static int level_index(const char *const *all, int count, const char *value)
{
	for (int i = 0; i < count; i++)
		if (text_equal(all[i], value ? value : "as it was"))
			return i;
	return -1;
}

/* The two knobs that take the most values among those that take several; false: there are none. */
static bool widest_two(const struct report_result *result, const char *const *knobs, const char **ret)
{
	int most[2] = {1, 1};

	ret[0] = ret[1] = NULL;
	for (size_t k = 0; knobs[k]; k++) {
		int count;

		(void)levels(result, knobs[k], &count);
		if (count > most[0]) {
			most[1] = most[0];
			ret[1] = ret[0];
			most[0] = count;
			ret[0] = knobs[k];
		} else if (count > most[1]) {
			most[1] = count;
			ret[1] = knobs[k];
		}
	}
	return ret[1];
}

/* Are all other knobs as in the baseline of the workload? */
static bool in_slice(const struct report_result *result, const char *const *knobs, const char *const *two,
		     size_t configuration, int workload)
{
	const struct store_configuration *all = result->whole->configurations;

	for (size_t k = 0; knobs[k]; k++) {
		const char *is = report_setting(result->arena, &all[configuration], knobs[k]);
		const char *base = result->baselines[workload] < 0
				       ? NULL
				       : report_setting(result->arena, &all[result->baselines[workload]], knobs[k]);

		if (!text_equal(knobs[k], two[0]) && !text_equal(knobs[k], two[1]) && !text_equal(is, base) &&
		    (is || base))
			return false;
	}
	return true;
}

/*
 * Two knobs that both take several values, on a grid of which at least half is filled, for one workload. Of more knobs
 * the two with the most values, where the others are as in the baseline.
 */
void result_chart_heat(struct report_result *result, const struct report_metric *metric, const char *const *knobs,
		       int workload)
{
	const struct store_whole *whole = result->whole;
	struct chart_heat heat = {.measure = metric->measure};
	const char *two[2], *of = "";
	size_t filled = 0;
	double *values;

	if (!widest_two(result, knobs, two))
		return;
	heat.row_name = two[0];
	heat.column_name = two[1];
	heat.rows = levels(result, two[0], &heat.row_count);
	heat.columns = levels(result, two[1], &heat.column_count);
	size_t cells = (size_t)heat.row_count * (size_t)heat.column_count;

	values = ARENA_ARRAY(result->arena, cells, double);
	for (size_t i = 0; i < cells; i++)
		values[i] = NAN;
	for (size_t i = 0; i < whole->configuration_count; i++) {
		if (result->workloads[i] != workload || !in_slice(result, knobs, two, i, workload))
			continue;
		int row = level_index(heat.rows, heat.row_count,
				      report_setting(result->arena, &whole->configurations[i], two[0]));
		int column = level_index(heat.columns, heat.column_count,
					 report_setting(result->arena, &whole->configurations[i], two[1]));

		values[row * heat.column_count + column] = metric->estimates[i].value.estimate;
		filled += isfinite(metric->estimates[i].value.estimate);
	}
	if (filled * 2 < cells || filled < 3)
		return;
	heat.values = values;
	if (result->workload_count > 1 || workload == result->workload_count)
		of = arena_printf(result->arena, ": %s", result_workload_label(result, workload));
	const char *note = result_metric_note(result, metric->metric);

	result_chart(result, CHART_HEAT,
		     arena_printf(result->arena, "%s by %s and %s%s", metric->measure.name, two[0], two[1], of),
		     knobs[2] ? arena_printf(result->arena, "%s All other settings are as in the baseline.", note)
			      : note)
	    ->heat = heat;
}

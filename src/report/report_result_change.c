/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns before and after: what all metrics did when the settings went from the first configuration to the second, or in
 * a study from its baseline to what it chose. Of a study only runs count that were made to confirm the choice: no luck
 * of choosing is in them.
 */
#include <math.h>
#include <string.h>

#include "report_result_internal.h"
#include "report_scale.h"
#include "text.h"

/* Logs of the runs of one purpose, in their order. */
static int logs_of(const struct report_result *result, size_t configuration, size_t metric, const char *purpose,
		   double *ret)
{
	const struct store_whole *whole = result->whole;
	int count = 0;

	for (size_t i = 0; i < whole->run_count; i++) {
		double value = result_value(whole, &whole->runs[i], metric);

		if (whole->runs[i].configuration == whole->configurations[configuration].id &&
		    text_equal(whole->runs[i].purpose, purpose) && text_equal(whole->runs[i].state, "valid") &&
		    value > 0)
			ret[count++] = log(value);
	}
	return count;
}

/*
 * The level of the study's own interval: it looked after each pair and stopped when it was decided, so that an interval
 * of 95 % over its pairs would claim more than they show. A study that said nothing of it: the report's.
 */
static double level_of(const struct report_result *result)
{
	json_t *answer = result_json(result->whole->session.verdict), *target;
	double level = result->alpha;
	size_t i;

	json_array_foreach (json_object_get(answer, "targets"), i, target) {
		double own = json_number_value(json_object_get(json_object_get(target, "confirmed"), "alpha"));

		if (own > 0 && own < level)
			level = own;
	}
	json_decref(answer);
	return level;
}

static bool confirmed(struct report_result *result, size_t metric, size_t from, size_t to, double level,
		      struct report_change *into)
{
	size_t room = result->whole->run_count + 1;
	double *old = ARENA_ARRAY(result->arena, room, double), *new = ARENA_ARRAY(result->arena, room, double);
	double *d = ARENA_ARRAY(result->arena, room, double);
	int count = MIN_OF(logs_of(result, from, metric, "confirm", old), logs_of(result, to, metric, "confirm", new));
	struct stat_compare pair;

	for (int i = 0; i < count; i++)
		d[i] = new[i] - old[i];
	if (count < RESULT_LEAST || stat_compare_logs(d, count, level, result->margin, &pair, NULL) < 0)
		return false;
	*into = (struct report_change){.metric = (int)metric,
				       .from = (int)from,
				       .to = (int)to,
				       .pairs = count,
				       .before = exp(stat_mean(old, count)),
				       .after = exp(stat_mean(new, count)),
				       .ratio = pair.ratio,
				       .verdict = pair.verdict};
	return true;
}

static bool compared(const struct report_result *result, size_t metric, struct report_change *into)
{
	const struct report_metric *of = &result->metrics[metric];

	if (!of->differences[1].blocks || !stat_bounded(of->differences[1].ratio))
		return false;
	*into = (struct report_change){.metric = (int)metric,
				       .from = 0,
				       .to = 1,
				       .pairs = of->differences[1].blocks,
				       .before = of->estimates[0].value.estimate,
				       .after = of->estimates[1].value.estimate,
				       .ratio = of->differences[1].ratio,
				       .verdict = of->differences[1].verdict};
	return true;
}

/* The configuration of a workload that was measured again beside the baseline; -1: none. */
static int chosen(const struct report_result *result, int workload)
{
	const struct store_whole *whole = result->whole;

	for (size_t i = 0; i < whole->run_count; i++)
		for (size_t c = 0; c < whole->configuration_count; c++)
			if (whole->runs[i].configuration == whole->configurations[c].id &&
			    result->workloads[c] == workload && text_equal(whole->runs[i].purpose, "confirm") &&
			    result->baselines[workload] >= 0 && !result_is_baseline(result, c))
				return (int)c;
	return -1;
}

void result_changes(struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	double level = level_of(result);

	result->changes =
	    ARENA_ARRAY(result->arena, whole->metric_count * (size_t)result->workload_count + 1, struct report_change);
	for (int workload = 0; workload < result->workload_count; workload++) {
		int to = result->study ? chosen(result, workload) : whole->configuration_count == 2 ? 1 : -1;

		for (size_t m = 0; m < whole->metric_count && to >= 0; m++) {
			struct report_change *into = &result->changes[result->change_count];

			if (result->metrics[m].measure.better == CHART_NEITHER)
				continue;
			result->change_count +=
			    result->study
				? confirmed(result, m, (size_t)result->baselines[workload], (size_t)to, level, into)
				: compared(result, m, into);
		}
	}
}

/* ---- how it is shown ---- */

static const char *label_of(const struct report_result *result, const struct report_change *change)
{
	const char *name = result->metrics[change->metric].measure.name;

	return result->workload_count > 1
		   ? arena_printf(result->arena, "%s: %s", result_workload_label(result, result->workloads[change->to]),
				  name)
		   : name;
}

/* "tuned.profile: balanced -> virtual-host" would be too long for several: the names of both. */
static const char *names(const struct report_result *result)
{
	const struct report_change *first = &result->changes[0];

	return arena_printf(result->arena, "from %s to %s", result_setting_label(result, (size_t)first->from),
			    result_setting_label(result, (size_t)first->to));
}

static enum chart_mark mark_of(const struct report_result *result, const struct report_change *change)
{
	bool less = result->metrics[change->metric].measure.better == CHART_LOWER;

	if (change->verdict == STAT_UNDECIDED || change->verdict == STAT_EQUIVALENT)
		return CHART_UNSURE;
	return (change->verdict == STAT_LOWER) == less ? CHART_BEST : CHART_BAD;
}

static const char *values(const struct report_result *result, const struct report_change *change)
{
	const char *unit = result->metrics[change->metric].measure.unit;
	double half = change->after * (change->ratio.high - change->ratio.low) / 2;

	return arena_printf(result->arena, "%s to %s", scale_plain(result->arena, change->before, half, unit),
			    scale_plain(result->arena, change->after, half, unit));
}

void result_chart_changes(struct report_result *result)
{
	struct chart_interval *rows =
	    ARENA_ARRAY(result->arena, (size_t)result->change_count + 2, struct chart_interval);
	int count = 0;

	/* One alone stands in the chart of its metric. */
	if (result->change_count < 2)
		return;
	rows[count++] = (struct chart_interval){.label = result_setting_label(result, (size_t)result->changes[0].from),
						.value = 0,
						.low = NAN,
						.high = NAN,
						.note = "before",
						.mark = CHART_REFERENCE};
	for (int i = 0; i < result->change_count; i++) {
		const struct report_change *change = &result->changes[i];

		rows[count++] = (struct chart_interval){.label = label_of(result, change),
							.value = 100 * (change->ratio.estimate - 1),
							.low = 100 * (change->ratio.low - 1),
							.high = 100 * (change->ratio.high - 1),
							.note = values(result, change),
							.mark = mark_of(result, change)};
	}
	result_chart(result, CHART_INTERVALS, arena_printf(result->arena, "Before and after, %s", names(result)),
		     result->study ? "Intervals of pairs that were measured to confirm the choice, 95 % over all looks."
				   : "95 % intervals over the blocks that hold both.")
	    ->intervals = (struct chart_intervals){{"change", "%", CHART_NEITHER}, rows, count};
}

void result_doc_changes(struct doc *doc, const struct report_result *result)
{
	static const char *const heads[] = {"metric", "before", "after", "change", "interval", "pairs"};
	struct arena *arena = doc->arena;
	size_t columns = ARRAY_SIZE(heads);
	const char **cells = ARENA_ARRAY(arena, (size_t)result->change_count * columns + 1, const char *);
	struct doc_table *table = ARENA_NEW(arena, struct doc_table);

	/* Of two configurations the table of figures has all of it. */
	if (!result->change_count || !result->study)
		return;
	for (int i = 0; i < result->change_count; i++) {
		const struct report_change *change = &result->changes[i];
		const char *unit = result->metrics[change->metric].measure.unit, **row = &cells[(size_t)i * columns];
		double half = (change->ratio.high - change->ratio.low) / 2;

		row[0] = label_of(result, change);
		row[1] = scale_plain(arena, change->before, change->before * half, unit);
		row[2] = scale_plain(arena, change->after, change->after * half, unit);
		row[3] = result_ratio_words(arena, change->ratio.estimate, half);
		row[4] = arena_printf(arena, "%s to %s", result_ratio_words(arena, change->ratio.low, half),
				      result_ratio_words(arena, change->ratio.high, half));
		row[5] = arena_printf(arena, "%d", change->pairs);
	}
	*table = (struct doc_table){arena_printf(arena, "Measured again in pairs, %s", names(result)),
				    heads,
				    cells,
				    (int)columns,
				    result->change_count,
				    1};
	doc_add(doc, DOC_HEADING, "Before and after");
	doc_add_table(doc, table);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the geometric means over the workloads of a study: performance, power and performance per watt of each
 * configuration beside the baseline, with both intervals (stat_geomean.h), as table and charts.
 *
 * A workload without runs of a configuration or of the baseline is in neither side, and is named.
 */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "report_result_internal.h"
#include "report_scale.h"
#include "text.h"

/* More configurations have no room in a chart. */
enum { MOST_DRAWN = 24, MOST_COLUMNS = 8 };

bool result_has_runs(const struct report_result *result, int workload, size_t metric)
{
	for (size_t i = 0; i < result->whole->configuration_count; i++)
		if (result->workloads[i] == workload && result->metrics[metric].estimates[i].runs)
			return true;
	return false;
}

int result_metric_of(const struct report_result *result, int workload)
{
	static const char *const ours[] = {BENCH_WALL, BENCH_USER, BENCH_SYSTEM, BENCH_PEAK, BENCH_FOREIGN};
	int found = -1;

	for (size_t m = 0; m < result->whole->metric_count; m++) {
		const struct store_metric *metric = &result->whole->metrics[m];
		bool own = text_equal(metric->unit, "J") || text_equal(metric->unit, "W") ||
			   result->metrics[m].measure.better == CHART_NEITHER;

		for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
			own = own || text_equal(metric->name, ours[i]);
		if (!result_has_runs(result, workload, m))
			continue;
		if (!own)
			return (int)m;
		if (found < 0 || text_equal(metric->name, BENCH_WALL))
			found = (int)m;
	}
	return found;
}

/* ---- means ---- */

/* The logs of each workload for one configuration of the study, taken from those of the baseline. */
struct logs {
	struct stat_workload *performance, *power, *efficiency;
};

static int wall_metric(const struct report_result *result)
{
	const struct store_metric *wall = store_metric_named(result->whole, BENCH_WALL);

	return wall ? (int)(wall - result->whole->metrics) : -1;
}

/* Logs of watts: joules over seconds where energy is what was measured. */
static int watts(const struct report_result *result, size_t configuration, double **ret)
{
	int energy = result->energy, wall = wall_metric(result), count;
	double *seconds;

	*ret = NULL;
	if (energy < 0)
		return 0;
	count = result_logs(result, configuration, (size_t)energy, ret);
	if (!text_equal(result->whole->metrics[energy].unit, "J"))
		return count;
	if (wall < 0 || result_logs(result, configuration, (size_t)wall, &seconds) != count)
		return 0;
	for (int i = 0; i < count; i++)
		(*ret)[i] -= seconds[i];
	return count;
}

/* What one workload says of `of` beside `base`: the k-th runs of both are a pair. */
static void take_pair(const struct report_result *result, int workload, size_t base, size_t of, struct logs *logs)
{
	int metric = result_metric_of(result, workload), count, watt_count;
	double *old, *new, *old_watts, *new_watts;

	if (metric < 0)
		return;
	double sign = result->metrics[metric].measure.better == CHART_HIGHER ? 1 : -1;
	int before = result_logs(result, base, (size_t)metric, &old),
	    after = result_logs(result, of, (size_t)metric, &new);
	int watts_before = watts(result, base, &old_watts), watts_after = watts(result, of, &new_watts);

	count = MIN_OF(before, after);
	watt_count = MIN_OF(MIN_OF(watts_before, watts_after), count);
	for (int i = 0; i < count; i++) {
		new[i] = sign *(new[i] - old[i]);
		if (i >= watt_count)
			continue;
		new_watts[i] -= old_watts[i];
		/* For fixed work that is the ratio of energies; for rates work over energy, paired. */
		old[i] = new[i] - new_watts[i];
	}
	logs->performance[workload] = (struct stat_workload){new, count, 1};
	logs->power[workload] = (struct stat_workload){new_watts, watt_count, 1};
	logs->efficiency[workload] = (struct stat_workload){old, watt_count, 1};
}

/* The configuration of a workload with these settings, or -1. */
static int same_settings(const struct report_result *result, int workload, const char *settings)
{
	const struct store_whole *whole = result->whole;

	for (size_t i = 0; i < whole->configuration_count; i++)
		if (result->workloads[i] == workload && text_equal(whole->configurations[i].settings, settings))
			return (int)i;
	return -1;
}

/* 0 with `workloads` 0 where nothing was measured of both. */
static int mean_of(const struct report_result *result, const struct stat_workload *workloads, struct stat_geomean *ret,
		   struct err *err)
{
	int any = 0;

	for (int i = 0; i < result->workload_count; i++)
		any += workloads[i].n;
	return any ? stat_geomean(workloads, result->workload_count, STAT_ALPHA, ret, err) : 0;
}

static int make_mean(struct report_result *result, const char *settings, struct report_mean *into, struct err *err)
{
	size_t count = (size_t)result->workload_count;
	struct logs logs = {ARENA_ARRAY(result->arena, count, struct stat_workload),
			    ARENA_ARRAY(result->arena, count, struct stat_workload),
			    ARENA_ARRAY(result->arena, count, struct stat_workload)};
	int r;

	*into = (struct report_mean){
	    .configuration = -1, .ratios = ARENA_ARRAY(result->arena, count, double), .left_out = ""};
	for (int i = 0; i < result->workload_count; i++) {
		int of = same_settings(result, i, settings);

		logs.performance[i].weight = logs.power[i].weight = logs.efficiency[i].weight = 1;
		into->ratios[i] = NAN;
		if (of < 0 || result->baselines[i] < 0)
			continue;
		into->configuration = into->configuration < 0 ? of : into->configuration;
		take_pair(result, i, (size_t)result->baselines[i], (size_t)of, &logs);
		if (logs.performance[i].n)
			into->ratios[i] = exp(stat_mean(logs.performance[i].d, logs.performance[i].n));
	}
	for (int i = 0; i < result->workload_count; i++)
		if (!logs.performance[i].n)
			into->left_out = arena_printf(result->arena, "%s%s%s", into->left_out,
						      *into->left_out ? ", " : "", result_workload_label(result, i));
	r = mean_of(result, logs.performance, &into->performance, err);
	if (r == 0)
		r = mean_of(result, logs.power, &into->power, err);
	return r == 0 ? mean_of(result, logs.efficiency, &into->efficiency, err) : r;
}

int result_means(struct report_result *result, struct err *err)
{
	const struct store_whole *whole = result->whole;
	int r = 0;

	if (result->workload_count < 2 || result->baselines[0] < 0)
		return 0;
	const char *base = whole->configurations[result->baselines[0]].settings;

	result->means = ARENA_ARRAY(result->arena, whole->configuration_count + 1, struct report_mean);
	r = make_mean(result, base, &result->means[result->mean_count++], err);
	for (size_t i = 0; i < whole->configuration_count && r == 0; i++) {
		const char *settings = whole->configurations[i].settings;
		bool known = text_equal(settings, base);

		for (size_t k = 0; k < i && !known; k++)
			known = text_equal(whole->configurations[k].settings, settings);
		if (known)
			continue;
		r = make_mean(result, settings, &result->means[result->mean_count], err);
		result->mean_count += result->means[result->mean_count].performance.workloads > 0;
	}
	return r;
}

/* ---- names ---- */

static const char *command_of(const struct report_result *result, size_t configuration)
{
	const char *command = result->whole->configurations[configuration].command;

	return command ? report_command(result->arena, command) : "nothing is run";
}

const char *result_workload_label(const struct report_result *result, int workload)
{
	const struct store_whole *whole = result->whole;

	for (size_t i = 0; i < whole->configuration_count; i++) {
		const char *colon = strstr(whole->configurations[i].name, ": ");

		/* "WORKLOAD: SETTINGS" is how a study of several names them. */
		if (result->workloads[i] == workload)
			return result->study && colon ? arena_strndup(result->arena, whole->configurations[i].name,
								      (size_t)(colon - whole->configurations[i].name))
						      : command_of(result, i);
	}
	return "?";
}

const char *result_setting_label(const struct report_result *result, size_t configuration)
{
	const char *name = result->whole->configurations[configuration].name, *colon = strstr(name, ": ");

	return colon && (result_is_idle(result, configuration) || (result->study && result->workload_count > 1))
		   ? colon + 2
		   : name;
}

/* ---- how it is shown ---- */

/* Percent of the baseline. */
static const char *share(struct arena *arena, struct stat_interval ratio)
{
	struct scale bare = {.unit_size = 1};
	double half = 50 * (ratio.high - ratio.low);

	if (!stat_bounded(ratio))
		return arena_printf(arena, "%s (too few runs for an interval)",
				    scale_plain(arena, 100 * ratio.estimate, NAN, "%"));
	return arena_printf(arena, "%s (%s to %s)", scale_plain(arena, 100 * ratio.estimate, half, "%"),
			    scale_value(arena, &bare, 100 * ratio.low, half),
			    scale_value(arena, &bare, 100 * ratio.high, half));
}

static const char *mean_text(struct arena *arena, const struct stat_geomean *mean, bool alike)
{
	return mean->workloads ? share(arena, alike ? mean->alike : mean->these) : "not measured";
}

const char *result_power_words(struct arena *arena, const struct report_mean *mean)
{
	return mean->power.workloads && mean->power.workloads != mean->performance.workloads
		   ? arena_printf(arena, " (power of %d of them)", mean->power.workloads)
		   : "";
}

void result_doc_means(struct doc *doc, const struct report_result *result)
{
	static const char *const heads[] = {"configuration",	    "workloads", "performance, these workloads",
					    "workloads like these", "power",	 "performance per watt"};
	struct arena *arena = doc->arena;
	size_t columns = ARRAY_SIZE(heads);
	const char **cells = ARENA_ARRAY(arena, (size_t)result->mean_count * columns + 1, const char *);
	struct doc_table *table = ARENA_NEW(arena, struct doc_table);

	if (result->mean_count < 2)
		return;
	for (int i = 1; i < result->mean_count; i++) {
		const struct report_mean *mean = &result->means[i];
		const char **row = &cells[(size_t)(i - 1) * columns];

		row[0] = result_setting_label(result, (size_t)mean->configuration);
		row[1] = arena_printf(arena, "%d%s%s", mean->performance.workloads, *mean->left_out ? ", without " : "",
				      mean->left_out);
		row[2] = mean_text(arena, &mean->performance, false);
		row[3] = mean_text(arena, &mean->performance, true);
		row[4] =
		    arena_printf(arena, "%s%s", mean_text(arena, &mean->power, false), result_power_words(arena, mean));
		row[5] = arena_printf(arena, "%s%s", mean_text(arena, &mean->efficiency, false),
				      result_power_words(arena, mean));
	}
	*table = (struct doc_table){arena_printf(arena, "Percent of the baseline (%s), with 95 %% intervals",
						 result_setting_label(result, (size_t)result->means[0].configuration)),
				    heads,
				    cells,
				    (int)columns,
				    result->mean_count - 1,
				    2};
	doc_add(doc, DOC_HEADING, "Geometric means over the workloads");
	doc_add_table(doc, table);
	doc_add(doc, DOC_NOTE,
		"The first interval is about these workloads, the second about others of their kind, and is much "
		"wider. The "
		"k-th runs of both sides are pairs; each workload counts alike.");
}

static int by_performance(const void *a, const void *b)
{
	double x = (*(const struct report_mean *const *)a)->performance.these.estimate,
	       y = (*(const struct report_mean *const *)b)->performance.these.estimate;

	return (x < y) - (x > y);
}

/* Those that are drawn: the best, and the baseline among them. */
static const struct report_mean **drawn(const struct report_result *result, int most, int *ret_count)
{
	const struct report_mean **order =
	    ARENA_ARRAY(result->arena, (size_t)result->mean_count + 1, const struct report_mean *);

	for (int i = 0; i < result->mean_count; i++)
		order[i] = &result->means[i];
	qsort(order, (size_t)result->mean_count, sizeof(*order), by_performance);
	*ret_count = MIN_OF(result->mean_count, most);
	for (int i = *ret_count; i < result->mean_count; i++)
		if (order[i] == &result->means[0])
			order[*ret_count - 1] = order[i];
	return order;
}

static void chart_intervals(struct report_result *result, const char *note)
{
	int count;
	const struct report_mean **order = drawn(result, MOST_DRAWN, &count);
	struct chart_interval *rows = ARENA_ARRAY(result->arena, (size_t)count, struct chart_interval);

	for (int i = 0; i < count; i++) {
		const struct stat_interval *these = &order[i]->performance.these;
		bool base = order[i] == &result->means[0], bounded = stat_bounded(*these) && !base;

		rows[i] = (struct chart_interval){
		    .label = result_setting_label(result, (size_t)order[i]->configuration),
		    .value = 100 * these->estimate,
		    .low = bounded ? 100 * these->low : NAN,
		    .high = bounded ? 100 * these->high : NAN,
		    .note = base ? "the baseline"
			    : order[i]->power.workloads
				? arena_printf(result->arena, "at %s of the power%s",
					       scale_plain(result->arena, 100 * order[i]->power.these.estimate, 1, "%"),
					       result_power_words(result->arena, order[i]))
				: NULL,
		    .mark = base ? CHART_REFERENCE : CHART_PLAIN};
	}
	result_chart(
	    result, CHART_INTERVALS,
	    arena_printf(result->arena, "Performance over %d workloads, as geometric means", result->workload_count),
	    note)
	    ->intervals = (struct chart_intervals){{"performance beside the baseline", "%", CHART_HIGHER}, rows, count};
}

static void chart_front(struct report_result *result, const char *note)
{
	int count;
	const struct report_mean **order = drawn(result, MOST_DRAWN, &count);
	struct chart_point *points = ARENA_ARRAY(result->arena, (size_t)count, struct chart_point);

	for (int i = 0; i < count; i++) {
		const struct stat_interval *x = &order[i]->power.these, *y = &order[i]->performance.these;
		bool base = order[i] == &result->means[0], first = !base && stat_bounded(*x),
		     second = !base && stat_bounded(*y), known = order[i]->power.workloads > 0;

		points[i] = (struct chart_point){.label = result_setting_label(result, (size_t)order[i]->configuration),
						 .x = known ? 100 * x->estimate : NAN,
						 .x_low = known && first ? 100 * x->low : NAN,
						 .x_high = known && first ? 100 * x->high : NAN,
						 .y = 100 * y->estimate,
						 .y_low = second ? 100 * y->low : NAN,
						 .y_high = second ? 100 * y->high : NAN};
	}
	const struct chart_pareto pareto = {{"power beside the baseline", "%", CHART_LOWER},
					    {"performance beside the baseline", "%", CHART_HIGHER},
					    points,
					    count};

	result_mark_front(&pareto, points);
	result_chart(result, CHART_PARETO, "Performance and power over the workloads", note)->pareto = pareto;
}

static void chart_each(struct report_result *result, const char *note)
{
	int count;
	const struct report_mean **order = drawn(result, MOST_COLUMNS, &count);
	struct arena *arena = result->arena;
	const char **rows = ARENA_ARRAY(arena, (size_t)result->workload_count, const char *);
	const char **columns = ARENA_ARRAY(arena, (size_t)count, const char *);
	double *values = ARENA_ARRAY(arena, (size_t)(count * result->workload_count), double);

	for (int w = 0; w < result->workload_count; w++) {
		rows[w] = result_workload_label(result, w);
		for (int i = 0; i < count; i++)
			values[w * count + i] = 100 * order[i]->ratios[w];
	}
	for (int i = 0; i < count; i++)
		columns[i] = result_setting_label(result, (size_t)order[i]->configuration);
	result_chart(result, CHART_HEAT, "Performance of each workload beside the baseline", note)->heat =
	    (struct chart_heat){{"performance", "%", CHART_HIGHER},
				"workload",
				"configuration",
				rows,
				columns,
				result->workload_count,
				count,
				values};
}

static const char *best_of(const struct report_result *result, int drawn)
{
	return result->mean_count > drawn
		   ? arena_printf(result->arena, " The best %d of %d; the table has all.", drawn, result->mean_count)
		   : "";
}

void result_chart_means(struct report_result *result)
{
	const char *base;

	if (result->mean_count < 2)
		return;
	base = result_setting_label(result, (size_t)result->means[0].configuration);
	const char *note = arena_printf(result->arena, "The baseline is %s. 95 %% intervals, for these workloads.%s",
					base, best_of(result, MOST_DRAWN));

	chart_intervals(result, note);
	for (int i = 1; i < result->mean_count; i++)
		if (result->means[i].power.workloads) {
			chart_front(result, note);
			break;
		}
	chart_each(result,
		   arena_printf(result->arena, "Percent of the baseline, %s.%s", base, best_of(result, MOST_COLUMNS)));
}

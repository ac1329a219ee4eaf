/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files that make a result have in common. Used by them only. */
#ifndef HVTUNE_REPORT_RESULT_INTERNAL_H
#define HVTUNE_REPORT_RESULT_INTERNAL_H

#include "report_result.h"

/* Fewer runs, blocks or boots give no interval that would tell anything: of two, t is 12.7. */
enum { RESULT_LEAST = 3 };

/* The text as JSON, to be released; NULL for NULL and for what is none. */
json_t *result_json(const char *text);

/* A number between 0 and 1 of the session's method. */
double result_method_number(const struct store_whole *whole, const char *name, double otherwise);

/* Valid, and neither warm-up nor calibration. */
bool result_counts(const struct store_run *run);

double result_value(const struct store_whole *whole, const struct store_run *run, size_t metric);

/* Which runs are of which configuration: result->first_run and its neighbours. */
void result_index_runs(struct report_result *result);

/* Tell the boots of the host apart: result->boots. */
void result_boots(struct report_result *result);

/*
 * Logs of the runs of a configuration that count, in their order; of several boots the means of each, since runs of one
 * boot are no more alike. In the arena. How many; 0 also when a value is not above 0.
 */
int result_logs(const struct report_result *result, size_t configuration, size_t metric, double **ret_logs);

/* Fill the estimate of a configuration; all differences to the first. Errors of src/stat. */
int result_estimate(struct report_result *result, size_t configuration, size_t metric, struct err *err);
int result_compare(struct report_result *result, size_t metric, struct err *err);

/* The sentences of a difference; of the whole session, into result->verdict. */
void result_words(const struct report_result *result, const struct store_metric *metric, const char *name,
		  struct report_difference *difference);
void result_verdict(struct report_result *result);

/* The configuration with the best estimate among those of a workload, or -1. */
int result_best(const struct report_result *result, const struct report_metric *metric, int workload);

/* Of many workloads each has no charts of its own: their geometric means stand for them. */
static inline bool result_is_few(const struct report_result *result)
{
	return result->workload_count <= 6;
}

/* The name of the configuration with that id; "?": there is none. */
const char *result_configuration_name(const struct report_result *result, int64_t id);

/* Names without what is the same in all: of the workload, and of the settings, of a study with several workloads. */
const char *result_workload_label(const struct report_result *result, int workload);
const char *result_setting_label(const struct report_result *result, size_t configuration);

/* Which points no other is better than in both; those with a value that is not known are on no front. */
void result_mark_front(const struct chart_pareto *pareto, struct chart_point *points);

/* One more chart of the result, to be filled in. */
struct chart *result_chart(struct report_result *result, enum chart_kind kind, const char *title, const char *note);

/* What the session says it began from; of one that says nothing, the first configuration. */
bool result_is_baseline(const struct report_result *result, size_t configuration);

/* Idle windows of a study. */
bool result_is_idle(const struct report_result *result, size_t configuration);

size_t result_configurations_of(const struct report_result *result, int workload);

/* Does a metric have runs in a workload? */
bool result_has_runs(const struct report_result *result, int workload, size_t metric);

/*
 * What a study said at its end, into result->answer and result->attributions; its charts (false: it has none), and its
 * tables of what to take and of idle watts.
 */
void result_answer(struct report_result *result);
bool result_chart_answer(struct report_result *result);
void result_doc_picks(struct doc *doc, const struct report_result *result);
void result_doc_idle(struct doc *doc, const struct report_result *result);

/*
 * What the study said of idle windows of that configuration, NULL: nothing. Parts of one window are no runs: its
 * intervals are what counts.
 */
const struct report_idle *result_idle_of(const struct report_result *result, size_t configuration);

/* What the configuration is picked for: "fastest, knee"; NULL: nothing. */
const char *result_picked(const struct report_result *result, const char *name);

/* The shares of the settings in a metric and workload, where the configurations that tell them were measured. */
void result_attribute(struct report_result *result, size_t metric, int workload);
void result_chart_attribution(struct report_result *result, const struct report_attribution *shares);
void result_doc_attribution(struct doc *doc, const struct report_result *result);

/* The metric that the workload is about: its own figure, else wall time, else the first. -1: nothing was measured. */
int result_metric_of(const struct report_result *result, int workload);

/* Geometric means over the workloads of a study, beside its baseline; nothing with fewer than two workloads. */
int result_means(struct report_result *result, struct err *err);
/* " (power of 2 of them)" where not all workloads have energy; "". */
const char *result_power_words(struct arena *arena, const struct report_mean *mean);
void result_chart_means(struct report_result *result);
void result_doc_means(struct doc *doc, const struct report_result *result);

/* Before and after. */
void result_changes(struct report_result *result);
void result_chart_changes(struct report_result *result);
void result_doc_changes(struct doc *doc, const struct report_result *result);

/* "-3.1 %" of a ratio .969; `half` as resolution. */
const char *result_ratio_words(struct arena *arena, double ratio, double half);

/* How the intervals of a metric came about, and of energy what measured it. */
const char *result_metric_note(const struct report_result *result, const struct store_metric *metric);

/* `knobs` as report_settings() gives them. Is each configuration the one before with one more? Then its steps. */
bool result_is_chain(const struct report_result *result, const char *const *knobs);
void result_chart_chain(struct report_result *result, const struct report_metric *metric, const char *const *knobs);

/* The map of the two settings with the most values, where enough of it was measured. */
void result_chart_heat(struct report_result *result, const struct report_metric *metric, const char *const *knobs,
		       int workload);

/* The runs of some configurations (all in `order`, the best first) over time, where there are several boots. */
void result_chart_boots(struct report_result *result, const struct report_metric *metric, const size_t *order);

/* The charts over time. */
void result_chart_series(struct report_result *result);
void result_chart_runs_over_time(struct report_result *result);

#endif

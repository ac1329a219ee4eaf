/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a session as JSON: what it is, its estimates and comparisons, and every run. */
#include <math.h>

#include "report.h"
#include "report_result.h"

/* What is not known is null, never zero. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Bounds of an interval that has none are not known either. */
static void put_interval(json_t *json, struct stat_interval interval)
{
	bool bounded = stat_bounded(interval);

	json_object_set_new(json, "low", bounded ? number(interval.low) : json_null());
	json_object_set_new(json, "high", bounded ? number(interval.high) : json_null());
}

/* A text that is JSON, as such. */
static json_t *embedded(const char *text)
{
	json_t *json = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;

	return json ? json : report_json_text(text);
}

static json_t *time_us(int64_t value)
{
	return value ? json_real((double)value / 1e6) : json_null();
}

static json_t *session_json(const struct store_session *session)
{
	json_t *json = json_object();

	json_object_set_new(json, "id", json_integer(session->id));
	json_object_set_new(json, "uid", report_json_text(session->uid));
	json_object_set_new(json, "kind", report_json_text(session->kind));
	json_object_set_new(json, "name", report_json_text(session->name));
	json_object_set_new(json, "host", report_json_text(session->host));
	json_object_set_new(json, "began_s", time_us(session->began_us));
	json_object_set_new(json, "ended_s", time_us(session->ended_us));
	json_object_set_new(json, "state", report_json_text(session->state));
	json_object_set_new(json, "why", report_json_text(session->why));
	json_object_set_new(json, "command", embedded(session->command));
	json_object_set_new(json, "cwd", report_json_text(session->cwd));
	json_object_set_new(json, "environment", embedded(session->environment));
	json_object_set_new(json, "facts", embedded(session->facts));
	json_object_set_new(json, "method", embedded(session->method));
	json_object_set_new(json, "verdict_printed", embedded(session->verdict));
	return json;
}

static json_t *estimate_json(const struct report_result *result, const struct report_metric *metric, size_t index)
{
	static const char *const verdicts[] = {[STAT_UNDECIDED] = "undecided",
					       [STAT_LOWER] = "lower",
					       [STAT_HIGHER] = "higher",
					       [STAT_EQUIVALENT] = "equivalent"};
	const struct report_estimate *found = &metric->estimates[index];
	const struct report_difference *difference = &metric->differences[index];
	json_t *json = json_object(), *beside = json_null();

	json_object_set_new(json, "configuration", report_json_text(result->whole->configurations[index].name));
	json_object_set_new(json, "runs", json_integer(found->runs));
	json_object_set_new(json, "estimate", number(found->value.estimate));
	put_interval(json, found->value);
	if (index && difference->blocks) {
		beside = json_object();
		json_object_set_new(beside, "ratio", number(difference->ratio.estimate));
		put_interval(beside, difference->ratio);
		json_object_set_new(beside, "blocks", json_integer(difference->blocks));
		json_object_set_new(beside, "verdict", json_string(verdicts[difference->verdict]));
		json_object_set_new(beside, "within", number(difference->within));
		json_object_set_new(beside, "words", report_json_text(difference->words));
	}
	json_object_set_new(json, "beside_first", beside);
	return json;
}

static json_t *metric_json(const struct report_result *result, const struct report_metric *metric)
{
	json_t *json = json_object(), *estimates = json_array();

	json_object_set_new(json, "name", report_json_text(metric->metric->name));
	json_object_set_new(json, "unit", report_json_text(metric->metric->unit));
	json_object_set_new(json, "better", report_json_text(metric->metric->direction));
	json_object_set_new(json, "source", report_json_text(metric->metric->source));
	json_object_set_new(json, "boundary", report_json_text(metric->metric->boundary));
	for (size_t i = 0; i < result->whole->configuration_count; i++)
		json_array_append_new(estimates, estimate_json(result, metric, i));
	json_object_set_new(json, "estimates", estimates);
	return json;
}

static json_t *run_json(const struct report_result *result, const struct store_run *run)
{
	json_t *json = json_object(), *values = json_object();

	json_object_set_new(json, "id", json_integer(run->id));
	json_object_set_new(json, "configuration", json_integer(run->configuration));
	json_object_set_new(json, "block", run->block < 0 ? json_null() : json_integer(run->block));
	json_object_set_new(json, "purpose", report_json_text(run->purpose));
	json_object_set_new(json, "state", report_json_text(run->state));
	json_object_set_new(json, "why", report_json_text(run->why));
	json_object_set_new(json, "began_s", time_us(run->began_us));
	json_object_set_new(json, "took_s", run->took_ns < 0 ? json_null() : json_real((double)run->took_ns / 1e9));
	json_object_set_new(json, "exit_code", run->exit_code < 0 ? json_null() : json_integer(run->exit_code));
	for (size_t i = 0; i < result->whole->metric_count; i++)
		json_object_set_new(values, result->whole->metrics[i].name, number(run->values ? run->values[i] : NAN));
	json_object_set_new(json, "values", values);
	return json;
}

static json_t *ratio_json(struct stat_interval ratio)
{
	json_t *json = json_object();

	json_object_set_new(json, "ratio", number(ratio.estimate));
	put_interval(json, ratio);
	return json;
}

static json_t *geomean_json(const struct stat_geomean *mean)
{
	json_t *json;

	if (!mean->workloads)
		return json_null();
	json = ratio_json(mean->these);
	json_object_set_new(json, "alike", ratio_json(mean->alike));
	json_object_set_new(json, "workloads", json_integer(mean->workloads));
	return json;
}

static json_t *means_json(const struct report_result *result)
{
	json_t *list = json_array();

	for (int i = 0; i < result->mean_count; i++) {
		const struct report_mean *mean = &result->means[i];
		json_t *row = json_object();

		json_object_set_new(row, "settings",
				    embedded(result->whole->configurations[mean->configuration].settings));
		json_object_set_new(row, "performance", geomean_json(&mean->performance));
		json_object_set_new(row, "power", geomean_json(&mean->power));
		json_object_set_new(row, "performance_per_watt", geomean_json(&mean->efficiency));
		json_object_set_new(row, "left_out", report_json_text(mean->left_out));
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *changes_json(const struct report_result *result)
{
	json_t *list = json_array();

	for (int i = 0; i < result->change_count; i++) {
		const struct report_change *change = &result->changes[i];
		const struct store_configuration *all = result->whole->configurations;
		json_t *row = ratio_json(change->ratio);

		json_object_set_new(row, "metric", report_json_text(result->whole->metrics[change->metric].name));
		json_object_set_new(row, "from", report_json_text(all[change->from].name));
		json_object_set_new(row, "to", report_json_text(all[change->to].name));
		json_object_set_new(row, "before", number(change->before));
		json_object_set_new(row, "after", number(change->after));
		json_object_set_new(row, "pairs", json_integer(change->pairs));
		json_array_append_new(list, row);
	}
	return list;
}

static json_t *attribution_json(const struct report_attribution *shares)
{
	json_t *json = json_object(), *settings = json_array(), *chain = json_array();

	json_object_set_new(json, "metric", report_json_text(shares->goal));
	json_object_set_new(json, "workload", report_json_text(shares->workload));
	json_object_set_new(json, "from", report_json_text(shares->from));
	json_object_set_new(json, "to", report_json_text(shares->to));
	json_object_set_new(json, "total", ratio_json(shares->total));
	for (int k = 0; k < shares->count; k++) {
		const struct report_lever *lever = &shares->levers[k];
		json_t *row = ratio_json(lever->share);

		json_object_set_new(row, "setting", report_json_text(lever->knobs));
		json_object_set_new(row, "from", report_json_text(lever->from));
		json_object_set_new(row, "to", report_json_text(lever->to));
		json_object_set_new(row, "alone", number(lever->alone));
		json_object_set_new(row, "least", number(lever->least));
		json_object_set_new(row, "most", number(lever->most));
		json_object_set_new(row, "equivalent", json_boolean(lever->equivalent));
		json_array_append_new(settings, row);
	}
	for (int i = 0; i < shares->chain_count; i++)
		json_array_append_new(
		    chain, json_pack("{s:o, s:o, s:o, s:o}", "setting", report_json_text(shares->chain[i].label),
				     "value", number(shares->chain[i].value), "ratio", number(shares->chain[i].step),
				     "alone", number(shares->chain[i].alone)));
	json_object_set_new(json, "settings", settings);
	json_object_set_new(json, "in_this_order", chain);
	json_object_set_new(json, "not_attributable", ratio_json(shares->residual));
	json_object_set_new(json, "attributable", json_boolean(shares->attributable));
	return json;
}

json_t *report_result_json(const struct report_result *result)
{
	const struct store_whole *whole = result->whole;
	json_t *json = report_json_start("report", NULL), *verdict = json_array(), *metrics = json_array();
	json_t *configurations = json_array(), *runs = json_array(), *notes = json_array(), *shares = json_array();

	json_object_set_new(json, "session", session_json(&whole->session));
	for (size_t i = 0; result->verdict[i]; i++)
		json_array_append_new(verdict, report_json_text(result->verdict[i]));
	json_object_set_new(json, "verdict", verdict);
	for (size_t i = 0; i < whole->configuration_count; i++) {
		const struct store_configuration *one = &whole->configurations[i];
		json_t *row = json_object();

		json_object_set_new(row, "id", json_integer(one->id));
		json_object_set_new(row, "name", report_json_text(one->name));
		json_object_set_new(row, "command", embedded(one->command));
		json_object_set_new(row, "settings", embedded(one->settings));
		json_object_set_new(row, "place", report_json_text(one->place));
		json_array_append_new(configurations, row);
	}
	json_object_set_new(json, "configurations", configurations);
	for (size_t i = 0; i < whole->metric_count; i++)
		json_array_append_new(metrics, metric_json(result, &result->metrics[i]));
	json_object_set_new(json, "metrics", metrics);
	for (int i = 0; i < result->attribution_count; i++)
		json_array_append_new(shares, attribution_json(&result->attributions[i]));
	json_object_set_new(json, "attribution", shares);
	json_object_set_new(json, "changes", changes_json(result));
	json_object_set_new(json, "geometric_means", means_json(result));
	for (size_t i = 0; i < whole->run_count; i++)
		json_array_append_new(runs, run_json(result, &whole->runs[i]));
	json_object_set_new(json, "runs", runs);
	for (size_t i = 0; i < whole->note_count; i++)
		json_array_append_new(
		    notes, json_pack("{s:o, s:o, s:o, s:o}", "run",
				     whole->notes[i].run < 0 ? json_null() : json_integer(whole->notes[i].run), "at_s",
				     time_us(whole->notes[i].at_us), "kind", report_json_text(whole->notes[i].kind),
				     "text", report_json_text(whole->notes[i].text)));
	json_object_set_new(json, "notes", notes);
	return json;
}

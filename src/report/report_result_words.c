/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a session showed in words: the sentences of comparisons, and the verdict made of them. */
#include <math.h>
#include <string.h>

#include "bench_energy.h"
#include "report_result_internal.h"
#include "report_scale.h"
#include "report_study.h"
#include "text.h"

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

void result_words(const struct report_result *result, const struct store_metric *metric, const char *name,
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

/* ---- the verdict ---- */

/* The configuration with the best estimate among those of a workload, or -1. */
int result_best(const struct report_result *result, const struct report_metric *metric, int workload)
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
				    result_configurations_of(result, result->workloads[best]));
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
			: arena_printf(arena, "%s: %s in %s, too few for an interval.", metric->measure.name,
				       scale_value(arena, &scale, found->value.estimate, NAN),
				       text_count(arena, found->runs, "run", "runs"));
	}
	if (whole->configuration_count == 2 && !result->study &&
	    (metric->estimates[1].runs || metric->estimates[0].runs))
		lines[(*count)++] = metric->differences[1].words;
	if (whole->configuration_count <= (result->study ? 1 : 2) || metric->measure.better == CHART_NEITHER)
		return;
	for (int workload = 0; workload < result->workload_count; workload++) {
		int best = result_best(result, metric, workload);

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

/* ---- a study's answer ---- */

struct sentences {
	struct arena *arena;
	const char **lines;
	size_t count, room;
};

static void say(struct sentences *to, const char *line)
{
	if (to->count + 1 >= to->room) {
		size_t room = MAX_OF(2 * to->room, 16U);
		const char **larger = ARENA_ARRAY(to->arena, room, const char *);

		if (to->count)
			memcpy(larger, to->lines, to->count * sizeof(*larger));
		to->lines = larger;
		to->room = room;
	}
	to->lines[to->count++] = line;
}

static const char *sureness(const struct report_result *result, const json_t *target)
{
	double within = 100 * result_method_number(result->whole, "within", STAT_MARGIN);
	double confidence = 100 * result_method_number(result->whole, "confidence", .98);
	const json_t *bad = json_object_get(target, "bad");
	const char *unsure = json_string_value(json_object_get(target, "unsure"));
	const char *odds =
	    json_is_number(bad)
		? arena_printf(result->arena, "by the runs %s that it is more than %.3g %% worse than the best",
			       report_study_odds(result->arena, json_number_value(bad)), within)
		: NULL;

	if (!json_is_true(json_object_get(target, "sure")) && unsure)
		return arena_printf(result->arena, "not sure: %s%s%s", unsure, odds ? "; " : "", odds ? odds : "");
	if (json_is_true(json_object_get(target, "fallback")))
		return "chosen by successive halving; how sure that is, is not known";
	if (json_is_true(json_object_get(target, "sure")))
		return arena_printf(result->arena, "within %.3g %% of the best, with %.0f %% confidence", within,
				    confidence);
	return odds ? arena_printf(result->arena, "not sure: %s", odds)
		    : arena_printf(result->arena, "not sure: that no other is more than %.3g %% better is not shown",
				   within);
}

static const char *confirmation(struct arena *arena, const json_t *json)
{
	const struct stat_interval ratio = {json_number_value(json_object_get(json, "ratio")),
					    json_number_value(json_object_get(json, "low")),
					    json_number_value(json_object_get(json, "high"))};
	const json_t *within = json_object_get(json, "within");
	const struct report_confirmed confirmed = {ratio, json_is_number(within) ? json_number_value(within) : NAN,
						   (int)json_integer_value(json_object_get(json, "pairs"))};

	if (!json_is_number(json_object_get(json, "ratio")) || !stat_bounded(ratio))
		return "It was not measured again beside the baseline, so no effect is claimed.";
	return arena_printf(arena, "Measured again beside the baseline: %s.",
			    report_study_confirmed(arena, &confirmed, true));
}

/* What the study itself said at its end. False: it was not ended, or had no answer. */
static bool say_answer(const struct report_result *result, struct sentences *to)
{
	json_t *answer = result_json(result->whole->session.verdict), *target;
	size_t before = to->count, i;

	/* A list of old, now one part of it. */
	const json_t *targets = json_is_object(answer) ? json_object_get(answer, "targets") : answer;

	json_array_foreach (targets, i, target) {
		const char *name = json_string_value(json_object_get(target, "target"));
		const char *best = json_string_value(json_object_get(target, "best"));

		if (!name || !best)
			continue;
		say(to, arena_printf(to->arena, "Best for %s: %s, %s. %s", name, best, sureness(result, target),
				     confirmation(to->arena, json_object_get(target, "confirmed"))));
	}
	json_decref(answer);
	return to->count > before;
}

static void say_mean(const struct report_result *result, const struct report_mean *mean, const char *what,
		     struct sentences *to)
{
	const struct stat_interval *these = &mean->performance.these;
	double half = 50 * (these->high - these->low);
	struct arena *arena = to->arena;
	const char *power = "";

	if (mean == &result->means[0]) {
		say(to,
		    arena_printf(arena, "%s over %d workloads: the baseline, %s.", what, mean->performance.workloads,
				 result_setting_label(result, (size_t)mean->configuration)));
		return;
	}
	if (mean->power.workloads)
		power = arena_printf(arena, " at %s of its power%s",
				     scale_plain(arena, 100 * mean->power.these.estimate,
						 50 * (mean->power.these.high - mean->power.these.low), "%"),
				     result_power_words(arena, mean));
	say(to,
	    arena_printf(arena, "%s over %d workloads: %s, with %s of the performance of the baseline (%s)%s.", what,
			 mean->performance.workloads, result_setting_label(result, (size_t)mean->configuration),
			 scale_plain(arena, 100 * these->estimate, half, "%"),
			 stat_bounded(*these)
			     ? arena_printf(arena, "%s to %s",
					    scale_value(arena, &(struct scale){.unit_size = 1}, 100 * these->low, half),
					    scale_plain(arena, 100 * these->high, half, "%"))
			     : "too few runs for an interval",
			 power));
}

/* Which has the most performance, and which the most for a watt, by their geometric means. */
static void say_means(const struct report_result *result, struct sentences *to)
{
	const struct report_mean *fast = &result->means[0], *efficient = &result->means[0];

	for (int i = 1; i < result->mean_count; i++) {
		const struct report_mean *mean = &result->means[i];

		if (mean->performance.these.estimate > fast->performance.these.estimate)
			fast = mean;
		if (mean->efficiency.workloads &&
		    mean->efficiency.these.estimate > efficient->efficiency.these.estimate)
			efficient = mean;
	}
	say_mean(result, fast, "Most performance", to);
	if (result->means[0].efficiency.workloads)
		say_mean(result, efficient, "Most performance per watt", to);
}

static void say_metrics(const struct report_result *result, struct sentences *to)
{
	const struct store_whole *whole = result->whole;
	const char **lines = ARENA_ARRAY(to->arena, whole->configuration_count + 3, const char *);

	for (size_t i = 0; i <= whole->metric_count; i++) {
		/* The main one first. Energy and power belong to the verdict; the others stand in the table. */
		size_t m = i ? i - 1 : (size_t)MAX_OF(result->main, 0), count = 0;
		bool energy = m < whole->metric_count &&
			      (text_equal(whole->metrics[m].unit, "J") || text_equal(whole->metrics[m].unit, "W"));

		if (m >= whole->metric_count || (i && ((int)m == result->main || !energy)))
			continue;
		say_metric(result, &result->metrics[m], lines, &count);
		for (size_t k = 0; k < count; k++)
			say(to, lines[k]);
	}
}

/* Why runs of up to that length have no joules or watts, as far as the store tells; NULL: it does not. */
static const char *why_no_energy(const struct report_result *result, int64_t longest_ns)
{
	const struct store_whole *whole = result->whole;

	for (size_t i = 0; i < whole->source_count; i++) {
		/* How often a counter has a new value is not kept. */
		const struct meter_source source = {.name = whole->sources[i].name,
						    .quantity = METER_POWER,
						    .period_s = (double)whole->sources[i].period_ms / 1e3};
		const char *why = text_equal(whole->sources[i].unit, "W")
				      ? bench_energy_short_of(result->arena, &source, (double)longest_ns / 1e9)
				      : NULL;

		if (why && longest_ns > 0)
			return why;
	}
	return NULL;
}

static void say_no_energy(const struct report_result *result, struct sentences *to)
{
	const struct store_whole *whole = result->whole;
	int64_t longest_ns = 0;

	for (size_t i = 0; i < whole->run_count; i++)
		longest_ns = MAX_OF(longest_ns, whole->runs[i].took_ns);
	const char *why = why_no_energy(result, longest_ns);

	say(to, arena_printf(to->arena, "Energy: %s.", why ? why : "not measurable here"));
}

/* Of the runs whose energy is in the charts and tables: how many of those that count have none, and why. */
static void say_lack(const struct report_result *result, struct sentences *to)
{
	const struct store_whole *whole = result->whole;
	struct bench_lack lack = {0};
	int64_t longest_ns = 0;

	for (size_t i = 0; i < whole->run_count && result->energy >= 0; i++) {
		const struct store_run *run = &whole->runs[i];

		if (!result_counts(run) || text_equal(run->purpose, "idle"))
			continue;
		lack.of++;
		if (isfinite(result_value(whole, run, (size_t)result->energy)))
			continue;
		lack.without++;
		longest_ns = MAX_OF(longest_ns, run->took_ns);
	}
	if (!lack.without || lack.without == lack.of)
		return;
	lack.why = why_no_energy(result, longest_ns);
	if (!lack.why)
		lack.why = BENCH_ENERGY_MISSED;
	say(to, arena_printf(to->arena, "Energy: %s.", bench_lack_text(to->arena, &lack)));
}

void result_verdict(struct report_result *result)
{
	struct sentences to = {.arena = result->arena};

	if (!result->whole->run_count)
		say(&to, "Nothing has been measured.");
	bool answered = result->study && say_answer(result, &to);

	if (result->mean_count > 1)
		say_means(result, &to);
	else if (!answered)
		say_metrics(result, &to);
	if (result->whole->run_count && !any_energy(result))
		say_no_energy(result, &to);
	else
		say_lack(result, &to);
	say(&to, NULL);
	result->verdict = to.lines;
}

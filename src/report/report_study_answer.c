/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how the answer of a study is told: the best of each target, how sure that is, and where every configuration
 * stands. */
#include <errno.h>
#include <math.h>

#include "report.h"
#include "report_scale.h"
#include "report_study.h"
#include "stat_many.h"
#include "text.h"

enum { MOST_ROWS = 24 };

/* A configuration that was measured, on the scale of the target: seconds, joules, watts. */
struct row {
	int config, runs;
	double value;		 /* geometric mean, or what the model says */
	double ratio, low, high; /* to the baseline; NAN: not known */
	double good;		 /* P(within the margin of the best); NAN: the design does not say */
};

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static int by_value(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static bool counts(const struct study_target *target, const struct study_seen *seen)
{
	return seen->valid && seen->purpose == STUDY_CHOOSE && isfinite(study_log(target, seen));
}

/* Means of what was measured; whole blocks also give the ratios to the baseline, which hold together. */
static size_t make_rows(struct arena *arena, const struct study_matrix *matrix, const struct study_outcome *outcome,
			const struct study_target *target, const struct study_answer *answer, struct row **ret)
{
	double *sums = ARENA_ARRAY(arena, matrix->count, double);
	int *runs = ARENA_ARRAY(arena, matrix->count, int);
	struct row *rows = ARENA_ARRAY(arena, matrix->count, struct row);
	size_t count = 0;

	for (size_t i = 0; i < outcome->count; i++)
		if (counts(target, &outcome->seen[i])) {
			sums[outcome->seen[i].config] += study_log(target, &outcome->seen[i]);
			runs[outcome->seen[i].config]++;
		}
	for (size_t c = 0; c < matrix->count; c++) {
		const struct stat_standing *standing = answer->standings ? &answer->standings[c] : NULL;

		if (!runs[c])
			continue;
		rows[count++] = (struct row){.config = (int)c,
					     .runs = runs[c],
					     .value = exp(standing ? standing->mean : sums[c] / runs[c]),
					     .ratio = NAN,
					     .good = standing && isfinite(answer->bad) ? standing->good : (double)NAN};
	}
	*ret = rows;
	return count;
}

/* logs[configuration][block], the baseline first, as stat_many() takes them; NULL when blocks are not whole. */
static double *block_logs(struct arena *arena, const struct study_matrix *matrix, const struct study_outcome *outcome,
			  const struct study_target *target, const struct row *rows, size_t count, int blocks)
{
	double *logs = ARENA_ARRAY(arena, count * (size_t)blocks + 1, double);
	size_t place = 1;

	for (size_t i = 0; i < count; i++) {
		size_t at = rows[i].config == (int)matrix->baseline ? 0 : place++;
		int block = 0;

		for (size_t s = 0; s < outcome->count && block < blocks; s++)
			if (outcome->seen[s].config == rows[i].config && counts(target, &outcome->seen[s]))
				logs[at * (size_t)blocks + (size_t)block++] = study_log(target, &outcome->seen[s]);
	}
	return logs;
}

static void add_ratios(struct arena *arena, const struct study_matrix *matrix, const struct study_outcome *outcome,
		       const struct study_target *target, struct row *rows, size_t count)
{
	struct stat_many_row *found = ARENA_ARRAY(arena, count + 1, struct stat_many_row);
	struct stat_many many;
	int blocks = INT32_MAX;
	bool baseline = false;
	size_t place = 0;

	for (size_t i = 0; i < count; i++) {
		blocks = MIN_OF(blocks, rows[i].runs);
		baseline = baseline || rows[i].config == (int)matrix->baseline;
	}
	/* Of two blocks an interval tells nothing: t is 12.7. */
	if (!baseline || count < 2 || blocks < 3 ||
	    stat_many(block_logs(arena, matrix, outcome, target, rows, count, blocks), (int)count, blocks, STAT_ALPHA,
		      matrix->study->within, &many, found, NULL) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].config == (int)matrix->baseline)
			continue;
		rows[i].ratio = found[place].ratio.estimate;
		rows[i].low = found[place].ratio.low;
		rows[i].high = found[place].ratio.high;
		place++;
	}
}

static const char *unit_of(const struct study *study, const struct study_target *target)
{
	if (target->weight[STUDY_TIME] > 0 && target->weight[STUDY_ENERGY] > 0)
		return "";
	if (target->weight[STUDY_ENERGY] > 0)
		return " J";
	if (target->weight[STUDY_TIME] > 0) {
		bool wall = true;

		for (size_t i = 0; i < study->workload_count; i++)
			wall = wall && study->workloads[i].metric.kind == STUDY_WALL;
		return wall ? " s" : "";
	}
	return " W";
}

/* "5.2 % less" of a ratio. */
static const char *difference(struct arena *arena, double ratio)
{
	return ratio < 1 ? arena_printf(arena, "%.1f %% less", 100 * (1 - ratio))
			 : arena_printf(arena, "%.1f %% more", 100 * (ratio - 1));
}

static void print_rows(const struct term *term, struct arena *arena, const struct study_matrix *matrix,
		       const struct study_target *target, const struct row *rows, size_t count)
{
	const char *unit = unit_of(matrix->study, target);

	for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
		const struct row *row = &rows[i];
		const char *text =
		    arena_printf(arena, "%.4g%s, %s", row->value, unit, text_count(arena, row->runs, "run", "runs"));

		if (row->config == (int)matrix->baseline)
			text = arena_printf(arena, "%s, the baseline", text);
		else if (isfinite(row->ratio))
			text = arena_printf(arena, "%s, %s than the baseline (%+.1f to %+.1f %%)", text,
					    difference(arena, row->ratio), 100 * (row->low - 1), 100 * (row->high - 1));
		if (isfinite(row->good))
			text = arena_printf(arena, "%s; among the best with %s", text,
					    report_study_odds(arena, row->good));
		(void)fputs("    ", term->out);
		term_flow(term, 6, true,
			  arena_printf(arena, "%s: %s", study_config_name(arena, matrix, (size_t)row->config), text));
	}
	if (count > MOST_ROWS)
		(void)fprintf(term->out, "    ... and %zu more\n", count - MOST_ROWS);
}

const char *report_study_percent(struct arena *arena, double share)
{
	double percent = 100 * share;

	return arena_printf(arena, percent >= 9.95 ? "%.0f %%" : "%.2g %%", percent);
}

const char *report_study_odds(struct arena *arena, double share)
{
	return share < .001   ? "less than 0.1 %"
	       : share > .999 ? "more than 99.9 %"
	       : share >= .99 ? arena_printf(arena, "%.1f %%", 100 * share)
			      : report_study_percent(arena, share);
}

static const char *sureness(struct arena *arena, const struct study *study, const struct study_answer *answer)
{
	if (answer->limited)
		return "the best of those that keep the limits; how sure that is stands below";
	if (!answer->sure)
		return isfinite(answer->bad)
			   ? arena_printf(arena,
					  "not sure: %s; by the runs %s that it is more than %.3g %% worse than the "
					  "best",
					  answer->unsure, report_study_odds(arena, answer->bad), 100 * study->within)
			   : arena_printf(arena, "not sure: %s", answer->unsure);
	return arena_printf(arena, "within %.3g %% of the best, with %.0f %% confidence", 100 * study->within,
			    100 * study->confidence);
}

const char *report_study_confirmed(struct arena *arena, const struct report_confirmed *confirmed, bool utf8)
{
	const struct scale percent = {.unit_size = 1, .unit = "%"};
	const struct stat_interval *ratio = &confirmed->ratio;
	const double ends[] = {ratio->estimate, ratio->low, ratio->high};
	const char *pairs = text_count(arena, confirmed->pairs, "pair", "pairs"), *words[ARRAY_SIZE(ends)];
	double half = 50 * (ratio->high - ratio->low);

	if (isfinite(confirmed->within))
		return arena_printf(arena, "no difference larger than %s was found (%s)",
				    scale_plain(arena, 100 * confirmed->within, half, "%"), pairs);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		words[i] = scale_change(arena, &percent, 100 * (ends[i] - 1), half, utf8);
	return arena_printf(arena, "%s (%s to %s, %s)", words[0], words[1], words[2], pairs);
}

static struct report_confirmed confirmed_of(const struct stat_compare *compare)
{
	bool found = compare->differs && compare->verdict != STAT_EQUIVALENT;

	return (struct report_confirmed){compare->ratio, found ? (double)NAN : compare->within, compare->blocks};
}

static void print_confirmed(const struct term *term, struct arena *arena, const struct study_outcome *outcome,
			    size_t target, const struct study_answer *answer)
{
	struct report_confirmed confirmed;
	struct stat_compare compare;
	struct err err = {0};
	int r =
	    study_confirmed(outcome->engine, target, outcome->seen, outcome->count, answer->incumbent, &compare, &err);

	if (r == -ENODATA) {
		term_flow(term, 2, false, "selected, not confirmed: no effect against the baseline is claimed");
		return;
	}
	if (r < 0)
		return;
	confirmed = confirmed_of(&compare);
	term_flow(term, 2, false,
		  arena_printf(arena, "measured again beside the baseline: %s",
			       report_study_confirmed(arena, &confirmed, term->utf8)));
}

static json_t *confirmed_json(const struct stat_compare *compare)
{
	const struct report_confirmed confirmed = confirmed_of(compare);

	return json_pack("{s:o, s:o, s:o, s:i, s:o, s:f}", "ratio", number(confirmed.ratio.estimate), "low",
			 number(confirmed.ratio.low), "high", number(confirmed.ratio.high), "pairs", confirmed.pairs,
			 "within", number(confirmed.within), "alpha", compare->alpha);
}

void report_study_answer(const struct term *term, const struct study_matrix *matrix,
			 const struct study_outcome *outcome)
{
	const struct study_target *targets;
	size_t count = study_engine_targets(outcome->engine, &targets);
	struct arena *arena = outcome->arena;

	for (size_t t = 0; t < count; t++) {
		struct study_answer answer;
		struct err err = {0};
		struct row *rows;
		size_t n;

		if (study_answer(outcome->engine, t, outcome->seen, outcome->count, &answer, &err) < 0) {
			term_flow(term, 0, true, arena_printf(arena, "%s: %s", targets[t].name, err.what));
			continue;
		}
		if (answer.incumbent >= 0) {
			term_flow(term, 0, true,
				  arena_printf(arena, "Best for %s: %s", targets[t].name,
					       study_config_name(arena, matrix, (size_t)answer.incumbent)));
			term_flow(term, 2, false, sureness(arena, matrix->study, &answer));
			if (answer.incumbent == (int)matrix->baseline)
				term_flow(term, 2, false,
					  answer.sure ? "that is the baseline: nothing here is worth a change"
						      : "that is the baseline: nothing is shown to be worth a change");
			else
				print_confirmed(term, arena, outcome, t, &answer);
		}
		n = make_rows(arena, matrix, outcome, &targets[t], &answer, &rows);
		if (!answer.standings)
			add_ratios(arena, matrix, outcome, &targets[t], rows, n);
		if (n)
			qsort(rows, n, sizeof(*rows), by_value);
		print_rows(term, arena, matrix, &targets[t], rows, n);
	}
	if (outcome->void_count)
		term_flow(term, 0, true,
			  arena_printf(arena, "%zu run%s void; they are kept with the reason.", outcome->void_count,
				       outcome->void_count == 1 ? " is" : "s are"));
	if (outcome->energy)
		term_flow(term, 0, true, arena_printf(arena, "Energy: %s.", outcome->energy));
	else if (outcome->lack.without)
		term_flow(term, 0, true, arena_printf(arena, "Energy: %s.", bench_lack_text(arena, &outcome->lack)));
}

json_t *report_study_answer_json(const struct study_matrix *matrix, const struct study_outcome *outcome)
{
	const struct study_target *targets;
	size_t count = study_engine_targets(outcome->engine, &targets);
	struct arena *arena = outcome->arena;
	json_t *list = json_array();

	for (size_t t = 0; t < count; t++) {
		json_t *configs, *json;
		struct stat_compare compare;
		struct study_answer answer;
		struct row *rows;
		size_t n;

		if (study_answer(outcome->engine, t, outcome->seen, outcome->count, &answer, NULL) < 0)
			continue;
		configs = json_array();
		n = make_rows(arena, matrix, outcome, &targets[t], &answer, &rows);
		if (!answer.standings)
			add_ratios(arena, matrix, outcome, &targets[t], rows, n);
		for (size_t i = 0; i < n; i++)
			json_array_append_new(
			    configs,
			    json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o}", "name",
				      report_json_text(study_config_name(arena, matrix, (size_t)rows[i].config)),
				      "runs", rows[i].runs, "value", number(rows[i].value), "ratio",
				      number(rows[i].ratio), "low",
				      number(isfinite(rows[i].ratio) ? rows[i].low : (double)NAN), "high",
				      number(isfinite(rows[i].ratio) ? rows[i].high : (double)NAN), "good",
				      number(rows[i].good)));
		json = json_pack("{s:s, s:o, s:b, s:o, s:o, s:b, s:o}", "target", targets[t].name, "best",
				 answer.incumbent < 0
				     ? json_null()
				     : report_json_text(study_config_name(arena, matrix, (size_t)answer.incumbent)),
				 "sure", answer.sure, "unsure", report_json_text(answer.unsure), "bad",
				 number(answer.bad), "fallback", answer.fallback, "configurations", configs);
		if (answer.incumbent >= 0 && study_confirmed(outcome->engine, t, outcome->seen, outcome->count,
							     answer.incumbent, &compare, NULL) == 0)
			json_object_set_new(json, "confirmed", confirmed_json(&compare));
		else
			json_object_set_new(json, "confirmed", json_null());
		json_array_append_new(list, json);
	}
	return list;
}

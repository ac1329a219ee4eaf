/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune idle`: what the machine draws when it does nothing. */
#include <errno.h>
#include <math.h>

#include "bench_idle.h"
#include "measure.h"
#include "report.h"
#include "text.h"

/* Study A waited two minutes before it read the plug. */
#define USUAL_SETTLE_S 120.
#define USUAL_WINDOW_S 60.
#define MOST_S 86400.

/* The window is measured in parts, so that its mean has an interval. */
enum { PARTS = 10 };

struct idle {
	const struct cli *cli;
	struct measure measure;
	double settle_s, window_s;
	struct bench_idle rule;
	struct bench_idle_window window;
};

static void tell(void *data, bool settles, double left_s)
{
	struct idle *idle = data;

	progress_show(&idle->measure.progress,
		      settles ? "letting the machine settle, at most %.0f s more" : "measuring, %.0f s left", left_s);
}

static int watch(struct idle *idle, struct err *err)
{
	idle->rule = (struct bench_idle){.subject = {.name = "idle"},
					 .settle_s = idle->settle_s,
					 .window_s = idle->window_s,
					 .parts = PARTS,
					 .tell = tell,
					 .data = idle};
	return bench_idle(idle->measure.bench, &idle->rule, -1, &idle->window, err);
}

/* ---- the answer ---- */

static size_t parts_of(const struct idle *idle, const struct bench_metric *metric, double **ret)
{
	/* What is too slow for the parts has measured all of the window at once. */
	int number = idle->rule.whole ? idle->rule.whole - 1 : 0;

	return bench_series(idle->measure.bench, idle->measure.arena, number, metric->name, "idle", ret);
}

/* What is told: powers, temperature, and how busy the CPUs were. */
static bool is_told(const struct bench_metric *metric)
{
	return text_equal(metric->unit, "W") || text_equal(metric->name, BENCH_TEMPERATURE) ||
	       text_equal(metric->name, BENCH_FOREIGN);
}

static double busy_share(const struct idle *idle)
{
	const struct bench *bench = idle->measure.bench;
	double *values;
	size_t count = bench_series(bench, idle->measure.arena, idle->rule.whole ? idle->rule.whole - 1 : 0,
				    BENCH_FOREIGN, "idle", &values);

	return count ? stat_mean(values, (int)count) / 100 : (double)NAN;
}

static json_t *answer_json(const struct idle *idle)
{
	const struct bench *bench = idle->measure.bench;
	json_t *list = json_array();

	for (size_t i = 0; i < bench->values.count; i++) {
		const struct bench_metric *metric = &bench->values.metrics[i];
		struct stat_estimate estimate;
		double *values;
		int count = (int)parts_of(idle, metric, &values);

		if (is_told(metric) && count && stat_estimate(values, count, STAT_ALPHA, &estimate, NULL) == 0)
			json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:i}", "name",
							      report_json_text(metric->name), "unit",
							      report_json_text(metric->unit), "mean",
							      measure_interval_json(estimate.mean), "lowest",
							      measure_number_json(estimate.minimum), "parts", count));
	}
	return json_pack("{s:o, s:s, s:o, s:f, s:b, s:f, s:f}", "metrics", list, "energy",
			 bench->energy ? bench->energy : "measured", "busy", measure_number_json(busy_share(idle)),
			 "settle_s", idle->settle_s, "settled", idle->window.settled, "settle_took_s",
			 idle->window.settle_took_s, "window_s", idle->window_s);
}

static void print_answer(const struct term *term, const struct idle *idle)
{
	const struct bench *bench = idle->measure.bench;
	struct arena *arena = idle->measure.arena;
	double busy = busy_share(idle);

	if (idle->settle_s <= 0)
		term_flow(term, 0, true,
			  arena_printf(arena, "Idle, over %s, not waited for the machine to settle:",
				       text_duration(arena, idle->window_s)));
	else
		term_flow(term, 0, true,
			  arena_printf(arena, "Idle, over %s after %s %s:", text_duration(arena, idle->window_s),
				       text_duration(arena, idle->window.settle_took_s),
				       idle->window.settled ? "in which the machine settled" : "to settle"));
	if (!idle->window.settled && idle->settle_s > 0)
		term_flow(term, 2, false,
			  "load, watts or temperature were still moving when the window began, so the figures may move "
			  "too; a longer --settle waits longer");
	for (size_t i = 0; i < bench->values.count; i++) {
		const struct bench_metric *metric = &bench->values.metrics[i];
		struct stat_estimate estimate;
		double *values;
		int count = (int)parts_of(idle, metric, &values);

		if (!is_told(metric) || text_equal(metric->name, BENCH_FOREIGN) || !count ||
		    stat_estimate(values, count, STAT_ALPHA, &estimate, NULL) < 0)
			continue;
		term_flow(
		    term, 2, false,
		    arena_printf(arena, "%s: %s%s", metric->name, measure_interval(arena, metric->unit, estimate.mean),
				 count == 1 ? ", in one part"
					    : arena_printf(arena, ", lowest of %d parts %s", count,
							   measure_value(arena, metric->unit, estimate.minimum))));
	}
	if (!idle->window.metric)
		term_flow(term, 2, false,
			  "power: the meters gave no figure for this window; `hvtune meters` says how they are");
	if (!isnan(busy))
		term_flow(term, 2, false,
			  arena_printf(arena, "CPUs: %.1f %% busy%s", 100 * busy,
				       busy > BENCH_BUSY ? "; that is not idle, so the figures are of what ran" : ""));
}

static int finish(struct idle *idle, const struct err *err)
{
	CLEANUP(base_free) char *text = NULL;
	json_t *json = answer_json(idle);
	struct term term = idle->cli->out;
	bool measured = idle->window.metric != NULL;
	int64_t session = 0;
	size_t size = 0;
	int code;

	progress_end(&idle->measure.progress);
	term.out = open_memstream(&text, &size);
	if (!term.out)
		err_no_memory();
	print_answer(&term, idle);
	(void)fclose(term.out);
	code = measure_end(idle->cli, &idle->measure, err, "the window is over", json, &session);
	session = cli_given(idle->cli, OPTION_NO_STORE) ? 0 : session;
	if (cli_given(idle->cli, OPTION_JSON)) {
		json_t *whole = report_json_start("idle", NULL);

		json_object_set_new(whole, "session", session ? json_integer(session) : json_null());
		json_object_set_new(whole, "result", json);
		(void)report_json_print(stdout, whole);
	} else {
		json_decref(json);
		(void)fputs(text, idle->cli->out.out);
		measure_print_kept(&idle->cli->out, session);
	}
	return code ? code : measured ? EXIT_FINE : EXIT_FINDINGS;
}

static void close_idle(struct idle *idle)
{
	measure_close(&idle->measure);
}

/* Where nothing measures power there is nothing to wait for. */
static int need_meter(const struct idle *idle)
{
	struct err err = {0};

	for (enum meter_boundary boundary = 0; boundary < METER_BOUNDARIES; boundary++)
		if (meter_has(idle->measure.meters, boundary))
			return 0;
	(void)err_set(&err, ENODEV, NULL, "nothing measures power here");
	(void)err_hint(&err, "`hvtune meters` says what would help");
	return cli_fail(&err);
}

int cmd_idle(struct cli *cli)
{
	CLEANUP(close_idle) struct idle idle = {.cli = cli};
	struct err err = {0};
	int r;

	if (cli->argument_count)
		return cli_usage(cli, "idle takes no arguments, but got \"%s\"", cli->arguments[0]);
	r = measure_number(cli, OPTION_IDLE_SETTLE, 0, MOST_S, USUAL_SETTLE_S, &idle.settle_s);
	if (r == 0)
		r = measure_number(cli, OPTION_IDLE_WINDOW, 1, MOST_S, USUAL_WINDOW_S, &idle.window_s);
	if (r == 0)
		r = measure_open(cli, &idle.measure);
	if (r == 0)
		r = need_meter(&idle);
	if (r == 0)
		r = measure_begin(cli, &idle.measure,
				  json_pack("{s:s, s:f, s:f, s:f, s:i}", "rule", "idle", "alpha", STAT_ALPHA,
					    "settle_s", idle.settle_s, "window_s", idle.window_s, "parts", PARTS));
	if (r)
		return r;
	if (watch(&idle, &err) == 0)
		err = (struct err){0};
	return finish(&idle, &err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune idle`: what the machine draws when it does nothing. */
#include <errno.h>
#include <math.h>

#include "measure.h"
#include "report.h"
#include "text.h"

/* Study A waited two minutes before it read the plug. */
#define USUAL_SETTLE_S 120.
#define USUAL_WINDOW_S 60.
#define MOST_S 86400.

/* The window is measured in parts, so that its mean has an interval. */
enum { PARTS = 10 };

/* A machine whose CPUs are busier than that is not idle. */
#define BUSY .02

struct idle {
	const struct cli *cli;
	struct measure measure;
	double settle_s, window_s;
};

static int settle(struct idle *idle, struct err *err)
{
	struct bench_signals *signals = &idle->measure.bench->signals;
	int64_t end_ns = bench_now_ns() + (int64_t)(idle->settle_s * 1e9), left_ns;

	while ((left_ns = end_ns - bench_now_ns()) > 0) {
		progress_show(&idle->measure.progress, "letting the machine settle, %.0f s left",
			      (double)left_ns / 1e9);
		if (bench_signals_wait(signals, MIN_OF(left_ns, (int64_t)500000000)))
			return err_set(err, EINTR, NULL, "stopped");
	}
	return 0;
}

static int watch(struct idle *idle, struct err *err)
{
	struct measure *measure = &idle->measure;
	char seconds[32];
	const char *const argv[] = {"sleep", seconds, NULL};
	struct bench_subject subject = {.name = "idle", .command = {.argv = argv}};
	int number = 0, r;

	(void)snprintf(seconds, sizeof(seconds), "%.3f", idle->window_s / PARTS);
	r = bench_find_program(measure->arena, argv[0], &subject.command.program, err);
	if (r == 0)
		r = bench_add(measure->bench, &subject, &number, err);
	if (r == 0)
		r = settle(idle, err);
	for (int i = 0; i < PARTS && r == 0; i++) {
		const struct bench_run *run;

		progress_show(&measure->progress, "measuring, %.0f s left", idle->window_s / PARTS * (PARTS - i));
		r = bench_measure(measure->bench, number, "idle", -1, &run, err);
	}
	return r;
}

/* ---- the answer ---- */

static size_t parts_of(const struct idle *idle, const struct bench_metric *metric, double **ret)
{
	return bench_series(idle->measure.bench, idle->measure.arena, 0, metric->name, "idle", ret);
}

/* What is told: powers, temperature, and how busy the CPUs were. */
static bool is_told(const struct bench_metric *metric)
{
	return text_equal(metric->unit, "W") || text_equal(metric->name, "temperature") ||
	       text_equal(metric->name, BENCH_FOREIGN);
}

static double busy_share(const struct idle *idle)
{
	const struct bench *bench = idle->measure.bench;
	double *values;
	size_t count = bench_series(bench, idle->measure.arena, 0, BENCH_FOREIGN, "idle", &values);

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
	return json_pack("{s:o, s:s, s:o, s:f, s:f}", "metrics", list, "energy",
			 bench->energy ? bench->energy : "measured", "busy", measure_number_json(busy_share(idle)),
			 "settle_s", idle->settle_s, "window_s", idle->window_s);
}

static void print_answer(const struct term *term, const struct idle *idle)
{
	const struct bench *bench = idle->measure.bench;
	struct arena *arena = idle->measure.arena;
	double busy = busy_share(idle);

	term_flow(term, 0, true,
		  arena_printf(arena, "Idle, over %.3g s after %.3g s to settle:", idle->window_s, idle->settle_s));
	for (size_t i = 0; i < bench->values.count; i++) {
		const struct bench_metric *metric = &bench->values.metrics[i];
		struct stat_estimate estimate;
		double *values;
		int count = (int)parts_of(idle, metric, &values);

		if (!is_told(metric) || text_equal(metric->name, BENCH_FOREIGN) || !count ||
		    stat_estimate(values, count, STAT_ALPHA, &estimate, NULL) < 0)
			continue;
		term_flow(term, 2, false,
			  arena_printf(arena, "%s: %s, lowest of %d parts %s", metric->name,
				       measure_interval(arena, metric->unit, estimate.mean), count,
				       measure_value(arena, metric->unit, estimate.minimum)));
	}
	if (bench->energy)
		term_flow(term, 2, false,
			  arena_printf(arena, "energy: %s; `hvtune meters` says what would help", bench->energy));
	if (!isnan(busy))
		term_flow(term, 2, false,
			  arena_printf(arena, "CPUs: %.1f %% busy%s", 100 * busy,
				       busy > BUSY ? "; that is not idle, so the figures are of what ran" : ""));
}

static int finish(struct idle *idle, const struct err *err)
{
	CLEANUP(base_free) char *text = NULL;
	json_t *json = answer_json(idle);
	struct term term = idle->cli->out;
	bool measured = !idle->measure.bench->energy;
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
		r = measure_begin(cli, &idle.measure,
				  json_pack("{s:s, s:f, s:f, s:f, s:i}", "rule", "idle", "alpha", STAT_ALPHA,
					    "settle_s", idle.settle_s, "window_s", idle.window_s, "parts", PARTS));
	if (r)
		return r;
	if (watch(&idle, &err) == 0)
		err = (struct err){0};
	return finish(&idle, &err);
}

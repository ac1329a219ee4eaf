/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune run`. */
#include <errno.h>
#include <math.h>

#include "measure.h"
#include "report.h"
#include "stat_drift.h"
#include "text.h"

#define MOST_SECONDS (30. * 24 * 3600)

enum { MOST_RUNS = 100000 };

static int read_rule(const struct cli *cli, struct bench_rule *ret)
{
	double runs = 0, most = 0, precision = 0, time_s = 0, warmup = 0;
	int r = measure_count(cli, OPTION_RUNS, 1, MOST_RUNS, 0, &runs);

	if (r == 0)
		r = measure_count(cli, OPTION_MOST_RUNS, STAT_STOP_FIRST, MOST_RUNS, STAT_STOP_CAP_DEFAULT, &most);
	if (r == 0)
		r = measure_number(cli, OPTION_PRECISION, 0.01, 50, 1, &precision);
	if (r == 0)
		r = measure_number(cli, OPTION_TIME, 0.001, MOST_SECONDS, 0, &time_s);
	if (r == 0)
		r = measure_count(cli, OPTION_WARMUP, 0, MOST_RUNS, 1, &warmup);
	if (r)
		return r;
	if (cli_given(cli, OPTION_RUNS) && (cli_given(cli, OPTION_PRECISION) || cli_given(cli, OPTION_MOST_RUNS)))
		return cli_usage(cli, "--runs says how many exactly; it excludes --precision and --max-runs");
	*ret = (struct bench_rule){.metric = cli->values[OPTION_TARGET],
				   .warmup = (unsigned)warmup,
				   .runs = (unsigned)runs,
				   .precision = precision / 100,
				   .least = STAT_STOP_FIRST,
				   .most = (unsigned)most,
				   .time_ns = (int64_t)(time_s * 1e9)};
	return 0;
}

static void tell(void *data, const struct bench *bench, unsigned done, unsigned expected, double left_s)
{
	struct measure *measure = data;

	(void)bench;
	if (!isfinite(left_s))
		progress_show(&measure->progress, "run %u", done + 1);
	else if (left_s >= 90)
		progress_show(&measure->progress, "run %u of about %u, about %.0f minutes left", done + 1, expected,
			      left_s / 60);
	else
		progress_show(&measure->progress, "run %u of about %u, about %.0f s left", done + 1, expected, left_s);
}

/* ---- the answer ---- */

struct answer {
	const struct bench *bench;
	const struct bench_result *result;
	const struct bench_metric *metric;
	const char *name;
	struct stat_drift drift;
	int flagged; /* values that stand apart */
	double *values;
	int n;
};

static json_t *answer_json(const struct answer *answer)
{
	const struct stat_estimate *estimate = &answer->result->estimate;
	json_t *values = json_array(), *json;
	struct bench_lack lack;

	for (int i = 0; i < answer->n; i++)
		json_array_append_new(values, json_real(answer->values[i]));
	json = json_pack("{s:o, s:o, s:s, s:s, s:i, s:i, s:s, s:o, s:o}", "metric",
			 report_json_text(answer->metric->name), "unit", report_json_text(answer->metric->unit),
			 "better", bench_better_name(answer->metric->better), "end",
			 bench_end_text(answer->result->end), "runs", answer->n, "void", (int)answer->bench->void_count,
			 "energy", answer->bench->energy ? answer->bench->energy : "measured", "values", values,
			 "metrics", measure_metrics_json(answer->bench, 0));
	bench_lack(answer->bench, &lack);
	json_object_set_new(json, "without_energy", measure_lack_json(&lack));
	if (answer->n == 0)
		return json;
	json_object_set_new(json, "interval", measure_interval_json(estimate->quoted));
	json_object_set_new(json, "mean", measure_interval_json(estimate->mean));
	json_object_set_new(json, "median", measure_interval_json(estimate->median));
	json_object_set_new(json, "sd", measure_number_json(estimate->sd));
	json_object_set_new(json, "minimum", measure_number_json(estimate->minimum));
	json_object_set_new(json, "maximum", measure_number_json(estimate->maximum));
	json_object_set_new(json, "precision", measure_number_json(estimate->relative_half_width));
	json_object_set_new(json, "flagged", json_integer(answer->flagged));
	json_object_set_new(json, "drift", json_boolean(answer->drift.flagged));
	return json;
}

static void print_doubts(const struct term *term, struct arena *arena, const struct answer *answer)
{
	const struct stat_estimate *estimate = &answer->result->estimate;

	if (answer->drift.flagged)
		term_flow(
		    term, 2, false,
		    "the runs drift: the interval above must not be called 95 %; compare in blocks (hvtune compare), "
		    "or let the machine settle first");
	if (answer->flagged)
		term_flow(term, 2, false,
			  arena_printf(arena,
				       "%d of the runs stand%s apart; they are kept, as what they are due to is not "
				       "known",
				       answer->flagged, answer->flagged == 1 ? "s" : ""));
	if (answer->n > 1)
		term_flow(term, 2, false,
			  arena_printf(arena,
				       "of this boot only; what happens in fewer than %.0f %% of runs may be unseen",
				       100 * estimate->unseen));
}

static void print_answer(const struct term *term, struct arena *arena, const struct answer *answer)
{
	const struct stat_estimate *estimate = &answer->result->estimate;
	const char *unit = answer->metric->unit;
	unsigned warm = 0;

	for (size_t i = 0; i < answer->bench->run_count; i++)
		warm += text_equal(answer->bench->runs[i].purpose, "warmup") && answer->bench->runs[i].valid;
	term_flow(term, 0, true, answer->name);
	if (answer->n == 0) {
		term_flow(term, 2, false,
			  warm ? arena_printf(arena,
					      "no run counts, so there is no figure: %u warm-up%s valid, and left out; "
					      "--warmup 0 counts the first",
					      warm, warm == 1 ? " was" : "s were")
			       : "no run was valid, so there is no figure");
		measure_print_remarks(term, answer->bench);
		term_flow(term, 2, false,
			  arena_printf(arena, "ended because: %s", bench_end_text(answer->result->end)));
		return;
	}
	term_flow(term, 2, false,
		  arena_printf(arena, "%s: %s%s, %d run%s%s", answer->metric->name,
			       measure_interval(arena, unit, estimate->quoted),
			       stat_bounded(estimate->quoted) ? ", 95 % interval of the geometric mean" : "", answer->n,
			       answer->n == 1 ? "" : "s",
			       warm ? arena_printf(arena, " after %u warm-up%s", warm, warm == 1 ? "" : "s") : ""));
	if (answer->n > 1)
		term_flow(term, 2, false,
			  arena_printf(arena, "median %s, least %s, most %s",
				       measure_interval(arena, unit, estimate->median),
				       measure_value(arena, unit, estimate->minimum),
				       measure_value(arena, unit, estimate->maximum)));
	measure_print_metrics(term, answer->bench, 0, answer->metric->name);
	print_doubts(term, arena, answer);
	measure_print_remarks(term, answer->bench);
	term_flow(term, 2, false, arena_printf(arena, "ended because: %s", bench_end_text(answer->result->end)));
}

static struct answer make_answer(struct measure *measure, const char *name, const struct bench_result *result)
{
	struct answer answer = {.bench = measure->bench, .result = result, .name = name};
	int at = bench_values_find(&measure->bench->values, result->metric);
	bool *flags;

	answer.metric = &measure->bench->values.metrics[MAX_OF(at, 0)];
	answer.n = (int)bench_series(measure->bench, measure->arena, 0, answer.metric->name, "measure", &answer.values);
	flags = ARENA_ARRAY(measure->arena, (size_t)answer.n + 1, bool);
	if (answer.n >= 3)
		answer.flagged = stat_flag(answer.values, answer.n, flags);
	answer.drift = stat_drift(answer.values, answer.n);
	return answer;
}

static int finish(const struct cli *cli, struct measure *measure, const char *name, const struct bench_result *result,
		  const struct err *err)
{
	struct answer answer = make_answer(measure, name, result);
	CLEANUP(base_free) char *text = NULL;
	json_t *json = answer_json(&answer);
	size_t size = 0;
	struct term term = cli->out;
	int64_t session = 0;
	int code;

	/* The text needs the session, which is over when it is known whether its end could be kept. */
	progress_end(&measure->progress);
	term.out = open_memstream(&text, &size);
	if (!term.out)
		err_no_memory();
	print_answer(&term, measure->arena, &answer);
	(void)fclose(term.out);
	code = measure_end(cli, measure, err, bench_end_text(result->end), json, &session);
	session = cli_given(cli, OPTION_NO_STORE) ? 0 : session;
	if (cli_given(cli, OPTION_JSON)) {
		json_t *whole = report_json_start("run", NULL);

		json_object_set_new(whole, "session", session ? json_integer(session) : json_null());
		json_object_set_new(whole, "name", report_json_text(name));
		json_object_set_new(whole, "result", json);
		(void)report_json_print(stdout, whole);
	} else {
		json_decref(json);
		(void)fputs(text, cli->out.out);
		measure_print_kept(&cli->out, session);
	}
	return code ? code : answer.n == 0 ? EXIT_FINDINGS : EXIT_FINE;
}

static json_t *method_json(const struct bench_rule *rule)
{
	struct stat_stop_rule stop = {.nominal = STAT_ALPHA};

	if (!rule->runs)
		(void)stat_stop_rule((int)rule->least, (int)rule->most, rule->precision, &stop, NULL);
	return json_pack("{s:s, s:f, s:f, s:i, s:i, s:i, s:i, s:f}", "rule", rule->runs ? "runs" : "precision", "alpha",
			 stop.nominal, "precision", rule->precision, "runs", (int)rule->runs, "least", (int)rule->least,
			 "most", (int)rule->most, "warmup", (int)rule->warmup, "time_s", (double)rule->time_ns / 1e9);
}

/* The command as it was given, and where: what ssh or an agent gets is for no reader. */
static const char *remote_name(const struct cli *cli, const struct measure *measure)
{
	const char **words = ARENA_ARRAY(measure->arena, (size_t)cli->argument_count + 1, const char *);

	for (int i = 0; i < cli->argument_count; i++)
		words[i] = cli->arguments[i];
	return arena_printf(measure->arena, "%s, on %s", bench_words_text(measure->arena, words),
			    measure_place_name(measure));
}

int cmd_run(struct cli *cli)
{
	CLEANUP(measure_close) struct measure measure = {0};
	struct bench_command command;
	struct bench_result result = {0};
	struct bench_rule rule = {0};
	struct bench_subject subject;
	struct err err = {0};
	const char *name, *named = cli->values[OPTION_WORKLOAD];
	int number = 0, r;

	if (!cli->argument_count && !named)
		return cli_usage(cli, "run needs a command: hvtune run -- make -j32");
	if (cli->argument_count && named)
		return cli_usage(cli, "--workload takes the place of a command; give one of them");
	r = read_rule(cli, &rule);
	if (r == 0)
		r = measure_open(cli, &measure);
	if (r == 0)
		r = named ? measure_named_command(cli, &measure, named, &command)
			  : measure_words_command(cli, &measure, cli->arguments, cli->argument_count, &command);
	if (r == 0)
		r = measure_begin(cli, &measure, method_json(&rule));
	if (r)
		return r;
	rule.tell = tell;
	rule.data = &measure;
	name = named	       ? named
	       : measure.place ? remote_name(cli, &measure)
			       : bench_words_text(measure.arena, command.argv);
	subject = measure_subject(&measure, name, &command);
	r = bench_add(measure.bench, &subject, &number, &err);
	if (r == 0)
		r = bench_repeat(measure.bench, number, &rule, &result, &err);
	/* What was tried in vain on the way is not what came of it. */
	if (r == 0)
		err = (struct err){0};
	if (!result.metric)
		result.metric = BENCH_WALL;
	return finish(cli, &measure, name, &result, &err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns repeating one configuration until its interval is as narrow as asked. */
#include <errno.h>
#include <math.h>

#include "bench.h"
#include "text.h"

/* A command that never did well is given up soon; else three void runs for each valid one, and so many more. */
enum { FIRST_VOID = 3, MOST_VOID = 10 };

const char *bench_end_text(enum bench_end end)
{
	static const char *const texts[] = {
	    [BENCH_STOPPED] = "it was stopped",
	    [BENCH_PRECISE] = "the precision asked for is reached",
	    [BENCH_RUNS] = "as many runs as asked for",
	    [BENCH_MOST_RUNS] = "the most runs allowed were made; the precision asked for was not reached",
	    [BENCH_TIME] = "the time is over; the precision asked for was not reached",
	    [BENCH_VOID] = "too many runs were void",
	};

	return texts[end];
}

struct repeating {
	struct bench *bench;
	int configuration;
	const struct bench_rule *rule;
	struct stat_stop_rule stop;
	struct bench_result *result;
	int64_t began_ns;
	unsigned warm; /* runs that were left out */
	bool finished;
	bool last;     /* it ends before its number is reached */
	unsigned done; /* valid runs */
};

/* Valid runs that were not left out. */
static unsigned measured(const struct bench *bench, int configuration)
{
	unsigned count = 0;

	for (size_t i = 0; i < bench->run_count; i++)
		count += bench->runs[i].valid && bench->runs[i].configuration == configuration &&
			 text_equal(bench->runs[i].purpose, "measure");
	return count;
}

/* After a valid run all metrics are known: one that is asked for and is not among them never comes. */
static int check_target(const struct repeating *repeating, struct err *err)
{
	const struct bench *bench = repeating->bench;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const char *wanted = repeating->rule->metric, *all = "";

	if (!wanted || bench->run_count == bench->void_count || bench_values_find(&bench->values, wanted) >= 0)
		return 0;
	for (size_t i = 0; i < bench->values.count; i++)
		all = arena_printf(arena, "%s%s%s", all, i ? ", " : "", bench->values.metrics[i].name);
	(void)err_set(err, ENOENT, wanted, "no such metric was measured");
	(void)err_hint(err, "there are: %s", all);
	return -ENOENT;
}

static int look(struct repeating *repeating, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct bench_result *result = repeating->result;
	const struct bench_rule *rule = repeating->rule;
	enum stat_stop stop = STAT_STOP_MORE;
	double *values;
	int n, r;

	result->metric = bench_target(repeating->bench, rule->metric);
	n = (int)bench_series(repeating->bench, arena, repeating->configuration, result->metric, "measure", &values);
	r = check_target(repeating, err);
	if (r < 0)
		return r;
	/* Runs that lack the value count too, else a metric that never comes would never end it. */
	repeating->done = measured(repeating->bench, repeating->configuration);
	if (!repeating->last && (unsigned)n < repeating->done &&
	    repeating->done >= (rule->runs ? rule->runs : (unsigned)repeating->stop.cap)) {
		result->end = rule->runs ? BENCH_RUNS : BENCH_MOST_RUNS;
		repeating->finished = true;
	}
	/* A number that was fixed before is not looked at before. */
	if (n == 0 || (rule->runs && (unsigned)n < rule->runs && !repeating->last))
		return 0;
	result->alpha = rule->runs ? STAT_ALPHA : repeating->stop.nominal;
	if (rule->runs)
		r = stat_estimate(values, n, STAT_ALPHA, &result->estimate, err);
	else
		r = stat_stop_look(&repeating->stop, values, n, &stop, &result->estimate, err);
	if (r < 0)
		return r;
	if (repeating->last)
		return 0;
	if (stop != STAT_STOP_MORE || (rule->runs && (unsigned)n >= rule->runs)) {
		result->end = rule->runs ? BENCH_RUNS : stop == STAT_STOP_TARGET ? BENCH_PRECISE : BENCH_MOST_RUNS;
		repeating->finished = true;
	}
	return 0;
}

static void tell(const struct repeating *repeating)
{
	const struct bench_rule *rule = repeating->rule;
	const struct stat_estimate *estimate = &repeating->result->estimate;
	unsigned done = repeating->done, expected = rule->runs;
	double passed_s = (double)(bench_now_ns() - repeating->began_ns) / 1e9, left_s = (double)NAN;

	if (!rule->tell)
		return;
	if (!expected)
		expected = done < 3
			       ? rule->least
			       : (unsigned)MIN_OF(MAX_OF(stat_stop_runs(&repeating->stop, estimate->cv), (int)done + 1),
						  repeating->stop.cap);
	if (done)
		left_s = passed_s / (done + repeating->warm) * (expected > done ? expected - done : 0);
	if (rule->time_ns)
		left_s = fmin(left_s, (double)rule->time_ns / 1e9 - passed_s);
	rule->tell(rule->data, repeating->bench, done, expected, left_s);
}

static bool is_hopeless(const struct repeating *repeating)
{
	const struct bench *bench = repeating->bench;

	if (bench->void_count == bench->run_count)
		return bench->void_count >= FIRST_VOID;
	return bench->void_count >= MOST_VOID + 3 * (size_t)repeating->done;
}

static int go(struct repeating *repeating, struct err *err)
{
	const struct bench_rule *rule = repeating->rule;

	while (!repeating->finished) {
		bool warm = repeating->warm < rule->warmup;
		const struct bench_run *run;
		int r;

		tell(repeating);
		r = bench_measure(repeating->bench, repeating->configuration, warm ? "warmup" : "measure", -1, &run,
				  err);
		if (r < 0)
			return r;
		repeating->warm += warm && run->valid;
		r = look(repeating, err);
		if (r < 0)
			return r;
		if (!repeating->finished && rule->time_ns && bench_now_ns() - repeating->began_ns >= rule->time_ns) {
			repeating->result->end = BENCH_TIME;
			repeating->finished = true;
		}
		if (!repeating->finished && is_hopeless(repeating)) {
			repeating->result->end = BENCH_VOID;
			repeating->finished = true;
		}
	}
	return 0;
}

int bench_repeat(struct bench *bench, int configuration, const struct bench_rule *rule, struct bench_result *ret,
		 struct err *err)
{
	struct bench_result result = {.metric = BENCH_WALL};
	struct repeating repeating = {.bench = bench,
				      .configuration = configuration,
				      .rule = rule,
				      .result = &result,
				      .began_ns = bench_now_ns()};
	int r =
	    rule->runs ? 0 : stat_stop_rule((int)rule->least, (int)rule->most, rule->precision, &repeating.stop, err);

	if (r == 0)
		r = go(&repeating, err);
	/* What there is, of a number that was not reached. */
	repeating.last = true;
	if (result.estimate.n == 0)
		(void)look(&repeating, NULL);
	*ret = result;
	return r;
}

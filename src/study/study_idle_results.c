/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the idle windows of a study tell: watts of each configuration, and the traces that they left. */
#include <math.h>

#include "study_known.h"

/* Less than that share of the idle watts is no trace. */
#define TRACE_SHARE .01
/* Degrees of freedom of a window's batch means, six parts. */
#define WINDOW_DF 5.

struct results {
	struct study_judging *judging;
	size_t *at, done; /* the windows, by their places in what was seen */
	int *behind;	  /* by window: the configuration whose trace may have been in it; -1 */
};

static const struct study_seen *seen_of(const struct results *results, size_t window)
{
	return &results->judging->seen[results->at[window]];
}

/* Window i is of the baseline, right after this configuration, without a boot between them; -1: it is not. */
static int left_before(const struct results *results, size_t i)
{
	int baseline = (int)results->judging->engine->matrix->baseline;

	if (!i || seen_of(results, i)->config != baseline || seen_of(results, i - 1)->config == baseline ||
	    seen_of(results, i - 1)->boot != seen_of(results, i)->boot)
		return -1;
	return seen_of(results, i - 1)->config;
}

/* The baseline's window before window i that no trace was in. */
static const struct study_seen *before(const struct results *results, size_t i)
{
	int baseline = (int)results->judging->engine->matrix->baseline;

	for (size_t j = i; j-- > 0;)
		if (seen_of(results, j)->config == baseline && results->behind[j] < 0)
			return seen_of(results, j);
	return NULL;
}

/* What window i, of the baseline right after another configuration, has above the one before it. */
static struct stat_interval trace_of(const struct results *results, size_t i)
{
	const struct study_seen *now = seen_of(results, i), *then = before(results, i);
	double watts, half;

	if (!then)
		return (struct stat_interval){NAN, NAN, NAN};
	watts = now->value[STUDY_IDLE_WATTS] - then->value[STUDY_IDLE_WATTS];
	half = stat_t_critical(STAT_ALPHA, 2 * WINDOW_DF) * hypot(now->error, then->error);
	if (isnan(half))
		return (struct stat_interval){watts, -INFINITY, INFINITY};
	return (struct stat_interval){watts, watts - half, watts + half};
}

static bool is_trace(const struct stat_interval *trace, double watts)
{
	return (trace->low > 0 || trace->high < 0) && fabs(trace->estimate) > TRACE_SHARE * watts;
}

static struct study_idle *idle_of(struct study_verdict *verdict, int config)
{
	for (size_t i = 0; i < verdict->idle_count; i++)
		if (verdict->idles[i].config == config)
			return &verdict->idles[i];
	struct study_idle *idle = &verdict->idles[verdict->idle_count++];

	*idle = (struct study_idle){.config = config,
				    .lowest = NAN,
				    .busy = NAN,
				    .over = {NAN, NAN, NAN},
				    .trace = {NAN, NAN, NAN},
				    .behind = -1};
	return idle;
}

/* Traces in order: what comes in a boot after one was left is behind it. */
static void find_traces(struct results *results)
{
	int behind = -1;

	for (size_t i = 0; i < results->done; i++) {
		const struct study_seen *seen = seen_of(results, i);

		if (i && seen->boot != seen_of(results, i - 1)->boot)
			behind = -1;
		if (left_before(results, i) >= 0) {
			struct study_idle *idle = idle_of(results->judging->verdict, left_before(results, i));

			idle->trace = trace_of(results, i);
			idle->left = is_trace(&idle->trace, seen->value[STUDY_IDLE_WATTS]);
			behind = idle->left && behind < 0 ? idle->config : behind;
		}
		results->behind[i] = behind;
		idle_of(results->judging->verdict, seen->config);
	}
}

/* Windows of one configuration as one cell: those behind a trace only where there is no other. */
static struct stat_cell cell_of(const struct results *results, struct study_idle *idle)
{
	double *logs = ARENA_ARRAY(results->judging->engine->arena, results->done + 1, double);
	bool clean = false;
	int n = 0;

	for (size_t i = 0; i < results->done; i++)
		clean = clean || (seen_of(results, i)->config == idle->config && results->behind[i] < 0);
	for (size_t i = 0; i < results->done; i++) {
		const struct study_seen *seen = seen_of(results, i);

		if (seen->config != idle->config || (clean && results->behind[i] >= 0))
			continue;
		logs[n++] = log(seen->value[STUDY_IDLE_WATTS]);
		idle->lowest = idle->lowest < seen->lowest ? idle->lowest : seen->lowest;
		idle->busy = idle->busy > seen->busy ? idle->busy : seen->busy;
		idle->behind = results->behind[i];
	}
	idle->windows = n;
	return stat_cell(logs, n);
}

static void find_watts(struct results *results)
{
	struct study_verdict *verdict = results->judging->verdict;
	size_t n = verdict->idle_count;
	struct stat_cell *cells = ARENA_ARRAY(results->judging->engine->arena, n + 1, struct stat_cell);
	double *variances = ARENA_ARRAY(results->judging->engine->arena, n + 1, double);
	double *df = ARENA_ARRAY(results->judging->engine->arena, n + 1, double);

	for (size_t i = 0; i < n; i++)
		cells[i] = cell_of(results, &verdict->idles[i]);
	stat_cell_spread(cells, (int)n, variances, df);
	for (size_t i = 0; i < n; i++) {
		struct study_idle *idle = &verdict->idles[i];
		double error = sqrt(variances[i] / cells[i].n), half = stat_t_critical(STAT_ALPHA, df[i]) * error;

		idle->watts =
		    stat_exp((struct stat_interval){cells[i].mean, cells[i].mean - half, cells[i].mean + half});
		if (!i)
			continue;
		double base = verdict->idles[0].watts.estimate, over = idle->watts.estimate - base;
		double both = stat_t_critical(STAT_ALPHA, MIN_OF(df[0], df[i])) *
			      hypot(idle->watts.estimate * error, base * sqrt(variances[0] / cells[0].n));

		idle->over = (struct stat_interval){over, over - both, over + both};
	}
	results->judging->idle_cells = cells;
}

void study_idle_results(struct study_judging *judging)
{
	struct study_engine *engine = judging->engine;
	struct results results = {.judging = judging,
				  .at = ARENA_ARRAY(engine->arena, judging->count + 1, size_t),
				  .behind = ARENA_ARRAY(engine->arena, judging->count + 1, int)};
	bool wanted =
	    study_is_sought(judging->study, STUDY_IDLE_WATTS) || study_limit(judging->study, STUDY_IDLE_WATTS) > 0;

	results.done = study_idle_windows(engine, judging->seen, judging->count, results.at);
	judging->verdict->idles = ARENA_ARRAY(engine->arena, results.done + 1, struct study_idle);
	if (wanted && !results.done)
		judging->verdict->idle_why = engine->no_idle ? engine->no_idle : "no idle window was measured";
	if (!results.done)
		return;
	find_traces(&results);
	find_watts(&results);
}

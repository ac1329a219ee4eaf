/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how the runs of a session are kept: in memory, and in the store as they end. */
#include <string.h>

#include "bench_session.h"

static int store_metrics(struct bench *bench, struct err *err)
{
	struct bench_private *self = bench->self;
	int r = 0;

	for (; self->stored_metrics < bench->values.count && r == 0; self->stored_metrics++) {
		const struct bench_metric *metric = &bench->values.metrics[self->stored_metrics];
		const struct store_metric kept = {.id = (int64_t)self->stored_metrics,
						  .name = metric->name,
						  .unit = metric->unit ? metric->unit : "",
						  .direction = bench_better_name(metric->better),
						  .source = metric->source,
						  .boundary = metric->boundary};

		r = store_metric_add(self->setup.store, bench->session, &kept, err);
	}
	return r;
}

struct bench_run *bench_keep_run(struct bench *bench, const struct bench_run *run)
{
	struct bench_private *self = bench->self;
	double *values = ARENA_ARRAY(bench->arena, bench->values.count, double);

	if (bench->run_count == self->run_room) {
		size_t room = self->run_room ? 2 * self->run_room : 32;
		struct bench_run *larger = ARENA_ARRAY(bench->arena, room, struct bench_run);

		if (bench->run_count)
			memcpy(larger, bench->runs, bench->run_count * sizeof(*larger));
		bench->runs = larger;
		self->run_room = room;
	}
	memcpy(values, bench->values.values, bench->values.count * sizeof(*values));
	bench->runs[bench->run_count] = *run;
	bench->runs[bench->run_count].values = values;
	bench->runs[bench->run_count].value_count = bench->values.count;
	bench->runs[bench->run_count].why = run->why ? arena_strdup(bench->arena, run->why) : NULL;
	bench->void_count += !run->valid;
	return &bench->runs[bench->run_count++];
}

enum { LONGEST_WAIT_NS = 50000000 };

/* Runs that are over so soon are kept when they end: a note of their beginning would cost more than it tells. */
#define SHORT_RUN_S .1

/*
 * And a transaction for each of the shortest would take as long as they do: they are kept together, so many or for so
 * long. That is what a kill can lose of them; Ctrl-C loses nothing.
 */
#define SHORTEST_RUN_S .01

int bench_flush(struct bench *bench, struct err *err)
{
	struct bench_private *self = bench->self;
	size_t count = self->waiting_count;

	self->waiting_count = 0;
	return count ? store_runs_add(self->setup.store, bench->session, self->waiting, count, err) : 0;
}

static int add_run(struct bench *bench, const struct store_run *row, const struct bench_run *run, struct err *err)
{
	struct bench_private *self = bench->self;
	struct store_ended *waiting = &self->waiting[self->waiting_count];

	if (!self->waiting_count)
		self->waited_ns = bench_now_ns();
	*waiting = (struct store_ended){*row, run->values, run->value_count};
	waiting->run.why = run->why;
	waiting->run.began_us = self->row_began_us;
	self->waiting_count++;
	/* Meters go on, and their samples are of a run that is kept. */
	if (!self->energy && run->values[0] < SHORTEST_RUN_S && self->waiting_count < BENCH_WAITING &&
	    bench_now_ns() - self->waited_ns < LONGEST_WAIT_NS)
		return 0;
	return bench_flush(bench, err);
}

bool bench_is_short(const struct bench *bench, int configuration)
{
	for (size_t i = bench->run_count; i-- > 0;)
		if (bench->runs[i].configuration == configuration)
			return bench->runs[i].values[0] < SHORT_RUN_S;
	return false;
}

int bench_store_run(struct bench *bench, const struct store_run *row, const struct bench_run *run, bool begun,
		    const struct bench_outcome *outcome, struct err *err)
{
	struct bench_private *self = bench->self;
	struct store_run ended = *row;
	int r;

	if (!self->setup.store)
		return 0;
	ended.took_ns = outcome->ended_ns - outcome->began_ns;
	ended.state = run->valid ? "valid" : "invalid";
	ended.why = run->why;
	ended.exit_code = outcome->exit_code;
	ended.signal = outcome->signal;
	ended.clock = self->remote.name;
	ended.vm_boot = self->remote.boot;
	r = store_metrics(bench, err);
	if (r == 0)
		r = begun ? store_run_end(self->setup.store, bench->session, &ended, run->values, run->value_count, err)
			  : add_run(bench, &ended, run, err);
	if (r == 0)
		r = bench_energy_keep(self->energy, self->setup.store, bench->session, self->began_ns, ended.id, err);
	return r;
}

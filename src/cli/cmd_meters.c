/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune meters`. */
#include <math.h>
#include <time.h>

#include "cli.h"
#include "progress.h"
#include "report.h"
#include "report_meter.h"
#include "text.h"

enum { LONGEST_S = 3600 };

static const double usual_s = 1;

/* A host that is not this machine does not go on: each source says what it said then. */
static void read_once(struct meter_set *set, struct meter_result *results)
{
	for (size_t i = 0; i < meter_source_count(set); i++) {
		struct meter_reading reading;

		meter_read(set, i, &reading);
		results[i] = (struct meter_result){.state = reading.state,
						   .why = reading.why,
						   .energy_j = (double)NAN,
						   .mean = (double)NAN,
						   .peak = (double)NAN,
						   .least = (double)NAN,
						   .samples = 1};
		if (reading.state == METER_VALUE && meter_source_at(set, i)->quantity == METER_LIMIT)
			results[i].limits = (uint32_t)reading.value;
		else if (reading.state == METER_VALUE && meter_source_at(set, i)->quantity != METER_ENERGY)
			results[i].mean = results[i].peak = results[i].least = reading.value;
	}
}

/* Let the time go by, and say how far it is. */
static void wait_for(double window_s)
{
	struct progress progress = progress_start();
	int64_t from_ns = meter_now_ns(), now_ns;

	while ((now_ns = meter_now_ns()) < from_ns + (int64_t)(window_s * 1e9)) {
		int64_t left_ns = MIN_OF(from_ns + (int64_t)(window_s * 1e9) - now_ns, INT64_C(500000000));

		progress_show(&progress, "measuring, %.0f of %.0f s", (double)(now_ns - from_ns) / 1e9, window_s);
		(void)nanosleep(&(struct timespec){.tv_nsec = (long)left_ns}, NULL);
	}
	progress_end(&progress);
}

static int measure(struct meter_set *set, struct meter_cpus *cpus, struct meter_result *results,
		   struct report_meters *meters, struct arena *arena, struct err *err)
{
	CLEANUP(meter_sampler_free_pointer) struct meter_sampler *sampler = NULL;
	/* A short window wants ten readings of what is read quickly. */
	const struct meter_sampling how = {.period_s = fmin(1, meters->window_s / 10), .cpus = cpus};
	int r = meter_sampler_start(set, &how, &sampler, err);

	if (r < 0)
		return r;
	int64_t from_ns = meter_sampler_mark(sampler);

	wait_for(meters->window_s);
	int64_t to_ns = meter_sampler_mark(sampler);

	meter_sampler_stop(sampler);
	for (size_t i = 0; i < meter_source_count(set); i++)
		meter_window(sampler, i, from_ns, to_ns, &results[i]);
	meters->contradiction = meter_contradiction(sampler, from_ns, to_ns, arena);
	meters->activity = meter_activity(sampler, from_ns, to_ns);
	meters->cost = meter_sampler_cost(sampler);
	return 0;
}

static int window_given(const struct cli *cli, double *ret)
{
	const char *text = cli->values[OPTION_WINDOW];
	char *end;

	if (!text)
		return 0;
	double window_s = strtod(text, &end);

	if (end == text || *end || !(window_s >= 0.1 && window_s <= LONGEST_S))
		return cli_usage(cli, "--window takes seconds from 0.1 to %d, not \"%s\"", LONGEST_S, text);
	*ret = window_s;
	return 0;
}

static bool any_works(const struct meter_set *set)
{
	for (size_t i = 0; i < meter_source_count(set); i++)
		if (meter_source_at(set, i)->chosen)
			return true;
	return false;
}

static bool any_readable(const struct meter_set *set, const struct meter_cpus *cpus)
{
	if (meter_cpus_clocks(cpus).state == METER_VALUE || meter_cpus_idle(cpus).state == METER_VALUE)
		return true;

	for (size_t i = 0; i < meter_source_count(set); i++)
		if (meter_source_at(set, i)->state == METER_VALUE)
			return true;
	return false;
}

static void print_json(const struct host *host, const struct report_meters *meters)
{
	json_t *json = report_json_start("meters", host);

	report_meters_json(json, meters);
	(void)report_json_print(stdout, json);
}

int cmd_meters(struct cli *cli)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(meter_set_close_pointer) struct meter_set *set = NULL;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	CLEANUP(meter_cpus_close_pointer) struct meter_cpus *cpus = NULL;
	struct meter_result *results;
	struct report_meters meters = {.window_s = usual_s};
	const struct meter_setup setup = {.config = cli->values[OPTION_METERS]};
	struct err err = {0};
	int r;

	if (cli->argument_count)
		return cli_usage(cli, "meters takes no arguments, but got \"%s\"", cli->arguments[0]);
	r = window_given(cli, &meters.window_s);
	if (r)
		return r;
	r = cli_open_host(cli, &host);
	if (r)
		return r;
	if (meter_set_open(host->sys, &setup, &set, &err) < 0)
		return cli_fail(&err);
	meter_cpus_open(host->sys, &cpus);
	results = ARENA_ARRAY(arena, meter_source_count(set) + 1, struct meter_result);
	meters.set = set;
	meters.cpus = cpus;
	meters.results = results;
	if (!sys_is_live(host->sys) || !any_readable(set, cpus))
		meters.window_s = 0;
	meters.activity = meter_activity_of(&(struct meter_activity_sums){0});
	if (meters.window_s <= 0)
		read_once(set, results);
	else if (measure(set, cpus, results, &meters, arena, &err) < 0)
		return cli_fail(&err);
	if (cli_given(cli, OPTION_JSON))
		print_json(host, &meters);
	else
		report_meters(&cli->out, &meters);
	return any_works(set) ? EXIT_FINE : EXIT_FINDINGS;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the commands that measure share: their options, opening a session on this machine, and how figures are
 * printed.
 */
#ifndef HVTUNE_MEASURE_H
#define HVTUNE_MEASURE_H

#include <jansson.h>

#include "bench.h"
#include "bench_guest.h"
#include "cli.h"
#include "progress.h"

/* Options that every command with a workload takes. */
#define MEASURE_OPTIONS                                                                                                \
	OPTION_ON, OPTION_SETUP, OPTION_PREPARE, OPTION_CONCLUDE, OPTION_CLEANUP, OPTION_SHELL, OPTION_CWD,            \
	    OPTION_ENV, OPTION_INPUT, OPTION_TIMEOUT, OPTION_EXIT_CODE, OPTION_SHOW_OUTPUT, OPTION_METRIC,             \
	    OPTION_READ_FROM, OPTION_TARGET, OPTION_MAX_LOAD, OPTION_MAX_TEMP, OPTION_METERS, OPTION_LABEL,            \
	    OPTION_STORE, OPTION_NO_STORE, OPTION_JSON

struct measure {
	struct arena *arena;
	struct host *host;
	struct knob_machine machine;
	struct meter_set *meters;
	struct store *store; /* NULL with --no-store */
	struct bench_spawner *spawner;
	struct bench *bench;					/* NULL: not open (any more) */
	struct bench_command command;				/* all but argv and program: how workloads are run */
	struct bench_command setup, prepare, conclude, cleanup; /* argv NULL: not given */
	int exit_code;
	const char *place, *remote_cwd; /* --on: where commands and hooks run; NULL: here */
	struct bench_guest guest;	/* of vm:NAME */
	struct bench_reader *readers;
	size_t reader_count;
	const char *const *watch; /* see bench_setup */
	const char *work;	  /* directory of a workload that is known by name; NULL: none */
	struct progress progress;
};

/* A number that an option gives, from `least` to `most`; `usual` when it is not given. 0, or EXIT_USAGE after a line.
 */
int measure_number(const struct cli *cli, enum cli_option_id id, double least, double most, double usual, double *ret);
/* The same of what is counted: 2.5 and 5 % are none. */
int measure_count(const struct cli *cli, enum cli_option_id id, double least, double most, double usual, double *ret);

/* The place of --on without its scheme: "web1" of "vm:web1". */
const char *measure_place_name(const struct measure *measure);

/*
 * Read the options, open this machine, its meters and the store. 0, or an exit code after a line. measure_close() in
 * any case.
 */
int measure_open(const struct cli *cli, struct measure *ret);
void measure_close(struct measure *measure); /* also for CLEANUP() */

/* --max-load and --max-temp; the latter needs a sensor in `meters`. 0, or an exit code after a line. */
int measure_limits(const struct cli *cli, const struct meter_set *meters, struct bench_limits *ret);

/* Cut a command into words, or give it to the shell with --shell, and find its program. 0, or an exit code. */
int measure_text_command(const struct cli *cli, struct measure *measure, const char *text, struct bench_command *ret);
/* The same for words as they stand on the command line. */
int measure_words_command(const struct cli *cli, struct measure *measure, char *const *words, int count,
			  struct bench_command *ret);

/* Compact JSON as a text in the arena; takes the reference. */
const char *measure_json_text(struct arena *arena, json_t *json);

/* What is kept of the host with a session: the facts that have a value, as one object of texts (JSON), in the arena. */
const char *measure_facts(const struct measure *measure);

/* A session of this command on this machine, but for its method; texts in the arena. */
struct store_session measure_session(const struct cli *cli, const struct measure *measure);

/*
 * The workload of that name as a command, with its hooks and figure in `measure` and a directory that goes with it
 * (measure_named_clear(), which measure_close() calls). 0, or an exit code.
 */
int measure_named_command(const struct cli *cli, struct measure *measure, const char *name, struct bench_command *ret);
void measure_named_clear(struct measure *measure);

/* Begin the session; `method` is JSON of how it is measured, and is released. Runs --setup. 0, or an exit code. */
int measure_begin(const struct cli *cli, struct measure *measure, json_t *method);

/*
 * Runs --cleanup and ends the session as "done", or as `err` says why it could not go on (err->code 0: done); `why` and
 * `verdict` (JSON, may be NULL) are kept. Prints a line for what is not "done". *ret_session is its number or 0. 0, or
 * an exit code.
 */
int measure_end(const struct cli *cli, struct measure *measure, const struct err *err, const char *why,
		const json_t *verdict, int64_t *ret_session);

/* A bench_subject of a command with what the options say. */
struct bench_subject measure_subject(const struct measure *measure, const char *name,
				     const struct bench_command *command);

/* ---- figures ---- */

/* "67.94 s", "1.32 ms", "9.41 Gbit/s": four digits, with the prefix that fits where the unit takes one. */
const char *measure_value(struct arena *arena, const char *unit, double value);

/* "67.94 s (67.14 .. 68.74)": in the unit that fits the estimate. */
const char *measure_interval(struct arena *arena, const char *unit, struct stat_interval interval);

/* "+1.2 %", "-0.03 %". */
const char *measure_percent(struct arena *arena, double share);

/* {"estimate", "low", "high"}; what is not finite is null. */
json_t *measure_interval_json(struct stat_interval interval);
json_t *measure_number_json(double value);

json_t *measure_lack_json(const struct bench_lack *lack); /* {"runs", "of", "why"}, or null */

/* The mean of each metric of a configuration as {"name", "unit", "mean", "runs"}; only what has values. */
json_t *measure_metrics_json(const struct bench *bench, int configuration);

/* The rows below a result: user and system time, memory, energy, in a line each. */
void measure_print_metrics(const struct term *term, const struct bench *bench, int configuration, const char *but);

/* What disturbed, a line each: processes that `who` left running (NULL: none), the share of CPUs of others (NAN). */
void measure_print_disturbed(const struct term *term, const char *who, const char *left, double foreign);

/* What disturbed: void runs with their reasons, foreign load. */
void measure_print_remarks(const struct term *term, const struct bench *bench);

/* "Kept as session 12: hvtune results show 12", or nothing without a store. */
void measure_print_kept(const struct term *term, int64_t session);

#endif

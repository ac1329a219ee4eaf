/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the command line: the tables of commands and options, from which parsing, --help and the checks of man pages and
 * completion come.
 */
#ifndef HVTUNE_CLI_H
#define HVTUNE_CLI_H

#include "err.h"
#include "host.h"
#include "term.h"

/* Exit codes of every command. */
enum { EXIT_FINE = 0, EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_COULD_NOT = 3 };

enum cli_option_id {
	OPTION_HELP = 1,
	OPTION_HOST,
	OPTION_JSON,
	OPTION_ALL,
	OPTION_TIMING,
	OPTION_SVG,
	OPTION_OUTPUT,
	OPTION_MARKDOWN,
	OPTION_FORCE,
	OPTION_LIST,
	OPTION_KIND,
	OPTION_FILE,
	OPTION_NEW,
	OPTION_NAME,
	OPTION_COPIES,
	OPTION_POLICY,
	OPTION_REPIN,
	OPTION_MOVE,
	OPTION_MAX_EXCESS,
	OPTION_EVEN,
	OPTION_SMT,
	OPTION_RESERVE,
	OPTION_WHAT_IF,
	OPTION_FORMAT,
	OPTION_PLAN,
	OPTION_APPLY,
	OPTION_IGNORE,
	OPTION_MIN,
	OPTION_SOURCES,
	OPTION_YES,
	OPTION_DRY_RUN,
	OPTION_ACCEPT_RISK,
	OPTION_SETTLE,
	OPTION_EVERY,
	OPTION_ROOT,
	OPTION_CONNECT,
	OPTION_NO_TRIAL,
	OPTION_WAIT,
	OPTION_WINDOW,
	OPTION_METERS,
	OPTION_REFRESH,
	OPTION_TIMES,
	OPTION_BATCH,
	OPTION_PROMETHEUS,
	OPTION_CPUS,
	OPTION_REPORT_OUTPUT,
	OPTION_REPORT_FORMAT,
	OPTION_SETUP,
	OPTION_PREPARE,
	OPTION_CONCLUDE,
	OPTION_CLEANUP,
	OPTION_SHELL,
	OPTION_CWD,
	OPTION_ENV,
	OPTION_INPUT,
	OPTION_TIMEOUT,
	OPTION_EXIT_CODE,
	OPTION_SHOW_OUTPUT,
	OPTION_METRIC,
	OPTION_READ_FROM,
	OPTION_TARGET,
	OPTION_MAX_LOAD,
	OPTION_MAX_TEMP,
	OPTION_LABEL,
	OPTION_STORE,
	OPTION_NO_STORE,
	OPTION_RUNS,
	OPTION_MOST_RUNS,
	OPTION_PRECISION,
	OPTION_TIME,
	OPTION_WARMUP,
	OPTION_THROUGH,
	OPTION_SIDE_A,
	OPTION_SIDE_B,
	OPTION_SIDE_C,
	OPTION_SIDE_D,
	OPTION_SWITCH,
	OPTION_BLOCKS,
	OPTION_MOST_BLOCKS,
	OPTION_MARGIN,
	OPTION_CALIBRATE,
	OPTION_NO_CALIBRATION,
	OPTION_SEED,
	OPTION_FAIL_IF_SLOWER,
	OPTION_EXPORT_FORMAT,
	OPTION_STUDY_VM,
	OPTION_MINUTES,
	OPTION_UNDO_YES,
	OPTION_WORKLOAD,
	OPTION_TUNE_APPLY,
	OPTION_IDLE_SETTLE,
	OPTION_IDLE_WINDOW,
	OPTION_ON,
	OPTION_PICK,
	OPTION_SLOWER,
	OPTION_ELSEWHERE,
	OPTION_NOT_SURE,
	OPTION_DONE,
	OPTION_CANNOT,
	OPTION_COUNT,
};

struct cli_option {
	enum cli_option_id id;
	const char *name;     /* "host" */
	char letter;	      /* 'H', or 0 */
	const char *argument; /* "WHAT", or NULL when it takes none */
	const char *help;
};

struct cli_given {
	enum cli_option_id id;
	const char *value;
};

struct cli {
	const struct cli_command *command;
	const char
	    *values[OPTION_COUNT];     /* argument of an option that was given, "" for one without; NULL: not given */
	const struct cli_given *given; /* given_count: every option in its order, for those that may be repeated */
	int given_count;
	char **arguments; /* what follows the options */
	int argument_count;
	struct term out;
};

struct cli_command {
	const char *name;
	const char *arguments;	 /* "[SUBJECT...]" for the usage line; "-- ": a command with its own options */
	const char *summary;	 /* one line for `hvtune help` */
	const char *description; /* a paragraph for --help */
	const enum cli_option_id *options; /* ended by 0; --help is always there */
	int (*run)(struct cli *cli);	   /* returns an exit code */
	const char *codes;		   /* what its exit codes mean, in a line */
};

static inline bool cli_given(const struct cli *cli, enum cli_option_id id)
{
	return cli->values[id] != NULL;
}

/* The next value of an option that may be repeated; `*at` starts at 0. NULL after the last. */
const char *cli_next(const struct cli *cli, enum cli_option_id id, int *at);

/* All commands; ends with a NULL name. All options; ends with id 0. */
extern const struct cli_command cli_commands[];
extern const struct cli_option cli_options[];

/* What the two below print, on standard error. */
void cli_print_fault(const struct err *err);
void cli_print_usage(const struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Print the error and give the exit code that belongs to it. In the header, so that analyzers see that it is not 0. */
static inline int cli_fail(const struct err *err)
{
	cli_print_fault(err);
	return EXIT_COULD_NOT;
}

/* One line, and EXIT_USAGE; format and arguments as of printf(). */
#define cli_usage(cli, ...) (cli_print_usage(cli, __VA_ARGS__), (int)EXIT_USAGE)

/* Open the host that --host names (or this machine). 0, or an exit code after printing why not. */
int cli_open_host(const struct cli *cli, struct host **ret);

/* Write what --svg asks for to its FILE, - is standard output. An exit code. */
int cli_write_picture(const struct cli *cli, int (*write)(FILE *out, const void *what), const void *what);

/* Write `what` ("picture", "report") to a file, a pipe or a device; half a new file is taken away. An exit code. */
int cli_write_file(const char *path, const char *what, const char *data, size_t size);

/*
 * Put a file in the place of the one at `path`, if there is one, in one step: who reads it sees the old one or the new
 * one, never half of one. Links are replaced, not followed. 0 or a negative errno.
 */
int cli_replace_file(const char *path, const char *data, size_t size, struct err *err);

/* For --timing: where the time went, to standard error. */
void cli_print_timing(const struct cli *cli, const struct host *host);

int cmd_apply(struct cli *cli);
int cmd_capture(struct cli *cli);
int cmd_check(struct cli *cli);
int cmd_compare(struct cli *cli);
int cmd_confirm(struct cli *cli);
int cmd_explain(struct cli *cli);
int cmd_fix(struct cli *cli);
int cmd_hold_latency(struct cli *cli);
int cmd_idle(struct cli *cli);
int cmd_knobs(struct cli *cli);
int cmd_lint(struct cli *cli);
int cmd_meters(struct cli *cli);
int cmd_place(struct cli *cli);
int cmd_report(struct cli *cli);
int cmd_results(struct cli *cli);
int cmd_run(struct cli *cli);
int cmd_set(struct cli *cli);
int cmd_show(struct cli *cli);
int cmd_status(struct cli *cli);
int cmd_study(struct cli *cli);
int cmd_top(struct cli *cli);
int cmd_tune(struct cli *cli);
int cmd_undo(struct cli *cli);
int cmd_workloads(struct cli *cli);

#endif

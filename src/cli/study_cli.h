/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the commands that run studies share. */
#ifndef HVTUNE_STUDY_CLI_H
#define HVTUNE_STUDY_CLI_H

#include "cli.h"
#include "study.h"

struct study_ready;

/*
 * Read a study: the file at `path`, - for standard input, or the one of the program that has that name; lines of that
 * which need a VM that is not there are told. 0, or an exit code after all its mistakes are printed.
 */
int study_cli_read(struct cli *cli, struct arena *arena, const char *path, const char **ret_text, struct study **ret);

/* The text of a study of the program for this host; see study_ready_fill(). 0, or an exit code after a line. */
int study_cli_ready(struct cli *cli, struct arena *arena, const struct study_ready *ready, const char **ret_text,
		    const char *const **ret_left_out);

/* The same of a text that is there already; `name` is for messages. */
int study_cli_parse(struct arena *arena, const char *name, const char *text, struct study **ret);

struct study_cli_job {
	const char *command; /* "study run", for JSON */
	struct study *study; /* is made to suit the machine */
	const char *text;    /* of its file */
	const char *resume;  /* uid of the study to go on with; NULL: a new one */
	const double *takes; /* of a study that is gone on with: seconds of each workload, takes_count */
	size_t takes_count;
	bool apply; /* offer to keep the best */
};

/* Look at the machine, ask, run, tell the answer; with `apply` make the best of the first target permanent, asking. */
int study_cli_job(struct cli *cli, struct study_cli_job *job);

/* Settings are looked at once more so long after they were written. */
enum { STUDY_CLI_SETTLE_MS = 2000 };

struct study_outcome;

/* What was not put back, and what disturbed the runs; nothing where there is nothing to tell. */
void study_cli_print_left(const struct cli *cli, const struct study_outcome *outcome);

struct measure;

/*
 * Run each workload once where only that tells how long it takes, and leave out of optional factors what the budget has
 * no room for, telling; of a study that is gone on with by what was found then. 0, or an exit code after a line.
 */
int study_cli_time(const struct cli *cli, struct measure *measure, const struct study_cli_job *job);

int study_cli_run(struct cli *cli);
int study_cli_resume(struct cli *cli);
int study_cli_apply(struct cli *cli);

#endif

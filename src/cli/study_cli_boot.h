/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns studies that boot the host, as commands: their beginning, what their unit runs, and what is asked and wished of
 * them from any shell. */
#ifndef HVTUNE_STUDY_CLI_BOOT_H
#define HVTUNE_STUDY_CLI_BOOT_H

#include "measure.h"
#include "study_run.h"
#include "study_cli.h"

/* Write the study down, install its unit and start it. An exit code. */
int study_cli_begin(const struct cli *cli, struct measure *measure, const struct study_cli_job *job,
		    const struct study_matrix *matrix, const struct bench_limits *limits);

/*
 * Write the study down, with its unit where it boots the host. `timing`: only that its workloads are run once, by this
 * process; then it has no unit. `ret` is to be cleared in any case, and must not outlive
 * what `job` and `measure` hold. As study_go_begin().
 */
int study_cli_note(const struct cli *cli, struct measure *measure, const struct study_cli_job *job,
		   const struct study_matrix *matrix, const struct bench_limits *limits, bool timing,
		   struct study_state *ret, struct err *err);

/* What will happen to the machine, for the terminal that will lose it. */
void study_cli_foretell(const struct cli *cli, struct arena *arena, const struct study_matrix *matrix);

/* The answer as it is kept with the results: see study_setup. */
const char *study_cli_answer(const struct study_matrix *matrix, const struct study_outcome *outcome);

/* Words of `hvtune study`. */
int study_cli_go_on(struct cli *cli); /* what the unit runs */
int study_cli_status(struct cli *cli);
int study_cli_pause(struct cli *cli);
int study_cli_abort(struct cli *cli);

/* Go on with the study of this machine in this process, until it boots, holds or ends. An exit code. */
int study_cli_carry_on(struct cli *cli);

/* Say that levels of a study that has ended are not taken back, and what to do. EXIT_COULD_NOT. */
int study_cli_tell_stuck(struct arena *arena, const struct study_state *state);

/* ---- what a person changes (study_cli_hand.c) ---- */

/* What a person is asked for, and what he says then. */
void study_cli_print_asks(const struct cli *cli, struct arena *arena, const struct study_state *state);

/* The same as JSON: a list of {"factor", "level", "text"}. */
json_t *study_cli_asks_json(const struct study_state *state);

/* What is still changed by hand, of a study that is ended without waiting; nothing where there is nothing. */
void study_cli_print_left_by_hand(const struct cli *cli, struct arena *arena, const struct study_state *state);

/*
 * `study resume` of a study that waits for a person: what he says of it. False: it does not wait, or not any more, and
 * is to be gone on with; else *ret_code.
 */
bool study_cli_answer_asks(struct cli *cli, int *ret_code);

/*
 * The runs of a study have ended that this process alone has made: what is on disk of it stays where it holds, or waits
 * for a person, which he is told; else it goes. `levels`: that a person sets, as they shall be in the end; taken over.
 * `result` is what study_run() came to.
 */
int study_cli_settle(struct study_boot *boot, const struct study_outcome *outcome, int result, json_t *levels,
		     struct err *err);

/* Go on with the study that waits, in its unit. False: there is none, and nothing was said; else *ret_code. */
bool study_cli_wake(struct cli *cli, int *ret_code);

#endif

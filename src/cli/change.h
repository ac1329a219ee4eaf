/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the commands that change a machine share: opening it for that, showing the plan, asking, and applying so
 * that Ctrl-C puts everything back.
 */
#ifndef HVTUNE_CHANGE_H
#define HVTUNE_CHANGE_H

#include <jansson.h>
#include <signal.h>

#include "cli.h"
#include "knob_plan.h"

/* Options that every command with a plan takes. */
#define CHANGE_OPTIONS                                                                                                 \
	OPTION_YES, OPTION_DRY_RUN, OPTION_ACCEPT_RISK, OPTION_NO_TRIAL, OPTION_SETTLE, OPTION_ROOT, OPTION_JSON

/*
 * Open the machine of --host (a directory), or this one, for changes. 0, or an exit code after printing why not: an
 * archive cannot be changed, a directory without sys/ and proc/ is no machine.
 */
int change_open(const struct cli *cli, struct knob_machine *ret);

/* Is the machine this one, and the user not root? Says what is needed: EXIT_COULD_NOT, else 0. */
int change_needs_root(const struct cli *cli, const struct knob_machine *machine);

/*
 * Check the options that go together before anything is read: --json does not ask. 0, or EXIT_USAGE after a line.
 */
int change_check_options(const struct cli *cli);

struct change_request {
	const char *what; /* the command, for the journal and the hint: "set governor=powersave" */
	const struct knob_ask *asks;
	size_t count;
	/* Look at the plan before it is shown; 0, or an exit code after a line. NULL: no. */
	int (*look)(const struct cli *cli, struct knob_machine *machine, struct knob_plan *plan, void *data);
	void *data;
};

/* Plan, show, ask, apply, tell. An exit code. */
int change_run(const struct cli *cli, struct knob_machine *machine, const struct change_request *request);

/*
 * The same from a plan on that is made already. With --json the plan and what became of it are put into `part`, and
 * `json`, which it belongs to or is, is printed at the end; both are NULL without. `what` as above.
 */
int change_run_plan(const struct cli *cli, struct knob_machine *machine, const char *what, struct knob_plan *plan,
		    json_t *json, json_t *part);

/* Say on stderr what of the journal could not be understood (NULL: nothing): EXIT_FINDINGS, else EXIT_FINE. */
int change_tell_damage(const char *damage);

/* Ctrl-C, SIGTERM, SIGHUP and a closed pipe wait while a machine is being changed. */
struct change_signals {
	int fd; /* signalfd(2), or -1 */
	sigset_t before;
};

void change_hold_signals(struct change_signals *signals);
bool change_signalled(struct change_signals *signals); /* has one come? Takes it away */
void change_release_signals(struct change_signals *signals);

#endif

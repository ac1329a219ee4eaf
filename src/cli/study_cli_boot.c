/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the beginning of a study that boots the host, and going on with it after a boot. */
#include "study_cli_boot.h"

#include <errno.h>
#include <unistd.h>

#include "knob_boot_state.h"
#include "report.h"
#include "report_study.h"
#include "study_go.h"
#include "study_unit.h"
#include "text.h"

enum { WAIT_S = 900 };

extern char **environ;

/* ---- the beginning ---- */

void study_cli_foretell(const struct cli *cli, struct arena *arena, const struct study_matrix *matrix)
{
	const struct study *study = matrix->study;
	unsigned once = study_count_boots(matrix, 1),
		 most = study->limits.boots ? study->limits.boots : study_usual_boots(matrix);

	term_flow(&cli->out, 0, true,
		  arena_printf(arena,
			       "It boots the host: %s to see each configuration once, about %s; never more than %s. "
			       "The default entry of the loader stays as it is: a boot that fails leads back to it.",
			       text_count(arena, once, "time", "times"),
			       text_duration(arena, once * study_cost_seconds(STUDY_HOST_BOOT)),
			       text_count(arena, most, "time", "times")));
	term_flow(&cli->out, 0, true,
		  "It runs as " STUDY_UNIT " and goes on by itself after each boot; this terminal will be gone. To "
		  "follow it: hvtune study status, journalctl -fu hvtune-study. To end it: hvtune study abort, or "
		  "hvtune.study=abort on the kernel's line.");
	if (study->leave_best)
		term_flow(
		    &cli->out, 0, true,
		    "At its end nobody can be asked, so everything is put back, and the best is set by hvtune study "
		    "apply.");
}

/* What a workload may need of the shell that began it. */
static json_t *environment_json(void)
{
	static const char names[] = "PATH HOME USER LANG LC_ALL TMPDIR";
	json_t *json = json_object();

	for (size_t i = 0; environ[i]; i++) {
		char name[16];
		size_t length = strcspn(environ[i], "=");

		if (length >= sizeof(name) || !environ[i][length])
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)length, environ[i]);
		if (text_has_word(names, " ", name))
			(void)json_object_set_new(json, name, json_string(environ[i] + length + 1));
	}
	return json;
}

static int tell_begun(const struct cli *cli, const struct study_state *state)
{
	if (cli_given(cli, OPTION_JSON)) {
		json_t *json = report_json_start("study run", NULL);

		json_object_set_new(json, "study", report_json_text(state->name));
		json_object_set_new(json, "uid", report_json_text(state->uid));
		json_object_set_new(json, "state", report_json_text("begun"));
		json_object_set_new(json, "boots_most", json_integer(state->boots_most));
		(void)report_json_print(stdout, json);
	} else {
		term_flow(&cli->out, 0, true, "It has begun: hvtune study status tells how it stands.");
	}
	return EXIT_FINE;
}

int study_cli_note(const struct cli *cli, struct measure *measure, const struct study_cli_job *job,
		   const struct study_matrix *matrix, const struct bench_limits *limits, bool timing,
		   struct study_state *ret, struct err *err)
{
	const struct store_session session = measure_session(cli, measure);
	struct study_state state = {.uid = job->resume ? job->resume : study_uid(measure->arena),
				    .name = job->study->name,
				    .file = job->study->file,
				    .text = job->text,
				    .store = cli->values[OPTION_STORE],
				    .meters = cli->values[OPTION_METERS],
				    .command = session.command,
				    .directory = session.cwd,
				    .limits = *limits,
				    .budget_s = job->study->budget_s,
				    .timing = timing,
				    .config = timing ? "each workload once, to tell how long it takes" : NULL};
	struct study_boot boot = {.arena = measure->arena,
				  .machine = &measure->machine,
				  .study = job->study,
				  .matrix = *matrix,
				  .state = ret};

	if (!state.directory)
		return err_set(err, ENOENT, NULL, "the directory that hvtune was started in is gone");
	state.environment = environment_json();
	*ret = state;
	return study_go_begin(&boot, err);
}

int study_cli_begin(const struct cli *cli, struct measure *measure, const struct study_cli_job *job,
		    const struct study_matrix *matrix, const struct bench_limits *limits)
{
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct err err = {0};

	if (cli_given(cli, OPTION_NO_STORE))
		return cli_usage(cli, "what a study has measured has to last over boots: leave --no-store out");
	int r = study_cli_note(cli, measure, job, matrix, limits, false, &state, &err);

	if (r == 0)
		r = study_unit_start(&measure->machine, &err);
	return r < 0 ? cli_fail(&err) : tell_begun(cli, &state);
}

/* ---- going on ---- */

static void tell_journal(void *data, const char *event, const char *text)
{
	(void)data;
	(void)event;
	(void)printf("%s\n", text);
	(void)fflush(stdout);
}

static void tell_step(void *data, const struct study_progress *now)
{
	const struct study_matrix *matrix = data;
	double left = matrix->study->budget_s - now->spent_s;
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)printf("%s, %s; run %zu, %s so far", now->step->words, now->config, now->runs + 1,
		     text_duration(arena, now->spent_s));
	if (matrix->study->budget_s > 0 && left > 0)
		(void)printf(", at most %s left", text_duration(arena, left));
	(void)putchar('\n');
	(void)fflush(stdout);
}

static const char *answer(void *data, const struct study_outcome *outcome)
{
	return study_cli_answer(data, outcome);
}

static void restore_surroundings(const struct study_state *state)
{
	const char *name;
	json_t *value;

	json_object_foreach (state->environment, name, value)
		if (json_is_string(value))
			(void)setenv(name, json_string_value(value), 1);
	if (chdir(state->directory) < 0)
		(void)fprintf(stderr, "hvtune: %s: %s; workloads begin in /\n", state->directory, sys_reason(errno));
}

static int boot_now(struct knob_machine *machine, struct err *err)
{
	static const char *const reboot[] = {"systemctl", "reboot", NULL};

	return boot_run(machine, reboot, NULL, err);
}

int study_cli_tell_stuck(struct arena *arena, const struct study_state *state)
{
	struct err err = {0};

	(void)err_set(&err, EPROTO, NULL, "study %s still has undo of level %s to run", state->name,
		      study_levels_text(arena, state->hooks));
	(void)err_hint(&err, STUDY_TRY_AGAIN);
	return cli_fail(&err);
}

static int move_on(struct study_boot *boot, enum study_move move, struct err *err)
{
	static const char *const words[] = {[STUDY_BOOTS] = "the host boots now",
					    [STUDY_HOLDS] = "paused: hvtune study resume goes on with it",
					    [STUDY_WAITS] = "it waits for a person: hvtune study status",
					    [STUDY_LEFT] = "stopped: the next boot or hvtune study resume goes on"};

	if (move == STUDY_OVER)
		return EXIT_FINE;
	if (move == STUDY_OWES)
		return study_cli_tell_stuck(boot->arena, boot->state);
	(void)printf("study %s: %s\n", boot->state->name, words[move]);
	(void)fflush(stdout);
	return move == STUDY_BOOTS && boot_now(boot->machine, err) < 0 ? cli_fail(err) : EXIT_FINE;
}

/* With the state that was read, on the machine that is open for measuring. */
static int go_on_with(struct cli *cli, struct measure *measure, struct study_state *state)
{
	CLEANUP(study_outcome_clear) struct study_outcome outcome = {0};
	struct study_boot boot = {.arena = measure->arena,
				  .machine = &measure->machine,
				  .state = state,
				  .wait_s = WAIT_S,
				  .notify = tell_journal};
	enum study_move move = STUDY_OVER;
	struct bench_signals signals = {0};
	struct err err = {0};
	int r = study_cli_parse(measure->arena, state->file, state->text, &boot.study);

	if (r)
		return r;
	r = study_suit_again(measure->arena, boot.study, state->suited, &err);
	if (r == 0)
		r = study_boot_open(&boot, &err);
	if (r < 0)
		return cli_fail(&err);
	struct study_setup setup = {.matrix = &boot.matrix,
				    .machine = &measure->machine,
				    .sys = measure->host->sys,
				    .store = measure->store,
				    .meters = measure->meters,
				    .session = measure_session(cli, measure),
				    .text = state->text,
				    .uid = state->uid,
				    .boot = study_needs_boots(boot.study) ? &boot : NULL,
				    .state = state,
				    .settle_ms = STUDY_CLI_SETTLE_MS,
				    .limits = state->limits,
				    .tell = tell_step,
				    .answer = answer,
				    .data = &boot.matrix};

	if (state->command)
		setup.session.command = state->command;
	/* Also between its parts, each of which sees those that have come before it. */
	bench_signals_hold(&signals);
	r = study_go_on(&boot, &setup, &outcome, &move, &err);
	if (r == 0 && move == STUDY_BOOTS && bench_signals_came(&signals))
		move = STUDY_LEFT;
	/* For the journal of the system: of the runs of this boot. */
	if (outcome.arena)
		study_cli_print_left(cli, &outcome);
	return r < 0 ? cli_fail(&err) : move_on(&boot, move, &err);
}

int study_cli_carry_on(struct cli *cli)
{
	CLEANUP(measure_close) struct measure measure = {0};
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct err err = {0};
	int r = knob_machine_open("/", NULL, &machine, &err);

	if (r == 0)
		r = study_state_read(&machine, &state, &err);
	if (r)
		return cli_fail(&err);
	restore_surroundings(&state);
	cli->values[OPTION_STORE] = state.store;
	cli->values[OPTION_METERS] = state.meters;
	r = measure_open(cli, &measure);
	return r ? r : go_on_with(cli, &measure, &state);
}

int study_cli_go_on(struct cli *cli)
{
	if (cli->argument_count != 1)
		return cli_usage(cli, "study go-on takes no argument: it is what " STUDY_UNIT " runs");
	return study_cli_carry_on(cli);
}

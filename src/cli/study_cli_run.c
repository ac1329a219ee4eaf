/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune study run`: the look at the machine first, consent, progress, and the answer. */
#include <errno.h>
#include <unistd.h>

#include "change.h"
#include "measure.h"
#include "report.h"
#include "report_study.h"
#include "study_cli.h"
#include "text.h"

enum { SETTLE_MS = 2000 };

struct telling {
	struct measure *measure;
	const struct study *study;
};

static void tell(void *data, const struct study_progress *now)
{
	struct telling *telling = data;
	double left = telling->study->budget_s - now->spent_s;

	if (telling->study->budget_s > 0 && left > 0)
		progress_show(&telling->measure->progress, "%s, %s; run %zu, at most %.0f min left", now->step->words,
			      now->config, now->runs + 1, left / 60);
	else
		progress_show(&telling->measure->progress, "%s, %s; run %zu, %.0f min so far", now->step->words,
			      now->config, now->runs + 1, now->spent_s / 60);
}

/* What this hvtune cannot do by itself yet is said before anything is touched. */
static int refuse_costs(const struct study *study)
{
	for (size_t f = 0; f < study->factor_count; f++) {
		struct err err = {0};

		if (study->factors[f].cost == STUDY_LIVE)
			continue;
		(void)err_set_at(
		    &err, ENOTSUP, study->file, study->factors[f].line, 0,
		    "factor \"%s\" needs %s between its levels; only settings of the running host are studied by "
		    "themselves so far",
		    study->factors[f].name, study_cost_name(study->factors[f].cost));
		return cli_fail(&err);
	}
	return 0;
}

static bool has_risk(const struct study_checked *checked)
{
	for (size_t i = 0; i < checked->count; i++)
		if (checked->problems[i].kind == STUDY_RISK)
			return true;
	return false;
}

static int consent(const struct cli *cli, const struct study_checked *checked)
{
	char answer[16];

	if (has_risk(checked) && !cli_given(cli, OPTION_ACCEPT_RISK))
		return cli_usage(cli,
				 "the study opens a security hole while it runs; add --accept-risk if that is wanted");
	if (cli_given(cli, OPTION_YES))
		return 0;
	if (!isatty(STDIN_FILENO))
		return cli_usage(cli, "there is no terminal to ask on: add --yes to run it, or `study check` to look");
	(void)fflush(stdout);
	(void)fputs("run it? [y/N] ", stderr);
	if (fgets(answer, sizeof(answer), stdin) && (text_equal(answer, "y\n") || text_equal(answer, "yes\n")))
		return 0;
	(void)fputs("Nothing is changed.\n", stderr);
	return EXIT_FINDINGS;
}

/* Does it set anything? Then root is needed. */
static bool sets_knobs(const struct study *study)
{
	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			if (study->factors[f].levels[l].ask_count)
				return true;
	return false;
}

static int look(const struct cli *cli, struct measure *measure, const struct study_matrix *matrix)
{
	struct study_checked checked;
	int r = refuse_costs(matrix->study);

	if (r)
		return r;
	if (sets_knobs(matrix->study) && geteuid() != 0)
		return cli_usage(cli, "this study changes settings of the host: run it as root");
	study_check(&measure->machine, matrix, &checked);
	if (!cli_given(cli, OPTION_JSON) || !checked.possible)
		report_study_check(&cli->out, measure->arena, matrix, &checked);
	if (!checked.possible)
		return EXIT_COULD_NOT;
	return consent(cli, &checked);
}

static void print_json(const struct study_matrix *matrix, const struct study_outcome *outcome)
{
	json_t *json = report_json_start("study run", NULL);

	json_object_set_new(json, "study", report_json_text(matrix->study->name));
	json_object_set_new(json, "uid", report_json_text(outcome->uid));
	json_object_set_new(json, "session", outcome->session ? json_integer(outcome->session) : json_null());
	json_object_set_new(json, "state", report_json_text(outcome->state));
	json_object_set_new(json, "why", report_json_text(outcome->why));
	json_object_set_new(json, "runs", json_integer((json_int_t)outcome->count));
	json_object_set_new(json, "void", json_integer((json_int_t)outcome->void_count));
	json_object_set_new(json, "seconds", json_real(outcome->spent_s));
	json_object_set_new(json, "targets", report_study_answer_json(matrix, outcome));
	(void)report_json_print(stdout, json);
}

static int print_outcome(const struct cli *cli, const struct study_matrix *matrix, const struct study_outcome *outcome)
{
	if (cli_given(cli, OPTION_JSON)) {
		print_json(matrix, outcome);
	} else {
		if (outcome->why)
			term_flow(&cli->out, 0, true,
				  arena_printf(outcome->arena, "Ended early: %s. What it has so far:", outcome->why));
		report_study_answer(&cli->out, matrix, outcome);
		term_flow(&cli->out, 0, true,
			  arena_printf(outcome->arena, "%zu runs, %u switches, %.0f s; all settings are as before.",
				       outcome->count, outcome->switches, outcome->spent_s));
		measure_print_kept(&cli->out, outcome->session);
	}
	if (!text_equal(outcome->state, "done"))
		return EXIT_COULD_NOT;
	return outcome->what == STUDY_DONE ? EXIT_FINE : EXIT_FINDINGS;
}

int study_cli_run(struct cli *cli)
{
	CLEANUP(measure_close) struct measure measure = {0};
	CLEANUP(study_outcome_clear) struct study_outcome outcome = {0};
	struct study_matrix matrix;
	struct study *study = NULL;
	struct err err = {0};
	double load = 0;
	const char *text;
	int r;

	if (cli->argument_count != 2)
		return cli_usage(cli, "study run takes one FILE");
	if (cli_given(cli, OPTION_ROOT))
		return cli_usage(cli, "a study is run on this machine; --host is for study check");
	if (cli_given(cli, OPTION_JSON) && !cli_given(cli, OPTION_YES))
		return cli_usage(cli, "--json does not ask: add --yes");
	r = measure_number(cli, OPTION_MAX_LOAD, 0.1, 100, 0, &load);
	if (r == 0)
		r = measure_open(cli, &measure);
	if (r == 0)
		r = study_cli_read(measure.arena, cli->arguments[1], &text, &study);
	if (r)
		return r;
	study_matrix_make(measure.arena, study, &matrix);
	r = look(cli, &measure, &matrix);
	if (r)
		return r;
	struct telling telling = {.measure = &measure, .study = study};
	const struct study_setup setup = {.matrix = &matrix,
					  .machine = &measure.machine,
					  .sys = measure.host->sys,
					  .store = measure.store,
					  .meters = measure.meters,
					  .session = measure_session(cli, &measure),
					  .text = text,
					  .settle_ms = SETTLE_MS,
					  .load_limit = load / 100,
					  .tell = tell,
					  .data = &telling};

	measure.progress = progress_start();
	r = study_run(&setup, &outcome, &err);
	progress_end(&measure.progress);
	if (r < 0)
		(void)cli_fail(&err);
	if (!outcome.count)
		return r < 0 ? EXIT_COULD_NOT : print_outcome(cli, &matrix, &outcome);
	int code = print_outcome(cli, &matrix, &outcome);

	return r < 0 ? EXIT_COULD_NOT : code;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune study`: what its first word asks for. */
#include <errno.h>

#include "change.h"
#include "lint_file.h"
#include "report.h"
#include "report_study.h"
#include "study_cli.h"
#include "study_meter.h"
#include "study_new.h"
#include "study_suit.h"
#include "text.h"

int study_cli_parse(struct arena *arena, const char *name, const char *text, struct study **ret)
{
	struct study_mistakes mistakes = {0};

	if (study_read(arena, name, text, strlen(text), ret, &mistakes) == 0)
		return 0;
	report_study_mistakes(stderr, &mistakes);
	return EXIT_USAGE;
}

int study_cli_read(struct arena *arena, const char *path, const char **ret_text, struct study **ret)
{
	struct err err = {0};

	if (lint_file_read(arena, path, ret_text, &err) < 0)
		return cli_fail(&err);
	return study_cli_parse(arena, text_equal(path, "-") ? "standard input" : path, *ret_text, ret);
}

static int check(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(meter_set_close_pointer) struct meter_set *meters = NULL;
	struct study_checked checked;
	struct study_left_out left_out;
	struct study_matrix matrix;
	struct study *study = NULL;
	struct err err = {0};
	const char *text;
	int r;

	if (cli->argument_count != 2)
		return cli_usage(cli, "study check takes one FILE");
	r = change_open(cli, &machine);
	if (r == 0)
		r = study_cli_read(machine.arena, cli->arguments[1], &text, &study);
	if (r)
		return r;
	if (study_suit(&machine, study, &left_out, &err) < 0)
		return cli_fail(&err);
	study_matrix_make(machine.arena, study, &matrix);
	study_check(&machine, &matrix, &checked);
	if (meter_set_open(machine.sys, &(struct meter_setup){.only_look = !sys_is_live(machine.sys)}, &meters, &err) <
	    0)
		return cli_fail(&err);
	study_meter_check(machine.arena, study, meters, &checked);
	if (cli_given(cli, OPTION_JSON)) {
		json_t *json = report_json_start("study check", NULL);

		report_study_check_json(json, &matrix, &checked);
		(void)report_json_print(stdout, json);
	} else {
		for (size_t i = 0; i < left_out.count; i++)
			term_flow(&cli->out, 0, true, arena_printf(machine.arena, "left out: %s", left_out.texts[i]));
		report_study_check(&cli->out, machine.arena, &matrix, &checked);
	}
	return checked.possible ? EXIT_FINE : EXIT_FINDINGS;
}

/* To standard output, so that nothing is overwritten. */
static int new_file(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	const char *words = "";
	int r;

	if (cli_given(cli, OPTION_JSON))
		return cli_usage(cli, "study new writes YAML");
	r = change_open(cli, &machine);
	if (r)
		return r;
	for (int i = 1; i < cli->argument_count; i++)
		words = arena_printf(machine.arena, "%s%s%s", words, i > 1 ? " " : "", cli->arguments[i]);
	(void)fputs(study_new(&machine, *words ? words : NULL), cli->out.out);
	return EXIT_FINE;
}

static const struct {
	const char *word;
	int (*run)(struct cli *cli);
} verbs[] = {
    {"new", new_file},
    {"check", check},
    {"run", study_cli_run},
    {"resume", study_cli_resume},
};

int cmd_study(struct cli *cli)
{
	if (!cli->argument_count)
		return cli_usage(cli, "study needs to be told what to do: new, check, run or resume");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (text_equal(verbs[i].word, cli->arguments[0]))
			return verbs[i].run(cli);
	return cli_usage(cli, "study does not know \"%s\"; it does: new, check, run, resume", cli->arguments[0]);
}

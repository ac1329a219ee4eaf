/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune study`: what its first word asks for. */
#include <errno.h>

#include "change.h"
#include "lint_file.h"
#include "report.h"
#include "report_study.h"
#include "study_cli_boot.h"
#include "study_meter.h"
#include "study_new.h"
#include "study_ready.h"
#include "study_suit.h"
#include "text.h"
#include "vm_host.h"

int study_cli_parse(struct arena *arena, const char *name, const char *text, struct study **ret)
{
	struct study_mistakes mistakes = {0};

	if (study_read(arena, name, text, strlen(text), ret, &mistakes) == 0)
		return 0;
	report_study_mistakes(stderr, &mistakes);
	return EXIT_USAGE;
}

/* What it is without the lines that need a VM; where nothing is left without them, that is said. */
static int make_ready(struct cli *cli, struct arena *arena, const struct study_ready *ready, const char **ret_text,
		      const char *const **ret_left_out, struct study **ret)
{
	struct study_mistakes mistakes = {0};
	struct err err = {0};
	int r = study_cli_ready(cli, arena, ready, ret_text, ret_left_out);

	if (r || study_read(arena, ready->name, *ret_text, strlen(*ret_text), ret, &mistakes) == 0)
		return r;
	if (!**ret_left_out) {
		report_study_mistakes(stderr, &mistakes);
		return EXIT_USAGE;
	}
	(void)err_set(&err, ENOENT, ready->name, "this study is of a VM, and %s",
		      cli_given(cli, OPTION_STUDY_VM) ? "none is to be used" : "there is none here");
	return cli_fail(&err);
}

static int read_ready(struct cli *cli, struct arena *arena, const struct study_ready *ready, const char **ret_text,
		      struct study **ret)
{
	const char *const *left_out;
	int r = make_ready(cli, arena, ready, ret_text, &left_out, ret);

	if (r)
		return r;
	for (size_t i = 0; left_out[i] && !cli_given(cli, OPTION_JSON); i++)
		term_flow(&cli->out, 0, true, arena_printf(arena, "left out, since there is no VM: %s", left_out[i]));
	return 0;
}

int study_cli_read(struct cli *cli, struct arena *arena, const char *path, const char **ret_text, struct study **ret)
{
	const struct study_ready *ready = study_ready_find(path);
	struct err err = {0};
	int r;

	if (ready)
		return read_ready(cli, arena, ready, ret_text, ret);
	if (cli_given(cli, OPTION_STUDY_VM))
		return cli_usage(cli, "--vm is for the studies of the program; a file names its VMs itself");
	r = lint_file_read(arena, path, ret_text, &err);
	/* Who typed it may have meant one of those by name. */
	if (r == -ENOENT)
		(void)err_hint(&err,
			       "hvtune study list has the studies that hvtune brings; hvtune study new writes a file");
	if (r < 0)
		return cli_fail(&err);
	return study_cli_parse(arena, text_equal(path, "-") ? "standard input" : path, *ret_text, ret);
}

static int open_meters(const struct cli *cli, struct knob_machine *machine, struct meter_set **ret, struct err *err)
{
	const struct meter_setup setup = {.config = cli->values[OPTION_METERS],
					  .only_look = !sys_is_live(machine->sys)};

	return meter_set_open(machine->sys, &setup, ret, err);
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
		return cli_usage(cli, "study check takes one FILE, or the name of a study of the program");
	r = change_open(cli, &machine);
	if (r == 0)
		r = study_cli_read(cli, machine.arena, cli->arguments[1], &text, &study);
	if (r)
		return r;
	r = study_suit(&machine, study, &left_out, &err);
	for (size_t i = 0; i < left_out.count && !cli_given(cli, OPTION_JSON); i++)
		term_flow(&cli->out, 0, true, arena_printf(machine.arena, "left out: %s", left_out.texts[i]));
	if (r < 0)
		return cli_fail(&err);
	study_matrix_make(machine.arena, study, &matrix);
	study_check(&machine, &matrix, &checked);
	if (open_meters(cli, &machine, &meters, &err) < 0)
		return cli_fail(&err);
	study_meter_check(machine.arena, study, meters, &checked);
	if (cli_given(cli, OPTION_JSON)) {
		json_t *json = report_json_start("study check", NULL), *texts = json_array();

		report_study_check_json(json, &matrix, &checked);
		for (size_t i = 0; i < left_out.count; i++)
			json_array_append_new(texts, report_json_text(left_out.texts[i]));
		json_object_set_new(json, "left_out", texts);
		(void)report_json_print(stdout, json);
	} else {
		report_study_check(&cli->out, machine.arena, &matrix, &checked);
		if (checked.possible && study_needs_boots(study))
			study_cli_foretell(cli, machine.arena, &matrix);
	}
	return checked.possible ? EXIT_FINE : EXIT_FINDINGS;
}

/* The names of the VMs of the machine, ended by NULL; what cannot be read has none. */
static const char *const *vms_of(const struct cli *cli, struct arena *arena)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct vm_host *vms = NULL;
	const char **names;

	if (host_open(cli->values[OPTION_ROOT], &host, NULL) < 0 || vm_host_read(host, NULL, &vms, NULL) < 0)
		return NULL;
	names = ARENA_ARRAY(arena, (size_t)vms->count + 1, const char *);
	for (int i = 0; i < vms->count; i++)
		names[i] = arena_strdup(arena, vms->entries[i].name);
	(void)vm_host_free(vms);
	return names;
}

/* To standard output, so that nothing is overwritten. */
static int new_file(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(meter_set_close_pointer) struct meter_set *meters = NULL;
	const char *words = "";
	struct err err = {0};
	int r;

	if (cli_given(cli, OPTION_JSON))
		return cli_usage(cli, "study new writes YAML");
	r = change_open(cli, &machine);
	if (r)
		return r;
	for (int i = 1; i < cli->argument_count; i++)
		words = arena_printf(machine.arena, "%s%s%s", words, i > 1 ? " " : "", cli->arguments[i]);
	if (open_meters(cli, &machine, &meters, &err) < 0)
		return cli_fail(&err);
	const struct study_new_facts facts = {
	    .command = *words ? words : NULL, .vms = vms_of(cli, machine.arena), .meters = meters};

	(void)fputs(study_new(&machine, &facts), cli->out.out);
	return EXIT_FINE;
}

static int list(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct study_ready *ready;

	if (cli->argument_count != 1)
		return cli_usage(cli, "study list takes no argument");
	json_t *rows = json_array();

	for (size_t i = 0; (ready = study_ready_at(i)); i++) {
		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:b}", "name", ready->name, "title",
						study_ready_title(arena, ready), "vm", study_ready_wants_vm(ready)));
		if (!cli_given(cli, OPTION_JSON))
			(void)fprintf(cli->out.out, "%-20s %s\n", ready->name, study_ready_title(arena, ready));
	}
	if (cli_given(cli, OPTION_JSON)) {
		json_t *json = report_json_start("study list", NULL);

		json_object_set(json, "studies", rows);
		(void)report_json_print(stdout, json);
	}
	json_decref(rows);
	return EXIT_FINE;
}

/* As it would be run here, to be changed: what it needs a VM for is left out where there is none. */
static int show(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct study_ready *ready = cli->argument_count == 2 ? study_ready_find(cli->arguments[1]) : NULL;
	const char *const *left_out;
	struct study *study;
	const char *text;

	if (cli_given(cli, OPTION_JSON))
		return cli_usage(cli, "study show writes YAML");
	if (!ready)
		return cli_usage(cli,
				 "study show takes the name of a study of the program; `hvtune study list` has them");
	int r = make_ready(cli, arena, ready, &text, &left_out, &study);

	if (r == 0)
		(void)fputs(text, cli->out.out);
	return r;
}

/* Options that go with one word only, so that none is silently without effect; the others go with all that run. */
static const struct {
	enum cli_option_id id;
	const char *option, *word;
} owned[] = {
    {OPTION_PICK, "pick", "apply"},
    {OPTION_SLOWER, "slower", "apply"},
    {OPTION_ELSEWHERE, "measured-elsewhere", "apply"},
    {OPTION_NOT_SURE, "not-sure", "apply"},
    {OPTION_DRY_RUN, "dry-run", "apply"},
    {OPTION_NO_TRIAL, "no-trial", "apply"},
    {OPTION_SETTLE, "settle", "apply"},
    {OPTION_DONE, "done", "resume or abort"},
    {OPTION_CANNOT, "cannot", "resume"},
};

static const struct {
	const char *word;
	int (*run)(struct cli *cli);
} verbs[] = {
    {"list", list},
    {"show", show},
    {"new", new_file},
    {"check", check},
    {"run", study_cli_run},
    {"resume", study_cli_resume},
    {"apply", study_cli_apply},
    {"status", study_cli_status},
    {"pause", study_cli_pause},
    {"abort", study_cli_abort},
    {"go-on", study_cli_go_on}, /* the last: for the unit of a study, not for people */
};

static int run_verb(struct cli *cli, const char *word, int (*run)(struct cli *cli))
{
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		if (cli_given(cli, owned[i].id) && !text_has_word(owned[i].word, " ", word))
			return cli_usage(cli, "--%s goes with study %s", owned[i].option, owned[i].word);
	return run(cli);
}

int cmd_study(struct cli *cli)
{
	const char *known = "";
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	for (size_t i = 0; i + 1 < ARRAY_SIZE(verbs); i++)
		known = arena_printf(arena, "%s%s%s", known, i ? ", " : "", verbs[i].word);
	if (!cli->argument_count)
		return cli_usage(cli, "study needs to be told what to do: %s", known);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (text_equal(verbs[i].word, cli->arguments[0]))
			return run_verb(cli, verbs[i].word, verbs[i].run);
	return cli_usage(cli, "study does not know \"%s\"; it does: %s", cli->arguments[0], known);
}

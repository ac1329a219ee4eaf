/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns `hvtune tune`: the quick study with the user's own workload, and the best of it applied when that is asked for.
 */
#include <errno.h>

#include "change.h"
#include "measure.h"
#include "study_cli.h"
#include "study_named.h"
#include "study_ready.h"
#include "text.h"

/* The words after -- are the workload; a name alone that is known is that one; none: those of the study. */
static int put_workload(struct cli *cli, struct arena *arena, struct study *study)
{
	struct study_workload *workload = ARENA_NEW(arena, struct study_workload);
	const char **words = ARENA_ARRAY(arena, (size_t)cli->argument_count + 1, const char *);
	const struct study_workload *named = NULL;

	if (!cli->argument_count)
		return 0;
	if (cli->argument_count == 1)
		named = study_named_find(arena, cli->arguments[0]);
	if (named) {
		*workload = *named;
	} else {
		for (int i = 0; i < cli->argument_count; i++)
			words[i] = cli->arguments[i];
		if (!*words[0])
			return cli_usage(cli, "the command is empty");
		*workload = (struct study_workload){.name = "workload",
						    .run = {.words = words, .line = 1},
						    .weight = 1,
						    .directory = cli->values[OPTION_CWD],
						    .metric = {.unit = "s"}};
	}
	study->workloads = workload;
	study->workload_count = 1;
	return 0;
}

int cmd_tune(struct cli *cli)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct study_cli_job job = {.command = "tune", .apply = cli_given(cli, OPTION_TUNE_APPLY)};
	struct study_mistakes mistakes = {0};
	double minutes;
	int r;

	if (study_read(arena, "quick.yaml", study_quick_text, strlen(study_quick_text), &job.study, &mistakes) < 0)
		return cli_fail(&mistakes.items[0]);
	r = measure_number(cli, OPTION_MINUTES, .05, 24 * 60, job.study->budget_s / 60, &minutes);
	if (r == 0)
		r = put_workload(cli, arena, job.study);
	if (r)
		return r;
	job.study->budget_s = minutes * 60;
	job.text = study_quick_text;
	return study_cli_job(cli, &job);
}

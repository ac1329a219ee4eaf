/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns measuring a workload that is known by name: its command, hooks, figure, and the directory it works in. */
#include <errno.h>
#include <unistd.h>

#include "measure.h"
#include "study_named.h"
#include "study_run.h"
#include "text.h"

int measure_named_command(const struct cli *cli, struct measure *measure, const char *name, struct bench_command *ret)
{
	static const enum cli_option_id excluded[] = {OPTION_ON, OPTION_SHELL, OPTION_METRIC, OPTION_READ_FROM};
	const struct study_workload *workload = study_named_find(measure->arena, name);
	struct bench_reader *reader;
	struct err err = {0};
	const char *missing, *work;

	for (size_t i = 0; i < ARRAY_SIZE(excluded); i++)
		if (cli_given(cli, excluded[i]))
			return cli_usage(
			    cli, "a workload that is known by name brings its own; give its command to change it");
	if (!workload)
		return cli_usage(cli, "there is no workload \"%s\"; `hvtune workloads` lists all", name);
	missing = study_named_missing(measure->host->sys, workload);
	if (missing) {
		(void)err_set(&err, ENOENT, name, "package %s is not installed", missing);
		(void)err_hint(&err, "hvtune workloads install %s", name);
		return cli_fail(&err);
	}
	work = arena_printf(measure->arena, "/var/tmp/hvtune-run-%d", (int)getpid());
	if (study_work_make(work, &err) < 0)
		return cli_fail(&err);
	measure->work = work;
	*ret = study_command(measure->arena, &workload->run, cli->values[OPTION_CWD], work, 0);
	ret->timeout_ns = measure->command.timeout_ns;
	if (workload->setup.line)
		measure->setup = study_command(measure->arena, &workload->setup, NULL, work, 0);
	if (workload->prepare.line)
		measure->prepare = study_command(measure->arena, &workload->prepare, NULL, work, 0);
	reader = ARENA_NEW(measure->arena, struct bench_reader);
	if (study_workload_reader(measure->arena, workload, reader)) {
		measure->readers = reader;
		measure->reader_count = 1;
	}
	return 0;
}

void measure_named_clear(struct measure *measure)
{
	if (measure->work)
		study_work_clear(measure->work);
	measure->work = NULL;
}

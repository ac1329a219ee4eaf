/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns saying how long a study takes here, before it is asked whether it may begin. */
#include <errno.h>

#include "measure.h"
#include "study_cli.h"
#include "study_time.h"
#include "text.h"

int study_cli_time(const struct cli *cli, struct measure *measure, const struct study_cli_job *job)
{
	struct study *study = job->study;
	struct study_left_out left_out = {0};
	struct bench_signals signals = {0};
	struct err err = {0};
	int r;

	for (size_t i = 0; i < job->takes_count && i < study->workload_count; i++)
		study->workloads[i].takes_s = job->takes[i];
	if (!job->resume && study_time_wanted(study, measure->arena)) {
		measure->progress = progress_start();
		progress_show(&measure->progress, "each workload once, to tell how long it takes");
		int64_t began_ns = bench_now_ns();

		bench_signals_hold(&signals);
		r = study_time_run(study, measure->arena, &signals, &err);
		bench_signals_release(&signals);
		progress_end(&measure->progress);
		if (r < 0)
			return cli_fail(&err);
		/* It is a part of the time that the study may take. */
		study->budget_s -= MIN_OF((double)(bench_now_ns() - began_ns) / 1e9, study->budget_s / 2);
	}
	study_time_fit(study, measure->arena, &left_out);
	for (size_t i = 0; i < left_out.count && !cli_given(cli, OPTION_JSON); i++)
		term_flow(&cli->out, 0, true, arena_printf(measure->arena, "left out: %s", left_out.texts[i]));
	return 0;
}

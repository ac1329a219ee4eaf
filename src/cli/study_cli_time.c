/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns saying how long a study takes here, before it is asked whether it may begin. */
#include <errno.h>

#include "measure.h"
#include "study_cli.h"
#include "study_run.h"
#include "study_time.h"
#include "text.h"

/* What a workload sets is the machine's own for the study that begins after it, and no run with another value counts.
 */
static int refuse_setters(struct arena *arena, struct bench_gate *gate, struct err *err)
{
	const char *left = bench_gate_left(gate, arena);

	if (!left)
		return 0;
	(void)err_set(err, EPROTO, NULL, "%s since the workloads were run once: nothing is measured while they set it",
		      left);
	return err_hint(err, "`hvtune set` sets it");
}

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

		struct bench_gate *gate =
		    bench_gate_open(measure->host->sys, measure->machine.sys ? &measure->machine : NULL,
				    study_knob_names(measure->arena, study));

		bench_signals_hold(&signals);
		r = study_time_run(study, measure->arena, &signals, &err);
		bench_signals_release(&signals);
		r = r < 0 ? r : refuse_setters(measure->arena, gate, &err);
		(void)bench_gate_close(gate);
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

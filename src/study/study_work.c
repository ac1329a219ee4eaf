/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in study_work.h. */
#include "study_work.h"

#include "bench_remote.h"
#include "study_vm.h"
#include "text.h"

const char *study_work_place(struct arena *arena, const struct study_workload *workload)
{
	return workload->on    ? arena_printf(arena, "vm:%s", workload->on)
	       : workload->ssh ? arena_printf(arena, "ssh:%s", workload->ssh)
			       : NULL;
}

/* Words for there, in place of words for here. */
static struct bench_command there(const struct study_host *host, const struct study_workload *workload,
				  const char *const *words, const char *directory, const char *work)
{
	const char *const environment[] = {work ? arena_printf(host->arena, "HVTUNE_WORK=%s", work) : NULL, NULL};

	if (workload->on)
		return (struct bench_command){.argv = bench_guest_argv(host->arena, words, directory, environment),
					      .guest = study_vm_guest(host, workload->on)};
	return (struct bench_command){.argv =
					  bench_remote_argv(host->arena, workload->ssh, words, directory, environment)};
}

struct bench_command study_work_command(const struct study_host *host, const struct study_workload *workload,
					const struct study_command *command, const char *work, double timeout_s)
{
	struct bench_command here = study_command(host->arena, command, workload->directory,
						  workload->on || workload->ssh ? NULL : work, timeout_s);
	struct bench_command made;

	if (!workload->on && !workload->ssh)
		return here;
	made = there(host, workload, here.argv, workload->directory, work);
	made.timeout_ns = here.timeout_ns;
	return made;
}

/* Is it the first of the workloads that run there? */
static bool is_first_there(const struct study *study, size_t workload)
{
	const struct study_workload *it = &study->workloads[workload];

	for (size_t i = 0; i < workload; i++)
		if (text_equal(study->workloads[i].on, it->on) && text_equal(study->workloads[i].ssh, it->ssh))
			return false;
	return it->on || it->ssh;
}

static struct bench_command script_there(const struct study_host *host, const struct study_workload *workload,
					 const char *script, const char *work)
{
	const char *const words[] = {"sh", "-c", script, "hvtune", work, NULL};

	return there(host, workload, words, NULL, NULL);
}

int study_work_make_there(struct study_host *host, const char *work, struct err *err)
{
	const struct study *study = host->matrix->study;
	int r = 0;

	for (size_t i = 0; i < study->workload_count && r == 0; i++) {
		const struct study_workload *workload = &study->workloads[i];
		struct bench_command command;

		if (!is_first_there(study, i))
			continue;
		command = script_there(host, workload, "rm -rf -- \"$1\"; mkdir -m 700 -- \"$1\"", work);
		r = bench_hook(host->bench, &command, study_work_place(host->arena, workload), err);
	}
	return r;
}

/* After Ctrl-C too; a place that does not answer any more keeps what it has. */
void study_work_clear_there(struct study_host *host, const char *work)
{
	enum { LONGEST_S = 30 };
	const struct study *study = host->matrix->study;

	for (size_t i = 0; i < study->workload_count; i++) {
		const struct study_workload *workload = &study->workloads[i];
		const struct bench_guest *guest = workload->on ? study_vm_guest(host, workload->on) : NULL;
		CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
		struct bench_command command;
		struct err ignored = {0};

		if (!is_first_there(study, i) || (workload->on && !(guest && guest->uuid)))
			continue;
		command = script_there(host, workload, "rm -rf -- \"$1\"", work);
		command.output = BENCH_OUTPUT_CAPTURE;
		command.timeout_ns = (int64_t)LONGEST_S * 1000000000;
		(void)bench_spawn(&command, NULL, &outcome, &ignored);
	}
}

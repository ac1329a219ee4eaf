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

static int run_there(struct study_host *host, const struct study_workload *workload, const char *script,
		     const char *work, struct err *err)
{
	const char *const words[] = {"sh", "-c", script, "hvtune", work, NULL};
	struct bench_command command = there(host, workload, words, NULL, NULL);

	return bench_hook(host->bench, &command, study_work_place(host->arena, workload), err);
}

int study_work_make_there(struct study_host *host, const char *work, struct err *err)
{
	const struct study *study = host->matrix->study;
	int r = 0;

	for (size_t i = 0; i < study->workload_count && r == 0; i++)
		if (is_first_there(study, i))
			r = run_there(host, &study->workloads[i], "rm -rf -- \"$1\"; mkdir -m 700 -- \"$1\"", work,
				      err);
	return r;
}

void study_work_clear_there(struct study_host *host, const char *work)
{
	const struct study *study = host->matrix->study;
	struct err ignored = {0};

	for (size_t i = 0; i < study->workload_count; i++)
		if (is_first_there(study, i))
			(void)run_there(host, &study->workloads[i], "rm -rf -- \"$1\"", work, &ignored);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns where the workloads of a study run: on this host, in a VM through its agent, or where ssh leads. */
#ifndef HVTUNE_STUDY_WORK_H
#define HVTUNE_STUDY_WORK_H

#include "study_host.h"

/* "vm:web1", "ssh:root@web1"; NULL: this host. As struct bench_subject has it. */
const char *study_work_place(struct arena *arena, const struct study_workload *workload);

/* A command of the workload as it is started there; `work` is $HVTUNE_WORK of that place. Needs study_vm_begin(). */
struct bench_command study_work_command(const struct study_host *host, const struct study_workload *workload,
					const struct study_command *command, const char *work, double timeout_s);

/* The directory $HVTUNE_WORK in each other place that workloads have, only for its owner; and away with it. */
int study_work_make_there(struct study_host *host, const char *work, struct err *err);
void study_work_clear_there(struct study_host *host, const char *work);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns bringing a machine from one configuration of a study to another, and back: knobs through plan and journal, so
 * that `hvtune undo` can put them back after any death, and the hooks of levels.
 */
#ifndef HVTUNE_STUDY_HOST_H
#define HVTUNE_STUDY_HOST_H

#include "bench.h"
#include "knob_apply.h"
#include "study_boot.h"

/* How the journal's words of changes begin that a study makes: of the running host, and of its next boot. */
#define STUDY_MARK "study "
#define STUDY_BOOT_MARK "boot of study "

struct study_vms;

struct study_host {
	struct arena *arena;
	struct knob_machine *machine;
	const struct study_matrix *matrix;
	struct bench *bench;	   /* runs the hooks, and knows of signals */
	struct study_boot *boot;   /* the boots of the host; NULL: it boots never */
	struct study_state *state; /* is told of hooks before they run; NULL: nothing is kept of them */
	unsigned settle_ms;	   /* see knob_apply_options */
	int config;		   /* that the machine is in; -1: none of the study */
	unsigned change;	   /* of the journal, that is in force for it; 0: none */
	unsigned vm_change;	   /* the same, of VMs that run */
	struct study_vms *vms;	   /* see study_vm.h; NULL: none were begun with */
	size_t *hooked;		   /* by factor: 1 + the level whose hook has run; 0: none */
	bool anew;		   /* the next configuration has to have a boot of its own */
	unsigned switches;
	const char *left;  /* what somebody else has set meanwhile and was left alone; NULL: nothing */
	const char *stuck; /* what could not be put back at some time, and what does it by hand; NULL: nothing */
	bool leaving;	   /* no signal keeps the way back from being gone */
};

void study_host_begin(struct study_host *host);

/* Has a signal come, so that what is being written shall be put back? `stop` of knob_apply_options; takes the host. */
bool study_host_stopped(void *data);

/*
 * Does a study run, has a study or comparison settings in force, one that runs or was killed, or was a change cut
 * short? They would be taken for the machine's own. -EBUSY, and err says what and how to put it back; 0: no.
 */
int study_host_clean(struct knob_machine *machine, struct err *err);

/*
 * Put back what a study or comparison that was killed has left of the running host; what it asked of the next boot
 * stays. `name`: only that study's; NULL: all. As knob_undo().
 */
int study_host_tidy(struct knob_machine *machine, const char *name, struct err *err);

/*
 * Take back what the commands of levels have made and another process has left, in this boot or another: state->hooks.
 * What fails stays there, keeps no other from being run, and *ret_stuck (NULL: nothing; in the arena) says what it is,
 * why, and the command for a person. The first one's error is returned. The caller writes the state.
 */
int study_host_unhook(struct arena *arena, const struct study *study, struct study_state *state,
		      const char **ret_stuck);

/* The commands for a person to take state->hooks back with; NULL: nothing is there. In the arena. */
const char *study_host_by_hand(struct arena *arena, const struct study *study, const struct study_state *state);

/*
 * Bring the machine to a configuration; nothing is done when it is in it. What takes longest goes first: the boot of
 * the host, then VMs, its running settings and the hooks; before all of them what a person has to change. STUDY_REBOOT,
 * STUDY_NO_BOOT and STUDY_ASKS (study_boot.h): everything is
 * put back, and the machine is not in the configuration. -EINTR: stopped by a signal, and everything is as it was
 * before the study; -EHOSTUNREACH: a VM did not come up as asked, which may be tried again; other errors: it could not
 * be set. What was changed is put back then.
 */
int study_host_enter(struct study_host *host, int config, struct err *err);

/* Note what an undo has left alone, or could not put back; all of it is told at the end. NULL: nothing. */
void study_host_left(struct study_host *host, const char *left);
void study_host_stuck(struct study_host *host, const char *stuck);

/* Put everything back, as far as it can be; the first fault is told. */
int study_host_leave(struct study_host *host, struct err *err);

/* What has to be asked of the knobs for a configuration; `arena`'s array, its count is returned. */
size_t study_host_asks(struct arena *arena, const struct study_matrix *matrix, size_t config, struct knob_ask **ret);

/* Of those the ones that take what is between `least` and `most` until they act, both included. */
size_t study_host_asks_of(struct arena *arena, const struct study_matrix *matrix, size_t config, enum study_cost least,
			  enum study_cost most, struct knob_ask **ret);

/* This process's environment with more variables, "NAME=VALUE", ended by NULL. In the arena. */
const char *const *study_environment(struct arena *arena, const char *const *more);

/* A command of a study as bench starts it; with HVTUNE_WORK in its environment when `work` is not NULL. */
struct bench_command study_command(struct arena *arena, const struct study_command *command, const char *directory,
				   const char *work, double timeout_s);

/* The figure of a workload as bench reads it from the output; false: it is the wall time. Texts in the arena. */
bool study_workload_reader(struct arena *arena, const struct study_workload *workload, struct bench_reader *ret);

/* The name of the metric that a workload is judged by. */
const char *study_metric_name(const struct study_workload *workload);

/* A directory that workloads work in (HVTUNE_WORK), only for its owner; and away with it and all in it. */
int study_work_make(const char *path, struct err *err);
void study_work_clear(const char *path);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns waiting for the guest of a VM that was started, and the gate: is it what it was asked to be? */
#ifndef HVTUNE_STUDY_VM_GATE_H
#define HVTUNE_STUDY_VM_GATE_H

#include "bench_guest.h"
#include "study_host.h"

/* How long a guest may take to come up, or to shut down, where the study does not say. */
enum { STUDY_VM_WAIT_S = 180 };

/* How long one that cannot say that it is up is left to come up, where the study does not say. */
enum { STUDY_VM_SETTLE_S = 30 };

/* A VM of a study. */
struct study_vm {
	const char *file_name;	 /* as in the file: its name or UUID */
	const char *name, *uuid; /* as libvirt has it */
	const struct study_vm_rule *rule;
	bool was_running;
	unsigned started;    /* the change that it runs by, where it was off; 0: none. Likewise below */
	unsigned off;	     /* that it is off between two starts */
	unsigned definition; /* what it starts with */
	unsigned line;	     /* of its guest's kernel */
	const char *asked;   /* what it is now, as study_vm.c writes it; NULL: not known */
	const char *boot;    /* boot id of its guest when it was last up, or its process; NULL: not known */
	struct bench_guest guest;
};

/*
 * Wait until the guest answers, by its agent or where the study names its ssh, with another boot id than `before`
 * (NULL: any). vm->boot and vm->guest are new then. -EHOSTUNREACH: it does not, with the reason; -EINTR.
 *
 * A VM without a channel for an agent, and without ssh, of which the study needs no guest is up when it still runs
 * after the time that the study gives it.
 */
int study_vm_wait_up(struct study_host *host, struct study_vm *vm, const char *before, struct err *err);

/* Let that time go by. True: a signal ends the study; where it is put back already, none cuts it short. */
bool study_vm_pause(const struct study_host *host, int64_t moment_ns);

/* Does a workload run in that VM (its name as in the file), or is a word of a guest's kernel line a level? */
bool study_vm_needs_guest(const struct study *study, const char *file_name);

/* Is the guest's kernel line what `asks` say, and does each vCPU run where the definition pins it? -EHOSTUNREACH. */
int study_vm_judge(struct study_host *host, const struct study_vm *vm, const struct knob_ask *asks, size_t count,
		   struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the VMs of a study: bringing them from one configuration to another. What a definition or a guest's kernel line
 * is to be is written through plan and journal, the guest is shut down, the VM started, waited for until its guest
 * answers, and looked at: another boot of the guest, with the words asked for on its kernel's line, and each vCPU where
 * it was pinned. VMs that were off run while the study does and are off again afterwards.
 *
 * A VM that is off between two starts is a change in the journal as well: after a kill, `hvtune undo` starts it.
 */
#ifndef HVTUNE_STUDY_VM_H
#define HVTUNE_STUDY_VM_H

#include <jansson.h>

#include "bench_guest.h"
#include "study_host.h"

/*
 * Find the VMs, start those that are off and wait for their guests. -ENOENT: libvirt knows none of that name; -ENOTSUP:
 * it is not defined, or would start from a saved image; the errors of study_vm_up(). Nothing for studies without VMs.
 */
int study_vm_begin(struct study_host *host, struct err *err);

/*
 * The VMs as the configuration asks, in two parts: first those that are something else get the line of their guest's
 * kernel and are shut down, then they get their definition and are started. Between them settings of the host are
 * changed that VMs start with, such as page pools. VMs that are so already are left alone.
 *
 * -EHOSTUNREACH: a VM did not shut down, or did not come up as asked, with the reason; it may be tried again. -EINTR:
 * stopped by a signal. Other errors: what was asked could not be written. After each, study_vm_leave_down() and _up()
 * put everything back.
 */
int study_vm_down(struct study_host *host, int config, struct err *err);
int study_vm_up(struct study_host *host, int config, struct err *err);

/*
 * Definitions, kernel lines and whether VMs run are as they were, as far as that can be; the first fault is told. In
 * the same two parts.
 */
int study_vm_leave_down(struct study_host *host, struct err *err);
int study_vm_leave_up(struct study_host *host, struct err *err);

/* The guest that work on that VM runs in, while study_vm_begin() is in force; NULL: it is no VM of the study. */
const struct bench_guest *study_vm_guest(const struct study_host *host, const char *name);

/* {"web": true, "db": false}: which of the study's VMs run now; for the state of the study, and the caller's. */
json_t *study_vm_running_json(struct knob_machine *machine, const struct study *study);

/*
 * Start those that ran when the study began and do not run now: after a boot of the host; one that does not start is
 * tried again for as long as a guest may take to come up (STUDY_VM_WAIT_S). `whole`: where changes of a
 * guest's kernel line are in force, wait for that guest too, as long as the study waits for it. The first fault is
 * told.
 */
int study_vm_wake(struct knob_machine *machine, const struct study *study, const json_t *ran, bool whole,
		  struct err *err);

/* Is the level reached by starting VMs anew, though none of its knobs says of which? */
bool study_vm_of_all(const struct study *study, size_t factor, size_t level);

/*
 * What keeps the VM `at` of the study from being measured and restarted here, before anything is begun; it is only
 * looked at. 0: nothing that can be seen now; *ret_silent: its guest has no way to say that it is up, and the study
 * needs none. Errors as study_vm_begin().
 */
int study_vm_check(struct knob_machine *machine, const struct study *study, size_t at, bool *ret_silent,
		   struct err *err);

#endif

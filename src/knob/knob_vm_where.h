/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns how a thread of a VM, or its memory, is named in the journal: by the VM's UUID (where libvirt runs it), by what
 * it is, and by this very run of it, for a VM that was restarted has its own pins again and must not get others:
 *
 *   UUID vcpu 3 pid 4711 start 123456 tid 4713
 *   UUID emulator 0 pid 4711 start 123456 tid 4711
 *   UUID iothread 1 pid 4711 start 123456 tid 4719
 *   UUID memory 0 pid 4711 start 123456 tid 4711
 *   - thread 0 pid 4711 start 123456 tid 4720             moved by the kernel alone: plain QEMU, vhost
 *
 * pid and start (field 22 of /proc/PID/stat, in ticks since boot) are those of the process, tid is the thread.
 */
#ifndef HVTUNE_KNOB_VM_WHERE_H
#define HVTUNE_KNOB_VM_WHERE_H

#include "cpuset.h"
#include "knob.h"

enum knob_vm_kind { KNOB_VM_VCPU, KNOB_VM_EMULATOR, KNOB_VM_IOTHREAD, KNOB_VM_MEMORY, KNOB_VM_THREAD };

struct knob_vm_where {
	char uuid[64]; /* "-": libvirt is not asked */
	enum knob_vm_kind kind;
	int64_t index;
	int pid, tid;
	int64_t start;
};

const char *knob_vm_where_text(struct arena *arena, const struct knob_vm_where *where);

/* -EINVAL when it is none. */
int knob_vm_where_parse(const char *text, struct knob_vm_where *ret, struct err *err);

/* When the process was started. -ENOENT: there is none. */
int knob_vm_start_of(struct knob_machine *machine, int pid, int64_t *ret, struct err *err);

/* Does the run that `where` names still run, with that thread? 0 or -ENOENT. */
int knob_vm_still_runs(struct knob_machine *machine, const struct knob_vm_where *where, struct err *err);

/* A list of CPUs or nodes in the thread's status ("Cpus_allowed_list"). -ENOENT: it has ended. */
int knob_vm_status_set(struct knob_machine *machine, const struct knob_vm_where *where, const char *name,
		       struct cpuset *ret, struct err *err);

#endif

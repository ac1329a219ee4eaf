/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns tests of the rules about VMs as tables: each case is one well-made VM on one well-made host, with a few words of
 * its domain XML replaced, or facts of host or VM changed, and one rule that must fire or must be silent then.
 *
 * The host: 16 cores with SMT (siblings N and N + 16), 4 L3 groups of 4 cores, 2 nodes of 32 GiB. The VM: 8 vCPUs one
 * to one on L3 group 0 in the order of siblings, emulator on 4-5, 4 GiB bound to node 0.
 */
#ifndef HVTUNE_VM_CASE_H
#define HVTUNE_VM_CASE_H

#include "advise_check.h"
#include "tree.h"

enum { VM_SILENT = -1, VM_EDITS_MAX = 6 };

struct vm_edit {
	const char *find, *put; /* the first place where `find` stands */
};

struct vm_case {
	const char *id;
	int severity;		     /* enum advise_severity, or VM_SILENT */
	const char *says;	     /* part of title or detail, or NULL */
	void (*host)(struct host *); /* changes facts of the host, or NULL */
	void (*vm)(struct vm *);     /* changes the VM, or NULL */
	struct vm_edit edits[VM_EDITS_MAX];
};

/* Run the cases; fails with the id and what was found instead. */
void vm_cases_run(const struct vm_case *cases, size_t count);

/* Has every rule a case in which it fires and one in which it is silent? The unchanged VM counts as the one or other.
 */
void vm_cases_cover(const struct advise_rule *rules, const struct vm_case *cases, size_t count);

/* Opened once for a program; for cmocka groups. */
int vm_cases_setup(void **state);
int vm_cases_teardown(void **state);

struct host *vm_cases_host(void);

/* The unchanged VM, judged on the unchanged host. Free both. */
struct advise_result *vm_cases_unchanged(struct vm **ret_vm);

/* Replaces pins: vCPU 0..7 on these CPUs. */
#define PINS(a, b, c, d, e, f, g, h)                                                                                   \
	"<vcpupin vcpu='0' cpuset='" #a "'/><vcpupin vcpu='1' cpuset='" #b "'/><vcpupin vcpu='2' cpuset='" #c          \
	"'/><vcpupin vcpu='3' cpuset='" #d "'/><vcpupin vcpu='4' cpuset='" #e "'/><vcpupin vcpu='5' cpuset='" #f       \
	"'/><vcpupin vcpu='6' cpuset='" #g "'/><vcpupin vcpu='7' cpuset='" #h "'/>"
#define OWN_PINS PINS(0, 16, 1, 17, 2, 18, 3, 19)

#endif

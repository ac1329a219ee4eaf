/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns changes of VMs: who runs a VM, its threads, and a placement as points of a plan. A VM of libvirt is changed
 * through libvirt, running and declared; a plain QEMU thread by thread as it runs; a VM of Proxmox not at all.
 *
 * The order of a plan is: first the definitions, which libvirt checks whole and which move nothing yet; then the
 * emulators and I/O threads, out of the way of vCPUs; then all vCPUs, each widened before the first is narrowed, so
 * that vCPUs that change places never share a CPU; memory last, because it takes longest to move and to move back.
 */
#ifndef HVTUNE_KNOB_VM_H
#define HVTUNE_KNOB_VM_H

#include "knob_libvirt.h"
#include "knob_plan.h"
#include "vm_write.h"
#include "vm_xml_edit.h"
#include "vm_xml_placement.h"

struct knob_vm {
	const char *name;
	bool of_libvirt;
	bool amd;		   /* the host is: threads of a core need the CPU feature topoext there */
	struct knob_domain domain; /* of_libvirt */
	const struct vm *running;  /* its process with its threads; NULL: it does not run */
	const struct vm *live;	   /* of_libvirt: the XML that it runs with; NULL: it does not run */
	const struct vm *declared; /* of_libvirt: what it starts with next; NULL: it is not defined */
	const char *declared_xml;  /* what `declared` was read from */
	int64_t start;		   /* of the process, see knob_vm_where.h */
};

/*
 * The VM of that name (or UUID), as libvirt has it and as it runs. Its parts live as long as the machine. -ENOENT:
 * there is none; -ENOTSUP: Proxmox or another libvirt than the system's runs it; else the errors of knob_libvirt_open()
 * where the VM is libvirt's.
 */
int knob_vm_find(struct knob_machine *machine, const char *name, struct knob_vm *ret, struct err *err);

/* The names of all VMs that are defined or run here. They live as long as the machine. */
int knob_vm_names(struct knob_machine *machine, const char *const **ret, size_t *ret_count, struct err *err);

/*
 * Points with `new`, and `old` still to be read. Nothing is added where the VM does not run, nor for vCPUs whose pin is
 * empty.
 */
int knob_vm_pin_vcpus(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *pins, int count,
		      struct knob_points *points, struct err *err);
/* With the vhost threads, which libvirt knows nothing of: they follow the emulator. */
int knob_vm_pin_emulator(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *cpus,
			 struct knob_points *points, struct err *err);
int knob_vm_pin_iothreads(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *cpus,
			  struct knob_points *points, struct err *err);

/* Can the memory of the VM be moved while it runs? libvirt does that only where it is bound by a control group alone.
 */
bool knob_vm_memory_moves(const struct knob_vm *vm);
int knob_vm_move_memory(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *nodes,
			struct knob_points *points, struct err *err);

/* The definition with the edits in it; nothing where there is none (a VM that is not defined, or not libvirt's). */
int knob_vm_define(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_xml_edit *edits, int count,
		   struct knob_points *points, struct err *err);

/* As `expand` of struct knob, for vm.power. */
int knob_vm_power_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			 struct knob_points *points, struct err *err);

/* ---- placements ---- */

struct knob_vm_placing {
	const char *name;
	const struct vm_layout *layout;
	bool declare_only; /* its threads stay where they are until it is started again */
};

/*
 * A plan that puts VMs where their layouts say, with `old` read. -ENOENT, -ENOTSUP as knob_vm_find(); -EINVAL when the
 * VM has other threads than the layout. Nothing is written.
 */
int knob_vm_plan(struct knob_machine *machine, const struct knob_vm_placing *placings, size_t count,
		 struct knob_plan *ret, struct err *err);

/* Give back what knob_vm_find() has read; for knob_machine_close(). */
void knob_vm_forget(struct knob_machine *machine);

#endif

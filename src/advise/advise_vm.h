/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the rules about VMs share: where the vCPUs of a VM run, which L3 groups and nodes that touches, and how
 * findings point into the file that the VM was read from.
 *
 * Pins are judged in three steps: do the CPUs exist and may they be used, do siblings match the guest's threads, do L3
 * groups and nodes match memory, emulator and devices. Where a step fails, later ones would only repeat it.
 */
#ifndef HVTUNE_ADVISE_VM_H
#define HVTUNE_ADVISE_VM_H

#include "advise_check.h"

/* Ways to pin that work today, for by_hand. */
#define BY_HAND_PIN                                                                                                    \
	"hvtune place says which CPUs; virsh vcpupin VM VCPU CPU --live --config; Proxmox: qm set VMID --affinity "    \
	"LIST; plain QEMU: taskset -pc "                                                                               \
	"CPU TID"
#define BY_HAND_EDIT "virsh edit VM, then stop and start it; Proxmox: qm set VMID ...; plain QEMU: its command line"

/* Where the vCPUs run: the affinity of their threads where the VM runs, else what is declared. */
struct vm_view {
	bool running;	    /* from the affinity of threads */
	int count;	    /* vCPUs in use */
	int pinned;	    /* vCPUs that are kept to fewer CPUs than all */
	bool one_to_one;    /* each has one CPU of its own */
	struct cpuset cpus; /* of all that are pinned */
	bool usable;	    /* every one of these CPUs is on line: step 1 has passed */
};

struct vm_view vm_view_of(const struct host *host, const struct vm *vm);

/* Is vCPU `id` plugged in? */
bool vm_vcpu_in_use(const struct vm *vm, int id);

/* Where vCPU `id` may run; NULL: anywhere, which a set of all CPUs is as well. */
const struct cpuset *vm_vcpu_runs_on(const struct host *host, const struct vm *vm, int id);

/* For a VM whose vCPUs are pinned one to one: the CPU of vCPU `id`, -1 when it has none. */
int vm_vcpu_cpu(const struct host *host, const struct vm *vm, int id);

/* Where the emulator's threads run, from its threads, its pin, or the VM's set; NULL: anywhere. */
const struct cpuset *vm_emulator_runs_on(const struct host *host, const struct vm *vm);

/* Note the pins as evidence, in the order of the vCPUs: "4,20,5,21" or "all on 13-23". */
void advise_vm_note_pins(struct advise_check *c);

/* Let a finding point to a place in the VM's file, if that is known. */
void advise_vm_at(const struct advise_check *c, struct advise_finding *finding, struct vm_place place);

/* The place of the first pin. */
struct vm_place vm_pin_place(const struct vm *vm);

/* The L3 groups (indices) and nodes (OS numbers) that `cpus` touches. */
struct cpuset vm_l3s_of(const struct host *host, const struct cpuset *cpus);
struct cpuset vm_nodes_of(const struct host *host, const struct cpuset *cpus);

/* Nodes by their OS numbers, among those the host has. */
struct cpuset vm_host_nodes(const struct host *host);

/* Where memory is declared to come from, by numatune or by its backends; empty when nothing says so. */
struct cpuset vm_memory_nodes(const struct vm *vm);
bool vm_memory_is_strict(const struct vm *vm);

/* CPUs and cores of the largest L3 group; 0 when L3 is not known. */
int vm_largest_l3(const struct host *host, int *ret_cores);

/* Do the guest's threads lie on threads of one core each? For VMs pinned one to one. */
bool vm_siblings_match(const struct host *host, const struct vm *vm);

/* "0, 1 and 3" would be shown as the folded list of a set; "node 0", "nodes 0-1". In the arena of the run. */
const char *advise_node_text(struct advise_check *c, const struct cpuset *nodes);

/* vCPUs that the declared topology makes; at most INT32_MAX, also for absurd numbers. */
int64_t vm_topology_product(const struct vm_cpu *cpu);

/* Is it a guest of KVM on x86, as far as can be told? */
bool vm_is_kvm(const struct vm *vm);
bool vm_is_x86(const struct vm *vm);

/* Only when the source says that the guest is Windows. */
bool vm_is_windows(const struct vm *vm);

/* The memory of the guest that must come from pages of `size_kib`, by its cells; see <page nodeset>. */
int64_t vm_pages_needed_kib(const struct host *host, const struct vm *vm, int64_t size_kib);

#endif

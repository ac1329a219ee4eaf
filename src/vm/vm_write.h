/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a placement in the terms of a VM (struct vm_layout: what runs where, which memory, what the guest is shown) and
 * the forms in which it is handed to whatever runs VMs: virsh commands, Proxmox's qm, a QEMU command line with pins by
 * thread, libvirt's domain XML of a VM that does not exist yet. Nothing is run here and nothing is written but text.
 */
#ifndef HVTUNE_VM_WRITE_H
#define HVTUNE_VM_WRITE_H

#include "vm.h"

/* A NUMA node of the guest. */
struct vm_layout_cell {
	struct cpuset host_nodes; /* OS numbers of the nodes that its memory comes from; one but where nodes are L3s */
	struct cpuset vcpus;
	int64_t memory_kib;
};

/* Zeroed fields: leave that as it is. */
struct vm_layout {
	const char *name;
	int vcpus;
	const struct cpuset *pins; /* vcpus entries */
	struct cpuset service;	   /* for emulator, I/O and vhost threads */
	struct cpuset nodes;	   /* host nodes of its memory */
	int64_t memory_kib;
	int64_t page_kib;		    /* 4: ordinary pages, 2048, 1048576 */
	const struct vm_layout_cell *cells; /* cell_count, for a guest that is to see several nodes */
	int cell_count;
	const int *distances; /* cell_count rows of cell_count, as the host's nodes have them; NULL: not known */
	int sockets, dies, cores, threads;
	bool dies_are_l3s; /* with the host's caches the guest's L3 groups are those that its vCPUs lie in */
	bool amd;	   /* threads of a core need the CPU feature topoext there */
};

/* Products that differ (an odd number of vCPUs with two threads) are not for the guest: the topology is left alone. */
bool vm_layout_has_topology(const struct vm_layout *layout);

/* Must the guest be shown another topology than `vm` (which may be NULL) declares? */
bool vm_layout_changes_topology(const struct vm_layout *layout, const struct vm *vm);

/*
 * What the layout says that a VM only takes on with a restart and does not have yet (topology, pages, cells, memory on
 * other nodes), as words with commas between; NULL: nothing. `vm` may be NULL: all of it.
 */
const char *vm_layout_restart(struct arena *arena, const struct vm_layout *layout, const struct vm *vm);

/* All CPUs of all pins. */
struct cpuset vm_layout_cpus(const struct vm_layout *layout);

/* virsh vcpupin, emulatorpin, iothreadpin and numatune, with --live as well where the VM runs. */
void vm_write_virsh(FILE *out, const struct vm_layout *layout, const struct vm *vm);

/*
 * Proxmox: qm set for what it can say (affinity is one set for all threads), and a hookscript that pins each vCPU after
 * the start. `vmid` of the configuration; NULL: not known, then VMID is printed.
 */
void vm_write_qm(FILE *out, const struct vm_layout *layout, const char *vmid);

/* QEMU: the words for -cpu, -smp, -object and -numa, and taskset lines by thread: those of `vm` where they are
 * known, else looked up by name. `vm` may be NULL. */
void vm_write_qemu(FILE *out, const struct vm_layout *layout, const struct vm *vm);

/* A whole <domain> for a VM that does not exist yet, without disks and NICs. */
void vm_write_domain(FILE *out, const struct vm_layout *layout);

/*
 * The elements in which a placement stands, as they are in a <domain>, each line indented by `indent` blanks or more
 * and ended; nothing when the layout does not say it.
 */
void vm_write_hugepages(FILE *out, const struct vm_layout *layout, int indent);
void vm_write_numatune(FILE *out, const struct vm_layout *layout, int indent);
void vm_write_topology(FILE *out, const struct vm_layout *layout, int indent);
void vm_write_cells(FILE *out, const struct vm_layout *layout, int indent);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files of vm_process*.c share.
 */
#ifndef HVTUNE_VM_PROCESS_INTERNAL_H
#define HVTUNE_VM_PROCESS_INTERNAL_H

#include "vm_process.h"

struct vm_pids {
	struct arena *arena;
	int *list; /* `count` entries, each once, in ascending order when they are all found */
	int count, room;
};

/* The processes that may be VMs; whether they run QEMU is for the caller to see. */
void vm_find_processes(struct host *host, struct vm_pids *ret);

enum { VM_MONITORS_MAX = 4 }; /* sockets of one VM that are looked at */

struct vm_process_thread {
	int64_t vcpu;	      /* its number; -1: it is an I/O thread: */
	const char *iothread; /* the object's id, else NULL */
	int tid;
};

struct vm_process_threads {
	struct arena *arena;
	struct vm_process_thread *list; /* count */
	int count;
};

/*
 * What the VM's own monitor tells of its threads. NULL and *ret filled; or why not, in words that follow "and". A
 * monitor of libvirt or Proxmox is left alone, as is one that waits for its first client. `silent` counts those that
 * were waited for in vain, over all VMs: after two no other is asked.
 */
const char *vm_ask_monitor(struct host *host, const struct vm *vm, int *silent, struct vm_process_threads *ret);

/* What looking at all VMs of a host may cost. */
struct vm_process_budget {
	int silent;	      /* monitors that were waited for in vain */
	int64_t ordinary_kib; /* ordinary pages whose nodes may still be asked for one by one */
};

/*
 * The kernel goes through the page tables for numa_maps: 8 to 14 ms for each GiB of pages of 4 KiB (measured on a Xeon
 * with Linux 6.18), 0.05 ms for huge ones, in one call for each mapping, which nothing ends early.
 */
enum { VM_ORDINARY_MAX_KIB = 128 * 1024 * 1024 };

/*
 * On which nodes the memory of a VM lies: `node_kib` and `node_source`. By the control group that holds only this VM
 * (NULL: there is none), where that is cheaper; else by numa_maps within the budget. What is left out is noted.
 */
void vm_read_memory(struct host *host, struct vm *vm, const char *own_group, struct vm_process_budget *budget);

#endif

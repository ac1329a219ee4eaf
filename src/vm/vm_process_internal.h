/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what vm_process.c and vm_process_find.c share.
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

#endif

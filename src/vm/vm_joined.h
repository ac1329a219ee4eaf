/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the VMs of a host as they are judged, each once: one that runs and is declared is as it is declared, with the
 * threads, affinities and memory of its process.
 */
#ifndef HVTUNE_VM_JOINED_H
#define HVTUNE_VM_JOINED_H

#include "vm_host.h"

struct vm_joined {
	struct arena *arena;  /* the list's */
	struct vm_host *list; /* what they were made of */
	struct vm **vms;      /* count, running ones first, by process number; the list's */
	int count, running_count;
	const char *refused; /* a place of declarations that may not be read ("/etc/libvirt/qemu"), or NULL */
};

/* `connect` and errors as for vm_host_read(). */
int vm_joined_read(struct host *host, const char *connect, struct vm_joined **ret, struct err *err);

struct vm_joined *vm_joined_free(struct vm_joined *vms); /* takes NULL, returns NULL */
void vm_joined_free_pointer(struct vm_joined **vms);	 /* for CLEANUP() */

/* Rows for `show vms`: a section for each VM. */
void vm_joined_rows(const struct host *host, const struct vm_joined *vms, struct host_rows *rows);

/* "2 VMs running, 1 defined"; "" when there are none. In the arena of the VMs. */
const char *vm_joined_summary(const struct vm_joined *vms);

#endif

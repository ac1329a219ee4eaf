/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the VMs of a host, each once: what is declared of it (libvirt's and Proxmox's files, libvirt itself where they
 * cannot be read) beside what runs (processes of QEMU), paired by name.
 */
#ifndef HVTUNE_VM_HOST_H
#define HVTUNE_VM_HOST_H

#include "vm.h"

enum { VM_HOST_MAX = 8192 };

struct vm_host_entry {
	const char *name;
	struct vm *running;	   /* NULL: it does not run, as far as can be seen */
	struct vm *declared;	   /* NULL: nothing declares it, or what does cannot be read */
	const char *declared_text; /* what `declared` was read from; NULL when that is no domain XML */
	size_t declared_size;
	const char *problem; /* why `declared` could not be read; NULL: nothing */
};

struct vm_host {
	struct arena *arena;
	struct vm_host_entry *entries; /* count, those with a declaration first, by file name; then by process number */
	int count, room;
	const char *refused; /* a directory of declarations that, or files of which, may not be read; NULL: none */
};

/*
 * The VMs of a host. With `connect` NULL what is not there or may not be read is left out and told by `refused` and
 * `problem`, and libvirt's library is loaded only where its files are refused and it listens. With a URI what is
 * declared are the VMs that libvirt has there, instead of its files; errors then are those of vm_libvirt_read(), and
 * -EINVAL where the host is not this machine or the URI names another one: VMs are judged with the host that they run
 * on. -E2BIG on more than VM_HOST_MAX VMs. The caller frees with vm_host_free().
 */
int vm_host_read(struct host *host, const char *connect, struct vm_host **ret, struct err *err);
struct vm_host *vm_host_free(struct vm_host *list); /* takes NULL, returns NULL */
void vm_host_free_pointer(struct vm_host **list);   /* for CLEANUP() */

#endif

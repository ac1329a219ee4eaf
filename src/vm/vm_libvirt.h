/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns asking libvirt for its VMs, over a connection that it only lets read. libvirt's library is loaded when it is
 * first needed and never at start: loading it takes longer than a whole check of a host (about 14 ms on the machine
 * where this was measured, with 40 libraries that it brings along).
 */
#ifndef HVTUNE_VM_LIBVIRT_H
#define HVTUNE_VM_LIBVIRT_H

#include "vm.h"

/* What libvirt is asked for where nobody says otherwise: the VMs of the system, whoever asks. */
#define VM_LIBVIRT_URI "qemu:///system"

enum { VM_LIBVIRT_DOMAINS_MAX = 4096, VM_LIBVIRT_WAIT_S = 10 };

/* One VM in both versions; both are of source VM_LIBVIRT_LIVE, their path is the URI. */
struct vm_libvirt_domain {
	const char *name;
	struct vm *running;  /* NULL when it does not run; vcpus[].running and iothreads[].running as libvirt tells */
	struct vm *declared; /* what it will be at its next start; NULL when it is transient */
	const char *running_xml; /* NULL as above */
	const char *declared_xml;
	const char *problem; /* why a version could not be read; NULL: nothing */
};

struct vm_libvirt {
	struct arena *arena;
	const char *uri;
	struct vm_libvirt_domain *domains;
	int count;
};

/*
 * Does libvirt listen here? Looks for its socket in /run/libvirt through the door; false on hosts that are not this
 * machine, where connecting makes no sense.
 */
bool vm_libvirt_listens(struct sys *sys);

/*
 * All VMs that libvirt knows at `uri` (NULL: VM_LIBVIRT_URI). A VM that vanishes meanwhile is left out; one whose XML
 * cannot be read is there with its problem. -ENOSYS when hvtune was built without libvirt, -ENOENT when its library is
 * not installed, -ECONNREFUSED with libvirt's message when there is no connection, -ETIMEDOUT when libvirt does not
 * answer for VM_LIBVIRT_WAIT_S seconds, -E2BIG on more than VM_LIBVIRT_DOMAINS_MAX VMs. *ret is untouched then; else
 * the caller frees it with vm_libvirt_free().
 */
int vm_libvirt_read(const char *uri, struct vm_libvirt **ret, struct err *err);

struct vm_libvirt *vm_libvirt_free(struct vm_libvirt *libvirt); /* takes NULL, returns NULL */
void vm_libvirt_free_pointer(struct vm_libvirt **libvirt);	/* for CLEANUP() */

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns reading libvirt's domain XML, of any version, into the one model of a VM. Elements that are not known are passed
 * over; a set that cannot be understood is kept as text with its place (struct vm_set).
 */
#ifndef HVTUNE_VM_XML_H
#define HVTUNE_VM_XML_H

#include "vm.h"

enum {
	VM_XML_BYTES_MAX =
	    10 * 1024 * 1024,	   /* larger texts are refused: a domain of 4096 vCPUs needs less than 1 MiB */
	VM_XML_CHILDREN_MAX = 4096 /* elements of one kind in one place, for instance <disk> */
};

/*
 * Read a <domain>, or the one inside a <domstatus>, a snapshot, a checkpoint or a backup. `path` is for messages and is
 * kept in the VM. The VM is running when the text says so: a <domain> with an id, a <domstatus> with its state (which
 * also tells the pid and the threads of the vCPUs).
 *
 * Nothing is loaded from elsewhere, and a document type declaration is refused, so that no entity is ever expanded.
 * -EINVAL with line and, where known, column on texts that are not well-formed; -EINVAL in one line that says what it
 * is on libvirt's other documents ("this is a network, not a domain"); -E2BIG on more than the limits above. *ret is
 * untouched on failure; else the caller frees it with vm_free().
 */
int vm_read_libvirt_xml(const char *path, const char *text, size_t size, struct vm **ret, struct err *err);

/*
 * Does the text start as XML does? True as well for networks, pools and other XML that vm_read_libvirt_xml() refuses
 * with a message that names them.
 */
bool vm_looks_like_libvirt_xml(const char *text, size_t size);

#endif

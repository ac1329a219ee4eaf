/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the part of a domain XML in which a placement stands: the elements memoryBacking, vcpu, cputune, numatune and
 * cpu, as a text of their own. What is kept of a definition to put it back is this text and not the whole: no password
 * is in it, and a disk that was added since is not lost.
 */
#ifndef HVTUNE_VM_XML_PLACEMENT_H
#define HVTUNE_VM_XML_PLACEMENT_H

#include "vm.h"

/*
 * The part of a domain XML, "<placement>...</placement>" with each element byte for byte. Errors as
 * vm_read_libvirt_xml(); -EOPNOTSUPP where the text cannot be changed (vm_xml_edit()).
 */
int vm_xml_placement(struct arena *arena, const char *path, const char *text, size_t size, const char **ret,
		     struct err *err);

/*
 * A domain XML with another placement put into it: elements that `placement` has not are removed, all else stays byte
 * for byte. *ret lives in the arena. Errors as above, -EINVAL when `placement` is none.
 */
int vm_xml_placement_put(struct arena *arena, const char *path, const char *text, size_t size, const char *placement,
			 const char **ret, struct err *err);

/*
 * Do two placements say the same? libvirt writes what it was given in words of its own: order, white space, units,
 * spelled sets ("0,1": "0-1") and what goes without saying (dies='1', placement='static') make no difference.
 */
bool vm_xml_placement_same(const char *a, const char *b);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a layout as edits of a domain XML that exists (vm_xml_edit.h): only what placement is about, and only where the
 * VM differs.
 */
#ifndef HVTUNE_VM_WRITE_EDIT_H
#define HVTUNE_VM_WRITE_EDIT_H

#include "vm_write.h"
#include "vm_xml_edit.h"

/* The edits, in the arena; `vm` is the VM that the text was read as. Returns their number. */
int vm_write_edits(struct arena *arena, const struct vm_layout *layout, const struct vm *vm,
		   const struct vm_xml_edit **ret);

#endif

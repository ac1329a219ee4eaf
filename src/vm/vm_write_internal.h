/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the writers share: names in the shell and in XML, sets and sizes as words. For use inside src/vm only.
 */
#ifndef HVTUNE_VM_WRITE_INTERNAL_H
#define HVTUNE_VM_WRITE_INTERNAL_H

#include "vm_write.h"

/* The text as one word of a POSIX shell. */
const char *vm_write_shell(struct arena *arena, const char *text);

/* The text as XML character data or in an attribute; control characters, which XML 1.0 has not, become '?'. */
const char *vm_write_xml(struct arena *arena, const char *text);

/* "64G", "1536M", "10240K": as QEMU takes sizes. */
const char *vm_write_size(struct arena *arena, int64_t kib);

/*
 * Shell lines that put all threads of $pid on the service CPUs and then each vCPU on its own; `indent` goes before each
 * line.
 */
void vm_write_pin_by_name(FILE *out, const struct vm_layout *layout, const char *indent);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns single settings of a VM's definition at libvirt as short texts: what it starts with next. A point is named
 * "UUID FIELD" or "UUID FIELD WHICH". "-" says that the definition does not say it.
 *
 *   pins       "0:4,1:5+13"       CPUs of each vCPU that has a pin; '+' parts what is a list
 *   emulator   "0-1"
 *   iothreads  "1:2"
 *   memory     "strict 0"         of all its memory; "auto": numad chooses
 *   pages      "1G", "2M@0,1G@1"  with the guest's cells; "default": of the host's default size
 *   topology   "1x2x4x2+topoext"  sockets, dies, cores, threads; whether topoext is asked for or ("-topoext") barred
 *   queues     "4"                of the NIC with the MAC address WHICH
 */
#ifndef HVTUNE_KNOB_VM_DECLARED_H
#define HVTUNE_KNOB_VM_DECLARED_H

#include "knob_vm.h"

extern const struct knob_actuator knob_vm_declared;

/* The text of a field as `vm` has it. -ENOENT: there is no such NIC. */
int knob_vm_declared_text(struct arena *arena, const struct vm *vm, const char *field, const char *which,
			  const char **ret, struct err *err);

/* "0:4,1:5+13" as a set for each of `count` things; those that are not named are empty. -EINVAL with the reason. */
int knob_vm_parse_pins(struct arena *arena, const char *text, int count, struct cpuset *ret, struct err *err);
const char *knob_vm_format_pins(struct arena *arena, const struct cpuset *pins, int count);

/* "1x2x4x2", and what follows it in *ret_rest. -EINVAL. */
int knob_vm_parse_topology(const char *text, struct vm_xml_topology *ret, const char **ret_rest, struct err *err);

/* "1G", "2M", "4K"... in KiB. -EINVAL. */
int knob_vm_parse_page(const char *text, int64_t *ret_kib, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns where the traffic of a VM's NICs leaves the host.
 */
#ifndef HVTUNE_VM_NIC_H
#define HVTUNE_VM_NIC_H

#include "vm.h"

/*
 * Fill `port` of each NIC: the device of the host below its bridge, macvtap or tap, when that is told and all devices
 * below it are at one known node. Several at different nodes: none, as which of them a packet takes is not known.
 */
void vm_find_ports(struct host *host, struct vm *vm);

#endif

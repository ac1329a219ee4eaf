/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what part of the packages' watts is put down to each VM. Used inside src/watch only. */
#ifndef HVTUNE_WATCH_SHARE_H
#define HVTUNE_WATCH_SHARE_H

#include "watch.h"

/*
 * Fill power_w of all VMs: of each package's watts (else of each socket's) the part that the time of the VM's vCPU
 * threads on its CPUs has in the time that these CPUs were busy. `os_packages`: physical_package_id of each package of
 * the CPUs, package_count. An estimate: cores at other clocks, idle watts and the threads of QEMU beside the vCPUs are
 * put down by time too. NAN where a package's watts or its busy time are not known.
 */
void watch_share_power(struct watch_view *view, const int *os_packages, int package_count);

#endif

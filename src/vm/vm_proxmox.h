/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns reading a configuration of Proxmox VE (/etc/pve/qemu-server/VMID.conf) as the VM that Proxmox starts from it,
 * with all that Proxmox adds by itself: the CPU type kvm64, enlightenments and clock of Windows, NUMA cells of
 * `numa: 1`, an I/O thread and a controller per disk.
 *
 * Sources: qm.conf(5); the command lines that Proxmox's own tests expect for their configurations.
 */
#ifndef HVTUNE_VM_PROXMOX_H
#define HVTUNE_VM_PROXMOX_H

#include "vm.h"

/*
 * Read the current configuration. Sections ([PENDING], snapshots) are not in force: vm->notes tells their lines. The
 * VMID is taken from the file's name, "100.conf". What depends on the host is not told: how disks of a storage are read
 * when no aio= is given, the CPUs behind custom types, devices behind mappings (their address is NULL).
 *
 * `affinity` becomes vm->cpuset, as it is one set for all threads; so does "cpu_taskset LIST" in the description, which
 * a widespread hookscript reads. -EINVAL with the line for what is no configuration or holds a value that Proxmox would
 * refuse. The caller frees with vm_free().
 */
int vm_read_proxmox(const char *path, const char *text, size_t size, struct vm **ret, struct err *err);

/* Are these the "key: value" lines of a VM of Proxmox? */
bool vm_looks_like_proxmox(const char *text, size_t size);

#endif

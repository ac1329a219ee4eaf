/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns VMs that run: the processes of QEMU on a host, whoever started them, each with its threads and where they may
 * run, its control group and the nodes that its memory lies on. Everything is read through the host's door.
 *
 * Where names leave open which thread is what, QEMU is asked over a socket of its monitor that its command line names,
 * if that is not libvirt's or Proxmox's and has no other client (sys_qmp.h).
 *
 * Sources: names of QEMU's threads ("CPU 0/KVM", "IO name"), of vhost's ("vhost-PID"; a thread of QEMU since Linux 6.4,
 * a kernel thread in QEMU's control group before), numa_maps in proc(5), memory.numa_stat of control groups (v2).
 */
#ifndef HVTUNE_VM_PROCESS_H
#define HVTUNE_VM_PROCESS_H

#include "vm.h"

/*
 * The running VMs, in the order of their process numbers. The array is in `arena`; each VM is its own and is freed by
 * vm_running_free(). What was declared is from the command line of the process. A VM of which something cannot be
 * read (threads without names, memory of another user's process) has it as not given, and says so in its notes.
 *
 * They are found by KVM's directory in debugfs, which only root sees and which lists all; or in the control groups of
 * libvirt and Proxmox; or, where those have none, by the names of all processes. Where KVM is not loaded or has no
 * users only the control groups are looked at, for VMs that are emulated, and processes whose names are known already.
 */
int vm_running(struct host *host, struct arena *arena, struct vm ***ret, int *ret_count, struct err *err);

/* Free the VMs of such an array; NULL is taken. */
void vm_running_free(struct vm **list, int count);

#endif

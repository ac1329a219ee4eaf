/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what the files behind host_os.h share: the boot loader and the hypervisor are told from many small signs each.
 */
#ifndef HVTUNE_HOST_OS_INTERNAL_H
#define HVTUNE_HOST_OS_INTERNAL_H

#include "fact.h"

struct host;

/* Tell the boot loader; sets os.loader. Needs os.family, os.proxmox and the kernel release. */
struct fact host_boot_loader(struct host *host);

/* The hypervisor under this host; absent on metal, "unknown" when only the CPU's flag is known. Needs the DMI facts. */
struct fact host_guest_hypervisor(struct host *host);

#endif

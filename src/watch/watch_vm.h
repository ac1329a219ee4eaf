/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the threads of running VMs as they are read again and again. Used inside src/watch only. */
#ifndef HVTUNE_WATCH_VM_H
#define HVTUNE_WATCH_VM_H

#include "vm_joined.h"
#include "watch.h"

struct watch_vms;

/* The running VMs of a host, which must outlive it. `before` gives the counters of threads that were known; or NULL. */
struct watch_vms *watch_vms_open(const struct host *host, const struct vm_joined *joined,
				 const struct watch_vms *before);
struct watch_vms *watch_vms_close(struct watch_vms *vms); /* takes NULL, returns NULL */

/*
 * Read all; `elapsed_s` since the last time, NAN for the first. The array is valid until the next call. True when a
 * process is gone, so that the list should be made anew.
 */
bool watch_vms_read(struct watch_vms *vms, double elapsed_s, struct watch_vm **ret, size_t *ret_count);

#endif

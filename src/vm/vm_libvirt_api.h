/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the calls into libvirt's library. For use inside src/vm only. */
#ifndef HVTUNE_VM_LIBVIRT_API_H
#define HVTUNE_VM_LIBVIRT_API_H

#include "vm_libvirt.h"

/* As vm_libvirt_read(), for as long as libvirt takes. */
int vm_libvirt_ask(const char *uri, struct vm_libvirt **ret, struct err *err);

#endif

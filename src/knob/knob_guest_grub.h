/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the kernel's command line in the files of a guest's boot loader. Served is GRUB that makes its menu from
 * /etc/default/grub (Debian and Ubuntu with their snippets, SUSE, Arch, older RHEL); not loader entries (Fedora, RHEL 8
 * and later), systemd-boot, unified kernel images, a kernel that the VM's definition names, and other systems than
 * Linux: -ENOTSUP says so. Other errors as in knob_guest_agent.h.
 */
#ifndef HVTUNE_KNOB_GUEST_GRUB_H
#define HVTUNE_KNOB_GUEST_GRUB_H

#include "knob_boot_internal.h"
#include "knob_guest_agent.h"

struct guest_grub {
	const char *uuid;
	const char *const *maker; /* the program that makes the menu anew, ended by NULL */
	struct boot_table *table; /* the files, as they are and as they are edited */
	struct boot_where where;
};

/* Read the files. They live in the machine's arena. */
int guest_grub_read(struct knob_machine *machine, const char *uuid, struct guest_grub *ret, struct err *err);

/* The line that they make, as far as they tell; in the machine's arena. */
int guest_grub_line(const struct guest_grub *grub, const char **ret, struct err *err);

#endif

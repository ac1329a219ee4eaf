/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns facts about the system around the hardware: kernel, distribution, boot loader, clock source, firmware names,
 * virtualization of the host itself.
 */
#ifndef HVTUNE_HOST_OS_H
#define HVTUNE_HOST_OS_H

#include "fact.h"
#include "host_cmdline.h"

struct host;
struct host_rows;

enum os_boot_loader {
	BOOT_UNKNOWN,
	BOOT_GRUB_DEBIAN,  /* /etc/default/grub and update-grub */
	BOOT_GRUB_BLS,	   /* Fedora, RHEL and kin: entries below /boot/loader/entries, grubby */
	BOOT_GRUB_SUSE,	   /* /etc/default/grub and grub2-mkconfig -o /boot/grub2/grub.cfg */
	BOOT_GRUB_OTHER,   /* grub-mkconfig by hand (Arch) */
	BOOT_SYSTEMD_BOOT, /* /etc/kernel/cmdline, kernel-install */
	BOOT_PROXMOX,	   /* proxmox-boot-tool with /etc/kernel/cmdline */
	BOOT_OSTREE,	   /* rpm-ostree kargs or bootc */
};

struct host_os {
	struct fact kernel_release;	  /* text: /proc/sys/kernel/osrelease, or from /proc/version */
	int kernel_major, kernel_minor;	  /* 0, 0 when not known */
	struct fact distribution;	  /* text: PRETTY_NAME of os-release */
	struct fact distribution_id;	  /* text: ID */
	struct fact distribution_version; /* text: VERSION_ID */
	struct fact proxmox;		  /* switch: /etc/pve or pve-manager is there */
	struct fact boot_loader;	  /* text, derived, with the reason in ->source */
	enum os_boot_loader loader;
	const char *family; /* words of ID and ID_LIKE; "" when not known; never NULL after a read */
	/* What the loader's own file asks for at the next boot; ->line is known only when that file alone decides. Not
	 * for boot loader entries and ostree, which keep a line per kernel. */
	struct host_cmdline configured;
	struct fact clocksource;			      /* text: current_clocksource */
	struct fact clocksource_available;		      /* text */
	struct fact vendor, product, bios_version, bios_date; /* text: /sys/class/dmi/id */
	struct fact hypervisor;	   /* text: kind of hypervisor under this host ("KVM", "VMware"...); absent on metal */
	struct fact container;	   /* text: "docker", "lxc"... when hvtune itself runs in a container; else absent */
	struct fact pm_profile;	   /* number: FADT profile /sys/firmware/acpi/pm_profile */
	struct fact aspm;	   /* choice: /sys/module/pcie_aspm/parameters/policy */
	struct fact unknown_words; /* text: what the kernel log calls unknown command line parameters; absent if none */
	struct fact uptime_s;	   /* number */
};

/* FADT "preferred PM profile" by number (ACPI 6.5, table 5.9): "enterprise server"... or "unknown". */
const char *host_os_pm_profile_name(int64_t profile);

/* Is the profile one of the server profiles on which amd_pstate has other default rules (4, 5 and 7)? */
bool host_os_pm_profile_is_server(int64_t profile);

/* How a word gets onto this host's kernel command line for good, as one phrase. Never NULL. */
const char *host_os_boot_by_hand(const struct host_os *os);

void host_os_read(struct host *host);
void host_os_rows(const struct host *host, struct host_rows *rows);

#endif

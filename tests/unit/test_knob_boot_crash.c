/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the exhaustive crash test (crash.h) over words of the kernel's line: killed before and after every call that
 * changes something, in a trial and in the default, with GRUB's defaults and with loader entries; undo then gives back
 * every byte.
 */
#include <errno.h>

#include "crash.h"
#include "unit.h"

#define ROOM "################################################################"

static void add_grub(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/etc/os-release", "ID=debian\n"},
	    {"/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet iommu=off\n"},
	    {"/proc/mounts", "/dev/sda1 / ext4 rw 0 0\n"},
	    {"/etc/default/grub", "GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet iommu=off\"\n"},
	    {"/etc/default/grub.d/50-other.cfg", "# nothing\n"},
	    {"/boot/grub/grubenv", "# GRUB Environment Block\n" ROOM},
	    {"/boot/grub/custom.cfg", "menuentry 'mine' { true; }\n"},
	    {"/boot/grub/grub.cfg",
	     "if [ \"${next_entry}\" ] ; then\n set default=\"${next_entry}\"\n set next_entry=\nelse\n set "
	     "default=\"0\"\nfi\n"
	     "menuentry 'Debian' --class debian --id 'simple' {\n\tlinux /vmlinuz-6.1.0-25 root=/dev/sda1 ro quiet "
	     "iommu=off\n\tinitrd /initrd.img\n}\n"
	     "menuentry 'Debian before' --id 'a-6.1.0-23' {\n\tlinux /vmlinuz-6.1.0-23 root=/dev/sda1 ro quiet "
	     "iommu=off\n\tinitrd /initrd.img\n}\nsource $prefix/custom.cfg\n"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
}

static void add_entries(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/etc/os-release", "ID=fedora\n"},
	    {"/proc/cmdline", "BOOT_IMAGE=(hd0,gpt2)/vmlinuz-6.14.0 root=/dev/sda3 ro iommu=off\n"},
	    {"/proc/sys/kernel/osrelease", "6.14.0\n"},
	    {"/proc/mounts", "/dev/sda3 / xfs rw 0 0\n/dev/sda2 /boot ext4 rw 0 0\n"},
	    {"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"iommu=off\"\nGRUB_ENABLE_BLSCFG=true\n"},
	    {"/etc/kernel/cmdline", "root=/dev/sda3 ro iommu=off\n"},
	    {"/boot/grub2/grub.cfg", "set default=\"${next_entry}\"\nblscfg\n"},
	    {"/boot/grub2/grubenv", "# GRUB Environment Block\nsaved_entry=m-6.14.0\n" ROOM},
	    {"/boot/loader/entries/m-6.14.0.conf",
	     "title Fedora\nversion 6.14.0\nlinux /vmlinuz-6.14.0\noptions root=/dev/sda3 ro iommu=off\n"},
	    {"/boot/loader/entries/m-6.13.0.conf",
	     "title Fedora\nversion 6.13.0\nlinux /vmlinuz-6.13.0\noptions root=/dev/sda3 ro iommu=off\n"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
}

static void add_grub_default(struct kernel *kernel)
{
	add_grub(kernel);
	kernel->no_trial = true;
}

static void add_entries_default(struct kernel *kernel)
{
	add_entries(kernel);
	kernel->no_trial = true;
}

static const struct crash_scene scenes[] = {
    {"active", {"boot.iommu=pt", "boot.skew_tick=1"}, add_grub},
    {"active", {"boot.iommu=pt", "boot.skew_tick=1"}, add_grub_default},
    {"active", {"boot.iommu=pt", "boot.amd_pstate=guided"}, add_entries},
    {"active", {"boot.kernel=6.1.0-23", "boot.iommu=pt"}, add_grub},
    {"active", {"boot.kernel=6.1.0-23", "boot.iommu=pt"}, add_grub_default},
    {"active", {"boot.iommu=pt", "boot.hugepages.1G=4"}, add_entries_default},
    {"active", {"boot.iommu=absent", "governor=performance"}, add_entries_default},
};

static const int errnums[] = {ENOSPC, EROFS, 0};
static const struct crash_set all_scenes = {&crash_plain, scenes, ARRAY_SIZE(scenes), errnums};

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CRASH_TESTS(all_scenes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

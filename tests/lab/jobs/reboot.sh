# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job that changes the kernel command line the way Debian does it and reboots
# through GRUB to see it take effect.

. ./lib.sh

case $LAB_BOOT in
1)
	expect "platform profile" 4 cat /sys/firmware/acpi/pm_profile
	! grep -q amd_pstate= /proc/cmdline || fail "the word is there before the change"
	[ ! -e /sys/devices/system/cpu/amd_pstate ] || fail "amd_pstate loaded by itself with a server's profile"
	echo 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT amd_pstate=guided"' >/etc/default/grub.d/zz-test.cfg
	update-grub || fail "update-grub"
	lab-reboot
	;;
2)
	grep -q amd_pstate=guided /proc/cmdline || fail "the word did not arrive: $(cat /proc/cmdline)"
	expect "mode after the reboot" guided cat /sys/devices/system/cpu/amd_pstate/status
	;;
*) fail "boot number $LAB_BOOT" ;;
esac

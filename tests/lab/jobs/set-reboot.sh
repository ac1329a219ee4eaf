# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job in which a change that was made before a reboot is looked at and undone
# after it: nothing of it is in force, and what was set since is not touched.

. ./lib.sh
. ./knobs.sh

case $LAB_BOOT in
1)
	remember before
	set_to governor=powersave epp=power thp=never
	lab-reboot
	;;
2)
	is_as before
	hvtune_ends 0 status
	cat "$LAB_OUT/hvtune.out"
	echo never >/sys/kernel/mm/transparent_hugepage/enabled
	hvtune_ends 0 undo --all
	cat "$LAB_OUT/hvtune.out"
	expect "THP, set by hand since" "always madvise [never]" cat /sys/kernel/mm/transparent_hugepage/enabled
	hvtune_ends 0 status
	;;
*) fail "boot number $LAB_BOOT" ;;
esac

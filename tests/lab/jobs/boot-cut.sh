# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job whose host loses power while hvtune changes the default boot entry: its words
# are in GRUB's defaults and the menu is being made anew.  The host boots all the same, and
# undo gives back every byte.

. ./lib.sh

settings() { cat /etc/default/grub /etc/default/grub.d/* /boot/grub/grub.cfg | sha256sum; }

if [ "$LAB_BOOT" -eq 1 ]; then
	update-grub || fail "update-grub"
	settings >before
	sync
	hvtune set boot.skew_tick=1 --no-trial --yes &
	while [ ! -e /etc/default/grub.d/zz-hvtune.cfg ]; do sleep 0.2; done
	echo "cut me"
	sleep infinity
fi
expect "boot number" 2 echo "$LAB_BOOT"
hvtune status
expect "status of a change that was cut short" 1 echo $?
hvtune undo || fail "undo: status $?"
expect "after undo" "$(cat before)" settings
[ ! -e /etc/default/grub.d/zz-hvtune.cfg ] || fail "the snippet is still there"
[ -z "$(find /etc/default /boot/grub -name "*hvtune*")" ] || fail "a file is left over"

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job whose host loses power in its first boot: what was synced is there in
# the second, what was not written may be lost, and the file system recovers.

. ./lib.sh

if [ "$LAB_BOOT" -eq 1 ]; then
	echo before >/var/lib/lab/synced
	sync
	(while :; do echo after >>/var/lib/lab/unsynced; done) &
	sleep 1
	echo "cut me"
	sleep infinity
fi
expect "boot number" 2 echo "$LAB_BOOT"
expect "synced file" before cat /var/lib/lab/synced
touch /var/lib/lab/writable || fail "the root file system is not writable"
dmesg | grep -q 'EXT4-fs (vda1): .*recover' || fail "no recovery of the journal in dmesg"
echo "ok: journal recovered"

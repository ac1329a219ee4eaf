# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job that changes the kernel's line by trial boots through GRUB: one that is well
# and is confirmed by the service, one that panics and falls back by itself, and the way
# back to the bytes of the beginning.

. ./lib.sh

# What a trial must not touch, and what undo has to give back.
settings() { cat /etc/default/grub /etc/default/grub.d/* /boot/grub/grub.cfg | sha256sum; }
entry() { grub-editenv /boot/grub/grubenv list | sed -n 's/^next_entry=//p'; }
has() { grep -qw -- "$1" /proc/cmdline || fail "boot $LAB_BOOT: $1 is not on the line: $(cat /proc/cmdline)"; }
has_not() { ! grep -qw -- "$1" /proc/cmdline || fail "boot $LAB_BOOT: $1 is on the line: $(cat /proc/cmdline)"; }

# What the kernel made of the words.
in_force() {
	has amd_pstate=guided
	has skew_tick=1
	expect "mode of the driver" guided cat /sys/devices/system/cpu/amd_pstate/status
	expect "isolated CPUs" 6-7 cat /sys/devices/system/cpu/isolated
	expect "THP" "always madvise [never]" cat /sys/kernel/mm/transparent_hugepage/enabled
}

case $LAB_BOOT in
1)
	install -D "$(command -v hvtune)" /usr/local/bin/hvtune
	sed 's,@bindir@,/usr/local/bin,' hvtune-confirm.service.in >/etc/systemd/system/hvtune-confirm.service
	systemctl daemon-reload
	update-grub || fail "update-grub"
	settings >before
	has_not skew_tick=1
	hvtune set boot.amd_pstate=guided boot.skew_tick=1 boot.isolcpus=6-7 boot.transparent_hugepage=never --yes || fail "set: status $?"
	expect "entry of the next boot" hvtune-trial entry
	expect "what is not the trial's" "$(cat before)" settings
	expect "service" enabled systemctl is-enabled hvtune-confirm.service
	hvtune confirm && fail "confirmed before the trial"
	lab-reboot
	;;
2)
	in_force
	has hvtune.trial
	expect "entry of the boot after the trial" "" entry
	for _ in $(seq 120); do
		[ "$(systemctl show -P ActiveState hvtune-confirm.service)" != activating ] && break
		sleep 2
	done
	journalctl --no-pager -o cat -u hvtune-confirm.service
	expect "the service's result" success systemctl show -P Result hvtune-confirm.service
	expect "its status" 0 systemctl show -P ExecMainStatus hvtune-confirm.service
	grep -qw skew_tick=1 /boot/grub/grub.cfg || fail "the default has not got the words"
	! grep -qw hvtune.trial /boot/grub/grub.cfg || fail "the default has got the trial's own words"
	[ ! -e /boot/grub/custom.cfg ] || fail "the trial's entry is still there"
	lab-reboot
	;;
3)
	in_force
	has_not hvtune.trial
	has_not panic=30
	settings >confirmed
	# No initial ramdisk, so no root file system: the kernel panics.
	hvtune set boot.rdinit=/nonexistent --yes || fail "set of what cannot boot: status $?"
	expect "what is not the trial's" "$(cat confirmed)" settings
	lab-reboot
	;;
4)
	has skew_tick=1
	has_not rdinit=/nonexistent
	has_not hvtune.trial
	hvtune confirm
	expect "status of confirm with the old line" 1 echo $?
	hvtune undo || fail "undo of the trial: status $?"
	[ ! -e /boot/grub/custom.cfg ] || fail "the trial's entry is still there"
	expect "after the trial is forgotten" "$(cat confirmed)" settings
	hvtune undo || fail "undo of the confirmed change: status $?"
	expect "after undo" "$(cat before)" settings
	hvtune status
	lab-reboot
	;;
5)
	has_not skew_tick=1
	has_not amd_pstate=guided
	expect "isolated CPUs" "" cat /sys/devices/system/cpu/isolated
	;;
*) fail "boot number $LAB_BOOT" ;;
esac

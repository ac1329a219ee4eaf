# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job that boots another kernel through GRUB: a trial of one that turns out not to be what was asked for, one
# that is made the default, and the way back to the bytes of the beginning. The host has one kernel only, so the other is
# a copy under another release's name: GRUB boots it as its own entry, and it says who it is.

. ./lib.sh

other=6.99.0-1-amd64
settings() { cat /etc/default/grub /etc/default/grub.d/* /boot/grub/grub.cfg | sha256sum; }
booted() { sed -n 's,.*BOOT_IMAGE=/boot/vmlinuz-\([^ ]*\).*,\1,p' /proc/cmdline; }

case $LAB_BOOT in
1)
	install -D "$(command -v hvtune)" /usr/local/bin/hvtune
	sed 's,@bindir@,/usr/local/bin,' hvtune-confirm.service.in >/etc/systemd/system/hvtune-confirm.service
	systemctl daemon-reload
	cp "/boot/vmlinuz-$(uname -r)" /boot/vmlinuz-$other
	cp "/boot/initrd.img-$(uname -r)" /boot/initrd.img-$other
	# The newest is GRUB's default: the one that runs shall stay it.
	echo "GRUB_DEFAULT='gnulinux-advanced-$(findmnt -no UUID /)>gnulinux-$(uname -r)-advanced-$(findmnt -no UUID /)'" \
		>/etc/default/grub.d/lab-default.cfg
	update-grub || fail "update-grub"
	settings >before
	hvtune knobs boot.kernel
	hvtune set --yes boot.kernel=5.0.0-0-amd64 && fail "a kernel that is not there was taken"
	hvtune set --yes boot.kernel=$other || fail "set: status $?"
	expect "what is not the trial's" "$(cat before)" settings
	lab-reboot
	;;
2)
	expect "kernel of the trial" $other booted
	for _ in $(seq 120); do
		[ "$(systemctl show -P ActiveState hvtune-confirm.service)" != activating ] && break
		sleep 2
	done
	journalctl --no-pager -o cat -u hvtune-confirm.service
	expect "the service's status" 1 systemctl show -P ExecMainStatus hvtune-confirm.service
	hvtune confirm && fail "confirmed with another release than was asked for"
	expect "the default" "$(cat before)" settings
	lab-reboot
	;;
3)
	expect "kernel after the trial" "$(uname -r)" booted
	hvtune undo || fail "undo of the trial: status $?"
	hvtune set --yes --no-trial boot.kernel=$other || fail "set for good: status $?"
	lab-reboot
	;;
4)
	expect "kernel that was made the default" $other booted
	hvtune undo || fail "undo: status $?"
	expect "after undo" "$(cat before)" settings
	lab-reboot
	;;
5) expect "kernel at the end" "$(uname -r)" booted ;;
*) fail "boot number $LAB_BOOT" ;;
esac

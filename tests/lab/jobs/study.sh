# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job with a whole study: drivers over boots through GRUB, tuned's profiles, EPP, a real VM that is restarted
# with other pins and queues, and power that is lost again and again. After each boot the study goes on by itself.

. ./lib.sh
. ./study-lib.sh
. ./guest.sh

# A guest of libvirt that runs, on a bridge that is there after each boot.
prepare_vm() {
	cat >/etc/systemd/system/lab-bridge.service <<-UNIT
		[Unit]
		Description=The bridge of the lab's guests
		Before=libvirtd.service
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/usr/bin/ip link add labbr0 type bridge
		ExecStart=/usr/bin/ip link set labbr0 up
		[Install]
		WantedBy=multi-user.target
	UNIT
	echo web >/usr/local/lib/lab/vm
	systemctl daemon-reload
	systemctl -q enable --now lab-bridge.service libvirtd.service || fail "the bridge or libvirt does not start"
	start_guest web --vcpus 2 --queues 1
}

state() { hvtune study status --json | jq -r .state; }

# Of the VM that runs: which it is, what libvirt holds, and where its threads may be.
vm_settings() {
	virsh domstate web
	virsh dumpxml --inactive web
	. ./study-truth.sh
	look_at_vm web
	echo "vm: $VM"
}

# The study's unit has it, until it has ended.
wait_for_end() {
	local last='' now
	while :; do
		now=$(state) || now=unknown
		[ "$now" = "$last" ] || echo "study: $now at $SECONDS s"
		last=$now
		[ "$now" != none ] || return 0
		[ "$now" != paused ] || fail "it is paused"
		sleep 10
	done
}

case $LAB_BOOT in
1)
	prepare_host
	prepare_vm
	remember_host
	vm_settings >"$LAB_OUT/before.vm"
	hvtune study check study.yaml
	sync
	hvtune_ends 0 study run --yes --accept-risk study.yaml
	cat "$LAB_OUT/hvtune.out"
	wait_for_end
	fail "the study ended before any boot"
	;;
*)
	echo "boot $LAB_BOOT: $(cat /proc/cmdline)"
	wait_for_end
	journalctl -b -u hvtune-study --no-pager | tail -n 20
	take_answers
	host_is_as_before
	vm_settings >"$LAB_OUT/after.vm"
	diff "$LAB_OUT/before.vm" "$LAB_OUT/after.vm" || fail "the VM is not as it was"
	answers_are time "driver=guided vm=moved profile=virtual-host epp=profile" \
		energy "driver=active vm=found profile=balanced epp=power"
	;;
esac

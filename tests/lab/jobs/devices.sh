# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job in which hvtune sets interrupts, options of modules and values that last, and asks a NIC for its queues, and the
# kernel, modprobe and systemd say what they make of them.

. ./lib.sh
. ./knobs.sh

nothing_in_force() { hvtune_ends 0 status && ! grep -q 'hvtune undo' "$LAB_OUT/hvtune.out"; }
files() { sha256sum /etc/modprobe.d/* /etc/sysctl.d/* /etc/tmpfiles.d/* /etc/default/irqbalance 2>/dev/null; }
systemctl stop irqbalance
files >"$LAB_OUT/files.before"
same_files() {
	files >"$LAB_OUT/files.now"
	diff "$LAB_OUT/files.before" "$LAB_OUT/files.now" || fail "files are not as they were"
	echo "ok: files are as they were"
}

# ---- interrupts ----

nic=$(basename "$(dirname "$(ls -d /sys/class/net/en*/device | head -n 1)")")
[ -n "$nic" ] || fail "no NIC"
irqs=$(ls "/sys/class/net/$nic/device/msi_irqs" 2>/dev/null || ls "/sys/class/net/$nic/device/../msi_irqs")
first=$(echo "$irqs" | tail -n 1)
before=$(cat "/proc/irq/$first/smp_affinity_list")
set_to "irq@$first=1" irq.default=0-1
expect "CPU of IRQ $first" 1 cat "/proc/irq/$first/smp_affinity_list"
expect "CPUs of new ones" 3 sh -c 'sed "s/^[0,]*//" /proc/irq/default_smp_affinity'
undo
expect "CPUs of IRQ $first again" "$before" cat "/proc/irq/$first/smp_affinity_list"
set_to irqbalance.ban=1
expect "ban list" 'IRQBALANCE_BANNED_CPULIST=1' grep '^IRQBALANCE_BANNED_CPULIST' /etc/default/irqbalance
undo
same_files

# ---- queues: this NIC has one ----

expect "queues" 1 sh -c "ethtool -l $nic | sed -n 's/^Combined:[[:blank:]]*//p' | tail -n 1"
hvtune_ends 2 set --yes "nic.queues@$nic=2"
grep -q "$nic has at most 1 queues" "$LAB_OUT/hvtune.out" || { cat "$LAB_OUT/hvtune.out"; fail "another reason"; }
hvtune_ends 0 set --yes "nic.queues@$nic=1"
nothing_in_force || fail "one queue instead of one is a change"

# ---- options of modules ----

nested() { cat /sys/module/kvm_amd/parameters/nested; }
reload() { modprobe -r kvm_amd && modprobe kvm_amd; }
expect "nested" 1 nested
set_to module.kvm_amd.nested=0
expect "nested, before the module is loaded anew" 1 nested
reload || fail "kvm_amd is not to be loaded anew"
expect "nested" 0 nested
undo
reload
expect "nested again" 1 nested
same_files

# ---- values that last ----

as_at_boot() { sysctl --system >/dev/null && systemd-tmpfiles --create --prefix=/sys; }
remember running
set_to lasting.swappiness=7 lasting.thp=never lasting.hugepages.2M@0=8 lasting.idle.C1=off lasting.ksm=1
is_as running
as_at_boot || fail "systemd does not take the files"
expect "swappiness" 7 cat /proc/sys/vm/swappiness
expect "THP" 'always madvise [never]' cat /sys/kernel/mm/transparent_hugepage/enabled
expect "2 MiB pages of node 0" 8 cat $node/node0/hugepages/hugepages-2048kB/nr_hugepages
expect "KSM" 1 cat /sys/kernel/mm/ksm/run
for state in $cpu/cpu*/cpuidle/state*; do
	[ "$(cat "$state/name")" != C1 ] || expect "C1" 1 cat "$state/disable"
done
undo
same_files
nothing_in_force || fail "something is still in force"

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job with virtual machines on the nested KVM: one that is pinned with all that
# hvtune looks for, one that is not.

. ./lib.sh

page=/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
echo 80 >$page
systemctl start libvirtd
start=$(date +%s%N)
lab-guest start pinned --vcpus 2 --cpus 4,6 --emulator 5 --iothreads 1 --iothread-cpus 7 \
	--hugepages 2M --node 1 --queues 2 || fail "the pinned guest did not start"
echo "ok: pinned guest up after $((($(date +%s%N) - start) / 1000000)) ms"

pid=$(pgrep -f guest=pinned)
# QEMU's worker threads come and go: one may be gone before it is looked at.
affinity_of() {	# NAME-OF-THREAD
	local task
	for task in /proc/"$pid"/task/*; do
		[ "$(cat "$task/comm" 2>/dev/null)" != "$1" ] || awk '/^Cpus_allowed_list/ { print $2 }' "$task/status"
	done
}
expect "first vCPU" 4 affinity_of "CPU 0/KVM"
expect "second vCPU" 6 affinity_of "CPU 1/KVM"
expect "I/O thread" 7 affinity_of "IO iothread1"
expect "emulator" 5 awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$pid/status"
expect "free 2 MiB pages" 16 cat "${page%nr_hugepages}free_hugepages"
# The tap shows the queues that the guest's driver asked for; QEMU holds all of them.
queues() { find "/proc/$pid/fd" -lname /dev/vhost-net | wc -l; }
expect "vhost queues" 2 queues
grep -qs "^vhost-$pid" "/proc/$pid"/task/*/comm || fail "no vhost thread"

start=$(date +%s%N)
lab-guest start plain --vcpus 1 || fail "the plain guest did not start"
echo "ok: plain guest up after $((($(date +%s%N) - start) / 1000000)) ms"
expect "affinity of the plain guest" 0-7 awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$(pgrep -f guest=plain)/status"
virsh list
ask_hvtune nested
lab-guest stop plain || fail "the plain guest did not stop"
lab-guest stop pinned || fail "the pinned guest did not stop"
expect "guests left" "" virsh list --all --name

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job with virtual machines on the nested KVM: one that is pinned with all that
# hvtune looks for, one that is not.

. ./lib.sh
. ./guest.sh

page=/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages
echo 80 >$page
systemctl start libvirtd
start=$(date +%s%N)
start_guest pinned --vcpus 2 --cpus 4,6 --emulator 5 --iothreads 1 --iothread-cpus 7 --hugepages 2M --node 1 --queues 2
echo "ok: pinned guest up after $((($(date +%s%N) - start) / 1000000)) ms"

expect "first vCPU" 4 affinity_of pinned "CPU 0/KVM"
expect "second vCPU" 6 affinity_of pinned "CPU 1/KVM"
expect "I/O thread" 7 affinity_of pinned "IO iothread1"
expect "emulator" 5 affinity_of_emulator pinned
expect "free 2 MiB pages" 16 cat "${page%nr_hugepages}free_hugepages"
# The tap shows the queues that the guest's driver asked for; QEMU holds all of them.
queues() { find "/proc/$(pid_of pinned)/fd" -lname /dev/vhost-net | wc -l; }
expect "vhost queues" 2 queues
expect "vhost threads" 5 affinity_of_vhosts pinned

start=$(date +%s%N)
start_guest plain --vcpus 1
echo "ok: plain guest up after $((($(date +%s%N) - start) / 1000000)) ms"
expect "affinity of the plain guest" 0-7 affinity_of_emulator plain
virsh list
ask_hvtune nested
lab-guest stop plain || fail "the plain guest did not stop"
lab-guest stop pinned || fail "the pinned guest did not stop"
expect "guests left" "" virsh list --all --name

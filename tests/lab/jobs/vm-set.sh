# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job in which hvtune moves the threads of guests that run, one of libvirt's and
# one that nobody manages, and puts them back: on its own when one of the moves fails.

. ./lib.sh
. ./guest.sh
. ./knobs.sh

echo 80 >$node/node1/hugepages/hugepages-2048kB/nr_hugepages
systemctl start libvirtd
start_guest web --vcpus 2 --cpus 4,6 --emulator 5 --iothreads 1 --iothread-cpus 7 --hugepages 2M --node 1 --queues 2
remember_vm web

# ---- libvirt's ----

hvtune_ends 0 set --yes --settle 0.5 vm.pins@web=2,3 vm.emulator@web=0-1 vm.iothreads@web=1
expect "vCPU 0" 2 affinity_of web "CPU 0/KVM"
expect "vCPU 1" 3 affinity_of web "CPU 1/KVM"
expect "emulator" 0-1 affinity_of_emulator web
expect "I/O thread" 1 affinity_of web "IO iothread1"
expect "vhost threads" 0-1 affinity_of_vhosts web
virsh dumpxml --inactive web | grep -q "vcpupin vcpu='1' cpuset='3'" || fail "the definition did not go with it"
hvtune_ends 0 status
undo
vm_is_as_before web

# One of the moves fails: the second vCPU may not leave the CPUs of its slice.
systemctl set-property --runtime machine.slice AllowedCPUs=2-7
hvtune_ends 1 set --yes --settle 0 vm.emulator@web=2-3 vm.pins@web=4,1
grep -q 'everything was put back' "$LAB_OUT/hvtune.out" || fail "it does not say that all was put back"
allow_all_cpus
vm_is_as_before web
hvtune_ends 0 status

# Somebody else moves one of them: that one stays where he put it.
hvtune_ends 0 set --yes --settle 0 vm.pins@web=2,3
virsh -q vcpupin web 1 7 --live
hvtune_ends 1 status
undo
expect "vCPU 0, put back" 4 affinity_of web "CPU 0/KVM"
expect "vCPU 1, moved by hand" 7 affinity_of web "CPU 1/KVM"
virsh -q vcpupin web 1 6 --live
vm_is_as_before web

# What comes with the next start.
hvtune_ends 0 set --yes --settle 0 vm.queues@web=1 vm.topology@web=1x1x1x2
virsh dumpxml --inactive web | grep -q "queues='2'" && fail "the definition still has two queues"
undo
vm_is_as_before web

lab-guest stop web || fail "the guest did not stop"

# ---- nobody's ----

qemu-system-x86_64 -name guest=alone,debug-threads=on -machine pc,accel=kvm -cpu host -smp 2 -m 64 -nodefaults \
	-display none -serial none -monitor none -kernel /var/lib/libvirt/images/lab-guest.bare -append lab-guest &
for ((i = 0; i < 600; i++)); do
	[ "$(threads_of alone | grep -c '^CPU')" -lt 2 ] || break
	sleep 0.1
done
remember_vm alone
hvtune_ends 0 set --yes --settle 0 vm.pins@alone=6,7
expect "vCPU 0" 6 affinity_of alone "CPU 0/KVM"
expect "vCPU 1" 7 affinity_of alone "CPU 1/KVM"
undo
vm_is_as_before alone
kill %1

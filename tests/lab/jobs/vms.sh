# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job in which hvtune meets a real libvirt with a guest on the nested KVM: what
# it reads of it as root and as anybody, where it places it, whether the threads and pages
# are there once that is done, and what it says when somebody moves one by hand.

. ./lib.sh
. ./guest.sh

plan=$LAB_OUT/place.json
findings() { hvtune check --json "$@" | jq -r --arg vm web '.findings[] | select(.vm == $vm) | .id'; }
has_finding() { findings | grep -qx "$1"; }
# Anybody may ask libvirt over the socket that only reads; its files are root's.
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
planned() { jq -r ".vms[] | select(.name == \"$1\") | $2" "$plan"; }

# in_place GUEST: every thread and page where the plan says.
in_place() {
	local vcpu=0 cpu node
	for cpu in $(planned "$1" '.cpu_of_vcpu[]'); do
		expect "$1: vCPU $vcpu" "$cpu" affinity_of "$1" "CPU $vcpu/KVM"
		vcpu=$((vcpu + 1))
	done
	[ "$vcpu" -eq 2 ] || fail "$1: the plan has $vcpu vCPUs"
	expect "$1: emulator" "$(planned "$1" .emulator)" affinity_of_emulator "$1"
	for node in 0 1; do
		expect "$1: pages of node $node" "$(planned "$1" "[.memory[] | select(.node == $node) | .pages] | add // 0")" \
			huge_pages_of "$1" $node
	done
}

for node in 0 1; do
	echo 160 >/sys/devices/system/node/node$node/hugepages/hugepages-2048kB/nr_hugepages
done
systemctl start libvirtd
start_guest web --vcpus 2 --iothreads 1 --queues 2 --hugepages 2M

# ---- as it is: floating ----

hvtune show vms >"$LAB_OUT/floating.show" || fail "show vms"
grep -q "running, process $(pid_of web)" "$LAB_OUT/floating.show" || fail "show vms does not have the guest's process"
nobody hvtune show vms >"$LAB_OUT/nobody.show" || fail "show vms as nobody"
for text in '^  web$' "running, process $(pid_of web)" 'vCPUs  *2$' 'hugepages of 2 MiB'; do
	grep -q "$text" "$LAB_OUT/nobody.show" || fail "show vms as nobody does not have: $text"
done
for uri in qemu:///system 'qemu+unix:///system?socket=/run/libvirt/libvirt-sock-ro'; do
	hvtune show vms --connect "$uri" >"$LAB_OUT/connect.show" || fail "show vms --connect $uri"
	# Its memory is still coming.
	diff <(grep -v 'Memory lies' "$LAB_OUT/floating.show") <(grep -v 'Memory lies' "$LAB_OUT/connect.show") || fail "libvirt at $uri tells another VM than its files"
done
echo "ok: one VM from files, from libvirt, and as nobody"
nobody hvtune check >"$LAB_OUT/nobody.check" || [ $? -eq 1 ] || fail "check as nobody"
expect "findings as root and from libvirt differ" "" diff <(findings | sort) <(findings --connect qemu:///system | sort)

# ---- placed ----

hvtune place web --json >"$plan" || fail "place --json"
hvtune place web --format xml >"$LAB_OUT/web.xml" || fail "place --format xml"
hvtune place web --format virsh >"$LAB_OUT/web.virsh" || fail "place --format virsh"
virsh -q destroy web
virsh -q define "$LAB_OUT/web.xml" || fail "libvirt does not take the XML"
rm -f /var/log/libvirt/lab-web.console
virsh -q start web || fail "the placed guest does not start"
wait_for_console web
in_place web
expect "web: I/O thread" "$(planned web .emulator)" affinity_of web "IO iothread1"
expect "web: vhost threads" "$(planned web .emulator)" affinity_of_vhosts web
! has_finding vm.affinity-differs || fail "check finds an affinity that differs"
ask_hvtune placed

# ---- moved by hand ----

virsh -q vcpupin web 0 0 --live || fail "vcpupin"
has_finding vm.affinity-differs || fail "check does not find the vCPU that was moved"
nobody hvtune check --connect qemu:///system | grep -q 'vm.affinity-differs' || fail "nobody does not find it"
echo "ok: a vCPU moved by hand is found"
virsh -q vcpupin web 0 "$(planned web '.cpu_of_vcpu[0]')" --live
! has_finding vm.affinity-differs || fail "the finding stays"
virsh -q vcpupin web 1 0 --config
has_finding vm.affinity-differs || fail "check does not find the definition that was changed"
sh "$LAB_OUT/web.virsh" >/dev/null || fail "the virsh commands of the plan"
! has_finding vm.affinity-differs || fail "the finding stays after the plan's virsh commands"
in_place web
echo "ok: declared against running"

# ---- new ----

virsh -q destroy web
virsh -q undefine web
hvtune place --new 2vcpu,128M,threads=2,pages=2M --name fresh --json >"$plan" || fail "place --new --json"
hvtune place --new 2vcpu,128M,threads=2,pages=2M --name fresh --format xml >"$LAB_OUT/fresh.xml" || fail "place --new"
virsh -q define "$LAB_OUT/fresh.xml" || fail "libvirt does not take the new XML"
virsh -q start fresh || fail "the new guest does not start"
in_place fresh
virsh -q destroy fresh
virsh -q undefine fresh

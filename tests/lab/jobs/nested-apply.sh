# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job in which hvtune moves guests that run to where its plan says, through the
# real libvirt on the nested KVM, and takes it back: by itself when a pin fails, and by
# undo after all was well, after it was killed, and after a guest was started again.

. ./lib.sh
. ./guest.sh
. ./knobs.sh

plan=$LAB_OUT/place.json
planned() { jq -r ".vms[] | select(.name == \"$1\") | $2" "$plan"; }

# in_place GUEST: its vCPUs, and its definition, as the plan says.
in_place() {
	local vcpu=0 cpu
	for cpu in $(planned "$1" '.cpu_of_vcpu[]'); do
		expect "$1: vCPU $vcpu" "$cpu" affinity_of "$1" "CPU $vcpu/KVM"
		virsh dumpxml --inactive "$1" | grep -q "vcpupin vcpu='$vcpu' cpuset='$cpu'" || fail "$1: definition of vCPU $vcpu"
		vcpu=$((vcpu + 1))
	done
	[ "$vcpu" -eq 2 ] || fail "$1: the plan has $vcpu vCPUs"
}
# all_in_place GUEST: where the host keeps cores of its own, the threads that serve it are there too; and its pages.
all_in_place() {
	local service node
	service=$(planned "$1" .emulator)
	in_place "$1"
	[ -n "$service" ] || fail "$1: the plan has no place for its emulator"
	expect "$1: emulator" "$service" affinity_of_emulator "$1"
	expect "$1: I/O thread" "$service" affinity_of "$1" "IO iothread1"
	expect "$1: vhost threads" "$service" affinity_of_vhosts "$1"
	for node in 0 1; do
		expect "$1: pages of node $node" "$(planned "$1" "[.memory[] | select(.node == $node) | .pages] | add // 0")" \
			huge_pages_of "$1" $node
	done
}
# start_again GUEST: another run of it, with all that waits for its next start.
start_again() {
	virsh -q destroy "$1"
	rm -f "/var/log/libvirt/lab-$1.console"
	virsh -q start "$1" || fail "$1 does not start where it was placed"
	wait_for_console "$1"
}
apply_plan() { hvtune_ends 0 place web db --reserve 0 --apply --yes --settle 0.5; }
both_as_before() { vm_is_as_before web && vm_is_as_before db; }

echo 160 >$node/node0/hugepages/hugepages-2048kB/nr_hugepages
systemctl start libvirtd
# CPUs 0-3 are one CCX of node 0 and 4-7 the other, neighbours are siblings: both guests are cut through. QEMU takes web's
# memory with its emulator's CPUs, of which one has to be on the memory's node. All even CPUs are free.
start_guest web --vcpus 2 --cpus 1,5 --emulator 1 --iothreads 1 --iothread-cpus 1 --hugepages 2M --node 0 --queues 2
start_guest db --vcpus 2 --cpus 3,7 --emulator 7
remember_vm web
remember_vm db

# ---- there and back ----

hvtune place web db --reserve 0 --json >"$plan" || fail "place --json"
jq -e '[.vms[] | .parts | length] == [1, 1]' "$plan" >/dev/null || fail "the plan does not make the guests whole"
# Pages of QEMU's own elsewhere are not the guests': they are bound where they run, and nothing migrates.
jq -e '([.vms[].memory[].node] | unique == [0]) and all(.vms[]; .migrate_kib == 0)' "$plan" >/dev/null ||
	fail "the plan binds memory elsewhere, or migrates it"
hvtune_ends 0 place web db --reserve 0 --apply --dry-run
both_as_before
apply_plan
in_place web
in_place db
hvtune_ends 0 status
hvtune check --json >"$LAB_OUT/check.json" || [ $? -eq 1 ] || fail "check"
jq -e 'all(.findings[]; .id != "vm.affinity-differs" and .id != "vm.split-ccx")' "$LAB_OUT/check.json" >/dev/null ||
	fail "check finds fault with what was applied"
hvtune_ends 0 place web db --reserve 0 --apply --yes
grep -q 'Nothing to do' "$LAB_OUT/hvtune.out" || fail "it is not done when it is done"
undo
both_as_before
hvtune_ends 0 status

# ---- a pin that fails ----

# All guests may run where they do now, but none where the plan wants a whole core.
systemctl set-property --runtime machine.slice AllowedCPUs=1,3,5,7
hvtune_ends 1 place web db --reserve 0 --apply --yes --settle 0
grep -q 'everything was put back' "$LAB_OUT/hvtune.out" || fail "it does not say that all was put back"
allow_all_cpus
both_as_before
hvtune_ends 0 status

# ---- killed ----

# killed_once CONDITION...: hvtune is killed as soon as that holds; the rest of the time it waits for its second look.
killed_once() {
	local i pid
	hvtune place web db --reserve 0 --apply --yes --settle 30 >/dev/null 2>&1 &
	pid=$!
	for ((i = 0; i < 1200; i++)); do
		! "$@" || break
		sleep 0.05
	done
	"$@" || fail "never came: $*"
	kill -9 $pid || fail "it had ended by itself: $*"
	wait $pid 2>/dev/null
	hvtune_ends 1 status
	grep -q 'cut short' "$LAB_OUT/hvtune.out" || fail "status does not say that it was cut short: $*"
	undo
	both_as_before
	echo "ok: killed: $*"
}
is_defined_anew() { ! virsh dumpxml --inactive "$1" 2>/dev/null | cmp -s "$LAB_OUT/$1.xml"; }
has_moved() { [ "$(affinity_of "$1" "CPU $2/KVM")" = "$(planned "$1" ".cpu_of_vcpu[$2]")" ]; }
killed_once is_defined_anew db
killed_once has_moved db 0
killed_once has_moved web 1

# ---- started again ----

apply_plan
start_again web
in_place web
undo
vm_is_as_before db
expect "web's new run keeps its pins" "$(planned web '.cpu_of_vcpu[0]')" affinity_of web "CPU 0/KVM"
virsh dumpxml --inactive web | diff "$LAB_OUT/web.xml" - || fail "web: its definition is not as it was"
lab-guest stop db || fail "db did not stop"

# ---- with cores of the host's own ----

start_again web
remember_vm web
hvtune place web --json >"$plan" || fail "place web --json"
hvtune_ends 0 place web --apply --yes --settle 0.5
all_in_place web
undo
vm_is_as_before web
hvtune_ends 0 place web --apply --yes --settle 0.5
start_again web
all_in_place web
undo
virsh dumpxml --inactive web | diff "$LAB_OUT/web.xml" - || fail "web: its definition is not as it was"
lab-guest stop web || fail "web did not stop"

# ---- memory ----

# libvirt moves only what is bound by the control group alone.
lab-guest xml mem --vcpus 2 --cpus 0,1 --node 1 | sed "s/mode='strict'/mode='restrictive'/" >"$LAB_OUT/mem.xml"
virsh -q define "$LAB_OUT/mem.xml" || fail "mem is refused"
virsh -q start mem || fail "mem did not start"
wait_for_console mem
pages_of() { # NODE
	awk -v node="N$1=" '/ anon=/ { for (i = 1; i <= NF; i++) if (index($i, node) == 1) sum += substr($i, length(node) + 1) }
		END { print sum + 0 }' "/proc/$(pid_of mem)/numa_maps"
}
# most_on NODE: soon after, most of its pages are there.
most_on() {
	local other=$((1 - $1)) i
	for ((i = 0; i < 100; i++)); do
		[ "$(pages_of "$1")" -le "$((4 * $(pages_of $other)))" ] || break
		sleep 0.2
	done
	[ "$(pages_of "$1")" -gt "$((4 * $(pages_of $other)))" ] || fail "memory: $(pages_of 0) pages on node 0, $(pages_of 1) on 1"
	echo "ok: memory: $(pages_of 0) pages on node 0, $(pages_of 1) on node 1"
}
most_on 1
remember_vm mem
set_to vm.memory@mem=0
most_on 0
undo
most_on 1
vm_is_as_before mem
virsh -q destroy mem && virsh -q undefine mem

# ---- nobody's ----

qemu-system-x86_64 -name guest=alone,debug-threads=on -machine pc,accel=kvm -cpu host -smp 2 -m 64 -nodefaults \
	-display none -serial none -monitor none -kernel /var/lib/libvirt/images/lab-guest.bare -append lab-guest &
for ((i = 0; i < 600; i++)); do
	[ "$(threads_of alone | grep -c '^CPU')" -lt 2 ] || break
	sleep 0.1
done
remember_vm alone
hvtune place alone --reserve 0 --json >"$plan" || fail "place alone --json"
hvtune_ends 0 place alone --reserve 0 --apply --yes --settle 0.5
expect "alone: vCPU 0" "$(planned alone '.cpu_of_vcpu[0]')" affinity_of alone "CPU 0/KVM"
expect "alone: vCPU 1" "$(planned alone '.cpu_of_vcpu[1]')" affinity_of alone "CPU 1/KVM"
undo
vm_is_as_before alone
kill %1

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what jobs ask the kernel about a guest: where its threads may run and where its
# memory lies.  Nothing here asks hvtune or libvirt.

pid_of() { pgrep -f "guest=$1,"; }

# affinity_of GUEST THREAD: the CPUs of each thread with that name, a line each.  QEMU's
# worker threads come and go: one may be gone before it is looked at.
affinity_of() {
	local task name
	for task in /proc/"$(pid_of "$1")"/task/*; do
		name=$(cat "$task/comm" 2>/dev/null)
		[ "$name" != "$2" ] || awk '/^Cpus_allowed_list/ { print $2 }' "$task/status"
	done
}

# The thread that all others come from has the process's number.
affinity_of_emulator() { awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$(pid_of "$1")/status"; }

# There is a vhost thread for each queue: the different sets of CPUs among them.
affinity_of_vhosts() { affinity_of "$1" "vhost-$(pid_of "$1")" | sort -u; }

# huge_pages_of GUEST NODE: how many huge pages of its memory lie on a node.
huge_pages_of() {
	awk -v node="N$2=" '/ huge / { for (i = 1; i <= NF; i++) if (index($i, node) == 1) sum += substr($i, length(node) + 1) }
		END { print sum + 0 }' "/proc/$(pid_of "$1")/numa_maps"
}

# has_come_up GUEST SECONDS: it says so on its console within so much of the host's time.
has_come_up() {
	local until=$((SECONDS + $2))
	while ! grep -qs 'lab-guest: up' "/var/log/libvirt/lab-$1.console"; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.2
	done
}

# wait_for_console GUEST: until a guest that was started says that it is up. Where the emulator has a part of a core
# only, a guest now and then hangs before its first word: it is then started once more.
wait_for_console() {
	! has_come_up "$1" 180 || return 0
	echo "note: $1 did not come up; started again"
	virsh -q destroy "$1"
	rm -f "/var/log/libvirt/lab-$1.console"
	virsh -q start "$1" || fail "$1 does not start again"
	has_come_up "$1" 180 || fail "the guest $1 did not come up"
}

# start_guest GUEST OPTIONS...: lab-guest start, with that second chance.
start_guest() {
	lab-guest start "$@" --no-wait || fail "$1 did not start"
	wait_for_console "$1"
}

# threads_of GUEST: where each thread that has a name of its own may run.
threads_of() {
	local task
	for task in /proc/"$(pid_of "$1")"/task/*; do
		printf '%s ' "$(cat "$task/comm" 2>/dev/null)"
		awk '/^Cpus_allowed_list/ { print $2 }' "$task/status" 2>/dev/null
	done | grep -E '^(CPU|IO iothread|vhost|qemu-system)' | sort -u
}

# remember_vm GUEST / vm_is_as_before GUEST: its threads, and what libvirt starts next time.
remember_vm() {
	threads_of "$1" >"$LAB_OUT/$1.threads"
	virsh dumpxml --inactive "$1" >"$LAB_OUT/$1.xml" 2>/dev/null
}
vm_is_as_before() {
	threads_of "$1" | diff "$LAB_OUT/$1.threads" - || fail "$1: its threads are not where they were"
	virsh dumpxml --inactive "$1" 2>/dev/null | diff "$LAB_OUT/$1.xml" - || fail "$1: its definition is not as it was"
	echo "ok: $1 is as it was"
}

# allow_all_cpus: the end of a limit of the machines' slice. What is set to nothing stays in force while it has children.
allow_all_cpus() {
	systemctl set-property --runtime machine.slice "AllowedCPUs=$(cat /sys/devices/system/cpu/online)"
	[ "$(cat /sys/fs/cgroup/machine.slice/cpuset.cpus.effective)" = "$(cat /sys/devices/system/cpu/online)" ] ||
		fail "the guests may still not run everywhere: $(cat /sys/fs/cgroup/machine.slice/cpuset.cpus.effective)"
}

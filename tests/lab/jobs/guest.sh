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

# wait_for_console GUEST: until a guest that was started by hand says that it is up.
wait_for_console() {
	local i
	for ((i = 0; i < 1200; i++)); do
		! grep -qs 'lab-guest: up' "/var/log/libvirt/lab-$1.console" || return 0
		sleep 0.1
	done
	fail "the guest $1 did not come up"
}

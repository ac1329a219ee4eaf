# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what the jobs that change the host with hvtune share: its state as the kernel shows
# it, and asking for a change.  Nothing here believes what hvtune prints of itself.

cpu=/sys/devices/system/cpu
node=/sys/devices/system/node
policy=$cpu/cpufreq/policy0

# Every value that the jobs change, and those that may move with it, a line each. One process reads them all: starting one
# takes the emulated CPUs longer than reading.
snapshot() {
	local file there=()
	# shellcheck disable=SC2231 # none of these has a blank
	for file in $cpu/amd_pstate/status $cpu/cpufreq/boost \
		$cpu/cpufreq/policy*/{scaling_driver,scaling_governor,scaling_min_freq,scaling_max_freq} \
		$cpu/cpufreq/policy*/energy_performance_preference \
		$cpu/cpu*/cpuidle/state*/disable $cpu/cpu*/power/pm_qos_resume_latency_us \
		$node/node*/hugepages/hugepages-*/nr_hugepages \
		/sys/kernel/mm/transparent_hugepage/{enabled,defrag,shmem_enabled} \
		/sys/kernel/mm/ksm/{run,pages_to_scan,merge_across_nodes} \
		/sys/module/kvm/parameters/halt_poll_ns* \
		/proc/sys/kernel/numa_balancing /proc/sys/vm/{swappiness,dirty_ratio,dirty_background_ratio,dirty_bytes}; do
		[ ! -e "$file" ] || there+=("$file")
	done
	grep -H '' "${there[@]}" 2>&1
}

# remember NAME / is_as NAME: the state now; it is that state again.
remember() { snapshot >"$LAB_OUT/$1.state"; }
is_as() {
	snapshot >"$LAB_OUT/now.state"
	diff "$LAB_OUT/$1.state" "$LAB_OUT/now.state" || fail "the host is not as it was: $1"
	echo "ok: as it was: $1"
}

# hvtune_ends STATUS ARGUMENTS...: what it prints goes to the job's output if it ends otherwise.
hvtune_ends() {
	local wanted=$1 got=0
	shift
	hvtune "$@" >"$LAB_OUT/hvtune.out" 2>&1 || got=$?
	echo "--- hvtune $* ($got)" >>"$LAB_OUT/hvtune.all"
	cat "$LAB_OUT/hvtune.out" >>"$LAB_OUT/hvtune.all"
	[ "$got" -eq "$wanted" ] || { cat "$LAB_OUT/hvtune.out"; fail "hvtune $*: status $got, wanted $wanted"; }
}

# set_to KNOB=VALUE...: without the second look, which takes two seconds each time.
set_to() { hvtune_ends 0 set --yes --settle 0 "$@"; }
undo() { hvtune_ends 0 undo; }

# all_are VALUE FILE...: each file holds this.
all_are() {
	local value=$1 file
	shift
	for file; do
		[ "$(cat "$file")" = "$value" ] || fail "$file: wanted '$value', got '$(cat "$file")'"
	done
	echo "ok: $# x $(basename "$1") = $value"
}

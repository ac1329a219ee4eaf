# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job of a host that booted with amd_pstate=active: the driver's modes one
# after the other, and what hvtune says about each.

. ./lib.sh
. ./platform.sh

status=$cpu/amd_pstate/status
policy=$cpu/cpufreq/policy0

# set_all FILE VALUE CPU...
set_all() {
	local file=$1 value=$2 number
	shift 2
	for number; do
		echo "$value" >"$cpu/cpufreq/policy$number/$file" || fail "$file of CPU $number does not take $value"
	done
}

hidden_write() { echo "$2" >"$1"; }

expect "mode at boot" active cat $status
expect "driver" amd-pstate-epp cat $policy/scaling_driver
expect "governors" "performance powersave" cat $policy/scaling_available_governors
expect "EPP words under governor performance" performance cat $policy/energy_performance_available_preferences
hidden_write $policy/energy_performance_preference power 2>/dev/null &&
	fail "EPP could be written under governor performance"
echo "ok: EPP is busy under governor performance"
set_all scaling_governor powersave 0 1 2 3 4 5 6 7
echo balance_power >$policy/energy_performance_preference || fail "EPP could not be written"
expect "EPP reads back" balance_power cat $policy/energy_performance_preference
# One CCX for power, one for speed; what the second holds is 0, since it came from performance.
set_all energy_performance_preference power 0 1 2 3
ask_hvtune active

echo passive >$status || fail "no switch to passive"
expect "mode" passive cat $status
expect "driver" amd-pstate cat $policy/scaling_driver
set_all scaling_governor schedutil 0 1 2 3
set_all scaling_governor powersave 4 5
set_all scaling_max_freq 2450000 6 7
expect "governor" schedutil cat $policy/scaling_governor
echo 32 >$node/node0/hugepages/hugepages-2048kB/nr_hugepages
echo never >/sys/kernel/mm/transparent_hugepage/enabled
ask_hvtune passive

echo guided >$status || fail "no switch to guided"
expect "mode" guided cat $status
expect "driver" amd-pstate cat $policy/scaling_driver
[ ! -e $policy/energy_performance_preference ] || fail "EPP in guided mode"
set_all scaling_governor performance 0 1 2 3 4 5 6 7
echo 1 >/sys/kernel/mm/ksm/run
echo 1 >$cpu/cpu7/cpuidle/state1/disable
# A request for 10 us keeps out every idle state that takes longer; held while the file is open.
exec 7>/dev/cpu_dma_latency
printf '\012\0\0\0' >&7
ask_hvtune guided
exec 7>&-

echo active >$status || fail "no switch back to active"
expect "driver" amd-pstate-epp cat $policy/scaling_driver

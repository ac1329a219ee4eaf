# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job in which hvtune sets what the host's kernel really has - modes of amd_pstate,
# governors, EPP, huge pages, KVM, memory - and puts it back, each time to the letter.

. ./lib.sh
. ./knobs.sh

huge() { echo "$node/node$1/hugepages/hugepages-$2/nr_hugepages"; }
nothing_in_force() { hvtune_ends 0 status && ! grep -q 'hvtune undo' "$LAB_OUT/hvtune.out"; }

# A host that somebody has already tuned in part, so that undoing is more than defaults.
echo powersave | tee $cpu/cpufreq/policy*/scaling_governor >/dev/null
echo balance_power | tee $policy/energy_performance_preference $cpu/cpufreq/policy3/energy_performance_preference >/dev/null
echo 2000000 >$cpu/cpufreq/policy5/scaling_max_freq
echo performance >$cpu/cpufreq/policy7/scaling_governor
echo 16 >"$(huge 1 2048kB)"
remember tuned

# ---- modes ----

for mode in passive guided active; do
	set_to amd_pstate=$mode
	expect "mode" $mode cat $cpu/amd_pstate/status
	[ $mode = active ] || all_are amd-pstate $cpu/cpufreq/policy*/scaling_driver
	undo
	is_as tuned
done
set_to amd_pstate=passive governor=schedutil max_freq@6,7=2450000
all_are schedutil $cpu/cpufreq/policy*/scaling_governor
all_are 2450000 $cpu/cpufreq/policy[67]/scaling_max_freq
set_to amd_pstate=guided governor@0-3=ondemand
expect "mode" guided cat $cpu/amd_pstate/status
all_are ondemand $cpu/cpufreq/policy[0-3]/scaling_governor
hvtune_ends 0 undo --all
is_as tuned

# ---- governor x EPP ----

for governor in powersave performance; do
	for epp in performance balance_performance balance_power power default; do
		if [ "$governor" = powersave ] || [ "$epp" = performance ]; then
			set_to "governor=$governor" "epp=$epp"
			all_are "$governor" $cpu/cpufreq/policy*/scaling_governor
			# "default" is whatever the firmware began with.
			[ "$epp" = default ] || all_are "$epp" $cpu/cpufreq/policy*/energy_performance_preference
			undo
		else
			hvtune_ends 2 set --yes "governor=$governor" "epp=$epp"
		fi
		is_as tuned
	done
done
# The governor alone takes EPP with it; back means both.
set_to governor@0-3=performance
all_are performance $cpu/cpufreq/policy[0-3]/energy_performance_preference
undo
is_as tuned

# ---- memory and KVM ----

set_to hugepages.2M@node1=64 hugepages.1G@node1=1
expect "2 MiB pages of node 1" 64 cat "$(huge 1 2048kB)"
expect "1 GiB pages of node 1" 1 cat "$(huge 1 1048576kB)"
expect "2 MiB pages of node 0" 0 cat "$(huge 0 2048kB)"
# There is not that much memory, which is known before; and there is not as much of it in one
# piece, which only the kernel finds out: what it gave goes back, and the step before it too.
remember pages
hvtune_ends 3 set --yes --settle 0 swappiness=7 hugepages.2M@node0=100000
is_as pages
hvtune_ends 1 set --yes --settle 0 swappiness=7 hugepages.1G@node0=3
is_as pages
undo
is_as tuned
set_to kvm.halt_poll_ns=0 thp=never ksm=1 numa_balancing=0 latency@6,7=20 idle.C1@7=off
expect "halt polling" 0 cat /sys/module/kvm/parameters/halt_poll_ns
expect "THP" "always madvise [never]" cat /sys/kernel/mm/transparent_hugepage/enabled
all_are 20 $cpu/cpu[67]/power/pm_qos_resume_latency_us
all_are 1 $cpu/cpu7/cpuidle/state1/disable
expect "KSM" 1 cat /sys/kernel/mm/ksm/run

# ---- somebody else's hand ----

echo 12345 >/sys/module/kvm/parameters/halt_poll_ns
hvtune_ends 1 status
grep -q halt_poll "$LAB_OUT/hvtune.out" || fail "status does not name what drifted"
undo
expect "what somebody else set" 12345 cat /sys/module/kvm/parameters/halt_poll_ns
grep -q 12345 "$LAB_OUT/hvtune.out" || fail "undo does not tell what it left alone"
sed -n 's/.*halt_poll_ns //p' "$LAB_OUT/tuned.state" >/sys/module/kvm/parameters/halt_poll_ns
is_as tuned

# ---- two at once ----

hvtune set --yes --settle 20 thp=madvise >"$LAB_OUT/first.out" 2>&1 &
first=$!
for ((i = 0; i < 600; i++)); do
	! grep -q '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled || break
	sleep 0.1
done
hvtune_ends 3 set --yes swappiness=1
wait $first || fail "the first of two ended with $?"
undo
is_as tuned

# ---- a plan from another time ----

hvtune_ends 0 set --dry-run --json governor=powersave epp=power
cp "$LAB_OUT/hvtune.out" "$LAB_OUT/plan.json"
is_as tuned
# A value that is already as asked would be fine; this one is neither as it was nor as asked.
echo balance_power >$cpu/cpufreq/policy6/energy_performance_preference
hvtune_ends 3 apply --yes --settle 0 "$LAB_OUT/plan.json"
echo performance >$cpu/cpufreq/policy6/energy_performance_preference
is_as tuned
hvtune_ends 0 apply --yes --settle 0 "$LAB_OUT/plan.json"
all_are power $cpu/cpufreq/policy*/energy_performance_preference
undo
is_as tuned
nothing_in_force || fail "status names something in force"

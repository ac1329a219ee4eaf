# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job of tuned's profile as a knob: tuned alone leaves EPP at performance, hvtune
# brings it back, through kills of either of the two.

. ./lib.sh
. ./platform.sh

command -v hvtune >/dev/null || { echo "no hvtune to test"; exit 0; }

epp=$cpu/cpufreq/policy7/energy_performance_preference
governor=$cpu/cpufreq/policy7/scaling_governor

settle() {	# a state to come back to: balanced, with EPP as many people set it
	local policy
	for policy in "$cpu"/cpufreq/policy*; do
		echo powersave >"$policy/scaling_governor" && echo balance_performance >"$policy/energy_performance_preference" ||
			fail "$policy takes no EPP"
	done
}

all_cpus() { cat "$cpu"/cpufreq/policy*/"$1" | sort -u; }
latency() { od -An -td4 -N4 /dev/cpu_dma_latency | tr -d ' '; }
set_profile() { hvtune set --yes --settle 0.2 "tuned.profile=$1" >"$LAB_OUT/set-$1.txt" 2>&1; }

# Debian's default lets tuned itself ask for 100 us whenever the load is 0.2 or more.
sed -i 's/^dynamic_tuning.*/dynamic_tuning = 0/' /etc/tuned/tuned-main.conf
systemctl start tuned || fail "tuned does not start"
tuned-adm profile balanced || fail "tuned-adm"
settle
expect "EPP before" balance_performance all_cpus energy_performance_preference

# tuned alone
tuned-adm profile throughput-performance || fail "tuned-adm"
expect "governor of throughput-performance" performance cat "$governor"
expect "EPP of throughput-performance" performance cat "$epp"
tuned-adm profile balanced || fail "tuned-adm"
expect "governor back by tuned alone" powersave all_cpus scaling_governor
expect "EPP left behind by tuned alone" performance all_cpus energy_performance_preference

# the plan asks, since nobody knows what EPP was
hvtune set --dry-run tuned.profile=powersave >"$LAB_OUT/powersave.plan" || fail "no plan"
settle

# hvtune, there and back
set_profile virtual-host || fail "$(cat "$LAB_OUT/set-virtual-host.txt")"
expect "profile" virtual-host cat /etc/tuned/active_profile
expect "governor of virtual-host" performance all_cpus scaling_governor
expect "latency request" 70 latency
hvtune status >"$LAB_OUT/status.txt"
hvtune undo >"$LAB_OUT/undo.txt" 2>&1 || fail "$(cat "$LAB_OUT/undo.txt")"
expect "profile back" balanced cat /etc/tuned/active_profile
expect "governor back" powersave all_cpus scaling_governor
expect "EPP back" balance_performance all_cpus energy_performance_preference
expect "latency request gone" 2000000000 latency

# a plain switch knows EPP from the journal
set_profile throughput-performance || fail "$(cat "$LAB_OUT/set-throughput-performance.txt")"
set_profile balanced || fail "$(cat "$LAB_OUT/set-balanced.txt")"
expect "EPP by a plain switch" balance_performance all_cpus energy_performance_preference
hvtune undo --all >"$LAB_OUT/undo-all.txt" 2>&1 || fail "$(cat "$LAB_OUT/undo-all.txt")"
expect "EPP after undo --all" balance_performance all_cpus energy_performance_preference

# off, and back
set_profile off || fail "$(cat "$LAB_OUT/set-off.txt")"
expect "no profile" "" cat /etc/tuned/active_profile
hvtune undo >"$LAB_OUT/undo-off.txt" 2>&1 || fail "$(cat "$LAB_OUT/undo-off.txt")"
expect "profile back from off" balanced cat /etc/tuned/active_profile

# hvtune is killed while tuned works
hvtune set --yes tuned.profile=throughput-performance >/dev/null 2>&1 &
for ((i = 0; i < 600; i++)); do
	tail -n 1 /var/lib/hvtune/journal | grep -q '"writing"' && break
	sleep 0.05
done
sleep 0.2
kill -9 $!
wait $! 2>/dev/null
hvtune status >"$LAB_OUT/status-killed.txt"
[ $? -eq 1 ] || fail "hvtune was not killed in its work: $(cat "$LAB_OUT/status-killed.txt")"
hvtune undo >"$LAB_OUT/undo-killed.txt" 2>&1 || fail "$(cat "$LAB_OUT/undo-killed.txt")"
expect "profile after the kill of hvtune" balanced cat /etc/tuned/active_profile
expect "EPP after the kill of hvtune" balance_performance all_cpus energy_performance_preference
expect "governor after the kill of hvtune" powersave all_cpus scaling_governor

# tuned is killed with a profile in force: its memory of what was before is gone, hvtune's is not
set_profile throughput-performance || fail "$(cat "$LAB_OUT/set-throughput-performance.txt")"
systemctl kill --signal=KILL tuned
sleep 1
hvtune set --yes tuned.profile=balanced >"$LAB_OUT/refused.txt" 2>&1
[ $? -eq 3 ] || fail "tuned does not run: $(cat "$LAB_OUT/refused.txt")"
grep -q "systemctl start tuned" "$LAB_OUT/refused.txt" || fail "$(cat "$LAB_OUT/refused.txt")"
systemctl reset-failed tuned
# Debian's default lets tuned itself ask for 100 us whenever the load is 0.2 or more.
sed -i 's/^dynamic_tuning.*/dynamic_tuning = 0/' /etc/tuned/tuned-main.conf
systemctl start tuned || fail "tuned does not start again"
hvtune undo >"$LAB_OUT/undo-tuned-killed.txt" 2>&1 || fail "$(cat "$LAB_OUT/undo-tuned-killed.txt")"
expect "profile after the kill of tuned" balanced cat /etc/tuned/active_profile
expect "governor after the kill of tuned" powersave all_cpus scaling_governor
expect "EPP after the kill of tuned" balance_performance all_cpus energy_performance_preference
expect "swappiness after the kill of tuned" 60 cat /proc/sys/vm/swappiness

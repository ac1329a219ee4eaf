# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job of a host that booted with amd_pstate=active: the driver's modes one
# after the other, and what hvtune says about each.

. ./lib.sh
. ./platform.sh

status=$cpu/amd_pstate/status
policy=$cpu/cpufreq/policy0

hidden_write() { echo "$2" >"$1"; }

expect "mode at boot" active cat $status
expect "driver" amd-pstate-epp cat $policy/scaling_driver
expect "governors" "performance powersave" cat $policy/scaling_available_governors
expect "EPP words under governor performance" performance cat $policy/energy_performance_available_preferences
hidden_write $policy/energy_performance_preference power 2>/dev/null &&
	fail "EPP could be written under governor performance"
echo "ok: EPP is busy under governor performance"
for p in "$cpu"/cpufreq/policy*; do
	echo powersave >"$p/scaling_governor"
done
echo balance_power >$policy/energy_performance_preference || fail "EPP could not be written"
expect "EPP reads back" balance_power cat $policy/energy_performance_preference
ask_hvtune active

echo passive >$status || fail "no switch to passive"
expect "mode" passive cat $status
expect "driver" amd-pstate cat $policy/scaling_driver
echo schedutil >$policy/scaling_governor || fail "no schedutil"
ask_hvtune passive

echo guided >$status || fail "no switch to guided"
expect "mode" guided cat $status
expect "driver" amd-pstate cat $policy/scaling_driver
[ ! -e $policy/energy_performance_preference ] || fail "EPP in guided mode"
ask_hvtune guided

echo active >$status || fail "no switch back to active"
expect "driver" amd-pstate-epp cat $policy/scaling_driver

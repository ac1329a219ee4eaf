# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job with the real tuned: into a profile with the governor performance and out
# of it, which leaves EPP behind, and what check says at each step.

. ./lib.sh
. ./knobs.sh

epp_of_all() { sort -u $cpu/cpufreq/policy*/energy_performance_preference; }
governor_of_all() { sort -u $cpu/cpufreq/policy*/scaling_governor; }
has_finding() {
	hvtune check --json >"$LAB_OUT/check.json" || [ $? -eq 1 ] || fail "check"
	jq -e --arg id "$1" 'any(.findings[]; .id == $id)' "$LAB_OUT/check.json" >/dev/null
}
profile() { tuned-adm "$@" || fail "tuned-adm $*"; }

echo powersave | tee $cpu/cpufreq/policy*/scaling_governor >/dev/null
echo balance_power | tee $cpu/cpufreq/policy*/energy_performance_preference >/dev/null
remember untuned
systemctl start tuned || fail "tuned does not start"

# ---- what tuned leaves ----

for way in "profile balanced" "off"; do
	profile profile balanced
	echo balance_power | tee $cpu/cpufreq/policy*/energy_performance_preference >/dev/null
	! has_finding cpufreq.epp-left-at-performance || fail "found before virtual-host"
	profile profile virtual-host
	expect "governor under virtual-host" performance governor_of_all
	expect "EPP under virtual-host" performance epp_of_all
	! has_finding cpufreq.epp-left-at-performance || fail "found under virtual-host"
	# shellcheck disable=SC2086 # two words
	profile $way
	expect "governor after virtual-host and $way" powersave governor_of_all
	expect "EPP after virtual-host and $way" performance epp_of_all
	has_finding cpufreq.epp-left-at-performance || fail "EPP that stayed is not found"
	echo "ok: EPP that stayed after virtual-host and $way is found"
done
ask_hvtune tuned-left

# ---- and how it comes back ----

hvtune_ends 0 set --yes epp=balance_power
! has_finding cpufreq.epp-left-at-performance || fail "still found"
undo
expect "EPP, undone" performance epp_of_all
systemctl stop tuned

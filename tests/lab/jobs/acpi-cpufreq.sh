# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job of a host that booted with amd_pstate=disable, as an EPYC of before
# family 1Ah does on its own: the old ACPI driver, and what hvtune says about it.

. ./lib.sh
. ./platform.sh

policy=$cpu/cpufreq/policy0

[ ! -e $cpu/amd_pstate ] || fail "amd_pstate is there"
expect "driver" acpi-cpufreq cat $policy/scaling_driver
frequencies() { xargs -n 9 <$policy/scaling_available_frequencies; }
expect "P-states" "2450000 2000000 1500000" frequencies
for governor in schedutil performance; do
	echo $governor >$policy/scaling_governor || fail "no governor $governor"
	expect "governor" $governor cat $policy/scaling_governor
done
ask_hvtune acpi-cpufreq

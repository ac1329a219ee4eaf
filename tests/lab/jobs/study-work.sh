#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the work that the studies of the lab measure: it takes as long as study-truth.sh says of the settings in force,
# with a little more or less each time, and each boot a little more or less as a whole. It prints how long that is: what
# starting it and waking it take an emulator that has a part of a core is no property of any setting.
#
# usage: study-work.sh [MILLISECONDS]	of amd_pstate=disable under governor performance (5000)

began=${EPOCHREALTIME/./}
. "${0%/*}/study-truth.sh"
look_at_settings
find_truth

# Three even draws are nearly normal: 0.5 % of standard deviation; and -0.3 to 0.3 % of this boot.
read -r boot_id </proc/sys/kernel/random/boot_id
noise=$((RANDOM % 11 + RANDOM % 11 + RANDOM % 11 - 15 + 0x${boot_id:0:4} % 7 - 3))
wanted=$((${1:-5000} * TRUE_PERMILLE * (1000 + noise) / 1000))
left=$((wanted - (${EPOCHREALTIME/./} - began)))
[ $left -gt 0 ] || left=0
printf -v left '%d.%06d' $((left / 1000000)) $((left % 1000000))
sleep "$left"
printf 'took %d.%06d s\n' $((wanted / 1000000)) $((wanted % 1000000))
# The driver counts these.
echo "lab-work: $MODE $GOVERNOR $EPP $BACKGROUND $VM $((wanted / 1000)) ms, $(((${EPOCHREALTIME/./} - began) / 1000)) ms" >/dev/kmsg

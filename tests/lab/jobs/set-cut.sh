# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job whose host loses power in the middle of a change: after the boot hvtune
# knows that it was cut short, what the reboot cleared and what it did not.

. ./lib.sh
. ./knobs.sh

case $LAB_BOOT in
1)
	remember before
	# Made so slow that the power goes between two of its writes.
	strace -f -qq -o /dev/null -e trace=pwrite64 -e inject=pwrite64:delay_enter=4000000 \
		hvtune set --yes --settle 0 service.irqbalance=enabled governor=powersave epp=power thp=never &
	for ((i = 0; i < 1200; i++)); do
		[ "$(cat $policy/scaling_governor)" != powersave ] || break
		sleep 0.05
	done
	grep -q performance $cpu/cpufreq/policy*/scaling_governor || fail "it was too quick to be cut"
	echo "cut me"
	sleep infinity
	;;
2)
	is_as before
	# What was switched for good is on the disk or not, as the cut had it; the rest the reboot cleared.
	systemctl is-enabled irqbalance
	hvtune_ends 1 status
	cat "$LAB_OUT/hvtune.out"
	grep -q 'hvtune undo' "$LAB_OUT/hvtune.out" || fail "status does not say what to do"
	# Nothing is put on top of what was cut short.
	hvtune_ends 3 set --yes swappiness=10
	hvtune_ends 0 undo --all
	cat "$LAB_OUT/hvtune.out"
	is_as before
	expect "irqbalance at the next boot" disabled systemctl is-enabled irqbalance
	hvtune_ends 0 status
	set_to governor=powersave epp=power
	all_are power $cpu/cpufreq/policy*/energy_performance_preference
	undo
	is_as before
	;;
*) fail "boot number $LAB_BOOT" ;;
esac

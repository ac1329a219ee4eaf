# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the lab's own tests: what is in the core and what in the whole, and their
# verdicts.  A test is a function test_NAME; its output is kept in NAME.log of the
# suite's directory, and each run of the machine has its files beside it.

SUITE_CORE="firmware acpi-cpufreq active hang"
SUITE_MORE="panic disk-full reboot trial-boot kernel boot-cut grub-words power-cut profile tuned nested leftovers
	vms vm-set nested-apply tuned-left set set-cut set-reboot devices study-live study"

# The hvtune to test: --hvtune, else $HVTUNE, else the one in the build directory.
find_hvtune() {
	local candidate
	for candidate in "$SUITE_HVTUNE" "${HVTUNE:-}" "$LAB/../../build/src/cli/hvtune"; do
		if [ -n "$candidate" ] && [ -x "$candidate" ] && [ -f "$candidate" ]; then
			readlink -f "$candidate"
			return
		fi
	done
}

# machine NAME [OPTIONS] JOB [FILES...]: one run, in a directory of its own; a driver of
# its own too, so that nothing of one run can reach the next.
machine() {
	local name=$1
	shift
	"$LAB/lab" run ${SUITE_HVTUNE:+--hvtune "$SUITE_HVTUNE"} --out "$SUITE_DIR/$name" "$@"
}

# ends_with WANTED COMMAND...: the command's exit status is this one.
ends_with() {
	local wanted=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" -eq "$wanted" ] || { echo "status $got, wanted $wanted"; return 1; }
}

test_firmware() { python3 -B "$LAB/firmware/test_firmware.py"; }

test_active() {
	machine active --amd-pstate active "$LAB/jobs/active.sh" "$LAB/jobs/platform.sh" &&
		replay "$SUITE_DIR/active"
}

test_acpi-cpufreq() {
	machine acpi-cpufreq --amd-pstate disable "$LAB/jobs/acpi-cpufreq.sh" "$LAB/jobs/platform.sh" &&
		replay "$SUITE_DIR/acpi-cpufreq"
}

# The time counts from the job's start, so that it is the job that hangs.
test_hang() {
	ends_with 124 machine hang --machine small --job-timeout 5 "$LAB/jobs/hang.sh" || return
	grep -qx 'hanging now' "$SUITE_DIR/hang/output" || { echo "the job had not begun"; return 1; }
	[ -s "$SUITE_DIR/hang/serial.log" ]
}

test_panic() {
	ends_with 120 machine panic --machine small "$LAB/jobs/panic.sh" &&
		grep -q 'sysrq triggered crash' "$SUITE_DIR/panic/serial.log"
}

test_disk-full() { ends_with 121 machine disk-full --machine small "$LAB/jobs/disk-full.sh"; }

test_reboot() { machine reboot --grub --timeout 600 "$LAB/jobs/reboot.sh"; }

test_trial-boot() {
	machine trial-boot --grub --panic reboot --timeout 2400 "$LAB/jobs/trial-boot.sh" \
		"$LAB/../../data/hvtune-confirm.service.in" &&
		grep -qa 'Kernel panic - not syncing' "$SUITE_DIR/trial-boot/serial.log"
}

test_kernel() {
	needs_hvtune || return
	machine kernel --machine small --grub --timeout 2400 "$LAB/jobs/kernel.sh" "$LAB/../../data/hvtune-confirm.service.in"
}

test_boot-cut() {
	machine boot-cut --machine small --grub --cut-after '^cut me' --timeout 1800 "$LAB/jobs/boot-cut.sh"
}

test_grub-words() {
	echo 'cat /proc/cmdline; grep -q " amd_pstate=passive quiet$" /proc/cmdline' >"$SUITE_DIR/grub-words.sh"
	machine grub-words --machine small --grub --amd-pstate passive --append quiet "$SUITE_DIR/grub-words.sh"
}

test_power-cut() { machine power-cut --machine small --cut-after '^cut me' --timeout 600 "$LAB/jobs/power-cut.sh"; }

test_profile() { machine profile --machine small --pm-profile 1 --prefcore on "$LAB/jobs/profile.sh"; }

test_tuned() {
	machine tuned --timeout 1800 --amd-pstate active "$LAB/jobs/tuned.sh" "$LAB/jobs/platform.sh"
}

test_nested() {
	machine nested --timeout 900 --amd-pstate active "$LAB/jobs/nested.sh" "$LAB/jobs/guest.sh" &&
		replay "$SUITE_DIR/nested"
}

# Nothing to see without hvtune.
needs_hvtune() { [ -n "$SUITE_HVTUNE" ] || { echo "no hvtune is built"; return "$LAB_SKIPPED"; }; }

test_vms() {
	needs_hvtune || return
	machine vms --timeout 1800 --amd-pstate active "$LAB/jobs/vms.sh" "$LAB/jobs/guest.sh" &&
		replay "$SUITE_DIR/vms"
}

test_vm-set() {
	needs_hvtune || return
	machine vm-set --timeout 1800 --amd-pstate active "$LAB/jobs/vm-set.sh" "$LAB/jobs/guest.sh" "$LAB/jobs/knobs.sh"
}

test_nested-apply() {
	needs_hvtune || return
	machine nested-apply --shape 1x4x2x2 --timeout 3600 --amd-pstate active "$LAB/jobs/nested-apply.sh" "$LAB/jobs/guest.sh" \
		"$LAB/jobs/knobs.sh"
}

test_tuned-left() {
	needs_hvtune || return
	machine tuned-left --timeout 1800 --amd-pstate active "$LAB/jobs/tuned-left.sh" "$LAB/jobs/knobs.sh" &&
		replay "$SUITE_DIR/tuned-left"
}

test_set() {
	needs_hvtune || return
	machine set --timeout 1800 --amd-pstate active "$LAB/jobs/set.sh" "$LAB/jobs/knobs.sh"
}

test_set-cut() {
	needs_hvtune || return
	machine set-cut --timeout 1800 --amd-pstate active --cut-after '^cut me' "$LAB/jobs/set-cut.sh" "$LAB/jobs/knobs.sh"
}

test_set-reboot() {
	needs_hvtune || return
	machine set-reboot --timeout 1800 --grub --amd-pstate active "$LAB/jobs/set-reboot.sh" "$LAB/jobs/knobs.sh"
}

test_study-live() {
	needs_hvtune || return
	machine study-live --shape 1x2x1x2 --nodes 1 --mem 3072 --bmc off --amd-pstate active --timeout 2400 --cuts 1:lab-work \
		"$LAB"/jobs/study-live.{sh,yaml} "$LAB"/jobs/study-{lib,truth,work,meter}.sh "$LAB/jobs/knobs.sh"
}

test_study() {
	needs_hvtune || return
	machine study --grub --shape 1x2x1x2 --nodes 1 --mem 3072 --bmc off --amd-pstate passive --timeout 10800 \
		--cuts 3:lab-work "$LAB"/jobs/study.{sh,yaml} "$LAB"/jobs/study-{lib,truth,work,meter}.sh \
		"$LAB"/jobs/{knobs,guest}.sh
}

test_devices() {
	needs_hvtune || return
	machine devices --timeout 1200 --amd-pstate active "$LAB/jobs/devices.sh" "$LAB/jobs/knobs.sh"
}

# A driver that is killed outright takes the emulator with it, and one that is told to
# end removes its directory too.
test_leftovers() {
	local signal driver child i tmp=$SUITE_DIR/leftovers
	mkdir -p "$tmp"
	for signal in KILL TERM; do
		TMPDIR=$tmp "$LAB/lab" run --machine small "$LAB/jobs/hang.sh" &
		driver=$!
		for ((i = 0; i < 100; i++)); do
			child=$(pgrep -f "qemu-system-x86_64 .*$tmp/") && break
			sleep 0.1
		done
		[ -n "$child" ] || { echo "no emulator started"; return 1; }
		kill "-$signal" "$driver"
		wait "$driver"
		for ((i = 0; i < 50; i++)); do
			kill -0 "$child" 2>/dev/null || break
			sleep 0.1
		done
		! kill -0 "$child" 2>/dev/null || { echo "the emulator outlived SIG$signal"; return 1; }
		[ "$signal" = KILL ] || [ -z "$(find "$tmp" -mindepth 1)" ] || { echo "files left after SIG$signal"; return 1; }
		rm -rf "${tmp:?}"/*
	done
}

run_test() {	# NAME
	local name=$1 start=$SECONDS status=0
	("test_$name") >"$SUITE_DIR/$name.log" 2>&1 </dev/null || status=$?
	case $status in
	0)
		echo "PASS $name ($((SECONDS - start)) s)"
		PASSED=$((PASSED + 1))
		;;
	"$LAB_SKIPPED")
		echo "SKIP $name: $(tail -n 1 "$SUITE_DIR/$name.log")"
		SKIPPED=$((SKIPPED + 1))
		;;
	*)
		echo "FAIL $name: $(tail -n 1 "$SUITE_DIR/$name.log"), log at $SUITE_DIR/$name.log"
		grep -e '^FAIL' "$SUITE_DIR/$name.log" || tail -n 40 "$SUITE_DIR/$name.log"
		FAILED=$((FAILED + 1))
		;;
	esac
}

run_suite() {	# [--hvtune BIN] [--out DIR] [core|all] [NAME...]
	local reason name tests=''
	SUITE_HVTUNE='' SUITE_DIR=''
	while [ $# -gt 0 ]; do
		case $1 in
		--hvtune) SUITE_HVTUNE=$2; shift 2 ;;
		--out) SUITE_DIR=$2; shift 2 ;;
		core) tests="$tests $SUITE_CORE"; shift ;;
		all) tests="$tests $SUITE_CORE $SUITE_MORE"; shift ;;
		*)
			declare -F "test_$1" >/dev/null || die "no test is called $1: $SUITE_CORE $SUITE_MORE"
			tests="$tests $1"
			shift
			;;
		esac
	done
	tests=${tests:-$SUITE_CORE $SUITE_MORE}
	reason=$(why_not) || {
		for name in $tests; do
			echo "SKIP $name: $reason"
		done
		echo "0 passed, 0 failed, $(wc -w <<<"$tests") skipped"
		exit "$LAB_SKIPPED"
	}
	SUITE_HVTUNE=$(find_hvtune)
	[ -n "$SUITE_HVTUNE" ] || say "no hvtune is built: its parts of the tests are left out"
	if [ -z "$SUITE_DIR" ]; then
		SUITE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/hvtune-lab-suite.XXXXXX")
		at_exit '[ "$FAILED" -gt 0 ] || rm -rf "$SUITE_DIR"'
	fi
	mkdir -p "$SUITE_DIR"
	PASSED=0 FAILED=0 SKIPPED=0
	ensure_image
	for name in $tests; do
		run_test "$name"
	done
	echo "$PASSED passed, $FAILED failed, $SKIPPED skipped"
	[ "$FAILED" -eq 0 ] || exit 1
	[ "$PASSED" -gt 0 ] || exit "$LAB_SKIPPED"
	exit 0
}

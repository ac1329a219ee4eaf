# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns one run: a directory with the disk, the share and the serial log; the emulator
# as a child that cannot outlive the driver; and the watch over it until there is a verdict.
#
# Exit status of a run: the job's own, or
#   120  the kernel panicked          123  the job wrote too much
#   121  the job filled the disk      124  the time was up
#   122  the host went down (or the emulator ended) without a verdict

RUN_TIMEOUT=900
RUN_JOB_TIMEOUT=''
RUN_OUT=''
RUN_KEEP=off
RUN_CUT=''
RUN_CUTS=0 RUN_CUTS_REGEX='' RUN_SEED=''
RUN_PANIC=fail
RUN_MAX_MIB=256
RUN_HVTUNE=''
RUN_QUIET=off

run_usage() {
	cat <<-'TEXT'
	run options:
	  --hvtune BIN          the hvtune to test: it is "hvtune" on the job's PATH
	  --out DIR             where output, status, serial.log and the job's files go
	  --timeout SECONDS     for the whole run, all its boots (900)
	  --job-timeout SECONDS from the first start of the job
	  --keep                keep the run's directory, disk included, and print its path
	  --disk DIR            go on with the disk of a run that was kept
	  --cut-after WHAT      lose power once: after so many seconds, or when the serial log or
	                        the job's output matches this extended regular expression; then
	                        boot again
	  --cuts COUNT:REGEX    lose power so many times, each at a moment that is drawn: after 1 to 6
	                        more lines that match, and then 0 to 25 seconds
	  --seed NUMBER         of that drawing; else one is drawn, and told
	  --panic fail|reboot   what a kernel panic means (fail); reboot: the host is expected to
	                        reboot by itself (panic=SECONDS) and the run goes on
	  --max-out MIB         how much the job may hand out (256)
	  --quiet               do not print the job's output
	TEXT
}

run_option() {	# OPTION [VALUE]
	RUN_SHIFT=2
	case $1 in
	--hvtune) RUN_HVTUNE=$2 ;;
	--out) RUN_OUT=$2 ;;
	--timeout) RUN_TIMEOUT=$2 ;;
	--job-timeout) RUN_JOB_TIMEOUT=$2 ;;
	--disk) RUN_DISK=$2 ;;
	--cut-after) RUN_CUT=$2 ;;
	--cuts)
		[[ $2 =~ ^([0-9]+):(.+)$ ]] || die "--cuts wants COUNT:REGEX, not $2"
		RUN_CUTS=${BASH_REMATCH[1]} RUN_CUTS_REGEX=${BASH_REMATCH[2]}
		;;
	--seed) RUN_SEED=$2 ;;
	--panic) RUN_PANIC=$2 ;;
	--max-out) RUN_MAX_MIB=$2 ;;
	--keep) RUN_KEEP=on RUN_SHIFT=1 ;;
	--quiet) RUN_QUIET=on RUN_SHIFT=1 ;;
	*) RUN_SHIFT=0 ;;
	esac
}

# A new run directory in RUN_DIR, with firmware and disk.
prepare_run() {
	RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/hvtune-lab.XXXXXX")
	RUN_REMOVE=yes
	at_exit '[ "$RUN_REMOVE" != yes ] || rm -rf "$RUN_DIR"'
	mkdir -p "$RUN_DIR/share/in/bin" "$RUN_DIR/share/out"
	echo 0 >"$RUN_DIR/share/boot"
	: >"$RUN_DIR/share/output"
	: >"$RUN_DIR/serial.log"
	check_machine
	make_firmware "$RUN_DIR/firmware" || die "the firmware could not be made"
	if [ -n "${RUN_DISK:-}" ]; then
		DISK_FORMAT=qcow2
		[ -e "$RUN_DISK/disk.qcow2" ] || DISK_FORMAT=raw
		cp --sparse=always --reflink=auto "$RUN_DISK/disk.$DISK_FORMAT" "$RUN_DIR/"
	else
		make_disk "$RUN_DIR" || die "the disk could not be made"
	fi
}

# Starts the emulator; its process is EMULATOR.  It dies with the driver, even if that is
# killed, and has a session of its own, so that it does not get the driver's Ctrl-C.
start_emulator() {
	setsid nice -n "${HVTUNE_LAB_NICE:-5}" setpriv --pdeathsig KILL "$0" --emulator "${MACHINE[@]}" "$@" \
		</dev/null >>"$RUN_DIR/emulator.log" 2>&1 8>&- 9>&- &
	EMULATOR=$!
	at_exit stop_emulator
}

stop_emulator() {
	[ -n "${EMULATOR:-}" ] || return 0
	kill -KILL "$EMULATOR" 2>/dev/null
	wait "$EMULATOR" 2>/dev/null
	EMULATOR=''
}

# How many lines of the serial log and the job's output match.
matching_lines() { cat "$RUN_DIR/serial.log" "$RUN_DIR/share/output" | grep -caE -e "$1"; }

# Draws the moment of the next of --cuts: RUN_CUT_LINE and RUN_CUT_WAIT.
draw_cut() {
	RUN_CUT_LINE=$(($(matching_lines "$RUN_CUTS_REGEX") + 1 + RANDOM % 6)) RUN_CUT_WAIT=$((RANDOM % 26)) RUN_CUT_FROM=''
}

drawn_cut_is_due() {
	if [ -z "$RUN_CUT_FROM" ]; then
		[ "$(matching_lines "$RUN_CUTS_REGEX")" -ge "$RUN_CUT_LINE" ] || return 1
		RUN_CUT_FROM=$SECONDS
	fi
	[ $((SECONDS - RUN_CUT_FROM)) -ge "$RUN_CUT_WAIT" ] || return 1
	RUN_CUTS=$((RUN_CUTS - 1))
	draw_cut
}

# Forgets the moment once it has come.
power_is_to_be_cut() {
	if [ "$RUN_CUTS" -gt 0 ]; then
		drawn_cut_is_due
		return
	fi
	[ -n "$RUN_CUT" ] || return 1
	if [[ $RUN_CUT =~ ^[0-9]+$ ]]; then
		[ $((SECONDS - RUN_START)) -ge "$RUN_CUT" ] || return 1
	else
		matching_lines "$RUN_CUT" >/dev/null || return 1
	fi
	RUN_CUT=''
}

# Waits for the verdict, which goes to RUN_VERDICT; a text to RUN_WHY when it is not the job's.
watch_run() {
	local share=$RUN_DIR/share size job_start=''
	RUN_START=$SECONDS RUN_WHY=''
	if [ "$RUN_CUTS" -gt 0 ]; then
		RUN_SEED=${RUN_SEED:-$RANDOM}
		RANDOM=$RUN_SEED
		say "$RUN_CUTS power cuts, drawn with --seed $RUN_SEED"
		draw_cut
	fi
	while :; do
		sleep 0.5
		if [ -e "$share/status" ]; then
			RUN_VERDICT=$(cat "$share/status")
			if [ "$RUN_VERDICT" = disk-full ]; then
				RUN_VERDICT=121 RUN_WHY="the job filled the disk"
			fi
			return
		fi
		if [ "$RUN_PANIC" = fail ] && grep -qa -e 'Kernel panic - not syncing' "$RUN_DIR/serial.log"; then
			sleep 1		# for the rest of its message
			RUN_VERDICT=120 RUN_WHY="the kernel panicked"
			return
		fi
		if power_is_to_be_cut; then
			say "power cut after $((SECONDS - RUN_START)) s"
			echo "--- lab: power cut ---" >>"$RUN_DIR/serial.log"
			stop_emulator
			start_emulator -chardev "file,id=serial,path=$RUN_DIR/serial.log,append=on" -serial chardev:serial
			continue
		fi
		if ! kill -0 "$EMULATOR" 2>/dev/null; then
			[ ! -e "$share/status" ] || continue
			RUN_VERDICT=122 RUN_WHY="the host went down without a verdict"
			return
		fi
		size=$(du -sm "$share" | cut -f1)
		if [ "$size" -gt $((RUN_MAX_MIB + RUN_IN_MIB)) ]; then
			RUN_VERDICT=123 RUN_WHY="the job handed out more than $RUN_MAX_MIB MiB"
			return
		fi
		if [ -n "$RUN_JOB_TIMEOUT" ] && [ "$(cat "$share/boot")" != 0 ]; then
			job_start=${job_start:-$SECONDS}
			if [ $((SECONDS - job_start)) -ge "$RUN_JOB_TIMEOUT" ]; then
				RUN_VERDICT=124 RUN_WHY="the job was not done after $RUN_JOB_TIMEOUT s"
				return
			fi
		fi
		if [ $((SECONDS - RUN_START)) -ge "$RUN_TIMEOUT" ]; then
			RUN_VERDICT=124 RUN_WHY="no verdict within $RUN_TIMEOUT s"
			return
		fi
	done
}

# A disk that is kept must be whole: the host powers off by itself after the verdict.
let_power_off() {
	local i
	for ((i = 0; i < 150; i++)); do
		kill -0 "$EMULATOR" 2>/dev/null || return 0
		sleep 0.2
	done
	say "the host did not power off; its disk may need a check"
}

hand_out() {
	[ -n "$RUN_OUT" ] || return 0
	mkdir -p "$RUN_OUT"
	cp -r --no-preserve=ownership "$RUN_DIR/share/out/." "$RUN_OUT/"
	cp "$RUN_DIR/share/output" "$RUN_DIR/serial.log" "$RUN_OUT/"
	echo "$RUN_VERDICT" >"$RUN_OUT/status"
}

# When it was not the job that gave the verdict, what the host and the emulator said last.
show_last_words() {
	say "$RUN_WHY (status $RUN_VERDICT); the end of its serial log:"
	tail -n 25 "$RUN_DIR/serial.log" | tr -d '\r' | sed 's/^/    /' >&2
	if [ -s "$RUN_DIR/emulator.log" ]; then
		say "the emulator said:"
		tail -n 5 "$RUN_DIR/emulator.log" | sed 's/^/    /' >&2
	fi
}

keep_serial_log() {
	if [ -n "$RUN_OUT" ]; then
		say "serial log: $RUN_OUT/serial.log"
	else
		RUN_REMOVE=no
		[ "$RUN_KEEP" = on ] || rm -f "$RUN_DIR"/disk.*
		say "serial log: $RUN_DIR/serial.log"
	fi
}

run_job() {	# JOB [FILES...]
	local job=$1
	shift
	[ -r "$job" ] || die "no job at $job"
	[ -z "$RUN_HVTUNE" ] || [ -x "$RUN_HVTUNE" ] || die "no program at $RUN_HVTUNE"
	ensure_image
	prepare_run
	cp "$job" "$RUN_DIR/share/in/job.sh"
	cp "$LAB/jobs/lib.sh" "$RUN_DIR/share/in/lib.sh"
	[ $# -eq 0 ] || cp -r "$@" "$RUN_DIR/share/in/"
	[ -z "$RUN_HVTUNE" ] || cp "$RUN_HVTUNE" "$RUN_DIR/share/in/bin/hvtune"
	RUN_IN_MIB=$(du -sm "$RUN_DIR/share/in" | cut -f1)
	machine_arguments "$RUN_DIR"
	start_emulator -chardev "file,id=serial,path=$RUN_DIR/serial.log,append=on" -serial chardev:serial
	watch_run
	[ "$RUN_KEEP" = off ] || [ -n "$RUN_WHY" ] || let_power_off
	stop_emulator
	hand_out
	[ "$RUN_QUIET" = on ] || cat "$RUN_DIR/share/output"
	[ -z "$RUN_WHY" ] || show_last_words
	[ "$RUN_VERDICT" -eq 0 ] || keep_serial_log
	if [ "$RUN_KEEP" = on ]; then
		RUN_REMOVE=no
		say "kept: $RUN_DIR"
	fi
	say "$(basename "$job"): status $RUN_VERDICT after $((SECONDS - RUN_START)) s, $(cat "$RUN_DIR/share/boot") boot(s)"
	return "$RUN_VERDICT"
}

run_shell() {
	ensure_image
	prepare_run
	[ -z "$RUN_HVTUNE" ] || cp "$RUN_HVTUNE" "$RUN_DIR/share/in/bin/hvtune"
	machine_arguments "$RUN_DIR"
	say "root shell on the console; Ctrl-A X ends the machine; /run/lab is $RUN_DIR/share"
	(emulator qemu-system-x86_64 "${MACHINE[@]}" -chardev stdio,id=serial,mux=on,signal=off,logfile="$RUN_DIR/serial.log" \
		-serial chardev:serial -mon chardev=serial)
}

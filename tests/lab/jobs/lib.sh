# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what jobs share.  A job ends with status 1 at the first expectation not met.

fail() { echo "FAIL: $*"; exit 1; }

# expect WHAT WANTED COMMAND...: the command's output is this text.
expect() {
	local what=$1 wanted=$2 got
	shift 2
	got=$("$@" 2>&1)
	[ "$got" = "$wanted" ] || fail "$what: wanted '$wanted', got '$got'"
	echo "ok: $what: $got"
}

# set_power MILLIWATTS: what the power meter is to show from the next second on.  The
# word lies where firmware/tables.py puts it.  Written, not mapped: once the meter was read,
# the kernel holds the page as cached memory and refuses the uncached mapping of devmem.
set_power() {
	local bytes
	bytes=$(printf '\\%03o' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)))
	# shellcheck disable=SC2059 # the bytes are the format
	printf "$bytes" | dd of=/dev/mem bs=4 seek=$((0x3f008000 / 4)) conv=notrunc status=none ||
		fail "the power meter's word cannot be written"
	sleep 1.1
}

# ask_hvtune NAME: what hvtune says of the host as it is now, and a capture of it, so
# that the driver can ask again outside.  Does nothing when there is no hvtune.
ask_hvtune() {
	command -v hvtune >/dev/null || return 0
	local name=$1
	hvtune check >"$LAB_OUT/$name.check" 2>"$LAB_OUT/$name.check.err" || [ $? -eq 1 ] ||
		fail "hvtune check in $name: status $?"
	hvtune show >"$LAB_OUT/$name.show" 2>"$LAB_OUT/$name.show.err" ||
		fail "hvtune show in $name: status $?"
	hvtune capture -o "$LAB_OUT/$name.tar.xz" >"$LAB_OUT/$name.capture.err" 2>&1 ||
		fail "hvtune capture in $name: status $?"
	echo "ok: hvtune check, show, capture in $name"
}

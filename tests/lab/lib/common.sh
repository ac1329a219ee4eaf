# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns what every part of the lab's driver needs: messages, phases with their
# times, the cleaning up at exit, and the answer to "can this machine run it?".

# Debian suites: of the host in the lab (the libraries that hvtune is built with),
# of its kernel (6.12, the oldest with all of amd_pstate that hvtune knows), and of the
# emulator (QEMU 10: the 7.2 of bookworm makes a 6.12 kernel oops with one thread per CPU).
LAB_SUITE=bookworm
LAB_TOOLS_SUITE=trixie
LAB_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
LAB_CACHE=${HVTUNE_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hvtune-lab}

LAB_SKIPPED=77	# exit status: this machine cannot, as automake and meson have it

say() { printf 'lab: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

# Runs at exit, last in first out.
LAB_CLEANUP=()
at_exit() { LAB_CLEANUP=("$1" "${LAB_CLEANUP[@]}"); }
run_cleanup() {
	local status=$? command
	trap - EXIT
	for command in "${LAB_CLEANUP[@]}"; do
		eval "$command" || true
	done
	exit "$status"
}
trap run_cleanup EXIT
# A signal ends the script, and the end cleans up.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# phase TEXT COMMAND...: say what is done and how long it took.
phase() {
	local text=$1 start=$SECONDS
	shift
	"$@" || return
	say "$text: $((SECONDS - start)) s"
}

# The mirror and the security mirror that apt here uses, in MIRROR and SECURITY_MIRROR.
# The names are taken from the machine, so that none is written down in the repository.
find_mirrors() {
	local release uri targets
	targets=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sort -u)
	MIRROR='' SECURITY_MIRROR=''
	while read -r release uri; do
		case $release in
		bookworm | trixie | forky | sid | stable | testing | unstable) MIRROR=${MIRROR:-$uri} ;;
		*-security) SECURITY_MIRROR=${SECURITY_MIRROR:-$uri} ;;
		esac
	done <<<"$targets"
	[ -n "$MIRROR" ]
}

# Prints why this machine cannot run the lab, and fails; prints nothing when it can.
why_not() {
	local missing=() tool memory_kib
	[ "$(uname -s)/$(uname -m)" = Linux/x86_64 ] || { echo "it is not an x86-64 Linux machine"; return 1; }
	for tool in python3 as ld gcc setpriv flock; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	memory_kib=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
	[ "${memory_kib:-0}" -ge 3145728 ] || { echo "less than 3 GiB of memory are available"; return 1; }
	if ! image_ready; then
		[ "$(id -u)" -eq 0 ] || { echo "there is no image yet, and building one needs root"; return 1; }
		for tool in mmdebstrap mke2fs apt-get; do
			command -v "$tool" >/dev/null || missing+=("$tool")
		done
		[ -e "$LAB_KEYRING" ] || missing+=("debian-archive-keyring")
		[ ${#missing[@]} -gt 0 ] || find_mirrors || { echo "apt here has no Debian mirror to build the image from"; return 1; }
	fi
	[ ${#missing[@]} -eq 0 ] || { echo "missing: ${missing[*]} (docs/lab.md names the packages)"; return 1; }
}

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the comparison of what hvtune said inside with what it says outside about a
# capture from there.

# Leaves out what moved between the two looks (time, counts, free memory) and what a
# capture hides on purpose (UUIDs, the names of the guests that jobs start).
steady() {
	sed -E -e '/^ *(Up for|Free|Available|In use|Cached)\b/d' \
		-e 's/[0-9.]+ [KMGT]?i?B free of/N free of/' \
		-e 's/entered [0-9]+ times?/entered N times/' \
		-e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/' \
		-e 's/\<(pinned|plain|web|vm[0-9a-f]{6})\>/VM/g' "$@" |
		# A count of another length breaks its line elsewhere.
		tr -s ' \n' '\n'
}

# replay DIRECTORY: every capture in it gives the answers that stand beside it.
replay() {
	local capture name verb compared=0
	[ -n "$SUITE_HVTUNE" ] || return 0
	for capture in "$1"/*.tar.xz; do
		[ -e "$capture" ] || continue
		name=${capture%.tar.xz}
		for verb in check show; do
			LC_ALL=C.UTF-8 "$SUITE_HVTUNE" "$verb" --host "$capture" >"$name.$verb.outside" 2>&1 || [ $? -eq 1 ] ||
				{ echo "hvtune $verb of $(basename "$capture") failed"; return 1; }
			if ! diff <(steady "$name.$verb") <(steady "$name.$verb.outside") >"$name.$verb.diff"; then
				cat "$name.$verb.diff"
				echo "hvtune $verb of $(basename "$capture") differs outside"
				return 1
			fi
			compared=$((compared + 1))
		done
	done
	[ $compared -gt 0 ] || { echo "no capture to compare"; return 1; }
	echo "$compared answers are the same outside"
}

#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the service that stands for the hardware behind the lab's power meter: it writes what the host draws under its
# settings at work where the meter's firmware would put it (set_power in lib.sh tells how). It does not fall between two
# runs: the meter is read a second late, which would be a fifth of runs as short as these.

. "${0%/*}/study-truth.sh"
last=''
while :; do
	look_at_settings
	find_truth
	milliwatts=$TRUE_LOAD_MW
	if [ "$milliwatts" != "$last" ]; then
		printf -v bytes '\\x%02x' $((milliwatts & 255)) $((milliwatts >> 8 & 255)) \
			$((milliwatts >> 16 & 255)) $((milliwatts >> 24 & 255))
		# shellcheck disable=SC2059 # the bytes are the format
		printf "$bytes" | dd of=/dev/mem bs=4 seek=$((0x3f008000 / 4)) conv=notrunc status=none && last=$milliwatts
	fi
	sleep 0.2
done

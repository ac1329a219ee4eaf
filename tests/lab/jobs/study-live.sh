# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job with a study of tuned's profiles and EPP on the running host: killed by a power cut and taken back, gone
# on with, and its answer beside what was fed in.

. ./lib.sh
. ./study-lib.sh

case $LAB_BOOT in
1)
	prepare_host
	remember_host
	hvtune_ends 0 study check study-live.yaml
	cat "$LAB_OUT/hvtune.out"
	sync
	hvtune study run --yes study-live.yaml
	fail "the study ended before the power went: status $?"
	;;
2)
	hvtune status
	hvtune_ends 0 undo --all
	host_is_as_before
	hvtune_ends 0 study resume --yes
	cat "$LAB_OUT/hvtune.out"
	host_is_as_before
	answers_are time "setting=virtual-host" energy "setting=balanced-power"
	;;
*) fail "boot number $LAB_BOOT" ;;
esac

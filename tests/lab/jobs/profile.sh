# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Owns the job of a host whose firmware says "desktop": with no word on the command
# line amd_pstate loads in its default mode, which it does not on a server.

. ./lib.sh

expect "platform profile" 1 cat /sys/firmware/acpi/pm_profile
expect "mode" active cat /sys/devices/system/cpu/amd_pstate/status
expect "preferred cores" enabled cat /sys/devices/system/cpu/amd_pstate/prefcore

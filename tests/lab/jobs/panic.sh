# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Owns the job that takes the kernel down: the driver has to see it on the serial line.
echo c >/proc/sysrq-trigger
sleep infinity

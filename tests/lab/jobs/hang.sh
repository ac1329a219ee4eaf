# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Owns the job that never ends: the driver's time limit has to end it.
echo "hanging now"
sleep infinity

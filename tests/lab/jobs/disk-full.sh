# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Owns the job that fills the disk and does not notice.
fallocate -l 20G /var/tmp/all-of-it 2>/dev/null
fallocate -l "$(($(stat -f -c '%a * %S' /)))" /var/tmp/rest
dd if=/dev/zero of=/var/tmp/more bs=64k 2>/dev/null
exit 0

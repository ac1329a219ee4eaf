/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of guests' kernel command lines (knob_guest.h). Legal values:
 * Documentation/admin-guide/kernel-parameters.txt of Linux.
 */
#include "knob_boot_knob.h"
#include "knob_guest.h"
#include "knob_table.h"

#define FAMILY KNOB_GUEST_FAMILY

#define GUEST_KNOB                                                                                                     \
	.scope = KNOB_GUEST, .unit = KNOB_OF_NAMES, .actuator = &knob_guest_word, .expand = knob_guest_expand,         \
	.judge = knob_guest_judge, .rank = KNOB_RANK_BOOT, .after = "a reboot of the guest", .moves = FAMILY "files"

static const struct knob mitigations = {
    .name = FAMILY "mitigations",
    .summary = "mitigations of the CPU's vulnerabilities in a guest",
    .value = "auto|auto,nosmt|off|absent",
    .words = "auto auto,nosmt off absent",
    .hole = "off",
    .hurts = "off leaves processes of the guest able to read each other's memory and its kernel's",
    GUEST_KNOB,
};

static const struct knob any = {
    .name = FAMILY "*",
    .summary = "any other parameter of a guest's kernel: a value, present for a bare word, or absent",
    .value = "VALUE|present|absent",
    .members = "guest.idle@web1, guest.transparent_hugepage@web1",
    .hurts = "a line that the guest cannot boot with is mended at its console",
    .check = knob_boot_check_value,
    GUEST_KNOB,
};

const struct knob *const knob_table_guest[] = {&knob_guest_files, &mitigations, &any, NULL};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the knobs of daemons. */
#include "knob_table.h"
#include "knob_tuned.h"

static const struct knob tuned_profile = {
    .name = "tuned.profile",
    .summary = "active profile of tuned",
    .value = "NAME, auto (what tuned recommends) or off",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_HOST,
    .actuator = &knob_tuned_actuator,
    .expand = knob_tuned_expand,
    .rank = KNOB_RANK_DAEMON,
    .moves = KNOB_TUNED_MOVES,
    .in_steps = true,
    .check = knob_tuned_check,
    .follow = knob_tuned_follow,
};

const struct knob *const knob_table_daemon[] = {
    &tuned_profile,
    NULL,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune place --apply`: the placement of the plan as a change of this machine's VMs. */
#ifndef HVTUNE_PLACE_APPLY_H
#define HVTUNE_PLACE_APPLY_H

#include "place_input.h"
#include "report_place.h"

/* Do the options go together? 0, or EXIT_USAGE after a line; with and without --apply. */
int place_apply_check(const struct cli *cli);

/* The first VM that is to be placed and is Proxmox's, which hvtune does not change; -1: none. */
int place_apply_foreign(const struct place_inputs *inputs, const struct report_place *report);

/*
 * Show what would be written, ask, apply and tell, after the plan itself was shown. `json` is the plan's, or NULL for
 * text. An exit code.
 */
int place_apply(const struct cli *cli, const struct place_inputs *inputs, const struct report_place *report,
		json_t *json);

#endif

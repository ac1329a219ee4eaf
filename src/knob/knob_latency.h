/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the latency hold: a small unit of systemd that runs `hvtune hold-latency N`, which holds /dev/cpu_dma_latency
 * open with that value, because the kernel forgets it when the file is closed (kernel/power/qos.c). A unit in /run is
 * gone after a reboot; one in /etc is enabled and comes back.
 */
#ifndef HVTUNE_KNOB_LATENCY_H
#define HVTUNE_KNOB_LATENCY_H

#include "knob_plan.h"

#define KNOB_LATENCY_RUNTIME "/run/systemd/system/hvtune-latency.service"
#define KNOB_LATENCY_LASTING "/etc/systemd/system/hvtune-latency-boot.service"

extern const struct knob_actuator knob_latency_actuator; /* `where` is the path of the unit */

/* Which idle states a limit shuts out here: see struct knob. */
int knob_latency_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		       struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the CPUs that slices of systemd may use (AllowedCPUs=, control groups v2): a drop-in of hvtune's own for each
 * slice, in /run until the reboot or in /etc for good. The drop-in notes what held without it, so that taking it back
 * takes it away. Source: systemd.resource-control(5).
 */
#ifndef HVTUNE_KNOB_SLICE_H
#define HVTUNE_KNOB_SLICE_H

#include "knob.h"

/* systemd reads drop-ins of all directories in the order of their names: the one in /run has the last word. */
#define KNOB_SLICE_RUNTIME "/run/systemd/system/*.d/91-hvtune.conf"
#define KNOB_SLICE_LASTING "/etc/systemd/system/*.d/90-hvtune.conf"

extern const struct knob_actuator knob_slice_actuator; /* `where` is the path of the drop-in */

/* Expand and check; see struct knob. */
int knob_slice_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err);
int knob_slice_check(struct knob_machine *machine, const struct knob_point *point, struct err *err);

#endif

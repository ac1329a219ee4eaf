/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns services as knobs, "service.NAME". */
#ifndef HVTUNE_KNOB_SERVICE_H
#define HVTUNE_KNOB_SERVICE_H

#include "knob.h"

extern const struct knob_actuator knob_service_actuator; /* `where` is the unit's name */

/* Expand and check; see struct knob. */
int knob_service_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			struct knob_points *points, struct err *err);
int knob_service_check(struct knob_machine *machine, const struct knob_point *point, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns asking systemd about units and telling it what to do with them, over D-Bus. Source: org.freedesktop.systemd1(5).
 */
#ifndef HVTUNE_KNOB_SYSTEMD_H
#define HVTUNE_KNOB_SYSTEMD_H

#include "knob.h"

struct systemd_unit {
	const char *name;   /* "irqbalance.service" */
	const char *path;   /* its object on the bus */
	bool running;	    /* active, or on its way there */
	const char *enable; /* what systemctl is-enabled says: "enabled", "disabled", "static", "masked"... */
};

/* A unit as it is now; texts in the machine's arena. -ENOENT: there is no such unit. */
int knob_unit_read(struct knob_machine *machine, const char *name, struct systemd_unit *ret, struct err *err);

/* A property of a unit on one of its interfaces ("Slice", "Service", "Unit"), flattened with blanks between its parts.
 */
int knob_unit_property(struct knob_machine *machine, const struct systemd_unit *unit, const char *interface,
		       const char *name, const char **ret, struct err *err);

/*
 * Start, restart or stop a unit and wait for the end of the job. -EPROTO when the unit failed, with systemd's word for
 * it; -ETIMEDOUT after five minutes.
 */
int knob_unit_start(struct knob_machine *machine, const char *name, struct err *err);
int knob_unit_restart(struct knob_machine *machine, const char *name, struct err *err);
int knob_unit_stop(struct knob_machine *machine, const char *name, struct err *err);

/* Bring its enablement from one of "enabled", "disabled" and "masked" to another. */
int knob_unit_enable(struct knob_machine *machine, const char *name, const char *from, const char *to, struct err *err);

/* This program's file, in a form that a unit takes as it is, in the machine's arena. -EINVAL: it has none. */
int knob_unit_program(struct knob_machine *machine, const char **ret, struct err *err);

/* Let systemd read its files anew: after units and drop-ins were written. */
int knob_units_reload(struct knob_machine *machine, struct err *err);

#endif

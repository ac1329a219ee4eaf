/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the connection to the bus that the knobs of one machine share. */
#ifndef HVTUNE_KNOB_BUS_H
#define HVTUNE_KNOB_BUS_H

#include "knob.h"
#include "sys_bus.h"

/* The bus of the machine, opened at the first call; machine->bus keeps it. Errors are those of sys_bus_open(). */
int knob_bus(struct knob_machine *machine, struct sys_bus **ret, struct err *err);

#endif

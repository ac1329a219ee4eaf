/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns opening the bus of a machine when the first knob needs it. */
#include "knob_bus.h"

int knob_bus(struct knob_machine *machine, struct sys_bus **ret, struct err *err)
{
	int r = machine->bus ? 0 : sys_bus_open(machine->writer, machine->bus_address, &machine->bus, err);

	if (r == 0)
		*ret = machine->bus;
	return r;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns which sources of power and energy the host has. Reading them over time is the business of src/meter.
 */
#ifndef HVTUNE_HOST_POWER_H
#define HVTUNE_HOST_POWER_H

#include "fact.h"

struct host;
struct host_rows;

struct power_source {
	const char *kind;     /* "powercap", "perf", "hwmon", "hsmp", "ipmi" */
	const char *name;     /* "package-0", "power_meter" */
	const char *boundary; /* "package", "socket", "board", "core" */
	int package;	      /* physical package id of a powercap zone by its name, or -1 */
	bool duplicate;	      /* another zone of the same package stands before it (kernels about 6.9 to 6.11) */
	struct fact usable;   /* switch: readable now; unreadable says what it takes (root); ->source is the file */
};

struct host_power {
	struct power_source *sources; /* energy or power only; temperature sensors are not among them */
	int count;
	bool looked;		 /* the places are there to be looked at: a tree may hold no /sys/class at all */
	struct fact energy;	 /* switch: is there any source; absent with a note: power is unknown here, not 0 W */
	struct fact temperature; /* text: hwmon names that give temperatures ("k10temp") */
};

void host_power_read(struct host *host);
void host_power_rows(const struct host *host, struct host_rows *rows);

#endif

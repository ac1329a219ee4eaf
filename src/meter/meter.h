/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a host can be measured with: sources of energy, power and temperature, each found and read by a small
 * driver, and what a reading can be. Everything of the host is read through its door (sys.h), nothing is written.
 *
 * A reading is a value, absent, unreadable (with the reason) or implausible (with the reason). It is never a silent
 * zero: a machine that runs draws power, so 0 W and a counter of 0 are implausible.
 */
#ifndef HVTUNE_METER_H
#define HVTUNE_METER_H

#include "arena.h"
#include "meter_counter.h"
#include "sys.h"

enum meter_state { METER_VALUE, METER_ABSENT, METER_UNREADABLE, METER_IMPLAUSIBLE };

enum meter_quantity {
	METER_ENERGY,	   /* a counter of joules */
	METER_POWER,	   /* watts */
	METER_TEMPERATURE, /* degrees Celsius */
	METER_LIMIT,	   /* what limits the clock now, bits of meter_limit_text() */
	METER_QUANTITIES,
};

/* What the figure is of. Two sources are only comparable within one boundary. */
enum meter_boundary {
	METER_CORE,	/* one core */
	METER_PART,	/* some part of a package: its SoC, its graphics */
	METER_PACKAGE,	/* a package: cores and I/O die, with graphics where it has some; no DIMMs, no losses of
			   regulators */
	METER_SOCKET,	/* a socket, as its own controller (SMU) tells it */
	METER_MEMORY,	/* DIMMs */
	METER_BOARD,	/* the whole machine, behind or before its power supplies, as the platform tells it */
	METER_WALL,	/* at the plug: all of it */
	METER_VM_SHARE, /* a VM's share, always an estimate */
	METER_BOUNDARIES,
};

struct meter_source {
	const char *name;   /* "powercap.package-0", "hwmon.power_meter", "plug.rack": unique in its set and stable */
	const char *driver; /* "powercap" */
	const char *place;  /* the file or address that it is read from */
	enum meter_quantity quantity;
	enum meter_boundary boundary;
	int package;	   /* physical package id, -1 when it has none or is of all */
	double resolution; /* least step, in J, W or degrees; 0: not known */
	double refresh_s;  /* a new value comes so often, as documented; 0: not known */
	double period_s;   /* the sampler reads it so often */
	double most;	   /* more is implausible, in W or degrees */
	bool slow;	   /* a read may wait (network, BMC): it has a thread of its own and is not read at marks */
	bool part;	   /* one of several of its boundary that are added: power supplies with a plug each */
	bool chosen;	   /* the one to take for its boundary and package; the others are alternatives */
	enum meter_state state;		   /* METER_VALUE: a first read gave a value */
	const char *why;		   /* of the other states: why */
	const char *hint;		   /* of the other states: what would make it work; may be NULL */
	struct meter_counter_kind counter; /* of METER_ENERGY */
};

struct meter_reading {
	enum meter_state state;
	int errnum;	  /* positive, METER_UNREADABLE */
	const char *why;  /* of METER_IMPLAUSIBLE, and of METER_UNREADABLE where there is more to say than errnum does;
			   * it holds  until the next read. Else NULL */
	const char *hint; /* what would help, as why; or NULL */
	uint64_t count;	  /* METER_ENERGY: in units of source->counter.unit_j */
	double value;	  /* else: W, degrees, bits */
};

struct meter_set;

/* What is opened beside the sources of the host itself. */
struct meter_setup {
	const char *config; /* a file that names meters in the network; NULL: /etc/hvtune/meters.conf where it is */
	bool only_look;	    /* find the host's own sources and open none of them, for a copy of the host */
	bool local;	    /* only the host itself: no network, no BMC, no commands */
};

/*
 * Find all sources, open those that can be opened and read each once. `sys` must outlive the set; `setup` may be NULL.
 * A source that does not work is in the set with the reason; an error is a configuration that is wrong.
 */
int meter_set_open(struct sys *sys, const struct meter_setup *setup, struct meter_set **ret, struct err *err);
struct meter_set *meter_set_close(struct meter_set *set); /* takes NULL, returns NULL */
void meter_set_close_pointer(struct meter_set **set);	  /* for CLEANUP() */

/* All sources, usable ones and others, in the order of the drivers; NULL past the end. They live as long as the set. */
const struct meter_source *meter_source_at(const struct meter_set *set, size_t index);
size_t meter_source_count(const struct meter_set *set);

/* The index of the source with that name, or -1. */
int meter_source_find(const struct meter_set *set, const char *name);

/* The source that is read at that place: one that works where there is one, else the first; NULL: there is none. */
const struct meter_source *meter_source_of(const struct meter_set *set, const char *place);

/* Is any energy or power of that boundary readable here? */
bool meter_has(const struct meter_set *set, enum meter_boundary boundary);

/* Drivers that found nothing, with the reason and what would make them work, for `hvtune meters`. */
struct meter_missing {
	const char *driver, *why, *hint; /* hint may be NULL */
};
const struct meter_missing *meter_missing_at(const struct meter_set *set, size_t index); /* NULL past the end */

/* Read one source now, in this thread, without allocation. It must not be sampled at the same time. */
void meter_read(struct meter_set *set, size_t index, struct meter_reading *ret);

/* "package", "wall"; "energy", "power"; "J", "W"; "value", "absent". */
const char *meter_boundary_name(enum meter_boundary boundary);
const char *meter_quantity_name(enum meter_quantity quantity);
const char *meter_quantity_unit(enum meter_quantity quantity);
const char *meter_state_name(enum meter_state state);

/* Of these bits those that speak of heat; the others are limits that a loaded CPU always works at. */
enum { METER_LIMIT_HEAT = 1 << 0 | 1 << 1 | 1 << 8 };

/* What limits a socket's clock, "the package power limit (PPT)"; "nothing" for no bit. */
const char *meter_limit_text(struct arena *arena, uint32_t bits);

#endif

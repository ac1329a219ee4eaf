/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how sources of energy, power and temperature are shown, with what they said of a window of time. */
#ifndef HVTUNE_REPORT_METER_H
#define HVTUNE_REPORT_METER_H

#include <jansson.h>

#include "meter_sampler.h"
#include "term.h"

struct report_meters {
	const struct meter_set *set;
	const struct meter_result *results; /* one a source */
	const struct meter_cpus *cpus;	    /* NULL: they were not looked at */
	struct meter_cpu_activity activity; /* of them all */
	const char *contradiction;	    /* of boundaries, or NULL */
	double window_s;		    /* 0: each source was read once */
	struct meter_cost cost;		    /* of the window */
};

/* A line a source, what the CPUs did, why the others do not work and what would make them, and what is not here at all.
 */
void report_meters(const struct term *term, const struct report_meters *meters);

/* Add to `json` the fields "window_s", "sources", "cpus", "missing" and "cost". */
void report_meters_json(json_t *json, const struct report_meters *meters);

/* A result as JSON: {"state", "why", "energy_j", "mean", "peak", "least", ...}; null for what is not known. */
json_t *report_meter_result_json(const struct meter_result *result);

/* "182.4 W", "61.2 °C"; "C" where the terminal has no such character. */
const char *report_meter_amount(const struct term *term, struct arena *arena, enum meter_quantity quantity,
				double amount);

#endif

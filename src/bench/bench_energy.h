/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the meters of a session: sampling while it lasts, joules, watts and temperature of each run by boundary, and the
 * raw samples in the store. Where nothing can be measured all of it does nothing, and says so.
 */
#ifndef HVTUNE_BENCH_ENERGY_H
#define HVTUNE_BENCH_ENERGY_H

#include "bench.h"
#include "bench_metric.h"
#include "meter_sampler.h"
#include "store.h"

struct bench_energy;

/*
 * Runs of so many seconds are too short for a meter of the boundary that is chosen: which one, how often it is read,
 * and what it takes; in the arena. NULL: they are not.
 */
const char *bench_energy_short(struct arena *arena, const struct meter_set *set, enum meter_boundary boundary,
			       double run_s);

/*
 * Start sampling. *ret is NULL when there is no usable source. *ret_why: why no energy or power is measured, in the
 * arena, or NULL. `set` may be NULL; it must outlive this.
 */
int bench_energy_open(struct meter_set *set, struct arena *arena, struct bench_energy **ret, const char **ret_why,
		      struct err *err);
struct bench_energy *bench_energy_close(struct bench_energy *energy); /* takes NULL, returns NULL */

/* What sampling cost so far: seconds of CPU; 0 for NULL. */
double bench_energy_cost_s(const struct bench_energy *energy);

/* All below take NULL. The sources, into the store. */
int bench_energy_store(const struct bench_energy *energy, struct store *store, int64_t session, struct err *err);

/* Read the quick sources now; the time, CLOCK_MONOTONIC. */
int64_t bench_energy_mark(struct bench_energy *energy);

/*
 * "package energy" (J), "package power" (W) and likewise of the wall and others, "temperature" (highest), of a window;
 * what a source cannot tell within a tenth is left out.
 */
void bench_energy_take(struct bench_energy *energy, int64_t from_ns, int64_t to_ns, struct bench_values *values);

/* The same of one meter, of which quantity, name, period and refresh are looked at. */
const char *bench_energy_short_of(struct arena *arena, const struct meter_source *source, double run_s);

/* Why no run so far has joules of the boundary (METER_BOUNDARIES: of any), when they are too short for its meter; NULL.
 */
const char *bench_energy_missed(const struct bench_energy *energy, enum meter_boundary boundary);

/* As bench_lack(), of a session that is measured by these meters; NULL: none lacks anything. */
void bench_energy_lack(const struct bench_energy *energy, const struct bench *bench, struct bench_lack *ret);

/* Why runs lack joules whose meter is not too slow for them. */
#define BENCH_ENERGY_MISSED "the meter gave no figure while they ran"

/* The highest temperature that a sensor said last, and the sensor's name; NAN: none says anything. */
double bench_energy_hottest(const struct bench_energy *energy, const char **ret_sensor);

/* Watts of the widest boundary that is measured, by its last samples; NAN: not known. */
double bench_energy_power(const struct bench_energy *energy);

/* What slowed the CPU down for its heat in a window, in the arena, or NULL: the SMU's reasons (see meter_limit_text()).
 */
const char *bench_energy_throttled(const struct bench_energy *energy, int64_t from_ns, int64_t to_ns,
				   struct arena *arena);

/*
 * Does the machine exceed what is allowed, by the last samples? How, in the arena, or NULL. A source that says nothing
 * now is no reason.
 */
const char *bench_energy_over(const struct bench_energy *energy, const struct bench_safety *safety,
			      struct arena *arena);

/* The samples since the last call, as those of a run, into the store. `began_ns` is the begin of the session. */
int bench_energy_keep(struct bench_energy *energy, struct store *store, int64_t session, int64_t began_ns, int64_t run,
		      struct err *err);

#endif

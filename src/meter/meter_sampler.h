/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns sampling over time: a thread reads the sources of a set, each at its own period, and keeps the raw samples; from
 * these follow energy, mean and peak of any window. Times are of CLOCK_MONOTONIC in nanoseconds, the clock by which a
 * thread can also sleep; it is steered by at most 500 ppm, far below what any meter knows.
 *
 *	meter_set_open(sys, NULL, &set, &err);
 *	meter_sampler_start(set, NULL, &sampler, &err);
 *	from_ns = meter_sampler_mark(sampler);		reads the quick sources now
 *	... the run ...
 *	to_ns = meter_sampler_mark(sampler);
 *	meter_window(sampler, index, from_ns, to_ns, &result);
 *	meter_total(sampler, METER_PACKAGE, from_ns, to_ns, &total);
 *	meter_sampler_free(sampler);
 */
#ifndef HVTUNE_METER_SAMPLER_H
#define HVTUNE_METER_SAMPLER_H

#include "meter.h"
#include "meter_cpus.h"

struct meter_sample {
	int64_t time_ns; /* the middle of the read */
	union {
		uint64_t count; /* METER_ENERGY, in units of the source */
		double value;	/* else */
	};
	uint32_t took_ns; /* of the read, UINT32_MAX for longer ones */
	uint16_t state;	  /* enum meter_state; only METER_VALUE has a value */
	uint16_t errnum;
};

struct meter_result {
	enum meter_state state;	  /* METER_VALUE: energy, mean and peak are of the whole window */
	const char *why;	  /* of the other states: why not, a literal; else a remark or NULL */
	double energy_j;	  /* of energy and power; NAN without a value */
	double mean, peak, least; /* W or degrees; NAN without a value. Of a counter between two of its samples */
	double error_share; /* standard error of energy_j and mean that sampling brings, as a share; the meter's own
			       comes to it */
	double window_s, covered_s; /* the time that was asked for, and for how much of it the source gave values */
	double refresh_s;	    /* a new value came so often; 0 when too few came to tell */
	size_t samples;		    /* in the window */
	size_t bad;		    /* samples without a value among them */
	size_t distinct;	    /* changes of the value + 1; a meter that always says the same is suspect */
	uint32_t limits; /* of METER_LIMIT: all bits that were seen; `mean` is the share of time in which any was */
	uint32_t wraps, resets, gaps, stands, glitches; /* of a counter; see meter_counter.h */
};

/* What the sampler itself cost since it was started. */
struct meter_cost {
	double cpu_s; /* CPU time of its threads */
	double wall_s;
	double share; /* cpu_s / wall_s: of one core */
	uint64_t reads;
};

struct meter_sampling {
	double period_s; /* 0: each source at its own period; else no quick source less often than this */
	struct meter_cpus
	    *cpus;   /* read with the quick sources, for meter_activity(); it must outlive the sampler. NULL: none */
	size_t room; /* samples that are kept of each source; 0: 2^20, which at 1 Hz is 12 days */
};

struct meter_sampler;

/* Start sampling all usable sources of the set, which must outlive the sampler. `how` may be NULL. */
int meter_sampler_start(struct meter_set *set, const struct meter_sampling *how, struct meter_sampler **ret,
			struct err *err);

/*
 * Have the quick sources read now and wait for it (less than a millisecond a source). Returns the time just before the
 * first of these reads, so that they cover a window that ends there, however late this thread goes on.
 */
int64_t meter_sampler_mark(struct meter_sampler *sampler);

/* Stop the threads; a read of a slow source that is under way is waited for. Samples and results stay. */
void meter_sampler_stop(struct meter_sampler *sampler);
struct meter_sampler *meter_sampler_free(struct meter_sampler *sampler); /* stops; takes NULL, returns NULL */
void meter_sampler_free_pointer(struct meter_sampler **sampler);	 /* for CLEANUP() */

/*
 * The raw samples of a source so far, oldest first; they stay where they are until the sampler is freed. *ret_lost: how
 * many had no room any more (may be NULL). May be called while sampling goes on.
 */
size_t meter_samples(const struct meter_sampler *sampler, size_t source, const struct meter_sample **ret,
		     uint64_t *ret_lost);

/* What a source says of a window. Of a slow source wait until it was read once more after `to_ns`, or the end is held.
 */
void meter_window(const struct meter_sampler *sampler, size_t source, int64_t from_ns, int64_t to_ns,
		  struct meter_result *ret);

/*
 * The sum of the chosen sources of a boundary, such as of all packages. METER_ABSENT when there is none: "energy: not
 * measurable here". One that is not known makes the sum not known.
 */
void meter_total(const struct meter_sampler *sampler, enum meter_boundary boundary, int64_t from_ns, int64_t to_ns,
		 struct meter_result *ret);

/*
 * Does a part draw more than the whole, such as the packages more than the machine at the wall? Then both are
 * implausible, and the text in the arena tells; NULL: no contradiction. A meter's class and lag is allowed for.
 */
const char *meter_contradiction(const struct meter_sampler *sampler, int64_t from_ns, int64_t to_ns,
				struct arena *arena);

/*
 * What all CPUs together did in a window, and the sums over all CPUs that were read for it. With marks at both ends the
 * window is exact to the tenth of a second that a mark may be away from the last read; the sums between are
 * interpolated.
 */
struct meter_activity_sample {
	int64_t time_ns;
	uint64_t tsc, aperf, mperf; /* sums modulo 2^64 */
	uint64_t idle_us[METER_IDLE_MOST];
	bool clocks, idle; /* were they read on all CPUs? */
};
struct meter_cpu_activity meter_activity(const struct meter_sampler *sampler, int64_t from_ns, int64_t to_ns);
size_t meter_activity_samples(const struct meter_sampler *sampler, const struct meter_activity_sample **ret);

struct meter_cost meter_sampler_cost(const struct meter_sampler *sampler);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t meter_now_ns(void);

/*
 * The shortest window that readings as often as the source gives them can tell within `error_share` (above 0), in
 * seconds; 0: any. By the same errors as meter_window().
 */
double meter_least_window_s(const struct meter_source *source, double error_share);

/*
 * The window of samples that are given: what meter_window() does, for traces that were recorded. `source` says what
 * they are of.
 */
void meter_window_of(const struct meter_source *source, const struct meter_sample *samples, size_t count,
		     int64_t from_ns, int64_t to_ns, struct meter_result *ret);

/* The same for sums that are given, over `cpus` CPUs with so many idle states. */
struct meter_cpu_activity meter_activity_between(const struct meter_activity_sample *samples, size_t count, size_t cpus,
						 size_t states, int64_t from_ns, int64_t to_ns);

#endif

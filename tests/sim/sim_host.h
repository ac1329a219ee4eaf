/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns simulated hosts: they are drawn with all their effects, answer the settings of a study with run times and watts,
 * and take the minutes that a real one takes for boots, restarts and runs. The decision of src/study drives them as it
 * drives real ones.
 *
 * How effects, costs and noise are drawn is that of the mathematics' own simulator. Where it was stated in words, it is
 * held by the figures of full factorials, which no method of choosing is part of: see study_race.
 */
#ifndef HVTUNE_TESTS_SIM_HOST_H
#define HVTUNE_TESTS_SIM_HOST_H

#include <gsl/gsl_rng.h>

#include "study_next.h"

#define SIM_HOOK "{run: x, undo: y}"

/* What a host does besides that which a model of it expects. Zeroes: nothing of it. */
struct sim_wrong {
	double bimodal, bimodal_by; /* share of runs that are longer, and by how much (on logs) */
	double tail;		    /* degrees of freedom of the noise of runs; 0: normal */
	double within_boot;	    /* correlation from one run to the next in a boot */
	double boot_sd, drift_sd;   /* instead of .3 % each */
	double slope;		    /* on logs an hour */
	double ramp, ramp_sd;	    /* the same from each boot on: mean over boots, and how they differ */
	double settling;	    /* of the first run after a start, on logs; half of it is left each ... */
	double settling_runs;	    /* ... so many runs; 0: the first run alone is slower */
	int fails;		    /* each so manieth boot does not come up */
	double triples;		    /* sd of what three levels do together */
	double dead;		    /* share of the configurations that no run comes to an end in */
};

struct sim_host;

/* A study file's factors, and how a host that has them is drawn. */
struct sim_kind {
	const char *name, *factors;
	double base_s;			     /* of the baseline */
	bool levers;			     /* factors of two levels, some large; else those of study A */
	void (*draw)(struct sim_host *host); /* instead: fills theta, noise, idle_w and leaves_w; NULL */
};

extern const struct sim_kind sim_metal, sim_vm, sim_levers;

struct sim_host {
	struct arena *arena;
	struct study *study;
	struct study_matrix matrix;
	struct study_engine *engine;
	gsl_rng *random;
	struct sim_wrong wrong;
	/* The truth, by configuration. */
	double *theta;	  /* ln seconds */
	double *noise;	  /* sd of a run on logs */
	double *idle_w;	  /* settled, without traces */
	double *leaves_w; /* idle watts more from when it is left until the next boot */
	bool *dead;	  /* no run comes to an end in it */
	/* How it is now. */
	double boot_effect, drift, last; /* on logs; last: noise of the last run */
	double ramp, booted_at;		 /* of this boot: on logs an hour; minutes */
	int config, boot, since;	 /* since: runs since the last start of host or guest */
	bool warm;
	double trace_w; /* idle watts more, of what was set since the boot */
	/* What was spent. */
	double minutes;
	int boots, restarts, runs, failed_boots;
	struct study_seen *seen;
	size_t count;
};

enum { SIM_MOST_SEEN = 4000 };

/*
 * A host of a kind; how it is set is not known, so that it boots first. `more`: further lines of the study file
 * ("confirm: no\n" ...). Ends the program where the file has a mistake.
 */
struct sim_host *sim_host_new(const struct sim_kind *kind, const char *more, unsigned long seed,
			      const struct sim_wrong *wrong);
void sim_host_free(struct sim_host **host); /* for CLEANUP() */

/* Minutes that going from one configuration to another takes, without the run that is left out; -1: from a boot. */
struct stat_switch sim_switch(const struct sim_host *host, int from, int to);

/* Go to a configuration and run it `runs` times, or idle; what was seen is kept. */
void sim_perform(struct sim_host *host, int config, int runs, enum study_purpose purpose, bool own_boot);

/* The whole study by study_next(): its answer to the first target. Ends the program where there is none. */
struct study_answer sim_study(struct sim_host *host);

/* ln of its time over that of the best that can be measured at all. */
double sim_regret(const struct sim_host *host, int config);

/* A full factorial in nested order, `runs` of each: the configuration with the least mean. */
int sim_factorial(struct sim_host *host, int runs);

#endif

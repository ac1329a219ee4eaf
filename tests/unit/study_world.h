/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns simulated hosts for the tests of studies: what each level does is known, and the decision is played to its end.
 */
#ifndef HVTUNE_STUDY_WORLD_H
#define HVTUNE_STUDY_WORLD_H

#include "study_next.h"

enum { WORLD_MOST = 1500 };

struct world {
	struct arena *arena;
	struct study *study;
	struct study_matrix matrix;
	struct study_seen seen[WORLD_MOST];
	size_t count;
	uint64_t chance;
	double noise;	       /* sd of ln of time and energy */
	const double *effects; /* ln of time, by number of the level of each factor, one after the other */
	double meet;	       /* ln of time on top where no factor is at its first level */
	const double *energy;  /* likewise of joules; NULL: no meter */
	const double *idle;    /* W on top of 100, likewise; NULL: no meter */
	const double *trace;   /* W that stay until the next boot after the level was left, likewise; NULL: none */
	double drawn;	       /* W of traces that are there now */
	int before;	       /* the configuration that was in force last; -1: none since the boot */
	int broken;	       /* a configuration whose runs are all void; -1: none */
	int boots;
};

void world_make(struct world *world, const char *text);

/* ln of time and of energy without noise, W at idle without traces. */
double world_truth(const struct world *world, int config);
double world_energy(const struct world *world, int config);
double world_idle(const struct world *world, int config);

/* One run or idle window more. */
void world_run(struct world *world, int config, enum study_purpose purpose);

/* To its end; `anew`: the decision is made by an engine that knows nothing but the runs, as after a reboot. */
struct study_step world_play(struct world *world, bool anew, struct study_engine **ret);

/* From there on with this engine. */
struct study_step world_go_on(struct world *world, struct study_engine *engine);

void world_clear(struct world *world, struct study_engine **engine);

#endif

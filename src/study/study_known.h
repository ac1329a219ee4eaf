/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the verdict share: means and joint draws of what was measured. */
#ifndef HVTUNE_STUDY_KNOWN_H
#define HVTUNE_STUDY_KNOWN_H

#include "study_engine.h"
#include "study_verdict.h"

enum { STUDY_DRAWS = 1000 };

#define STUDY_NO_ENERGY "energy was not measured"

/* The configurations that draws are of: those measured, and of a race some that may yet be better. */
struct study_places {
	int *configs;
	size_t count, measured; /* the measured ones come first */
};

/* What is known of one goal. Logs by place; NAN where it was not measured. */
struct study_known {
	bool measured;
	bool goals[STUDY_GOALS]; /* of which runs it is made */
	double *means;
	double *draws;		  /* [draw][place], to be freed */
	struct stat_cell *cells;  /* by place; of whole blocks without what their blocks have in common */
	double cells_df;	  /* of the cells' pooled variance */
	int blocks;		  /* that are whole; 0: the design has none */
	struct stat_model *model; /* of a race; NULL */
};

void study_known_clear(struct study_known *known); /* for CLEANUP() */

/* All goals at once; `ret` has STUDY_GOALS. Idle watts are not among them. */
int study_know(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_places *places,
	       struct study_known *ret, struct err *err);

/* The valid runs of the choice with that goal, in order. In the engine's arena. */
size_t study_runs_with(const struct study_engine *engine, const struct study_seen *seen, size_t count,
		       enum study_goal goal, struct study_seen **ret);

/* Each lever's share of the way from the baseline to `config`. */
void study_share(struct study_engine *engine, const struct study_places *places, const struct study_known *known,
		 int config, struct study_shares *ret);

/* A verdict in the making. */
struct study_judging {
	struct study_engine *engine;
	const struct study *study;
	const struct study_seen *seen;
	size_t count;
	struct study_places places;
	struct study_known known[STUDY_GOALS];
	const char *lack[STUDY_GOALS]; /* what the runs with that goal lack, see study_lack(); NULL: nothing */
	struct stat_cell *idle_cells;  /* logs of the windows, by place of verdict->idles */
	struct study_verdict *verdict;
};

/* Fills verdict->idles and idle_cells. */
void study_idle_results(struct study_judging *judging);

/* Fills verdict->picks; the rest is there. */
void study_pick(struct study_judging *judging);

#endif

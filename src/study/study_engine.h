/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the decision share. */
#ifndef HVTUNE_STUDY_ENGINE_H
#define HVTUNE_STUDY_ENGINE_H

#include "study_next.h"

struct study_engine {
	struct arena *arena;
	const struct study_matrix *matrix;
	enum study_design design;
	struct study_target targets[STUDY_MOST_TARGETS];
	size_t target_count;
	/* For the race. */
	struct stat_space space;
	struct stat_costs costs;
	struct stat_model *models[STUDY_MOST_TARGETS];
	bool fallback[STUDY_MOST_TARGETS]; /* the model was given up; it stays so */
	int first[STAT_DESIGN];		   /* the first design, in nested order */
	int first_count;
	double run_minutes; /* of one run, as seen; for the costs */
};

/* The designs; each as study_next(), with `seen` of valid runs of STUDY_CHOOSE only. */
int study_next_blocks(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_step *ret,
		      struct err *err);
int study_next_race(struct study_engine *engine, const struct study_seen *seen, size_t count, int config, int boot,
		    struct study_step *ret, struct err *err);
int study_next_levers(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_step *ret,
		      struct err *err);

int study_answer_blocks(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
			struct study_answer *ret, struct err *err);
int study_answer_race(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
		      struct study_answer *ret, struct err *err);

void study_race_prepare(struct study_engine *engine);

/*
 * The order in which a block visits `count` configurations: groups of one dear level together and in random order, at
 * random within them. Only seed and block decide. In place.
 */
void study_block_order(const struct study_matrix *matrix, uint64_t seed, int block, int *configs, size_t count);

#endif

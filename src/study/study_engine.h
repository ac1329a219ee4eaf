/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the files of the decision share. */
#ifndef HVTUNE_STUDY_ENGINE_H
#define HVTUNE_STUDY_ENGINE_H

#include "study_next.h"

/* Pairs in boots of their own that confirming takes. */
enum { STUDY_CONFIRM_BOOTS = 4 };

/* Pairs of runs that confirming takes at most, where no boot is between them. */
static inline unsigned study_confirm_most(const struct study *study)
{
	return MIN_OF(MAX_OF(study->runs_most, 8U), 60U);
}

/* Below that many configurations all are measured in blocks (methods 3.2). */
enum { STUDY_FEW_CONFIGS = 12 };

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
	bool halves[STUDY_MOST_TARGETS]; /* the model does not describe the runs; from them alone, as `out` */
	int first[STAT_DESIGN];		 /* the first design, in nested order */
	int first_count;
	double run_minutes;    /* of one run, as seen; for the costs */
	const char *no_energy; /* why no run has joules; NULL: there is no meter, or it tells them */
	const char *no_idle;   /* why idle watts cannot be measured; NULL: they can */
	bool hurry;	       /* nothing but idle windows any more */
	bool *out;	       /* by configuration: given up; study_next() and study_answer() see to it */
};

/* The limit of a goal, or 0; is the goal a wish? */
double study_limit(const struct study *study, enum study_goal goal);
bool study_is_sought(const struct study *study, enum study_goal goal);

/*
 * The probability that the model has to give for the confidence that the study asks for: where it says 98 %, simulated
 * hosts have it right in 95 % of cases, and in little less where they are not as the model thinks (docs/statistics.md,
 * study_race, study_wrong).
 */
double study_model_target(const struct study *study);

/*
 * Has a factor levels that take a boot of the host, by hvtune or by a person? Then boots may differ, and a boot is the
 * unit of a claim.
 */
bool study_has_boots(const struct study *study);

/* Idle watts alone are sought: every configuration has windows, and nothing is run. */
bool study_idle_only(const struct study_engine *engine);

/* Which configurations are given up, into engine->out; and whether a race goes on by halving, into engine->halves. */
void study_find_given_up(struct study_engine *engine, const struct study_seen *seen, size_t count);

/* The configurations that a design other than the race measures, without those given up; `ret` has room for all. */
size_t study_design_configs(struct study_engine *engine, int *ret);

/* The number of blocks of these configurations that are whole. `seen`: see study_pick_seen(). */
int study_whole_blocks(struct study_engine *engine, const int *configs, size_t config_count,
		       const struct study_seen *seen, size_t count);

/* What is left of the runs to look at: valid, of that purpose, with all that is sought. In the engine's arena. */
size_t study_pick_seen(const struct study_engine *engine, const struct study_seen *seen, size_t count,
		       enum study_purpose purpose, struct study_seen **ret);

/* The answer of the design, whatever the limits say. `seen` as study_answer() takes it. */
int study_answer_design(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
			struct study_answer *ret, struct err *err);

/*
 * What these runs lack before anything may be called sure by them, in words ("3 of 4 configurations were not
 * measured"); NULL: they are as many as the design wants at least. *ret_few: no odds are told of them either. `runs`:
 * valid ones of the choice, see study_pick_seen(). In the engine's arena.
 */
const char *study_lack(struct study_engine *engine, const struct study_seen *runs, size_t count, bool *ret_few);

/* Means of ln of a target by configuration, the model's where there is one; NAN: not measured. */
double *study_means(struct study_engine *engine, size_t target, const struct study_answer *answer,
		    const struct study_seen *seen, size_t count);

/* Watts of a goal: mean by configuration over the runs of the choice, or over idle windows; NAN: not measured. */
double *study_watts(struct study_engine *engine, enum study_goal goal, const struct study_seen *seen, size_t count);

/* By configuration: does it keep the limits? Where it was not measured it does not. NULL: there are no limits. */
bool *study_allowed(struct study_engine *engine, const struct study_seen *seen, size_t count);

/* ---- idle windows (study_idle.c) ---- */

enum { STUDY_MOST_FINALISTS = 8 };

/* The valid idle windows, by their places in `seen`; `ret` has room for `count`. Returns their number. */
size_t study_idle_windows(const struct study_engine *engine, const struct study_seen *seen, size_t count, size_t *ret);

/* The next one; ret->what stays as it is when all are measured, or cannot be. */
int study_next_idle(struct study_engine *engine, const struct study_seen *seen, size_t count, struct study_step *ret,
		    struct err *err);

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

/* Into engine->halves; `seen` as study_next_race(). */
void study_race_find_halves(struct study_engine *engine, const struct study_seen *seen, size_t count);

/*
 * The order in which a block visits `count` configurations: groups of one dear level together and in random order, at
 * random within them; of what a person sets there and back again. Only study and block decide. In place.
 */
void study_block_order(const struct study_matrix *matrix, uint64_t seed, int block, int *configs, size_t count);

#endif

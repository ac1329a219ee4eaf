/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the decision what a study measures next, from nothing but what was seen so far: after a reboot or a kill the
 * same observations give the same decision. No machine, no clock, no store in here; simulated hosts drive it as real
 * ones do.
 */
#ifndef HVTUNE_STUDY_NEXT_H
#define HVTUNE_STUDY_NEXT_H

#include "stat_compare.h"
#include "stat_select.h"
#include "study_matrix.h"

/* What a run is for; only runs of one purpose are looked at together. */
enum study_purpose { STUDY_WARM_UP, STUDY_CHOOSE, STUDY_CONFIRM };

/* One run of all workloads. */
struct study_seen {
	int config, boot; /* boot: a number that tells the boots of the host apart */
	enum study_purpose purpose;
	bool valid;
	/*
	 * By enum study_goal, lower is better: seconds (of several workloads their weighted geometric mean; of a rate
	 * its inverse), joules, watts. NAN: not measured.
	 */
	double value[STUDY_GOALS];
	double minutes; /* the run with its preparation */
};

enum study_what {
	STUDY_RUN,   /* run `config` `runs` times */
	STUDY_DONE,  /* the question is answered */
	STUDY_SPENT, /* the runs of the design are used up, the question is not answered to the confidence asked for */
};

struct study_step {
	enum study_what what;
	enum study_purpose purpose;
	int config, runs;
	int incumbent;	   /* of the first target; -1: not known yet */
	const char *words; /* why, for the progress line: "first look", "block 3" */
};

/* What is sought: one goal, or the middle of two. ln of it is sum of weight[goal] ln value[goal]. */
struct study_target {
	const char *name; /* "time", "energy", "time and energy" */
	double weight[STUDY_GOALS];
};

enum { STUDY_MOST_TARGETS = 3 };

struct study_answer {
	int incumbent;			 /* -1: there is none */
	bool sure;			 /* within study->within of the best, with study->confidence */
	double bad;			 /* P(it is not); NAN for designs that do not say */
	double regret_mean, regret_95;	 /* relative; NAN likewise */
	struct stat_standing *standings; /* by configuration; NULL for designs without a model */
	bool fallback;			 /* the model did not describe the runs: successive halving */
};

struct study_engine;

/* Everything lives in `arena` but the models; `matrix` must outlive it. -EINVAL: the design does not suit the factors.
 */
int study_engine_new(struct arena *arena, const struct study_matrix *matrix, struct study_engine **ret,
		     struct err *err);
void study_engine_free(struct study_engine **engine); /* for CLEANUP() */

/* The design that STUDY_AUTO stands for here. */
enum study_design study_engine_design(const struct study_engine *engine);

size_t study_engine_targets(const struct study_engine *engine, const struct study_target **ret);

/*
 * What next? `seen` holds all runs so far in their order, warm-up runs and void ones too; `config` (-1 unknown) and
 * `boot` are how the machine is now. A goal that is sought and was never measured in valid runs is -ENODATA.
 */
int study_next(struct study_engine *engine, const struct study_seen *seen, size_t count, int config, int boot,
	       struct study_step *ret, struct err *err);

/* What is known of a target now. Texts and arrays in the engine's arena. */
int study_answer(struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
		 struct study_answer *ret, struct err *err);

/*
 * The incumbent of a target against the baseline on the runs of STUDY_CONFIRM only: no luck of the choice is in it.
 * -ENODATA: it was not confirmed, or too little.
 */
int study_confirmed(const struct study_engine *engine, size_t target, const struct study_seen *seen, size_t count,
		    int incumbent, struct stat_compare *ret, struct err *err);

/* ln of the target's value of a run; NAN when a part was not measured. */
double study_log(const struct study_target *target, const struct study_seen *seen);

#endif

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
enum study_purpose {
	STUDY_WARM_UP,
	STUDY_CHOOSE,
	STUDY_CONFIRM,
	STUDY_IDLE, /* no run: the machine is left alone, its watts are measured */
	STUDY_PURPOSES,
};

/* One run of all workloads, or one idle window. */
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
	/* Of an idle window: watts of its lowest part, standard error of its mean (batch means), share of the CPUs that
	 * was busy; NAN: not known. */
	double lowest, error, busy;
	/* Set by study_runs_with(): runs with one number share the boot, or the start of a VM, that they may differ by.
	 */
	int unit;
};

/* A configuration whose last so many runs were all void is given up: it cannot be measured here. */
enum { STUDY_MOST_VOID = 4 };

/* Is the configuration given up? Of a row of that many void runs nothing later is looked at. */
bool study_given_up(const struct study_seen *seen, size_t count, int config);

enum study_what {
	STUDY_RUN,   /* run `config` `runs` times */
	STUDY_DONE,  /* the question is answered */
	STUDY_SPENT, /* the runs of the design are used up, the question is not answered to the confidence asked for */
};

struct study_step {
	enum study_what what;
	enum study_purpose purpose;
	int config, runs;
	/*
	 * Of an idle window: before it the host has to boot into `config`, since levels are known to leave traces that
	 * last until a boot. Nothing else may have been in force in that boot: see study_boot_is_fresh().
	 */
	bool own_boot;
	bool cut;	   /* runs were wanted, and study_engine_hurry() left them out */
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
	int incumbent;			 /* of those that were measured; -1: there is none */
	bool sure;			 /* within study->within of the best, with study->confidence */
	const char *unsure;		 /* what keeps it from being sure, a clause; NULL: it is sure */
	double bad;			 /* P(it is not); NAN for designs that do not say, and of too few runs */
	double regret_mean, regret_95;	 /* relative; NAN likewise */
	struct stat_standing *standings; /* by configuration; NULL for designs without a model */
	bool limited;			 /* the design's best breaks a limit: this is the best that keeps it */
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

/*
 * Idle watts cannot be measured here (no meter): no window is asked for any more, and the answer says why. Where
 * nothing else is sought study_next() is -ENODATA.
 */
void study_engine_no_idle(struct study_engine *engine, const char *why);

/* Why the meter that there is tells no joules of the runs so far; NULL: it does. Said where energy is sought. */
void study_engine_no_energy(struct study_engine *engine, const char *why);

/* The time is over but for idle windows: nothing else is asked for any more. */
void study_engine_hurry(struct study_engine *engine);

/*
 * Seconds that the idle windows are about to take that are still to be measured, boots not counted; 0: none are wanted.
 */
double study_idle_seconds(struct study_engine *engine, const struct study_seen *seen, size_t count);

/* Was nothing measured in that boot so far? */
bool study_boot_is_fresh(const struct study_seen *seen, size_t count, int boot);

/*
 * Is a level of the study known to leave traces in idle watts that last until a boot? tuned's profiles with governor
 * performance leave EPP at 0 behind, which tuned cannot put back (its commands are undone in an order in which the
 * kernel refuses it), and those of tuned up to 2.21 a request for 100 us. Study A met both.
 */
bool study_leaves_traces(const struct study *study);

/* ln of the target's value of a run; NAN when a part was not measured. */
double study_log(const struct study_target *target, const struct study_seen *seen);

#endif

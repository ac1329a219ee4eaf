/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns carrying out a study on a machine: configurations are entered, workloads run, everything kept as it happens,
 * until the decision (study_next.h) says that it is enough; and reading back what earlier sessions of a study measured.
 */
#ifndef HVTUNE_STUDY_RUN_H
#define HVTUNE_STUDY_RUN_H

#include "study_host.h"
#include "study_next.h"

struct study_progress {
	const struct study_step *step;
	const char *config; /* name of the configuration */
	size_t runs;	    /* made so far, warm-up runs and void ones too */
	double spent_s;
	/* Of an idle window: does the machine settle, and seconds that are left of this; 0: it has not begun. */
	bool settles;
	double left_s;
};

struct study_outcome;

struct study_setup {
	const struct study_matrix *matrix;
	struct knob_machine *machine;
	struct sys *sys;
	struct store *store;
	struct meter_set *meters;
	struct store_session session; /* kind is set here; `command` and `host` are the caller's */
	const char *text;	      /* of the study file, kept with the results */
	const char *resume;	      /* uid of the study to go on with; NULL: a new one */
	const char *uid;	      /* of a study that may be new or not; NULL: see resume */
	struct study_boot *boot;      /* it boots the host; NULL: never */
	struct study_state *state;    /* is kept up to date on disk, and wishes are heard; NULL: nobody asks */
	unsigned settle_ms;
	struct bench_limits limits; /* of runs; those of the study file end it */
	void (*tell)(void *data, const struct study_progress *progress);
	/* The answer as JSON, which is kept with the results; in outcome->arena, may be NULL. NULL: none is kept. */
	const char *(*answer)(void *data, const struct study_outcome *outcome);
	void *data;
};

struct study_outcome {
	struct arena *arena;
	const char *uid;	     /* of the study in the store */
	int64_t session;	     /* number of the session in the store; 0: nothing is kept */
	struct study_engine *engine; /* for study_answer(); freed by study_outcome_clear() */
	struct study_seen *seen;
	size_t count;
	size_t void_count;
	const char *state; /* "done", "stopped", "failed" */
	const char *why;
	enum study_what what; /* STUDY_RUN: it was ended before its end */
	int incumbent;
	double spent_s; /* of this part of it */
	unsigned switches;
	bool restored;		/* everything is as it was before: neither `left` nor `stuck` */
	const char *left;	/* what somebody else has set meanwhile and was left alone; NULL: nothing */
	const char *stuck;	/* what could not be put back, with what does it by hand; NULL: nothing */
	const char *running;	/* the last processes that a workload left running, as struct bench; NULL: none */
	double foreign;		/* the largest share of the CPUs that others took in a run; NAN: not known */
	const char *energy;	/* why no energy is measured, or NULL */
	struct bench_lack lack; /* of all its runs, those before a boot or a pause too */
	bool reboots;		/* it goes on after the boot that is asked for */
	bool over;		/* a limit of heat or power was exceeded */
	bool paused;		/* somebody wished it to hold */
	bool asks;		/* it goes on when a person has done what it asks for (study_hand.h) */
};

void study_outcome_clear(struct study_outcome *outcome);

/*
 * Run a study to its end, its budget, or a signal. Whatever happens, all that was changed is put back before it
 * returns. 0 also when it was stopped: see outcome->state. Errors: what kept it from being run, with `ret` filled as
 * far as it came; the machine is put back then too.
 */
int study_run(const struct study_setup *setup, struct study_outcome *ret, struct err *err);

/* The knobs that the factors set, ended by NULL; in the arena. */
const char *const *study_knob_names(struct arena *arena, const struct study *study);

/* A new uid, in the arena. */
const char *study_uid(struct arena *arena);

/*
 * The runs of the study with that uid, of all its sessions. *ret_meter: what it was measured by (see study_meter.h);
 * NULL: no energy was. In the arena. -ENOENT.
 */
int study_load(struct arena *arena, struct store *store, const struct study_matrix *matrix, const char *uid,
	       struct study_seen **ret, size_t *ret_count, const char **ret_meter, struct err *err);

/* The same, and which number among the boots (struct study_seen) the one with that id has. */
int study_load_boot(struct arena *arena, struct store *store, const struct study_matrix *matrix, const char *uid,
		    const char *boot, struct study_seen **ret, size_t *ret_count, int *ret_boot, const char **ret_meter,
		    struct err *err);

#endif

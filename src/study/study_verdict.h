/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a study answers, from its runs alone: where every configuration stands in time, energy and watts, which of
 * them no other beats, the picks (fastest, most efficient, ...) with how sure each is and what more time would bring,
 * idle watts with the traces that levels left behind, and each lever's share. No text form in here: reports draw it.
 */
#ifndef HVTUNE_STUDY_VERDICT_H
#define HVTUNE_STUDY_VERDICT_H

#include "stat_effects.h"
#include "stat_outlook.h"
#include "study_next.h"

/* In the order in which they are told; the words are those of --pick. */
enum study_pick {
	STUDY_FASTEST,	 /* "fastest": the least time */
	STUDY_EFFICIENT, /* "efficient": the least joules per run */
	STUDY_NEAR,	 /* "near": the least joules among those at most `slower` slower than the fastest */
	STUDY_KNEE,	 /* "knee": the least product of time and energy, the middle of the two on logs (methods 3.5) */
	STUDY_QUIET,	 /* "idle": the least idle watts */
	STUDY_PICKS,
};

const char *study_pick_name(enum study_pick pick);

enum study_keeps { STUDY_NO_LIMIT, STUDY_KEEPS, STUDY_BREAKS, STUDY_KEEPS_UNKNOWN };

/*
 * A configuration that was measured. Values by enum study_goal: seconds (of several workloads their weighted geometric
 * mean, of a rate its inverse), joules per run, watts, watts. `estimate` is NAN where it was not measured; bounds are 0
 * and infinite where too few runs allow none.
 */
struct study_row {
	int config;
	int runs, voids; /* of the choice, without warm-up runs */
	int boots;
	struct stat_interval value[STUDY_GOALS];
	struct stat_interval ratio[STUDY_GOALS]; /* to the baseline; of blocks they hold all together; NAN: not known */
	double good[STUDY_GOALS];		 /* P(within study->within of the best); NAN: not known */
	double dominated; /* P(another is at most as slow and takes at most as much energy); NAN: not known */
	bool front;	  /* dominated < .5: on the Pareto front of time and energy */
	enum study_keeps keeps[STUDY_GOALS]; /* the limit (at_most) of that goal */
	bool allowed;			     /* keeps all limits */
	bool given_up; /* nothing but void runs came of it, and it was left out: see study_given_up() */
};

/* A configuration that is picked for something. */
struct study_picked {
	int config;	    /* -1: there is none */
	const char *why;    /* there is none, one sentence without a full stop; else NULL */
	bool sought;	    /* the study asked for it and ran until it knew; else it falls out of the runs */
	bool sure;	    /* the design's own word: within study->within of the best, with study->confidence */
	const char *unsure; /* what keeps it from being sure, a clause; NULL: it is sure, or there is none */
	/*
	 * From the runs as they are: P(it is not within study->within), regrets, what doubling the time would bring.
	 * NAN: too few runs to tell.
	 */
	struct stat_outlook outlook;
};

/*
 * What STUDY_NEAR would be by another share, with the least share (of the fastest's time) at which it is that one; it
 * stays so up to the next. How sure it is holds up to there too: the more may be near, the less sure it is.
 */
struct study_near {
	double slower;
	struct study_picked pick;
};

/* Idle windows of one configuration (study A: settled, then a window; its mean, and its lowest part). */
struct study_idle {
	int config, windows;
	struct stat_interval watts; /* mean over windows; of one window from its parts */
	double lowest;		    /* W: the lowest part of a window */
	double busy;		    /* share of the CPUs that was busy, the worst window; NAN: not known */
	struct stat_interval over;  /* W above the baseline; NAN for the baseline itself */
	/*
	 * The trace: watts of the baseline after this one was left without a boot, less those before it was entered.
	 * `left` when the interval excludes 0 and it is more than a hundredth of the idle watts. NAN: it was not looked
	 * at (a boot lies between).
	 */
	struct stat_interval trace;
	bool left;
	int behind; /* measured while the trace of that configuration may still have been there; -1: no */
};

/* How the shares were found. */
enum study_shares_by {
	STUDY_SHARES_NONE,    /* see why */
	STUDY_SHARES_ENDS,    /* (first in + last in) / 2 from 2k + 2 configurations */
	STUDY_SHARES_SHAPLEY, /* all 2^k corners were measured */
	STUDY_SHARES_MODEL,   /* Shapley values of the model's posterior */
};

struct study_lever {
	size_t factor, from, to;    /* levels: of the baseline, of the target */
	struct stat_interval share; /* ratio that it contributes, on its own and half of each interaction */
	double least, most;	    /* ratios: its range over all orders that were measured, or first in and last in */
	double alone;		    /* ratio: alone on the baseline */
	bool equivalent;	    /* its interval lies inside the margin: it does nothing worth a name */
};

/* A chain of single steps: only to be shown with the words "in this order". */
struct study_chain {
	size_t lever; /* its index */
	int config;   /* after the step */
	double value; /* of it, in the unit of the goal */
	double step;  /* ratio to the one before */
};

/* What each lever contributes on the way from the baseline to `config`. Sorted, the largest gain first. */
struct study_shares {
	enum study_shares_by by;
	const char *why; /* there are none */
	int config;
	struct study_lever *levers;
	size_t count;
	struct stat_interval total;    /* ratio of `config` to the baseline as measured: the end bar */
	struct stat_interval residual; /* total over the product of the shares: three together and more */
	bool attributable;	       /* the residual's interval holds 1 */
	double start, end;	       /* values of the baseline and of `config` */
	struct study_chain *chain;     /* count steps; NULL: not all of its configurations were measured */
};

struct study_verdict {
	struct study_row *rows; /* by time, else by the first goal that was measured; the fastest first */
	size_t row_count;
	bool measured[STUDY_GOALS];
	double slower; /* of STUDY_NEAR: .05 */
	struct study_picked picks[STUDY_PICKS];
	struct study_near *nears; /* from the least share on; none where STUDY_NEAR is none */
	size_t near_count;
	struct study_idle *idles; /* in the order in which they were measured first; the baseline is the first */
	size_t idle_count;
	const char *idle_why; /* why idle watts were sought and are not there; NULL */
	/*
	 * Fastest against lowest idle: a run must start more often than every so many seconds for the fastest to take
	 * less energy in all (methods 3.5). NAN: the two are one, or not known; 0: it never does.
	 */
	double break_even_s;
	/*
	 * Of the design one-by-one: the configuration with every lever on whose share is a gain, when it was not
	 * measured and should be better than all that were; -1: there is none. Its ratio of time to the baseline is
	 * what the shares add up to, no measurement.
	 */
	int together;
	double together_ratio;
	struct study_shares shares[STUDY_GOALS]; /* of time, energy and watts under load */
	size_t voids;
	bool few[STUDY_GOALS]; /* too few runs to tell odds of that goal; good and dominated are NAN */
	double minutes;	       /* of all runs of the choice; "doubling the time" is that again */
};

struct study_verdict_options {
	double slower; /* 0: .05 */
};

/*
 * All of it, in the engine's arena. -ENODATA: nothing that counts was measured yet. Takes some tenths of a second for
 * races over thousands of configurations.
 */
int study_verdict(struct study_engine *engine, const struct study_seen *seen, size_t count,
		  const struct study_verdict_options *options, struct study_verdict *ret, struct err *err);

/* The row of a configuration, or NULL: it was not measured. */
const struct study_row *study_verdict_row(const struct study_verdict *verdict, int config);

#endif

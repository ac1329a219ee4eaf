/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the plan: which points are written, in which order, what else will move, what it hurts and what has to follow.
 * A plan writes nothing; knob_apply() does.
 */
#ifndef HVTUNE_KNOB_PLAN_H
#define HVTUNE_KNOB_PLAN_H

#include "knob.h"

/* The points of one ask: written one after the other. */
struct knob_step {
	const struct knob *knob;
	const char *name;
	size_t first, count; /* of plan->points */
};

struct knob_plan {
	struct knob_points points; /* what is written, in order of writing */
	struct knob_step *steps;
	size_t step_count;
	struct knob_points guards;  /* what may move with it, with `old`; put back by undo */
	struct knob_points already; /* what holds the value already */
	const char **notes;	    /* note_count remarks: what hurts, who else writes these knobs */
	size_t note_count;
	const char *follows; /* "a reboot", or NULL */
	const char *hole;    /* the ask that opens a security hole ("boot.mitigations=off"), or NULL */
};

/*
 * Make a plan of `count` asks. Points, steps and texts live in the machine's arena. -EINVAL, -ENOENT, -ERANGE with a
 * clear err; the same point asked twice with unlike values is refused. A plan without points has nothing to do.
 */
int knob_plan_make(struct knob_machine *machine, const struct knob_ask *asks, size_t count, struct knob_plan *ret,
		   struct err *err);

/*
 * What the plan makes of the point of that knob and label: the one that it writes or that holds the value already; NULL
 * when the knob was not asked for there.
 */
const struct knob_point *knob_plan_find(const struct knob_plan *plan, const char *knob, const char *label);

/* May a step of the plan move that knob on CPUs that are there, besides writing it? */
bool knob_plan_moves(const struct knob_plan *plan, const char *knob);

/* What a knob's follow() is given, and adds to. */
struct knob_following {
	const struct knob_ask *asks; /* what was asked for */
	size_t count;
	struct knob_ask *more; /* what it adds: written like the rest, by rank */
	size_t more_count;
	struct knob_plan *plan; /* for knob_plan_note() */
};

/* Is this knob among what was asked for? */
bool knob_following_asks(const struct knob_following *following, const char *name);

/* Add an ask; its texts must live as long as the plan. */
void knob_following_add(struct knob_machine *machine, struct knob_following *following, const struct knob_ask *ask);

/* Add a remark; the text must live as long as the plan. */
void knob_plan_note(struct knob_machine *machine, struct knob_plan *plan, const char *text);

#endif

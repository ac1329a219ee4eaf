/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what a study meets on a machine, before anything is touched: levels that cannot be set here, levels that cannot
 * meet, what needs a boot before it can be said, and how many switches of each kind the designs take.
 */
#ifndef HVTUNE_STUDY_CHECK_H
#define HVTUNE_STUDY_CHECK_H

#include "knob_plan.h"
#include "study_matrix.h"

enum study_problem_kind {
	STUDY_LEVEL_REFUSED, /* cannot be set here, with no level of another factor */
	STUDY_PAIR_REFUSED,  /* two levels that can be set, and not together; "never" is missing */
	STUDY_LEVEL_TWICE,   /* another level of its factor sets the same */
	STUDY_LEVEL_LATER,   /* see study_level_later(): it cannot be said now */
	STUDY_WORKLOAD,	     /* its program or directory is not there */
	STUDY_NOT_HERE,	     /* this machine is not one that can be booted so, or not so often */
	STUDY_VM,	     /* a VM of the study cannot be restarted or measured here */
	STUDY_VM_SILENT,     /* a VM of the study cannot say that it is up: it is given time instead */
	STUDY_NOT_YET,	     /* hvtune cannot do it by itself yet */
	STUDY_NO_METER,	     /* it is to be measured or watched, and nothing here tells it */
	STUDY_NO_IDLE,	     /* idle watts are sought beside others, and nothing here tells them: they are left out */
	STUDY_NO_DESIGN,     /* the design does not suit the factors */
	STUDY_RISK,	     /* opens a security hole while it is in force; the study asks for consent */
};

struct study_problem {
	enum study_problem_kind kind;
	unsigned line;	  /* of the study file */
	const char *what; /* "driver=passive", "driver=passive with epp=power" */
	const char *why;  /* one sentence */
};

struct study_checked {
	struct study_problem *problems;
	size_t count, room;
	bool possible; /* no problem is in the way */
};

/* Add one; texts must live as long as it, the list lives in `arena`. Then sort them by line. */
void study_problem_add(struct arena *arena, struct study_checked *checked, enum study_problem_kind kind, unsigned line,
		       const char *what, const char *why);
void study_problems_sort(struct study_checked *checked);

/*
 * Look at every level, and every pair of levels of two factors, by planning it. The machine is only read. Problems in
 * the order of the file's lines; texts live in the machine's arena.
 */
void study_check(struct knob_machine *machine, const struct study_matrix *matrix, struct study_checked *ret);

/* How a level can be set on a machine. */
enum study_possible { STUDY_NOT_AT_ALL, STUDY_BESIDE_SOME, STUDY_BY_ITSELF };

/* `err` says why not by itself. Planned only; nothing is written. */
enum study_possible study_level_possible(struct knob_machine *machine, const struct study *study, size_t factor,
					 size_t level, struct err *err);

/*
 * Does the level set something that is not there now and may be after the boot that it, or another factor, makes, or
 * that only the running machine can be asked for, and this is a copy? Then it cannot be said whether it can be set.
 * False also when the rest of what it sets is refused now.
 */
bool study_level_later(struct knob_machine *machine, const struct study *study, const struct study_level *level);

/* Plan two levels together; `b` may be NULL. As knob_plan_make(). */
int study_pair_plan(struct knob_machine *machine, const struct study_level *a, const struct study_level *b,
		    struct knob_plan *ret, struct err *err);

/* Do all configurations with both levels fall under "never"? Then they do not meet. */
bool study_pair_forbidden(const struct study *study, size_t f, size_t i, size_t g, size_t j);

/* Does the problem keep the study from running? */
bool study_problem_blocks(enum study_problem_kind kind);

/* Switches that visiting all configurations once takes, by cost; from the baseline and back. */
struct study_switches {
	size_t count[STUDY_COSTS];
};

void study_count_switches(const struct study_matrix *matrix, struct study_switches *ret);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns how changes of a machine are shown: the plan before, the report after, and what is in force. Points that hold
 * the same are folded: "CPUs 0-63".
 */
#ifndef HVTUNE_REPORT_KNOB_H
#define HVTUNE_REPORT_KNOB_H

#include <jansson.h>

#include "knob_status.h"
#include "term.h"

/* Points of one knob that are alike. */
struct report_fold {
	const struct knob_point *first;
	size_t index; /* of `first` among what was folded */
	size_t count;
	const char *who; /* "CPUs 0-63", "node 0", "web1 vCPU 3"; "" where there is only one */
};

/* Are the things that belong to the points at `a` and `b` alike? Called only for points of the same knob. */
typedef bool (*report_alike)(const void *data, size_t a, size_t b);

/* Fold `count` points, groups in the order of their first points; in the arena. The number of groups is returned. */
size_t report_fold(struct arena *arena, const struct knob_point *const *points, size_t count, report_alike alike,
		   const void *data, struct report_fold **ret);

/*
 * A label before a text, indented, in `width` columns: the column at which the text is to go on is returned. One that
 * is longer has a line of its own. The width that `label` wants, at least `least`, within reason.
 */
int report_knob_label(const struct term *term, int width, const char *label);
int report_knob_label_width(int least, const char *label);

/* What is written, in order; what is so already, what moves, what to know. Nothing to do: says so. */
void report_knob_plan(const struct term *term, struct arena *arena, const struct knob_plan *plan);

/*
 * Add to `json` the fields "steps", "already", "moves", "notes", "follows" and "hole". Values are null where a file is
 * not there.
 */
void report_knob_plan_json(json_t *json, const struct knob_plan *plan);

/* What happened to the points, a line for each kind; points that were right all the time are left out. */
void report_knob_events(const struct term *term, struct arena *arena, const struct knob_report *report);

/* A list of {"knob", "at", "label", "old", "new", "now", "outcome", "why"}. */
json_t *report_knob_events_json(const struct knob_report *report);

/* "left alone", "put back"...: in JSON. */
const char *report_knob_outcome(enum knob_outcome outcome);

/* One change in force, with its drift below it. `at_work`: another hvtune is changing the machine. */
void report_knob_standing(const struct term *term, struct arena *arena, const struct knob_standing *standing,
			  bool at_work);
json_t *report_knob_standing_json(const struct knob_standing *standing);

/*
 * A knob with the points that it has here: a line of a list, its page, and JSON. `points` may be empty; `absent` then
 * says why.
 */
void report_knob_line(const struct term *term, struct arena *arena, const struct knob *knob,
		      const struct knob_points *points);
void report_knob_page(const struct term *term, struct knob_machine *machine, const struct knob *knob,
		      const struct knob_points *points, const char *absent);
json_t *report_knob_json(struct knob_machine *machine, const struct knob *knob, const struct knob_points *points,
			 const char *absent);

#endif

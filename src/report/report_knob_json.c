/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns plans, reports and changes in force as JSON. */
#include "report.h"
#include "report_knob.h"

static json_t *point_json(const struct knob_point *point)
{
	json_t *json = json_object();

	json_object_set_new(json, "knob", report_json_text(point->name));
	json_object_set_new(json, "at", report_json_text(point->where));
	json_object_set_new(json, "label", report_json_text(point->label));
	return json;
}

/* With the value that it holds. */
static json_t *held_json(const struct knob_points *points)
{
	json_t *list = json_array();

	for (size_t i = 0; i < points->count; i++) {
		json_t *json = point_json(&points->items[i]);

		json_object_set_new(json, "value", report_json_text(points->items[i].old));
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *step_json(const struct knob_plan *plan, const struct knob_step *step)
{
	json_t *writes = json_array();

	for (size_t i = step->first; i < step->first + step->count; i++) {
		const struct knob_point *point = &plan->points.items[i];
		json_t *json = point_json(point);

		json_object_set_new(json, "old", report_json_text(point->old));
		json_object_set_new(json, "new", report_json_text(point->new));
		json_array_append_new(writes, json);
	}
	return json_pack("{s:s, s:o}", "knob", step->name, "writes", writes);
}

void report_knob_plan_json(json_t *json, const struct knob_plan *plan)
{
	json_t *steps = json_array(), *notes = json_array();

	for (size_t i = 0; i < plan->step_count; i++)
		json_array_append_new(steps, step_json(plan, &plan->steps[i]));
	for (size_t i = 0; i < plan->note_count; i++)
		json_array_append_new(notes, report_json_text(plan->notes[i]));
	json_object_set_new(json, "steps", steps);
	json_object_set_new(json, "already", held_json(&plan->already));
	json_object_set_new(json, "moves", held_json(&plan->guards));
	json_object_set_new(json, "notes", notes);
	json_object_set_new(json, "follows", report_json_text(plan->follows));
	json_object_set_new(json, "hole", report_json_text(plan->hole));
}

json_t *report_knob_events_json(const struct knob_report *report)
{
	json_t *list = json_array();

	for (size_t i = 0; i < report->count; i++) {
		const struct knob_event *event = &report->events[i];
		json_t *json = point_json(&event->point);

		json_object_set_new(json, "old", report_json_text(event->point.old));
		json_object_set_new(json, "new", report_json_text(event->point.new));
		json_object_set_new(json, "now", report_json_text(event->now));
		json_object_set_new(json, "outcome", json_string(report_knob_outcome(event->outcome)));
		json_object_set_new(json, "why", report_json_text(event->why));
		json_array_append_new(list, json);
	}
	return list;
}

json_t *report_knob_standing_json(const struct knob_standing *standing)
{
	const struct knob_change *change = standing->change;

	return json_pack("{s:i, s:o, s:I, s:b, s:b, s:I, s:I, s:o}", "id", (int)change->id, "what",
			 report_json_text(change->what), "time", (json_int_t)change->time_s, "cut_short",
			 standing->cut_short, "other_boot", standing->other_boot, "lasting",
			 (json_int_t)standing->lasting, "passing", (json_int_t)standing->passing, "drift",
			 report_knob_events_json(&standing->drift));
}

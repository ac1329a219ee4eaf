/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the look at changes in force. */
#include "knob_status.h"

#include <errno.h>

#include "knob_apply_internal.h"
#include "text.h"

bool knob_at_work(struct knob_machine *machine)
{
	return sys_writer_is_locked(machine->writer, KNOB_LOCK);
}

/* Has a later change that still counts written the same point? Then that one tells of it. */
static bool written_again(struct knob_machine *machine, const struct knob_journal *journal,
			  const struct knob_change *change, const struct knob_point *point)
{
	for (const struct knob_change *later = change + 1; later < journal->changes + journal->count; later++) {
		if (later->state == KNOB_CHANGE_UNDONE || (knob_other_boot(machine, later) && !knob_lasts(point->knob)))
			continue;
		for (size_t i = 0; i < later->point_count; i++)
			if (later->points[i].knob == point->knob && text_equal(later->points[i].where, point->where))
				return true;
	}
	return false;
}

static bool holds_what_was_left(struct knob_machine *machine, const struct knob_event *event, bool rebooted)
{
	const struct knob *knob = event->point.knob;

	return knob_same(knob, event->now, event->point.new) ||
	       (rebooted && knob_same(knob, event->now, knob_booted(machine, knob, event->point.new)));
}

static void look_at_point(struct knob_machine *machine, const struct knob_change *change, size_t index,
			  struct knob_standing *standing)
{
	const struct knob_point *point = &change->points[index];
	struct knob_event event = {.outcome = KNOB_DRIFTED, .point = *point};
	struct err why = {0};
	int r = knob_get(machine, point, &event.now, &why);

	if (change->now)
		event.point.new = change->now[index];
	if (r == 0 && holds_what_was_left(machine, &event, standing->other_boot))
		return;
	if (r < 0 && r != -ENOENT)
		event.why = arena_strdup(machine->arena, why.what);
	knob_report_add(machine, &standing->drift, &event);
}

void knob_standing(struct knob_machine *machine, const struct knob_journal *journal, const struct knob_change *change,
		   struct knob_standing *ret)
{
	*ret = (struct knob_standing){
	    .change = change,
	    .cut_short = change->state == KNOB_CHANGE_OPEN || change->state == KNOB_CHANGE_FAILED ||
			 (change->state == KNOB_CHANGE_DONE && change->undo_begun),
	    .other_boot = knob_other_boot(machine, change),
	};
	for (size_t i = 0; i < change->point_count; i++) {
		const struct knob_point *point = &change->points[i];

		if (!point->knob || knob_lasts(point->knob))
			ret->lasting++;
		else
			ret->passing++;
		/* In the middle of a change nothing has to hold anything. */
		if (!point->knob || ret->cut_short || (ret->other_boot && !knob_lasts(point->knob)) ||
		    written_again(machine, journal, change, point))
			continue;
		look_at_point(machine, change, i, ret);
	}
}

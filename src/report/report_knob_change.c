/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what happened to points, and changes in force, as text. */
#include <time.h>

#include "report_knob.h"
#include "text.h"

static const struct {
	const char *name;
	bool told; /* to people; JSON has all */
} outcomes[] = {
    [KNOB_PUT_BACK] = {"put back", true}, [KNOB_WAS_BACK] = {"unchanged", false},
    [KNOB_GONE] = {"gone", true},	  [KNOB_LEFT] = {"left alone", true},
    [KNOB_STUCK] = {"stuck", true},	  [KNOB_NOT_STICKY] = {"did not stick", true},
    [KNOB_REFUSED] = {"refused", true},	  [KNOB_DRIFTED] = {"drifted", true},
};

const char *report_knob_outcome(enum knob_outcome outcome)
{
	return outcomes[outcome].name;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || text_equal(a, b);
}

static bool same_event(const void *data, size_t a, size_t b)
{
	const struct knob_event *const *events = data, *one = events[a], *other = events[b];

	return one->outcome == other->outcome && same_text(one->now, other->now) && same_text(one->why, other->why) &&
	       same_text(one->point.old, other->point.old) && same_text(one->point.new, other->point.new);
}

/* A value in a sentence; that of a whole file would be a page. */
static const char *shown(const char *text)
{
	return !text ? "nothing" : strchr(text, '\n') ? "another text" : *text ? text : "(empty)";
}

static const char *sentence(struct arena *arena, const struct knob_event *event)
{
	const char *now = shown(event->now), *old = shown(event->point.old), *new = shown(event->point.new);

	switch (event->outcome) {
	case KNOB_PUT_BACK:
		return event->point.old && strchr(event->point.old, '\n') ? "put back"
		       : event->point.old				  ? arena_printf(arena, "%s again", old)
									  : "removed again";
	case KNOB_WAS_BACK:
		return arena_printf(arena, "%s as before", old);
	case KNOB_GONE:
		return event->why ? event->why : "not there any more";
	case KNOB_LEFT:
		return arena_printf(arena, "left alone: %s", event->why ? event->why : "someone has set it since");
	case KNOB_STUCK:
		return arena_printf(arena, "holds %s and could not be put back to %s%s%s", now, old,
				    event->why ? ": " : "", event->why ? event->why : "");
	case KNOB_NOT_STICKY:
		return arena_printf(arena, "%s was written, it holds %s", new, now);
	case KNOB_REFUSED:
		return arena_printf(arena, "%s: %s", new, event->why ? event->why : "refused");
	case KNOB_DRIFTED:
		return event->why   ? event->why
		       : event->now ? arena_printf(arena, "holds %s, %s was written", now, new)
				    : arena_printf(arena, "is not there any more, %s was written", new);
	}
	return "";
}

static void print_event(const struct term *term, struct arena *arena, int width, const struct report_fold *fold,
			const struct knob_event *event)
{
	term_flow(term, report_knob_label(term, width, fold->first->name), true,
		  arena_printf(arena, "%s%s%s%s", sentence(arena, event), *fold->who ? " (" : "", fold->who,
			       *fold->who ? ")" : ""));
}

void report_knob_events(const struct term *term, struct arena *arena, const struct knob_report *report)
{
	const struct knob_point **points = ARENA_ARRAY(arena, report->count + 1, const struct knob_point *);
	const struct knob_event **events = ARENA_ARRAY(arena, report->count + 1, const struct knob_event *);
	struct report_fold *folds;
	size_t count = 0, fold_count;
	int width = report_knob_label_width(0, "so already");

	for (size_t i = 0; i < report->count; i++)
		if (outcomes[report->events[i].outcome].told) {
			events[count] = &report->events[i];
			points[count++] = &report->events[i].point;
			width = report_knob_label_width(width, report->events[i].point.name);
		}
	fold_count = report_fold(arena, points, count, same_event, events, &folds);
	for (size_t i = 0; i < fold_count; i++)
		print_event(term, arena, width, &folds[i], events[folds[i].index]);
}

/* "2026-01-30 12:00" */
static const char *when_text(struct arena *arena, int64_t time_s)
{
	char text[32] = "";
	time_t seconds = (time_t)time_s;
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &parts) == 0)
		return "an unknown time";
	return arena_strdup(arena, text);
}

static const char *lasting_text(const struct knob_standing *standing)
{
	if (standing->other_boot)
		return standing->passing ? "a reboot has cleared a part of it" : "it has outlived a reboot";
	if (!standing->lasting)
		return "a reboot clears it";
	return standing->passing ? "a reboot clears a part of it" : "it outlives a reboot";
}

void report_knob_standing(const struct term *term, struct arena *arena, const struct knob_standing *standing,
			  bool at_work)
{
	const struct knob_change *change = standing->change;

	(void)fprintf(term->out, "%3u  ", change->id);
	term_flow(term, 5, true,
		  arena_printf(arena, "%s  since %s; %s", change->what, when_text(arena, change->time_s),
			       lasting_text(standing)));
	if (standing->cut_short && at_work) {
		term_flow(term, 5, false, "another hvtune is at work on it");
	} else if (standing->cut_short) {
		(void)fprintf(term->out, "%5s%s", "", term_on(term, TERM_YELLOW));
		term_flow(term, 5, true,
			  arena_printf(arena, "%s; put it back: hvtune undo %u",
				       change->undo_begun ? "its undo was cut short, or could not put everything back"
							  : "it was cut short before it was done",
				       change->id));
		(void)fputs(term_on(term, TERM_PLAIN), term->out);
	}
	report_knob_events(term, arena, &standing->drift);
}

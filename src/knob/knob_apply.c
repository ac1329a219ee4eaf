/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns carrying out a plan: the writes in their order, the journal ahead of them, the looks after them. */
#include <errno.h>
#include <time.h>

#include "knob_apply_internal.h"
#include "text.h"

void knob_report_add(struct knob_machine *machine, struct knob_report *report, const struct knob_event *event)
{
	if (report->count == report->room) {
		struct knob_event *larger;

		report->room = report->room ? 2 * report->room : 64;
		larger = ARENA_ARRAY(machine->arena, report->room, struct knob_event);
		if (report->count)
			memcpy(larger, report->events, report->count * sizeof(*larger));
		report->events = larger;
	}
	report->events[report->count++] = *event;
}

int knob_begin_work(struct knob_machine *machine, struct knob_journal *ret, struct err *err)
{
	int r = sys_writer_lock(machine->writer, KNOB_LOCK, err);

	if (r == 0)
		r = knob_journal_read(machine, ret, err);
	/* What a kill has torn is cut off, or the next record would be one with it. */
	if (r == 0 && ret->torn)
		r = sys_writer_cut(machine->writer, KNOB_JOURNAL, ret->whole, err);
	if (r == 0)
		ret->torn = false;
	return r;
}

int knob_settle(struct knob_machine *machine, const struct knob_point *points, size_t count, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct knob_actuator *actuator = points[i].knob ? points[i].knob->actuator : NULL;
		bool done = false;

		if (!actuator || !actuator->settle)
			continue;
		for (size_t j = 0; j < i; j++)
			done = done || (points[j].knob && points[j].knob->actuator == actuator);
		r = done ? 0 : actuator->settle(machine, points, count, err);
	}
	return r;
}

struct applying {
	struct knob_machine *machine;
	const struct knob_plan *plan;
	const struct knob_apply_options *options;
	struct knob_change *change;
	struct knob_report *report;
};

static bool is_stopped(const struct applying *applying)
{
	return applying->options->stop && applying->options->stop(applying->options->data);
}

static void tell(const struct applying *applying, size_t written)
{
	if (applying->options->tell)
		applying->options->tell(applying->options->data, written, applying->plan->points.count);
}

static int interrupted(struct applying *applying, struct err *err)
{
	applying->report->interrupted = true;
	return err_set(err, ECANCELED, NULL, "interrupted");
}

/* What was found when the plan was made must still be there: somebody read it and said yes. */
static int check_unmoved(struct knob_machine *machine, const struct knob_plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->points.count; i++) {
		const struct knob_point *point = &plan->points.items[i];
		const char *now = NULL;
		int r = knob_get(machine, point, &now, err);

		if (r < 0 && r != -ENOENT)
			return r;
		if (!knob_same(point->knob, now, point->old)) {
			(void)err_set(err, EAGAIN, knob_place(point),
				      "has changed since the plan was made: it was %s, it is %s",
				      point->old ? point->old : "absent", now ? now : "absent");
			return err_hint(err, "look at a new plan");
		}
	}
	return 0;
}

/* A point that has to appear does so a moment after what makes it appear. */
static int set_point(const struct applying *applying, const struct knob_point *point, struct err *err)
{
	const struct timespec moment = {.tv_nsec = 50000000};
	int r = -ENOENT;

	for (int tries = 0; tries < (point->old ? 1 : 20); tries++) {
		r = point->knob->actuator->set(applying->machine, point->where, point->new, err);
		if (r != -ENOENT)
			return r;
		(void)nanosleep(&moment, NULL);
	}
	return r;
}

static int widen_point(const struct applying *applying, const struct knob_point *point, struct err *err)
{
	const struct knob *knob = point->knob;

	return knob->widen ? knob->widen(applying->machine, point->where, point->new, err) : 0;
}

/* Do it with all points of the step, until one refuses. */
static int write_points(struct applying *applying, const struct knob_step *step,
			int (*put)(const struct applying *applying, const struct knob_point *point, struct err *err),
			struct err *err)
{
	for (size_t i = step->first; i < step->first + step->count; i++) {
		const struct knob_point *point = &applying->plan->points.items[i];
		const char *now = NULL;
		struct err why = {0}, ignored = {0};
		int r;

		if (is_stopped(applying))
			return interrupted(applying, err);
		if (put == set_point)
			tell(applying, i);
		r = put(applying, point, &why);
		if (r == 0)
			continue;
		(void)knob_get(applying->machine, point, &now, &ignored);
		knob_report_add(
		    applying->machine, applying->report,
		    &(struct knob_event){KNOB_REFUSED, *point, now, arena_strdup(applying->machine->arena, why.what)});
		(void)err_copy(err, &why);
		/* What an actuator calls a point that is no file is for the journal. */
		if (err && *point->where != '/')
			(void)snprintf(err->where, sizeof(err->where), "%s", knob_place(point));
		return r;
	}
	return 0;
}

static int write_step(struct applying *applying, const struct knob_step *step, struct err *err)
{
	int r = write_points(applying, step, widen_point, err);

	return r < 0 ? r : write_points(applying, step, set_point, err);
}

static int write_all_steps(struct applying *applying, struct err *err)
{
	for (size_t i = 0; i < applying->plan->step_count; i++) {
		int r = knob_journal_step(applying->machine, applying->change, i, KNOB_STEP_WRITING, err);

		if (r == 0)
			r = write_step(applying, &applying->plan->steps[i], err);
		if (r == 0)
			r = knob_journal_step(applying->machine, applying->change, i, KNOB_STEP_WRITTEN, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Does a point hold what was written? `before` is what it held at an earlier look, or NULL. */
static bool is_held(const struct knob_point *point, const char *now, const char *before)
{
	const char *stands_for = point->knob->stands_for;

	/* What such a word stands for is known once it was read. */
	if (now && stands_for && point->new &&text_equal(point->new, stands_for))
		return !before || knob_same(point->knob, now, before);
	return knob_same(point->knob, now, point->new);
}

/*
 * Do all points hold what was written? Those that do not are reported. What is read at once is what the kernel made of
 * it, and ours to put back; what it is later may be somebody else's.
 */
static int verify(struct applying *applying, bool at_once, struct err *err)
{
	struct arena *arena = applying->machine->arena;
	const char **read = ARENA_ARRAY(arena, applying->plan->points.count + 1, const char *);
	size_t wrong = 0;

	for (size_t i = 0; i < applying->plan->points.count; i++) {
		const struct knob_point *point = &applying->plan->points.items[i];
		const char *now = NULL, *before = at_once ? NULL : applying->change->now[i];
		struct err why = {0};
		int r = knob_get(applying->machine, point, &now, &why);

		if (r < 0 && r != -ENOENT) {
			(void)err_copy(err, &why);
			return r;
		}
		read[i] = now;
		if (is_held(point, now, before))
			continue;
		if (wrong++ == 0) {
			(void)err_set(err, EREMOTEIO, knob_place(point),
				      "did not stick: %s was written, %s it holds %s",
				      point->new ? point->new : "nothing",
				      at_once ? "and at once" : "but a moment later", now ? now : "nothing");
			(void)err_hint(err, "%s",
				       point->knob->unit == KNOB_OF_HOST || point->knob->unit == KNOB_OF_CPUS
					   ? "hvtune status names who else writes it"
					   : "");
		}
		knob_report_add(applying->machine, applying->report,
				&(struct knob_event){KNOB_NOT_STICKY, *point, now, NULL});
	}
	if (at_once)
		applying->change->now = read;
	return wrong ? -EREMOTEIO : 0;
}

static int wait_to_settle(struct applying *applying, struct err *err)
{
	const struct timespec moment = {.tv_nsec = 50000000};

	for (unsigned waited_ms = 0; waited_ms < applying->options->settle_ms; waited_ms += 50) {
		if (is_stopped(applying))
			return interrupted(applying, err);
		tell(applying, applying->plan->points.count);
		(void)nanosleep(&moment, NULL);
	}
	return 0;
}

static void note_moved(struct applying *applying)
{
	struct knob_change *change = applying->change;
	struct err ignored = {0};

	change->moved = ARENA_ARRAY(applying->machine->arena, change->guard_count + 1, const char *);
	for (size_t i = 0; i < change->guard_count; i++)
		(void)knob_get(applying->machine, &change->guards[i], &change->moved[i], &ignored);
}

static int write_and_verify(struct applying *applying, struct err *err)
{
	int r = write_all_steps(applying, err);

	if (r == 0)
		r = knob_settle(applying->machine, applying->plan->points.items, applying->plan->points.count, err);
	if (r == 0)
		r = verify(applying, true, err);
	/* Without a wait a second look would follow the first at once. */
	if (r == 0 && applying->options->settle_ms) {
		r = wait_to_settle(applying, err);
		if (r == 0)
			r = verify(applying, false, err);
	}
	if (r < 0)
		return r;
	note_moved(applying);
	return knob_journal_end(applying->machine, applying->change, KNOB_CHANGE_DONE, NULL, err);
}

/*
 * An open or half undone change says that the machine is in between: nothing is put on top of that. One that a boot has
 * cleared is nowhere any more, and no undo knows it.
 */
static int check_whole(struct knob_machine *machine, const struct knob_journal *journal, struct err *err)
{
	for (size_t i = journal->count; i-- > 0;) {
		const struct knob_change *change = &journal->changes[i];

		if (!knob_counts(machine, change) || (change->state == KNOB_CHANGE_DONE && !change->undo_begun))
			continue;
		(void)err_set(err, EBUSY, KNOB_JOURNAL, "change %u (%s) was cut short", change->id, change->what);
		return err_hint(err, "put it back first: hvtune undo %u", change->id);
	}
	return 0;
}

int knob_apply(struct knob_machine *machine, const struct knob_plan *plan, const struct knob_apply_options *options,
	       struct knob_report *ret, struct err *err)
{
	struct knob_journal journal = {0};
	struct applying applying = {.machine = machine, .plan = plan, .options = options, .report = ret};
	struct err journal_err = {0};
	int r;

	*ret = (struct knob_report){0};
	if (plan->points.count == 0)
		return 0;
	r = knob_begin_work(machine, &journal, err);
	ret->damage = journal.damage;
	if (r == 0)
		r = check_whole(machine, &journal, err);
	if (r == 0)
		r = check_unmoved(machine, plan, err);
	if (r == 0 && is_stopped(&applying))
		r = interrupted(&applying, err);
	if (r == 0)
		r = knob_journal_begin(machine, &journal, plan, options->what, &applying.change, err);
	if (r < 0 || !applying.change)
		return r;
	ret->id = applying.change->id;
	ret->what = applying.change->what;
	r = write_and_verify(&applying, err);
	if (r == 0)
		return 0;
	/* Whether the journal can still be written or not, what was written is put back. */
	(void)knob_journal_end(machine, applying.change, KNOB_CHANGE_FAILED, err_what(err), &journal_err);
	ret->rolled_back = knob_put_back(machine, applying.change, ret, &journal_err) == 0;
	return r;
}

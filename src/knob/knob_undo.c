/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns putting back. For each point a target is found first: what stood there before, or, where someone else has
 * written since, what stands there now. Then the steps are taken back in reverse order, and what moved with them is set
 * right in the order of ranks, until everything holds its target.
 */
#include <errno.h>

#include "knob_apply_internal.h"
#include "text.h"

enum { MOST_PASSES = 4 };

/* One point of the change, or a guard. */
struct goal {
	const struct knob_point *point;
	size_t order;	    /* of writing; guards come after all points */
	const char *target; /* NULL: absent */
	bool watched;	    /* it is ours to bring to its target */
	bool touched;	    /* it held something else than its target at some time */
	enum knob_outcome outcome;
	const char *found; /* when it was looked at last */
	bool holds, gone;  /* what that look saw: its target, or nothing any more */
	const char *why;
};

bool knob_other_boot(struct knob_machine *machine, const struct knob_change *change)
{
	const char *boot = knob_boot_id(machine);

	return *boot && *change->boot && !text_equal(boot, change->boot);
}

static const struct knob_step *step_of(const struct knob_change *change, size_t point, size_t *ret_step)
{
	for (size_t i = 0; i < change->step_count; i++)
		if (point - change->steps[i].first < change->steps[i].count) {
			*ret_step = i;
			return &change->steps[i];
		}
	return NULL;
}

/* Can a step that was begun have moved this knob, besides writing it? */
static bool moved_by_steps(const struct knob_change *change, const struct knob *knob)
{
	for (size_t i = 0; i < change->step_count; i++) {
		const struct knob *other = change->steps[i].knob;

		if (change->step_states[i] != KNOB_STEP_NOT_BEGUN && other && other != knob && other->moves &&
		    text_has_word(other->moves, " ", knob->name))
			return true;
	}
	return false;
}

/* The same by steps that outlive a reboot: a service that is started at boot moves it again then. */
static bool moved_at_boot(const struct knob_change *change, const struct knob *knob)
{
	for (size_t i = 0; i < change->step_count; i++) {
		const struct knob *other = change->steps[i].knob;

		if (change->step_states[i] != KNOB_STEP_NOT_BEGUN && other && other->scope == KNOB_CONFIG &&
		    other->moves && text_has_word(other->moves, " ", knob->name))
			return true;
	}
	return false;
}

/* What a boot moves says nothing of whose hand it was: only what outlives one is compared then. */
static bool left_so(struct knob_machine *machine, const struct knob *knob, const char *now, const char *left,
		    bool rebooted)
{
	if (rebooted) {
		now = knob_booted(machine, knob, now);
		left = knob_booted(machine, knob, left);
	}
	return knob_same(knob, now, left);
}

/*
 * Is what a point holds now ours? While a step was being written, and for guards that were not looked at any more,
 * nobody can tell, and it is taken for ours: the machine was locked and in the middle of the change.
 */
static bool is_ours(struct knob_machine *machine, const struct knob_change *change, const struct goal *goal,
		    size_t index, bool is_guard, bool rebooted)
{
	const struct knob *knob = goal->point->knob;
	size_t step = 0;

	/* An undo that was cut short may have moved it on its way, or left it half-way. */
	if (change->undo_begun && (knob->in_steps || knob->widen || moved_by_steps(change, knob)))
		return true;
	if (is_guard)
		return !change->moved || knob_same(knob, goal->found, change->moved[index]);
	if (change->now)
		return left_so(machine, knob, goal->found, change->now[index], rebooted);
	if (left_so(machine, knob, goal->found, goal->point->new, rebooted))
		return true;
	return moved_by_steps(change, knob) ||
	       (step_of(change, index, &step) && change->step_states[step] == KNOB_STEP_WRITING);
}

static void find_target(struct knob_machine *machine, const struct knob_change *change, struct goal *goal, size_t index,
			bool is_guard, bool rebooted)
{
	const struct knob_point *point = goal->point;
	size_t step = 0;
	struct err err = {0};
	int r;

	goal->outcome = KNOB_WAS_BACK;
	goal->target = point->old;
	if (!point->knob) {
		goal->outcome = KNOB_STUCK;
		goal->why = "this hvtune knows no such knob";
		return;
	}
	if (rebooted && !knob_lasts(point->knob) && !moved_at_boot(change, point->knob)) {
		goal->outcome = KNOB_GONE;
		goal->why = "the reboot has put it back";
		return;
	}
	if (!is_guard && step_of(change, index, &step) && change->step_states[step] == KNOB_STEP_NOT_BEGUN &&
	    !moved_by_steps(change, point->knob))
		return;
	if (is_guard && !moved_by_steps(change, point->knob))
		return;
	r = knob_get(machine, point, &goal->found, &err);
	if (r < 0 && r != -ENOENT) {
		/* It can't be read now; what is written back may let it be read again (EPP without a word: EINVAL). */
		goal->watched = goal->touched = true;
		return;
	}
	if (!is_guard && point->knob->actuator->tidy)
		(void)point->knob->actuator->tidy(machine, point->where, &err);
	if (r == -ENOENT && !point->old)
		return;
	goal->watched = true;
	if (r < 0 || knob_same(point->knob, goal->found, point->old))
		return;
	if (is_ours(machine, change, goal, index, is_guard, rebooted)) {
		goal->touched = true;
		return;
	}
	goal->target = goal->found;
	if (rebooted && !knob_lasts(point->knob)) {
		goal->watched = false;
		goal->outcome = KNOB_GONE;
		goal->why = "the reboot has set it anew";
		return;
	}
	goal->outcome = KNOB_LEFT;
	goal->watched = !point->knob->yields;
	goal->why =
	    goal->found && strchr(goal->found, '\n')
		? "someone has changed it since"
		: arena_printf(machine->arena, "someone has set it to %s since", goal->found ? goal->found : "nothing");
}

static void look(struct knob_machine *machine, struct goal *goal)
{
	struct err err = {0};
	const char *now = NULL;
	int r = knob_get(machine, goal->point, &now, &err);

	goal->gone = r == -ENOENT;
	/* Of a file there is no more to say. */
	if (goal->gone)
		goal->why = *goal->point->where == '/' ? NULL : arena_strdup(machine->arena, err.what);
	goal->holds = r == 0 && knob_same(goal->point->knob, now, goal->target);
	if (!goal->gone)
		goal->found = now;
}

/* 0 when it holds its target; 1 when it was written; negative: it cannot be. By the last look. */
static int approach(struct knob_machine *machine, struct goal *goal)
{
	const struct knob_point *point = goal->point;
	struct err err = {0};
	int r;

	if (goal->holds || (goal->gone && !goal->target))
		return 0;
	goal->touched = true;
	if (point->knob->unwritable && text_equal(point->knob->unwritable, goal->target))
		return 1; /* its twin brings it back */
	r = point->knob->actuator->set(machine, point->where, goal->target, &err);
	goal->why = r < 0 ? arena_strdup(machine->arena, err.what) : NULL;
	return r < 0 ? r : 1;
}

static int by_rank(const void *a, const void *b)
{
	const struct goal *one = *(struct goal *const *)a, *other = *(struct goal *const *)b;

	if (one->point->knob->rank != other->point->knob->rank)
		return one->point->knob->rank < other->point->knob->rank ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

/*
 * Bring all goals to their targets: back through the steps, then by rank as long as that helps. All were looked at
 * after the last write.
 */
static void bring_back(struct knob_machine *machine, const struct knob_change *change, struct goal *goals,
		       struct goal **sorted, size_t count)
{
	const struct knob *moving = NULL;

	for (size_t i = 0; i < change->point_count; i++) {
		const struct knob_point *point = goals[i].point;
		struct err ignored = {0};

		if (goals[i].watched && goals[i].touched && point->knob->widen)
			(void)point->knob->widen(machine, point->where, goals[i].target, &ignored);
	}
	/* A refusal here is not the last word: what stands in the way is often put back after it. */
	for (size_t i = change->point_count; i-- > 0;) {
		if (!goals[i].watched || !goals[i].touched)
			continue;
		/* As long as nothing was written that moves others, all is as find_target() has just seen it. */
		if ((moving && moving != goals[i].point->knob) || goals[i].point->knob->widen)
			look(machine, &goals[i]);
		(void)approach(machine, &goals[i]);
		if (goals[i].point->knob->moves)
			moving = goals[i].point->knob;
	}
	qsort(sorted, count, sizeof(struct goal *), by_rank);
	for (int pass = 0; pass < MOST_PASSES; pass++) {
		bool wrote = false;

		for (size_t i = 0; i < count; i++) {
			look(machine, sorted[i]);
			if (approach(machine, sorted[i]) != 0)
				wrote = true;
		}
		if (!wrote)
			return;
	}
	for (size_t i = 0; i < count; i++)
		look(machine, sorted[i]);
}

static int finish(struct knob_machine *machine, struct knob_change *change, struct goal *goals, size_t count,
		  struct knob_report *report, struct err *err)
{
	size_t stuck = 0;
	int r, settled = knob_settle(machine, change->points, change->point_count, err);

	for (size_t i = 0; i < count; i++) {
		struct goal *goal = &goals[i];
		enum knob_outcome before = goal->outcome;

		if (goal->watched && goal->point->knob->actuator->settle)
			look(machine, goal);
		if (goal->watched && goal->gone) {
			goal->outcome = KNOB_GONE;
		} else if (goal->watched && !goal->holds) {
			goal->outcome = KNOB_STUCK;
		} else if (goal->watched && goal->outcome == KNOB_WAS_BACK && goal->touched) {
			goal->outcome = KNOB_PUT_BACK;
		}
		if (goal->outcome == KNOB_STUCK && stuck++ == 0)
			(void)err_set(err, EIO, knob_place(goal->point), "could not be put back to %s: %s",
				      goal->point->old ? goal->point->old : "nothing",
				      goal->why ? goal->why : "it takes the value and does not keep it");
		if (before != KNOB_LEFT && goal->outcome != KNOB_STUCK && goal->outcome != KNOB_GONE)
			goal->why = NULL;
		knob_report_add(machine, report,
				&(struct knob_event){goal->outcome, *goal->point, goal->found, goal->why});
	}
	if (settled == 0)
		settled = knob_dirs_remove(machine, change, err);
	if (stuck || settled < 0) {
		r = knob_journal_undo(machine, change, "partly", err_what(err), err);
		return r < 0 ? r : -EIO;
	}
	return knob_journal_undo(machine, change, "done", NULL, err);
}

int knob_put_back(struct knob_machine *machine, struct knob_change *change, struct knob_report *report, struct err *err)
{
	size_t count = change->point_count + change->guard_count, watched = 0;
	struct goal *goals = ARENA_ARRAY(machine->arena, count + 1, struct goal);
	struct goal **sorted = ARENA_ARRAY(machine->arena, count + 1, struct goal *);
	struct err journal_err = {0};
	bool again = change->undo_begun, rebooted = knob_other_boot(machine, change);
	int r;

	for (size_t i = 0; i < count; i++) {
		bool is_guard = i >= change->point_count;
		size_t index = is_guard ? i - change->point_count : i;

		goals[i].point = is_guard ? &change->guards[index] : &change->points[index];
		goals[i].order = i;
		find_target(machine, change, &goals[i], index, is_guard, rebooted);
		if (goals[i].watched)
			sorted[watched++] = &goals[i];
	}
	r = again ? 0 : knob_journal_undo(machine, change, "begin", NULL, &journal_err);
	/* A journal that takes no more records must not keep a half done change from being put back. */
	bring_back(machine, change, goals, sorted, watched);
	if (r < 0) {
		(void)finish(machine, change, goals, count, report, err);
		(void)err_copy(err, &journal_err);
		return r;
	}
	return finish(machine, change, goals, count, report, err);
}

bool knob_counts(struct knob_machine *machine, const struct knob_change *change)
{
	if (change->state == KNOB_CHANGE_UNDONE)
		return false;
	if (!knob_other_boot(machine, change))
		return true;
	for (size_t i = 0; i < change->point_count; i++)
		if (!change->points[i].knob || knob_lasts(change->points[i].knob))
			return true;
	return false;
}

size_t knob_in_force(struct knob_machine *machine, const struct knob_journal *journal, unsigned **ret_ids)
{
	unsigned *ids = ARENA_ARRAY(machine->arena, journal->count + 2, unsigned);
	size_t count = 0;

	for (size_t i = journal->count; i-- > 0;)
		if (knob_counts(machine, &journal->changes[i]))
			ids[count++] = journal->changes[i].id;
	*ret_ids = ids;
	return count;
}

/* A later change on the same points has to be taken back first: its old values are what this one wrote. */
static int check_newest(struct knob_machine *machine, const struct knob_journal *journal,
			const struct knob_change *change, struct err *err)
{
	for (const struct knob_change *later = change + 1; later < journal->changes + journal->count; later++) {
		if (!knob_counts(machine, later))
			continue;
		for (size_t i = 0; i < later->point_count; i++)
			for (size_t j = 0; j < change->point_count; j++)
				if (later->points[i].knob == change->points[j].knob &&
				    text_equal(later->points[i].where, change->points[j].where)) {
					(void)err_set(err, EBUSY, knob_place(&change->points[j]),
						      "was set again by change %u", later->id);
					return err_hint(err, "undo %u first, or undo --all", later->id);
				}
	}
	return 0;
}

int knob_undo(struct knob_machine *machine, unsigned id, struct knob_report *ret, struct err *err)
{
	struct knob_journal journal = {0};
	struct knob_change *change = NULL;
	int r = knob_begin_work(machine, &journal, err);

	*ret = (struct knob_report){0};
	if (r < 0)
		return r;
	ret->damage = journal.damage;
	for (size_t i = journal.count; i-- > 0 && !change;)
		if (knob_counts(machine, &journal.changes[i]) && (id == 0 || journal.changes[i].id == id))
			change = &journal.changes[i];
	if (!change)
		return id ? err_set(err, ENOENT, NULL, "there is no change %u in force", id)
			  : err_set(err, ENOENT, NULL, "nothing of hvtune's is in force");
	r = check_newest(machine, &journal, change, err);
	if (r < 0)
		return r;
	ret->id = change->id;
	ret->what = change->what;
	return knob_put_back(machine, change, ret, err);
}

const char *knob_report_left(struct arena *arena, const struct knob_report *report)
{
	const struct knob_event *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < report->count; i++)
		if (report->events[i].outcome == KNOB_LEFT) {
			first = first ? first : &report->events[i];
			count++;
		}
	if (!first)
		return NULL;
	const char *text = arena_printf(arena, "%s%s%s holds %s", first->point.name, *first->point.label ? " of " : "",
					first->point.label, first->now ? first->now : "nothing");

	if (first->point.old)
		text = arena_printf(arena, "%s (before: %s)", text, first->point.old);
	return count > 1 ? arena_printf(arena, "%s, and %zu more", text, count - 1) : text;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns making a plan out of what was asked. */
#include "knob_plan.h"

#include <errno.h>

#include "text.h"

/* What was asked, expanded: the points of one ask, before they are sorted. */
struct asked {
	const struct knob *knob;
	const struct knob_ask *ask;
	struct knob_points points;
	bool first;    /* within its rank, see enum knob_order */
	bool repeated; /* a point of it may be asked for twice */
};

void knob_plan_note(struct knob_machine *machine, struct knob_plan *plan, const char *text)
{
	const char **larger = ARENA_ARRAY(machine->arena, plan->note_count + 1, const char *);

	for (size_t i = 0; i < plan->note_count; i++) {
		if (text_equal(plan->notes[i], text))
			return;
		larger[i] = plan->notes[i];
	}
	larger[plan->note_count++] = text;
	plan->notes = larger;
}

bool knob_following_asks(const struct knob_following *following, const char *name)
{
	for (size_t i = 0; i < following->count; i++)
		if (text_equal(following->asks[i].name, name))
			return true;
	return false;
}

void knob_following_add(struct knob_machine *machine, struct knob_following *following, const struct knob_ask *ask)
{
	struct knob_ask *larger = ARENA_ARRAY(machine->arena, following->more_count + 1, struct knob_ask);

	if (following->more_count)
		memcpy(larger, following->more, following->more_count * sizeof(*larger));
	larger[following->more_count++] = *ask;
	following->more = larger;
}

/* What was asked, and what belongs to it. */
static int add_following(struct knob_machine *machine, struct knob_plan *plan, const struct knob_ask **asks,
			 size_t *count, struct err *err)
{
	struct knob_following following = {.asks = *asks, .count = *count, .plan = plan};
	struct knob_ask *all;

	for (size_t i = 0; i < *count; i++) {
		const struct knob *knob = knob_find((*asks)[i].name);
		struct knob_points points = {.arena = machine->arena};

		if (!knob || !knob->follow)
			continue;
		int r = knob_expand(machine, &(*asks)[i], KNOB_EXPAND_THERE, &points, err);

		for (size_t j = 0; j < points.count && r == 0; j++)
			if (!knob_same(knob, points.items[j].old, points.items[j].new))
				r = knob->follow(machine, &points.items[j], &following, err);
		if (r < 0)
			return r;
	}
	if (following.more_count == 0)
		return 0;
	all = ARENA_ARRAY(machine->arena, *count + following.more_count, struct knob_ask);
	memcpy(all, *asks, *count * sizeof(*all));
	memcpy(all + *count, following.more, following.more_count * sizeof(*all));
	*asks = all;
	*count += following.more_count;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct asked *one = *(const struct asked *const *)a, *other = *(const struct asked *const *)b;

	if (one->knob->rank != other->knob->rank)
		return one->knob->rank < other->knob->rank ? -1 : 1;
	if (one->first != other->first)
		return one->first ? -1 : 1;
	return one < other ? -1 : one > other;
}

static bool goes_first(const struct asked *asked)
{
	for (size_t i = 0; i < asked->points.count; i++) {
		const struct knob_point *point = &asked->points.items[i];
		int64_t old, new;

		if (!point->old || !point->new || text_int(point->old, 10, &old) < 0 ||
		    text_int(point->new, 10, &new) < 0 ||
		    (asked->knob->order == KNOB_FALLING_FIRST ? new > old : new < old))
			return false;
	}
	return asked->knob->order != KNOB_AS_ASKED;
}

/* Is this ask about what makes the knob appear? */
static bool is_about(const struct knob_ask *ask, const char *appears)
{
	size_t length = strcspn(appears, "=");

	return strlen(ask->name) == length && text_starts(appears, ask->name);
}

static bool is_among(const char *appears, const char *value)
{
	return value && text_has_word(appears + strcspn(appears, "=") + 1, ",", value);
}

/* What the knob that makes it appear holds now; NULL when nobody can tell. */
static const char *holds_now(struct knob_machine *machine, const struct knob_ask *ask)
{
	struct knob_points points = {.arena = machine->arena};
	struct err ignored = {0};

	return knob_expand(machine, ask, KNOB_EXPAND_READABLE, &points, &ignored) < 0 || points.count != 1
		   ? NULL
		   : points.items[0].old;
}

/*
 * Does one of the asks make this knob appear? Not where it could be there already and is not. An ask that makes it go
 * away is refused.
 */
static int find_coming(struct knob_machine *machine, const struct knob_ask *asks, size_t count, const struct knob *knob,
		       bool *ret, struct err *err)
{
	*ret = false;
	for (size_t i = 0; i < count && knob->appears; i++) {
		if (!is_about(&asks[i], knob->appears))
			continue;
		if (!is_among(knob->appears, asks[i].value)) {
			(void)err_set(err, EINVAL, knob->name, "is gone with %s=%s", asks[i].name, asks[i].value);
			return err_hint(err, "it comes with %s", knob->appears);
		}
		*ret = !is_among(knob->appears, holds_now(machine, &asks[i]));
	}
	return 0;
}

/* May a point of one be a point of the other? `other` may be NULL. */
static bool may_share(const struct knob *knob, const struct knob *other)
{
	return other && (knob == other || (knob->actuator->same_place && knob->actuator == other->actuator));
}

static bool is_same_point(const struct knob_point *a, const struct knob_point *b)
{
	if (!may_share(a->knob, b->knob))
		return false;
	return text_equal(a->where, b->where) ||
	       (a->knob->actuator->same_place && a->knob->actuator->same_place(a->where, b->where));
}

static const struct knob_point *find_point(const struct knob_points *points, const struct knob_point *point)
{
	for (size_t i = 0; i < points->count; i++)
		if (is_same_point(&points->items[i], point))
			return &points->items[i];
	return NULL;
}

const struct knob_point *knob_plan_find(const struct knob_plan *plan, const char *knob, const char *label)
{
	const struct knob_points *lists[] = {&plan->points, &plan->already};

	for (size_t list = 0; list < ARRAY_SIZE(lists); list++)
		for (size_t i = 0; i < lists[list]->count; i++) {
			const struct knob_point *point = &lists[list]->items[i];

			if (text_equal(point->knob->name, knob) && text_equal(point->label, label))
				return point;
		}
	return NULL;
}

static bool step_moves(const struct knob_step *step, const char *knob)
{
	return step->knob->moves && text_has_word(step->knob->moves, " ", knob);
}

/* CPUs that come or go with SMT leave what others have. */
static bool keeps_others(const struct knob_step *step)
{
	return step->knob->rank == KNOB_RANK_SMT;
}

bool knob_plan_moves(const struct knob_plan *plan, const char *knob)
{
	for (size_t i = 0; i < plan->step_count; i++)
		if (step_moves(&plan->steps[i], knob) && !keeps_others(&plan->steps[i]))
			return true;
	return false;
}

/*
 * Do the steps so far move this very point? What is of single CPUs moves what is of the same CPUs: mostly that at the
 * same `place` in its step.
 */
static bool is_moved(const struct knob_plan *plan, const struct knob_point *point, size_t place)
{
	for (size_t i = 0; i < plan->step_count; i++) {
		const struct knob_step *step = &plan->steps[i];

		if (!step_moves(step, point->knob->name) || keeps_others(step))
			continue;
		if (step->knob->unit != KNOB_OF_CPUS || point->knob->unit != KNOB_OF_CPUS)
			return true;
		if (place < step->count && text_equal(plan->points.items[step->first + place].label, point->label))
			return true;
		for (size_t j = step->first; j < step->first + step->count; j++)
			if (text_equal(plan->points.items[j].label, point->label))
				return true;
	}
	return false;
}

static bool move_each_other(const struct knob *a, const struct knob *b)
{
	return a->moves && b->moves && text_has_word(a->moves, " ", b->name) && text_has_word(b->moves, " ", a->name);
}

static const struct knob_point *find_planned(const struct knob_plan *plan, const struct knob_point *point)
{
	const struct knob_point *written = find_point(&plan->points, point);

	return written ? written : find_point(&plan->already, point);
}

static bool is_hole(const struct knob_point *point)
{
	return point->knob->hole && point->new &&text_has_word(point->knob->hole, " ", point->new);
}

/* CPUs have the choices of their one driver: a value that was judged for the point before needs no second look. */
static int check_point(struct knob_machine *machine, const struct asked *asked, size_t index, bool moved,
		       struct err *err)
{
	const struct knob_point *point = &asked->points.items[index];
	const struct knob *knob = asked->knob;

	if (index && knob->unit == KNOB_OF_CPUS && text_equal(point->new, point[-1].new))
		return knob->check ? knob->check(machine, point, err) : 0;
	return knob_check(machine, point, moved, err);
}

/* Take the points of one ask into the plan: a step of those that change. */
static int add_step(struct knob_machine *machine, struct knob_plan *plan, const struct asked *asked, struct err *err)
{
	struct knob_step *step = &plan->steps[plan->step_count];
	const struct knob *knob = asked->knob;

	*step = (struct knob_step){.knob = knob, .name = asked->ask->name, .first = plan->points.count};
	for (size_t i = 0; i < plan->step_count; i++)
		if (move_each_other(plan->steps[i].knob, knob))
			return err_set(err, EINVAL, knob->name, "and %s undo each other; ask for one of them",
				       plan->steps[i].name);
	for (size_t i = 0; i < asked->points.count; i++) {
		const struct knob_point *point = &asked->points.items[i];
		const struct knob_point *twice = asked->repeated ? find_planned(plan, point) : NULL;
		bool moved = is_moved(plan, point, i);
		int r = check_point(machine, asked, i, moved, err);

		if (r < 0)
			return r;
		if (twice && !knob_same(point->knob, twice->new, point->new))
			return err_set(err, EINVAL, point->where, "%s is asked to be both %s and %s", point->name,
				       twice->new, point->new);
		if (is_hole(point) && !plan->hole)
			plan->hole = arena_printf(machine->arena, "%s=%s", point->name, point->new);
		if (twice)
			continue;
		/* A value that an earlier step may move has to be written even when it is the right one now. */
		if (!moved && knob_same(point->knob, point->old, point->new))
			knob_points_add(&plan->already, point);
		else
			knob_points_add(&plan->points, point);
	}
	step->count = plan->points.count - step->first;
	if (step->count == 0)
		return 0;
	plan->step_count++;
	if (knob->hurts)
		knob_plan_note(machine, plan, arena_printf(machine->arena, "%s: %s", step->name, knob->hurts));
	if (knob->after)
		plan->follows = knob->after;
	return 0;
}

/* What moves with the steps, and is not written by one of them, as it stands now. */
static void add_guards(struct knob_machine *machine, struct knob_plan *plan)
{
	const struct knob *knob;

	for (size_t i = 0; (knob = knob_at(i)); i++) {
		const struct knob_ask all = {.name = knob->name, .value = ""};
		struct knob_points points = {.arena = machine->arena};
		struct err ignored = {0};
		bool moves = false;

		for (size_t step = 0; step < plan->step_count && !moves; step++)
			moves = step_moves(&plan->steps[step], knob->name);
		if (!moves || knob_expand(machine, &all, KNOB_EXPAND_UNREAD, &points, &ignored) < 0)
			continue;
		for (size_t j = 0; j < points.count; j++)
			if (!find_point(&plan->points, &points.items[j]) &&
			    knob_get(machine, &points.items[j], &points.items[j].old, &ignored) == 0)
				knob_points_add(&plan->guards, &points.items[j]);
	}
}

int knob_plan_make(struct knob_machine *machine, const struct knob_ask *asks, size_t count, struct knob_plan *ret,
		   struct err *err)
{
	struct arena *arena = machine->arena;
	struct knob_plan plan = {.points.arena = arena, .guards.arena = arena, .already.arena = arena};
	struct asked *asked;
	const struct asked **sorted;
	int status = add_following(machine, &plan, &asks, &count, err);

	if (status < 0)
		return status;
	asked = ARENA_ARRAY(arena, count + 1, struct asked);
	sorted = ARENA_ARRAY(arena, count + 1, const struct asked *);
	plan.steps = ARENA_ARRAY(arena, count + 1, struct knob_step);

	for (size_t i = 0; i < count; i++) {
		asked[i] = (struct asked){.knob = knob_find(asks[i].name), .ask = &asks[i], .points.arena = arena};
		bool comes = false;
		int r = asked[i].knob ? find_coming(machine, asks, count, asked[i].knob, &comes, err) : 0;

		if (r == 0)
			r = knob_expand(machine, &asks[i], comes ? KNOB_EXPAND_COMING : KNOB_EXPAND_THERE,
					&asked[i].points, err);
		if (r < 0)
			return r;
		asked[i].first = goes_first(&asked[i]);
		asked[i].repeated = asked[i].knob->unit == KNOB_OF_NAMES;
		for (size_t j = 0; j < count; j++)
			if (j != i && may_share(asked[i].knob, knob_find(asks[j].name)))
				asked[i].repeated = true;
		sorted[i] = &asked[i];
	}
	qsort(sorted, count, sizeof(struct asked *), by_rank);
	for (size_t i = 0; i < count; i++) {
		int r = add_step(machine, &plan, sorted[i], err);

		if (r < 0)
			return r;
	}
	add_guards(machine, &plan);
	for (size_t i = 0; i < plan.step_count; i++) {
		int r = plan.steps[i].knob->judge ? plan.steps[i].knob->judge(machine, &plan, &plan.steps[i], err) : 0;

		if (r < 0)
			return r;
	}
	*ret = plan;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns folding points, and plans as text. */
#include "report_knob.h"

#include "cpuset.h"
#include "diff.h"
#include "text.h"

enum { INDENT = 2, LABEL_MOST = 26 };

/* ---- folding ---- */

struct group {
	struct report_fold fold;
	size_t prefix;	    /* length of the label's words before its number; SIZE_MAX: it has no number */
	struct cpuset *set; /* the numbers */
	const char *names;  /* labels without a number, with commas */
};

/* "CPU 12": 12, and the length of "CPU". False: no number. */
static bool label_number(const char *label, size_t *ret_prefix, int *ret_number)
{
	const char *blank = strrchr(label, ' ');
	int64_t number;

	if (!blank || text_int(blank + 1, 10, &number) < 0 || number < 0 || number >= CPUSET_MAX)
		return false;
	*ret_prefix = (size_t)(blank - label);
	*ret_number = (int)number;
	return true;
}

/* "CPUs 0-63", "nodes 0,1", "web1 vCPU 3". */
static const char *who_of(struct arena *arena, const struct group *group)
{
	const char *label = group->fold.first->label;

	if (group->prefix == SIZE_MAX)
		return group->names;
	return arena_printf(arena, "%.*s%s %s", (int)group->prefix, label, group->fold.count > 1 ? "s" : "",
			    cpuset_format(arena, group->set));
}

static struct group *find_group(struct group *groups, size_t count, const struct knob_point *point, size_t index,
				size_t prefix, report_alike alike, const void *data)
{
	for (size_t i = count; i-- > 0;) {
		const struct knob_point *first = groups[i].fold.first;

		if (text_equal(first->name, point->name) && groups[i].prefix == prefix &&
		    (prefix == SIZE_MAX || strncmp(first->label, point->label, prefix) == 0) &&
		    alike(data, groups[i].fold.index, index))
			return &groups[i];
	}
	return NULL;
}

size_t report_fold(struct arena *arena, const struct knob_point *const *points, size_t count, report_alike alike,
		   const void *data, struct report_fold **ret)
{
	struct group *groups = ARENA_ARRAY(arena, count + 1, struct group);
	size_t group_count = 0;

	for (size_t i = 0; i < count; i++) {
		size_t prefix = SIZE_MAX;
		int number = -1;
		bool numbered = label_number(points[i]->label, &prefix, &number);
		struct group *group = find_group(groups, group_count, points[i], i, prefix, alike, data);

		if (!group) {
			group = &groups[group_count++];
			*group = (struct group){.fold = {.first = points[i], .index = i},
						.prefix = prefix,
						.set = numbered ? ARENA_NEW(arena, struct cpuset) : NULL,
						.names = ""};
		}
		if (group->set)
			cpuset_add(group->set, number);
		else
			group->names = *group->names ? arena_printf(arena, "%s, %s", group->names, points[i]->label)
						     : points[i]->label;
		group->fold.count++;
	}
	*ret = ARENA_ARRAY(arena, group_count + 1, struct report_fold);
	for (size_t i = 0; i < group_count; i++) {
		(*ret)[i] = groups[i].fold;
		(*ret)[i].who = who_of(arena, &groups[i]);
	}
	return group_count;
}

static const struct knob_point **pointers(struct arena *arena, const struct knob_point *points, size_t count)
{
	const struct knob_point **list = ARENA_ARRAY(arena, count + 1, const struct knob_point *);

	for (size_t i = 0; i < count; i++)
		list[i] = &points[i];
	return list;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || text_equal(a, b);
}

static bool same_old(const void *data, size_t a, size_t b)
{
	const struct knob_point *points = data;

	return same_text(points[a].old, points[b].old);
}

static bool same_change(const void *data, size_t a, size_t b)
{
	const struct knob_point *points = data;

	return same_old(data, a, b) && same_text(points[a].new, points[b].new);
}

/* ---- the plan as text ---- */

struct printing {
	const struct term *term;
	struct arena *arena;
	int width; /* of the labels */
};

int report_knob_label(const struct term *term, int width, const char *label)
{
	int column = INDENT + width;

	(void)fprintf(term->out, "%*s%s%-*s%s", INDENT, "", term_on(term, TERM_CYAN), width, label,
		      term_on(term, TERM_PLAIN));
	if (term_columns(label) >= width)
		(void)fprintf(term->out, "\n%*s", column, "");
	return column;
}

int report_knob_label_width(int least, const char *label)
{
	return MIN_OF(MAX_OF(least, term_columns(label) + 1), LABEL_MOST);
}

static void row(const struct printing *p, const char *label, const char *text)
{
	term_flow(p->term, report_knob_label(p->term, p->width, label), true, text);
}

/* A value in a line: absent and empty ones have to be seen. */
static const char *shown(const char *text)
{
	return !text ? "absent" : *text ? text : "(empty)";
}

/* Where the writes of a fold go: the pattern when they are many. */
static const char *place_of(const struct report_fold *fold)
{
	const struct knob *knob = fold->first->knob;

	return fold->count > 1 && knob->path && strchr(knob->path, '*') ? knob->path : knob_place(fold->first);
}

/* How a whole file is to look: the lines that differ, without the names that patch(1) wants. */
static void print_difference(const struct printing *p, const struct knob_point *point)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		err_no_memory();
	diff_unified(out, "", "", point->old ? point->old : "", point->new ? point->new : "");
	(void)fclose(out);
	for (char *line = text, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (!text_starts(line, "--- ") && !text_starts(line, "+++ ") && !text_starts(line, "@@"))
			(void)fprintf(p->term->out, "%*s%.*s\n", INDENT + p->width, "", (int)(end - line), line);
		end += *end == '\n';
	}
	free(text);
}

static bool is_long(const char *text)
{
	return text && strchr(text, '\n');
}

static void print_write(const struct printing *p, const struct report_fold *fold)
{
	const struct knob_point *point = fold->first;

	if (is_long(point->old) || is_long(point->new)) {
		row(p, point->name,
		    arena_printf(p->arena, "%s%s%s%s", place_of(fold), *fold->who ? "  " : "", fold->who,
				 !point->new   ? " is removed"
				 : !point->old ? " is made"
					       : ""));
		print_difference(p, point);
		return;
	}
	row(p, point->name,
	    arena_printf(p->arena, "%s -> %s%s%s%s", shown(point->old), shown(point->new), *fold->who ? " (" : "",
			 fold->who, *fold->who ? ")" : ""));
	(void)fprintf(p->term->out, "%*s%s%s%s\n", INDENT + p->width, "", term_on(p->term, TERM_DIM), place_of(fold),
		      term_on(p->term, TERM_PLAIN));
}

/* "epp balance_performance (CPUs 0-63), boost 1" */
static const char *list_values(struct arena *arena, const struct knob_points *points, bool with_new)
{
	struct report_fold *folds;
	size_t count = report_fold(arena, pointers(arena, points->items, points->count), points->count, same_old,
				   points->items, &folds);
	const char *text = "";

	for (size_t i = 0; i < count; i++) {
		const struct knob_point *point = folds[i].first;
		const char *value = is_long(point->old) ? "as it is" : shown(with_new ? point->new : point->old);

		text = arena_printf(arena, "%s%s%s %s%s%s%s", text, i ? ", " : "", point->name, value,
				    *folds[i].who ? " (" : "", folds[i].who, *folds[i].who ? ")" : "");
	}
	return text;
}

static void print_steps(const struct printing *p, const struct knob_plan *plan)
{
	(void)fprintf(p->term->out, "%zu write%s, in this order:\n\n", plan->points.count,
		      plan->points.count == 1 ? "" : "s");
	for (size_t i = 0; i < plan->step_count; i++) {
		const struct knob_point *points = &plan->points.items[plan->steps[i].first];
		struct report_fold *folds;
		size_t count = report_fold(p->arena, pointers(p->arena, points, plan->steps[i].count),
					   plan->steps[i].count, same_change, points, &folds);

		for (size_t j = 0; j < count; j++)
			print_write(p, &folds[j]);
	}
	(void)fputc('\n', p->term->out);
}

void report_knob_plan(const struct term *term, struct arena *arena, const struct knob_plan *plan)
{
	struct printing p = {term, arena, report_knob_label_width(0, "so already")};

	for (size_t i = 0; i < plan->step_count; i++)
		p.width = report_knob_label_width(p.width, plan->steps[i].name);
	if (plan->points.count)
		print_steps(&p, plan);
	if (plan->already.count)
		row(&p, "so already", list_values(arena, &plan->already, true));
	if (plan->guards.count)
		row(&p, "may move",
		    arena_printf(arena, "%s; undo puts that back too", list_values(arena, &plan->guards, false)));
	for (size_t i = 0; i < plan->note_count; i++)
		row(&p, "note", plan->notes[i]);
	if (plan->hole)
		row(&p, "security", arena_printf(arena, "%s opens a security hole", plan->hole));
	if (plan->follows && plan->points.count)
		row(&p, "then", arena_printf(arena, "%s, for all of it to act", plan->follows));
	if (!plan->points.count)
		(void)fputs("Nothing to do.\n", term->out);
}

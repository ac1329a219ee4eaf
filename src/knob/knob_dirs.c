/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the directories that are made on the way to a file. They are noted when a change begins, before the first is
 * made, and an undo takes away those that are empty: a directory that was there before is nobody's to remove.
 */
#include "knob_apply_internal.h"
#include "text.h"

struct dirs {
	struct arena *arena;
	const char **items;
	size_t count;
};

static bool has(const char *const *items, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(items[i], path))
			return true;
	return false;
}

static void add(struct dirs *dirs, const char *path)
{
	const char **larger = ARENA_ARRAY(dirs->arena, dirs->count + 2, const char *);

	if (dirs->count)
		memcpy(larger, dirs->items, dirs->count * sizeof(*larger));
	larger[dirs->count++] = path;
	dirs->items = larger;
}

/* Was it made for a change that still counts? Whichever of the two is undone last then takes it away. */
static bool is_ours(struct knob_machine *machine, const struct knob_journal *journal, const char *path)
{
	for (size_t i = 0; i < journal->count; i++)
		if (knob_counts(machine, &journal->changes[i]) &&
		    has(journal->changes[i].dirs, journal->changes[i].dir_count, path))
			return true;
	return false;
}

void knob_dirs_to_make(struct knob_machine *machine, const struct knob_journal *journal, const struct knob_plan *plan,
		       const char *const **ret, size_t *ret_count)
{
	struct dirs dirs = {.arena = machine->arena};

	for (size_t i = 0; i < plan->points.count; i++) {
		const struct knob_point *point = &plan->points.items[i];

		/* Only who makes whole files has something to tidy up. */
		if (*point->where != '/' || !point->knob->actuator->tidy)
			continue;
		/* A setting that is a line of a file stands behind a colon (knob_lines.h). */
		const char *file = arena_strndup(machine->arena, point->where, strcspn(point->where, ":"));

		for (const char *slash = strchr(file + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
			const char *path = arena_strndup(machine->arena, file, (size_t)(slash - file));

			if (!has(dirs.items, dirs.count, path) &&
			    (!sys_writer_exists(machine->writer, path) || is_ours(machine, journal, path)))
				add(&dirs, path);
		}
	}
	*ret = dirs.items;
	*ret_count = dirs.count;
}

int knob_dirs_remove(struct knob_machine *machine, const struct knob_change *change, struct err *err)
{
	int r = 0;

	/* Those above come first in the list. */
	for (size_t i = change->dir_count; i-- > 0 && r == 0;)
		r = sys_writer_remove_dir(machine->writer, change->dirs[i], err);
	return r;
}

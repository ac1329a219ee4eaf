/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading the journal back: which changes there are, how far each came, and what is damaged. */
#include <errno.h>
#include <jansson.h>

#include "knob_apply.h"
#include "knob_journal_internal.h"
#include "text.h"

struct reading {
	struct knob_machine *machine;
	struct knob_journal journal;
	size_t room;
	unsigned damaged, first_damaged; /* how many, and in which line */
	unsigned newer, first_newer;	 /* whole records of a kind that this hvtune does not know */
};

static const char *text_of(struct reading *reading, const json_t *value)
{
	struct arena *arena = reading->machine->arena;
	size_t count = json_array_size(value);
	char *bytes;

	if (json_is_string(value))
		return arena_strdup(arena, json_string_value(value));
	if (!json_is_array(value))
		return NULL;
	bytes = arena_alloc(arena, count + 1);
	for (size_t i = 0; i < count; i++)
		bytes[i] = (char)json_integer_value(json_array_get(value, i));
	return bytes;
}

static const char *member(struct reading *reading, const json_t *record, const char *key)
{
	return text_of(reading, json_object_get(record, key));
}

static struct knob_point *read_points(struct reading *reading, const json_t *list, size_t *ret_count)
{
	size_t count = json_array_size(list);
	struct knob_point *points = ARENA_ARRAY(reading->machine->arena, count + 1, struct knob_point);

	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(list, i);
		struct knob_point *point = &points[i];

		point->name = text_of(reading, json_array_get(item, 0));
		point->where = text_of(reading, json_array_get(item, 1));
		point->label = text_of(reading, json_array_get(item, 2));
		point->old = text_of(reading, json_array_get(item, 3));
		point->new = text_of(reading, json_array_get(item, 4));
		if (!point->name || !point->where)
			return NULL;
		if (!point->label)
			point->label = "";
		point->knob = i && text_equal(point[-1].name, point->name) ? point[-1].knob : knob_find(point->name);
	}
	*ret_count = count;
	return points;
}

static bool read_steps(struct reading *reading, const json_t *list, struct knob_change *change)
{
	size_t first = 0;

	change->step_count = json_array_size(list);
	change->steps = ARENA_ARRAY(reading->machine->arena, change->step_count + 1, struct knob_step);
	change->step_states = ARENA_ARRAY(reading->machine->arena, change->step_count + 1, enum knob_step_state);
	for (size_t i = 0; i < change->step_count; i++) {
		json_int_t count = json_integer_value(json_array_get(list, i));

		if (count < 1 || (size_t)count > change->point_count - first)
			return false;
		change->steps[i] = (struct knob_step){.knob = change->points[first].knob,
						      .name = change->points[first].name,
						      .first = first,
						      .count = (size_t)count};
		first += (size_t)count;
	}
	return first == change->point_count;
}

static struct knob_change *find_change(struct reading *reading, const json_t *record)
{
	json_int_t id = json_integer_value(json_object_get(record, "id"));

	for (size_t i = reading->journal.count; i-- > 0;)
		if ((json_int_t)reading->journal.changes[i].id == id)
			return &reading->journal.changes[i];
	return NULL;
}

static const char **read_texts(struct reading *reading, const json_t *list, size_t count)
{
	const char **texts;

	if (!list || json_array_size(list) != count)
		return NULL;
	texts = ARENA_ARRAY(reading->machine->arena, count + 1, const char *);
	for (size_t i = 0; i < count; i++)
		texts[i] = text_of(reading, json_array_get(list, i));
	return texts;
}

static const char **read_dirs(struct reading *reading, const json_t *list, size_t *ret_count)
{
	const char **dirs = read_texts(reading, list, json_array_size(list));
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		if (dirs[i] && *dirs[i] == '/')
			dirs[count++] = dirs[i];
	*ret_count = count;
	return dirs;
}

static bool read_begin(struct reading *reading, const json_t *record)
{
	struct knob_journal *journal = &reading->journal;
	json_int_t id = json_integer_value(json_object_get(record, "id"));
	struct knob_change change = {.id = (unsigned)id,
				     .boot = member(reading, record, "boot"),
				     .time_s = json_integer_value(json_object_get(record, "time")),
				     .what = member(reading, record, "what")};

	change.points = read_points(reading, json_object_get(record, "points"), &change.point_count);
	change.guards = read_points(reading, json_object_get(record, "guards"), &change.guard_count);
	change.dirs = read_dirs(reading, json_object_get(record, "dirs"), &change.dir_count);
	/* One more than the id must be an id too. */
	if (id < 1 || id >= UINT32_MAX || !change.boot || !change.what || !change.points || !change.guards ||
	    !read_steps(reading, json_object_get(record, "steps"), &change) || find_change(reading, record))
		return false;
	if (journal->count == reading->room) {
		struct knob_change *larger;

		reading->room = reading->room ? 2 * reading->room : 16;
		larger = ARENA_ARRAY(reading->machine->arena, reading->room, struct knob_change);
		if (journal->count)
			memcpy(larger, journal->changes, journal->count * sizeof(*larger));
		journal->changes = larger;
	}
	journal->changes[journal->count++] = change;
	return true;
}

/* Steps come one after the other: what stands before one that was begun was written, though its record is lost. */
static void assume_written(struct knob_change *change, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (change->step_states[i] == KNOB_STEP_NOT_BEGUN)
			change->step_states[i] = KNOB_STEP_WRITTEN;
}

static bool read_step(struct reading *reading, const json_t *record)
{
	struct knob_change *change = find_change(reading, record);
	json_int_t step = json_integer_value(json_object_get(record, "step"));
	const char *state = member(reading, record, "state");

	if (!change || step < 0 || (size_t)step >= change->step_count || !state)
		return false;
	assume_written(change, (size_t)step);
	change->step_states[step] = text_equal(state, "written") ? KNOB_STEP_WRITTEN : KNOB_STEP_WRITING;
	return true;
}

static bool read_end(struct reading *reading, const json_t *record)
{
	struct knob_change *change = find_change(reading, record);
	const char *state = member(reading, record, "state");

	if (!change || !state)
		return false;
	change->state = text_equal(state, "done") ? KNOB_CHANGE_DONE : KNOB_CHANGE_FAILED;
	if (change->state == KNOB_CHANGE_DONE)
		assume_written(change, change->step_count);
	change->now = read_texts(reading, json_object_get(record, "now"), change->point_count);
	change->moved = read_texts(reading, json_object_get(record, "moved"), change->guard_count);
	change->why = member(reading, record, "why");
	return true;
}

static bool read_undo(struct reading *reading, const json_t *record)
{
	struct knob_change *change = find_change(reading, record);
	const char *state = member(reading, record, "state");

	if (!change || !state)
		return false;
	change->undo_begun = true;
	if (text_equal(state, "done"))
		change->state = KNOB_CHANGE_UNDONE;
	return true;
}

static const struct {
	const char *type;
	bool (*read)(struct reading *reading, const json_t *record);
} record_types[] = {
    {"begin", read_begin},
    {"step", read_step},
    {"end", read_end},
    {"undo", read_undo},
};

enum line { LINE_READ, LINE_DAMAGED, LINE_NEWER };

static enum line read_record(struct reading *reading, const json_t *record)
{
	const char *type = json_string_value(json_object_get(record, "t"));

	for (size_t i = 0; i < ARRAY_SIZE(record_types); i++)
		if (text_equal(type, record_types[i].type))
			return record_types[i].read(reading, record) ? LINE_READ : LINE_DAMAGED;
	return type ? LINE_NEWER : LINE_DAMAGED;
}

static enum line read_line(struct reading *reading, const char *line, size_t length)
{
	unsigned long sum;
	char *end, digits[9];
	json_t *record;
	enum line found;

	if (length < 10 || line[8] != ' ')
		return LINE_DAMAGED;
	(void)snprintf(digits, sizeof(digits), "%.8s", line);
	sum = strtoul(digits, &end, 16);
	if (*end || sum != knob_journal_sum(line + 9, length - 9))
		return LINE_DAMAGED;
	record = json_loadb(line + 9, length - 9, 0, NULL);
	found = read_record(reading, record);
	json_decref(record);
	return found;
}

static void note_line(struct reading *reading, enum line found, unsigned number)
{
	struct knob_journal *journal = &reading->journal;

	if (found == LINE_NEWER && reading->newer++ == 0)
		reading->first_newer = number;
	if (found != LINE_DAMAGED)
		return;
	if (reading->damaged++ == 0)
		reading->first_damaged = number;
	/* It may have been that a step is begun; only what holds the step's values is put back then. */
	if (journal->count && journal->changes[journal->count - 1].state != KNOB_CHANGE_UNDONE)
		assume_written(&journal->changes[journal->count - 1], journal->changes[journal->count - 1].step_count);
}

/* One line about what could not be understood, NULL when all was. */
static const char *damage_of(const struct reading *reading)
{
	struct arena *arena = reading->machine->arena;
	const char *damaged = arena_printf(arena, "%u record%s cannot be understood, the first in line %u",
					   reading->damaged, reading->damaged == 1 ? "" : "s", reading->first_damaged);
	const char *newer =
	    arena_printf(arena, "%u record%s of a kind that only a newer hvtune knows, the first in line %u",
			 reading->newer, reading->newer == 1 ? " is" : "s are", reading->first_newer);

	if (!reading->damaged && !reading->newer)
		return NULL;
	return arena_printf(arena, "%s: %s%s%s; they stay there", KNOB_JOURNAL, reading->damaged ? damaged : "",
			    reading->damaged && reading->newer ? ", and " : "", reading->newer ? newer : "");
}

int knob_journal_read(struct knob_machine *machine, struct knob_journal *ret, struct err *err)
{
	struct reading reading = {.machine = machine};
	const char *data = "";
	size_t size = 0;
	unsigned number = 0;
	struct err fault = {0};
	int r = sys_writer_read(machine->writer, machine->arena, KNOB_JOURNAL, &data, &size, &fault);

	if (r == -ENOENT) {
		*ret = (struct knob_journal){0};
		return 0;
	}
	if (r < 0) {
		(void)err_copy(err, &fault);
		return r;
	}
	for (size_t at = 0; at < size;) {
		const char *newline = memchr(data + at, '\n', size - at);
		size_t length = newline ? (size_t)(newline - data) - at : size - at;

		number++;
		if (!newline) {
			/* A kill in the middle of an append: what it would have told of had not happened yet. */
			reading.journal.torn = true;
			break;
		}
		note_line(&reading, read_line(&reading, data + at, length), number);
		at += length + 1;
		reading.journal.whole = at;
	}
	reading.journal.damage = damage_of(&reading);
	*ret = reading.journal;
	return 0;
}

static json_int_t id_of_line(const char *line, size_t length)
{
	json_t *record = length > 9 ? json_loadb(line + 9, length - 9, 0, NULL) : NULL;
	json_int_t id = json_integer_value(json_object_get(record, "id"));

	json_decref(record);
	return id;
}

static bool is_kept(const unsigned *ids, size_t count, json_int_t id)
{
	for (size_t i = 0; i < count; i++)
		if ((json_int_t)ids[i] == id)
			return true;
	return false;
}

int knob_journal_compact(struct knob_machine *machine, struct knob_journal *journal, struct err *err)
{
	const char *data = "";
	unsigned *ids;
	size_t size = 0, kept = 0, count = knob_in_force(machine, journal, &ids);
	char *lines;
	int r;

	/* What cannot be understood may be all that is known of a change: it is kept for a person, or a newer hvtune.
	 */
	if (journal->whole < KNOB_JOURNAL_LARGE || journal->damage)
		return 0;
	r = sys_writer_read(machine->writer, machine->arena, KNOB_JOURNAL, &data, &size, err);
	if (r < 0)
		return r;
	/* The newest change stays in any case: ids go on from it. */
	if (journal->count)
		ids[count++] = journal->changes[journal->count - 1].id;
	lines = arena_alloc(machine->arena, size + 1);
	for (size_t at = 0; at < journal->whole;) {
		const char *newline = memchr(data + at, '\n', size - at);
		size_t length = newline ? (size_t)(newline - data) - at : size - at;

		if (newline && is_kept(ids, count, id_of_line(data + at, length))) {
			memcpy(lines + kept, data + at, length + 1);
			kept += length + 1;
		}
		at += length + 1;
	}
	if (kept > journal->whole / 2)
		return 0;
	r = sys_writer_replace(machine->writer, KNOB_JOURNAL, lines, kept, 0600, err);
	if (r == 0) {
		journal->whole = kept;
		journal->torn = false;
	}
	return r;
}

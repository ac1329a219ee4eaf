/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns writing the journal's records; knob_journal_read.c reads them. */
#include "knob_journal.h"

#include <errno.h>
#include <jansson.h>
#include <time.h>
#include <zlib.h>

#include "knob_apply_internal.h"
#include "knob_journal_internal.h"
#include "text.h"

/* Each of these was checked by its maker: jansson only fails when memory runs out. */
static json_t *made(json_t *value)
{
	if (!value)
		err_no_memory();
	return value;
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, made(value)) < 0)
		err_no_memory();
}

static void push(json_t *array, json_t *value)
{
	if (json_array_append_new(array, made(value)) < 0)
		err_no_memory();
}

/* Text that is no UTF-8 is kept byte for byte as an array of numbers: a config file may be in any encoding. */
static json_t *text_json(const char *text)
{
	json_t *string = text ? json_string(text) : json_null();

	if (string)
		return string;
	string = made(json_array());
	for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++)
		push(string, json_integer(*byte));
	return string;
}

static json_t *texts_json(const char *const *texts, size_t count)
{
	json_t *list = made(json_array());

	for (size_t i = 0; i < count; i++)
		push(list, text_json(texts[i]));
	return list;
}

uint32_t knob_journal_sum(const char *text, size_t size)
{
	return (uint32_t)crc32_z(0, (const unsigned char *)text, size);
}

static void release(json_t **object)
{
	json_decref(*object);
}

static int write_record(struct knob_machine *machine, json_t *record, struct err *err)
{
	CLEANUP(base_free) char *text = json_dumps(record, JSON_COMPACT);
	const char *line;

	if (!text)
		err_no_memory();
	line = arena_printf(machine->arena, "%08x %s\n", knob_journal_sum(text, strlen(text)), text);
	return sys_writer_append(machine->writer, KNOB_JOURNAL, line, strlen(line), err);
}

static json_t *record_of(const char *type, unsigned id)
{
	json_t *record = made(json_object());

	put(record, "t", json_string(type));
	put(record, "id", json_integer(id));
	return record;
}

static json_t *points_json(const struct knob_points *points, bool with_new)
{
	json_t *list = made(json_array());

	for (size_t i = 0; i < points->count; i++) {
		const struct knob_point *point = &points->items[i];
		json_t *item = made(json_array());

		push(item, text_json(point->name));
		push(item, text_json(point->where));
		push(item, text_json(point->label));
		push(item, text_json(point->old));
		if (with_new)
			push(item, text_json(point->new));
		push(list, item);
	}
	return list;
}

const char *knob_boot_id(struct knob_machine *machine)
{
	struct err ignored = {0};
	const char *data;

	return sys_writer_read(machine->writer, machine->arena, "/proc/sys/kernel/random/boot_id", &data, NULL,
			       &ignored) < 0
		   ? ""
		   : text_trim(machine->arena, data);
}

const char *knob_kernel_release(struct knob_machine *machine)
{
	const char *data;

	return sys_writer_read(machine->writer, machine->arena, "/proc/sys/kernel/osrelease", &data, NULL, NULL) < 0
		   ? NULL
		   : text_trim(machine->arena, data);
}

static struct knob_change *add_change(struct knob_machine *machine, struct knob_journal *journal,
				      const struct knob_plan *plan, const char *what)
{
	struct arena *arena = machine->arena;
	struct knob_change *larger = ARENA_ARRAY(arena, journal->count + 1, struct knob_change);
	struct knob_change *change = &larger[journal->count];

	if (journal->count)
		memcpy(larger, journal->changes, journal->count * sizeof(*larger));
	*change = (struct knob_change){
	    .id = journal->count ? change[-1].id + 1 : 1,
	    .boot = knob_boot_id(machine),
	    .time_s = time(NULL),
	    .what = what,
	    .points = plan->points.items,
	    .point_count = plan->points.count,
	    .guards = plan->guards.items,
	    .guard_count = plan->guards.count,
	    .steps = plan->steps,
	    .step_states = ARENA_ARRAY(arena, plan->step_count + 1, enum knob_step_state),
	    .step_count = plan->step_count,
	};
	knob_dirs_to_make(machine, journal, plan, &change->dirs, &change->dir_count);
	journal->changes = larger;
	journal->count++;
	return change;
}

int knob_journal_begin(struct knob_machine *machine, struct knob_journal *journal, const struct knob_plan *plan,
		       const char *what, struct knob_change **ret, struct err *err)
{
	struct knob_change *change = add_change(machine, journal, plan, what);
	CLEANUP(release) json_t *record = record_of("begin", change->id);
	json_t *steps = made(json_array());
	size_t room = 65536;
	int r;

	put(record, "boot", text_json(change->boot));
	put(record, "time", json_integer(change->time_s));
	put(record, "what", text_json(what));
	put(record, "points", points_json(&plan->points, true));
	put(record, "guards", points_json(&plan->guards, false));
	for (size_t i = 0; i < plan->step_count; i++)
		push(steps, json_integer((json_int_t)plan->steps[i].count));
	put(record, "steps", steps);
	if (change->dir_count)
		put(record, "dirs", texts_json(change->dirs, change->dir_count));
	/* This record, the end with as many texts again, and two lines a step. */
	for (size_t i = 0; i < plan->points.count; i++)
		room += 2 * (strlen(plan->points.items[i].where) + 64 +
			     (plan->points.items[i].old ? strlen(plan->points.items[i].old) : 0) +
			     (plan->points.items[i].new ? 2 * strlen(plan->points.items[i].new) : 0));
	for (size_t i = 0; i < change->dir_count; i++)
		room += 2 * strlen(change->dirs[i]) + 16;
	for (size_t i = 0; i < plan->guards.count; i++)
		room += 2 * (strlen(plan->guards.items[i].where) + 128);
	r = knob_journal_compact(machine, journal, err);
	room += 128 * plan->step_count;
	if (r == 0 && journal->whole + room > SYS_WRITER_READ_BYTES) {
		r = err_set(err, EFBIG, KNOB_JOURNAL,
			    "has grown to %zu KiB; with this change hvtune could not read it any more",
			    journal->whole / 1024);
		(void)err_hint(err, "undo changes first: hvtune status");
	}
	if (r == 0)
		r = sys_writer_reserve(machine->writer, KNOB_JOURNAL, room, err);
	if (r == 0)
		r = write_record(machine, record, err);
	if (r < 0) {
		journal->count--;
		return r;
	}
	*ret = change;
	return 0;
}

int knob_journal_step(struct knob_machine *machine, struct knob_change *change, size_t step, enum knob_step_state state,
		      struct err *err)
{
	CLEANUP(release) json_t *record = record_of("step", change->id);
	int r;

	put(record, "step", json_integer((json_int_t)step));
	put(record, "state", json_string(state == KNOB_STEP_WRITTEN ? "written" : "writing"));
	r = write_record(machine, record, err);
	if (r == 0)
		change->step_states[step] = state;
	return r;
}

int knob_journal_end(struct knob_machine *machine, struct knob_change *change, enum knob_change_state state,
		     const char *why, struct err *err)
{
	CLEANUP(release) json_t *record = record_of("end", change->id);
	int r;

	put(record, "state", json_string(state == KNOB_CHANGE_DONE ? "done" : "failed"));
	if (change->now)
		put(record, "now", texts_json(change->now, change->point_count));
	if (change->moved)
		put(record, "moved", texts_json(change->moved, change->guard_count));
	if (why)
		put(record, "why", text_json(why));
	r = write_record(machine, record, err);
	if (r == 0) {
		change->state = state;
		change->why = why;
	}
	return r;
}

int knob_journal_undo(struct knob_machine *machine, struct knob_change *change, const char *state, const char *why,
		      struct err *err)
{
	CLEANUP(release) json_t *record = record_of("undo", change->id);
	int r;

	put(record, "state", json_string(state));
	if (why)
		put(record, "why", text_json(why));
	r = write_record(machine, record, err);
	if (r < 0)
		return r;
	change->undo_begun = true;
	if (text_equal(state, "done"))
		change->state = KNOB_CHANGE_UNDONE;
	return 0;
}

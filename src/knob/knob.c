/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding knobs, their points and their legal values. The tables are in knob_table_*.c. */
#include "knob.h"

#include <errno.h>

#include "cpuset.h"
#include "knob_journal.h"
#include "knob_libvirt.h"
#include "knob_table.h"
#include "knob_vm.h"
#include "sys_bus.h"
#include "text.h"

int knob_machine_open(const char *root, const struct sys_write_gate *gate, struct knob_machine *ret, struct err *err)
{
	struct knob_machine machine = {.arena = arena_new()};
	static const char *const own[] = {KNOB_JOURNAL, KNOB_LOCK, KNOB_STUDY, KNOB_STUDY_WISH, KNOB_STUDY_UNIT, NULL};
	size_t count = ARRAY_SIZE(own), used = 0;
	const struct knob *knob;
	const char **patterns;
	int r;

	for (size_t i = 0; (knob = knob_at(i)); i++) {
		count++;
		for (const char *const *path = knob->paths; path && *path; path++)
			count++;
	}
	patterns = ARENA_ARRAY(machine.arena, count + 1, const char *);
	for (size_t i = 0; (knob = knob_at(i)); i++) {
		if (knob->path)
			patterns[used++] = knob->path;
		for (const char *const *path = knob->paths; path && *path; path++)
			patterns[used++] = *path;
	}
	for (const char *const *path = own; *path; path++)
		patterns[used++] = *path;
	r = sys_open_dir(root ? root : "/", &machine.sys, err);
	if (r == 0)
		r = sys_writer_open(root ? root : "/", patterns, gate, &machine.writer, err);
	if (r < 0)
		knob_machine_close(&machine);
	else
		*ret = machine;
	return r;
}

void knob_machine_close(struct knob_machine *machine)
{
	knob_vm_forget(machine);
	knob_libvirt_close(machine);
	machine->bus = sys_bus_close(machine->bus);
	machine->writer = sys_writer_close(machine->writer);
	machine->sys = sys_close(machine->sys);
	machine->arena = arena_free(machine->arena);
}

void knob_points_add(struct knob_points *points, const struct knob_point *point)
{
	if (points->count == points->room) {
		struct knob_point *larger;

		points->room = points->room ? 2 * points->room : 64;
		larger = ARENA_ARRAY(points->arena, points->room, struct knob_point);
		if (points->count)
			memcpy(larger, points->items, points->count * sizeof(*larger));
		points->items = larger;
	}
	points->items[points->count++] = *point;
}

static bool is_family(const struct knob *knob)
{
	size_t length = strlen(knob->name);

	return length && knob->name[length - 1] == '*';
}

const struct knob *knob_find(const char *name)
{
	const struct knob *knob;

	for (size_t i = 0; (knob = knob_at(i)); i++)
		if (text_equal(knob->name, name))
			return knob;
	for (size_t i = 0; (knob = knob_at(i)); i++) {
		size_t length = strlen(knob->name) - 1;

		if (is_family(knob) && strncmp(knob->name, name, length) == 0 && name[length])
			return knob;
	}
	return NULL;
}

static int unknown(const char *name, struct err *err)
{
	const struct knob *knob;
	const char *near = NULL;
	int nearest = 3;

	for (size_t i = 0; (knob = knob_at(i)); i++) {
		int distance = text_distance(knob->name, name);

		if (distance < nearest) {
			nearest = distance;
			near = knob->name;
		}
	}
	(void)err_set(err, EINVAL, name, "there is no such knob");
	return near ? err_hint(err, "did you mean \"%s\"? hvtune knobs lists all", near)
		    : err_hint(err, "hvtune knobs lists all");
}

const char *knob_ask_name(struct arena *arena, const struct knob_ask *ask)
{
	return ask->where ? arena_printf(arena, "%s@%s", ask->name, ask->where) : ask->name;
}

int knob_ask_parse(struct arena *arena, const char *text, struct knob_ask *ret, struct err *err)
{
	const char *equals = strchr(text, '=');
	const char *at = equals ? memchr(text, '@', (size_t)(equals - text)) : NULL;
	struct knob_ask ask = {0};
	const struct knob *knob;

	if (!equals || equals == text || at == text) {
		(void)err_set(err, EINVAL, text, "what to set is written KNOB=VALUE or KNOB@WHERE=VALUE");
		return err_hint(err,
				"for example governor=powersave or hugepages.2M@node0=512; hvtune knobs lists all");
	}
	ask.name = arena_strndup(arena, text, (size_t)((at ? at : equals) - text));
	ask.where = at ? arena_strndup(arena, at + 1, (size_t)(equals - at - 1)) : NULL;
	ask.value = arena_strdup(arena, equals + 1);
	knob = knob_find(ask.name);
	if (!knob)
		return unknown(ask.name, err);
	if (text_equal(knob->name, ask.name) && is_family(knob)) {
		(void)err_set(err, EINVAL, ask.name, "stands for a family; name one of it in place of '*'");
		return err_hint(err, "for example %s", knob->members);
	}
	if (ask.where && !*ask.where)
		return err_set(err, EINVAL, text, "nothing stands between '@' and '='");
	*ret = ask;
	return 0;
}

int knob_get(struct knob_machine *machine, const struct knob_point *point, const char **ret, struct err *err)
{
	return point->knob->actuator->get(machine, point->where, ret, err);
}

const char *knob_place(const struct knob_point *point)
{
	return *point->where == '/' || !*point->label ? point->where : point->label;
}

bool knob_same(const struct knob *knob, const char *a, const char *b)
{
	int64_t number_a, number_b;

	if (!a || !b)
		return a == b;
	if (knob->actuator->same)
		return knob->actuator->same(a, b);
	return text_equal(a, b) ||
	       (text_int(a, 10, &number_a) == 0 && text_int(b, 10, &number_b) == 0 && number_a == number_b);
}

const char *knob_booted(struct knob_machine *machine, const struct knob *knob, const char *text)
{
	return text && knob->actuator->booted ? knob->actuator->booted(machine->arena, text) : text;
}

static const char *const unit_labels[] = {
    [KNOB_OF_CPUS] = "CPU",
    [KNOB_OF_NODES] = "node",
    [KNOB_OF_IRQS] = "IRQ",
};

/* "0-3" and, for nodes, "node0" or "node0,node2". */
static int parse_where(const struct knob *knob, const struct knob_ask *ask, struct cpuset *ret, struct err *err)
{
	const char *where = ask->where;
	char plain[1024];
	size_t length = 0;
	struct err inner = {0};

	if (!where) {
		*ret = cpuset_range(0, CPUSET_MAX - 1);
		return 0;
	}
	while (*where && length < sizeof(plain) - 1) {
		size_t word = knob->unit == KNOB_OF_NODES && text_starts(where, "node") ? 4
			      : knob->unit == KNOB_OF_CPUS && text_starts(where, "cpu") ? 3
											: 0;

		where += word;
		if (*where)
			plain[length++] = *where++;
	}
	plain[length] = '\0';
	if (cpuset_parse(plain, ret, &inner) < 0 || cpuset_empty(ret))
		return err_set(err, EINVAL, ask->where, "%s@WHERE takes a list of %ss such as 0-3,8", ask->name,
			       unit_labels[knob->unit]);
	return 0;
}

/* The number of "policy12" in a directory whose names begin with `prefix`; -1 when it is another name. */
static int instance_of(const char *name, const char *prefix, size_t prefix_length)
{
	int64_t number;

	if (strncmp(name, prefix, prefix_length) != 0 || text_int(name + prefix_length, 10, &number) < 0 ||
	    number < 0 || number >= CPUSET_MAX)
		return -1;
	return (int)number;
}

/* All numbers that '*' of a path stands for on this machine. */
static struct cpuset instances(struct knob_machine *machine, const char *path)
{
	const char *star = strchr(path, '*'), *slash = star;
	struct cpuset found = {0};
	const struct sys_look *look;

	while (slash[-1] != '/')
		slash--;
	look = sys_list(machine->sys, "%.*s", (int)(slash - path - 1), path);
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++)
		cpuset_add(&found, instance_of(look->names[i], slash, (size_t)(star - slash)));
	return found;
}

static const char *path_of(struct arena *arena, const char *path, int instance)
{
	const char *star = strchr(path, '*');

	return arena_printf(arena, "%.*s%d%s", (int)(star - path), path, instance, star + 1);
}

int knob_expand_path(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		     const char *path, struct knob_points *points, struct err *err)
{
	struct cpuset wanted, there, missing;
	int r;

	if (knob->unit == KNOB_OF_HOST) {
		struct knob_point point = {
		    .knob = knob, .name = ask->name, .where = path, .label = "", .new = ask->value};

		if (ask->where)
			return err_set(err, EINVAL, ask->where, "%s is one for the whole host and takes no @WHERE",
				       ask->name);
		knob_points_add(points, &point);
		return 0;
	}
	r = parse_where(knob, ask, &wanted, err);
	if (r < 0)
		return r;
	there = instances(machine, path);
	missing = cpuset_minus(&wanted, &there);
	if (ask->where && !cpuset_empty(&missing))
		return err_set(err, ENOENT, ask->where, "%s: there is no %s %s here", ask->name,
			       unit_labels[knob->unit], cpuset_format(machine->arena, &missing));
	wanted = cpuset_and(&wanted, &there);
	CPUSET_FOREACH (instance, &wanted) {
		struct knob_point point = {
		    .knob = knob,
		    .name = ask->name,
		    .where = path_of(machine->arena, path, instance),
		    .label = arena_printf(machine->arena, "%s %d", unit_labels[knob->unit], instance),
		    .new = ask->value,
		};

		knob_points_add(points, &point);
	}
	return 0;
}

int knob_expand(struct knob_machine *machine, const struct knob_ask *ask, enum knob_expand which,
		struct knob_points *points, struct err *err)
{
	const struct knob *knob = knob_find(ask->name);
	struct err unreadable = {0};
	size_t first = points->count, kept;
	int refused = 0, r;

	if (!knob)
		return unknown(ask->name, err);
	r = knob->expand ? knob->expand(machine, knob, ask, points, err)
			 : knob_expand_path(machine, knob, ask, knob->path, points, err);
	if (r < 0)
		return r;
	kept = first;
	for (size_t i = first; i < points->count; i++) {
		struct knob_point *point = &points->items[i];
		struct err why = {0};

		if (which == KNOB_EXPAND_UNREAD) {
			kept++;
			continue;
		}
		r = knob_get(machine, point, &point->old, &why);
		/* A CPU that is offline has no policy, and a policy without the file says no to all of them. */
		if (r == -ENOENT && which != KNOB_EXPAND_COMING)
			continue;
		if (r < 0 && which == KNOB_EXPAND_READABLE) {
			unreadable = why;
			refused = r;
			continue;
		}
		if (r < 0 && r != -ENOENT) {
			(void)err_copy(err, &why);
			return r;
		}
		points->items[kept++] = *point;
	}
	points->count = kept;
	if (kept == first && refused) {
		(void)err_copy(err, &unreadable);
		return refused;
	}
	if (kept == first) {
		(void)err_set(err, ENOENT, ask->name, "this machine has no such setting%s%s", ask->where ? " at " : "",
			      ask->where ? ask->where : "");
		return knob->appears ? err_hint(err, "it comes with %s", knob->appears) : -ENOENT;
	}
	return 0;
}

const char *knob_choices(struct knob_machine *machine, const struct knob_point *point)
{
	const struct knob *knob = point->knob;
	const char *path = knob->choices, *data;
	struct err ignored = {0};

	if (!path)
		return knob->list ? knob->list(machine, point) : NULL;
	if (strchr(path, '*')) {
		int64_t instance;
		const char *number = point->label + strcspn(point->label, "0123456789");

		if (text_int(number, 10, &instance) < 0)
			return NULL;
		path = path_of(machine->arena, path, (int)instance);
	}
	return sys_writer_read(machine->writer, machine->arena, path, &data, NULL, &ignored) < 0
		   ? NULL
		   : text_trim(machine->arena, data);
}

int knob_check(struct knob_machine *machine, const struct knob_point *point, bool blind, struct err *err)
{
	const struct knob *knob = point->knob;
	const char *words = knob->words, *choices = blind || knob->list ? NULL : knob_choices(machine, point);
	bool has_range = knob->least < knob->most;
	int64_t number;

	if (point->new &&has_range && text_int(point->new, 10, &number) == 0) {
		if (number < knob->least || number > knob->most)
			return err_set(err, ERANGE, point->new, "%s takes %lld to %lld", point->name,
				       (long long)knob->least, (long long)knob->most);
	} else if (point->new &&choices) {
		if (!text_has_word(choices, " \n[]", point->new))
			return err_set(err, EINVAL, point->new, "%s%s%s takes one of: %s", point->name,
				       *point->label ? " of " : "", point->label, choices);
	} else if (point->new &&words) {
		if (!text_has_word(words, " ", point->new))
			return err_set(err, EINVAL, point->new, "%s takes %s%s%s", point->name, words,
				       has_range ? " or a number" : "", "");
	} else if (point->new &&has_range) {
		return err_set(err, EINVAL, point->new, "%s takes a number from %lld to %lld", point->name,
			       (long long)knob->least, (long long)knob->most);
	}
	return knob->check ? knob->check(machine, point, err) : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns editing settings that are lines of a file, byte for byte. */
#include "knob_lines.h"

#include <errno.h>
#include <stdlib.h>

#include "knob_table.h"
#include "text.h"

void knob_lines_split(struct arena *arena, const char *where, const char **ret_path, const char **ret_key)
{
	const char *colon = strchr(where, ':');

	*ret_path = colon ? arena_strndup(arena, where, (size_t)(colon - where)) : where;
	*ret_key = colon ? colon + 1 : "";
}

/* A line that holds the setting, in its text. */
struct found {
	size_t begin, size; /* of the line, without its newline */
	struct knob_line_span span;
};

/* The last line counts, as in all of these files. */
static bool find(const struct knob_line_form *form, const char *text, const char *key, struct found *ret)
{
	bool is_found = false;

	for (const char *line = text; *line;) {
		size_t size = strcspn(line, "\n");
		struct knob_line_span span;

		if (form->find(line, size, key, &span)) {
			*ret = (struct found){(size_t)(line - text), size, span};
			is_found = true;
		}
		line += size + (line[size] == '\n');
	}
	return is_found;
}

int knob_lines_get(struct knob_machine *machine, const struct knob_line_form *form, const char *where, const char **ret,
		   struct err *err)
{
	const char *path, *key, *text;
	struct found found;
	int r;

	knob_lines_split(machine->arena, where, &path, &key);
	r = knob_whole_file.get(machine, path, &text, err);
	if (r < 0)
		return r;
	*ret = text && find(form, text, key, &found)
		   ? arena_strndup(machine->arena, text + found.begin + found.span.value, found.span.value_size)
		   : NULL;
	return 0;
}

static const char *replaced(struct arena *arena, const char *text, size_t at, size_t size, const char *by)
{
	return arena_printf(arena, "%.*s%s%s", (int)at, text, by, text + at + size);
}

/* Text that does not end in a newline still does not end in one afterwards, so that taking it out gives it back. */
static const char *appended(struct arena *arena, const char *text, const char *line)
{
	size_t size = strlen(text);

	return size && text[size - 1] != '\n' ? arena_printf(arena, "%s\n%s", text, line)
					      : arena_printf(arena, "%s%s\n", text, line);
}

static const char *added(struct arena *arena, const struct knob_line_form *form, const char *text, const char *key,
			 const char *value)
{
	const char *new = form->make(arena, key, value);

	for (const char *line = text; form->ahead_of && *line;) {
		size_t size = strcspn(line, "\n");

		if (form->ahead_of(arena, key, line, size))
			return replaced(arena, text, (size_t)(line - text), 0, arena_printf(arena, "%s\n", new));
		line += size + (line[size] == '\n');
	}
	return appended(arena, text, new);
}

static const char *taken_out(struct arena *arena, const char *text, const struct found *found)
{
	size_t begin = found->begin, size = found->size;

	if (found->span.item_size < size)
		return replaced(arena, text, begin + found->span.item, found->span.item_size, "");
	if (text[begin + size] == '\n')
		size++;
	else if (begin > 0) {
		begin--;
		size++;
	}
	return replaced(arena, text, begin, size, "");
}

int knob_lines_set(struct knob_machine *machine, const struct knob_line_form *form, const char *where, const char *text,
		   struct err *err)
{
	struct arena *arena = machine->arena;
	const char *path, *key, *old, *new;
	struct found found;
	int r;

	knob_lines_split(arena, where, &path, &key);
	r = knob_whole_file.get(machine, path, &old, err);
	if (r < 0)
		return r;
	if (!old && !text)
		return 0;
	if (!old && !form->header)
		return err_set(err, ENOENT, path, "is not there");
	new = old ? old : form->header;
	if (find(form, new, key, &found))
		new = text ? replaced(arena, new, found.begin + found.span.value, found.span.value_size, text)
			   : taken_out(arena, new, &found);
	else if (text)
		new = added(arena, form, new, key, text);
	if (text_equal(new, old))
		return 0;
	return knob_whole_file.set(machine, path, text_equal(new, form->header) ? NULL : new, err);
}

int knob_lines_tidy(struct knob_machine *machine, const char *where, struct err *err)
{
	const char *path, *key;

	knob_lines_split(machine->arena, where, &path, &key);
	return knob_whole_file.tidy(machine, path, err);
}

struct named {
	const char *name, *path;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static bool is_conf(const char *name)
{
	static const char end[] = ".conf";
	size_t length = strlen(name);

	return length > strlen(end) && text_equal(name + length - strlen(end), end);
}

/* The files that count: of each name the one of the first directory that has it. */
static struct named *list_files(struct knob_machine *machine, const char *const *directories, size_t *ret_count)
{
	struct named *files = NULL;
	size_t count = 0;

	for (; *directories; directories++) {
		const struct sys_look *look = sys_list(machine->sys, "%s", *directories);
		size_t more = look->state == SYS_VALUE ? look->size : 0;
		struct named *larger = ARENA_ARRAY(machine->arena, count + more + 1, struct named);

		if (count)
			memcpy(larger, files, count * sizeof(*larger));
		files = larger;
		for (size_t i = 0; i < more; i++) {
			bool hidden = !is_conf(look->names[i]);

			for (size_t j = 0; j < count && !hidden; j++)
				hidden = text_equal(files[j].name, look->names[i]);
			if (!hidden)
				files[count++] =
				    (struct named){look->names[i],
						   arena_printf(machine->arena, "%s/%s", *directories, look->names[i])};
		}
	}
	if (count)
		qsort(files, count, sizeof(*files), by_name);
	*ret_count = count;
	return files;
}

int knob_lines_walk(struct knob_machine *machine, const char *const *directories,
		    int (*look)(void *data, const char *path, const char *text), void *data)
{
	size_t count;
	const struct named *files = list_files(machine, directories, &count);

	for (size_t i = 0; i < count; i++) {
		/* Links are followed here: many of these files are links, and are only read. */
		const struct sys_look *file = sys_read(machine->sys, "%s", files[i].path);
		int r = file->state == SYS_VALUE ? look(data, files[i].path, file->data) : 0;

		if (r != 0)
			return r;
	}
	return 0;
}

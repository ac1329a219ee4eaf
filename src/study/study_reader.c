/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading maps by tables, and the mistakes. */
#include <errno.h>

#include "study_reader.h"
#include "text.h"

/* A file that is something else altogether would give hundreds. */
enum { MOST_MISTAKES = 50 };

static struct err *next_mistake(struct study_mistakes *mistakes)
{
	if (mistakes->count == mistakes->room) {
		size_t room = mistakes->room ? 2 * mistakes->room : 8;
		struct err *items = ARENA_ARRAY(mistakes->arena, room, struct err);

		if (mistakes->count)
			memcpy(items, mistakes->items, mistakes->count * sizeof(*items));
		mistakes->items = items;
		mistakes->room = room;
	}
	return &mistakes->items[mistakes->count++];
}

void study_mistake(struct study_reader *reader, const struct study_node *node, const char *format, ...)
{
	va_list arguments;

	if (reader->mistakes->count >= MOST_MISTAKES)
		return;
	va_start(arguments, format);
	const char *text = arena_vprintf(reader->arena, format, arguments);

	va_end(arguments);
	/* A knob that is not there is met again with each of its levels. */
	for (size_t i = 0; i < reader->mistakes->count; i++)
		if (reader->mistakes->items[i].line == node->line &&
		    reader->mistakes->items[i].column == node->column &&
		    text_equal(reader->mistakes->items[i].what, text))
			return;
	(void)err_set_at(next_mistake(reader->mistakes), EINVAL, reader->file, node->line, node->column, "%s", text);
}

void study_advice(struct study_reader *reader, const char *format, ...)
{
	va_list arguments;

	if (!reader->mistakes->count || reader->mistakes->count >= MOST_MISTAKES)
		return;
	va_start(arguments, format);
	(void)err_hint(&reader->mistakes->items[reader->mistakes->count - 1], "%s",
		       arena_vprintf(reader->arena, format, arguments));
	va_end(arguments);
}

const char *study_near(struct study_reader *reader, const char *word, const char *const *names, size_t count)
{
	const char *near = NULL;
	bool is_short = strlen(word) < 3;
	int nearest = (int)MIN_OF(strlen(word) / 4 + 1, 3U) + 1;

	for (size_t i = 0; i < count; i++) {
		int distance = text_distance(names[i], word);

		/* To a word of one or two letters every other one is near. */
		if (is_short && names[i][0] != word[0])
			continue;

		if (distance < nearest) {
			nearest = distance;
			near = names[i];
		}
	}
	return near ? arena_printf(reader->arena, "; did you mean \"%s\"?", near) : "";
}

static void refuse_key(struct study_reader *reader, const struct study_node *key, const struct study_field *fields,
		       size_t count, const char *what)
{
	const char **names = ARENA_ARRAY(reader->arena, count, const char *);
	const char *all = "";

	for (size_t i = 0; i < count; i++) {
		names[i] = fields[i].name;
		all = arena_printf(reader->arena, "%s%s%s", all, i ? ", " : "", fields[i].name);
	}
	study_mistake(reader, key, "%s has no key \"%s\"%s", what, key->text,
		      study_near(reader, key->text, names, count));
	study_advice(reader, "it has: %s", all);
}

bool study_read_fields(struct study_reader *reader, const struct study_node *node, const struct study_field *fields,
		       size_t count, void *into, const char *what)
{
	if (node->kind != STUDY_MAP) {
		study_mistake(reader, node, "%s is a list of keys with values, \"%s: ...\"", what, fields[0].name);
		return false;
	}
	for (size_t i = 0; i < node->item_count; i++) {
		const struct study_field *field = NULL;

		for (size_t j = 0; j < count && !field; j++)
			if (text_equal(fields[j].name, node->keys[i]->text))
				field = &fields[j];
		if (!field)
			refuse_key(reader, node->keys[i], fields, count, what);
		else if (field->read)
			field->read(reader, node->items[i], (char *)into + field->offset);
	}
	for (size_t j = 0; j < count; j++)
		if (fields[j].required && !study_node_get(node, fields[j].name, NULL))
			study_mistake(reader, node, "%s needs \"%s\"", what, fields[j].name);
	return true;
}

const char *study_scalar(struct study_reader *reader, const struct study_node *node, const char *expected)
{
	if (node->kind == STUDY_SCALAR && (*node->text || node->quoted))
		return node->text;
	study_mistake(reader, node, "expected %s, found %s", expected,
		      node->kind == STUDY_LIST	? "a list"
		      : node->kind == STUDY_MAP ? "keys with values"
						: "nothing");
	return NULL;
}

int study_choice(struct study_reader *reader, const struct study_node *node, const char *const *names, size_t count,
		 const char *what)
{
	const char *text = study_scalar(reader, node, what);
	const char *all = "";

	if (!text)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (text_equal(names[i], text))
			return (int)i;
		all = arena_printf(reader->arena, "%s%s%s", all, i ? ", " : "", names[i]);
	}
	study_mistake(reader, node, "\"%s\" is not %s%s", text, what, study_near(reader, text, names, count));
	study_advice(reader, "one of %s", all);
	return -1;
}

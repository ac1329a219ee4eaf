/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns cutting tuned's files into sections and options, as Python's configparser does it for tuned. */
#include "host_tuned_parse.h"

#include <ctype.h>
#include <errno.h>

#include "text.h"

enum { OPTION_LIMIT = 4096, SECTION_LIMIT = 512, VALUE_LIMIT = 2048, FILE_LIMIT = 128 * 1024 };

struct parser {
	struct arena *arena;
	struct tuned_file *file;
	struct err *err;
	const char *section;
	unsigned line;
	int room, section_room;
	size_t indent; /* of the option that a deeper indented line would continue */
	bool can_be_continued;
};

/* A '#' at the start or behind a blank ends the line. */
static size_t without_comment(const char *line, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (line[i] == '#' && (i == 0 || isspace((unsigned char)line[i - 1])))
			return i;
	return length;
}

static int enter_section(struct parser *parser, const char *name)
{
	struct tuned_file *file = parser->file;

	parser->section = name;
	parser->can_be_continued = false;
	for (int i = 0; i < file->section_count; i++)
		if (text_equal(file->sections[i], name))
			return 0;
	if (file->section_count >= SECTION_LIMIT)
		return err_set_at(parser->err, E2BIG, file->path, parser->line, 1, "more than %d sections",
				  SECTION_LIMIT);
	if (file->section_count == parser->section_room) {
		parser->section_room = parser->section_room ? parser->section_room * 2 : 16;
		const char **larger = ARENA_ARRAY(parser->arena, (size_t)parser->section_room, const char *);

		for (int i = 0; i < file->section_count; i++)
			larger[i] = file->sections[i];
		file->sections = larger;
	}
	file->sections[file->section_count++] = name;
	return 0;
}

static int add_option(struct parser *parser, const char *name, const char *value)
{
	struct tuned_file *file = parser->file;

	if (file->count >= OPTION_LIMIT)
		return err_set_at(parser->err, E2BIG, file->path, parser->line, 1, "more than %d options",
				  OPTION_LIMIT);
	if (file->count == parser->room) {
		parser->room = parser->room ? parser->room * 2 : 32;
		struct tuned_option *larger = ARENA_ARRAY(parser->arena, (size_t)parser->room, struct tuned_option);

		if (file->count)
			memcpy(larger, file->options, (size_t)file->count * sizeof(*larger));
		file->options = larger;
	}
	file->options[file->count++] =
	    (struct tuned_option){.section = parser->section, .name = name, .value = value, .line = parser->line};
	return 0;
}

/* One line without its comment, trimmed, not empty. */
static int take_line(struct parser *parser, const char *text, size_t indent)
{
	struct tuned_file *file = parser->file;
	const char *close = text[0] == '[' ? strrchr(text, ']') : NULL;
	const char *equals = strchr(text, '=');

	if (parser->can_be_continued && indent > parser->indent) {
		struct tuned_option *option = &file->options[file->count - 1];

		if (strlen(option->value) < VALUE_LIMIT)
			option->value =
			    arena_printf(parser->arena, "%s%s%s", option->value, *option->value ? "\n" : "", text);
		return 0;
	}
	parser->indent = indent;
	if (close && close > text + 1)
		return enter_section(parser, arena_strndup(parser->arena, text + 1, (size_t)(close - text - 1)));
	if (!parser->section)
		return err_set_at(parser->err, EINVAL, file->path, parser->line, 1,
				  "\"%.60s\" stands before the first [section]", text);
	if (!equals || equals == text)
		return err_set_at(parser->err, EINVAL, file->path, parser->line, 1,
				  "\"%.60s\" is neither [section] nor option=value", text);
	parser->can_be_continued = true;
	return add_option(parser, text_trim(parser->arena, arena_strndup(parser->arena, text, (size_t)(equals - text))),
			  text_trim(parser->arena, equals + 1));
}

int tuned_file_parse(struct arena *arena, const char *path, const char *text, struct tuned_file *ret, struct err *err)
{
	struct parser parser = {.arena = arena, .file = ret, .err = err};
	int r = 0;

	*ret = (struct tuned_file){.path = path};
	if (strlen(text) > FILE_LIMIT)
		return err_set(err, E2BIG, path, "larger than any tuned profile (%d KiB)", FILE_LIMIT / 1024);
	for (const char *at = text; *at && r == 0;) {
		size_t length = strcspn(at, "\n");
		size_t indent = strspn(at, " \t\r\f\v");
		const char *content = text_trim(arena, arena_strndup(arena, at, without_comment(at, length)));

		parser.line++;
		if (*content && *content != ';')
			r = take_line(&parser, content, indent);
		at += length + (at[length] != '\0');
	}
	return r;
}

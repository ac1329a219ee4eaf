/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns reading GRUB's generated menu. Its language is a small shell (GRUB manual, "Writing full configuration files
 * directly"): words with ' and " quotes, commands ended by newlines and ';', blocks in braces.
 */
#include "knob_boot_menu.h"

#include <ctype.h>
#include <errno.h>

enum { DEPTH_LIMIT = 16 };

struct reader {
	struct arena *arena;
	const struct boot_file *file;
	const char *text;
	size_t at;
	struct boot_menu *menu;
	int conditions; /* open `if`, `while`... */
	struct err *err;
};

static int refuse(const struct reader *reader, size_t at, const char *what)
{
	int r = err_set_at(reader->err, ENOTSUP, reader->file->path, boot_file_line(reader->file, at), 0, "%s", what);

	(void)err_hint(reader->err, "make GRUB's menu anew and look at this line");
	return r;
}

static char now(const struct reader *reader)
{
	return reader->text[reader->at];
}

static bool ends_command(const struct reader *reader)
{
	return !now(reader) || strchr("\n;{}", now(reader));
}

/* Blanks, and lines that are continued. */
static void skip_blanks(struct reader *reader)
{
	for (;;) {
		if (now(reader) == ' ' || now(reader) == '\t' || now(reader) == '\r')
			reader->at++;
		else if (now(reader) == '\\' && reader->text[reader->at + 1] == '\n')
			reader->at += 2;
		else
			break;
	}
}

static int skip_quoted(struct reader *reader)
{
	size_t start = reader->at;
	char quote = now(reader);

	for (reader->at++; now(reader) && now(reader) != quote; reader->at++)
		if (quote == '"' && now(reader) == '\\' && reader->text[reader->at + 1])
			reader->at++;
	if (!now(reader))
		return refuse(reader, start, "a quote is not closed");
	reader->at++;
	return 0;
}

/* "${name}" has braces of its own. */
static int skip_word(struct reader *reader)
{
	int r = 0;

	while (r == 0 && now(reader) && !strchr(" \t\r\n;{}", now(reader))) {
		if (now(reader) == '\'' || now(reader) == '"') {
			r = skip_quoted(reader);
		} else if (now(reader) == '$' && reader->text[reader->at + 1] == '{') {
			reader->at += strcspn(reader->text + reader->at, "}\n");
			reader->at += now(reader) == '}';
		} else {
			reader->at += now(reader) == '\\' && reader->text[reader->at + 1] ? 2 : 1;
		}
	}
	return r;
}

/* The word without its quotes; variables stay as written. */
static const char *word_text(struct arena *arena, const char *raw, size_t length)
{
	char *text = arena_alloc(arena, length + 1), *at = text;
	char quote = '\0';

	for (size_t i = 0; i < length; i++) {
		if (quote ? raw[i] == quote : raw[i] == '\'' || raw[i] == '"')
			quote = quote ? '\0' : raw[i];
		else if (raw[i] == '\\' && quote != '\'' && i + 1 < length)
			*at++ = raw[++i];
		else
			*at++ = raw[i];
	}
	return text;
}

static int take_word(struct reader *reader, const char **ret)
{
	size_t start = reader->at;
	int r = skip_word(reader);

	if (r == 0)
		*ret = word_text(reader->arena, reader->text + start, reader->at - start);
	return r;
}

static int skip_command(struct reader *reader)
{
	int r = 0;

	while (r == 0) {
		skip_blanks(reader);
		if (ends_command(reader) || now(reader) == '#')
			break;
		r = skip_word(reader);
	}
	return r;
}

/* From behind an opening brace to the closing one. */
static int skip_block(struct reader *reader)
{
	size_t start = reader->at;
	int level = 1, r = 0;

	while (r == 0) {
		skip_blanks(reader);
		if (!now(reader))
			return refuse(reader, start ? start - 1 : 0, "a brace is not closed");
		if (now(reader) == '{') {
			level++;
			reader->at++;
		} else if (now(reader) == '}') {
			if (--level == 0)
				break;
			reader->at++;
		} else if (now(reader) == '#') {
			reader->at += strcspn(reader->text + reader->at, "\n");
		} else if (strchr("\n;", now(reader))) {
			reader->at++;
		} else {
			r = skip_word(reader);
		}
	}
	return r;
}

/* The words between `menuentry` and its brace. */
static int take_head(struct reader *reader, struct boot_menu_entry *entry)
{
	bool id_next = false;
	int r = 0;

	while (r == 0) {
		const char *word = "";

		skip_blanks(reader);
		if (ends_command(reader))
			break;
		size_t start = reader->at;

		r = take_word(reader, &word);
		if (r < 0)
			break;
		if (id_next) {
			entry->id = word;
			entry->id_end = reader->at;
			id_next = false;
		} else if (strcmp(word, "--id") == 0 || strcmp(word, "$menuentry_id_option") == 0) {
			entry->id_at = start;
			id_next = true;
		} else if (!entry->title && *word != '-') {
			entry->title = word;
			entry->title_end = reader->at;
		}
	}
	/* grub-mkconfig writes the title first. */
	if (r == 0 && (now(reader) != '{' || !entry->title || (entry->id_at && entry->id_at < entry->title_end)))
		r = refuse(reader, entry->head, "a menu entry without a title or a body");
	if (r == 0 && !entry->id)
		entry->id_at = entry->id_end = reader->at;
	return r;
}

static int read_commands(struct reader *reader, int parent, int depth);

static int take_entry(struct reader *reader, size_t head, bool is_submenu, int parent, int depth)
{
	struct boot_menu_entry entry = {
	    .parent = parent, .is_submenu = is_submenu, .unsure = reader->conditions > 0, .head = head};
	int r = take_head(reader, &entry);

	if (r < 0)
		return r;
	if (reader->menu->count >= BOOT_MENU_MAX)
		return refuse(reader, head, "more entries than a menu has");
	int index = (int)reader->menu->count++, conditions = reader->conditions;

	reader->at++;
	entry.body = reader->at;
	reader->menu->list[index] = entry;
	reader->conditions = 0;
	r = is_submenu ? read_commands(reader, index, depth + 1) : skip_block(reader);
	reader->conditions = conditions;
	if (r == 0 && now(reader) != '}')
		r = refuse(reader, head, "the body of this menu entry has no end");
	reader->menu->list[index].end = reader->at;
	reader->at += r == 0;
	return r;
}

/* `set default=...`; the branch for next_entry is not the lasting one. */
static int take_set(struct reader *reader)
{
	const char *word = "";
	int r = 0;

	skip_blanks(reader);
	if (!ends_command(reader))
		r = take_word(reader, &word);
	if (r < 0 || strncmp(word, "default=", 8) != 0)
		return r;
	if (strcmp(word + 8, "${next_entry}") == 0 || strcmp(word + 8, "$next_entry") == 0)
		reader->menu->takes_next = true;
	else
		reader->menu->default_text = word + 8;
	return 0;
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static int take_function(struct reader *reader)
{
	int r = skip_command(reader);

	if (r == 0 && now(reader) == '{') {
		reader->at++;
		r = skip_block(reader);
		reader->at += r == 0 && now(reader) == '}';
	}
	return r;
}

static int take_command(struct reader *reader, int parent, int depth)
{
	static const char *const opening[] = {"if", "while", "until", "for"};
	static const char *const closing[] = {"fi", "done"};
	static const char *const between[] = {"then", "else", "elif", "do"};
	size_t head = reader->at;
	const char *word = "";
	int r = take_word(reader, &word);

	if (r < 0)
		return r;
	/* Characters such as a lone '\' at the end of the file make no progress otherwise. */
	if (reader->at == head)
		reader->at++;
	if (strcmp(word, "menuentry") == 0 || strcmp(word, "submenu") == 0)
		return take_entry(reader, head, *word == 's', parent, depth);
	if (strcmp(word, "function") == 0)
		return take_function(reader);
	if (strcmp(word, "set") == 0 && parent < 0) {
		r = take_set(reader);
	} else if (is_one_of(word, opening, ARRAY_SIZE(opening))) {
		reader->conditions++;
	} else if (is_one_of(word, closing, ARRAY_SIZE(closing))) {
		reader->conditions -= reader->conditions > 0;
	} else if (is_one_of(word, between, ARRAY_SIZE(between))) {
		return 0;
	} else if ((strcmp(word, "source") == 0 || strcmp(word, ".") == 0) &&
		   strstr(arena_strndup(reader->arena, reader->text + reader->at,
					strcspn(reader->text + reader->at, "\n")),
			  "custom.cfg")) {
		reader->menu->reads_custom = true;
	}
	return r < 0 ? r : skip_command(reader);
}

/* Commands up to the end of the file, or of a submenu's block. */
static int read_commands(struct reader *reader, int parent, int depth)
{
	int r = 0;

	if (depth > DEPTH_LIMIT)
		return refuse(reader, reader->at, "menus are nested too deeply");
	while (r == 0 && now(reader)) {
		skip_blanks(reader);
		if (now(reader) == '}' && parent >= 0)
			break;
		if (now(reader) == '#')
			reader->at += strcspn(reader->text + reader->at, "\n");
		else if (now(reader) && strchr("\n;{}", now(reader)))
			reader->at++;
		else if (now(reader))
			r = take_command(reader, parent, depth);
	}
	return r;
}

int boot_menu_parse(struct arena *arena, const struct boot_file *file, struct boot_menu *ret, struct err *err)
{
	struct reader reader = {.arena = arena, .file = file, .text = file->text, .menu = ret, .err = err};

	*ret = (struct boot_menu){.count = 0};
	return read_commands(&reader, -1, 0);
}

/* ---- which entry ---- */

/* The part of "a>b" up to '>', where ">>" means one '>' (menuentry_eq of grub-core/normal/menu.c). */
static const char *first_part(struct arena *arena, const char *chosen, const char **ret_rest)
{
	char *part = arena_alloc(arena, strlen(chosen) + 1), *at = part;

	for (; *chosen; chosen++) {
		if (*chosen == '>' && chosen[1] != '>')
			break;
		chosen += *chosen == '>';
		*at++ = *chosen;
	}
	*ret_rest = *chosen == '>' ? chosen + 1 : NULL;
	return part;
}

static bool is_number(const char *text)
{
	return *text && strlen(text) < 6 && strspn(text, "0123456789") == strlen(text);
}

int boot_menu_find(struct arena *arena, const struct boot_menu *menu, const char *chosen,
		   const struct boot_menu_entry **ret, const struct boot_file *file, struct err *err)
{
	const char *rest = chosen;
	int parent = -1;

	do {
		const char *part = first_part(arena, rest, &rest);
		int64_t number = is_number(part) ? strtol(part, NULL, 10) : -1, place = 0;
		const struct boot_menu_entry *found = NULL;

		for (size_t i = 0; i < menu->count && !found; i++) {
			const struct boot_menu_entry *entry = &menu->list[i];

			if (entry->parent != parent)
				continue;
			if (number >= 0 && entry->unsure)
				return err_set_at(err, ENOTSUP, file->path, boot_file_line(file, entry->head), 0,
						  "GRUB's default is entry number %s, and whether this one counts is "
						  "known at boot only",
						  part);
			if (number >= 0 ? place == number
					: text_equal(entry->title, part) || text_equal(entry->id, part))
				found = entry;
			place++;
		}
		if (!found)
			return err_set(err, ENOENT, file->path, "GRUB's default entry \"%s\" is not in its menu",
				       chosen);
		if (!found->is_submenu) {
			*ret = found;
			return 0;
		}
		parent = (int)(found - menu->list);
		/* GRUB opens a submenu with its own default, which nobody sets: the first entry. */
		if (!rest)
			rest = "0";
	} while (true);
}

/* ---- its kernel ---- */

int boot_menu_linux(struct arena *arena, const struct boot_file *file, const struct boot_menu_entry *entry,
		    const char **ret_kernel, size_t *ret_start, size_t *ret_end, struct err *err)
{
	static const char *const loads[] = {"linux", "linux16", "linuxefi"};
	struct reader reader = {.arena = arena,
				.file = file,
				.text = arena_strndup(arena, file->text, entry->end),
				.at = entry->body,
				.err = err};
	bool found = false;

	while (now(&reader)) {
		const char *word = "";
		int r;

		skip_blanks(&reader);
		if (!now(&reader))
			break;
		if (strchr("\n;{}", now(&reader)) || now(&reader) == '#') {
			reader.at += now(&reader) == '#' ? strcspn(reader.text + reader.at, "\n") : 1;
			continue;
		}
		size_t head = reader.at;

		r = take_word(&reader, &word);
		if (r < 0)
			return r;
		if (!is_one_of(word, loads, ARRAY_SIZE(loads))) {
			r = skip_command(&reader);
			if (r < 0)
				return r;
			continue;
		}
		if (found)
			return refuse(&reader, head, "a second command loads a kernel in one menu entry");
		found = true;
		skip_blanks(&reader);
		r = take_word(&reader, ret_kernel);
		*ret_start = reader.at;
		if (r == 0)
			r = skip_command(&reader);
		if (r < 0)
			return r;
		*ret_end = reader.at;
	}
	return found ? 0 : refuse(&reader, entry->head, "no command in this menu entry loads a Linux kernel");
}

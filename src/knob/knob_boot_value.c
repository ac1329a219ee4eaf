/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the values of a shell's assignments: quotes, escapes, variables, with the place of every character.
 */
#include "knob_boot_shell.h"

#include <errno.h>

#include "text.h"

enum { NESTING_LIMIT = 32 };

int shell_refuse(const struct shell *shell, size_t at, const char *what, const char *hint)
{
	const struct boot_file *file = &shell->files[shell->file];

	int r = err_set_at(shell->err, ENOTSUP, file->path, boot_file_line(file, at), 0, "%s", what);

	(void)err_hint(shell->err, "%s", hint);
	return r;
}

size_t shell_name_length(const char *text)
{
	size_t length = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (shell_is_name_char(text[length]))
		length++;
	return length;
}

bool shell_is_ours(const char *name, size_t length)
{
	static const char *const names[] = {"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return true;
	return false;
}

struct variable *shell_find(struct shell *shell, const char *name, size_t length)
{
	for (size_t i = 0; i < shell->variable_count; i++)
		if (strlen(shell->variables[i].name) == length && memcmp(shell->variables[i].name, name, length) == 0)
			return &shell->variables[i];
	return NULL;
}

void shell_put(struct shell *shell, struct boot_line *value, size_t start, size_t end, enum boot_context context,
	       char c)
{
	boot_line_put(value, &(struct boot_char){.start = (uint32_t)start,
						 .end = (uint32_t)end,
						 .file = shell->file,
						 .context = (uint8_t)context,
						 .c = c});
}

static int take_double(struct shell *shell, struct boot_line *value);
static int take_dollar(struct shell *shell, struct boot_line *value, enum boot_context context);

static int open_end(const struct shell *shell, size_t start)
{
	return shell_refuse(shell, start, "what is opened here with a quote or bracket is not closed",
			    "put the quotes right first; sh -n FILE shows where the shell stumbles");
}

/* `...`: skipped, since it would have to be run. */
static int take_backticks(struct shell *shell, struct boot_line *value)
{
	size_t start = shell->at++;

	for (; shell_now(shell) && shell_now(shell) != '`'; shell->at++)
		if (shell_now(shell) == '\\' && shell->text[shell->at + 1])
			shell->at++;
	if (!shell_now(shell))
		return open_end(shell, start);
	shell->at++;
	shell_put(shell, value, start, shell->at, BOOT_OPAQUE, '$');
	return 0;
}

/* From an opening bracket to its partner, over quotes. */
static int skip_brackets(struct shell *shell, char open, char close)
{
	struct boot_line ignored = {.arena = shell->arena, .files = shell->files};
	size_t start = shell->at;
	int level = 0;

	do {
		int r = 0;

		if (!shell_now(shell))
			return open_end(shell, start);
		if (shell_now(shell) == open)
			level++;
		else if (shell_now(shell) == close)
			level--;
		if (shell_now(shell) == '\'') {
			for (shell->at++; shell_now(shell) && shell_now(shell) != '\''; shell->at++)
				;
			if (!shell_now(shell))
				return open_end(shell, start);
			shell->at++;
		} else if (shell_now(shell) == '"') {
			r = take_double(shell, &ignored);
		} else {
			shell->at += shell_now(shell) == '\\' && shell->text[shell->at + 1] ? 2 : 1;
		}
		if (r < 0)
			return r;
	} while (level > 0);
	return 0;
}

static int put_variable(struct shell *shell, struct boot_line *value, const char *name, size_t length, size_t start)
{
	const struct variable *variable = shell_find(shell, name, length);

	if (variable) {
		shell->expanded += variable->value.count;
		if (shell->expanded > BOOT_TEXT_LIMIT)
			return shell_refuse(shell, start, "its variables grow beyond 1 MiB", "simplify the file first");
		boot_line_put_all(value, &variable->value);
	} else if (!shell_is_ours(name, length)) {
		shell_put(shell, value, start, shell->at, BOOT_OPAQUE, '$');
	}
	return 0;
}

/* The word of ${NAME:+WORD} up to its '}', which is not taken. */
static int take_brace_word(struct shell *shell, struct boot_line *value, enum boot_context context, size_t start)
{
	int r = 0;

	while (r == 0 && shell_now(shell) && shell_now(shell) != '}') {
		if (shell_now(shell) == '$') {
			r = take_dollar(shell, value, context);
		} else if (shell_now(shell) == '`') {
			r = take_backticks(shell, value);
		} else if (strchr("\"'\\", shell_now(shell))) {
			/* Quotes in here mean other things in other shells. */
			return shell_refuse(shell, shell->at, "quotes inside ${...} are not followed",
					    "write the value without them first");
		} else {
			shell_put(shell, value, shell->at, shell->at + 1, context, shell_now(shell));
			shell->at++;
		}
	}
	return r < 0 ? r : shell_now(shell) ? 0 : open_end(shell, start);
}

/* ${NAME}, ${NAME:+WORD}, ${NAME:-WORD}; other forms are opaque. */
static int take_braces(struct shell *shell, struct boot_line *value, enum boot_context context)
{
	size_t start = shell->at;
	const char *name = shell->text + start + 2;
	size_t length = shell_name_length(name);
	const char *after = name + length;
	bool colon = *after == ':';
	char kind = after[colon];
	int r = 0;

	if (length && *after == '}') {
		shell->at = start + 3 + length;
		return put_variable(shell, value, name, length, start);
	}
	if (!length || (kind != '+' && kind != '-')) {
		shell->at = start + 1;
		r = skip_brackets(shell, '{', '}');
		if (r == 0)
			shell_put(shell, value, start, shell->at, BOOT_OPAQUE, '$');
		return r;
	}
	const struct variable *variable = shell_find(shell, name, length);
	bool is_set = variable && (variable->value.count || !colon);
	struct boot_line word = {.arena = shell->arena, .files = shell->files};

	shell->at = (size_t)(after - shell->text) + colon + 1;
	r = take_brace_word(shell, &word, context, start);
	if (r < 0)
		return r;
	shell->at++;
	if (!variable && !shell_is_ours(name, length))
		shell_put(shell, value, start, shell->at, BOOT_OPAQUE, '$');
	else if (is_set == (kind == '+'))
		boot_line_put_all(value, &word);
	else if (is_set)
		return put_variable(shell, value, name, length, start);
	return 0;
}

static int take_dollar(struct shell *shell, struct boot_line *value, enum boot_context context)
{
	size_t start = shell->at;
	const char *name = shell->text + start + 1;
	size_t length = shell_name_length(name);
	int r = 0;

	if (++shell->nesting > NESTING_LIMIT)
		return shell_refuse(shell, start, "this is nested too deeply to follow", "simplify the file first");
	if (*name == '{') {
		r = take_braces(shell, value, context);
	} else if (*name == '(') {
		shell->at++;
		r = skip_brackets(shell, '(', ')');
		if (r == 0)
			shell_put(shell, value, start, shell->at, BOOT_OPAQUE, '$');
	} else if (length) {
		shell->at = start + 1 + length;
		r = put_variable(shell, value, name, length, start);
	} else if (*name && strchr("@*#?-$!0123456789", *name)) {
		shell->at += 2;
		shell_put(shell, value, start, shell->at, BOOT_OPAQUE, '$');
	} else {
		shell_put(shell, value, start, start + 1, context, '$');
		shell->at++;
	}
	shell->nesting--;
	return r;
}

static int take_single(struct shell *shell, struct boot_line *value)
{
	size_t start = shell->at++;

	for (; shell_now(shell) && shell_now(shell) != '\''; shell->at++)
		shell_put(shell, value, shell->at, shell->at + 1, BOOT_SINGLE, shell_now(shell));
	if (!shell_now(shell))
		return open_end(shell, start);
	shell->at++;
	return 0;
}

static int take_double(struct shell *shell, struct boot_line *value)
{
	size_t start = shell->at++;
	int r = 0;

	while (r == 0 && shell_now(shell) && shell_now(shell) != '"') {
		size_t at = shell->at;

		if (shell_now(shell) == '$') {
			r = take_dollar(shell, value, BOOT_DOUBLE);
		} else if (shell_now(shell) == '`') {
			r = take_backticks(shell, value);
		} else if (shell_now(shell) == '\\' && shell->text[at + 1] == '\n') {
			shell->at += 2;
		} else if (shell_now(shell) == '\\' && shell->text[at + 1] && strchr("\"\\$`", shell->text[at + 1])) {
			shell_put(shell, value, at, at + 2, BOOT_DOUBLE, shell->text[at + 1]);
			shell->at += 2;
		} else {
			shell_put(shell, value, at, at + 1, BOOT_DOUBLE, shell_now(shell));
			shell->at++;
		}
	}
	if (r < 0)
		return r;
	if (!shell_now(shell))
		return open_end(shell, start);
	shell->at++;
	return 0;
}

static bool ends_word(const struct shell *shell)
{
	/* The carriage return of a file with DOS line ends is not meant as part of the value. */
	return !shell_now(shell) || strchr(" \t\n;&|<>()", shell_now(shell)) ||
	       (shell_now(shell) == '\r' && shell->text[shell->at + 1] == '\n');
}

int shell_take_word(struct shell *shell, struct boot_line *value, char *ret_quote)
{
	int r = 0;

	*ret_quote = 0;
	while (r == 0 && !ends_word(shell)) {
		size_t at = shell->at;
		char c = shell_now(shell);

		*ret_quote = c == '\'' || c == '"' ? c : '\0';
		if (c == '\'') {
			r = take_single(shell, value);
		} else if (c == '"') {
			r = take_double(shell, value);
		} else if (c == '$') {
			r = take_dollar(shell, value, BOOT_BARE);
		} else if (c == '`') {
			r = take_backticks(shell, value);
		} else if (c == '\\' && shell->text[at + 1] == '\n') {
			shell->at += 2;
		} else if (c == '\\' && shell->text[at + 1]) {
			shell_put(shell, value, at, at + 2, BOOT_BARE, shell->text[at + 1]);
			shell->at += 2;
		} else {
			shell_put(shell, value, at, at + 1, BOOT_BARE, c);
			shell->at++;
		}
	}
	return r;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns reading GRUB's defaults, which are a shell script: what GRUB_CMDLINE_LINUX and GRUB_CMDLINE_LINUX_DEFAULT are
 * after /etc/default/grub and its snippets, with the place of every character. What a shell would have to compute is
 * opaque; where the two variables themselves hang on that, the file is refused with its line.
 *
 * The language: POSIX.1-2017, chapter "Shell Command Language", as far as such files use it.
 */
#include "knob_boot_shell.h"

#include <ctype.h>
#include <errno.h>

#include "text.h"

/* ---- where a new word goes ---- */

static bool is_simple(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_-.,:/@%+=", text[i]))
			return false;
	return true;
}

static struct boot_anchor make_anchor(const struct shell *shell, size_t start, char quote, bool append)
{
	const char *text = shell->text;
	size_t end = shell->at;
	bool empty = end - start == (quote ? 2U : 0U);
	struct boot_anchor anchor = {.file = shell->file, .context = BOOT_DOUBLE};

	if (quote) {
		anchor.given = true;
		anchor.context = quote == '"' ? BOOT_DOUBLE : BOOT_SINGLE;
		anchor.at = (uint32_t)end - 1;
		anchor.blank_before = empty ? append : !isspace((unsigned char)text[end - 2]);
	} else if (empty) {
		anchor.given = true;
		anchor.at = (uint32_t)end;
		anchor.blank_before = append;
		anchor.prefix = "\"";
		anchor.suffix = "\"";
	} else if (is_simple(text + start, end - start)) {
		anchor.given = true;
		anchor.quote_from = true;
		anchor.from = (uint32_t)start;
		anchor.at = (uint32_t)end;
		anchor.blank_before = true;
		anchor.suffix = "\"";
	}
	return anchor;
}

/* ---- statements ---- */

static int assign(struct shell *shell, const char *name, size_t length, bool append, const struct boot_line *value)
{
	struct variable *variable = shell_find(shell, name, length);

	if (!variable) {
		if (shell->variable_count >= VARIABLE_LIMIT)
			return shell_refuse(shell, shell->at, "more variables are set than such a file has",
					    "simplify the file first");
		variable = &shell->variables[shell->variable_count++];
		variable->name = arena_strndup(shell->arena, name, length);
		variable->value = (struct boot_line){.arena = shell->arena, .files = shell->files};
	}
	if (!append)
		variable->value = (struct boot_line){.arena = shell->arena, .files = shell->files};
	boot_line_put_all(&variable->value, value);
	return 0;
}

/* Does the text mention one of the two variables being set? */
static bool sets_ours(const char *text, size_t length)
{
	static const char stem[] = "GRUB_CMDLINE_LINUX";

	for (size_t i = 0; i + strlen(stem) < length; i++) {
		if (!text_starts(text + i, stem) || (i && shell_is_name_char(text[i - 1])))
			continue;
		size_t name = shell_name_length(text + i), after = i + name;

		after += strspn(text + after, " \t");
		after += text[after] == '+';
		if (shell_is_ours(text + i, name) && after < length && text[after] == '=')
			return true;
	}
	return false;
}

/* To the end of a command, over its quotes. */
static int skip_command(struct shell *shell)
{
	struct boot_line ignored = {.arena = shell->arena, .files = shell->files};
	size_t start = shell->at;
	int r = 0;

	while (r == 0 && shell_now(shell) && !strchr("\n;&|", shell_now(shell))) {
		char quote;

		if (shell_now(shell) == '#' && (shell->at == 0 || strchr(" \t", shell->text[shell->at - 1])))
			break;
		if (text_starts(shell->text + shell->at, "<<"))
			return shell_refuse(shell, shell->at, "a text in the script (<<) is not followed",
					    "set the variable in a plain line of its own");
		if (strchr(" \t\r<>()", shell_now(shell)))
			shell->at++;
		else
			r = shell_take_word(shell, &ignored, &quote);
	}
	if (r == 0 && sets_ours(shell->text + start, shell->at - start))
		r = shell_refuse(shell, start, "the kernel's line is not set in a plain assignment here",
				 "write NAME=\"words\" in a line of its own, without spaces around =");
	return r;
}

static size_t assignment_length(const char *text, bool *ret_append)
{
	size_t length = shell_name_length(text);

	*ret_append = length && text[length] == '+';
	return length && text[length + *ret_append] == '=' ? length : 0;
}

/* NAME=VALUE; a command behind it would get it in its environment only. */
static int take_assignment(struct shell *shell, size_t length, bool append, bool exported)
{
	struct boot_line value = {.arena = shell->arena, .files = shell->files};
	const char *name = shell->text + shell->at;
	size_t named = shell->at, start = shell->at + length + append + 1;
	bool ours = shell_is_ours(name, length), unsure = shell->depth > 0 || shell->conditional;
	char quote;

	shell->at = start;
	int r = shell_take_word(shell, &value, &quote);

	if (r < 0)
		return r;
	const char *rest = shell->text + shell->at + strspn(shell->text + shell->at, " \t\r");
	bool append_next;
	bool ends = !*rest || strchr("\n;&|", *rest) || (*rest == '#' && rest > shell->text + shell->at) ||
		    assignment_length(rest, &append_next) || exported;

	if (ours && unsure)
		return shell_refuse(shell, named, "whether the kernel's line is set here is for the shell to decide",
				    "set it in a plain line outside of if, case, && and the like");
	if (ours && !ends)
		return shell_refuse(shell, named,
				    "the value ends at its first space: the rest of the line is no part of it",
				    "put the whole value into straight quotes");
	if (!ends)
		return skip_command(shell);
	if (unsure) {
		value.count = 0;
		shell_put(shell, &value, named, shell->at, BOOT_OPAQUE, '$');
	}
	if (length == strlen(shell->anchor_name) && text_starts(name, shell->anchor_name))
		shell->anchors[shell->file] = make_anchor(shell, start, quote, append);
	return assign(shell, name, length, append, &value);
}

static size_t word_length(const char *text)
{
	return strcspn(text, " \t\r\n;&|<>()");
}

static bool word_is(const char *text, size_t length, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
			return true;
	return false;
}

#define WORD_IS(text, length, ...)                                                                                     \
	word_is(text, length, (const char *const[]){__VA_ARGS__},                                                      \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* export A=b C: assignments and names up to the end of the command. */
static int take_export(struct shell *shell, size_t length)
{
	int r = 0;

	shell->at += length;
	while (r == 0) {
		bool append;
		char quote;
		struct boot_line ignored = {.arena = shell->arena, .files = shell->files};

		shell->at += strspn(shell->text + shell->at, " \t\r");
		if (!shell_now(shell) || strchr("\n;&|#<>()", shell_now(shell)))
			break;
		size_t name = assignment_length(shell->text + shell->at, &append);

		r = name ? take_assignment(shell, name, append, true) : shell_take_word(shell, &ignored, &quote);
	}
	return r;
}

static int take_unset(struct shell *shell)
{
	size_t start = shell->at, length = strcspn(shell->text + start, "\n;&|");
	const char *text = shell->text + start;

	for (size_t i = 0; i < length; i++)
		if (shell_is_ours(text + i, shell_name_length(text + i)) &&
		    (i == 0 || !shell_is_name_char(text[i - 1])))
			return shell_refuse(shell, start, "the kernel's line is taken back here",
					    "take this line out first");
	return skip_command(shell);
}

static int take_command(struct shell *shell)
{
	const char *text = shell->text + shell->at;
	size_t length = word_length(text);
	bool append;
	size_t name = assignment_length(text, &append);

	if (name)
		return take_assignment(shell, name, append, false);
	if (WORD_IS(text, length, "then", "else", "elif", "do", "!")) {
		shell->at += length;
		return 0;
	}
	if (WORD_IS(text, length, "fi", "done", "esac", "}")) {
		shell->depth -= shell->depth > 0;
		shell->at += length;
		return 0;
	}
	if (WORD_IS(text, length, "if", "while", "until", "{")) {
		shell->depth++;
		shell->at += length;
		return 0;
	}
	/* name() { ... }: the brackets and the group are taken one by one. */
	if (length && text[length + strspn(text + length, " \t")] == '(') {
		shell->at += length;
		return 0;
	}
	if (WORD_IS(text, length, "for", "case"))
		shell->depth++;
	if (WORD_IS(text, length, "export", "readonly", "declare", "typeset", "local"))
		return take_export(shell, length);
	if (WORD_IS(text, length, "unset"))
		return take_unset(shell);
	if (WORD_IS(text, length, ".", "source", "eval"))
		return shell_refuse(shell, shell->at, "what else is read in here may set the kernel's line too",
				    "write the assignments into this file, or change the line by hand");
	return skip_command(shell);
}

/* What stands between commands. */
static bool take_separator(struct shell *shell)
{
	char c = shell_now(shell), next = c ? shell->text[shell->at + 1] : '\0';

	if (c == '#') {
		shell->at += strcspn(shell->text + shell->at, "\n");
	} else if (c == '(' || c == ')') {
		shell->depth += c == '(' ? 1 : shell->depth > 0 ? -1 : 0;
		shell->at++;
	} else if (c == '\n' || c == ';' || (c == '&' && next != '&')) {
		shell->conditional = false;
		shell->at++;
	} else if (c == '&' || c == '|') {
		shell->conditional = true;
		shell->at += next == c ? 2 : 1;
	} else if (c == '\\' && next == '\n') {
		shell->at += 2;
	} else if (c && strchr(" \t\r<>", c)) {
		shell->at++;
	} else {
		return false;
	}
	return true;
}

static int take_file(struct shell *shell, uint16_t file)
{
	int r = 0;

	shell->file = file;
	shell->text = shell->files[file].text;
	shell->at = 0;
	shell->depth = 0;
	shell->conditional = false;
	while (r == 0 && shell_now(shell))
		if (!take_separator(shell))
			r = take_command(shell);
	return r;
}

int boot_shell_read(struct arena *arena, const struct boot_file *files, size_t count, const char *anchor_name,
		    struct boot_anchor *ret_anchors, struct boot_line *ret, struct err *err)
{
	static const char *const parts[] = {"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"};
	struct shell *shell = ARENA_NEW(arena, struct shell);
	int r = 0;

	*shell = (struct shell){
	    .arena = arena, .files = files, .anchor_name = anchor_name, .anchors = ret_anchors, .err = err};
	*ret = (struct boot_line){.arena = arena, .files = files};
	for (size_t i = 0; r == 0 && i < count; i++)
		r = take_file(shell, (uint16_t)i);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(parts); i++) {
		const struct variable *variable = shell_find(shell, parts[i], strlen(parts[i]));

		if (variable) {
			/* The blank between the two is GRUB's: it stands in no file. */
			if (ret->count)
				boot_line_put(ret, &(struct boot_char){.context = BOOT_PLAIN, .c = ' '});
			boot_line_put_all(ret, &variable->value);
		}
	}
	return r;
}

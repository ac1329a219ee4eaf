/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading command lines out of files, keeping the place of each character. */
#include "host_cmdline_file.h"

#include <ctype.h>
#include <errno.h>

#include "text.h"

enum { TEXT_LIMIT = 1024 * 1024, VARIABLE_LIMIT = 64, FAULT_LIMIT = 16, PLACED_LIMIT = 4 * TEXT_LIMIT };

/* A text of which every character knows where in the file it came from. */
struct placed {
	char *text;
	unsigned *lines, *columns;
	size_t length, room;
};

static void put(struct arena *arena, struct placed *placed, char c, unsigned line, unsigned column)
{
	if (placed->length >= PLACED_LIMIT)
		return;
	if (placed->length + 1 >= placed->room) {
		struct placed larger = {.room = placed->room ? placed->room * 2 : 1024, .length = placed->length};

		larger.text = ARENA_ARRAY(arena, larger.room, char);
		larger.lines = ARENA_ARRAY(arena, larger.room, unsigned);
		larger.columns = ARENA_ARRAY(arena, larger.room, unsigned);
		if (placed->length) {
			memcpy(larger.text, placed->text, placed->length);
			memcpy(larger.lines, placed->lines, placed->length * sizeof(unsigned));
			memcpy(larger.columns, placed->columns, placed->length * sizeof(unsigned));
		}
		*placed = larger;
	}
	placed->text[placed->length] = c;
	placed->lines[placed->length] = line;
	placed->columns[placed->length++] = column;
	placed->text[placed->length] = '\0';
}

static void put_all(struct arena *arena, struct placed *to, const struct placed *from)
{
	size_t count = from->length; /* `from` may be `to` */

	for (size_t i = 0; i < count; i++)
		put(arena, to, from->text[i], from->lines[i], from->columns[i]);
}

static void put_line(struct arena *arena, struct placed *placed, const char *text, size_t length, unsigned line,
		     unsigned column)
{
	for (size_t i = 0; i < length; i++)
		put(arena, placed, text[i], line, column + (unsigned)i);
}

static const char no_word[] = "there is no word of a kernel command line in it";

/* Make words of what was placed; `nothing` says what is missed where there is none. */
static int finish(struct arena *arena, const char *path, const struct placed *placed, const char *nothing,
		  struct host_cmdline *ret, struct err *err)
{
	struct host_cmdline cmdline = {.path = arena_strdup(arena, path), .first_line = 1};
	const char *text = placed->text ? text_trim(arena, placed->text) : "";
	size_t skipped = placed->text ? strspn(placed->text, " \t\n\r\f\v") : 0;

	cmdline_parse(arena, text, &cmdline);
	if (!cmdline.count || !placed->lines)
		return err_set(err, EINVAL, path, "%s", nothing);
	struct cmdline_word *words = ARENA_ARRAY(arena, (size_t)cmdline.count, struct cmdline_word);

	for (int i = 0; i < cmdline.count; i++) {
		size_t at = skipped + cmdline.words[i].column - 1;

		words[i] = cmdline.words[i];
		words[i].line = placed->lines[at];
		words[i].column = placed->columns[at];
	}
	cmdline.words = words;
	cmdline.line = fact_text("cmdline.line", text, cmdline.path);
	*ret = cmdline;
	return 0;
}

static int check_size(const char *path, const char *text, struct err *err)
{
	return strlen(text) > TEXT_LIMIT
		   ? err_set(err, E2BIG, path, "larger than any such file (%d KiB)", TEXT_LIMIT / 1024)
		   : 0;
}

int cmdline_read_plain(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
		       struct err *err)
{
	struct placed placed = {0};
	unsigned line = 1;
	int r = check_size(path, text, err);

	if (r < 0)
		return r;
	for (const char *at = text; *at; line++) {
		size_t length = strcspn(at, "\n");

		if (at[strspn(at, " \t")] != '#') {
			put_line(arena, &placed, at, length, line, 1);
			put(arena, &placed, ' ', line, (unsigned)length + 1);
		}
		at += length + (at[length] != '\0');
	}
	return finish(arena, path, &placed, no_word, ret, err);
}

int cmdline_read_entry(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
		       struct err *err)
{
	static const char key[] = "options";
	struct placed placed = {0};
	unsigned line = 1;
	int r = check_size(path, text, err);

	if (r < 0)
		return r;
	for (const char *at = text; *at; line++) {
		size_t length = strcspn(at, "\n");
		size_t indent = strspn(at, " \t");

		if (length > indent + strlen(key) && text_starts(at + indent, key) &&
		    isspace((unsigned char)at[indent + strlen(key)])) {
			size_t start = indent + strlen(key);

			put_line(arena, &placed, at + start, length - start, line, (unsigned)start + 1);
			put(arena, &placed, ' ', line, (unsigned)length + 1);
		}
		at += length + (at[length] != '\0');
	}
	return finish(arena, path, &placed, "there is no \"options\" line with parameters in it", ret, err);
}

/* The parameters behind "options MODULE" of one line, each with the module's name before it. */
static void put_options(struct arena *arena, struct placed *placed, const char *text, size_t length, unsigned line)
{
	size_t at = 0, module, module_length;

	while (at < length && isspace((unsigned char)text[at]))
		at++;
	for (module = at; at < length && !isspace((unsigned char)text[at]); at++)
		;
	module_length = at - module;
	while (at < length) {
		while (at < length && isspace((unsigned char)text[at]))
			at++;
		if (at >= length)
			break;
		put_line(arena, placed, text + module, module_length, line, (unsigned)at + 9);
		put(arena, placed, '.', line, (unsigned)at + 9);
		bool in_quotes = false;

		for (; at < length && (in_quotes || !isspace((unsigned char)text[at])); at++) {
			if (text[at] == '"')
				in_quotes = !in_quotes;
			put(arena, placed, text[at], line, (unsigned)at + 9);
		}
		put(arena, placed, ' ', line, (unsigned)at + 9);
	}
}

int cmdline_read_modprobe(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
			  struct err *err)
{
	static const char key[] = "options ";
	struct placed placed = {0};
	unsigned line = 1;
	int r = check_size(path, text, err);

	if (r < 0)
		return r;
	for (const char *at = text; *at; line++) {
		size_t length = strcspn(at, "\n");

		if (length > strlen(key) && text_starts(at, key))
			put_options(arena, &placed, at + strlen(key), length - strlen(key), line);
		at += length + (at[length] != '\0');
	}
	return finish(arena, path, &placed, "there is no line \"options MODULE PARAMETER=VALUE\" in it", ret, err);
}

/* ---- GRUB's defaults: a small part of the shell's language ---- */

struct variable {
	const char *name;
	struct placed value;
};

struct shell {
	struct arena *arena;
	const char *path, *at;
	unsigned line, column;
	struct variable variables[VARIABLE_LIMIT];
	int variable_count;
	struct cmdline_fault faults[FAULT_LIMIT];
	int fault_count;
	size_t expanded; /* characters that variables have brought: A="$A$A" doubles with every line */
	struct err *err;
};

static void step(struct shell *shell)
{
	if (*shell->at == '\n') {
		shell->line++;
		shell->column = 1;
	} else {
		shell->column++;
	}
	shell->at++;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct variable *variable_of(struct shell *shell, const char *name, size_t length)
{
	for (int i = 0; i < shell->variable_count; i++)
		if (strlen(shell->variables[i].name) == length && memcmp(shell->variables[i].name, name, length) == 0)
			return &shell->variables[i];
	return NULL;
}

/* "$NAME" or "${NAME}" of a variable that the file has set; anything else after '$' stays as it is. */
static void take_dollar(struct shell *shell, struct placed *value)
{
	bool braces = shell->at[1] == '{';
	const char *name = shell->at + 1 + braces;
	size_t length = 0;

	while (is_name_char(name[length]))
		length++;
	const struct variable *variable =
	    length && (!braces || name[length] == '}') ? variable_of(shell, name, length) : NULL;
	size_t skip = 1 + braces + length + braces;
	bool is_own = length && text_starts(name, "GRUB_CMDLINE_LINUX");

	if (variable) {
		shell->expanded += variable->value.length;
		if (shell->expanded <= TEXT_LIMIT)
			put_all(shell->arena, value, &variable->value);
	}
	if (!variable && !is_own) {
		put(shell->arena, value, '$', shell->line, shell->column);
		skip = 1;
	}
	for (; skip && *shell->at; skip--)
		step(shell);
}

static int take_single_quoted(struct shell *shell, struct placed *value)
{
	for (step(shell); *shell->at && *shell->at != '\''; step(shell))
		put(shell->arena, value, *shell->at, shell->line, shell->column);
	if (!*shell->at)
		return -EINVAL;
	step(shell);
	return 0;
}

static int take_double_quoted(struct shell *shell, struct placed *value)
{
	for (step(shell); *shell->at && *shell->at != '"';) {
		if (*shell->at == '$') {
			take_dollar(shell, value);
			continue;
		}
		if (*shell->at == '\\' && shell->at[1] && strchr("\"\\$`\n", shell->at[1])) {
			step(shell);
			if (*shell->at == '\n') {
				step(shell);
				continue;
			}
		}
		put(shell->arena, value, *shell->at, shell->line, shell->column);
		step(shell);
	}
	if (!*shell->at)
		return -EINVAL;
	step(shell);
	return 0;
}

/* The value of an assignment, up to a blank or ';' outside quotes. */
static int take_value(struct shell *shell, struct placed *value)
{
	unsigned line = shell->line, column = shell->column;
	int r = 0;

	while (r == 0 && *shell->at && !strchr(" \t\r\n;#", *shell->at)) {
		if (*shell->at == '\'') {
			r = take_single_quoted(shell, value);
		} else if (*shell->at == '"') {
			r = take_double_quoted(shell, value);
		} else if (*shell->at == '$') {
			take_dollar(shell, value);
		} else {
			if (*shell->at == '\\' && shell->at[1]) {
				step(shell);
				if (*shell->at == '\n') {
					step(shell);
					continue;
				}
			}
			put(shell->arena, value, *shell->at, shell->line, shell->column);
			step(shell);
		}
	}
	/* The open quote may be that of a later line, turned round by the one that is missing here. */
	return r < 0 ? err_set_at(shell->err, EINVAL, shell->path, line, column,
				  "a quote is not closed in the value that begins here")
		     : 0;
}

static void assign(struct shell *shell, const char *name, size_t length, bool append, const struct placed *value)
{
	struct variable *variable = variable_of(shell, name, length);

	if (!variable) {
		if (shell->variable_count >= VARIABLE_LIMIT)
			return;
		variable = &shell->variables[shell->variable_count++];
		*variable = (struct variable){.name = arena_strndup(shell->arena, name, length)};
	}
	if (!append)
		variable->value = (struct placed){0};
	put_all(shell->arena, &variable->value, value);
}

static bool is_cmdline_name(const char *name, size_t length)
{
	static const char prefix[] = "GRUB_CMDLINE_LINUX";

	return length >= strlen(prefix) && text_starts(name, prefix);
}

static void add_fault(struct shell *shell, const char *what, const char *fix)
{
	if (shell->fault_count < FAULT_LIMIT)
		shell->faults[shell->fault_count++] =
		    (struct cmdline_fault){.what = what, .fix = fix, .line = shell->line, .column = shell->column};
}

/* The shell's "a =b" is a call of the command a, not an assignment. */
static void judge_no_assignment(struct shell *shell, const char *name, size_t length)
{
	if (is_cmdline_name(name, length) && name[length + strspn(name + length, " \t")] == '=')
		add_fault(shell,
			  arena_printf(shell->arena, "%.*s is not set: a space stands before \"=\"", (int)length, name),
			  arena_printf(shell->arena, "write %.*s=\"...\" without the space", (int)length, name));
}

/* A value ends at the first space outside quotes; only a further assignment or a comment may stand behind it. */
static void judge_rest(struct shell *shell, const char *name, size_t length)
{
	const char *rest = shell->at + strspn(shell->at, " \t\r");

	if (!is_cmdline_name(name, length) || !*rest || strchr("\n;#", *rest) || text_starts(rest, "GRUB_"))
		return;
	add_fault(
	    shell,
	    arena_printf(shell->arena, "The value of %.*s ends here: \"%.*s\" does not belong to it", (int)length, name,
			 (int)MIN_OF(strcspn(rest, "\n"), (size_t)60), rest),
	    arena_printf(shell->arena, "put the whole value into straight quotes: %.*s=\"...\"", (int)length, name));
}

/* One statement: an assignment is taken, anything else is skipped to the end of its line. */
static int take_statement(struct shell *shell)
{
	static const char export[] = "export ";
	struct placed value = {0};
	int r = 0;

	while (*shell->at && strchr(" \t\r\n;", *shell->at))
		step(shell);
	if (text_starts(shell->at, export))
		for (size_t i = 0; i < strlen(export); i++)
			step(shell);
	const char *name = shell->at;
	size_t length = 0;

	while (is_name_char(name[length]))
		length++;
	bool append = name[length] == '+';
	bool is_assignment = length && !isdigit((unsigned char)*name) && name[length + append] == '=';

	if (is_assignment) {
		for (size_t i = 0; i < length + append + 1; i++)
			step(shell);
		r = take_value(shell, &value);
		if (r == 0) {
			assign(shell, name, length, append, &value);
			judge_rest(shell, name, length);
		}
	} else {
		judge_no_assignment(shell, name, length);
		while (*shell->at && *shell->at != '\n')
			step(shell);
	}
	return r;
}

/* With faults a file without a word is no error: the faults are what is to be told. */
static int finish_with_faults(const struct shell *shell, const struct placed *whole, struct host_cmdline *ret)
{
	struct host_cmdline cmdline = {.path = arena_strdup(shell->arena, shell->path), .first_line = 1};
	struct cmdline_fault *faults = ARENA_ARRAY(shell->arena, (size_t)shell->fault_count, struct cmdline_fault);

	if (finish(shell->arena, shell->path, whole, no_word, &cmdline, NULL) < 0)
		cmdline.line = fact_text("cmdline.line", "", cmdline.path);
	memcpy(faults, shell->faults, (size_t)shell->fault_count * sizeof(*faults));
	cmdline.faults = faults;
	cmdline.fault_count = shell->fault_count;
	*ret = cmdline;
	return 0;
}

int cmdline_read_grub(struct arena *arena, const char *path, const char *text, struct host_cmdline *ret,
		      struct err *err)
{
	static const char *const parts[] = {"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"};
	struct shell shell = {.arena = arena, .path = path, .at = text, .line = 1, .column = 1, .err = err};
	struct placed whole = {0};
	int r = check_size(path, text, err);

	while (r == 0 && *shell.at) {
		r = take_statement(&shell);
		if (r == 0 && shell.expanded > TEXT_LIMIT)
			r = err_set_at(err, E2BIG, path, shell.line, shell.column, "its variables grow beyond %d KiB",
				       TEXT_LIMIT / 1024);
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct variable *variable = variable_of(&shell, parts[i], strlen(parts[i]));

		if (variable) {
			put_all(arena, &whole, &variable->value);
			put(arena, &whole, ' ', shell.line, shell.column);
		}
	}
	return shell.fault_count ? finish_with_faults(&shell, &whole, ret)
				 : finish(arena, path, &whole, no_word, ret, err);
}

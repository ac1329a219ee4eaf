/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns cutting a shell text into commands and words. */
#include "vm_qemu_words.h"

#include <errno.h>

#include "text.h"

/* Arrays, and words that come of them: what goes beyond is kept as text. */
enum { ARRAY_LIMIT = 64, EXPANDED_LIMIT = 4 * QEMU_WORD_LIMIT };

struct array {
	const char *name;
	struct qemu_words words;
	struct array *next;
};

struct lexer {
	struct arena *arena;
	const char *path, *text;
	size_t size, at;
	unsigned line;
	size_t line_start;
	char *word; /* scratch as long as the text */
	size_t length;
	bool in_word, quoted;
	unsigned word_line, word_column;
	bool skip_word; /* it is the file of a redirection */
	bool continued; /* the line before ended with a backslash */
	unsigned comment_line;
	struct qemu_words command;
	struct array *arrays, *filling; /* `filling`: between "name=(" and ")" */
	int array_count, expanded;
	int index;
	qemu_command_visit *visit;
	void *context;
	struct err *err;
};

int qemu_words_add(struct qemu_words *words, const char *path, struct qemu_word word, struct err *err)
{
	if (words->count >= QEMU_WORD_LIMIT)
		return err_set_at(err, E2BIG, path, word.line, word.column, "more than %d words in one command",
				  QEMU_WORD_LIMIT);
	if (words->count == words->room) {
		int room = words->room ? words->room * 2 : 64;
		struct qemu_word *larger = ARENA_ARRAY(words->arena, (size_t)room, struct qemu_word);

		if (words->count)
			memcpy(larger, words->list, (size_t)words->count * sizeof(*larger));
		words->list = larger;
		words->room = room;
	}
	words->list[words->count++] = word;
	return 0;
}

static int peek(const struct lexer *lexer, size_t ahead)
{
	return lexer->at + ahead < lexer->size ? (unsigned char)lexer->text[lexer->at + ahead] : -1;
}

static unsigned column_of(const struct lexer *lexer)
{
	return (unsigned)(lexer->at - lexer->line_start + 1);
}

/* Take the next character, counting lines. */
static int next(struct lexer *lexer)
{
	int c = peek(lexer, 0);

	if (c < 0)
		return c;
	lexer->at++;
	if (c == '\n') {
		lexer->line++;
		lexer->line_start = lexer->at;
	}
	return c;
}

static void begin_word(struct lexer *lexer)
{
	if (lexer->in_word)
		return;
	lexer->in_word = true;
	lexer->quoted = false;
	lexer->length = 0;
	lexer->word_line = lexer->line;
	lexer->word_column = column_of(lexer);
}

static void put(struct lexer *lexer, int c)
{
	lexer->word[lexer->length++] = (char)c;
}

/* "${name[@]}": the words of an array that the text has filled. NULL: no such array. */
static const struct array *array_named_by(const struct lexer *lexer, const char *word)
{
	size_t length = strlen(word);

	if (!text_starts(word, "${") || length < 6)
		return NULL;
	for (const struct array *array = lexer->arrays; array; array = array->next) {
		size_t name = strlen(array->name);

		if (array->words.count <= EXPANDED_LIMIT - lexer->expanded &&
		    strncmp(word + 2, array->name, name) == 0 &&
		    (text_equal(word + 2 + name, "[@]}") || text_equal(word + 2 + name, "[*]}")))
			return array;
	}
	return NULL;
}

static int end_word(struct lexer *lexer)
{
	struct qemu_words *into = lexer->filling ? &lexer->filling->words : &lexer->command;

	if (!lexer->in_word)
		return 0;
	lexer->in_word = false;
	if (lexer->skip_word) {
		lexer->skip_word = false;
		return 0;
	}
	const char *text = arena_strndup(lexer->arena, lexer->word, lexer->length);
	const struct array *array = array_named_by(lexer, text);
	int count = array && &array->words != into ? array->words.count : 0;

	for (int i = 0; i < count; i++) {
		int outcome = qemu_words_add(into, lexer->path, array->words.list[i], lexer->err);

		if (outcome < 0)
			return outcome;
	}
	lexer->expanded += count;
	if (array)
		return 0;
	return qemu_words_add(into, lexer->path,
			      (struct qemu_word){.text = text, .line = lexer->word_line, .column = lexer->word_column},
			      lexer->err);
}

static int end_command(struct lexer *lexer)
{
	int outcome = end_word(lexer);

	lexer->skip_word = false;
	if (outcome < 0 || lexer->filling)
		return outcome;
	if (lexer->command.count)
		outcome = lexer->visit(lexer->context, &lexer->command, lexer->index++, lexer->comment_line);
	lexer->command.count = 0;
	lexer->comment_line = 0;
	return outcome;
}

/* "name=(" or "name+=(" begins an array: the word so far is its name. */
static bool begin_array(struct lexer *lexer)
{
	size_t length = lexer->length;

	if (!lexer->in_word || lexer->filling || lexer->quoted || lexer->array_count >= ARRAY_LIMIT || length < 2 ||
	    lexer->word[length - 1] != '=')
		return false;
	length--;
	bool more = lexer->word[length - 1] == '+';

	length -= more;
	const char *name = arena_strndup(lexer->arena, lexer->word, length);
	struct array *array = lexer->arrays;

	while (array && !text_equal(array->name, name))
		array = array->next;
	if (!array) {
		array = ARENA_NEW(lexer->arena, struct array);
		*array = (struct array){.name = name, .words.arena = lexer->arena, .next = lexer->arrays};
		lexer->arrays = array;
		lexer->array_count++;
	}
	if (!more)
		array->words.count = 0;
	lexer->filling = array;
	lexer->in_word = false;
	return true;
}

static int open_quote(struct lexer *lexer, unsigned line, unsigned column, const char *what)
{
	return err_set_at(lexer->err, EINVAL, lexer->path, line, column, "%s is opened here and never closed", what);
}

static int take_single(struct lexer *lexer)
{
	unsigned line = lexer->line, column = column_of(lexer);

	begin_word(lexer);
	lexer->quoted = true;
	(void)next(lexer);
	for (int c = next(lexer); c != '\''; c = next(lexer)) {
		if (c < 0)
			return open_quote(lexer, line, column, "a single quote");
		put(lexer, c);
	}
	return 0;
}

/* Copy "$(...)", "${...}" or "`...`" as it stands, up to its end. */
static int take_expansion(struct lexer *lexer)
{
	unsigned line = lexer->line, column = column_of(lexer);
	int open = peek(lexer, 0) == '`' ? '`' : peek(lexer, 1), depth = 0;
	int close = open == '(' ? ')' : open == '{' ? '}' : '`';

	begin_word(lexer);
	put(lexer, next(lexer));
	if (open != '(' && open != '{' && open != '`')
		return 0;
	if (open == '`')
		depth = 1;
	while (depth > 0 || open != '`') {
		int c = next(lexer);

		if (c < 0)
			return open_quote(lexer, line, column, "a substitution");
		put(lexer, c);
		if (c == close)
			depth--;
		else if (c == open)
			depth++;
		if (depth == 0)
			break;
	}
	return 0;
}

static int take_double(struct lexer *lexer)
{
	unsigned line = lexer->line, column = column_of(lexer);

	begin_word(lexer);
	lexer->quoted = true;
	(void)next(lexer);
	for (int c = peek(lexer, 0); c != '"'; c = peek(lexer, 0)) {
		if (c < 0)
			return open_quote(lexer, line, column, "a double quote");
		if (c == '$' || c == '`') {
			int outcome = take_expansion(lexer);

			if (outcome < 0)
				return outcome;
			continue;
		}
		(void)next(lexer);
		if (c == '\\' && peek(lexer, 0) >= 0 && strchr("\\\"$`\n", peek(lexer, 0))) {
			c = next(lexer);
			if (c == '\n')
				continue;
		}
		put(lexer, c);
	}
	(void)next(lexer);
	return 0;
}

static void take_backslash(struct lexer *lexer)
{
	(void)next(lexer);
	if (peek(lexer, 0) == '\r' && peek(lexer, 1) == '\n')
		(void)next(lexer);
	if (peek(lexer, 0) == '\n') {
		(void)next(lexer);
		lexer->continued = true;
		return;
	}
	if (peek(lexer, 0) < 0)
		return;
	begin_word(lexer);
	lexer->quoted = true;
	put(lexer, next(lexer));
}

/* "2>&1", "> file", "< file": dropped with the word that follows. */
static int take_redirection(struct lexer *lexer)
{
	bool number = lexer->in_word && !lexer->quoted && lexer->length <= 2;

	for (size_t i = 0; number && i < lexer->length; i++)
		number = lexer->word[i] >= '0' && lexer->word[i] <= '9';
	if (number)
		lexer->in_word = false;
	int outcome = end_word(lexer);

	while (peek(lexer, 0) >= 0 && strchr("<>&|", peek(lexer, 0)))
		(void)next(lexer);
	lexer->skip_word = true;
	return outcome;
}

static void take_comment(struct lexer *lexer)
{
	if (lexer->continued && lexer->command.count)
		lexer->comment_line = lexer->line;
	while (peek(lexer, 0) >= 0 && peek(lexer, 0) != '\n')
		(void)next(lexer);
}

static int take_bracket(struct lexer *lexer, int c)
{
	if (c == '(' && begin_array(lexer)) {
		(void)next(lexer);
		return 0;
	}
	int outcome = c == ')' && lexer->filling ? end_word(lexer) : end_command(lexer);

	if (c == ')')
		lexer->filling = NULL;
	(void)next(lexer);
	return outcome;
}

static int step(struct lexer *lexer)
{
	int c = peek(lexer, 0);
	bool continued = lexer->continued;

	lexer->continued = continued && (c == ' ' || c == '\t' || c == '#');
	switch (c) {
	case '\'':
		return take_single(lexer);
	case '"':
		return take_double(lexer);
	case '$':
	case '`':
		return take_expansion(lexer);
	case '\\':
		take_backslash(lexer);
		return 0;
	case ' ':
	case '\t':
	case '\r':
		(void)next(lexer);
		return end_word(lexer);
	case '\n':
	case ';':
	case '&':
	case '|': {
		int outcome = end_command(lexer);

		(void)next(lexer);
		return outcome;
	}
	case '(':
	case ')':
		return take_bracket(lexer, c);
	case '<':
	case '>':
		return take_redirection(lexer);
	case '#':
		if (!lexer->in_word) {
			take_comment(lexer);
			lexer->continued = false;
			return 0;
		}
		break;
	default:
		break;
	}
	begin_word(lexer);
	put(lexer, next(lexer));
	return 0;
}

int qemu_commands(struct arena *arena, const char *path, const char *text, size_t size, qemu_command_visit *visit,
		  void *context, struct err *err)
{
	struct lexer lexer = {
	    .arena = arena,
	    .path = path,
	    .text = text,
	    .size = size,
	    .line = 1,
	    .word = arena_alloc(arena, size + 1),
	    .command.arena = arena,
	    .visit = visit,
	    .context = context,
	    .err = err,
	};
	int outcome = 0;

	while (outcome == 0 && lexer.at < size)
		outcome = step(&lexer);
	return outcome ? outcome : end_command(&lexer);
}

int qemu_argv(struct qemu_words *words, const char *path, const char *data, size_t size, struct err *err)
{
	for (size_t at = 0; at < size;) {
		size_t length = strnlen(data + at, size - at);
		struct qemu_word word = {.text = arena_strndup(words->arena, data + at, length),
					 .line = 1,
					 .column = (unsigned)words->count + 1};
		int outcome = qemu_words_add(words, path, word, err);

		if (outcome < 0)
			return outcome;
		at += length + 1;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns cutting a kernel command line into words. */
#include "host_cmdline.h"

#include "host.h"
#include "text.h"

enum { WORD_LIMIT = 4096 };

/* The kernel's isspace(), which counts the no-break space of Latin-1. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

bool cmdline_same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
			return false;
	return *a == *b;
}

/* Drop one pair of quotes: the kernel takes them off a whole word ("a b=c") and off a value (a="b c"). */
static const char *unquoted(struct arena *arena, const char *text, size_t length)
{
	if (length && text[0] == '"') {
		text++;
		length--;
		if (length && text[length - 1] == '"')
			length--;
	}
	return arena_strndup(arena, text, length);
}

static struct cmdline_word make_word(struct arena *arena, const char *text, size_t length, unsigned column)
{
	struct cmdline_word word = {.column = column};
	const char *whole = unquoted(arena, text, length);
	const char *equals = *whole ? strchr(whole + 1, '=') : NULL;

	word.text = whole;
	word.name = whole;
	if (equals) {
		word.name = arena_strndup(arena, whole, (size_t)(equals - whole));
		word.value = unquoted(arena, equals + 1, strlen(equals + 1));
	}
	return word;
}

void cmdline_parse(struct arena *arena, const char *line, struct host_cmdline *ret)
{
	struct cmdline_word *words = NULL;
	int count = 0, room = 0;
	bool for_init = false;

	for (const char *at = line; *at && count < WORD_LIMIT;) {
		bool in_quotes = false;

		while (is_blank(*at))
			at++;
		const char *start = at;

		for (; *at && (in_quotes || !is_blank(*at)); at++)
			if (*at == '"')
				in_quotes = !in_quotes;
		if (at == start)
			break;
		if (count == room) {
			room = room ? room * 2 : 32;
			struct cmdline_word *larger = ARENA_ARRAY(arena, (size_t)room, struct cmdline_word);

			if (count)
				memcpy(larger, words, (size_t)count * sizeof(*larger));
			words = larger;
		}
		words[count] = make_word(arena, start, (size_t)(at - start), (unsigned)(start - line + 1));
		words[count].for_init = for_init;
		for_init = for_init || text_equal(words[count].text, "--");
		count++;
	}
	ret->words = words;
	ret->count = count;
}

static bool is_for_kernel(const struct cmdline_word *word, const char *name)
{
	return !word->for_init && cmdline_same_name(word->name, name);
}

const struct cmdline_word *cmdline_last(const struct host_cmdline *cmdline, const char *name)
{
	for (int i = cmdline->count - 1; i >= 0; i--)
		if (is_for_kernel(&cmdline->words[i], name))
			return &cmdline->words[i];
	return NULL;
}

const struct cmdline_word *cmdline_first(const struct host_cmdline *cmdline, const char *name)
{
	for (int i = 0; i < cmdline->count; i++)
		if (is_for_kernel(&cmdline->words[i], name))
			return &cmdline->words[i];
	return NULL;
}

int cmdline_count(const struct host_cmdline *cmdline, const char *name)
{
	int count = 0;

	for (int i = 0; i < cmdline->count; i++)
		count += is_for_kernel(&cmdline->words[i], name);
	return count;
}

void host_cmdline_read(struct host *host)
{
	struct host_cmdline *cmdline = &host->cmdline;

	cmdline->line = fact_read_text(host->arena, host->sys, "cmdline.line", "/proc/cmdline");
	cmdline->path = cmdline->line.source;
	cmdline->first_line = 1;
	if (fact_known(&cmdline->line))
		cmdline_parse(host->arena, cmdline->line.text, cmdline);
}

void host_cmdline_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_cmdline *cmdline = &host->cmdline;

	if (!fact_known(&cmdline->line))
		host_rows_add(rows, "Command line", &cmdline->line);
	for (int i = 0; i < cmdline->count; i++) {
		const struct cmdline_word *word = &cmdline->words[i];
		struct fact fact = fact_text("cmdline.word", word->value ? word->value : "set", cmdline->path);

		rows->section = word->for_init ? "For init, behind --" : NULL;
		host_rows_add(rows, word->name, &fact);
	}
	rows->section = NULL;
}

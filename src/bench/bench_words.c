/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns commands as texts: cut into words without a shell, given to one, and put together again. */
#include <errno.h>
#include <jansson.h>

#include "bench_spawn.h"
#include "text.h"

/* What a shell would do something with that nobody else does. */
#define SHELL_ONLY "|&;<>()$`*?[#~!{"

struct cutting {
	const char *at;
	char *word; /* being put together; room for all of the text */
	size_t length;
	bool begun;
};

static void put(struct cutting *cutting, char letter)
{
	cutting->word[cutting->length++] = letter;
	cutting->begun = true;
}

/* A quoted part; `at` stands behind the opening quote. False when it is never closed. */
static bool cut_quoted(struct cutting *cutting, char quote, bool *ret_shell)
{
	cutting->begun = true;
	for (; *cutting->at && *cutting->at != quote; cutting->at++) {
		if (quote == '"' && *cutting->at == '\\' && cutting->at[1] && strchr("\"\\$`", cutting->at[1]))
			cutting->at++;
		else if (quote == '"' && (*cutting->at == '$' || *cutting->at == '`'))
			*ret_shell = true;
		put(cutting, *cutting->at);
	}
	return *cutting->at == quote;
}

static int refuse_shell(const char *text, const char *at, struct err *err)
{
	(void)err_set(err, ENOTSUP, text, "only a shell can do what '%c' asks for", *at);
	(void)err_hint(err, "add --shell, or put it in quotes if it is meant as it stands");
	return -ENOTSUP;
}

int bench_words(struct arena *arena, const char *text, const char *const **ret, struct err *err)
{
	struct cutting cutting = {.at = text, .word = arena_alloc(arena, strlen(text) + 1)};
	const char **words = ARENA_ARRAY(arena, strlen(text) / 2 + 3, const char *);
	size_t count = 0;

	for (;; cutting.at++) {
		const char *begin = cutting.at;
		bool shell = false;
		char letter = *cutting.at;

		if (!letter || strchr(" \t\n", letter)) {
			if (cutting.begun)
				words[count++] = arena_strndup(arena, cutting.word, cutting.length);
			cutting.length = 0;
			cutting.begun = false;
			if (!letter)
				break;
		} else if (letter == '\'' || letter == '"') {
			cutting.at++;
			if (!cut_quoted(&cutting, letter, &shell))
				return err_set(err, EINVAL, text, "a quote (%c) is not closed", letter);
			if (shell)
				return refuse_shell(text, "$", err);
		} else if (letter == '\\' && cutting.at[1]) {
			put(&cutting, *++cutting.at);
		} else if (strchr(SHELL_ONLY, letter) && !(strchr("#~!{", letter) && cutting.begun)) {
			return refuse_shell(text, begin, err);
		} else {
			put(&cutting, letter);
		}
	}
	if (!count || !*words[0])
		return err_set(err, EINVAL, NULL, "the command is empty");
	*ret = words;
	return 0;
}

const char *const *bench_shell_argv(struct arena *arena, const char *shell, const char *text)
{
	const char **argv = ARENA_ARRAY(arena, 4, const char *);

	argv[0] = *shell ? shell : "/bin/sh";
	argv[1] = "-c";
	argv[2] = text;
	return argv;
}

static const char *quoted(struct arena *arena, const char *word)
{
	char *text, *at;

	if (*word && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,+@%")])
		return word;
	at = text = arena_alloc(arena, 4 * strlen(word) + 3);
	*at++ = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			at = stpcpy(at, "'\\''");
		} else {
			*at++ = *word;
		}
	}
	*at = '\'';
	return text;
}

const char *bench_words_text(struct arena *arena, const char *const *words)
{
	const char *text = "";

	for (size_t i = 0; words[i]; i++)
		text = arena_printf(arena, "%s%s%s", text, i ? " " : "", quoted(arena, words[i]));
	return text;
}

const char *bench_words_json(struct arena *arena, const char *const *words)
{
	json_t *list = json_array();
	char *text;
	const char *kept;

	for (size_t i = 0; words[i]; i++) {
		json_t *word = json_string(words[i]);

		json_array_append_new(list, word ? word : json_string("(not UTF-8)"));
	}
	text = json_dumps(list, JSON_COMPACT);
	kept = arena_strdup(arena, text ? text : "[]");
	free(text);
	json_decref(list);
	return kept;
}

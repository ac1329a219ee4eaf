/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the values of a study file: texts, numbers with units, commands. */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "study_reader.h"
#include "text.h"

void study_read_text(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char *text = study_scalar(reader, node, "a text");

	if (text)
		*(const char **)into = text;
}

/* Names stand on command lines, in file names and in tables. */
static bool is_name(const char *text)
{
	size_t length = strlen(text);

	if (!length || length > 64 || !isalnum((unsigned char)*text))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.+", text[i]))
			return false;
	return true;
}

void study_read_name(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char *text = study_scalar(reader, node, "a name");

	if (!text)
		return;
	if (is_name(text))
		*(const char **)into = text;
	else
		study_mistake(reader, node,
			      "\"%s\" is no name: letters, digits and - _ . + are, at most 64, a letter or digit first",
			      text);
}

void study_read_flag(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {{"true", true}, {"yes", true}, {"on", true}, {"false", false}, {"no", false}, {"off", false}};
	const char *text = study_scalar(reader, node, "yes or no");

	if (!text)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i].word, text) == 0) {
			*(bool *)into = words[i].value;
			return;
		}
	study_mistake(reader, node, "\"%s\" is neither yes nor no", text);
}

/* A number and what follows it; locale plays no part, since hvtune never sets LC_NUMERIC. */
static bool cut_number(const char *text, double *ret, const char **ret_rest)
{
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return false;
	*ret = strtod(text, &end);
	if (end == text || !isfinite(*ret))
		return false;
	while (*end == ' ')
		end++;
	*ret_rest = end;
	return true;
}

void study_read_count(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char *text = study_scalar(reader, node, "a whole number");
	int64_t number;

	if (!text)
		return;
	if (text_int(text, 10, &number) < 0 || number < 1 || number > 1000000)
		study_mistake(reader, node, "\"%s\" is no whole number from 1 to 1000000", text);
	else
		*(unsigned *)into = (unsigned)number;
}

void study_read_share(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char *text = study_scalar(reader, node, "a share, as 1 %");
	const char *rest;
	double number;

	if (!text)
		return;
	if (!cut_number(text, &number, &rest) || !text_equal(rest, "%"))
		study_mistake(reader, node, "\"%s\" is no share; write it with its unit, as 1 %%", text);
	else if (number <= 0 || number >= 100)
		study_mistake(reader, node, "\"%s\" is not between 0 %% and 100 %%", text);
	else
		*(double *)into = number / 100;
}

struct unit {
	const char *name;
	double factor;
};

static void read_quantity(struct study_reader *reader, const struct study_node *node, const struct unit *units,
			  size_t count, const char *what, double *ret)
{
	const char *text = study_scalar(reader, node, what);
	const char *rest;
	double number;

	if (!text)
		return;
	if (cut_number(text, &number, &rest) && number > 0)
		for (size_t i = 0; i < count; i++)
			if (text_equal(units[i].name, rest)) {
				*ret = number * units[i].factor;
				return;
			}
	study_mistake(reader, node, "\"%s\" is not %s", text, what);
}

void study_read_duration(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const struct unit units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};

	read_quantity(reader, node, units, ARRAY_SIZE(units), "a time with its unit: 30 s, 20 min, 8 h", into);
}

void study_read_watts(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const struct unit units[] = {{"W", 1}, {"kW", 1000}};

	read_quantity(reader, node, units, ARRAY_SIZE(units), "a power with its unit, as 120 W", into);
}

void study_read_celsius(struct study_reader *reader, const struct study_node *node, void *into)
{
	static const struct unit units[] = {{"C", 1}, {"\u00b0C", 1}};
	double celsius = 0;

	read_quantity(reader, node, units, ARRAY_SIZE(units), "a temperature with its unit, as 85 C", &celsius);
	if (celsius > 0 && (celsius < 20 || celsius > 150))
		study_mistake(reader, node, "\"%s\" is no limit for a machine that runs; 20 C to 150 C is", node->text);
	else if (celsius > 0)
		*(double *)into = celsius;
}

void study_read_weight(struct study_reader *reader, const struct study_node *node, void *into)
{
	const char *text = study_scalar(reader, node, "a weight, as 2");
	const char *rest;
	double number;

	if (!text)
		return;
	if (cut_number(text, &number, &rest) && !*rest && number > 0 && number <= 1e6)
		*(double *)into = number;
	else
		study_mistake(reader, node, "\"%s\" is no weight: a number above 0, at most 1000000", text);
}

/*
 * A list is executed as it stands. A text goes to the shell, as everybody expects of a text in such a file; that it
 * does is part of what `study check` shows.
 */
void study_read_command(struct study_reader *reader, const struct study_node *node, void *into)
{
	struct study_command *command = into;
	const char **words = ARENA_ARRAY(reader->arena, node->item_count + 2, const char *);

	if (node->kind != STUDY_LIST) {
		words[0] = study_scalar(reader, node, "a command: a text for the shell, or a list of words");
		if (!words[0])
			return;
		if (!*text_trim(reader->arena, words[0]))
			study_mistake(reader, node, "an empty command");
		*command = (struct study_command){.words = words, .shell = true, .line = node->line};
		return;
	}
	if (!node->item_count) {
		study_mistake(reader, node, "an empty command");
		return;
	}
	for (size_t i = 0; i < node->item_count; i++) {
		words[i] = study_scalar(reader, node->items[i], "a word of the command");
		if (!words[i])
			return;
	}
	if (!*words[0]) {
		study_mistake(reader, node->items[0], "the program's name is empty");
		return;
	}
	*command = (struct study_command){.words = words, .line = node->line};
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the table of knobs itself: that each row is whole, and that what rows say of each other is true. */
#include <errno.h>

#include "knob.h"
#include "text.h"
#include "tree.h"
#include "unit.h"

static bool is_family(const struct knob *knob)
{
	return knob->name[strlen(knob->name) - 1] == '*';
}

static const struct knob *named(const char *name)
{
	const struct knob *knob;

	for (size_t i = 0; (knob = knob_at(i)); i++)
		if (text_equal(knob->name, name))
			return knob;
	return NULL;
}

static void rows_are_whole(void **state)
{
	const struct knob *knob;

	(void)state;
	for (size_t i = 0; (knob = knob_at(i)); i++) {
		bool whole = knob->name && *knob->name && knob->summary && *knob->summary && knob->value &&
			     *knob->value && knob->rank > 0 && knob->actuator && knob->actuator->name &&
			     knob->actuator->get && knob->actuator->set && (knob->path || knob->expand) &&
			     is_family(knob) == (knob->members != NULL) && (!is_family(knob) || knob->expand);

		if (!whole)
			fail_msg("%s: something is missing", knob->name);
		if (whole && (strpbrk(knob->name, "=@ ") || strchr(knob->summary, '\n') ||
			      knob->summary[strlen(knob->summary) - 1] == '.'))
			fail_msg("%s: a name takes no = @ or blank, a summary no full stop", knob->name);
		if (knob->least > knob->most)
			fail_msg("%s: least and most are the wrong way round", knob->name);
		if (named(knob->name) != knob)
			fail_msg("%s stands twice in the table", knob->name);
	}
}

static void assert_names(const struct knob *knob, const char *what, const char *names)
{
	char copy[1024];

	(void)snprintf(copy, sizeof(copy), "%s", names ? names : "");
	for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "))
		if (!named(name) || named(name) == knob)
			fail_msg("%s: %s names %s, which is no other knob", knob->name, what, name);
}

/* "KNOB=WORD,WORD": what makes it appear is another knob with such values, and has to be written before it. */
static void assert_appears(const struct knob *knob)
{
	char copy[256];
	char *words = NULL, *name, *values;

	(void)snprintf(copy, sizeof(copy), "%s", knob->appears ? knob->appears : "");
	name = strtok_r(copy, "=", &words);
	values = name ? strtok_r(NULL, "", &words) : NULL;
	if (!name)
		return;
	if (!named(name) || !values || named(name)->rank >= knob->rank)
		fail_msg("%s: %s is no value of a knob that is written before it", knob->name, knob->appears);
	for (char *value = strtok(values, ","); value; value = strtok(NULL, ","))
		if (!text_has_word(named(name)->words, " ", value))
			fail_msg("%s: %s is no word of %s", knob->name, value, name);
}

static void rows_name_others_rightly(void **state)
{
	const struct knob *knob;

	(void)state;
	for (size_t i = 0; (knob = knob_at(i)); i++) {
		assert_names(knob, "moves", knob->moves);
		assert_appears(knob);
	}
}

/* A value that opens a hole or cannot be written is a value of the knob. */
static void words_and_ranges_agree(void **state)
{
	const struct knob *knob;

	(void)state;
	for (size_t i = 0; (knob = knob_at(i)); i++) {
		const char *lists[] = {knob->hole, knob->unwritable};

		for (size_t list = 0; list < ARRAY_SIZE(lists); list++) {
			char copy[256];

			(void)snprintf(copy, sizeof(copy), "%s", lists[list] ? lists[list] : "");
			for (char *word = strtok(copy, " "); word && knob->words; word = strtok(NULL, " "))
				if (!text_has_word(knob->words, " ", word))
					fail_msg("%s: %s is none of its words", knob->name, word);
		}
		/* Words that read as numbers beside a range would be judged twice. */
		for (const char *at = knob->least < knob->most && knob->words ? knob->words : ""; *at; at++)
			if (*at >= '0' && *at <= '9' && (at == knob->words || at[-1] == ' '))
				fail_msg("%s: a word that is a number, beside a range", knob->name);
	}
}

/* The pattern with a number for each of its stars, which is what most of them stand for. */
static const char *instance(struct arena *arena, const char *pattern)
{
	const char *path = "";

	for (const char *at = pattern; *at; at++)
		path = *at == '*' ? arena_printf(arena, "%s0", path) : arena_printf(arena, "%s%c", path, *at);
	return path;
}

static void assert_writable(struct knob_machine *machine, const struct knob *knob, const char *pattern)
{
	const char *path = instance(machine->arena, pattern);
	struct err err = {0};

	if (*pattern != '/')
		fail_msg("%s: %s is no absolute path", knob->name, pattern);
	/* It is not there, which is found out only where it may be written. */
	if (sys_writer_set(machine->writer, path, "", 0, &err) != -ENOENT)
		fail_msg("%s: %s: %s", knob->name, path, err.what);
}

static void paths_may_be_written_and_no_others(void **state)
{
	struct tree *tree = tree_new(NULL);
	struct knob_machine machine;
	struct err err = {0};
	const struct knob *knob;

	(void)state;
	assert_int_equal(knob_machine_open(tree->root, NULL, &machine, &err), 0);
	for (size_t i = 0; (knob = knob_at(i)); i++) {
		if (knob->path)
			assert_writable(&machine, knob, knob->path);
		for (const char *const *path = knob->paths; path && *path; path++)
			assert_writable(&machine, knob, *path);
	}
	assert_int_equal(sys_writer_set(machine.writer, "/etc/passwd", "", 0, &err), -EPERM);
	assert_int_equal(sys_writer_set(machine.writer, "/proc/sys/kernel/core_pattern", "", 0, &err), -EPERM);
	knob_machine_close(&machine);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_are_whole),
	    cmocka_unit_test(rows_name_others_rightly),
	    cmocka_unit_test(words_and_ranges_agree),
	    cmocka_unit_test(paths_may_be_written_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of base/term: flowing to a width, no colour outside terminals, no control characters from strangers. */
#include <locale.h>
#include <string.h>

#include "unit.h"
#include "term.h"

static void assert_flowed(int width, int indent, bool started, const char *text, const char *expected)
{
	CLEANUP(base_free) char *shown = NULL;
	size_t size = 0;
	struct term term = {.out = open_memstream(&shown, &size), .width = width};

	assert_non_null(term.out);
	term_flow(&term, indent, started, text);
	assert_int_equal(fclose(term.out), 0);
	assert_string_equal(shown, expected);
}

static void test_flow(void **state)
{
	(void)state;
	assert_flowed(40, 0, true, "one two", "one two\n");
	assert_flowed(40, 2, false, "  one\n two ", "  one two\n");
	assert_flowed(40, 4, false, "aaaaaaaaaa bbbbbbbbbb cccccccccc dddddddddd",
		      "    aaaaaaaaaa bbbbbbbbbb cccccccccc\n    dddddddddd\n");
	assert_flowed(40, 0, true, "aaaaaaaaaa bbbbbbbbbb ccccccccc needs 800 us, or less",
		      "aaaaaaaaaa bbbbbbbbbb ccccccccc needs\n800 us, or less\n");
	assert_flowed(40, 0, true, "", "\n");
	assert_flowed(40, 0, true, "a-word-that-is-longer-than-the-line-cannot-be-cut b",
		      "a-word-that-is-longer-than-the-line-cannot-be-cut\nb\n");
}

static void test_control_characters_are_shown_as_question_marks(void **state)
{
	(void)state;
	assert_flowed(40, 0, true, "a\033[2Jb \177", "a?[2Jb ?\n");
}

static void test_columns_of_utf8(void **state)
{
	(void)state;
	assert_int_equal(term_columns(""), 0);
	assert_int_equal(term_columns("abc"), 3);
	assert_int_equal(term_columns("\u2500\u2500\u00b5s"), 4);
}

static void test_a_file_is_no_terminal(void **state)
{
	CLEANUP(base_fclose) FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	assert_int_equal(setenv("COLUMNS", "100", 1), 0);
	struct term term = term_of(file);

	assert_int_equal(term.width, 100);
	assert_false(term.colour);
	assert_string_equal(term_on(&term, TERM_RED), "");
	for (size_t i = 0; i < 5; i++) {
		static const char *const values[] = {"10", "0", "-5", "x", "99999"};
		static const int widths[] = {40, 80, 80, 80, 80};

		assert_int_equal(setenv("COLUMNS", values[i], 1), 0);
		assert_int_equal(term_of(file).width, widths[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_flow),
	    cmocka_unit_test(test_control_characters_are_shown_as_question_marks),
	    cmocka_unit_test(test_columns_of_utf8),
	    cmocka_unit_test(test_a_file_is_no_terminal),
	};

	(void)setlocale(LC_CTYPE, "");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

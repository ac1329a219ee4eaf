/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of base/err: one line, with place and hint, whatever the texts hold. */
#include <errno.h>
#include <string.h>

#include "unit.h"
#include "err.h"

static void assert_printed(const struct err *err, const char *expected)
{
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	err_print(out, err);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
}

static void test_forms_of_the_line(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_set(&err, ENOENT, "/nowhere", "no such %s", "host"), -ENOENT);
	assert_printed(&err, "hvtune: /nowhere: no such host\n");
	assert_int_equal(err_hint(&err, "give a directory"), -ENOENT);
	assert_printed(&err, "hvtune: /nowhere: no such host; give a directory\n");
	(void)err_set_at(&err, EINVAL, "grub", 3, 14, "an open quote");
	assert_printed(&err, "hvtune: grub:3:14: an open quote\n");
	(void)err_set_at(&err, EINVAL, "grub", 3, 0, "an open quote");
	assert_printed(&err, "hvtune: grub:3: an open quote\n");
	(void)err_set(&err, EACCES, NULL, "%s", "");
	assert_printed(&err, "hvtune: Permission denied\n");
}

static void test_without_a_place_to_fill(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, EIO, "x", "y"), -EIO);
	assert_int_equal(err_set_at(NULL, EIO, "x", 1, 1, "y"), -EIO);
	assert_int_equal(err_hint(NULL, "z"), -EINVAL);
	assert_int_equal(err_hint(&(struct err){0}, "z"), -EINVAL);
	assert_int_equal(err_copy(NULL, &(struct err){.code = -EIO}), -EIO);
	assert_string_equal(err_what(NULL), "");
}

static void test_a_copy(void **state)
{
	struct err err = {0}, from = {0};

	(void)state;
	(void)err_set_at(&from, EINVAL, "grub", 3, 14, "an open quote");
	assert_int_equal(err_copy(&err, &from), -EINVAL);
	assert_printed(&err, "hvtune: grub:3:14: an open quote\n");
	assert_string_equal(err_what(&err), "an open quote");
}

static void test_foreign_texts_stay_one_line_and_fit(void **state)
{
	char longer[2000];
	struct err err = {0};

	(void)state;
	(void)err_set(&err, EINVAL, "a\nb\033[2J", "c\td");
	assert_printed(&err, "hvtune: a?b?[2J: c?d\n");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	(void)err_set(&err, EINVAL, longer, "%s", longer);
	(void)err_hint(&err, "%s", longer);
	assert_int_equal(strlen(err.where), sizeof(err.where) - 1);
	assert_int_equal(strlen(err.what), sizeof(err.what) - 1);
	assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms_of_the_line),
	    cmocka_unit_test(test_without_a_place_to_fill),
	    cmocka_unit_test(test_a_copy),
	    cmocka_unit_test(test_foreign_texts_stay_one_line_and_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

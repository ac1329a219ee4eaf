/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of loading libraries: what is there, what is missing, and what is too old. */
#include <errno.h>

#include "library.h"
#include "text.h"
#include "unit.h"

static double (*cosine)(double);

static struct library maths(void)
{
	return (struct library){.files = {"libnowhere.so.1", "libm.so.6"},
				.name = "the maths",
				.where = "here",
				.install = "libc6",
				.errnum = ENOSYS};
}

static void test_the_first_that_is_there(void **state)
{
	const struct library library = maths();
	const struct library_function functions[] = {{"cos", (void **)&cosine}};
	void *handle = NULL;

	(void)state;
	assert_int_equal(library_load(&library, functions, 1, &handle, NULL), 0);
	assert_non_null(handle);
	assert_float_equal(cosine(0), 1, 0);
}

static void test_too_old(void **state)
{
	const struct library library = maths();
	const struct library_function functions[] = {{"cos", (void **)&cosine}, {"of_the_future", (void **)&cosine}};
	struct err err = {0};

	(void)state;
	assert_int_equal(library_load(&library, functions, 2, NULL, &err), -ENOSYS);
	assert_string_equal(err.what, "the maths is too old: it has no of_the_future");
	assert_string_equal(err.where, "here");
}

static void test_not_there(void **state)
{
	struct library library = maths();
	struct err err = {0};
	void *handle = NULL;

	(void)state;
	library.files[1] = NULL;
	assert_int_equal(library_load(&library, NULL, 0, &handle, &err), -ENOSYS);
	assert_null(handle);
	assert_true(text_starts(err.what, "the maths cannot be loaded: libnowhere.so.1"));
	assert_string_equal(err.hint, "install libc6");
	/* Without an err the code is the same. */
	assert_int_equal(library_load(&library, NULL, 0, NULL, NULL), -ENOSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_first_that_is_there),
					   cmocka_unit_test(test_too_old), cmocka_unit_test(test_not_there)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

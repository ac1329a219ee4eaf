/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of unified differences. */
#include "unit.h"

#include "diff.h"

#include <string.h>

static void expect(const char *before, const char *after, const char *expected)
{
	CLEANUP(base_free) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	diff_unified(out, "a", "b", before, after);
	(void)fclose(out);
	assert_string_equal(text, expected);
}

static void test_equal(void **state)
{
	(void)state;
	expect("1\n2\n", "1\n2\n", "");
	expect("", "", "");
}

static void test_one_change(void **state)
{
	(void)state;
	expect("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
	       "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

static void test_insert_and_remove(void **state)
{
	(void)state;
	expect("a\nb\nc\n", "a\nx\nb\n", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n+x\n b\n-c\n");
	expect("", "a\nb\n", "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n");
	expect("a\n", "", "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-a\n");
}

static void test_two_hunks(void **state)
{
	(void)state;
	expect("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n",
	       "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-0\n+x\n 1\n 2\n 3\n@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-9\n+y\n");
	/* Near ones are one. */
	expect("0\n1\n2\n3\n4\n5\n6\n7\n", "x\n1\n2\n3\n4\n5\n6\ny\n",
	       "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-0\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-7\n+y\n");
}

static void test_no_newline(void **state)
{
	(void)state;
	expect("a", "b\n", "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_equal),
	    cmocka_unit_test(test_one_change),
	    cmocka_unit_test(test_insert_and_remove),
	    cmocka_unit_test(test_two_hunks),
	    cmocka_unit_test(test_no_newline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

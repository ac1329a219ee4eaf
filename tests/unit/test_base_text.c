/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of base/text: strict numbers, words, shown quantities, edit distance, natural order. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "unit.h"
#include "text.h"

static void test_numbers_are_strict(void **state)
{
	static const char *const bad[] = {"", " ", "x", "1x", "1 2", "0x", "1.5", "--1"};
	int64_t number = 77;

	(void)state;
	assert_int_equal(text_int("-12\n", 10, &number), 0);
	assert_int_equal(number, -12);
	assert_int_equal(text_int(" 0x1f ", 0, &number), 0);
	assert_int_equal(number, 31);
	assert_int_equal(text_int("9223372036854775807", 10, &number), 0);
	assert_int_equal(text_int("9223372036854775808", 10, &number), -ERANGE);
	assert_true(number == INT64_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (text_int(bad[i], 10, &number) != -EINVAL)
			fail_msg("\"%s\" was taken for a number", bad[i]);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		int64_t bytes;
	} good[] = {
	    {"0", 0}, {"4096", 4096}, {"2M", 2 << 20}, {"1G\n", 1 << 30}, {"2048k", 2 << 20}, {"1T", INT64_C(1) << 40},
	};
	static const char *const bad[] = {"", "M", "-1", "1GB", "1 G", "G1", "1.5G"};
	int64_t bytes = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(text_size(good[i].text, &bytes), 0);
		assert_true(bytes == good[i].bytes);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (text_size(bad[i], &bytes) != -EINVAL)
			fail_msg("\"%s\" was taken for a size", bad[i]);
	assert_int_equal(text_size("9000000T", &bytes), -ERANGE);
}

static void test_quantities_as_people_read_them(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	assert_string_equal(text_kib(arena, 0), "0 KiB");
	assert_string_equal(text_kib(arena, 768), "768 KiB");
	assert_string_equal(text_kib(arena, 32768), "32 MiB");
	assert_string_equal(text_kib(arena, 1536 * 1024), "1.5 GiB");
	assert_string_equal(text_khz(arena, 3250000), "3.25 GHz");
	assert_string_equal(text_khz(arena, 800000), "800 MHz");
}

static void test_durations(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{0, "0 s"},	   {-3, "0 s"},		 {(double)NAN, "0 s"}, {(double)INFINITY, "0 s"},
		     {.0004, "0 s"},	   {.02, "20 ms"},	 {.9994, "999 ms"},    {.9996, "1 s"},
		     {1.5, "1.5 s"},	   {9.94, "9.9 s"},	 {9.96, "10 s"},       {59.4, "59 s"},
		     {59.6, "1 min"},	   {90, "1 min 30 s"},	 {120, "2 min"},       {599.4, "9 min 59 s"},
		     {599.6, "10 min"},	   {720, "12 min"},	 {3569, "59 min"},     {3571, "1 h"},
		     {6600, "1 h 50 min"}, {7169, "1 h 59 min"}, {7171, "2 h"},	       {27000, "7.5 h"},
		     {28800, "8 h"},	   {86400, "24 h"},	 {172800, "2 d"},      {216000, "2.5 d"}};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(text_duration(arena, cases[i].seconds), cases[i].text);
}

static void test_counts(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	assert_string_equal(text_count(arena, 0, "run", "runs"), "0 runs");
	assert_string_equal(text_count(arena, 1, "run", "runs"), "1 run");
	assert_string_equal(text_count(arena, 2, "switch", "switches"), "2 switches");
}

static void test_words_in_lists(void **state)
{
	(void)state;
	assert_true(text_has_word("fpu svm npt", " ", "svm"));
	assert_false(text_has_word("fpu svm_lock npt", " ", "svm"));
	assert_false(text_has_word("fpu svm", " ", ""));
	assert_true(text_has_word("a,b c", ", ", "b"));
	assert_false(text_has_word("", " ", "svm"));
}

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(text_distance("check", "check"), 0);
	assert_int_equal(text_distance("check", "chekc"), 1);
	assert_int_equal(text_distance("check", "chck"), 1);
	assert_int_equal(text_distance("", "abc"), 3);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
	assert_true(text_distance("a", "a-very-long-text-a-very-long-text-a-very-long-text-a-very-long-text") > 60);
}

static void test_natural_order(void **state)
{
	const char *names[] = {"node10", "node2", "cpu1", "node1"};

	(void)state;
	qsort(names, ARRAY_SIZE(names), sizeof(names[0]), text_compare_natural);
	assert_string_equal(names[0], "cpu1");
	assert_string_equal(names[1], "node1");
	assert_string_equal(names[2], "node2");
	assert_string_equal(names[3], "node10");
}

static void test_trim(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	assert_string_equal(text_trim(arena, " \ta b\n"), "a b");
	assert_string_equal(text_trim(arena, " \n"), "");
}

static void test_what_may_be_shown(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
	    {"", ""},
	    {"web 1 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "web 1 \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
	    {"\x1b[31m\t\r\n\x7f", "?[31m????"},
	    {"\xc2\x9b\xc2\xa0", "?\xc2\xa0"}, /* U+009B begins an escape sequence, U+00A0 is a space */
	    {"\xff\xc3 \xe2\x82", "?? ??"},    /* no UTF-8, cut short */
	    {"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf", "?????????"}, /* longer than needed */
	    {"\xed\xa0\x80\xf4\x90\x80\x80", "???????"},	   /* a surrogate, beyond the last */
	    {"\xe2\x80\xae\xe2\x81\xa9\xe2\x80\x8e", "???"},	   /* turns of direction */
	    {"\xef\xbf\xbf\xef\xbf\xbd", "?\xef\xbf\xbd"},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(base_free) char *put = NULL;
		size_t size;
		FILE *out = open_memstream(&put, &size);

		assert_non_null(out);
		text_put(out, cases[i].text, strlen(cases[i].text));
		(void)fclose(out);
		assert_string_equal(put, cases[i].shown);
		assert_string_equal(text_visible(arena, cases[i].text), cases[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers_are_strict),
	    cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_quantities_as_people_read_them),
	    cmocka_unit_test(test_durations),
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_words_in_lists),
	    cmocka_unit_test(test_distance),
	    cmocka_unit_test(test_natural_order),
	    cmocka_unit_test(test_trim),
	    cmocka_unit_test(test_what_may_be_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

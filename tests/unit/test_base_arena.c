/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of base/arena: zeroed, aligned, apart from each other, of any size. */
#include <string.h>

#include "unit.h"
#include "arena.h"

static void test_pieces_are_zeroed_aligned_and_apart(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	unsigned char *pieces[200];
	size_t total = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t size = i * 37 + 1;

		pieces[i] = arena_alloc(arena, size);
		total += size;
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < size; j++)
			assert_int_equal(pieces[i][j], 0);
		memset(pieces[i], (int)(i & 0xff), size);
	}
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++)
		for (size_t j = 0; j < i * 37 + 1; j++)
			assert_int_equal(pieces[i][j], i & 0xff);
	assert_true(arena_used(arena) >= total);
}

static void test_a_piece_larger_than_any_block(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	size_t size = 5U * 1024 * 1024;
	char *large = arena_alloc(arena, size);
	char *small = arena_strdup(arena, "after");

	(void)state;
	memset(large, 'x', size);
	assert_string_equal(small, "after");
}

static void test_texts(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(arena, NULL, 0), "");
	assert_string_equal(arena_printf(arena, "%s-%d", "cpu", 12), "cpu-12");
}

static void test_free_takes_null(void **state)
{
	(void)state;
	assert_null(arena_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pieces_are_zeroed_aligned_and_apart),
	    cmocka_unit_test(test_a_piece_larger_than_any_block),
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_free_takes_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tests of the studies of the program: each is read without a mistake with a VM, and without one what needs it
 * is left out and told; its comment says what it answers, costs and needs.
 */
#include "study_matrix.h"
#include "study_ready.h"
#include "text.h"
#include "unit.h"

static const struct study_ready_words with_vm = {.vm = "web1",
						 .placed = "vm.pins.next@web1: '0:0,1:32'",
						 .floating = "vm.pins.next@web1: '0-1:0-63'",
						 .pool_2m = "hugepages.2M@0: 8192",
						 .pool_1g = "hugepages.1G@0: 16"};

static const struct {
	const char *name;
	size_t configs, alone; /* with a VM, and without; 0: it is nothing without */
} expected[] = {
    {"quick", 3 * 3 * 2 * 3 * 2, 3 * 3 * 2 * 3 * 2},
    {"amd-vm-speed", 5UL * 4 * 2 * 2 * 5, 40},
    {"ccx-numa-hugepages", 6, 0},
    {"efficiency", 4, 4},
    {"mitigation-bill", 4, 2},
    {"nic-queues", 5, 0},
};

static size_t configs_of(struct arena *arena, const struct study_ready *ready, const struct study_ready_words *words,
			 size_t *ret_left_out)
{
	struct study_mistakes mistakes = {0};
	const char *const *left_out;
	const char *text = study_ready_fill(arena, ready, words, &left_out);
	struct study_matrix matrix;
	struct study *study;

	for (*ret_left_out = 0; left_out[*ret_left_out];)
		(*ret_left_out)++;
	if (study_read(arena, ready->name, text, strlen(text), &study, &mistakes) < 0) {
		if (!*ret_left_out)
			fail_msg("%s:%u: %s", ready->name, mistakes.items[0].line, mistakes.items[0].what);
		return 0;
	}
	assert_string_equal(study->name, ready->name);
	assert_string_equal(study->title, study_ready_title(arena, ready));
	assert_true(study->budget_s > 0);
	study_matrix_make(arena, study, &matrix);
	return matrix.count;
}

static void test_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
		const struct study_ready *ready = study_ready_at(i);
		size_t left_out;

		assert_string_equal(ready->name, expected[i].name);
		assert_ptr_equal(study_ready_find(ready->name), ready);
		assert_int_equal(configs_of(arena, ready, &with_vm, &left_out), expected[i].configs);
		assert_int_equal(left_out, 0);
		assert_int_equal(configs_of(arena, ready, &(struct study_ready_words){0}, &left_out),
				 expected[i].alone);
		assert_int_equal(left_out > 0, study_ready_wants_vm(ready));
		assert_int_equal(ready->text[0], '#');
		assert_non_null(strstr(ready->text, "# Cost: "));
		assert_non_null(strstr(ready->text, "# Needs: "));
	}
	assert_null(study_ready_at(ARRAY_SIZE(expected)));
	assert_null(study_ready_find("slow"));
}

/* A size of pages that the host has no pool of takes its line with it and no other; a dollar of the shell stays. */
static void test_words(void **state)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct study_ready ready = {"x", "# $VM\na: $VM-$VM\nb: {$POOL_1G}\nc: $(nproc) $3 $VMX\n"};
	const char *const *left_out;

	(void)state;
	assert_string_equal(study_ready_fill(arena, &ready, &(struct study_ready_words){.vm = "w"}, &left_out),
			    "# w\na: w-w\nc: $(nproc) $3 wX\n");
	assert_string_equal(left_out[0], "b: {$POOL_1G}");
	assert_null(left_out[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_words)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

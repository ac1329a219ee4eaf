/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of base/cpuset: the kernel's list and mask forms, both ways, and the set operations. */
#include <errno.h>
#include <string.h>

#include "unit.h"
#include "cpuset.h"

static void test_lists_read_and_shown(void **state)
{
	static const struct {
		const char *text, *shown;
		int count;
	} cases[] = {
	    {"", "", 0},
	    {"\n", "", 0},
	    {"0", "0", 1},
	    {"0-3,8\n", "0-3,8", 5},
	    {" 5 ", "5", 1},
	    {"3,1,2", "1-3", 3},
	    {"0-3,2-5", "0-5", 6},
	    {"0-7:2/4", "0-1,4-5", 4},
	    {"8191", "8191", 1},
	    {"0-7:0/4,9", "9", 1},
	    {"0-8191", "0-8191", 8192},
	};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpuset set;

		assert_int_equal(cpuset_parse(cases[i].text, &set, NULL), 0);
		assert_string_equal(cpuset_format(arena, &set), cases[i].shown);
		assert_int_equal(cpuset_count(&set), cases[i].count);
	}
}

static void test_bad_lists_are_refused_and_nothing_is_touched(void **state)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
	    {"a", -EINVAL},
	    {"0-", -EINVAL},
	    {"-3", -EINVAL},
	    {"3-1", -EINVAL},
	    {"0,,1", -EINVAL},
	    {"0-3:", -EINVAL},
	    {"0-3:2", -EINVAL},

	    {"0-7:5/4", -EINVAL},
	    {"0-7:1/0", -EINVAL},
	    {"8192", -ERANGE},
	    {"0-8192", -ERANGE},
	    {"99999999999999999999", -ERANGE},
	    {"0 1", -EINVAL},
	    {"0x10", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpuset set = cpuset_range(7, 9), same = set;
		struct err err = {0};
		int r = cpuset_parse(cases[i].text, &set, &err);

		if (r != cases[i].code)
			fail_msg("\"%s\" gave %d, not %d", cases[i].text, r, cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		assert_true(err.what[0] != '\0');
		assert_true(cpuset_equal(&set, &same));
	}
}

static void test_masks(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
	    {"0", ""},	   {"f", "0-3"}, {"00ff00ff,00000001\n", "0,32-39,48-55"}, {"80000000,00000000,00000000", "95"},
	    {"F0", "4-7"},
	};
	static const char *const bad[] = {"", "g", "ff,", ",ff", "f,,f", "0x1", "123456789", "-1"};
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct cpuset set;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(cpuset_parse_mask(cases[i].text, &set, NULL), 0);
		assert_string_equal(cpuset_format(arena, &set), cases[i].shown);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err = {0};

		set = cpuset_range(1, 1);
		if (cpuset_parse_mask(bad[i], &set, &err) >= 0)
			fail_msg("\"%s\" was taken for a mask", bad[i]);
		assert_int_equal(cpuset_count(&set), 1);
	}
}

static void test_operations(void **state)
{
	struct cpuset low = cpuset_range(0, 99), high = cpuset_range(50, 149), none = {0};
	struct cpuset both = cpuset_and(&low, &high), either = cpuset_or(&low, &high);
	struct cpuset rest = cpuset_minus(&low, &high);
	int seen = 0;

	(void)state;
	assert_int_equal(cpuset_count(&both), 50);
	assert_int_equal(cpuset_count(&either), 150);
	assert_int_equal(cpuset_first(&both), 50);
	assert_int_equal(cpuset_next(&rest, 49), -1);
	assert_true(cpuset_subset(&both, &low));
	assert_false(cpuset_subset(&low, &high));
	assert_true(cpuset_meets(&low, &high));
	assert_false(cpuset_meets(&rest, &high));
	assert_true(cpuset_subset(&none, &none) && cpuset_empty(&none) && !cpuset_meets(&none, &low));
	assert_int_equal(cpuset_first(&none), -1);
	CPUSET_FOREACH (cpu, &both)
		assert_int_equal(cpu, 50 + seen++);
	assert_int_equal(seen, 50);
}

static void test_numbers_out_of_range_are_no_members(void **state)
{
	struct cpuset set = {0};

	(void)state;
	cpuset_add(&set, -1);
	cpuset_add(&set, CPUSET_MAX);
	assert_true(cpuset_empty(&set));
	assert_false(cpuset_has(&set, -1));
	assert_false(cpuset_has(&set, CPUSET_MAX));
	cpuset_add(&set, CPUSET_MAX - 1);
	cpuset_remove(&set, CPUSET_MAX);
	assert_int_equal(cpuset_first(&set), CPUSET_MAX - 1);
	assert_int_equal(cpuset_next(&set, CPUSET_MAX - 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lists_read_and_shown),
	    cmocka_unit_test(test_bad_lists_are_refused_and_nothing_is_touched),
	    cmocka_unit_test(test_masks),
	    cmocka_unit_test(test_operations),
	    cmocka_unit_test(test_numbers_out_of_range_are_no_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns tests of libvirt's syntax of CPU and node sets. */
#include <errno.h>

#include "unit.h"
#include "vm.h"

static void test_sets(void **state)
{
	/* What virBitmapParse() of libvirt makes of these. */
	static const struct {
		const char *text, *set;
	} cases[] = {
	    {"0", "0"},
	    {"0-3", "0-3"},
	    {"1-4,^3,6", "1-2,4,6"},
	    {"0-3,^2,4-5", "0-1,3-5"},
	    {"0,1,2,^2", "0-1"},
	    {"^3,1-4", "1-4"}, /* from left to right: nothing was there to take out */
	    {"1-4,^3,3", "1-4"},
	    {"4-6,^6", "4-5"},
	    {" 1 - 4 , ^ 3", NULL}, /* the number follows ^ at once */
	    {" 1 - 4 , ^3 ", "1-2,4"},
	    {"0-3,", "0-3"},
	    {"7-7", "7"},
	    {"8191", "8191"},
	    {"0x3", NULL},
	    {"", NULL},
	    {" ", NULL},
	    {",", NULL},
	    {",1", NULL},
	    {"1,,2", NULL},
	    {"3-1", NULL},
	    {"-1", NULL},
	    {"1-", NULL},
	    {"^1-2,5", NULL}, /* no range can be taken out */
	    {"^0", NULL},     /* nothing is left */
	    {"1;2", NULL},
	    {"all", NULL},
	    {"0-3:2/4", NULL}, /* the kernel's groups are not libvirt's */
	    {"\xc3\xa9", NULL},
	};
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpuset set = cpuset_range(99, 99);
		int status = vm_parse_cpuset(cases[i].text, &set, NULL);

		if (!cases[i].set) {
			if (status != -EINVAL || !cpuset_has(&set, 99))
				fail_msg("\"%s\" was accepted, or the set touched", cases[i].text);
			continue;
		}
		if (status < 0)
			fail_msg("\"%s\" was refused", cases[i].text);
		assert_string_equal(cpuset_format(arena, &set), cases[i].set);
	}
	(void)arena_free(arena);
}

static void test_errors_have_a_column(void **state)
{
	struct cpuset set;
	struct err err = {0};

	(void)state;
	assert_int_equal(vm_parse_cpuset("1-4,x", &set, &err), -EINVAL);
	assert_int_equal(err.column, 5);
	assert_int_equal(vm_parse_cpuset("1,9-3", &set, &err), -EINVAL);
	assert_int_equal(err.column, 3);
	assert_int_equal(vm_parse_cpuset("0-8192", &set, &err), -ERANGE);
	assert_int_equal(vm_parse_cpuset("99999999999999999999999", &set, &err), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sets),
	    cmocka_unit_test(test_errors_have_a_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

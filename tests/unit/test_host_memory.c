/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of host_memory and host_pages: any page size, missing files, garbage, sums that must not overflow. */
#include "unit.h"
#include "hosts.h"
#include "tree.h"

static struct host *host_of(struct tree **ret, const struct tree_file *files)
{
	*ret = tree_new(NULL);
	tree_add_amd(*ret, 4, 4, 25, 17);
	tree_add(*ret, files);
	return tree_host(*ret);
}

static void test_meminfo(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/meminfo", "MemTotal:       24683656 kB\nMemFree: garbage kB\nMemAvailable:   -5 kB\n"
			      "SwapTotal:             0 kB\nHugepagesize:       2048 kB\nMemTotalX: 1 kB\n"},
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host_memory *memory = &host_of(&tree, files)->memory;

	(void)state;
	assert_true(fact_is_number(&memory->total_kib, 24683656));
	assert_int_equal(memory->free_kib.state, FACT_IMPLAUSIBLE);
	assert_int_equal(memory->available_kib.state, FACT_IMPLAUSIBLE);
	assert_true(fact_is_number(&memory->swap_total_kib, 0));
	assert_int_equal(memory->swap_free_kib.state, FACT_ABSENT); /* missing is not zero */
	assert_true(fact_is_number(&memory->default_page_kib, 2048));
	tree_free(tree);
}

static void test_pools(void **state)
{
	static const struct tree_file files[] = {
	    POOL_2M("512", "500"),
	    POOL("1048576", "nr_hugepages", "4"),
	    POOL("1048576", "free_hugepages", "none"),
	    POOL("64", "nr_hugepages", "3"), /* no size of x86, but a size */
	    {"/sys/kernel/mm/hugepages/hugepages-kB/nr_hugepages", "1\n"},
	    {"/sys/kernel/mm/hugepages/hugepages--2kB/nr_hugepages", "1\n"},
	    {"/sys/kernel/mm/hugepages/other/nr_hugepages", "1\n"},
	    NODE_PAGES("0", "2048", "512"),
	    {"/sys/devices/system/node/nodeX/hugepages/hugepages-2048kB/nr_hugepages", "9\n"},
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host_memory *memory = &host_of(&tree, files)->memory;

	(void)state;
	assert_int_equal(memory->page_size_count, 3);
	assert_int_equal(memory->pages[0].size_kib, 64);
	assert_int_equal(memory->pages[2].size_kib, 1048576);
	const struct memory_pages *pages = host_memory_pages_of(memory, 2048);

	assert_non_null(pages);
	assert_true(fact_is_number(&pages->total, 512));
	assert_int_equal(pages->overcommit.state, FACT_ABSENT);
	assert_int_equal(pages->node_count, 1);
	assert_int_equal(pages->nodes[0].os_node, 0);
	assert_int_equal(pages->nodes[0].free.state, FACT_ABSENT);
	assert_int_equal(host_memory_pages_of(memory, 1048576)->free.state, FACT_IMPLAUSIBLE);
	assert_null(host_memory_pages_of(memory, 4096));
	assert_int_equal(host_memory_reserved_kib(memory), 512 * 2048 + 4 * 1048576 + 3 * 64);
	assert_int_equal(host_memory_idle_kib(memory), 500 * 2048);
	tree_free(tree);
}

static void test_absurd_pools_do_not_overflow(void **state)
{
	static const struct tree_file files[] = {
	    POOL("1048576", "nr_hugepages", "9223372036854775807"),
	    POOL("4294967296", "nr_hugepages", "1099511627776"),
	    {NULL, NULL},
	};
	struct tree *tree;
	const struct host_memory *memory = &host_of(&tree, files)->memory;

	(void)state;
	assert_int_equal(host_memory_pages_of(memory, 1048576)->total.state, FACT_IMPLAUSIBLE);
	assert_int_equal(host_memory_reserved_kib(memory), 0);
	tree_free(tree);
}

/* Quantities are not negative, settings are what the kernel takes; a balance may be negative. */
static void test_settings_that_cannot_be(void **state)
{
	static const struct {
		const char *path, *text;
		size_t offset;
		enum fact_state expected;
	} cases[] = {
#define CASE(path, text, member, expected) {path, text, offsetof(struct host_memory, member), expected}
	    CASE("/proc/sys/vm/min_free_kbytes", "-1", min_free_kbytes, FACT_IMPLAUSIBLE),
	    CASE("/proc/sys/vm/min_free_kbytes", "67584", min_free_kbytes, FACT_VALUE),
	    CASE("/proc/sys/vm/min_free_kbytes", "9223372036854775807", min_free_kbytes, FACT_IMPLAUSIBLE),
	    CASE("/proc/sys/vm/swappiness", "201", swappiness, FACT_IMPLAUSIBLE),
	    CASE("/proc/sys/vm/swappiness", "200", swappiness, FACT_VALUE),
	    CASE("/proc/sys/vm/dirty_ratio", "101", dirty_ratio, FACT_IMPLAUSIBLE),
	    CASE("/proc/sys/vm/dirty_bytes", "-1", dirty_bytes, FACT_IMPLAUSIBLE),
	    CASE("/proc/sys/vm/overcommit_memory", "3", overcommit_memory, FACT_IMPLAUSIBLE),
	    CASE("/proc/sys/kernel/numa_balancing", "2", numa_balancing, FACT_VALUE),
	    CASE("/sys/kernel/mm/ksm/run", "-1", ksm_run, FACT_IMPLAUSIBLE),
	    CASE("/sys/kernel/mm/ksm/general_profit", "-4096", ksm_general_profit, FACT_VALUE),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct tree_file files[] = {{cases[i].path, cases[i].text}, {NULL, NULL}};
		struct tree *tree;
		const struct host_memory *memory = &host_of(&tree, files)->memory;
		const struct fact *fact = (const void *)((const char *)memory + cases[i].offset);

		if (fact->state != cases[i].expected)
			fail_msg("%s = %s has state %d", cases[i].path, cases[i].text, fact->state);
		tree_free(tree);
	}
}

static void test_mounts(void **state)
{
	static const struct tree_file files[] = {
	    {"/proc/mounts", "proc /proc proc rw 0 0\nbroken\n\nhugetlbfs /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n"
			     "none /dev/hugepages1G hugetlbfs rw,relatime,pagesize=1024M 0 0\n"
			     "none /mnt hugetlbfs rw 0 0"},
	    {NULL, NULL},
	};
	struct tree *tree;

	(void)state;
	assert_true(fact_is_text(&host_of(&tree, files)->memory.hugetlb_mounts,
				 "/dev/hugepages (2 MiB), /dev/hugepages1G (1 GiB), /mnt (default size)"));
	tree_free(tree);
}

static void test_mounts_without_hugetlbfs(void **state)
{
	static const struct tree_file files[] = {{"/proc/mounts", "proc /proc proc rw 0 0\n"}, {NULL, NULL}};
	struct tree *tree;
	const struct fact *mounts = &host_of(&tree, files)->memory.hugetlb_mounts;

	(void)state;
	assert_int_equal(mounts->state, FACT_ABSENT);
	assert_string_equal(mounts->note, MEMORY_NO_HUGETLBFS);
	tree_free(tree);
	mounts = &host_of(&tree, NULL)->memory.hugetlb_mounts;
	assert_int_equal(mounts->state, FACT_ABSENT);
	assert_null(mounts->note);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_meminfo),
	    cmocka_unit_test(test_pools),
	    cmocka_unit_test(test_absurd_pools_do_not_overflow),
	    cmocka_unit_test(test_settings_that_cannot_be),
	    cmocka_unit_test(test_mounts),
	    cmocka_unit_test(test_mounts_without_hugetlbfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

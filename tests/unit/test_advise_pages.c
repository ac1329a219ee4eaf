/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_pages: each rule fires on what it is about, and on nothing near it. */
#include <string.h>

#include "unit.h"
#include "advise_check.h"
#include "healthy.h"
#include "hosts.h"

static const struct tree_file base[] = {
    CMDLINE("quiet"),
    CPU("pdpe1gb"),
    {"/proc/meminfo", "MemTotal:       67108864 kB\nMemFree:        60000000 kB\nMemAvailable:   62000000 kB\n"
		      "Hugepagesize:       2048 kB\n"},
    {"/proc/mounts", "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0\n"},
    POOL_2M("0", "0"),
    POOL("1048576", "nr_hugepages", "0"),
    POOL("1048576", "free_hugepages", "0"),
    {NULL, NULL},
};

#define SHORT "memory.hugepages-short-of-boot-word"
#define UNEVEN "memory.hugepages-uneven"

/* clang-format off */
static const struct rule_case cases[] = {
    {SHORT, ADVISE_WARN, "hugepages=16 asks for 16 pages of 1 GiB, and there are 12", NULL,
     {CMDLINE("hugepagesz=1G hugepages=16"), POOL("1048576", "nr_hugepages", "12")}},
    {SHORT, ADVISE_WARN, "hugepages=0:8,1:8", NULL, /* the sum is right, a node is not */
     {CMDLINE("hugepagesz=1G hugepages=0:8,1:8"), TWO_NODES, POOL("1048576", "nr_hugepages", "16"),
      NODE_PAGES("0", "1048576", "12"), NODE_PAGES("1", "1048576", "4")}},
    {SHORT, SILENT, NULL, NULL, {CMDLINE("hugepagesz=1G hugepages=16"), POOL("1048576", "nr_hugepages", "16")}},
    {SHORT, SILENT, NULL, NULL, {CMDLINE("hugepages=512"), POOL_2M("600", "600")}},
    {SHORT, SILENT, NULL, NULL, {CMDLINE("hugepages=512"), POOL("2048", "nr_hugepages", "garbage")}},
    /* The second count is ignored by the kernel, so 100 pages are what was asked for. */
    {SHORT, SILENT, NULL, NULL, {CMDLINE("hugepagesz=2M hugepages=100 hugepages=5000"), POOL_2M("100", "100")}},

    {"memory.hugepages-as-asked", ADVISE_GOOD, NULL, NULL, {CMDLINE("hugepages=512"), POOL_2M("512", "512")}},
    {"memory.hugepages-as-asked", SILENT, NULL, NULL, {CMDLINE("hugepages=512"), POOL_2M("500", "500")}},
    {"memory.hugepages-as-asked", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {UNEVEN, ADVISE_ADVICE, "from 4 to 12 a node", NULL,
     {CMDLINE("hugepagesz=1G hugepages=16"), TWO_NODES, POOL("1048576", "nr_hugepages", "16"),
      NODE_PAGES("0", "1048576", "12"), NODE_PAGES("1", "1048576", "4")}},
    {UNEVEN, ADVISE_INFO, NULL, NULL, /* at run time: may be wanted */
     {TWO_NODES, NODE_PAGES("0", "2048", "8192"), NODE_PAGES("1", "2048", "0")}},
    {UNEVEN, SILENT, NULL, NULL, /* asked for node by node */
     {CMDLINE("default_hugepagesz=1G hugepagesz=1G hugepages=0:16,1:0"), TWO_NODES,
      POOL("1048576", "nr_hugepages", "16"), NODE_PAGES("0", "1048576", "16"), NODE_PAGES("1", "1048576", "0")}},
    {UNEVEN, SILENT, NULL, NULL, /* 17 pages cannot be even */
     {CMDLINE("hugepagesz=1G hugepages=17"), TWO_NODES, NODE_PAGES("0", "1048576", "9"), NODE_PAGES("1", "1048576", "8")}},
    {UNEVEN, SILENT, NULL, NULL, /* the other node has no memory */
     {CMDLINE("hugepagesz=1G hugepages=16"), TWO_NODES, {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 0 kB\n"},
      NODE_PAGES("0", "1048576", "16"), NODE_PAGES("1", "1048576", "0")}},

    {"memory.1g-not-supported", ADVISE_FAIL, "hugepagesz=1G", NULL, {CPU("pse"), CMDLINE("hugepagesz=1G hugepages=16")}},
    {"memory.1g-not-supported", SILENT, NULL, NULL, {CMDLINE("hugepagesz=1G hugepages=16")}},
    {"memory.1g-not-supported", SILENT, NULL, NULL, /* flags not known */
     {{"/proc/cpuinfo", "processor : 0\n"}, CMDLINE("hugepagesz=1G hugepages=16")}},
    {"memory.1g-not-supported", SILENT, NULL, NULL, {CMDLINE("hugepagesz=2M hugepages=16")}},

    {"memory.boot-words-larger-than-memory", ADVISE_FAIL, "64 GiB of memory", NULL, {CMDLINE("hugepages=40000")}},
    {"memory.boot-words-larger-than-memory", SILENT, NULL, NULL, {CMDLINE("hugepages=16000")}},
    {"memory.boot-words-larger-than-memory", SILENT, NULL, NULL,
     {CMDLINE("hugepages=40000"), {"/proc/meminfo", "MemTotal: lots\n"}}},

    {"memory.hugepages-leave-little", ADVISE_WARN, "63 GiB of 64 GiB", NULL, {POOL_2M("32256", "0")}},
    {"memory.hugepages-leave-little", SILENT, NULL, NULL, {POOL_2M("24576", "0")}},

    {"memory.hugepages-idle", ADVISE_INFO, "8 GiB of 8 GiB", NULL, {POOL_2M("4096", "4096")}},
    {"memory.hugepages-idle", SILENT, NULL, NULL, {POOL_2M("4096", "100")}},
    {"memory.hugepages-idle", SILENT, NULL, NULL, {POOL_2M("4096", "4096"), POOL("2048", "resv_hugepages", "4096")}},

    {"memory.hugepages-surplus", ADVISE_INFO, "5 pages of 2 MiB", NULL,
     {POOL_2M("10", "0"), POOL("2048", "surplus_hugepages", "5")}},
    {"memory.hugepages-surplus", SILENT, NULL, NULL, {POOL_2M("10", "0")}},

    {"memory.hugepages-none", ADVISE_INFO, NULL, NULL, {VMS_RUN}},
    {"memory.hugepages-none", SILENT, NULL, NULL, {NO_VMS}},
    {"memory.hugepages-none", SILENT, NULL, NULL, {VMS_RUN, POOL_2M("4096", "0")}},

    {"memory.hugetlb-no-mount", ADVISE_ADVICE, "16 pages of 1 GiB", NULL, {VMS_RUN, POOL("1048576", "nr_hugepages", "16")}},
    {"memory.hugetlb-no-mount", ADVISE_ADVICE, NULL, NULL,
     {VMS_RUN, POOL_2M("16", "16"), {"/proc/mounts", "proc /proc proc rw 0 0\n"}}},
    {"memory.hugetlb-no-mount", SILENT, NULL, NULL, {VMS_RUN, POOL_2M("16", "16")}},
    {"memory.hugetlb-no-mount", SILENT, NULL, NULL, {NO_VMS, POOL("1048576", "nr_hugepages", "16")}},
    {"memory.hugetlb-no-mount", SILENT, NULL, NULL,
     {VMS_RUN, POOL("1048576", "nr_hugepages", "16"),
      {"/proc/mounts", "hugetlbfs /dev/hugepages1G hugetlbfs rw,relatime,pagesize=1024M 0 0\n"}}},

    {"memory.dev-hugepages-1g", ADVISE_INFO, NULL, NULL,
     {CMDLINE("default_hugepagesz=1G")}},
    {"memory.dev-hugepages-1g", SILENT, NULL, NULL, {CPU("pse"), CMDLINE("default_hugepagesz=1G")}},
    {"memory.dev-hugepages-1g", SILENT, NULL, NULL, {CMDLINE("default_hugepagesz=2M")}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		healthy_run_case_over(base, &cases[i]);
	healthy_covers_over(base, advise_pages_rules, cases, ARRAY_SIZE(cases));
}

static void test_cma_is_named_as_the_cause(void **state)
{
	static const struct tree_file files[] = {
	    CMDLINE("hugetlb_cma=4G hugepagesz=1G hugepages=4"),
	    POOL("1048576", "nr_hugepages", "0"),
	    {NULL, NULL},
	};
	struct tree *tree = healthy_new_over(base);

	(void)state;
	tree_add(tree, files);
	struct advise_result *result = tree_advise(tree);
	const struct advise_finding *finding = tree_find(result, SHORT);

	assert_non_null(finding);
	assert_non_null(finding->detail);
	assert_non_null(strstr(finding->detail, "hugetlb_cma="));
	advise_result_free(result);
	tree_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_cma_is_named_as_the_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

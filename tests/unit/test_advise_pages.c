/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_pages: each rule fires on what it is about, and on nothing near it. */
#include <string.h>

#include "unit.h"
#include "advise_check.h"
#include "rules.h"
#include "rules_host.h"

static const struct tree_file healthy[] = {
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
    {SHORT, true, ADVISE_WARN, "hugepages=16 asks for 16 pages of 1 GiB, and there are 12",
     {CMDLINE("hugepagesz=1G hugepages=16"), POOL("1048576", "nr_hugepages", "12")}},
    {SHORT, true, ADVISE_WARN, "hugepages=0:8,1:8", /* the sum is right, a node is not */
     {CMDLINE("hugepagesz=1G hugepages=0:8,1:8"), TWO_NODES, POOL("1048576", "nr_hugepages", "16"),
      NODE_PAGES("0", "1048576", "12"), NODE_PAGES("1", "1048576", "4")}},
    {SHORT, false, 0, NULL, {CMDLINE("hugepagesz=1G hugepages=16"), POOL("1048576", "nr_hugepages", "16")}},
    {SHORT, false, 0, NULL, {CMDLINE("hugepages=512"), POOL_2M("600", "600")}},
    {SHORT, false, 0, NULL, {CMDLINE("hugepages=512"), POOL("2048", "nr_hugepages", "garbage")}},
    /* The second count is ignored by the kernel, so 100 pages are what was asked for. */
    {SHORT, false, 0, NULL, {CMDLINE("hugepagesz=2M hugepages=100 hugepages=5000"), POOL_2M("100", "100")}},

    {"memory.hugepages-as-asked", true, ADVISE_GOOD, NULL, {CMDLINE("hugepages=512"), POOL_2M("512", "512")}},
    {"memory.hugepages-as-asked", false, 0, NULL, {CMDLINE("hugepages=512"), POOL_2M("500", "500")}},
    {"memory.hugepages-as-asked", false, 0, NULL, {CMDLINE("quiet")}},

    {UNEVEN, true, ADVISE_ADVICE, "from 4 to 12 a node",
     {CMDLINE("hugepagesz=1G hugepages=16"), TWO_NODES, POOL("1048576", "nr_hugepages", "16"),
      NODE_PAGES("0", "1048576", "12"), NODE_PAGES("1", "1048576", "4")}},
    {UNEVEN, true, ADVISE_INFO, NULL, /* at run time: may be wanted */
     {TWO_NODES, NODE_PAGES("0", "2048", "8192"), NODE_PAGES("1", "2048", "0")}},
    {UNEVEN, false, 0, NULL, /* asked for node by node */
     {CMDLINE("default_hugepagesz=1G hugepagesz=1G hugepages=0:16,1:0"), TWO_NODES,
      POOL("1048576", "nr_hugepages", "16"), NODE_PAGES("0", "1048576", "16"), NODE_PAGES("1", "1048576", "0")}},
    {UNEVEN, false, 0, NULL, /* 17 pages cannot be even */
     {CMDLINE("hugepagesz=1G hugepages=17"), TWO_NODES, NODE_PAGES("0", "1048576", "9"), NODE_PAGES("1", "1048576", "8")}},
    {UNEVEN, false, 0, NULL, /* the other node has no memory */
     {CMDLINE("hugepagesz=1G hugepages=16"), TWO_NODES, {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 0 kB\n"},
      NODE_PAGES("0", "1048576", "16"), NODE_PAGES("1", "1048576", "0")}},

    {"memory.1g-not-supported", true, ADVISE_FAIL, "hugepagesz=1G", {CPU("pse"), CMDLINE("hugepagesz=1G hugepages=16")}},
    {"memory.1g-not-supported", false, 0, NULL, {CMDLINE("hugepagesz=1G hugepages=16")}},
    {"memory.1g-not-supported", false, 0, NULL, /* flags not known */
     {{"/proc/cpuinfo", "processor : 0\n"}, CMDLINE("hugepagesz=1G hugepages=16")}},
    {"memory.1g-not-supported", false, 0, NULL, {CMDLINE("hugepagesz=2M hugepages=16")}},

    {"memory.boot-words-larger-than-memory", true, ADVISE_FAIL, "64 GiB of memory", {CMDLINE("hugepages=40000")}},
    {"memory.boot-words-larger-than-memory", false, 0, NULL, {CMDLINE("hugepages=16000")}},
    {"memory.boot-words-larger-than-memory", false, 0, NULL,
     {CMDLINE("hugepages=40000"), {"/proc/meminfo", "MemTotal: lots\n"}}},

    {"memory.hugepages-leave-little", true, ADVISE_WARN, "63 GiB of 64 GiB", {POOL_2M("32256", "0")}},
    {"memory.hugepages-leave-little", false, 0, NULL, {POOL_2M("24576", "0")}},

    {"memory.hugepages-idle", true, ADVISE_INFO, "8 GiB of 8 GiB", {POOL_2M("4096", "4096")}},
    {"memory.hugepages-idle", false, 0, NULL, {POOL_2M("4096", "100")}},
    {"memory.hugepages-idle", false, 0, NULL, {POOL_2M("4096", "4096"), POOL("2048", "resv_hugepages", "4096")}},

    {"memory.hugepages-surplus", true, ADVISE_INFO, "5 pages of 2 MiB",
     {POOL_2M("10", "0"), POOL("2048", "surplus_hugepages", "5")}},
    {"memory.hugepages-surplus", false, 0, NULL, {POOL_2M("10", "0")}},

    {"memory.hugepages-none", true, ADVISE_INFO, NULL, {VMS_RUN}},
    {"memory.hugepages-none", false, 0, NULL, {NO_VMS}},
    {"memory.hugepages-none", false, 0, NULL, {VMS_RUN, POOL_2M("4096", "0")}},

    {"memory.hugetlb-no-mount", true, ADVISE_ADVICE, "16 pages of 1 GiB", {VMS_RUN, POOL("1048576", "nr_hugepages", "16")}},
    {"memory.hugetlb-no-mount", true, ADVISE_ADVICE, NULL,
     {VMS_RUN, POOL_2M("16", "16"), {"/proc/mounts", "proc /proc proc rw 0 0\n"}}},
    {"memory.hugetlb-no-mount", false, 0, NULL, {VMS_RUN, POOL_2M("16", "16")}},
    {"memory.hugetlb-no-mount", false, 0, NULL, {NO_VMS, POOL("1048576", "nr_hugepages", "16")}},
    {"memory.hugetlb-no-mount", false, 0, NULL,
     {VMS_RUN, POOL("1048576", "nr_hugepages", "16"),
      {"/proc/mounts", "hugetlbfs /dev/hugepages1G hugetlbfs rw,relatime,pagesize=1024M 0 0\n"}}},

    {"memory.dev-hugepages-1g", true, ADVISE_INFO, NULL,
     {CMDLINE("default_hugepagesz=1G")}},
    {"memory.dev-hugepages-1g", false, 0, NULL, {CPU("pse"), CMDLINE("default_hugepagesz=1G")}},
    {"memory.dev-hugepages-1g", false, 0, NULL, {CMDLINE("default_hugepagesz=2M")}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	rules_check(healthy, cases, ARRAY_SIZE(cases));
	rules_covered(advise_pages_rules, cases, ARRAY_SIZE(cases));
}

static void test_cma_is_named_as_the_cause(void **state)
{
	static const struct tree_file files[] = {
	    CMDLINE("hugetlb_cma=4G hugepagesz=1G hugepages=4"),
	    POOL("1048576", "nr_hugepages", "0"),
	    {NULL, NULL},
	};
	struct tree *tree = tree_new(healthy);

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

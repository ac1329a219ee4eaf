/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_memory: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "rules.h"
#include "rules_host.h"

#define THP "/sys/kernel/mm/transparent_hugepage/enabled"
#define KSM "/sys/kernel/mm/ksm/"
#define MEMINFO(available, swap_free)                                                                                  \
	{                                                                                                              \
		"/proc/meminfo",                                                                                       \
		    "MemTotal:       67108864 kB\nMemFree:        60000000 kB\nMemAvailable:   " available             \
		    " kB\nSwapTotal:      16777216 kB\nSwapFree:       " swap_free                                     \
		    " kB\nCommitLimit:    50000000 kB\nCommitted_AS:   40000000 kB\n"                                  \
	}

static const struct tree_file healthy[] = {
    CMDLINE("quiet"),
    MEMINFO("62000000", "16777216"),
    {THP, "always [madvise] never\n"},
    {KSM "run", "0\n"},
    {KSM "pages_sharing", "0\n"},
    {KSM "merge_across_nodes", "1\n"},
    {"/proc/sys/kernel/numa_balancing", "0\n"},
    {"/proc/sys/vm/zone_reclaim_mode", "0\n"},
    {"/proc/sys/vm/overcommit_memory", "0\n"},
    {"/proc/sys/vm/min_free_kbytes", "90112\n"},
    {NULL, NULL},
};

/* clang-format off */
static const struct rule_case cases[] = {
    {"memory.thp-never", true, ADVISE_ADVICE, "4 KiB pages", {{THP, "always madvise [never]\n"}}},
    {"memory.thp-never", true, ADVISE_WARN, NULL, {{THP, "always madvise [never]\n"}, VMS_RUN}},
    {"memory.thp-never", false, 0, NULL, {{THP, "always [madvise] never\n"}, VMS_RUN}},
    {"memory.thp-never", false, 0, NULL, {{THP, "always madvise [never]\n"}, VMS_RUN, POOL_2M("4096", "0")}},
    {"memory.thp-never", false, 0, NULL, {{THP, "never\n"}}},
    {"memory.thp-never", false, 0, NULL, {{THP, "always madvise [never]\n"}, GUEST}},
    /* A host that has its modules listed and none of KVM runs no VMs. */
    {"memory.thp-never", false, 0, NULL, {{THP, "always madvise [never]\n"}, {"/sys/module/kernel/parameters/panic", "0\n"}}},

    {"memory.thp-always", true, ADVISE_INFO, NULL, {{THP, "[always] madvise never\n"}}},
    {"memory.thp-always", false, 0, NULL, {{THP, "always [madvise] never\n"}}},

    {"memory.thp-set-at-boot", true, ADVISE_INFO, "transparent_hugepage=madvise", {CMDLINE("transparent_hugepage=madvise")}},
    {"memory.thp-set-at-boot", true, ADVISE_ADVICE, "never",
     {CMDLINE("transparent_hugepage=always"), {"/etc/tuned/active_profile", "mine\n"},
      {"/etc/tuned/mine/tuned.conf", "[vm]\ntransparent_hugepages=never\n"}}},
    {"memory.thp-set-at-boot", false, 0, NULL, {CMDLINE("quiet")}},

    {"memory.ksm-running", true, ADVISE_INFO, "saves 4 MiB", {{KSM "run", "1\n"}, {KSM "pages_sharing", "1024\n"}}},
    {"memory.ksm-running", true, ADVISE_ADVICE, "-8192 bytes",
     {{KSM "run", "1\n"}, {KSM "pages_sharing", "1\n"}, {KSM "general_profit", "-8192\n"}}},
    {"memory.ksm-running", false, 0, NULL, {{KSM "run", "0\n"}}},
    {"memory.ksm-running", false, 0, NULL, {{KSM "run", "2\n"}}},

    {"memory.ksm-across-nodes", true, ADVISE_ADVICE, "2 NUMA nodes", {TWO_NODES, {KSM "run", "1\n"}}},
    {"memory.ksm-across-nodes", false, 0, NULL, {{KSM "run", "1\n"}}},
    {"memory.ksm-across-nodes", false, 0, NULL, {TWO_NODES, {KSM "run", "1\n"}, {KSM "merge_across_nodes", "0\n"}}},
    {"memory.ksm-across-nodes", false, 0, NULL, {TWO_NODES}},

    {"memory.ksm-stopped-but-merged", true, ADVISE_INFO, "4 MiB", {{KSM "pages_sharing", "1024\n"}}},
    {"memory.ksm-stopped-but-merged", false, 0, NULL, {{KSM "pages_sharing", "0\n"}}},

    {"memory.numa-balancing", true, ADVISE_ADVICE, "on", {TWO_NODES, VMS_RUN, {"/proc/sys/kernel/numa_balancing", "1\n"}}},
    {"memory.numa-balancing", true, ADVISE_INFO, "on", {TWO_NODES, NO_VMS, {"/proc/sys/kernel/numa_balancing", "1\n"}}},
    {"memory.numa-balancing", true, ADVISE_INFO, "off", {TWO_NODES}},
    {"memory.numa-balancing", true, ADVISE_INFO, "tiering", {TWO_NODES, {"/proc/sys/kernel/numa_balancing", "2\n"}}},
    {"memory.numa-balancing", false, 0, NULL, {VMS_RUN, {"/proc/sys/kernel/numa_balancing", "1\n"}}}, /* one node */
    {"memory.numa-balancing", false, 0, NULL, {VMS_RUN, {"/proc/sys/kernel/numa_balancing", "0\n"}}},

    {"memory.swap-in-use", true, ADVISE_INFO, "8 GiB", {MEMINFO("62000000", "8388608")}},
    {"memory.swap-in-use", true, ADVISE_WARN, "little memory", {MEMINFO("2000000", "8388608"), VMS_RUN}},
    {"memory.swap-in-use", false, 0, NULL, {MEMINFO("62000000", "16000000")}},

    {"memory.available-low", true, ADVISE_WARN, NULL, {MEMINFO("500000", "16777216")}},
    {"memory.available-low", false, 0, NULL, {MEMINFO("4000000", "16777216")}},
    {"memory.available-low", false, 0, NULL, {{"/proc/meminfo", "MemTotal: 67108864 kB\n"}}},

    {"memory.zone-reclaim", true, ADVISE_ADVICE, NULL, {TWO_NODES, {"/proc/sys/vm/zone_reclaim_mode", "1\n"}}},
    {"memory.zone-reclaim", false, 0, NULL, {{"/proc/sys/vm/zone_reclaim_mode", "1\n"}}},
    {"memory.zone-reclaim", false, 0, NULL, {TWO_NODES}},

    {"memory.node-nearly-full", true, ADVISE_INFO, "Node 1",
     {TWO_NODES, {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 33554432 kB\nNode 1 MemFree: 100000 kB\n"}}},
    {"memory.node-nearly-full", false, 0, NULL, {TWO_NODES}},

    {"memory.overcommit-strict", true, ADVISE_ADVICE, NULL, {{"/proc/sys/vm/overcommit_memory", "2\n"}}},
    {"memory.overcommit-strict", false, 0, NULL, {{"/proc/sys/vm/overcommit_memory", "1\n"}}},

    {"memory.min-free-tiny", true, ADVISE_ADVICE, "4 MiB", {{"/proc/sys/vm/min_free_kbytes", "4096\n"}}},
    {"memory.min-free-tiny", false, 0, NULL, {{"/proc/sys/vm/min_free_kbytes", "67584\n"}}},
    {"memory.min-free-tiny", false, 0, NULL,
     {{"/proc/sys/vm/min_free_kbytes", "8192\n"}, {"/proc/meminfo", "MemTotal: 4194304 kB\n"}}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	rules_check(healthy, cases, ARRAY_SIZE(cases));
	rules_covered(advise_memory_rules, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

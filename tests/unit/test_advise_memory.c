/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of advise_memory: each rule fires on what it is about, and on nothing near it. */
#include "unit.h"
#include "advise_check.h"
#include "healthy.h"
#include "hosts.h"

#define THP "/sys/kernel/mm/transparent_hugepage/enabled"
#define KSM "/sys/kernel/mm/ksm/"
#define MEMINFO(available, swap_free)                                                                                  \
	{                                                                                                              \
		"/proc/meminfo",                                                                                       \
		    "MemTotal:       67108864 kB\nMemFree:        60000000 kB\nMemAvailable:   " available             \
		    " kB\nSwapTotal:      16777216 kB\nSwapFree:       " swap_free                                     \
		    " kB\nCommitLimit:    50000000 kB\nCommitted_AS:   40000000 kB\n"                                  \
	}

static const struct tree_file base[] = {
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
    {"memory.thp-never", ADVISE_ADVICE, "4 KiB pages", NULL, {{THP, "always madvise [never]\n"}}},
    {"memory.thp-never", ADVISE_WARN, NULL, NULL, {{THP, "always madvise [never]\n"}, VMS_RUN}},
    {"memory.thp-never", SILENT, NULL, NULL, {{THP, "always [madvise] never\n"}, VMS_RUN}},
    {"memory.thp-never", SILENT, NULL, NULL, {{THP, "always madvise [never]\n"}, VMS_RUN, POOL_2M("4096", "0")}},
    {"memory.thp-never", SILENT, NULL, NULL, {{THP, "never\n"}}},
    {"memory.thp-never", SILENT, NULL, NULL, {{THP, "always madvise [never]\n"}, GUEST}},
    /* A host that has its modules listed and none of KVM runs no VMs. */
    {"memory.thp-never", SILENT, NULL, NULL, {{THP, "always madvise [never]\n"}, {"/sys/module/kvm_amd", GONE}}},

    {"memory.thp-always", ADVISE_INFO, NULL, NULL, {{THP, "[always] madvise never\n"}}},
    {"memory.thp-always", SILENT, NULL, NULL, {{THP, "always [madvise] never\n"}}},

    {"memory.thp-set-at-boot", ADVISE_INFO, "transparent_hugepage=madvise", NULL, {CMDLINE("transparent_hugepage=madvise")}},
    {"memory.thp-set-at-boot", ADVISE_INFO, "always", NULL, /* tuned.thp-skipped says the rest */
     {CMDLINE("transparent_hugepage=always"), {"/etc/tuned/active_profile", "mine\n"},
      {"/etc/tuned/mine/tuned.conf", "[vm]\ntransparent_hugepages=never\n"}}},
    {"memory.thp-set-at-boot", SILENT, NULL, NULL, {CMDLINE("quiet")}},

    {"memory.ksm-running", ADVISE_INFO, "saves 4 MiB", NULL, {{KSM "run", "1\n"}, {KSM "pages_sharing", "1024\n"}}},
    {"memory.ksm-running", ADVISE_ADVICE, "-8192 bytes", NULL,
     {{KSM "run", "1\n"}, {KSM "pages_sharing", "1\n"}, {KSM "general_profit", "-8192\n"}}},
    {"memory.ksm-running", SILENT, NULL, NULL, {{KSM "run", "0\n"}}},
    {"memory.ksm-running", SILENT, NULL, NULL, {{KSM "run", "2\n"}}},

    {"memory.ksm-across-nodes", ADVISE_ADVICE, "2 NUMA nodes", NULL, {TWO_NODES, {KSM "run", "1\n"}}},
    {"memory.ksm-across-nodes", SILENT, NULL, NULL, {{KSM "run", "1\n"}}},
    {"memory.ksm-across-nodes", SILENT, NULL, NULL, {TWO_NODES, {KSM "run", "1\n"}, {KSM "merge_across_nodes", "0\n"}}},
    {"memory.ksm-across-nodes", SILENT, NULL, NULL, {TWO_NODES}},

    {"memory.ksm-stopped-but-merged", ADVISE_INFO, "4 MiB", NULL, {{KSM "pages_sharing", "1024\n"}}},
    {"memory.ksm-stopped-but-merged", SILENT, NULL, NULL, {{KSM "pages_sharing", "0\n"}}},

    {"memory.numa-balancing", ADVISE_ADVICE, "on", NULL, {TWO_NODES, VMS_RUN, {"/proc/sys/kernel/numa_balancing", "1\n"}}},
    {"memory.numa-balancing", ADVISE_INFO, "on", NULL, {TWO_NODES, NO_VMS, {"/proc/sys/kernel/numa_balancing", "1\n"}}},
    {"memory.numa-balancing", ADVISE_INFO, "off", NULL, {TWO_NODES}},
    {"memory.numa-balancing", ADVISE_INFO, "tiering", NULL, {TWO_NODES, {"/proc/sys/kernel/numa_balancing", "2\n"}}},
    {"memory.numa-balancing", SILENT, NULL, NULL, {VMS_RUN, {"/proc/sys/kernel/numa_balancing", "1\n"}}}, /* one node */
    {"memory.numa-balancing", SILENT, NULL, NULL, {VMS_RUN, {"/proc/sys/kernel/numa_balancing", "0\n"}}},

    {"memory.swap-in-use", ADVISE_INFO, "8 GiB", NULL, {MEMINFO("62000000", "8388608")}},
    {"memory.swap-in-use", ADVISE_WARN, "little memory", NULL, {MEMINFO("2000000", "8388608"), VMS_RUN}},
    {"memory.swap-in-use", ADVISE_ADVICE, "16 GiB of 16 GiB", NULL, {MEMINFO("62000000", "0")}},
    {"memory.swap-in-use", SILENT, NULL, NULL, {MEMINFO("62000000", "16000000")}},

    {"memory.available-low", ADVISE_WARN, NULL, NULL, {MEMINFO("500000", "16777216")}},
    {"memory.available-low", SILENT, NULL, NULL, {MEMINFO("4000000", "16777216")}},
    {"memory.available-low", SILENT, NULL, NULL, {{"/proc/meminfo", "MemTotal: 67108864 kB\n"}}},

    {"memory.zone-reclaim", ADVISE_ADVICE, NULL, NULL, {TWO_NODES, {"/proc/sys/vm/zone_reclaim_mode", "1\n"}}},
    {"memory.zone-reclaim", SILENT, NULL, NULL, {{"/proc/sys/vm/zone_reclaim_mode", "1\n"}}},
    {"memory.zone-reclaim", SILENT, NULL, NULL, {TWO_NODES}},

    {"memory.node-nearly-full", ADVISE_INFO, "Node 1", NULL,
     {TWO_NODES, {"/sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 33554432 kB\nNode 1 MemFree: 100000 kB\n"}}},
    {"memory.node-nearly-full", SILENT, NULL, NULL, {TWO_NODES}},

    {"memory.overcommit-strict", ADVISE_ADVICE, NULL, NULL, {{"/proc/sys/vm/overcommit_memory", "2\n"}}},
    {"memory.overcommit-strict", SILENT, NULL, NULL, {{"/proc/sys/vm/overcommit_memory", "1\n"}}},

    {"memory.min-free-tiny", ADVISE_ADVICE, "4 MiB", NULL, {{"/proc/sys/vm/min_free_kbytes", "4096\n"}}},
    {"memory.min-free-tiny", SILENT, NULL, NULL, {{"/proc/sys/vm/min_free_kbytes", "67584\n"}}},
    {"memory.min-free-tiny", SILENT, NULL, NULL,
     {{"/proc/sys/vm/min_free_kbytes", "8192\n"}, {"/proc/meminfo", "MemTotal: 4194304 kB\n"}}},
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		healthy_run_case_over(base, &cases[i]);
	healthy_covers_over(base, advise_memory_rules, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

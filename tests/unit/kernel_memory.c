/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules of mm/ of the simulated kernel. */
#include <errno.h>

#include "kernel_rules.h"
#include "text.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"
#define KSM "/sys/kernel/mm/ksm/"
#define KVM "/sys/module/kvm/parameters/"

/* mm/page-writeback.c: of each pair one holds, the other reads 0, and 0 itself is refused. */
static int judge_dirty(const struct kernel *kernel, const char *path, const char *value)
{
	(void)kernel;
	(void)path;
	return text_equal(value, "0") ? -EINVAL : 0;
}

static void take_dirty(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	bool is_ratio = strstr(path, "ratio");

	(void)before;
	kernel_put(kernel, path, value);
	kernel_put(kernel, kernel_beside(path, is_ratio ? "dirty_bytes" : "dirty_ratio"), "0");
}

/* mm/khugepaged.c: what it wants to be free depends on whether huge pages are made at all. */
static void take_thp(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	(void)path;
	(void)before;
	if (kernel_exists(kernel, "/proc/sys/vm/min_free_kbytes"))
		kernel_put(kernel, "/proc/sys/vm/min_free_kbytes", text_equal(value, "never") ? "45056" : "67584");
}

/* mm/ksm.c */
static void take_ksm(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	(void)before;
	kernel_put(kernel, path, value);
	if (kernel_exists(kernel, KSM "pages_shared"))
		kernel_put(kernel, KSM "pages_shared", text_equal(value, "1") ? "100" : "0");
}

static int judge_across(const struct kernel *kernel, const char *path, const char *value)
{
	(void)path;
	(void)value;
	return kernel_number(kernel, KSM "pages_shared") ? -EBUSY : 0;
}

static void take_advisor(const struct kernel *kernel, const char *path, const char *value, const char *before)
{
	(void)path;
	(void)before;
	if (text_equal(value, "scan-time"))
		kernel_put(kernel, KSM "pages_to_scan", "500");
}

void kernel_add_memory(struct kernel *kernel)
{
	static const struct tree_file files[] = {
	    {"/proc/sys/vm/overcommit_memory", "0\n"},
	    {THP "defrag", "always defer defer+madvise [madvise] never\n"},
	    {THP "hugepages-64kB/enabled", "always inherit madvise [never]\n"},
	    {THP "hugepages-64kB/shmem_enabled", "always inherit within_size advise [never]\n"},
	    {THP "hugepages-2048kB/enabled", "always [inherit] madvise never\n"},
	    {THP "khugepaged/pages_to_scan", "4096\n"},
	    {THP "khugepaged/max_ptes_none", "511\n"},
	    {KSM "pages_shared", "100\n"},
	    {KSM "pages_to_scan", "100\n"},
	    {KSM "merge_across_nodes", "1\n"},
	    {KSM "advisor_mode", "[none] scan-time\n"},
	    {KVM "halt_poll_ns", "200000\n"},
	    {KVM "nx_huge_pages", "N\n"},
	    {"/proc/meminfo", "MemTotal:       65536000 kB\nMemFree:        40000000 kB\n"},
	    {"/proc/sys/vm/min_free_kbytes", "67584\n"},
	    {NULL, NULL},
	};

	tree_add(kernel->tree, files);
}

const struct kernel_rule kernel_memory_rules[] = {
    {"/proc/sys/vm/dirty_*", judge_dirty, take_dirty},
    {THP "enabled", NULL, take_thp},
    {KSM "run", NULL, take_ksm},
    {KSM "merge_across_nodes", judge_across, NULL},
    {KSM "advisor_mode", NULL, take_advisor},
    {NULL, NULL, NULL},
};

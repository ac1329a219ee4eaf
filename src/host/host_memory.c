/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_memory.h, without the hugepage pools (host_pages.c). */
#include "host_memory.h"

#include <inttypes.h>
#include <limits.h>

#include "host.h"
#include "host_pages.h"
#include "text.h"

#define THP "/sys/kernel/mm/transparent_hugepage"
#define KSM "/sys/kernel/mm/ksm"

enum { MOUNT_LIMIT = 64 };

static const int64_t BYTES_MOST = INT64_C(1) << 60, PAGES_MOST = INT64_C(1) << 48;

/* "MemTotal:       24683656 kB": the number, in KiB. A machine of more than 2^50 KiB (1 EiB) is not believed. */
static struct fact meminfo_fact(struct host *host, const struct sys_look *look, const char *name, const char *key)
{
	const char *at = look->state == SYS_VALUE ? look->data : NULL;
	size_t length = strlen(key);
	int64_t kib;

	while (at && !(strncmp(at, key, length) == 0 && at[length] == ':')) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return fact_of_look(name, look);
	at += length + 1;
	at += strspn(at, " \t");
	const char *raw = arena_strndup(host->arena, at, strcspn(at, "\n"));

	if (text_int(arena_strndup(host->arena, raw, strcspn(raw, " ")), 10, &kib) < 0 || kib < 0 ||
	    kib > (INT64_C(1) << 50))
		return fact_implausible(name, look->path, raw, "not a size in kB");
	struct fact fact = fact_number(name, UNIT_KIB, kib, arena_printf(host->arena, "%s %s", look->path, key));

	fact.raw = raw;
	return fact;
}

static void read_meminfo(struct host *host)
{
	struct host_memory *memory = &host->memory;
	const struct sys_look *look = sys_read(host->sys, "/proc/meminfo");
	const struct {
		struct fact *fact;
		const char *name, *key;
	} keys[] = {
	    {&memory->total_kib, "memory.total", "MemTotal"},
	    {&memory->free_kib, "memory.free", "MemFree"},
	    {&memory->available_kib, "memory.available", "MemAvailable"},
	    {&memory->swap_total_kib, "memory.swap_total", "SwapTotal"},
	    {&memory->swap_free_kib, "memory.swap_free", "SwapFree"},
	    {&memory->commit_limit_kib, "memory.commit_limit", "CommitLimit"},
	    {&memory->committed_kib, "memory.committed", "Committed_AS"},
	    {&memory->default_page_kib, "memory.default_hugepage", "Hugepagesize"},
	    {&memory->anon_huge_kib, "memory.anon_huge", "AnonHugePages"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		*keys[i].fact = meminfo_fact(host, look, keys[i].name, keys[i].key);
}

static void read_sysctls(struct host *host)
{
	struct host_memory *memory = &host->memory;
	/* Bounds as kernel/sysctl.c, mm/ksm.c and mm/vmscan.c of Linux 6.12 set them, of what has any. */
	const struct {
		struct fact *fact;
		enum fact_unit unit;
		const char *name, *path;
		int64_t least, most;
	} files[] = {
	    {&memory->numa_balancing, UNIT_NONE, "memory.numa_balancing", "/proc/sys/kernel/numa_balancing", 0, 4},
	    {&memory->swappiness, UNIT_NONE, "memory.swappiness", "/proc/sys/vm/swappiness", 0, 200},
	    {&memory->dirty_ratio, UNIT_PERCENT, "memory.dirty_ratio", "/proc/sys/vm/dirty_ratio", 0, 100},
	    {&memory->dirty_background_ratio, UNIT_PERCENT, "memory.dirty_background_ratio",
	     "/proc/sys/vm/dirty_background_ratio", 0, 100},
	    {&memory->dirty_bytes, UNIT_BYTES, "memory.dirty_bytes", "/proc/sys/vm/dirty_bytes", 0, BYTES_MOST},
	    {&memory->dirty_background_bytes, UNIT_BYTES, "memory.dirty_background_bytes",
	     "/proc/sys/vm/dirty_background_bytes", 0, BYTES_MOST},
	    {&memory->zone_reclaim_mode, UNIT_NONE, "memory.zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode", 0,
	     INT_MAX},
	    {&memory->min_free_kbytes, UNIT_KIB, "memory.min_free_kbytes", "/proc/sys/vm/min_free_kbytes", 0, INT_MAX},
	    {&memory->overcommit_memory, UNIT_NONE, "memory.overcommit_memory", "/proc/sys/vm/overcommit_memory", 0, 2},
	    {&memory->nr_hugepages_mempolicy, UNIT_COUNT, "memory.nr_hugepages_mempolicy",
	     "/proc/sys/vm/nr_hugepages_mempolicy", 0, INT64_MAX},
	    {&memory->compaction_proactiveness, UNIT_NONE, "memory.compaction_proactiveness",
	     "/proc/sys/vm/compaction_proactiveness", 0, 100},
	    {&memory->ksm_run, UNIT_NONE, "memory.ksm_run", KSM "/run", 0, 2},
	    {&memory->ksm_pages_sharing, UNIT_COUNT, "memory.ksm_pages_sharing", KSM "/pages_sharing", 0, PAGES_MOST},
	    {&memory->ksm_merge_across_nodes, UNIT_NONE, "memory.ksm_merge_across_nodes", KSM "/merge_across_nodes", 0,
	     1},
	    {&memory->ksm_general_profit, UNIT_BYTES, "memory.ksm_general_profit", KSM "/general_profit", -BYTES_MOST,
	     BYTES_MOST},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		*files[i].fact = fact_within(
		    fact_read_number(host->arena, host->sys, files[i].unit, files[i].name, "%s", files[i].path),
		    files[i].least, files[i].most, "not a value that the kernel has for it");
	memory->thp_enabled = fact_read_choice(host->arena, host->sys, "memory.thp_enabled", THP "/enabled");
	memory->thp_defrag = fact_read_choice(host->arena, host->sys, "memory.thp_defrag", THP "/defrag");
	memory->thp_shmem = fact_read_choice(host->arena, host->sys, "memory.thp_shmem", THP "/shmem_enabled");
}

/* One line of /proc/mounts: "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0"; NULL for another kind. */
static const char *hugetlb_mount(struct arena *arena, const char *line, size_t length)
{
	char *copy = arena_strndup(arena, line, length), *rest = NULL;
	const char *device = strtok_r(copy, " ", &rest);
	const char *target = device ? strtok_r(NULL, " ", &rest) : NULL;
	const char *kind = target ? strtok_r(NULL, " ", &rest) : NULL;
	const char *options = kind ? strtok_r(NULL, " ", &rest) : NULL;

	if (!options || !text_equal(kind, "hugetlbfs"))
		return NULL;
	const char *size = strstr(options, "pagesize=");
	int64_t bytes;

	if (!size)
		return arena_printf(arena, "%s (default size)", target);
	size += strlen("pagesize=");
	size = arena_strndup(arena, size, strcspn(size, ","));
	if (text_size(size, &bytes) < 0 || bytes < 1024)
		return arena_printf(arena, "%s (%s)", target, size);
	return arena_printf(arena, "%s (%s)", target, text_kib(arena, bytes / 1024));
}

static struct fact read_mounts(struct host *host)
{
	const struct sys_look *look = sys_read(host->sys, "/proc/mounts");
	const char *found = NULL;
	int count = 0;

	for (const char *at = look->state == SYS_VALUE ? look->data : ""; *at && count < MOUNT_LIMIT;) {
		size_t length = strcspn(at, "\n");
		const char *mount = hugetlb_mount(host->arena, at, length);

		if (mount) {
			found = found ? arena_printf(host->arena, "%s, %s", found, mount) : mount;
			count++;
		}
		at += length + (at[length] == '\n');
	}
	if (found)
		return fact_text("memory.hugetlb_mounts", found, look->path);
	struct fact fact = fact_of_look("memory.hugetlb_mounts", look);

	if (look->state == SYS_VALUE)
		fact.note = MEMORY_NO_HUGETLBFS;
	return fact;
}

static void read_words(struct host *host)
{
	bool has_1g = !fact_known(&host->cpu.flags) || host_cpu_has_flag(&host->cpu, "pdpe1gb");

	hugewords_parse(host->arena, &host->cmdline, has_1g, NULL, &host->memory.hugewords);
}

void host_memory_read(struct host *host)
{
	read_meminfo(host);
	read_sysctls(host);
	host_pages_read(host);
	host->memory.hugetlb_mounts = read_mounts(host);
	read_words(host);
}

static void sysctl_rows(const struct host_memory *memory, struct host_rows *rows)
{
	const struct {
		const char *section, *label;
		const struct fact *fact;
	} lines[] = {
	    {"Transparent hugepages", "Enabled", &memory->thp_enabled},
	    {"Transparent hugepages", "Defrag", &memory->thp_defrag},
	    {"Transparent hugepages", "Shmem", &memory->thp_shmem},
	    {"Transparent hugepages", "In use (anonymous)", &memory->anon_huge_kib},
	    {"KSM", "Run", &memory->ksm_run},
	    {"KSM", "Pages sharing", &memory->ksm_pages_sharing},
	    {"KSM", "Merge across nodes", &memory->ksm_merge_across_nodes},
	    {"KSM", "General profit", &memory->ksm_general_profit},
	    {"Kernel settings", "numa_balancing", &memory->numa_balancing},
	    {"Kernel settings", "swappiness", &memory->swappiness},
	    {"Kernel settings", "dirty_ratio", &memory->dirty_ratio},
	    {"Kernel settings", "dirty_background_ratio", &memory->dirty_background_ratio},
	    {"Kernel settings", "dirty_bytes", &memory->dirty_bytes},
	    {"Kernel settings", "dirty_background_bytes", &memory->dirty_background_bytes},
	    {"Kernel settings", "zone_reclaim_mode", &memory->zone_reclaim_mode},
	    {"Kernel settings", "min_free_kbytes", &memory->min_free_kbytes},
	    {"Kernel settings", "overcommit_memory", &memory->overcommit_memory},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		rows->section = lines[i].section;
		host_rows_add(rows, lines[i].label, lines[i].fact);
	}
}

void host_memory_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_memory *memory = &host->memory;

	rows->section = "Memory";
	host_rows_add(rows, "Total", &memory->total_kib);
	host_rows_add(rows, "Free", &memory->free_kib);
	host_rows_add(rows, "Available", &memory->available_kib);
	host_rows_add(rows, "Swap", &memory->swap_total_kib);
	host_rows_add(rows, "Swap free", &memory->swap_free_kib);
	host_pages_rows(host, rows);
	sysctl_rows(memory, rows);
}

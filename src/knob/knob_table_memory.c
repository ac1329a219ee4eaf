/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of pages and memory management. Sources: Documentation/admin-guide/mm/{hugetlbpage,transhuge,ksm}.rst
 * and sysctl/{vm,kernel}.rst of Linux.
 */
#include <errno.h>
#include <stdlib.h>

#include "knob_table.h"
#include "text.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

static const struct knob thp = {
    .name = "thp",
    .summary = "transparent huge pages",
    .value = "always|madvise|never",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_choice_file,
    .path = THP "enabled",
    .words = "always madvise never",
    .rank = KNOB_RANK_PLAIN,
    .moves = "min_free_kbytes", /* khugepaged wants more than there is without it */
    .check = knob_check_choice,
};

static const struct knob thp_defrag = {
    .name = "thp.defrag",
    .summary = "who waits for a transparent huge page to be made",
    .value = "always|defer|defer+madvise|madvise|never",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_choice_file,
    .path = THP "defrag",
    .words = "always defer defer+madvise madvise never",
    .rank = KNOB_RANK_PLAIN,
    .check = knob_check_choice,
};

static const struct knob thp_shmem = {
    .name = "thp.shmem",
    .summary = "transparent huge pages for shared memory",
    .value = "always|within_size|advise|never|deny|force",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_choice_file,
    .path = THP "shmem_enabled",
    .words = "always within_size advise never deny force",
    .rank = KNOB_RANK_PLAIN,
    .check = knob_check_choice,
};

static const struct knob ksm = {
    .name = "ksm",
    .summary = "merging of equal pages: 0 stops and keeps what is merged, 1 runs, 2 stops and takes it apart",
    .value = "0|1|2",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/kernel/mm/ksm/run",
    .words = "0 1 2",
    .rank = KNOB_RANK_PLAIN,
    .hurts = "taking merged pages apart (2) needs the memory that merging saved",
};

static const struct knob numa_balancing = {
    .name = "numa_balancing",
    .summary = "moving of pages towards the CPUs that use them",
    .value = "0-3",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/kernel/numa_balancing",
    .least = 0,
    .most = 3,
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob swappiness = {
    .name = "swappiness",
    .summary = "how readily anonymous memory is swapped against page cache",
    .value = "0-200",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/swappiness",
    .least = 0,
    .most = 200,
    .rank = KNOB_RANK_PLAIN,
};

/* Of each pair the kernel sets one to 0 when the other is written; 0 itself is no value that can be written. */
static const struct knob dirty_bytes = {
    .name = "dirty_bytes",
    .summary = "dirty memory at which writers wait",
    .value = "bytes",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/dirty_bytes",
    .least = 8192,
    .most = INT64_MAX,
    .rank = KNOB_RANK_PLAIN,
    .moves = "dirty_ratio",
    .unwritable = "0",
};

static const struct knob dirty_ratio = {
    .name = "dirty_ratio",
    .summary = "dirty memory at which writers wait, in percent of what is free",
    .value = "1-100",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/dirty_ratio",
    .least = 1,
    .most = 100,
    .rank = KNOB_RANK_PLAIN,
    .moves = "dirty_bytes",
    .unwritable = "0",
};

static const struct knob dirty_background_bytes = {
    .name = "dirty_background_bytes",
    .summary = "dirty memory at which writing out begins",
    .value = "bytes",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/dirty_background_bytes",
    .least = 1,
    .most = INT64_MAX,
    .rank = KNOB_RANK_PLAIN,
    .moves = "dirty_background_ratio",
    .unwritable = "0",
};

static const struct knob dirty_background_ratio = {
    .name = "dirty_background_ratio",
    .summary = "dirty memory at which writing out begins, in percent of what is free",
    .value = "1-100",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/dirty_background_ratio",
    .least = 1,
    .most = 100,
    .rank = KNOB_RANK_PLAIN,
    .moves = "dirty_background_bytes",
    .unwritable = "0",
};

/* More than this has brought machines down by OOM (Documentation/admin-guide/sysctl/vm.rst). */
static int check_min_free(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const struct sys_look *look = sys_read(machine->sys, "/proc/meminfo");
	const char *line = look->state == SYS_VALUE ? strstr(look->data, "MemTotal:") : NULL;
	int64_t total = line ? strtoll(line + strlen("MemTotal:"), NULL, 10) : 0, kib;

	if (total <= 0 || text_int(point->new, 10, &kib) < 0 || kib <= total / 20)
		return 0;
	return err_set(err, ERANGE, point->new, "%s takes at most a twentieth of the memory here, %lld", point->name,
		       (long long)total / 20);
}

static const struct knob min_free = {
    .name = "min_free_kbytes",
    .summary = "memory that the kernel keeps free for itself",
    .value = "KiB",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/min_free_kbytes",
    .least = 1024,
    .most = INT32_MAX,
    .rank = KNOB_RANK_PLAIN + 1, /* THP moves it */
    .check = check_min_free,
};

static const struct knob zone_reclaim = {
    .name = "zone_reclaim_mode",
    .summary = "whether a node makes room in itself before it takes memory of others",
    .value = "0-7",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/zone_reclaim_mode",
    .least = 0,
    .most = 7,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "values other than 0 drop page cache although other nodes have memory free",
};

static const struct knob watermark_scale = {
    .name = "watermark_scale_factor",
    .summary = "how early the kernel starts to make memory free, in 1/10000",
    .value = "1-3000",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/watermark_scale_factor",
    .least = 1,
    .most = 3000,
    .rank = KNOB_RANK_PLAIN,
};

static const struct knob compaction = {
    .name = "compaction_proactiveness",
    .summary = "how much the kernel compacts memory ahead of need",
    .value = "0-100",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/compaction_proactiveness",
    .least = 0,
    .most = 100,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "compaction ahead of need costs CPU time on idle hosts",
};

static const struct knob writeback = {
    .name = "dirty_writeback_cs",
    .summary = "how often dirty memory is written out, in 1/100 s; 0: only when it must",
    .value = "1/100 s",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/dirty_writeback_centisecs",
    .least = 0,
    .most = 360000,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "rarer wake-ups save watts; a power cut loses what was not written",
};

static const struct knob nmi_watchdog = {
    .name = "nmi_watchdog",
    .summary = "watch for CPUs that hang, with a hardware counter",
    .value = "0|1",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/kernel/nmi_watchdog",
    .words = "0 1",
    .rank = KNOB_RANK_PLAIN,
    .hurts = "without it a CPU that hangs is not told; with it one counter is taken from perf",
};

static const struct knob overcommit = {
    .name = "overcommit_memory",
    .summary = "whether memory is promised by a guess (0), always (1) or only up to a limit (2)",
    .value = "0|1|2",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/proc/sys/vm/overcommit_memory",
    .words = "0 1 2",
    .rank = KNOB_RANK_PLAIN,
    .hurts =
	"2 counts all memory of VMs and may keep them from starting; with 1 what is short is known only when it is "
	"used",
};

const struct knob *const knob_table_memory[] = {
    &thp,
    &thp_defrag,
    &thp_shmem,
    &ksm,
    &numa_balancing,
    &swappiness,
    &dirty_bytes,
    &dirty_ratio,
    &dirty_background_bytes,
    &dirty_background_ratio,
    &min_free,
    &zone_reclaim,
    &watermark_scale,
    &compaction,
    &writeback,
    &nmi_watchdog,
    &overcommit,
    NULL,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of pages and memory management. Sources: Documentation/admin-guide/mm/{hugetlbpage,transhuge,ksm}.rst
 * and sysctl/{vm,kernel}.rst of Linux.
 */
#include <errno.h>

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

static const struct knob halt_poll_ns = {
    .name = "kvm.halt_poll_ns",
    .summary = "how long KVM polls before an idle vCPU sleeps",
    .value = "ns",
    .unit = KNOB_OF_HOST,
    .actuator = &knob_value_file,
    .path = "/sys/module/kvm/parameters/halt_poll_ns",
    .least = 0,
    .most = 10000000,
    .rank = KNOB_RANK_PLAIN,
    .hurts = "polling costs watts and keeps cores from deep idle; without it wake-ups of vCPUs take longer",
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
    &halt_poll_ns,
    NULL,
};

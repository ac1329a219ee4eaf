/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules of mm/ of the simulated kernel. */
#include <errno.h>

#include "kernel_rules.h"
#include "text.h"

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

const struct kernel_rule kernel_memory_rules[] = {
    {"/proc/sys/vm/dirty_*", judge_dirty, take_dirty},
    {NULL, NULL, NULL},
};

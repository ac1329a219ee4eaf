/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the form of a rule of the simulated kernel: what it says to the writing of a file, and what moves by it. */
#ifndef HVTUNE_TEST_KERNEL_RULES_H
#define HVTUNE_TEST_KERNEL_RULES_H

#include "kernel.h"

struct kernel_rule {
	const char *pattern; /* fnmatch(3), FNM_PATHNAME; NULL ends a table */
	/* Would the kernel refuse this value? 0 or a negative errno. NULL: never. */
	int (*judge)(const struct kernel *kernel, const char *path, const char *value);
	/* Take it, with all that moves; `before` is what the file held. NULL: the file holds it then. */
	void (*take)(const struct kernel *kernel, const char *path, const char *value, const char *before);
};

extern const struct kernel_rule kernel_cpu_rules[];
extern const struct kernel_rule kernel_memory_rules[];
extern const struct kernel_rule kernel_pages_rules[];
extern const struct kernel_rule kernel_device_rules[];

/* The gate's play(): the devices of kernel_add_devices(). */
int kernel_play_device(void *data, const char *device, unsigned long request, void *argument);

/* Lay out the policies of a mode of amd_pstate. */
void kernel_build_policies(const struct kernel *kernel, const char *mode);

/* The path of a file beside another; good until the eighth call after it. */
const char *kernel_beside(const char *path, const char *name);

#endif

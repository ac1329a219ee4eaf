/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns hosts that are the text of lscpu (util-linux), plain or -J: identity, counts, NUMA nodes, vulnerabilities.
 * Which CPUs share a core or an L3 cache is not in such a text, so core_known and l3_known stay false.
 */
#ifndef HVTUNE_HOST_LSCPU_H
#define HVTUNE_HOST_LSCPU_H

#include "host.h"

/* Does the text look like lscpu's? */
bool host_is_lscpu(const char *text, size_t size);

/*
 * Fill the facts of `host`, which were all read as absent before. `text` has a NUL after its `size` bytes. -EINVAL with
 * the line when it cannot be understood or tells no CPUs.
 */
int host_lscpu_read(struct host *host, const char *text, size_t size, struct err *err);

#endif

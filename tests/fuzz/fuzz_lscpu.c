/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes lscpu texts, plain and JSON: refused with a reason, or a host whose counts hold. */
#include <string.h>

#include "host_lscpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct host *host = ARENA_NEW(arena, struct host);
	const char *text = arena_strndup(arena, (const char *)data, size);
	struct err err = {0};

	host->arena = arena;
	host->name = "fuzz";
	host->kind = HOST_LSCPU;
	host->sys = sys_open_nothing("fuzz");
	(void)host_is_lscpu(text, size);
	if (host_lscpu_read(host, text, size, &err) < 0) {
		if (!err.what[0])
			abort();
	} else {
		const struct host_topology *topology = &host->topology;
		struct host_rows rows = {.arena = arena};

		if (topology->thread_count < 1 || topology->core_count > topology->thread_count)
			abort();
		for (int cpu = -1; cpu <= topology->cpu_count; cpu++)
			if (topology_node_of(topology, cpu) >= topology->node_count)
				abort();
		host_cpu_rows(host, &rows);
		host_topology_rows(host, &rows);
		host_mitigations_rows(host, &rows);
		(void)host_summary(host, arena);
	}
	(void)host_close(host);
	return 0;
}

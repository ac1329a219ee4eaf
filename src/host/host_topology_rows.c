/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the topology as rows for `show`. */
#include "host_topology.h"

#include "host.h"
#include "text.h"

static void add_text(struct host_rows *rows, const char *label, const char *name, const char *text, const char *source)
{
	struct fact fact = text ? fact_text(name, text, source) : fact_absent(name, source);

	host_rows_add(rows, label, &fact);
}

static void add_count(struct host_rows *rows, const char *label, const char *name, bool known, int count,
		      const char *source)
{
	struct fact fact = known ? fact_number(name, UNIT_NONE, count, source) : fact_absent(name, source);

	host_rows_add(rows, label, &fact);
}

static void add_l3s(const struct host_topology *topology, struct host_rows *rows, const char *source)
{
	rows->section = "L3 groups (CCX)";
	for (int i = 0; i < topology->l3_count; i++) {
		const struct topology_l3 *l3 = &topology->l3s[i];
		const char *label = l3->id >= 0 ? arena_printf(rows->arena, "L3 %d (cache id %d)", i, (int)l3->id)
						: arena_printf(rows->arena, "L3 %d", i);

		const char *cpus = cpuset_format(rows->arena, &l3->cpus);

		/* An lscpu text tells how many there are, not which CPUs they serve. */
		add_text(rows, label, "topology.l3",
			 arena_printf(rows->arena, "CPUs %s, %s%s", *cpus ? cpus : "unknown",
				      l3->size_kib >= 0 ? text_kib(rows->arena, l3->size_kib) : "size unknown",
				      l3->large ? ", the large one" : ""),
			 source);
	}
}

static void add_nodes(const struct host_topology *topology, struct host_rows *rows)
{
	rows->section = "NUMA nodes";
	for (int i = 0; i < topology->node_count; i++) {
		const struct topology_node *node = &topology->nodes[i];
		const char *cpus = cpuset_format(rows->arena, &node->cpus);
		const char *memory = "memory unknown", *distances = "";

		if (node->memoryless)
			memory = "no memory";
		else if (fact_known(&node->memory_kib))
			memory = text_kib(rows->arena, node->memory_kib.number);
		if (!node->memoryless && fact_known(&node->free_kib))
			memory = arena_printf(rows->arena, "%s free of %s",
					      text_kib(rows->arena, node->free_kib.number), memory);
		for (int j = 0; node->distances && j < topology->node_count; j++)
			distances = arena_printf(rows->arena, "%s%s%d", distances, j ? " " : ", distances ",
						 node->distances[j]);
		add_text(rows, arena_printf(rows->arena, "node %d", node->os_node), "topology.node",
			 arena_printf(rows->arena, "%s%s, %s%s", *cpus ? "CPUs " : "no CPUs", cpus, memory, distances),
			 "/sys/devices/system/node");
	}
}

void host_topology_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_topology *topology = &host->topology;
	const char *source = topology->state.source ? topology->state.source : "topology";

	if (!fact_known(&topology->state)) {
		host_rows_add(rows, "Topology", &topology->state);
		return;
	}
	add_count(rows, "Packages", "topology.packages", topology->package_count > 0, topology->package_count, source);
	add_count(rows, "NUMA nodes", "topology.nodes", topology->node_known, topology->node_count,
		  "/sys/devices/system/node");
	add_count(rows, "CCDs", "topology.ccds", topology->ccd_count > 0, topology->ccd_count, "derived");
	add_text(rows, "CCDs known by", "topology.ccd_source", topology->ccd_source, "derived");
	add_count(rows, "L3 groups (CCX)", "topology.l3s", topology->l3_known, topology->l3_count, source);
	add_count(rows, "Cores", "topology.cores", topology->core_known, topology->core_count, source);
	add_count(rows, "Threads", "topology.threads", true, topology->thread_count, source);
	add_count(rows, "Threads per core", "topology.threads_per_core", topology->threads_per_core > 0,
		  topology->threads_per_core, source);
	host_rows_add(rows, "NPS", &topology->nps);
	host_rows_add(rows, "L3 as NUMA domain", &topology->l3_as_numa);
	if (topology->x3d)
		add_text(rows, "Large L3 on CPUs", "topology.large_l3",
			 cpuset_format(rows->arena, &topology->large_l3_cpus), "derived from L3 sizes");
	if (topology->l3_conflict)
		add_text(rows, "L3 lists disagree", "topology.l3_conflict", topology->l3_conflict, source);
	if (topology->node_conflict)
		add_text(rows, "Nodes disagree", "topology.node_conflict", topology->node_conflict, source);
	add_l3s(topology, rows, source);
	add_nodes(topology, rows);
	rows->section = NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the topology as JSON:
 *
 *	"topology": {
 *	  "state": fact,  "counts": {"packages", "nodes", "ccds", "l3s", "cores", "threads"},
 *	  "threads_per_core", "nps": fact, "l3_as_numa": fact,
 *	  "ccd_source", "l3_conflict", "node_conflict": text or null,
 *	  "x3d": boolean, "large_l3_cpus": list,
 *	  "cpus": {"online", "present", "possible", "switched_off", "isolated", "nohz_full"},
 *	  "packages": [{"os", "cpus", "cores", "l3s", "ccds"}],
 *	  "nodes": [{"os", "cpus", "memory_kib", "free_kib", "packages", "distances"}],
 *	  "ccds": [{"index", "package", "cpus", "l3s"}],
 *	  "l3s": [{"index", "id", "size_kib", "cpus", "package", "ccd", "nodes", "cores", "large"}],
 *	  "cores": [{"index", "os", "cpus", "threads", "l3", "ccd", "package", "nodes", "rank"}]
 *	}
 *
 * CPU and node sets are lists as sysfs writes them ("0-3,8"), "threads" an array of OS CPU numbers. Indices point into
 * the arrays of the same answer, "os" numbers are the kernel's. What is not known is null; a count of what is not known
 * is null too, never 0.
 */
#include "report.h"
#include "report_topology.h"
#include "text.h"

static json_t *set_or_null(struct arena *arena, const struct cpuset *set)
{
	return set ? json_string(cpuset_format(arena, set)) : json_null();
}

static json_t *fact_set(struct arena *arena, const struct fact *fact)
{
	return set_or_null(arena, fact_known(fact) ? fact->cpus : NULL);
}

static json_t *number_or_null(bool known, int64_t number)
{
	return known ? json_integer(number) : json_null();
}

static json_t *fact_number_or_null(const struct fact *fact)
{
	return number_or_null(fact_known(fact), fact_number_or(fact, 0));
}

static json_t *index_or_null(int64_t index)
{
	return number_or_null(index >= 0, index);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *packages_json(const struct host_topology *topology, struct arena *arena)
{
	json_t *list = json_array();

	for (int i = 0; i < topology->package_count; i++) {
		const struct topology_package *package = &topology->packages[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:o, s:o}", "os", index_or_null(package->os_package),
						"cpus", set_or_null(arena, &package->cpus), "cores",
						number_or_null(topology->core_known, package->core_count), "l3s",
						number_or_null(topology->l3_known, package->l3_count), "ccds",
						number_or_null(topology->ccd_count > 0, package->ccd_count)));
	}
	return list;
}

static json_t *nodes_json(const struct host_topology *topology, struct arena *arena)
{
	json_t *list = json_array();

	for (int i = 0; i < topology->node_count; i++) {
		const struct topology_node *node = &topology->nodes[i];
		json_t *distances = node->distances ? json_array() : json_null();

		for (int j = 0; node->distances && j < topology->node_count; j++)
			json_array_append_new(distances, json_integer(node->distances[j]));
		json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "os", node->os_node, "cpus",
						      set_or_null(arena, &node->cpus), "memory_kib",
						      fact_number_or_null(&node->memory_kib), "free_kib",
						      fact_number_or_null(&node->free_kib), "packages",
						      set_or_null(arena, &node->packages), "distances", distances));
	}
	return list;
}

static json_t *ccds_json(const struct host_topology *topology, struct arena *arena)
{
	json_t *list = json_array();

	for (int i = 0; i < topology->ccd_count; i++) {
		const struct topology_ccd *ccd = &topology->ccds[i];
		json_t *l3s = json_array();

		for (int j = 0; j < topology->l3_count; j++)
			if (topology->l3s[j].ccd == i)
				json_array_append_new(l3s, json_integer(j));
		json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o}", "index", i, "package",
						      index_or_null(ccd->package), "cpus",
						      set_or_null(arena, &ccd->cpus), "l3s", l3s));
	}
	return list;
}

static json_t *l3s_json(const struct host_topology *topology, struct arena *arena)
{
	json_t *list = json_array();

	for (int i = 0; i < topology->l3_count; i++) {
		const struct topology_l3 *l3 = &topology->l3s[i];

		json_array_append_new(
		    list,
		    json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "index", i, "id", index_or_null(l3->id),
			      "size_kib", index_or_null(l3->size_kib), "cpus", set_or_null(arena, &l3->cpus), "package",
			      index_or_null(l3->package), "ccd", index_or_null(l3->ccd), "nodes",
			      set_or_null(arena, topology->node_known ? &l3->nodes : NULL), "cores",
			      number_or_null(topology->core_known, l3->core_count), "large", l3->large));
	}
	return list;
}

static json_t *cores_json(const struct host *host, struct arena *arena)
{
	const struct host_topology *topology = &host->topology;
	json_t *list = json_array();

	for (int i = 0; i < topology->core_count; i++) {
		const struct topology_core *core = &topology->cores[i];
		json_t *threads = json_array();
		struct cpuset nodes = {0};
		int64_t rank = -1;

		CPUSET_FOREACH (cpu, &core->cpus) {
			int node = topology_node_of(topology, cpu);

			json_array_append_new(threads, json_integer(cpu));
			if (node >= 0)
				cpuset_add(&nodes, topology->nodes[node].os_node);
			rank = MAX_OF(rank, report_core_rank(host, cpu));
		}
		json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "index", i, "os",
						      index_or_null(core->os_core_id), "cpus",
						      set_or_null(arena, &core->cpus), "threads", threads, "l3",
						      index_or_null(core->l3), "ccd", index_or_null(core->ccd),
						      "package", index_or_null(core->package), "nodes",
						      set_or_null(arena, cpuset_empty(&nodes) ? NULL : &nodes), "rank",
						      index_or_null(rank)));
	}
	return list;
}

static json_t *counts_json(const struct host_topology *topology)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "packages",
			 number_or_null(topology->package_count > 0, topology->package_count), "nodes",
			 number_or_null(topology->node_known, topology->node_count), "ccds",
			 number_or_null(topology->ccd_count > 0, topology->ccd_count), "l3s",
			 number_or_null(topology->l3_known, topology->l3_count), "cores",
			 number_or_null(topology->core_known, topology->core_count), "threads",
			 number_or_null(topology->thread_count > 0, topology->thread_count));
}

static json_t *cpus_json(const struct host *host, struct arena *arena)
{
	const struct host_cpu *cpu = &host->cpu;
	struct cpuset off = host_cpu_switched_off(host);
	bool off_known = fact_known(&cpu->present) && fact_known(&cpu->online);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "online", fact_set(arena, &cpu->online), "present",
			 fact_set(arena, &cpu->present), "possible", fact_set(arena, &cpu->possible), "switched_off",
			 set_or_null(arena, off_known ? &off : NULL), "isolated", fact_set(arena, &cpu->isolated),
			 "nohz_full", fact_set(arena, &cpu->nohz_full));
}

json_t *report_topology_json(const struct host *host)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	const struct host_topology *topology = &host->topology;
	json_t *json = report_json_start("show", host), *shape = json_object();

	json_object_set_new(shape, "state", report_json_fact(&topology->state));
	json_object_set_new(shape, "counts", counts_json(topology));
	json_object_set_new(shape, "threads_per_core",
			    number_or_null(topology->threads_per_core > 0, topology->threads_per_core));
	json_object_set_new(shape, "nps", report_json_fact(&topology->nps));
	json_object_set_new(shape, "l3_as_numa", report_json_fact(&topology->l3_as_numa));
	json_object_set_new(shape, "ccd_source", text_or_null(topology->ccd_source));
	json_object_set_new(shape, "l3_conflict", text_or_null(topology->l3_conflict));
	json_object_set_new(shape, "node_conflict", text_or_null(topology->node_conflict));
	json_object_set_new(shape, "x3d", json_boolean(topology->x3d));
	json_object_set_new(shape, "large_l3_cpus", set_or_null(arena, &topology->large_l3_cpus));
	json_object_set_new(shape, "cpus", cpus_json(host, arena));
	json_object_set_new(shape, "packages", packages_json(topology, arena));
	json_object_set_new(shape, "nodes", nodes_json(topology, arena));
	json_object_set_new(shape, "ccds", ccds_json(topology, arena));
	json_object_set_new(shape, "l3s", l3s_json(topology, arena));
	json_object_set_new(shape, "cores", cores_json(host, arena));
	json_object_set_new(json, "topology", shape);
	return json;
}

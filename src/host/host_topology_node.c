/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns NUMA nodes: what sysfs says of them, how they lie to packages and L3 groups, and what BIOS settings (NPS, L3 as
 * NUMA domain) they betray.
 */
#include "host_topology_internal.h"
#include "text.h"

#define NODE_DIR "/sys/devices/system/node"

/* "Node 0 MemTotal:       82336776 kB" */
static struct fact read_meminfo(struct host *host, int os_node, const char *key, const char *name)
{
	const struct sys_look *look = sys_read(host->sys, NODE_DIR "/node%d/meminfo", os_node);
	const char *at = look->state == SYS_VALUE ? strstr(look->data, key) : NULL;
	char number[24] = "";
	int64_t value;

	if (look->state != SYS_VALUE)
		return fact_of_look(name, look);
	if (!at)
		return fact_absent(name, look->path);
	at += strlen(key);
	at += strspn(at, " ");
	size_t length = strspn(at, "0123456789");

	memcpy(number, at, MIN_OF(length, sizeof(number) - 1));
	if (text_int(number, 10, &value) < 0)
		return fact_implausible(name, look->path, arena_strdup(host->arena, number), "not a number");
	return fact_number(name, UNIT_KIB, value, look->path);
}

/* Whole machine's /proc/meminfo, for one node whose own file is not there. */
static struct fact read_total(struct host *host, const char *key, const char *name)
{
	const struct sys_look *look = sys_read(host->sys, "/proc/meminfo");
	const char *at = look->state == SYS_VALUE ? strstr(look->data, key) : NULL;

	return at ? fact_number(name, UNIT_KIB, strtoll(at + strlen(key), NULL, 10), "/proc/meminfo")
		  : fact_of_look(name, look);
}

static const int *read_distances(struct host *host, int os_node, int count)
{
	const struct sys_look *look = sys_read(host->sys, NODE_DIR "/node%d/distance", os_node);

	if (look->state != SYS_VALUE)
		return NULL;
	int *distances = ARENA_ARRAY(host->arena, (size_t)count, int);
	const char *at = look->data;

	for (int i = 0; i < count; i++) {
		char *end;
		long distance = strtol(at, &end, 10);

		if (end == at || distance < 0 || distance > 255)
			return NULL;
		distances[i] = (int)distance;
		at = end;
	}
	return distances;
}

static struct cpuset read_node_cpus(struct host *host, int os_node, const struct cpuset *online)
{
	struct fact list =
	    fact_read_cpus(host->arena, host->sys, "topology.node.cpus", NODE_DIR "/node%d/cpulist", os_node);
	struct cpuset cpus = {0};

	if (fact_known(&list))
		return cpuset_and(list.cpus, online);
	/* Some captures have only the mask. */
	const struct sys_look *mask = sys_read(host->sys, NODE_DIR "/node%d/cpumap", os_node);

	if (mask->state != SYS_VALUE || cpuset_parse_mask(mask->data, &cpus, NULL) < 0)
		return (struct cpuset){0};
	return cpuset_and(&cpus, online);
}

static bool find_nodes(struct host *host, struct cpuset *ret)
{
	struct fact online = fact_read_nodes(host->arena, host->sys, "topology.nodes", NODE_DIR "/online");

	if (fact_known(&online) && !cpuset_empty(online.cpus)) {
		*ret = *online.cpus;
		return true;
	}
	const struct sys_look *names = sys_list(host->sys, NODE_DIR);

	*ret = (struct cpuset){0};
	for (size_t i = 0; names->state == SYS_VALUE && i < names->size; i++) {
		int64_t number;

		if (text_starts(names->names[i], "node") && text_int(names->names[i] + 4, 10, &number) == 0 &&
		    number >= 0 && number < CPUSET_MAX)
			cpuset_add(ret, (int)number);
	}
	return !cpuset_empty(ret);
}

void topology_read_nodes(struct host *host)
{
	struct host_topology *facts = &host->topology;
	struct cpuset nodes, online = {0};
	int count;

	if (!find_nodes(host, &nodes))
		return;
	struct fact with_memory =
	    fact_read_nodes(host->arena, host->sys, "topology.has_memory", NODE_DIR "/has_memory");

	for (int cpu = 0; cpu < facts->cpu_count; cpu++)
		if (facts->cpus[cpu].known)
			cpuset_add(&online, cpu);
	count = cpuset_count(&nodes);
	facts->nodes = ARENA_ARRAY(host->arena, (size_t)count, struct topology_node);
	CPUSET_FOREACH (os_node, &nodes) {
		struct topology_node *node = &facts->nodes[facts->node_count++];

		node->os_node = os_node;
		node->cpus = read_node_cpus(host, os_node, &online);
		node->memory_kib = read_meminfo(host, os_node, "MemTotal:", "topology.node.memory");
		node->free_kib = read_meminfo(host, os_node, "MemFree:", "topology.node.free");
		node->distances = read_distances(host, os_node, count);
		if (node->memory_kib.state == FACT_ABSENT && fact_known(&with_memory) &&
		    !cpuset_has(with_memory.cpus, os_node))
			node->memory_kib = fact_number("topology.node.memory", UNIT_KIB, 0, with_memory.source);
	}
	if (count == 1 && facts->nodes[0].memory_kib.state == FACT_ABSENT) {
		facts->nodes[0].memory_kib = read_total(host, "MemTotal:", "topology.node.memory");
		facts->nodes[0].free_kib = read_total(host, "MemFree:", "topology.node.free");
	}
	facts->node_known = true;
}

/* ---- how they lie ---- */

static const char *package_list(const struct host *host, const struct cpuset *packages)
{
	struct cpuset os = {0};

	CPUSET_FOREACH (package, packages) {
		cpuset_add(&os, host->topology.packages[package].os_package);
	}
	return cpuset_format(host->arena, &os);
}

static void index_nodes(struct host *host)
{
	struct host_topology *facts = &host->topology;
	struct cpuset twice = {0};

	for (int i = 0; i < facts->node_count; i++) {
		struct topology_node *node = &facts->nodes[i];

		node->memoryless = fact_is_number(&node->memory_kib, 0);
		CPUSET_FOREACH (cpu, &node->cpus) {
			if (cpu >= facts->cpu_count)
				break;
			struct topology_cpu *entry = &facts->cpus[cpu];

			if (entry->node >= 0)
				cpuset_add(&twice, cpu);
			else
				entry->node = i;
			if (entry->package >= 0)
				cpuset_add(&node->packages, entry->package);
			if (entry->l3 >= 0)
				cpuset_add(&facts->l3s[entry->l3].nodes, node->os_node);
		}
	}
	if (!cpuset_empty(&twice))
		facts->node_conflict = arena_printf(host->arena, "CPUs %s are listed in more than one node",
						    cpuset_format(host->arena, &twice));
}

/* Does each package consist of whole nodes, or all packages of one? NPS0 makes one node of both sockets. */
static void find_conflicts(struct host *host)
{
	struct host_topology *facts = &host->topology;
	int spanning = 0, with_cpus = 0;
	const char *conflict = facts->node_conflict;

	for (int i = 0; i < facts->node_count; i++) {
		const struct topology_node *node = &facts->nodes[i];

		if (cpuset_empty(&node->cpus))
			continue;
		with_cpus++;
		if (cpuset_count(&node->packages) < 2)
			continue;
		spanning++;
		conflict = arena_printf(host->arena, "%s%snode %d holds CPUs of packages %s", conflict ? conflict : "",
					conflict ? "; " : "", node->os_node, package_list(host, &node->packages));
	}
	if (spanning == 1 && with_cpus == 1)
		conflict = facts->node_conflict; /* one node for all: NPS0, no contradiction */
	/* Sub-NUMA clusters of Intel parts do cut an L3; no setting of AMD's does. */
	for (int i = 0; i < facts->l3_count && (host_is_amd(host) || host_is_guest(host)); i++) {
		const struct topology_l3 *l3 = &facts->l3s[i];

		if (cpuset_count(&l3->nodes) > 1)
			conflict =
			    arena_printf(host->arena, "%s%sthe L3 of CPUs %s lies in nodes %s",
					 conflict ? conflict : "", conflict ? "; " : "",
					 cpuset_format(host->arena, &l3->cpus), cpuset_format(host->arena, &l3->nodes));
	}
	facts->node_conflict = conflict;
}

static bool is_one_l3(const struct host_topology *facts, const struct topology_node *node)
{
	int l3 = facts->cpus[cpuset_first(&node->cpus)].l3;

	return l3 >= 0 && cpuset_equal(&node->cpus, &facts->l3s[l3].cpus);
}

static struct fact unknown_setting(const struct fact *fact, const char *note)
{
	struct fact unknown = fact_absent(fact->name, fact->source);

	unknown.note = note;
	return unknown;
}

/*
 * NPS is inferred from nodes per package, cross-checked with the L3 groups: a node count alone is wrong where "ACPI
 * SRAT L3 cache as NUMA domain" is on, which makes one node of each L3 group (weka issue 296). With two or four L3
 * groups in a package both settings look alike in sysfs, so then neither is claimed.
 */
static void infer_settings(struct host *host)
{
	struct host_topology *facts = &host->topology;
	int per_package = -1, with_cpus = 0, equal_to_l3 = 0;
	bool even = true;

	for (int package = 0; package < facts->package_count; package++) {
		int nodes = 0;

		for (int i = 0; i < facts->node_count; i++)
			nodes += cpuset_has(&facts->nodes[i].packages, package);
		even = even && (per_package < 0 || per_package == nodes);
		per_package = nodes;
	}
	for (int i = 0; i < facts->node_count; i++) {
		if (cpuset_empty(&facts->nodes[i].cpus))
			continue;
		with_cpus++;
		equal_to_l3 += is_one_l3(facts, &facts->nodes[i]);
	}

	const char *why = NULL;

	if (!facts->node_known)
		why = "the kernel shows no NUMA nodes";
	else if (host_is_guest(host))
		why = "a guest sees the nodes that its hypervisor made";
	else if (host->cpu.zen == ZEN_NONE)
		why = "not known to be a Zen part";
	else if (!fact_known(&host->cpu.flags) && (host->kind == HOST_HWLOC_XML || host->kind == HOST_SYNTHETIC))
		why = "whether this is a guest is not known, and a guest's nodes are its hypervisor's";
	else if (facts->node_conflict || !even || per_package < 1)
		why = "nodes and packages do not fit each other";
	else if (!facts->l3_known)
		why = "L3 groups are not known";
	if (why) {
		facts->nps = unknown_setting(&facts->nps, why);
		facts->l3_as_numa = unknown_setting(&facts->l3_as_numa, why);
		return;
	}

	bool each_is_l3 = equal_to_l3 == with_cpus && per_package > 1;

	if (with_cpus == 1 && facts->package_count > 1) {
		facts->nps = fact_number(facts->nps.name, UNIT_NONE, 0, facts->nps.source);
		facts->l3_as_numa = fact_switch(facts->l3_as_numa.name, false, facts->l3_as_numa.source);
	} else if (each_is_l3 && per_package != 2 && per_package != 4) {
		facts->l3_as_numa = fact_switch(facts->l3_as_numa.name, true, facts->l3_as_numa.source);
		facts->nps = unknown_setting(&facts->nps, "hidden by L3 as NUMA domain, which is on");
	} else if (each_is_l3) {
		why = "each node is one L3 group: NPS or L3 as NUMA domain, both look alike";
		facts->nps = unknown_setting(&facts->nps, why);
		facts->l3_as_numa = unknown_setting(&facts->l3_as_numa, why);
	} else if (per_package != 1 && per_package != 2 && per_package != 4) {
		facts->nps = unknown_setting(&facts->nps, "no NPS setting gives this number of nodes");
		facts->l3_as_numa = fact_switch(facts->l3_as_numa.name, false, facts->l3_as_numa.source);
	} else {
		facts->nps = host_cpu_is_desktop(&host->cpu)
				 ? unknown_setting(&facts->nps, "a setting of EPYC and Threadripper")
				 : fact_number(facts->nps.name, UNIT_NONE, per_package, facts->nps.source);
		if (facts->l3_count > facts->package_count)
			facts->l3_as_numa = fact_switch(facts->l3_as_numa.name, false, facts->l3_as_numa.source);
		else
			facts->l3_as_numa =
			    unknown_setting(&facts->l3_as_numa, "one L3 group per package: no difference");
	}
}

void topology_judge_nodes(struct host *host)
{
	index_nodes(host);
	find_conflicts(host);
	infer_settings(host);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the nesting in which a topology is drawn, and what is said beside the picture. */
#include "report_topology.h"
#include "text.h"

int64_t report_core_rank(const struct host *host, int cpu)
{
	const struct host_cpufreq *cpufreq = &host->cpufreq;

	for (int i = 0; i < cpufreq->policy_count; i++)
		if (cpuset_has(&cpufreq->policies[i].cpus, cpu))
			return fact_number_or(&cpufreq->policies[i].prefcore_ranking, -1);
	return -1;
}

const char *report_group_word(const struct host *host)
{
	return host->cpu.zen != ZEN_NONE ? "CCX" : "L3";
}

/* ---- nesting ---- */

static void fill_columns(struct arena *arena, const struct host_topology *topology, struct layout_group *group)
{
	int room = cpuset_count(&group->cpus), count = 0;
	struct cpuset *columns = ARENA_ARRAY(arena, (size_t)room, struct cpuset);
	struct cpuset left = group->cpus;

	CPUSET_FOREACH (cpu, &group->cpus) {
		int core = topology_core_of(topology, cpu);

		if (!cpuset_has(&left, cpu))
			continue;
		columns[count] = core >= 0 ? cpuset_and(&topology->cores[core].cpus, &left) : cpuset_range(cpu, cpu);
		left = cpuset_minus(&left, &columns[count]);
		group->threads = MAX_OF(group->threads, cpuset_count(&columns[count]));
		count++;
	}
	group->columns = columns;
	group->column_count = count;
}

static void fill_section(struct arena *arena, const struct host_topology *topology, const struct cpuset *cpus,
			 struct layout_section *section)
{
	struct cpuset left = *cpus;

	section->groups = ARENA_ARRAY(arena, (size_t)topology->l3_count + 1, struct layout_group);
	for (int i = 0; i < topology->l3_count; i++) {
		struct layout_group *group = &section->groups[section->group_count];

		group->cpus = cpuset_and(&topology->l3s[i].cpus, &left);
		if (cpuset_empty(&group->cpus))
			continue;
		left = cpuset_minus(&left, &group->cpus);
		group->l3 = i;
		section->group_count++;
	}
	if (!cpuset_empty(&left))
		section->groups[section->group_count++] = (struct layout_group){.l3 = -1, .cpus = left};
	for (int i = 0; i < section->group_count; i++)
		fill_columns(arena, topology, &section->groups[i]);
}

static bool nodes_are_nested(const struct host_topology *topology)
{
	if (!topology->node_known || topology->node_conflict || topology->package_count == 0)
		return false;
	for (int i = 0; i < topology->node_count; i++) {
		const struct topology_node *node = &topology->nodes[i];

		if (!cpuset_empty(&node->cpus) && cpuset_count(&node->packages) != 1)
			return false;
	}
	for (int cpu = 0; cpu < topology->cpu_count; cpu++)
		if (topology->cpus[cpu].known && topology->cpus[cpu].node < 0)
			return false;
	return true;
}

static void fill_package(struct arena *arena, const struct host_topology *topology, const struct layout *layout,
			 const struct cpuset *cpus, struct layout_package *package)
{
	package->sections = ARENA_ARRAY(arena, (size_t)topology->node_count + 1, struct layout_section);
	for (int i = 0; layout->nodes_nested && i < topology->node_count; i++) {
		struct cpuset part = cpuset_and(&topology->nodes[i].cpus, cpus);

		if (cpuset_empty(&part))
			continue;
		struct layout_section *section = &package->sections[package->section_count++];

		section->node = i;
		fill_section(arena, topology, &part, section);
	}
	if (package->section_count == 0) {
		package->sections[0].node = -1;
		package->section_count = 1;
		fill_section(arena, topology, cpus, &package->sections[0]);
	}
}

static bool each_node_is_one_group(const struct layout *layout)
{
	bool several = false;

	for (int i = 0; i < layout->package_count; i++) {
		several |= layout->packages[i].section_count > 1;
		for (int j = 0; j < layout->packages[i].section_count; j++)
			if (layout->packages[i].sections[j].group_count != 1)
				return false;
	}
	return several && layout->nodes_nested;
}

static void find_preferred(const struct host *host, struct layout *layout)
{
	int64_t least = INT64_MAX, most = -1;
	const struct cpuset *online = host_cpu_online(host);

	for (int i = 0; i < host->cpufreq.policy_count; i++) {
		int64_t rank = fact_number_or(&host->cpufreq.policies[i].prefcore_ranking, -1);

		if (rank < 0)
			return;
		least = MIN_OF(least, rank);
		most = MAX_OF(most, rank);
	}
	if (most <= least)
		return;
	layout->top_rank = most;
	for (int i = 0; i < host->cpufreq.policy_count; i++) {
		const struct cpufreq_policy *policy = &host->cpufreq.policies[i];

		if (fact_is_number(&policy->prefcore_ranking, most))
			layout->preferred = cpuset_or(&layout->preferred, &policy->cpus);
	}
	layout->preferred = cpuset_and(&layout->preferred, online);
}

const struct layout *report_layout(struct arena *arena, const struct host *host)
{
	const struct host_topology *topology = &host->topology;
	struct layout *layout = ARENA_NEW(arena, struct layout);
	struct cpuset left = {0};

	for (int cpu = 0; cpu < topology->cpu_count; cpu++)
		if (topology->cpus[cpu].known)
			cpuset_add(&left, cpu);
	layout->nodes_nested = nodes_are_nested(topology);
	layout->packages = ARENA_ARRAY(arena, (size_t)topology->package_count + 1, struct layout_package);
	for (int i = 0; i < topology->package_count; i++) {
		struct layout_package *package = &layout->packages[layout->package_count++];

		package->package = i;
		fill_package(arena, topology, layout, &topology->packages[i].cpus, package);
		left = cpuset_minus(&left, &topology->packages[i].cpus);
	}
	if (!cpuset_empty(&left)) {
		struct layout_package *package = &layout->packages[layout->package_count++];

		package->package = -1;
		fill_package(arena, topology, layout, &left, package);
	}
	layout->node_is_group = each_node_is_one_group(layout);
	if (fact_known(&host->cpu.isolated))
		layout->isolated = *host->cpu.isolated.cpus;
	find_preferred(host, layout);
	return layout;
}

/* ---- texts ---- */

const char *report_node_memory(struct arena *arena, const struct topology_node *node)
{
	if (node->memoryless)
		return "no memory";
	if (!fact_known(&node->memory_kib))
		return NULL;
	const char *total = text_kib(arena, node->memory_kib.number);

	return fact_known(&node->free_kib)
		   ? arena_printf(arena, "%s, %s free", total, text_kib(arena, node->free_kib.number))
		   : total;
}

struct range {
	int least, most;
};

static void widen(struct range *range, int value)
{
	range->least = range->most < 0 ? value : MIN_OF(range->least, value);
	range->most = MAX_OF(range->most, value);
}

static void add_range(struct arena *arena, const char **text, const struct range *range, const char *what)
{
	if (range->most < 0)
		return;
	const char *figure = range->least == range->most ? arena_printf(arena, "%d", range->most)
							 : arena_printf(arena, "%d to %d", range->least, range->most);

	*text = arena_printf(arena, "%s%s%s %s", *text, **text ? ", " : "", figure, what);
}

const char *report_distances(struct arena *arena, const struct host *host)
{
	const struct host_topology *topology = &host->topology;
	struct range own = {0, -1}, near = {0, -1}, far = {0, -1}, empty = {0, -1};
	const char *text = "";

	if (topology->node_count < 2)
		return NULL;
	for (int i = 0; i < topology->node_count; i++) {
		const struct topology_node *from = &topology->nodes[i];

		if (!from->distances)
			return NULL;
		for (int j = 0; j < topology->node_count; j++) {
			const struct topology_node *to = &topology->nodes[j];

			if (i == j)
				widen(&own, from->distances[j]);
			else if (cpuset_empty(&from->cpus) || cpuset_empty(&to->cpus))
				widen(&empty, from->distances[j]);
			else if (cpuset_meets(&from->packages, &to->packages))
				widen(&near, from->distances[j]);
			else
				widen(&far, from->distances[j]);
		}
	}
	add_range(arena, &text, &own, "inside a node");
	add_range(arena, &text, &near, "to another node of the package");
	add_range(arena, &text, &far, "to another package");
	add_range(arena, &text, &empty, "to nodes without CPUs");
	return text;
}

static void add_remark(struct arena *arena, const char ***list, int *count, const char *text)
{
	enum { MOST_REMARKS = 12 };

	if (!*list)
		*list = ARENA_ARRAY(arena, MOST_REMARKS + 1, const char *);
	if (text && *count < MOST_REMARKS)
		(*list)[(*count)++] = text;
}

static const char *ccd_remark(struct arena *arena, const struct host *host)
{
	const struct host_topology *topology = &host->topology;

	if (topology->ccd_count > 1 && topology->ccd_count == topology->l3_count)
		return arena_printf(arena, "Each CCX is a CCD of its own (%s).", topology->ccd_source);
	if (topology->ccd_count == 1)
		return arena_printf(arena, "All CCXs are on one die (%s).", topology->ccd_source);
	if (topology->ccd_count)
		return arena_printf(arena, "%d CCDs (%s).", topology->ccd_count, topology->ccd_source);
	return NULL;
}

const char *const *report_remarks(struct arena *arena, const struct host *host)
{
	const struct host_topology *topology = &host->topology;
	const char **list = NULL;
	int count = 0;

	add_remark(arena, &list, &count, NULL);
	if (host_is_guest(host))
		add_remark(arena, &list, &count, "This host is a guest: all of this is what its hypervisor tells.");
	if (topology->package_count == 0)
		add_remark(arena, &list, &count, "Packages are not known.");
	if (!topology->node_known)
		add_remark(arena, &list, &count, "NUMA nodes are not known.");
	if (!topology->l3_known)
		add_remark(arena, &list, &count, "The L3 layout is not known.");
	if (!topology->core_known)
		add_remark(arena, &list, &count, "Sibling threads are not known: every CPU is drawn by itself.");
	if (topology->l3_conflict)
		add_remark(arena, &list, &count, arena_printf(arena, "L3: %s.", topology->l3_conflict));
	if (topology->node_conflict)
		add_remark(arena, &list, &count, arena_printf(arena, "Nodes: %s.", topology->node_conflict));
	add_remark(arena, &list, &count, ccd_remark(arena, host));
	return list;
}

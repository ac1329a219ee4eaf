/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns finding CCDs: by the kernel's die_id where that means them, else by what is fixed for a generation.
 *
 * CPUID leaf 0x80000026 is not read. CPUs that have it (Zen 4 and later) get it as die_id from Linux 6.9 on, and but
 * for Zen 4c each of their L3 groups is a CCD anyway: for EPYC 97x4 and 8004 on an older kernel alone it would tell
 * more, at the price of root, of a module that is not loaded by itself, and of an interrupt to every idle CPU.
 */
#include <stdlib.h>

#include "host_topology_internal.h"

static int compare_dies(const void *a, const void *b)
{
	const struct topology_die *one = a, *other = b;

	return cpuset_first(&one->cpus) - cpuset_first(&other->cpus);
}

/*
 * die_id is a CCD only on some kernels and parts: since 6.9 on CPUs with CPUID leaf 0x80000026, and by node id on Zen 1
 * before. Elsewhere die = package. So dies are believed when each is less than its package and holds whole L3 groups.
 */
static bool dies_are_ccds(const struct host_topology *facts, const struct topology_die *dies, int count)
{
	struct cpuset all = {0};

	for (int i = 0; i < count; i++) {
		int package = facts->cpus[cpuset_first(&dies[i].cpus)].package;

		if (package < 0 || !cpuset_subset(&dies[i].cpus, &facts->packages[package].cpus) ||
		    cpuset_equal(&dies[i].cpus, &facts->packages[package].cpus) || cpuset_meets(&all, &dies[i].cpus) ||
		    topology_split_l3s(facts, &dies[i].cpus))
			return false;
		all = cpuset_or(&all, &dies[i].cpus);
	}
	return count > 0 && cpuset_count(&all) == facts->thread_count;
}

static void set_ccds(struct host *host, const struct topology_die *dies, int count)
{
	struct host_topology *facts = &host->topology;

	facts->ccds = ARENA_ARRAY(host->arena, (size_t)count, struct topology_ccd);
	facts->ccd_count = count;
	for (int i = 0; i < count; i++) {
		struct topology_ccd *ccd = &facts->ccds[i];

		ccd->cpus = dies[i].cpus;
		ccd->package = facts->cpus[cpuset_first(&ccd->cpus)].package;
		CPUSET_FOREACH (cpu, &ccd->cpus) {
			facts->cpus[cpu].ccd = i;
			if (facts->cpus[cpu].core >= 0)
				facts->cores[facts->cpus[cpu].core].ccd = i;
		}
		if (ccd->package >= 0)
			facts->packages[ccd->package].ccd_count++;
	}
	for (int i = 0; i < facts->l3_count; i++) {
		facts->l3s[i].ccd = facts->cpus[cpuset_first(&facts->l3s[i].cpus)].ccd;
		if (facts->l3s[i].ccd >= 0)
			facts->ccds[facts->l3s[i].ccd].l3_count++;
	}
}

/* Is it known that this is no guest? Of a topology alone it is not: the flag that tells is missing. */
static bool is_metal(const struct host *host)
{
	return fact_known(&host->cpu.flags) && !host_is_guest(host);
}

/*
 * On Zen 1 and Zen+ each die has its own memory controllers. Four nodes in a package are therefore its four dies, of
 * which no part has more; and a desktop part (Ryzen, not Threadripper) has one die.
 */
void topology_find_zen1_dies(struct host *host)
{
	struct host_topology *facts = &host->topology;
	int count = 0;

	if (facts->ccd_count || !is_metal(host) || !facts->l3_known || !facts->package_count ||
	    (host->cpu.zen != ZEN_1 && host->cpu.zen != ZEN_PLUS))
		return;
	struct topology_die *dies =
	    ARENA_ARRAY(host->arena, (size_t)MAX_OF(facts->node_count, facts->package_count), struct topology_die);

	if (host_cpu_is_desktop(&host->cpu)) {
		for (; count < facts->package_count; count++)
			dies[count].cpus = facts->packages[count].cpus;
		set_ccds(host, dies, count);
		facts->ccd_source = arena_printf(host->arena, "one die each on a desktop %s", host->cpu.zen_name);
	} else if (facts->node_known && !facts->node_conflict && facts->node_count == 4 * facts->package_count) {
		for (; count < facts->node_count; count++) {
			if (cpuset_empty(&facts->nodes[count].cpus))
				return;
			dies[count].cpus = facts->nodes[count].cpus;
		}
		if (!dies_are_ccds(facts, dies, count))
			return;
		set_ccds(host, dies, count);
		facts->ccd_source =
		    arena_printf(host->arena, "four nodes a package are its dies on %s", host->cpu.zen_name);
	}
}

void topology_find_ccds(struct host *host, struct topology_gather *gather)
{
	struct host_topology *facts = &host->topology;

	for (int i = 0; i < facts->l3_count; i++)
		facts->l3s[i].ccd = -1;
	if (!facts->l3_known || !host_is_amd(host))
		return;
	if (gather->die_count)
		qsort(gather->dies, (size_t)gather->die_count, sizeof(*gather->dies), compare_dies);
	if (dies_are_ccds(facts, gather->dies, gather->die_count)) {
		set_ccds(host, gather->dies, gather->die_count);
		facts->ccd_source = "die_id of the kernel";
	} else if (host->cpu.one_l3_per_ccd && is_metal(host)) {
		struct topology_die *dies = ARENA_ARRAY(host->arena, (size_t)facts->l3_count, struct topology_die);

		for (int i = 0; i < facts->l3_count; i++)
			dies[i].cpus = facts->l3s[i].cpus;
		set_ccds(host, dies, facts->l3_count);
		facts->ccd_source = arena_printf(
		    host->arena, "one L3 group each on %s%s%s%s", host->cpu.zen_name, host->cpu.codename ? " (" : "",
		    host->cpu.codename ? host->cpu.codename : "", host->cpu.codename ? ")" : "");
	}
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns whole cores, the CCXs that they make, and what of them stays with the host.
 */
#include <errno.h>

#include "place_shape.h"

enum { LARGE_NODE_CORES = 64 };

void shape_note(struct place_shape *shape, const char *format, ...)
{
	va_list arguments;

	if (shape->note_count == shape->note_room) {
		const char **notes = ARENA_ARRAY(shape->arena, (size_t)shape->note_room * 2 + 8, const char *);

		for (int i = 0; i < shape->note_count; i++)
			notes[i] = shape->notes[i];
		shape->notes = notes;
		shape->note_room = shape->note_room * 2 + 8;
	}
	va_start(arguments, format);
	shape->notes[shape->note_count++] = arena_vprintf(shape->arena, format, arguments);
	va_end(arguments);
}

static int rank_of(const struct host *host, int cpu)
{
	for (int i = 0; i < host->cpufreq.policy_count; i++) {
		const struct cpufreq_policy *policy = &host->cpufreq.policies[i];

		if (cpuset_has(&policy->cpus, cpu))
			return (int)MIN_OF(fact_number_or(&policy->prefcore_ranking, 0), 255);
	}
	return 0;
}

/* The CPUs of a core, first thread first. */
static void order_threads(struct place_shape *shape, struct shape_core *core)
{
	const struct host_topology *topology = &shape->host->topology;

	core->threads = ARENA_ARRAY(shape->arena, (size_t)cpuset_count(&core->cpus), int);
	CPUSET_FOREACH (cpu, &core->cpus) {
		int at = core->thread_count++;

		for (; at > 0 && topology->cpus[core->threads[at - 1]].smt > topology->cpus[cpu].smt; at--)
			core->threads[at] = core->threads[at - 1];
		core->threads[at] = cpu;
	}
}

static int node_of_cpu(const struct place_shape *shape, int cpu)
{
	for (int i = 0; i < shape->node_count; i++) {
		if (cpuset_has(&shape->host_nodes[i].cpus, cpu))
			return i;
	}
	return -1;
}

/* The CCX of a core: its L3 in its node; the node alone where L3 is not known. */
static int ccx_of(struct place_shape *shape, const struct topology_core *core, int node)
{
	const struct host_topology *topology = &shape->host->topology;
	int l3 = topology->l3_known ? core->l3 : -1;
	struct place_ccx *ccx = NULL;

	for (int i = 0; i < shape->ccx_count; i++) {
		if (shape->ccx_l3[i] == l3 && shape->ccxs[i].node == node)
			return i;
	}
	if (shape->ccx_count == PLACE_CCX_MAX)
		return -1;
	ccx = &shape->ccxs[shape->ccx_count];
	*ccx = (struct place_ccx){.node = node, .socket = shape->nodes[node].socket, .quadrant = -1, .ccd = -1};
	if (l3 >= 0 && topology->ccd_count > 0 && core->ccd < PLACE_CCX_MAX)
		ccx->ccd = core->ccd;
	if (l3 >= 0 && topology->x3d)
		ccx->class = topology->l3s[l3].large ? PLACE_CLASS_CACHE : PLACE_CLASS_FREQUENCY;
	shape->ccx_l3[shape->ccx_count] = l3;
	return shape->ccx_count++;
}

int shape_read_cores(struct place_shape *shape, struct err *err)
{
	const struct host_topology *topology = &shape->host->topology;
	const struct cpuset *allowed = &shape->wishes->allowed;
	int broken = 0;

	shape->threads_per_core = MAX_OF(topology->threads_per_core, 1);
	shape->cores = ARENA_ARRAY(shape->arena, (size_t)topology->core_count, struct shape_core);
	shape->ccxs = ARENA_ARRAY(shape->arena, PLACE_CCX_MAX, struct place_ccx);
	shape->ccx_cpus = ARENA_ARRAY(shape->arena, PLACE_CCX_MAX, struct cpuset);
	shape->ccx_l3 = ARENA_ARRAY(shape->arena, PLACE_CCX_MAX, int);
	for (int i = 0; i < topology->core_count; i++) {
		const struct topology_core *from = &topology->cores[i];
		struct shape_core *core = &shape->cores[shape->core_count];
		int node = node_of_cpu(shape, cpuset_first(&from->cpus));

		if (!cpuset_empty(allowed) && !cpuset_subset(&from->cpus, allowed))
			continue;
		if (cpuset_count(&from->cpus) != shape->threads_per_core || node < 0) {
			broken++;
			continue;
		}
		*core = (struct shape_core){.cpus = from->cpus, .ccx = ccx_of(shape, from, node), .owner = -1};
		if (core->ccx < 0)
			return err_set(err, ENOTSUP, shape->host->name, "more than %d L3 groups", (int)PLACE_CCX_MAX);
		core->rank = rank_of(shape->host, cpuset_first(&from->cpus));
		order_threads(shape, core);
		shape->ccx_cpus[core->ccx] = cpuset_or(&shape->ccx_cpus[core->ccx], &from->cpus);
		shape->core_count++;
	}
	if (broken > 0)
		shape_note(shape, "%d cores have an offline thread or no node: nothing is placed on them", broken);
	if (!topology->l3_known)
		shape_note(shape, "L3 groups are not known: placed by node only");
	return shape->core_count > 0 ? 0 : err_set(err, ENOTSUP, shape->host->name, "no whole core may be used");
}

/* ---- the reserve ---- */

static void reserve_core(struct place_shape *shape, struct shape_core *core)
{
	struct place_host_node *node = &shape->host_nodes[shape->ccxs[core->ccx].node];

	core->reserved = true;
	node->reserve = cpuset_or(&node->reserve, &core->cpus);
	shape->reserve = cpuset_or(&shape->reserve, &core->cpus);
}

static bool reserve_cpus(struct place_shape *shape, const struct cpuset *cpus)
{
	bool any = false;

	for (int i = 0; i < shape->core_count; i++) {
		if (cpuset_meets(&shape->cores[i].cpus, cpus)) {
			reserve_core(shape, &shape->cores[i]);
			any = true;
		}
	}
	return any;
}

/* CPUs near the devices that interrupt most: those of NICs that are up, and NVMe. */
static struct cpuset near_devices(const struct place_shape *shape)
{
	struct cpuset cpus = {0};

	for (int i = 0; i < shape->host->devices.count; i++) {
		const struct device *device = &shape->host->devices.list[i];
		bool busy = (device->class == DEVICE_NIC && device->is_up) || device->class == DEVICE_NVME;

		if (busy && fact_known(&device->local_cpus))
			cpus = cpuset_or(&cpus, device->local_cpus.cpus);
	}
	return cpus;
}

/* The cheapest core to keep: not one of a VM, near the devices, in the first CCX of its node, with the lowest number.
 */
static struct shape_core *best_for_reserve(struct place_shape *shape, int node, const struct cpuset *taken,
					   const struct cpuset *near)
{
	struct shape_core *best = NULL;
	int best_price = 0;

	for (int i = 0; i < shape->core_count; i++) {
		struct shape_core *core = &shape->cores[i];
		int price = (cpuset_meets(&core->cpus, taken) ? 2 : 0) + (cpuset_meets(&core->cpus, near) ? 0 : 1);

		if (shape->ccxs[core->ccx].node != node || core->reserved)
			continue;
		if (!best || price < best_price || (price == best_price && core->ccx < best->ccx)) {
			best = core;
			best_price = price;
		}
	}
	return best;
}

static void reserve_of_nodes(struct place_shape *shape, const struct cpuset *taken)
{
	struct cpuset near = near_devices(shape);
	int wish = shape->wishes->reserve_cores;

	for (int node = 0; node < shape->node_count; node++) {
		int cores = 0, want = wish;

		for (int i = 0; i < shape->core_count; i++)
			cores += shape->ccxs[shape->cores[i].ccx].node == node;
		if (wish < 0)
			want = cores >= LARGE_NODE_CORES ? 2 : 1;
		/* A host with one core has nothing to reserve. */
		for (int i = 0; i < want && i < cores - 1; i++)
			reserve_core(shape, best_for_reserve(shape, node, taken, &near));
	}
	shape->reserve_why = cpuset_empty(&near)
				 ? "whole cores of each node, in its first L3 group"
				 : "whole cores of each node, in its first L3 group near the NICs and NVMe";
}

/* CPUs that isolcpus leaves to the host, when it isolates most of them: those were chosen by hand. */
static bool reserve_unisolated(struct place_shape *shape)
{
	const struct fact *isolated = &shape->host->cpu.isolated;
	struct cpuset all = {0}, left = {0};

	if (!fact_known(isolated) || cpuset_empty(isolated->cpus))
		return false;
	for (int i = 0; i < shape->core_count; i++)
		all = cpuset_or(&all, &shape->cores[i].cpus);
	left = cpuset_minus(&all, isolated->cpus);
	if (cpuset_count(&left) * 2 > cpuset_count(&all)) {
		shape_note(shape,
			   "CPUs %s are isolated at boot: the kernel balances nothing there, which is right for "
			   "vCPUs pinned one to one",
			   cpuset_format(shape->arena, isolated->cpus));
		return false;
	}
	shape->reserve_why = "the CPUs that isolcpus leaves to the host";
	return reserve_cpus(shape, &left);
}

void shape_choose_reserve(struct place_shape *shape, const struct cpuset *taken)
{
	const struct cpuset *wish = &shape->wishes->reserve;

	if (!cpuset_empty(wish)) {
		shape->reserve_why = "as asked for";
		if (!reserve_cpus(shape, wish))
			shape_note(shape, "no core to be used is in the reserve that was asked for");
		return;
	}
	if (shape->wishes->reserve_cores < 0 && reserve_unisolated(shape))
		return;
	reserve_of_nodes(shape, taken);
}

void shape_count_cores(struct place_shape *shape)
{
	for (int i = 0; i < shape->core_count; i++) {
		const struct shape_core *core = &shape->cores[i];
		struct place_ccx *ccx = &shape->ccxs[core->ccx];

		ccx->cores += !core->reserved;
		ccx->free += !core->reserved && !core->kept;
		ccx->kept += core->kept;
	}
}

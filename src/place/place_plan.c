/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns turning counts into CPU numbers: which cores of a CCX, which thread for which vCPU, whose memory on which node
 * of the operating system, and what topology the guest should be shown.
 */
#include "place_plan.h"

static const struct place_request *request_of(const struct planning *planning, int item)
{
	int request = planning->items[item].request;

	return request >= 0 ? &planning->requests[request] : NULL;
}

/* Better cores first: those it has now; for frequency the ranks of preferred cores; then the lowest numbers. */
static bool core_goes_before(const struct planning *planning, int item, const struct shape_core *a,
			     const struct shape_core *b)
{
	const struct place_request *request = request_of(planning, item);

	if (request && request->right != PLACE_NEW) {
		bool one = cpuset_meets(&a->cpus, &request->cpus_now);
		bool other = cpuset_meets(&b->cpus, &request->cpus_now);

		if (one != other)
			return one;
	}
	if (request && request->wish == PLACE_CLASS_FREQUENCY && a->rank != b->rank)
		return a->rank > b->rank;
	return a->threads[0] < b->threads[0];
}

static void own_cores(struct planning *planning, int item, int ccx, int count)
{
	struct place_shape *shape = planning->shape;

	while (count-- > 0) {
		struct shape_core *best = NULL;

		for (int i = 0; i < shape->core_count; i++) {
			struct shape_core *core = &shape->cores[i];

			if (core->ccx != ccx || core->reserved || core->kept || core->owner >= 0)
				continue;
			if (!best || core_goes_before(planning, item, core, best))
				best = core;
		}
		if (!best)
			return; /* the solver gives out no more than is free: not reached */
		best->owner = item;
	}
}

/* VMs that stay first, so that nobody takes the cores that they have; then those that change, then new ones. */
static void own_all(struct planning *planning)
{
	for (int round = 0; round < 3; round++) {
		for (int item = 0; item < planning->item_count; item++) {
			const struct place_vm_result *result = &planning->solution->vms[item];
			bool exists = planning->vms[item].right != PLACE_NEW;
			int when = !exists ? 2 : result->changed ? 1 : 0;

			if (when != round || planning->vms[item].right == PLACE_KEEP)
				continue;
			for (int i = 0; i < result->part_count; i++)
				own_cores(planning, item, result->parts[i].ccx, result->parts[i].cores);
		}
	}
}

/* vCPUs in the order in which a guest numbers them: the threads of a core side by side when it sees threads. */
static void pin_vcpus(struct planning *planning, int item, struct place_vm_plan *plan)
{
	struct place_shape *shape = planning->shape;
	const struct place_vm_result *result = &planning->solution->vms[item];
	int vcpus = plan->request->vcpus, at = 0;
	int *cpus = ARENA_ARRAY(shape->arena, (size_t)vcpus, int);

	for (int part = 0; part < result->part_count; part++) {
		for (int i = 0; i < shape->core_count; i++) {
			const struct shape_core *core = &shape->cores[i];

			if (core->owner != item || core->ccx != result->parts[part].ccx)
				continue;
			for (int thread = 0; thread < core->thread_count; thread++) {
				bool used = at < vcpus && (thread == 0 || plan->request->smt == PLACE_SMT_THREADS);

				if (used)
					cpus[at++] = core->threads[thread];
				cpuset_add(used ? &plan->cpus : &plan->idle_siblings, core->threads[thread]);
			}
		}
	}
	plan->cpus_of_vcpus = cpus;
}

static struct cpuset cpus_of_item(const struct planning *planning, int item)
{
	struct cpuset cpus = {0};

	for (int i = 0; i < planning->shape->core_count; i++) {
		if (planning->shape->cores[i].owner == item)
			cpus = cpuset_or(&cpus, &planning->shape->cores[i].cpus);
	}
	return cpus;
}

/* ---- memory by OS node ---- */

static int64_t take_pages(struct planning *planning, int os, int size, int64_t want)
{
	int64_t *free = &planning->os_free[os][size];

	if (*free == PLACE_MEMORY_UNKNOWN)
		return want;
	want = MIN_OF(want, *free);
	*free -= want;
	return want;
}

/* Pages of a node of the problem over the OS nodes that it is merged of: by the VM's CPUs there first, then where is
 * room. */
static void divide_pages(struct planning *planning, int node, const struct cpuset *cpus, int size, int64_t pages,
			 int64_t *memory_kib)
{
	const struct place_shape *shape = planning->shape;
	struct cpuset here = cpuset_and(cpus, &shape->host_nodes[node].cpus);
	int64_t rest = pages, all = MAX_OF(cpuset_count(&here), 1);

	for (int round = 0; round < 2; round++) {
		for (int os = 0; os < shape->os_node_count && rest > 0; os++) {
			struct cpuset mine = cpuset_and(&here, &shape->os_nodes[os].cpus);
			int64_t share = (pages * cpuset_count(&mine) + all - 1) / all, got = 0;

			if (shape->os_nodes[os].base != node)
				continue;
			got = take_pages(planning, os, size, round == 0 ? MIN_OF(share, rest) : rest);
			memory_kib[os] += got * shape->page_kib[size];
			rest -= got;
		}
	}
}

/* Memory that VMs hold and that is theirs to move is free to be given out; that of others never was. */
static void begin_memory(struct planning *planning)
{
	const struct place_shape *shape = planning->shape;

	planning->os_free = arena_array(shape->arena, (size_t)shape->os_node_count, sizeof(*planning->os_free));
	for (int os = 0; os < shape->os_node_count; os++) {
		for (int size = 0; size < PLACE_PAGE_SIZES; size++)
			planning->os_free[os][size] = shape->os_nodes[os].free_pages[size];
	}
}

/*
 * Memory that stays where it is. A node that the VM has no CPU on, and less than a tenth of its memory, holds stray
 * pages of QEMU's own: those are no reason to let a guest's memory be there. What it has not touched yet comes to the
 * nodes of its CPUs, by their number.
 */
static void keep_memory(const struct place_shape *shape, const struct place_vm_plan *plan, int64_t *memory_kib)
{
	enum { STRAY_PART = 10 };
	const struct place_request *request = plan->request;
	int64_t rest = request->memory_kib;
	int cpus = 0, cpus_seen = 0;

	for (int os = 0; os < shape->os_node_count; os++) {
		struct cpuset here = cpuset_and(&plan->cpus, &shape->os_nodes[os].cpus);
		int64_t now = request->memory_now_kib[os];

		if (!cpuset_empty(&here) || now >= request->memory_kib / STRAY_PART)
			memory_kib[os] = now;
		rest -= memory_kib[os];
		cpus += cpuset_count(&here);
	}
	for (int os = 0; os < shape->os_node_count && rest > 0; os++) {
		struct cpuset here = cpuset_and(&plan->cpus, &shape->os_nodes[os].cpus);
		int64_t before = cpus ? rest * cpus_seen / cpus : 0;

		cpus_seen += cpuset_count(&here);
		memory_kib[os] += cpus ? rest * cpus_seen / cpus - before : 0;
	}
}

static void give_memory(struct planning *planning, int item, struct place_vm_plan *plan, int64_t share, int64_t of)
{
	struct place_shape *shape = planning->shape;
	const struct place_vm_result *result = &planning->solution->vms[item];
	int64_t *memory_kib = ARENA_ARRAY(shape->arena, (size_t)shape->os_node_count, int64_t);
	bool stays = planning->vms[item].right == PLACE_KEEP || planning->vms[item].right == PLACE_REPIN;

	plan->memory_kib = memory_kib;
	plan->memory_stays = stays;
	plan->page_kib = result->page_size >= 0 ? shape->page_kib[result->page_size] : 0;
	if (stays && plan->request->memory_now_kib && shape_as_is(shape))
		keep_memory(shape, plan, memory_kib);
	for (int node = 0; !stays && result->page_size >= 0 && node < shape->node_count; node++) {
		int64_t pages = (result->pages[node] * share + of - 1) / MAX_OF(of, 1);

		if (pages > 0)
			divide_pages(planning, node, &plan->cpus, result->page_size, pages, memory_kib);
	}
	for (int os = 0; os < shape->os_node_count; os++) {
		if (memory_kib[os] > 0)
			cpuset_add(&plan->os_nodes, shape->os_nodes[os].os_node);
	}
}

/* ---- the guest ---- */

static void show_topology(struct planning *planning, int item, struct place_vm_plan *plan)
{
	struct place_shape *shape = planning->shape;
	const struct place_vm_result *result = &planning->solution->vms[item];
	int cores[PLACE_NODES_MAX] = {0}, parts[PLACE_NODES_MAX] = {0};
	bool equal_nodes = true, equal_dies = true;
	int first = -1;

	for (int i = 0; i < result->part_count; i++) {
		int node = shape->ccxs[result->parts[i].ccx].node;

		cores[node] += result->parts[i].cores;
		parts[node]++;
		first = first < 0 ? node : first;
	}
	if (first < 0)
		return;
	for (int node = 0; node < shape->node_count; node++) {
		equal_nodes &= cores[node] == 0 || cores[node] == cores[first];
		equal_dies &= cores[node] == 0 || parts[node] == parts[first];
	}
	plan->threads = plan->request->smt == PLACE_SMT_THREADS ? shape->threads_per_core : 1;
	plan->l3_even = result->even && equal_nodes && equal_dies;
	plan->sockets = equal_nodes ? result->node_count : 1;
	plan->dies = plan->l3_even ? MAX_OF(parts[first], 1) : 1;
	plan->cores = planning->vms[item].cores / (plan->sockets * plan->dies);
	if (plan->request->vcpus != planning->vms[item].cores * plan->threads)
		plan->topology_note =
		    "its vCPUs do not fill whole cores: an even number, or threads=1, makes the guest's "
		    "topology true";
	else if (!equal_nodes)
		plan->topology_note = "its nodes are unequal: show them as NUMA cells of unlike size in one socket";
	else if (!plan->l3_even)
		plan->topology_note = "its L3 groups are unequal: the guest sees one L3 a socket";
}

static void plan_vm(struct planning *planning, int index, struct place_vm_plan *plan)
{
	struct place_shape *shape = planning->shape;
	int item = planning->item_of[index];
	const struct place_vm_result *result = &planning->solution->vms[item];
	const struct place_vm *vm = &planning->vms[item];

	plan->request = &planning->requests[index];
	plan->result = result;
	plan->pool = planning->items[item].pool;
	if (!result->placed)
		return;
	if (plan->pool >= 0) {
		plan->cpus = cpus_of_item(planning, item);
		plan->sockets = plan->dies = plan->threads = 1;
		plan->cores = plan->request->vcpus;
		give_memory(planning, item, plan, plan->request->memory_kib, vm->memory_kib);
	} else if (vm->right == PLACE_KEEP) {
		plan->cpus = plan->request->cpus_now;
		give_memory(planning, item, plan, 1, 1);
	} else {
		pin_vcpus(planning, item, plan);
		show_topology(planning, item, plan);
		give_memory(planning, item, plan, 1, 1);
	}
	for (int i = 0; i < result->part_count; i++) {
		const struct place_host_node *node = &shape->host_nodes[shape->ccxs[result->parts[i].ccx].node];

		plan->service = cpuset_or(&plan->service, &node->reserve);
	}
	if (cpuset_empty(&plan->service))
		plan->service = shape->reserve;
}

const struct place_vm_plan *plan_make(struct planning *planning)
{
	struct place_vm_plan *plans =
	    ARENA_ARRAY(planning->shape->arena, (size_t)planning->request_count, struct place_vm_plan);

	own_all(planning);
	begin_memory(planning);
	for (int i = 0; i < planning->request_count; i++)
		plan_vm(planning, i, &plans[i]);
	for (int item = 0; item < planning->item_count; item++) {
		int pool = planning->items[item].pool;

		if (pool < 0)
			continue;
		planning->pools[pool].cpus = cpus_of_item(planning, item);
		planning->pools[pool].result = &planning->solution->vms[item];
	}
	return plans;
}

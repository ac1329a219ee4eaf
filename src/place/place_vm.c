/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the request of a VM that exists, and the layout that a plan gives a VM. */
#include "place_vm.h"

#include <errno.h>

#include "text.h"

enum { FLOATING = 2 }; /* CPUs for each vCPU; a VM that has more is not placed, it floats */

/* ---- requests ---- */

static const struct cpuset *now_of(const struct vm *vm, int id)
{
	if (vm->vcpus && vm->vcpus[id].running.given)
		return &vm->vcpus[id].running.set;
	return vm_vcpu_declared(vm, id);
}

bool place_vm_has_place(const struct vm *vm, struct cpuset *ret_cpus)
{
	struct cpuset all = {0};

	for (int i = 0; i < vm->vcpu_max; i++) {
		const struct cpuset *cpus = now_of(vm, i);

		if (!cpus || cpuset_empty(cpus))
			return false;
		all = cpuset_or(&all, cpus);
	}
	if (cpuset_empty(&all) || cpuset_count(&all) > FLOATING * vm->vcpu_max)
		return false;
	if (ret_cpus)
		*ret_cpus = all;
	return true;
}

/* Is each vCPU pinned to a core that no other vCPU of the VM is on? */
static bool one_per_core_now(const struct host *host, const struct vm *vm)
{
	struct cpuset taken = {0};

	if (host->topology.threads_per_core < 2)
		return false;
	for (int i = 0; i < vm->vcpu_max; i++) {
		const struct cpuset *cpus = now_of(vm, i);

		if (!cpus || cpuset_empty(cpus) || cpuset_meets(cpus, &taken))
			return false;
		struct cpuset cores = topology_whole_cores(&host->topology, cpus);

		taken = cpuset_or(&taken, &cores);
	}
	return vm->vcpu_max > 0;
}

static enum place_smt smt_of(const struct host *host, const struct vm *vm, enum place_vm_smt smt)
{
	if (smt != PLACE_VM_SMT_AS_DECLARED)
		return smt == PLACE_VM_SMT_EXPOSED ? PLACE_SMT_THREADS : PLACE_SMT_ISOLATED;
	if (vm->cpu.topology_given && vm->cpu.threads > 1)
		return PLACE_SMT_THREADS;
	return one_per_core_now(host, vm) ? PLACE_SMT_ISOLATED : PLACE_SMT_THREADS;
}

static int64_t page_of(const struct host *host, const struct vm *vm)
{
	if (!vm->hugepages)
		return 0;
	if (vm->page_count > 0 && vm->pages[0].size_kib > 0)
		return vm->pages[0].size_kib;
	return fact_known(&host->memory.default_page_kib) ? host->memory.default_page_kib.number : 2048;
}

/* The first passed-through device whose node is known. */
static void find_device(const struct host *host, const struct vm *vm, struct place_request *request)
{
	for (int i = 0; i < vm->hostdev_count && !request->has_device; i++)
		for (int j = 0; j < host->devices.count; j++) {
			const struct device *device = &host->devices.list[j];

			if (text_equal(device->address, vm->hostdevs[i].address) && fact_known(&device->node)) {
				request->has_device = true;
				request->device_os_node = (int)device->node.number;
				break;
			}
		}
}

/* All CPUs that a VM without a place may run on. */
static struct cpuset anywhere_now(const struct host *host, const struct vm *vm)
{
	struct cpuset all = {0}, online = {0};

	for (int i = 0; i < host->topology.core_count; i++)
		online = cpuset_or(&online, &host->topology.cores[i].cpus);
	for (int i = 0; i < vm->vcpu_max; i++) {
		const struct cpuset *cpus = now_of(vm, i);

		all = cpuset_or(&all, cpus ? cpus : &online);
	}
	return cpuset_and(&all, &online);
}

int place_request_of_vm(struct arena *arena, const struct host *host, const struct vm *vm, enum place_vm_smt smt,
			enum place_right right, struct place_request *ret, struct err *err)
{
	struct place_request request = {
	    .name = vm->name ? vm->name : "(no name)",
	    .vcpus = vm->vcpu_max,
	    .smt = smt_of(host, vm, smt),
	    .memory_kib = vm->memory_kib,
	    .page_kib = page_of(host, vm),
	    .right = right,
	    .memory_now_kib = vm->node_kib,
	};

	(void)arena;
	if (vm->vcpu_max < 1)
		return err_set(err, EINVAL, vm->path, "the number of vCPUs of %s is not known", request.name);
	/* In hugepages are the guest's memory and nothing else, QEMU's own is in others. */
	for (int i = 0; request.page_kib > 4 && vm->node_huge_kib && i < host->topology.node_count; i++)
		if (vm->node_huge_kib[i] > 0)
			request.memory_now_kib = vm->node_huge_kib;
	if (right != PLACE_NEW && !place_vm_has_place(vm, &request.cpus_now))
		request.right = PLACE_NEW;
	/* It has no place, but pages that it gives back. */
	if (request.right == PLACE_NEW && vm->state == VM_STATE_RUNNING && vm->node_kib) {
		request.right = PLACE_MOVE;
		request.cpus_now = anywhere_now(host, vm);
		if (cpuset_empty(&request.cpus_now))
			request.right = PLACE_NEW;
	}
	find_device(host, vm, &request);
	*ret = request;
	return 0;
}

bool place_request_wants_even(const struct host *host, const struct place_request *request)
{
	const struct host_topology *topology = &host->topology;
	bool exposed = request->smt == PLACE_SMT_THREADS && topology->threads_per_core > 1;
	int cores = exposed ? (request->vcpus + 1) / 2 : request->vcpus, l3_most = 0, most = 0;
	bool by_package = fact_known(&topology->l3_as_numa) && topology->l3_as_numa.number;

	for (int i = 0; i < topology->l3_count; i++)
		l3_most = MAX_OF(l3_most, topology->l3s[i].core_count);
	for (int i = 0; !by_package && i < topology->node_count; i++)
		most = MAX_OF(most, cpuset_count(&topology->nodes[i].cpus) / MAX_OF(topology->threads_per_core, 1));
	for (int i = 0; by_package && i < topology->package_count; i++)
		most = MAX_OF(most, topology->packages[i].core_count);
	return topology->l3_known && cores > l3_most && cores <= most;
}

/* ---- layouts ---- */

const int64_t *place_memory(struct arena *arena, const struct place_plan *plan, int index)
{
	enum { MIB = 1024 }; /* what QEMU and libvirt round cells to */
	const struct place_vm_plan *vm = &plan->vms[index];
	int64_t *kib = ARENA_ARRAY(arena, (size_t)MAX_OF(plan->os_node_count, 1), int64_t);
	int64_t left = vm->request->memory_kib;
	int last = -1;

	if (!vm->memory_kib || left <= 0)
		return NULL;
	for (int i = 0; i < plan->os_node_count; i++)
		if (vm->memory_kib[i] > 0)
			last = i;
	for (int i = 0; i <= last; i++) {
		kib[i] = i == last ? left : MIN_OF(vm->memory_kib[i] / MIB * MIB, left);
		left -= kib[i];
	}
	return kib;
}

/* The node of the plan that the CPU is in, or -1. */
static int plan_node_of(const struct place_plan *plan, int cpu)
{
	for (int i = 0; i < plan->problem->node_count; i++)
		if (cpuset_has(&plan->nodes[i].cpus, cpu))
			return i;
	return -1;
}

static int64_t memory_on(const struct place_plan *plan, const int64_t *memory_kib, const struct cpuset *os_nodes)
{
	int64_t kib = 0;

	for (int i = 0; memory_kib && i < plan->os_node_count; i++)
		if (cpuset_has(os_nodes, plan->os_nodes[i]))
			kib += memory_kib[i];
	return kib;
}

/* SLIT distances between the first nodes of each cell; NULL where one is not known. */
static const int *distances_of(struct arena *arena, const struct place_plan *plan, const struct vm_layout_cell *cells,
			       int count)
{
	const struct host_topology *topology = &plan->host->topology;
	int *distances = ARENA_ARRAY(arena, (size_t)count * (size_t)count, int);

	for (int i = 0; i < count; i++)
		for (int j = 0; j < count; j++) {
			const struct topology_node *from =
			    topology_node_by_os(topology, cpuset_first(&cells[i].host_nodes));
			const struct topology_node *to =
			    topology_node_by_os(topology, cpuset_first(&cells[j].host_nodes));

			if (!from || !to || !from->distances || from->distances[to - topology->nodes] <= 0)
				return NULL;
			distances[i * count + j] = from->distances[to - topology->nodes];
		}
	return distances;
}

/* A cell for each node of the plan that has vCPUs, in the order of the first vCPU; none when there is only one. */
static void add_cells(struct arena *arena, const struct place_plan *plan, int index, struct vm_layout *layout)
{
	const struct place_vm_plan *vm = &plan->vms[index];
	const int64_t *memory_kib = place_memory(arena, plan, index);
	int node_count = plan->problem->node_count, count = 0;
	int *cell_of = ARENA_ARRAY(arena, (size_t)node_count, int);
	struct vm_layout_cell *cells = ARENA_ARRAY(arena, (size_t)node_count, struct vm_layout_cell);

	if (!vm->cpus_of_vcpus || layout->memory_kib <= 0)
		return;
	for (int i = 0; i < layout->vcpus; i++) {
		int node = plan_node_of(plan, vm->cpus_of_vcpus[i]);

		if (node < 0)
			return;
		if (!cell_of[node]) {
			cells[count].host_nodes = cpuset_and(&plan->nodes[node].os_nodes, &vm->os_nodes);
			cells[count].memory_kib = memory_on(plan, memory_kib, &plan->nodes[node].os_nodes);
			cell_of[node] = ++count;
		}
		cpuset_add(&cells[cell_of[node] - 1].vcpus, i);
	}
	if (count < 2)
		return;
	for (int i = 0; i < count; i++)
		if (cells[i].memory_kib <= 0 || cpuset_empty(&cells[i].host_nodes))
			return;
	layout->cells = cells;
	layout->cell_count = count;
	layout->distances = distances_of(arena, plan, cells, count);
}

/*
 * Are the guest's L3 groups the host's when it is given the host's caches? With those it takes as many APIC ids for one
 * group as the host's have: true where each die has the vCPUs of one group and all of it, or where there is only one.
 */
static bool dies_are_l3s(const struct place_plan *plan, const struct place_vm_plan *vm)
{
	const struct place_vm_result *result = vm->result;

	if (result->part_count == 1 && vm->sockets * vm->dies == 1)
		return plan->ccx_l3[result->parts[0].ccx] >= 0;
	if (!vm->l3_even || result->part_count != vm->sockets * vm->dies)
		return false;
	for (int i = 0; i < result->part_count; i++) {
		int l3 = plan->ccx_l3[result->parts[i].ccx];

		if (l3 < 0 || cpuset_count(&plan->host->topology.l3s[l3].cpus) != vm->cores * vm->threads)
			return false;
	}
	return true;
}

struct vm_layout place_layout(struct arena *arena, const struct place_plan *plan, int index, enum place_vm_smt smt)
{
	const struct place_vm_plan *vm = &plan->vms[index];
	const struct place_request *request = vm->request;
	struct cpuset *pins = ARENA_ARRAY(arena, (size_t)request->vcpus, struct cpuset);
	struct vm_layout layout = {
	    .name = request->name,
	    .vcpus = request->vcpus,
	    .pins = pins,
	    .service = vm->service,
	    .memory_kib = request->memory_kib,
	    .sockets = vm->sockets,
	    .dies = vm->dies,
	    .cores = vm->cores,
	    .threads = vm->threads,
	    .dies_are_l3s = dies_are_l3s(plan, vm),
	    .amd = host_is_amd(plan->host),
	};

	for (int i = 0; i < request->vcpus; i++) {
		if (vm->cpus_of_vcpus)
			cpuset_add(&pins[i], vm->cpus_of_vcpus[i]);
		else
			pins[i] = vm->cpus;
	}
	if (smt == PLACE_VM_SMT_ONE_PER_CORE && !cpuset_empty(&vm->idle_siblings))
		layout.service = vm->idle_siblings;
	if (request->memory_kib > 0) {
		layout.page_kib = vm->page_kib;
		layout.nodes = vm->os_nodes;
		add_cells(arena, plan, index, &layout);
	}
	return layout;
}

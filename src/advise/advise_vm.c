/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in advise_vm.h. */
#include "advise_vm.h"

bool vm_vcpu_in_use(const struct vm *vm, int id)
{
	if (!vm->vcpus || vm->vcpu_now <= 0 || vm->vcpu_now >= vm->vcpu_max)
		return true;
	return vm->vcpus[id].enabled;
}

static const struct cpuset *unless_all(const struct host *host, const struct cpuset *cpus)
{
	const struct cpuset *online = host_cpu_online(host);

	return cpuset_empty(online) || !cpuset_subset(online, cpus) ? cpus : NULL;
}

const struct cpuset *vm_vcpu_runs_on(const struct host *host, const struct vm *vm, int id)
{
	const struct cpuset *declared;

	if (vm->vcpus && vm->vcpus[id].running.given)
		return unless_all(host, &vm->vcpus[id].running.set);
	declared = vm_vcpu_declared(vm, id);
	return declared ? unless_all(host, declared) : NULL;
}

int vm_vcpu_cpu(const struct host *host, const struct vm *vm, int id)
{
	const struct cpuset *cpus = vm_vcpu_runs_on(host, vm, id);

	return cpus && cpuset_count(cpus) == 1 ? cpuset_first(cpus) : -1;
}

const struct cpuset *vm_emulator_runs_on(const struct host *host, const struct vm *vm)
{
	if (vm->emulator_running.given)
		return unless_all(host, &vm->emulator_running.set);
	if (vm->emulator.given)
		return unless_all(host, &vm->emulator.set);
	return vm->cpuset.given ? unless_all(host, &vm->cpuset.set) : NULL;
}

struct vm_view vm_view_of(const struct host *host, const struct vm *vm)
{
	struct vm_view view = {.one_to_one = true};
	struct cpuset taken = {0};

	for (int id = 0; id < vm->vcpu_max; id++) {
		if (!vm_vcpu_in_use(vm, id))
			continue;
		const struct cpuset *cpus = vm_vcpu_runs_on(host, vm, id);

		view.count++;
		view.running = view.running || (vm->vcpus && vm->vcpus[id].running.given);
		if (!cpus) {
			view.one_to_one = false;
			continue;
		}
		view.pinned++;
		view.one_to_one = view.one_to_one && cpuset_count(cpus) == 1 && !cpuset_meets(cpus, &taken);
		taken = cpuset_or(&taken, cpus);
	}
	view.cpus = taken;
	view.one_to_one = view.one_to_one && view.count > 0;
	view.usable = view.pinned > 0 && cpuset_subset(&taken, host_cpu_online(host));
	return view;
}

enum { PINS_SHOWN = 24 };

/* CPUs in the order of the vCPUs, rising runs folded. */
static const char *pins_in_order(struct advise_check *c)
{
	const char *text = "";
	int shown = 0;

	for (int id = 0; id < c->vm->vcpu_max; shown++) {
		int first = vm_vcpu_cpu(c->host, c->vm, id), last = first;

		if (shown == PINS_SHOWN)
			return advise_printf(c, "%s...", text);
		for (id++; id < c->vm->vcpu_max && vm_vcpu_cpu(c->host, c->vm, id) == last + 1; id++)
			last++;
		text = first < 0      ? advise_printf(c, "%s%s-", text, shown ? "," : "")
		       : last > first ? advise_printf(c, "%s%s%d-%d", text, shown ? "," : "", first, last)
				      : advise_printf(c, "%s%s%d", text, shown ? "," : "", first);
	}
	return text;
}

void advise_vm_note_pins(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	const char *source = view.running && c->vm->pid ? advise_printf(c, "/proc/%d/task/*/status", c->vm->pid)
							: "CPUs of vCPUs 0, 1...";

	if (view.one_to_one)
		advise_note_text(c, source, "%s", pins_in_order(c));
	else if (view.pinned == view.count)
		advise_note_text(c, view.running ? source : "CPUs of the vCPUs", "within %s",
				 advise_cpu_list(c, &view.cpus));
	else
		advise_note_text(c, view.running ? source : "CPUs of the vCPUs", "%d of %d pinned, within %s",
				 view.pinned, view.count, advise_cpu_list(c, &view.cpus));
}

void advise_vm_at(const struct advise_check *c, struct advise_finding *finding, struct vm_place place)
{
	/* The arguments of a process are no file that could be edited there. */
	if (!place.line || c->vm->source == VM_QEMU_PROCESS)
		return;
	finding->path = c->subject->path ? c->subject->path : c->vm->path;
	finding->line = place.line;
	finding->column = place.column;
}

struct vm_place vm_pin_place(const struct vm *vm)
{
	for (int id = 0; vm->vcpus && id < vm->vcpu_max; id++)
		if (vm->vcpus[id].pin.given && vm->vcpus[id].pin.place.line)
			return vm->vcpus[id].pin.place;
	return vm->cpuset.given && vm->cpuset.place.line ? vm->cpuset.place : vm->cputune_place;
}

struct cpuset vm_l3s_of(const struct host *host, const struct cpuset *cpus)
{
	struct cpuset l3s = {0};

	CPUSET_FOREACH (cpu, cpus)
		cpuset_add(&l3s, topology_l3_of(&host->topology, cpu));
	return l3s;
}

struct cpuset vm_nodes_of(const struct host *host, const struct cpuset *cpus)
{
	struct cpuset nodes = {0};

	CPUSET_FOREACH (cpu, cpus) {
		int index = topology_node_of(&host->topology, cpu);

		if (index >= 0)
			cpuset_add(&nodes, host->topology.nodes[index].os_node);
	}
	return nodes;
}

struct cpuset vm_host_nodes(const struct host *host)
{
	struct cpuset nodes = {0};

	for (int i = 0; i < host->topology.node_count; i++)
		cpuset_add(&nodes, host->topology.nodes[i].os_node);
	return nodes;
}

struct cpuset vm_memory_nodes(const struct vm *vm)
{
	struct cpuset nodes = {0};

	if (vm->numa_nodes.given)
		nodes = vm->numa_nodes.set;
	for (int i = 0; i < vm->memnode_count; i++)
		if (vm->memnodes[i].nodes.given)
			nodes = cpuset_or(&nodes, &vm->memnodes[i].nodes.set);
	return nodes;
}

/* libvirt takes strict where no mode is given; QEMU's policy "bind" is the same. */
static bool mode_is_strict(const char *mode)
{
	return !mode || text_equal(mode, "strict") || text_equal(mode, "bind");
}

bool vm_memory_is_strict(const struct vm *vm)
{
	if (vm->numa_nodes.given)
		return mode_is_strict(vm->numa_mode);
	for (int i = 0; i < vm->memnode_count; i++)
		if (!mode_is_strict(vm->memnodes[i].mode))
			return false;
	return vm->memnode_count > 0;
}

int vm_largest_l3(const struct host *host, int *ret_cores)
{
	const struct host_topology *t = &host->topology;
	int cpus = 0;

	*ret_cores = 0;
	for (int i = 0; t->l3_known && i < t->l3_count; i++) {
		cpus = MAX_OF(cpus, cpuset_count(&t->l3s[i].cpus));
		*ret_cores = MAX_OF(*ret_cores, t->l3s[i].core_count);
	}
	return cpus;
}

bool vm_siblings_match(const struct host *host, const struct vm *vm)
{
	int core_of_first = -1, guest_core = -1;

	for (int id = 0; id < vm->vcpu_max; id++) {
		int core = topology_core_of(&host->topology, vm_vcpu_cpu(host, vm, id));

		if (!vm_vcpu_in_use(vm, id))
			continue;
		if (vm_guest_core_of(vm, id) != guest_core) {
			guest_core = vm_guest_core_of(vm, id);
			core_of_first = core;
		} else if (core != core_of_first) {
			return false;
		}
	}
	return true;
}

const char *advise_node_text(struct advise_check *c, const struct cpuset *nodes)
{
	return advise_printf(c, "%s %s", cpuset_count(nodes) == 1 ? "node" : "nodes", advise_cpu_list(c, nodes));
}

int64_t vm_topology_product(const struct vm_cpu *cpu)
{
	const int factors[] = {cpu->sockets, cpu->dies, cpu->clusters, cpu->cores, cpu->threads};
	int64_t product = 1;

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		product = MIN_OF(product * MAX_OF(factors[i], 1), INT32_MAX);
	return product;
}

bool vm_is_kvm(const struct vm *vm)
{
	return !vm->type || text_equal(vm->type, "kvm");
}

bool vm_is_x86(const struct vm *vm)
{
	return !vm->arch || text_equal(vm->arch, "x86_64") || text_equal(vm->arch, "i686");
}

bool vm_is_windows(const struct vm *vm)
{
	return vm->os_hint && strcasecmp(vm->os_hint, "windows") == 0;
}

/* The pages that a cell (-1: a guest without cells) is made of: its own entry, else the one for all. */
static int64_t page_size_of(const struct host *host, const struct vm *vm, int cell)
{
	int64_t size_kib = vm->page_count ? -1 : 0;

	for (int i = 0; i < vm->page_count; i++) {
		const struct vm_pages *pages = &vm->pages[i];

		if (pages->cells.given && cpuset_has(&pages->cells.set, MAX_OF(cell, 0))) {
			size_kib = pages->size_kib;
			break;
		}
		if (!pages->cells.given)
			size_kib = pages->size_kib;
	}
	return size_kib ? size_kib : fact_number_or(&host->memory.default_page_kib, 2048);
}

/* More than any machine has; keeps sums of absurd numbers in range. */
static const int64_t MEMORY_MAX_KIB = INT64_C(1) << 50;

int64_t vm_pages_needed_kib(const struct host *host, const struct vm *vm, int64_t size_kib)
{
	int64_t needed_kib = 0;

	if (!vm->hugepages)
		return 0;
	if (!vm->cell_count)
		return page_size_of(host, vm, -1) == size_kib ? MIN_OF(vm->memory_kib, MEMORY_MAX_KIB) : 0;
	for (int i = 0; i < vm->cell_count; i++)
		if (vm->cells[i].memory_kib > 0 && page_size_of(host, vm, vm->cells[i].id) == size_kib)
			needed_kib =
			    MIN_OF(needed_kib + MIN_OF(vm->cells[i].memory_kib, MEMORY_MAX_KIB), MEMORY_MAX_KIB);
	return needed_kib;
}

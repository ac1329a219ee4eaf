/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about guest NUMA cells: against the guest's own topology, and against the nodes behind them. */
#include "advise_vm.h"

static struct cpuset socket_cpus(const struct vm *vm, int socket, int size)
{
	return cpuset_range(socket * size, MIN_OF((socket + 1) * size, vm->vcpu_max) - 1);
}

/* A cell that takes a part of a unit (socket, core) and more besides. */
static bool cuts(const struct cpuset *cell, const struct cpuset *unit)
{
	return cpuset_meets(cell, unit) && !cpuset_subset(cell, unit) && !cpuset_subset(unit, cell);
}

/* The first unit of `size` vCPUs that a cell cuts; -1: none. */
static int first_cut(const struct vm *vm, int size, int *ret_cell)
{
	if (size < 1 || vm->vcpu_max < 1 || vm->vcpu_max > CPUSET_MAX)
		return -1;
	for (int i = 0; i < vm->cell_count; i++)
		for (int unit = 0; vm->cells[i].cpus.given && unit * size < vm->vcpu_max; unit++) {
			struct cpuset cpus = socket_cpus(vm, unit, size);

			if (!cuts(&vm->cells[i].cpus.set, &cpus))
				continue;
			*ret_cell = i;
			return unit;
		}
	return -1;
}

static const char *cells_text(struct advise_check *c)
{
	const char *text = "";

	for (int i = 0; i < c->vm->cell_count && i < 8; i++)
		if (c->vm->cells[i].cpus.given)
			text = advise_printf(c, "%s%s%s", text, i ? " / " : "",
					     advise_cpu_list(c, &c->vm->cells[i].cpus.set));
	return text;
}

static void check_cut(struct advise_check *c)
{
	const struct vm_cpu *cpu = &c->vm->cpu;
	int core = cpu->threads, socket = (int)MIN_OF(vm_topology_product(cpu) / MAX_OF(cpu->sockets, 1), CPUSET_MAX);
	int cell = 0;

	if (c->vm->cell_count < 2 || !cpu->topology_given)
		return;
	advise_note_text(c, "cells", "%s", cells_text(c));
	advise_note_text(c, "topology", "%d sockets of %d vCPUs, %d threads a core", cpu->sockets, socket,
			 cpu->threads);
	int unit = first_cut(c->vm, socket, &cell);
	const char *what = "sockets";

	if (unit < 0) {
		socket = core;
		what = "cores";
		unit = core > 1 ? first_cut(c->vm, core, &cell) : -1;
	}
	if (unit < 0)
		return;
	struct cpuset cpus = socket_cpus(c->vm, unit, socket);

	advise_vm_at(c,
		     advise_report(c, "Cells %s cut through the guest's %s: %s %d is vCPUs %s", cells_text(c), what,
				   socket == core ? "core" : "socket", unit, advise_cpu_list(c, &cpus)),
		     c->vm->cells[cell].place.line ? c->vm->cells[cell].place : c->vm->cells_place);
}

static struct cpuset cell_cpus(const struct host *host, const struct vm *vm, const struct vm_cell *cell,
			       int *ret_floating)
{
	struct cpuset cpus = {0};

	*ret_floating = 0;
	CPUSET_FOREACH (id, &cell->cpus.set) {
		const struct cpuset *one = id < vm->vcpu_max ? vm_vcpu_runs_on(host, vm, id) : NULL;

		if (one)
			cpus = cpuset_or(&cpus, one);
		else
			(*ret_floating)++;
	}
	return cpus;
}

static void check_unbacked(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset memory = vm_memory_nodes(c->vm), host_nodes = vm_host_nodes(c->host);

	/* Nodes that do not exist are the first thing to put right. */
	if (c->vm->cell_count < 2 || (c->host->topology.node_known && !cpuset_subset(&memory, &host_nodes)))
		return;
	advise_note_text(c, "cells", "%s", cells_text(c));
	if (view.pinned || c->vm->placement_auto)
		return;
	advise_note_text(c, "CPUs of the vCPUs", "not pinned");
	struct advise_finding *finding = advise_report(
	    c, "The guest sees %d cells, and no vCPU is pinned: no host node is behind them", c->vm->cell_count);

	if (c->host->topology.node_known && c->host->topology.node_count == 1)
		finding->detail = "This host has one node: cells bring nothing here, unless they stand for L3 groups";
	else if (c->vm->memnode_count)
		finding->detail = "Memory of cells is bound to nodes, vCPUs float over all of them";
	advise_vm_at(c, finding, c->vm->cells_place);
}

static const struct vm_memnode *memnode_of(const struct vm *vm, int cell)
{
	for (int i = 0; i < vm->memnode_count; i++)
		if (vm->memnodes[i].cell == cell && vm->memnodes[i].nodes.given)
			return &vm->memnodes[i];
	return NULL;
}

static void check_elsewhere(struct advise_check *c)
{
	if (c->vm->cell_count < 2 || !c->host->topology.node_known || c->host->topology.node_count < 2 ||
	    fact_is_on(&c->host->topology.l3_as_numa))
		return;
	for (int i = 0; i < c->vm->cell_count; i++) {
		const struct vm_cell *cell = &c->vm->cells[i];
		const struct vm_memnode *memnode = memnode_of(c->vm, cell->id);
		int floating;
		struct cpuset cpus = cell_cpus(c->host, c->vm, cell, &floating), nodes = vm_nodes_of(c->host, &cpus);

		if (!memnode || floating || cpuset_empty(&nodes))
			continue;
		advise_forget(c);
		advise_note_text(c, advise_printf(c, "vCPUs of cell %d", cell->id), "%s", advise_node_text(c, &nodes));
		advise_note_text(c, advise_printf(c, "memory of cell %d", cell->id), "%s",
				 advise_node_text(c, &memnode->nodes.set));
		if (!cpuset_meets(&nodes, &memnode->nodes.set))
			advise_vm_at(c,
				     advise_report(c, "Cell %d has its vCPUs on %s and its memory on %s", cell->id,
						   advise_node_text(c, &nodes),
						   advise_node_text(c, &memnode->nodes.set)),
				     memnode->place);
	}
}

static void check_one_node(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus);

	if (c->vm->cell_count < 2 || !view.one_to_one || !view.usable || !c->host->topology.node_known)
		return;
	advise_note_text(c, "cells", "%s", cells_text(c));
	advise_vm_note_pins(c);
	for (int i = 0; i < c->vm->cell_count; i++) {
		int floating;
		struct cpuset cpus = cell_cpus(c->host, c->vm, &c->vm->cells[i], &floating);
		struct cpuset of_cell = vm_nodes_of(c->host, &cpus), l3s = vm_l3s_of(c->host, &cpus);

		/* Cells may stand for L3 groups as well. */
		if (cpuset_count(&of_cell) > 1) {
			advise_vm_at(c,
				     advise_report(c, "Cell %d is one node to the guest, its vCPUs are on %s",
						   c->vm->cells[i].id, advise_node_text(c, &of_cell)),
				     c->vm->cells[i].place);
			return;
		}
		if (cpuset_count(&l3s) == 1 && c->host->topology.l3_count > 1)
			return;
	}
	if (cpuset_count(&nodes) == 1)
		advise_vm_at(c,
			     advise_report_as(c, ADVISE_ADVICE, "The guest sees %d cells, all of its vCPUs are on %s",
					      c->vm->cell_count, advise_node_text(c, &nodes)),
			     c->vm->cells_place);
}

static void check_memnode_without_cell(struct advise_check *c)
{
	for (int i = 0; i < c->vm->memnode_count; i++) {
		bool found = false;

		for (int j = 0; j < c->vm->cell_count; j++)
			found = found || c->vm->cells[j].id == c->vm->memnodes[i].cell;
		advise_note_text(c, "memnode", "cell %d", c->vm->memnodes[i].cell);
		if (found)
			continue;
		advise_vm_at(c,
			     advise_report(
				 c, "Memory of cell %d is placed, but the guest has %s", c->vm->memnodes[i].cell,
				 c->vm->cell_count ? advise_printf(c, "only %d cells", c->vm->cell_count) : "no cells"),
			     c->vm->memnodes[i].place);
		return;
	}
}

static void check_vcpus(struct advise_check *c)
{
	struct cpuset all = {0}, twice = {0}, beyond = {0}, none;
	struct cpuset vcpus = cpuset_range(0, MIN_OF(c->vm->vcpu_max, CPUSET_MAX) - 1);
	bool given = false;

	if (c->vm->vcpu_max < 1)
		return;
	for (int i = 0; i < c->vm->cell_count; i++) {
		const struct vm_set *cpus = &c->vm->cells[i].cpus;
		struct cpuset both = cpuset_and(&all, &cpus->set);

		if (!cpus->given)
			continue;
		given = true;
		twice = cpuset_or(&twice, &both);
		all = cpuset_or(&all, &cpus->set);
	}
	if (!given)
		return;
	advise_note_text(c, "cells", "%s", cells_text(c));
	advise_note_text(c, "vCPUs", "%d", c->vm->vcpu_max);
	beyond = cpuset_minus(&all, &vcpus);
	none = cpuset_minus(&vcpus, &all);
	if (!cpuset_empty(&beyond))
		advise_vm_at(c,
			     advise_report(c, "Cells hold vCPUs %s, the guest has %d vCPUs",
					   advise_cpu_list(c, &beyond), c->vm->vcpu_max),
			     c->vm->cells_place);
	else if (!cpuset_empty(&twice))
		advise_vm_at(c, advise_report(c, "vCPUs %s are in more than one cell", advise_cpu_list(c, &twice)),
			     c->vm->cells_place);
	else if (!cpuset_empty(&none))
		advise_vm_at(c,
			     advise_report_as(c, ADVISE_WARN, "vCPUs %s are in no cell: QEMU puts them into one itself",
					      advise_cpu_list(c, &none)),
			     c->vm->cells_place);
}

static void check_behind(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);

	if (c->vm->cell_count < 2 || !view.one_to_one || !view.usable || c->vm->memnode_count < c->vm->cell_count)
		return;
	for (int i = 0; i < c->vm->cell_count; i++) {
		const struct vm_memnode *memnode = memnode_of(c->vm, c->vm->cells[i].id);
		int floating;
		struct cpuset cpus = cell_cpus(c->host, c->vm, &c->vm->cells[i], &floating);
		struct cpuset nodes = vm_nodes_of(c->host, &cpus);

		if (!memnode || floating || !cpuset_equal(&nodes, &memnode->nodes.set))
			return;
		advise_note_text(c, advise_printf(c, "cell %d", c->vm->cells[i].id), "%s", advise_node_text(c, &nodes));
	}
	advise_report(c, "Each of %d cells has its vCPUs and its memory on the same node", c->vm->cell_count);
}

const struct advise_rule advise_vm_cell_rules[] = {
    {
	.id = "vm.cells-vcpus",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "Cells and vCPUs do not match",
	.mechanism = "Every vCPU is to be in exactly one cell. QEMU refuses a vCPU that does not exist or is in two.",
	.effect = "the VM does not start, or has cells that nobody planned",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: numa; QEMU documentation: -numa",
	.hurts = "nothing known",
	.by_hand = BY_HAND_EDIT,
	.check = check_vcpus,
    },
    {
	.id = "vm.memnode-without-cell",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "Memory of a cell is placed that the guest does not have",
	.mechanism = "memnode places the memory of one guest cell; libvirt refuses one for a cell that is not defined.",
	.effect = "the VM is refused",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: numatune",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: define <numa> cells in <cpu>, or use <memory> of <numatune> alone",
	.check = check_memnode_without_cell,
    },
    {
	.id = "vm.cells-cut-sockets",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Cells cut through sockets or cores of the guest",
	.mechanism = "QEMU numbers vCPUs thread by thread, core by core, socket by socket. Cells that follow another "
		     "order give the guest nodes across sockets, which no machine has: schedulers drop levels or warn.",
	.effect = "the guest's idea of near and far is wrong",
	.basis = BASIS_REPORTS,
	.source = "hwloc issue 712",
	.hurts = "nothing known",
	.by_hand =
	    "virsh edit VM: cells of consecutive vCPUs, a whole number of them in a socket or the other way round",
	.check = check_cut,
    },
    {
	.id = "vm.cell-memory-elsewhere",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A cell has vCPUs and memory on different nodes",
	.mechanism = "The guest takes the memory of a cell for near to its vCPUs and places tasks so.",
	.effect = "remote memory where the guest believes it local",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: numatune",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <memnode cellid nodeset> of the node that the cell's vCPUs are pinned to",
	.check = check_elsewhere,
    },
    {
	.id = "vm.cell-over-nodes",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Cells do not stand for nodes of the host",
	.mechanism = "A cell is a promise that its vCPUs are near to each other and to its memory. Spread over several "
		     "nodes it is not kept; several cells on one node promise a distance that is none.",
	.effect = "the guest's idea of near and far is wrong",
	.basis = BASIS_REASONED,
	.source = "study B",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_one_node,
    },
    {
	.id = "vm.cells-unbacked",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Guest cells without host nodes behind them",
	.mechanism = "The guest balances tasks and memory between cells. Where vCPUs float over the host it works for "
		     "distances that are not there.",
	.effect = "work of the guest's scheduler and NUMA balancing in vain",
	.basis = BASIS_REASONED,
	.source = "study B",
	.hurts = "pins keep the scheduler from filling idle CPUs elsewhere",
	.by_hand = "pin each cell's vCPUs to a node and bind its memory there (memnode), or take the cells away",
	.experiment = "compare the guest with and without cells",
	.check = check_unbacked,
    },
    {
	.id = "vm.cells-on-nodes",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_VM,
	.title = "Cells are nodes of the host",
	.mechanism = "vCPUs and memory of each cell are on the same node: what the guest believes is true.",
	.basis = BASIS_STUDY,
	.source = "study B",
	.hurts = "nothing known",
	.check = check_behind,
    },
    {.id = NULL},
};

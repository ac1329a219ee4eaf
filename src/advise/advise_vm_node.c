/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the third step of judging pins as far as memory goes: nodes of the vCPUs against nodes of the memory. */
#include "advise_vm.h"

#define BY_HAND_MEMORY                                                                                                 \
	"virsh edit VM: <numatune><memory mode='strict' nodeset='N'/>; QEMU: host-nodes=N,policy=bind of the memory "  \
	"backend"

/* A host with several nodes that are known and that are memory of their own. */
static bool has_nodes(const struct host *host)
{
	return host->topology.node_known && host->topology.node_count > 1;
}

/* Nodes that are one and the same memory controller: L3 groups as nodes, in one package. */
static bool nodes_are_near(const struct host *host, const struct cpuset *nodes)
{
	const struct host_topology *t = &host->topology;
	int package = -1;

	if (!fact_is_on(&t->l3_as_numa))
		return false;
	CPUSET_FOREACH (node, nodes) {
		const struct topology_node *found = topology_node_by_os(t, node);
		int first = found ? cpuset_first(&found->packages) : -1;

		if (package >= 0 && first >= 0 && first != package)
			return false;
		package = first >= 0 ? first : package;
	}
	return true;
}

static int largest_node(const struct host *host)
{
	int cpus = 0;

	for (int i = 0; i < host->topology.node_count; i++)
		cpus = MAX_OF(cpus, cpuset_count(&host->topology.nodes[i].cpus));
	return cpus;
}

/* "11 on node 0, 3 on node 1" */
static const char *by_node(struct advise_check *c, const struct cpuset *cpus)
{
	const struct host_topology *t = &c->host->topology;
	const char *text = "";
	int shown = 0;

	for (int i = 0; i < t->node_count; i++) {
		struct cpuset part = cpuset_and(cpus, &t->nodes[i].cpus);

		if (!cpuset_empty(&part) && shown < 8)
			text = advise_printf(c, "%s%s%d on node %d", text, shown++ ? ", " : "", cpuset_count(&part),
					     t->nodes[i].os_node);
	}
	return text;
}

/* ---- nodes that are not there, or empty ---- */

/* The sets of memory nodes in turn: numatune's own, then those of cells. False past the end. */
static bool memory_set_at(struct advise_check *c, int index, const char **ret_name, const struct vm_set **ret_set,
			  const char **ret_mode)
{
	const struct vm *vm = c->vm;

	if (index > vm->memnode_count)
		return false;
	*ret_name = index ? advise_printf(c, "memory of cell %d", vm->memnodes[index - 1].cell) : "memory";
	*ret_set = index ? &vm->memnodes[index - 1].nodes : &vm->numa_nodes;
	*ret_mode = index ? vm->memnodes[index - 1].mode : vm->numa_mode;
	return true;
}

static void check_node_missing(struct advise_check *c)
{
	struct cpuset host_nodes = vm_host_nodes(c->host), missing = {0};
	struct vm_place place = {0};
	const char *name, *mode;
	const struct vm_set *set;

	if (!c->host->topology.node_known)
		return;
	for (int i = 0; memory_set_at(c, i, &name, &set, &mode); i++) {
		struct cpuset none = cpuset_minus(&set->set, &host_nodes);

		if (!set->given)
			continue;
		advise_note_text(c, name, "%s", advise_node_text(c, &set->set));
		if (cpuset_empty(&none))
			continue;
		place = place.line ? place : set->place;
		missing = cpuset_or(&missing, &none);
	}
	if (cpuset_empty(&missing))
		return;
	advise_note_text(c, "nodes of this host", "%s", advise_cpu_list(c, &host_nodes));
	advise_vm_at(c,
		     advise_report(c, "Memory is to come from %s, which %s not exist: this host has %s",
				   advise_node_text(c, &missing), cpuset_count(&missing) == 1 ? "does" : "do",
				   advise_node_text(c, &host_nodes)),
		     place);
}

static struct cpuset memoryless_nodes(const struct host *host)
{
	struct cpuset nodes = {0};

	for (int i = 0; i < host->topology.node_count; i++)
		if (host->topology.nodes[i].memoryless)
			cpuset_add(&nodes, host->topology.nodes[i].os_node);
	return nodes;
}

static void check_memoryless(struct advise_check *c)
{
	struct cpuset memoryless = memoryless_nodes(c->host), wanted = {0};
	struct vm_place place = {0};
	bool fatal = false;
	const char *name, *mode;
	const struct vm_set *set;

	for (int i = 0; memory_set_at(c, i, &name, &set, &mode); i++) {
		struct cpuset empty = cpuset_and(&set->set, &memoryless);

		if (!set->given)
			continue;
		advise_note_text(c, name, "%s, %s", advise_node_text(c, &set->set), mode ? mode : "strict");
		if (cpuset_empty(&empty))
			continue;
		place = place.line ? place : set->place;
		wanted = cpuset_or(&wanted, &empty);
		fatal = fatal || ((!mode || text_equal(mode, "strict") || text_equal(mode, "bind")) &&
				  cpuset_subset(&set->set, &memoryless));
	}
	if (cpuset_empty(&wanted))
		return;
	advise_vm_at(c,
		     advise_report_as(c, fatal ? ADVISE_FAIL : ADVISE_WARN,
				      "Memory is to come from %s, which %s no memory", advise_node_text(c, &wanted),
				      cpuset_count(&wanted) == 1 ? "has" : "have"),
		     place);
}

static void check_on_memoryless(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus), memoryless = memoryless_nodes(c->host), both;

	if (!has_nodes(c->host) || !view.one_to_one || !view.usable || fact_is_on(&c->host->topology.l3_as_numa))
		return;
	both = cpuset_and(&nodes, &memoryless);
	advise_vm_note_pins(c);
	if (!cpuset_empty(&both))
		advise_vm_at(c,
			     advise_report(c, "vCPUs are on %s, which %s no memory: all of it is far",
					   advise_node_text(c, &both), cpuset_count(&both) == 1 ? "has" : "have"),
			     vm_pin_place(c->vm));
}

/* ---- vCPUs against nodes ---- */

static void check_crossed(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus);
	bool fits = view.count <= largest_node(c->host);

	if (!has_nodes(c->host) || !view.one_to_one || !view.usable || c->vm->cell_count > 1)
		return;
	advise_vm_note_pins(c);
	if (cpuset_count(&nodes) < 2 || nodes_are_near(c->host, &nodes))
		return;
	struct advise_finding *finding =
	    advise_report_as(c, fits ? ADVISE_WARN : ADVISE_ADVICE, "%d vCPUs cross %s: %s", view.count,
			     advise_node_text(c, &nodes), by_node(c, &view.cpus));

	finding->detail = fits ? "They fit one node; the guest is shown one"
			       : "They do not fit one node, and the guest is shown one: cells would show it two";
	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

static void check_remote(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus), memory = vm_memory_nodes(c->vm);
	struct cpuset host_nodes = vm_host_nodes(c->host), real = cpuset_and(&memory, &host_nodes);

	if (!has_nodes(c->host) || !view.usable || view.pinned < view.count || cpuset_empty(&nodes) ||
	    cpuset_empty(&real))
		return;
	advise_vm_note_pins(c);
	advise_note_text(c, "memory", "%s%s", advise_node_text(c, &memory),
			 vm_memory_is_strict(c->vm) ? ", strict" : "");
	struct cpuset all = cpuset_or(&nodes, &real);

	if (cpuset_meets(&nodes, &real) || nodes_are_near(c->host, &all))
		return;
	advise_vm_at(c,
		     advise_report(c, "vCPUs are on %s (%s), memory comes from %s: all of it is remote",
				   advise_node_text(c, &nodes), by_node(c, &view.cpus), advise_node_text(c, &real)),
		     c->vm->numa_nodes.place.line ? c->vm->numa_nodes.place : c->vm->numatune_place);
}

static void check_bound_floating(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset memory = vm_memory_nodes(c->vm), host_nodes = vm_host_nodes(c->host);
	struct cpuset real = cpuset_and(&memory, &host_nodes);

	if (!has_nodes(c->host) || view.pinned || c->vm->placement_auto || cpuset_empty(&real) || !view.count ||
	    cpuset_subset(&host_nodes, &memory))
		return;
	/* Of a guest with cells vm.cells-unbacked says it. */
	if (c->vm->cell_count > 1)
		return;
	advise_note_text(c, "memory", "%s", advise_node_text(c, &memory));
	advise_note_text(c, "CPUs of the vCPUs", "not pinned");
	advise_vm_at(c,
		     advise_report(c, "Memory is bound to %s, but no vCPU is pinned: they float over %s",
				   advise_node_text(c, &real), advise_node_text(c, &host_nodes)),
		     c->vm->numa_nodes.place.line ? c->vm->numa_nodes.place : c->vm->numatune_place);
}

static int nodes_with_memory(const struct host *host)
{
	int count = 0;

	for (int i = 0; i < host->topology.node_count; i++)
		count += !host->topology.nodes[i].memoryless;
	return count;
}

static void check_unbound(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus), memory = vm_memory_nodes(c->vm);

	if (!has_nodes(c->host) || nodes_with_memory(c->host) < 2 || !view.one_to_one || !view.usable ||
	    cpuset_count(&nodes) != 1 || c->vm->numa_auto || fact_is_on(&c->host->topology.l3_as_numa))
		return;
	advise_vm_note_pins(c);
	if (!cpuset_empty(&memory) || c->vm->numa_mode || c->vm->node_kib)
		return;
	advise_note_text(c, "memory", "bound to no node");
	advise_vm_at(c,
		     advise_report(c, "vCPUs are pinned to %s, memory may come from any", advise_node_text(c, &nodes)),
		     vm_pin_place(c->vm));
}

/* ---- room ---- */

/* What the nodes hold in all, in KiB; -1 when one of them is not known. */
static int64_t room_of(struct advise_check *c, const struct cpuset *nodes)
{
	int64_t room_kib = 0, node_kib;

	CPUSET_FOREACH (node, nodes) {
		const struct topology_node *found = topology_node_by_os(&c->host->topology, node);

		if (!found)
			continue;
		if (!advise_number(c, &found->memory_kib, &node_kib))
			return -1;
		room_kib += node_kib;
	}
	return room_kib;
}

static int64_t cell_kib(const struct vm *vm, int cell)
{
	for (int i = 0; i < vm->cell_count; i++)
		if (vm->cells[i].id == cell)
			return vm->cells[i].memory_kib;
	return -1;
}

static void check_strict_room(struct advise_check *c)
{
	const char *name, *mode;
	const struct vm_set *set;

	for (int i = 0; memory_set_at(c, i, &name, &set, &mode); i++) {
		int64_t wanted_kib = i ? cell_kib(c->vm, c->vm->memnodes[i - 1].cell) : c->vm->memory_kib, room_kib;

		/* Where every cell has its own nodes, those are the ones that count. */
		if (!set->given || (mode && !text_equal(mode, "strict") && !text_equal(mode, "bind")) ||
		    wanted_kib <= 0 || (i == 0 && c->vm->memnode_count))
			continue;
		advise_forget(c);
		room_kib = room_of(c, &set->set);
		if (room_kib <= 0 || room_kib >= wanted_kib)
			continue;
		advise_note_text(c, name, "%s", text_kib(c->arena, wanted_kib));
		advise_vm_at(c,
			     advise_report(c, "%s is bound to %s, which %s %s in all, and needs %s",
					   i ? advise_printf(c, "Cell %d", c->vm->memnodes[i - 1].cell) : "Memory",
					   advise_node_text(c, &set->set),
					   cpuset_count(&set->set) == 1 ? "has" : "have", text_kib(c->arena, room_kib),
					   text_kib(c->arena, wanted_kib)),
			     set->place);
	}
}

static void check_over_host(struct advise_check *c)
{
	int64_t total_kib;

	if (c->vm->memory_kib <= 0 || !advise_number(c, &c->host->memory.total_kib, &total_kib) ||
	    c->vm->memory_kib <= total_kib)
		return;
	advise_note_text(c, "memory of the VM", "%s", text_kib(c->arena, c->vm->memory_kib));
	advise_vm_at(c,
		     advise_report(c, "The VM has %s of memory, the host %s", text_kib(c->arena, c->vm->memory_kib),
				   text_kib(c->arena, total_kib)),
		     c->vm->memory_place);
}

static void check_balancing(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset memory = vm_memory_nodes(c->vm), nodes = vm_nodes_of(c->host, &view.cpus);
	int64_t balancing;

	if (!has_nodes(c->host) || !view.one_to_one || !view.usable || cpuset_empty(&memory) ||
	    !cpuset_subset(&nodes, &memory) || c->vm->hugepages ||
	    !advise_number(c, &c->host->memory.numa_balancing, &balancing) || balancing == 0)
		return;
	advise_vm_note_pins(c);
	advise_note_text(c, "memory", "%s", advise_node_text(c, &memory));
	advise_report(c, "NUMA balancing scans this VM, whose vCPUs and memory are tied to %s already",
		      advise_node_text(c, &memory));
}

const struct advise_rule advise_vm_node_rules[] = {
    {
	.id = "vm.node-missing",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "Memory is to come from nodes that the host does not have",
	.mechanism = "libvirt and QEMU refuse a binding to a node that does not exist. After a change of nodes per "
		     "socket in the BIOS the same numbers mean other memory, or none.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: numatune; mbind(2)",
	.hurts = "nothing known",
	.by_hand = BY_HAND_MEMORY,
	.check = check_node_missing,
    },
    {
	.id = "vm.memory-on-empty-node",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "Memory is to come from a node without memory",
	.mechanism = "Some nodes have CPUs and no memory: channels without DIMMs, or parts made so. A strict binding "
		     "to such a node cannot be served.",
	.effect = "the VM does not start, or gets its memory elsewhere",
	.basis = BASIS_DOCUMENT,
	.source = "mbind(2)",
	.hurts = "nothing known",
	.by_hand = BY_HAND_MEMORY,
	.check = check_memoryless,
    },
    {
	.id = "vm.strict-no-room",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A strict binding to nodes that are too small",
	.mechanism = "Memory that is bound strictly comes from these nodes or not at all: the VM is killed when it "
		     "touches more than they hold.",
	.effect = "the VM does not start, or dies under load",
	.basis = BASIS_DOCUMENT,
	.source = "mbind(2)",
	.hurts = "nothing known",
	.by_hand = BY_HAND_MEMORY,
	.check = check_strict_room,
    },
    {
	.id = "vm.memory-over-host",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A VM has more memory than the host",
	.mechanism = "It runs as long as it does not touch it all. Then the host swaps, or ends a process.",
	.effect = "swapping or the end of the VM",
	.basis = BASIS_REASONED,
	.source = "how memory works",
	.hurts = "nothing known",
	.by_hand = BY_HAND_EDIT,
	.check = check_over_host,
    },
    {
	.id = "vm.memory-remote",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Memory is bound to other nodes than the vCPUs",
	.mechanism = "Every access that misses the caches goes to another node, over the fabric or the socket link.",
	.effect = "latency and bandwidth of another node; /sys/devices/system/node/node*/distance tells how far",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/mm/numa.rst",
	.hurts = "nothing known",
	.by_hand = BY_HAND_MEMORY,
	.check = check_remote,
    },
    {
	.id = "vm.crosses-nodes",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "vCPUs cross nodes, and the guest is shown one",
	.mechanism = "Half of the memory is far for every vCPU, and the guest cannot tell which: it neither places "
		     "memory nor keeps tasks near it.",
	.effect = "study B pins a VM by node when it does not fit one L3 group, and shows it cells when it does not "
		  "fit a node; no figure of its own",
	.basis = BASIS_STUDY,
	.source = "study B",
	.hurts = "a VM on one node has the memory bandwidth of one node",
	.by_hand = BY_HAND_PIN,
	.check = check_crossed,
    },
    {
	.id = "vm.on-empty-node",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "vCPUs are on a node without memory",
	.mechanism = "Whatever they touch is on another node.",
	.effect = "latency of another node for every access that misses the caches",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/mm/numa.rst",
	.hurts = "the nodes with memory are fuller",
	.by_hand = BY_HAND_PIN,
	.experiment = "compare the guest's own work on a node with memory",
	.check = check_on_memoryless,
    },
    {
	.id = "vm.bound-but-floating",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Memory is bound to a node and vCPUs are not pinned",
	.mechanism = "vCPUs run on all nodes, their memory stays on one: the share of remote accesses is left to "
		     "chance. The kernel's NUMA balancing may move vCPUs to the memory, in time.",
	.effect = "not known in general",
	.basis = BASIS_REASONED,
	.source = "study B",
	.hurts = "pins keep the scheduler from filling idle CPUs elsewhere",
	.by_hand = BY_HAND_PIN,
	.experiment = "compare vCPUs that float with vCPUs on the node of their memory",
	.check = check_bound_floating,
    },
    {
	.id = "vm.memory-unbound",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "vCPUs are pinned to one node and memory to none",
	.mechanism = "Memory comes from the node of the thread that touches it first. That is a vCPU, but for memory "
		     "that QEMU touches when it starts (preallocation, hugepages, VFIO), or once the node is full.",
	.effect = "none while the node has room and nothing is preallocated; remote memory else",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/numa_memory_policy.rst; libvirt documentation, formatdomain",
	.hurts = "a strict binding fails where the node has no room",
	.by_hand = BY_HAND_MEMORY,
	.experiment = "look at numastat -p PID after some time",
	.check = check_unbound,
    },
    {
	.id = "vm.balanced-in-vain",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM | NEEDS_METAL,
	.title = "NUMA balancing works on a VM that is tied already",
	.mechanism = "Balancing unmaps pages to see who touches them. Where vCPUs and memory are tied to the same node "
		     "there is nothing to move, and the faults remain.",
	.effect = "not known in general; the scan slows down by itself where nothing is to be moved",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/sysctl/kernel.rst: numa_balancing",
	.hurts = "other processes and VMs that are not tied lose what balancing gives them",
	.knobs = "numa_balancing=0",
	.by_hand = "sysctl kernel.numa_balancing=0",
	.experiment = "compare numa_balancing=0 with 1, with all VMs of the host",
	.check = check_balancing,
    },
    {.id = NULL},
};

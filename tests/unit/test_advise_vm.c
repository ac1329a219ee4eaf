/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the tests of the rules about where VMs run: CPUs, siblings, L3 groups, threads, nodes and cells. */
#include "unit.h"

#include "vm_case.h"

#define NO_PINS                                                                                                        \
	{                                                                                                              \
		OWN_PINS, ""                                                                                           \
	}
#define NO_EMULATOR                                                                                                    \
	{                                                                                                              \
		"<emulatorpin cpuset='4-5'/>", ""                                                                      \
	}
#define NO_MEMORY_NODES                                                                                                \
	{                                                                                                              \
		"<memory mode='strict' nodeset='0'/>", ""                                                              \
	}
#define IN_SET(list)                                                                                                   \
	{                                                                                                              \
		"placement='static'", "placement='static' cpuset='" list "'"                                           \
	}
#define MORE_TUNE(xml)                                                                                                 \
	{                                                                                                              \
		"</cputune>", xml "</cputune>"                                                                         \
	}
#define IOTHREADS(number)                                                                                              \
	{                                                                                                              \
		"<cputune>", "<iothreads>" number "</iothreads><cputune>"                                              \
	}
#define ON(...)                                                                                                        \
	{                                                                                                              \
		OWN_PINS, PINS(__VA_ARGS__)                                                                            \
	}
#define DISK(xml)                                                                                                      \
	{                                                                                                              \
		"<devices>", "<devices><disk type='file' device='disk'>" xml "</disk>"                                 \
	}
#define CELLS(first, second)                                                                                           \
	{                                                                                                              \
		"</cpu>", "<numa><cell id='0' cpus='" first "' memory='2' unit='GiB'/><cell id='1' cpus='" second      \
			  "' memory='2' unit='GiB'/></numa></cpu>"                                                     \
	}
#define MEMNODES(first, second)                                                                                        \
	{                                                                                                              \
		"</numatune>", "<memnode cellid='0' mode='strict' nodeset='" first                                     \
			       "'/><memnode cellid='1' mode='strict' nodeset='" second "'/></numatune>"                \
	}
#define ON_BOTH_NODES ON(0, 16, 1, 17, 8, 24, 9, 25)

static struct cpuset a_set;

static void isolated(struct host *host)
{
	a_set = cpuset_range(0, 3);
	host->cpu.isolated =
	    (struct fact){.state = FACT_VALUE, .type = FACT_CPUS, .source = "isolated", .cpus = &a_set};
}

static void isolated_half(struct host *host)
{
	isolated(host);
	a_set = cpuset_range(0, 1);
}

static void offline_cpu_1(struct host *host)
{
	a_set = cpuset_range(0, 31);
	cpuset_remove(&a_set, 1);
	host->cpu.online = (struct fact){.state = FACT_VALUE, .type = FACT_CPUS, .source = "online", .cpus = &a_set};
}

static void no_smt(struct host *host)
{
	host->topology.threads_per_core = 1;
}

static void intel(struct host *host)
{
	host->cpu.is_amd = false;
}

static void x3d(struct host *host)
{
	struct host_topology *t = &host->topology;
	struct topology_l3 *l3s = ARENA_ARRAY(host->arena, (size_t)t->l3_count, struct topology_l3);

	memcpy(l3s, t->l3s, (size_t)t->l3_count * sizeof(*l3s));
	l3s[0].size_kib = 98304;
	l3s[0].large = true;
	t->l3s = l3s;
	t->x3d = true;
	t->large_l3_cpus = l3s[0].cpus;
}

static void l3_unknown(struct host *host)
{
	host->topology.l3_known = false;
}

static void balancing(struct host *host)
{
	host->memory.numa_balancing = fact_number("numa_balancing", UNIT_NONE, 1, "/proc/sys/kernel/numa_balancing");
}

static void empty_node(struct host *host, int node)
{
	struct host_topology *t = &host->topology;
	struct topology_node *nodes = ARENA_ARRAY(host->arena, (size_t)t->node_count, struct topology_node);

	memcpy(nodes, t->nodes, (size_t)t->node_count * sizeof(*nodes));
	nodes[node].memoryless = true;
	t->nodes = nodes;
}

static void node_0_empty(struct host *host)
{
	empty_node(host, 0);
}

static void node_1_empty(struct host *host)
{
	empty_node(host, 1);
}

static void narrow_cgroup(struct vm *vm)
{
	vm->cgroup_cpus = (struct vm_set){.given = true, .set = cpuset_range(0, 3)};
}

static void wide_cgroup(struct vm *vm)
{
	vm->cgroup_cpus = (struct vm_set){.given = true, .set = cpuset_range(0, 31)};
}

static void is_proxmox(struct vm *vm)
{
	vm->source = VM_PROXMOX_CONF;
}

/* Threads run on 8-15 instead of the pins: the affinity is what is judged. */
static void moved(struct vm *vm)
{
	for (int id = 0; id < 8; id++)
		vm->vcpus[id].running = (struct vm_set){.given = true, .set = cpuset_range(8 + id, 8 + id)};
}

static const struct vm_case cpu_cases[] = {
    {"vm.cpu-missing", ADVISE_WARN, "CPU 525", NULL, NULL, {IN_SET("0-3,525")}},
    {"vm.cpu-missing", ADVISE_FAIL, "CPU 99", NULL, NULL, {{"cpuset='3'", "cpuset='99'"}}},
    {"vm.cpu-offline", ADVISE_FAIL, "CPU 1 is named", offline_cpu_1, NULL, {{NULL, NULL}}},
    {"vm.cpu-list-unclear", ADVISE_FAIL, "vCPU 7", NULL, NULL, {{"cpuset='19'", "cpuset='nineteen'"}}},
    {"vm.cgroup-narrower", ADVISE_WARN, "16-19", NULL, narrow_cgroup, {{NULL, NULL}}},
    {"vm.cgroup-narrower", VM_SILENT, NULL, NULL, wide_cgroup, {{NULL, NULL}}},
    {"vm.isolcpus-range", ADVISE_WARN, "siblings 16-19", isolated, NULL, {NO_PINS, IN_SET("0-3")}},
    {"vm.isolcpus-range", VM_SILENT, NULL, isolated, NULL, {ON(0, 1, 2, 3, 0, 1, 2, 3)}},
    {"vm.isolcpus-range", VM_SILENT, NULL, isolated, NULL, {NO_PINS, IN_SET("8-11")}},
    {"vm.isolated-partly", ADVISE_ADVICE, "0-1 are isolated", isolated_half, NULL, {{NULL, NULL}}},
    {"vm.vcpus-on-one-cpu", ADVISE_WARN, "CPU 0 carries", NULL, NULL, {ON(0, 0, 1, 17, 2, 18, 3, 19)}},
    {"vm.partly-pinned", ADVISE_WARN, "vCPUs 7 are not", NULL, NULL, {{"<vcpupin vcpu='7' cpuset='19'/>", ""}}},
    {"vm.partly-pinned", VM_SILENT, NULL, NULL, NULL, {NO_PINS}},
    {"vm.realtime-floating",
     ADVISE_WARN,
     "0-7",
     NULL,
     NULL,
     {NO_PINS, MORE_TUNE("<vcpusched vcpus='0-7' scheduler='rr' priority='1'/>")}},
    {"vm.realtime-floating",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {MORE_TUNE("<vcpusched vcpus='0-7' scheduler='fifo' "
		"priority='1'/>")}},
    {"vm.realtime-floating",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {NO_PINS, MORE_TUNE("<vcpusched vcpus='0-7' "
			 "scheduler='batch'/>")}},
    {"vm.realtime-starves-emulator",
     ADVISE_WARN,
     NULL,
     NULL,
     NULL,
     {{"cpuset='4-5'", "cpuset='1'"}, MORE_TUNE("<vcpusched vcpus='2' scheduler='fifo' priority='1'/>")}},
    {"vm.realtime-starves-emulator",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {{"cpuset='4-5'", "cpuset='1,5'"}, MORE_TUNE("<vcpusched vcpus='2' scheduler='fifo' priority='1'/>")}},
    {"vm.more-vcpus-than-cpus", ADVISE_WARN, "40 vCPUs on 32", NULL, NULL, {{">8</vcpu>", ">40</vcpu>"}}},
    {"vm.more-vcpus-than-cpus", VM_SILENT, NULL, NULL, NULL, {{">8</vcpu>", " current='8'>40</vcpu>"}}},
    {"vm.one-set", ADVISE_INFO, "Proxmox (8-15)", NULL, is_proxmox, {NO_PINS, IN_SET("8-15")}},
    {"vm.one-set", VM_SILENT, NULL, NULL, NULL, {IN_SET("0-3,16-19")}},
    {"vm.on-cpu-0", VM_SILENT, NULL, NULL, NULL, {ON(8, 24, 9, 25, 10, 26, 11, 27)}},
    {"vm.placement-auto", ADVISE_INFO, NULL, NULL, NULL, {{"placement='static'", "placement='auto'"}}},
};

static const struct vm_case sibling_cases[] = {
    {"vm.sibling-order", ADVISE_WARN, "0,16,1,17,2,18,3,19", NULL, NULL, {ON(0, 1, 2, 3, 16, 17, 18, 19)}},
    {"vm.sibling-order", ADVISE_WARN, "vCPU 0 on CPU 8", NULL, moved, {{NULL, NULL}}},
    {"vm.sibling-order", VM_SILENT, NULL, no_smt, NULL, {ON(0, 1, 2, 3, 16, 17, 18, 19)}},
    {"vm.sibling-order", VM_SILENT, NULL, NULL, NULL, {ON(0, 1, 2, 3, 4, 5, 6, 7), {"threads='2'", "threads='1'"}}},
    {"vm.sibling-order", VM_SILENT, NULL, offline_cpu_1, NULL, {ON(0, 1, 2, 3, 16, 17, 18, 19)}},
    {"vm.threads-without-smt", ADVISE_WARN, NULL, no_smt, NULL, {{NULL, NULL}}},
    {"vm.second-threads-only", ADVISE_WARN, "first threads 1-7", NULL, NULL, {NO_PINS, IN_SET("17-23")}},
    {"vm.second-threads-only", VM_SILENT, NULL, NULL, NULL, {NO_PINS, IN_SET("1-7")}},
    {"vm.siblings-open", ADVISE_INFO, "16-19", NULL, NULL, {NO_PINS, IN_SET("0-3")}},
    {"vm.topoext-missing",
     ADVISE_WARN,
     "not asked for",
     NULL,
     NULL,
     {{"<feature policy='require' "
       "name='topoext'/>",
       ""}}},
    {"vm.topoext-missing", ADVISE_WARN, "disabled", NULL, NULL, {{"require", "disable"}}},
    {"vm.topoext-missing", VM_SILENT, NULL, intel, NULL, {{"require", "disable"}}},
    {"vm.topoext-missing",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {{"<feature policy='require' name='topoext'/>", "<model>EPYC-Milan</model>"}, {"host-passthrough", "custom"}}},
    {"vm.smt-hidden",
     ADVISE_ADVICE,
     "8 vCPUs on 4 host cores",
     NULL,
     NULL,
     {{"cores='4' threads='2'", "cores='8' threads='1'"}}},
    {"vm.smt-hidden", VM_SILENT, NULL, NULL, NULL, {NO_PINS, {"cores='4' threads='2'", "cores='8' threads='1'"}}},
    {"vm.smt-hidden", /* a core for each: the scheduler chooses */
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {NO_PINS, IN_SET("0-7,16-23"), {"cores='4' threads='2'", "cores='8' threads='1'"}}},
};

static const struct vm_case l3_cases[] = {
    {"vm.split-l3",
     ADVISE_WARN,
     "lie in 2 L3 groups (0-1,16-17; 4-5,20-21); one holds 8",
     NULL,
     NULL,
     {ON(0, 16, 1, 17, 4, 20, 5, 21)}},
    {"vm.split-l3",
     ADVISE_ADVICE,
     "a whole core each",
     NULL,
     NULL,
     {ON(0, 1, 2, 3, 4, 5, 6, 7), {"threads='2'", "threads='1'"}}},
    {"vm.split-l3", ADVISE_ADVICE, NULL, NULL, NULL, {NO_PINS, IN_SET("0-7")}},
    {"vm.split-l3", VM_SILENT, NULL, l3_unknown, NULL, {ON(0, 16, 1, 17, 4, 20, 5, 21)}},
    {"vm.split-l3", VM_SILENT, NULL, NULL, NULL, {NO_PINS}},
    {"vm.x3d-straddle", ADVISE_WARN, "96 MiB", x3d, NULL, {ON(0, 16, 1, 17, 4, 20, 5, 21)}},
    {"vm.x3d-straddle", VM_SILENT, NULL, x3d, NULL, {{NULL, NULL}}},
    {"vm.x3d-group", ADVISE_INFO, "the one with the large", x3d, NULL, {{NULL, NULL}}},
    {"vm.x3d-group", ADVISE_INFO, "the one without the large", x3d, NULL, {ON(4, 20, 5, 21, 6, 22, 7, 23)}},
    {"vm.guest-l3-untrue",
     ADVISE_WARN,
     "on the host they do not",
     NULL,
     NULL,
     {ON(0, 16, 1, 17, 4, 20, 5, 21), {"</cpu>", "<cache mode='passthrough'/></cpu>"}}},
    {"vm.guest-l3-untrue", VM_SILENT, NULL, NULL, NULL, {{"</cpu>", "<cache mode='passthrough'/></cpu>"}}},
    {"vm.guest-l3-untrue",
     VM_SILENT,
     NULL,
     intel,
     NULL,
     {ON(0, 16, 1, 17, 4, 20, 5, 21), {"</cpu>", "<cache mode='passthrough'/></cpu>"}}},
    {"vm.dies-unset",
     ADVISE_ADVICE,
     "dies='2' cores='4'",
     NULL,
     NULL,
     {{">8</vcpu>", ">16</vcpu>"},
      {"cores='4'", "cores='8'"},
      MORE_TUNE("<vcpupin vcpu='8' cpuset='4'/><vcpupin vcpu='9' cpuset='20'/><vcpupin vcpu='10' "
		"cpuset='5'/><vcpupin vcpu='11' cpuset='21'/><vcpupin vcpu='12' cpuset='6'/><vcpupin vcpu='13' "
		"cpuset='22'/><vcpupin vcpu='14' cpuset='7'/><vcpupin vcpu='15' cpuset='23'/>")}},
    {"vm.l3-span",
     ADVISE_INFO,
     "16 vCPUs span 2 L3 groups, 8+8",
     NULL,
     NULL,
     {{">8</vcpu>", ">16</vcpu>"},
      {"cores='4'", "cores='8'"},
      MORE_TUNE("<vcpupin vcpu='8' cpuset='4'/><vcpupin vcpu='9' cpuset='20'/><vcpupin vcpu='10' "
		"cpuset='5'/><vcpupin vcpu='11' cpuset='21'/><vcpupin vcpu='12' cpuset='6'/><vcpupin vcpu='13' "
		"cpuset='22'/><vcpupin vcpu='14' cpuset='7'/><vcpupin vcpu='15' cpuset='23'/>")}},
    {"vm.whole-l3",
     ADVISE_GOOD,
     "fill one L3 group (0-3,16-19) in the order of siblings, node 0",
     NULL,
     NULL,
     {{NULL, NULL}}},
    {"vm.whole-l3", VM_SILENT, NULL, NULL, NULL, {ON(0, 1, 2, 3, 16, 17, 18, 19)}},
    {"vm.whole-l3", VM_SILENT, NULL, NULL, NULL, {ON_BOTH_NODES}},
    {"vm.cachetune-id",
     ADVISE_FAIL,
     "L3 id 9",
     NULL,
     NULL,
     {MORE_TUNE("<cachetune vcpus='0-1'><cache id='9' level='3' type='both' size='3' unit='MiB'/></cachetune>")}},
    {"vm.cachetune-id",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {MORE_TUNE("<cachetune vcpus='0-1'><cache id='1' level='3' type='both' size='3' unit='MiB'/></cachetune>")}},
    {"vm.cachetune-floating",
     ADVISE_WARN,
     "0-1",
     NULL,
     NULL,
     {NO_PINS,
      MORE_TUNE("<cachetune vcpus='0-1'><cache id='1' level='3' type='both' size='3' unit='MiB'/></cachetune>")}},
};

static const struct vm_case thread_cases[] = {
    {"vm.emulator-on-vcpus", ADVISE_WARN, "shares 1 CPU", NULL, NULL, {{"cpuset='4-5'", "cpuset='3-5'"}}},
    {"vm.emulator-on-vcpus", VM_SILENT, NULL, NULL, NULL, {NO_PINS, IN_SET("0-5")}},
    {"vm.iothread-on-vcpus",
     ADVISE_WARN,
     "CPUs 3",
     NULL,
     NULL,
     {IOTHREADS("1"), MORE_TUNE("<iothreadpin iothread='1' cpuset='3-4'/>")}},
    {"vm.iothread-on-vcpus",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {IOTHREADS("1"), MORE_TUNE("<iothreadpin iothread='1' cpuset='6'/>")}},
    {"vm.iothreadpin-without-iothread",
     ADVISE_WARN,
     "no I/O threads",
     NULL,
     NULL,
     {MORE_TUNE("<iothreadpin iothread='1' cpuset='6'/>")}},
    {"vm.iothreadpin-without-iothread",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {IOTHREADS("1"), MORE_TUNE("<iothreadpin iothread='1' cpuset='6'/>")}},
    {"vm.iothread-missing",
     ADVISE_FAIL,
     "I/O thread 2",
     NULL,
     NULL,
     {IOTHREADS("1"), DISK("<driver name='qemu' iothread='2'/><target dev='vda' bus='virtio'/>")}},
    {"vm.iothread-missing",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {IOTHREADS("2"), DISK("<driver name='qemu' iothread='2'/><target dev='vda' bus='virtio'/>")}},
    {"vm.iothreads-unused",
     ADVISE_INFO,
     "only one is",
     NULL,
     NULL,
     {IOTHREADS("2"), DISK("<driver name='qemu' iothread='2'/><target dev='vda' bus='virtio'/>")}},
    {"vm.iothreads-unused",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {IOTHREADS("1"), DISK("<driver name='qemu' iothread='1'/><target dev='vda' bus='virtio'/>")}},
    {"vm.no-emulatorpin", ADVISE_ADVICE, "may float", NULL, NULL, {NO_EMULATOR}},
    {"vm.no-emulatorpin", ADVISE_ADVICE, "CPU set 0-3,16-19", NULL, NULL, {NO_EMULATOR, IN_SET("0-3,16-19")}},
    {"vm.no-emulatorpin", VM_SILENT, NULL, NULL, NULL, {NO_EMULATOR, IN_SET("4-5")}},
    {"vm.no-emulatorpin", VM_SILENT, NULL, NULL, NULL, {NO_EMULATOR, NO_PINS}},
    {"vm.vhost-uncounted",
     ADVISE_ADVICE,
     "8 vhost workers",
     NULL,
     NULL,
     {{"<devices>", "<devices><interface type='bridge'><model type='virtio'/><driver queues='8'/></interface>"}}},
    {"vm.vhost-uncounted",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {{"<devices>", "<devices><interface type='bridge'><model type='virtio'/><driver queues='2'/></interface>"}}},
    {"vm.emulator-on-other-node",
     ADVISE_ADVICE,
     "on node 1, the vCPUs on node 0",
     NULL,
     NULL,
     {{"cpuset='4-5'", "cpuset='12-13'"}}},
    {"vm.emulator-apart", VM_SILENT, NULL, NULL, NULL, {{"cpuset='4-5'", "cpuset='3-5'"}}},
};

static const struct vm_case node_cases[] = {
    {"vm.node-missing", ADVISE_FAIL, "node 5", NULL, NULL, {{"nodeset='0'", "nodeset='0,5'"}}},
    {"vm.memory-on-empty-node", ADVISE_FAIL, "node 0", node_0_empty, NULL, {{NULL, NULL}}},
    {"vm.memory-on-empty-node", ADVISE_WARN, "node 1", node_1_empty, NULL, {{"nodeset='0'", "nodeset='0-1'"}}},
    {"vm.memory-on-empty-node", VM_SILENT, NULL, node_1_empty, NULL, {{NULL, NULL}}},
    {"vm.on-empty-node", ADVISE_ADVICE, "node 0", node_0_empty, NULL, {{NULL, NULL}}},
    {"vm.strict-no-room", ADVISE_FAIL, "has 32 GiB in all, and needs 40 GiB", NULL, NULL, {{">4<", ">40<"}}},
    {"vm.strict-no-room", VM_SILENT, NULL, NULL, NULL, {{">4<", ">40<"}, {"strict", "preferred"}}},
    {"vm.memory-over-host", ADVISE_WARN, "80 GiB", NULL, NULL, {{">4<", ">80<"}}},
    {"vm.memory-remote", ADVISE_WARN, "node 1: all of it", NULL, NULL, {{"nodeset='0'", "nodeset='1'"}}},
    {"vm.memory-remote", VM_SILENT, NULL, NULL, NULL, {NO_PINS, {"nodeset='0'", "nodeset='1'"}}},
    {"vm.crosses-nodes", ADVISE_WARN, "4 on node 0, 4 on node 1", NULL, NULL, {ON_BOTH_NODES}},
    {"vm.crosses-nodes", VM_SILENT, NULL, NULL, NULL, {ON_BOTH_NODES, CELLS("0-3", "4-7")}},
    {"vm.bound-but-floating", ADVISE_ADVICE, "node 0", NULL, NULL, {NO_PINS}},
    {"vm.bound-but-floating", VM_SILENT, NULL, NULL, NULL, {NO_PINS, NO_MEMORY_NODES}},
    {"vm.bound-but-floating", VM_SILENT, NULL, NULL, NULL, {NO_PINS, CELLS("0-3", "4-7")}}, /* of cells that is said */
    {"vm.memory-unbound", ADVISE_ADVICE, "node 0", NULL, NULL, {NO_MEMORY_NODES}},
    {"vm.memory-unbound", VM_SILENT, NULL, NULL, NULL, {NO_MEMORY_NODES, NO_PINS}},
    {"vm.balanced-in-vain", ADVISE_ADVICE, "node 0", balancing, NULL, {{NULL, NULL}}},
    {"vm.balanced-in-vain", VM_SILENT, NULL, balancing, NULL, {NO_PINS}},
};

static const struct vm_case cell_cases[] = {
    {"vm.cells-vcpus", ADVISE_FAIL, "vCPUs 8-9", NULL, NULL, {CELLS("0-3", "4-9")}},
    {"vm.cells-vcpus", ADVISE_FAIL, "more than one", NULL, NULL, {CELLS("0-4", "4-7")}},
    {"vm.cells-vcpus", ADVISE_WARN, "in no cell", NULL, NULL, {CELLS("0-3", "4-6")}},
    {"vm.cells-vcpus", VM_SILENT, NULL, NULL, NULL, {CELLS("0-3", "4-7")}},
    {"vm.memnode-without-cell", ADVISE_FAIL, "no cells", NULL, NULL, {MEMNODES("0", "1")}},
    {"vm.memnode-without-cell", VM_SILENT, NULL, NULL, NULL, {MEMNODES("0", "1"), CELLS("0-3", "4-7")}},
    {"vm.cells-cut-sockets",
     ADVISE_WARN,
     "socket 0 is vCPUs 0-3",
     NULL,
     NULL,
     {CELLS("0-1,4-5", "2-3,6-7"), {"sockets='1' dies='1' cores='4'", "sockets='2' dies='1' cores='2'"}}},
    {"vm.cells-cut-sockets", ADVISE_WARN, "guest's cores", NULL, NULL, {CELLS("0-2", "3-7")}},
    {"vm.cells-cut-sockets", VM_SILENT, NULL, NULL, NULL, {CELLS("0-3", "4-7")}},
    {"vm.cell-memory-elsewhere",
     ADVISE_WARN,
     "Cell 0 has its vCPUs on node 0 and its memory on node 1",
     NULL,
     NULL,
     {ON_BOTH_NODES, CELLS("0-3", "4-7"), MEMNODES("1", "0")}},
    {"vm.cell-memory-elsewhere", VM_SILENT, NULL, NULL, NULL, {ON_BOTH_NODES, CELLS("0-3", "4-7"), MEMNODES("0", "1")}},
    {"vm.cell-over-nodes",
     ADVISE_WARN,
     "on nodes 0-1",
     NULL,
     NULL,
     {ON(0, 16, 8, 24, 1, 17, 9, 25), CELLS("0-3", "4-7")}},
    {"vm.cell-over-nodes", VM_SILENT, NULL, NULL, NULL, {ON_BOTH_NODES, CELLS("0-3", "4-7")}},
    {"vm.cells-unbacked", ADVISE_ADVICE, "2 cells", NULL, NULL, {NO_PINS, CELLS("0-3", "4-7")}},
    {"vm.cells-unbacked",
     VM_SILENT,
     NULL,
     NULL,
     NULL,
     {NO_PINS, CELLS("0-3", "4-7"), {"nodeset='0'/>", "nodeset='0,5'/>"}}},
    {"vm.cells-on-nodes", ADVISE_GOOD, NULL, NULL, NULL, {ON_BOTH_NODES, CELLS("0-3", "4-7"), MEMNODES("0", "1")}},
};

#define TESTS_OF(subject)                                                                                              \
	static void test_##subject(void **state)                                                                       \
	{                                                                                                              \
		(void)state;                                                                                           \
		vm_cases_run(subject##_cases, ARRAY_SIZE(subject##_cases));                                            \
	}                                                                                                              \
	static void cover_##subject(void **state)                                                                      \
	{                                                                                                              \
		(void)state;                                                                                           \
		vm_cases_cover(advise_vm_##subject##_rules, subject##_cases, ARRAY_SIZE(subject##_cases));             \
	}

TESTS_OF(cpu)
TESTS_OF(sibling)
TESTS_OF(l3)
TESTS_OF(node)
TESTS_OF(cell)

static void test_thread(void **state)
{
	(void)state;
	vm_cases_run(thread_cases, ARRAY_SIZE(thread_cases));
}

static void test_well_made(void **state)
{
	struct vm *vm;
	struct advise_result *result = vm_cases_unchanged(&vm);

	(void)state;
	for (size_t i = 0; i < result->finding_count; i++)
		if (result->findings[i].severity < ADVISE_INFO)
			fail_msg("a well-made VM: %s: %s", result->findings[i].rule->id, result->findings[i].title);
	assert_true(result->count_by_severity[ADVISE_GOOD] >= 2);
	(void)advise_result_free(result);
	(void)vm_free(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_well_made), cmocka_unit_test(test_cpu),      cmocka_unit_test(cover_cpu),
	    cmocka_unit_test(test_sibling),   cmocka_unit_test(cover_sibling), cmocka_unit_test(test_l3),
	    cmocka_unit_test(cover_l3),	      cmocka_unit_test(test_thread),   cmocka_unit_test(test_node),
	    cmocka_unit_test(cover_node),     cmocka_unit_test(test_cell),     cmocka_unit_test(cover_cell),
	};

	return cmocka_run_group_tests(tests, vm_cases_setup, vm_cases_teardown);
}

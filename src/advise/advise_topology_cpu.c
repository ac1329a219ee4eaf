/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the findings about CPUs: which there are, which are on line, how threads and nodes are numbered. */
#include "advise_check.h"

/* Firmware lists sockets or slots that are empty: possible, never present. */
static void check_slots(struct advise_check *c)
{
	const struct cpuset *possible, *present;

	if (!advise_cpus(c, &c->host->cpu.possible, &possible) || !advise_cpus(c, &c->host->cpu.present, &present))
		return;
	struct cpuset slots = cpuset_minus(possible, present);

	if (cpuset_empty(&slots))
		return;
	(void)advise_report(c, "The firmware declares %d CPUs (%s) of which %d exist: %s are slots for hot-plug",
			    cpuset_count(possible), advise_cpu_list(c, possible), cpuset_count(present),
			    advise_cpu_list(c, &slots));
}

static bool is_smt_off(const struct host *host)
{
	return fact_is_text(&host->cpu.smt_control, "off") || fact_is_text(&host->cpu.smt_control, "forceoff");
}

static void check_smt_off(struct advise_check *c)
{
	struct cpuset off = host_cpu_switched_off(c->host);

	if (!is_smt_off(c->host) || !advise_note(c, &c->host->cpu.smt_control))
		return;
	if (cpuset_empty(&off))
		(void)advise_report(c, "SMT is switched off");
	else
		(void)advise_report(c, "SMT is switched off: %d second threads (%s) are off line", cpuset_count(&off),
				    advise_cpu_list(c, &off));
}

static void check_offline(struct advise_check *c)
{
	struct cpuset off = host_cpu_switched_off(c->host);
	int count = cpuset_count(&off);

	if (count == 0 || is_smt_off(c->host) || !advise_note(c, &c->host->cpu.online) ||
	    !advise_note(c, &c->host->cpu.present))
		return;
	(void)advise_report(c, "%d CPU%s %s there but off line: %s", count, count == 1 ? "" : "s",
			    count == 1 ? "is" : "are", advise_cpu_list(c, &off));
}

/* Some cores with two threads, some with one. */
static void check_smt_mixed(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct cpuset lone = {0};
	int paired = 0;

	if (!t->core_known)
		return;
	for (int i = 0; i < t->core_count; i++) {
		if (cpuset_count(&t->cores[i].cpus) > 1)
			paired++;
		else
			lone = cpuset_or(&lone, &t->cores[i].cpus);
	}
	if (paired == 0 || cpuset_empty(&lone))
		return;
	advise_note_text(c, "threads of cores", "two on %d cores, one on CPUs %s", paired, advise_cpu_list(c, &lone));
	(void)advise_note(c, &c->host->cpu.online);
	int alone = cpuset_count(&lone);

	(void)advise_report(c, "%d core%s one thread on line (CPUs %s), %d two", alone, alone == 1 ? " has" : "s have",
			    advise_cpu_list(c, &lone), paired);
}

/* Siblings that are neighbours (0,1) surprise those who expect N and N + cores. */
static void check_adjacent_siblings(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	int adjacent = 0, paired = 0;

	for (int i = 0; i < t->core_count; i++) {
		int first = cpuset_first(&t->cores[i].cpus), second = cpuset_next(&t->cores[i].cpus, first);

		paired += second >= 0;
		adjacent += second == first + 1;
	}
	if (!t->core_known || paired < 2 || adjacent != paired)
		return;
	advise_note_text(c, "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "%s",
			 advise_cpu_list(c, &t->cores[0].cpus));
	int first = cpuset_first(&t->cores[0].cpus);

	(void)advise_report(c, "Sibling threads are neighbours (%d and %d), not N and N+%d", first, first + 1,
			    t->core_count);
}

/* CPU numbers that go round the nodes: a range of numbers is no node. */
static void check_interleaved_nodes(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	int changes = 0, before = -1, nodes = 0;

	for (int i = 0; i < t->node_count; i++)
		nodes += !cpuset_empty(&t->nodes[i].cpus);
	if (!t->node_known || t->node_conflict || nodes < 2)
		return;
	for (int cpu = 0; cpu < t->cpu_count; cpu++) {
		int node = topology_node_of(t, cpu);

		if (node < 0)
			continue;
		changes += before >= 0 && node != before;
		before = node;
	}
	/* In the usual orders the node changes once per node and thread rank: at most nodes x threads times. */
	if (changes < t->thread_count / 2)
		return;
	const char *list = advise_cpu_list(c, &t->nodes[0].cpus);

	advise_note_text(c, advise_printf(c, "/sys/devices/system/node/node%d/cpulist", t->nodes[0].os_node), "%s",
			 list);
	(void)advise_report(c, "CPU numbers go round the %d nodes: node %d is %.40s%s", nodes, t->nodes[0].os_node,
			    list, strlen(list) > 40 ? "..." : "");
}

static void check_guest(struct advise_check *c)
{
	if (!host_is_guest(c->host) || !advise_note(c, &c->host->os.hypervisor))
		return;
	(void)advise_report(c, "This host is a guest: its L3 groups, nodes and siblings are what the hypervisor tells");
}

static void check_kernel_limit(struct advise_check *c)
{
	const struct cpuset *present;
	int64_t largest;

	if (!advise_number(c, &c->host->cpu.kernel_max, &largest) || !advise_cpus(c, &c->host->cpu.present, &present))
		return;
	int count = cpuset_count(present);

	/* A kernel for one CPU on a machine with one CPU is as it should be; so are all where numbers are left. */
	if (largest < 1 || !cpuset_has(present, (int)MIN_OF(largest, (int64_t)CPUSET_MAX)))
		return;
	(void)advise_report(c,
			    "The kernel is built for %d CPUs and all numbers are taken (%d present): there may be more",
			    (int)largest + 1, count);
}

const struct advise_rule advise_topology_cpu_rules[] = {
    {
	.id = "topology.smt-mixed",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Some cores have both threads on line, others only one",
	.mechanism =
	    "A vCPU on a core with one thread gets the whole core, its neighbour half of one: the VM is as fast as its "
	    "slowest vCPU. Guests that are shown sibling pairs get pairs that do not exist here.",
	.effect = "Uneven vCPUs; a core runs up to about twice as much for a thread that is alone on it",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/core-api/cpu_hotplug.rst",
	.hurts = "all on: latency of what had a core for itself; all off: throughput",
	.by_hand = "echo on > /sys/devices/system/cpu/smt/control, or off; single CPUs: echo 1 > "
		   "/sys/devices/system/cpu/cpuN/online",
	.check = check_smt_mixed,
    },
    {
	.id = "topology.kernel-cpu-limit",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "The kernel's own limit of CPUs is reached",
	.mechanism = "A kernel built with a small NR_CPUS leaves further CPUs unused, and says so only in its log.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/cputopology.rst (kernel_max)",
	.hurts = "nothing known",
	.by_hand = "journalctl -k | grep -i -e nr_cpus -e 'CPUs ignored'",
	.check = check_kernel_limit,
    },
    {
	.id = "topology.smt-off",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "SMT is switched off",
	.mechanism =
	    "Each core runs one thread: less throughput where all threads are busy, steadier latency, and no sharing "
	    "of a core between VMs.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.txt (nosmt), /sys/devices/system/cpu/smt/control",
	.hurts = "nothing known",
	.by_hand = "cat /sys/devices/system/cpu/smt/control; echo on > it (unless it says forceoff)",
	.experiment = "The host's main load with SMT on and off",
	.check = check_smt_off,
    },
    {
	.id = "topology.cpus-offline",
	.severity = ADVISE_INFO,
	.needs = 0,
	.title = "CPUs are there but off line",
	.mechanism =
	    "They were taken off line by hand, by a service, by maxcpus= on the command line, or by the kernel after a "
	    "fault. A pin to such a CPU fails.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/core-api/cpu_hotplug.rst",
	.hurts = "nothing known",
	.by_hand = "cat /sys/devices/system/cpu/offline; echo 1 > /sys/devices/system/cpu/cpuN/online",
	.check = check_offline,
    },
    {
	.id = "topology.possible-more-than-present",
	.severity = ADVISE_INFO,
	.needs = 0,
	.title = "The firmware declares more CPUs than there are",
	.mechanism = "Slots for hot-plug count as possible CPUs. There is nothing in them to switch on. Per-CPU "
		     "memory is kept for them, and programs that size themselves by possible CPUs go wrong.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/core-api/cpu_hotplug.rst (possible_cpus=); scx issue 147",
	.hurts = "nothing known",
	.by_hand = "cat /sys/devices/system/cpu/{possible,present}; nr_cpus=N on the command line drops the slots",
	.check = check_slots,
    },
    {
	.id = "topology.adjacent-siblings",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Sibling threads have neighbouring CPU numbers",
	.mechanism =
	    "Many recipes assume that N and N + cores are one core. On this host 0 and 1 are, so pins copied from such "
	    "a recipe put two vCPUs on one core and leave others idle.",
	.basis = BASIS_REASONED,
	.source = "thread_siblings_list of each core",
	.hurts = "nothing known",
	.by_hand = "grep . /sys/devices/system/cpu/cpu*/topology/thread_siblings_list",
	.check = check_adjacent_siblings,
    },
    {
	.id = "topology.interleaved-nodes",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "CPU numbers go round the NUMA nodes",
	.mechanism =
	    "Neighbouring numbers lie on different nodes, so a range such as 0-7 is spread over the machine. Pins must "
	    "follow the lists of the nodes.",
	.basis = BASIS_REASONED,
	.source = "cpulist of each node",
	.hurts = "nothing known",
	.by_hand = "numactl --hardware",
	.check = check_interleaved_nodes,
    },
    {
	.id = "topology.guest",
	.severity = ADVISE_INFO,
	.needs = 0,
	.title = "This host is itself a guest",
	.mechanism = "L3 groups, nodes and sibling threads are those that the hypervisor shows; where its vCPUs run, "
		     "and whether "
		     "they stay there, cannot be seen from inside.",
	.basis = BASIS_REASONED,
	.source = "hypervisor flag of CPUID and firmware names; hwloc issue 712",
	.hurts = "nothing known",
	.by_hand = "systemd-detect-virt; run hvtune on the machine below",
	.check = check_guest,
    },
    {.id = NULL},
};

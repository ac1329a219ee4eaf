/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the findings about memory nodes, L3 groups and packages. */
#include "advise_check.h"

#define NODE_DIR "/sys/devices/system/node"

static const char *set_of_nodes(struct advise_check *c, const struct host_topology *t, bool memoryless)
{
	struct cpuset nodes = {0};

	for (int i = 0; i < t->node_count; i++)
		if (!cpuset_empty(&t->nodes[i].cpus) && t->nodes[i].memoryless == memoryless)
			cpuset_add(&nodes, t->nodes[i].os_node);
	return advise_cpu_list(c, &nodes);
}

static const char *nodes_word(int count)
{
	return count == 1 ? "node" : "nodes";
}

/* Nodes with CPUs but without memory; notes the memory of every node. 0 when L3 as NUMA explains them. */
static int count_memoryless(struct advise_check *c, int *ret_with_cpus)
{
	const struct host_topology *t = &c->host->topology;
	int memoryless = 0;

	*ret_with_cpus = 0;
	if (t->node_count < 2 || fact_is_on(&t->l3_as_numa))
		return 0;
	for (int i = 0; i < t->node_count; i++) {
		if (cpuset_empty(&t->nodes[i].cpus))
			continue;
		(void)advise_note(c, &t->nodes[i].memory_kib);
		(*ret_with_cpus)++;
		memoryless += t->nodes[i].memoryless;
	}
	return memoryless;
}

/* "1 node", "2 nodes". */
static const char *counted(struct advise_check *c, int count, const char *what)
{
	return advise_printf(c, "%d %s%s", count, what, count == 1 ? "" : "s");
}

static void check_memoryless(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	const char *name = fact_text_or(&c->host->cpu.model_name, "");
	bool made_so = strstr(name, "2970WX") || strstr(name, "2990WX");
	int with_cpus, memoryless = count_memoryless(c, &with_cpus), left = with_cpus - memoryless;

	/* Nodes that are all without memory are fed by others, without CPUs. */
	if (memoryless == 0 || left == 0)
		return;
	/* More than half of the nodes without memory is no part's design: DIMMs are missing. */
	if (memoryless * 2 > with_cpus) {
		(void)advise_report(c, "%d of %d nodes have no memory: DIMMs are only at %s %s", memoryless, with_cpus,
				    nodes_word(left), set_of_nodes(c, t, false));
		return;
	}
	struct advise_finding *finding = advise_report_as(
	    c, ADVISE_ADVICE, "%s %s %s CPUs but no memory: keep VMs on %s %s", nodes_word(memoryless),
	    set_of_nodes(c, t, true), memoryless == 1 ? "has" : "have", nodes_word(left), set_of_nodes(c, t, false));

	finding->detail = made_so ? "This part is made so: two of its four dies have no memory channels"
				  : "Either the channels there have no DIMMs, or the part has no channels there";
}

static void check_cpuless(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct cpuset empty = {0}, all = {0};

	for (int i = 0; i < t->node_count; i++) {
		cpuset_add(&all, t->nodes[i].os_node);
		if (cpuset_empty(&t->nodes[i].cpus))
			cpuset_add(&empty, t->nodes[i].os_node);
	}
	int count = cpuset_count(&empty);

	if (count == 0 || t->node_count < 2)
		return;
	advise_note_text(c, NODE_DIR "/online", "%s", advise_cpu_list(c, &all));
	advise_note_text(c, NODE_DIR "/node*/cpulist", "empty for %s", advise_cpu_list(c, &empty));
	(void)advise_report(c, "%s %s %s no CPUs (node numbers are %s)", nodes_word(count), advise_cpu_list(c, &empty),
			    count == 1 ? "has" : "have", advise_cpu_list(c, &all));
}

static void check_node_conflict(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;

	if (!t->node_conflict)
		return;
	advise_note_text(c, NODE_DIR "/node*/cpulist", "%d node%s on %d package%s", t->node_count,
			 t->node_count == 1 ? "" : "s", t->package_count, t->package_count == 1 ? "" : "s");
	if (host_is_guest(c->host))
		(void)advise_report_as(c, ADVISE_INFO, "The hypervisor's nodes contradict its CPU topology: %s",
				       t->node_conflict);
	else
		(void)advise_report(c, "NUMA nodes contradict the CPU topology: %s", t->node_conflict);
}

static void check_uneven_memory(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	int64_t least = INT64_MAX, most = 0;

	if (t->node_count < 2 || fact_is_on(&t->l3_as_numa))
		return;
	for (int i = 0; i < t->node_count; i++) {
		int64_t kib;

		if (cpuset_empty(&t->nodes[i].cpus) || t->nodes[i].memoryless)
			continue;
		if (!advise_number(c, &t->nodes[i].memory_kib, &kib))
			return;
		least = MIN_OF(least, kib);
		most = MAX_OF(most, kib);
	}
	/* Firmware and kernel take a few GiB from node 0: only a difference of a DIMM counts. */
	if (most == 0 || least > most - most / 4)
		return;
	(void)advise_report(c, "Nodes have unequal memory: from %s to %s", text_kib(c->arena, least),
			    text_kib(c->arena, most));
}

/* ---- BIOS settings that show in nodes ---- */

static void check_l3_as_numa(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	bool on;

	if (!advise_switch(c, &t->l3_as_numa, &on) || !on)
		return;
	int threads = cpuset_count(&t->l3s[0].cpus);

	for (int i = 1; i < t->l3_count; i++)
		if (cpuset_count(&t->l3s[i].cpus) != threads)
			threads = 0;
	if (threads)
		(void)advise_report(
		    c, "%d nodes equal %d L3 groups of %d threads: the BIOS option \"L3 as NUMA domain\" is on",
		    t->node_count, t->l3_count, threads);
	else
		(void)advise_report(c, "%d nodes equal %d L3 groups: the BIOS option \"L3 as NUMA domain\" is on",
				    t->node_count, t->l3_count);
}

static void check_nps(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	const char *name = fact_text_or(&c->host->cpu.model_name, "");
	int64_t nps;

	/* Desktop parts have one node and no choice. */
	if ((!strstr(name, "EPYC") && !strstr(name, "Threadripper")) || !advise_number(c, &t->nps, &nps))
		return;
	if (nps == 0) {
		(void)advise_report(c, "NPS0: one node over both sockets, so the kernel cannot keep memory near");
		return;
	}
	int l3_per_node = t->node_count ? t->l3_count / t->node_count : 0;

	struct advise_finding *finding =
	    advise_report(c, "NPS%d: %d node%s per socket, %d L3 group%s in a node", (int)nps, (int)nps,
			  nps == 1 ? "" : "s", l3_per_node, l3_per_node == 1 ? "" : "s");

	if (nps > 1 && (c->host->cpu.zen == ZEN_1 || c->host->cpu.zen == ZEN_PLUS))
		finding->detail =
		    "On this generation each node is a die; the BIOS calls it memory interleaving by channel";
}

static void check_nps_unclear(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;

	if (fact_known(&t->nps) || fact_known(&t->l3_as_numa) || c->host->cpu.zen == ZEN_NONE || !t->node_known ||
	    t->node_conflict || !t->l3_known || t->node_count <= t->package_count || t->node_count != t->l3_count)
		return;
	advise_note_text(c, NODE_DIR "/node*/cpulist", "%d nodes, each one L3 group", t->node_count);
	(void)advise_report(c,
			    "Each of %d nodes is one L3 group: NPS%d or \"L3 as NUMA domain\", sysfs cannot tell which",
			    t->node_count, t->node_count / MAX_OF(t->package_count, 1));
}

/* ---- L3 groups ---- */

static void check_l3_conflict(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;

	if (!t->l3_conflict)
		return;
	advise_note_text(c, "/sys/devices/system/cpu/cpu*/cache/index3/id", "%d L3 group%s", t->l3_count,
			 t->l3_count == 1 ? "" : "s");
	struct advise_finding *finding = advise_report(c, "The kernel's L3 lists disagree with its cache ids: %s by id",
						       counted(c, t->l3_count, "L3 group"));

	finding->detail = t->l3_conflict;
}

static void check_l3_unknown(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;

	if (t->l3_known || !fact_is_on(&t->state))
		return;
	advise_note_text(c, "/sys/devices/system/cpu/cpu*/cache", "no level 3 cache for %s CPU",
			 t->l3_count ? "every" : "any");
	if (host_is_guest(c->host))
		(void)advise_report(c, "L3 layout unknown: the hypervisor shows no L3 cache to this guest");
	else
		(void)advise_report(c, "L3 layout unknown: the kernel lists no level 3 cache; plans can go by node and "
				       "sibling threads only");
}

static bool cores_per_l3(const struct host_topology *t, int *ret_least, int *ret_most)
{
	if (!t->l3_known || !t->core_known || t->l3_count == 0)
		return false;
	*ret_least = *ret_most = t->l3s[0].core_count;
	for (int i = 1; i < t->l3_count; i++) {
		*ret_least = MIN_OF(*ret_least, t->l3s[i].core_count);
		*ret_most = MAX_OF(*ret_most, t->l3s[i].core_count);
	}
	return true;
}

static const char *l3_counts(struct advise_check *c, const struct host_topology *t)
{
	const char *text = "";

	for (int i = 0; i < t->l3_count && i < 64; i++)
		text = advise_printf(c, "%s%s%d", text, i ? " " : "", t->l3s[i].core_count);
	return text;
}

static void check_one_core_l3(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	int least, most;

	if (!cores_per_l3(t, &least, &most) || most != 1 || t->l3_count < 2)
		return;
	advise_note_text(c, "cores in each L3 group", "%s", l3_counts(c, t));
	(void)advise_report(c, "Every core has an L3 of its own: only a VM of %d vCPU%s shares one L3",
			    MAX_OF(t->threads_per_core, 1), t->threads_per_core > 1 ? "s" : "");
}

static void check_uneven_l3(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct cpuset off = host_cpu_switched_off(c->host);
	int least, most;

	if (!cores_per_l3(t, &least, &most) || least == most)
		return;
	advise_note_text(c, "cores in each L3 group", "%s", l3_counts(c, t));
	struct advise_finding *finding =
	    advise_report(c, "L3 groups have unlike numbers of cores: from %d to %d", least, most);

	if (!cpuset_empty(&off))
		finding->detail = advise_printf(c, "CPUs %s are off line", advise_cpu_list(c, &off));
}

static void check_x3d(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct cpuset rest = {0};
	int64_t large_kib = 0, small_kib = 0;

	if (!t->x3d)
		return;
	for (int i = 0; i < t->l3_count; i++) {
		const struct topology_l3 *l3 = &t->l3s[i];

		advise_note_text(c, advise_printf(c, "L3 of CPUs %s", advise_cpu_list(c, &l3->cpus)), "%s",
				 text_kib(c->arena, l3->size_kib));
		if (l3->large)
			large_kib = l3->size_kib;
		else
			small_kib = l3->size_kib;
		if (!l3->large)
			rest = cpuset_or(&rest, &l3->cpus);
	}
	(void)advise_report(c, "CPUs %s share %s of L3, CPUs %s share %s: where a VM lies matters",
			    advise_cpu_list(c, &t->large_l3_cpus), text_kib(c->arena, large_kib),
			    advise_cpu_list(c, &rest), text_kib(c->arena, small_kib));
}

/* The mean preferred-core rank of the CPUs in or outside a set; -1 when a rank is not known. */
static double mean_rank(const struct host *host, const struct cpuset *large, bool in_large)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < host->cpufreq.policy_count; i++) {
		const struct cpufreq_policy *policy = &host->cpufreq.policies[i];

		if (cpuset_meets(&policy->cpus, large) != in_large)
			continue;
		if (!fact_known(&policy->prefcore_ranking))
			return -1;
		sum += (double)policy->prefcore_ranking.number;
		count++;
	}
	return count ? sum / count : -1;
}

static void check_prefcore_cache(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	double large = mean_rank(c->host, &t->large_l3_cpus, true), rest = mean_rank(c->host, &t->large_l3_cpus, false);
	struct cpuset others;

	if (!t->x3d || large < 0 || rest <= large)
		return;
	others = cpuset_minus(host_cpu_online(c->host), &t->large_l3_cpus);
	advise_note_text(c, "mean amd_pstate_prefcore_ranking", "%.0f on CPUs %s, %.0f on CPUs %s", rest,
			 advise_cpu_list(c, &others), large, advise_cpu_list(c, &t->large_l3_cpus));
	(void)advise_note(c, &c->host->cpufreq.x3d_mode);
	(void)advise_report(
	    c, "Preferred-core ranks favour CPUs %s, the large L3 is on CPUs %s: which is right depends on the guest",
	    advise_cpu_list(c, &others), advise_cpu_list(c, &t->large_l3_cpus));
}

/* ---- packages ---- */

static void check_unlike_packages(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	bool unlike = false;

	for (int i = 0; i < t->package_count; i++) {
		const struct topology_package *package = &t->packages[i], *first = &t->packages[0];

		unlike |= package->core_count != first->core_count || package->l3_count != first->l3_count;
		advise_note_text(c, advise_printf(c, "package %d", package->os_package), "%s in %s",
				 counted(c, package->core_count, "core"), counted(c, package->l3_count, "L3 group"));
	}
	if (unlike && t->core_known)
		(void)advise_report(c, "The %d packages are not alike", t->package_count);
}

static void check_consistent(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;

	if (!t->l3_known || !t->core_known || !t->node_known || t->l3_conflict || t->node_conflict)
		return;
	advise_note_text(c, "topology", "%s, %s, %s, %s, %s", counted(c, t->package_count, "package"),
			 counted(c, t->node_count, "node"), counted(c, t->l3_count, "L3 group"),
			 counted(c, t->core_count, "core"), counted(c, t->thread_count, "thread"));
	(void)advise_report(c, "Packages, nodes, L3 groups and cores are known and fit each other");
}

const struct advise_rule advise_topology_rules[] = {
    {
	.id = "topology.memoryless-node",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "Nodes have CPUs but no memory",
	.mechanism =
	    "All memory of what runs on such a node lies on another one: each cache miss crosses the fabric, and all "
	    "cores queue at the channels that are filled. Either DIMMs are missing, or the part is made so "
	    "(Threadripper 2970WX and 2990WX: two of four dies).",
	.effect = "Remote latency for all memory on these nodes, and the bandwidth of the filled channels only; how "
		  "much that "
		  "costs depends on the workload",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/mm/numa.rst (memoryless nodes); a 2 x EPYC 7551 with DIMMs at 2 of 8 nodes in "
		  "cpuminer-gr-avx2 issue 22",
	.hurts = "VMs share fewer cores when they keep to the nodes with memory",
	.by_hand =
	    "One DIMM in every channel first, in the order of the board's manual; where the part is made so, pin VMs "
	    "and their memory to the nodes that have some (numatune, numactl --membind); look: numactl --hardware",
	.experiment = "The same VM on a node with memory and on one without",
	.check = check_memoryless,
    },
    {
	.id = "topology.node-contradiction",
	.severity = ADVISE_ADVICE,
	.needs = 0,
	.title = "NUMA nodes contradict packages or L3 groups",
	.mechanism =
	    "Firmware tables for memory (SRAT) and for CPUs (APIC ids) were made apart. The scheduler and libvirt "
	    "trust both, so memory that is called local need not be.",
	.effect = "Placement by node may be wrong on such a host; how much cannot be told from here",
	.basis = BASIS_REASONED,
	.source = "hwloc issue 712; Linux Documentation/admin-guide/mm/numaperf.rst",
	.hurts = "nothing known",
	.by_hand = "Update the firmware; compare with: numactl --hardware, lscpu -e=CPU,CORE,SOCKET,NODE,CACHE",
	.check = check_node_conflict,
    },
    {
	.id = "topology.l3-lists-disagree",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD,
	.title = "The kernel's lists of CPUs that share an L3 disagree with its cache ids",
	.mechanism =
	    "Kernels before 4.14 counted four cores per L3 also where some are fused off, and so cut one L3 in "
	    "two. The scheduler balances by the wrong groups too. hvtune goes by the cache id.",
	.effect = "Every tool that reads shared_cpu_list pins to wrong groups on this kernel",
	.basis = BASIS_REPORTS,
	.source = "hardinfo issue 210 (Ryzen 5 1600: 6-9 and 10-11 for one L3)",
	.hurts = "nothing known",
	.by_hand =
	    "Run a newer kernel; look with: grep . /sys/devices/system/cpu/cpu*/cache/index3/{id,shared_cpu_list}",
	.check = check_l3_conflict,
    },
    {
	.id = "topology.l3-unknown",
	.severity = ADVISE_INFO,
	.needs = 0,
	.title = "The L3 layout is not known",
	.mechanism =
	    "Without a level 3 cache in sysfs nobody can tell which cores share one. That all CPUs share one L3 "
	    "must not be concluded: on Zen a package has many.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/ABI/testing/sysfs-devices-system-cpu (cache)",
	.hurts = "nothing known",
	.by_hand =
	    "In a guest: let the hypervisor pass the cache topology (libvirt: <cache mode='passthrough'/>); look "
	    "with: lscpu -C",
	.check = check_l3_unknown,
    },
    {
	.id = "topology.cpuless-node",
	.severity = ADVISE_INFO,
	.needs = 0,
	.title = "Nodes have no CPUs",
	.mechanism = "Such a node is memory alone: CXL or persistent memory, or CPUs that are off line or were never "
		     "mapped by the firmware. Memory there is remote for every VM.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/mm/numa.rst",
	.hurts = "nothing known",
	.by_hand = "numactl --hardware",
	.check = check_cpuless,
    },
    {
	.id = "topology.memory-uneven",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "Nodes have unequal memory",
	.mechanism =
	    "Channels interleave evenly only when they are filled alike, and a VM that fits one node may not fit "
	    "the next.",
	.basis = BASIS_REASONED,
	.source = "MemTotal of each node",
	.hurts = "nothing known",
	.by_hand = "numactl --hardware; dmidecode -t memory (root) shows the slots",
	.check = check_uneven_memory,
    },
    {
	.id = "topology.l3-as-numa",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The BIOS option \"L3 as NUMA domain\" is on",
	.mechanism =
	    "Each L3 group is a node of its own. Schedulers and libvirt then keep to an L3 by themselves, but nodes "
	    "no longer say where memory is: several share one memory controller, so memory need not be bound.",
	.basis = BASIS_REASONED,
	.source = "nodes and L3 groups of sysfs hold the same CPUs",
	.hurts = "a VM larger than one L3 group counts as spread over nodes; NUMA balancing moves pages that were near",
	.by_hand = "BIOS: ACPI SRAT L3 cache as NUMA domain; look with: lscpu -e=CPU,NODE,CACHE",
	.experiment = "The host's main load with the option on and off",
	.check = check_l3_as_numa,
    },
    {
	.id = "topology.nps",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "NUMA nodes per socket (NPS)",
	.mechanism =
	    "NPS1 interleaves all channels of a socket; NPS2 and NPS4 give each half or quarter its own channels: "
	    "nearer memory for a VM that fits a node, less bandwidth for one that does not. NPS0 joins two sockets.",
	.basis = BASIS_REASONED,
	.source = "nodes per package, checked against L3 groups",
	.hurts = "nothing known",
	.by_hand = "BIOS: NUMA nodes per socket; look with: numactl --hardware",
	.experiment = "The host's main load under NPS1, NPS2 and NPS4",
	.check = check_nps,
    },
    {
	.id = "topology.nps-unclear",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "NPS and \"L3 as NUMA domain\" cannot be told apart here",
	.mechanism =
	    "Two or four nodes in a socket, each of one L3 group, come from NPS2 or NPS4 as well as from L3 as NUMA "
	    "domain. In the first case memory of another node is farther away, in the second it may not be.",
	.basis = BASIS_REASONED,
	.source = "nodes and L3 groups of sysfs hold the same CPUs",
	.hurts = "nothing known",
	.by_hand = "Look in the BIOS, or measure: numactl --cpunodebind=0 --membind=1 against --membind=0",
	.check = check_nps_unclear,
    },
    {
	.id = "topology.one-core-l3",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Every core has an L3 of its own",
	.mechanism =
	    "Parts with all but one core per L3 fused off (EPYC 7251, 72F3, 9175F) give each core much cache, but two "
	    "cores never share one: data that vCPUs share crosses the fabric.",
	.basis = BASIS_REASONED,
	.source = "cores counted in each L3 group",
	.hurts = "nothing known",
	.by_hand = "lscpu -e=CPU,CORE,CACHE",
	.check = check_one_core_l3,
    },
    {
	.id = "topology.uneven-l3",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "L3 groups have unlike numbers of cores",
	.mechanism = "A VM that fits one L3 group may not fit the next: what fits must be counted for each group, not "
		     "computed from the number of cores.",
	.basis = BASIS_REASONED,
	.source = "cores counted in each L3 group",
	.hurts = "nothing known",
	.by_hand = "lscpu -e=CPU,CORE,CACHE",
	.check = check_uneven_l3,
    },
    {
	.id = "topology.x3d-asymmetric",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "L3 groups have unlike sizes: a stacked cache on some",
	.mechanism =
	    "The cores under the stacked cache clock lower than the others. Which is faster depends on whether the "
	    "VM's working set fits the large cache.",
	.basis = BASIS_REASONED,
	.source = "L3 sizes differ and the larger is at least 64 MiB; hwloc issue 772",
	.hurts = "nothing known",
	.by_hand = "lscpu -C; pin the VM to one group, never across both",
	.experiment = "The same VM on the CPUs of the large cache and on the others",
	.check = check_x3d,
    },
    {
	.id = "topology.prefcore-against-cache",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Preferred-core ranks favour the CPUs without the large L3",
	.mechanism =
	    "The scheduler fills the highest ranked cores first, here those with higher clocks. A guest whose data "
	    "fits the large cache may be faster on the others.",
	.basis = BASIS_REPORTS,
	.source = "gamemode issue 501, CachyOS-Settings issue 86; Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "clock-bound guests, when the ranks are turned round",
	.knobs = "x3d_mode=cache",
	.by_hand =
	    "echo cache > /sys/bus/platform/drivers/amd_x3d_vcache/AMDI0101:00/amd_x3d_mode (6.13 and later), or pin "
	    "the VM",
	.experiment = "The guest with amd_x3d_mode cache and frequency",
	.check = check_prefcore_cache,
    },
    {
	.id = "topology.unlike-packages",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The packages are not alike",
	.mechanism =
	    "One package shows fewer cores or L3 groups than another: CPUs off line, cores switched off in the BIOS of "
	    "one socket, a limit of the kernel, or a fault.",
	.basis = BASIS_REASONED,
	.source = "cores and L3 groups counted in each package",
	.hurts = "nothing known",
	.by_hand = "lscpu -e=CPU,CORE,SOCKET,CACHE,ONLINE",
	.check = check_unlike_packages,
    },
    {
	.id = "topology.consistent",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Packages, nodes, L3 groups and cores are known and fit each other",
	.mechanism =
	    "What is shared by whom is known at every level, and no level contradicts another, so placement can go "
	    "by it.",
	.basis = BASIS_REASONED,
	.source = "sysfs, read with hwloc",
	.hurts = "nothing known",
	.by_hand = "hvtune show topology",
	.check = check_consistent,
    },
    {.id = NULL},
};

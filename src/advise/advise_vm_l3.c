/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the third step of judging pins as far as caches go: L3 groups, what the guest believes of them, shares of them.
 */
#include "advise_vm.h"

/* The VM is pinned to CPUs that are on line, on a host with several L3 groups that are known. */
static bool judge_l3(struct advise_check *c, struct vm_view *ret_view)
{
	*ret_view = vm_view_of(c->host, c->vm);
	if (!c->host->topology.l3_known || c->host->topology.l3_count < 2 || !ret_view->usable ||
	    ret_view->pinned < ret_view->count)
		return false;
	advise_vm_note_pins(c);
	return true;
}

/* "0-3 and 4-5": what of the VM is in each L3 group. */
static const char *split_text(struct advise_check *c, const struct cpuset *cpus)
{
	struct cpuset l3s = vm_l3s_of(c->host, cpus);
	const char *text = "";
	int shown = 0;

	CPUSET_FOREACH (l3, &l3s) {
		struct cpuset part = cpuset_and(cpus, &c->host->topology.l3s[l3].cpus);

		if (shown == 8)
			return advise_printf(c, "%s; ...", text);
		text = advise_printf(c, "%s%s%s", text, shown++ ? "; " : "", advise_cpu_list(c, &part));
	}
	return text;
}

/* Does the VM use both threads of at least one core? */
static bool shares_cores(const struct host *host, const struct cpuset *cpus)
{
	int touched = 0;
	struct cpuset seen = {0};

	CPUSET_FOREACH (cpu, cpus) {
		int core = topology_core_of(&host->topology, cpu);

		touched += core >= 0 && !cpuset_has(&seen, core);
		cpuset_add(&seen, core);
	}
	return touched < cpuset_count(cpus);
}

static void check_split(struct advise_check *c)
{
	struct vm_view view;
	int cores, threads = vm_largest_l3(c->host, &cores);

	if (!judge_l3(c, &view) || c->host->topology.x3d)
		return;
	struct cpuset l3s = vm_l3s_of(c->host, &view.cpus), nodes = vm_nodes_of(c->host, &view.cpus);
	bool fits_cores = view.count <= cores;

	if (cpuset_count(&l3s) < 2 || view.count > threads)
		return;
	/* Across nodes the cache is the lesser matter, and another rule tells it. */
	if (cpuset_count(&nodes) > 1 && c->vm->cell_count < 2 && view.one_to_one &&
	    !fact_is_on(&c->host->topology.l3_as_numa))
		return;
	/* A set for all is often just the whole host but for a few CPUs, and one vCPU a core a wish of its own. */
	bool sure = view.one_to_one && (fits_cores || shares_cores(c->host, &view.cpus));
	struct advise_finding *finding = advise_report_as(
	    c, sure ? ADVISE_WARN : ADVISE_ADVICE, "%d vCPUs on %s lie in %d L3 groups (%s); one holds %d", view.count,
	    advise_cpu_list(c, &view.cpus), cpuset_count(&l3s), split_text(c, &view.cpus),
	    fits_cores && !shares_cores(c->host, &view.cpus) ? cores : threads);

	if (!sure && view.one_to_one)
		finding->detail = "They would share cores there: a whole core each against one L3 for all";
	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

static void check_span(struct advise_check *c)
{
	struct vm_view view;
	int cores, threads = vm_largest_l3(c->host, &cores);

	if (!judge_l3(c, &view) || !view.one_to_one || view.count <= threads)
		return;
	struct cpuset l3s = vm_l3s_of(c->host, &view.cpus);
	const char *shares = "";

	CPUSET_FOREACH (l3, &l3s) {
		struct cpuset part = cpuset_and(&view.cpus, &c->host->topology.l3s[l3].cpus);

		shares = advise_printf(c, "%s%s%d", shares, *shares ? "+" : "", cpuset_count(&part));
	}
	if (cpuset_count(&l3s) < 2)
		return;
	struct advise_finding *finding = advise_report(c, "%d vCPUs span %d L3 groups, %s (%s)", view.count,
						       cpuset_count(&l3s), shares, split_text(c, &view.cpus));

	if (c->vm->cpu.topology_given && c->vm->cpu.sockets == 1 && c->vm->cpu.dies == 1 && c->vm->cell_count < 2)
		finding->detail = advise_printf(
		    c, "The guest is told one socket of %d cores: by its topology it cannot schedule by L3 group",
		    c->vm->cpu.cores);
	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

static void check_x3d_straddle(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct vm_view view;

	if (!judge_l3(c, &view) || !t->x3d || !view.one_to_one)
		return;
	int cores, threads = vm_largest_l3(c->host, &cores);
	struct cpuset large = cpuset_and(&view.cpus, &t->large_l3_cpus);
	struct cpuset small = cpuset_minus(&view.cpus, &t->large_l3_cpus);

	if (cpuset_empty(&large) || cpuset_empty(&small))
		return;
	struct advise_finding *finding = advise_report_as(
	    c, view.count <= threads ? ADVISE_WARN : ADVISE_INFO,
	    "vCPUs straddle L3 groups of unlike size: %s on the large one (%s), %s on the other (%s)",
	    advise_cpu_list(c, &large), text_kib(c->arena, t->l3s[topology_l3_of(t, cpuset_first(&large))].size_kib),
	    advise_cpu_list(c, &small), text_kib(c->arena, t->l3s[topology_l3_of(t, cpuset_first(&small))].size_kib));

	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

static void check_x3d_group(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct vm_view view;

	if (!judge_l3(c, &view) || !t->x3d)
		return;
	bool in_large = cpuset_subset(&view.cpus, &t->large_l3_cpus);

	if (!in_large && cpuset_meets(&view.cpus, &t->large_l3_cpus))
		return;
	const struct topology_l3 *l3 = &t->l3s[topology_l3_of(t, cpuset_first(&view.cpus))];
	struct advise_finding *finding =
	    advise_report(c, "vCPUs %s the %s group (%s), the one %s the large cache",
			  cpuset_equal(&view.cpus, &l3->cpus) ? "fill" : "are in", text_kib(c->arena, l3->size_kib),
			  advise_cpu_list(c, &l3->cpus), in_large ? "with" : "without");

	finding->detail = in_large ? "Right for work that lives in the cache; the other group clocks higher"
				   : "Right for work that wants the clock; is that the goal of this VM?";
	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

/* ---- what the guest believes ---- */

/* Bits that hold the numbers below `count`. */
static int bits_for(int count)
{
	int bits = 0;

	while ((1 << bits) < count && bits < 16)
		bits++;
	return bits;
}

/* The initial APIC ID that QEMU gives vCPU `id` (hw/i386/topology.h): each level in bits of its own. */
static uint64_t apic_id(const struct vm_cpu *cpu, int id)
{
	int threads = MAX_OF(cpu->threads, 1), cores = MAX_OF(cpu->cores, 1), dies = MAX_OF(cpu->dies, 1);
	uint64_t thread = (uint64_t)(id % threads), core = (uint64_t)(id / threads % cores);
	uint64_t die = (uint64_t)(id / threads / cores % dies), socket = (uint64_t)(id / threads / cores / dies);
	int core_at = bits_for(threads), die_at = core_at + bits_for(cores);

	return thread | core << core_at | die << die_at | socket << (die_at + bits_for(dies));
}

/* The L3 that the guest computes: the APIC ID without as many bits as the sharers need (cacheinfo.c of Linux). */
static uint64_t guest_l3_of(const struct host *host, const struct vm *vm, int id)
{
	return apic_id(&vm->cpu, id) >> bits_for(cpuset_count(&host->topology.l3s[0].cpus));
}

/* The first pair of neighbours whose sharing of an L3 the guest gets wrong; -1: none. */
static int first_untrue(const struct host *host, const struct vm *vm, int *ret_other)
{
	for (int id = 1; id < vm->vcpu_max; id++)
		for (int other = 0; other < id; other++) {
			bool shared = topology_l3_of(&host->topology, vm_vcpu_cpu(host, vm, id)) ==
				      topology_l3_of(&host->topology, vm_vcpu_cpu(host, vm, other));

			if (!vm_vcpu_in_use(vm, id) || !vm_vcpu_in_use(vm, other) ||
			    (guest_l3_of(host, vm, id) == guest_l3_of(host, vm, other)) == shared)
				continue;
			*ret_other = other;
			return id;
		}
	return -1;
}

/* The vCPUs lie in blocks of one size, each in one L3 group, one block after the other: the size; else 0. */
static int even_blocks(const struct host *host, const struct vm *vm)
{
	int size = 0, length = 0, blocks = 0, last = -1;
	struct cpuset seen = {0};

	for (int id = 0; id < vm->vcpu_max; id++) {
		int l3 = topology_l3_of(&host->topology, vm_vcpu_cpu(host, vm, id));

		if (l3 == last) {
			length++;
			continue;
		}
		if (l3 < 0 || cpuset_has(&seen, l3) || (blocks > 1 && length != size))
			return 0;
		size = blocks == 1 ? length : size;
		cpuset_add(&seen, l3);
		last = l3;
		length = 1;
		blocks++;
	}
	return blocks > 1 && length == size ? size : 0;
}

/* All L3 groups have as many CPUs: only then one number of sharers is true of all. */
static bool l3s_are_alike(const struct host_topology *t)
{
	for (int i = 1; i < t->l3_count; i++)
		if (cpuset_count(&t->l3s[i].cpus) != cpuset_count(&t->l3s[0].cpus))
			return false;
	return true;
}

enum { VCPUS_COMPARED = 512 };

/* What would make it true: dies, where the vCPUs lie in even blocks. */
static const char *dies_would_tell(struct advise_check *c, int vcpus)
{
	const struct vm_cpu cpu = c->vm->cpu;
	struct vm told = *c->vm;
	int block = even_blocks(c->host, c->vm), groups = block ? vcpus / block : 0, other;

	if (groups < 2 || cpu.sockets != 1 || cpu.dies != 1 || cpu.cores % groups != 0)
		return "pins must follow";
	told.cpu.dies = groups;
	told.cpu.cores = cpu.cores / groups;
	if (first_untrue(c->host, &told, &other) >= 0)
		return "pins must follow";
	return advise_printf(c, "with dies='%d' cores='%d' it would be true", groups, told.cpu.cores);
}

static void check_guest_l3(struct advise_check *c)
{
	struct vm_view view;
	int other = 0;

	if (!text_equal(c->vm->cpu.cache_mode, "passthrough") || !c->vm->cpu.topology_given ||
	    c->vm->vcpu_max > VCPUS_COMPARED || !judge_l3(c, &view) || !view.one_to_one ||
	    !l3s_are_alike(&c->host->topology) || !vm_siblings_match(c->host, c->vm))
		return;
	advise_note_text(c, "cache mode", "passthrough");
	int id = first_untrue(c->host, c->vm, &other);

	if (id < 0)
		return;
	bool believed = guest_l3_of(c->host, c->vm, id) == guest_l3_of(c->host, c->vm, other);
	struct advise_finding *finding =
	    advise_report(c, "The guest believes that vCPUs %d and %d %s an L3; on the host they %s (CPUs %d and %d)",
			  other, id, believed ? "share" : "do not share", believed ? "do not" : "do",
			  vm_vcpu_cpu(c->host, c->vm, other), vm_vcpu_cpu(c->host, c->vm, id));

	finding->detail = advise_printf(c, "Each host L3 has %d CPUs, and the guest is told so; %s",
					cpuset_count(&c->host->topology.l3s[0].cpus), dies_would_tell(c, view.count));
	advise_vm_at(c, finding, c->vm->cpu.topology_place);
}

static void check_dies(struct advise_check *c)
{
	const struct vm_cpu *cpu = &c->vm->cpu;
	struct vm_view view;
	int cores, threads = vm_largest_l3(c->host, &cores);

	if (!cpu->topology_given || !judge_l3(c, &view) || !view.one_to_one || view.count != c->vm->vcpu_max ||
	    text_equal(cpu->cache_mode, "passthrough") || text_equal(cpu->cache_mode, "disable") ||
	    c->vm->cell_count > 1 || !vm_siblings_match(c->host, c->vm))
		return;
	int block = even_blocks(c->host, c->vm), groups = block ? c->vm->vcpu_max / block : 0;

	advise_note_text(c, "topology", "%d socket%s, %d die%s, %d cores, %d threads", cpu->sockets,
			 cpu->sockets == 1 ? "" : "s", cpu->dies, cpu->dies == 1 ? "" : "s", cpu->cores, cpu->threads);
	/* Where they fit in one group, that is the finding. */
	if (groups < 2 || cpu->sockets != 1 || cpu->dies != 1 || cpu->cores % groups != 0 || view.count <= threads)
		return;
	struct advise_finding *finding = advise_report(
	    c, "The guest is told one L3 for all %d vCPUs; they lie in %d groups of %d", view.count, groups, block);

	finding->detail = advise_printf(c, "dies='%d' cores='%d' threads='%d' would tell it", groups,
					cpu->cores / groups, cpu->threads);
	advise_vm_at(c, finding, cpu->topology_place);
}

/* ---- good ---- */

static void check_whole(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus), l3s = vm_l3s_of(c->host, &view.cpus);
	bool right_siblings = !t->core_known || !shares_cores(c->host, &view.cpus) ||
			      (c->vm->cpu.threads == t->threads_per_core && vm_siblings_match(c->host, c->vm));
	bool torn =
	    t->core_known && t->threads_per_core > 1 && c->vm->cpu.threads > 1 && !vm_siblings_match(c->host, c->vm);

	if (!t->l3_known || !view.usable || !view.one_to_one || view.count < 2 || !right_siblings || torn ||
	    cpuset_count(&nodes) > 1 || cpuset_empty(&l3s))
		return;
	advise_vm_note_pins(c);
	bool fills = topology_split_l3s(t, &view.cpus) == 0;
	const char *order = shares_cores(c->host, &view.cpus) ? " in the order of siblings" : "";
	const char *node =
	    cpuset_empty(&nodes) || t->node_count < 2 ? "" : advise_printf(c, ", %s", advise_node_text(c, &nodes));

	if (cpuset_count(&l3s) == 1)
		advise_report(c, "vCPUs %s one L3 group (%s)%s%s", fills ? "fill" : "are in",
			      advise_cpu_list(c, &view.cpus), order, node);
	else if (fills)
		advise_report(c, "vCPUs fill %d L3 groups (%s)%s%s", cpuset_count(&l3s), split_text(c, &view.cpus),
			      order, node);
}

/* ---- shares of the cache ---- */

/* The ids of the host's L3 caches, when all are known. */
static bool l3_ids(const struct host *host, struct cpuset *ret)
{
	struct cpuset ids = {0};
	const struct host_topology *t = &host->topology;

	for (int i = 0; i < t->l3_count; i++) {
		if (t->l3s[i].id < 0 || t->l3s[i].id >= CPUSET_MAX)
			return false;
		cpuset_add(&ids, (int)t->l3s[i].id);
	}
	*ret = ids;
	return t->l3_known && t->l3_count > 0;
}

static void check_cachetune_id(struct advise_check *c)
{
	struct cpuset ids, wanted = {0};

	if (!l3_ids(c->host, &ids))
		return;
	for (int i = 0; i < c->vm->cachetune_count; i++)
		if (c->vm->cachetunes[i].level == 3 && c->vm->cachetunes[i].id >= 0 &&
		    c->vm->cachetunes[i].id < CPUSET_MAX)
			cpuset_add(&wanted, (int)c->vm->cachetunes[i].id);
	if (cpuset_empty(&wanted))
		return;
	struct cpuset missing = cpuset_minus(&wanted, &ids);

	advise_note_text(c, "cachetune", "L3 id %s", advise_cpu_list(c, &wanted));
	advise_note_text(c, "L3 ids of this host", "%s", advise_cpu_list(c, &ids));
	if (!cpuset_empty(&missing))
		advise_vm_at(c,
			     advise_report(c, "cachetune names L3 id %s, which this host does not have (it has %s)",
					   advise_cpu_list(c, &missing), advise_cpu_list(c, &ids)),
			     c->vm->cputune_place);
}

static void check_cachetune_floating(struct advise_check *c)
{
	struct cpuset floating = {0};

	for (int i = 0; i < c->vm->cachetune_count; i++)
		CPUSET_FOREACH (id, &c->vm->cachetunes[i].vcpus)
			if (id < c->vm->vcpu_max && !vm_vcpu_runs_on(c->host, c->vm, id))
				cpuset_add(&floating, id);
	if (cpuset_empty(&floating))
		return;
	advise_note_text(c, "cachetune", "for vCPUs %s, which are not pinned", advise_cpu_list(c, &floating));
	advise_vm_at(c,
		     advise_report(c, "vCPUs %s have a share of an L3 and are not pinned: it has no fixed place",
				   advise_cpu_list(c, &floating)),
		     c->vm->cputune_place);
}

const struct advise_rule advise_vm_l3_rules[] = {
    {
	.id = "vm.split-l3",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "vCPUs are spread over L3 groups though they fit in one",
	.mechanism = "CPUs of one core complex share an L3; data that vCPUs share across two of them travels over the "
		     "fabric. The guest knows nothing of it and moves its tasks back and forth.",
	.effect = "study B: 28.5 % more events and 33.6 % less latency (95th percentile, sysbench threads) with pins "
		  "inside one group, together with hugepages",
	.basis = BASIS_STUDY,
	.source = "study B; kubernetes enhancement 4810",
	.hurts = "all of the VM then shares one L3, which work on large data of its own may not want",
	.by_hand = BY_HAND_PIN,
	.experiment = "compare the pins of now with pins inside one L3 group",
	.check = check_split,
    },
    {
	.id = "vm.x3d-straddle",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "vCPUs straddle L3 groups of unlike size",
	.mechanism = "On such a part one group has the large cache and the other the higher clock. A guest takes its "
		     "vCPUs for equal: its tasks land on the one or the other by chance, and move across.",
	.effect = "uneven run times; not a figure that holds in general",
	.basis = BASIS_REPORTS,
	.source = "gamemode issues 412 and 453",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_x3d_straddle,
    },
    {
	.id = "vm.guest-l3-untrue",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM | NEEDS_AMD,
	.title = "The guest believes in L3 groups that are not so",
	.mechanism =
	    "With cache mode passthrough the guest is told the host's number of sharers, and derives the groups "
	    "from the numbers of its vCPUs. Its scheduler then keeps tasks in groups that are none.",
	.effect = "worse than no knowledge of the L3; not a figure that holds in general",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU target/i386/cpu.c; Linux arch/x86/kernel/cpu/cacheinfo.c",
	.hurts = "migration: a guest that was told the host's caches is right only on hosts with the same L3 groups",
	.by_hand = "pin vCPUs in order, L3 group by L3 group; <topology dies=...> so that a die is a group; or <cache "
		   "mode='emulate' level='3'/>",
	.check = check_guest_l3,
    },
    {
	.id = "vm.dies-unset",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM | NEEDS_AMD,
	.title = "The guest is told one L3 for vCPUs in several L3 groups",
	.mechanism = "Without cache passthrough QEMU shows one L3 for each die. A VM that lies in several host groups, "
		     "evenly and in order, can be told so by as many dies.",
	.effect = "not known in general: the guest's scheduler then keeps tasks in one group",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: topology; sched-ext scx issue 3129",
	.hurts = "the topology must be the same on the host that it migrates to; some systems reactivate their licence",
	.by_hand = BY_HAND_EDIT,
	.experiment = "compare dies=1 with as many dies as L3 groups",
	.check = check_dies,
    },
    {
	.id = "vm.cachetune-id",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "cachetune names an L3 that the host does not have",
	.mechanism = "Cache ids come from APIC ids: they are unique, but have gaps, and differ between hosts.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/filesystems/resctrl.rst",
	.hurts = "nothing known",
	.by_hand = "cat /sys/devices/system/cpu/cpu*/cache/index3/id; virsh capabilities lists the banks",
	.check = check_cachetune_id,
    },
    {
	.id = "vm.cachetune-floating",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A share of an L3 for vCPUs that are not pinned",
	.mechanism =
	    "A share holds in one L3 of the host. A vCPU that floats leaves it, and meets the shares of others.",
	.effect = "the share holds only now and then",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/filesystems/resctrl.rst",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_cachetune_floating,
    },
    {
	.id = "vm.l3-span",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "A VM is too large for one L3 group",
	.mechanism = "Its vCPUs lie in several groups. Even shares, whole groups and a topology that says so (dies or "
		     "sockets) let the guest keep tasks that share data together.",
	.basis = BASIS_REASONED,
	.source = "study B",
	.hurts = "nothing known",
	.check = check_span,
    },
    {
	.id = "vm.x3d-group",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "The VM is in one of two L3 groups of unlike size",
	.mechanism = "The group with the large cache suits work whose data fits in it, the other clocks higher. Which "
		     "is right depends on the guest.",
	.basis = BASIS_REPORTS,
	.source = "vfio-isolate issue 14; CPUSetSetter issue 35",
	.hurts = "nothing known",
	.experiment = "compare the guest's own work in both groups",
	.check = check_x3d_group,
    },
    {
	.id = "vm.whole-l3",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_VM,
	.title = "vCPUs are one to one in L3 groups, siblings in order, on one node",
	.mechanism =
	    "The three steps of judging pins pass: the CPUs are there, siblings match the guest's threads, and "
	    "L3 and memory are near.",
	.basis = BASIS_STUDY,
	.source = "study B",
	.hurts = "nothing known",
	.check = check_whole,
    },
    {.id = NULL},
};

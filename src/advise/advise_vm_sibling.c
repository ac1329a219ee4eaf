/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the second step of judging pins: siblings of the host against threads of the guest. */
#include "advise_vm.h"

/* The host has SMT, and knows which CPUs are siblings. */
static bool has_smt(const struct host *host)
{
	return host->topology.core_known && host->topology.threads_per_core > 1;
}

/* Guest cores whose threads lie on different cores. */
static int torn_cores(const struct host *host, const struct vm *vm, int *ret_cores)
{
	int torn = 0, last_torn = -1;

	*ret_cores = 0;
	for (int id = 0; id < vm->vcpu_max; id++) {
		int guest_core = vm_guest_core_of(vm, id), first = guest_core * vm->cpu.threads;

		*ret_cores = guest_core + 1;
		if (!vm_vcpu_in_use(vm, id) || guest_core == last_torn)
			continue;
		if (topology_core_of(&host->topology, vm_vcpu_cpu(host, vm, id)) ==
		    topology_core_of(&host->topology, vm_vcpu_cpu(host, vm, first)))
			continue;
		torn++;
		last_torn = guest_core;
	}
	return torn;
}

enum { ORDER_SHOWN = 32 };

/* The CPUs of the VM core by core, as many as it has vCPUs: "8,24,9,25,10,26,11,27". */
static const char *right_order(struct advise_check *c, const struct vm_view *view)
{
	const struct host_topology *t = &c->host->topology;
	struct cpuset whole = topology_whole_cores(t, &view->cpus), done = {0};
	const char *text = "";
	int count = 0;

	CPUSET_FOREACH (cpu, &whole) {
		int core = topology_core_of(t, cpu);

		if (core < 0 || cpuset_has(&done, core))
			continue;
		cpuset_add(&done, core);
		CPUSET_FOREACH (thread, &t->cores[core].cpus) {
			if (count == view->count)
				return text;
			if (count == ORDER_SHOWN)
				return advise_printf(c, "%s,...", text);
			text = advise_printf(c, "%s%s%d", text, count++ ? "," : "", thread);
		}
	}
	return text;
}

static void check_order(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	int cores, torn;

	if (c->vm->cpu.threads < 2 || !has_smt(c->host) || !view.one_to_one || !view.usable)
		return;
	advise_vm_note_pins(c);
	advise_note_text(c, "threads of a guest core", "%d", c->vm->cpu.threads);
	torn = torn_cores(c->host, c->vm, &cores);
	if (!torn)
		return;
	struct advise_finding *finding = advise_report(
	    c, "%d of %d guest cores have their %d threads on different host cores: vCPU 0 on CPU %d, vCPU 1 on CPU %d",
	    torn, cores, c->vm->cpu.threads, vm_vcpu_cpu(c->host, c->vm, 0), vm_vcpu_cpu(c->host, c->vm, 1));

	finding->detail = advise_printf(c, "In the order of this host's siblings: %s", right_order(c, &view));
	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

static void check_no_smt(struct advise_check *c)
{
	const struct host *host = c->host;
	struct vm_view view = vm_view_of(host, c->vm);

	if (c->vm->cpu.threads < 2 || !host->topology.core_known || host->topology.threads_per_core != 1 ||
	    !view.one_to_one || !view.usable)
		return;
	(void)advise_note(c, &host->cpu.smt_control);
	(void)advise_note(c, &host->cpu.smt_active);
	advise_note_text(c, "threads of a guest core", "%d", c->vm->cpu.threads);
	advise_vm_at(c,
		     advise_report(c,
				   "The guest is told %d threads a core, while this host has SMT off: each is a core",
				   c->vm->cpu.threads),
		     c->vm->cpu.topology_place);
}

/* CPUs of `cpus` by what they are of their cores. */
static struct cpuset by_thread(const struct host *host, const struct cpuset *cpus, bool first)
{
	struct cpuset found = {0};

	CPUSET_FOREACH (cpu, cpus)
		if (cpu < host->topology.cpu_count && (host->topology.cpus[cpu].smt == 0) == first)
			cpuset_add(&found, cpu);
	return found;
}

/* A whole L3 group with room for the VM, preferably one without CPU 0; NULL: none. */
static const struct cpuset *roomy_l3(const struct host *host, int vcpus)
{
	const struct host_topology *t = &host->topology;
	const struct cpuset *found = NULL;

	for (int i = 0; t->l3_known && i < t->l3_count; i++)
		if (cpuset_count(&t->l3s[i].cpus) >= vcpus && (!found || cpuset_has(found, 0)))
			found = &t->l3s[i].cpus;
	return found;
}

static void check_second_only(struct advise_check *c)
{
	const struct host *host = c->host;
	struct vm_view view = vm_view_of(host, c->vm);
	struct cpuset whole, first;

	if (!has_smt(host) || !view.usable || view.pinned < view.count || view.count < 2)
		return;
	advise_vm_note_pins(c);
	first = by_thread(host, &view.cpus, true);
	whole = topology_whole_cores(&host->topology, &view.cpus);
	if (!cpuset_empty(&first))
		return;
	struct cpuset left = cpuset_minus(&whole, &view.cpus);
	struct advise_finding *finding =
	    advise_report(c, "%s holds only second threads: no whole core; the first threads %s are left to others",
			  advise_cpu_list(c, &view.cpus), advise_cpu_list(c, &left));
	const struct cpuset *l3 = roomy_l3(host, view.count);

	if (l3)
		finding->detail = advise_printf(c, "%s is one whole L3 group with room for %d vCPUs",
						advise_cpu_list(c, l3), view.count);
	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

static void check_siblings_open(struct advise_check *c)
{
	const struct host *host = c->host;
	struct vm_view view = vm_view_of(host, c->vm);

	if (!has_smt(host) || !view.usable || view.pinned < view.count)
		return;
	advise_vm_note_pins(c);
	struct cpuset whole = topology_whole_cores(&host->topology, &view.cpus);
	struct cpuset open = cpuset_minus(&whole, &view.cpus), second = by_thread(host, &open, false);

	if (cpuset_empty(&second) || !cpuset_equal(&open, &second))
		return;
	advise_vm_at(c,
		     advise_report(c, "%d host core%s %s used by one thread: the siblings %s stay open to others",
				   cpuset_count(&open), cpuset_count(&open) == 1 ? "" : "s",
				   cpuset_count(&open) == 1 ? "is" : "are", advise_cpu_list(c, &open)),
		     vm_pin_place(c->vm));
}

/* Models whose definition in QEMU has topoext. */
static bool model_has_topoext(const struct vm_cpu *cpu)
{
	if (cpu->mode == VM_CPU_HOST_MODEL)
		return true; /* libvirt writes out what the host has */
	return cpu->model && (text_starts(cpu->model, "EPYC") || text_starts(cpu->model, "Dhyana"));
}

static void check_topoext(struct advise_check *c)
{
	const struct vm_cpu *cpu = &c->vm->cpu;
	int state = vm_feature(cpu->features, cpu->feature_count, "topoext");

	if (cpu->threads < 2 || !vm_is_kvm(c->vm) || !vm_is_x86(c->vm))
		return;
	advise_note_text(c, "threads of a guest core", "%d", cpu->threads);
	if (state == 1 || (state < 0 && model_has_topoext(cpu)))
		return;
	advise_note_text(c, "feature topoext", "%s", state == 0 ? "disabled" : "not asked for");
	struct advise_finding *finding =
	    advise_report(c, "The guest is to see %d threads a core, but topoext is %s: on AMD it sees 1 thread a core",
			  cpu->threads, state == 0 ? "disabled" : "not asked for");

	if (cpu->mode == VM_CPU_HOST_PASSTHROUGH || cpu->mode == VM_CPU_MAXIMUM)
		finding->detail = "QEMU does not pass topoext on by itself with the host's CPU model";
	advise_vm_at(c, finding, cpu->topology_place);
}

static void check_smt_hidden(struct advise_check *c)
{
	const struct host *host = c->host;
	struct vm_view view = vm_view_of(host, c->vm);

	if (c->vm->cpu.threads > 1 || !has_smt(host) || !view.usable || view.pinned < view.count || view.count < 2)
		return;
	advise_vm_note_pins(c);
	struct cpuset second = by_thread(host, &view.cpus, false),
		      whole = topology_whole_cores(&host->topology, &second);
	struct cpuset shared = cpuset_and(&whole, &view.cpus);
	int cores = cpuset_count(&view.cpus) - cpuset_count(&second);

	/* Only where vCPUs must share cores: a set with a core for each of them leaves it to the scheduler. */
	if (cpuset_equal(&shared, &second) || view.count <= cores)
		return;
	struct advise_finding *finding = advise_report(
	    c, "%d vCPUs on %d host cores (%s), and the guest is shown no SMT: it takes siblings for cores", view.count,
	    cores, advise_cpu_list(c, &view.cpus));

	finding->detail = view.one_to_one
			      ? "threads=2 with topoext and pins in pairs of siblings tells it"
			      : "With threads=2 the vCPUs must also be pinned one to one, in pairs of siblings";
	advise_vm_at(c, finding, c->vm->cpu.topology_given ? c->vm->cpu.topology_place : c->vm->vcpu_place);
}

const struct advise_rule advise_vm_sibling_rules[] = {
    {
	.id = "vm.sibling-order",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Threads of one guest core are on different host cores",
	.mechanism = "QEMU numbers the threads of a guest core one after the other. The guest's scheduler spreads work "
		     "over cores first; where its pairs are not the host's siblings it fills two threads of one host "
		     "core while another idles.",
	.effect = "up to what SMT costs two threads that share a core; not a figure that holds in general",
	.basis = BASIS_REPORTS,
	.source = "gpu-passthrough-tutorial issue 19; pve-helpers issue 9",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_order,
    },
    {
	.id = "vm.threads-without-smt",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The guest is told of SMT that the host does not have",
	.mechanism = "The guest leaves one of two supposed siblings idle as long as it can, and gives its mitigations "
		     "for SMT, on CPUs that are whole cores.",
	.effect = "half of the cores used last; not a figure that holds in general",
	.basis = BASIS_REPORTS,
	.source = "kubevirt issue 11749",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <topology ... threads='1'/> with as many more cores",
	.check = check_no_smt,
    },
    {
	.id = "vm.second-threads-only",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A VM holds only second threads",
	.mechanism = "Every vCPU shares its core with whatever the host runs on the first thread, and often the range "
		     "was meant to be whole cores: siblings are not numbered the same on all machines.",
	.effect = "each vCPU has what the first thread of its core leaves",
	.basis = BASIS_REPORTS,
	.source = "pve-helpers issue 5",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_second_only,
    },
    {
	.id = "vm.topoext-missing",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM | NEEDS_AMD,
	.title = "Threads without topoext on an AMD host",
	.mechanism =
	    "An AMD guest learns its siblings from CPUID leaf 0x8000001E, which is there only with the feature "
	    "topoext. QEMU does not turn it on with the host's CPU model, because it asks for a consistent "
	    "topology.",
	.effect = "the guest sees single-threaded cores and schedules as if siblings were cores",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU target/i386/cpu.c; kubevirt issue 1994",
	.hurts = "guests that move to hosts without SMT see a topology that is not true there",
	.by_hand = "virsh edit VM: <feature policy='require' name='topoext'/> in <cpu>; QEMU: -cpu host,topoext=on",
	.check = check_topoext,
    },
    {
	.id = "vm.smt-hidden",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "vCPUs share cores, and the guest is not told",
	.mechanism = "A guest without threads takes every vCPU for a core. It cannot spread work over cores before it "
		     "uses siblings, nor keep unlike tasks off one core.",
	.effect = "not known in general: most where about half of the vCPUs are busy",
	.basis = BASIS_REPORTS,
	.source = "pve-helpers issue 9",
	.hurts = "licences that count sockets or cores; the guest then applies its mitigations for SMT",
	.by_hand = "virsh edit VM: <topology ... threads='2'/> with topoext, pins in pairs; Proxmox has no setting for "
		   "threads but args: -smp",
	.experiment = "compare threads=1 with threads=2 and pins in pairs of siblings",
	.check = check_smt_hidden,
    },
    {
	.id = "vm.siblings-open",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "One thread of each core is used, the siblings are open to others",
	.mechanism = "A vCPU that has a core for itself is faster, as long as nothing runs on the sibling. Whatever "
		     "does, the host or another VM, takes part of the core and shares its caches.",
	.basis = BASIS_STUDY,
	.source = "study A pinned 32 vCPUs one per core",
	.hurts = "half of the threads, if the siblings are kept free",
	.check = check_siblings_open,
    },
    {.id = NULL},
};

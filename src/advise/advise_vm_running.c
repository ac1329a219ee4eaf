/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about VMs that run: what is declared against what is, where their memory lies, what they ask in all.
 */
#include <inttypes.h>

#include "advise_vm.h"

/* ---- declared against running ---- */

/*
 * A file that is linted beside a VM of its name that runs may be a draft: that the two differ is worth knowing, and no
 * fault. The other rules judge the file alone then.
 */
static enum advise_severity severity_of(const struct advise_check *c)
{
	return c->vm->state == VM_STATE_RUNNING ? ADVISE_WARN : ADVISE_INFO;
}

/* Where vCPU `id` runs: its thread, in lint that of the VM which runs meanwhile. */
static const struct vm_vcpu *thread_of(const struct vm *vm, int id)
{
	if (vm->process && vm->process->vcpus && id < vm->process->vcpu_max && vm->process->vcpus[id].running.given)
		return &vm->process->vcpus[id];
	return &vm->vcpus[id];
}

static void check_affinity(struct advise_check *c)
{
	const struct vm *vm = c->vm;
	struct cpuset differing = {0};
	int first = -1, pid = vm->process ? vm->process->pid : vm->pid;

	for (int id = 0; vm->vcpus && id < vm->vcpu_max; id++) {
		const struct vm_vcpu *vcpu = &vm->vcpus[id], *thread = thread_of(vm, id);
		struct cpuset allowed = cpuset_and(&vcpu->pin.set, host_cpu_online(c->host));

		if (!thread->running.given || !vcpu->pin.given || cpuset_equal(&allowed, &thread->running.set))
			continue;
		first = first < 0 ? id : first;
		cpuset_add(&differing, id);
	}
	if (first < 0)
		return;
	const struct vm_vcpu *thread = thread_of(vm, first);

	advise_note_text(c, advise_printf(c, "pin of vCPU %d", first), "%s",
			 advise_cpu_list(c, &vm->vcpus[first].pin.set));
	advise_note_text(c, advise_printf(c, "/proc/%d/task/%d/status", pid, thread->tid), "%s",
			 advise_cpu_list(c, &thread->running.set));
	advise_vm_at(c,
		     advise_report_as(c, severity_of(c),
				      "vCPUs %s run elsewhere than their pins say: vCPU %d on %s instead of %s",
				      advise_cpu_list(c, &differing), first, advise_cpu_list(c, &thread->running.set),
				      advise_cpu_list(c, &vm->vcpus[first].pin.set)),
		     vm_pin_place(vm));
}

/* What differs, with commas between. */
struct differences {
	struct advise_check *c;
	const char *text;
};

static void differ(struct differences *differences, const char *text)
{
	differences->text =
	    advise_printf(differences->c, "%s%s%s", differences->text, *differences->text ? ", " : "", text);
}

static void compare_topologies(struct differences *differences, const struct vm *declared, const struct vm *running)
{
	const struct vm_cpu *is = &running->cpu, *wanted = &declared->cpu;

	if (!is->topology_given || !wanted->topology_given || declared->vcpu_max != running->vcpu_max ||
	    (is->threads == wanted->threads && is->sockets == wanted->sockets && is->dies == wanted->dies &&
	     is->cores == wanted->cores))
		return;
	differ(differences, advise_printf(differences->c, "topology %d x %d x %d x %d instead of %d x %d x %d x %d",
					  is->sockets, is->dies, is->cores, is->threads, wanted->sockets, wanted->dies,
					  wanted->cores, wanted->threads));
}

/* What the guest takes for its CPU. A host-model becomes a named model with features, which are not compared. */
static void compare_cpus(struct differences *differences, const struct vm *declared, const struct vm *running)
{
	bool is_host = running->cpu.mode == VM_CPU_HOST_PASSTHROUGH;

	if (declared->cpu.mode == VM_CPU_DEFAULT || declared->cpu.mode == VM_CPU_MAXIMUM || !running->cpu.model)
		return;
	if (is_host != (declared->cpu.mode == VM_CPU_HOST_PASSTHROUGH))
		differ(differences, is_host ? "the host's CPU instead of a model"
					    : advise_printf(differences->c, "CPU model %s instead of the host's",
							    running->cpu.model));
	if (is_host && text_equal(declared->cpu.cache_mode, "passthrough") &&
	    !text_equal(running->cpu.cache_mode, "passthrough"))
		differ(differences, "caches that are not the host's");
}

static void compare(struct differences *differences, const struct vm *declared, const struct vm *running)
{
	struct advise_check *c = differences->c;

	if (running->vcpu_max > 0 && declared->vcpu_max != running->vcpu_max)
		differ(differences, advise_printf(c, "%d vCPUs instead of %d", running->vcpu_max, declared->vcpu_max));
	if (running->memory_kib > 0 && declared->memory_kib > 0 && running->memory_kib != declared->memory_kib &&
	    !declared->max_memory_kib)
		differ(differences,
		       advise_printf(c, "%s of memory instead of %s", text_kib(c->arena, running->memory_kib),
				     text_kib(c->arena, declared->memory_kib)));
	compare_topologies(differences, declared, running);
	compare_cpus(differences, declared, running);
	if (running->cell_count != declared->cell_count && MAX_OF(running->cell_count, declared->cell_count) > 1)
		differ(differences,
		       advise_printf(c, "%d NUMA cells instead of %d", running->cell_count, declared->cell_count));
	if (running->hugepages != declared->hugepages)
		differ(differences, running->hugepages ? "hugepages that are no longer asked for"
						       : "no hugepages, which are asked for");
}

static void check_definition(struct advise_check *c)
{
	const struct vm *vm = c->vm, *process = vm->process;
	struct differences differences = {.c = c, .text = ""};

	if (!process)
		return;
	compare(&differences, vm, process);
	advise_note_text(c, advise_printf(c, "/proc/%d/cmdline", process->pid), "%s",
			 *differences.text ? differences.text : "as defined");
	if (*differences.text)
		advise_report_as(c, severity_of(c), "The VM runs with %s%s", differences.text,
				 vm->state == VM_STATE_RUNNING
				     ? ": its definition was changed after it started"
				     : ": this file holds from its next start on, if it is defined");
}

/* ---- where memory lies ---- */

enum { REMOTE_PERCENT = 10 };

static void check_memory_remote(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus);
	int64_t near_kib = 0, far_kib = 0;
	const char *text = "";

	if (!c->vm->node_kib || t->node_count < 2 || !view.usable || view.pinned < view.count ||
	    fact_is_on(&t->l3_as_numa))
		return;
	for (int i = 0; i < t->node_count; i++) {
		int64_t kib = c->vm->node_kib[i];

		if (kib <= 0)
			continue;
		text = advise_printf(c, "%s%s%s on node %d", text, *text ? ", " : "", text_kib(c->arena, kib),
				     t->nodes[i].os_node);
		if (cpuset_has(&nodes, t->nodes[i].os_node))
			near_kib += kib;
		else
			far_kib += kib;
	}
	if (near_kib + far_kib <= 0)
		return;
	advise_vm_note_pins(c);
	advise_note_text(c, c->vm->node_source ? c->vm->node_source : "memory by node", "%s", text);
	if (far_kib > (near_kib + far_kib) / 100 * REMOTE_PERCENT)
		advise_report(c, "%s of its memory are not on the vCPUs' %s: %s", text_kib(c->arena, far_kib),
			      advise_node_text(c, &nodes), text);
}

/* ---- all VMs together ---- */

static void check_overcommit(struct advise_check *c)
{
	int vcpus = 0, vms = 0, threads = c->host->topology.thread_count;

	if (c->subject->vm_count < 2 || c->vm != c->subject->vms[0] || threads < 1)
		return;
	for (size_t i = 0; i < c->subject->vm_count; i++) {
		const struct vm *vm = c->subject->vms[i];

		if (vm->state != VM_STATE_RUNNING || vm->vcpu_max > CPUSET_MAX)
			continue;
		vcpus += vm_view_of(c->host, vm).count;
		vms++;
	}
	advise_note_text(c, "vCPUs of VMs that run", "%d", vcpus);
	if (vms > 1 && vcpus > threads)
		advise_report(c, "%d VMs run %d vCPUs on %d host threads", vms, vcpus, threads);
}

const struct advise_rule advise_vm_running_rules[] = {
    {
	.id = "vm.affinity-differs",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "vCPUs run elsewhere than their pins say",
	.mechanism = "Somebody changed the affinity of the threads (taskset, virsh vcpupin without --config, a "
		     "daemon), or the definition was changed and the VM not restarted. The next start undoes it.",
	.effect = "what was measured and what is written are not the same",
	.basis = BASIS_REPORTS,
	.source = "lxd issues 15082 and 15272",
	.hurts = "nothing known",
	.by_hand =
	    "virsh vcpupin VM shows what holds, virsh vcpupin VM --config what is written; make one of them hold",
	.check = check_affinity,
    },
    {
	.id = "vm.definition-differs",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A VM runs with other settings than its definition",
	.mechanism = "A definition that is edited while the VM runs holds from the next start on.",
	.effect = "what is written is not what runs",
	.basis = BASIS_DOCUMENT,
	.source = "virsh(1): edit",
	.hurts = "a restart of the guest",
	.by_hand = "virsh dumpxml VM against virsh dumpxml --inactive VM; then virsh shutdown and virsh start",
	.check = check_definition,
    },
    {
	.id = "vm.memory-lies-remote",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Memory of a running VM lies on other nodes than its vCPUs",
	.mechanism = "Memory stays where it was first touched. Pins that came later, or a node that was full at the "
		     "time, leave it on another node.",
	.effect = "latency and bandwidth of another node for that part",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/numa_memory_policy.rst",
	.hurts = "moving memory takes time and bandwidth; hugepages need free ones on the other node",
	.by_hand = "numastat -p PID; migratepages PID FROM TO; or bind the memory and restart the VM",
	.check = check_memory_remote,
    },
    {
	.id = "vm.vcpus-over-host",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "VMs together have more vCPUs than the host has CPUs",
	.mechanism = "As long as they are not busy at once nothing is lost, and that is the point of it. Steal time in "
		     "the guests tells when they are.",
	.basis = BASIS_REASONED,
	.source = "how time sharing works",
	.hurts = "nothing known",
	.check = check_overcommit,
    },
    {.id = NULL},
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about VMs that run: what is declared against what is, where their memory lies, what they ask in all.
 */
#include <inttypes.h>

#include "advise_vm.h"

/* ---- declared against running ---- */

static void check_affinity(struct advise_check *c)
{
	struct cpuset differing = {0};
	int first = -1;

	for (int id = 0; c->vm->vcpus && id < c->vm->vcpu_max; id++) {
		const struct vm_vcpu *vcpu = &c->vm->vcpus[id];
		struct cpuset allowed = cpuset_and(&vcpu->pin.set, host_cpu_online(c->host));

		if (!vcpu->running.given || !vcpu->pin.given || cpuset_equal(&allowed, &vcpu->running.set))
			continue;
		first = first < 0 ? id : first;
		cpuset_add(&differing, id);
	}
	if (first < 0)
		return;
	advise_note_text(c, advise_printf(c, "pin of vCPU %d", first), "%s",
			 advise_cpu_list(c, &c->vm->vcpus[first].pin.set));
	advise_note_text(c, advise_printf(c, "/proc/%d/task/%d/status", c->vm->pid, c->vm->vcpus[first].tid), "%s",
			 advise_cpu_list(c, &c->vm->vcpus[first].running.set));
	advise_vm_at(c,
		     advise_report(c, "vCPUs %s run elsewhere than their pins say: vCPU %d on %s instead of %s",
				   advise_cpu_list(c, &differing), first,
				   advise_cpu_list(c, &c->vm->vcpus[first].running.set),
				   advise_cpu_list(c, &c->vm->vcpus[first].pin.set)),
		     vm_pin_place(c->vm));
}

static void check_definition(struct advise_check *c)
{
	const struct vm *vm = c->vm, *process = vm->process;
	const char *text = "";

	if (!process)
		return;
	if (process->vcpu_max > 0 && vm->vcpu_max != process->vcpu_max)
		text = advise_printf(c, "%d vCPUs instead of %d", process->vcpu_max, vm->vcpu_max);
	if (process->memory_kib > 0 && vm->memory_kib > 0 && process->memory_kib != vm->memory_kib &&
	    !vm->max_memory_kib)
		text = advise_printf(c, "%s%s%s of memory instead of %s", text, *text ? ", " : "",
				     text_kib(c->arena, process->memory_kib), text_kib(c->arena, vm->memory_kib));
	if (process->cpu.topology_given && vm->cpu.topology_given && vm->vcpu_max == process->vcpu_max &&
	    (process->cpu.threads != vm->cpu.threads || process->cpu.sockets != vm->cpu.sockets ||
	     process->cpu.dies != vm->cpu.dies || process->cpu.cores != vm->cpu.cores))
		text =
		    advise_printf(c, "%s%stopology %d x %d x %d x %d instead of %d x %d x %d x %d", text,
				  *text ? ", " : "", process->cpu.sockets, process->cpu.dies, process->cpu.cores,
				  process->cpu.threads, vm->cpu.sockets, vm->cpu.dies, vm->cpu.cores, vm->cpu.threads);
	if (process->hugepages != vm->hugepages)
		text = advise_printf(c, "%s%s%s", text, *text ? ", " : "",
				     process->hugepages ? "hugepages that are no longer asked for"
							: "no hugepages, which are asked for");
	advise_note_text(c, advise_printf(c, "/proc/%d/cmdline", process->pid), "%s", *text ? text : "as defined");
	if (*text)
		advise_report(c, "The VM runs with %s: its definition was changed after it started", text);
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

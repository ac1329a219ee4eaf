/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about the threads beside the vCPUs: emulator, I/O threads, vhost; and about CPUs shared between VMs.
 */
#include "advise_vm.h"

/* Other VMs matter only while they run. Of two that run, the one that comes first in the list tells of both. */
static bool is_rival(const struct advise_check *c, size_t index)
{
	const struct vm *other = c->subject->vms[index];

	if (other == c->vm || other->state != VM_STATE_RUNNING)
		return false;
	for (size_t i = 0; i < index; i++)
		if (c->subject->vms[i] == c->vm)
			return true;
	return c->vm->state != VM_STATE_RUNNING;
}

static void check_emulator_on_vcpu(struct advise_check *c)
{
	const struct vm *vm = c->vm;
	struct vm_view view = vm_view_of(c->host, vm);
	const struct cpuset *emulator = vm->emulator_running.given ? &vm->emulator_running.set
					: vm->emulator.given	   ? &vm->emulator.set
								   : NULL;
	struct cpuset own = {0};

	/* vCPUs that float in a set, all threads together, are another matter. */
	for (int id = 0; id < vm->vcpu_max; id++)
		if (vm_vcpu_in_use(vm, id) && vm_vcpu_cpu(c->host, vm, id) >= 0)
			cpuset_add(&own, vm_vcpu_cpu(c->host, vm, id));
	if (!emulator || cpuset_empty(&own) || cpuset_subset(host_cpu_online(c->host), emulator))
		return;
	struct cpuset both = cpuset_and(emulator, &own);

	advise_vm_note_pins(c);
	advise_note_text(c, "emulator", "%s", advise_cpu_list(c, emulator));
	if (cpuset_empty(&both))
		return;
	advise_vm_at(c,
		     advise_report(c, "The emulator (%s) shares %d CPU%s with vCPUs: %s", advise_cpu_list(c, emulator),
				   cpuset_count(&both), cpuset_count(&both) == 1 ? "" : "s", advise_cpu_list(c, &both)),
		     view.running ? (struct vm_place){0} : vm->emulator.place);
}

static void check_no_emulator_pin(struct advise_check *c)
{
	const struct vm *vm = c->vm;
	struct vm_view view = vm_view_of(c->host, vm);

	if (!view.one_to_one || vm->emulator.given)
		return;
	advise_vm_note_pins(c);
	advise_note_text(c, "emulator", "%s",
			 vm->emulator_running.given ? advise_cpu_list(c, &vm->emulator_running.set) : "not pinned");
	if (vm->emulator_running.given && !cpuset_meets(&vm->emulator_running.set, &view.cpus))
		return;
	/* The rule on the emulator's CPUs speaks where its threads are seen on a part of the host. */
	if (vm->emulator_running.given && !cpuset_subset(host_cpu_online(c->host), &vm->emulator_running.set))
		return;
	if (vm->cpuset.given && !cpuset_meets(&vm->cpuset.set, &view.cpus))
		return;
	const char *where = vm->cpuset.given ? advise_printf(c, "they use the VM's CPU set %s, which holds vCPUs' CPUs",
							     advise_cpu_list(c, &vm->cpuset.set))
					     : "they may float on to the CPUs of vCPUs";

	advise_vm_at(c, advise_report(c, "vCPUs are pinned, the emulator's threads are not: %s", where),
		     vm->cputune_place);
}

/* CPUs of vCPUs on which I/O threads are pinned. */
static void check_iothread_on_vcpu(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset both = {0};
	struct vm_place place = {0};

	for (int i = 0; i < c->vm->iothread_count; i++) {
		const struct vm_iothread *iothread = &c->vm->iothreads[i];
		const struct vm_set *set = iothread->running.given ? &iothread->running : &iothread->pin;
		struct cpuset shared = cpuset_and(&set->set, &view.cpus);

		if (!set->given || !view.one_to_one || cpuset_empty(&shared) ||
		    cpuset_subset(host_cpu_online(c->host), &set->set))
			continue;
		advise_note_text(c, advise_printf(c, "I/O thread %lld", (long long)iothread->id), "%s",
				 advise_cpu_list(c, &set->set));
		both = cpuset_or(&both, &shared);
		place = place.line ? place : set->place;
	}
	if (cpuset_empty(&both))
		return;
	advise_vm_note_pins(c);
	advise_vm_at(c, advise_report(c, "I/O threads share CPUs %s with vCPUs", advise_cpu_list(c, &both)), place);
}

static void check_pin_without_iothread(struct advise_check *c)
{
	for (int i = 0; i < c->vm->iothread_count; i++) {
		const struct vm_iothread *iothread = &c->vm->iothreads[i];

		if (!iothread->pin.given || !iothread->pin_only)
			continue;
		advise_forget(c);
		advise_note_text(c, "I/O threads", "%d defined", c->vm->iothread_declared);
		advise_vm_at(c,
			     advise_report(c, "iothreadpin names I/O thread %lld, but %s", (long long)iothread->id,
					   c->vm->iothread_declared
					       ? advise_printf(c, "only %d are defined", c->vm->iothread_declared)
					       : "no I/O threads are defined"),
			     iothread->pin.place);
	}
}

static bool iothread_exists(const struct vm *vm, int64_t id)
{
	for (int i = 0; i < vm->iothread_count; i++)
		if (vm->iothreads[i].id == id && !vm->iothreads[i].pin_only)
			return true;
	return false;
}

static void check_iothread_missing(struct advise_check *c)
{
	for (int i = 0; i < c->vm->disk_count; i++) {
		const struct vm_disk *disk = &c->vm->disks[i];

		if (disk->iothread < 1 || disk->iothread_name || iothread_exists(c->vm, disk->iothread))
			continue;
		advise_forget(c);
		advise_note_text(c, "I/O threads", "%d defined", c->vm->iothread_declared);
		advise_vm_at(c,
			     advise_report(c, "Disk %s asks for I/O thread %lld, which is not defined",
					   disk->target ? disk->target : advise_printf(c, "%d", i + 1),
					   (long long)disk->iothread),
			     disk->place);
	}
}

static void check_iothreads_unused(struct advise_check *c)
{
	int declared = c->vm->iothread_declared, used = 0;

	for (int i = 0; i < c->vm->iothread_count; i++)
		used += c->vm->iothreads[i].users > 0;
	for (int i = 0; i < c->vm->disk_count; i++)
		if (c->vm->disks[i].mapped_iothreads > 0)
			return;
	if (declared < 1)
		return;
	advise_note_text(c, "I/O threads", "%d defined, %d used", declared, used);
	if (used < declared)
		advise_vm_at(c,
			     advise_report(c, "%d I/O thread%s defined, %s used by a disk or controller", declared,
					   declared == 1 ? " is" : "s are",
					   used == 0   ? "none is"
					   : used == 1 ? "only one is"
						       : advise_printf(c, "only %d are", used)),
			     c->vm->iothreads_place);
}

static void check_vhost_uncounted(struct advise_check *c)
{
	const struct vm *vm = c->vm;
	struct vm_view view = vm_view_of(c->host, vm);
	int workers = 0;

	for (int i = 0; i < vm->nic_count; i++)
		workers += vm_nic_uses_vhost(&vm->nics[i]) && vm->nics[i].queues > 1 ? vm->nics[i].queues : 0;
	if (!view.one_to_one || !workers || !vm->emulator.given)
		return;
	advise_note_text(c, "queues of virtio NICs", "%d", workers);
	advise_note_text(c, "emulator", "%s", advise_cpu_list(c, &vm->emulator.set));
	if (workers > cpuset_count(&vm->emulator.set))
		advise_vm_at(c,
			     advise_report(c, "%d vhost workers have the emulator's %d CPU%s (%s) to run on", workers,
					   cpuset_count(&vm->emulator.set),
					   cpuset_count(&vm->emulator.set) == 1 ? "" : "s",
					   advise_cpu_list(c, &vm->emulator.set)),
			     vm->emulator.place);
}

static void check_emulator_node(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset vcpu_nodes = vm_nodes_of(c->host, &view.cpus), nodes;

	if (!c->vm->emulator.given || !view.one_to_one || !view.usable || c->host->topology.node_count < 2 ||
	    fact_is_on(&c->host->topology.l3_as_numa))
		return;
	nodes = vm_nodes_of(c->host, &c->vm->emulator.set);
	advise_vm_note_pins(c);
	advise_note_text(c, "emulator", "%s", advise_cpu_list(c, &c->vm->emulator.set));
	if (cpuset_empty(&nodes) || cpuset_empty(&vcpu_nodes) || cpuset_meets(&nodes, &vcpu_nodes))
		return;
	advise_vm_at(c,
		     advise_report(c, "The emulator is on %s, the vCPUs on %s", advise_node_text(c, &nodes),
				   advise_node_text(c, &vcpu_nodes)),
		     c->vm->emulator.place);
}

static void check_apart(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset others = {0};
	int sets = c->vm->emulator.given;

	if (c->vm->emulator.given)
		others = c->vm->emulator.set;
	for (int i = 0; i < c->vm->iothread_count; i++)
		if (c->vm->iothreads[i].pin.given) {
			others = cpuset_or(&others, &c->vm->iothreads[i].pin.set);
			sets++;
		}
	if (!sets || !view.one_to_one || cpuset_meets(&others, &view.cpus) || !view.usable)
		return;
	advise_vm_note_pins(c);
	advise_vm_at(c,
		     advise_report(c, "%s on %s, apart from the vCPUs",
				   sets == 1 && c->vm->emulator.given ? "The emulator is"
				   : c->vm->emulator.given	      ? "Emulator and I/O threads are"
								      : "I/O threads are",
				   advise_cpu_list(c, &others)),
		     c->vm->emulator.place);
}

/* ---- VMs against each other ---- */

/* CPUs of vCPUs that are pinned to a CPU of their own. */
static struct cpuset own_cpus(const struct host *host, const struct vm *vm)
{
	struct cpuset own = {0};

	for (int id = 0; id < vm->vcpu_max; id++)
		if (vm_vcpu_in_use(vm, id))
			cpuset_add(&own, vm_vcpu_cpu(host, vm, id));
	return own;
}

static const char *name_of(const struct vm *vm)
{
	return vm->name ? vm->name : "another VM";
}

static void check_overlap(struct advise_check *c)
{
	struct cpuset own = own_cpus(c->host, c->vm);

	if (c->vm->state != VM_STATE_RUNNING && !c->subject->path)
		return;
	for (size_t i = 0; !cpuset_empty(&own) && i < c->subject->vm_count; i++) {
		const struct vm *other = c->subject->vms[i];
		struct cpuset theirs, both;

		if (!is_rival(c, i))
			continue;
		advise_forget(c);
		theirs = own_cpus(c->host, other);
		both = cpuset_and(&own, &theirs);
		advise_vm_note_pins(c);
		if (cpuset_empty(&theirs))
			continue;
		advise_note_text(c, advise_printf(c, "vCPUs of %s", name_of(other)), "on %s",
				 advise_cpu_list(c, &theirs));
		if (cpuset_empty(&both))
			continue;
		advise_report(c, "CPUs %s carry vCPUs of this VM and of %s", advise_cpu_list(c, &both), name_of(other));
	}
}

static void check_overlap_siblings(struct advise_check *c)
{
	const struct host_topology *t = &c->host->topology;
	struct cpuset own = own_cpus(c->host, c->vm), whole = topology_whole_cores(t, &own);
	struct cpuset open = cpuset_minus(&whole, &own);

	if (!t->core_known || cpuset_empty(&open) || (c->vm->state != VM_STATE_RUNNING && !c->subject->path))
		return;
	for (size_t i = 0; i < c->subject->vm_count; i++) {
		const struct vm *other = c->subject->vms[i];
		struct cpuset theirs, both;

		if (!is_rival(c, i))
			continue;
		advise_forget(c);
		theirs = own_cpus(c->host, other);
		both = cpuset_and(&open, &theirs);
		advise_vm_note_pins(c);
		if (cpuset_empty(&both))
			continue;
		advise_note_text(c, advise_printf(c, "vCPUs of %s", name_of(other)), "on %s",
				 advise_cpu_list(c, &theirs));
		advise_report(c, "Cores of this VM are shared with %s, thread by thread: its vCPUs are on siblings %s",
			      name_of(other), advise_cpu_list(c, &both));
	}
}

const struct advise_rule advise_vm_thread_rules[] = {
    {
	.id = "vm.emulator-on-vcpus",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The emulator has CPUs of vCPUs",
	.mechanism = "The emulator's threads serve devices, the monitor and, from Linux 6.4 on, vhost. On a CPU of a "
		     "vCPU each preempts the other: the guest sees stolen time, its I/O waits for its own vCPUs.",
	.effect = "latency of both; not a figure that holds in general",
	.basis = BASIS_REASONED,
	.source = "libvirt documentation, formatdomain: emulatorpin",
	.hurts = "CPUs for the emulator that no vCPU has",
	.by_hand = "virsh emulatorpin VM LIST --live --config",
	.check = check_emulator_on_vcpu,
    },
    {
	.id = "vm.iothread-on-vcpus",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "An I/O thread has CPUs of vCPUs",
	.mechanism = "An I/O thread polls and then serves the guest's disks. On a CPU of a vCPU it and the vCPU that "
		     "waits for it take turns.",
	.effect = "latency of disks and of that vCPU; not a figure that holds in general",
	.basis = BASIS_REASONED,
	.source = "libvirt documentation, formatdomain: iothreadpin",
	.hurts = "CPUs for I/O threads that no vCPU has",
	.by_hand = "virsh iothreadpin VM ID LIST --live --config",
	.check = check_iothread_on_vcpu,
    },
    {
	.id = "vm.iothreadpin-without-iothread",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "iothreadpin names an I/O thread that is not defined",
	.mechanism = "Without iothreads there is no such thread: disks are served by the emulator's main loop, and the "
		     "pin is refused or holds for nothing.",
	.effect = "the disks do not run where the file says",
	.basis = BASIS_REPORTS,
	.source = "gpu-passthrough-tutorial issue 13",
	.hurts = "one thread more",
	.by_hand = "virsh edit VM: <iothreads>1</iothreads>, and iothread='1' in the <driver> of the disks",
	.check = check_pin_without_iothread,
    },
    {
	.id = "vm.iothread-missing",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A disk asks for an I/O thread that is not defined",
	.mechanism = "Disks name I/O threads by number; libvirt refuses a number that the VM does not have.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: iothreads",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <iothreads> as many as the highest number",
	.check = check_iothread_missing,
    },
    {
	.id = "vm.same-cpu-as-another",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Two running VMs have vCPUs pinned to the same CPUs",
	.mechanism = "Pins forbid the scheduler to give way: the two vCPUs take turns on one CPU, even when others are "
		     "idle, and each is preempted while it holds locks.",
	.effect = "each gets its share of one CPU; steal time in the guests",
	.basis = BASIS_REPORTS,
	.source = "lxd issue 14133",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_overlap,
    },
    {
	.id = "vm.no-emulatorpin",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "vCPUs are pinned and the emulator is not",
	.mechanism =
	    "Without emulatorpin the emulator uses the VM's CPU set, or all CPUs: those of its own pinned vCPUs "
	    "too, which cannot give way.",
	.effect = "now and then a preempted vCPU; not a figure that holds in general",
	.basis = BASIS_REASONED,
	.source = "libvirt documentation, formatdomain: emulatorpin",
	.hurts = "CPUs for the emulator that no vCPU has",
	.by_hand = "virsh emulatorpin VM LIST --live --config, with CPUs near the vCPUs",
	.check = check_no_emulator_pin,
    },
    {
	.id = "vm.siblings-of-another",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Two running VMs share cores thread by thread",
	.mechanism = "Siblings share the core's units and its first caches: each VM is slower while the other is busy, "
		     "and attacks across threads become possible between them.",
	.effect = "what SMT costs two busy threads; not a figure that holds in general",
	.basis = BASIS_REPORTS,
	.source = "xen-api issue 6763; Linux Documentation/admin-guide/hw-vuln/core-scheduling.rst",
	.hurts = "whole cores for each VM need more cores",
	.by_hand = BY_HAND_PIN,
	.experiment = "compare both VMs busy, on shared cores and on cores of their own",
	.check = check_overlap_siblings,
    },
    {
	.id = "vm.vhost-uncounted",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "More vhost workers than CPUs for them",
	.mechanism = "Each queue of a virtio NIC has a vhost worker. From Linux 6.4 on the workers are threads of QEMU "
		     "that run on the emulator's CPUs; before, kernel threads that float.",
	.effect = "queues that wait for each other under load; not a figure that holds in general",
	.basis = BASIS_DOCUMENT,
	.source = "Linux kernel/vhost_task.c",
	.hurts = "CPUs for the emulator that no vCPU has, or fewer queues",
	.by_hand = "virsh emulatorpin VM LIST --live --config with a CPU for each busy queue, or fewer queues",
	.experiment = "compare the traffic of the guest with fewer queues",
	.check = check_vhost_uncounted,
    },
    {
	.id = "vm.emulator-on-other-node",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "The emulator is on another node than the vCPUs",
	.mechanism = "Buffers that it fills are far from it, and memory that is allocated when the VM starts is "
		     "touched by threads with the emulator's affinity.",
	.effect = "not known in general",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: memoryBacking allocation",
	.hurts = "CPUs of that node",
	.by_hand = "virsh emulatorpin VM LIST --live --config, with CPUs of the vCPUs' node",
	.experiment = "compare disk and network of the guest with the emulator on either node",
	.check = check_emulator_node,
    },
    {
	.id = "vm.iothreads-unused",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "I/O threads are defined that nothing uses",
	.mechanism = "A disk or controller uses an I/O thread only when it names it; all others are served by the "
		     "emulator's main loop.",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: iothreads",
	.hurts = "nothing known",
	.check = check_iothreads_unused,
    },
    {
	.id = "vm.emulator-apart",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_VM,
	.title = "Emulator and I/O threads have CPUs of their own",
	.mechanism = "vCPUs are pinned one to one, and the threads beside them run elsewhere.",
	.basis = BASIS_REASONED,
	.source = "libvirt documentation, formatdomain: emulatorpin",
	.hurts = "nothing known",
	.check = check_apart,
    },
    {.id = NULL},
};

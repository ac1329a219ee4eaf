/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the first step of judging pins: do the CPUs exist, are they on line, and may the VM use them; one to one or not.
 */
#include "advise_vm.h"

/* ---- every set of CPUs that a VM names ---- */

struct named_set {
	const char *name;
	const struct vm_set *set;
};

/* The sets in turn: the VM's own, the emulator's, those of vCPUs, those of I/O threads. False past the end. */
static bool named_set_at(struct advise_check *c, int index, struct named_set *ret)
{
	const struct vm *vm = c->vm;
	int vcpus = vm->vcpus ? vm->vcpu_max : 0;

	if (index == 0)
		*ret = (struct named_set){"CPU set of the VM", &vm->cpuset};
	else if (index == 1)
		*ret = (struct named_set){"emulator", &vm->emulator};
	else if (index - 2 < vcpus)
		*ret = (struct named_set){advise_printf(c, "vCPU %d", index - 2), &vm->vcpus[index - 2].pin};
	else if (index - 2 - vcpus < vm->iothread_count)
		*ret = (struct named_set){
		    advise_printf(c, "I/O thread %lld", (long long)vm->iothreads[index - 2 - vcpus].id),
		    &vm->iothreads[index - 2 - vcpus].pin};
	else
		return false;
	return true;
}

static bool is_present(const struct host *host, int cpu)
{
	if (fact_known(&host->cpu.present))
		return cpuset_has(host->cpu.present.cpus, cpu);
	return cpuset_has(host_cpu_online(host), cpu);
}

/* Is the number of CPUs known at all? */
static bool cpus_are_known(const struct host *host)
{
	return fact_known(&host->cpu.present) || host->topology.thread_count > 0;
}

static struct cpuset missing_of(const struct host *host, const struct cpuset *cpus)
{
	struct cpuset missing = {0};

	CPUSET_FOREACH (cpu, cpus)
		if (!is_present(host, cpu))
			cpuset_add(&missing, cpu);
	return missing;
}

static struct cpuset offline_of(const struct host *host, const struct cpuset *cpus)
{
	struct cpuset off = cpuset_minus(cpus, host_cpu_online(host)), missing = missing_of(host, cpus);

	return cpuset_minus(&off, &missing);
}

/* One finding for all sets that name such CPUs: FAIL when one of them has nothing else, so that it cannot be applied.
 */
static void report_bad_cpus(struct advise_check *c, struct cpuset (*bad_of)(const struct host *, const struct cpuset *),
			    const char *what)
{
	struct cpuset all = {0};
	struct vm_place place = {0};
	bool nothing_left = false;
	struct named_set named;

	for (int i = 0; named_set_at(c, i, &named); i++) {
		struct cpuset bad = {0};

		if (named.set->given)
			bad = bad_of(c->host, &named.set->set);
		if (cpuset_empty(&bad))
			continue;
		advise_note_text(c, named.name, "%s", advise_cpu_list(c, &named.set->set));
		place = place.line ? place : named.set->place;
		all = cpuset_or(&all, &bad);
		nothing_left = nothing_left || cpuset_equal(&bad, &named.set->set);
	}
	if (cpuset_empty(&all))
		return;
	advise_note_text(c, "CPUs of this host", "%s", advise_cpu_list(c, host_cpu_online(c->host)));
	advise_vm_at(c,
		     advise_report_as(c, nothing_left ? ADVISE_FAIL : ADVISE_WARN, "CPU%s %s %s, which this host %s",
				      cpuset_count(&all) == 1 ? "" : "s", advise_cpu_list(c, &all),
				      cpuset_count(&all) == 1 ? "is named" : "are named", what),
		     place);
}

static void check_missing(struct advise_check *c)
{
	if (cpus_are_known(c->host))
		report_bad_cpus(c, missing_of, "does not have");
}

static void check_offline(struct advise_check *c)
{
	if (fact_known(&c->host->cpu.present))
		report_bad_cpus(c, offline_of, "has switched off");
}

static void check_not_understood(struct advise_check *c)
{
	struct named_set named;

	for (int i = 0; named_set_at(c, i, &named); i++) {
		if (!named.set->text)
			continue;
		advise_forget(c);
		advise_note_text(c, named.name, "%.80s", named.set->text);
		advise_vm_at(c, advise_report(c, "The CPU list of %s cannot be understood", named.name),
			     named.set->place);
	}
}

/* ---- what the host allows ---- */

static void check_cgroup(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset declared = vm_vcpu_cpus(c->vm);
	struct cpuset shut_out = cpuset_minus(&declared, &c->vm->cgroup_cpus.set);

	if (!c->vm->cgroup_cpus.given || !view.count || cpuset_empty(&declared) || cpuset_empty(&shut_out))
		return;
	advise_note_text(c, "cpuset.cpus.effective of the VM", "%s", advise_cpu_list(c, &c->vm->cgroup_cpus.set));
	advise_note_text(c, "pins", "%s", advise_cpu_list(c, &declared));
	advise_vm_at(c,
		     advise_report(c, "The VM's control group allows %s, which leaves pins on %s out",
				   advise_cpu_list(c, &c->vm->cgroup_cpus.set), advise_cpu_list(c, &shut_out)),
		     vm_pin_place(c->vm));
}

/* L3 groups that a set cuts, as "which cuts L3 group 18-20,42-44". */
static const char *isolated_detail(struct advise_check *c, const struct cpuset *cpus)
{
	const struct host_topology *t = &c->host->topology;
	struct cpuset whole = topology_whole_cores(t, cpus), left = cpuset_minus(&whole, cpus);
	const char *text = "Pin each vCPU to one CPU, or take isolcpus off the kernel command line";

	if (!cpuset_empty(&left))
		text = advise_printf(c, "%s. Their siblings %s are left to the host", text, advise_cpu_list(c, &left));
	for (int i = 0; t->l3_known && i < t->l3_count; i++) {
		struct cpuset l3 = t->l3s[i].cpus, taken = cpuset_and(&l3, &whole);

		if (!cpuset_empty(&taken) && !cpuset_equal(&taken, &l3))
			text = advise_printf(c, "%s. It cuts the L3 group %s", text, advise_cpu_list(c, &l3));
	}
	return text;
}

static void check_isolated_range(struct advise_check *c)
{
	const struct cpuset *isolated;
	struct cpuset shared = {0};
	int floating = 0;

	if (!advise_cpus(c, &c->host->cpu.isolated, &isolated) || cpuset_empty(isolated))
		return;
	for (int id = 0; id < c->vm->vcpu_max; id++) {
		const struct cpuset *cpus = vm_vcpu_runs_on(c->host, c->vm, id);

		if (!vm_vcpu_in_use(c->vm, id) || !cpus || cpuset_count(cpus) < 2 || !cpuset_subset(cpus, isolated))
			continue;
		shared = cpuset_or(&shared, cpus);
		floating++;
	}
	if (!floating)
		return;
	advise_vm_note_pins(c);
	struct advise_finding *finding =
	    advise_report(c, "%d vCPUs share the isolated CPUs %s, where nothing is balanced: they stay on one CPU",
			  floating, advise_cpu_list(c, &shared));

	finding->detail = isolated_detail(c, &shared);
	advise_vm_at(c, finding, vm_pin_place(c->vm));
}

static void check_isolated_partly(struct advise_check *c)
{
	const struct cpuset *isolated;
	struct vm_view view = vm_view_of(c->host, c->vm);

	if (!advise_cpus(c, &c->host->cpu.isolated, &isolated) || cpuset_empty(isolated) || !view.one_to_one ||
	    !view.usable)
		return;
	struct cpuset inside = cpuset_and(&view.cpus, isolated), outside = cpuset_minus(&view.cpus, isolated);

	if (cpuset_empty(&inside) || cpuset_empty(&outside))
		return;
	advise_vm_note_pins(c);
	advise_vm_at(c,
		     advise_report(c, "vCPUs on %s are isolated, those on %s share their CPUs with the host",
				   advise_cpu_list(c, &inside), advise_cpu_list(c, &outside)),
		     vm_pin_place(c->vm));
}

/* ---- one to one ---- */

static void check_same_cpu(struct advise_check *c)
{
	struct cpuset taken = {0}, twice = {0};

	for (int id = 0; id < c->vm->vcpu_max; id++) {
		int cpu = vm_vcpu_cpu(c->host, c->vm, id);

		if (cpu < 0 || !vm_vcpu_in_use(c->vm, id))
			continue;
		if (cpuset_has(&taken, cpu))
			cpuset_add(&twice, cpu);
		cpuset_add(&taken, cpu);
	}
	if (cpuset_empty(&twice))
		return;
	advise_vm_note_pins(c);
	advise_vm_at(c,
		     advise_report(c, "CPU%s %s %s more than one vCPU each", cpuset_count(&twice) == 1 ? "" : "s",
				   advise_cpu_list(c, &twice), cpuset_count(&twice) == 1 ? "carries" : "carry"),
		     vm_pin_place(c->vm));
}

static void check_partly_pinned(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset floating = {0};

	if (!view.pinned || view.pinned == view.count)
		return;
	for (int id = 0; id < c->vm->vcpu_max; id++)
		if (vm_vcpu_in_use(c->vm, id) && !vm_vcpu_runs_on(c->host, c->vm, id))
			cpuset_add(&floating, id);
	advise_vm_note_pins(c);
	advise_vm_at(
	    c,
	    advise_report(c, "vCPUs %s are not pinned, the other %d are", advise_cpu_list(c, &floating), view.pinned),
	    vm_pin_place(c->vm));
}

static bool is_realtime(const struct vm_scheduler *scheduler)
{
	return text_equal(scheduler->policy, "fifo") || text_equal(scheduler->policy, "rr");
}

static void check_realtime_floating(struct advise_check *c)
{
	struct cpuset floating = {0};

	for (int id = 0; c->vm->vcpus && id < c->vm->vcpu_max; id++) {
		if (is_realtime(&c->vm->vcpus[id].scheduler) && vm_vcpu_cpu(c->host, c->vm, id) < 0)
			cpuset_add(&floating, id);
	}
	int first = cpuset_first(&floating);

	if (first < 0 || !c->vm->vcpus)
		return;
	advise_note_text(c, "scheduler of the vCPUs", "%s for %s", c->vm->vcpus[first].scheduler.policy,
			 advise_cpu_list(c, &floating));
	advise_vm_at(c,
		     advise_report(c, "vCPUs %s have a realtime scheduler and no CPU of their own",
				   advise_cpu_list(c, &floating)),
		     c->vm->cputune_place);
}

static void check_realtime_emulator(struct advise_check *c)
{
	const struct cpuset *emulator = vm_emulator_runs_on(c->host, c->vm);
	struct cpuset starved = {0};

	for (int id = 0; emulator && c->vm->vcpus && id < c->vm->vcpu_max; id++) {
		int cpu = vm_vcpu_cpu(c->host, c->vm, id);

		if (is_realtime(&c->vm->vcpus[id].scheduler) && cpuset_has(emulator, cpu))
			cpuset_add(&starved, cpu);
	}
	if (!emulator || cpuset_empty(&starved) || !cpuset_subset(emulator, &starved))
		return;
	advise_note_text(c, "emulator", "%s", advise_cpu_list(c, emulator));
	advise_vm_at(c,
		     advise_report(c, "The emulator has only CPU %s, which a realtime vCPU may hold for good",
				   advise_cpu_list(c, emulator)),
		     c->vm->emulator.place);
}

static void check_one_set(struct advise_check *c)
{
	const struct vm *vm = c->vm;
	struct vm_view view = vm_view_of(c->host, vm);
	const char *what = vm->source == VM_PROXMOX_CONF				   ? "The affinity of Proxmox"
			   : vm->source == VM_LIBVIRT_XML || vm->source == VM_LIBVIRT_LIVE ? "The CPU set of the VM"
											   : "taskset";

	if (!vm->cpuset.given || view.one_to_one || view.running || cpuset_count(&vm->cpuset.set) < 2)
		return;
	for (int id = 0; vm->vcpus && id < vm->vcpu_max; id++)
		if (vm->vcpus[id].pin.given)
			return;
	advise_note_text(c, "CPU set of the VM", "%s", advise_cpu_list(c, &vm->cpuset.set));
	advise_vm_at(c,
		     advise_report(c, "%s (%s) is one set for all threads of the VM: no vCPU has a CPU of its own",
				   what, advise_cpu_list(c, &vm->cpuset.set)),
		     vm->cpuset.place);
}

static void check_cpu0(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);

	if (!view.pinned || !view.usable || cpuset_equal(&view.cpus, host_cpu_online(c->host)))
		return;
	/* A set for all threads gives way to the host by itself. */
	for (int id = 0; id < c->vm->vcpu_max; id++) {
		if (vm_vcpu_cpu(c->host, c->vm, id) != 0)
			continue;
		advise_vm_note_pins(c);
		advise_vm_at(c, advise_report(c, "vCPU %d is on CPU 0, where the host does its housekeeping", id),
			     vm_pin_place(c->vm));
		return;
	}
}

static void check_placement_auto(struct advise_check *c)
{
	if (!c->vm->placement_auto && !c->vm->numa_auto)
		return;
	advise_note_text(c, c->vm->placement_auto ? "placement of vCPUs" : "placement of memory", "auto");
	advise_vm_at(c, advise_report(c, "numad chooses the nodes of this VM when it starts"),
		     c->vm->placement_auto ? c->vm->vcpu_place : c->vm->memory_place);
}

static void check_more_vcpus(struct advise_check *c)
{
	int threads = c->host->topology.thread_count, vcpus = vm_view_of(c->host, c->vm).count;

	if (threads <= 0 || vcpus <= threads)
		return;
	advise_note_text(c, "vCPUs", "%d", vcpus);
	advise_note_text(c, "CPUs of this host", "%s", advise_cpu_list(c, host_cpu_online(c->host)));
	advise_vm_at(c, advise_report(c, "%d vCPUs on %d host threads", vcpus, threads), c->vm->vcpu_place);
}

const struct advise_rule advise_vm_cpu_rules[] = {
    {
	.id = "vm.cpu-missing",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A VM names CPUs that the host does not have",
	.mechanism =
	    "The kernel refuses an affinity or a cpuset without any CPU that exists, and drops the others from "
	    "a mixed one without a word: the VM runs on fewer CPUs than its file says.",
	.effect = "the VM does not start, or has less room than planned",
	.basis = BASIS_DOCUMENT,
	.source = "sched_setaffinity(2); Linux Documentation/admin-guide/cgroup-v2.rst",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_missing,
    },
    {
	.id = "vm.cpu-offline",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A VM names CPUs that are off line",
	.mechanism =
	    "A CPU that is off line runs nothing. A thread whose only CPU goes off line is moved to any other, "
	    "and a new affinity with nothing but such CPUs is refused.",
	.effect = "the VM does not start, or its vCPUs float",
	.basis = BASIS_DOCUMENT,
	.source = "sched_setaffinity(2); Linux Documentation/core-api/cpu_hotplug.rst",
	.hurts = "nothing known",
	.by_hand = "echo 1 > /sys/devices/system/cpu/cpuN/online, or pin to CPUs that are on line",
	.check = check_offline,
    },
    {
	.id = "vm.cpu-list-unclear",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A CPU list of a VM cannot be understood",
	.mechanism = "CPU lists are numbers and ranges with commas, and with ^ for what is taken out: 0-3,^2,8.",
	.effect = "the VM is refused, or is not pinned",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: cpuset",
	.hurts = "nothing known",
	.by_hand = BY_HAND_EDIT,
	.check = check_not_understood,
    },
    {
	.id = "vm.cgroup-narrower",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The control group of a VM allows fewer CPUs than its pins",
	.mechanism = "A cpuset of a parent (machine.slice, qemu.slice, AllowedCPUs=) caps every affinity below it. The "
		     "pins stand in the file, the threads run elsewhere.",
	.effect = "vCPUs share the CPUs that are left",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/cgroup-v2.rst",
	.hurts = "what the cpuset was to protect",
	.by_hand = "systemctl show machine.slice -p AllowedCPUs; systemctl set-property --runtime machine.slice "
		   "AllowedCPUs=LIST",
	.check = check_cgroup,
    },
    {
	.id = "vm.isolcpus-range",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "vCPUs share a range of isolated CPUs",
	.mechanism = "CPUs of isolcpus are in no scheduling domain: no thread is moved between them. Threads that may "
		     "use several of them all stay on the one where they woke up first.",
	.effect = "all vCPUs take turns on one CPU",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.txt: isolcpus; pve-helpers issue 4",
	.hurts = "without isolcpus other tasks may come on to these CPUs",
	.by_hand = BY_HAND_PIN,
	.check = check_isolated_range,
    },
    {
	.id = "vm.isolated-partly",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Some vCPUs of a VM are on isolated CPUs and others are not",
	.mechanism =
	    "vCPUs on CPUs of the host's own are interrupted by its tasks. A guest that waits for all its vCPUs "
	    "(barriers, locks) goes at the pace of the slowest.",
	.effect = "the isolation brings less than it costs; not a figure that holds in general",
	.basis = BASIS_REASONED,
	.source = "how barriers work",
	.hurts = "CPUs that are isolated are lost to the host",
	.by_hand = BY_HAND_PIN,
	.check = check_isolated_partly,
    },
    {
	.id = "vm.vcpus-on-one-cpu",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Several vCPUs are pinned to the same CPU",
	.mechanism =
	    "vCPUs with one CPU between them take turns, while the others of the host may be idle: pins forbid "
	    "the scheduler to spread them.",
	.effect = "each of them gets its share of one CPU, and holders of locks are preempted",
	.basis = BASIS_REASONED,
	.source = "sched_setaffinity(2)",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_same_cpu,
    },
    {
	.id = "vm.partly-pinned",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Some vCPUs of a VM are pinned and others are not",
	.mechanism = "The vCPUs without a pin float over all CPUs, those of pinned vCPUs too, which cannot give way.",
	.effect = "uneven vCPUs; the pins protect nothing",
	.basis = BASIS_REASONED,
	.source = "sched_setaffinity(2)",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_partly_pinned,
    },
    {
	.id = "vm.realtime-floating",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A realtime vCPU has no CPU of its own",
	.mechanism = "A vCPU under SCHED_FIFO or SCHED_RR goes before every ordinary task of whatever CPU it lands on: "
		     "emulator, I/O threads, kernel threads and other VMs there wait while the guest computes.",
	.effect = "stalls of the host, up to the limit of realtime throttling",
	.basis = BASIS_DOCUMENT,
	.source = "sched(7); Linux Documentation/scheduler/sched-rt-group.rst",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_realtime_floating,
    },
    {
	.id = "vm.realtime-starves-emulator",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The emulator has only CPUs of realtime vCPUs",
	.mechanism = "The emulator serves devices and the monitor. On a CPU that a realtime vCPU never leaves it does "
		     "not run, and the vCPU may wait for just that device.",
	.effect = "the guest hangs",
	.basis = BASIS_DOCUMENT,
	.source = "sched(7)",
	.hurts = "one more CPU for the emulator",
	.by_hand = "virsh emulatorpin VM CPU --live --config",
	.check = check_realtime_emulator,
    },
    {
	.id = "vm.more-vcpus-than-cpus",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A VM has more vCPUs than the host has CPUs",
	.mechanism =
	    "vCPUs beyond the CPUs only take turns, and a vCPU that holds a lock is preempted while the others "
	    "spin for it.",
	.effect = "slower than with as many vCPUs as CPUs; not a figure that holds in general",
	.basis = BASIS_REASONED,
	.source = "how spin locks work",
	.hurts = "nothing known",
	.by_hand = BY_HAND_EDIT,
	.check = check_more_vcpus,
    },
    {
	.id = "vm.one-set",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "One set of CPUs holds for all threads of a VM",
	.mechanism =
	    "taskset, Proxmox's affinity and libvirt's vcpu cpuset keep vCPUs, emulator, I/O threads and vhost "
	    "in one set, in which they float. The guest's idea of cores and siblings then means nothing.",
	.basis = BASIS_DOCUMENT,
	.source = "taskset(1); Proxmox VE documentation, qm: affinity",
	.hurts = "pins by thread must be made anew at each start where libvirt does not do it",
	.by_hand = "libvirt: vcpupin and emulatorpin; Proxmox: a hookscript that calls taskset -pc for each CPU n/KVM "
		   "thread",
	.check = check_one_set,
    },
    {
	.id = "vm.on-cpu-0",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "A vCPU is pinned to CPU 0",
	.mechanism =
	    "CPU 0 cannot be freed of everything: boot-time kernel work, timers and interrupts without a place "
	    "of their own stay there. Where latency counts it is left to the host.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-per-CPU-kthreads.rst",
	.hurts = "one core less for VMs",
	.check = check_cpu0,
    },
    {
	.id = "vm.placement-auto",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "numad places a VM",
	.mechanism = "With placement auto libvirt asks numad for nodes when the VM starts, and ignores its CPU set. "
		     "numad knows nodes and no L3 groups.",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: vcpu placement",
	.hurts = "nothing known",
	.check = check_placement_auto,
    },
    {.id = NULL},
};

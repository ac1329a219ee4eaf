/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about enlightenments, clocks, locked memory and other switches of a VM. */
#include "advise_vm.h"

static int hyperv(const struct vm *vm, const char *name)
{
	return vm_feature(vm->hyperv, vm->hyperv_count, name);
}

/* ---- only when the source says that it is Windows ---- */

static bool passes_all(const struct vm *vm)
{
	return text_equal(vm->hyperv_mode, "passthrough") || text_equal(vm->hyperv_mode, "host-model");
}

static const struct vm_timer *timer(const struct vm *vm, const char *name)
{
	for (int i = 0; i < vm->timer_count; i++)
		if (text_equal(vm->timers[i].name, name))
			return &vm->timers[i];
	return NULL;
}

static void check_enlightenments(struct advise_check *c)
{
	static const char *const wanted[] = {"relaxed", "vapic", "spinlocks", "vpindex", "synic", "stimer"};
	const char *missing = "";

	/* Proxmox turns them on itself for its Windows types. */
	if (!vm_is_windows(c->vm) || passes_all(c->vm) || c->vm->source == VM_PROXMOX_CONF)
		return;
	advise_note_text(c, "guest", "Windows, by its file");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (hyperv(c->vm, wanted[i]) != 1)
			missing = advise_printf(c, "%s%s%s", missing, *missing ? ", " : "", wanted[i]);
	if (!*missing)
		return;
	advise_note_text(c, "enlightenments", "without %s", missing);
	advise_report(c, "Windows has to do without enlightenments: %s", missing);
}

static void check_clock(struct advise_check *c)
{
	const struct vm_timer *clock = timer(c->vm, "hypervclock"), *hpet = timer(c->vm, "hpet");
	bool has_clock = clock && clock->present != 0, has_hpet = hpet && hpet->present == 1;

	if (!vm_is_windows(c->vm) || passes_all(c->vm) || c->vm->source == VM_PROXMOX_CONF)
		return;
	advise_note_text(c, "guest", "Windows, by its file");
	advise_note_text(c, "hypervclock", "%s", has_clock ? "present" : "not present");
	if (!has_clock || has_hpet)
		advise_report(c, "Windows has %s",
			      has_clock	 ? "an hpet, which it programs very often"
			      : has_hpet ? "no hypervclock, and an hpet"
					 : "no hypervclock");
}

/* ---- dependencies ---- */

static void check_dependencies(struct advise_check *c)
{
	static const struct {
		const char *feature, *needs;
	} dependencies[] = {{"synic", "vpindex"}, {"stimer", "synic"}, {"tlbflush", "vpindex"}, {"ipi", "vpindex"}};
	const char *broken = "";

	if (passes_all(c->vm))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(dependencies); i++) {
		if (hyperv(c->vm, dependencies[i].feature) != 1)
			continue;
		advise_note_text(c, dependencies[i].feature, "on");
		if (hyperv(c->vm, dependencies[i].needs) != 1)
			broken = advise_printf(c, "%s%s%s needs %s", broken, *broken ? ", " : "",
					       dependencies[i].feature, dependencies[i].needs);
	}
	if (*broken)
		advise_report(c, "Enlightenments lack what they build on: %s", broken);
}

/* ---- memory ---- */

static void check_locked(struct advise_check *c)
{
	if (!c->vm->locked)
		return;
	advise_note_text(c, "locked", "yes");
	advise_note_text(c, "hard_limit", "%s",
			 c->vm->hard_limit_kib ? text_kib(c->arena, c->vm->hard_limit_kib) : "none");
	if (!c->vm->hard_limit_kib)
		advise_vm_at(c, advise_report(c, "All memory of QEMU is locked, and it has no hard limit"),
			     c->vm->memory_place);
}

static void check_ksm(struct advise_check *c)
{
	int64_t run;

	if (c->vm->no_share_pages || c->vm->hugepages || !vm_view_of(c->host, c->vm).one_to_one ||
	    !advise_number(c, &c->host->memory.ksm_run, &run) || run != 1)
		return;
	advise_note_text(c, "nosharepages", "not asked for");
	advise_vm_at(c, advise_report(c, "KSM merges pages of a VM whose vCPUs have CPUs of their own"),
		     c->vm->memory_place);
}

/* ---- idle, and what a reader saw ---- */

static void check_cpu_pm(struct advise_check *c)
{
	bool own = vm_view_of(c->host, c->vm).one_to_one;

	if (c->vm->cpu_pm != 1)
		return;
	advise_note_text(c, "cpu-pm", "on");
	advise_note_text(c, "vCPUs with a CPU of their own", "%s", own ? "all" : "not all");
	(void)advise_report_as(c, own ? ADVISE_INFO : ADVISE_WARN, "The guest idles by itself (cpu-pm): %s",
			       own ? "its vCPUs look 100 % busy from the host"
				   : "its vCPUs have no CPUs of their own, and do not give them back");
}

static void check_notes(struct advise_check *c)
{
	for (int i = 0; i < c->vm->note_count; i++) {
		advise_forget(c);
		advise_note_text(c, c->vm->path ? c->vm->path : "VM", "read");
		advise_vm_at(c, advise_report(c, "%.200s", c->vm->notes[i].text), c->vm->notes[i].place);
	}
}

const struct advise_rule advise_vm_feature_rules[] = {
    {
	.id = "vm.hyperv-dependencies",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "An enlightenment lacks what it builds on",
	.mechanism = "The synthetic interrupt controller needs the index of vCPUs, its timers need the controller, and "
		     "calls for several vCPUs need the index.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU documentation: Hyper-V enlightenments",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: add them in <hyperv>",
	.check = check_dependencies,
    },
    {
	.id = "vm.windows-enlightenments",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Windows without enlightenments",
	.mechanism = "Windows asks for its clock and sets its timers very often. With synic and stimer these do not "
		     "leave the guest through emulated devices; the others spare it interrupts and locks.",
	.effect = "an idle Windows guest takes CPU time and watts of the host; not a figure that holds in general",
	.basis = BASIS_REPORTS,
	.source = "virt-manager issue 205; QEMU documentation: Hyper-V enlightenments",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <hyperv> with relaxed, vapic, spinlocks, vpindex, synic and stimer",
	.experiment = "compare the CPU time of QEMU while the guest idles",
	.check = check_enlightenments,
    },
    {
	.id = "vm.windows-clock",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Windows without its clock of the hypervisor",
	.mechanism = "Without hypervclock Windows reads the time from an emulated timer, an exit each; with an hpet it "
		     "programs that many times a second.",
	.effect = "an idle Windows guest takes CPU time and watts of the host; not a figure that holds in general",
	.basis = BASIS_REPORTS,
	.source = "virt-manager issue 205; truenas issue 9247",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <timer name='hypervclock' present='yes'/> and <timer name='hpet' present='no'/> in "
		   "<clock>",
	.experiment = "compare the CPU time of QEMU while the guest idles",
	.check = check_clock,
    },
    {
	.id = "vm.locked-without-limit",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Locked memory without a limit",
	.mechanism = "locked keeps all memory of QEMU in RAM, what it needs beside the guest's too. libvirt lifts the "
		     "limit for that; a QEMU that leaks or is attacked then takes the host's memory.",
	.effect = "a risk, no cost",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: memoryBacking locked",
	.hurts = "a limit that is too low ends the VM",
	.by_hand = "virsh edit VM: <memtune><hard_limit unit='GiB'>, generously above the guest's memory",
	.experiment = "look at VmLck and VmRSS in /proc/PID/status after some days",
	.check = check_locked,
    },
    {
	.id = "vm.ksm-merges",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM | NEEDS_METAL,
	.title = "KSM merges pages of a VM with CPUs of its own",
	.mechanism = "ksmd scans memory and merges equal pages, across VMs and, unless told otherwise, across nodes. "
		     "A write to such a page is a fault and a copy.",
	.effect = "not known in general: memory saved against faults, remote pages and a side channel",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/ksm.rst",
	.hurts = "memory that merging saved",
	.by_hand = "virsh edit VM: <memoryBacking><nosharepages/>",
	.experiment = "compare with nosharepages, with the guest's own work",
	.check = check_ksm,
    },
    {
	.id = "vm.cpu-pm",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The guest idles without leaving its CPU",
	.mechanism =
	    "With cpu-pm the guest executes HLT and MWAIT natively: it wakes faster, and its CPU is never given "
	    "back while it idles. The host sees it 100 % busy, and all that shares the CPU waits.",
	.effect = "good wake-up latency on CPUs of its own, starvation on shared ones",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU documentation: -overcommit cpu-pm",
	.hurts = "wake-up latency of the guest",
	.by_hand = "pin the vCPUs one to one on isolated CPUs, or start QEMU without -overcommit cpu-pm=on",
	.check = check_cpu_pm,
    },
    {
	.id = "vm.remark",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "Something in the VM's file that hvtune passes over",
	.mechanism =
	    "Pending changes, snapshots, shell variables and what depends on the host are not judged; this says "
	    "what was left out.",
	.basis = BASIS_DOCUMENT,
	.source = "the file itself",
	.hurts = "nothing known",
	.check = check_notes,
    },
    {.id = NULL},
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about KVM: whether it can run, and the parameters of its modules. */
#include <inttypes.h>

#include "advise_check.h"

/* x86 default of halt_poll_ns (KVM_HALT_POLL_NS_DEFAULT, arch/x86/include/asm/kvm_host.h). */
enum { HALT_POLL_DEFAULT_NS = 200000 };

/* Lists of flags in texts of others are often cut; a real one of any AMD64 CPU has more words than this. */
enum { FLAGS_OF_A_WHOLE_LIST = 50 };

static bool flags_are_whole(const struct host_cpu *cpu)
{
	int words = 0;
	bool inside = false;

	for (const char *at = fact_text_or(&cpu->flags, ""); *at; at++) {
		words += *at != ' ' && !inside;
		inside = *at != ' ';
	}
	return words >= FLAGS_OF_A_WHOLE_LIST;
}

static void check_svm_off(struct advise_check *c)
{
	const struct host_kvm *kvm = &c->host->kvm;
	bool flag = true;
	bool lacks = advise_switch(c, &kvm->flag_svm, &flag) && !flag && flags_are_whole(&c->host->cpu);

	if (fact_is_on(&kvm->device))
		return;
	const char *line = advise_log_line(c, "SVM disabled (by BIOS)");

	line = line ? line : advise_log_line(c, "SVM not supported by CPU");
	line = line ? line : advise_log_line(c, "kvm: disabled by bios");
	if (lacks || line)
		(void)advise_report(c, "KVM cannot run: SVM is turned off in the BIOS");
}

static void check_guest_without_nested(struct advise_check *c)
{
	const struct host_kvm *kvm = &c->host->kvm;
	bool flag;

	if (!host_is_guest(c->host) || fact_is_on(&kvm->device) || !flags_are_whole(&c->host->cpu) ||
	    !advise_switch(c, &kvm->flag_svm, &flag) || flag)
		return;
	(void)advise_note(c, &c->host->os.hypervisor);
	(void)advise_report(c, "This guest cannot run VMs of its own: its host does not pass SVM on");
}

static void check_modules(struct advise_check *c)
{
	const struct host_kvm *kvm = &c->host->kvm;
	bool flag, loaded, device;

	if (!advise_switch(c, &kvm->flag_svm, &flag) || !flag || !advise_switch(c, &kvm->device, &device) || device ||
	    !advise_switch(c, &kvm->module_vendor, &loaded) || loaded)
		return;
	(void)advise_report(c, "kvm_amd is not loaded, though the CPU has SVM");
}

static void check_device(struct advise_check *c)
{
	const struct host_kvm *kvm = &c->host->kvm;
	bool loaded, device;

	if (!advise_switch(c, &kvm->module_vendor, &loaded) || !loaded || !advise_switch(c, &kvm->device, &device) ||
	    device)
		return;
	struct advise_finding *finding = advise_report(c, "kvm_amd is loaded, but there is no /dev/kvm");

	if (advise_note(c, &c->host->os.container))
		finding->detail = "hvtune runs in a container: the device has to be passed into it";
}

static void check_ready(struct advise_check *c)
{
	const struct host_kvm *kvm = &c->host->kvm;
	bool loaded, npt, device;

	if (advise_switch(c, &kvm->module_vendor, &loaded) && loaded && advise_switch(c, &kvm->npt, &npt) && npt &&
	    advise_switch(c, &kvm->device, &device) && device)
		(void)advise_report(c, "KVM is ready: kvm_amd is loaded, nested paging is on, /dev/kvm is there");
}

static void check_npt(struct advise_check *c)
{
	bool on;

	if (advise_switch(c, &c->host->kvm.npt, &on) && !on)
		(void)advise_report(c, "Nested paging is off: every guest runs on shadow page tables, a heavy loss");
}

static void check_halt_poll_off(struct advise_check *c)
{
	int64_t poll_ns;

	if (advise_number(c, &c->host->kvm.halt_poll_ns, &poll_ns) && poll_ns == 0)
		(void)advise_report(c, "Halt polling is off: saves power, may add wake-up latency to guests");
}

static void check_halt_poll_long(struct advise_check *c)
{
	int64_t poll_ns;

	if (advise_number(c, &c->host->kvm.halt_poll_ns, &poll_ns) && poll_ns > HALT_POLL_DEFAULT_NS)
		(void)advise_report(c, "Halt polling of up to %" PRId64 " us keeps idle vCPUs on the CPU",
				    poll_ns / 1000);
}

static void check_avic(struct advise_check *c)
{
	bool on;

	if (!advise_switch(c, &c->host->kvm.avic, &on) || on)
		return;
	struct advise_finding *finding = advise_report(c, "AVIC is off: interrupts reach guests with an exit");

	if (c->host->cpu.zen >= ZEN_4 && host_kernel_at_least(c->host, 7, 2))
		finding->detail = "this kernel turns it on by itself where x2AVIC is there: something keeps it off";
	else if (c->host->os.kernel_major && !host_kernel_at_least(c->host, 6, 13))
		finding->detail = "off is the default of this kernel";
}

static void check_nested(struct advise_check *c)
{
	bool on;

	if (advise_switch(c, &c->host->kvm.nested, &on) && on)
		(void)advise_report(c, "Guests may run VMs of their own (nested=1, the default)");
}

static void check_nx_huge_pages(struct advise_check *c)
{
	bool on;

	if (!advise_switch(c, &c->host->kvm.nx_huge_pages, &on) || !on)
		return;
	(void)advise_report(c, "nx_huge_pages is on, against a fault that AMD CPUs do not have");
}

/* Text parameters that read as a switch. */
static bool parameter_is(struct advise_check *c, const char *module, const char *name, bool wanted)
{
	const struct fact *value = host_kvm_parameter(&c->host->kvm, module, name);
	const char *text;

	if (!value || !advise_text(c, value, &text))
		return false;
	return text_has_word(wanted ? "Y 1" : "N 0", " ", text);
}

static void check_ignore_msrs(struct advise_check *c)
{
	if (!parameter_is(c, "kvm", "ignore_msrs", true))
		return;
	bool quiet = parameter_is(c, "kvm", "report_ignored_msrs", false);

	(void)advise_report(c, "Unknown MSRs of guests are ignored%s", quiet ? ", and not reported" : "");
}

static void check_pmu(struct advise_check *c)
{
	if (parameter_is(c, "kvm", "enable_pmu", false) && fact_is_on(&c->host->kvm.module_vendor))
		(void)advise_report(c, "Guests have no performance counters (enable_pmu is off)");
}

static void check_tdp_mmu(struct advise_check *c)
{
	if (host_kernel_at_least(c->host, 6, 1) && fact_is_on(&c->host->kvm.npt) &&
	    parameter_is(c, "kvm", "tdp_mmu", false))
		(void)advise_report(c, "The scalable MMU of KVM is turned off (tdp_mmu)");
}

/* Help for virtualization that the CPU has, with the parameter of kvm_amd that turns it off. */
static void check_features(struct advise_check *c)
{
	static const struct {
		const char *flag, *parameter;
	} features[] = {{"nrip_save", "nrips"},	      {"v_vmsave_vmload", "vls"}, {"vgif", "vgif"},
			{"tsc_scale", "tsc_scaling"}, {"lbrv", "lbrv"},		  {"vnmi", "vnmi"}};
	const char *names = "";

	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		if (host_cpu_has_flag(&c->host->cpu, features[i].flag) &&
		    parameter_is(c, "kvm_amd", features[i].parameter, false))
			names = advise_printf(c, "%s%s%s", names, *names ? ", " : "", features[i].parameter);
	advise_forget(c);
	if (!*names)
		return;
	advise_note_text(c, "/sys/module/kvm_amd/parameters", "off: %s", names);
	(void)advise_report(c, "Help that the CPU offers is turned off in kvm_amd: %s", names);
}

static void check_vhost_net(struct advise_check *c)
{
	const struct host_kvm *kvm = &c->host->kvm;
	bool loaded, device;

	if (!fact_is_on(&kvm->device) || !advise_switch(c, &kvm->module_vhost_net, &loaded) || loaded ||
	    !advise_switch(c, &kvm->device_vhost_net, &device) || device)
		return;
	(void)advise_report(c, "vhost_net is not loaded and /dev/vhost-net is missing");
}

const struct advise_rule advise_kvm_rules[] = {
    {
	.id = "kvm.svm-off",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "SVM is turned off in the BIOS",
	.mechanism =
	    "KVM needs the SVM instructions of the CPU. The firmware can lock them away; every Zen CPU has them.",
	.effect = "no VM runs, or only in emulation",
	.basis = BASIS_DOCUMENT,
	.source = "Linux arch/x86/kvm/svm/svm.c",
	.hurts = "nothing known",
	.by_hand = "BIOS set-up: Advanced > CPU configuration or AMD CBS > SVM Mode = Enabled",
	.check = check_svm_off,
    },
    {
	.id = "kvm.modules-not-loaded",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The KVM modules are not loaded",
	.mechanism = "The CPU has SVM, but neither kvm_amd nor /dev/kvm is there: the module is missing, blacklisted "
		     "or was taken "
		     "out.",
	.effect = "no VM runs with the help of hardware",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/kvm",
	.hurts = "nothing known",
	.by_hand = "modprobe kvm_amd; dmesg | grep -i kvm; grep -r kvm_amd /etc/modprobe.d",
	.check = check_modules,
    },
    {
	.id = "kvm.no-device",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_AMD,
	.title = "There is no /dev/kvm",
	.mechanism = "QEMU opens /dev/kvm. The module is loaded, but its device node is not in this /dev.",
	.effect = "no VM runs with the help of hardware",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/kvm/api.rst",
	.hurts = "nothing known",
	.by_hand = "udevadm trigger --name-match=kvm; in a container pass the device in",
	.check = check_device,
    },
    {
	.id = "kvm.npt-off",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD,
	.title = "Nested paging is off",
	.mechanism = "With npt=0 KVM keeps shadow page tables in software: every change of a page table and every "
		     "switch of address "
		     "space in a guest becomes an exit, and SEV does not work.",
	.effect = "a heavy loss in everything that forks, maps or switches; not a figure that holds in general",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/kvm/x86/mmu.rst",
	.hurts = "nothing known",
	.knobs = "module.kvm_amd.npt=1",
	.by_hand = "grep -r npt /etc/modprobe.d and the command line; stop all VMs, modprobe -r kvm_amd, modprobe "
		   "kvm_amd npt=1",
	.check = check_npt,
    },
    {
	.id = "kvm.nx-huge-pages-forced",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD,
	.title = "nx_huge_pages is on on an AMD host",
	.mechanism = "The setting splits the large pages of guests that execute code, against the fault ITLB multihit. "
		     "AMD CPUs do "
		     "not have it, so the kernel leaves it off there unless told otherwise.",
	.effect = "more TLB misses in guests; not a figure that holds in general",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/hw-vuln/multihit.rst",
	.hurts = "nothing known on AMD",
	.knobs = "kvm.nx_huge_pages=off",
	.by_hand = "echo N > /sys/module/kvm/parameters/nx_huge_pages; take kvm.nx_huge_pages off the command line",
	.check = check_nx_huge_pages,
    },
    {
	.id = "kvm.feature-off",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD,
	.title = "Help of the CPU for VMs is turned off by a module parameter",
	.mechanism =
	    "kvm_amd uses what the CPU offers unless a parameter forbids it: next-RIP save, virtual VMLOAD and VMSAVE, "
	    "virtual GIF and NMI, TSC scaling. Without them more is done in software.",
	.effect = "more exits or slower ones, mostly under nested VMs; TSC scaling is needed to migrate between clocks",
	.basis = BASIS_REASONED,
	.source = "Linux arch/x86/kvm/svm/svm.c",
	.hurts = "nothing known, unless it was a work-around",
	.by_hand = "grep -r kvm_amd /etc/modprobe.d; reload kvm_amd with no VM running",
	.check = check_features,
    },
    {
	.id = "kvm.halt-poll-long",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD,
	.title = "Halt polling is longer than the default",
	.mechanism = "When a vCPU halts, KVM polls up to halt_poll_ns before it lets the CPU go. Long polling spares "
		     "wake-ups in "
		     "guests with very short sleeps, and burns CPU time and watts in all others.",
	.effect = "not known in general: latency of short sleeps against watts and CPU time",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/kvm/halt-polling.rst",
	.hurts = "wake-up latency of guests",
	.knobs = "kvm.halt_poll_ns=200000",
	.by_hand = "echo 200000 > /sys/module/kvm/parameters/halt_poll_ns",
	.experiment = "now against kvm.halt_poll_ns=200000, with the guests' own workload and watts",
	.check = check_halt_poll_long,
    },
    {
	.id = "kvm.tdp-mmu-off",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD,
	.title = "The scalable MMU of KVM is off",
	.mechanism = "The TDP MMU lets vCPUs fault pages in side by side, and is the default from Linux 6.1 on at the "
		     "latest. With "
		     "tdp_mmu=0 they queue for one lock, which large guests feel.",
	.effect = "not known in general; grows with the number of vCPUs",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/kvm/locking.rst",
	.hurts = "nothing known",
	.knobs = "module.kvm.tdp_mmu=1",
	.by_hand = "grep -r tdp_mmu /etc/modprobe.d; reload kvm with no VM running",
	.check = check_tdp_mmu,
    },
    {
	.id = "kvm.vhost-net-missing",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "vhost_net is not there",
	.mechanism = "vhost_net moves the data path of virtio network cards from QEMU into the kernel. libvirt falls "
		     "back to QEMU "
		     "without a word when it is missing.",
	.effect = "more CPU time and latency for each packet of guests",
	.basis = BASIS_REASONED,
	.source = "libvirt formatdomain, driver name='vhost'",
	.hurts = "nothing known",
	.by_hand = "modprobe vhost_net; echo vhost_net > /etc/modules-load.d/vhost_net.conf",
	.check = check_vhost_net,
    },
    {
	.id = "kvm.halt-poll-off",
	.severity = ADVISE_INFO,
	.title = "Halt polling is off",
	.mechanism =
	    "With halt_poll_ns=0 a vCPU that halts gives its CPU up at once: that saves power and lets the core sleep. "
	    "Guests with very short sleeps pay a wake-up each time.",
	.source = "Linux Documentation/virt/kvm/halt-polling.rst",
	.knobs = "kvm.halt_poll_ns=0|200000",
	.by_hand = "echo 200000 > /sys/module/kvm/parameters/halt_poll_ns",
	.experiment = "kvm.halt_poll_ns=0 against kvm.halt_poll_ns=200000",
	.check = check_halt_poll_off,
    },
    {
	.id = "kvm.avic-off",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "AVIC is off",
	.mechanism =
	    "AVIC delivers interrupts to running vCPUs without an exit. Linux 6.1 and 6.12 leave it off, 7.2 turns it "
	    "on by itself on Zen 4 and later with x2AVIC; it steps aside for nested guests and some timers. Whether it "
	    "helps shows only a test.",
	.source = "Linux arch/x86/kvm/svm/avic.c",
	.knobs = "module.kvm_amd.avic=1",
	.by_hand = "stop all VMs; modprobe -r kvm_amd; modprobe kvm_amd avic=1; dmesg | grep -i avic",
	.experiment = "now against module.kvm_amd.avic=1, with an interrupt-heavy guest",
	.check = check_avic,
    },
    {
	.id = "kvm.nested-on",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Nested virtualization is allowed",
	.mechanism = "nested=1 is the default and costs nothing while no guest uses it. A guest that runs VMs of its "
		     "own has AVIC "
		     "stepped aside, and the code for it is a larger target for attacks.",
	.source = "Linux Documentation/virt/kvm/x86/running-nested-guests.rst",
	.by_hand = "options kvm_amd nested=0 in /etc/modprobe.d when no guest needs it",
	.check = check_nested,
    },
    {
	.id = "kvm.ignore-msrs",
	.severity = ADVISE_INFO,
	.title = "Unknown MSRs of guests are ignored",
	.mechanism = "With ignore_msrs=1 a guest that asks for a register KVM does not know reads 0 instead of getting "
		     "a fault. Some "
		     "guests need it to boot; it also hides real mistakes.",
	.source = "Linux Documentation/admin-guide/kernel-parameters.txt",
	.by_hand = "echo 0 > /sys/module/kvm/parameters/ignore_msrs when no guest needs it",
	.check = check_ignore_msrs,
    },
    {
	.id = "kvm.pmu-off",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD,
	.title = "Guests have no performance counters",
	.mechanism =
	    "With enable_pmu=0 no guest sees hardware counters, so perf inside a VM counts software events only.",
	.source = "Linux arch/x86/kvm/x86.c",
	.by_hand = "grep -r enable_pmu /etc/modprobe.d; reload kvm with no VM running",
	.check = check_pmu,
    },
    {
	.id = "kvm.guest-without-nested",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD,
	.title = "This guest cannot run VMs of its own",
	.mechanism =
	    "The CPU of this guest shows no SVM: the host under it does not pass the feature on, or forbids nesting.",
	.source = "Linux Documentation/virt/kvm/x86/running-nested-guests.rst",
	.by_hand = "on the outer host: kvm_amd nested=1 and a CPU model with svm (host-passthrough) for this guest",
	.check = check_guest_without_nested,
    },
    {
	.id = "kvm.ready",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_AMD,
	.title = "KVM is ready",
	.mechanism = "The modules are loaded, nested paging is on, and the device is there.",
	.source = "Linux Documentation/virt/kvm/api.rst",
	.check = check_ready,
    },
    {.id = NULL},
};

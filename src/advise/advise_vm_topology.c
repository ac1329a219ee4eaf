/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about what the guest is told of its CPUs: their number, topology, model and features. */
#include <inttypes.h>

#include "advise_vm.h"

/* With more vCPUs, interrupts need destinations of more than 8 bits. */
enum { VCPUS_WITHOUT_EIM = 255 };

static void check_product(struct advise_check *c)
{
	const struct vm_cpu *cpu = &c->vm->cpu;
	int64_t product = vm_topology_product(cpu);
	const char *text = "";
	const int factors[] = {cpu->sockets, cpu->dies, cpu->clusters, cpu->cores, cpu->threads};

	if (!cpu->topology_given || c->vm->vcpu_max < 1)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		if (factors[i] > 1 || i == 0 || i > 2)
			text = advise_printf(c, "%s%s%d", text, i ? " x " : "", factors[i]);
	advise_note_text(c, "topology", "%s", text);
	advise_note_text(c, "vCPUs", "%d", c->vm->vcpu_max);
	if (product != c->vm->vcpu_max)
		advise_vm_at(c,
			     advise_report(c, "The topology makes %s = %" PRId64 " vCPUs, the VM has at most %d", text,
					   product, c->vm->vcpu_max),
			     cpu->topology_place);
}

/* ---- more than 255 vCPUs ---- */

static bool has_eim(const struct vm *vm)
{
	bool amd = vm->iommu && strstr(vm->iommu, "amd");

	return amd ? vm->iommu_xtsup == 1 || vm->iommu_eim == 1 : vm->iommu && vm->iommu_eim == 1;
}

/* What is missing for that many vCPUs; "" when all is there. */
static const char *missing_for_many(struct advise_check *c)
{
	const struct vm *vm = c->vm;
	const char *text = "";

	if (!vm->iommu)
		text = "an IOMMU with EIM";
	else if (vm->iommu_intremap != 1 || !has_eim(vm))
		text = advise_printf(c, "%s of the %s IOMMU (%s)",
				     vm->iommu_intremap != 1 ? "interrupt remapping and EIM" : "EIM", vm->iommu,
				     vm->iommu_eim == 0 ? "eim is off" : "not turned on");
	if (!text_equal(vm->ioapic, "qemu"))
		text = advise_printf(c, "%s%sa split irqchip", text, *text ? " and " : "");
	return text;
}

static bool has_many(struct advise_check *c)
{
	if (c->vm->vcpu_max <= VCPUS_WITHOUT_EIM || !vm_is_x86(c->vm) || !vm_is_kvm(c->vm))
		return false;
	advise_note_text(c, "vCPUs", "%d", c->vm->vcpu_max);
	advise_note_text(c, "IOMMU", "%s", c->vm->iommu ? c->vm->iommu : "none");
	advise_note_text(c, "irqchip", "%s", text_equal(c->vm->ioapic, "qemu") ? "split" : "in the kernel");
	return true;
}

static void check_eim(struct advise_check *c)
{
	const char *missing = has_many(c) ? missing_for_many(c) : "";

	if (!*missing)
		return;
	struct advise_finding *finding =
	    advise_report(c, "%d vCPUs are over 255: that needs %s", c->vm->vcpu_max, missing);

	finding->detail = "CPUs above 254 cannot get interrupts of devices without it";
	advise_vm_at(c, finding, c->vm->iommu_place.line ? c->vm->iommu_place : c->vm->vcpu_place);
}

static void check_eim_right(struct advise_check *c)
{
	if (has_many(c) && !*missing_for_many(c))
		advise_vm_at(c, advise_report(c, "EIM and split irqchip are there for %d vCPUs", c->vm->vcpu_max),
			     c->vm->iommu_place);
}

static void check_clusters(struct advise_check *c)
{
	bool x86 = c->vm->arch ? vm_is_x86(c->vm) : c->vm->machine && strstr(c->vm->machine, "q35");

	if (!c->vm->cpu.topology_given || c->vm->cpu.clusters < 2 || !x86)
		return;
	advise_note_text(c, "clusters", "%d", c->vm->cpu.clusters);
	advise_vm_at(c,
		     advise_report(c, "The topology has %d clusters, which QEMU has not on x86", c->vm->cpu.clusters),
		     c->vm->cpu.topology_place);
}

static void check_stray(struct advise_check *c)
{
	if (c->vm->stray_pins < 1)
		return;
	advise_note_text(c, "vCPUs", "%d", c->vm->vcpu_max);
	advise_vm_at(c,
		     advise_report(c, "%d pin%s of vCPUs that the VM does not have: the first is of vCPU %d of %d",
				   c->vm->stray_pins, c->vm->stray_pins == 1 ? " is" : "s are", c->vm->stray_pin_vcpu,
				   c->vm->vcpu_max),
		     c->vm->stray_pin_place);
}

static void check_sockets(struct advise_check *c)
{
	int sockets = c->vm->cpu.topology_given ? c->vm->cpu.sockets : c->vm->vcpu_max;

	if (!vm_is_windows(c->vm) || sockets < 3)
		return;
	advise_note_text(c, "sockets", "%d%s", sockets, c->vm->cpu.topology_given ? "" : ", one for each vCPU");
	advise_vm_at(c, advise_report(c, "Windows is shown %d sockets; its client editions use two", sockets),
		     c->vm->cpu.topology_given ? c->vm->cpu.topology_place : c->vm->vcpu_place);
}

static void check_no_topology(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);

	if (c->vm->cpu.topology_given || !view.one_to_one || view.count < 2 ||
	    (c->vm->source != VM_LIBVIRT_XML && c->vm->source != VM_LIBVIRT_LIVE))
		return;
	advise_vm_note_pins(c);
	advise_note_text(c, "topology", "not given");
	advise_vm_at(
	    c,
	    advise_report(c, "vCPUs are pinned one to one, and the guest is shown %d sockets of one core", view.count),
	    c->vm->vcpu_place);
}

/* ---- model and features ---- */

static bool is_generic(const struct vm_cpu *cpu)
{
	static const char *const models[] = {"qemu64", "kvm64", "qemu32", "kvm32", "pentium", "486", "core2duo"};

	for (size_t i = 0; cpu->model && i < ARRAY_SIZE(models); i++)
		if (text_equal(cpu->model, models[i]))
			return true;
	return false;
}

static void check_generic(struct advise_check *c)
{
	const struct vm_cpu *cpu = &c->vm->cpu;
	bool none = cpu->mode == VM_CPU_DEFAULT && !cpu->model;

	if (!vm_is_kvm(c->vm) || !vm_is_x86(c->vm))
		return;
	advise_note_text(c, "CPU model", "%s", cpu->model ? cpu->model : none ? "not given" : "of the host");
	if (!none && !is_generic(cpu))
		return;
	/* Proxmox has a default of its own: x86-64-v2-AES or kvm64, by its version. */
	if (none && c->vm->source == VM_PROXMOX_CONF)
		return;
	advise_vm_at(c,
		     advise_report(c, "The guest has %s, without the instructions of this CPU",
				   none ? "QEMU's default CPU model" : advise_printf(c, "CPU model %s", cpu->model)),
		     cpu->place);
}

static void check_mitigations(struct advise_check *c)
{
	static const char *const old[] = {"EPYC",	"EPYC-v1",    "qemu64",	    "kvm64",
					  "Opteron_G1", "Opteron_G2", "Opteron_G3", "Opteron_G4",
					  "Opteron_G5", "phenom",     "athlon"};
	const struct vm_cpu *cpu = &c->vm->cpu;
	bool lacks = false;

	for (size_t i = 0; i < ARRAY_SIZE(old); i++)
		lacks = lacks || text_equal(cpu->model, old[i]);
	if (!lacks || cpu->mode == VM_CPU_HOST_MODEL || !vm_is_kvm(c->vm) ||
	    !host_cpu_has_flag(&c->host->cpu, "ibpb") || vm_feature(cpu->features, cpu->feature_count, "ibpb") == 1)
		return;
	advise_note_text(c, "CPU flag ibpb", "on the host");
	advise_note_text(c, "CPU model", "%s, without ibpb", cpu->model);
	/* A generic model is told of as such: the way out is the same. */
	advise_vm_at(c,
		     advise_report_as(c, is_generic(cpu) ? ADVISE_INFO : ADVISE_ADVICE,
				      "CPU model %s hides ibpb from the guest, which then cannot protect its processes",
				      cpu->model),
		     cpu->place);
}

static void check_migratable(struct advise_check *c)
{
	const struct vm_cpu *cpu = &c->vm->cpu;

	if (!text_equal(cpu->migratable, "off") && vm_feature(cpu->features, cpu->feature_count, "invtsc") != 1)
		return;
	advise_note_text(c, "migratable", "%s", text_equal(cpu->migratable, "off") ? "off" : "invtsc is asked for");
	advise_vm_at(c,
		     advise_report(c, "The VM cannot migrate: %s",
				   text_equal(cpu->migratable, "off") ? "migratable is off" : "it asks for invtsc"),
		     cpu->place);
}

static void check_dedicated(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);

	if (c->vm->hint_dedicated != 1 || !view.count)
		return;
	advise_note_text(c, "hint-dedicated", "on");
	advise_note_text(c, "vCPUs with a CPU of their own", "%s", view.one_to_one ? "all" : "not all");
	if (!view.one_to_one)
		advise_report(c, "hint-dedicated is on, and the vCPUs have no CPUs of their own (%d of %d are pinned)",
			      view.pinned, view.count);
}

static void check_poll_control(struct advise_check *c)
{
	int64_t poll_ns;

	if (c->vm->poll_control != 1)
		return;
	advise_note_text(c, "poll-control", "on");
	if (advise_number(c, &c->host->kvm.halt_poll_ns, &poll_ns))
		advise_report(c, poll_ns ? "The guest may turn the host's halt polling off for itself"
					 : "poll-control has nothing to control: halt polling is off on the host");
}

const struct advise_rule advise_vm_topology_rules[] = {
    {
	.id = "vm.topology-product",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "The topology does not make the number of vCPUs",
	.mechanism = "Sockets times dies times cores times threads must be the largest number of vCPUs.",
	.effect = "the VM is refused",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: topology; QEMU documentation: -smp",
	.hurts = "nothing known",
	.by_hand = BY_HAND_EDIT,
	.check = check_product,
    },
    {
	.id = "vm.many-without-eim",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "More than 255 vCPUs without extended interrupt mode",
	.mechanism = "Interrupts of devices carry 8 bits of destination. More vCPUs need an IOMMU with interrupt "
		     "remapping in extended mode (Intel's model: eim, AMD's: xtsup), and an irqchip that is split.",
	.effect = "the VM is refused, or CPUs above 254 stay without interrupts",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: iommu; ioapic",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <ioapic driver='qemu'/> and <iommu model='intel'><driver intremap='on' eim='on'/>",
	.check = check_eim,
    },
    {
	.id = "vm.clusters-on-x86",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "Clusters in the topology of an x86 guest",
	.mechanism = "QEMU has clusters on Arm only. On x86 the levels are sockets, dies, cores and threads.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU documentation: -smp",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: dies='N' in the place of clusters='N'",
	.check = check_clusters,
    },
    {
	.id = "vm.pin-of-no-vcpu",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Pins of vCPUs that the VM does not have",
	.mechanism = "libvirt passes over a pin of a vCPU beyond the number of vCPUs; often the count starts at 1 "
		     "instead of 0, and vCPU 0 is left without a pin.",
	.effect = "a pin that holds for nothing",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: vcpupin",
	.hurts = "nothing known",
	.by_hand = BY_HAND_PIN,
	.check = check_stray,
    },
    {
	.id = "vm.dedicated-but-floating",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The guest is told that its CPUs are its own, and they are not",
	.mechanism = "With hint-dedicated a Linux guest takes native spin locks and shoots TLBs down itself instead of "
		     "asking KVM. When a vCPU is not running, the others spin and wait for it.",
	.effect = "stalls under load; not a figure that holds in general",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/kvm/x86/cpuid.rst: KVM_HINTS_REALTIME",
	.hurts = "without the hint a little more work in locks",
	.by_hand = "pin the vCPUs one to one, or virsh edit VM: take <hint-dedicated> away",
	.check = check_dedicated,
    },
    {
	.id = "vm.windows-sockets",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "Windows is shown more sockets than client editions use",
	.mechanism = "Client editions of Windows use two sockets at most, whatever the number of cores in them.",
	.effect = "vCPUs beyond the second socket stay unused in such editions; servers are not affected",
	.basis = BASIS_REPORTS,
	.source = "virt-manager issue 155",
	.hurts = "Windows may want to be activated again",
	.by_hand = "virsh edit VM: <topology sockets='1' cores='N'/>; Proxmox: qm set VMID --sockets 1 --cores N",
	.experiment = "look at the task manager of the guest",
	.check = check_sockets,
    },
    {
	.id = "vm.generic-cpu",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "A generic CPU model",
	.mechanism = "Models such as qemu64 have only what every x86 CPU had long ago: no AVX, AES or newer "
		     "instructions, which libraries choose by CPUID, and none of the flags that mitigations need.",
	.effect = "large in cryptography, compression and mathematics, nothing elsewhere; not a figure that holds in "
		  "general",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU documentation: recommendations for KVM CPU model configuration on x86 hosts",
	.hurts = "migration: the newer the model, the fewer hosts have it",
	.by_hand = "virsh edit VM: <cpu mode='host-model'/>; Proxmox: qm set VMID --cpu host; QEMU: -cpu host",
	.experiment = "compare with mode host-model, with the guest's own work",
	.check = check_generic,
    },
    {
	.id = "vm.mitigation-hidden",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM | NEEDS_AMD,
	.title = "The CPU model hides a mitigation from the guest",
	.mechanism = "A guest sees what its model names. The first models were made before the mitigations; later "
		     "versions of them (EPYC-IBPB, EPYC-v3) and the host's own model have them.",
	.effect = "processes in the guest are not protected from each other; the host is",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU documentation: recommendations for KVM CPU model configuration on x86 hosts",
	.hurts = "mitigations cost the guest time",
	.by_hand = "virsh edit VM: <feature policy='require' name='ibpb'/> in <cpu>, or a newer model; Proxmox: qm set "
		   "VMID --cpu MODEL,flags=+ibpb",
	.experiment = "grep . /sys/devices/system/cpu/vulnerabilities/* in the guest, before and after",
	.check = check_mitigations,
    },
    {
	.id = "vm.no-topology",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "Pinned vCPUs without a topology",
	.mechanism = "Without <topology> each vCPU is a socket of its own: the guest knows neither siblings nor a "
		     "shared L3, though the pins would make both true.",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: topology",
	.hurts = "some systems reactivate their licence after a change",
	.check = check_no_topology,
    },
    {
	.id = "vm.not-migratable",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "The VM cannot migrate",
	.mechanism = "Features that only this host can keep true, such as an invariant TSC, bar live migration.",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: cpu migratable",
	.hurts = "nothing known",
	.check = check_migratable,
    },
    {
	.id = "vm.poll-control",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "The guest may control halt polling",
	.mechanism = "With poll-control a guest that polls itself (cpuidle-haltpoll) turns the host's polling off for "
		     "its vCPUs. Without that driver in the guest nothing changes.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/guest-halt-polling.rst",
	.hurts = "nothing known",
	.check = check_poll_control,
    },
    {
	.id = "vm.many-right",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_VM,
	.title = "More than 255 vCPUs with what they need",
	.mechanism = "The IOMMU remaps interrupts in extended mode, and the irqchip is split.",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: iommu",
	.hurts = "nothing known",
	.check = check_eim_right,
    },
    {.id = NULL},
};

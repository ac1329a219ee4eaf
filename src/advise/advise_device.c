/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about devices: IOMMU, locality, queues, SR-IOV, interrupts, link power. */
#include <inttypes.h>

#include "advise_check.h"

enum { LIST_SHOWN = 12, FAST_MBPS = 10000 };

static const struct cmdline_word *iommu_off_word(struct advise_check *c)
{
	static const char *const names[] = {"amd_iommu", "iommu"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct cmdline_word *word = cmdline_last(c->cmdline, names[i]);

		if (word && text_equal(word->value, "off"))
			return advise_word(c, names[i]);
	}
	return NULL;
}

/* /sys/class/iommu is there on every kernel with the driver core; an empty one means that no unit was set up. */
static bool iommu_is_off(struct advise_check *c)
{
	const struct host_devices *devices = &c->host->devices;

	return fact_is_on(&devices->iommu_listed) && !advise_note(c, &devices->iommu) &&
	       devices->iommu.state == FACT_ABSENT;
}

static void check_iommu_off(struct advise_check *c)
{
	/* Where a word did it, cmdline.iommu-off says so. */
	if (!iommu_is_off(c) || iommu_off_word(c))
		return;
	bool run = host_kvm_in_use(&c->host->kvm);

	if (run)
		(void)advise_note(c, &c->host->kvm.users);
	struct advise_finding *finding = advise_report_as(c, run ? ADVISE_ADVICE : ADVISE_INFO, "No IOMMU is in use");

	finding->detail = "the firmware shows none: look for IOMMU in the BIOS set-up (AMD CBS > NBIO)";
}

static void check_vfio(struct advise_check *c)
{
	const struct host_devices *devices = &c->host->devices;
	const char *list = NULL;

	if (!iommu_is_off(c))
		return;
	for (int i = 0; i < devices->count; i++)
		if (devices->list[i].vfio) {
			advise_note_text(
			    c, arena_printf(c->arena, "/sys/bus/pci/devices/%s/driver", devices->list[i].address),
			    "vfio-pci");
			list = advise_printf(c, "%s%s%s", list ? list : "", list ? ", " : "", devices->list[i].address);
		}
	if (list)
		(void)advise_report(c, "vfio-pci holds %s, but no IOMMU is in use: no VM can get them", list);
}

static void check_translated(struct advise_check *c)
{
	const char *type;

	if (advise_text(c, &c->host->devices.iommu_default, &type) && text_starts(type, "DMA"))
		(void)advise_report(c, "The host's own devices are translated by the IOMMU (%s)", type);
}

static bool moves_data(const struct device *device)
{
	return device->class == DEVICE_NIC || device->class == DEVICE_NVME;
}

static void check_node_unknown(struct advise_check *c)
{
	const struct host_devices *devices = &c->host->devices;
	int unknown = 0;

	if (c->host->topology.node_count < 2)
		return;
	for (int i = 0; i < devices->count; i++) {
		const struct device *device = &devices->list[i];

		if (!moves_data(device))
			continue;
		if (device->node.state != FACT_ABSENT || !device->node.note)
			return;
		if (unknown++ < LIST_SHOWN)
			(void)advise_note(c, &device->node);
	}
	if (unknown)
		(void)advise_report(c,
				    "The firmware does not tell on which of %d nodes the %d NICs and NVMe drives are",
				    c->host->topology.node_count, unknown);
}

static void check_locality(struct advise_check *c)
{
	const struct host_devices *devices = &c->host->devices;
	const char *list = NULL;
	int shown = 0;

	if (c->host->topology.node_count < 2)
		return;
	for (int i = 0; i < devices->count && shown < LIST_SHOWN; i++) {
		const struct device *device = &devices->list[i];

		if (!moves_data(device) || !fact_known(&device->node))
			continue;
		(void)advise_note(c, &device->node);
		list = advise_printf(c, "%s%s%s on node %" PRId64, list ? list : "", list ? ", " : "", device->name,
				     device->node.number);
		shown++;
	}
	if (list)
		(void)advise_report(c, "Where the devices are: %s", list);
}

static int online_cpus(const struct advise_check *c)
{
	return cpuset_count(host_cpu_online(c->host));
}

static void check_one_queue(struct advise_check *c)
{
	const struct host_devices *devices = &c->host->devices;

	for (int i = 0; i < devices->count; i++) {
		const struct device *device = &devices->list[i];
		int64_t queues, speed;

		advise_forget(c);
		if (device->class != DEVICE_NIC || !device->is_up || online_cpus(c) < 4)
			continue;
		if (!advise_number(c, &device->rx_queues, &queues) || queues != 1 ||
		    !advise_number(c, &device->speed_mbps, &speed) || speed < FAST_MBPS)
			continue;
		(void)advise_report(c, "%s (%" PRId64 " Gbit/s) has one receive queue on a host with %d CPUs",
				    device->name, speed / 1000, online_cpus(c));
	}
}

static void check_guest_queue(struct advise_check *c)
{
	const struct host_devices *devices = &c->host->devices;

	for (int i = 0; i < devices->count && host_is_guest(c->host); i++) {
		const struct device *device = &devices->list[i];
		int64_t queues;

		advise_forget(c);
		if (device->class == DEVICE_NIC && text_starts(device->driver ? device->driver : "", "virtio") &&
		    online_cpus(c) > 1 && advise_number(c, &device->rx_queues, &queues) && queues == 1)
			(void)advise_report(c, "%s of this guest has one queue for %d CPUs", device->name,
					    online_cpus(c));
	}
}

static void check_sriov(struct advise_check *c)
{
	const struct host_devices *devices = &c->host->devices;
	const char *list = NULL;

	for (int i = 0; i < devices->count; i++) {
		const struct device *device = &devices->list[i];
		int64_t total, now;

		if (device->class != DEVICE_NIC || fact_number_or(&device->vfs_total, 0) <= 0 ||
		    !fact_is_number(&device->vfs_now, 0))
			continue;
		(void)advise_number(c, &device->vfs_total, &total);
		(void)advise_number(c, &device->vfs_now, &now);
		list =
		    advise_printf(c, "%s%s%s (%" PRId64 ")", list ? list : "", list ? ", " : "", device->name, total);
	}
	if (list)
		(void)advise_report(c, "NICs that could give VMs virtual functions: %s", list);
}

static bool isolated_cpus(struct advise_check *c, const struct cpuset **ret)
{
	return advise_cpus(c, &c->host->cpu.isolated, ret) && !cpuset_empty(*ret);
}

static void check_irq_affinity(struct advise_check *c)
{
	const struct cpuset *isolated, *affinity;

	if (!isolated_cpus(c, &isolated) || !advise_cpus(c, &c->host->devices.irq_default_affinity, &affinity))
		return;
	if (!cpuset_meets(isolated, affinity))
		return;
	struct cpuset both = cpuset_and(isolated, affinity);
	struct cpuset rest = cpuset_minus(host_cpu_online(c->host), isolated);
	struct advise_finding *finding =
	    advise_report(c, "New interrupts may go to the isolated CPUs %s", advise_cpu_list(c, &both));

	if (!cpuset_empty(&rest))
		finding->knobs = advise_printf(c, "boot.irqaffinity=%s", advise_cpu_list(c, &rest));
}

static void check_irq_fine(struct advise_check *c)
{
	const struct cpuset *isolated, *affinity;

	if (isolated_cpus(c, &isolated) && advise_cpus(c, &c->host->devices.irq_default_affinity, &affinity) &&
	    !cpuset_empty(affinity) && !cpuset_meets(isolated, affinity))
		(void)advise_report(c, "New interrupts stay off the isolated CPUs %s", advise_cpu_list(c, isolated));
}

/* irqbalance leaves isolated CPUs alone by itself, unless a list is given: then only the list counts. */
static void check_irqbalance(struct advise_check *c)
{
	const struct cpuset *isolated, *banned;

	if (!host_daemon_runs(&c->host->daemons, "irqbalance") || !isolated_cpus(c, &isolated) ||
	    !advise_cpus(c, &c->host->devices.irqbalance_banned, &banned))
		return;
	struct cpuset open = cpuset_minus(isolated, banned);

	if (!cpuset_empty(&open))
		(void)advise_report(c, "irqbalance is told to leave %s alone, but not the isolated CPUs %s",
				    advise_cpu_list(c, banned), advise_cpu_list(c, &open));
}

static void check_aspm(struct advise_check *c)
{
	const char *policy;

	if (!advise_text(c, &c->host->os.aspm, &policy))
		return;
	if (text_equal(policy, "performance"))
		(void)advise_report(c, "PCIe links never sleep (ASPM policy performance): watts for latency");
	else if (text_starts(policy, "power"))
		(void)advise_report(c, "PCIe links sleep deeply (ASPM policy %s): latency for watts", policy);
}

const struct advise_rule advise_device_rules[] = {
    {
	.id = "device.iommu-off",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "No IOMMU is in use",
	.mechanism =
	    "Linux uses an AMD IOMMU by default when the firmware shows one. Without it no device can be given to a "
	    "VM, and DMA of devices is not confined.",
	.effect = "no passthrough, no SR-IOV for VMs",
	.basis = BASIS_DOCUMENT,
	.source =
	    "Linux Documentation/admin-guide/kernel-parameters.txt, amd_iommu=; Documentation/driver-api/vfio.rst",
	.hurts = "nothing measurable in study A with the IOMMU on; one report of 5-12 % on an integrated GPU",
	.by_hand = "enable IOMMU in the BIOS set-up, reboot",
	.check = check_iommu_off,
    },
    {
	.id = "device.vfio-without-iommu",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_METAL,
	.title = "Devices are bound to vfio-pci without an IOMMU",
	.mechanism =
	    "VFIO gives a device to a VM through its IOMMU group; without an IOMMU there are no groups, and the device "
	    "serves neither the host nor a VM.",
	.effect = "VMs with these devices do not start",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/driver-api/vfio.rst",
	.hurts = "nothing known",
	.by_hand = "enable IOMMU in the BIOS setup; ls /sys/kernel/iommu_groups must list groups",
	.check = check_vfio,
    },
    {
	.id = "device.iommu-translated",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The host's own devices are translated by the IOMMU",
	.mechanism = "iommu=pt lets them bypass translation; devices given to VMs are translated either way.",
	.effect = "no measurable change in study A",
	.basis = BASIS_STUDY,
	.source = "study A: amd_iommu=on iommu=pt, build of GDB on EPYC 9354P",
	.hurts = "iommu=pt breaks SEV-SNP, and leaves the host's memory open to its devices",
	.knobs = "boot.iommu=pt",
	.experiment = "iommu=pt against none with the fastest NIC or NVMe of the host",
	.check = check_translated,
    },
    {
	.id = "device.node-unknown",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "The firmware does not tell on which node the devices are",
	.mechanism =
	    "numa_node is -1 where ACPI gives no _PXM for the PCI root. The kernel then allocates their buffers "
	    "anywhere, and nobody can place VMs near them.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/ABI/testing/sysfs-bus-pci, numa_node",
	.hurts = "nothing known",
	.by_hand = "a newer BIOS; until then the board's manual tells which slot belongs to which socket",
	.check = check_node_unknown,
    },
    {
	.id = "device.locality",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "Where NICs and NVMe drives are",
	.mechanism =
	    "A VM that moves much data through a device is best placed on the device's node: its buffers, interrupts "
	    "and vhost threads are there.",
	.basis = BASIS_DOCUMENT,
	.source = "/sys/bus/pci/devices/*/numa_node",
	.hurts = "nothing known",
	.check = check_locality,
    },
    {
	.id = "device.one-queue-on-fast-nic",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "A fast NIC has one receive queue",
	.mechanism = "All its packets are received on one CPU, which bounds what all VMs behind it get.",
	.effect = "not known in general: one CPU per queue receives",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/networking/scaling.rst",
	.hurts = "more queues interrupt more CPUs",
	.by_hand = "ethtool -l NIC tells how many it has; ethtool -L NIC combined N",
	.experiment = "1 queue against 4 and 8",
	.check = check_one_queue,
    },
    {
	.id = "device.guest-one-queue",
	.severity = ADVISE_INFO,
	.title = "A virtio NIC of this guest has one queue",
	.mechanism = "One queue is served by one vhost worker of the host and one CPU of the guest at a time.",
	.effect = "queues 1 to 32: no significant change of a build; iperf3 varied least with 32",
	.basis = BASIS_STUDY,
	.source = "study A: NIC queues 1, 4, 8, 16, 20, 28, 32",
	.hurts = "each queue is a host thread that competes with vCPUs",
	.experiment = "queues=1 against queues=4, at most as many as vCPUs",
	.check = check_guest_queue,
    },
    {
	.id = "device.sriov-available",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "NICs with SR-IOV are not used for it",
	.mechanism = "A virtual function takes the host's network stack out of a VM's path.",
	.effect = "study A: better iperf3, the same build time",
	.basis = BASIS_STUDY,
	.source = "study A: SR-IOV NIC",
	.hurts = "no live migration with a plain virtual function; the host no longer sees the traffic",
	.experiment = "virtio with vhost against a virtual function, with the VM's own workload",
	.check = check_sriov,
    },
    {
	.id = "device.irq-on-isolated",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "New interrupts may go to isolated CPUs",
	.mechanism =
	    "isolcpus= keeps tasks off, not interrupts: /proc/irq/default_smp_affinity says where a new one may land.",
	.effect = "interrupts on CPUs that are meant for vCPUs alone",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/core-api/irq/irq-affinity.rst",
	.hurts = "the other CPUs take more interrupts",
	.by_hand = "irqaffinity= with the other CPUs on the command line, or write their mask to "
		   "/proc/irq/default_smp_affinity",
	.check = check_irq_affinity,
    },
    {
	.id = "device.irq-off-isolated",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_METAL,
	.title = "New interrupts stay off the isolated CPUs",
	.mechanism = "The default affinity of interrupts holds none of the isolated CPUs.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/core-api/irq/irq-affinity.rst",
	.hurts = "nothing known",
	.check = check_irq_fine,
    },
    {
	.id = "device.irqbalance-misses-isolated",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "irqbalance has a list of CPUs to leave alone that misses isolated ones",
	.mechanism =
	    "Without a list irqbalance leaves isolated and nohz_full CPUs alone by itself; with one, only the list "
	    "counts, and it moves interrupts to the CPUs that are missing there.",
	.effect = "interrupts on CPUs that are meant for vCPUs alone",
	.basis = BASIS_DOCUMENT,
	.source = "irqbalance(1), IRQBALANCE_BANNED_CPULIST",
	.hurts = "the other CPUs take more interrupts",
	.by_hand = "add them to IRQBALANCE_BANNED_CPULIST in /etc/default/irqbalance or /etc/sysconfig/irqbalance, or "
		   "take the "
		   "list out; systemctl restart irqbalance",
	.check = check_irqbalance,
    },
    {
	.id = "device.aspm-policy",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "The power policy of PCIe links was chosen",
	.mechanism =
	    "Links that sleep take microseconds to wake and save some power each; `default` leaves the choice to the "
	    "firmware.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.txt, pcie_aspm.policy=",
	.hurts = "latency of devices one way, idle watts the other",
	.experiment = "pcie_aspm.policy=default against the policy that is set, idle watts and latency",
	.check = check_aspm,
    },
    {.id = NULL},
};

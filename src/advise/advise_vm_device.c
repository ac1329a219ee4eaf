/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about a VM's devices: queues, shared memory, host devices, and models that emulate old hardware. */
#include "advise_vm.h"

/* MAX_TAP_QUEUES of drivers/net/tun.c in Linux. */
enum { TAP_QUEUES_MAX = 256 };

static bool is_virtio_nic(const struct vm_nic *nic)
{
	return !nic->model || strstr(nic->model, "virtio");
}

static bool is_vhost_user(const struct vm_nic *nic)
{
	return text_equal(nic->type, "vhostuser") || text_equal(nic->type, "vhost-user");
}

static const char *nic_name(struct advise_check *c, int index)
{
	const struct vm_nic *nic = &c->vm->nics[index];

	return nic->device ? advise_printf(c, "NIC %d (%s)", index, nic->device) : advise_printf(c, "NIC %d", index);
}

static const char *disk_name(struct advise_check *c, int index)
{
	const struct vm_disk *disk = &c->vm->disks[index];

	return disk->target ? advise_printf(c, "disk %s", disk->target) : advise_printf(c, "disk %d", index);
}

/* ---- queues ---- */

static void check_tap_queues(struct advise_check *c)
{
	for (int i = 0; i < c->vm->nic_count; i++) {
		const struct vm_nic *nic = &c->vm->nics[i];

		if (nic->queues < 1 || is_vhost_user(nic))
			continue;
		advise_forget(c);
		advise_note_text(c, nic_name(c, i), "%d queues", nic->queues);
		if (nic->queues > TAP_QUEUES_MAX)
			advise_vm_at(c,
				     advise_report(c, "%s has %d queues, a tap device allows %d", nic_name(c, i),
						   nic->queues, TAP_QUEUES_MAX),
				     nic->place);
	}
}

static void check_nic_queues(struct advise_check *c)
{
	int vcpus = c->vm->vcpu_max;

	for (int i = 0; i < c->vm->nic_count; i++) {
		const struct vm_nic *nic = &c->vm->nics[i];

		if (nic->queues < 2 || vcpus < 1 || !is_virtio_nic(nic))
			continue;
		advise_forget(c);
		advise_note_text(c, nic_name(c, i), "%d queues", nic->queues);
		advise_note_text(c, "vCPUs", "%d", vcpus);
		if (nic->queues > vcpus)
			advise_vm_at(c,
				     advise_report(c, "%s has %d queues for %d vCPU%s", nic_name(c, i), nic->queues,
						   vcpus, vcpus == 1 ? "" : "s"),
				     nic->place);
	}
}

static void check_disk_queues(struct advise_check *c)
{
	int vcpus = c->vm->vcpu_max;

	for (int i = 0; i < c->vm->disk_count; i++) {
		const struct vm_disk *disk = &c->vm->disks[i];

		if (disk->queues < 2 || vcpus < 1 || !text_equal(disk->bus, "virtio"))
			continue;
		advise_forget(c);
		advise_note_text(c, disk_name(c, i), "%d queues", disk->queues);
		advise_note_text(c, "vCPUs", "%d", vcpus);
		if (disk->queues > vcpus)
			advise_vm_at(c,
				     advise_report(c, "%s has %d queues for %d vCPU%s", disk_name(c, i), disk->queues,
						   vcpus, vcpus == 1 ? "" : "s"),
				     disk->place);
	}
}

static void check_queues_elsewhere(struct advise_check *c)
{
	for (int i = 0; i < c->vm->disk_count; i++) {
		const struct vm_disk *disk = &c->vm->disks[i];

		if (disk->queues < 1 || !disk->bus || text_equal(disk->bus, "virtio") || text_equal(disk->bus, "scsi"))
			continue;
		advise_forget(c);
		advise_note_text(c, disk_name(c, i), "bus %s, %d queues", disk->bus, disk->queues);
		advise_vm_at(c,
			     advise_report(c, "%s has %d queues on bus %s, where they mean nothing", disk_name(c, i),
					   disk->queues, disk->bus),
			     disk->place);
	}
	for (int i = 0; i < c->vm->nic_count; i++) {
		const struct vm_nic *nic = &c->vm->nics[i];

		if (nic->queues < 2 || is_virtio_nic(nic))
			continue;
		advise_forget(c);
		advise_note_text(c, nic_name(c, i), "model %s, %d queues", nic->model, nic->queues);
		advise_vm_at(c,
			     advise_report(c, "%s has %d queues as %s, where they mean nothing", nic_name(c, i),
					   nic->queues, nic->model),
			     nic->place);
	}
}

static void check_iothread_bus(struct advise_check *c)
{
	for (int i = 0; i < c->vm->disk_count; i++) {
		const struct vm_disk *disk = &c->vm->disks[i];

		if (disk->iothread < 0 || !disk->bus || text_equal(disk->bus, "virtio"))
			continue;
		/* A Proxmox SCSI disk names it for the controller that it gets. */
		if (text_equal(disk->bus, "scsi"))
			continue;
		advise_forget(c);
		advise_note_text(c, disk_name(c, i), "bus %s", disk->bus);
		advise_vm_at(
		    c,
		    advise_report(c, "%s asks for an I/O thread on bus %s, which has none", disk_name(c, i), disk->bus),
		    disk->place);
	}
}

/* ---- shared memory ---- */

/* What needs guest memory that another process can map: a place, and its name; NULL: nothing. */
static const char *sharer_of(const struct vm *vm, struct vm_place *ret_place)
{
	for (int i = 0; i < vm->filesystem_count; i++)
		if (text_equal(vm->filesystems[i].driver, "virtiofs")) {
			*ret_place = vm->filesystems[i].place;
			return "virtiofs";
		}
	for (int i = 0; i < vm->nic_count; i++)
		if (is_vhost_user(&vm->nics[i])) {
			*ret_place = vm->nics[i].place;
			return "vhost-user";
		}
	for (int i = 0; i < vm->disk_count; i++)
		if (text_equal(vm->disks[i].bus, "vhostuser")) {
			*ret_place = vm->disks[i].place;
			return "vhost-user";
		}
	return NULL;
}

static bool is_shared(const struct vm *vm)
{
	bool cells = vm->cell_count > 0;

	if (text_equal(vm->memory_access, "shared"))
		return true;
	for (int i = 0; i < vm->cell_count; i++)
		cells = cells && text_equal(vm->cells[i].access, "shared");
	return cells;
}

/* Memory that is a file of some kind: hugepages, memfd or a path. */
static bool has_source(const struct vm *vm)
{
	return vm->hugepages || (vm->memory_source && !text_equal(vm->memory_source, "anonymous"));
}

static void check_not_shared(struct advise_check *c)
{
	struct vm_place place = {0};
	const char *sharer = sharer_of(c->vm, &place);

	if (!sharer)
		return;
	advise_note_text(c, sharer, "in use");
	advise_note_text(c, "memory access", "%s", is_shared(c->vm) ? "shared" : "not shared");
	if (!is_shared(c->vm))
		advise_vm_at(c, advise_report(c, "%s needs memory that it can map, the VM's is not shared", sharer),
			     place);
}

static void check_no_source(struct advise_check *c)
{
	struct vm_place place = {0};
	const char *sharer = sharer_of(c->vm, &place);

	if (!is_shared(c->vm) || has_source(c->vm))
		return;
	advise_note_text(c, "memory access", "shared");
	advise_note_text(c, "memory source", "%s", c->vm->memory_source ? c->vm->memory_source : "none named");
	advise_vm_at(c,
		     advise_report_as(c, sharer ? ADVISE_WARN : ADVISE_INFO,
				      "Memory is shared, but no memfd, file or hugepages are named as its source%s%s",
				      sharer ? ", for " : "", sharer ? sharer : ""),
		     place.line ? place : c->vm->memory_place);
}

static void check_shared_right(struct advise_check *c)
{
	struct vm_place place = {0};
	const char *sharer = sharer_of(c->vm, &place);

	if (!sharer || !is_shared(c->vm) || !has_source(c->vm))
		return;
	advise_note_text(c, "memory source", "%s", c->vm->hugepages ? "hugepages" : c->vm->memory_source);
	advise_vm_at(c, advise_report(c, "Memory is shared and has a source, as %s needs it", sharer), place);
}

/* ---- host devices ---- */

static int pci_count(const struct vm *vm)
{
	int count = 0;

	for (int i = 0; i < vm->hostdev_count; i++)
		count += vm->hostdevs[i].address != NULL || text_equal(vm->hostdevs[i].type, "pci");
	return count;
}

static void check_balloon(struct advise_check *c)
{
	int devices = pci_count(c->vm);

	if (!devices || !c->vm->balloon)
		return;
	advise_note_text(c, "balloon", "%s", c->vm->balloon);
	advise_note_text(c, "PCI devices of the host", "%d", devices);
	if (!text_equal(c->vm->balloon, "none"))
		advise_report(c, "The balloon does nothing beside PCI devices of the host (%d): all memory is pinned",
			      devices);
}

static const struct device *device_at(const struct host *host, const char *address)
{
	for (int i = 0; i < host->devices.count; i++)
		if (text_equal(host->devices.list[i].address, address))
			return &host->devices.list[i];
	return NULL;
}

/* The devices that the VM's NICs go out by, as bridges and macvtaps have them; each interface once. */
static void check_ports(struct advise_check *c, const struct cpuset *nodes)
{
	for (int i = 0; i < c->vm->nic_count; i++) {
		const struct vm_nic *nic = &c->vm->nics[i];
		bool seen = false;
		int64_t node;

		for (int j = 0; j < i; j++)
			seen = seen || (c->vm->nics[j].port && c->vm->nics[j].port == nic->port);
		advise_forget(c);
		if (seen || !nic->port || !advise_number(c, &nic->port->node, &node) || cpuset_has(nodes, (int)node))
			continue;
		advise_vm_note_pins(c);
		advise_note_text(c, advise_printf(c, "below %s", nic->outside), "%s", nic->port->name);
		advise_vm_at(c,
			     advise_report(c, "NIC %d (%s) leaves the host by %s at node %d, the vCPUs are on %s", i,
					   nic->outside, nic->port->name, (int)node, advise_node_text(c, nodes)),
			     nic->place);
	}
}

static void check_device_node(struct advise_check *c)
{
	struct vm_view view = vm_view_of(c->host, c->vm);
	struct cpuset nodes = vm_nodes_of(c->host, &view.cpus);

	if (!view.one_to_one || !view.usable || c->host->topology.node_count < 2)
		return;
	check_ports(c, &nodes);
	for (int i = 0; i < c->vm->hostdev_count; i++) {
		const char *address = c->vm->hostdevs[i].address;
		const struct device *device = address ? device_at(c->host, address) : NULL;
		int64_t node;

		advise_forget(c);
		if (!device || !advise_number(c, &device->node, &node) || cpuset_has(&nodes, (int)node))
			continue;
		advise_vm_note_pins(c);
		advise_vm_at(c,
			     advise_report(c, "Device %s is at node %d, the vCPUs are on %s", address, (int)node,
					   advise_node_text(c, &nodes)),
			     c->vm->hostdevs[i].place);
	}
}

/* ---- models ---- */

static void check_emulated_nic(struct advise_check *c)
{
	static const char old[] = "e1000 e1000e e1000-82540em rtl8139 ne2k_pci pcnet i82551 i82557b i82559er";

	for (int i = 0; i < c->vm->nic_count; i++) {
		const struct vm_nic *nic = &c->vm->nics[i];

		if (!nic->model || !text_has_word(old, " ", nic->model) || !vm_is_kvm(c->vm))
			continue;
		advise_forget(c);
		advise_note_text(c, nic_name(c, i), "%s", nic->model);
		advise_vm_at(c, advise_report(c, "%s emulates %s instead of being virtio", nic_name(c, i), nic->model),
			     nic->place);
	}
}

static void check_emulated_disk(struct advise_check *c)
{
	for (int i = 0; i < c->vm->disk_count; i++) {
		const struct vm_disk *disk = &c->vm->disks[i];

		if (!text_equal(disk->device, "disk") || !vm_is_kvm(c->vm) ||
		    (!text_equal(disk->bus, "ide") && !text_equal(disk->bus, "sata")))
			continue;
		advise_forget(c);
		advise_note_text(c, disk_name(c, i), "bus %s", disk->bus);
		advise_vm_at(c, advise_report(c, "%s emulates %s instead of being virtio", disk_name(c, i), disk->bus),
			     disk->place);
	}
}

static void check_native(struct advise_check *c)
{
	for (int i = 0; i < c->vm->disk_count; i++) {
		const struct vm_disk *disk = &c->vm->disks[i];

		if (!text_equal(disk->io, "native") || !disk->cache ||
		    !text_has_word("writeback writethrough unsafe", " ", disk->cache))
			continue;
		advise_forget(c);
		advise_note_text(c, disk_name(c, i), "io native, cache %s", disk->cache);
		advise_vm_at(c,
			     advise_report(c, "%s has io native with cache %s, which do not go together",
					   disk_name(c, i), disk->cache),
			     disk->place);
	}
}

const struct advise_rule advise_vm_device_rules[] = {
    {
	.id = "vm.tap-queues",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "More queues than a tap device has",
	.mechanism = "A tap device of Linux has 256 queues at most, and each is a file that QEMU holds open.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "Linux drivers/net/tun.c: MAX_TAP_QUEUES",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <driver queues='N'/>, not more than vCPUs and rather 4 to 8",
	.check = check_tap_queues,
    },
    {
	.id = "vm.not-shared",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "virtiofs or vhost-user without shared memory",
	.mechanism = "Their server is another process, which reads and writes the guest's memory: it must be a mapping "
		     "that can be shared.",
	.effect = "the VM is refused, or the device does not work",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, kbase: virtiofs",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <memoryBacking><source type='memfd'/><access mode='shared'/></memoryBacking>",
	.check = check_not_shared,
    },
    {
	.id = "vm.native-io-cached",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "Native I/O with a cache",
	.mechanism =
	    "Native asynchronous I/O of Linux goes past the page cache only: it needs cache none or directsync.",
	.effect = "the VM is refused",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: driver io",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: cache='none', or io='threads'",
	.check = check_native,
    },
    {
	.id = "vm.shared-without-source",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Shared memory without a source",
	.mechanism =
	    "Without memfd, a file or hugepages libvirt backs shared memory by a file in its own directory, on "
	    "a disk; other programs leave it anonymous, which nobody else can map.",
	.effect = "memory that is written back to a disk, or a device that does not work",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: memoryBacking; kbase: virtiofs",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <source type='memfd'/> in <memoryBacking>",
	.check = check_no_source,
    },
    {
	.id = "vm.queues-over-vcpus",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "A NIC has more queues than the guest has vCPUs",
	.mechanism = "A Linux guest uses as many queues as it has vCPUs. Each further one is a vhost thread, files and "
		     "interrupt vectors for nothing.",
	.effect = "none for speed; threads and files of the host",
	.basis = BASIS_DOCUMENT,
	.source = "Linux drivers/net/virtio_net.c; study A found no change between 1 and 32 queues for a build",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <driver queues='N'/>, not more than vCPUs",
	.check = check_nic_queues,
    },
    {
	.id = "vm.queues-without-virtio",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "Queues on a device that has none",
	.mechanism = "Several queues are a matter of virtio. IDE, SATA and emulated NICs have one.",
	.effect = "the setting is refused or means nothing",
	.basis = BASIS_REPORTS,
	.source = "kubevirt issue 2798; libvirt documentation, formatdomain: driver queues",
	.hurts = "a guest needs a driver for virtio",
	.by_hand = "virsh edit VM: bus='virtio', or take queues away",
	.check = check_queues_elsewhere,
    },
    {
	.id = "vm.iothread-without-virtio",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "An I/O thread for a disk that cannot use it",
	.mechanism = "Only virtio disks and virtio-scsi controllers run in an I/O thread.",
	.effect = "the setting is refused or means nothing",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: driver iothread",
	.hurts = "a guest needs a driver for virtio",
	.by_hand = "virsh edit VM: bus='virtio', or take iothread away",
	.check = check_iothread_bus,
    },
    {
	.id = "vm.device-on-other-node",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "A device of the host is at another node than the vCPUs that use it",
	.mechanism =
	    "A device given to the VM, or the NIC below its bridge or macvtap, writes into memory and raises "
	    "interrupts across the fabric or the socket link. A bridge with NICs at several nodes is not judged.",
	.effect = "not known in general: latency, and bandwidth of fast devices",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/ABI/testing/sysfs-bus-pci: numa_node",
	.hurts = "the VM's memory moves with its vCPUs",
	.by_hand = BY_HAND_PIN,
	.experiment = "compare the guest's own work on the device's node",
	.check = check_device_node,
    },
    {
	.id = "vm.disk-queues-over-vcpus",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "A disk has more queues than the guest has vCPUs",
	.mechanism = "A Linux guest uses at most one queue for each vCPU.",
	.effect = "none for speed; memory and interrupt vectors",
	.basis = BASIS_DOCUMENT,
	.source = "Linux drivers/block/virtio_blk.c",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: <driver queues='N'/>, not more than vCPUs",
	.experiment = "compare the guest's disks with as many queues as vCPUs",
	.check = check_disk_queues,
    },
    {
	.id = "vm.emulated-nic",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "A NIC emulates old hardware",
	.mechanism = "Each packet costs exits and work of the emulator, in one thread. virtio hands buffers over, to "
		     "vhost in the kernel.",
	.effect = "large where the network counts; not a figure that holds in general",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU documentation: network emulation",
	.hurts = "the guest needs a driver for virtio, and its NIC changes its name",
	.by_hand = "virsh edit VM: <model type='virtio'/>; Proxmox: qm set VMID --net0 virtio,...",
	.experiment = "compare iperf3 with both models",
	.check = check_emulated_nic,
    },
    {
	.id = "vm.emulated-disk",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "A disk emulates old hardware",
	.mechanism =
	    "IDE and SATA cost exits and work of the emulator's main loop for each request, and have one queue.",
	.effect = "large where disks count; not a figure that holds in general",
	.basis = BASIS_DOCUMENT,
	.source = "QEMU documentation: disk images",
	.hurts = "the guest needs a driver for virtio before it boots from it",
	.by_hand = "virsh edit VM: bus='virtio'; Proxmox: scsi with virtio-scsi-single",
	.experiment = "compare fio in the guest with both buses",
	.check = check_emulated_disk,
    },
    {
	.id = "vm.balloon-beside-vfio",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "A balloon beside a PCI device of the host",
	.mechanism = "A device that writes to guest memory needs all of it in place: it is pinned when the VM starts, "
		     "and the balloon cannot give any back.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/driver-api/vfio.rst",
	.hurts = "nothing known",
	.check = check_balloon,
    },
    {
	.id = "vm.shared-right",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_VM,
	.title = "Shared memory with a source, as its devices need it",
	.mechanism = "virtiofs and vhost-user map the guest's memory; a memfd, a file or hugepages can be mapped.",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, kbase: virtiofs",
	.hurts = "nothing known",
	.check = check_shared_right,
    },
    {.id = NULL},
};

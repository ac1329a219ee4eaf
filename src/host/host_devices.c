/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_devices.h, without interrupts and IOMMU (host_irq.c). */
#include "host_devices.h"

#include <ctype.h>
#include <inttypes.h>

#include "host.h"
#include "host_irq.h"
#include "text.h"

#define PCI "/sys/bus/pci/devices"

enum { DEVICE_LIMIT = 256, PCI_LIMIT = 4096 };

/* The classes that VMs are given, or that move their data (PCI code and ID assignment specification, base classes). */
static const struct {
	int64_t class, mask;
	enum device_class kind;
} pci_classes[] = {
    {0x020000, 0xff0000, DEVICE_NIC},
    {0x010800, 0xffff00, DEVICE_NVME},
    {0x030000, 0xff0000, DEVICE_DISPLAY},
    {0x120000, 0xff0000, DEVICE_OTHER},
};

/* "0000:41:00.0"; domains may have more than four digits. */
static bool is_address(const char *text, size_t length)
{
	static const char form[] = "hhhh:hh:hh.d";
	size_t extra = length - strlen(form);

	if (length < strlen(form) || extra > 4)
		return false;
	for (size_t i = 0; i < length; i++) {
		char want = i < extra ? 'h' : form[i - extra];
		bool fits = want == 'h'	  ? isxdigit((unsigned char)text[i])
			    : want == 'd' ? isdigit((unsigned char)text[i])
					  : text[i] == want;

		if (!fits)
			return false;
	}
	return true;
}

/* The last PCI address among the parts of a link such as ../../devices/pci0000:40/0000:41:00.0/net/eth0. */
static const char *address_in(struct arena *arena, const char *path)
{
	const char *found = NULL;

	while (*path) {
		size_t length = strcspn(path, "/");

		if (is_address(path, length))
			found = arena_strndup(arena, path, length);
		path += length + strspn(path + length, "/");
	}
	return found;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct fact read_node(struct host *host, const char *directory)
{
	struct fact fact =
	    fact_read_number(host->arena, host->sys, UNIT_NONE, "device.node", "%s/numa_node", directory);

	if (fact_known(&fact) && fact.number == -1) {
		fact.state = FACT_ABSENT;
		fact.note = "not told by the firmware";
	} else if (fact_known(&fact) && (fact.number < 0 || fact.number >= CPUSET_MAX)) {
		return fact_implausible(fact.name, fact.source, fact.raw, "no number of a node");
	}
	return fact;
}

static struct fact read_count(struct host *host, const char *name, const char *directory, const char *file)
{
	/* Numbers of virtual functions have 16 bits (PCI Express, SR-IOV capability). */
	return fact_within(fact_read_number(host->arena, host->sys, UNIT_COUNT, name, "%s/%s", directory, file), 0,
			   UINT16_MAX, "no number of functions");
}

static void read_common(struct host *host, const char *directory, struct device *device)
{
	const struct sys_look *driver = sys_link(host->sys, "%s/driver", directory);

	device->driver = driver->state == SYS_VALUE ? base_name(driver->data) : NULL;
	device->vfio = text_equal(device->driver, "vfio-pci");
	device->node = read_node(host, directory);
	device->local_cpus = fact_read_cpus(host->arena, host->sys, "device.local_cpus", "%s/local_cpulist", directory);
	device->vfs_total = read_count(host, "device.vfs_total", directory, "sriov_totalvfs");
	device->vfs_now = read_count(host, "device.vfs_now", directory, "sriov_numvfs");
}

static struct device *add_device(struct host *host, enum device_class class, const char *name, const char *address)
{
	struct host_devices *devices = &host->devices;

	if (devices->count == DEVICE_LIMIT) {
		devices->cut = true;
		return NULL;
	}
	struct device *device = &devices->list[devices->count++];

	*device = (struct device){.class = class, .name = name, .address = address};
	return device;
}

/* A NIC that is down answers EINVAL or -1: it has no speed now. */
static struct fact read_speed(struct host *host, const char *nic)
{
	struct fact fact =
	    fact_read_number(host->arena, host->sys, UNIT_NONE, "device.speed_mbps", "/sys/class/net/%s/speed", nic);

	if (fact.state == FACT_UNREADABLE || (fact_known(&fact) && fact.number <= 0)) {
		fact.state = FACT_ABSENT;
		fact.note = "no link";
	}
	return fact;
}

static void read_queues(struct host *host, struct device *nic)
{
	const struct sys_look *queues = sys_list(host->sys, "/sys/class/net/%s/queues", nic->name);
	int64_t rx = 0, tx = 0;

	if (queues->state != SYS_VALUE) {
		nic->rx_queues = fact_of_look("device.rx_queues", queues);
		nic->tx_queues = fact_of_look("device.tx_queues", queues);
		return;
	}
	for (size_t i = 0; i < queues->size; i++) {
		rx += text_starts(queues->names[i], "rx-");
		tx += text_starts(queues->names[i], "tx-");
	}
	nic->rx_queues = fact_number("device.rx_queues", UNIT_COUNT, rx, queues->path);
	nic->tx_queues = fact_number("device.tx_queues", UNIT_COUNT, tx, queues->path);
}

/*
 * Where an entry of a class comes from. The entry is a link on real machines; in copied trees it may be a directory
 * with its `device` link. NULL: a virtual device (bridge, tap, lo), or one that is not on PCI.
 */
static const char *address_of(struct host *host, const char *class, const char *name)
{
	const struct sys_look *link = sys_link(host->sys, "/sys/class/%s/%s", class, name);

	if (link->state == SYS_VALUE && strstr(link->data, "devices/virtual/"))
		return NULL;
	const char *address = link->state == SYS_VALUE ? address_in(host->arena, link->data) : NULL;

	if (address)
		return address;
	const struct sys_look *device = sys_link(host->sys, "/sys/class/%s/%s/device", class, name);

	return device->state == SYS_VALUE ? address_in(host->arena, device->data) : NULL;
}

static void read_nic(struct host *host, const char *name)
{
	const char *address = address_of(host, "net", name);
	struct device *device = address ? add_device(host, DEVICE_NIC, name, address) : NULL;

	if (!device)
		return;
	read_common(host, arena_printf(host->arena, PCI "/%s", address), device);
	const struct sys_look *state = sys_read(host->sys, "/sys/class/net/%s/operstate", name);

	device->is_up = state->state == SYS_VALUE && text_equal(text_trim(host->arena, state->data), "up");
	device->speed_mbps = read_speed(host, name);
	read_queues(host, device);
}

static void read_nvme(struct host *host, const char *name)
{
	const char *address = address_of(host, "nvme", name);
	struct device *device = address ? add_device(host, DEVICE_NVME, name, address) : NULL;

	if (device)
		read_common(host, arena_printf(host->arena, PCI "/%s", address), device);
}

static void read_class(struct host *host, const char *class, void (*read)(struct host *host, const char *name))
{
	const struct sys_look *names = sys_list(host->sys, "/sys/class/%s", class);

	if (names->state == SYS_VALUE)
		for (size_t i = 0; i < names->size && i < PCI_LIMIT; i++)
			read(host, names->names[i]);
}

static bool is_listed(const struct host_devices *devices, int until, const char *address)
{
	for (int i = 0; i < until; i++)
		if (text_equal(devices->list[i].address, address))
			return true;
	return false;
}

static int kind_of_class(struct host *host, const char *address)
{
	const struct sys_look *look = sys_read(host->sys, PCI "/%s/class", address);
	int64_t class;

	if (look->state != SYS_VALUE || text_int(look->data, 16, &class) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(pci_classes); i++)
		if ((class & pci_classes[i].mask) == pci_classes[i].class)
			return (int)pci_classes[i].kind;
	return -1;
}

/* What no class of the kernel claims: NICs and NVMe given to vfio-pci, displays, accelerators. One read each. */
static void read_pci(struct host *host)
{
	struct host_devices *devices = &host->devices;
	const struct sys_look *addresses = sys_list(host->sys, PCI);
	int claimed = devices->count;

	if (addresses->state != SYS_VALUE)
		return;
	for (size_t i = 0; i < addresses->size && i < PCI_LIMIT; i++) {
		const char *address = addresses->names[i];

		if (!is_address(address, strlen(address)) || is_listed(devices, claimed, address))
			continue;
		int kind = kind_of_class(host, address);

		/* Virtual functions that are no NIC of the host may be hundreds: their parent stands for them. */
		if (kind < 0 || sys_link(host->sys, PCI "/%s/physfn", address)->state == SYS_VALUE)
			continue;
		struct device *device = add_device(host, (enum device_class)kind, address, address);

		if (device)
			read_common(host, arena_printf(host->arena, PCI "/%s", address), device);
	}
}

void host_devices_read(struct host *host)
{
	host->devices.list = ARENA_ARRAY(host->arena, DEVICE_LIMIT, struct device);
	read_class(host, "net", read_nic);
	read_class(host, "nvme", read_nvme);
	read_pci(host);
	host_irq_read(host);
}

static const char *speed_shown(struct arena *arena, const struct device *device)
{
	if (!fact_known(&device->speed_mbps))
		return device->speed_mbps.note ? ", no link" : "";
	if (device->speed_mbps.number % 1000)
		return arena_printf(arena, ", %" PRId64 " Mbit/s", device->speed_mbps.number);
	return arena_printf(arena, ", %" PRId64 " Gbit/s", device->speed_mbps.number / 1000);
}

static const char *queues_shown(struct arena *arena, const struct device *device)
{
	if (!fact_known(&device->rx_queues) || !fact_known(&device->tx_queues))
		return "";
	return arena_printf(arena, ", %" PRId64 " rx and %" PRId64 " tx queues", device->rx_queues.number,
			    device->tx_queues.number);
}

static const char *vfs_shown(struct arena *arena, const struct device *device)
{
	if (fact_number_or(&device->vfs_total, 0) <= 0)
		return "";
	return arena_printf(arena, ", %" PRId64 " of %" PRId64 " virtual functions",
			    fact_number_or(&device->vfs_now, 0), device->vfs_total.number);
}

static void device_row(struct host_rows *rows, const struct device *device)
{
	struct arena *arena = rows->arena;
	const char *node =
	    fact_known(&device->node) ? arena_printf(arena, "node %" PRId64, device->node.number) : "node unknown";
	const char *text = arena_printf(arena, "%s, %s%s%s%s%s%s", node, device->driver ? device->driver : "no driver",
					speed_shown(arena, device), queues_shown(arena, device),
					vfs_shown(arena, device), text_equal(device->name, device->address) ? "" : ", ",
					text_equal(device->name, device->address) ? "" : device->address);
	struct fact fact = fact_text("device", text, device->node.source);

	host_rows_add(rows, device->name, &fact);
}

void host_devices_rows(const struct host *host, struct host_rows *rows)
{
	static const struct {
		enum device_class class;
		const char *section;
	} sections[] = {
	    {DEVICE_NIC, "Network"},
	    {DEVICE_NVME, "NVMe"},
	    {DEVICE_DISPLAY, "Display"},
	    {DEVICE_OTHER, "Accelerators"},
	};
	const struct host_devices *devices = &host->devices;

	for (size_t s = 0; s < ARRAY_SIZE(sections); s++)
		for (int i = 0; i < devices->count; i++)
			if (devices->list[i].class == sections[s].class) {
				rows->section = sections[s].section;
				device_row(rows, &devices->list[i]);
			}
	rows->section = "IOMMU";
	host_rows_add(rows, "Units", &devices->iommu);
	host_rows_add(rows, "Groups", &devices->iommu_groups);
	host_rows_add(rows, "Type of the first group", &devices->iommu_default);
	rows->section = "Interrupts";
	host_rows_add(rows, "Default affinity", &devices->irq_default_affinity);
	host_rows_add(rows, "Banned for irqbalance", &devices->irqbalance_banned);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns network cards, host devices, IOMMU, balloon and shared filesystems of a command line of QEMU. */
#include <ctype.h>

#include "text.h"
#include "vm_qemu_internal.h"

enum { QUEUE_LIMIT = 65535 };

/* ---- host devices and the rest ---- */

/* "41:00.0" is "0000:41:00.0"; letters are small, as sysfs has them. */
static const char *full_address(struct arena *arena, const char *text)
{
	const char *colon = strchr(text, ':');
	char *address = arena_printf(arena, "%s%.40s", colon && strchr(colon + 1, ':') ? "" : "0000:", text);

	for (char *at = address; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return address;
}

static void take_hostdev(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	const char *host = qemu_option(&given->options, "host");
	const char *path = qemu_option(&given->options, "sysfsdev"), *slash = path ? strrchr(path, '/') : NULL;
	struct vm_hostdev hostdev = {.type = "pci", .place = qemu_place(given)};

	if (host)
		hostdev.address = full_address(reader->arena, host);
	else if (slash && !strchr(path, '$') && strchr(slash, '.'))
		hostdev.address = full_address(reader->arena, slash + 1);
	else if (path)
		hostdev.type = "mdev";
	vm->hostdevs[vm->hostdev_count++] = hostdev;
}

static void take_usb_host(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;

	vm->hostdevs[vm->hostdev_count++] = (struct vm_hostdev){.type = "usb", .place = qemu_place(given)};
}

static void take_filesystem(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	bool virtiofs = given->first && text_starts(given->first, "vhost-user-fs");

	vm->filesystems[vm->filesystem_count++] =
	    (struct vm_filesystem){.driver = virtiofs ? "virtiofs" : "path", .place = qemu_place(given)};
}

static void take_balloon(struct qemu_reader *reader, const struct qemu_given *given)
{
	(void)given;
	reader->vm->balloon = "virtio";
}

static void take_iommu(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	bool intel = text_starts(given->first, "intel"), amd = text_starts(given->first, "amd");

	vm->iommu = intel ? "intel" : amd ? "amd" : "virtio";
	vm->iommu_intremap = qemu_switch(qemu_option(&given->options, "intremap"));
	vm->iommu_eim = qemu_switch(qemu_option(&given->options, "eim"));
	vm->iommu_xtsup = qemu_switch(qemu_option(&given->options, "xtsup"));
	vm->iommu_place = qemu_place(given);
}

static const struct {
	const char *prefix; /* of the driver's name */
	void (*take)(struct qemu_reader *reader, const struct qemu_given *given);
} devices[] = {
    {"amd-iommu", take_iommu},	      {"intel-iommu", take_iommu},	  {"usb-host", take_usb_host},
    {"vfio-pci", take_hostdev},	      {"vhost-user-fs", take_filesystem}, {"virtio-9p", take_filesystem},
    {"virtio-balloon", take_balloon}, {"virtio-iommu", take_iommu},
};

int qemu_fill_devices(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	size_t room = (size_t)reader->count + 1;

	vm->hostdevs = ARENA_ARRAY(reader->arena, room, struct vm_hostdev);
	vm->filesystems = ARENA_ARRAY(reader->arena, room, struct vm_filesystem);
	vm->balloon = "none";
	for (const struct qemu_given *given = qemu_next(reader, "device", NULL); given;
	     given = qemu_next(reader, "device", given))
		for (size_t i = 0; given->first && i < ARRAY_SIZE(devices); i++)
			if (text_starts(given->first, devices[i].prefix))
				devices[i].take(reader, given);
	for (const struct qemu_given *given = qemu_next(reader, "virtfs", NULL); given;
	     given = qemu_next(reader, "virtfs", given))
		take_filesystem(reader, given);
	/* -balloon virtio, before 4.0. */
	if (qemu_last(reader, "balloon") && text_starts(qemu_last(reader, "balloon")->word.text, "virtio"))
		vm->balloon = "virtio";
	return 0;
}

/* ---- network ---- */

static const char *nic_model(struct arena *arena, const char *driver)
{
	static const char *const known[] = {"e1000e", "igb", "rtl8139", "vmxnet3", "pcnet", "usb-net"};

	if (text_starts(driver, "virtio"))
		return "virtio";
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (text_starts(driver, known[i]))
			return known[i];
	/* "e1000-82540em" */
	if (text_starts(driver, "e1000"))
		return "e1000";
	return arena_strdup(arena, driver);
}

static bool is_nic(const char *driver)
{
	static const char *const drivers[] = {"virtio-net", "e1000", "igb",   "rtl8139", "vmxnet3", "ne2k",
					      "pcnet",	    "i82",   "tulip", "usb-net", "sungem"};

	for (size_t i = 0; driver && i < ARRAY_SIZE(drivers); i++)
		if (text_starts(driver, drivers[i]))
			return true;
	return false;
}

/* "3:4:5": as many queues as descriptors. */
static int descriptors_in(const char *text)
{
	int count = text && *text ? 1 : 0;

	for (; text && *text; text++)
		count += *text == ':';
	return count;
}

/* What a -netdev, -nic or -net says. */
static int read_netdev(struct qemu_reader *reader, const struct qemu_given *given, struct vm_nic *nic)
{
	const struct qemu_options *options = &given->options;
	int64_t queues = descriptors_in(qemu_option(options, "fds"));
	int outcome = qemu_number(reader, given, qemu_option(options, "queues"), QUEUE_LIMIT, &queues);

	if (outcome < 0)
		return outcome;
	const char *type = given->first ? given->first : "user", *device = qemu_option(options, "ifname");

	nic->type = text_equal(type, "vhost-user") ? "vhostuser" : text_equal(type, "vhost-vdpa") ? "vdpa" : type;
	nic->device = device ? device : qemu_option(options, "br");
	nic->outside = qemu_option(options, "br") ? qemu_option(options, "br") : device;
	nic->queues = (int)queues;
	bool vhost = qemu_switch(qemu_option(options, "vhost")) == 1 || qemu_option(options, "vhostfd") ||
		     qemu_option(options, "vhostfds");

	if (text_equal(type, "tap") || text_equal(type, "bridge"))
		nic->driver = vhost ? "vhost" : "qemu";
	return 0;
}

static int take_nic_device(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	struct vm_nic nic = {.place = qemu_place(given)};

	if (!is_nic(given->first))
		return 0;
	const struct qemu_given *netdev = qemu_find(reader, "netdev", "id", qemu_option(&given->options, "netdev"));
	int outcome = netdev ? read_netdev(reader, netdev, &nic) : 0;

	if (outcome < 0)
		return outcome;
	nic.model = nic_model(reader->arena, given->first);
	vm->nics[vm->nic_count++] = nic;
	return 0;
}

/* -nic is a card and what it is plugged into; of the old -net only the cards count. */
static int take_nic(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	struct vm_nic nic = {.place = qemu_place(given)};
	bool old = text_equal(given->option, "net");

	if (text_equal(given->first, "none") || (old && !text_equal(given->first, "nic")))
		return 0;
	int outcome = old ? 0 : read_netdev(reader, given, &nic);

	if (outcome < 0)
		return outcome;
	const char *model = qemu_option(&given->options, "model");

	nic.model = model ? nic_model(reader->arena, model) : NULL;
	vm->nics[vm->nic_count++] = nic;
	return 0;
}

int qemu_fill_nics(struct qemu_reader *reader)
{
	int outcome = 0;

	reader->vm->nics = ARENA_ARRAY(reader->arena, (size_t)reader->count + 1, struct vm_nic);
	for (int i = 0; outcome >= 0 && i < reader->count; i++) {
		const struct qemu_given *given = &reader->given[i];

		if (text_equal(given->option, "device"))
			outcome = take_nic_device(reader, given);
		else if (text_has_word("nic net", " ", given->option))
			outcome = take_nic(reader, given);
	}
	return outcome < 0 ? outcome : 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns disks, network cards and host devices of a configuration of Proxmox, as words for QEMU. */
#include <ctype.h>

#include "text.h"
#include "vm_proxmox_internal.h"

/* ---- disks ---- */

struct disk {
	const struct pve_setting *setting;
	struct qemu_options options;
	const char *bus; /* "scsi" */
	int number;
	bool cdrom, thread;
};

/* A comma in a value is written twice for QEMU. */
static const char *escaped(struct arena *arena, const char *text)
{
	char *copy = arena_alloc(arena, 2 * strlen(text) + 1);
	size_t length = 0;

	for (; *text; text++) {
		if (*text == ',')
			copy[length++] = ',';
		copy[length++] = *text;
	}
	return copy;
}

static const char *property(struct arena *arena, const char *key, const char *value)
{
	return value ? arena_printf(arena, ",%s=%s", key, escaped(arena, value)) : "";
}

/* The -drive; a CD drive without a CD has none. */
static int add_drive(struct pve_conf *conf, const struct disk *disk)
{
	const char *file = qemu_option(&disk->options, "file"), *cache = qemu_option(&disk->options, "cache");

	if (!cache && !disk->cdrom)
		cache = "none"; /* except on btrfs, which only the host's storage.cfg tells */
	return pve_add(conf, disk->setting, "-drive", "if=none,id=drive-%s%s%s%s%s", disk->setting->key,
		       property(conf->arena, "file", file), property(conf->arena, "cache", cache),
		       property(conf->arena, "aio", qemu_option(&disk->options, "aio")),
		       disk->cdrom ? ",media=cdrom" : "");
}

static int add_iothread(struct pve_conf *conf, const struct disk *disk)
{
	return disk->thread ? pve_add(conf, disk->setting, "-object", "iothread,id=iothread-%s", disk->setting->key)
			    : 0;
}

/* ",iothread=iothread-scsi0" or "" */
static const char *thread_property(const struct pve_conf *conf, const struct disk *disk)
{
	return disk->thread ? arena_printf(conf->arena, ",iothread=iothread-%s", disk->setting->key) : "";
}

/* How many disks a SCSI controller of Proxmox has. */
static int disks_per_controller(const char *scsihw)
{
	enum { LSI = 7, OTHERS = 256 };

	if (text_equal(scsihw, "virtio-scsi-single"))
		return 1;
	return text_starts(scsihw, "lsi") ? LSI : OTHERS;
}

/* The controller, with the first of its disks. `*made` is the last one that is there already. */
static int add_controller(struct pve_conf *conf, const struct disk *disk, int *made)
{
	const char *setting = pve_value(conf, "scsihw"), *scsihw = setting ? setting : "lsi";
	bool single = text_equal(scsihw, "virtio-scsi-single");
	int number = disk->number / disks_per_controller(scsihw);

	if (number == *made)
		return 0;
	*made = number;
	const char *queues = qemu_option(&disk->options, "queues");

	return pve_add(conf, pve_setting(conf, "scsihw"), "-device", "%s,id=%s%d%s%s",
		       single ? "virtio-scsi-pci" : scsihw, single ? "virtioscsi" : "scsihw", number,
		       thread_property(conf, disk),
		       queues && text_starts(scsihw, "virtio") ? property(conf->arena, "num_queues", queues) : "");
}

static int add_disk_device(struct pve_conf *conf, const struct disk *disk)
{
	const char *key = disk->setting->key;
	bool empty = text_equal(qemu_option(&disk->options, "file"), "none") && disk->cdrom;
	const char *drive = empty ? "" : arena_printf(conf->arena, ",drive=drive-%s", key);

	if (text_equal(disk->bus, "virtio"))
		return pve_add(conf, disk->setting, "-device", "virtio-blk-pci,id=%s%s%s", key, drive,
			       thread_property(conf, disk));
	bool scsi = text_equal(disk->bus, "scsi");
	const char *driver = scsi ? (disk->cdrom ? "scsi-cd" : "scsi-hd") : (disk->cdrom ? "ide-cd" : "ide-hd");

	return pve_add(conf, disk->setting, "-device", "%s,id=%s%s%s", driver, key, drive,
		       text_equal(disk->bus, "sata") ? ",bus=ahci0.0" : "");
}

/* An I/O thread is for virtio disks, and for SCSI disks with a controller of their own. */
static bool has_thread(const struct pve_conf *conf, const struct disk *disk)
{
	if (disk->cdrom || qemu_switch(qemu_option(&disk->options, "iothread")) != 1)
		return false;
	return text_equal(disk->bus, "virtio") ||
	       (text_equal(disk->bus, "scsi") && text_equal(pve_value(conf, "scsihw"), "virtio-scsi-single"));
}

static int add_disk(struct pve_conf *conf, struct disk *disk, int *controller)
{
	int outcome = pve_properties(conf, disk->setting, "file", &disk->options);

	if (outcome < 0)
		return outcome;
	disk->cdrom = text_equal(qemu_option(&disk->options, "media"), "cdrom");
	disk->thread = has_thread(conf, disk);
	outcome = add_iothread(conf, disk);
	if (outcome == 0)
		outcome = add_drive(conf, disk);
	if (outcome == 0 && text_equal(disk->bus, "scsi"))
		outcome = add_controller(conf, disk, controller);
	return outcome < 0 ? outcome : add_disk_device(conf, disk);
}

int pve_add_disks(struct pve_conf *conf)
{
	/* In the order in which Proxmox hands them to QEMU. */
	static const struct {
		const char *bus;
		int count;
	} buses[] = {{"ide", 4}, {"scsi", 31}, {"virtio", 16}, {"sata", 6}};
	int controller = -1, outcome = 0;

	for (size_t i = 0; i < ARRAY_SIZE(buses); i++)
		for (int number = 0; outcome == 0 && number < buses[i].count; number++) {
			const char *key = arena_printf(conf->arena, "%s%d", buses[i].bus, number);
			struct disk disk = {.setting = pve_setting(conf, key), .bus = buses[i].bus, .number = number};

			if (disk.setting)
				outcome = add_disk(conf, &disk, &controller);
		}
	return outcome;
}

/* ---- network ---- */

/* "virtio=AA:BB:...,bridge=vmbr0,queues=8", or with model= and macaddr=. */
static int add_nic(struct pve_conf *conf, const struct pve_setting *setting, int number)
{
	struct qemu_options options;
	int outcome = pve_properties(conf, setting, "model", &options);

	if (outcome < 0)
		return outcome;
	const char *model = qemu_option(&options, "model"), *bridge = qemu_option(&options, "bridge");

	if (!model)
		model = options.count ? options.list[0].key : "virtio";
	bool virtio = text_equal(model, "virtio");
	const char *queues = virtio ? qemu_option(&options, "queues") : NULL;
	const char *tap = arena_printf(
	    conf->arena, "%s%s", conf->vmid ? arena_printf(conf->arena, ",ifname=tap%si%d", conf->vmid, number) : "",
	    property(conf->arena, "br", bridge));

	outcome = bridge
		      ? pve_add(conf, setting, "-netdev", "tap,id=net%d%s%s%s", number, tap,
				virtio && pve_has_kvm(conf) ? ",vhost=on" : "", property(conf->arena, "queues", queues))
		      : pve_add(conf, setting, "-netdev", "user,id=net%d", number);
	return outcome < 0
		   ? outcome
		   : pve_add(conf, setting, "-device", "%s,netdev=net%d", virtio ? "virtio-net-pci" : model, number);
}

/* ---- host devices ---- */

/* "01:00" is all functions of a device: only the first is sure to be there. */
static int add_pci(struct pve_conf *conf, const struct pve_setting *setting, const char *address)
{
	return pve_add(conf, setting, "-device", "vfio-pci,host=%s%s", address, strchr(address, '.') ? "" : ".0");
}

static int add_hostpci(struct pve_conf *conf, const struct pve_setting *setting)
{
	struct qemu_options options;
	int outcome = pve_properties(conf, setting, "host", &options);
	const char *host = outcome == 0 ? qemu_option(&options, "host") : NULL;

	if (outcome == 0 && qemu_option(&options, "mdev"))
		return pve_add(conf, setting, "-device", "vfio-pci,sysfsdev=/sys/bus/mdev/devices/mdev");
	if (outcome == 0 && !host)
		return pve_add(conf, setting, "-device", "vfio-pci");
	while (outcome == 0 && *host) {
		size_t length = strcspn(host, ";");

		if (length)
			outcome = add_pci(conf, setting, arena_strndup(conf->arena, host, length));
		host += length + strspn(host + length, ";");
	}
	return outcome;
}

static int add_usb(struct pve_conf *conf, const struct pve_setting *setting)
{
	return text_starts(setting->value, "host=") || isdigit((unsigned char)setting->value[0])
		   ? pve_add(conf, setting, "-device", "usb-host")
		   : 0;
}

static int add_virtiofs(struct pve_conf *conf, const struct pve_setting *setting)
{
	return pve_add(conf, setting, "-device", "vhost-user-fs-pci");
}

int pve_add_devices(struct pve_conf *conf)
{
	static const struct {
		const char *name;
		int count;
		int (*add)(struct pve_conf *conf, const struct pve_setting *setting);
	} kinds[] = {{"hostpci", 16, add_hostpci}, {"usb", 15, add_usb}, {"virtiofs", 10, add_virtiofs}};
	enum { NIC_COUNT = 32 };
	int outcome = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (int number = 0; outcome == 0 && number < kinds[i].count; number++) {
			const struct pve_setting *setting =
			    pve_setting(conf, arena_printf(conf->arena, "%s%d", kinds[i].name, number));

			if (setting)
				outcome = kinds[i].add(conf, setting);
		}
	for (int number = 0; outcome == 0 && number < NIC_COUNT; number++) {
		const struct pve_setting *setting = pve_setting(conf, arena_printf(conf->arena, "net%d", number));

		if (setting)
			outcome = add_nic(conf, setting, number);
	}
	if (outcome == 0 && !text_equal(pve_value(conf, "balloon"), "0"))
		outcome = pve_add(conf, pve_setting(conf, "balloon"), "-device", "virtio-balloon-pci");
	return outcome;
}

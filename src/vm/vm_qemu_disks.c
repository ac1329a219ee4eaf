/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns I/O threads, disks and SCSI controllers of a command line of QEMU. */
#include <ctype.h>

#include "text.h"
#include "vm_qemu_internal.h"

enum { QUEUE_LIMIT = 65535 };

/* ---- I/O threads ---- */

/* libvirt calls thread N "iothreadN". Others get the next free number, in the order in which they stand. */
static int64_t number_in_name(const char *name)
{
	int64_t number;

	if (!name || !text_starts(name, "iothread") || text_int(name + strlen("iothread"), 10, &number) < 0)
		return -1;
	return number > 0 ? number : -1;
}

static bool number_is_taken(const struct vm *vm, int64_t number)
{
	for (int i = 0; i < vm->iothread_count; i++)
		if (vm->iothreads[i].id == number)
			return true;
	return false;
}

int qemu_fill_threads(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	int64_t next = 1;

	vm->iothreads = ARENA_ARRAY(reader->arena, (size_t)qemu_count(reader, "object") + 1, struct vm_iothread);
	for (const struct qemu_given *given = qemu_next(reader, "object", NULL); given;
	     given = qemu_next(reader, "object", given)) {
		const char *name = qemu_option(&given->options, "id");

		if (text_equal(given->first, "iothread"))
			vm->iothreads[vm->iothread_count++] =
			    (struct vm_iothread){.id = number_in_name(name), .name = name, .place = qemu_place(given)};
	}
	vm->iothread_declared = vm->iothread_count;
	if (vm->iothread_count)
		vm->iothreads_place = vm->iothreads[0].place;
	for (int i = 0; i < vm->iothread_count; i++) {
		if (vm->iothreads[i].id >= 0)
			continue;
		while (number_is_taken(vm, next))
			next++;
		vm->iothreads[i].id = next++;
	}
	return 0;
}

int64_t qemu_use_iothread(struct qemu_reader *reader, const char *name)
{
	struct vm *vm = reader->vm;

	for (int i = 0; name && i < vm->iothread_count; i++)
		if (text_equal(vm->iothreads[i].name, name)) {
			vm->iothreads[i].users++;
			return vm->iothreads[i].id;
		}
	return -1;
}

int qemu_use_mapping(struct qemu_reader *reader, const struct qemu_options *options)
{
	static const char prefix[] = "iothread-vq-mapping.";
	int count = 0;

	for (int i = 0; i < options->count; i++) {
		const char *key = options->list[i].key, *dot = strrchr(key, '.');

		if (!text_starts(key, prefix) || !text_equal(dot, ".iothread"))
			continue;
		(void)qemu_use_iothread(reader, options->list[i].value);
		count++;
	}
	return count;
}

/* ---- what stands behind a disk: -drive, or a chain of -blockdev ---- */

struct backing {
	const char *cache, *io, *source, *media;
};

static const char *cache_of(int direct, int no_flush, int write_cache)
{
	if (no_flush == 1)
		return "unsafe";
	if (direct == 1)
		return write_cache == 0 ? "directsync" : "none";
	if (direct == 0)
		return write_cache == 0 ? "writethrough" : "writeback";
	return NULL;
}

/* A property of the nearest node of a chain that has it: "cache.direct", "file.cache.direct", ... */
static const char *nested(const struct qemu_options *options, const char *key)
{
	enum { PREFIX_LIMIT = 8 };
	const char *best = NULL;
	size_t shortest = SIZE_MAX, length = strlen(key);

	for (int i = 0; i < options->count; i++) {
		const char *name = options->list[i].key, *rest = name;

		for (int depth = 0; depth < PREFIX_LIMIT && text_starts(rest, "file."); depth++)
			rest += strlen("file.");
		if (qemu_key_equal(rest, key) && strlen(name) - length < shortest) {
			shortest = strlen(name) - length;
			best = options->list[i].value;
		}
	}
	return best;
}

static struct backing read_blockdev(const struct qemu_reader *reader, const char *node, int write_cache)
{
	enum { CHAIN_LIMIT = 8 };
	struct backing backing = {0};
	const char *direct = NULL, *no_flush = NULL;

	for (int i = 0; node && i < CHAIN_LIMIT; i++) {
		const struct qemu_given *given = qemu_find(reader, "blockdev", "node-name", node);

		if (!given)
			break;
		const struct qemu_options *options = &given->options;

		direct = direct ? direct : nested(options, "cache.direct");
		no_flush = no_flush ? no_flush : nested(options, "cache.no-flush");
		backing.io = backing.io ? backing.io : nested(options, "aio");
		backing.source = backing.source ? backing.source : nested(options, "filename");
		node = nested(options, "file");
	}
	backing.cache = cache_of(qemu_switch(direct), qemu_switch(no_flush), write_cache);
	return backing;
}

static struct backing read_drive(const struct qemu_options *options)
{
	return (struct backing){
	    .cache = qemu_option(options, "cache"),
	    .io = qemu_option(options, "aio"),
	    .source = qemu_option(options, "file"),
	    .media = qemu_option(options, "media"),
	};
}

static struct backing backing_of(const struct qemu_reader *reader, const struct qemu_given *device)
{
	const char *id = qemu_option(&device->options, "drive");
	const struct qemu_given *drive = qemu_find(reader, "drive", "id", id);
	int write_cache = qemu_switch(qemu_option(&device->options, "write-cache"));

	return drive ? read_drive(&drive->options) : read_blockdev(reader, id, write_cache);
}

/* ---- disks ---- */

static const struct disk_driver {
	const char *driver, *bus;
	bool cdrom;
} disk_drivers[] = {
    {"ide-cd", "ide", true},	   {"ide-drive", "ide", false},		{"ide-hd", "ide", false},
    {"nvme", "nvme", false},	   {"scsi-block", "scsi", false},	{"scsi-cd", "scsi", true},
    {"scsi-disk", "scsi", false},  {"scsi-generic", "scsi", false},	{"scsi-hd", "scsi", false},
    {"usb-storage", "usb", false}, {"vhost-user-blk", "virtio", false}, {"virtio-blk", "virtio", false},
};

/* "virtio-blk-pci-non-transitional" is "virtio-blk". */
static bool driver_is(const char *driver, const char *wanted)
{
	size_t length = strlen(wanted);

	if (!driver || strncmp(driver, wanted, length) != 0)
		return false;
	return !driver[length] || text_starts(driver + length, "-pci") || text_starts(driver + length, "-device") ||
	       text_starts(driver + length, "-ccw");
}

static const struct disk_driver *disk_driver(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(disk_drivers); i++)
		if (driver_is(driver, disk_drivers[i].driver))
			return &disk_drivers[i];
	return NULL;
}

static void add_disk(struct qemu_reader *reader, struct vm_disk disk, const struct backing *backing)
{
	bool cdrom = text_equal(disk.device, "cdrom") || text_equal(backing->media, "cdrom");

	/* How a CD is cached and read is of no weight, and differs by the way it was put in. */
	disk.device = cdrom ? "cdrom" : "disk";
	disk.cache = cdrom ? NULL : backing->cache;
	disk.io = cdrom ? NULL : backing->io;
	disk.source = backing->source;
	reader->vm->disks[reader->vm->disk_count++] = disk;
}

static const char *bus_of(const struct disk_driver *driver, const struct qemu_options *options)
{
	const char *bus = qemu_option(options, "bus"), *id = qemu_option(options, "id");
	bool sata =
	    text_equal(driver->bus, "ide") && ((bus && text_starts(bus, "ahci")) || (id && text_starts(id, "sata")));

	return sata ? "sata" : driver->bus;
}

static int take_disk_device(struct qemu_reader *reader, const struct qemu_given *given)
{
	const struct disk_driver *driver = disk_driver(given->first);
	const struct qemu_options *options = &given->options;
	int64_t queues = 0;

	if (!driver)
		return 0;
	int outcome = qemu_number(reader, given, qemu_option(options, "num-queues"), QUEUE_LIMIT, &queues);

	if (outcome < 0)
		return outcome;
	const char *id = qemu_option(options, "id"), *thread = qemu_option(options, "iothread");
	const struct backing backing = backing_of(reader, given);

	add_disk(reader,
		 (struct vm_disk){.target = id ? id : qemu_option(options, "drive"),
				  .bus = bus_of(driver, options),
				  .device = driver->cdrom ? "cdrom" : NULL,
				  .queues = (int)queues,
				  .iothread = qemu_use_iothread(reader, thread),
				  .iothread_name = thread,
				  .mapped_iothreads = qemu_use_mapping(reader, options),
				  .place = qemu_place(given)},
		 &backing);
	return 0;
}

/* -drive if=virtio,... makes the device, too. */
static void take_whole_drive(struct qemu_reader *reader, const struct qemu_given *given)
{
	const char *interface = qemu_option(&given->options, "if");

	if (text_has_word("none pflash floppy mtd sd", " ", interface ? interface : "ide"))
		return;
	const char *id = qemu_option(&given->options, "id");
	const struct backing backing = read_drive(&given->options);

	add_disk(reader,
		 (struct vm_disk){
		     .target = id, .bus = interface ? interface : "ide", .iothread = -1, .place = qemu_place(given)},
		 &backing);
}

/* "-hda file", "-cdrom file", and a file without an option. */
static void take_short_disk(struct qemu_reader *reader, const struct qemu_given *given)
{
	bool cdrom = text_equal(given->option, "cdrom");
	const struct backing backing = {.source = given->word.text, .media = cdrom ? "cdrom" : NULL};

	if (*given->option && !text_has_word("hda hdb hdc hdd cdrom", " ", given->option))
		return;
	add_disk(reader,
		 (struct vm_disk){.target = *given->option ? given->option : "hda",
				  .bus = "ide",
				  .iothread = -1,
				  .place = qemu_place(given)},
		 &backing);
}

/* ---- controllers ---- */

static const struct {
	const char *driver, *model;
} controllers[] = {
    {"am53c974", "am53c974"},	{"lsi", "lsilogic"},	      {"lsi53c895a", "lsilogic"},
    {"lsi53c810", "lsi53c810"}, {"megasas", "megasas"},	      {"mptsas1068", "lsisas1068"},
    {"pvscsi", "vmpvscsi"},	{"vhost-scsi", "vhost-scsi"}, {"virtio-scsi", "virtio-scsi"},
};

static int take_controller(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	int64_t queues = 0;

	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
		if (!driver_is(given->first, controllers[i].driver))
			continue;
		int outcome =
		    qemu_number(reader, given, qemu_option(&given->options, "num_queues"), QUEUE_LIMIT, &queues);

		if (outcome < 0)
			return outcome;
		const char *thread = qemu_option(&given->options, "iothread");

		vm->controllers[vm->controller_count++] =
		    (struct vm_controller){.type = "scsi",
					   .model = controllers[i].model,
					   .queues = (int)queues,
					   .iothread = qemu_use_iothread(reader, thread),
					   .mapped_iothreads = qemu_use_mapping(reader, &given->options),
					   .place = qemu_place(given)};
		break;
	}
	return 0;
}

int qemu_fill_disks(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	int outcome = 0;

	vm->disks = ARENA_ARRAY(reader->arena, (size_t)reader->count + 1, struct vm_disk);
	vm->controllers = ARENA_ARRAY(reader->arena, (size_t)reader->count + 1, struct vm_controller);
	for (int i = 0; outcome >= 0 && i < reader->count; i++) {
		const struct qemu_given *given = &reader->given[i];

		if (text_equal(given->option, "drive"))
			take_whole_drive(reader, given);
		else if (!text_equal(given->option, "device"))
			take_short_disk(reader, given);
		else
			outcome = take_disk_device(reader, given);
		if (outcome >= 0 && text_equal(given->option, "device"))
			outcome = take_controller(reader, given);
	}
	return outcome;
}

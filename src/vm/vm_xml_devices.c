/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading devices from domain XML. */
#include "text.h"
#include "vm_xml_parts.h"

enum { QUEUES_MAX = 65536 };

static int queues_of(struct vm_xml_reader *reader, const xmlNode *driver)
{
	return (int)vm_xml_number(reader, driver, "queues", 1, QUEUES_MAX, 0);
}

/* The first of the attributes that the node has. `names` ends with NULL. */
static const char *first_attribute(struct vm_xml_reader *reader, const xmlNode *node, const char *const *names)
{
	const char *value = NULL;

	for (; !value && *names; names++)
		value = vm_xml_attribute(reader, node, *names);
	return value;
}

static void use_iothread(struct vm *vm, int64_t id)
{
	struct vm_iothread *iothread = vm_xml_iothread(vm, id);

	if (iothread)
		iothread->users++;
}

/* The one thread of a driver, and how many its queues are mapped to. */
static int64_t read_iothreads(struct vm_xml_reader *reader, const xmlNode *driver, int *ret_mapped)
{
	const xmlNode *mapping = vm_xml_first(driver, "iothreads");
	int64_t id = vm_xml_number(reader, driver, "iothread", 1, INT32_MAX, -1);

	use_iothread(reader->vm, id);
	*ret_mapped = vm_xml_count(reader, mapping, "iothread");
	VM_XML_EACH (iothread, mapping, "iothread")
		use_iothread(reader->vm, vm_xml_number(reader, iothread, "id", 1, INT32_MAX, -1));
	return id;
}

static void read_disk(struct vm_xml_reader *reader, const xmlNode *node)
{
	static const char *const sources[] = {"file", "dev", "dir", "volume", "name", NULL};
	const xmlNode *driver = vm_xml_first(node, "driver"), *target = vm_xml_first(node, "target");
	struct vm_disk *disk = &reader->vm->disks[reader->vm->disk_count++];
	const char *device = vm_xml_attribute(reader, node, "device");

	*disk = (struct vm_disk){
	    .target = vm_xml_attribute(reader, target, "dev"),
	    .bus = vm_xml_attribute(reader, target, "bus"),
	    .cache = vm_xml_attribute(reader, driver, "cache"),
	    .io = vm_xml_attribute(reader, driver, "io"),
	    .source = first_attribute(reader, vm_xml_first(node, "source"), sources),
	    .device = device ? device : "disk",
	    .queues = queues_of(reader, driver),
	    .place = vm_xml_place(reader, node),
	};
	disk->iothread = read_iothreads(reader, driver, &disk->mapped_iothreads);
}

static void read_controller(struct vm_xml_reader *reader, const xmlNode *node)
{
	const xmlNode *driver = vm_xml_first(node, "driver");
	struct vm_controller *controller = &reader->vm->controllers[reader->vm->controller_count++];

	*controller = (struct vm_controller){
	    .type = vm_xml_attribute(reader, node, "type"),
	    .model = vm_xml_attribute(reader, node, "model"),
	    .queues = queues_of(reader, driver),
	    .place = vm_xml_place(reader, node),
	};
	controller->iothread = read_iothreads(reader, driver, &controller->mapped_iothreads);
}

static void read_nic(struct vm_xml_reader *reader, const xmlNode *node)
{
	static const char *const sources[] = {"bridge", "dev", "network", "path", NULL};
	static const char *const interfaces[] = {"bridge", "dev", NULL};
	const xmlNode *driver = vm_xml_first(node, "driver");
	const char *device = vm_xml_attribute(reader, vm_xml_first(node, "target"), "dev");

	reader->vm->nics[reader->vm->nic_count++] = (struct vm_nic){
	    .type = vm_xml_attribute(reader, node, "type"),
	    .model = vm_xml_attribute(reader, vm_xml_first(node, "model"), "type"),
	    .driver = vm_xml_attribute(reader, driver, "name"),
	    .device = device ? device : first_attribute(reader, vm_xml_first(node, "source"), sources),
	    .mac = vm_xml_attribute(reader, vm_xml_first(node, "mac"), "address"),
	    .outside = first_attribute(reader, vm_xml_first(node, "source"), interfaces),
	    .queues = queues_of(reader, driver),
	    .place = vm_xml_place(reader, node),
	};
}

/* "0000:41:00.0", or NULL when the address is not whole. */
static const char *pci_address(struct vm_xml_reader *reader, const xmlNode *address)
{
	int64_t domain = vm_xml_number_any_base(reader, address, "domain", UINT32_MAX, 0);
	int64_t bus = vm_xml_number_any_base(reader, address, "bus", 255, -1);
	int64_t slot = vm_xml_number_any_base(reader, address, "slot", 31, -1);
	int64_t function = vm_xml_number_any_base(reader, address, "function", 7, 0);

	if (bus < 0 || slot < 0)
		return NULL;
	return arena_printf(reader->vm->arena, "%04x:%02x:%02x.%x", (unsigned)domain, (unsigned)bus, (unsigned)slot,
			    (unsigned)function);
}

/* A <hostdev>, or an <interface type='hostdev'>, which is one as well. */
static void read_hostdev(struct vm_xml_reader *reader, const xmlNode *node)
{
	bool nic = vm_xml_named(node, "interface");
	const xmlNode *address = vm_xml_at(node, "source/address");
	const char *address_type = vm_xml_attribute(reader, address, "type");
	const char *type = vm_xml_attribute(reader, node, "type");

	if (nic && !text_equal(type, "hostdev"))
		return;
	if (nic)
		type = address_type ? address_type : "pci";
	reader->vm->hostdevs[reader->vm->hostdev_count++] = (struct vm_hostdev){
	    .address = text_equal(type, "pci") ? pci_address(reader, address) : NULL,
	    .type = type,
	    .place = vm_xml_place(reader, node),
	};
}

static void read_filesystem(struct vm_xml_reader *reader, const xmlNode *node)
{
	const char *driver = vm_xml_attribute(reader, vm_xml_first(node, "driver"), "type");

	reader->vm->filesystems[reader->vm->filesystem_count++] = (struct vm_filesystem){
	    .driver = driver ? driver : "path", /* libvirt's default, 9p */
	    .place = vm_xml_place(reader, node),
	};
}

static void read_single_devices(struct vm_xml_reader *reader, const xmlNode *devices)
{
	struct vm *vm = reader->vm;
	const xmlNode *iommu = vm_xml_first(devices, "iommu"), *driver = vm_xml_first(iommu, "driver");

	vm->balloon = vm_xml_attribute(reader, vm_xml_first(devices, "memballoon"), "model");
	vm->iommu = vm_xml_attribute(reader, iommu, "model");
	vm->iommu_place = vm_xml_place(reader, iommu);
	vm->iommu_intremap = vm_xml_switch(reader, driver, "intremap");
	vm->iommu_eim = vm_xml_switch(reader, driver, "eim");
	vm->iommu_xtsup = vm_xml_switch(reader, driver, "xtsup");
}

void vm_xml_read_devices(struct vm_xml_reader *reader, const xmlNode *domain)
{
	struct vm *vm = reader->vm;
	const xmlNode *devices = vm_xml_first(domain, "devices");
	int disks = vm_xml_count(reader, devices, "disk"), nics = vm_xml_count(reader, devices, "interface");
	int controllers = vm_xml_count(reader, devices, "controller");
	int hostdevs = vm_xml_count(reader, devices, "hostdev");
	int filesystems = vm_xml_count(reader, devices, "filesystem");

	if (reader->failed)
		return;
	vm->disks = ARENA_ARRAY(vm->arena, (size_t)disks, struct vm_disk);
	vm->controllers = ARENA_ARRAY(vm->arena, (size_t)controllers, struct vm_controller);
	vm->nics = ARENA_ARRAY(vm->arena, (size_t)nics, struct vm_nic);
	vm->hostdevs = ARENA_ARRAY(vm->arena, (size_t)(hostdevs + nics), struct vm_hostdev);
	vm->filesystems = ARENA_ARRAY(vm->arena, (size_t)filesystems, struct vm_filesystem);
	VM_XML_EACH (node, devices, "disk")
		read_disk(reader, node);
	VM_XML_EACH (node, devices, "controller")
		read_controller(reader, node);
	VM_XML_EACH (node, devices, "interface") {
		read_nic(reader, node);
		read_hostdev(reader, node);
	}
	VM_XML_EACH (node, devices, "hostdev")
		read_hostdev(reader, node);
	VM_XML_EACH (node, devices, "filesystem")
		read_filesystem(reader, node);
	read_single_devices(reader, devices);
}

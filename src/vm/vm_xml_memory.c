/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading memory, its backing and its nodes from domain XML. */
#include "text.h"
#include "vm_xml_parts.h"

static void read_sizes(struct vm_xml_reader *reader, const xmlNode *domain)
{
	struct vm *vm = reader->vm;
	const xmlNode *memory = vm_xml_first(domain, "memory");

	vm->memory_place = vm_xml_place(reader, memory);
	vm->memory_kib = vm_xml_size(reader, memory, NULL, 0);
	vm->current_memory_kib = vm_xml_size(reader, vm_xml_first(domain, "currentMemory"), NULL, 0);
	vm->max_memory_kib = vm_xml_size(reader, vm_xml_first(domain, "maxMemory"), NULL, 0);
	vm->hard_limit_kib = vm_xml_size(reader, vm_xml_first(vm_xml_first(domain, "memtune"), "hard_limit"), NULL, 0);
	if (memory)
		return;
	/* Without <memory>, libvirt adds up the cells. */
	for (int i = 0; i < vm->cell_count; i++)
		if (vm->cells[i].memory_kib > 0 && vm->memory_kib < INT64_MAX / 2)
			vm->memory_kib += MIN_OF(vm->cells[i].memory_kib, INT64_MAX / 2);
}

static void read_hugepages(struct vm_xml_reader *reader, const xmlNode *hugepages)
{
	struct vm *vm = reader->vm;
	int count = vm_xml_count(reader, hugepages, "page");

	if (!hugepages)
		return;
	vm->hugepages = true;
	vm->hugepages_place = vm_xml_place(reader, hugepages);
	vm->pages = ARENA_ARRAY(vm->arena, (size_t)MAX_OF(count, 1), struct vm_pages);
	vm->page_count = MAX_OF(count, 1);
	vm->pages[0].place = vm->hugepages_place;
	count = 0;
	VM_XML_EACH (page, hugepages, "page") {
		if (count == vm->page_count)
			break;
		vm->pages[count++] = (struct vm_pages){
		    .size_kib = vm_xml_size(reader, page, "size", 0),
		    .cells = vm_xml_set(reader, page, "nodeset"),
		    .place = vm_xml_place(reader, page),
		};
	}
}

static void read_backing(struct vm_xml_reader *reader, const xmlNode *backing)
{
	struct vm *vm = reader->vm;

	read_hugepages(reader, vm_xml_first(backing, "hugepages"));
	vm->no_share_pages = vm_xml_first(backing, "nosharepages");
	vm->locked = vm_xml_first(backing, "locked");
	vm->memory_source = vm_xml_attribute(reader, vm_xml_first(backing, "source"), "type");
	vm->memory_access = vm_xml_attribute(reader, vm_xml_first(backing, "access"), "mode");
	vm->allocation = vm_xml_attribute(reader, vm_xml_first(backing, "allocation"), "mode");
}

/* libvirt's default where no mode is written. */
static const char *mode_of(struct vm_xml_reader *reader, const xmlNode *node)
{
	const char *mode = vm_xml_attribute(reader, node, "mode");

	return mode ? mode : "strict";
}

static void read_numatune(struct vm_xml_reader *reader, const xmlNode *numatune)
{
	struct vm *vm = reader->vm;
	const xmlNode *memory = vm_xml_first(numatune, "memory");
	int count = vm_xml_count(reader, numatune, "memnode");

	if (!numatune)
		return;
	vm->numatune_place = vm_xml_place(reader, numatune);
	if (memory) {
		vm->numa_mode = mode_of(reader, memory);
		vm->numa_nodes = vm_xml_set(reader, memory, "nodeset");
		vm->numa_auto = text_equal(vm_xml_attribute(reader, memory, "placement"), "auto");
	}
	if (!count)
		return;
	vm->memnodes = ARENA_ARRAY(vm->arena, (size_t)count, struct vm_memnode);
	VM_XML_EACH (memnode, numatune, "memnode")
		vm->memnodes[vm->memnode_count++] = (struct vm_memnode){
		    .cell = (int)vm_xml_number(reader, memnode, "cellid", 0, INT32_MAX, -1),
		    .mode = mode_of(reader, memnode),
		    .nodes = vm_xml_set(reader, memnode, "nodeset"),
		    .place = vm_xml_place(reader, memnode),
		};
}

void vm_xml_read_memory(struct vm_xml_reader *reader, const xmlNode *domain)
{
	read_sizes(reader, domain);
	read_backing(reader, vm_xml_first(domain, "memoryBacking"));
	read_numatune(reader, vm_xml_first(domain, "numatune"));
}

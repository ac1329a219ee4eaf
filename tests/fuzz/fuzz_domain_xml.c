/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzes reading domain XML, and changing it: what was read keeps its promises, no edit leaves a text that cannot be
 * read, and doing nothing changes nothing.
 */
#include <string.h>

#include "vm_xml.h"
#include "vm_xml_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_set(const struct vm_set *set)
{
	require(set->given ? !set->text && !cpuset_empty(&set->set) : cpuset_empty(&set->set));
}

static void check_vm(const struct vm *vm)
{
	require(vm->vcpu_max >= 1 && vm->vcpu_now <= vm->vcpu_max);
	for (int id = 0; id < vm->vcpu_max; id++) {
		require(vm->vcpus[id].id == id);
		check_set(&vm->vcpus[id].pin);
	}
	for (int i = 0; i < vm->iothread_count; i++)
		check_set(&vm->iothreads[i].pin);
	require(vm->iothread_declared <= vm->iothread_count);
	require(vm->hugepages == (vm->page_count > 0));
	for (int i = 0; i < vm->cell_count; i++)
		check_set(&vm->cells[i].cpus);
	for (int i = 0; i < vm->memnode_count; i++)
		require(vm->memnodes[i].mode != NULL);
	require(vm->cpu.sockets >= 1 && vm->cpu.cores >= 1 && vm->cpu.threads >= 1);
	check_set(&vm->emulator);
	check_set(&vm->cpuset);
	(void)vm_is_pinned_one_to_one(vm);
}

static void change(const char *text, size_t size)
{
	static const int distances[] = {10, 20};
	static const struct vm_pages page = {.size_kib = 1 << 20};
	static const struct vm_cell cells[] = {{.id = 0, .memory_kib = 4096, .distances = distances},
					       {.id = 1, .memory_kib = 4096, .access = "shared"}};
	static const struct vm_xml_edit edits[] = {
	    {.kind = VM_XML_VCPU_CPUSET, .set = {{0xf0}}},
	    {.kind = VM_XML_VCPU_PIN, .set = {{0x2}}},
	    {.kind = VM_XML_EMULATOR_PIN, .set = {{0x1}}},
	    {.kind = VM_XML_IOTHREADS, .count = 2},
	    {.kind = VM_XML_IOTHREAD_PIN, .index = 1, .set = {{0x1}}},
	    {.kind = VM_XML_NUMA_MEMORY, .word = "strict", .set = {{0x1}}},
	    {.kind = VM_XML_MEMNODE, .index = 1, .word = "strict", .set = {{0x2}}},
	    {.kind = VM_XML_HUGEPAGES, .pages = &page, .count = 1},
	    {.kind = VM_XML_TOPOLOGY, .topology = {1, 2, 1, 4, 2}},
	    {.kind = VM_XML_CELLS, .cells = cells, .count = 2},
	    {.kind = VM_XML_CPU_CACHE, .word = "passthrough"},
	    {.kind = VM_XML_CPU_FEATURE, .name = "topoext", .word = "require"},
	    {.kind = VM_XML_CPU_MODE, .word = "host-passthrough"},
	    {.kind = VM_XML_NIC_QUEUES, .count = 4},
	    {.kind = VM_XML_DISK_IOTHREAD, .count = 1},
	    {.kind = VM_XML_VCPU_PIN, .remove = true},
	    {.kind = VM_XML_CELLS, .remove = true},
	};
	struct arena *arena = arena_new();
	const char *result = NULL;
	size_t result_size = 0;

	if (vm_xml_edit(arena, "fuzz", text, size, NULL, 0, &result, &result_size, NULL) == 0)
		require(result_size == size && memcmp(result, text, size) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		const char *once = NULL, *twice = NULL;
		size_t once_size = 0, twice_size = 0;

		if (vm_xml_edit(arena, "fuzz", text, size, &edits[i], 1, &once, &once_size, NULL) < 0)
			continue;
		require(vm_xml_edit(arena, "fuzz", once, once_size, &edits[i], 1, &twice, &twice_size, NULL) == 0);
		require(once_size == twice_size && memcmp(once, twice, once_size) == 0);
	}
	(void)arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vm *vm = NULL;
	struct err err = {0};
	int status = vm_read_libvirt_xml("fuzz", (const char *)data, size, &vm, &err);

	require(status == 0 ? vm != NULL : !vm && err.code == status && err.what[0]);
	if (vm) {
		check_vm(vm);
		/* Each edit reads the VM three times, and thousands of vCPUs take megabytes each time. */
		if (vm->vcpu_max <= 64)
			change((const char *)data, size);
	}
	(void)vm_free(vm);
	return 0;
}

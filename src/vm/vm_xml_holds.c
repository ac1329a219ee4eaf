/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns whether a VM, as read, fulfils an edit. */
#include "text.h"
#include "vm_xml_edit.h"

static bool same_set(const struct vm_set *set, const struct vm_xml_edit *edit)
{
	if (edit->remove)
		return !set->given && !set->text;
	return set->given && cpuset_equal(&set->set, &edit->set);
}

static bool same_iothread_pin(const struct vm *vm, const struct vm_xml_edit *edit)
{
	for (int i = 0; i < vm->iothread_count; i++)
		if (vm->iothreads[i].id == edit->index)
			return same_set(&vm->iothreads[i].pin, edit);
	return edit->remove;
}

static bool same_memnode(const struct vm *vm, const struct vm_xml_edit *edit)
{
	for (int i = 0; i < vm->memnode_count; i++)
		if (vm->memnodes[i].cell == edit->index)
			return !edit->remove && text_equal(vm->memnodes[i].mode, edit->word) &&
			       same_set(&vm->memnodes[i].nodes, edit);
	return edit->remove;
}

static bool same_pages(const struct vm *vm, const struct vm_xml_edit *edit)
{
	if (edit->remove || !vm->hugepages)
		return edit->remove && !vm->hugepages;
	if (edit->count == 0)
		return vm->page_count == 1 && vm->pages[0].size_kib == 0;
	if (vm->page_count != edit->count)
		return false;
	for (int i = 0; i < edit->count; i++) {
		const struct vm_pages *is = &vm->pages[i], *wanted = &edit->pages[i];

		if (is->size_kib != wanted->size_kib || is->cells.given != wanted->cells.given || is->cells.text ||
		    (is->cells.given && !cpuset_equal(&is->cells.set, &wanted->cells.set)))
			return false;
	}
	return true;
}

static bool same_mode(const struct vm *vm, const struct vm_xml_edit *edit)
{
	static const char *const words[] = {
	    [VM_CPU_CUSTOM] = "custom",
	    [VM_CPU_HOST_MODEL] = "host-model",
	    [VM_CPU_HOST_PASSTHROUGH] = "host-passthrough",
	    [VM_CPU_MAXIMUM] = "maximum",
	};

	return text_equal(words[vm->cpu.mode], edit->word);
}

static bool same_topology(const struct vm *vm, const struct vm_xml_edit *edit)
{
	const struct vm_xml_topology *wanted = &edit->topology;

	if (edit->remove)
		return !vm->cpu.topology_given;
	return vm->cpu.topology_given && vm->cpu.sockets == wanted->sockets && vm->cpu.dies == wanted->dies &&
	       vm->cpu.clusters == wanted->clusters && vm->cpu.cores == wanted->cores &&
	       vm->cpu.threads == wanted->threads;
}

static bool same_distances(const struct vm_cell *is, const struct vm_cell *wanted, int count)
{
	if (!wanted->distances)
		return true;
	for (int i = 0; i < count; i++)
		if (!is->distances || is->distances[i] != wanted->distances[i])
			return false;
	return true;
}

static bool same_cell(const struct vm_cell *is, const struct vm_cell *wanted, int count)
{
	return is->id == wanted->id && (wanted->memory_kib < 0 || is->memory_kib == wanted->memory_kib) &&
	       (!wanted->cpus.given || (is->cpus.given && cpuset_equal(&is->cpus.set, &wanted->cpus.set))) &&
	       (!wanted->access || text_equal(is->access, wanted->access)) && same_distances(is, wanted, count);
}

static bool same_cells(const struct vm *vm, const struct vm_xml_edit *edit)
{
	if (edit->remove)
		return vm->cell_count == 0;
	if (vm->cell_count != edit->count)
		return false;
	for (int i = 0; i < edit->count; i++)
		if (!same_cell(&vm->cells[i], &edit->cells[i], edit->count))
			return false;
	return true;
}

static bool same_cache(const struct vm *vm, const struct vm_xml_edit *edit)
{
	if (edit->remove)
		return !vm->cpu.cache_mode;
	return text_equal(vm->cpu.cache_mode, edit->word) && vm->cpu.cache_level == edit->index;
}

static bool same_feature(const struct vm *vm, const struct vm_xml_edit *edit)
{
	int is = vm_feature(vm->cpu.features, vm->cpu.feature_count, edit->name);
	bool off = text_equal(edit->word, "disable") || text_equal(edit->word, "forbid");

	return edit->remove ? is < 0 : is == !off;
}

static bool same_nic_queues(const struct vm *vm, const struct vm_xml_edit *edit)
{
	return edit->index >= 0 && edit->index < vm->nic_count && vm->nics[edit->index].queues == edit->count;
}

static bool same_disk_iothread(const struct vm *vm, const struct vm_xml_edit *edit)
{
	return edit->index >= 0 && edit->index < vm->disk_count &&
	       vm->disks[edit->index].iothread == (edit->count ? edit->count : -1);
}

bool vm_xml_edit_holds(const struct vm *vm, const struct vm_xml_edit *edit)
{
	switch (edit->kind) {
	case VM_XML_VCPU_CPUSET:
		return !(vm->placement_auto && !edit->remove) && same_set(&vm->cpuset, edit);
	case VM_XML_VCPU_PIN:
		return edit->index >= 0 && edit->index < vm->vcpu_max && same_set(&vm->vcpus[edit->index].pin, edit);
	case VM_XML_EMULATOR_PIN:
		return same_set(&vm->emulator, edit);
	case VM_XML_IOTHREAD_PIN:
		return same_iothread_pin(vm, edit);
	case VM_XML_IOTHREADS:
		return vm->iothread_declared == edit->count;
	case VM_XML_NUMA_MEMORY:
		return same_set(&vm->numa_nodes, edit) &&
		       (edit->remove ? !vm->numa_mode : text_equal(vm->numa_mode, edit->word) && !vm->numa_auto);
	case VM_XML_MEMNODE:
		return same_memnode(vm, edit);
	case VM_XML_HUGEPAGES:
		return same_pages(vm, edit);
	case VM_XML_CPU_MODE:
		return same_mode(vm, edit);
	case VM_XML_TOPOLOGY:
		return same_topology(vm, edit);
	case VM_XML_CELLS:
		return same_cells(vm, edit);
	case VM_XML_CPU_CACHE:
		return same_cache(vm, edit);
	case VM_XML_CPU_FEATURE:
		return same_feature(vm, edit);
	case VM_XML_NIC_QUEUES:
		return same_nic_queues(vm, edit);
	case VM_XML_DISK_IOTHREAD:
		return same_disk_iothread(vm, edit);
	}
	return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in vm_write_edit.h. */
#include "vm_write_edit.h"

#include "text.h"

struct editing {
	struct arena *arena;
	const struct vm_layout *layout;
	const struct vm *vm;
	struct vm_xml_edit *edits;
	int count, room;
};

static void add(struct editing *editing, struct vm_xml_edit edit)
{
	if (editing->count < editing->room)
		editing->edits[editing->count++] = edit;
}

static void add_pins(struct editing *editing)
{
	const struct vm_layout *layout = editing->layout;
	struct cpuset cpus = vm_layout_cpus(layout);

	if (cpuset_empty(&cpus))
		return;
	/* numad would choose the memory's nodes whatever <numatune> says of CPUs. */
	if (editing->vm->placement_auto)
		add(editing, (struct vm_xml_edit){.kind = VM_XML_VCPU_CPUSET, .set = cpus});
	for (int i = 0; i < layout->vcpus; i++)
		add(editing, (struct vm_xml_edit){.kind = VM_XML_VCPU_PIN, .index = i, .set = layout->pins[i]});
	if (cpuset_empty(&layout->service))
		return;
	add(editing, (struct vm_xml_edit){.kind = VM_XML_EMULATOR_PIN, .set = layout->service});
	for (int i = 0; i < editing->vm->iothread_count; i++)
		if (!editing->vm->iothreads[i].pin_only)
			add(editing, (struct vm_xml_edit){.kind = VM_XML_IOTHREAD_PIN,
							  .index = editing->vm->iothreads[i].id,
							  .set = layout->service});
}

/* Preferred means one node (numa_set_preferred(3)); with several, or without a mode, memory is bound. */
static const char *mode_for(const char *mode, const struct cpuset *nodes)
{
	return mode && !(text_equal(mode, "preferred") && cpuset_count(nodes) > 1) ? mode : "strict";
}

static void add_nodes(struct editing *editing)
{
	const struct vm_layout *layout = editing->layout;
	const struct vm *vm = editing->vm;

	if (cpuset_empty(&layout->nodes))
		return;
	add(editing, (struct vm_xml_edit){.kind = VM_XML_NUMA_MEMORY,
					  .word = mode_for(vm->numa_mode, &layout->nodes),
					  .set = layout->nodes});
	for (int i = 0; i < layout->cell_count; i++)
		add(editing, (struct vm_xml_edit){.kind = VM_XML_MEMNODE,
						  .index = i,
						  .word = mode_for(vm->numa_mode, &layout->cells[i].host_nodes),
						  .set = layout->cells[i].host_nodes});
	/* Cells of its own that now all lie where the whole VM does. */
	for (int i = 0; layout->cell_count == 0 && i < vm->memnode_count; i++)
		add(editing, (struct vm_xml_edit){.kind = VM_XML_MEMNODE,
						  .index = vm->memnodes[i].cell,
						  .word = mode_for(vm->memnodes[i].mode, &layout->nodes),
						  .set = layout->nodes});
}

static void add_pages(struct editing *editing)
{
	const struct vm_layout *layout = editing->layout;
	struct vm_pages *pages = ARENA_NEW(editing->arena, struct vm_pages);

	/* Only for cells of the guest that the plan makes anew: else what is there is right, or was not asked about. */
	if (layout->page_kib <= 4 || (editing->vm->hugepages && !layout->cell_count))
		return;
	pages->size_kib = layout->page_kib;
	pages->cells.given = layout->cell_count > 0;
	if (layout->cell_count)
		pages->cells.set = cpuset_range(0, layout->cell_count - 1);
	add(editing, (struct vm_xml_edit){.kind = VM_XML_HUGEPAGES, .count = 1, .pages = pages});
}

static void add_cells(struct editing *editing)
{
	const struct vm_layout *layout = editing->layout;
	struct vm_cell *cells = ARENA_ARRAY(editing->arena, (size_t)MAX_OF(layout->cell_count, 1), struct vm_cell);

	if (!layout->cell_count)
		return;
	for (int i = 0; i < layout->cell_count; i++) {
		cells[i] = (struct vm_cell){.id = i,
					    .cpus = {.given = true, .set = layout->cells[i].vcpus},
					    .memory_kib = layout->cells[i].memory_kib};
		if (layout->distances)
			cells[i].distances = layout->distances + (ptrdiff_t)i * layout->cell_count;
	}
	add(editing, (struct vm_xml_edit){.kind = VM_XML_CELLS, .count = layout->cell_count, .cells = cells});
}

/* Topology, and what it needs to be believed: topoext on AMD, and no cache leaves that contradict it. */
static void add_topology(struct editing *editing)
{
	const struct vm_layout *layout = editing->layout;
	const struct vm_cpu *cpu = &editing->vm->cpu;
	bool host_cpu = cpu->mode == VM_CPU_HOST_PASSTHROUGH || cpu->mode == VM_CPU_MAXIMUM;

	if (!vm_layout_has_topology(layout))
		return;
	add(editing, (struct vm_xml_edit){
			 .kind = VM_XML_TOPOLOGY,
			 .topology = {layout->sockets, layout->dies, 1, layout->cores, layout->threads},
		     });
	if (layout->amd && layout->threads > 1 &&
	    (host_cpu || vm_feature(cpu->features, cpu->feature_count, "topoext") == 0))
		add(editing, (struct vm_xml_edit){.kind = VM_XML_CPU_FEATURE, .name = "topoext", .word = "require"});
	if (text_equal(cpu->cache_mode, "passthrough") && !layout->dies_are_l3s)
		add(editing, (struct vm_xml_edit){.kind = VM_XML_CPU_CACHE, .word = "emulate", .index = 3});
}

int vm_write_edits(struct arena *arena, const struct vm_layout *layout, const struct vm *vm,
		   const struct vm_xml_edit **ret)
{
	enum { OTHERS = 16 };
	struct editing editing = {.arena = arena, .layout = layout, .vm = vm};

	editing.room = layout->vcpus + vm->iothread_count + layout->cell_count + vm->memnode_count + OTHERS;
	editing.edits = ARENA_ARRAY(arena, (size_t)editing.room, struct vm_xml_edit);
	if (vm_layout_changes_topology(layout, vm) || layout->threads > 1 || layout->dies > 1)
		add_topology(&editing);
	add_pins(&editing);
	add_cells(&editing);
	add_pages(&editing);
	add_nodes(&editing);
	*ret = editing.edits;
	return editing.count;
}

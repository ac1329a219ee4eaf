/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading the guest's CPU, its topology, caches and NUMA cells, its features and clock from domain XML. */
#include "text.h"
#include "vm_xml_parts.h"

enum {
	CELLS_MAX = 128,     /* MAX_NODES of QEMU */
	DISTANCE_MAX = 255,  /* a byte in the ACPI SLIT */
	MEMBERS_MAX = 65536, /* of a level of the topology */
};

static void read_mode(struct vm_xml_reader *reader, const xmlNode *cpu)
{
	static const struct {
		const char *word;
		enum vm_cpu_mode mode;
	} modes[] = {
	    {"custom", VM_CPU_CUSTOM},
	    {"host-model", VM_CPU_HOST_MODEL},
	    {"host-passthrough", VM_CPU_HOST_PASSTHROUGH},
	    {"maximum", VM_CPU_MAXIMUM},
	};
	struct vm_cpu *it = &reader->vm->cpu;
	const char *word = vm_xml_attribute(reader, cpu, "mode");

	it->model = vm_xml_text(reader, vm_xml_first(cpu, "model"));
	it->mode = it->model ? VM_CPU_CUSTOM : VM_CPU_DEFAULT;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (text_equal(word, modes[i].word))
			it->mode = modes[i].mode;
	it->migratable = vm_xml_attribute(reader, cpu, "migratable");
}

static void read_cpu_features(struct vm_xml_reader *reader, const xmlNode *cpu)
{
	struct vm_cpu *it = &reader->vm->cpu;
	int count = vm_xml_count(reader, cpu, "feature");

	if (!count)
		return;
	it->features = ARENA_ARRAY(reader->vm->arena, (size_t)count, struct vm_feature);
	VM_XML_EACH (feature, cpu, "feature") {
		const char *name = vm_xml_attribute(reader, feature, "name");
		const char *policy = vm_xml_attribute(reader, feature, "policy");

		if (name)
			it->features[it->feature_count++] =
			    (struct vm_feature){name, !text_equal(policy, "disable") && !text_equal(policy, "forbid")};
	}
}

static void read_topology(struct vm_xml_reader *reader, const xmlNode *cpu)
{
	struct vm_cpu *it = &reader->vm->cpu;
	const xmlNode *topology = vm_xml_first(cpu, "topology");
	const struct {
		const char *name;
		int *ret;
	} levels[] = {{"sockets", &it->sockets},
		      {"dies", &it->dies},
		      {"clusters", &it->clusters},
		      {"cores", &it->cores},
		      {"threads", &it->threads}};

	if (!topology)
		return;
	it->topology_given = true;
	it->topology_place = vm_xml_place(reader, topology);
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		bool written = vm_xml_attribute(reader, topology, levels[i].name);
		int64_t count = vm_xml_number(reader, topology, levels[i].name, 1, MEMBERS_MAX, written ? 0 : 1);

		/* With one level that cannot be understood, nothing is known of the product. */
		if (count == 0)
			it->topology_given = false;
		else
			*levels[i].ret = (int)count;
	}
}

static void read_cache(struct vm_xml_reader *reader, const xmlNode *cpu)
{
	struct vm_cpu *it = &reader->vm->cpu;
	const xmlNode *cache = vm_xml_first(cpu, "cache"), *address = vm_xml_first(cpu, "maxphysaddr");

	it->cache_mode = vm_xml_attribute(reader, cache, "mode");
	it->cache_level = (int)vm_xml_number(reader, cache, "level", 0, 9, 0);
	it->cache_place = vm_xml_place(reader, cache);
	it->maxphysaddr_mode = vm_xml_attribute(reader, address, "mode");
	it->maxphysaddr_bits = (int)vm_xml_number(reader, address, "bits", 1, 64, 0);
}

static const int *read_distances(struct vm_xml_reader *reader, const xmlNode *cell, int cells)
{
	const xmlNode *distances = vm_xml_first(cell, "distances");
	int *values = NULL;

	if (!distances)
		return NULL;
	values = ARENA_ARRAY(reader->vm->arena, (size_t)cells, int);
	VM_XML_EACH (sibling, distances, "sibling") {
		int64_t id = vm_xml_number(reader, sibling, "id", 0, cells - 1, -1);

		if (id >= 0)
			values[id] = (int)vm_xml_number(reader, sibling, "value", 1, DISTANCE_MAX, 0);
	}
	return values;
}

static void read_cells(struct vm_xml_reader *reader, const xmlNode *numa)
{
	struct vm *vm = reader->vm;
	int count = MIN_OF(vm_xml_count(reader, numa, "cell"), CELLS_MAX);
	int at = 0;

	if (!count)
		return;
	vm->cells_place = vm_xml_place(reader, numa);
	vm->cells = ARENA_ARRAY(vm->arena, (size_t)count, struct vm_cell);
	VM_XML_EACH (cell, numa, "cell") {
		if (at == count)
			break;

		/* Where no cell has an id, libvirt numbers them in their order. */
		vm->cells[at] = (struct vm_cell){
		    .id = (int)vm_xml_number(reader, cell, "id", 0, CELLS_MAX - 1, at),
		    .cpus = vm_xml_set(reader, cell, "cpus"),
		    .memory_kib = vm_xml_size(reader, cell, "memory", -1),
		    .access = vm_xml_attribute(reader, cell, "memAccess"),
		    .distances = read_distances(reader, cell, count),
		    .place = vm_xml_place(reader, cell),
		};
		at++;
	}
	vm->cell_count = at;
}

void vm_xml_read_cpu(struct vm_xml_reader *reader, const xmlNode *domain)
{
	const xmlNode *cpu = vm_xml_first(domain, "cpu");

	if (!cpu)
		return;
	reader->vm->cpu.place = vm_xml_place(reader, cpu);
	read_mode(reader, cpu);
	read_cpu_features(reader, cpu);
	read_topology(reader, cpu);
	read_cache(reader, cpu);
	read_cells(reader, vm_xml_first(cpu, "numa"));
}

/* ---- features and clock ---- */

static void add_enlightenment(struct vm *vm, const char *prefix, const xmlNode *node, int on)
{
	const char *name = *prefix ? arena_printf(vm->arena, "%s-%s", prefix, (const char *)node->name)
				   : arena_strdup(vm->arena, (const char *)node->name);

	vm->hyperv[vm->hyperv_count++] = (struct vm_feature){name, on};
}

/* Enlightenments, and what they hold: <stimer state='on'><direct state='on'/></stimer>. */
static void walk_hyperv(struct vm_xml_reader *reader, const xmlNode *parent, const char *prefix, int *ret_count)
{
	for (const xmlNode *node = parent->children; node; node = node->next) {
		int on = node->type == XML_ELEMENT_NODE ? vm_xml_switch(reader, node, "state") : -1;

		if (on < 0 || *ret_count == INT16_MAX)
			continue;
		(*ret_count)++;
		if (reader->vm->hyperv)
			add_enlightenment(reader->vm, prefix, node, on);
		if (!*prefix)
			walk_hyperv(reader, node, (const char *)node->name, ret_count);
	}
}

static void read_hyperv(struct vm_xml_reader *reader, const xmlNode *hyperv)
{
	struct vm *vm = reader->vm;
	int count = 0;

	if (!hyperv)
		return;
	vm->hyperv_mode = vm_xml_attribute(reader, hyperv, "mode");
	if (!vm->hyperv_mode)
		vm->hyperv_mode = "custom";
	walk_hyperv(reader, hyperv, "", &count);
	if (!count)
		return;
	vm->hyperv = ARENA_ARRAY(vm->arena, (size_t)count, struct vm_feature);
	count = 0;
	walk_hyperv(reader, hyperv, "", &count);
}

static void read_timers(struct vm_xml_reader *reader, const xmlNode *clock)
{
	struct vm *vm = reader->vm;
	int count = vm_xml_count(reader, clock, "timer");

	vm->clock_offset = vm_xml_attribute(reader, clock, "offset");
	if (!count)
		return;
	vm->timers = ARENA_ARRAY(vm->arena, (size_t)count, struct vm_timer);
	VM_XML_EACH (timer, clock, "timer")
		vm->timers[vm->timer_count++] = (struct vm_timer){
		    .name = vm_xml_attribute(reader, timer, "name"),
		    .tickpolicy = vm_xml_attribute(reader, timer, "tickpolicy"),
		    .mode = vm_xml_attribute(reader, timer, "mode"),
		    .present = vm_xml_switch(reader, timer, "present"),
		};
}

void vm_xml_read_features(struct vm_xml_reader *reader, const xmlNode *domain)
{
	struct vm *vm = reader->vm;
	const xmlNode *features = vm_xml_first(domain, "features"), *pmu = vm_xml_first(features, "pmu");

	vm->ioapic = vm_xml_attribute(reader, vm_xml_first(features, "ioapic"), "driver");
	vm->hint_dedicated = vm_xml_switch(reader, vm_xml_at(features, "kvm/hint-dedicated"), "state");
	vm->poll_control = vm_xml_switch(reader, vm_xml_at(features, "kvm/poll-control"), "state");
	vm->pmu = vm_xml_switch(reader, pmu, "state");
	if (pmu && !vm_xml_attribute(reader, pmu, "state"))
		vm->pmu = 1;
	read_hyperv(reader, vm_xml_first(features, "hyperv"));
	read_timers(reader, vm_xml_first(domain, "clock"));
}

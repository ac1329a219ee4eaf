/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns turning edits in terms of the model into changes of elements, each at its usual place. */
#include "vm_xml_edit.h"

#include <errno.h>

#include "text.h"
#include "vm_xml.h"
#include "vm_xml_node.h"
#include "vm_xml_order.h"
#include "vm_xml_splice.h"

struct editor {
	struct vm_xml_splicer splicer;
	struct arena *arena; /* of the whole call */
};

/* The child of that name, made where it is missing. */
static int ensure(struct editor *editor, int parent, const char *name)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int child = vm_xml_splicer_child(splicer, parent, name);

	if (child >= 0 || parent < 0 || splicer->failed)
		return child;
	return vm_xml_splicer_insert(splicer, parent, vm_xml_usual_place(&splicer->scan, parent, name), name);
}

/* The child of that name whose `key` is `number`, made behind the one with the next lower number. */
static int ensure_keyed(struct editor *editor, int parent, const char *name, const char *key, int64_t number)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int found = vm_xml_splicer_keyed(splicer, parent, name, key, number), after = -1;

	if (found >= 0 || parent < 0 || splicer->failed)
		return found;
	for (int child = vm_xml_splicer_child(splicer, parent, name); child >= 0;
	     child = vm_xml_child(&splicer->scan, parent, name, child)) {
		const char *text = vm_xml_splicer_attribute(splicer, child, key);
		int64_t other = 0;

		if (text && text_int(text, 10, &other) == 0 && other < number)
			after = child;
	}
	if (after < 0 && vm_xml_splicer_child(splicer, parent, name) < 0)
		after = vm_xml_usual_place(&splicer->scan, parent, name);
	if (after < 0 && text_equal(name, "memnode")) /* <memory> is first */
		after = vm_xml_splicer_child(splicer, parent, "memory");
	found = vm_xml_splicer_insert(splicer, parent, after, name);
	vm_xml_splicer_set(splicer, found, key, arena_printf(editor->arena, "%lld", (long long)number));
	return found;
}

static void set_number(struct editor *editor, int element, const char *name, int64_t number)
{
	vm_xml_splicer_set(&editor->splicer, element, name, arena_printf(editor->arena, "%lld", (long long)number));
}

/* A number that is 1 when it is not given: it is written only where it says something. */
static void set_level(struct editor *editor, int element, const char *name, int number, bool always)
{
	if (always || number != 1 || vm_xml_splicer_attribute(&editor->splicer, element, name))
		set_number(editor, element, name, number);
}

static void set_set(struct editor *editor, int element, const char *name, const struct cpuset *set)
{
	const char *old = vm_xml_splicer_attribute(&editor->splicer, element, name);
	struct cpuset there;

	/* As it is written it may say the same: "0,1" and "0-1". */
	if (old && vm_parse_cpuset(old, &there, NULL) == 0 && cpuset_equal(&there, set))
		return;
	vm_xml_splicer_set(&editor->splicer, element, name, cpuset_format(editor->arena, set));
}

static void set_word(struct editor *editor, int element, const char *name, const char *word)
{
	if (!text_equal(vm_xml_splicer_attribute(&editor->splicer, element, name), word))
		vm_xml_splicer_set(&editor->splicer, element, name, word);
}

static int fail(struct editor *editor, const char *what, int64_t index)
{
	if (!editor->splicer.failed)
		editor->splicer.failed = err_set(editor->splicer.err, EINVAL, editor->splicer.path,
						 "there is no %s %lld", what, (long long)index);
	return -1;
}

/* ---- one function a kind; the outermost element is number 0 ---- */

static void edit_vcpu_cpuset(struct editor *editor, const struct vm_xml_edit *edit)
{
	bool missing = vm_xml_splicer_child(&editor->splicer, 0, "vcpu") < 0;

	if (missing && edit->remove)
		return;

	int vcpu = ensure(editor, 0, "vcpu");

	if (missing) /* what libvirt takes when it is not there */
		vm_xml_splicer_set_text(&editor->splicer, vcpu, "1");
	if (edit->remove) {
		vm_xml_splicer_set(&editor->splicer, vcpu, "cpuset", NULL);
		return;
	}
	if (text_equal(vm_xml_splicer_attribute(&editor->splicer, vcpu, "placement"), "auto"))
		vm_xml_splicer_set(&editor->splicer, vcpu, "placement", "static");
	set_set(editor, vcpu, "cpuset", &edit->set);
}

static void edit_vcpu_pin(struct editor *editor, const struct vm_xml_edit *edit)
{
	if (edit->remove) {
		int cputune = vm_xml_splicer_child(&editor->splicer, 0, "cputune");

		vm_xml_splicer_remove(&editor->splicer,
				      vm_xml_splicer_keyed(&editor->splicer, cputune, "vcpupin", "vcpu", edit->index));
		return;
	}

	int cputune = ensure(editor, 0, "cputune");

	set_set(editor, ensure_keyed(editor, cputune, "vcpupin", "vcpu", edit->index), "cpuset", &edit->set);
}

static void edit_emulator_pin(struct editor *editor, const struct vm_xml_edit *edit)
{
	if (edit->remove) {
		int cputune = vm_xml_splicer_child(&editor->splicer, 0, "cputune");

		vm_xml_splicer_remove(&editor->splicer, vm_xml_splicer_child(&editor->splicer, cputune, "emulatorpin"));
		return;
	}
	set_set(editor, ensure(editor, ensure(editor, 0, "cputune"), "emulatorpin"), "cpuset", &edit->set);
}

static void edit_iothread_pin(struct editor *editor, const struct vm_xml_edit *edit)
{
	if (edit->remove) {
		int cputune = vm_xml_splicer_child(&editor->splicer, 0, "cputune");

		vm_xml_splicer_remove(&editor->splicer, vm_xml_splicer_keyed(&editor->splicer, cputune, "iothreadpin",
									     "iothread", edit->index));
		return;
	}

	int cputune = ensure(editor, 0, "cputune");

	set_set(editor, ensure_keyed(editor, cputune, "iothreadpin", "iothread", edit->index), "cpuset", &edit->set);
}

static void edit_iothreads(struct editor *editor, const struct vm_xml_edit *edit)
{
	if (edit->count == 0)
		vm_xml_splicer_remove(&editor->splicer, vm_xml_splicer_child(&editor->splicer, 0, "iothreads"));
	else
		vm_xml_splicer_set_text(&editor->splicer, ensure(editor, 0, "iothreads"),
					arena_printf(editor->arena, "%d", edit->count));
}

static void edit_numa_memory(struct editor *editor, const struct vm_xml_edit *edit)
{
	if (edit->remove) {
		int numatune = vm_xml_splicer_child(&editor->splicer, 0, "numatune");

		vm_xml_splicer_remove(&editor->splicer, vm_xml_splicer_child(&editor->splicer, numatune, "memory"));
		return;
	}

	int memory = ensure(editor, ensure(editor, 0, "numatune"), "memory");

	set_word(editor, memory, "mode", edit->word);
	if (text_equal(vm_xml_splicer_attribute(&editor->splicer, memory, "placement"), "auto"))
		vm_xml_splicer_set(&editor->splicer, memory, "placement", "static");
	set_set(editor, memory, "nodeset", &edit->set);
}

static void edit_memnode(struct editor *editor, const struct vm_xml_edit *edit)
{
	if (edit->remove) {
		int numatune = vm_xml_splicer_child(&editor->splicer, 0, "numatune");

		vm_xml_splicer_remove(&editor->splicer, vm_xml_splicer_keyed(&editor->splicer, numatune, "memnode",
									     "cellid", edit->index));
		return;
	}

	int numatune = ensure(editor, 0, "numatune");
	int memnode = ensure_keyed(editor, numatune, "memnode", "cellid", edit->index);

	set_word(editor, memnode, "mode", edit->word);
	set_set(editor, memnode, "nodeset", &edit->set);
}

static void add_page(struct editor *editor, int hugepages, const struct vm_pages *page)
{
	int element = vm_xml_splicer_insert(&editor->splicer, hugepages,
					    vm_xml_usual_place(&editor->splicer.scan, hugepages, "page"), "page");

	set_number(editor, element, "size", page->size_kib);
	vm_xml_splicer_set(&editor->splicer, element, "unit", "KiB");
	if (page->cells.given)
		set_set(editor, element, "nodeset", &page->cells.set);
}

static void edit_hugepages(struct editor *editor, const struct vm_xml_edit *edit)
{
	struct vm_xml_splicer *splicer = &editor->splicer;

	if (edit->remove) {
		int backing = vm_xml_splicer_child(splicer, 0, "memoryBacking");

		vm_xml_splicer_remove(splicer, vm_xml_splicer_child(splicer, backing, "hugepages"));
		return;
	}

	int hugepages = ensure(editor, ensure(editor, 0, "memoryBacking"), "hugepages");

	for (;;) {
		int page = vm_xml_splicer_child(splicer, hugepages, "page");

		if (page < 0 || splicer->failed)
			break;
		vm_xml_splicer_remove(splicer, page);
	}
	for (int i = 0; i < edit->count && !splicer->failed; i++)
		if (edit->pages[i].size_kib)
			add_page(editor, hugepages, &edit->pages[i]);
}

static void edit_cpu_mode(struct editor *editor, const struct vm_xml_edit *edit)
{
	set_word(editor, ensure(editor, 0, "cpu"), "mode", edit->word);
}

static void edit_topology(struct editor *editor, const struct vm_xml_edit *edit)
{
	if (edit->remove) {
		int cpu = vm_xml_splicer_child(&editor->splicer, 0, "cpu");

		vm_xml_splicer_remove(&editor->splicer, vm_xml_splicer_child(&editor->splicer, cpu, "topology"));
		return;
	}

	int element = ensure(editor, ensure(editor, 0, "cpu"), "topology");

	/* Older libvirt refuses dies and clusters, and wants the others. */
	set_level(editor, element, "sockets", edit->topology.sockets, true);
	set_level(editor, element, "dies", edit->topology.dies, false);
	set_level(editor, element, "clusters", edit->topology.clusters, false);
	set_level(editor, element, "cores", edit->topology.cores, true);
	set_level(editor, element, "threads", edit->topology.threads, true);
}

static void set_distances(struct editor *editor, int numa, const struct vm_cell *cell, int count)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int element = vm_xml_splicer_keyed(splicer, numa, "cell", "id", cell->id);

	vm_xml_splicer_remove(splicer, vm_xml_splicer_child(splicer, element, "distances"));

	int distances = vm_xml_splicer_insert(splicer, element, -1, "distances"), sibling = -1;

	for (int i = 0; i < count && !splicer->failed; i++) {
		if (cell->distances[i] == 0)
			continue;
		sibling = vm_xml_splicer_insert(splicer, distances, sibling, "sibling");
		set_number(editor, sibling, "id", i);
		set_number(editor, sibling, "value", cell->distances[i]);
	}
}

static void set_cell_memory(struct editor *editor, int element, const struct vm_cell *cell)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int64_t there = vm_xml_size_kib(vm_xml_splicer_attribute(splicer, element, "memory"),
					vm_xml_splicer_attribute(splicer, element, "unit"), -1);

	if (there == cell->memory_kib || cell->memory_kib < 0)
		return;
	set_number(editor, element, "memory", cell->memory_kib);
	set_word(editor, element, "unit", "KiB");
}

static void edit_cells(struct editor *editor, const struct vm_xml_edit *edit)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int cpu = vm_xml_splicer_child(splicer, 0, "cpu");

	if (edit->remove || edit->count == 0) {
		vm_xml_splicer_remove(splicer, vm_xml_splicer_child(splicer, cpu, "numa"));
		return;
	}

	int numa = ensure(editor, ensure(editor, 0, "cpu"), "numa");

	for (int i = 0; i < edit->count && !splicer->failed; i++) {
		const struct vm_cell *cell = &edit->cells[i];
		int element = ensure_keyed(editor, numa, "cell", "id", cell->id);

		if (cell->cpus.given)
			set_set(editor, element, "cpus", &cell->cpus.set);
		set_cell_memory(editor, element, cell);
		if (cell->access)
			set_word(editor, element, "memAccess", cell->access);
		if (cell->distances)
			set_distances(editor, numa, cell, edit->count);
	}
	for (;;) { /* those that are too many */
		int extra = vm_xml_splicer_nth(splicer, numa, "cell", edit->count);

		if (extra < 0 || splicer->failed)
			break;
		vm_xml_splicer_remove(splicer, extra);
	}
}

static void edit_cpu_cache(struct editor *editor, const struct vm_xml_edit *edit)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int cpu = edit->remove ? vm_xml_splicer_child(splicer, 0, "cpu") : ensure(editor, 0, "cpu");

	if (edit->remove) {
		vm_xml_splicer_remove(splicer, vm_xml_splicer_child(splicer, cpu, "cache"));
		return;
	}

	int cache = ensure(editor, cpu, "cache");

	if (edit->index > 0)
		set_number(editor, cache, "level", edit->index);
	else
		vm_xml_splicer_set(splicer, cache, "level", NULL);
	set_word(editor, cache, "mode", edit->word);
}

static int find_feature(const struct vm_xml_splicer *splicer, int cpu, const char *name)
{
	for (int i = vm_xml_splicer_child(splicer, cpu, "feature"); i >= 0;
	     i = vm_xml_child(&splicer->scan, cpu, "feature", i))
		if (text_equal(vm_xml_splicer_attribute(splicer, i, "name"), name))
			return i;
	return -1;
}

static void edit_cpu_feature(struct editor *editor, const struct vm_xml_edit *edit)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int cpu = edit->remove ? vm_xml_splicer_child(splicer, 0, "cpu") : ensure(editor, 0, "cpu");
	int feature = find_feature(splicer, cpu, edit->name);

	if (edit->remove) {
		vm_xml_splicer_remove(splicer, feature);
		return;
	}
	if (feature < 0) {
		feature =
		    vm_xml_splicer_insert(splicer, cpu, vm_xml_usual_place(&splicer->scan, cpu, "feature"), "feature");
		vm_xml_splicer_set(splicer, feature, "policy", edit->word);
		vm_xml_splicer_set(splicer, feature, "name", edit->name);
		return;
	}
	set_word(editor, feature, "policy", edit->word);
}

/* An attribute of the driver of a device; 0 removes it. */
static void set_driver(struct editor *editor, const char *device, const char *attribute, const struct vm_xml_edit *edit)
{
	struct vm_xml_splicer *splicer = &editor->splicer;
	int devices = vm_xml_splicer_child(splicer, 0, "devices");
	int element = vm_xml_splicer_nth(splicer, devices, device, edit->index);

	if (element < 0) {
		(void)fail(editor, device, edit->index);
		return;
	}
	if (edit->count == 0)
		vm_xml_splicer_set(splicer, vm_xml_splicer_child(splicer, element, "driver"), attribute, NULL);
	else
		set_number(editor, ensure(editor, element, "driver"), attribute, edit->count);
}

static void edit_nic_queues(struct editor *editor, const struct vm_xml_edit *edit)
{
	set_driver(editor, "interface", "queues", edit);
}

static void edit_disk_iothread(struct editor *editor, const struct vm_xml_edit *edit)
{
	set_driver(editor, "disk", "iothread", edit);
}

static const struct {
	const char *name;
	void (*apply)(struct editor *, const struct vm_xml_edit *);
} kinds[] = {
    [VM_XML_VCPU_CPUSET] = {"vcpu cpuset", edit_vcpu_cpuset},
    [VM_XML_VCPU_PIN] = {"vcpupin", edit_vcpu_pin},
    [VM_XML_EMULATOR_PIN] = {"emulatorpin", edit_emulator_pin},
    [VM_XML_IOTHREAD_PIN] = {"iothreadpin", edit_iothread_pin},
    [VM_XML_IOTHREADS] = {"iothreads", edit_iothreads},
    [VM_XML_NUMA_MEMORY] = {"numatune memory", edit_numa_memory},
    [VM_XML_MEMNODE] = {"memnode", edit_memnode},
    [VM_XML_HUGEPAGES] = {"hugepages", edit_hugepages},
    [VM_XML_CPU_MODE] = {"cpu mode", edit_cpu_mode},
    [VM_XML_TOPOLOGY] = {"cpu topology", edit_topology},
    [VM_XML_CELLS] = {"cpu numa", edit_cells},
    [VM_XML_CPU_CACHE] = {"cpu cache", edit_cpu_cache},
    [VM_XML_CPU_FEATURE] = {"cpu feature", edit_cpu_feature},
    [VM_XML_NIC_QUEUES] = {"queues of interface", edit_nic_queues},
    [VM_XML_DISK_IOTHREAD] = {"iothread of disk", edit_disk_iothread},
};

/* Read what has become of the text and look for each edit in it. */
static int verify(struct editor *editor, const struct vm_xml_edit *edits, int count)
{
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	struct vm_xml_splicer *splicer = &editor->splicer;
	int status = vm_read_libvirt_xml(splicer->path, splicer->text, splicer->size, &vm, splicer->err);

	for (int i = 0; i < count && status == 0; i++)
		if (!vm_xml_edit_holds(vm, &edits[i]))
			status = err_set(splicer->err, EINVAL, splicer->path,
					 "the change of %s %lld did not take: is it there twice, or against the rest?",
					 kinds[edits[i].kind].name, (long long)edits[i].index);
	return status;
}

static int apply_all(struct editor *editor, const struct vm *vm, const struct vm_xml_edit *edits, int count)
{
	bool touched = false;

	if (!vm_xml_is(&editor->splicer.scan, 0, "domain"))
		return err_set(editor->splicer.err, EOPNOTSUPP, editor->splicer.path,
			       "only a <domain> on its own is changed");
	for (int i = 0; i < count && !editor->splicer.failed; i++) {
		/* An earlier edit may have undone what held at first. */
		if (!touched && vm_xml_edit_holds(vm, &edits[i]))
			continue;
		touched = true;
		kinds[edits[i].kind].apply(editor, &edits[i]);
	}
	if (editor->splicer.failed || !touched)
		return editor->splicer.failed;
	return verify(editor, edits, count);
}

int vm_xml_edit(struct arena *arena, const char *path, const char *text, size_t size, const struct vm_xml_edit *edits,
		int count, const char **ret_text, size_t *ret_size, struct err *err)
{
	CLEANUP(vm_free_pointer) struct vm *vm = NULL;
	struct editor editor = {.arena = arena};
	int status = vm_read_libvirt_xml(path, text, size, &vm, err);

	if (status < 0)
		return status;
	status = vm_xml_splicer_start(&editor.splicer, path, text, size, err);
	if (status == 0)
		status = apply_all(&editor, vm, edits, count);
	if (status == 0) {
		*ret_text = arena_strndup(arena, editor.splicer.text, editor.splicer.size);
		*ret_size = editor.splicer.size;
	}
	vm_xml_splicer_end(&editor.splicer);
	return status;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns -m, -object memory-backend-*, -mem-path, -mem-prealloc and -numa of a command line of QEMU. */
#include <ctype.h>
#include <errno.h>

#include "text.h"
#include "vm_qemu_internal.h"

enum { CELL_LIMIT = 128 /* MAX_NODES of QEMU */, MIB = 1024 * 1024, KIB = 1024 };

/* A -object memory-backend-*. */
struct backend {
	const struct qemu_given *given;
	const char *source, *access, *mode;
	bool huge, prealloc, no_merge;
	int64_t page_kib; /* 0: not told */
	int64_t size_kib; /* -1 unknown */
	struct vm_set nodes;
};

/* ---- pages ---- */

/* "/dev/hugepages1G", "/run/hugepages/kvm/2048kB", "/mnt/huge-2M": the size that a mount's name tells, 0 if none. */
static int64_t page_size_in_path(const char *path)
{
	static const struct {
		const char *text;
		int64_t kib;
	} sizes[] = {{"1048576kB", 1048576}, {"2048kB", 2048}, {"1G", 1048576}, {"2M", 2048}, {"1024M", 1048576}};

	/* Behind the mount libvirt puts the VM's name. */
	const char *own = strstr(path, "/libvirt/"), *end = own ? own : path + strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const char *found = strcasestr(path, sizes[i].text);

		if (found && found > path && found < end && !isdigit((unsigned char)found[-1]))
			return sizes[i].kib;
	}
	return 0;
}

static bool is_huge_path(const char *path)
{
	return strcasestr(path, "huge") != NULL;
}

static void add_pages(struct vm *vm, int64_t size_kib, int cell, struct vm_place place)
{
	int i = 0;

	while (i < vm->page_count && vm->pages[i].size_kib != size_kib)
		i++;
	if (i == vm->page_count)
		vm->pages[vm->page_count++] = (struct vm_pages){.size_kib = size_kib, .place = place};
	if (!vm->hugepages)
		vm->hugepages_place = place;
	vm->hugepages = true;
	if (cell < 0)
		return;
	vm->pages[i].cells.given = true;
	cpuset_add(&vm->pages[i].cells.set, cell);
}

/* ---- backends ---- */

static const char *mode_of(const char *policy)
{
	static const struct {
		const char *qemu, *ours;
	} modes[] = {{"bind", "strict"}, {"preferred", "preferred"}, {"interleave", "interleave"}};

	for (size_t i = 0; policy && i < ARRAY_SIZE(modes); i++)
		if (text_equal(policy, modes[i].qemu))
			return modes[i].ours;
	return NULL;
}

static void read_source(struct backend *backend)
{
	const struct qemu_options *options = &backend->given->options;
	const char *kind = backend->given->first, *path = qemu_option(options, "mem-path");

	backend->source = text_equal(kind, "memory-backend-memfd")  ? "memfd"
			  : text_equal(kind, "memory-backend-file") ? "file"
								    : "anonymous";
	if (text_equal(kind, "memory-backend-file") && path && is_huge_path(path)) {
		backend->huge = true;
		backend->page_kib = page_size_in_path(path);
	}
	if (qemu_switch(qemu_option(options, "hugetlb")) == 1)
		backend->huge = true;
	int share = qemu_switch(qemu_option(options, "share"));

	/* memfd is the only one that is shared unless told otherwise. */
	if (share < 0 && text_equal(backend->source, "memfd"))
		share = 1;
	backend->access = share == 1 ? "shared" : share == 0 ? "private" : NULL;
}

static int read_backend(struct qemu_reader *reader, const struct qemu_given *given, struct backend *ret)
{
	struct backend backend = {.given = given, .size_kib = -1};
	int64_t bytes = 0;

	read_source(&backend);
	int outcome = qemu_bytes(reader, given, qemu_option(&given->options, "size"), 1, &bytes);

	if (outcome == 1)
		backend.size_kib = bytes / KIB;
	if (outcome >= 0)
		outcome = qemu_bytes(reader, given, qemu_option(&given->options, "hugetlbsize"), 1, &bytes);
	if (outcome < 0)
		return outcome;
	if (outcome == 1)
		backend.page_kib = bytes / KIB;
	backend.prealloc = qemu_switch(qemu_option(&given->options, "prealloc")) == 1;
	backend.no_merge = qemu_switch(qemu_option(&given->options, "merge")) == 0;
	backend.mode = mode_of(qemu_option(&given->options, "policy"));
	backend.nodes = qemu_list(reader, given, "host-nodes");
	*ret = backend;
	return 0;
}

static bool is_backend(const struct qemu_given *given)
{
	return given->first && text_starts(given->first, "memory-backend-") &&
	       !text_equal(given->first, "memory-backend-epc");
}

/* Is it the memory of a pc-dimm or nvdimm, which no cell names? */
static const struct qemu_given *module_of(const struct qemu_reader *reader, const char *id)
{
	const struct qemu_given *device = qemu_find(reader, "device", "memdev", id);

	return device && device->first && strstr(device->first, "dimm") ? device : NULL;
}

/* The cell that a backend is the memory of, by its index; -1: of the whole VM. */
static int cell_of(const struct qemu_reader *reader, const char *id)
{
	int index = 0;

	for (const struct qemu_given *numa = qemu_next(reader, "numa", NULL); id && numa;
	     numa = qemu_next(reader, "numa", numa)) {
		if (!text_equal(numa->first, "node"))
			continue;
		if (text_equal(qemu_option(&numa->options, "memdev"), id))
			return index;
		index++;
	}
	return -1;
}

static void apply_backend(struct qemu_reader *reader, const struct backend *backend)
{
	struct vm *vm = reader->vm;
	int index = cell_of(reader, qemu_option(&backend->given->options, "id"));
	struct vm_cell *cell = index >= 0 && index < vm->cell_count ? &vm->cells[index] : NULL;

	vm->memory_source = backend->source;
	/* Shared only when all of it is. */
	if (backend->access && !text_equal(vm->memory_access, "private"))
		vm->memory_access = backend->access;
	if (backend->prealloc)
		vm->allocation = "immediate";
	vm->no_share_pages |= backend->no_merge;
	if (backend->huge)
		add_pages(vm, backend->page_kib, cell ? cell->id : -1, qemu_place(backend->given));
	if (cell) {
		cell->access = backend->access;
		cell->memory_kib = backend->size_kib;
	}
	if (backend->nodes.given || backend->nodes.text)
		vm->memnodes[vm->memnode_count++] = (struct vm_memnode){.cell = cell ? cell->id : 0,
									.mode = backend->mode,
									.nodes = backend->nodes,
									.place = qemu_place(backend->given)};
}

static bool same_set(const struct vm_set *a, const struct vm_set *b)
{
	return a->given && b->given && cpuset_equal(&a->set, &b->set);
}

/*
 * What is the same for all memory is the VM's, as libvirt's <memory>; otherwise it stays with the cells, as <memnode>.
 */
static void settle(struct vm *vm, int backend_count)
{
	bool same = vm->memnode_count > 0 && vm->memnode_count == backend_count;
	bool pages_everywhere =
	    vm->page_count == 1 && vm->pages[0].cells.given && cpuset_count(&vm->pages[0].cells.set) == vm->cell_count;

	for (int i = 1; same && i < vm->memnode_count; i++)
		same = text_equal(vm->memnodes[i].mode, vm->memnodes[0].mode) &&
		       same_set(&vm->memnodes[i].nodes, &vm->memnodes[0].nodes);
	if (same) {
		vm->numa_mode = vm->memnodes[0].mode;
		vm->numa_nodes = vm->memnodes[0].nodes;
		vm->numatune_place = vm->memnodes[0].place;
		vm->memnode_count = 0;
	}
	if (pages_everywhere)
		vm->pages[0].cells = (struct vm_set){0};
}

static int apply_backends(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	size_t room = (size_t)qemu_count(reader, "object") + 1;
	int count = 0;

	vm->pages = ARENA_ARRAY(reader->arena, room, struct vm_pages);
	vm->memnodes = ARENA_ARRAY(reader->arena, room, struct vm_memnode);
	for (const struct qemu_given *given = qemu_next(reader, "object", NULL); given;
	     given = qemu_next(reader, "object", given)) {
		const char *id = qemu_option(&given->options, "id");
		struct backend backend;

		if (!is_backend(given))
			continue;
		int outcome = read_backend(reader, given, &backend);

		if (outcome < 0)
			return outcome;
		const struct qemu_given *module = module_of(reader, id);

		if (module && text_equal(module->first, "pc-dimm") && backend.size_kib > 0)
			vm->memory_kib += backend.size_kib;
		if (module)
			continue;
		apply_backend(reader, &backend);
		count++;
	}
	settle(vm, count);
	return 0;
}

/* ---- the old options ---- */

static void fill_mem_path(struct qemu_reader *reader)
{
	struct vm *vm = reader->vm;
	const struct qemu_given *path = qemu_last(reader, "mem-path");

	if (path && is_huge_path(path->word.text))
		add_pages(vm, page_size_in_path(path->word.text), -1, qemu_place(path));
	if (path && !vm->memory_source)
		vm->memory_source = "file";
	if (qemu_last(reader, "mem-prealloc"))
		vm->allocation = "immediate";
}

/* The size of the memory that -machine memory-backend= names, when -m does not tell it. */
static int64_t size_of_default_backend(struct qemu_reader *reader)
{
	const struct qemu_given *machine = qemu_last(reader, "machine");
	const char *id = machine ? qemu_option(&machine->options, "memory-backend") : NULL;
	const struct qemu_given *object = qemu_find(reader, "object", "id", id);
	const char *size = object ? qemu_option(&object->options, "size") : NULL;
	int64_t bytes;

	return size && qemu_size(size, 1, &bytes) == 0 ? bytes / KIB : 0;
}

static int fill_size(struct qemu_reader *reader)
{
	enum { DEFAULT_MIB = 128 }; /* of QEMU's PC machines */
	struct vm *vm = reader->vm;
	const struct qemu_given *memory = qemu_last(reader, "m");
	int64_t bytes = 0;

	if (memory) {
		const char *size = qemu_option(&memory->options, "size");
		int outcome = qemu_bytes(reader, memory, size ? size : "128M", MIB, &bytes);

		if (outcome < 0)
			return outcome;
		vm->memory_place = qemu_place(memory);
		vm->memory_kib = bytes / KIB;
		outcome = qemu_bytes(reader, memory, qemu_option(&memory->options, "maxmem"), MIB, &bytes);
		vm->max_memory_kib = outcome == 1 ? bytes / KIB : 0;
		return MIN_OF(outcome, 0);
	}
	int64_t kib = size_of_default_backend(reader);

	vm->memory_kib = kib ? kib : (int64_t)DEFAULT_MIB * KIB;
	return 0;
}

int qemu_fill_memory(struct qemu_reader *reader)
{
	int outcome = fill_size(reader);

	if (outcome == 0)
		outcome = apply_backends(reader);
	if (outcome == 0)
		fill_mem_path(reader);
	return outcome;
}

/* ---- cells ---- */

static struct vm_cell *cell_by_id(struct vm *vm, int64_t id)
{
	for (int i = 0; i < vm->cell_count; i++)
		if (vm->cells[i].id == id)
			return &vm->cells[i];
	return NULL;
}

static int add_node(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	int64_t id = vm->cell_count, bytes = 0;
	int outcome = qemu_number(reader, given, qemu_option(&given->options, "nodeid"), CELL_LIMIT - 1, &id);

	if (outcome < 0)
		return outcome;
	if (vm->cell_count >= CELL_LIMIT)
		return err_set_at(reader->err, E2BIG, reader->path, given->word.line, given->word.column,
				  "-numa: more than %d nodes", CELL_LIMIT);
	if (cell_by_id(vm, id))
		return err_set_at(reader->err, EINVAL, reader->path, given->word.line, given->word.column,
				  "-numa: node %lld is there twice", (long long)id);
	outcome = qemu_bytes(reader, given, qemu_option(&given->options, "mem"), MIB, &bytes);
	if (outcome < 0)
		return outcome;
	vm->cells[vm->cell_count++] = (struct vm_cell){
	    .id = (int)id,
	    .cpus = qemu_list(reader, given, "cpus"),
	    .memory_kib = outcome == 1 ? bytes / KIB : -1,
	    .place = qemu_place(given),
	};
	if (vm->cell_count == 1)
		vm->cells_place = qemu_place(given);
	return 0;
}

/* Does vCPU `id` have the numbers that -numa cpu gives? What is not given fits all. */
static bool vcpu_fits(const struct vm *vm, int id, const int64_t wanted[5])
{
	const int sizes[] = {vm->cpu.threads, vm->cpu.cores, vm->cpu.clusters, vm->cpu.dies, vm->cpu.sockets};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int size = MAX_OF(sizes[i], 1);

		if (wanted[i] >= 0 && wanted[i] != id % size)
			return false;
		id /= size;
	}
	return true;
}

static int add_numa_cpu(struct qemu_reader *reader, const struct qemu_given *given)
{
	static const char *const keys[] = {"thread-id", "core-id", "module-id", "die-id", "socket-id"};
	struct vm *vm = reader->vm;
	int64_t node = -1, wanted[5] = {-1, -1, -1, -1, -1};
	int outcome = qemu_number(reader, given, qemu_option(&given->options, "node-id"), CELL_LIMIT - 1, &node);

	for (size_t i = 0; outcome >= 0 && i < ARRAY_SIZE(keys); i++)
		outcome = qemu_number(reader, given, qemu_option(&given->options, keys[i]), CPUSET_MAX, &wanted[i]);
	struct vm_cell *cell = cell_by_id(vm, node);

	if (outcome < 0 || !cell)
		return outcome < 0 ? outcome : 0;
	for (int id = 0; id < vm->vcpu_max; id++)
		if (vcpu_fits(vm, id, wanted)) {
			cpuset_add(&cell->cpus.set, id);
			cell->cpus.given = true;
		}
	return 0;
}

static int *distances_of(struct qemu_reader *reader, struct vm_cell *cell)
{
	if (!cell->distances)
		cell->distances = ARENA_ARRAY(reader->arena, (size_t)reader->vm->cell_count, int);
	return (int *)cell->distances;
}

static int add_distance(struct qemu_reader *reader, const struct qemu_given *given)
{
	struct vm *vm = reader->vm;
	int64_t source = -1, target = -1, value = 0;
	int outcome = qemu_number(reader, given, qemu_option(&given->options, "src"), CELL_LIMIT - 1, &source);

	if (outcome >= 0)
		outcome = qemu_number(reader, given, qemu_option(&given->options, "dst"), CELL_LIMIT - 1, &target);
	if (outcome >= 0)
		outcome = qemu_number(reader, given, qemu_option(&given->options, "val"), 255, &value);
	struct vm_cell *from = cell_by_id(vm, source), *to = cell_by_id(vm, target);

	if (outcome < 0 || !from || !to)
		return outcome < 0 ? outcome : 0;
	distances_of(reader, from)[to - vm->cells] = (int)value;
	/* One direction holds for both unless the other one is given, too. */
	int *back = &distances_of(reader, to)[from - vm->cells];

	*back = *back ? *back : (int)value;
	return 0;
}

static int for_numa(struct qemu_reader *reader, const char *type,
		    int (*take)(struct qemu_reader *reader, const struct qemu_given *given))
{
	for (const struct qemu_given *given = qemu_next(reader, "numa", NULL); given;
	     given = qemu_next(reader, "numa", given)) {
		int outcome = text_equal(given->first, type) ? take(reader, given) : 0;

		if (outcome < 0)
			return outcome;
	}
	return 0;
}

int qemu_fill_cells(struct qemu_reader *reader)
{
	int nodes = MIN_OF(qemu_count(reader, "numa"), CELL_LIMIT);

	if (nodes)
		reader->vm->cells = ARENA_ARRAY(reader->arena, (size_t)nodes, struct vm_cell);
	int outcome = for_numa(reader, "node", add_node);

	if (outcome == 0)
		outcome = for_numa(reader, "cpu", add_numa_cpu);
	return outcome < 0 ? outcome : for_numa(reader, "dist", add_distance);
}

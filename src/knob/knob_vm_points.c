/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the points of a VM: its threads, its memory and its definition. */
#include <errno.h>

#include "knob_table.h"
#include "knob_vm.h"
#include "knob_vm_where.h"
#include "text.h"

struct adding {
	struct knob_machine *machine;
	const struct knob_vm *vm;
	struct knob_points *points;
	const char *knob;
	const char *value;
};

static void add(const struct adding *adding, const struct knob_vm_where *where, const char *label)
{
	struct arena *arena = adding->machine->arena;
	const struct knob_point point = {
	    .knob = knob_find(adding->knob),
	    .name = adding->knob,
	    .where = knob_vm_where_text(arena, where),
	    .label = arena_printf(arena, "%s %s", adding->vm->name, label),
	    .new = adding->value,
	};

	knob_points_add(adding->points, &point);
}

/* A thread by its number; of a VM that is not libvirt's the kernel moves it. */
static void add_thread(const struct adding *adding, enum knob_vm_kind kind, int64_t index, int tid, const char *label)
{
	const struct knob_vm *vm = adding->vm;
	struct knob_vm_where where = {
	    .uuid = "-", .kind = KNOB_VM_THREAD, .pid = vm->running->pid, .tid = tid, .start = vm->start};

	if (vm->of_libvirt) {
		(void)snprintf(where.uuid, sizeof(where.uuid), "%s", vm->domain.uuid);
		where.kind = kind;
		where.index = index;
	}
	add(adding, &where, label);
}

int knob_vm_pin_vcpus(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *pins, int count,
		      struct knob_points *points, struct err *err)
{
	struct adding adding = {.machine = machine, .vm = vm, .points = points, .knob = "vm.pins"};

	if (!vm->running)
		return 0;
	for (int i = 0; i < count; i++) {
		int tid = i < vm->running->vcpu_max ? vm->running->vcpus[i].tid : 0;

		if (cpuset_empty(&pins[i]))
			continue;
		if (tid <= 0)
			return err_set(err, EINVAL, vm->name, "which thread is vCPU %d is not known%s", i,
				       vm->of_libvirt ? "" : " (-name ...,debug-threads=on names them)");
		adding.value = cpuset_format(machine->arena, &pins[i]);
		add_thread(&adding, KNOB_VM_VCPU, i, tid, arena_printf(machine->arena, "vCPU %d", i));
	}
	return 0;
}

/* A vhost worker: a thread of QEMU, or (before Linux 6.4) one of the kernel's, which is a process of its own. */
static int add_vhost(const struct adding *adding, int tid, struct err *err)
{
	struct knob_machine *machine = adding->machine;
	const struct knob_vm *vm = adding->vm;
	struct knob_vm_where where = {
	    .uuid = "-", .kind = KNOB_VM_THREAD, .pid = vm->running->pid, .tid = tid, .start = vm->start};
	int r = 0;

	if (!sys_has_dir(machine->sys, "/proc/%d/task/%d", where.pid, tid)) {
		where.pid = tid;
		r = knob_vm_start_of(machine, tid, &where.start, err);
	}
	/* One that has ended meanwhile needs no place. */
	if (r == 0)
		add(adding, &where, arena_printf(machine->arena, "vhost %d", tid));
	return r == -ENOENT ? 0 : r;
}

int knob_vm_pin_emulator(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *cpus,
			 struct knob_points *points, struct err *err)
{
	struct adding adding = {.machine = machine,
				.vm = vm,
				.points = points,
				.knob = "vm.emulator",
				.value = cpuset_format(machine->arena, cpus)};
	int r = 0;

	if (!vm->running)
		return 0;
	add_thread(&adding, KNOB_VM_EMULATOR, 0, vm->running->pid, "emulator");
	for (int i = 0; i < vm->running->vhost_count && r == 0; i++)
		r = add_vhost(&adding, vm->running->vhosts[i].tid, err);
	return r;
}

/* libvirt calls the object of I/O thread 1 iothread1. */
static int64_t iothread_id(const struct vm_iothread *thread)
{
	static const char prefix[] = "iothread";
	int64_t id;

	return thread->name && text_starts(thread->name, prefix) &&
		       text_int(thread->name + strlen(prefix), 10, &id) == 0
		   ? id
		   : -1;
}

int knob_vm_pin_iothreads(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *cpus,
			  struct knob_points *points, struct err *err)
{
	struct adding adding = {.machine = machine,
				.vm = vm,
				.points = points,
				.knob = "vm.iothreads",
				.value = cpuset_format(machine->arena, cpus)};

	for (int i = 0; vm->running && i < vm->running->iothread_count; i++) {
		const struct vm_iothread *thread = &vm->running->iothreads[i];
		int64_t id = iothread_id(thread);

		if (thread->tid <= 0 || (vm->of_libvirt && id < 0))
			return err_set(err, EINVAL, vm->name, "which thread is I/O thread %s is not known",
				       thread->name ? thread->name : "");
		add_thread(&adding, KNOB_VM_IOTHREAD, id, thread->tid,
			   id < 0 ? arena_printf(machine->arena, "I/O thread \"%s\"", thread->name)
				  : arena_printf(machine->arena, "I/O thread %lld", (long long)id));
	}
	return 0;
}

bool knob_vm_memory_moves(const struct knob_vm *vm)
{
	return vm->of_libvirt && vm->running && vm->live && text_equal(vm->live->numa_mode, "restrictive");
}

int knob_vm_move_memory(struct knob_machine *machine, const struct knob_vm *vm, const struct cpuset *nodes,
			struct knob_points *points, struct err *err)
{
	struct adding adding = {.machine = machine,
				.vm = vm,
				.points = points,
				.knob = "vm.memory",
				.value = cpuset_format(machine->arena, nodes)};

	if (!vm->running)
		return 0;
	if (!knob_vm_memory_moves(vm))
		return err_set(err, ENOTSUP, vm->name,
			       "its memory cannot be moved while it runs: only that of mode restrictive can");
	add_thread(&adding, KNOB_VM_MEMORY, 0, vm->running->pid, "memory");
	return 0;
}

int knob_vm_define(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_xml_edit *edits, int count,
		   struct knob_points *points, struct err *err)
{
	struct knob_point point = {.name = "vm.definition", .where = vm->domain.uuid};
	const char *changed;
	size_t size;
	int r;

	if (!vm->declared)
		return 0;
	r = vm_xml_edit(machine->arena, vm->name, vm->declared_xml, strlen(vm->declared_xml), edits, count, &changed,
			&size, err);
	if (r == 0)
		r = vm_xml_placement(machine->arena, vm->name, changed, size, &point.new, err);
	if (r < 0)
		return r;
	point.knob = knob_find(point.name);
	point.label = arena_printf(machine->arena, "%s's definition", vm->name);
	knob_points_add(points, &point);
	return 0;
}

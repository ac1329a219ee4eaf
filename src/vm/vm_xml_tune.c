/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading vCPUs, I/O threads and their tuning from domain XML. */
#include <errno.h>

#include "text.h"
#include "vm_xml_parts.h"

enum { VCPUS_MAX = 4096 /* KVM_MAX_VCPUS of x86 since Linux 5.15 at most */ };

static void read_hotplug(struct vm_xml_reader *reader, const xmlNode *vcpus)
{
	struct vm *vm = reader->vm;
	int enabled = 0;

	VM_XML_EACH (vcpu, vcpus, "vcpu") {
		int64_t id = vm_xml_number(reader, vcpu, "id", 0, vm->vcpu_max - 1, -1);
		int state = vm_xml_switch(reader, vcpu, "enabled");

		if (id >= 0 && state >= 0)
			vm->vcpus[id].enabled = state;
	}
	for (int id = 0; id < vm->vcpu_max; id++)
		enabled += vm->vcpus[id].enabled;
	vm->vcpu_now = enabled;
}

void vm_xml_read_vcpus(struct vm_xml_reader *reader, const xmlNode *domain)
{
	struct vm *vm = reader->vm;
	const xmlNode *vcpu = vm_xml_first(domain, "vcpu"), *vcpus = vm_xml_first(domain, "vcpus");
	const char *text = vm_xml_text(reader, vcpu);
	int64_t count = 1; /* libvirt's default */

	vm->vcpu_place = vm_xml_place(reader, vcpu);
	if (vcpu && (!text || text_int(text, 10, &count) < 0 || count < 1 || count > VCPUS_MAX)) {
		reader->failed = err_set_at(reader->err, EINVAL, vm->path, vm->vcpu_place.line, vm->vcpu_place.column,
					    "<vcpu> holds \"%.40s\", not a number of vCPUs from 1 to %d",
					    text ? text : "", VCPUS_MAX);
		return;
	}
	vm->vcpu_max = (int)count;
	vm->vcpu_now = (int)vm_xml_number(reader, vcpu, "current", 1, count, count);
	vm->placement_auto = text_equal(vm_xml_attribute(reader, vcpu, "placement"), "auto");
	if (!vm->placement_auto) /* libvirt ignores the set then */
		vm->cpuset = vm_xml_set(reader, vcpu, "cpuset");
	vm->vcpus = ARENA_ARRAY(vm->arena, (size_t)count, struct vm_vcpu);
	for (int id = 0; id < vm->vcpu_max; id++) {
		vm->vcpus[id].id = id;
		vm->vcpus[id].enabled = id < vm->vcpu_now;
	}
	if (vcpus)
		read_hotplug(reader, vcpus);
}

struct vm_iothread *vm_xml_iothread(const struct vm *vm, int64_t id)
{
	for (int i = 0; i < vm->iothread_count; i++)
		if (vm->iothreads[i].id == id)
			return &vm->iothreads[i];
	return NULL;
}

static struct vm_iothread *add_iothread(struct vm *vm, int64_t id)
{
	struct vm_iothread *iothread = &vm->iothreads[vm->iothread_count++];

	*iothread = (struct vm_iothread){.id = id};
	return iothread;
}

void vm_xml_read_iothreads(struct vm_xml_reader *reader, const xmlNode *domain)
{
	struct vm *vm = reader->vm;
	const xmlNode *plain = vm_xml_first(domain, "iothreads"), *ids = vm_xml_first(domain, "iothreadids");
	const xmlNode *cputune = vm_xml_first(domain, "cputune");
	const char *text = vm_xml_text(reader, plain);
	int64_t count = 0;

	vm->iothreads_place = vm_xml_place(reader, plain ? plain : ids);
	if (text && (text_int(text, 10, &count) < 0 || count < 0 || count > VCPUS_MAX)) {
		vm_add_note(
		    vm, vm->iothreads_place,
		    arena_printf(vm->arena, "<iothreads> holds \"%.40s\", not a number from 0 to %d", text, VCPUS_MAX));
		count = 0;
	}

	/* Room for threads that only a pin names: iothreadpin and the sets of iothreadsched. */
	int room = (int)count + vm_xml_count(reader, ids, "iothread") + vm_xml_count(reader, cputune, "iothreadpin");

	if (reader->failed || !room)
		return;
	vm->iothreads = ARENA_ARRAY(vm->arena, (size_t)room, struct vm_iothread);
	VM_XML_EACH (iothread, ids, "iothread") {
		int64_t id = vm_xml_number(reader, iothread, "id", 1, INT32_MAX, 0);

		if (id && !vm_xml_iothread(vm, id))
			add_iothread(vm, id)->place = vm_xml_place(reader, iothread);
	}
	/* libvirt gives the others the lowest free ids. */
	for (int64_t id = 1; vm->iothread_count < count; id++)
		if (!vm_xml_iothread(vm, id))
			add_iothread(vm, id)->place = vm->iothreads_place;
	vm->iothread_declared = vm->iothread_count;
}

static void read_vcpupins(struct vm_xml_reader *reader, const xmlNode *cputune)
{
	struct vm *vm = reader->vm;

	VM_XML_EACH (pin, cputune, "vcpupin") {
		int64_t id = vm_xml_number(reader, pin, "vcpu", 0, INT32_MAX, -1);

		if (id < 0)
			continue;
		if (id >= vm->vcpu_max) {
			if (vm->stray_pins++ == 0) {
				vm->stray_pin_vcpu = (int)id;
				vm->stray_pin_place = vm_xml_place(reader, pin);
			}
			continue;
		}
		if (!vm->vcpus[id].pin.given && !vm->vcpus[id].pin.text)
			vm->vcpus[id].pin = vm_xml_set(reader, pin, "cpuset");
	}
}

static void read_iothreadpins(struct vm_xml_reader *reader, const xmlNode *cputune)
{
	struct vm *vm = reader->vm;

	VM_XML_EACH (pin, cputune, "iothreadpin") {
		int64_t id = vm_xml_number(reader, pin, "iothread", 1, INT32_MAX, 0);
		struct vm_iothread *iothread = vm_xml_iothread(vm, id);

		if (!id)
			continue;
		if (!iothread) {
			iothread = add_iothread(vm, id);
			iothread->pin_only = true;
			iothread->place = vm_xml_place(reader, pin);
		}
		if (!iothread->pin.given && !iothread->pin.text)
			iothread->pin = vm_xml_set(reader, pin, "cpuset");
	}
}

static struct vm_scheduler read_scheduler(struct vm_xml_reader *reader, const xmlNode *node)
{
	return (struct vm_scheduler){
	    .policy = vm_xml_attribute(reader, node, "scheduler"),
	    .priority = (int)vm_xml_number(reader, node, "priority", 0, 99, 0),
	};
}

static void read_schedulers(struct vm_xml_reader *reader, const xmlNode *cputune)
{
	struct vm *vm = reader->vm;

	VM_XML_EACH (node, cputune, "vcpusched") {
		struct vm_scheduler scheduler = read_scheduler(reader, node);
		struct vm_set vcpus = vm_xml_set(reader, node, "vcpus");

		CPUSET_FOREACH (id, &vcpus.set) {
			if (id < vm->vcpu_max)
				vm->vcpus[id].scheduler = scheduler;
		}
	}
	VM_XML_EACH (node, cputune, "iothreadsched") {
		struct vm_scheduler scheduler = read_scheduler(reader, node);
		struct vm_set ids = vm_xml_set(reader, node, "iothreads");

		for (int i = 0; i < vm->iothread_count; i++)
			if (vm->iothreads[i].id < CPUSET_MAX && cpuset_has(&ids.set, (int)vm->iothreads[i].id))
				vm->iothreads[i].scheduler = scheduler;
	}

	const xmlNode *emulator = vm_xml_first(cputune, "emulatorsched");

	if (emulator)
		vm->emulator_scheduler = read_scheduler(reader, emulator);
}

static int count_caches(struct vm_xml_reader *reader, const xmlNode *cputune)
{
	int count = 0;

	if (vm_xml_count(reader, cputune, "cachetune") == 0)
		return 0;
	VM_XML_EACH (tune, cputune, "cachetune")
		count += vm_xml_count(reader, tune, "cache");
	return reader->failed ? 0 : count;
}

static void read_cachetunes(struct vm_xml_reader *reader, const xmlNode *cputune)
{
	struct vm *vm = reader->vm;
	int count = count_caches(reader, cputune);

	if (!count)
		return;
	vm->cachetunes = ARENA_ARRAY(vm->arena, (size_t)count, struct vm_cachetune);
	VM_XML_EACH (tune, cputune, "cachetune") {
		struct vm_set vcpus = vm_xml_set(reader, tune, "vcpus");

		VM_XML_EACH (cache, tune, "cache") {
			vm->cachetunes[vm->cachetune_count++] = (struct vm_cachetune){
			    .vcpus = vcpus.set,
			    .level = (int)vm_xml_number(reader, cache, "level", 1, 9, 0),
			    .id = vm_xml_number(reader, cache, "id", 0, INT32_MAX, -1),
			    .size_kib = vm_xml_size(reader, cache, "size", 0),
			    .type = vm_xml_attribute(reader, cache, "type"),
			    .place = vm_xml_place(reader, cache),
			};
		}
	}
}

void vm_xml_read_cputune(struct vm_xml_reader *reader, const xmlNode *domain)
{
	const xmlNode *cputune = vm_xml_first(domain, "cputune");

	if (!cputune)
		return;
	reader->vm->cputune_place = vm_xml_place(reader, cputune);
	read_vcpupins(reader, cputune);
	read_iothreadpins(reader, cputune);
	read_schedulers(reader, cputune);
	read_cachetunes(reader, cputune);
	reader->vm->emulator = vm_xml_set(reader, vm_xml_first(cputune, "emulatorpin"), "cpuset");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns making and freeing a VM, and what follows from what is declared in it. */
#include "vm.h"

#include <errno.h>

#include "text.h"

struct vm *vm_new(enum vm_source source, const char *path)
{
	struct arena *arena = arena_new();
	struct vm *vm = ARENA_NEW(arena, struct vm);

	*vm = (struct vm){.arena = arena, .source = source, .path = arena_strdup(arena, path)};
	vm->cpu.sockets = vm->cpu.dies = vm->cpu.clusters = vm->cpu.cores = vm->cpu.threads = 1;
	vm->hint_dedicated = vm->poll_control = vm->pmu = -1;
	vm->iommu_intremap = vm->iommu_eim = vm->iommu_xtsup = -1;
	vm->kvm_hidden = vm->cpu_pm = -1;
	return vm;
}

struct vm *vm_free(struct vm *vm)
{
	if (vm)
		(void)arena_free(vm->arena);
	return NULL;
}

void vm_free_pointer(struct vm **vm)
{
	*vm = vm_free(*vm);
}

int vm_check_name(const struct vm *vm, struct err *err)
{
	size_t length = vm->name ? strlen(vm->name) : 0;

	if (length <= VM_NAME_MAX)
		return 0;
	return err_set(err, ENAMETOOLONG, vm->path, "the name of the VM has %zu bytes, at most %d can be", length,
		       VM_NAME_MAX);
}

void vm_add_note(struct vm *vm, struct vm_place place, const char *text)
{
	enum { NOTE_LIMIT = 100 };

	if (vm->note_count >= NOTE_LIMIT)
		return;
	if (vm->note_count == vm->note_room) {
		vm->note_room = vm->note_room ? vm->note_room * 2 : 8;
		struct vm_note *larger = ARENA_ARRAY(vm->arena, (size_t)vm->note_room, struct vm_note);

		if (vm->note_count)
			memcpy(larger, vm->notes, (size_t)vm->note_count * sizeof(*larger));
		vm->notes = larger;
	}
	vm->notes[vm->note_count++] = (struct vm_note){.text = text, .place = place};
}

const struct cpuset *vm_vcpu_declared(const struct vm *vm, int id)
{
	if (vm->vcpus && id >= 0 && id < vm->vcpu_max && vm->vcpus[id].pin.given)
		return &vm->vcpus[id].pin.set;
	return vm->cpuset.given ? &vm->cpuset.set : NULL;
}

bool vm_is_pinned_one_to_one(const struct vm *vm)
{
	struct cpuset taken = {0};

	for (int id = 0; id < vm->vcpu_max; id++) {
		const struct cpuset *cpus = vm_vcpu_declared(vm, id);

		if (!cpus || cpuset_count(cpus) != 1 || cpuset_meets(cpus, &taken))
			return false;
		taken = cpuset_or(&taken, cpus);
	}
	return vm->vcpu_max > 0;
}

struct cpuset vm_vcpu_cpus(const struct vm *vm)
{
	struct cpuset all = {0};

	for (int id = 0; id < vm->vcpu_max; id++) {
		const struct cpuset *cpus = vm_vcpu_declared(vm, id);

		if (cpus)
			all = cpuset_or(&all, cpus);
	}
	return all;
}

int vm_guest_core_of(const struct vm *vm, int id)
{
	/* QEMU numbers vCPUs with the threads of a core next to each other, cores within a socket, sockets last. */
	return id / MAX_OF(vm->cpu.threads, 1);
}

int vm_feature(const struct vm_feature *features, int count, const char *name)
{
	for (int i = count - 1; i >= 0; i--)
		if (text_equal(features[i].name, name))
			return features[i].on;
	return -1;
}

bool vm_nic_uses_vhost(const struct vm_nic *nic)
{
	return (!nic->model || strstr(nic->model, "virtio")) && !text_equal(nic->driver, "qemu") &&
	       !text_equal(nic->type, "user") && !text_equal(nic->type, "vhostuser") &&
	       !text_equal(nic->type, "vhost-user") && !text_equal(nic->type, "hostdev") &&
	       !text_equal(nic->type, "vdpa");
}

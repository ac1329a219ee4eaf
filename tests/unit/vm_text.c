/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns VMs as text; see vm_text.h. */
#include "vm_text.h"

#include <stdarg.h>

#include "text.h"

struct filling {
	struct arena *arena;
	struct vm_text text;
	int room;
};

static void add(struct filling *filling, const char *format, ...) PRINTF_LIKE(2, 3);

static void add(struct filling *filling, const char *format, ...)
{
	struct vm_text *text = &filling->text;
	va_list arguments;

	if (text->count == filling->room) {
		filling->room = filling->room ? filling->room * 2 : 64;
		const char **larger = ARENA_ARRAY(filling->arena, (size_t)filling->room, const char *);

		for (int i = 0; i < text->count; i++)
			larger[i] = text->lines[i];
		text->lines = larger;
	}
	va_start(arguments, format);
	text->lines[text->count++] = arena_vprintf(filling->arena, format, arguments);
	va_end(arguments);
}

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static const char *set(struct arena *arena, const struct vm_set *set)
{
	return set->given ? cpuset_format(arena, &set->set) : or_none(set->text);
}

/* Later ones win, the order is of no weight. */
static void add_features(struct filling *filling, const char *what, const struct vm_feature *features, int count)
{
	for (int i = 0; i < count; i++) {
		bool later = false;

		for (int j = i + 1; j < count; j++)
			later |= text_equal(features[i].name, features[j].name);
		if (!later)
			add(filling, "%s %s: %s", what, features[i].name, features[i].on ? "on" : "off");
	}
}

static void add_cpu(struct filling *filling, const struct vm *vm)
{
	const struct vm_cpu *cpu = &vm->cpu;

	add(filling, "vcpus: %d of %d", vm->vcpu_now, vm->vcpu_max);
	add(filling, "cpuset: %s", set(filling->arena, &vm->cpuset));
	add(filling, "emulator: %s", set(filling->arena, &vm->emulator));
	for (int i = 0; i < vm->vcpu_max; i++)
		add(filling, "vcpu %d: %s %s", vm->vcpus[i].id, vm->vcpus[i].enabled ? "on" : "off",
		    set(filling->arena, &vm->vcpus[i].pin));
	add(filling, "cpu: %d %s", (int)cpu->mode, or_none(cpu->model));
	add(filling, "cpu cache: %s %d", or_none(cpu->cache_mode), cpu->cache_level);
	add(filling, "cpu migratable: %s", or_none(cpu->migratable));
	add(filling, "cpu address: %s %d", or_none(cpu->maxphysaddr_mode), cpu->maxphysaddr_bits);
	add(filling, "topology: %d sockets %d dies %d clusters %d cores %d threads %d", cpu->topology_given,
	    cpu->sockets, cpu->dies, cpu->clusters, cpu->cores, cpu->threads);
	add_features(filling, "feature", cpu->features, cpu->feature_count);
	add_features(filling, "hyperv", vm->hyperv, vm->hyperv_count);
	add(filling, "hyperv: %s", or_none(vm->hyperv_mode));
	add(filling, "kvm: hidden %d, dedicated %d, poll control %d, pmu %d, cpu-pm %d", vm->kvm_hidden,
	    vm->hint_dedicated, vm->poll_control, vm->pmu, vm->cpu_pm);
}

static void add_memory(struct filling *filling, const struct vm *vm)
{
	add(filling, "memory: %lld KiB, at most %lld", (long long)vm->memory_kib, (long long)vm->max_memory_kib);
	add(filling, "memory backing: %s %s %s, hugepages %d, locked %d, merge %d", or_none(vm->memory_source),
	    or_none(vm->memory_access), or_none(vm->allocation), vm->hugepages, vm->locked, !vm->no_share_pages);
	add(filling, "memory nodes: %s %s", or_none(vm->numa_mode), set(filling->arena, &vm->numa_nodes));
	for (int i = 0; i < vm->page_count; i++)
		add(filling, "pages %lld KiB: cells %s", (long long)vm->pages[i].size_kib,
		    set(filling->arena, &vm->pages[i].cells));
	for (int i = 0; i < vm->memnode_count; i++)
		add(filling, "memory of cell %d: %s %s", vm->memnodes[i].cell, or_none(vm->memnodes[i].mode),
		    set(filling->arena, &vm->memnodes[i].nodes));
	for (int i = 0; i < vm->cell_count; i++)
		add(filling, "cell %d: cpus %s, %lld KiB, %s", vm->cells[i].id, set(filling->arena, &vm->cells[i].cpus),
		    (long long)vm->cells[i].memory_kib, or_none(vm->cells[i].access));
	for (int i = 0; i < vm->cell_count; i++)
		for (int j = 0; vm->cells[i].distances && j < vm->cell_count; j++)
			add(filling, "distance %d %d: %d", i, j, vm->cells[i].distances[j]);
}

static void add_disks(struct filling *filling, const struct vm *vm)
{
	for (int i = 0; i < vm->iothread_count; i++)
		add(filling, "iothread %lld: %s, %d users, %s", (long long)vm->iothreads[i].id,
		    or_none(vm->iothreads[i].name), vm->iothreads[i].users, set(filling->arena, &vm->iothreads[i].pin));
	for (int i = 0; i < vm->disk_count; i++) {
		const struct vm_disk *disk = &vm->disks[i];

		add(filling, "disk %d: %s %s %s", i, or_none(disk->target), or_none(disk->bus), or_none(disk->device));
		add(filling, "disk %d cache: %s", i, or_none(disk->cache));
		add(filling, "disk %d io: %s", i, or_none(disk->io));
		add(filling, "disk %d source: %s", i, or_none(disk->source));
		add(filling, "disk %d threads: %d queues, thread %lld %s, %d mapped", i, disk->queues,
		    (long long)disk->iothread, or_none(disk->iothread_name), disk->mapped_iothreads);
	}
	for (int i = 0; i < vm->controller_count; i++)
		add(filling, "controller %d: %s %s, %d queues, thread %lld", i, or_none(vm->controllers[i].type),
		    or_none(vm->controllers[i].model), vm->controllers[i].queues,
		    (long long)vm->controllers[i].iothread);
}

static void add_devices(struct filling *filling, const struct vm *vm)
{
	for (int i = 0; i < vm->nic_count; i++)
		add(filling, "nic %d: %s %s %s %s, %d queues", i, or_none(vm->nics[i].type), or_none(vm->nics[i].model),
		    or_none(vm->nics[i].driver), or_none(vm->nics[i].device), vm->nics[i].queues);
	for (int i = 0; i < vm->hostdev_count; i++)
		add(filling, "host device %d: %s %s", i, or_none(vm->hostdevs[i].type),
		    or_none(vm->hostdevs[i].address));
	for (int i = 0; i < vm->filesystem_count; i++)
		add(filling, "filesystem %d: %s", i, or_none(vm->filesystems[i].driver));
	add(filling, "balloon: %s", or_none(vm->balloon));
	add(filling, "iommu: %s, intremap %d, eim %d, xtsup %d", or_none(vm->iommu), vm->iommu_intremap, vm->iommu_eim,
	    vm->iommu_xtsup);
	add(filling, "security: %s", or_none(vm->launch_security));
	add(filling, "clock: %s", or_none(vm->clock_offset));
	for (int i = 0; i < vm->timer_count; i++)
		add(filling, "timer %s: %s %s %d", vm->timers[i].name, or_none(vm->timers[i].tickpolicy),
		    or_none(vm->timers[i].mode), vm->timers[i].present);
}

struct vm_text vm_text(struct arena *arena, const struct vm *vm)
{
	struct filling filling = {.arena = arena};

	add(&filling, "name: %s", or_none(vm->name));
	add(&filling, "uuid: %s", or_none(vm->uuid));
	add(&filling, "machine: %s %s", or_none(vm->type), or_none(vm->machine));
	add(&filling, "ioapic: %s", or_none(vm->ioapic));
	add(&filling, "os: %s", or_none(vm->os_hint));
	add_cpu(&filling, vm);
	add_memory(&filling, vm);
	add_disks(&filling, vm);
	add_devices(&filling, vm);
	qsort(filling.text.lines, (size_t)filling.text.count, sizeof(*filling.text.lines), text_compare_natural);
	return filling.text;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding a VM and who runs it. */
#include "knob_vm.h"

#include <errno.h>

#include "knob_vm_where.h"
#include "text.h"
#include "vm_host.h"
#include "vm_xml.h"

enum { MOST_READ = 8192 };

/* What has been read for the machine. */
struct knob_vms {
	struct host *host;
	struct vm_host *list;
	const char **names;
	size_t name_count;
	struct knob_vm *found; /* found_count that were asked for before, by name; room for found_room */
	int found_count, found_room;
	struct vm *read[MOST_READ]; /* of XML */
	int read_count;
};

void knob_vm_forget(struct knob_machine *machine)
{
	struct knob_vms *vms = machine->vms;

	if (!vms)
		return;
	for (int i = 0; i < vms->read_count; i++)
		(void)vm_free(vms->read[i]);
	vms->list = vm_host_free(vms->list);
	vms->host = host_close(vms->host);
	machine->vms = NULL;
}

static int get_vms(struct knob_machine *machine, struct knob_vms **ret, struct err *err)
{
	struct knob_vms *vms = machine->vms;
	int r;

	if (vms) {
		*ret = vms;
		return 0;
	}
	vms = ARENA_NEW(machine->arena, struct knob_vms);
	r = host_open(sys_root(machine->sys), &vms->host, err);
	if (r == 0)
		r = vm_host_read(vms->host, NULL, &vms->list, err);
	if (r < 0) {
		vms->host = host_close(vms->host);
		return r;
	}
	vms->names = ARENA_ARRAY(machine->arena, (size_t)vms->list->count + 1, const char *);
	for (int i = 0; i < vms->list->count; i++)
		vms->names[vms->name_count++] = vms->list->entries[i].name;
	*ret = machine->vms = vms;
	return 0;
}

int knob_vm_names(struct knob_machine *machine, const char *const **ret, size_t *ret_count, struct err *err)
{
	struct knob_vms *vms;
	int r = get_vms(machine, &vms, err);

	if (r < 0)
		return r;
	*ret = vms->names;
	*ret_count = vms->name_count;
	return 0;
}

/* `uuid` may be NULL: then `name` may be either. */
static const struct vm *find_running(const struct knob_vms *vms, const char *name, const char *uuid)
{
	for (int i = 0; i < vms->list->count; i++) {
		const struct vm *vm = vms->list->entries[i].running;

		if (!vm || vm->pid <= 0)
			continue;
		if (uuid && vm->uuid ? text_equal(vm->uuid, uuid)
				     : text_equal(vm->name, name) || text_equal(vm->uuid, name))
			return vm;
	}
	return NULL;
}

/* Who started the process: words of its command line that only its manager puts there. NULL: nobody known. */
static const char *manager_of(const struct knob_vms *vms, const struct vm *vm)
{
	static const struct {
		const char *word, *manager;
	} managers[] = {{"charmonitor", "libvirt"}, {"/qemu-server/", "Proxmox"}};
	const struct sys_look *line = sys_read(vms->host->sys, "/proc/%d/cmdline", vm->pid);

	for (size_t i = 0; i < ARRAY_SIZE(managers) && line->state == SYS_VALUE; i++)
		if (memmem(line->data, line->size, managers[i].word, strlen(managers[i].word)))
			return managers[i].manager;
	return NULL;
}

static int read_xml(struct knob_vms *vms, const char *name, const char *xml, const struct vm **ret, struct err *err)
{
	struct vm *vm = NULL;
	int r = vms->read_count < MOST_READ ? vm_read_libvirt_xml(name, xml, strlen(xml), &vm, err)
					    : err_set(err, E2BIG, name, "more than %d VMs at once", MOST_READ / 2);

	if (r < 0)
		return r;
	vms->read[vms->read_count++] = vm;
	*ret = vm;
	return 0;
}

static int read_domain(struct knob_machine *machine, struct knob_vms *vms, struct knob_vm *vm, struct err *err)
{
	const char *xml;
	int r = 0;

	if (vm->domain.running) {
		r = knob_libvirt_xml(machine, vm->domain.uuid, KNOB_LIBVIRT_RUNNING, &xml, err);
		if (r == 0)
			r = read_xml(vms, vm->name, xml, &vm->live, err);
	}
	if (r == 0 && vm->domain.persistent) {
		r = knob_libvirt_xml(machine, vm->domain.uuid, KNOB_LIBVIRT_DECLARED, &vm->declared_xml, err);
		if (r == 0)
			r = read_xml(vms, vm->name, vm->declared_xml, &vm->declared, err);
	}
	return r;
}

/* libvirt does not know it: it is plain QEMU, or somebody else's. `why` is what libvirt said. */
static int judge_other(const struct knob_vms *vms, const struct knob_vm *vm, const struct err *why, struct err *err)
{
	const char *manager = vm->running ? manager_of(vms, vm->running) : NULL;

	if (!vm->running) {
		if (why->code != -ENOENT && why->code != -ENOSYS && why->code != -ENOTSUP) {
			return err_copy(err, why);
		}
		return err_set(err, ENOENT, vm->name,
			       "there is no such VM: libvirt does not know it, and no QEMU runs it");
	}
	if (!manager)
		return 0;
	if (text_equal(manager, "libvirt") && why->code != -ENOENT) {
		return err_copy(err, why);
	}
	(void)err_set(err, ENOTSUP, vm->name, "is run by %s, which hvtune does not change it through",
		      text_equal(manager, "libvirt") ? "the libvirt of a session" : manager);
	return err_hint(err, "hvtune place %s --format %s prints what to do by hand", vm->name,
			text_equal(manager, "libvirt") ? "virsh" : "qm");
}

static void remember(struct knob_machine *machine, struct knob_vms *vms, const struct knob_vm *vm)
{
	if (vms->found_count == vms->found_room) {
		int room = MAX_OF(2 * vms->found_room, 16);
		struct knob_vm *more = ARENA_ARRAY(machine->arena, (size_t)room, struct knob_vm);

		if (vms->found_count)
			memcpy(more, vms->found, (size_t)vms->found_count * sizeof(*more));
		vms->found = more;
		vms->found_room = room;
	}
	vms->found[vms->found_count++] = *vm;
}

int knob_vm_find(struct knob_machine *machine, const char *name, struct knob_vm *ret, struct err *err)
{
	struct knob_vm vm = {.name = name};
	struct knob_vms *vms;
	struct err why = {0};
	int r = get_vms(machine, &vms, err);

	if (r < 0)
		return r;
	for (int i = 0; i < vms->found_count; i++)
		if (text_equal(vms->found[i].name, name)) {
			*ret = vms->found[i];
			return 0;
		}
	vm.amd = host_is_amd(vms->host);
	vm.of_libvirt = knob_libvirt_find(machine, name, &vm.domain, &why) == 0;
	if (vm.of_libvirt) {
		vm.name = vm.domain.name;
		vm.running = vm.domain.running ? find_running(vms, vm.name, vm.domain.uuid) : NULL;
		if (vm.domain.running && !vm.running)
			return err_set(err, ENOENT, name, "runs, says libvirt, but its process is not to be found");
		r = read_domain(machine, vms, &vm, err);
	} else {
		vm.running = find_running(vms, name, NULL);
		r = judge_other(vms, &vm, &why, err);
	}
	if (r == 0 && vm.running)
		r = knob_vm_start_of(machine, vm.running->pid, &vm.start, err);
	if (r < 0)
		return r;
	vm.name = arena_strdup(machine->arena, vm.name);
	remember(machine, vms, &vm);
	*ret = vm;
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in vm_host.h. */
#include "vm_host.h"

#include <errno.h>

#include "text.h"
#include "vm_libvirt.h"
#include "vm_process.h"
#include "vm_proxmox.h"
#include "vm_xml.h"

struct vm_host *vm_host_free(struct vm_host *list)
{
	for (int i = 0; list && i < list->count; i++) {
		(void)vm_free(list->entries[i].running);
		(void)vm_free(list->entries[i].declared);
	}
	if (list)
		(void)arena_free(list->arena);
	return NULL;
}

void vm_host_free_pointer(struct vm_host **list)
{
	*list = vm_host_free(*list);
}

/* A new entry; NULL when there are too many. Entries move: no pointer to one is kept. */
static struct vm_host_entry *add(struct vm_host *list, const char *name)
{
	if (list->count >= VM_HOST_MAX)
		return NULL;
	if (list->count == list->room) {
		int room = MAX_OF(2 * list->room, 16);
		struct vm_host_entry *more = ARENA_ARRAY(list->arena, (size_t)room, struct vm_host_entry);

		if (list->count)
			memcpy(more, list->entries, (size_t)list->count * sizeof(*more));
		list->entries = more;
		list->room = room;
	}
	list->entries[list->count] = (struct vm_host_entry){.name = name};
	return &list->entries[list->count++];
}

static int too_many(struct err *err)
{
	return err_set(err, E2BIG, NULL, "more than %d VMs on one host", VM_HOST_MAX);
}

/* ---- what is declared ---- */

static const struct directory {
	const char *path, *ending;
	int (*read)(const char *path, const char *text, size_t size, struct vm **ret, struct err *err);
	bool is_xml;
} directories[] = {
    {"/etc/libvirt/qemu", ".xml", vm_read_libvirt_xml, true},
    {"/etc/pve/qemu-server", ".conf", vm_read_proxmox, false},
};

static int read_file(struct host *host, struct vm_host *list, const struct directory *directory, const char *file,
		     struct err *err)
{
	const struct sys_look *look = sys_read(host->sys, "%s/%s", directory->path, file);
	size_t name_size = strlen(file) - strlen(directory->ending);
	struct err why = {0};
	struct vm *vm = NULL;

	if (look->state == SYS_ABSENT)
		return 0;
	/* Debian's folder can be listed by everybody, its files are root's alone. */
	if (look->state == SYS_UNREADABLE && (look->errnum == EACCES || look->errnum == EPERM)) {
		list->refused = directory->path;
		return 0;
	}
	struct vm_host_entry *entry = add(list, arena_strndup(list->arena, file, name_size));

	if (!entry)
		return too_many(err);
	if (look->state != SYS_VALUE) {
		entry->problem = arena_printf(list->arena, "%s: %s", look->path, strerror(look->errnum));
		return 0;
	}
	if (directory->read(look->path, look->data, look->size, &vm, &why) < 0) {
		entry->problem = arena_printf(list->arena, "%s: %s", look->path, why.what);
		return 0;
	}
	if (vm->state == VM_STATE_UNKNOWN)
		vm->state = VM_STATE_DEFINED;
	entry->name = vm->name ? vm->name : entry->name;
	entry->declared = vm;
	if (directory->is_xml) {
		entry->declared_text = look->data;
		entry->declared_size = look->size;
	}
	return 0;
}

static int read_directory(struct host *host, struct vm_host *list, const struct directory *directory, struct err *err)
{
	const struct sys_look *look = sys_list(host->sys, "%s", directory->path);
	int r = 0;

	if (look->state == SYS_UNREADABLE)
		list->refused = directory->path;
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size && r == 0; i++) {
		size_t length = strlen(look->names[i]), ending = strlen(directory->ending);

		if (length > ending && text_equal(look->names[i] + length - ending, directory->ending))
			r = read_file(host, list, directory, look->names[i], err);
	}
	return r;
}

/* The VMs that libvirt told of become the list's. */
static int take_libvirt(struct vm_host *list, struct vm_libvirt *libvirt, struct err *err)
{
	for (int i = 0; i < libvirt->count; i++) {
		struct vm_libvirt_domain *domain = &libvirt->domains[i];
		struct vm_host_entry *entry = add(list, arena_strdup(list->arena, domain->name ? domain->name : ""));

		if (!entry)
			return too_many(err);
		entry->running = domain->running;
		entry->declared = domain->declared;
		domain->running = domain->declared = NULL;
		if (domain->problem)
			entry->problem = arena_strdup(list->arena, domain->problem);
		if (domain->declared_xml) {
			entry->declared_text = arena_strdup(list->arena, domain->declared_xml);
			entry->declared_size = strlen(entry->declared_text);
		}
	}
	return 0;
}

/* libvirt itself, where its files are refused. */
static int read_libvirt(struct host *host, struct vm_host *list, struct err *err)
{
	CLEANUP(vm_libvirt_free_pointer) struct vm_libvirt *libvirt = NULL;
	struct err why = {0};

	if (!list->refused || !sys_is_live(host->sys) || !vm_libvirt_listens(host->sys) ||
	    vm_libvirt_read(NULL, &libvirt, &why) < 0)
		return 0;
	list->refused = NULL;
	return take_libvirt(list, libvirt, err);
}

/* "qemu+ssh://other/system" asks another machine; "qemu:///system" and "test:///default" this one. */
static bool names_a_host(const char *uri)
{
	const char *authority = strstr(uri, "://");

	return authority && authority[3] && authority[3] != '/';
}

static int connect_libvirt(struct host *host, const char *uri, struct vm_host *list, struct err *err)
{
	CLEANUP(vm_libvirt_free_pointer) struct vm_libvirt *libvirt = NULL;

	if (!sys_is_live(host->sys)) {
		(void)err_set(err, EINVAL, uri, "libvirt is asked on this machine, but another host is looked at");
		return err_hint(err, "leave out one of --connect and --host");
	}
	if (names_a_host(uri)) {
		(void)err_set(err, EINVAL, uri,
			      "that is another host's libvirt, and its VMs are judged with their host");
		return err_hint(err, "run hvtune there, or hvtune capture there and --host here");
	}
	int r = vm_libvirt_read(uri, &libvirt, err);

	return r < 0 ? r : take_libvirt(list, libvirt, err);
}

/* ---- what runs ---- */

static struct vm_host_entry *find(struct vm_host *list, const char *name)
{
	for (int i = 0; i < list->count; i++)
		if (text_equal(list->entries[i].name, name))
			return &list->entries[i];
	return NULL;
}

static int add_running(struct host *host, struct vm_host *list, struct err *err)
{
	struct vm **running;
	int count, r = vm_running(host, list->arena, &running, &count, err);

	if (r < 0)
		return r;
	for (int i = 0; i < count; i++) {
		const char *name =
		    running[i]->name ? running[i]->name : arena_printf(list->arena, "process %d", running[i]->pid);
		struct vm_host_entry *entry = find(list, name);

		/* Two processes of one name: a migration on one host, or a name that QEMU was given twice. */
		if (!entry || (entry->running && entry->running->source == VM_QEMU_PROCESS))
			entry = add(list, name);
		if (!entry) {
			vm_running_free(running + i, count - i);
			return too_many(err);
		}
		(void)vm_free(entry->running);
		entry->running = running[i];
	}
	return 0;
}

int vm_host_read(struct host *host, const char *connect, struct vm_host **ret, struct err *err)
{
	struct arena *arena = arena_new();
	CLEANUP(vm_host_free_pointer) struct vm_host *list = ARENA_NEW(arena, struct vm_host);
	int r = 0;

	list->arena = arena;
	for (size_t i = 0; i < ARRAY_SIZE(directories) && r == 0; i++)
		if (!connect || !directories[i].is_xml)
			r = read_directory(host, list, &directories[i], err);
	if (r == 0)
		r = connect ? connect_libvirt(host, connect, list, err) : read_libvirt(host, list, err);
	if (r == 0)
		r = add_running(host, list, err);
	if (r < 0)
		return r;
	*ret = list;
	list = NULL;
	return 0;
}

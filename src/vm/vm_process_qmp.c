/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns asking a VM's own monitor which thread is what, where names do not tell. */
#include <errno.h>
#include <jansson.h>

#include "sys_qmp.h"
#include "text.h"
#include "vm_process_internal.h"

enum { ANSWERS_MAX = 8192, SILENT_MAX = 2 };

/* Monitors that a manager of VMs holds. They are its own, and it names all threads. */
static const char *manager_of(const char *path)
{
	static const struct {
		const char *part, *manager;
	} managers[] = {{"/libvirt/", "libvirt's"}, {"/qemu-server/", "Proxmox's"}};

	for (size_t i = 0; i < ARRAY_SIZE(managers); i++)
		if (strstr(path, managers[i].part))
			return managers[i].manager;
	return NULL;
}

static const char *why_not(struct arena *arena, const struct sys_look *look)
{
	static const struct {
		int errnum;
		const char *text;
	} reasons[] = {
	    {EACCES, "asking its monitor (QMP) needs root"},	     {EBUSY, "its monitor (QMP) serves another client"},
	    {ECONNREFUSED, "nobody listens at its monitor (QMP)"},   {EPERM, "asking its monitor (QMP) needs root"},
	    {EPROTO, "what answers at its monitor is no QMP"},	     {ETIMEDOUT, "its monitor (QMP) does not answer"},
	    {EXDEV, "another process listens at its monitor (QMP)"},
	};

	if (look->state == SYS_ABSENT)
		return "its monitor (QMP) is not there";
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (look->errnum == reasons[i].errnum)
			return reasons[i].text;
	return arena_printf(arena, "its monitor (QMP): %s", sys_reason(look->errnum));
}

static void take(const json_t *list, const char *id, struct vm_process_threads *ret)
{
	for (size_t i = 0; i < json_array_size(list) && ret->count < ANSWERS_MAX; i++) {
		const json_t *element = json_array_get(list, i), *is = json_object_get(element, id);
		json_int_t tid = json_integer_value(json_object_get(element, "thread-id"));

		if (tid <= 0 || tid > INT32_MAX || !(json_is_string(is) || json_is_integer(is)))
			continue;
		ret->list[ret->count++] = (struct vm_process_thread){
		    .vcpu = json_is_integer(is) ? json_integer_value(is) : -1,
		    .iothread = json_is_string(is)
				    ? arena_strndup(ret->arena, json_string_value(is), json_string_length(is))
				    : NULL,
		    .tid = (int)tid};
	}
}

static void read_answers(const struct sys_look *look, struct vm_process_threads *ret)
{
	json_t *answers = json_loadb(look->data, look->size, 0, NULL);
	const json_t *cpus = json_object_get(answers, "query-cpus-fast");
	const json_t *iothreads = json_object_get(answers, "query-iothreads");
	size_t room = MIN_OF(json_array_size(cpus) + json_array_size(iothreads), (size_t)ANSWERS_MAX);

	ret->list = ARENA_ARRAY(ret->arena, room + 1, struct vm_process_thread);
	take(cpus, "cpu-index", ret);
	take(iothreads, "id", ret);
	json_decref(answers);
}

const char *vm_ask_monitor(struct host *host, const struct vm *vm, int *silent, struct vm_process_threads *ret)
{
	const char *sockets[VM_MONITORS_MAX], *manager = NULL;
	size_t count = 0;

	for (int i = 0; i < vm->qmp_socket_count && count < VM_MONITORS_MAX; i++) {
		manager = manager_of(vm->qmp_sockets[i]);
		if (!manager)
			sockets[count++] = vm->qmp_sockets[i];
	}
	if (!count && manager)
		return arena_printf(vm->arena, "its monitor (QMP) is %s", manager);
	if (!count && vm->qmp_waits)
		return "its monitor (QMP) is without wait=off, so asking might start the guest";
	if (!count)
		return "no -qmp unix:PATH,server=on,wait=off says where to ask";
	if (*silent >= SILENT_MAX)
		return "monitors of other VMs did not answer, so it was not asked";
	const struct sys_look *look = sys_qmp(host->sys, vm->pid, sockets, count);

	*silent += look->state == SYS_UNREADABLE && look->errnum == ETIMEDOUT;
	if (look->state != SYS_VALUE)
		return why_not(vm->arena, look);
	read_answers(look, ret);
	return ret->count ? NULL : "its monitor (QMP) tells of no thread";
}

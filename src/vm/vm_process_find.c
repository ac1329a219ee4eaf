/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding the processes that may be VMs, by the cheapest way that a host offers. */
#include "host_process.h"
#include "text.h"
#include "vm_process_internal.h"

/* No host has as many VMs. */
enum { PID_LIMIT = 4096 };

static void add_pid(struct vm_pids *pids, const char *text, size_t length)
{
	int64_t pid;

	if (text_int(arena_strndup(pids->arena, text, length), 10, &pid) < 0 || pid <= 0 || pid > INT32_MAX)
		return;
	for (int i = 0; i < pids->count; i++)
		if (pids->list[i] == pid)
			return;
	if (pids->count >= PID_LIMIT)
		return;
	if (pids->count == pids->room) {
		pids->room = pids->room ? pids->room * 2 : 16;
		int *larger = ARENA_ARRAY(pids->arena, (size_t)pids->room, int);

		if (pids->count)
			memcpy(larger, pids->list, (size_t)pids->count * sizeof(*larger));
		pids->list = larger;
	}
	pids->list[pids->count++] = (int)pid;
}

/* A name "PID-FD" for each VM. False: it cannot be seen. */
static bool find_in_debugfs(struct host *host, struct vm_pids *pids)
{
	const struct sys_look *vms = sys_list(host->sys, "/sys/kernel/debug/kvm");

	if (vms->state != SYS_VALUE || vms->size == 0)
		return false;
	for (size_t i = 0; i < vms->size; i++) {
		size_t digits = strspn(vms->names[i], "0123456789");

		if (digits && vms->names[i][digits] == '-')
			add_pid(pids, vms->names[i], digits);
	}
	return true;
}

/* The processes of one scope. Under libvirt they are in groups below it, as QEMU's threads are. */
static void read_scope(struct host *host, struct vm_pids *pids, const char *scope)
{
	static const char *const groups[] = {"", "/libvirt", "/libvirt/emulator", "/emulator"};
	int before = pids->count;

	for (size_t i = 0; i < ARRAY_SIZE(groups) && pids->count == before; i++) {
		const struct sys_look *procs = sys_read(host->sys, "%s%s/cgroup.procs", scope, groups[i]);

		if (procs->state != SYS_VALUE)
			continue;
		for (const char *at = procs->data; *at;) {
			size_t length = strcspn(at, "\n");

			add_pid(pids, at, length);
			at += length + (at[length] == '\n');
		}
	}
}

static void find_in_cgroups(struct host *host, struct vm_pids *pids)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/cpuset"};
	static const struct {
		const char *slice, *word; /* only groups with the word in their name */
	} slices[] = {{"machine.slice", "qemu"}, {"qemu.slice", ".scope"}, {"machine", "qemu"}};

	for (size_t i = 0; i < ARRAY_SIZE(mounts) && !pids->count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(slices); j++) {
			const struct sys_look *groups = sys_list(host->sys, "%s/%s", mounts[i], slices[j].slice);

			for (size_t k = 0; groups->state == SYS_VALUE && k < groups->size; k++)
				if (strstr(groups->names[k], slices[j].word))
					read_scope(host, pids,
						   arena_printf(pids->arena, "%s/%s", groups->path, groups->names[k]));
		}
}

static void look_at_name(void *context, const char *pid, const char *name)
{
	if (text_starts(name, "qemu") || text_equal(name, "kvm"))
		add_pid(context, pid, strlen(pid));
}

static int compare_pids(const void *a, const void *b)
{
	const int *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

void vm_find_processes(struct host *host, struct vm_pids *ret)
{
	const struct host_kvm *kvm = &host->kvm;
	bool idle = fact_is_number(&kvm->users, 0) || fact_is_off(&kvm->module_vendor);

	/*
	 * Without KVM only libvirt's and Proxmox's groups are looked for, which costs some looks at nothing; and all
	 * processes where their names are known already.
	 */
	if (idle || !find_in_debugfs(host, ret)) {
		find_in_cgroups(host, ret);
		if ((!idle || host->daemons.walked) && !ret->count)
			(void)host_each_process(host, look_at_name, ret);
	}
	if (ret->count)
		qsort(ret->list, (size_t)ret->count, sizeof(*ret->list), compare_pids);
}

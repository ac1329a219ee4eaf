/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in watch_vm.h. */
#include "watch_vm.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sys_again.h"
#include "text.h"

/* Where KVM counts: a directory for each VM, "PID-FD" (virt/kvm/kvm_main.c). Root's only. */
#define KVM_STATISTICS "/sys/kernel/debug/kvm"

struct thread {
	struct sys_again stat;
	uint64_t ticks; /* user and system time, in clock ticks */
	bool known;
};

struct machine {
	struct watch_vm view;
	struct thread *threads; /* view.count */
	struct sys_again halts;
	uint64_t halt_count;
	bool halts_known, gone;
};

struct watch_vms {
	struct arena *arena;
	struct machine *machines;
	struct watch_vm *views;
	size_t count, files; /* files: that are open at most */
};

static struct thread *known_thread(const struct watch_vms *before, int tid)
{
	for (size_t i = 0; before && i < before->count; i++)
		for (int k = 0; k < before->machines[i].view.count; k++)
			if (before->machines[i].view.vcpus[k].tid == tid)
				return &before->machines[i].threads[k];
	return NULL;
}

static const struct machine *known_machine(const struct watch_vms *before, int pid)
{
	for (size_t i = 0; before && i < before->count; i++)
		if (before->machines[i].view.pid == pid)
			return &before->machines[i];
	return NULL;
}

static void open_halts(struct sys *sys, struct machine *machine, struct arena *arena, const struct watch_vms *before)
{
	const struct sys_look *look = sys_list(sys, KVM_STATISTICS);
	const char *prefix = arena_printf(arena, "%d-", machine->view.pid);
	const struct machine *known = known_machine(before, machine->view.pid);

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++)
		if (text_starts(look->names[i], prefix)) {
			(void)sys_again_open(sys, arena_printf(arena, KVM_STATISTICS "/%s/halt_exits", look->names[i]),
					     &machine->halts);
			break;
		}
	if (known) {
		machine->halt_count = known->halt_count;
		machine->halts_known = known->halts_known;
	}
}

static void open_machine(const struct host *host, const struct vm *vm, struct arena *arena,
			 const struct watch_vms *before, struct machine *machine)
{
	struct watch_vm *view = &machine->view;

	view->name = vm->name ? vm->name : arena_printf(arena, "process %d", vm->pid);
	view->pid = vm->pid;
	view->vcpus = ARENA_ARRAY(arena, (size_t)vm->vcpu_max + 1, struct watch_vcpu);
	machine->threads = ARENA_ARRAY(arena, (size_t)vm->vcpu_max + 1, struct thread);
	for (int i = 0; i < vm->vcpu_max; i++) {
		const struct thread *known;

		if (!vm->vcpus[i].tid)
			continue;
		struct thread *thread = &machine->threads[view->count];

		view->vcpus[view->count] =
		    (struct watch_vcpu){.id = vm->vcpus[i].id, .tid = vm->vcpus[i].tid, .cpu = -1, .use = (double)NAN};
		known = known_thread(before, vm->vcpus[i].tid);
		if (known) {
			thread->ticks = known->ticks;
			thread->known = known->known;
		}
		(void)sys_again_open(host->sys, arena_printf(arena, "/proc/%d/task/%d/stat", vm->pid, vm->vcpus[i].tid),
				     &thread->stat);
		view->count++;
	}
	open_halts(host->sys, machine, arena, before);
}

struct watch_vms *watch_vms_open(const struct host *host, const struct vm_joined *joined,
				 const struct watch_vms *before)
{
	struct arena *arena = arena_new();
	struct watch_vms *vms = ARENA_NEW(arena, struct watch_vms);

	vms->arena = arena;
	vms->machines = ARENA_ARRAY(arena, (size_t)joined->count + 1, struct machine);
	vms->views = ARENA_ARRAY(arena, (size_t)joined->count + 1, struct watch_vm);
	for (int i = 0; i < joined->count; i++)
		vms->files += joined->vms[i]->pid ? (size_t)joined->vms[i]->vcpu_max + 1 : 0;
	/* Those of before are still open; they are given back soon, and count no more then. */
	if (!before || vms->files > before->files)
		(void)sys_again_room(vms->files);
	for (int i = 0; i < joined->count; i++)
		if (joined->vms[i]->pid)
			open_machine(host, joined->vms[i], arena, before, &vms->machines[vms->count++]);
	return vms;
}

struct watch_vms *watch_vms_close(struct watch_vms *vms)
{
	for (size_t i = 0; vms && i < vms->count; i++) {
		for (int k = 0; k < vms->machines[i].view.count; k++)
			sys_again_close(&vms->machines[i].threads[k].stat);
		sys_again_close(&vms->machines[i].halts);
	}
	if (vms)
		(void)arena_free(vms->arena);
	return NULL;
}

/* Fields 14, 15 and 39 of /proc/PID/task/TID/stat (proc(5)): time in user and kernel mode, and the CPU it ran on last.
 */
static bool parse_stat(const char *text, uint64_t *ret_ticks, int *ret_cpu)
{
	enum { FIRST_AFTER_NAME = 3, USER = 14, SYSTEM = 15, CPU = 39 };
	/* The name before it is foreign and may hold anything, parentheses too. */
	const char *at = strrchr(text, ')');
	uint64_t ticks = 0;

	if (!at)
		return false;
	at += strspn(at, ") ");
	for (int field = FIRST_AFTER_NAME; *at; field++) {
		if (field == USER || field == SYSTEM)
			ticks += strtoull(at, NULL, 10);
		if (field == CPU) {
			*ret_ticks = ticks;
			*ret_cpu = (int)strtol(at, NULL, 10);
			return true;
		}
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return false;
}

/* False when the thread is gone. */
static bool read_thread(struct thread *thread, double elapsed_s, struct watch_vcpu *vcpu)
{
	char text[1024];
	uint64_t ticks;

	vcpu->use = (double)NAN;
	vcpu->cpu = -1;
	if (thread->stat.kind == SYS_AGAIN_CLOSED || sys_again_read(&thread->stat, text, sizeof(text)) <= 0 ||
	    !parse_stat(text, &ticks, &vcpu->cpu))
		return false;
	if (thread->known && ticks >= thread->ticks && elapsed_s > 0)
		vcpu->use = (double)(ticks - thread->ticks) / (double)sysconf(_SC_CLK_TCK) / elapsed_s;
	thread->ticks = ticks;
	thread->known = true;
	return true;
}

static void read_halts(struct machine *machine, double elapsed_s)
{
	uint64_t count;

	machine->view.halts = (double)NAN;
	if (machine->halts.kind == SYS_AGAIN_CLOSED || sys_again_number(&machine->halts, &count) < 0)
		return;
	if (machine->halts_known && count >= machine->halt_count && elapsed_s > 0)
		machine->view.halts = (double)(count - machine->halt_count) / elapsed_s;
	machine->halt_count = count;
	machine->halts_known = true;
}

bool watch_vms_read(struct watch_vms *vms, double elapsed_s, struct watch_vm **ret, size_t *ret_count)
{
	size_t count = 0;
	bool gone = false;

	for (size_t i = 0; i < vms->count; i++) {
		struct machine *machine = &vms->machines[i];
		struct watch_vm *view = &machine->view;
		int there = 0;

		view->use = (double)NAN;
		for (int k = 0; k < view->count && !machine->gone; k++) {
			there += read_thread(&machine->threads[k], elapsed_s, &view->vcpus[k]);
			if (isfinite(view->vcpus[k].use))
				view->use = (isfinite(view->use) ? view->use : 0) + view->vcpus[k].use;
		}
		machine->gone |= view->count && !there;
		gone |= machine->gone;
		if (machine->gone)
			continue;
		read_halts(machine, elapsed_s);
		vms->views[count++] = *view;
	}
	*ret = vms->views;
	*ret_count = count;
	return gone;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in vm_joined.h. */
#include "vm_joined.h"

#include <inttypes.h>

#include "text.h"
#include "vm_nic.h"

static void take_iothreads(struct vm *definition, const struct vm *process)
{
	for (int i = 0; i < process->iothread_count; i++)
		for (int j = 0; j < definition->iothread_count; j++)
			if (definition->iothreads[j].id == process->iothreads[i].id) {
				definition->iothreads[j].tid = process->iothreads[i].tid;
				definition->iothreads[j].running = process->iothreads[i].running;
			}
}

/* What only runs: threads, where they may run, where memory lies. Both live as long as the list of VMs. */
static void join(struct vm *definition, const struct vm *process)
{
	definition->state = VM_STATE_RUNNING;
	definition->pid = process->pid;
	definition->process = process;
	for (int id = 0; process->vcpus && definition->vcpus && id < process->vcpu_max && id < definition->vcpu_max;
	     id++) {
		definition->vcpus[id].tid = process->vcpus[id].tid;
		definition->vcpus[id].running = process->vcpus[id].running;
	}
	take_iothreads(definition, process);
	definition->emulator_running = process->emulator_running;
	definition->vhosts = process->vhosts;
	definition->vhost_count = process->vhost_count;
	definition->cgroup_cpus = process->cgroup_cpus;
	definition->node_kib = process->node_kib;
	definition->node_source = process->node_source;
}

static int by_process(const void *a, const void *b)
{
	const struct vm *one = *(struct vm *const *)a, *other = *(struct vm *const *)b;

	/* Processes that are not seen are all number 0. */
	return one->pid != other->pid ? (one->pid > other->pid) - (one->pid < other->pid)
				      : strcmp(one->name ? one->name : "", other->name ? other->name : "");
}

/*
 * Running ones first, in the order in which they were started, as virsh lists them: a capture hides names, and what is
 * said of VMs side by side must not hang on them. The others by the name of their file.
 */
static void running_first(struct vm_joined *vms)
{
	struct vm **sorted = ARENA_ARRAY(vms->arena, (size_t)vms->count, struct vm *);
	int at = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < vms->count; i++)
			if ((vms->vms[i]->state == VM_STATE_RUNNING) == (pass == 0))
				sorted[at++] = vms->vms[i];
	for (int i = 0; i < vms->count; i++)
		vms->running_count += sorted[i]->state == VM_STATE_RUNNING;
	if (vms->running_count)
		qsort(sorted, (size_t)vms->running_count, sizeof(struct vm *), by_process);
	vms->vms = sorted;
}

int vm_joined_read(struct host *host, const char *connect, struct vm_joined **ret, struct err *err)
{
	struct vm_host *list;
	int r = vm_host_read(host, connect, &list, err);

	if (r < 0)
		return r;
	struct arena *arena = list->arena;
	struct vm_joined *vms = ARENA_NEW(arena, struct vm_joined);

	*vms = (struct vm_joined){.arena = arena, .list = list, .refused = list->refused};
	vms->vms = ARENA_ARRAY(arena, (size_t)list->count, struct vm *);
	for (int i = 0; i < list->count; i++) {
		struct vm *declared = list->entries[i].declared, *running = list->entries[i].running;

		if (declared && running)
			join(declared, running);
		if (declared || running)
			vms->vms[vms->count++] = declared ? declared : running;
		if (declared || running)
			vm_find_ports(host, vms->vms[vms->count - 1]);
	}
	running_first(vms);
	*ret = vms;
	return 0;
}

struct vm_joined *vm_joined_free(struct vm_joined *vms)
{
	if (vms)
		(void)vm_host_free(vms->list);
	return NULL;
}

void vm_joined_free_pointer(struct vm_joined **vms)
{
	*vms = vm_joined_free(*vms);
}

const char *vm_joined_summary(const struct vm_joined *vms)
{
	int stopped = vms->count - vms->running_count;
	const char *text = "";

	if (vms->running_count)
		text =
		    arena_printf(vms->arena, "%d VM%s running", vms->running_count, vms->running_count == 1 ? "" : "s");
	if (stopped)
		text = arena_printf(vms->arena, "%s%s%d%s defined", text, *text ? ", " : "", stopped,
				    *text	   ? ""
				    : stopped == 1 ? " VM"
						   : " VMs");
	return text;
}

/* ---- rows ---- */

static void add_text(struct host_rows *rows, const char *label, const char *text, const char *source)
{
	struct fact fact = text ? fact_text("vm", text, source) : fact_absent("vm", source);

	fact.type = FACT_TEXT;
	host_rows_add(rows, label, &fact);
}

static void add_set(struct host_rows *rows, const char *label, const struct vm_set *set, const char *source)
{
	add_text(rows, label, set->given ? cpuset_format(rows->arena, &set->set) : NULL, source);
}

static void add_pins(struct host_rows *rows, const struct vm *vm)
{
	struct cpuset declared = vm_vcpu_cpus(vm), running = {0};
	bool runs = false;

	for (int id = 0; vm->vcpus && id < vm->vcpu_max; id++) {
		if (!vm->vcpus[id].running.given)
			continue;
		runs = true;
		running = cpuset_or(&running, &vm->vcpus[id].running.set);
	}
	add_text(rows, "Pinned to",
		 cpuset_empty(&declared) ? NULL
					 : arena_printf(rows->arena, "%s%s", cpuset_format(rows->arena, &declared),
							vm_is_pinned_one_to_one(vm) ? ", one to one" : ""),
		 vm->path);
	add_text(rows, "vCPUs may run on", runs ? cpuset_format(rows->arena, &running) : NULL, vm->path);
	add_set(rows, "Emulator", vm->emulator_running.given ? &vm->emulator_running : &vm->emulator, vm->path);
}

static void add_memory(const struct host *host, struct host_rows *rows, const struct vm *vm)
{
	const char *where = "";

	add_text(rows, "Memory", vm->memory_kib ? text_kib(rows->arena, vm->memory_kib) : NULL, vm->path);
	add_text(rows, "Pages",
		 !vm->hugepages ? "of the host, transparent"
		 : vm->page_count && vm->pages[0].size_kib
		     ? arena_printf(rows->arena, "hugepages of %s", text_kib(rows->arena, vm->pages[0].size_kib))
		     : "hugepages of the default size",
		 vm->path);
	add_set(rows, "Memory nodes", &vm->numa_nodes, vm->path);
	for (int i = 0; vm->node_kib && i < host->topology.node_count; i++)
		if (vm->node_kib[i] > 0)
			where = arena_printf(rows->arena, "%s%s%s on node %d", where, *where ? ", " : "",
					     text_kib(rows->arena, vm->node_kib[i]), host->topology.nodes[i].os_node);
	add_text(rows, "Memory lies", *where ? where : NULL, vm->path);
}

static const char *counted(struct arena *arena, int count, const char *word)
{
	return arena_printf(arena, "%d %s%s", count, word, count == 1 ? "" : "s");
}

/* "16: 2 sockets x 1 die x 4 cores x 2 threads" */
static const char *vcpus_text(struct arena *arena, const struct vm *vm)
{
	const struct vm_cpu *cpu = &vm->cpu;

	if (vm->vcpu_max < 1)
		return NULL;
	if (!cpu->topology_given)
		return arena_printf(arena, "%d", vm->vcpu_max);
	return arena_printf(arena, "%d: %s x %s x %s x %s", vm->vcpu_max, counted(arena, cpu->sockets, "socket"),
			    counted(arena, cpu->dies, "die"), counted(arena, cpu->cores, "core"),
			    counted(arena, cpu->threads, "thread"));
}

/* I/O threads by name or number with their CPUs, those of vhost together. */
static void add_threads(struct host_rows *rows, const struct vm *vm)
{
	struct arena *arena = rows->arena;
	struct cpuset vhosts = {0};
	const char *text = "";

	for (int i = 0; i < vm->iothread_count; i++) {
		const struct vm_iothread *thread = &vm->iothreads[i];
		const struct vm_set *set = thread->running.given ? &thread->running : &thread->pin;

		text = arena_printf(arena, "%s%s%s%s%s", text, *text ? ", " : "",
				    thread->name ? thread->name : arena_printf(arena, "%" PRId64, thread->id),
				    set->given ? " on " : "", set->given ? cpuset_format(arena, &set->set) : "");
	}
	if (*text)
		add_text(rows, "I/O threads", text, vm->path);
	for (int i = 0; i < vm->vhost_count; i++)
		if (vm->vhosts[i].running.given)
			vhosts = cpuset_or(&vhosts, &vm->vhosts[i].running.set);
	if (vm->vhost_count)
		add_text(rows, "vhost",
			 arena_printf(arena, "%s%s%s", counted(arena, vm->vhost_count, "worker"),
				      cpuset_empty(&vhosts) ? "" : " on ", cpuset_format(arena, &vhosts)),
			 vm->path);
}

static void add_vm(const struct host *host, struct host_rows *rows, const struct vm *vm)
{
	rows->section = vm->name ? vm->name : "Without a name";
	add_text(rows, "State",
		 vm->state == VM_STATE_RUNNING
		     ? vm->pid ? arena_printf(rows->arena, "running, process %d", vm->pid) : "running"
		     : "defined",
		 vm->path);
	add_text(rows, "vCPUs", vcpus_text(rows->arena, vm), vm->path);
	add_pins(rows, vm);
	add_threads(rows, vm);
	add_memory(host, rows, vm);
	for (int i = 0; i < vm->note_count; i++)
		add_text(rows, "Remark", vm->notes[i].text, vm->path);
}

/* What is there and cannot be read as a VM. */
static void add_problems(struct host_rows *rows, const struct vm_host *list)
{
	for (int i = 0; i < list->count; i++)
		if (list->entries[i].problem)
			add_text(rows, "Not readable", list->entries[i].problem, list->entries[i].name);
}

void vm_joined_rows(const struct host *host, const struct vm_joined *vms, struct host_rows *rows)
{
	for (int i = 0; i < vms->count; i++)
		add_vm(host, rows, vms->vms[i]);
	rows->section = NULL;
	add_problems(rows, vms->list);
	if (vms->refused)
		add_text(rows, "Not readable", arena_printf(rows->arena, "%s: needs root", vms->refused), vms->refused);
	if (!vms->count)
		add_text(rows, "VMs", vms->refused ? "none that can be seen" : "none", "processes, libvirt, Proxmox");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what runs of a VM: threads, control group, memory. */
#include "vm_process.h"

#include "text.h"
#include "vm_process_internal.h"
#include "vm_qemu_line.h"

enum { THREAD_LIMIT = 20000, VCPU_LIMIT = 4096, COMM_LENGTH = 15 };

struct process {
	struct host *host;
	struct vm *vm;
	int pid;
	int named; /* threads with a name of QEMU's own */
	struct vm_process_budget *budget;
	const char *own_group; /* directory of the cgroup (v2) that holds this VM alone, or NULL */
	int vcpu_room, vhost_room;
};

static void note(struct process *process, const char *text)
{
	vm_add_note(process->vm, (struct vm_place){0}, text);
}

/* ---- affinity ---- */

/* What stands behind "NAME:" in a text of lines, or NULL. */
static const char *line_value(struct arena *arena, const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return text_trim(arena,
					 arena_strndup(arena, line + length + 1, strcspn(line + length + 1, "\n")));
	}
	return NULL;
}

static struct vm_set set_of_list(struct arena *arena, const char *text)
{
	struct vm_set set = {0};

	if (!text)
		return set;
	set.given = cpuset_parse(text, &set.set, NULL) == 0 && !cpuset_empty(&set.set);
	if (!set.given)
		set.text = arena_strdup(arena, text);
	return set;
}

/* Where a thread may run. `owner` is the process that it is a thread of; 0: it is a process itself. */
static struct vm_set affinity_of(struct process *process, int owner, int tid)
{
	struct sys *sys = process->host->sys;
	const struct sys_look *status =
	    owner ? sys_read(sys, "/proc/%d/task/%d/status", owner, tid) : sys_read(sys, "/proc/%d/status", tid);

	return status->state == SYS_VALUE
		   ? set_of_list(process->vm->arena, line_value(process->vm->arena, status->data, "Cpus_allowed_list"))
		   : (struct vm_set){0};
}

/* ---- threads ---- */

/* Make room for vCPU `id`, when the command line did not tell how many there are. */
static struct vm_vcpu *vcpu_of(struct process *process, int64_t id)
{
	struct vm *vm = process->vm;

	if (id < 0 || id >= VCPU_LIMIT)
		return NULL;
	if (id >= vm->vcpu_max && id >= process->vcpu_room) {
		process->vcpu_room = 2 * (int)id + 8;
		struct vm_vcpu *larger = ARENA_ARRAY(vm->arena, (size_t)process->vcpu_room, struct vm_vcpu);

		for (int i = 0; i < process->vcpu_room; i++)
			larger[i] = i < vm->vcpu_max ? vm->vcpus[i] : (struct vm_vcpu){.id = i};
		vm->vcpus = larger;
	}
	vm->vcpu_max = MAX_OF(vm->vcpu_max, (int)id + 1);
	return &vm->vcpus[id];
}

static void set_vcpu(struct process *process, int64_t id, int tid)
{
	struct vm_vcpu *vcpu = vcpu_of(process, id);

	if (!vcpu)
		return;
	vcpu->tid = tid;
	vcpu->enabled = true;
	vcpu->running = affinity_of(process, process->pid, tid);
}

/* "CPU 12/KVM" */
static bool take_vcpu(struct process *process, const char *name, int tid)
{
	const char *number = name + strlen("CPU "), *slash = strchr(name, '/');
	int64_t id;

	if (!text_starts(name, "CPU ") || !slash ||
	    text_int(arena_strndup(process->vm->arena, number, (size_t)(slash - number)), 10, &id) < 0)
		return false;
	set_vcpu(process, id, tid);
	return true;
}

static void set_iothread(struct process *process, struct vm_iothread *thread, int tid)
{
	thread->tid = tid;
	thread->running = affinity_of(process, process->pid, tid);
}

/*
 * "IO iothread-vir": the kernel keeps 15 characters, which several names may begin with. Threads start in the order in
 * which their objects are declared, and are looked at in the order of their numbers.
 */
static bool take_iothread(struct process *process, const char *name, int tid)
{
	struct vm *vm = process->vm;
	const char *object = name + strlen("IO ");
	bool cut = strlen(name) >= COMM_LENGTH;

	if (!text_starts(name, "IO "))
		return false;
	for (int i = 0; i < vm->iothread_count; i++) {
		struct vm_iothread *thread = &vm->iothreads[i];

		if (thread->tid || !thread->name ||
		    !(cut ? text_starts(thread->name, object) : text_equal(thread->name, object)))
			continue;
		set_iothread(process, thread, tid);
		break;
	}
	return true;
}

static void add_vhost(struct process *process, int owner, int tid)
{
	struct vm *vm = process->vm;

	if (vm->vhost_count >= VCPU_LIMIT)
		return;
	if (vm->vhost_count == process->vhost_room) {
		process->vhost_room = process->vhost_room ? process->vhost_room * 2 : 8;
		struct vm_vhost *larger = ARENA_ARRAY(vm->arena, (size_t)process->vhost_room, struct vm_vhost);

		if (vm->vhost_count)
			memcpy(larger, vm->vhosts, (size_t)vm->vhost_count * sizeof(*larger));
		vm->vhosts = larger;
	}
	vm->vhosts[vm->vhost_count++] = (struct vm_vhost){.tid = tid, .running = affinity_of(process, owner, tid)};
}

static bool is_vhost(const struct process *process, const char *name)
{
	return text_equal(name, arena_printf(process->vm->arena, "vhost-%d", process->pid));
}

static void take_thread(struct process *process, const char *text)
{
	struct vm *vm = process->vm;
	const struct sys_look *comm = sys_read(process->host->sys, "/proc/%d/task/%s/comm", process->pid, text);
	int64_t tid;

	if (text_int(text, 10, &tid) < 0 || tid <= 0 || tid > INT32_MAX || comm->state != SYS_VALUE)
		return;
	const char *name = text_trim(vm->arena, comm->data);

	if (tid == process->pid)
		vm->emulator_running = affinity_of(process, process->pid, (int)tid);
	else if (take_vcpu(process, name, (int)tid) || take_iothread(process, name, (int)tid))
		process->named++;
	else if (is_vhost(process, name))
		add_vhost(process, process->pid, (int)tid);
}

/* Do two I/O threads have names that begin with the same 12 characters, all that is left behind "IO "? */
static bool has_names_alike(const struct vm *vm)
{
	const size_t kept = COMM_LENGTH - strlen("IO ");

	for (int i = 0; i < vm->iothread_count; i++)
		for (int j = 0; j < i; j++)
			if (vm->iothreads[i].name && vm->iothreads[j].name && strlen(vm->iothreads[i].name) >= kept &&
			    strncmp(vm->iothreads[i].name, vm->iothreads[j].name, kept) == 0)
				return true;
	return false;
}

static bool is_task(const struct sys_look *tasks, int tid)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", tid);
	for (size_t i = 0; i < tasks->size; i++)
		if (text_equal(tasks->names[i], text))
			return true;
	return false;
}

/* What QEMU itself says of its threads; NULL, or why it does not. */
static const char *ask(struct process *process, const struct sys_look *tasks)
{
	struct vm *vm = process->vm;
	struct vm_process_threads threads = {.arena = vm->arena};
	const char *problem = vm_ask_monitor(process->host, vm, &process->budget->silent, &threads);

	for (int i = 0; i < threads.count; i++) {
		const struct vm_process_thread *thread = &threads.list[i];

		/* It may have ended since. */
		if (!is_task(tasks, thread->tid))
			continue;
		if (thread->vcpu >= 0)
			set_vcpu(process, thread->vcpu, thread->tid);
		for (int j = 0; j < vm->iothread_count; j++)
			if (text_equal(vm->iothreads[j].name, thread->iothread))
				set_iothread(process, &vm->iothreads[j], thread->tid);
	}
	return problem;
}

/*
 * Names cost nothing and disturb nobody, so the monitor is asked only for what they leave open: it is made for one
 * client at a time.
 */
static void read_threads(struct process *process)
{
	const struct sys_look *tasks = sys_list(process->host->sys, "/proc/%d/task", process->pid);
	const char *problem = NULL;

	if (tasks->state != SYS_VALUE)
		return;
	for (size_t i = 0; i < tasks->size && i < THREAD_LIMIT; i++)
		take_thread(process, tasks->names[i]);
	if (tasks->size > 1 && (!process->named || has_names_alike(process->vm)))
		problem = ask(process, tasks);
	if (problem && !process->named)
		note(process, arena_printf(process->vm->arena,
					   "its threads have no names (-name ...,debug-threads=on), and %s: which is a "
					   "vCPU is not known",
					   problem));
}

/* ---- control group ---- */

/* The group's path in a hierarchy that has cpuset: of cgroup v2, else of v1's controller; NULL: none. */
static const char *group_of(struct process *process, const char **ret_mount)
{
	struct arena *arena = process->vm->arena;
	const struct sys_look *look = sys_read(process->host->sys, "/proc/%d/cgroup", process->pid);
	const char *unified = NULL;

	if (look->state != SYS_VALUE)
		return NULL;
	for (const char *line = look->data; *line;) {
		size_t length = strcspn(line, "\n");
		const char *text = arena_strndup(arena, line, length), *colon = strchr(text, ':');
		const char *path = colon ? strchr(colon + 1, ':') : NULL;

		line += length + (line[length] == '\n');
		if (!path)
			continue;
		const char *controllers = arena_strndup(arena, colon + 1, (size_t)(path - colon - 1));

		if (text_has_word(controllers, ",", "cpuset")) {
			*ret_mount = "/sys/fs/cgroup/cpuset";
			return path + 1;
		}
		if (!*controllers)
			unified = path + 1;
	}
	*ret_mount = "/sys/fs/cgroup";
	return unified;
}

/* libvirt puts threads into groups below the one that holds the VM. */
static void strip(char *path, const char *end)
{
	size_t length = strlen(path), of_end = strlen(end);

	if (length > of_end && text_equal(path + length - of_end, end))
		path[length - of_end] = '\0';
}

/* The CPUs of the group, or of the nearest one above it that has the controller. */
static void read_cpus_of_group(struct process *process, const char *mount, const char *group)
{
	enum { DEPTH_LIMIT = 16 };
	struct vm *vm = process->vm;
	char *path = arena_strdup(vm->arena, group);

	strip(path, "/emulator");
	strip(path, "/libvirt");
	for (int i = 0; i < DEPTH_LIMIT && *path && !vm->cgroup_cpus.given; i++) {
		static const char *const files[] = {"cpuset.cpus.effective", "cpuset.effective_cpus"};
		const struct sys_look *look = sys_read(process->host->sys, "%s%s/%s", mount, path,
						       files[text_equal(mount, "/sys/fs/cgroup") ? 0 : 1]);
		char *slash = strrchr(path, '/');

		if (look->state == SYS_VALUE)
			vm->cgroup_cpus = set_of_list(vm->arena, text_trim(vm->arena, look->data));
		if (!slash)
			break;
		*slash = '\0';
	}
}

/* How many vhost workers the command line asks for. */
static int vhosts_wanted(const struct vm *vm)
{
	int wanted = 0;

	for (int i = 0; i < vm->nic_count; i++)
		if (text_equal(vm->nics[i].driver, "vhost"))
			wanted += MAX_OF(vm->nics[i].queues, 1);
	return wanted;
}

/* Before Linux 6.4 they are kernel threads, which are in the group of the thread that made them. */
static void read_vhosts_of_group(struct process *process, const char *mount, const char *group)
{
	struct vm *vm = process->vm;
	struct sys *sys = process->host->sys;
	bool v2 = text_equal(mount, "/sys/fs/cgroup");
	const struct sys_look *threads = sys_read(sys, "%s%s/%s", mount, group, v2 ? "cgroup.threads" : "tasks");

	if (threads->state != SYS_VALUE)
		return;
	for (const char *line = threads->data; *line && vm->vhost_count < VCPU_LIMIT;) {
		size_t length = strcspn(line, "\n");
		int64_t tid;
		bool number =
		    text_int(arena_strndup(vm->arena, line, length), 10, &tid) == 0 && tid > 0 && tid <= INT32_MAX;

		line += length + (line[length] == '\n');
		if (!number || tid == process->pid)
			continue;
		const struct sys_look *comm = sys_read(sys, "/proc/%d/comm", (int)tid);

		if (comm->state == SYS_VALUE && is_vhost(process, text_trim(vm->arena, comm->data)))
			add_vhost(process, 0, (int)tid);
	}
}

/* libvirt and Proxmox give each VM a scope of its own; a QEMU that was started by hand shares a session's. */
static const char *own_group(struct process *process, const char *mount, const char *group)
{
	char *path = arena_strdup(process->vm->arena, group);

	strip(path, "/emulator");
	strip(path, "/libvirt");
	if (!text_equal(mount, "/sys/fs/cgroup") ||
	    (!strstr(path, "/machine-qemu") && !text_starts(path, "/qemu.slice/")))
		return NULL;
	return arena_printf(process->vm->arena, "%s%s", mount, path);
}

static void read_group(struct process *process)
{
	const char *mount = NULL, *group = group_of(process, &mount);

	if (!group)
		return;
	read_cpus_of_group(process, mount, group);
	process->own_group = own_group(process, mount, group);
	if (process->vm->vhost_count == 0 && vhosts_wanted(process->vm) > 0)
		read_vhosts_of_group(process, mount, group);
}

/* ---- the whole ---- */

/* The VM of a process; NULL: it does not run QEMU, or has ended. */
static struct vm *read_process(struct host *host, int pid, struct vm_process_budget *budget)
{
	const struct sys_look *cmdline = sys_read(host->sys, "/proc/%d/cmdline", pid);
	char path[32];
	struct vm *vm = NULL;
	struct err err = {0};

	(void)snprintf(path, sizeof(path), "/proc/%d", pid);
	if (cmdline->state != SYS_VALUE || !cmdline->size || !vm_is_qemu_program(cmdline->data))
		return NULL;
	struct process process = {.host = host, .pid = pid, .budget = budget};

	if (vm_read_qemu_line(path, cmdline->data, cmdline->size, &vm, &err) < 0) {
		vm = vm_new(VM_QEMU_PROCESS, path);
		process.vm = vm;
		note(&process, arena_printf(vm->arena, "its command line is not understood: %s", err.what));
	}
	process.vm = vm;
	vm->source = VM_QEMU_PROCESS;
	vm->state = VM_STATE_RUNNING;
	vm->pid = pid;
	read_threads(&process);
	read_group(&process);
	vm_read_memory(host, vm, process.own_group, budget);
	return vm;
}

int vm_running(struct host *host, struct arena *arena, struct vm ***ret, int *ret_count, struct err *err)
{
	struct vm_pids pids = {.arena = arena};
	struct vm_process_budget budget = {.ordinary_kib = VM_ORDINARY_MAX_KIB};
	int count = 0;

	(void)err;
	vm_find_processes(host, &pids);
	struct vm **list = ARENA_ARRAY(arena, (size_t)pids.count + 1, struct vm *);

	for (int i = 0; i < pids.count; i++) {
		struct vm *vm = read_process(host, pids.list[i], &budget);

		if (vm)
			list[count++] = vm;
	}
	*ret = list;
	*ret_count = count;
	return 0;
}

void vm_running_free(struct vm **list, int count)
{
	for (int i = 0; list && i < count; i++)
		(void)vm_free(list[i]);
}

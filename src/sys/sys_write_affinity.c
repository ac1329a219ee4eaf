/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns changes of a machine that are no writes to files: where threads may run, what a library changes for us, and what
 * ioctls do.
 */
#include <errno.h>
#include <sys/ioctl.h>

#include "sys.h"
#include "sys_write_internal.h"
#include "text.h"

int sys_writer_call(struct sys_writer *writer, const char *call, const char *what, const char *value,
		    int (*change)(void *data), void *data)
{
	size_t size = value ? strlen(value) : 0;
	int r = sys_write_pass(writer, SYS_WRITE_BEFORE, call, what, value, size);

	if (r < 0)
		return r;
	r = change(data);
	(void)sys_write_pass(writer, SYS_WRITE_AFTER, call, what, value, size);
	return r;
}

int sys_write_ioctl(const struct sys_writer *writer, const struct sys_ioctl *call)
{
	int r = call->sets ? sys_write_pass(writer, SYS_WRITE_BEFORE, "ioctl", call->device, NULL, 0) : 0;

	if (r < 0)
		return r;
	if (call->fd < 0)
		r = sys_write_play(writer, call->device, call->request, call->played);
	else
		r = ioctl(call->fd, call->request, call->argument) < 0 ? -errno : 0;
	if (call->sets)
		(void)sys_write_pass(writer, SYS_WRITE_AFTER, "ioctl", call->device, NULL, 0);
	return r;
}

struct pinning {
	const struct sys_writer *writer;
	int tid;
	const struct cpuset *cpus;
};

static int set_affinity(void *data)
{
	const struct pinning *pinning = data;

	if (!sys_writer_is_live(pinning->writer))
		return sys_write_has_gate(pinning->writer) ? 0 : -EXDEV;
	return sched_setaffinity(pinning->tid, sizeof(*pinning->cpus), (const cpu_set_t *)pinning->cpus) < 0 ? -errno
													     : 0;
}

int sys_writer_set_affinity(struct sys_writer *writer, int pid, int tid, const struct cpuset *cpus, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct pinning pinning = {writer, tid, cpus};
	const char *what = arena_printf(arena, "/proc/%d/task/%d", pid, tid), *list = cpuset_format(arena, cpus);
	int r = sys_writer_call(writer, "sched_setaffinity", what, list, set_affinity, &pinning);

	if (r == -EINVAL)
		return err_set(err, EINVAL, what, "may not run on %s: no such CPU is online and in its control group",
			       list);
	if (r == -EXDEV)
		return err_set(err, EXDEV, what, "can only be moved on the running machine");
	if (r == -ESRCH)
		return err_set(err, ENOENT, what, "has ended");
	return r < 0 ? err_set(err, -r, what, "could not be moved to CPU %s: %s", list, sys_reason(-r)) : 0;
}

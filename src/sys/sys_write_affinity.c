/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns changes of a machine that are no writes to files: where threads may run, and what a library changes for us. */
#include <errno.h>

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

struct pinning {
	struct sys_writer *writer;
	struct arena *arena;
	const char *status; /* the thread's file */
	int tid;
	const struct cpuset *cpus;
};

static int set_of_kernel(void *data)
{
	const struct pinning *pinning = data;

	return sched_setaffinity(pinning->tid, sizeof(*pinning->cpus), (const cpu_set_t *)pinning->cpus) < 0 ? -errno
													     : 0;
}

/* A directory that holds a machine as files has no threads: there it is the line that would show it. */
static int set_in_file(void *data)
{
	static const char name[] = "Cpus_allowed_list:\t";
	const struct pinning *pinning = data;
	struct err err = {0};
	const char *text, *line, *end;
	int r = sys_writer_read(pinning->writer, pinning->arena, pinning->status, &text, NULL, &err);

	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	line = strstr(text, name);
	if (!line)
		return -EINVAL;
	line += strlen(name);
	end = line + strcspn(line, "\n");
	text = arena_printf(pinning->arena, "%.*s%s%s", (int)(line - text), text,
			    cpuset_format(pinning->arena, pinning->cpus), end);
	return sys_writer_set(pinning->writer, pinning->status, text, strlen(text), &err);
}

int sys_writer_set_affinity(struct sys_writer *writer, int pid, int tid, const struct cpuset *cpus, struct err *err)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	struct pinning pinning = {writer, arena, arena_printf(arena, "/proc/%d/task/%d/status", pid, tid), tid, cpus};
	const char *what = arena_printf(arena, "/proc/%d/task/%d", pid, tid), *list = cpuset_format(arena, cpus);
	int r = sys_writer_call(writer, "sched_setaffinity", what, list,
				sys_writer_is_live(writer) ? set_of_kernel : set_in_file, &pinning);

	if (r == -EINVAL)
		return err_set(err, EINVAL, what, "may not run on %s: no such CPU is online and in its control group",
			       list);
	if (r == -ESRCH)
		return err_set(err, ENOENT, what, "has ended");
	return r < 0 ? err_set(err, -r, what, "could not be moved to CPU %s: %s", list, sys_reason(-r)) : 0;
}

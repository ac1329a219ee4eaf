/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in knob_vm_where.h. */
#include "knob_vm_where.h"

#include <errno.h>
#include <inttypes.h>

#include "text.h"

static const char *const kinds[] = {
    [KNOB_VM_VCPU] = "vcpu",	 [KNOB_VM_EMULATOR] = "emulator", [KNOB_VM_IOTHREAD] = "iothread",
    [KNOB_VM_MEMORY] = "memory", [KNOB_VM_THREAD] = "thread",
};

const char *knob_vm_where_text(struct arena *arena, const struct knob_vm_where *where)
{
	return arena_printf(arena, "%s %s %" PRId64 " pid %d start %" PRId64 " tid %d", where->uuid, kinds[where->kind],
			    where->index, where->pid, where->start, where->tid);
}

int knob_vm_where_parse(const char *text, struct knob_vm_where *ret, struct err *err)
{
	struct knob_vm_where where = {0};
	char kind[16];
	int end = 0;

	/* NOLINTNEXTLINE(cert-err34-c): a number that is too large for its field names no process that exists. */
	if (sscanf(text, "%63s %15s %" SCNd64 " pid %d start %" SCNd64 " tid %d%n", where.uuid, kind, &where.index,
		   &where.pid, &where.start, &where.tid, &end) == 6 &&
	    !text[end] && where.pid > 0 && where.tid > 0 && where.index >= 0 && where.index <= INT32_MAX)
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (text_equal(kinds[i], kind)) {
				where.kind = (enum knob_vm_kind)i;
				*ret = where;
				return 0;
			}
	return err_set(err, EINVAL, text, "names no thread of a VM");
}

/* A file of /proc: whatever is not there has ended. */
static int read_proc(struct knob_machine *machine, const char *path, const char **ret, struct err *err)
{
	int r = sys_writer_read(machine->writer, machine->arena, path, ret, NULL, err);

	return r == -ESRCH || r == -ENOTDIR ? -ENOENT : r;
}

int knob_vm_start_of(struct knob_machine *machine, int pid, int64_t *ret, struct err *err)
{
	enum { FIELD = 22 };
	const char *path = arena_printf(machine->arena, "/proc/%d/stat", pid), *text, *at;
	int r = read_proc(machine, path, &text, err);

	if (r < 0)
		return r;
	/* The second field is the name, in parentheses, with whatever it is made of. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return err_set(err, EINVAL, path, "does not tell when the process was started");
	*ret = strtoll(at, NULL, 10);
	return 0;
}

int knob_vm_still_runs(struct knob_machine *machine, const struct knob_vm_where *where, struct err *err)
{
	int64_t start = 0;
	int r = knob_vm_start_of(machine, where->pid, &start, err);

	return r == -ENOENT || (r == 0 && start != where->start)
		   ? err_set(err, ENOENT, NULL, "the VM has ended, or was started again since")
		   : r;
}

int knob_vm_status_set(struct knob_machine *machine, const struct knob_vm_where *where, const char *name,
		       struct cpuset *ret, struct err *err)
{
	const char *path = arena_printf(machine->arena, "/proc/%d/task/%d/status", where->pid, where->tid), *text;
	const char *key = arena_printf(machine->arena, "\n%s:", name), *line;
	int r = read_proc(machine, path, &text, err);

	if (r < 0)
		return r;
	line = strstr(text, key);
	if (!line)
		return err_set(err, EINVAL, path, "has no %s", name);
	line += strlen(key);
	return cpuset_parse(arena_strndup(machine->arena, line, strcspn(line, "\n")), ret, err);
}

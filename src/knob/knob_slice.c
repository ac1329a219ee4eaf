/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the CPUs of slices; see knob_slice.h. */
#include "knob_slice.h"

#include <errno.h>
#include <time.h>

#include "cpuset.h"
#include "host.h"
#include "knob_systemd.h"
#include "text.h"
#include "vm_process.h"

/* systemd brings its groups up to date a moment after it has answered. */
enum { SETTLE_MS = 5000, POLL_MS = 20 };

#define GROUPS "/sys/fs/cgroup"
#define ALL "all"   /* there is no limit */
#define NONE "none" /* of a lasting limit: hvtune sets none */
#define BEFORE "# Without this file: "
#define SETTING "AllowedCPUs="

static bool is_lasting(const char *where)
{
	return text_starts(where, "/etc/");
}

/* "machine.slice" of ".../machine.slice.d/91-hvtune.conf". */
static const char *slice_of(struct arena *arena, const char *where)
{
	const char *end = strrchr(where, '/'), *start = end;

	while (start > where && start[-1] != '/')
		start--;
	return arena_strndup(arena, start, (size_t)(end - start) - strlen(".d"));
}

/* "system-foo.slice" lies in "system.slice". */
static const char *group_of(struct arena *arena, const char *slice)
{
	const char *path = GROUPS;

	for (const char *dash = strchr(slice, '-'); dash; dash = strchr(dash + 1, '-'))
		path = arena_printf(arena, "%s/%.*s.slice", path, (int)(dash - slice), slice);
	return arena_printf(arena, "%s/%s", path, slice);
}

/* What stands behind a word at the start of a line, the last time; NULL: nowhere. */
static const char *line_of(struct arena *arena, const char *text, const char *word)
{
	const char *found = NULL;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (text_starts(at, word))
			found = arena_strndup(arena, at + strlen(word), strcspn(at, "\n") - strlen(word));
	return found;
}

/* The kernel's list; "all" where the group is not there or has no limit. */
static int held_by_kernel(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	const char *path =
	    arena_printf(machine->arena, "%s/cpuset.cpus", group_of(machine->arena, slice_of(machine->arena, where)));
	const char *text;
	int r = sys_writer_read(machine->writer, machine->arena, path, &text, NULL, err);

	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -ENODEV)
		return r;
	*ret = r == 0 ? text_trim(machine->arena, text) : "";
	if (!**ret)
		*ret = ALL;
	return 0;
}

/* The drop-in; NULL: there is none. */
static int read_own(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	int r = sys_writer_read(machine->writer, machine->arena, where, ret, NULL, err);

	if (r != -ENOENT && r != -ENOTDIR)
		return r;
	*ret = NULL;
	return 0;
}

static const char *interface_of(const char *slice)
{
	return text_equal(slice, "init.scope") ? "Scope" : "Slice";
}

/* A mask of bytes as systemd tells it ("255 1": CPUs 0-8); "all" when it is empty. */
static const char *list_of_mask(struct arena *arena, const char *mask)
{
	struct cpuset cpus = {0};
	int base = 0;

	for (const char *at = mask; *at && base < CPUSET_MAX; base += 8) {
		size_t length = strcspn(at, " ");
		int64_t byte = 0;

		(void)text_int(arena_strndup(arena, at, length), 10, &byte);
		for (int bit = 0; bit < 8; bit++)
			if (byte & (1 << bit))
				cpuset_add(&cpus, base + bit);
		at += length + (at[length] == ' ');
	}
	return cpuset_empty(&cpus) ? ALL : cpuset_format(arena, &cpus);
}

/* The limit that systemd has for the slice, ours or another's. Its kernel group follows a moment later. */
static int held_by_systemd(struct knob_machine *machine, const char *where, bool fresh, const char **ret,
			   struct err *err)
{
	const char *slice = slice_of(machine->arena, where), *mask = "", *stale = "";
	struct systemd_unit unit = {0};
	int r = knob_unit_read(machine, slice, &unit, err);

	/* A slice that nothing was ever put into. */
	if (r == -ENOENT) {
		*ret = ALL;
		return 0;
	}
	if (r == 0 && fresh)
		r = knob_unit_property(machine, &unit, "Unit", "NeedDaemonReload", &stale, err);
	if (r == 0 && text_equal(stale, "true"))
		r = knob_units_reload(machine, err);
	if (r == 0)
		r = knob_unit_property(machine, &unit, interface_of(slice), "AllowedCPUs", &mask, err);
	if (r == 0)
		*ret = list_of_mask(machine->arena, mask);
	return r;
}

static int get(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	struct systemd_unit unit = {0};
	const char *own = NULL;
	/* Asked first, so that a plan is refused where no systemd could carry it out. */
	int r = knob_unit_read(machine, slice_of(machine->arena, where), &unit, err);

	if (r == 0 || r == -ENOENT)
		r = read_own(machine, where, &own, err);
	if (r < 0)
		return r;
	if (own) {
		const char *list = line_of(machine->arena, own, SETTING);

		*ret = list && *list ? list : ALL;
		return 0;
	}
	if (is_lasting(where)) {
		*ret = NONE;
		return 0;
	}
	return held_by_systemd(machine, where, false, ret, err);
}

static bool same(const char *a, const char *b)
{
	struct cpuset set_a, set_b;
	struct err ignored = {0};

	return text_equal(a, b) || (cpuset_parse(a, &set_a, &ignored) == 0 && cpuset_parse(b, &set_b, &ignored) == 0 &&
				    cpuset_equal(&set_a, &set_b));
}

static int set(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *wanted = text ? text : NONE, *before, *contents, *own;
	int r = read_own(machine, where, &own, err);

	if (r < 0)
		return r;
	before = own ? line_of(machine->arena, own, BEFORE) : NULL;
	/* An undo that was killed may have taken the file away without systemd's knowledge. */
	if (!before && !is_lasting(where))
		r = held_by_systemd(machine, where, true, &before, err);
	if (r < 0)
		return r;
	if (!before)
		before = NONE;
	if (same(wanted, before))
		return sys_writer_remove(machine->writer, where, err);
	/* The empty setting first, since lists are added up (systemd.resource-control(5)). */
	contents = arena_printf(
	    machine->arena,
	    "# Written by hvtune; hvtune undo takes it away.\n" BEFORE "%s\n[%s]\n" SETTING "\n" SETTING "%s\n", before,
	    interface_of(slice_of(machine->arena, where)), text_equal(wanted, ALL) ? "" : wanted);
	return sys_writer_replace(machine->writer, where, contents, strlen(contents), 0644, err);
}

static int tidy(struct knob_machine *machine, const char *where, struct err *err)
{
	return sys_writer_tidy(machine->writer, where, err);
}

/* Wait until the kernel holds what systemd has. A slice without a group has nothing to hold. */
static int wait_for_kernel(struct knob_machine *machine, const char *where, struct err *err)
{
	const struct timespec moment = {.tv_nsec = POLL_MS * 1000000L};
	const char *slice = slice_of(machine->arena, where), *group = group_of(machine->arena, slice), *procs;
	const char *list = ALL, *now = "";
	struct err ignored = {0};
	int r = sys_writer_read(machine->writer, machine->arena, arena_printf(machine->arena, "%s/cgroup.procs", group),
				&procs, NULL, &ignored);

	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	r = held_by_systemd(machine, where, false, &list, err);
	for (int waited_ms = 0; waited_ms < SETTLE_MS && r == 0; waited_ms += POLL_MS) {
		r = held_by_kernel(machine, where, &now, err);
		if (r < 0 || same(now, list))
			return r;
		(void)nanosleep(&moment, NULL);
	}
	return r < 0
		   ? r
		   : err_set(err, EREMOTEIO, slice, "systemd lets it have CPUs %s, and the kernel holds %s", list, now);
}

static int settle(struct knob_machine *machine, const struct knob_point *points, size_t count, struct err *err)
{
	int r = knob_units_reload(machine, err);

	for (size_t i = 0; i < count && r == 0; i++)
		if (points[i].knob && points[i].knob->actuator == &knob_slice_actuator)
			r = wait_for_kernel(machine, points[i].where, err);
	return r;
}

const struct knob_actuator knob_slice_actuator = {
    .name = "slice", .get = get, .set = set, .same = same, .tidy = tidy, .settle = settle};

static const char *where_of(struct arena *arena, const struct knob *knob, const char *slice)
{
	const char *star = strchr(knob->path, '*');

	return arena_printf(arena, "%.*s%s%s", (int)(star - knob->path), knob->path, slice, star + 1);
}

static int check_name(const char *name, struct err *err)
{
	static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.\\-";
	size_t length = strlen(name);
	bool is_slice = length > strlen(".slice") && text_equal(name + length - strlen(".slice"), ".slice");

	if ((is_slice || text_equal(name, "init.scope")) && name[strspn(name, legal)] == '\0' && name[0] != '.' &&
	    name[0] != '-')
		return 0;
	(void)err_set(err, EINVAL, name, "this is no slice");
	return err_hint(err,
			"for example machine.slice, system.slice, user.slice, or init.scope; systemd-cgls shows all");
}

int knob_slice_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err)
{
	/* What a plan of a host is about, for a list without names. */
	static const char common[] = "init.scope,system.slice,user.slice,machine.slice,qemu.slice";
	const char *names = ask->where ? ask->where : common;
	bool given = ask->where != NULL;

	if (!given && *ask->value) {
		(void)err_set(err, EINVAL, ask->name, "it takes the name of a slice");
		return err_hint(err, "%s@machine.slice=%s", ask->name, ask->value);
	}
	if (!sys_has_dir(machine->sys, GROUPS) ||
	    sys_read(machine->sys, GROUPS "/cgroup.controllers")->state != SYS_VALUE)
		return err_set(err, ENOENT, GROUPS, "this machine has no control groups v2");
	for (const char *at = names; *at;) {
		size_t length = strcspn(at, ",");
		const char *slice = arena_strndup(machine->arena, at, length);
		struct knob_point point = {.knob = knob, .name = ask->name, .label = slice, .new = ask->value};
		int r = check_name(slice, err);

		if (r < 0)
			return r;
		point.where = where_of(machine->arena, knob, slice);
		if (given || sys_has_dir(machine->sys, "%s", group_of(machine->arena, slice)))
			knob_points_add(points, &point);
		at += length + (at[length] != '\0');
	}
	return 0;
}

/* What a list of CPUs is checked for. */
struct checking {
	struct arena *arena;
	const struct vm *vm;
	const struct cpuset *online, *wanted;
	struct err *err;
};

/* A thread of a VM that is kept on CPUs of its own, which the new list does not all have. */
static int check_thread(const struct checking *checking, const char *what, const struct vm_set *running)
{
	const struct vm_set *group = &checking->vm->cgroup_cpus;
	struct cpuset outside;

	if (!running->given || cpuset_equal(&running->set, checking->online) ||
	    (group->given && cpuset_equal(&running->set, &group->set)))
		return 0;
	outside = cpuset_minus(&running->set, checking->wanted);
	if (cpuset_empty(&outside))
		return 0;
	(void)err_set(checking->err, EINVAL, checking->vm->name, "its %s is kept on CPUs %s, which %s has not all",
		      what, cpuset_format(checking->arena, &running->set),
		      cpuset_format(checking->arena, checking->wanted));
	return err_hint(checking->err, "move the VM first, or let the slice have these CPUs too");
}

static int check_vm(const struct checking *checking)
{
	const struct vm *vm = checking->vm;
	int r = check_thread(checking, "emulator", &vm->emulator_running);

	for (int i = 0; i < vm->vcpu_max && r == 0; i++)
		r = check_thread(checking, arena_printf(checking->arena, "vCPU %d", i), &vm->vcpus[i].running);
	for (int i = 0; i < vm->iothread_count && r == 0; i++)
		r = check_thread(checking,
				 arena_printf(checking->arena, "I/O thread %lld", (long long)vm->iothreads[i].id),
				 &vm->iothreads[i].running);
	return r;
}

static bool is_below(struct knob_machine *machine, int pid, const char *group)
{
	const struct sys_look *look = sys_read(machine->sys, "/proc/%d/cgroup", pid);
	const char *path = look->state == SYS_VALUE ? line_of(machine->arena, look->data, "0::") : NULL;
	const char *below = group + strlen(GROUPS);

	return path && text_starts(path, below) && strchr("/", path[strlen(below)]);
}

/* The VMs that run in the slice must still have all the CPUs that they are pinned to. */
static int check_pins(struct knob_machine *machine, const char *slice, const struct cpuset *online,
		      const struct cpuset *wanted, struct err *err)
{
	struct host *host = ARENA_NEW(machine->arena, struct host);
	const char *group = group_of(machine->arena, slice);
	struct vm **vms = NULL;
	int count = 0, r;

	host->arena = machine->arena;
	host->sys = machine->sys;
	r = vm_running(host, machine->arena, &vms, &count, err);
	if (r < 0)
		return r;
	for (int i = 0; i < count && r == 0; i++)
		if (vms[i]->pid > 0 && is_below(machine, vms[i]->pid, group))
			r = check_vm(&(struct checking){machine->arena, vms[i], online, wanted, err});
	vm_running_free(vms, count);
	return r;
}

int knob_slice_check(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const struct sys_look *controllers = sys_read(machine->sys, GROUPS "/cgroup.controllers");
	const struct sys_look *look = sys_read(machine->sys, "/sys/devices/system/cpu/online");
	struct cpuset online = {0}, wanted = {0}, missing;

	if (controllers->state != SYS_VALUE || !text_has_word(controllers->data, " \n", "cpuset"))
		return err_set(err, EINVAL, GROUPS "/cgroup.controllers", "this kernel's groups have no cpuset");
	if (text_equal(point->new, ALL) || (is_lasting(point->where) && text_equal(point->new, NONE)))
		return 0;
	if (look->state != SYS_VALUE || cpuset_parse(look->data, &online, err) < 0)
		return err_set(err, EINVAL, look->path, "it does not tell which CPUs there are");
	if (!point->new || cpuset_parse(point->new, &wanted, err) < 0 || cpuset_empty(&wanted))
		return err_set(err, EINVAL, point->new, "%s takes a list of CPUs such as 8-63%s", point->name,
			       is_lasting(point->where) ? ", all, or none" : ", or all");
	missing = cpuset_minus(&wanted, &online);
	if (!cpuset_empty(&missing))
		return err_set(err, EINVAL, point->new, "there is no CPU %s here",
			       cpuset_format(machine->arena, &missing));
	return check_pins(machine, point->label, &online, &wanted, err);
}

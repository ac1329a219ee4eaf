/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of NICs: how many queues they have, and how many virtual functions a device of any kind gives
 * (SR-IOV). Sources: ethtool(8) and net/ethtool/channels.c of Linux, Documentation/PCI/pci-iov-howto.rst,
 * drivers/pci/iov.c.
 */
#include <errno.h>

#include "knob_plan.h"
#include "knob_table.h"
#include "sys_write_nic.h"
#include "text.h"

#define NET "/sys/class/net"
#define PCI "/sys/bus/pci/devices"

/* For each name of ask->where. */
static int each_name(struct knob_machine *machine, const struct knob_ask *ask,
		     int (*add)(struct knob_machine *machine, const struct knob_ask *ask, const char *name,
				const struct knob *knob, struct knob_points *points, struct err *err),
		     const struct knob *knob, struct knob_points *points, struct err *err)
{
	int r = 0;

	for (const char *rest = ask->where; *rest && r == 0;) {
		size_t length = strcspn(rest, ",");
		const char *name = arena_strndup(machine->arena, rest, length);

		r = !*name || strchr(name, '/') || *name == '.'
			? err_set(err, EINVAL, ask->where, "%s@WHERE takes names of devices with commas between them",
				  ask->name)
			: add(machine, ask, name, knob, points, err);
		rest += length + (rest[length] == ',');
	}
	return r;
}

static int refuse_all(const struct knob_ask *ask, const char *hint, struct err *err)
{
	(void)err_set(err, EINVAL, ask->name, "needs to be told of which device");
	return err_hint(err, "%s@%s=%s", ask->name, hint, ask->value);
}

/* ---- queues */

static int get_queues(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	uint32_t count, most;
	int r = sys_writer_get_queues(machine->writer, where, &count, &most, err);

	if (r < 0)
		return r;
	if (most == 0)
		return err_set(err, ENOENT, where, "has no combined queues");
	*ret = arena_printf(machine->arena, "%u", count);
	return 0;
}

static int set_queues(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	int64_t count;
	int r;

	if (!text || text_int(text, 10, &count) < 0 || count < 1 || count > UINT32_MAX)
		return err_set(err, EINVAL, where, "takes a number of queues");
	r = sys_writer_set_queues(machine->writer, where, (uint32_t)count, err);
	return r == -EINVAL || r == -EBUSY
		   ? err_hint(err, "flow rules or the table of RSS may name queues that would be gone (ethtool -n, -x)")
		   : r;
}

static const struct knob_actuator queue_count = {.name = "queues", .get = get_queues, .set = set_queues};

static int add_queues(struct knob_machine *machine, const struct knob_ask *ask, const char *name,
		      const struct knob *knob, struct knob_points *points, struct err *err)
{
	if (!sys_has_dir(machine->sys, NET "/%s", name)) {
		(void)err_set(err, ENOENT, name, "there is no such network device");
		return err_hint(err, "ip link lists them");
	}
	knob_points_add(points, &(struct knob_point){
				    .knob = knob, .name = ask->name, .where = name, .label = name, .new = ask->value});
	return 0;
}

static int expand_queues(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			 struct knob_points *points, struct err *err)
{
	const struct sys_look *look = sys_list(machine->sys, NET);
	int r = 0;

	if (ask->where)
		return each_name(machine, ask, add_queues, knob, points, err);
	if (*ask->value)
		return refuse_all(ask, "eth0", err);
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size && r == 0; i++)
		if (sys_has_dir(machine->sys, NET "/%s/device", look->names[i]))
			r = add_queues(machine, ask, look->names[i], knob, points, err);
	return r;
}

static int check_queues(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	uint32_t now, most;
	int64_t count;
	int r = sys_writer_get_queues(machine->writer, point->where, &now, &most, err);

	if (r < 0)
		return r;
	if (text_int(point->new, 10, &count) == 0 && count > most)
		return err_set(err, ERANGE, point->new, "%s has at most %u queues", point->where, most);
	return 0;
}

/* The numbers of interrupts that the plan has found would not be those that it writes. */
static int judge_queues(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
			struct err *err)
{
	(void)machine;
	for (size_t i = 0; i < plan->step_count; i++)
		if (text_equal(plan->steps[i].name, "irq")) {
			(void)err_set(err, EINVAL, step->name,
				      "makes interrupts come and go, so irq cannot be in the "
				      "same plan");
			return err_hint(err, "set the queues first, then the CPUs of their interrupts");
		}
	return 0;
}

static const struct knob nic_queues = {
    .name = "nic.queues",
    .summary = "combined queues of a NIC",
    .value = "COUNT",
    .unit = KNOB_OF_NAMES,
    .actuator = &queue_count,
    .expand = expand_queues,
    .least = 1,
    .most = 4096,
    .rank = KNOB_RANK_PLAIN - 1,
    .check = check_queues,
    .judge = judge_queues,
    .hurts = "many drivers take the link down for a moment; interrupts, their CPUs and the table of RSS begin anew",
};

/* ---- SR-IOV */

/* The device that lies behind a NIC or has that address, without links: /sys/devices/pci0000:00/.../0000:41:00.0 */
static int device_of(struct knob_machine *machine, const char *name, const char **ret, struct err *err)
{
	const char *path = arena_printf(machine->arena, strchr(name, ':') ? PCI "/%s" : NET "/%s/device", name);

	if (sys_has_dir(machine->sys, "%s", path))
		return knob_real_path(machine, path, ret, err);
	(void)err_set(err, ENOENT, name, "there is no such device");
	return err_hint(err, "name a NIC (eth0) or a PCI address (0000:41:00.0)");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A network device of the function has others on top: a macvtap of a VM, a bridge. */
static bool carries_others(struct knob_machine *machine, const char *function)
{
	const struct sys_look *nics = sys_list(machine->sys, "%s/net", function);

	for (size_t i = 0; nics->state == SYS_VALUE && i < nics->size; i++) {
		const struct sys_look *look = sys_list(machine->sys, "%s/net/%s", function, nics->names[i]);

		for (size_t j = 0; look->state == SYS_VALUE && j < look->size; j++)
			if (text_starts(look->names[j], "upper_") || text_equal(look->names[j], "brport"))
				return true;
	}
	return false;
}

/*
 * Refuse where a virtual function is in use. Taking one away that a VM has would wait, in the kernel, until the VM
 * gives it back. The driver of each is read afresh.
 */
static int check_unused(struct knob_machine *machine, const char *device, struct err *err)
{
	for (int i = 0; sys_link(machine->sys, "%s/virtfn%d", device, i)->state == SYS_VALUE; i++) {
		const char *function, *uevent;
		struct err ignored = {0};
		int r = knob_real_path(machine, arena_printf(machine->arena, "%s/virtfn%d", device, i), &function, err);

		if (r < 0)
			return r;
		if (knob_get_value(machine, arena_printf(machine->arena, "%s/uevent", function), &uevent, &ignored) ==
			0 &&
		    strstr(uevent, "DRIVER=vfio")) {
			(void)err_set(err, EBUSY, base_name(function), "is given to a VM or to user space (vfio)");
			return err_hint(err, "stop the VM that has it; the functions can then be taken away");
		}
		if (carries_others(machine, function)) {
			(void)err_set(err, EBUSY, base_name(function),
				      "is in use: a VM's macvtap, a bridge or another device is on top of it");
			return err_hint(err, "stop the VM or take its device off first");
		}
	}
	return 0;
}

static const char *directory_of(struct arena *arena, const char *path)
{
	return arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path));
}

/* The driver takes another number only from 0 (drivers/pci/iov.c, sriov_numvfs_store). */
static int set_functions(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *now;
	int r = knob_get_value(machine, where, &now, err);

	if (r < 0 || text_equal(now, text))
		return r;
	r = check_unused(machine, directory_of(machine->arena, where), err);
	if (r == 0 && !text_equal(now, "0") && !text_equal(text, "0"))
		r = knob_set_value(machine, where, "0", err);
	return r < 0 ? r : knob_set_value(machine, where, text, err);
}

static const struct knob_actuator function_count = {
    .name = "virtual functions", .get = knob_get_value, .set = set_functions};

static int add_functions(struct knob_machine *machine, const struct knob_ask *ask, const char *name,
			 const struct knob *knob, struct knob_points *points, struct err *err)
{
	const char *device = NULL;
	int r = device_of(machine, name, &device, err);

	if (r == 0)
		knob_points_add(points, &(struct knob_point){
					    .knob = knob,
					    .name = ask->name,
					    .where = arena_printf(machine->arena, "%s/sriov_numvfs", device),
					    .label = name,
					    .new = ask->value,
					});
	return r;
}

/* Most devices give none, and have no such file. */
static int expand_functions(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			    struct knob_points *points, struct err *err)
{
	const struct sys_look *look = sys_list(machine->sys, PCI);
	int r = 0;

	if (ask->where)
		return each_name(machine, ask, add_functions, knob, points, err);
	if (*ask->value)
		return refuse_all(ask, "eth0", err);
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size && r == 0; i++)
		if (sys_read(machine->sys, PCI "/%s/sriov_totalvfs", look->names[i])->state == SYS_VALUE)
			r = add_functions(machine, ask, look->names[i], knob, points, err);
	return r;
}

static int check_functions(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	const char *total = knob_beside(machine, point->where, "sriov_totalvfs");
	int64_t most, count;

	if (total && text_int(total, 10, &most) == 0 && text_int(point->new, 10, &count) == 0 && count > most)
		return err_set(err, ERANGE, point->new, "%s has at most %lld virtual functions", point->label,
			       (long long)most);
	return knob_same(point->knob, point->old, point->new)
		   ? 0
		   : check_unused(machine, directory_of(machine->arena, point->where), err);
}

/* A bus may lie behind several bridges. */
static const char *const function_paths[] = {
    "/sys/devices/pci*/*/*/sriov_numvfs",	  "/sys/devices/pci*/*/*/*/sriov_numvfs",
    "/sys/devices/pci*/*/*/*/*/sriov_numvfs",	  "/sys/devices/pci*/*/*/*/*/*/sriov_numvfs",
    "/sys/devices/pci*/*/*/*/*/*/*/sriov_numvfs", NULL};

static const struct knob functions = {
    .name = "sriov.vfs",
    .summary = "virtual functions that a device gives (SR-IOV)",
    .value = "COUNT",
    .unit = KNOB_OF_NAMES,
    .actuator = &function_count,
    .path = "/sys/devices/pci*/*/sriov_numvfs",
    .paths = function_paths,
    .expand = expand_functions,
    .least = 0,
    .most = 65535,
    .rank = KNOB_RANK_PLAIN - 2,
    .in_steps = true,
    .check = check_functions,
    .hurts = "another number takes all functions of the device away first; they come back with other MACs, and without "
	     "the VLANs that were set",
};

const struct knob *const knob_table_nic[] = {&nic_queues, &functions, NULL};

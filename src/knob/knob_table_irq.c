/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the knobs of interrupts: on which CPUs each may arrive, and which CPUs irqbalance leaves alone. Sources:
 * Documentation/core-api/irq/irq-affinity.rst of Linux, kernel/irq/proc.c; irqbalance(1).
 */
#include <errno.h>

#include "cpuset.h"
#include "knob_lines.h"
#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define IRQ_PATH "/proc/irq/*/smp_affinity_list"
#define LIST_VARIABLE "IRQBALANCE_BANNED_CPULIST"
#define MASK_VARIABLE "IRQBALANCE_BANNED_CPUS"

static int set_affinity(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	int r = knob_set_value(machine, where, text, err);

	if (r == -EIO || r == -EPERM) {
		(void)err_set(err, -r, where, "this interrupt is not to be moved: its driver or the kernel manages it");
		return err_hint(err,
				"as those of NVMe and most NICs; the number of their queues is what can be chosen");
	}
	if (r == -ENOSPC)
		return err_set(err, ENOSPC, where, "the CPUs of %s have no interrupt vector left", text);
	return r;
}

static bool same_cpus(const char *a, const char *b)
{
	return knob_cpus_file.same(a, b);
}

static const struct knob_actuator affinity_file = {
    .name = "affinity", .get = knob_get_value, .set = set_affinity, .same = same_cpus};

/* The interrupts of a device, such as those of all queues of a NIC. */
static const char *irqs_of(struct knob_machine *machine, const char *device)
{
	const char *list = "";
	const struct sys_look *look = sys_list(machine->sys, "/sys/class/net/%s/device/msi_irqs", device);

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++)
		list = arena_printf(machine->arena, "%s%s%s", list, *list ? "," : "", look->names[i]);
	return *list ? list : NULL;
}

static int expand_irqs(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		       struct knob_points *points, struct err *err)
{
	struct knob_ask numbers = *ask;

	if (!ask->where && *ask->value) {
		(void)err_set(err, EINVAL, ask->name, "needs to be told which interrupts");
		return err_hint(err,
				"irq@24-31=0-7 by number, irq@eth0=0-7 those of a NIC; /proc/interrupts lists them");
	}
	if (ask->where && !strchr(ask->where, '/') && (*ask->where < '0' || *ask->where > '9')) {
		numbers.where = irqs_of(machine, ask->where);
		if (!numbers.where)
			return err_set(err, ENOENT, ask->where, "is no network device with interrupts of its own");
	}
	return knob_expand_path(machine, knob, &numbers, knob->path, points, err);
}

static int parse_cpus(struct knob_machine *machine, const struct knob_point *point, struct cpuset *ret, struct err *err)
{
	struct cpuset online;
	const struct sys_look *look = sys_read(machine->sys, "/sys/devices/system/cpu/online");
	struct err ignored = {0};

	if (cpuset_parse(point->new, ret, &ignored) < 0 || cpuset_empty(ret))
		return err_set(err, EINVAL, point->new, "%s takes a list of CPUs such as 0-3,8", point->name);
	if (look->state == SYS_VALUE && cpuset_parse(look->data, &online, &ignored) == 0 && !cpuset_meets(ret, &online))
		return err_set(err, EINVAL, point->new, "none of these CPUs is online");
	return 0;
}

static int check_affinity(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	struct cpuset cpus = {0};

	return parse_cpus(machine, point, &cpus, err);
}

static const struct knob irq = {
    .name = "irq",
    .summary = "CPUs on which interrupts may arrive",
    .value = "a CPU list",
    .unit = KNOB_OF_IRQS,
    .actuator = &affinity_file,
    .path = IRQ_PATH,
    .expand = expand_irqs,
    .rank = KNOB_RANK_PLAIN,
    .check = check_affinity,
    .hurts = "interrupts on few CPUs take time from what runs there; irqbalance moves them again unless it is stopped",
};

/* ---- where new interrupts go: a mask, "ff,ffffffff" */

static int get_mask(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	struct cpuset cpus = {0};
	struct err ignored = {0};
	int r = knob_get_value(machine, where, ret, err);

	if (r == 0 && cpuset_parse_mask(*ret, &cpus, &ignored) == 0)
		*ret = cpuset_format(machine->arena, &cpus);
	return r;
}

static int set_mask(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	struct cpuset cpus = {0};
	const char *mask = NULL;
	int r = text ? cpuset_parse(text, &cpus, err) : err_set(err, ENOENT, where, "cannot be taken away");

	if (r < 0)
		return r;
	for (int word = CPUSET_MAX / 32 - 1; word >= 0; word--) {
		uint32_t bits = 0;

		for (int bit = 0; bit < 32; bit++)
			bits |= (uint32_t)cpuset_has(&cpus, 32 * word + bit) << bit;
		if (mask)
			mask = arena_printf(machine->arena, "%s,%08x", mask, bits);
		else if (bits)
			mask = arena_printf(machine->arena, "%x", bits);
	}
	return knob_set_value(machine, where, mask ? mask : "0", err);
}

static const struct knob_actuator affinity_mask = {
    .name = "affinity mask", .get = get_mask, .set = set_mask, .same = same_cpus};

static const struct knob irq_default = {
    .name = "irq.default",
    .summary = "CPUs on which interrupts that are yet to come may arrive",
    .value = "a CPU list",
    .unit = KNOB_OF_HOST,
    .actuator = &affinity_mask,
    .path = "/proc/irq/default_smp_affinity",
    .rank = KNOB_RANK_PLAIN - 3, /* before devices get new ones */
    .check = check_affinity,
};

/* ---- the ban list */

/* NAME=value, with or without quotes around it, as shells and systemd read it. */
static bool find_variable(const char *line, size_t size, const char *key, struct knob_line_span *ret)
{
	size_t at = 0, length = strlen(key), end = size;

	while (at < size && (line[at] == ' ' || line[at] == '\t'))
		at++;
	if (size - at > 7 && strncmp(line + at, "export ", 7) == 0)
		at += 7;
	if (size - at <= length || strncmp(line + at, key, length) != 0 || line[at + length] != '=')
		return false;
	at += length + 1;
	while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\t' || line[end - 1] == '\r'))
		end--;
	if (end - at >= 2 && (line[at] == '"' || line[at] == '\'') && line[end - 1] == line[at]) {
		at++;
		end--;
	}
	*ret = (struct knob_line_span){at, end - at, 0, size};
	return true;
}

static const char *make_variable(struct arena *arena, const char *key, const char *value)
{
	return arena_printf(arena, "%s=%s", key, value);
}

/* The file is the distribution's: where it is not, irqbalance is not. */
static const struct knob_line_form variable_form = {.find = find_variable, .make = make_variable};

static int get_ban(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	int r = knob_lines_get(machine, &variable_form, where, ret, err);

	if (r == 0 && *ret && !**ret)
		*ret = "none";
	return r;
}

static int set_ban(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return knob_lines_set(machine, &variable_form, where, text_equal(text, "none") ? "" : text, err);
}

static const struct knob_actuator ban_line = {
    .name = "ban list", .get = get_ban, .set = set_ban, .same = same_cpus, .tidy = knob_lines_tidy};

static const char *const ban_files[] = {"/etc/default/irqbalance", "/etc/sysconfig/irqbalance"};

static int expand_ban(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err)
{
	if (ask->where)
		return err_set(err, EINVAL, ask->where, "%s is one for the whole host and takes no @WHERE", ask->name);
	for (size_t i = 0; i < ARRAY_SIZE(ban_files); i++) {
		if (sys_read(machine->sys, "%s", ban_files[i])->state == SYS_ABSENT)
			continue;
		knob_points_add(points, &(struct knob_point){
					    .knob = knob,
					    .name = ask->name,
					    .where = arena_printf(machine->arena, "%s:" LIST_VARIABLE, ban_files[i]),
					    .label = "",
					    .new = ask->value,
					});
		return 0;
	}
	return err_set(err, ENOENT, ask->name, "irqbalance is not installed here: neither %s nor %s is there",
		       ban_files[0], ban_files[1]);
}

static int check_ban(struct knob_machine *machine, const struct knob_point *point, struct err *err)
{
	struct cpuset banned, online;
	const struct sys_look *look = sys_read(machine->sys, "/sys/devices/system/cpu/online");
	struct err ignored = {0};
	int r = text_equal(point->new, "none") ? 0 : parse_cpus(machine, point, &banned, err);

	if (r < 0 || text_equal(point->new, "none") || look->state != SYS_VALUE ||
	    cpuset_parse(look->data, &online, &ignored) < 0 || !cpuset_subset(&online, &banned))
		return r;
	return err_set(err, EINVAL, point->new, "would leave no CPU for interrupts");
}

/* Versions before 1.8 know the mask only, later ones the list only. */
static int judge_ban(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err)
{
	const char *path, *key, *mask = NULL;

	(void)err;
	knob_lines_split(machine->arena, plan->points.items[step->first].where, &path, &key);
	if (knob_lines_get(machine, &variable_form, arena_printf(machine->arena, "%s:" MASK_VARIABLE, path), &mask,
			   err) == 0 &&
	    mask)
		knob_plan_note(machine, plan,
			       arena_printf(machine->arena,
					    "%s also sets " MASK_VARIABLE
					    "=%s, which irqbalance before 1.8 takes instead",
					    path, mask));
	return 0;
}

static const struct knob irqbalance_ban = {
    .name = "irqbalance.ban",
    .summary = "CPUs to which irqbalance moves no interrupts",
    .value = "a CPU list, or none",
    .scope = KNOB_CONFIG,
    .unit = KNOB_OF_HOST,
    .actuator = &ban_line,
    .path = "/etc/default/irqbalance",
    .paths = (const char *const[]){"/etc/sysconfig/irqbalance", NULL},
    .expand = expand_ban,
    .rank = KNOB_RANK_FILE,
    .check = check_ban,
    .judge = judge_ban,
    .after = "a restart of irqbalance (systemctl restart irqbalance)",
};

const struct knob *const knob_table_irq[] = {&irq, &irq_default, &irqbalance_ban, NULL};

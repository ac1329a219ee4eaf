/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading interrupts and the IOMMU. */
#include "host_irq.h"

#include "host.h"
#include "text.h"

enum { IOMMU_NAMES_SHOWN = 16 };

/* A set from a mask "ff,ffffffff" or a list, as it stands in a file. */
static struct fact set_fact(struct host *host, const char *name, const char *source, const char *raw, bool is_mask)
{
	struct cpuset set;
	struct err err = {0};
	int r = is_mask ? cpuset_parse_mask(raw, &set, &err) : cpuset_parse(raw, &set, &err);

	if (r < 0)
		return fact_implausible(name, source, raw, arena_strdup(host->arena, err.what));
	struct fact fact = fact_cpus(host->arena, name, &set, source);

	fact.raw = raw;
	return fact;
}

static struct fact read_default_affinity(struct host *host)
{
	static const char name[] = "irq.default_affinity";
	const struct sys_look *look = sys_read(host->sys, "/proc/irq/default_smp_affinity");

	if (look->state != SYS_VALUE)
		return fact_of_look(name, look);
	return set_fact(host, name, look->path, text_trim(host->arena, look->data), true);
}

/* The value of NAME= in a shell-like file, the last one, without quotes; NULL when unset, empty or a comment. */
static const char *shell_value(struct arena *arena, const char *text, const char *name)
{
	size_t length = strlen(name);
	const char *found = NULL;

	while (*text) {
		size_t line = strcspn(text, "\n");
		const char *at = text + strspn(text, " \t");

		if (strncmp(at, name, length) == 0 && at[length] == '=') {
			at += length + 1;
			at += strspn(at, "\"'");
			size_t size = strcspn(at, "\"' \t\n#");

			found = size ? arena_strndup(arena, at, size) : NULL;
		}
		text += line + (text[line] == '\n');
	}
	return found;
}

static struct fact read_banned(struct host *host)
{
	static const char name[] = "irqbalance.banned";
	static const char *const files[] = {"/etc/default/irqbalance", "/etc/sysconfig/irqbalance"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const struct sys_look *look = sys_read(host->sys, "%s", files[i]);

		if (look->state != SYS_VALUE)
			continue;
		const char *list = shell_value(host->arena, look->data, "IRQBALANCE_BANNED_CPULIST");
		const char *mask = shell_value(host->arena, look->data, "IRQBALANCE_BANNED_CPUS");

		/* irqbalance prefers the list when both are there. */
		if (list)
			return set_fact(host, name, look->path, list, false);
		if (mask)
			return set_fact(host, name, look->path, mask, true);
	}
	return fact_absent(name, "/etc/default/irqbalance, /etc/sysconfig/irqbalance");
}

static void read_iommu_units(struct host *host)
{
	struct host_devices *devices = &host->devices;
	const struct sys_look *units = sys_list(host->sys, "/sys/class/iommu");
	const char *names = NULL;

	devices->iommu = fact_of_look("iommu.units", units);
	devices->iommu_listed = fact_of_look("iommu.listed", units);
	if (units->state != SYS_VALUE)
		return;
	devices->iommu_listed = fact_switch("iommu.listed", true, units->path);
	for (size_t i = 0; i < units->size && i < IOMMU_NAMES_SHOWN; i++)
		names = names ? arena_printf(host->arena, "%s %s", names, units->names[i]) : units->names[i];
	if (names)
		devices->iommu = fact_text("iommu.units", names, units->path);
}

static void read_iommu_groups(struct host *host)
{
	struct host_devices *devices = &host->devices;
	const struct sys_look *groups = sys_list(host->sys, "/sys/kernel/iommu_groups");

	devices->iommu_groups = fact_of_look("iommu.groups", groups);
	devices->iommu_default = fact_absent("iommu.default_type", groups->path);
	if (groups->state != SYS_VALUE)
		return;
	devices->iommu_groups = fact_number("iommu.groups", UNIT_COUNT, (int64_t)groups->size, groups->path);
	if (groups->size)
		devices->iommu_default = fact_read_text(host->arena, host->sys, "iommu.default_type",
							"/sys/kernel/iommu_groups/%s/type", groups->names[0]);
}

void host_irq_read(struct host *host)
{
	read_iommu_units(host);
	read_iommu_groups(host);
	host->devices.irq_default_affinity = read_default_affinity(host);
	host->devices.irqbalance_banned = read_banned(host);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about sources of energy and power. */
#include <errno.h>

#include "advise_check.h"

static bool is_zone(const struct power_source *source, const char *boundary)
{
	return text_equal(source->kind, "powercap") && text_equal(source->boundary, boundary);
}

static int count_zones(const struct host_power *power, const char *boundary)
{
	int count = 0;

	for (int i = 0; i < power->count; i++)
		count += is_zone(&power->sources[i], boundary);
	return count;
}

/* "/sys/.../energy_uj = zone package-0, readable" */
static void note_source(struct advise_check *c, const struct power_source *source)
{
	const char *readable = fact_known(&source->usable) ? "readable" : fact_shown(c->arena, &source->usable);

	advise_note_text(c, source->usable.source, "%s %s, %s",
			 text_equal(source->kind, "powercap") ? "zone" : source->kind, source->name, readable);
}

static void check_no_source(struct advise_check *c)
{
	const struct host_power *power = &c->host->power;

	if (power->count || !power->energy.name || !power->looked)
		return;
	(void)advise_note(c, &power->energy);
	(void)advise_report(c, "No energy counter found: power is unknown here, not 0 W");
}

static void check_needs_root(struct advise_check *c)
{
	const struct host_power *power = &c->host->power;
	const char *names = "";
	int count = 0;

	for (int i = 0; i < power->count; i++) {
		const struct fact *usable = &power->sources[i].usable;

		if (usable->state != FACT_UNREADABLE || (usable->errnum != EACCES && usable->errnum != EPERM))
			continue;
		if (count < 4)
			(void)advise_note(c, usable);
		names = advise_printf(c, "%s%s%s", names, *names ? ", " : "", power->sources[i].name);
		count++;
	}
	if (count)
		(void)advise_report(c, "%d source%s of energy or power need%s root: %s", count, count == 1 ? "" : "s",
				    count == 1 ? "s" : "", names);
}

static void check_rapl_name(struct advise_check *c)
{
	const struct host_power *power = &c->host->power;
	int packages = count_zones(power, "package");

	if (!packages)
		return;
	for (int i = 0; i < power->count; i++)
		if (is_zone(&power->sources[i], "package"))
			note_source(c, &power->sources[i]);
	(void)advise_report(c, "Package energy is counted through powercap \"intel-rapl\", as is right on AMD%s",
			    count_zones(power, "memory") ? "" : "; there is no dram zone");
}

static void check_duplicates(struct advise_check *c)
{
	const struct host_power *power = &c->host->power;
	int zones = count_zones(power, "package"), duplicates = 0;

	for (int i = 0; i < power->count; i++)
		duplicates += power->sources[i].duplicate;
	if (!duplicates)
		return;
	for (int i = 0; i < power->count; i++)
		if (is_zone(&power->sources[i], "package"))
			note_source(c, &power->sources[i]);
	(void)advise_report(c, "%d powercap zones show the energy of %d package%s: their sum is too large", zones,
			    zones - duplicates, zones - duplicates == 1 ? "" : "s");
}

static void check_core_zone(struct advise_check *c)
{
	const struct host_power *power = &c->host->power;

	for (int i = 0; i < power->count; i++) {
		if (!is_zone(&power->sources[i], "core"))
			continue;
		note_source(c, &power->sources[i]);
		(void)advise_report(c, "The powercap zone \"core\" counts one core, not all of them");
		return;
	}
}

static void check_implausible(struct advise_check *c)
{
	const struct host_power *power = &c->host->power;
	const char *names = "";

	for (int i = 0; i < power->count; i++) {
		if (power->sources[i].usable.state != FACT_IMPLAUSIBLE)
			continue;
		(void)advise_note(c, &power->sources[i].usable);
		names = advise_printf(c, "%s%s%s %s", names, *names ? ", " : "", power->sources[i].kind,
				      power->sources[i].name);
	}
	if (*names)
		(void)advise_report(c, "A source of energy reads what cannot be: %s", names);
}

static void check_package_only(struct advise_check *c)
{
	const struct host_power *power = &c->host->power;

	if (!power->count)
		return;
	for (int i = 0; i < power->count; i++) {
		if (text_equal(power->sources[i].boundary, "board"))
			return;
		if (i < 4)
			note_source(c, &power->sources[i]);
	}
	(void)advise_report(c, "No source sees the whole machine: %s energy only", power->sources[0].boundary);
}

const struct advise_rule advise_power_rules[] = {
    {
	.id = "power.per-die-zones-duplicate",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Several powercap zones show the same package",
	.mechanism = "Kernels from about 6.9 to 6.11 made one zone for each die of a package, and each reads the same "
		     "counter of "
		     "the whole package. Tools that add the zones up report a multiple of the truth.",
	.effect = "sums over zones are too large by the number of dies",
	.basis = BASIS_DOCUMENT,
	.source = "Linux drivers/powercap/intel_rapl_common.c; fixed in 6.12",
	.hurts = "nothing known",
	.by_hand = "count one zone for each package, or run Linux 6.12 or later",
	.check = check_duplicates,
    },
    {
	.id = "power.source-implausible",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "A source of energy reads what cannot be",
	.mechanism =
	    "A counter that stands at 0 or beyond its own range, or a meter that says 0 W or its code for unknown, is "
	    "broken or not connected. hvtune does not use it.",
	.effect = "none on the host; measurements need another source",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/power/powercap/powercap.rst; Documentation/hwmon/acpi_power_meter.rst",
	.hurts = "nothing known",
	.by_hand = "read the file twice, a second apart",
	.check = check_implausible,
    },
    {
	.id = "power.no-source",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "No energy counter is found: power is unknown",
	.mechanism = "Neither powercap nor perf nor hwmon nor HSMP nor IPMI offers a reading. That says nothing about "
		     "the watts: "
		     "they are unknown, not 0.",
	.source = "kepler issues 1152 and 2280; Linux Documentation/power/powercap/powercap.rst",
	.by_hand = "modprobe intel_rapl_msr (the right name on AMD too); a smart plug or the BMC measures at the wall",
	.check = check_no_source,
    },
    {
	.id = "power.energy-needs-root",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "Energy counters need root",
	.mechanism =
	    "energy_uj has mode 0400, because fine readings of energy leak secrets (CVE-2020-8694). The counters are "
	    "there; an unprivileged reader gets none of them, which is not 0 W.",
	.source = "Linux drivers/powercap/powercap_sys.c",
	.by_hand = "run measurements as root",
	.check = check_needs_root,
    },
    {
	.id = "power.rapl-name-is-right",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Package energy comes through powercap \"intel-rapl\" also on AMD",
	.mechanism =
	    "The kernel's driver for energy counters is called intel-rapl whoever made the CPU. On Zen it counts the "
	    "package: cores and I/O die, neither DIMMs nor voltage regulators; a dram zone does not exist.",
	.source = "Linux drivers/powercap/intel_rapl_msr.c; likwid issues 181 and 409",
	.by_hand = "grep . /sys/class/powercap/*/name",
	.check = check_rapl_name,
    },
    {
	.id = "power.core-zone-is-one-core",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The powercap zone \"core\" is one core",
	.mechanism = "On AMD the energy counter of cores exists in each core, and the zone reads it on one lead CPU "
		     "only. It is no "
		     "sum over the cores.",
	.source = "Linux arch/x86/events/rapl.c and drivers/powercap/intel_rapl_msr.c",
	.by_hand = "perf stat -a -e power/energy-pkg/ sleep 1 for the package",
	.check = check_core_zone,
    },
    {
	.id = "power.package-only",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "No source sees the whole machine",
	.mechanism = "Counters of the package leave out DIMMs, fans, disks and the losses of the power supply. Savings "
		     "at the wall "
		     "are larger than what they show.",
	.source = "study A measured at the wall with a smart plug",
	.by_hand = "modprobe acpi_power_meter; ipmitool dcmi power reading; or a smart plug",
	.check = check_package_only,
    },
    {.id = NULL},
};

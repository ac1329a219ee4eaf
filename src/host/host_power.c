/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_power.h. */
#include "host_power.h"

#include <errno.h>
#include <inttypes.h>

#include "host.h"
#include "text.h"

#define POWERCAP "/sys/class/powercap"
#define HWMON "/sys/class/hwmon"
#define PERF_POWER "/sys/bus/event_source/devices/power"

enum { SOURCES_MAX = 256, HWMON_MAX = 256 };

static struct power_source *add_source(struct host *host, const char *kind, const char *name, const char *boundary,
				       struct fact usable)
{
	struct host_power *power = &host->power;

	if (power->count == SOURCES_MAX)
		return NULL;
	struct power_source *source = &power->sources[power->count++];

	*source =
	    (struct power_source){.kind = kind, .name = name, .boundary = boundary, .package = -1, .usable = usable};
	return source;
}

/*
 * Was this host read by root? The device for latency requests has mode 0600, so having read it answers that, for an
 * archive as well as for the running machine.
 */
static bool read_by_root(const struct host *host)
{
	return host->idle.dma_latency_us.state == FACT_VALUE;
}

static struct fact usable_or_root(const struct host *host, const char *source, const char *needs)
{
	if (read_by_root(host))
		return fact_switch("power.usable", true, source);
	return fact_unreadable("power.usable", source, EACCES, needs);
}

/* ---- powercap ---- */

/* energy_uj is read once, to see whether it may be: mode 0400 since 5.10 and its stable sisters (CVE-2020-8694). */
static struct fact energy_usable(struct host *host, const char *zone)
{
	struct fact energy =
	    fact_read_number(host->arena, host->sys, UNIT_NONE, "power.usable", POWERCAP "/%s/energy_uj", zone);

	if (energy.state == FACT_UNREADABLE && (energy.errnum == EACCES || energy.errnum == EPERM))
		energy.note = "needs root";
	if (!fact_known(&energy))
		return energy;
	struct fact range = fact_read_number(host->arena, host->sys, UNIT_NONE, "power.range",
					     POWERCAP "/%s/max_energy_range_uj", zone);

	if (energy.number <= 0)
		return fact_implausible(energy.name, energy.source, energy.raw, "a counter that counts is not 0");
	if (fact_known(&range) && energy.number > range.number)
		return fact_implausible(energy.name, energy.source, energy.raw, "beyond max_energy_range_uj");
	return fact_switch("power.usable", true, energy.source);
}

static const char *zone_boundary(const char *name)
{
	static const struct {
		const char *start, *boundary;
	} boundaries[] = {
	    {"package-", "package"}, {"core", "core"}, {"dram", "memory"}, {"psys", "board"}, {"uncore", "uncore"}};

	for (size_t i = 0; i < ARRAY_SIZE(boundaries); i++)
		if (text_starts(name, boundaries[i].start))
			return boundaries[i].boundary;
	return "unknown";
}

/* The P of "package-P" and "package-P-die-D", or -1. */
static int zone_package(struct arena *arena, const char *name)
{
	int64_t package;

	if (!text_starts(name, "package-"))
		return -1;
	const char *number = name + strlen("package-");

	number = arena_strndup(arena, number, strcspn(number, "-"));
	return text_int(number, 10, &package) == 0 && package >= 0 && package < CPUSET_MAX ? (int)package : -1;
}

static void read_powercap(struct host *host)
{
	const struct sys_look *look = sys_list(host->sys, POWERCAP);
	struct host_power *power = &host->power;

	power->looked |= look->state == SYS_VALUE;
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++) {
		const char *zone = look->names[i];
		struct fact name;

		/* "intel-rapl" itself is the control type; intel-rapl-mmio and dtpm count nothing on AMD. */
		if (!text_starts(zone, "intel-rapl:") && !text_starts(zone, "amd-rapl:"))
			continue;
		name = fact_read_text(host->arena, host->sys, "power.zone", POWERCAP "/%s/name", zone);
		const char *shown = fact_text_or(&name, zone);
		struct power_source *source =
		    add_source(host, "powercap", shown, zone_boundary(shown), energy_usable(host, zone));

		if (!source)
			return;
		source->package = zone_package(host->arena, shown);
		for (const struct power_source *other = power->sources; other < source; other++)
			source->duplicate |= source->package >= 0 && other->package == source->package;
	}
}

/* ---- perf ---- */

static void read_perf(struct host *host)
{
	const struct sys_look *look = sys_list(host->sys, PERF_POWER "/events");

	host->power.looked |= look->state == SYS_VALUE;
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++) {
		const char *event = look->names[i];

		if (!text_starts(event, "energy-") || strchr(event, '.'))
			continue;
		const char *path = arena_printf(host->arena, PERF_POWER "/events/%s", event);
		struct fact paranoid = fact_read_number(host->arena, host->sys, UNIT_NONE, "power.perf_event_paranoid",
							"/proc/sys/kernel/perf_event_paranoid");
		bool open_to_all = fact_known(&paranoid) && paranoid.number <= 0;
		struct fact usable = open_to_all ? fact_switch("power.usable", true, path)
						 : usable_or_root(host, path, "needs root or CAP_PERFMON");

		(void)add_source(host, "perf", event, text_equal(event, "energy-pkg") ? "package" : "core", usable);
	}
}

/* ---- hwmon: by the chip's name, never by its number ---- */

static const struct hwmon_chip {
	const char *name, *boundary, *file;
} power_chips[] = {
    {"power_meter", "board", "power1_average"}, {"amd_hsmp_hwmon", "socket", "power1_input"},
    {"zenpower", "package", "power1_input"},	{"fam15h_power", "package", "power1_input"},
    {"amd_energy", "package", "energy1_input"},
};

static const char *const temperature_chips[] = {"k10temp", "k8temp", "zenpower", "coretemp"};

static struct fact reading_usable(struct host *host, const char *path)
{
	struct fact reading = fact_read_number(host->arena, host->sys, UNIT_NONE, "power.usable", "%s", path);

	if (reading.state == FACT_UNREADABLE && (reading.errnum == EACCES || reading.errnum == EPERM))
		reading.note = "needs root";
	if (!fact_known(&reading))
		return reading;
	/* 0xFFFFFFFF is how ACPI meters say that they do not know (drivers/hwmon/acpi_power_meter.c). */
	if (reading.number <= 0 || reading.number >= INT64_C(0xffffffff) * 1000)
		return fact_implausible(reading.name, reading.source, reading.raw,
					"no power that a running host draws");
	return fact_switch("power.usable", true, reading.source);
}

static void read_hwmon_chip(struct host *host, const char *chip, const char **temperatures)
{
	struct fact name = fact_read_text(host->arena, host->sys, "power.hwmon", HWMON "/%s/name", chip);
	bool old_style = name.state == FACT_ABSENT;

	if (old_style)
		name = fact_read_text(host->arena, host->sys, "power.hwmon", HWMON "/%s/device/name", chip);
	for (size_t i = 0; i < ARRAY_SIZE(temperature_chips); i++)
		if (fact_is_text(&name, temperature_chips[i]) &&
		    !text_has_word(*temperatures, " ", temperature_chips[i]))
			*temperatures =
			    **temperatures ? arena_printf(host->arena, "%s %s", *temperatures, name.text) : name.text;
	for (size_t i = 0; i < ARRAY_SIZE(power_chips); i++) {
		const struct hwmon_chip *known = &power_chips[i];

		if (!fact_is_text(&name, known->name))
			continue;
		const char *path =
		    arena_printf(host->arena, HWMON "/%s/%s%s", chip, old_style ? "device/" : "", known->file);

		(void)add_source(host, "hwmon", known->name, known->boundary, reading_usable(host, path));
		return;
	}
	/* Old kernels: an ACPI meter without any name. */
	if (name.state != FACT_ABSENT)
		return;
	struct fact usable = reading_usable(host, arena_printf(host->arena, HWMON "/%s/device/power1_average", chip));

	if (usable.state != FACT_ABSENT)
		(void)add_source(host, "hwmon", "power_meter", "board", usable);
}

static void read_hwmon(struct host *host)
{
	const struct sys_look *look = sys_list(host->sys, HWMON);
	const char *temperatures = "";

	host->power.looked |= look->state == SYS_VALUE;
	for (size_t i = 0; look->state == SYS_VALUE && i < MIN_OF(look->size, (size_t)HWMON_MAX); i++)
		read_hwmon_chip(host, look->names[i], &temperatures);
	host->power.temperature = *temperatures ? fact_text("power.temperature", temperatures, HWMON)
						: fact_absent("power.temperature", HWMON);
}

/* ---- devices ---- */

static void read_devices(struct host *host)
{
	const struct sys_look *look = sys_list(host->sys, "/dev");

	for (size_t i = 0; look->state == SYS_VALUE && i < look->size; i++) {
		if (text_equal(look->names[i], "hsmp")) {
			struct fact usable = fact_switch("power.usable", true, "/dev/hsmp");

			usable.note = "if the BIOS setting HSMP Support is on";
			(void)add_source(host, "hsmp", "hsmp", "socket", usable);
		} else if (text_equal(look->names[i], "ipmi0")) {
			struct fact usable =
			    usable_or_root(host, "/dev/ipmi0", "needs root; not every BMC knows its watts");

			(void)add_source(host, "ipmi", "ipmi0", "board", usable);
		}
	}
}

void host_power_read(struct host *host)
{
	struct host_power *power = &host->power;

	power->looked = host->whole;
	power->sources = ARENA_ARRAY(host->arena, SOURCES_MAX, struct power_source);
	read_powercap(host);
	read_perf(host);
	read_hwmon(host);
	read_devices(host);
	power->energy = power->count ? fact_switch("power.energy", true, "derived from the sources")
				     : fact_absent("power.energy", POWERCAP ", " HWMON ", " PERF_POWER);
	if (!power->count)
		power->energy.note = power->looked ? "power is unknown here, not 0 W"
						   : "nothing of the places where energy is counted is in this copy";
}

void host_power_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_power *power = &host->power;

	rows->section = "Energy and power";
	for (int i = 0; i < power->count; i++) {
		const struct power_source *source = &power->sources[i];
		const char *label = arena_printf(rows->arena, "%s %s", source->kind, source->name);
		struct fact usable = source->usable;

		if (fact_known(&usable))
			usable =
			    fact_text(usable.name,
				      arena_printf(rows->arena, "readable, of one %s%s%s%s", source->boundary,
						   source->duplicate ? ", the same counter as the zone before" : "",
						   usable.note ? ", " : "", usable.note ? usable.note : ""),
				      usable.source);
		host_rows_add(rows, label, &usable);
	}
	if (!power->count)
		host_rows_add(rows, "Sources", &power->energy);
	rows->section = "Temperature";
	host_rows_add(rows, "Sensors", &power->temperature);
}

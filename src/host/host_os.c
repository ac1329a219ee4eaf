/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_os.h, without the boot loader (host_boot.c) and the hypervisor (host_guest.c). */
#include "host_os.h"

#include "host.h"
#include "host_os_internal.h"
#include "text.h"

/* ACPI 6.5, table 5.9, FADT Preferred_PM_Profile. */
static const char *const pm_profiles[] = {
    "unspecified",	  "desktop", "mobile", "workstation", "enterprise server", "SOHO server", "appliance PC",
    "performance server", "tablet"};

const char *host_os_pm_profile_name(int64_t profile)
{
	return profile >= 0 && profile < (int64_t)ARRAY_SIZE(pm_profiles) ? pm_profiles[profile] : "unknown";
}

bool host_os_pm_profile_is_server(int64_t profile)
{
	return profile == 4 || profile == 5 || profile == 7;
}

/* "6.14.0-63.fc42.x86_64": the first two numbers, which are small on any kernel there is. */
static void read_version_numbers(struct host *host)
{
	const char *release = fact_text_or(&host->os.kernel_release, "");
	size_t length = strspn(release, "0123456789");
	const char *rest = release[length] == '.' ? release + length + 1 : "";
	int64_t major, minor;

	if (text_int(arena_strndup(host->arena, release, length), 10, &major) < 0 || major > 999 ||
	    text_int(arena_strndup(host->arena, rest, strspn(rest, "0123456789")), 10, &minor) < 0 || minor > 9999)
		return;
	host->os.kernel_major = (int)major;
	host->os.kernel_minor = (int)minor;
}

/* "Linux version 6.1.0-13-amd64 (builder@host) ...": the third word. */
static struct fact release_of_version(struct host *host)
{
	static const char start[] = "Linux version ";
	struct fact fact = fact_read_text(host->arena, host->sys, "os.kernel_release", "/proc/version");

	if (!fact_known(&fact))
		return fact;
	if (!text_starts(fact.text, start))
		return fact_implausible(fact.name, fact.source, fact.raw, "does not start with \"Linux version\"");
	const char *release = fact.text + strlen(start);

	fact.text = arena_strndup(host->arena, release, strcspn(release, " \n"));
	return fact;
}

static void read_kernel(struct host *host)
{
	struct host_os *os = &host->os;

	os->kernel_release = fact_read_text(host->arena, host->sys, "os.kernel_release", "/proc/sys/kernel/osrelease");
	if (!fact_known(&os->kernel_release))
		os->kernel_release = release_of_version(host);
	read_version_numbers(host);
}

/* The value of KEY in a file of KEY=value lines (os-release(5)), without quotes; NULL when it is not there. */
static const char *key_value(struct arena *arena, const char *text, const char *key)
{
	size_t length = strlen(key);

	while (text && *text) {
		size_t line = strcspn(text, "\n");

		if (line > length && strncmp(text, key, length) == 0 && text[length] == '=') {
			const char *value =
			    text_trim(arena, arena_strndup(arena, text + length + 1, line - length - 1));
			size_t size = strlen(value);
			bool quoted = size >= 2 && (*value == '"' || *value == '\'') && value[size - 1] == *value;

			return quoted ? arena_strndup(arena, value + 1, size - 2) : value;
		}
		text += line + (text[line] == '\n');
	}
	return NULL;
}

static struct fact release_fact(struct host *host, const struct sys_look *look, const char *name, const char *key)
{
	const char *value = look->state == SYS_VALUE ? key_value(host->arena, look->data, key) : NULL;

	return value ? fact_text(name, value, look->path) : fact_of_look(name, look);
}

static const char *read_distribution(struct host *host)
{
	struct host_os *os = &host->os;
	const struct sys_look *look = sys_read(host->sys, "/etc/os-release");

	if (look->state != SYS_VALUE)
		look = sys_read(host->sys, "/usr/lib/os-release");
	os->distribution = release_fact(host, look, "os.distribution", "PRETTY_NAME");
	os->distribution_id = release_fact(host, look, "os.distribution_id", "ID");
	os->distribution_version = release_fact(host, look, "os.distribution_version", "VERSION_ID");
	const char *like = look->state == SYS_VALUE ? key_value(host->arena, look->data, "ID_LIKE") : NULL;

	return arena_printf(host->arena, "%s %s", fact_text_or(&os->distribution_id, ""), like ? like : "");
}

/* Proxmox VE keeps its configuration in /etc/pve, a mount that users may not list; its kernels end in "-pve". */
static void read_proxmox(struct host *host)
{
	static const char *const dirs[] = {"/etc/pve", "/usr/share/pve-manager"};
	struct host_os *os = &host->os;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (sys_list(host->sys, "%s", dirs[i])->state != SYS_ABSENT) {
			os->proxmox = fact_switch("os.proxmox", true, dirs[i]);
			return;
		}
	if (fact_known(&os->distribution))
		os->proxmox = fact_switch("os.proxmox", false, "no /etc/pve");
	else
		os->proxmox = fact_absent("os.proxmox", "/etc/pve");
}

static struct fact read_container(struct host *host)
{
	const struct sys_look *systemd = sys_read(host->sys, "/run/systemd/container");

	if (systemd->state == SYS_VALUE)
		return fact_text("os.container", text_trim(host->arena, systemd->data), systemd->path);
	if (sys_read(host->sys, "/run/.containerenv")->state != SYS_ABSENT)
		return fact_text("os.container", "podman", "/run/.containerenv");
	if (sys_read(host->sys, "/.dockerenv")->state != SYS_ABSENT)
		return fact_text("os.container", "docker", "/.dockerenv");
	return fact_absent("os.container", "/run/systemd/container, /run/.containerenv, /.dockerenv");
}

/* 'Unknown kernel command line parameters "foo=1 bar", will be passed to user space.' (init/main.c, since 5.14) */
static struct fact read_unknown_words(struct host *host)
{
	static const char start[] = "Unknown kernel command line parameters \"";
	const struct sys_look *log = sys_kernel_log(host->sys);
	const char *at = log->state == SYS_VALUE ? strstr(log->data, start) : NULL;

	if (!at)
		return fact_of_look("os.unknown_words", log);
	at += strlen(start);
	size_t line = strcspn(at, "\n");
	const char *text = arena_strndup(host->arena, at, line);
	const char *end = strstr(text, "\", will be passed");

	if (end)
		text = arena_strndup(host->arena, text, (size_t)(end - text));
	return fact_text("os.unknown_words", text_trim(host->arena, text), log->path);
}

static struct fact read_uptime(struct host *host)
{
	struct fact fact = fact_read_text(host->arena, host->sys, "os.uptime", "/proc/uptime");
	int64_t seconds;

	if (!fact_known(&fact))
		return fact;
	if (text_int(arena_strndup(host->arena, fact.raw, strcspn(fact.raw, ". ")), 10, &seconds) < 0 || seconds < 0)
		return fact_implausible(fact.name, fact.source, fact.raw, "not a number of seconds");
	return fact_number(fact.name, UNIT_NONE, seconds, fact.source);
}

void host_os_read(struct host *host)
{
	struct arena *arena = host->arena;
	struct sys *sys = host->sys;
	struct host_os *os = &host->os;

	read_kernel(host);
	os->family = read_distribution(host);
	read_proxmox(host);
	os->boot_loader = host_boot_loader(host);
	os->clocksource = fact_read_text(arena, sys, "os.clocksource",
					 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	os->clocksource_available =
	    fact_read_text(arena, sys, "os.clocksource_available",
			   "/sys/devices/system/clocksource/clocksource0/available_clocksource");
	os->vendor = fact_read_text(arena, sys, "os.vendor", "/sys/class/dmi/id/sys_vendor");
	os->product = fact_read_text(arena, sys, "os.product", "/sys/class/dmi/id/product_name");
	os->bios_version = fact_read_text(arena, sys, "os.bios_version", "/sys/class/dmi/id/bios_version");
	os->bios_date = fact_read_text(arena, sys, "os.bios_date", "/sys/class/dmi/id/bios_date");
	os->hypervisor = host_guest_hypervisor(host);
	os->container = read_container(host);
	os->pm_profile = fact_read_number(arena, sys, UNIT_NONE, "os.pm_profile", "/sys/firmware/acpi/pm_profile");
	if (fact_known(&os->pm_profile))
		os->pm_profile.note = host_os_pm_profile_name(os->pm_profile.number);
	os->aspm = fact_read_choice(arena, sys, "os.aspm", "/sys/module/pcie_aspm/parameters/policy");
	os->unknown_words = read_unknown_words(host);
	os->uptime_s = read_uptime(host);
}

static struct fact pm_profile_shown(const struct host_os *os)
{
	struct fact fact = os->pm_profile;

	if (fact_known(&fact))
		return fact_text(fact.name, host_os_pm_profile_name(fact.number), fact.source);
	return fact;
}

/* "3 d 4 h 31 min" */
static struct fact uptime_shown(struct arena *arena, const struct fact *uptime_s)
{
	static const int64_t day_min = 1440;
	int64_t minutes = fact_number_or(uptime_s, 0) / 60;
	const char *text = "";

	if (!fact_known(uptime_s))
		return *uptime_s;
	if (minutes >= day_min)
		text = arena_printf(arena, "%lld d ", (long long)(minutes / day_min));
	if (minutes >= 60)
		text = arena_printf(arena, "%s%lld h ", text, (long long)(minutes / 60 % 24));
	return fact_text(uptime_s->name, arena_printf(arena, "%s%lld min", text, (long long)(minutes % 60)),
			 uptime_s->source);
}

void host_os_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_os *os = &host->os;
	const struct fact profile = pm_profile_shown(os), uptime = uptime_shown(rows->arena, &os->uptime_s);
	const struct {
		const char *section, *label;
		const struct fact *fact;
	} lines[] = {
	    {"System", "Kernel", &os->kernel_release},
	    {"System", "Distribution", &os->distribution},
	    {"System", "Proxmox VE", &os->proxmox},
	    {"System", "Boot loader", &os->boot_loader},
	    {"System", "Up for", &uptime},
	    {"System", "Hypervisor below", &os->hypervisor},
	    {"System", "Container around hvtune", &os->container},
	    {"System", "Unknown boot words", &os->unknown_words},
	    {"Clock", "Source", &os->clocksource},
	    {"Clock", "Available", &os->clocksource_available},
	    {"Machine", "Vendor", &os->vendor},
	    {"Machine", "Product", &os->product},
	    {"Machine", "BIOS version", &os->bios_version},
	    {"Machine", "BIOS date", &os->bios_date},
	    {"Machine", "ACPI power profile", &profile},
	    {"Machine", "PCIe ASPM policy", &os->aspm},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		rows->section = lines[i].section;
		host_rows_add(rows, lines[i].label, lines[i].fact);
	}
}

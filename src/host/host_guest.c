/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns telling whether this host is itself a virtual machine, and of which hypervisor. The CPUID flag `hypervisor`
 * decides; names come from DMI, /sys/hypervisor, /proc/xen and the paravirtual clock sources. A guest whose
 * hypervisor hides the flag is known by a DMI name that no board has.
 */
#include "host.h"
#include "host_os_internal.h"
#include "text.h"

static const struct {
	const char *start; /* of vendor or product */
	const char *kind;
	bool decides; /* names no real board: enough without the flag */
} dmi_names[] = {
    {"QEMU", "KVM (QEMU)", true},
    {"Bochs", "KVM (QEMU)", true},
    {"KVM", "KVM", true},
    {"KubeVirt", "KVM (KubeVirt)", true},
    {"OpenStack", "KVM (OpenStack)", true},
    {"VMware", "VMware", true},
    {"VMW", "VMware", true},
    {"VirtualBox", "VirtualBox", true},
    {"innotek GmbH", "VirtualBox", true},
    {"Virtual Machine", "Hyper-V", true},
    {"Parallels", "Parallels", true},
    {"BHYVE", "bhyve", true},
    {"HVM domU", "Xen", true},
    {"Apple Virtualization", "Apple Virtualization", true},
    {"Xen", "Xen", false},
    {"Amazon EC2", "KVM (Amazon Nitro)", false},
    {"Google", "KVM (Google Compute Engine)", false},
    {"DigitalOcean", "KVM (DigitalOcean)", false},
    {"Hetzner", "KVM (Hetzner)", false},
    {"Alibaba", "KVM (Alibaba Cloud)", false},
    {"Tencent", "KVM (Tencent Cloud)", false},
    {"OpenNebula", "KVM (OpenNebula)", false},
};

static const struct {
	const char *word, *kind;
} clock_names[] = {
    {"kvm-clock", "KVM"},
    {"hyperv_clocksource_tsc_page", "Hyper-V"},
    {"hyperv_clocksource_msr", "Hyper-V"},
    {"xen", "Xen"},
};

enum flag_state { FLAG_UNKNOWN, FLAG_NO, FLAG_YES };

/* Only the first CPU's flags: the file of a large host is a megabyte, and all CPUs agree. */
static enum flag_state cpu_flag(struct host *host)
{
	const struct sys_look *look = sys_read(host->sys, "/proc/cpuinfo");
	const char *flags = look->state == SYS_VALUE ? strstr(look->data, "\nflags") : NULL;

	if (!flags)
		return FLAG_UNKNOWN;
	const char *line = arena_strndup(host->arena, flags + 1, strcspn(flags + 1, "\n"));

	return text_has_word(line, " \t:", "hypervisor") ? FLAG_YES : FLAG_NO;
}

static const char *kind_of_dmi(const struct fact *name, bool flag)
{
	const char *text = fact_text_or(name, "");

	for (size_t i = 0; i < ARRAY_SIZE(dmi_names); i++)
		if ((flag || dmi_names[i].decides) && text_starts(text, dmi_names[i].start))
			return dmi_names[i].kind;
	return NULL;
}

static struct fact named(const char *kind, const char *source, bool flag)
{
	struct fact fact = fact_text("os.hypervisor", kind, source);

	if (!flag)
		fact.note = "the CPU does not show the flag hypervisor: the hypervisor hides it";
	return fact;
}

/* "xen" in /sys/hypervisor/type is a guest or the first domain: both see a machine that Xen shapes. */
static struct fact by_files(struct host *host)
{
	const struct sys_look *type = sys_read(host->sys, "/sys/hypervisor/type");
	const char *text = type->state == SYS_VALUE ? text_trim(host->arena, type->data) : "";

	if (*text)
		return fact_text("os.hypervisor", text_equal(text, "xen") ? "Xen" : text, type->path);
	if (sys_has_dir(host->sys, "/proc/xen"))
		return fact_text("os.hypervisor", "Xen", "/proc/xen");
	return fact_absent("os.hypervisor", "flags of /proc/cpuinfo, /sys/class/dmi/id, /sys/hypervisor/type");
}

static struct fact by_clock(struct host *host)
{
	const char *available = fact_text_or(&host->os.clocksource_available, "");

	for (size_t i = 0; i < ARRAY_SIZE(clock_names); i++)
		if (text_has_word(available, " ", clock_names[i].word))
			return fact_text("os.hypervisor", clock_names[i].kind,
					 "flag hypervisor, available clock sources");
	return fact_text("os.hypervisor", "unknown", "/proc/cpuinfo: flag hypervisor");
}

struct fact host_guest_hypervisor(struct host *host)
{
	const struct fact *const names[] = {&host->os.product, &host->os.vendor};
	enum flag_state state = cpu_flag(host);
	bool flag = state == FLAG_YES;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *kind = kind_of_dmi(names[i], flag);

		if (kind)
			return named(kind, names[i]->source, flag || state == FLAG_UNKNOWN);
	}
	struct fact fact = by_files(host);

	if (fact_known(&fact) || !flag)
		return fact;
	return by_clock(host);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about the system around the hardware: guest or container, clock, kernel parameters, firmware profile.
 */
#include "advise_check.h"

static void check_guest(struct advise_check *c)
{
	const char *kind;

	if (advise_text(c, &c->host->os.hypervisor, &kind))
		(void)advise_report(c, "This host is itself a virtual machine%s%s",
				    text_equal(kind, "unknown") ? "" : " of ", text_equal(kind, "unknown") ? "" : kind);
}

static void check_container(struct advise_check *c)
{
	const char *kind;

	if (advise_text(c, &c->host->os.container, &kind))
		(void)advise_report(c, "hvtune runs in a container (%s)", kind);
}

/* Clocks that are read by a slow access to a device; in a VM each such read also leaves the VM. */
static bool is_slow_clock(const char *name)
{
	return text_has_word("hpet acpi_pm pit jiffies refined-jiffies", " ", name);
}

static void check_clock(struct advise_check *c)
{
	const char *current, *available = "";

	if (!advise_text(c, &c->host->os.clocksource, &current) || !is_slow_clock(current))
		return;
	(void)advise_text(c, &c->host->os.clocksource_available, &available);
	const struct cmdline_word *word = cmdline_last(c->cmdline, "clocksource");

	/* cmdline.slow-clocksource says it with the word. */
	if (word && text_equal(word->value, current))
		return;
	struct advise_finding *finding = advise_report(c, "The clock source is %s instead of tsc", current);

	if (*available && !text_has_word(available, " ", "tsc"))
		finding->detail =
		    "tsc is not offered: the kernel found it unstable (dmesg | grep -i -e tsc -e clocksource)";
	else if (text_has_word(available, " ", "tsc"))
		finding->detail = "tsc is offered, so it was set by hand";
}

static void check_clock_fine(struct advise_check *c)
{
	const char *current;

	if (advise_text(c, &c->host->os.clocksource, &current) && text_equal(current, "tsc"))
		(void)advise_report(c, "The clock source is tsc");
}

/* Words for init, the boot loader or the initrd, which the kernel rightly does not know. */
static const char *const words_of_others[] = {
    "BOOT_IMAGE", "apparmor",	    "audit",	   "autoinstall", "biosdevname", "boot",       "cgroup_enable",
    "components", "console",	    "cryptdevice", "emergency",	  "fastboot",	 "forcefsck",  "fsck.mode",
    "init",	  "initrd",	    "inst",	   "ip",	  "live",	 "locale",     "locales",
    "luks",	  "maybe-ubiquity", "nosplash",	   "noplymouth",  "nosgx",	 "ostree",     "persistent",
    "plymouth",	  "preseed",	    "quiet",	   "rd",	  "rescue",	 "resume",     "rhgb",
    "ro",	  "root",	    "rw",	   "security",	  "selinux",	 "single",     "splash",
    "systemd",	  "text",	    "toram",	   "vconsole",	  "verbose",	 "vt.handoff", "zfs",
};

/* Words of the kernel that matter to VM hosts: what comes near one of these was meant for the kernel. */
static const char *const words_that_matter[] = {
    "amd_iommu",
    "amd_prefcore",
    "amd_pstate",
    "clocksource",
    "cpufreq.default_governor",
    "default_hugepagesz",
    "hugepages",
    "hugepagesz",
    "hugetlb_cma",
    "idle",
    "iommu",
    "irqaffinity",
    "isolcpus",
    "kvm.halt_poll_ns",
    "mitigations",
    "nohz",
    "nohz_full",
    "nosmt",
    "nowatchdog",
    "numa_balancing",
    "pcie_aspm",
    "preempt",
    "processor.max_cstate",
    "rcu_nocbs",
    "retbleed",
    "skew_tick",
    "spec_rstack_overflow",
    "spec_store_bypass_disable",
    "spectre_v2",
    "transparent_hugepage",
    "tsa",
    "tsc",
    "vmscape",
};

static bool in_list(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (cmdline_same_name(list[i], name))
			return true;
	return false;
}

/* The word that this one was probably meant to be, or that the kernel is too old or not built for; or NULL. */
static const char *meant_word(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(words_that_matter); i++) {
		int allowed = strlen(words_that_matter[i]) < 6 ? 1 : 2;

		/* Short words are near to many others: only longer ones may be misspelled. */
		if (cmdline_same_name(words_that_matter[i], name) ||
		    (strlen(name) >= 5 && text_distance(words_that_matter[i], name) <= allowed))
			return words_that_matter[i];
	}
	return NULL;
}

static bool is_runlevel(const char *name)
{
	return strlen(name) == 1 && strchr("0123456Ss", *name);
}

static void judge_unknown(struct advise_check *c, const struct cmdline_word *word, const char **others)
{
	const char *meant = meant_word(word->name);

	if (!meant) {
		if (!is_runlevel(word->name) && !strchr(word->name, '.') &&
		    !in_list(words_of_others, ARRAY_SIZE(words_of_others), word->name))
			*others = advise_printf(c, "%s%s%s", *others ? *others : "", *others ? ", " : "", word->text);
		return;
	}
	struct advise_finding *finding = advise_report(c, "The kernel does not know %s and ignores it", word->text);

	finding->detail = cmdline_same_name(meant, word->name) ? "this kernel is too old for it, or built without it"
							       : advise_printf(c, "%s was probably meant", meant);
}

static void check_unknown_words(struct advise_check *c)
{
	struct host_cmdline unknown = {.count = 0};
	const char *text, *others = NULL;

	if (!advise_text(c, &c->host->os.unknown_words, &text))
		return;
	cmdline_parse(c->arena, text, &unknown);
	for (int i = 0; i < unknown.count; i++)
		judge_unknown(c, &unknown.words[i], &others);
	if (others)
		(void)advise_report_as(c, ADVISE_INFO, "Words on the command line that are not the kernel's: %s",
				       others);
}

static void check_boot_loader(struct advise_check *c)
{
	const char *name;

	if (!advise_text(c, &c->host->os.boot_loader, &name))
		return;
	struct advise_finding *finding = advise_report(c, "Kernel parameters are set through %s", name);

	finding->by_hand = host_os_boot_by_hand(&c->host->os);
}

/* Is this word, with this value, among those that booted? */
static bool booted(const struct host_cmdline *cmdline, const struct cmdline_word *asked)
{
	for (int i = 0; i < cmdline->count; i++) {
		const struct cmdline_word *word = &cmdline->words[i];
		bool same_value =
		    word->value && asked->value ? text_equal(word->value, asked->value) : word->value == asked->value;

		if (same_value && cmdline_same_name(word->name, asked->name))
			return true;
	}
	return false;
}

/* Only words that matter to VM hosts, and none that a shell would have to expand: the rest may differ from boot to
 * boot. */
static void check_not_booted(struct advise_check *c)
{
	const struct host_cmdline *asked = &c->host->os.configured;
	const struct host_cmdline *line = &c->host->cmdline;
	const char *list = NULL;

	if (!fact_known(&asked->line) || !fact_known(&line->line) || fact_known(&c->host->os.container) ||
	    cmdline_last(line, "single") || cmdline_last(line, "recovery"))
		return;
	for (int i = 0; i < asked->count; i++) {
		const struct cmdline_word *word = &asked->words[i];

		if (!in_list(words_that_matter, ARRAY_SIZE(words_that_matter), word->name) || strchr(word->text, '$') ||
		    booted(line, word))
			continue;
		advise_note_text(c, asked->path, "%s", word->text);
		list = advise_printf(c, "%s%s%s", list ? list : "", list ? ", " : "", word->text);
	}
	if (!list)
		return;
	(void)advise_note(c, &line->line);
	struct advise_finding *finding = advise_report(c, "Asked for in %s, but not booted: %s", asked->path, list);

	finding->by_hand = advise_boot_rewrite(c);
}

/* A server part under a client profile, or none: the kernel's default for amd_pstate goes by it. */
static void check_pm_profile(struct advise_check *c)
{
	int64_t profile;
	bool epyc = strstr(fact_text_or(&c->host->cpu.model_name, ""), "EPYC") != NULL;

	if (!epyc || !advise_number(c, &c->host->os.pm_profile, &profile) || host_os_pm_profile_is_server(profile))
		return;
	(void)advise_note(c, &c->host->cpu.model_name);
	(void)advise_report(c, "The firmware calls this EPYC host \"%s\"", host_os_pm_profile_name(profile));
}

const struct advise_rule advise_system_rules[] = {
    {
	.id = "system.guest",
	.severity = ADVISE_INFO,
	.title = "This host is itself a virtual machine",
	.mechanism =
	    "A guest sees neither the real topology nor clocks, idle states or power, and cannot change them. What "
	    "depends on them is not asked here.",
	.basis = BASIS_DOCUMENT,
	.source = "CPUID flag hypervisor; /sys/class/dmi/id",
	.hurts = "nothing known",
	.by_hand = "run hvtune check on the machine below, or --host with a capture of it",
	.check = check_guest,
    },
    {
	.id = "system.container",
	.severity = ADVISE_INFO,
	.title = "hvtune runs in a container",
	.mechanism =
	    "Processes, mounts and /etc are the container's, /sys and most of /proc/sys the host's. Services of the "
	    "host, its boot loader and holders of latency requests are not seen.",
	.basis = BASIS_REASONED,
	.source = "/run/systemd/container, /run/.containerenv, /.dockerenv",
	.hurts = "nothing known",
	.by_hand = "run hvtune check on the host itself",
	.check = check_container,
    },
    {
	.id = "system.clocksource-slow",
	.severity = ADVISE_WARN,
	.title = "The clock source is not the TSC",
	.mechanism =
	    "hpet and acpi_pm are read from a device, for each clock_gettime() by a system call, and kvm-clock of "
	    "guests needs the host's TSC. The kernel gives the TSC up when its watchdog finds it unstable.",
	.effect =
	    "each look at the clock costs a device access instead of an instruction; guests lose kvm-clock's fast path",
	.basis = BASIS_DOCUMENT,
	.source =
	    "Linux Documentation/virt/kvm/x86/timekeeping.rst; admin-guide/kernel-parameters.txt, clocksource=, tsc=",
	.hurts = "forcing an unstable TSC makes time jump",
	.by_hand = "dmesg | grep -i -e tsc -e clocksource; a newer BIOS; echo tsc > "
		   "/sys/devices/system/clocksource/clocksource0/current_clocksource when it is offered",
	.check = check_clock,
    },
    {
	.id = "system.clocksource-tsc",
	.severity = ADVISE_GOOD,
	.title = "The clock source is the TSC",
	.mechanism = "Reading the time is one instruction, and kvm-clock of guests can follow it.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/virt/kvm/x86/timekeeping.rst",
	.hurts = "nothing known",
	.check = check_clock_fine,
    },
    {
	.id = "system.unknown-words",
	.severity = ADVISE_WARN,
	.title = "The kernel does not know a word on its command line",
	.mechanism =
	    "The kernel logs words that none of its parts took, and hands them to init. A word that was meant for it "
	    "has no effect then.",
	.effect = "the setting is not in force",
	.basis = BASIS_DOCUMENT,
	.source = "kernel log: Unknown kernel command line parameters",
	.hurts = "nothing known",
	.by_hand = "dmesg | grep 'Unknown kernel command line'",
	.check = check_unknown_words,
    },
    {
	.id = "system.boot-loader",
	.severity = ADVISE_INFO,
	.title = "How kernel parameters are set here",
	.mechanism = "Distributions differ: grub2-mkconfig changes nothing on hosts with boot loader entries, "
		     "update-grub nothing "
		     "on a Proxmox host that boots by systemd-boot.",
	.basis = BASIS_DOCUMENT,
	.source = "files in /etc and /boot, words that the loader leaves on /proc/cmdline",
	.hurts = "nothing known",
	.check = check_boot_loader,
    },
    {
	.id = "system.boot-words-not-booted",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE,
	.title = "The boot loader's file asks for kernel parameters that did not boot",
	.mechanism =
	    "The file is only read when the loader's configuration is written again; then it takes a reboot. Or "
	    "another loader than that of this file started the kernel.",
	.effect = "the settings are not in force",
	.basis = BASIS_REPORTS,
	.source = "sap_install issue 148, ceph-ansible issue 3652",
	.hurts = "a reboot stops all VMs",
	.by_hand = "write the boot loader's configuration anew (update-grub, grub2-mkconfig or grubby), then reboot",
	.check = check_not_booted,
    },
    {
	.id = "system.pm-profile",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The firmware's power profile is no server profile",
	.mechanism =
	    "Linux chooses its amd_pstate default by the ACPI profile: from 6.5 on clients get the driver, servers "
	    "only "
	    "from 6.13 and family 1Ah on, and an unspecified profile does not get it at all. amd_pstate= overrides.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux drivers/cpufreq/amd-pstate.c; ACPI 6.5 table 5.9",
	.hurts = "nothing known",
	.by_hand = "amd_pstate=active on the command line makes the choice explicit",
	.check = check_pm_profile,
    },
    {.id = NULL},
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about which frequency driver runs, in which mode, and why not another. */
#include "advise_check.h"

#define ABOUT_DRIVER "/sys/devices/system/cpu/cpufreq"

static bool mode_is(const char *mode, const char *words)
{
	return mode && text_has_word(words, " ", mode);
}

/* The mode that the command line asks for, when it is one that makes the driver start; else NULL. */
static const char *asked_mode(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "amd_pstate");

	return word && mode_is(word->value, "active passive guided") ? word->value : NULL;
}

/* Linux 6.1 knows only passive; active came with 6.3 (Documentation/admin-guide/pm/amd-pstate.rst). */
static const char *best_mode(const struct advise_check *c)
{
	bool known = c->host->os.kernel_major > 0;

	return known && !host_kernel_at_least(c->host, 6, 3) ? "passive" : "active";
}

/*
 * The kernel makes acpi_cppc only when the firmware gives _CPC; the log may not be readable, or long gone. On a CPU
 * with the flag that means an option in the BIOS.
 */
static bool firmware_refuses(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;

	if (c->host->whole && fact_is_on(&cpufreq->cppc_flag) && cpufreq->nominal_mhz.state == FACT_ABSENT) {
		(void)advise_note(c, &cpufreq->cppc_flag);
		return !advise_note(c, &cpufreq->nominal_mhz);
	}
	return advise_log_line(c, "the _CPC object is not present in SBIOS") != NULL;
}

/* Why the kernel's own rules kept amd-pstate out (amd_pstate_init() of Linux 6.12 and 7.2). */
static const char *why_not_by_default(struct advise_check *c)
{
	const struct host *host = c->host;
	const char *mode = best_mode(c);

	if (!host->os.kernel_major)
		return "the kernel starts amd-pstate only when asked here";
	if (!host_kernel_at_least(host, 5, 17))
		return "amd-pstate came with Linux 5.17; this kernel has it only if its distribution took it over";
	if (!host_kernel_at_least(host, 6, 5))
		return advise_printf(c,
				     "Linux %d.%d never starts amd-pstate by itself: it needs amd_pstate=%s on the "
				     "command line",
				     host->os.kernel_major, host->os.kernel_minor, mode);
	if (fact_known(&host->os.pm_profile) && host_os_pm_profile_is_server(host->os.pm_profile.number)) {
		(void)advise_note(c, &host->os.pm_profile);
		return "on a server of this CPU family the kernel starts amd-pstate only when asked";
	}
	if (fact_is_number(&host->os.pm_profile, 0)) {
		(void)advise_note(c, &host->os.pm_profile);
		return "the firmware leaves the power profile undefined: the kernel then starts amd-pstate only when "
		       "asked";
	}
	return "the kernel started amd-pstate only when asked here";
}

/*
 * Would the kernel's own rules have started amd-pstate here? Then something keeps it out. From 6.5 on clients get it,
 * from 6.13 on servers of family 1Ah too (amd_pstate_init()).
 */
static bool starts_by_itself(const struct host *host)
{
	const struct fact *profile = &host->os.pm_profile;

	if (!host->os.kernel_major || !host_kernel_at_least(host, 6, 5) || !fact_known(profile) || !profile->number)
		return false;
	return !host_os_pm_profile_is_server(profile->number) ||
	       (host_kernel_at_least(host, 6, 13) && fact_known(&host->cpu.family) && host->cpu.family.number >= 0x1a);
}

/* The way out is a word for the next boot, in the place of `wrong` (NULL: added). */
static void set_boot_mode(struct advise_check *c, struct advise_finding *finding, const char *mode, const char *wrong)
{
	finding->knobs = advise_printf(c, "boot.amd_pstate=%s", mode);
	finding->by_hand = advise_boot_command(c, advise_printf(c, "amd_pstate=%s", mode), wrong);
}

/* A linted line: does it keep amd-pstate away from a CPU that has CPPC? */
static void check_disabling_word(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "amd_pstate");

	if (!word || !text_equal(word->value, "disable") || !fact_is_on(&c->host->cpufreq.cppc))
		return;
	(void)advise_note(c, &c->host->cpufreq.cppc);
	struct advise_finding *finding =
	    advise_report_as(c, ADVISE_ADVICE, "amd_pstate=disable leaves a CPU with CPPC to acpi-cpufreq");

	finding->by_hand = advise_printf(c, "write amd_pstate=%s", best_mode(c));
	advise_at_word(c, finding, word);
}

static void check_acpi_on_cppc(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	const char *driver;
	bool cppc;

	if (c->subject->cmdline) {
		check_disabling_word(c);
		return;
	}
	if (!advise_text(c, host_cpufreq_driver(cpufreq), &driver) || !text_equal(driver, "acpi-cpufreq") ||
	    !advise_switch(c, &cpufreq->cppc, &cppc) || !cppc)
		return;
	/* Others speak for these: asked for in vain, switched off at run time, no _CPC in the firmware. */
	if (asked_mode(c) || fact_is_text(&cpufreq->status, "disable") || firmware_refuses(c))
		return;
	const struct cmdline_word *word = advise_word(c, "amd_pstate");
	bool own_choice = word && mode_is(word->value, "disable");
	bool by_msr = fact_is_on(&cpufreq->cppc_flag);
	/* What the kernel chose by its own rules is no fault; what keeps out a driver that it would start is one. */
	bool kept_out = !own_choice && by_msr && starts_by_itself(c->host);
	const char *mode = best_mode(c);
	const char *path = !advise_note(c, &cpufreq->cppc_flag) ? "CPPC"
			   : cpufreq->cppc_flag.number
			       ? "CPPC by MSR (CPU flag cppc)"
			       : "CPPC through shared memory (acpi_cppc is there, no CPU flag cppc)";
	struct advise_finding *finding =
	    advise_report_as(c, kept_out ? ADVISE_WARN : ADVISE_ADVICE, "acpi-cpufreq drives a CPU with %s", path);

	finding->detail = own_choice ? "the command line keeps amd-pstate away: amd_pstate=disable"
			  : kept_out ? "this kernel starts amd-pstate by itself here: something keeps it out"
				     : why_not_by_default(c);
	finding->experiment = advise_printf(c, "now against amd_pstate=%s, with the workload and its watts", mode);
	set_boot_mode(c, finding, mode, NULL);
}

/*
 * Do words keep every driver from starting? cmdline.no-frequency-driver says so then, with the words; once is enough.
 */
static bool words_explain(struct advise_check *c)
{
	const struct cmdline_word *off = advise_word(c, "cpufreq.off");
	const struct cmdline_word *blacklist = advise_word(c, "initcall_blacklist");
	bool acpi_out = blacklist && blacklist->value && strstr(blacklist->value, "acpi_cpufreq");

	return (off && text_equal(off->value, "1")) || (acpi_out && !asked_mode(c));
}

/* Known to have no driver? A copy without cpufreq files says nothing, unless it has what CPPC leaves behind. */
static bool known_driverless(const struct host *host)
{
	if (host->cpufreq.policy_count)
		return false;
	/* The global switch exists only with a driver: a copy that has it has lost its policies. */
	if (host->cpufreq.boost.state != FACT_ABSENT)
		return false;
	/* Topology captures hold an empty cpufreq folder and no more; a copy with the vulnerabilities is a whole one.
	 */
	if (fact_is_off(&host->cpufreq.policies_dir) && fact_is_on(&host->mitigations.directory))
		return true;
	return host->whole || fact_is_on(&host->cpufreq.cppc);
}

static void check_no_driver(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;

	if (!known_driverless(c->host) || fact_is_text(&cpufreq->status, "disable") || firmware_refuses(c) ||
	    words_explain(c))
		return;
	(void)advise_note(c, &cpufreq->policies_dir);
	(void)advise_note(c, &cpufreq->cppc);
	const struct cmdline_word *word = advise_word(c, "amd_pstate");
	const char *mode = best_mode(c);
	struct advise_finding *finding = advise_report(c, "No frequency driver runs");

	if (word && !mode_is(word->value, mode)) {
		finding->detail =
		    advise_printf(c, "%s did not start one, and acpi-cpufreq did not step in", word->text);
		set_boot_mode(c, finding, mode, word->text);
	} else if (fact_is_on(&cpufreq->cppc) && !word) {
		finding->detail = "CPPC is there, but neither amd-pstate nor acpi-cpufreq started";
		set_boot_mode(c, finding, mode, NULL);
	} else {
		finding->detail =
		    "neither amd-pstate nor acpi-cpufreq started: CPPC or P-states may be off in the BIOS";
		finding->knobs = NULL;
		finding->by_hand =
		    "BIOS: turn CPPC and P-states (Cool'n'Quiet) on; dmesg | grep -i -e amd_pstate -e cpufreq";
	}
}

static void check_no_cppc(struct advise_check *c)
{
	const char *driver = fact_text_or(host_cpufreq_driver(&c->host->cpufreq), "");
	bool runs = text_starts(driver, "amd-pstate");

	if (!runs && firmware_refuses(c)) {
		(void)advise_note(c, host_cpufreq_driver(&c->host->cpufreq));
		(void)advise_report(c, "amd-pstate cannot start: the firmware describes no CPPC (_CPC)");
		return;
	}
	if (!advise_log_line(c, "CPPC feature is supported but currently disabled by the BIOS"))
		return;
	(void)advise_report_as(c, runs ? ADVISE_ADVICE : ADVISE_WARN, "CPPC is turned off in the BIOS");
}

static void check_asked_mode(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	const char *asked = asked_mode(c), *driver, *status;

	if (!asked || !advise_text(c, host_cpufreq_driver(cpufreq), &driver))
		return;
	if (!text_starts(driver, "amd-pstate")) {
		if (firmware_refuses(c) || fact_is_text(&cpufreq->status, "disable"))
			return;
		struct advise_finding *finding =
		    advise_report(c, "The command line asks for amd_pstate=%s, but %s drives", asked, driver);

		if (!text_equal(asked, "passive") && c->host->os.kernel_major && !host_kernel_at_least(c->host, 6, 3)) {
			finding->detail =
			    "this kernel knows amd_pstate=passive only; active came with 6.3, guided with 6.4";
			set_boot_mode(c, finding, "passive", advise_printf(c, "amd_pstate=%s", asked));
		}
		return;
	}
	if (!fact_known(&cpufreq->status) || !advise_text(c, &cpufreq->status, &status) || text_equal(status, asked) ||
	    text_equal(status, "disable"))
		return;
	(void)advise_report_as(c, ADVISE_INFO, "amd_pstate runs as %s though the command line asks for %s", status,
			       asked);
}

static void check_status_disabled(struct advise_check *c)
{
	const char *status;

	if (!advise_text(c, &c->host->cpufreq.status, &status) || !text_equal(status, "disable"))
		return;
	(void)advise_note(c, host_cpufreq_driver(&c->host->cpufreq));
	(void)advise_report(c, "amd_pstate was switched off while the host ran%s",
			    c->host->cpufreq.policy_count ? "" : ", and no other driver took over");
}

static void check_guest(struct advise_check *c)
{
	const char *hypervisor;

	if (!host_is_guest(c->host) || !advise_text(c, &c->host->os.hypervisor, &hypervisor))
		return;
	(void)advise_note(c, &c->host->cpufreq.policies_dir);
	(void)advise_report(c, "This is a guest%s%s: frequency, EPP and boost are the host's business",
			    text_equal(hypervisor, "unknown") ? "" : " under ",
			    text_equal(hypervisor, "unknown") ? "" : hypervisor);
}

static void check_mixed_drivers(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, offsetof(struct cpufreq_policy, driver), "scaling_driver", &groups);

	if (count < 2)
		return;
	(void)advise_report(c, "%zu frequency drivers at once: %s on %s, %s on %s", count, groups[0].value,
			    advise_cpu_list(c, &groups[0].cpus), groups[1].value, advise_cpu_list(c, &groups[1].cpus));
}

static void check_dynamic_epp(struct advise_check *c)
{
	bool on;

	if (advise_switch(c, &c->host->cpufreq.dynamic_epp, &on) && on)
		(void)advise_report(c, "The kernel sets EPP by itself (dynamic_epp is on)");
}

const struct advise_rule advise_cpufreq_driver_rules[] = {
    {
	.id = "cpufreq.no-driver",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "No frequency driver runs",
	.mechanism =
	    "Without a driver the kernel neither chooses clocks nor hands the choice to the hardware: the cores run "
	    "at what the firmware left, boost included or not, and no governor, limit or EPP exists.",
	.effect = "not predictable: the clocks are those that the firmware left",
	.basis = BASIS_REPORTS,
	.source = "liquorix-package issue 119; interface in Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "nothing known",
	.knobs = "boot.amd_pstate=active",
	.by_hand = "dmesg | grep -i -e amd_pstate -e cpufreq; ls " ABOUT_DRIVER,
	.check = check_no_driver,
    },
    {
	.id = "cpufreq.acpi-on-cppc-host",
	.severity = ADVISE_WARN,
	.needs = JUDGES_WORDS | NEEDS_AMD | NEEDS_METAL,
	.title = "acpi-cpufreq drives a CPU that has CPPC",
	.mechanism =
	    "acpi-cpufreq knows three P-states and hides boost in the first. amd-pstate lets the CPU choose among all "
	    "its frequencies, with a preference between speed and watts (EPP), and is what kernels from 6.13 use on "
	    "new servers by themselves.",
	.effect =
	    "about 2 % of speed and a finer knob: geometric mean over 50 workloads 2 % faster with amd-pstate on 2 x "
	    "EPYC 9755 (Zen 5); with an efficiency setting on top, 97.8 % of that speed at 87.8 % of "
	    "acpi-cpufreq's CPU power. Not measured on Zen 2 and 3",
	.basis = BASIS_STUDY,
	.source = "study C; study A chose active for its idle power on an EPYC 9354P",
	.hurts =
	    "a reboot. On CPUs with CPPC through shared memory (Zen 2) each request is a mailbox call: compare before "
	    "keeping it",
	.knobs = "boot.amd_pstate=active",
	.by_hand = "put amd_pstate=active (passive before Linux 6.3) on the kernel command line and reboot; then cat "
		   "/sys/devices/system/cpu/amd_pstate/status",
	.experiment = "now against amd_pstate=active (passive before Linux 6.3), with the workload and its watts",
	.check = check_acpi_on_cppc,
    },
    {
	.id = "cpufreq.no-cppc-in-firmware",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The firmware offers no CPPC",
	.mechanism =
	    "amd-pstate needs the _CPC objects that the firmware makes when its CPPC option is on. The kernel log says "
	    "that they are missing or that CPPC is turned off, so only the old P-states are left.",
	.effect = "what amd-pstate brings: geometric mean 2 % faster than acpi-cpufreq on 2 x EPYC 9755",
	.basis = BASIS_STUDY,
	.source = "study C; messages of Linux drivers/cpufreq/amd-pstate.c",
	.hurts = "nothing known; a reboot into the BIOS set-up",
	.by_hand = "BIOS set-up: Advanced > AMD CBS > SMU or NBIO options: CPPC = Enabled (vendors word it "
		   "differently); update "
		   "the BIOS when there is no such option",
	.check = check_no_cppc,
    },
    {
	.id = "cpufreq.asked-mode-not-in-force",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL | NEEDS_CMDLINE,
	.title = "The command line asks for an amd_pstate mode that is not in force",
	.mechanism = "A word on the command line is a wish: the driver still needs CPPC from the firmware, no other "
		     "driver before "
		     "it, and a kernel that knows the mode. What runs now is not what was asked.",
	.effect = "what the mode was asked for is missing",
	.basis = BASIS_DOCUMENT,
	.source = "Linux drivers/cpufreq/amd-pstate.c, amd_pstate_init()",
	.hurts = "nothing known",
	.by_hand = "dmesg | grep amd_pstate says why; cat /sys/devices/system/cpu/amd_pstate/status",
	.check = check_asked_mode,
    },
    {
	.id = "cpufreq.amd-pstate-status-disabled",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "amd_pstate was switched off at run time",
	.mechanism = "The file amd_pstate/status exists only after the driver has run; disable means that someone "
		     "wrote so since "
		     "boot. acpi-cpufreq does not come back by itself, so often no driver at all is left.",
	.effect = "the clocks are those that the firmware left, or those of acpi-cpufreq",
	.basis = BASIS_DOCUMENT,
	.source = "Linux drivers/cpufreq/amd-pstate.c, amd_pstate_update_status()",
	.hurts = "all policies start with their defaults again: governor, limits, boost and EPP have to be set anew",
	.knobs = "amd_pstate=active",
	.by_hand = "echo active > /sys/devices/system/cpu/amd_pstate/status",
	.check = check_status_disabled,
    },
    {
	.id = "cpufreq.mixed-drivers",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "More than one frequency driver runs",
	.mechanism =
	    "Linux registers one frequency driver for all CPUs. Policies that name different ones mean that CPUs were "
	    "brought on line around a change of driver, or that the files are not from one moment.",
	.effect = "CPUs of one VM clock by different rules",
	.basis = BASIS_REASONED,
	.source = "Linux drivers/cpufreq/cpufreq.c, cpufreq_register_driver()",
	.hurts = "nothing known",
	.by_hand = "grep . " ABOUT_DRIVER "/policy*/scaling_driver; a reboot makes it one",
	.check = check_mixed_drivers,
    },
    {
	.id = "cpufreq.dynamic-epp",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The kernel sets EPP by itself",
	.mechanism =
	    "With amd_dynamic_epp (Linux 7.1 and 7.2) the kernel changes EPP with the power source and the platform "
	    "profile. While it is on, writing EPP is refused with EBUSY.",
	.source = "Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.by_hand = "echo disabled > /sys/devices/system/cpu/amd_pstate/dynamic_epp",
	.check = check_dynamic_epp,
    },
    {
	.id = "cpufreq.guest-has-no-say",
	.severity = ADVISE_INFO,
	.title = "A guest has no say in frequency",
	.mechanism =
	    "The clocks of a virtual CPU are those of the core that it runs on. Governors, EPP, boost and idle states "
	    "are set on the host; profiles that set them inside a guest do nothing.",
	.source = "tuned issue 857; study A: a tuned profile inside the VM changed nothing",
	.by_hand = "run hvtune check on the host",
	.check = check_guest,
    },
    {.id = NULL},
};

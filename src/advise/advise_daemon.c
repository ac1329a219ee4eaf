/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about services that write the same knobs as others, or as the admin. */
#include "advise_check.h"

/* Note a daemon that runs; false when it is not known to. */
static bool runs(struct advise_check *c, const char *name)
{
	const struct daemon *daemon = host_daemon(&c->host->daemons, name);

	if (!daemon || !fact_is_on(&daemon->running))
		return false;
	advise_note_text(c, daemon->running.source, "%s %s", name,
			 daemon->running.note ? daemon->running.note : "runs");
	return true;
}

static void check_two_power_daemons(struct advise_check *c)
{
	static const char *const names[] = {"tuned",	    "power-profiles-daemon", "tlp",
					    "auto-cpufreq", "system76-power",	     "laptop-mode"};
	const char *list = "";
	int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		/* TLP beside power-profiles-daemon does not start: that is the next rule's. */
		bool shut_out =
		    text_equal(names[i], "tlp") && host_daemon_runs(&c->host->daemons, "power-profiles-daemon");

		if (shut_out || !runs(c, names[i]))
			continue;
		list = advise_printf(c, "%s%s%s", list, count ? " and " : "", names[i]);
		count++;
	}
	if (count > 1)
		advise_report(c, "%s run at the same time and overwrite each other", list);
}

static void check_tlp_shut_out(struct advise_check *c)
{
	if (runs(c, "tlp") && runs(c, "power-profiles-daemon"))
		advise_report(c, "TLP is enabled beside power-profiles-daemon, whose unit keeps it from running");
}

static void check_tuned_ppd(struct advise_check *c)
{
	if (runs(c, "tuned-ppd") && runs(c, "power-profiles-daemon"))
		advise_report(c, "tuned-ppd and power-profiles-daemon both want the desktop's power profile interface");
}

static void check_ppd_switches(struct advise_check *c)
{
	if (runs(c, "tuned-ppd") && runs(c, "tuned"))
		advise_report(c, "A desktop session may switch tuned's profile through tuned-ppd");
}

static void check_cpupower(struct advise_check *c)
{
	static const char *const names[] = {"cpupower", "cpufrequtils"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		advise_forget(c);
		if (host_daemon_runs(&c->host->daemons, "tuned") && runs(c, names[i]) && runs(c, "tuned"))
			advise_report(c, "%s sets the governor at boot, and so does tuned: which comes last is chance",
				      names[i]);
	}
}

static void check_irqbalance(struct advise_check *c)
{
	const struct cmdline_word *word = cmdline_last(&c->host->cmdline, "irqaffinity");

	if (!word || !runs(c, "irqbalance"))
		return;
	advise_note_text(c, "/proc/cmdline", "%s", word->text);
	advise_report(c, "irqbalance moves interrupts away from where %s puts them", word->text);
}

static void check_irqbalance_isolated(struct advise_check *c)
{
	const struct cpuset *isolated;

	if (runs(c, "irqbalance") && advise_cpus(c, &c->host->cpu.isolated, &isolated) && !cpuset_empty(isolated))
		advise_report(c, "irqbalance runs beside isolated CPUs %s and leaves them out by itself",
			      advise_cpu_list(c, isolated));
}

static void check_numad(struct advise_check *c)
{
	if (runs(c, "numad"))
		advise_report(c, "numad moves processes and their memory between nodes");
}

static void check_ksmtuned(struct advise_check *c)
{
	int64_t run;

	if (runs(c, "ksmtuned") && advise_number(c, &c->host->memory.ksm_run, &run) && run == 0)
		advise_report(c, "ksmtuned runs while KSM is off: it switches KSM on when memory gets short");
}

static void check_scx(struct advise_check *c)
{
	const char *ops;

	if (runs(c, "scx") && advise_text(c, &c->host->daemons.scx_ops, &ops))
		advise_report(c, "The sched_ext scheduler %s is loaded in place of the kernel's own", ops);
}

static void check_auto_cpufreq(struct advise_check *c)
{
	if (runs(c, "auto-cpufreq") && fact_is_on(&c->host->kvm.device))
		advise_report(c, "auto-cpufreq switches governor, EPP and boost by load on a host that runs VMs");
}

static void check_thermald(struct advise_check *c)
{
	if (runs(c, "thermald"))
		advise_report(c, "thermald runs on an AMD CPU, where it has nothing to do");
}

static void check_gamemode(struct advise_check *c)
{
	if (runs(c, "gamemoded"))
		advise_report(c, "gamemoded switches the governor while a game runs");
}

const struct advise_rule advise_daemon_rules[] = {
    {
	.id = "daemon.two-power-daemons",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "Two services write the same power settings",
	.mechanism = "Each sets governor, EPP and boost at its own events and does not look at the other; which value "
		     "is in force "
		     "depends on who wrote last.",
	.effect = "settings change without anybody's will, and neither profile's figures hold",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 396, TLP issue 564, auto-cpufreq issue 305",
	.hurts = "what the service that goes offered",
	.by_hand = "keep one; systemctl disable --now power-profiles-daemon (or the other)",
	.check = check_two_power_daemons,
    },
    {
	.id = "daemon.tlp-shut-out",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "TLP is enabled but kept from running",
	.mechanism = "power-profiles-daemon's unit has Conflicts=tlp.service: TLP does not start, or is stopped, "
		     "without a message.",
	.effect = "none of TLP's settings",
	.basis = BASIS_REPORTS,
	.source = "TLP issue 564",
	.hurts = "the desktop's switch of power profiles, if power-profiles-daemon goes",
	.by_hand = "systemctl mask power-profiles-daemon, or systemctl disable tlp",
	.check = check_tlp_shut_out,
    },
    {
	.id = "daemon.tuned-ppd-twice",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "tuned-ppd and power-profiles-daemon run together",
	.mechanism =
	    "tuned-ppd takes the place of power-profiles-daemon under the same D-Bus names; only one can have them.",
	.effect = "one of them fails, and the desktop's choice goes to the other",
	.basis = BASIS_DOCUMENT,
	.source = "tuned-ppd(8)",
	.hurts = "nothing",
	.by_hand = "systemctl disable --now power-profiles-daemon",
	.check = check_tuned_ppd,
    },
    {
	.id = "daemon.tuned-ppd-switches",
	.severity = ADVISE_INFO,
	.title = "A desktop session may switch tuned's profile",
	.mechanism = "tuned-ppd maps the desktop's power saver, balanced and performance to tuned profiles "
		     "(/etc/tuned/ppd.conf).",
	.basis = BASIS_DOCUMENT,
	.source = "tuned-ppd(8)",
	.check = check_ppd_switches,
    },
    {
	.id = "daemon.cpupower-beside-tuned",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "The governor is set at boot by two services",
	.mechanism = "cpupower.service and cpufrequtils write once at boot without an order relative to tuned.",
	.effect = "the governor after boot is a matter of chance",
	.basis = BASIS_REASONED,
	.source = "their systemd units",
	.hurts = "nothing",
	.by_hand = "systemctl disable cpupower (or cpufrequtils)",
	.check = check_cpupower,
    },
    {
	.id = "daemon.irqbalance-overrides-irqaffinity",
	.severity = ADVISE_ADVICE,
	.title = "irqbalance overrides irqaffinity=",
	.mechanism = "irqaffinity= is only the default at boot; irqbalance spreads interrupts over all CPUs but "
		     "isolated, tickless "
		     "and banned ones.",
	.effect = "interrupts arrive on CPUs that irqaffinity= leaves out",
	.basis = BASIS_DOCUMENT,
	.source = "irqbalance(1)",
	.hurts = "without irqbalance: many interrupts may stay on few CPUs",
	.by_hand = "set IRQBALANCE_BANNED_CPULIST, or systemctl disable --now irqbalance",
	.check = check_irqbalance,
    },
    {
	.id = "daemon.irqbalance-and-isolation",
	.severity = ADVISE_INFO,
	.title = "irqbalance runs beside isolated CPUs",
	.mechanism = "It reads the kernel's isolated and nohz_full lists when IRQBALANCE_BANNED_CPULIST is not set; "
		     "with a list of "
		     "its own only that list counts.",
	.basis = BASIS_DOCUMENT,
	.source = "irqbalance(1)",
	.by_hand = "grep BANNED /etc/default/irqbalance /etc/sysconfig/irqbalance",
	.check = check_irqbalance_isolated,
    },
    {
	.id = "daemon.numad",
	.severity = ADVISE_ADVICE,
	.title = "numad moves processes and memory",
	.mechanism =
	    "numad changes the CPU affinity of big processes as their load changes; pinned VMs with bound memory gain "
	    "nothing and may be moved against their pins.",
	.effect = "not known in general",
	.basis = BASIS_REASONED,
	.source = "numad(8)",
	.hurts = "VMs without pins lose numad's placement",
	.by_hand = "systemctl disable --now numad",
	.experiment = "the guests' work with and without numad",
	.check = check_numad,
    },
    {
	.id = "daemon.ksmtuned-waits",
	.severity = ADVISE_INFO,
	.title = "ksmtuned runs while KSM is off",
	.mechanism = "It starts KSM when free memory falls below its threshold and stops it again: KSM being off now "
		     "does not mean "
		     "that it stays off.",
	.basis = BASIS_DOCUMENT,
	.source = "/etc/ksmtuned.conf",
	.by_hand = "systemctl disable --now ksmtuned ksm, where memory is not to be shared between VMs",
	.check = check_ksmtuned,
    },
    {
	.id = "daemon.sched-ext",
	.severity = ADVISE_INFO,
	.title = "A sched_ext scheduler is loaded",
	.mechanism = "Scheduling is then done by a program that can be loaded and unloaded at run time; figures of "
		     "other hosts do "
		     "not carry over. Hangs of VMs under some of them were reported.",
	.basis = BASIS_REPORTS,
	.source = "scx issues 3129, 3233 and 3687",
	.by_hand = "cat /sys/kernel/sched_ext/root/ops; systemctl stop scx",
	.check = check_scx,
    },
    {
	.id = "daemon.auto-cpufreq",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "auto-cpufreq runs on a VM host",
	.mechanism =
	    "It is made for laptops and switches governor, EPP and boost by load and battery, also while VMs run.",
	.effect = "not known in general",
	.basis = BASIS_REPORTS,
	.source = "auto-cpufreq issues 680 and 725",
	.hurts = "power that it saved",
	.by_hand = "systemctl disable --now auto-cpufreq",
	.experiment = "now against a fixed setting on the guests' work, with power",
	.check = check_auto_cpufreq,
    },
    {
	.id = "daemon.thermald-on-amd",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD,
	.title = "thermald runs on an AMD CPU",
	.mechanism = "It drives Intel's power limits and leaves by itself on other CPUs.",
	.basis = BASIS_DOCUMENT,
	.source = "thermald(8)",
	.by_hand = "systemctl disable --now thermald",
	.check = check_thermald,
    },
    {
	.id = "daemon.gamemode",
	.severity = ADVISE_INFO,
	.title = "gamemoded may switch the governor",
	.mechanism = "It restores a fixed governor afterwards in some versions, whatever was set before.",
	.basis = BASIS_REPORTS,
	.source = "gamemode issues 52 and 419",
	.check = check_gamemode,
    },
    {.id = NULL},
};

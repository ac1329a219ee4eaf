/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the rules about what a tuned profile does on this host: idle states, isolation, power. They judge the active
 * profiles, or the one that is linted in their place. Options of frequency: advise_tuned_cpufreq.c.
 */
#include <inttypes.h>

#include "advise_tuned.h"

static const struct idle_state *state_by_number(const struct host_idle *idle, int64_t number)
{
	for (int i = 0; i < idle->state_count; i++)
		if (idle->states[i].number == number)
			return &idle->states[i];
	return NULL;
}

static const struct idle_state *state_by_name(const struct host_idle *idle, const char *name)
{
	for (int i = 0; i < idle->state_count; i++)
		if (fact_is_text(&idle->states[i].name, name))
			return &idle->states[i];
	return NULL;
}

/* One alternative of force_latency; false when tuned would go on to the next one. */
static bool one_latency(const struct host_idle *idle, const char *text, int64_t *ret_us)
{
	const char *colon = strchr(text, ':');
	bool no_zero = strstr(text, "_no_zero:") != NULL;
	const struct idle_state *state = NULL;
	int64_t number;

	if (text_int(text, 10, ret_us) == 0)
		return *ret_us >= 0;
	if (colon && text_starts(text, "cstate.id") && text_int(colon + 1, 10, &number) == 0)
		state = state_by_number(idle, number);
	else if (colon && text_starts(text, "cstate.name"))
		state = state_by_name(idle, colon + 1);
	if (!state || !fact_known(&state->latency_us) || (no_zero && !state->latency_us.number))
		return false;
	*ret_us = state->latency_us.number;
	return true;
}

/* The latency that the profile asks for on this host (plug-in cpu of tuned: the first alternative that can be had). */
static bool latency_asked(struct advise_check *c, const char *value, int64_t *ret_us)
{
	if (!c->host->idle.state_count || strchr(value, '$') || text_equal(value, "None"))
		return false;
	for (const char *at = value; *at;) {
		size_t length = strcspn(at, "|");
		const char *one = text_trim(c->arena, advise_printf(c, "%.*s", (int)MIN_OF(length, 200), at));

		if (one_latency(&c->host->idle, one, ret_us))
			return true;
		at += length + (at[length] != '\0');
	}
	return false;
}

/* "C2 (400 us), C3 (600 us)": the states that need longer. */
static const char *states_above(struct advise_check *c, int64_t limit_us)
{
	const struct host_idle *idle = &c->host->idle;
	const char *list = "";

	for (int i = 0; i < idle->state_count; i++)
		if (fact_known(&idle->states[i].latency_us) && idle->states[i].latency_us.number > limit_us) {
			advise_note(c, &idle->states[i].latency_us);
			list =
			    advise_printf(c, "%s%s%s (%" PRId64 " us)", list, *list ? ", " : "",
					  fact_text_or(&idle->states[i].name, "?"), idle->states[i].latency_us.number);
		}
	return list;
}

static void check_latency(struct advise_check *c)
{
	const struct tuned_setting *setting = advise_setting(c, "cpu", "force_latency");
	int64_t asked_us;

	if (!setting || !advise_profile_in_force(c) || !latency_asked(c, setting->value, &asked_us))
		return;
	const char *states = states_above(c, asked_us);

	if (!*states)
		return;
	/* Where /dev/cpu_dma_latency can be read the idle rules report what is held; this says who asked for it. */
	bool reported = !c->subject->profile && fact_known(&c->host->idle.dma_latency_us);
	struct advise_finding *finding = advise_report_as(
	    c, reported ? ADVISE_INFO : ADVISE_WARN, "%s asks for a wake-up latency of %" PRId64 " us: it shuts out %s",
	    advise_profile_name(c), asked_us, states);

	advise_at_setting(finding, setting);
	if (strstr(setting->value, "cstate.id_no_zero:3"))
		finding->detail =
		    "the profile names state 3, which this host does not have, so the figure behind '|' counts";
}

static void check_latency_inherited(struct advise_check *c)
{
	const struct tuned_profile *profiles;
	const struct tuned_setting *setting;
	int64_t asked_us;

	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--) {
		advise_forget(c);
		setting = tuned_profile_setting(&profiles[i], "cpu", "force_latency");
		if (!setting || !profiles[i].path || !profiles[i].included_count || !advise_profile_in_force(c) ||
		    text_equal(setting->path, profiles[i].path) || text_starts(profiles[i].path, "/usr/lib/"))
			continue;
		advise_note_setting(c, setting);
		if (latency_asked(c, setting->value, &asked_us) && *states_above(c, asked_us))
			advise_report(c, "%s inherits force_latency=%s from a profile that it includes",
				      advise_profile_name(c), setting->value);
	}
}

static struct fact isolated_of(struct advise_check *c)
{
	return c->subject->profile ? tuned_profile_isolated(c->subject->host, c->subject->profile)
				   : c->host->daemons.tuned.isolated_cores;
}

static void check_isolated_syntax(struct advise_check *c)
{
	const struct fact isolated = isolated_of(c);

	if (isolated.state == FACT_IMPLAUSIBLE) {
		advise_note_text(c, isolated.source, "%s", isolated.raw);
		advise_report(c, "isolated_cores is no list of CPUs: %s", isolated.note);
	}
}

static void check_isolated_offline(struct advise_check *c)
{
	const struct fact isolated = isolated_of(c);
	const struct cpuset *cpus, *online;

	if (!fact_known(&isolated) || !advise_cpus(c, &isolated, &cpus) ||
	    !advise_cpus(c, &c->host->cpu.online, &online))
		return;
	const struct cpuset missing = cpuset_minus(cpus, online);

	if (!cpuset_empty(&missing))
		advise_report(c, "isolated_cores names CPUs that are off line: %s; tuned's assertion fails",
			      advise_cpu_list(c, &missing));
}

static void check_isolated_cores(struct advise_check *c)
{
	const struct host_topology *topology = &c->host->topology;
	const struct fact isolated = isolated_of(c);
	const struct cpuset *cpus;

	if (!topology->core_known || !fact_known(&isolated) || !advise_cpus(c, &isolated, &cpus))
		return;
	const struct cpuset here = cpuset_and(cpus, host_cpu_online(c->host));
	const struct cpuset whole = topology_whole_cores(topology, &here);
	const struct cpuset left_out = cpuset_minus(&whole, &here);

	if (!cpuset_empty(&left_out))
		advise_report(c, "isolated_cores takes %s but leaves their sibling threads %s to the host",
			      advise_cpu_list(c, &here), advise_cpu_list(c, &left_out));
}

static void check_by_design(struct advise_check *c)
{
	const struct fact isolated = isolated_of(c);
	const struct cpuset *kernel, *cpus;

	if (c->subject->profile || !advise_profile_in_force(c) || !advise_profile_is_a(c, "cpu-partitioning") ||
	    !fact_known(&isolated) || !advise_cpus(c, &isolated, &cpus) ||
	    !advise_cpus(c, &c->host->cpu.isolated, &kernel) || !cpuset_empty(kernel) || cpuset_empty(cpus))
		return;
	advise_report(c, "cpu-partitioning sets %s apart without isolcpus by design: an empty isolated file is right",
		      advise_cpu_list(c, cpus));
}

static void check_wrong_side(struct advise_check *c)
{
	bool guest = host_is_guest(c->host);
	/* Being no guest is only known where the CPU's flags are. */
	bool metal = !guest && fact_known(&c->host->cpu.flags) && !host_cpu_has_flag(&c->host->cpu, "hypervisor");
	const char *name = guest && advise_profile_is_a(c, "virtual-host")    ? "virtual-host"
			   : metal && advise_profile_is_a(c, "virtual-guest") ? "virtual-guest"
									      : NULL;

	if (c->subject->profile || !name || !advise_profile_in_force(c))
		return;
	advise_note(c, &c->host->daemons.tuned.active_profile);
	advise_report(c, "The profile %s is active on a %s", name, guest ? "virtual machine" : "machine that is none");
}

static void check_realtime(struct advise_check *c)
{
	const struct cmdline_word *word = cmdline_last(&c->host->cmdline, "amd_pstate");

	if (!advise_profile_is_a(c, "realtime") || c->subject->profile || !word ||
	    !text_equal(word->value, "disable") || !advise_profile_in_force(c))
		return;
	advise_note(c, &c->host->daemons.tuned.active_profile);
	advise_note_text(c, "/proc/cmdline", "%s", word->text);
	advise_report(c, "The realtime profile has put amd_pstate=disable on the command line");
}

static void check_thp(struct advise_check *c)
{
	const struct cmdline_word *word = cmdline_last(&c->host->cmdline, "transparent_hugepage");
	const struct tuned_setting *setting = advise_setting(c, "vm", "transparent_hugepages");

	if (!setting)
		setting = advise_setting(c, "vm", "transparent_hugepage");
	if (!word || !word->value || !setting || text_equal(word->value, setting->value))
		return;
	advise_note_text(c, "/proc/cmdline", "%s", word->text);
	advise_at_setting(advise_report(c,
					"%s asks for transparent hugepages \"%s\", which %s on the command line "
					"makes tuned skip",
					advise_profile_name(c), setting->value, word->text),
			  setting);
}

static void check_idle_power(struct advise_check *c)
{
	static const char *const profiles[] = {"virtual-host", "latency-performance", "throughput-performance"};

	if (c->subject->profile || !advise_profile_in_force(c))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		if (!advise_profile_is_a(c, profiles[i]))
			continue;
		advise_note(c, &c->host->daemons.tuned.active_profile);
		advise_report(c, "%s is for speed and costs idle power", advise_profile_name(c));
		return;
	}
}

static void check_power_saving(struct advise_check *c)
{
	const struct fact *driver = host_cpufreq_driver(&c->host->cpufreq);
	bool powersave = advise_profile_is_a(c, "powersave");
	bool balanced = advise_profile_is_a(c, "balanced");

	if (c->subject->profile || !advise_profile_in_force(c) || !fact_is_on(&c->host->kvm.device) ||
	    !(powersave || (balanced && fact_is_text(driver, "acpi-cpufreq"))))
		return;
	advise_note(c, &c->host->daemons.tuned.active_profile);
	advise_note(c, driver);
	advise_report(c, "%s saves power on a host that runs VMs", advise_profile_name(c));
}

static void check_boot_loader(struct advise_check *c)
{
	const struct tuned_profile *profiles;
	const struct host_os *os = &c->host->os;

	if ((os->loader != BOOT_SYSTEMD_BOOT && os->loader != BOOT_PROXMOX) || !advise_profile_in_force(c))
		return;
	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--)
		for (int s = 0; s < profiles[i].setting_count; s++) {
			const struct tuned_setting *setting = &profiles[i].settings[s];

			if (!text_equal(setting->type, "bootloader") || !text_starts(setting->option, "cmdline"))
				continue;
			advise_note_setting(c, setting);
			advise_note(c, &os->boot_loader);
			advise_at_setting(
			    advise_report(
				c, "%s asks for kernel parameters, which tuned cannot write for this boot loader",
				advise_profile_name(c)),
			    setting);
			return;
		}
}

const struct advise_rule advise_tuned_profile_rules[] = {
    {
	.id = "tuned.latency-shuts-out-states",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED | NEEDS_METAL,
	.title = "The tuned profile shuts out deep idle states",
	.mechanism =
	    "force_latency is held in /dev/cpu_dma_latency: every state that takes longer to leave is forbidden on all "
	    "CPUs. EPYC has no state 3, so virtual-host (cstate.id_no_zero:3|70) asks for 70 us, less than C2 needs.",
	.effect = "study A: idle power 89 W above balanced with virtual-host; less boost headroom for busy cores",
	.basis = BASIS_STUDY,
	.source = "study A, EPYC 9354P; tuned issues 588 and 808",
	.hurts = "wake-up latency of C2 for guests that wait for single packets",
	.knobs = "tuned.profile=throughput-performance",
	.by_hand = "tuned-adm profile throughput-performance, or force_latency=None in [cpu] of an own profile",
	.experiment = "latency of the guests' work with and without force_latency, and idle power",
	.check = check_latency,
    },
    {
	.id = "tuned.latency-inherited",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_TUNED | NEEDS_METAL,
	.title = "An own profile inherits a latency request",
	.mechanism =
	    "A profile that includes virtual-host or a latency profile keeps its force_latency unless it sets its own.",
	.effect = "as of the included profile: deep idle states stay shut out",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, cpu plug-in",
	.hurts = "wake-up latency",
	.by_hand = "write force_latency=None in [cpu], or include throughput-performance",
	.check = check_latency_inherited,
    },
    {
	.id = "tuned.isolated-cores-syntax",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_TUNED,
	.title = "isolated_cores is no list of CPUs",
	.mechanism = "The profile's assertions fail on it.",
	.effect = "the profile is not applied",
	.basis = BASIS_DOCUMENT,
	.source = "tuned-profiles-cpu-partitioning(7)",
	.hurts = "nothing",
	.by_hand = "write a list such as 2-15,18-31",
	.check = check_isolated_syntax,
    },
    {
	.id = "tuned.isolated-cores-offline",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_TUNED,
	.title = "isolated_cores names CPUs that are off line",
	.mechanism = "The profile asserts that all isolated cores are on line; where SMT was switched off or the list "
		     "was written "
		     "for another machine they are not.",
	.effect = "tuned refuses to apply the profile",
	.basis = BASIS_REPORTS,
	.source = "smart-edge-open specs issue 29",
	.hurts = "nothing",
	.by_hand = "name only CPUs of /sys/devices/system/cpu/online",
	.check = check_isolated_offline,
    },
    {
	.id = "tuned.isolated-cores-split",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED | NEEDS_METAL,
	.title = "isolated_cores leaves sibling threads to the host",
	.mechanism = "Two threads share a core: work of the host on the sibling slows the isolated one.",
	.effect = "a busy sibling takes a large part of the core's throughput",
	.basis = BASIS_REASONED,
	.source = "lxd issue 14709",
	.hurts = "the host loses these threads",
	.by_hand = "add the siblings (lscpu -e=cpu,core,cache)",
	.check = check_isolated_cores,
    },
    {
	.id = "tuned.isolation-by-design",
	.severity = ADVISE_INFO,
	.needs = NEEDS_TUNED,
	.title = "cpu-partitioning isolates without isolcpus",
	.mechanism = "It keeps tasks, interrupts and kernel work off the cores by affinity and leaves load balancing "
		     "on, so that "
		     "several threads may share the isolated set; no_balance_cores is for those without.",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 98; tuned-profiles-cpu-partitioning(7)",
	.check = check_by_design,
    },
    {
	.id = "tuned.wrong-side",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_TUNED,
	.title = "A tuned profile of the other side of virtualization",
	.mechanism = "virtual-host asks for a C-state latency, which a guest cannot have; virtual-guest lacks what a "
		     "host wants.",
	.effect = "small: study A saw no change from any profile inside the VM",
	.basis = BASIS_STUDY,
	.source = "study A",
	.hurts = "nothing",
	.by_hand = "tuned-adm recommend; tuned-adm profile virtual-guest (in a VM) or virtual-host",
	.check = check_wrong_side,
    },
    {
	.id = "tuned.realtime-disables-pstate",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_TUNED | NEEDS_METAL | NEEDS_AMD,
	.title = "The realtime profile switches amd_pstate off",
	.mechanism = "It puts amd_pstate=disable on the command line, so acpi-cpufreq with a few coarse frequencies "
		     "drives the CPUs "
		     "and EPP is gone.",
	.effect = "not measured; steady frequency against power and peak clocks",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, profile realtime",
	.hurts = "with amd_pstate back: frequency moves more",
	.by_hand = "set disable_pstate= empty in an own profile that includes realtime",
	.experiment = "worst-case latency and power with amd_pstate=active and the performance governor",
	.check = check_realtime,
    },
    {
	.id = "tuned.thp-skipped",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_TUNED,
	.title = "tuned skips its THP option because the command line sets it",
	.mechanism =
	    "The vm plug-in leaves transparent hugepages alone when transparent_hugepage= is on the command line.",
	.effect = "the profile's choice is not in force",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, vm plug-in",
	.hurts = "nothing",
	.by_hand = "take transparent_hugepage= off the command line, or the option out of the profile",
	.check = check_thp,
    },
    {
	.id = "tuned.profile-idle-power",
	.severity = ADVISE_INFO,
	.needs = NEEDS_TUNED | NEEDS_METAL | NEEDS_AMD,
	.title = "The profile costs idle power",
	.mechanism = "Study A at the wall, EPYC 9354P: virtual-host idles 89 W above balanced and 75 W above "
		     "throughput-performance. After switching away EPP stays at performance until it is written again.",
	.effect = "45 % faster VM than with balanced on acpi-cpufreq; with amd-pstate active all profiles but "
		  "powersave are alike",
	.basis = BASIS_STUDY,
	.source = "study A",
	.hurts = "idle watts",
	.check = check_idle_power,
    },
    {
	.id = "tuned.saves-power-on-vm-host",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_TUNED | NEEDS_METAL | NEEDS_AMD,
	.title = "A power-saving profile on a host that runs VMs",
	.mechanism = "powersave switches boost off and asks for the lowest EPP; balanced on acpi-cpufreq steps "
		     "frequency slowly.",
	.effect = "study A: VM 45 % faster with throughput-performance or virtual-host than with balanced on "
		  "acpi-cpufreq, and "
		  "5.5 % slower than balanced with powersave",
	.basis = BASIS_STUDY,
	.source = "study A: GDB build in a VM, EPYC 9354P",
	.hurts = "power under load, and idle power with the performance governor",
	.knobs = "tuned.profile=throughput-performance",
	.by_hand = "tuned-adm profile throughput-performance",
	.experiment = "the two profiles on the guests' own work, with power",
	.check = check_power_saving,
    },
    {
	.id = "tuned.boot-loader-not-served",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED,
	.title = "tuned cannot write kernel parameters for this boot loader",
	.mechanism = "Its bootloader plug-in serves GRUB with its hook, Boot Loader Specification entries, rpm-ostree "
		     "and bootc; "
		     "systemd-boot's command line file and Proxmox's boot tool are not among them.",
	.effect = "the boot-time half of the profile never comes",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 704 and 705",
	.hurts = "nothing",
	.by_hand =
	    "add the words to /etc/kernel/cmdline by hand (then kernel-install add-all or proxmox-boot-tool refresh)",
	.check = check_boot_loader,
    },
    {.id = NULL},
};

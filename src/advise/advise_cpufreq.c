/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about governors and energy performance preferences (EPP). */
#include <errno.h>

#include "advise_check.h"

#define GOVERNOR offsetof(struct cpufreq_policy, governor), "scaling_governor"
#define EPP offsetof(struct cpufreq_policy, epp), "energy_performance_preference"
#define POLICIES "/sys/devices/system/cpu/cpufreq/policy*/"

static bool driver_is(struct advise_check *c, const char *wanted)
{
	const char *driver;

	return advise_text(c, host_cpufreq_driver(&c->host->cpufreq), &driver) && text_equal(driver, wanted);
}

/* The group with this value, or NULL. */
static const struct cpufreq_group *group_of(const struct cpufreq_group *groups, size_t count, const char *value)
{
	for (size_t i = 0; i < count; i++)
		if (fact_is_text(groups[i].fact, value))
			return &groups[i];
	return NULL;
}

/* Does a driver run whose `powersave` is the lowest frequency? Under amd-pstate-epp the word means something else. */
static bool kernel_chooses(struct advise_check *c)
{
	const char *driver;

	return advise_text(c, host_cpufreq_driver(&c->host->cpufreq), &driver) &&
	       (text_equal(driver, "amd-pstate") || text_equal(driver, "acpi-cpufreq"));
}

/* " on 0-5" when it is not all CPUs. */
static const char *on_some(struct advise_check *c, size_t count, const struct cpufreq_group *group)
{
	return count > 1 ? advise_printf(c, " on CPUs %s", advise_cpu_list(c, &group->cpus)) : "";
}

static void check_epp_normal(struct advise_check *c)
{
	struct cpufreq_group *governors, *epps;

	if (!driver_is(c, "amd-pstate-epp"))
		return;
	size_t count = advise_groups(c, GOVERNOR, &governors);

	if (count != 1 || !fact_is_text(governors[0].fact, "powersave"))
		return;
	size_t epp_count = advise_groups(c, EPP, &epps);

	if (epp_count == 1 && fact_known(epps[0].fact))
		(void)advise_report(c, "amd-pstate-epp with governor powersave is the normal setting; EPP %s decides",
				    epps[0].value);
}

static void check_pinned_lowest(struct advise_check *c)
{
	struct cpufreq_group *groups;

	if (!kernel_chooses(c))
		return;
	size_t count = advise_groups(c, GOVERNOR, &groups);
	const struct cpufreq_group *group = group_of(groups, count, "powersave");

	if (!group)
		return;
	const struct cpufreq_policy *policy = &c->host->cpufreq.policies[0];
	const char *lowest = "the lowest frequency";

	if (advise_note(c, &policy->scaling_min_khz))
		lowest = fact_shown(c->arena, &policy->scaling_min_khz);
	(void)advise_report(c, "Governor powersave pins %s at %s under %s",
			    count > 1 ? advise_printf(c, "CPUs %s", advise_cpu_list(c, &group->cpus)) : "every core",
			    lowest, fact_text_or(&policy->driver, "this driver"));
}

static void check_userspace(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, GOVERNOR, &groups);
	const struct cpufreq_group *group = group_of(groups, count, "userspace");

	if (group)
		(void)advise_report(c, "Governor userspace holds a fixed frequency%s", on_some(c, count, group));
}

static void check_conservative(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, GOVERNOR, &groups);
	const struct cpufreq_group *group = group_of(groups, count, "conservative");

	if (group)
		(void)advise_report(c, "Governor conservative climbs step by step%s", on_some(c, count, group));
}

static void check_schedutil(struct advise_check *c)
{
	struct cpufreq_group *groups;

	if (!kernel_chooses(c))
		return;
	size_t count = advise_groups(c, GOVERNOR, &groups);

	if (count == 1 && fact_is_text(groups[0].fact, "schedutil"))
		(void)advise_report(c, "Governor schedutil chooses clocks by load under %s",
				    fact_text_or(host_cpufreq_driver(&c->host->cpufreq), "this driver"));
}

static void check_locked(struct advise_check *c)
{
	struct cpufreq_group *groups;

	if (!driver_is(c, "amd-pstate-epp"))
		return;
	size_t count = advise_groups(c, GOVERNOR, &groups);
	const struct cpufreq_group *group = group_of(groups, count, "performance");

	if (!group)
		return;
	(void)advise_note(c, &c->host->cpufreq.policies[0].available_epp);
	(void)advise_report(c, "Governor performance holds EPP at 0%s: writing another is refused (EBUSY)",
			    on_some(c, count, group));
}

static void check_performance_cost(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, GOVERNOR, &groups);
	const struct cpufreq_group *group = group_of(groups, count, "performance");

	if (!group || !fact_known(host_cpufreq_driver(&c->host->cpufreq)))
		return;
	const char *driver;

	(void)advise_text(c, host_cpufreq_driver(&c->host->cpufreq), &driver);
	(void)advise_report(c, "Governor performance%s: highest clocks first, watts at idle second",
			    on_some(c, count, group));
}

/* A service or an active profile that wants EPP performance under governor powersave on purpose. */
static const char *epp_wanted_by(struct advise_check *c)
{
	static const char *const services[] = {"power-profiles-daemon", "tuned-ppd", "tlp", "auto-cpufreq"};
	const struct host_daemons *daemons = &c->host->daemons;
	const struct tuned_setting *setting =
	    host_tuned_setting(&daemons->tuned, "cpu", "energy_performance_preference");

	if (setting && setting->value && text_starts(setting->value, "performance"))
		return "the active tuned profile";
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		if (host_daemon_runs(daemons, services[i]))
			return services[i];
	return NULL;
}

static void check_epp_left(struct advise_check *c)
{
	struct cpufreq_group *governors, *epps;

	if (!driver_is(c, "amd-pstate-epp"))
		return;
	size_t count = advise_groups(c, GOVERNOR, &governors);
	const struct cpufreq_group *powersave = group_of(governors, count, "powersave");
	size_t epp_count = advise_groups(c, EPP, &epps);
	const struct cpufreq_group *performance = group_of(epps, epp_count, "performance");

	if (!powersave || !performance || epp_wanted_by(c))
		return;
	struct cpuset both = cpuset_and(&powersave->cpus, &performance->cpus);

	if (cpuset_empty(&both))
		return;
	/* Where tuned is at work the cause is known; else the firmware may have chosen 0 as its own default. */
	bool tuned =
	    host_daemon_runs(&c->host->daemons, "tuned") ||
	    (fact_known(&c->host->daemons.tuned.active_profile) && *c->host->daemons.tuned.active_profile.text);

	if (tuned)
		(void)advise_note(c, &c->host->daemons.tuned.active_profile);
	struct advise_finding *finding = advise_report_as(
	    c, tuned ? ADVISE_WARN : ADVISE_ADVICE, "EPP is performance on CPUs %s though the governor is powersave",
	    advise_cpu_list(c, &both));

	finding->detail =
	    tuned ? "no active tuned profile asks for it: a profile that was left before did, and EPP does not come "
		    "back by itself"
		  : "left behind by a profile or a script that set governor performance, or the firmware's default";
}

static void check_epp_without_word(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	struct cpuset cpus = {0};
	const struct fact *first = NULL;

	for (int i = 0; i < cpufreq->policy_count; i++) {
		const struct fact *epp = &cpufreq->policies[i].epp;

		if (epp->state != FACT_UNREADABLE || epp->errnum != EINVAL)
			continue;
		first = first ? first : epp;
		cpus = cpuset_or(&cpus, &cpufreq->policies[i].cpus);
	}
	if (!first)
		return;
	(void)advise_note(c, first);
	(void)advise_report(c, "EPP is a raw value that has no word on CPUs %s", advise_cpu_list(c, &cpus));
}

static void check_epp_power(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, EPP, &groups);
	const struct cpufreq_group *group = group_of(groups, count, "power");
	int64_t profile;

	if (!group || !advise_number(c, &c->host->os.pm_profile, &profile) || !host_os_pm_profile_is_server(profile))
		return;
	(void)advise_report(c, "EPP power on a server%s: cores are slow to clock up", on_some(c, count, group));
}

/* Do sibling threads, or only whole cores, have different values? Siblings then get the higher request of the two. */
static bool splits_cores(const struct advise_check *c, const struct cpufreq_group *groups, size_t count)
{
	const struct host_topology *topology = &c->host->topology;
	bool splits = false;

	for (size_t i = 0; i < count; i++)
		splits |= topology->core_known && topology_split_cores(topology, &groups[i].cpus) > 0;
	return splits;
}

static const char *groups_in_words(struct advise_check *c, const struct cpufreq_group *groups, size_t count)
{
	const char *text = "";

	for (size_t i = 0; i < MIN_OF(count, (size_t)4); i++)
		text = advise_printf(c, "%s%s%s on %s", text, i ? ", " : "", groups[i].value,
				     advise_cpu_list(c, &groups[i].cpus));
	return count > 4 ? advise_printf(c, "%s, ...", text) : text;
}

static void check_mixed_governors(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, GOVERNOR, &groups);

	if (count < 2)
		return;
	bool splits = splits_cores(c, groups, count);
	struct advise_finding *finding = advise_report_as(c, splits ? ADVISE_WARN : ADVISE_ADVICE,
							  "Governors differ: %s", groups_in_words(c, groups, count));

	if (splits)
		finding->detail = "the two threads of one core disagree";
}

static void check_mixed_epp(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, EPP, &groups);

	if (count < 2)
		return;
	bool splits = splits_cores(c, groups, count);
	struct advise_finding *finding = advise_report_as(c, splits ? ADVISE_WARN : ADVISE_ADVICE, "EPP differs: %s",
							  groups_in_words(c, groups, count));

	if (splits)
		finding->detail = "the two threads of one core disagree";
}

const struct advise_rule advise_cpufreq_rules[] = {
    {
	.id = "cpufreq.passive-powersave-pins-lowest",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Governor powersave pins the lowest frequency",
	.mechanism =
	    "Under acpi-cpufreq and under amd-pstate in passive or guided mode the governor powersave asks for the "
	    "lowest "
	    "frequency whatever the load. Only under amd-pstate-epp (active mode) does the same word mean a normal, "
	    "load-driven setting.",
	.effect = "work takes longer by up to the ratio of highest to lowest frequency; study A saw the profile "
		  "powersave apart "
		  "from all others in passive, guided and active mode",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/pm/cpufreq.rst; study A",
	.hurts = "watts under load",
	.knobs = "governor=schedutil",
	.by_hand = "echo schedutil | tee " POLICIES "scaling_governor",
	.check = check_pinned_lowest,
    },
    {
	.id = "cpufreq.userspace-left-behind",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "Governor userspace holds a fixed frequency",
	.mechanism = "Under userspace a program writes each frequency itself. Benchmark and burn-in scripts choose it "
		     "and leave it "
		     "behind; the last frequency then stays whatever the load.",
	.effect = "boost and load-driven clocks are gone until the governor changes",
	.basis = BASIS_REPORTS,
	.source = "cpuburn-arm issue 5; Linux Documentation/admin-guide/pm/cpufreq.rst",
	.hurts = "a program that really sets the frequency loses its grip",
	.knobs = "governor=schedutil",
	.by_hand = "echo schedutil | tee " POLICIES "scaling_governor",
	.check = check_userspace,
    },
    {
	.id = "cpufreq.epp-left-at-performance",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "EPP stayed at performance after the governor went back to powersave",
	.mechanism = "Governor performance forces EPP to 0. Going back to powersave does not restore EPP, and tuned "
		     "cannot either: "
		     "it saves the value after it was forced. Only a write of EPP, or a reboot, brings it back.",
	.effect = "part of the idle watts that stayed until a reboot in study A: 75 to 89 W on an EPYC 9354P, together "
		  "with a "
		  "latency request; measure before and after here",
	.basis = BASIS_STUDY,
	.source = "study A; Linux drivers/cpufreq/amd-pstate.c; gamemode issue 419",
	.hurts = "peak clocks come a little later",
	.knobs = "epp=balance_performance",
	.by_hand = "echo balance_performance | tee " POLICIES "energy_performance_preference",
	.experiment = "now against epp=balance_performance, at idle and under load",
	.check = check_epp_left,
    },
    {
	.id = "cpufreq.mixed-governors",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "CPUs run under different governors",
	.mechanism = "A tool that stopped half way, or CPUs that came on line later, leave governors that differ. The "
		     "threads of "
		     "one core share its clock: where they disagree the higher request of the two counts.",
	.effect = "the speed of a VM depends on which CPUs it runs",
	.basis = BASIS_REPORTS,
	.source = "auto-cpufreq issue 290; tuned issue 396",
	.hurts = "nothing known, unless the split was meant (a few CPUs kept fast)",
	.knobs = "governor=...",
	.by_hand = "grep . " POLICIES "scaling_governor, then write one governor to all",
	.check = check_mixed_governors,
    },
    {
	.id = "cpufreq.mixed-epp",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "CPUs have different energy performance preferences",
	.mechanism = "EPP is written CPU by CPU. A tool that stopped half way, or CPUs that came on line later, leave "
		     "preferences "
		     "that differ.",
	.effect = "speed and watts of a VM depend on which CPUs it runs",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "nothing known, unless the split was meant",
	.knobs = "epp=...",
	.by_hand = "grep . " POLICIES "energy_performance_preference, then write one word to all",
	.check = check_mixed_epp,
    },
    {
	.id = "cpufreq.epp-power-on-server",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "EPP power on a server",
	.mechanism = "EPP power tells the CPU to weigh watts above speed: cores clock up late and not to the top. VMs "
		     "with short "
		     "bursts of work feel it most.",
	.effect = "tuned's profile powersave, which sets it, built 5.5 % slower than balanced in a VM",
	.basis = BASIS_STUDY,
	.source = "study A (EPYC 9354P)",
	.hurts = "watts under light load",
	.knobs = "epp=balance_performance",
	.by_hand = "echo balance_performance | tee " POLICIES "energy_performance_preference",
	.experiment = "now against epp=balance_performance",
	.check = check_epp_power,
    },
    {
	.id = "cpufreq.governor-conservative",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Governor conservative climbs slowly",
	.mechanism =
	    "conservative raises the frequency in steps of a few percent per sample. Work that comes in bursts is done "
	    "before the clock is up. Profile balanced of tuned before 2.25 chooses it.",
	.effect = "not known in general; study A took it out of its own profile",
	.basis = BASIS_STUDY,
	.source = "study A; Linux Documentation/admin-guide/pm/cpufreq.rst",
	.hurts = "watts in short bursts",
	.knobs = "governor=schedutil",
	.by_hand = "echo schedutil | tee " POLICIES "scaling_governor",
	.experiment = "now against governor=schedutil",
	.check = check_conservative,
    },
    {
	.id = "cpufreq.governor-performance-idle-cost",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Governor performance is chosen",
	.mechanism =
	    "performance asks for the highest clocks at any load; under amd-pstate-epp it also lifts the floor to the "
	    "nominal frequency. Under amd-pstate-epp study A found all profiles of tuned alike in speed but powersave "
	    "and, a little, balanced.",
	.effect =
	    "in study A profile throughput-performance drew about 14 W more at idle than balanced (+89 W against +75 W "
	    "of "
	    "virtual-host), "
	    "and both profiles with this governor built 45 % faster than balanced before amd-pstate was turned on",
	.basis = BASIS_STUDY,
	.source =
	    "study A; study C: powersave with an efficiency setting kept 97.8 % of the speed at 92 % of the CPU power",
	.hurts = "peak clocks may come a little later",
	.knobs = "governor=powersave epp=balance_performance",
	.by_hand = "under amd-pstate-epp: write powersave to all scaling_governor files, then EPP to all",
	.experiment = "now against governor=powersave, at idle and under load",
	.check = check_performance_cost,
    },
    {
	.id = "cpufreq.epp-locked-by-performance-governor",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Governor performance locks EPP",
	.mechanism = "Under amd-pstate-epp the governor performance forces EPP to 0 and refuses any other with EBUSY. "
		     "The order is "
		     "always: governor powersave on every CPU first, then EPP, then read both back.",
	.source = "Linux drivers/cpufreq/amd-pstate.c; system76-power issues 415 and 416",
	.by_hand = "echo powersave | tee " POLICIES "scaling_governor; echo balance_performance | tee " POLICIES
		   "energy_performance_preference",
	.check = check_locked,
    },
    {
	.id = "cpufreq.epp-without-word",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "EPP is a raw value that has no word",
	.mechanism = "The four words of EPP stand for 0, 128, 191 and 255. A firmware's default may lie between; "
		     "reading the file "
		     "then fails with EINVAL. That is no fault, but tools that read the file stumble over it.",
	.source = "Linux drivers/cpufreq/amd-pstate.c",
	.by_hand = "rdmsr -a 0xc00102b3 shows the value in bits 31:24; writing a word gives it one",
	.check = check_epp_without_word,
    },
    {
	.id = "cpufreq.epp-normal",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Governor powersave under amd-pstate-epp is the normal setting",
	.mechanism =
	    "In active mode the hardware chooses between all frequencies by EPP. powersave is not slow there and "
	    "performance is not needed: the word that counts is energy_performance_preference.",
	.source = "Linux Documentation/admin-guide/pm/amd-pstate.rst; tuned issue 818",
	.check = check_epp_normal,
    },
    {
	.id = "cpufreq.schedutil",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Governor schedutil chooses clocks by load",
	.mechanism =
	    "Under acpi-cpufreq and amd-pstate in passive or guided mode schedutil asks for 1.25 times the share of "
	    "capacity in use: the load-driven choice of these drivers.",
	.source = "Linux Documentation/admin-guide/pm/cpufreq.rst",
	.check = check_schedutil,
    },
    {.id = NULL},
};

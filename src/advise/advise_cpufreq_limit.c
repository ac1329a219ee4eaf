/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about frequency limits, boost, preferred cores and X3D. */
#include "advise_check.h"

#define POLICIES "/sys/devices/system/cpu/cpufreq/policy*/"

/*
 * No Zen part is sold with a boost above 5.75 GHz; what a limit file shows beyond this came out of a wrong scale
 * (hwloc issue 690: 5352 to 6482 MHz on one Threadripper PRO 7975WX), or was overclocked.
 */
enum { HIGHEST_SOLD_KHZ = 6000 * 1000 };

static void check_max_low(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	int64_t nominal_khz = fact_number_or(&cpufreq->nominal_mhz, 0) * 1000;
	const struct cpufreq_policy *worst = NULL;
	struct cpuset cpus = {0};
	bool all_pinned = true;

	for (int i = 0; i < cpufreq->policy_count; i++) {
		const struct cpufreq_policy *policy = &cpufreq->policies[i];
		int64_t limit = fact_number_or(&policy->scaling_max_khz, 0);
		int64_t top = fact_number_or(&policy->cpuinfo_max_khz, 0);

		/* Rounding of performance levels takes less than one percent; boost that is off is told of elsewhere.
		 */
		if (limit <= 0 || limit >= top - top / 100 || (fact_is_off(&policy->boost) && limit * 2 > top))
			continue;
		cpus = cpuset_or(&cpus, &policy->cpus);
		all_pinned &= fact_is_number(&policy->scaling_min_khz, limit);
		if (!worst || limit < worst->scaling_max_khz.number)
			worst = policy;
	}
	if (!worst)
		return;
	int64_t limit = worst->scaling_max_khz.number, top = worst->cpuinfo_max_khz.number;

	(void)advise_note(c, &worst->scaling_max_khz);
	(void)advise_note(c, &worst->cpuinfo_max_khz);
	(void)advise_note(c, &worst->scaling_min_khz);
	if (nominal_khz)
		(void)advise_note(c, &cpufreq->nominal_mhz);
	/* At or above nominal it may be meant: a boost limit for even clocks or fewer watts. */
	bool mild = nominal_khz ? limit >= nominal_khz - nominal_khz / 100 : limit * 2 > top;
	struct advise_finding *finding = advise_report_as(
	    c, mild ? ADVISE_ADVICE : ADVISE_WARN, "scaling_max_freq %s is below cpuinfo_max_freq %s on CPUs %s",
	    text_khz(c->arena, limit), text_khz(c->arena, top), advise_cpu_list(c, &cpus));

	finding->detail =
	    all_pinned
		? "minimum and maximum are the same: the cores know one frequency only; a limit of a user or of a "
		  "tool such as TLP holds them down"
		: "a limit of a user or of a tool such as TLP holds them down";
}

static void check_min_high(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	const struct cpufreq_policy *worst = NULL;
	struct cpuset cpus = {0};

	for (int i = 0; i < cpufreq->policy_count; i++) {
		const struct cpufreq_policy *policy = &cpufreq->policies[i];
		int64_t limit = fact_number_or(&policy->scaling_min_khz, 0);
		int64_t floor = fact_number_or(&policy->cpuinfo_min_khz, 0);
		int64_t top = fact_number_or(&policy->cpuinfo_max_khz, 0);
		/* Kernels from 6.13 on start with the lowest nonlinear frequency, or a firmware's minimum, as the
		 * limit. */
		int64_t usual = fact_number_or(&policy->lowest_nonlinear_khz, MAX_OF(floor, top / 2));

		/* A lowered maximum is told of elsewhere, and takes the minimum with it. */
		if (!floor || !top || limit <= MAX_OF(floor, usual + usual / 100) ||
		    fact_number_or(&policy->scaling_max_khz, 0) < top - top / 100)
			continue;
		cpus = cpuset_or(&cpus, &policy->cpus);
		if (!worst || limit > worst->scaling_min_khz.number)
			worst = policy;
	}
	if (!worst)
		return;
	(void)advise_note(c, &worst->scaling_min_khz);
	(void)advise_note(c, &worst->cpuinfo_min_khz);
	(void)advise_note(c, &worst->lowest_nonlinear_khz);
	(void)advise_report(c, "scaling_min_freq keeps CPUs %s at %s or more; they could go down to %s",
			    advise_cpu_list(c, &cpus), text_khz(c->arena, worst->scaling_min_khz.number),
			    text_khz(c->arena, worst->cpuinfo_min_khz.number));
}

/* Policies that are alike in hardware and yet have unlike limits; ranked cores differ in cpuinfo_max_freq by nature. */
static void check_mixed_limits(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	struct cpufreq_group *mins, *maxs, *tops;
	size_t top_count =
	    host_cpufreq_groups(c->arena, cpufreq, offsetof(struct cpufreq_policy, cpuinfo_max_khz), &tops);

	if (top_count != 1)
		return;
	size_t min_count =
	    advise_groups(c, offsetof(struct cpufreq_policy, scaling_min_khz), "scaling_min_freq", &mins);
	size_t max_count =
	    advise_groups(c, offsetof(struct cpufreq_policy, scaling_max_khz), "scaling_max_freq", &maxs);

	if (min_count < 2 && max_count < 2)
		return;
	const struct cpufreq_group *groups = max_count > 1 ? maxs : mins;

	(void)advise_report(c, "Frequency limits differ: %s %s on %s, %s on %s", max_count > 1 ? "maximum" : "minimum",
			    groups[0].value, advise_cpu_list(c, &groups[0].cpus), groups[1].value,
			    advise_cpu_list(c, &groups[1].cpus));
}

static size_t boost_groups(struct advise_check *c, struct cpufreq_group **ret_groups)
{
	return advise_groups(c, offsetof(struct cpufreq_policy, boost), "boost", ret_groups);
}

static void check_boost_off(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	struct cpufreq_group *groups;
	bool on, global_off = advise_switch(c, &cpufreq->boost, &on) && !on;
	size_t count = boost_groups(c, &groups);
	bool policies_off = count == 1 && fact_is_off(groups[0].fact);

	if (!global_off && !policies_off)
		return;
	const struct tuned_setting *setting = host_tuned_setting(&c->host->daemons.tuned, "cpu", "boost");
	bool asked = setting && text_equal(setting->value, "0");

	if (asked)
		advise_note_text(c, setting->path, "boost=0");
	struct advise_finding *finding =
	    advise_report_as(c, asked ? ADVISE_ADVICE : ADVISE_WARN, "Boost is off on all CPUs");

	if (asked)
		finding->detail = "the active tuned profile asks for it";
}

static void check_mixed_boost(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = boost_groups(c, &groups);

	if (count < 2 || fact_is_off(&c->host->cpufreq.boost))
		return;
	(void)advise_report(c, "Boost is %s on CPUs %s and %s on %s", groups[0].value,
			    advise_cpu_list(c, &groups[0].cpus), groups[1].value, advise_cpu_list(c, &groups[1].cpus));
}

static void check_boost_no_control(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	const char *driver;

	if (!advise_text(c, host_cpufreq_driver(cpufreq), &driver) || !text_starts(driver, "amd-pstate"))
		return;
	if (cpufreq->boost.state != FACT_ABSENT || cpufreq->policies[0].boost.state != FACT_ABSENT)
		return;
	/* A copy without a file that every amd-pstate has says nothing about this one. */
	if (!fact_known(&cpufreq->policies[0].amd_max_khz))
		return;
	(void)advise_note(c, &cpufreq->boost);
	(void)advise_note(c, &cpufreq->policies[0].boost);
	(void)advise_report(c, "There is no switch for boost under %s on this kernel", driver);
}

static void check_prefcore_off(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	struct cpufreq_group *groups;
	bool on;

	if (!advise_switch(c, &cpufreq->prefcore, &on) || on)
		return;
	size_t count =
	    host_cpufreq_groups(c->arena, cpufreq, offsetof(struct cpufreq_policy, prefcore_ranking), &groups);
	const struct cmdline_word *word = advise_word(c, "amd_prefcore");
	bool switched_off = word && text_equal(word->value, "disable");

	if (count < 2 && switched_off)
		count =
		    host_cpufreq_groups(c->arena, cpufreq, offsetof(struct cpufreq_policy, cpuinfo_max_khz), &groups);
	if (count < 2)
		return;
	advise_note_text(c, POLICIES, "%zu different ranks or maximum frequencies", count);
	struct advise_finding *finding = advise_report(c, "The scheduler does not prefer the faster cores");

	if (switched_off)
		finding->by_hand = advise_boot_command(c, NULL, word->text);
}

static void check_x3d_mode(struct advise_check *c)
{
	const char *mode;

	if (!advise_text(c, &c->host->cpufreq.x3d_mode, &mode))
		return;
	const struct host_topology *topology = &c->host->topology;
	const char *cpus =
	    topology->x3d ? advise_printf(c, " (large L3: CPUs %s)", advise_cpu_list(c, &topology->large_l3_cpus)) : "";

	(void)advise_report(c, "The firmware prefers cores with %s%s",
			    text_equal(mode, "cache") ? "the large L3" : "high clocks", cpus);
}

static void check_not_hybrid(struct advise_check *c)
{
	struct cpufreq_group *groups;
	size_t count = advise_groups(c, offsetof(struct cpufreq_policy, cpuinfo_max_khz), "cpuinfo_max_freq", &groups);
	int64_t lowest = INT64_MAX, highest = 0;

	for (size_t i = 0; i < count; i++) {
		lowest = MIN_OF(lowest, fact_number_or(groups[i].fact, INT64_MAX));
		highest = MAX_OF(highest, fact_number_or(groups[i].fact, 0));
	}
	if (lowest >= highest)
		return;
	(void)advise_report(c, "Maximum frequencies differ between CPUs, %s to %s: ranks of like cores",
			    text_khz(c->arena, lowest), text_khz(c->arena, highest));
}

static void check_impossible(struct advise_check *c)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;
	const struct cpufreq_policy *found = NULL;
	struct cpuset cpus = {0};

	for (int i = 0; i < cpufreq->policy_count; i++) {
		const struct cpufreq_policy *policy = &cpufreq->policies[i];
		int64_t top = fact_number_or(&policy->cpuinfo_max_khz, 0);
		bool odd = policy->cpuinfo_max_khz.state == FACT_IMPLAUSIBLE ||
			   policy->cpuinfo_min_khz.state == FACT_IMPLAUSIBLE || top > HIGHEST_SOLD_KHZ ||
			   (top && fact_number_or(&policy->cpuinfo_min_khz, 0) > top);

		if (!odd)
			continue;
		cpus = cpuset_or(&cpus, &policy->cpus);
		if (!found || top > fact_number_or(&found->cpuinfo_max_khz, 0))
			found = policy;
	}
	const char *line = advise_log_line(c, "amd_pstate: min_freq(");

	if (!found && !line)
		return;
	if (found) {
		(void)advise_note(c, &found->cpuinfo_max_khz);
		(void)advise_note(c, &found->cpuinfo_min_khz);
	}
	if (found && fact_known(&found->cpuinfo_max_khz))
		(void)advise_report(c, "A maximum of %s cannot be: no Zen core is sold with it (CPUs %s)",
				    text_khz(c->arena, found->cpuinfo_max_khz.number), advise_cpu_list(c, &cpus));
	else
		(void)advise_report(c, "The limits of frequency that the firmware gives cannot be");
}

const struct advise_rule advise_cpufreq_limit_rules[] = {
    {
	.id = "cpufreq.max-limit-low",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "A frequency limit holds the CPU down",
	.mechanism =
	    "scaling_max_freq is the highest frequency that the driver may ask for. Power tools for laptops, thermal "
	    "scripts and half-finished benchmarks lower it, and nothing raises it again before a reboot.",
	.effect = "CPU-bound work is slower by up to the ratio of the two frequencies",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/pm/cpufreq.rst; TLP issue 764",
	.hurts = "watts and heat under load",
	.knobs = "max_freq=hardware",
	.by_hand = "for p in " POLICIES "; do cat $p/cpuinfo_max_freq > $p/scaling_max_freq; done",
	.check = check_max_low,
    },
    {
	.id = "cpufreq.boost-off",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Boost is off",
	.mechanism =
	    "Without boost no core goes above its nominal frequency, whatever room power and temperature leave. "
	    "Benchmark "
	    "scripts and power saving profiles switch it off; profiles before tuned 2.24 do not switch it on again.",
	.effect = "single-threaded and lightly loaded work is slower by up to the ratio of boost to nominal frequency",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 695 and 811; ruby-bench issue 327; Linux Documentation/admin-guide/pm/cpufreq.rst",
	.hurts = "watts, heat, and evenness of clocks: some keep it off on purpose for steady latency",
	.knobs = "boost=1",
	.by_hand =
	    "echo 1 > /sys/devices/system/cpu/cpufreq/boost; then echo 1 | tee " POLICIES "boost where that exists",
	.experiment = "now against boost=1",
	.check = check_boost_off,
    },
    {
	.id = "cpufreq.mixed-boost",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Boost is on for some CPUs only",
	.mechanism = "From Linux 6.11 each policy has a boost switch of its own. A profile that was left half way, or "
		     "a tool that "
		     "knows only the global switch, leaves them unlike.",
	.effect = "the speed of a VM depends on which CPUs it runs",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 695 and 810",
	.hurts = "watts and heat under load",
	.knobs = "boost=1",
	.by_hand =
	    "the global switch first: echo 1 > /sys/devices/system/cpu/cpufreq/boost; then echo 1 | tee " POLICIES
	    "boost",
	.check = check_mixed_boost,
    },
    {
	.id = "cpufreq.mixed-limits",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "CPUs that are alike have unlike frequency limits",
	.mechanism = "Limits are written CPU by CPU. A tool that stopped half way, or CPUs that came on line later, "
		     "leave limits "
		     "that differ where the hardware does not.",
	.effect = "the speed of a VM depends on which CPUs it runs",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/admin-guide/pm/cpufreq.rst",
	.hurts = "nothing known, unless the split was meant",
	.knobs = "min_freq=hardware max_freq=hardware",
	.by_hand = "grep . " POLICIES "scaling_m*_freq, then write the same limits to all",
	.check = check_mixed_limits,
    },
    {
	.id = "cpufreq.min-limit-high",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "A frequency floor keeps cores fast at light load",
	.mechanism = "scaling_min_freq is the lowest frequency that the driver may ask for. Above the lowest nonlinear "
		     "frequency, "
		     "where work per joule is best, light load costs more than it needs.",
	.effect = "watts at light load; sleeping cores (C2) are not affected",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "the first microseconds of a burst of work",
	.knobs = "min_freq=hardware",
	.by_hand = "for p in " POLICIES "; do cat $p/cpuinfo_min_freq > $p/scaling_min_freq; done",
	.experiment = "now against min_freq=hardware, with light load and its watts",
	.check = check_min_high,
    },
    {
	.id = "cpufreq.prefcore-off",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Preferred cores are off on a part that has them",
	.mechanism =
	    "On parts whose cores reach different boost frequencies the firmware ranks them, and the scheduler puts "
	    "single-threaded work on the best. With amd_prefcore=disable it does not know the ranks.",
	.effect = "up to the difference between the best and the worst core, for one-threaded work",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "nothing known; pinned VMs do not move anyway",
	.knobs = "boot.amd_prefcore=absent",
	.by_hand = "take amd_prefcore=disable off the kernel command line",
	.check = check_prefcore_off,
    },
    {
	.id = "cpufreq.impossible-frequency",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Frequencies that cannot be",
	.mechanism = "The driver computes frequencies from performance levels that the firmware gives. Where those are "
		     "wrong the "
		     "limits are too, and so is every percentage that a tool derives from them.",
	.effect = "readings mislead; real clocks are what APERF and MPERF count",
	.basis = BASIS_REPORTS,
	.source = "hwloc issue 690 (Threadripper PRO 7975WX); messages of Linux drivers/cpufreq/amd-pstate.c",
	.hurts = "nothing known",
	.by_hand = "update BIOS and kernel; turbostat shows the real clocks",
	.check = check_impossible,
    },
    {
	.id = "cpufreq.unlike-max-is-not-hybrid",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Cores have unlike maximum frequencies",
	.mechanism =
	    "Ranked cores of one kind differ by some percent in their boost. That makes no hybrid part: caches and "
	    "instructions are alike, and VMs may be placed by L3 group first.",
	.source = "hwloc issue 690; Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.by_hand = "grep . " POLICIES "amd_pstate_prefcore_ranking",
	.check = check_not_hybrid,
    },
    {
	.id = "cpufreq.x3d-mode",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The firmware prefers one kind of core on an X3D part",
	.mechanism = "On parts with one large and one fast L3 group the driver amd_x3d_vcache tells the scheduler "
		     "which cores to "
		     "rank first. A VM that is pinned does not care; one that floats is drawn there.",
	.source = "Linux Documentation/ABI/testing/sysfs-bus-platform-drivers-amd_x3d_vcache",
	.knobs = "x3d_mode=cache|frequency",
	.by_hand = "echo cache > /sys/bus/platform/drivers/amd_x3d_vcache/AMDI0101:00/amd_x3d_mode",
	.experiment = "x3d_mode=cache against x3d_mode=frequency",
	.check = check_x3d_mode,
    },
    {
	.id = "cpufreq.boost-no-control",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "There is no switch for boost",
	.mechanism = "Some kernels show neither the global nor the per-policy boost file under amd-pstate. "
		     "Measurements then run "
		     "with clocks that wander, and need more runs.",
	.source = "pyperf issue 120",
	.by_hand = "the limit scaling_max_freq set to the nominal frequency has the same effect",
	.check = check_boost_no_control,
    },
    {.id = NULL},
};

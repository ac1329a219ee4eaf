/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about what a tuned profile asks of frequency scaling on this host: governor, EPP, boost. */
#include "advise_tuned.h"

/* One of the alternatives "a|b", of which tuned takes the first that is available, is among the words. */
static bool has_alternative(struct advise_check *c, const char *alternatives, const char *words)
{
	for (const char *at = alternatives; *at;) {
		size_t length = strcspn(at, "|");
		const char *one = text_trim(c->arena, arena_strndup(c->arena, at, length));

		if (text_has_word(words, " ", one))
			return true;
		at += length + (at[length] != '\0');
	}
	return false;
}

/*
 * Drivers that choose frequencies themselves have two governors, for ever (cpufreq.c of Linux, ->setpolicy). Elsewhere
 * the list is that of the modules that happen to be loaded, and says nothing of the others.
 */
static void check_governor(struct advise_check *c)
{
	static const char all[] = "performance powersave userspace ondemand conservative schedutil";
	const struct tuned_setting *setting = advise_setting(c, "cpu", "governor");
	const struct fact *driver = host_cpufreq_driver(&c->host->cpufreq);
	bool two_only = fact_is_text(driver, "amd-pstate-epp") || fact_is_text(driver, "intel_pstate");

	if (!setting || strchr(setting->value, '$'))
		return;
	if (!has_alternative(c, setting->value, all)) {
		advise_at_setting(advise_report(c, "governor=%s is no governor of Linux", setting->value), setting);
		return;
	}
	if (!two_only || has_alternative(c, setting->value, "performance powersave"))
		return;
	advise_note(c, driver);
	advise_note(c, &c->host->cpufreq.policies[0].available_governors);
	struct advise_finding *finding = advise_report(c, "%s asks for governor=%s, which %s does not have",
						       advise_profile_name(c), setting->value, driver->text);

	finding->detail =
	    "there are performance and powersave; with this driver powersave is the normal one, and EPP decides";
	advise_at_setting(finding, setting);
}

/* The words of amd-pstate; with the governor performance the file lists only that one. */
static const char epp_words[] = "default performance balance_performance balance_power power";

static const struct fact *epp_available(const struct advise_check *c)
{
	static const struct fact none;
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;

	return cpufreq->policy_count ? &cpufreq->policies[0].available_epp : &none;
}

bool advise_epp_can_be_set(const struct advise_check *c, const char *alternatives)
{
	const char *available = fact_text_or(epp_available(c), "");
	int64_t number;

	for (const char *at = alternatives; *at;) {
		size_t length = strcspn(at, "|");
		const char *one = text_trim(c->arena, arena_strndup(c->arena, at, length));

		if (text_has_word(epp_words, " ", one) || text_has_word(available, " ", one) ||
		    text_int(one, 0, &number) == 0)
			return true;
		at += length + (at[length] != '\0');
	}
	return false;
}

static void check_epp_word(struct advise_check *c)
{
	const struct tuned_setting *setting = advise_setting(c, "cpu", "energy_performance_preference");

	if (!setting || strchr(setting->value, '$') || advise_epp_can_be_set(c, setting->value))
		return;
	if (fact_known(epp_available(c)))
		advise_note(c, epp_available(c));
	struct advise_finding *finding =
	    advise_report(c, "energy_performance_preference=%s is not among the available words", setting->value);

	finding->detail = advise_printf(c, "the words are: %s", epp_words);
	if (text_equal(setting->value, "powersave"))
		finding->by_hand = "write power or balance_power; powersave is the name of a governor";
	advise_at_setting(finding, setting);
}

static void check_boost_file(struct advise_check *c)
{
	const struct tuned_setting *setting = advise_setting(c, "cpu", "boost");
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;

	if (!setting || !text_has_word("0 1", " ", setting->value) || !cpufreq->policy_count)
		return;
	/* tuned's option looks at policyN/boost only. */
	for (int i = 0; i < cpufreq->policy_count; i++)
		if (cpufreq->policies[i].boost.state != FACT_ABSENT)
			return;
	advise_note(c, &cpufreq->policies[0].boost);
	bool off = text_equal(setting->value, "0");

	advise_at_setting(advise_report_as(c, off ? ADVISE_WARN : ADVISE_INFO,
					   "%s asks for boost=%s, but there is no boost file: %s",
					   advise_profile_name(c), setting->value,
					   off ? "boost stays on" : "verify fails though boost is on by default"),
			  setting);
}

static void check_intel_options(struct advise_check *c)
{
	static const char *const options[] = {"energy_perf_bias", "min_perf_pct", "max_perf_pct", "no_turbo"};
	const struct tuned_setting *first = NULL;
	const char *list = "";

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct tuned_setting *setting = advise_setting(c, "cpu", options[i]);

		if (!setting)
			continue;
		first = first ? first : setting;
		list = advise_printf(c, "%s%s%s", list, *list ? ", " : "", options[i]);
	}
	if (first)
		advise_at_setting(advise_report(c, "%s sets %s: a thing of Intel CPUs, absent here and harmless",
						advise_profile_name(c), list),
				  first);
}

const struct advise_rule advise_tuned_cpufreq_rules[] = {
    {
	.id = "tuned.governor-not-available",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED,
	.title = "A profile asks for a governor that there is not",
	.mechanism = "With amd-pstate-epp the processor chooses its frequency: there are the governors performance and "
		     "powersave only. tuned takes the first of its alternatives that is available, and none otherwise.",
	.effect = "the governor stays what it was, often that of the profile before",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, cpu plug-in; Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "nothing",
	.by_hand = "governor=powersave with energy_performance_preference=..., or more alternatives: "
		   "governor=schedutil|ondemand|powersave",
	.check = check_governor,
    },
    {
	.id = "tuned.epp-word",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_TUNED,
	.title = "A profile sets an EPP that does not exist",
	.mechanism = "EPP takes default, performance, balance_performance, balance_power and power, and numbers on "
		     "newer kernels. "
		     "powersave is the name of a governor: with amd-pstate-epp the normal one, next to any EPP.",
	.effect = "the write fails and EPP stays what it was",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 563; Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "nothing",
	.by_hand = "write one of the words of energy_performance_available_preferences",
	.check = check_epp_word,
    },
    {
	.id = "tuned.boost-file-missing",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED | NEEDS_METAL,
	.title = "A profile sets boost on a kernel without a boost file per policy",
	.mechanism = "tuned writes policyN/boost, which kernels before 6.11 and some drivers do not have.",
	.effect = "boost=1: none, it is on by default, but tuned-adm verify fails; boost=0: boost stays on",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 857",
	.hurts = "nothing",
	.by_hand = "tuned-adm verify -i ignores what the kernel does not have",
	.check = check_boost_file,
    },
    {
	.id = "tuned.intel-options",
	.severity = ADVISE_INFO,
	.needs = NEEDS_TUNED | NEEDS_AMD,
	.title = "A profile sets options of Intel CPUs",
	.mechanism =
	    "energy_perf_bias, min_perf_pct, max_perf_pct and no_turbo write to files of Intel's driver. The stock "
	    "profiles hold them for all machines; on AMD they do nothing and their absence is no fault.",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 254 and 786",
	.check = check_intel_options,
    },
    {.id = NULL},
};

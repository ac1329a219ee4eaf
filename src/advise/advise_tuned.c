/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the rules about tuned on a host: is the active profile found, is it in force, has somebody written over it. What
 * a profile says is judged in advise_tuned_profile.c and advise_tuned_options.c.
 */
#include "advise_tuned.h"

int advise_profiles(const struct advise_check *c, const struct tuned_profile **ret)
{
	if (c->subject->profile) {
		*ret = c->subject->profile;
		return 1;
	}
	*ret = c->host->daemons.tuned.profiles;
	return c->host->daemons.tuned.profile_count;
}

bool advise_profile_in_force(const struct advise_check *c)
{
	const struct daemon *daemon = host_daemon(&c->host->daemons, "tuned");

	/* The name of the last profile stays in the file when tuned is stopped. */
	return c->subject->profile ||
	       (c->host->daemons.tuned.profile_count && (!daemon || !fact_is_off(&daemon->running)));
}

void advise_note_setting(struct advise_check *c, const struct tuned_setting *setting)
{
	advise_note_text(c, setting->path, "[%s] %s=%s", setting->section, setting->option, setting->value);
}

const struct tuned_setting *advise_setting(struct advise_check *c, const char *type, const char *option)
{
	const struct tuned_profile *profiles;
	const struct tuned_setting *found = NULL;

	for (int i = advise_profiles(c, &profiles) - 1; !found && i >= 0; i--)
		found = tuned_profile_setting(&profiles[i], type, option);
	if (found)
		advise_note_setting(c, found);
	return found;
}

void advise_at_setting(struct advise_finding *finding, const struct tuned_setting *setting)
{
	finding->path = setting->path;
	finding->line = setting->line;
	finding->column = setting->line ? 1 : 0;
}

bool advise_profile_is_a(const struct advise_check *c, const char *name)
{
	const struct tuned_profile *profiles;

	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--)
		if (tuned_profile_is_a(&profiles[i], name))
			return true;
	return false;
}

const char *advise_profile_name(struct advise_check *c)
{
	return c->subject->profile
		   ? "This profile"
		   : advise_printf(c, "Profile %s", fact_text_or(&c->host->daemons.tuned.active_profile, ""));
}

static void check_not_found(struct advise_check *c)
{
	const struct host_tuned *tuned = &c->host->daemons.tuned;

	if (c->subject->profile)
		return;
	for (int i = 0; i < tuned->profile_count; i++) {
		const struct tuned_profile *profile = &tuned->profiles[i];
		bool looked = tuned->system_dir_known || profile->elsewhere;

		if (profile->path || profile->stock || !looked || !tuned_name_is_safe(profile->name))
			continue;
		advise_forget(c);
		advise_note(c, &tuned->active_profile);
		for (int d = 0; d < tuned->dir_count; d++)
			advise_note_text(c, advise_printf(c, "%s/%s/tuned.conf", tuned->dirs[d], profile->name),
					 "absent");
		struct advise_finding *finding =
		    advise_report(c, "tuned does not find the active profile \"%s\"", profile->name);

		if (!profile->elsewhere)
			continue;
		finding->detail = advise_printf(c, "it lies in %s, where this tuned does not look", profile->elsewhere);
		finding->by_hand = advise_printf(c, "mkdir -p %s/%s && mv %s there; then tuned-adm profile %s",
						 tuned->dir_count ? tuned->dirs[tuned->dir_count - 1] : "",
						 profile->name, profile->elsewhere, profile->name);
	}
}

static void check_name(struct advise_check *c)
{
	const struct host_tuned *tuned = &c->host->daemons.tuned;

	/* Versions before 2.24 take any name. */
	if (c->subject->profile || (tuned->minor_most && tuned->minor_most < 24))
		return;
	for (int i = 0; i < tuned->profile_count; i++) {
		if (tuned_name_is_safe(tuned->profiles[i].name))
			continue;
		advise_forget(c);
		advise_note(c, &tuned->active_profile);
		advise_report(c, "The profile name \"%s\" holds characters that tuned refuses",
			      tuned->profiles[i].name);
	}
}

static void check_include(struct advise_check *c)
{
	const struct tuned_profile *profiles;

	/* Without the directory of the shipped profiles nothing can be said of what is missing in it. */
	if (!c->host->daemons.tuned.system_dir_known)
		return;
	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--)
		for (int m = 0; m < profiles[i].missing_count; m++) {
			advise_forget(c);
			advise_note_text(c, profiles[i].path ? profiles[i].path : profiles[i].name, "include of \"%s\"",
					 profiles[i].missing[m]);
			advise_report(c, "An include names the profile \"%s\", which is not there",
				      profiles[i].missing[m]);
		}
}

static void check_syntax(struct advise_check *c)
{
	const struct tuned_profile *profiles;

	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--) {
		if (!profiles[i].fault)
			continue;
		advise_forget(c);
		advise_note_text(c, profiles[i].fault_path, "line %u", profiles[i].fault_line);
		struct advise_finding *finding = advise_report(c, "tuned cannot read this: %s", profiles[i].fault);

		finding->path = profiles[i].fault_path;
		finding->line = profiles[i].fault_line;
		finding->column = 1;
	}
}

static void check_not_running(struct advise_check *c)
{
	const struct daemon *daemon = host_daemon(&c->host->daemons, "tuned");
	const char *names;

	if (c->subject->profile || !daemon || !fact_is_off(&daemon->running) ||
	    !advise_text(c, &c->host->daemons.tuned.active_profile, &names) || !*names)
		return;
	advise_note(c, &daemon->running);
	advise_report(c, "The profile %s is chosen, but tuned does not run", names);
}

static void check_no_profile(struct advise_check *c)
{
	const struct fact *active = &c->host->daemons.tuned.active_profile;

	if (c->subject->profile || !host_daemon_runs(&c->host->daemons, "tuned") || active->state == FACT_UNREADABLE)
		return;
	advise_note(c, &host_daemon(&c->host->daemons, "tuned")->running);
	advise_note(c, active);
	if (!fact_known(active) || !*active->text)
		advise_report(c, "tuned runs without a profile");
}

static bool governor_is(const struct advise_check *c, const char *governor)
{
	const struct host_cpufreq *cpufreq = &c->host->cpufreq;

	for (int i = 0; i < cpufreq->policy_count; i++)
		if (!fact_is_text(&cpufreq->policies[i].governor, governor))
			return false;
	return cpufreq->policy_count > 0;
}

static void check_left_behind(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	const struct fact *active = &c->host->daemons.tuned.active_profile;
	const char *list = "";
	int signs = 0;

	/* An empty name is what `tuned-adm off` leaves; a host without tuned is none of this rule's business. */
	if (c->subject->profile || !fact_known(active) || *active->text)
		return;
	advise_note(c, active);
	if (fact_is_number(&memory->swappiness, 10)) {
		advise_note(c, &memory->swappiness);
		list = "swappiness 10";
		signs++;
	}
	if (fact_is_number(&memory->dirty_ratio, 40)) {
		advise_note(c, &memory->dirty_ratio);
		list = advise_printf(c, "%s%sdirty_ratio 40", list, signs ? ", " : "");
		signs++;
	}
	if (governor_is(c, "performance")) {
		advise_note(c, &c->host->cpufreq.policies[0].governor);
		list = advise_printf(c, "%s%sgovernor performance", list, signs ? ", " : "");
		signs++;
	}
	/* The kernel's own values are 60, 20 and rarely performance; two at once are no chance. */
	if (signs >= 2)
		advise_report(
		    c, "No tuned profile is active, yet values of throughput-performance or virtual-host are set: %s",
		    list);
}

/* Is the value one of the alternatives "a|b|c"? */
static bool is_alternative(const char *alternatives, const char *value)
{
	return text_has_word(alternatives, "| ", value);
}

/* One setting of the profile against what the policies have. Returns a text for the finding, or NULL. */
static const char *difference(struct advise_check *c, const char *option, size_t offset)
{
	const struct tuned_setting *setting = advise_setting(c, "cpu", option);
	struct cpufreq_group *groups;

	if (!setting || strchr(setting->value, '$'))
		return NULL;
	/* A word that cannot be set has a finding of its own. */
	if (offset == offsetof(struct cpufreq_policy, epp) && !advise_epp_can_be_set(c, setting->value))
		return NULL;
	size_t count = host_cpufreq_groups(c->arena, &c->host->cpufreq, offset, &groups);

	for (size_t i = 0; i < count; i++)
		if (fact_known(groups[i].fact) && !is_alternative(setting->value, groups[i].fact->text)) {
			advise_note(c, groups[i].fact);
			return advise_printf(c, "%s is %s, not %s", option, groups[i].fact->text, setting->value);
		}
	return NULL;
}

static void check_differs(struct advise_check *c)
{
	const char *governor, *epp = NULL;

	if (c->subject->profile || !advise_profile_in_force(c))
		return;
	governor = difference(c, "governor", offsetof(struct cpufreq_policy, governor));
	/* EPP follows the governor: with another governor than asked it says nothing of its own. */
	if (!governor)
		epp = difference(c, "energy_performance_preference", offsetof(struct cpufreq_policy, epp));
	if (governor || epp)
		advise_report(c, "%s is active, but %s", advise_profile_name(c), governor ? governor : epp);
}

static void check_not_booted(struct advise_check *c)
{
	struct host_cmdline asked = {0};
	const char *words, *missing = "";
	int count = 0;

	if (c->subject->profile || !advise_text(c, &c->host->daemons.tuned.boot_cmdline, &words) ||
	    !fact_known(&c->host->cmdline.line))
		return;
	cmdline_parse(c->arena, words, &asked);
	for (int i = 0; i < asked.count; i++) {
		bool booted = false;

		for (int k = 0; !booted && k < c->host->cmdline.count; k++)
			booted = text_equal(c->host->cmdline.words[k].text, asked.words[i].text);
		if (booted || strchr(asked.words[i].text, '$'))
			continue;
		missing = advise_printf(c, "%s%s%s", missing, count ? " " : "", asked.words[i].text);
		count++;
	}
	if (!count)
		return;
	advise_note(c, &c->host->cmdline.line);
	advise_report(c, "tuned asks for kernel parameters that this kernel was not started with: %s", missing);
}

static void check_dynamic(struct advise_check *c)
{
	const struct host_tuned *tuned = &c->host->daemons.tuned;
	const struct idle_state *deepest = host_idle_deepest(&c->host->idle);
	bool dynamic;
	/* latency_low of the cpu plug-in, in us: what it asks for from a load of 0.2 on. */
	const int asked_us = 100;

	if (c->subject->profile || !advise_profile_in_force(c) || !fact_is_on(&tuned->dynamic_tuning) || !deepest ||
	    !fact_known(&deepest->latency_us) || deepest->latency_us.number <= asked_us)
		return;
	if (host_tuned_setting(tuned, "cpu", "force_latency") ||
	    host_tuned_setting(tuned, "cpu", "pm_qos_resume_latency_us"))
		return;
	if (!advise_switch(c, &tuned->dynamic_tuning, &dynamic))
		return;
	advise_note(c, &deepest->latency_us);
	advise_report(c, "Dynamic tuning of tuned asks for %d us under load: %s (%d us) is shut out", asked_us,
		      fact_text_or(&deepest->name, "the deepest state"), (int)deepest->latency_us.number);
}

const struct advise_rule advise_tuned_rules[] = {
    {
	.id = "tuned.profile-not-found",
	.severity = ADVISE_FAIL,
	.title = "The active tuned profile is not found",
	.mechanism =
	    "tuned 2.23 moved profiles to /usr/lib/tuned/profiles and /etc/tuned/profiles; own profiles left in "
	    "/etc/tuned/NAME are no longer looked at, and older versions do not look into the new place.",
	.effect = "none of the profile's settings",
	.basis = BASIS_DOCUMENT,
	.source = "tuned 2.23 release notes; tuned issue 851",
	.hurts = "nothing",
	.by_hand = "tuned-adm list shows what tuned finds; tuned-adm profile NAME",
	.check = check_not_found,
    },
    {
	.id = "tuned.name-refused",
	.severity = ADVISE_FAIL,
	.title = "A profile name holds characters that tuned refuses",
	.mechanism =
	    "Since CVE-2024-52337 tuned takes only letters, digits, '_', '.' and '-' in names and leaves others out.",
	.effect = "the profile is not loaded",
	.basis = BASIS_DOCUMENT,
	.source = "tuned 2.24.1",
	.hurts = "nothing",
	.by_hand = "rename the profile's directory and choose it again",
	.check = check_name,
    },
    {
	.id = "tuned.include-not-found",
	.severity = ADVISE_FAIL,
	.title = "A tuned profile includes one that is not there",
	.mechanism =
	    "tuned refuses a profile of which an include is missing; some profiles come in packages of their own "
	    "(tuned-profiles-realtime, -sap, -cpu-partitioning).",
	.effect = "none of the profile's settings",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, profile loader",
	.hurts = "nothing",
	.by_hand = "install the package with that profile, or correct the include",
	.check = check_include,
    },
    {
	.id = "tuned.syntax",
	.severity = ADVISE_FAIL,
	.title = "A tuned profile cannot be read",
	.mechanism = "The file is read by Python's configparser: every line is a [section], option=value, a comment or "
		     "an indented "
		     "continuation.",
	.effect = "tuned refuses the profile",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, profile loader",
	.hurts = "nothing",
	.by_hand = "correct the line; tuned-adm profile NAME tells whether it loads",
	.check = check_syntax,
    },
    {
	.id = "tuned.not-running",
	.severity = ADVISE_INFO,
	.title = "A profile is chosen but tuned does not run",
	.mechanism =
	    "The name stays in /etc/tuned/active_profile after tuned was stopped; what it set was rolled back then, or "
	    "stayed, by its rollback option.",
	.basis = BASIS_DOCUMENT,
	.source = "tuned-main.conf",
	.by_hand = "systemctl enable --now tuned, or tuned-adm off",
	.check = check_not_running,
    },
    {
	.id = "tuned.no-profile",
	.severity = ADVISE_ADVICE,
	.title = "tuned runs without a profile",
	.mechanism = "It then sets nothing, though people and tools take it for the one who does.",
	.effect = "none",
	.basis = BASIS_DOCUMENT,
	.source = "tuned-adm(8)",
	.hurts = "what the chosen profile costs",
	.by_hand = "tuned-adm recommend; tuned-adm profile NAME, or stop the service",
	.check = check_no_profile,
    },
    {
	.id = "tuned.left-behind",
	.severity = ADVISE_ADVICE,
	.title = "Values of a tuned profile are set though none is active",
	.mechanism =
	    "Stopping tuned during shutdown, rollback=not_on_exit, a crash or a coupled value (dirty_bytes against "
	    "dirty_ratio, EPP after the performance governor) leave settings behind.",
	.effect = "the host is not in the state that its configuration names; measurements compare the wrong things",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 416, 533 and 882",
	.hurts = "nothing",
	.by_hand =
	    "tuned-adm profile NAME to own the values again; or reboot, or sysctl --system and the governor by hand",
	.check = check_left_behind,
    },
    {
	.id = "tuned.settings-differ",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_TUNED | NEEDS_METAL,
	.title = "The CPU settings are not those of the active profile",
	.mechanism =
	    "Somebody wrote after tuned did: another power daemon, a script, an admin. tuned does not look again until "
	    "the profile is switched.",
	.effect = "the profile's effect is partly lost",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 396, auto-cpufreq issue 305",
	.hurts = "whoever wrote the other value",
	.by_hand = "tuned-adm verify; tuned-adm profile NAME sets them again",
	.check = check_differs,
    },
    {
	.id = "tuned.boot-words-not-booted",
	.severity = ADVISE_WARN,
	.title = "tuned asks for kernel parameters that the running kernel did not get",
	.mechanism = "tuned writes them for the boot loader; they count after a reboot, and only where GRUB with "
		     "tuned's hook or "
		     "Boot Loader Specification entries are used.",
	.effect = "the boot-time half of the profile (isolation, tick) is missing",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 117 and 704",
	.hurts = "a reboot",
	.by_hand = "reboot; if the words are still missing: grubby --info=DEFAULT, grep tuned_params in the GRUB "
		   "configuration",
	.check = check_not_booted,
    },
    {
	.id = "tuned.dynamic-tuning-latency",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED | NEEDS_METAL,
	.title = "Dynamic tuning of tuned shuts out deep idle states",
	.mechanism =
	    "With dynamic_tuning=1 and no force_latency the cpu plug-in asks for 100 us as soon as the load is 0.2 or "
	    "more, with every profile, also powersave. EPYC's C2 needs hundreds. The shipped default is 0 since 2.22.",
	.effect = "idle power and boost headroom as if a latency profile were active",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 588, pull request 430",
	.hurts = "wake-up latency of C2",
	.by_hand = "set dynamic_tuning = 0 in /etc/tuned/tuned-main.conf; systemctl restart tuned",
	.check = check_dynamic,
    },
    {.id = NULL},
};

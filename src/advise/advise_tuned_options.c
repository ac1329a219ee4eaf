/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about how a tuned profile is written: plug-ins, options, scripts, paths, and the log of verify. */
#include "advise_tuned.h"

/* Plug-ins of tuned 2.20 to 2.28, and the two sections that are none. */
static const char plugins[] =
    "main variables acpi audio bootloader cpu disk eeepc_she irq irqbalance modules mounts net "
    "rtentsk scheduler script scsi_host selinux service sysctl sysfs systemd uncore usb video vm";

/* Plug-ins whose options are fixed names. */
static const struct {
	const char *type, *options;
} known_options[] = {
    {"cpu", "governor sampling_down_factor energy_perf_bias energy_performance_preference latency_low latency_high "
	    "load_threshold force_latency pm_qos_resume_latency_us boost min_perf_pct max_perf_pct no_turbo dynamic"},
    {"vm", "transparent_hugepages transparent_hugepage transparent_hugepage.defrag dirty_bytes dirty_ratio "
	   "dirty_background_bytes dirty_background_ratio dynamic"},
};

/* The word of a blank-separated list that is at most two edits away, or NULL. In the arena of the run. */
static const char *near_word(struct advise_check *c, const char *words, const char *wrong)
{
	const char *near = NULL;
	int nearest = 3;

	if (strlen(wrong) > 64)
		return NULL;
	for (const char *at = words; *at;) {
		size_t length = strcspn(at, " ");
		const char *word = advise_printf(c, "%.*s", (int)length, at);
		int distance = text_distance(word, wrong);

		if (distance < nearest && length > 3) {
			nearest = distance;
			near = word;
		}
		at += length + strspn(at + length, " ");
	}
	return near;
}

static void check_plugin(struct advise_check *c)
{
	const struct tuned_profile *profiles;
	const char *seen = "";

	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--)
		for (int s = 0; s < profiles[i].setting_count; s++) {
			const struct tuned_setting *setting = &profiles[i].settings[s];

			if (text_has_word(plugins, " ", setting->type) || text_equal(seen, setting->type))
				continue;
			const char *near = near_word(c, plugins, setting->type);

			seen = setting->type;
			advise_forget(c);
			advise_note_setting(c, setting);
			advise_at_setting(advise_report_as(c, near ? ADVISE_WARN : ADVISE_INFO,
							   "[%s] names no plug-in of tuned that hvtune knows%s%s",
							   setting->type, near ? "; did you mean " : "",
							   near ? near : ""),
					  setting);
		}
}

static void check_option(struct advise_check *c)
{
	const struct tuned_profile *profiles;

	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--)
		for (int s = 0; s < profiles[i].setting_count; s++) {
			const struct tuned_setting *setting = &profiles[i].settings[s];
			const char *options = NULL;

			for (size_t k = 0; k < ARRAY_SIZE(known_options); k++)
				if (text_equal(known_options[k].type, setting->type))
					options = known_options[k].options;
			if (!options || text_has_word(options, " ", setting->option))
				continue;
			const char *near = near_word(c, options, setting->option);

			advise_forget(c);
			advise_note_setting(c, setting);
			advise_at_setting(advise_report(c, "The plug-in %s has no option \"%s\"%s%s", setting->type,
							setting->option, near ? "; did you mean " : "",
							near ? near : ""),
					  setting);
		}
}

/* Places that only root writes. */
static bool is_safe_place(const char *path)
{
	static const char *const places[] = {"/usr/", "/etc/", "/opt/", "/var/lib/tuned/"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (text_starts(path, places[i]))
			return !strstr(path, "/../");
	return false;
}

static void check_script(struct advise_check *c)
{
	const struct tuned_profile *profiles;

	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--) {
		const struct tuned_setting *setting = tuned_profile_setting(&profiles[i], "script", "script");

		if (!setting || setting->value[0] != '/' || is_safe_place(setting->value))
			continue;
		advise_forget(c);
		advise_note_setting(c, setting);
		advise_at_setting(
		    advise_report(c, "The profile runs %s as root, from a place that others may write", setting->value),
		    setting);
	}
}

static void check_sysfs_path(struct advise_check *c)
{
	const struct tuned_profile *profiles;

	for (int i = advise_profiles(c, &profiles) - 1; i >= 0; i--)
		for (int s = 0; s < profiles[i].setting_count; s++) {
			const struct tuned_setting *setting = &profiles[i].settings[s];

			if (!text_equal(setting->type, "sysfs") || setting->option[0] != '/' ||
			    text_starts(setting->option, "/sys/"))
				continue;
			advise_forget(c);
			advise_note_setting(c, setting);
			advise_at_setting(advise_report(c, "%s is not below /sys: tuned refuses it", setting->option),
					  setting);
		}
}

static void check_sysctl_gone(struct advise_check *c)
{
	static const char *const gone[] = {"kernel.sched_min_granularity_ns", "kernel.sched_wakeup_granularity_ns",
					   "kernel.sched_migration_cost_ns", "kernel.sched_latency_ns",
					   "kernel.sched_nr_migrate"};

	if (c->host->os.kernel_major && !host_kernel_at_least(c->host, 5, 13))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
		advise_forget(c);
		const struct tuned_setting *setting = advise_setting(c, "sysctl", gone[i]);

		if (setting)
			advise_at_setting(advise_report(c, "%s is no sysctl any more", gone[i]), setting);
	}
}

/* ---- the log of `tuned-adm verify` ---- */

struct verify_cause {
	const char *sign; /* in a failed line */
	const char *why;
	bool harmless;
};

static const struct verify_cause causes[] = {
    {"cpufreq_conservative",
     "cpufreq_conservative is not loaded: balanced asks for it with a + and amd-pstate-epp never uses it", true},
    {"energy_perf_bias", "energy_perf_bias is a thing of Intel CPUs", true},
    {"min_perf_pct", "min_perf_pct is a thing of Intel CPUs", true},
    {"max_perf_pct", "max_perf_pct is a thing of Intel CPUs", true},
    {"no_turbo", "no_turbo is a thing of Intel CPUs", true},
    {"boost", "boost: without the file policyN/boost it cannot be compared; it is on by default", true},
    {"energy_performance_preference",
     "EPP: under the governor performance only \"performance\" can be set, and some versions compare a list of "
     "alternatives word for word",
     false},
    {"bootloader", "kernel parameters count after a reboot", false},
    {"cmdline", "kernel parameters count after a reboot", false},
    {"dirty_", "dirty_bytes and dirty_ratio switch each other to 0: writing one undoes the other", false},
    {"transparent_hugepage", "transparent_hugepage= on the command line makes tuned skip the option", false},
    {"force_latency", "the latency request is compared by reading /dev/cpu_dma_latency, where others may ask for less",
     false},
};

struct verify_counts {
	int passed, failed, harmless;
	const struct verify_cause *last_harmless;
};

static const struct verify_cause *cause_of(const char *line, size_t length, struct advise_check *c)
{
	const char *text = advise_printf(c, "%.*s", (int)MIN_OF(length, 500), line);

	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (strstr(text, causes[i].sign))
			return &causes[i];
	return NULL;
}

static bool line_has(const char *line, size_t length, const char *what)
{
	const char *found = memmem(line, length, what, strlen(what));

	return found != NULL;
}

/* Walk the verify lines; report the failed ones that are not harmless when `report` is set. */
static struct verify_counts walk_log(struct advise_check *c, bool report)
{
	struct verify_counts counts = {0};
	unsigned number = 1;

	for (const char *at = c->subject->verify_log; at && *at; number++) {
		size_t length = strcspn(at, "\n");

		if (line_has(at, length, "verify: failed")) {
			const struct verify_cause *cause = cause_of(at, length, c);
			const char *from = strstr(at, "verify: failed");

			counts.failed++;
			if (cause && cause->harmless) {
				counts.harmless++;
				counts.last_harmless = cause;
			} else if (report) {
				advise_forget(c);
				advise_note_text(c, c->subject->path, "%.*s", (int)MIN_OF(length, 300), at);
				struct advise_finding *finding =
				    advise_report(c, "%.*s", (int)MIN_OF(length - (size_t)(from - at), 200), from);

				finding->detail = cause ? cause->why : NULL;
				finding->path = c->subject->path;
				finding->line = number;
				finding->column = (unsigned)(from - at) + 1;
			}
		} else if (line_has(at, length, "verify: passed")) {
			counts.passed++;
		}
		at += length + (at[length] != '\0');
	}
	return counts;
}

static void check_verify_differs(struct advise_check *c)
{
	(void)walk_log(c, true);
}

static void check_verify_harmless(struct advise_check *c)
{
	const struct verify_counts counts = walk_log(c, false);

	if (!counts.harmless)
		return;
	advise_note_text(c, c->subject->path, "%d passed, %d failed, of these %d without meaning here", counts.passed,
			 counts.failed, counts.harmless);
	advise_report(c,
		      counts.harmless == counts.failed ? "Verify fails for harmless reasons only: %s"
						       : "One of the failed lines is harmless: %s",
		      counts.last_harmless->why);
}

static void check_verify_clean(struct advise_check *c)
{
	const struct verify_counts counts = walk_log(c, false);

	if (counts.failed || !counts.passed)
		return;
	advise_note_text(c, c->subject->path, "%d passed", counts.passed);
	advise_report(c, "All %d verified settings are as the profile asks", counts.passed);
}

const struct advise_rule advise_tuned_option_rules[] = {
    {
	.id = "tuned.unknown-plugin",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED,
	.title = "A section names no plug-in of tuned",
	.mechanism = "A section is an instance of the plug-in that bears its name, or the one that type= names. "
		     "Unknown ones are "
		     "logged and skipped.",
	.effect = "none of the section's settings",
	.basis = BASIS_DOCUMENT,
	.source = "tuned.conf(5)",
	.hurts = "nothing",
	.by_hand = "correct the section's name, or add type=",
	.check = check_plugin,
    },
    {
	.id = "tuned.unknown-option",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED,
	.title = "A plug-in of tuned has no such option",
	.mechanism = "tuned logs a warning (\"Unknown option\") and skips it.",
	.effect = "the setting is not made",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, plug-ins cpu and vm",
	.hurts = "nothing",
	.by_hand = "correct the option's name",
	.check = check_option,
    },
    {
	.id = "tuned.script-in-writable-place",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED,
	.title = "A profile runs a script from a place that others may write",
	.mechanism = "Scripts of profiles run as root. tuned had a hole of this kind: CVE-2024-52336, fixed in 2.24.1.",
	.effect = "whoever can write there becomes root",
	.basis = BASIS_DOCUMENT,
	.source = "CVE-2024-52336",
	.hurts = "nothing",
	.by_hand = "put the script beside the profile: script=${i:PROFILE_DIR}/script.sh",
	.check = check_script,
    },
    {
	.id = "tuned.sysfs-path",
	.severity = ADVISE_WARN,
	.needs = NEEDS_TUNED,
	.title = "A path of the sysfs plug-in is not below /sys",
	.mechanism = "The plug-in writes below /sys only; /proc/sys belongs to the plug-in sysctl.",
	.effect = "the setting is not made",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, sysfs plug-in",
	.hurts = "nothing",
	.by_hand = "use [sysctl] for /proc/sys",
	.check = check_sysfs_path,
    },
    {
	.id = "tuned.sysctl-gone",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_TUNED,
	.title = "A profile sets a sysctl of the scheduler that is gone",
	.mechanism =
	    "The kernel.sched_*_ns sysctls went to debugfs, and newer schedulers have base_slice_ns instead of "
	    "two of them. The scheduler plug-in knows the new places.",
	.effect = "none",
	.basis = BASIS_DOCUMENT,
	.source = "Linux kernel/sched/debug.c",
	.hurts = "nothing",
	.by_hand = "take it out, or use [scheduler] sched_migration_cost_ns=...",
	.check = check_sysctl_gone,
    },
    {
	.id = "tuned.verify-differs",
	.severity = ADVISE_WARN,
	.title = "tuned-adm verify found a setting that differs",
	.mechanism = "Somebody wrote after tuned did, or the value could not be set.",
	.effect = "the setting is not in force",
	.basis = BASIS_REPORTS,
	.source = "tuned issues 790, 594 and 880",
	.hurts = "nothing",
	.by_hand = "tuned-adm profile NAME sets it again; tuned-adm verify",
	.check = check_verify_differs,
    },
    {
	.id = "tuned.verify-harmless",
	.severity = ADVISE_INFO,
	.title = "tuned-adm verify fails for a reason that is harmless",
	.mechanism = "verify compares everything that a profile names, also what this machine does not have. tuned-adm "
		     "verify -i "
		     "ignores what is missing.",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 790",
	.by_hand = "tuned-adm verify -i",
	.check = check_verify_harmless,
    },
    {
	.id = "tuned.verify-clean",
	.severity = ADVISE_GOOD,
	.title = "tuned-adm verify found nothing that differs",
	.mechanism = "All settings that were compared are as the profile asks.",
	.basis = BASIS_DOCUMENT,
	.source = "tuned-adm(8)",
	.check = check_verify_clean,
    },
    {.id = NULL},
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the rules about what single words of the kernel command line say: values that the kernel ignores, words of
 * another vendor. Words whose price is known are in advise_cmdline_cost.c, how words are written in
 * advise_cmdline_syntax.c.
 */
#include <ctype.h>

#include "advise_cmdline.h"
#include "advise_words.h"

#define PARAMETERS "Linux Documentation/admin-guide/kernel-parameters.txt"

/* The next kernel word after `*at` that is called `name`; notes it. NULL at the end. */
const struct cmdline_word *advise_next_word(struct advise_check *c, int *at, const char *name)
{
	while (*at < c->cmdline->count) {
		const struct cmdline_word *word = &c->cmdline->words[(*at)++];

		if (!word->for_init && cmdline_same_name(word->name, name)) {
			advise_forget(c);
			advise_note_text(c, c->cmdline->path, "%s", word->text);
			return word;
		}
	}
	return NULL;
}

static bool is_number(const char *value)
{
	int64_t number;

	return *value && text_int(value, 0, &number) == 0;
}

/* The first part of the value that the kernel does not take, or NULL. */
const char *advise_bad_part(struct advise_check *c, const struct kernel_word *known, const char *value)
{
	if (text_has_word(known->values, " ", value) || ((known->flags & WORD_NUMBER) && is_number(value)))
		return NULL;
	if (!(known->flags & WORD_LIST))
		return value;
	for (const char *at = value; *at;) {
		size_t length = strcspn(at, ",");
		const char *part = advise_printf(c, "%.*s", (int)MIN_OF(length, 200), at);

		if (length && !text_has_word(known->values, " ", part) &&
		    !((known->flags & WORD_NUMBER) && is_number(part)))
			return part;
		at += length + (at[length] != '\0');
	}
	return *value ? NULL : value;
}

static void check_amd_iommu(struct advise_check *c)
{
	const struct kernel_word *known = advise_kernel_word("amd_iommu");
	const struct cmdline_word *word;

	for (int at = 0; (word = advise_next_word(c, &at, "amd_iommu"));) {
		const char *bad = word->value ? advise_bad_part(c, known, word->value) : "";

		if (!bad)
			continue;
		struct advise_finding *finding =
		    text_equal(bad, "on") ? advise_report_as(c, ADVISE_ADVICE,
							     "amd_iommu=on is not a value: the kernel ignores it, the "
							     "IOMMU is on by default")
					  : advise_report(c, "amd_iommu=%s is not a value: the kernel ignores it%s",
							  bad, text_equal(bad, "pt") ? "; iommu=pt is meant" : "");

		if (text_equal(bad, "pt")) {
			finding->by_hand = "write iommu=pt instead";
			finding->effect = "the devices of the host are still translated, which is not what was asked";
		} else if (text_equal(bad, "on")) {
			finding->effect = "no effect: the IOMMU is on with or without the word";
		}
		advise_at_word(c, finding, word);
	}
}

static void check_iommu(struct advise_check *c)
{
	const struct kernel_word *known = advise_kernel_word("iommu");
	const struct cmdline_word *word;

	for (int at = 0; (word = advise_next_word(c, &at, "iommu"));) {
		const char *bad = word->value ? advise_bad_part(c, known, word->value) : NULL;
		bool on = text_equal(bad, "on");

		if (!bad)
			continue;
		struct advise_finding *finding = advise_report_as(
		    c, on ? ADVISE_ADVICE : ADVISE_WARN, "iommu=%s is not a value: the kernel ignores it", bad);

		if (on) {
			finding->effect = "no effect: the IOMMU is on with or without the word";
			finding->by_hand = "take the word out";
		}
		advise_at_word(c, finding, word);
	}
}

static void check_snp_passthrough(struct advise_check *c)
{
	const struct cmdline_word *snp = advise_word(c, "kvm_amd.sev_snp");
	const struct cmdline_word *iommu = advise_word(c, "iommu");
	const struct cmdline_word *passthrough = advise_word(c, "iommu.passthrough");
	/* A CPU that is known not to have SEV-SNP has other troubles than the IOMMU's mode. */
	bool never = fact_known(&c->host->cpu.flags) && !host_cpu_has_flag(&c->host->cpu, "sev_snp");
	bool through = (iommu && iommu->value && text_has_word(iommu->value, ",", "pt")) ||
		       (passthrough && passthrough->value && text_has_word("1 y Y on", " ", passthrough->value));

	if (!never && snp && snp->value && text_has_word("1 y Y on", " ", snp->value) && through)
		advise_at_word(c, advise_report(c, "SEV-SNP is asked for together with an IOMMU in passthrough mode"),
			       snp);
}

static void check_intel_words(struct advise_check *c)
{
	static const char *const prefixes[] = {"intel_idle.", "intel_pstate.", "kvm_intel.", "kvm-intel."};

	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const struct kernel_word *known = advise_kernel_word(word->name);
		bool is_intel = known && (known->flags & WORD_INTEL);

		for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++)
			is_intel = is_intel || text_starts(word->name, prefixes[p]);
		if (word->for_init || !is_intel)
			continue;
		/* Whoever writes this one believes that nothing works without it; the others come from profiles for
		 * both vendors. */
		bool asks = cmdline_same_name(word->name, "intel_iommu");

		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", word->text);
		advise_at_word(c,
			       advise_report_as(c, asks ? ADVISE_ADVICE : ADVISE_INFO,
						"%s is read on Intel CPUs only: it does nothing here", word->text),
			       word);
	}
}

static void check_amd_words(struct advise_check *c)
{
	if (!fact_known(&c->host->cpu.vendor) || host_is_amd(c->host))
		return;
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const struct kernel_word *known = advise_kernel_word(word->name);

		if (word->for_init || !known || !(known->flags & WORD_AMD))
			continue;
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", word->text);
		advise_at_word(c, advise_report(c, "%s is read on AMD CPUs only: it does nothing here", word->text),
			       word);
	}
}

static void check_amd_pstate(struct advise_check *c)
{
	const struct kernel_word *known = advise_kernel_word("amd_pstate");
	const struct cmdline_word *word;

	for (int at = 0; (word = advise_next_word(c, &at, "amd_pstate"));) {
		const char *value = word->value ? word->value : "";
		bool old = c->host->os.kernel_major && !host_kernel_at_least(c->host, 6, 2);

		if (advise_bad_part(c, known, value)) {
			advise_at_word(c, advise_report(c, "%s is not a mode: the kernel ignores it", word->text),
				       word);
		} else if (old && (text_equal(value, "active") || text_equal(value, "guided"))) {
			advise_note(c, &c->host->os.kernel_release);
			advise_at_word(c,
				       advise_report(c, "%s is not known to kernel %s, which has passive only",
						     word->text, fact_text_or(&c->host->os.kernel_release, "")),
				       word);
		}
	}
}

static void check_amd_pstate_removed(struct advise_check *c)
{
	static const char *const names[] = {"amd_pstate.shared_mem", "amd_pstate.replace"};
	const struct cmdline_word *word;

	/* Up to 6.0 they were parameters of the module. */
	if (c->host->os.kernel_major && !host_kernel_at_least(c->host, 6, 1))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (int at = 0; (word = advise_next_word(c, &at, names[i]));)
			advise_at_word(c, advise_report(c, "%s no longer exists: the kernel ignores it", word->text),
				       word);
}

static bool has_amd_pstate_mode(const struct host_cmdline *cmdline)
{
	const struct cmdline_word *word = cmdline_last(cmdline, "amd_pstate");

	return word && word->value && text_has_word("active passive guided", " ", word->value);
}

static void check_no_driver(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "initcall_blacklist");
	const struct cmdline_word *off = advise_word(c, "cpufreq.off");
	/* From 6.5 on amd-pstate loads by itself on many machines, so a blacklisted acpi-cpufreq is harmless there. */
	bool old = c->host->os.kernel_major && !host_kernel_at_least(c->host, 6, 5);
	bool no_policies = fact_is_off(&c->host->cpufreq.policies_dir) && fact_known(&c->host->cpu.online);

	if (off && off->value && text_has_word("1 y Y on", " ", off->value))
		advise_at_word(c, advise_report(c, "cpufreq.off=1 leaves the CPUs without a frequency driver"), off);
	if (word && word->value && strstr(word->value, "acpi_cpufreq_init") && !has_amd_pstate_mode(c->cmdline) &&
	    (old || no_policies)) {
		advise_note(c, &c->host->os.kernel_release);
		advise_at_word(c,
			       advise_report(c,
					     "acpi-cpufreq is kept out and amd_pstate= is not asked for: the CPUs are "
					     "left without a frequency driver"),
			       word);
	}
}

static void check_bad_value(struct advise_check *c)
{
	/* These have rules of their own. */
	static const char own[] = "amd_iommu iommu amd_pstate mitigations";

	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const struct kernel_word *known = word->for_init ? NULL : advise_kernel_word(word->name);

		if (!known || !known->values || !word->value || text_has_word(own, " ", known->name))
			continue;
		const char *bad = advise_bad_part(c, known, word->value);

		/* Variables of a boot loader or shell are not known here; empty lists have their own rule. */
		if (!bad || strchr(word->value, '$'))
			continue;
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", word->text);
		struct advise_finding *finding = advise_report(c, "%s: \"%s\" is not a value of it", word->text, bad);

		if (*known->values)
			finding->detail = advise_printf(c, "it takes: %s%s", known->values,
							known->flags & WORD_NUMBER ? ", or a number" : "");
		advise_at_word(c, finding, word);
	}
}

static void check_kvm_parameter(struct advise_check *c)
{
	/* /sys/module/kvm_amd/parameters of Linux 6.1 to 7.2. */
	static const char known[] =
	    "avic enable_ipiv force_avic nested npt nrips vls vgif lbrv tsc_scaling vnmi pause_filter_thresh "
	    "pause_filter_count pause_filter_count_grow pause_filter_count_shrink pause_filter_count_max sev sev_es "
	    "sev_snp intercept_smi enable_device_posted_irqs enable_mediated_pmu gmet dump_invalid_vmcb "
	    "debug_swap ciphertext_hiding_asids dyndbg";

	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const char *dot = strchr(word->name, '.');
		bool is_ours = dot && dot - word->name == 7 &&
			       (text_starts(word->name, "kvm_amd.") || text_starts(word->name, "kvm-amd."));

		if (word->for_init || !is_ours || text_has_word(known, " ", dot + 1))
			continue;
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", word->text);
		advise_at_word(c, advise_report(c, "kvm_amd has no parameter \"%s\"", dot + 1), word);
	}
}

static void check_removed(struct advise_check *c)
{
	static const struct {
		const char *name, *why;
	} removed[] = {
	    {"elevator", "has no effect any more: the scheduler of a disk is set in /sys/block"},
	    {"noibrs", "was known to kernels of RHEL 7 only; spectre_v2= says it now"},
	    {"noibpb", "was known to kernels of RHEL 7 only; spectre_v2_user= says it now"},
	    {"scsi_mod.use_blk_mq", "has no effect: there is no other way any more"},
	    {"dm_mod.use_blk_mq", "has no effect: there is no other way any more"},
	};
	const struct cmdline_word *word;

	for (size_t i = 0; i < ARRAY_SIZE(removed); i++)
		for (int at = 0; (word = advise_next_word(c, &at, removed[i].name));)
			advise_at_word(c, advise_report(c, "%s %s", word->text, removed[i].why), word);
}

const struct advise_rule advise_cmdline_rules[] = {
    {
	.id = "cmdline.amd-iommu-value",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "amd_iommu= has a value that the kernel does not know",
	.mechanism =
	    "\"on\" and \"pt\" were copied from intel_iommu=on and iommu=pt. The kernel logs \"AMD-Vi: Unknown "
	    "option\" and goes on as if the word were not there; the AMD IOMMU is on by default where the "
	    "firmware offers it.",
	.effect = "none: what was asked for does not happen",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "nothing",
	.knobs = NULL,
	.by_hand = "take the word out",
	.check = check_amd_iommu,
    },
    {
	.id = "cmdline.iommu-value",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "iommu= has a value that the kernel does not know",
	.mechanism = "Unknown options of iommu= are skipped without a message.",
	.effect = "none of what was asked for",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "take the word out; for devices of the host without translation write iommu=pt",
	.check = check_iommu,
    },
    {
	.id = "cmdline.snp-needs-translation",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "SEV-SNP cannot start with the IOMMU in passthrough mode",
	.mechanism = "The kernel refuses SEV-SNP when the default domain of the IOMMU is passthrough, because devices "
		     "would reach memory of guests unchecked.",
	.effect = "no SEV-SNP guest can be started",
	.basis = BASIS_REPORTS,
	.source = "AMDSEV issue 88, incus-os issue 949",
	.hurts = "devices of the host are translated again",
	.by_hand = "take iommu=pt (iommu.passthrough=1) out",
	.check = check_snp_passthrough,
    },
    {
	.id = "cmdline.intel-word-on-amd",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE | NEEDS_AMD,
	.title = "A word for Intel CPUs on an AMD host",
	.mechanism = "The code that reads it does not run on an AMD CPU.",
	.effect = "none",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "take the word out; the AMD IOMMU needs no word",
	.check = check_intel_words,
    },
    {
	.id = "cmdline.amd-word-on-intel",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "A word for AMD CPUs on another host",
	.mechanism = "The code that reads it does not run on this CPU.",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.check = check_amd_words,
    },
    {
	.id = "cmdline.amd-pstate-value",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "amd_pstate= has a value that this kernel does not know",
	.mechanism =
	    "The modes are disable, passive, active and guided; 6.1 knows passive and disable only. A bad value is "
	    "ignored and the kernel chooses by its own rules, which on EPYC before Turin means acpi-cpufreq.",
	.effect = "the mode that was asked for is not the one that runs",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "nothing",
	.knobs = "boot.amd_pstate=active",
	.by_hand = "write amd_pstate=active (or passive, guided, disable)",
	.check = check_amd_pstate,
    },
    {
	.id = "cmdline.amd-pstate-removed-parameter",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "A parameter of amd_pstate that no longer exists",
	.mechanism =
	    "amd_pstate.shared_mem and amd_pstate.replace went away when amd_pstate became built in; without a mode "
	    "in amd_pstate= such a kernel does not load the driver on CPUs with shared-memory CPPC.",
	.effect = "the driver is not loaded by it",
	.basis = BASIS_REPORTS,
	.source = "liquorix-package issue 119",
	.hurts = "nothing",
	.knobs = "boot.amd_pstate=active",
	.by_hand = "take the word out and write amd_pstate=passive (6.1) or amd_pstate=active (newer kernels)",
	.check = check_amd_pstate_removed,
    },
    {
	.id = "cmdline.no-frequency-driver",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE | NEEDS_METAL,
	.title = "The command line leaves the CPUs without a frequency driver",
	.mechanism =
	    "Without a driver the CPUs stay at what the firmware chose at boot; neither governor, EPP nor boost can be "
	    "set.",
	.effect = "frequency and power are out of reach",
	.basis = BASIS_REPORTS,
	.source = "liquorix-package issue 119",
	.hurts = "nothing",
	.knobs = "boot.amd_pstate=active",
	.by_hand =
	    "take initcall_blacklist=acpi_cpufreq_init or cpufreq.off=1 out, or add amd_pstate=passive (6.1) or active",
	.check = check_no_driver,
    },
    {
	.id = "cmdline.bad-value",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "A parameter has a value that the kernel does not know",
	.mechanism = "The kernel logs an error at best and stays with its default.",
	.effect = "what was asked for does not happen",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "write one of the values that it takes, or take the word out",
	.check = check_bad_value,
    },
    {
	.id = "cmdline.kvm-amd-parameter",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "kvm_amd has no such parameter",
	.mechanism = "Unknown parameters of a module are logged (\"unknown parameter ignored\") and dropped.",
	.effect = "none of what was asked for",
	.basis = BASIS_DOCUMENT,
	.source = "Linux arch/x86/kvm/svm, module parameters of 6.1 to 7.2",
	.hurts = "nothing",
	.by_hand = "modinfo -p kvm_amd lists what this kernel has",
	.check = check_kvm_parameter,
    },
    {
	.id = "cmdline.removed-word",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "A word that newer kernels no longer know",
	.mechanism = "It is ignored and may go.",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.check = check_removed,
    },
    {.id = NULL},
};

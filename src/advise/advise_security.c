/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about vulnerabilities, their mitigations and microcode: in the kernel's words, never re-derived. */
#include "advise_check.h"

#define HW_VULN "Linux Documentation/admin-guide/hw-vuln/"

static const char *words_of_file(const struct advise_check *c, const char *name)
{
	const struct mitigation *mitigation = host_mitigation(&c->host->mitigations, name);

	return mitigation ? fact_text_or(&mitigation->text, "") : "";
}

/* Does the file start with these words? Then it is noted. */
static bool file_starts(struct advise_check *c, const char *name, const char *start)
{
	const struct mitigation *mitigation = host_mitigation(&c->host->mitigations, name);

	return mitigation && advise_note(c, &mitigation->text) && text_starts(words_of_file(c, name), start);
}

static bool lacks_microcode(const char *text)
{
	return strcasestr(text, "no microcode") != NULL;
}

/* "off", "off;..." of newer kernels, but not "auto,nosmt". */
static bool value_is_off(const char *value)
{
	return value && text_starts(value, "off") && (value[3] == '\0' || value[3] == ';' || value[3] == ',');
}

static bool mitigations_off(const struct advise_check *c)
{
	const struct cmdline_word *word = cmdline_last(c->cmdline, "mitigations");

	return word && value_is_off(word->value);
}

static void check_off(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "mitigations");

	if (!word || !value_is_off(word->value))
		return;
	for (int i = 0; i < c->host->mitigations.count && !c->subject->cmdline; i++)
		if (c->host->mitigations.list[i].state == MITIGATION_VULNERABLE)
			(void)advise_note(c, &c->host->mitigations.list[i].text);
	bool guest = host_is_guest(c->host) && !c->subject->cmdline;
	/* A linted line may be for another machine than the guest on which it is linted. */
	bool unsure = host_is_guest(c->host) && c->subject->cmdline;
	struct advise_finding *finding =
	    advise_report_as(c,
			     guest    ? ADVISE_INFO
			     : unsure ? ADVISE_ADVICE
				      : ADVISE_WARN,
			     guest ? "%s: this guest does without its mitigations"
				   : "%s: a risk on a host whose VMs do not trust each other",
			     word->text);

	advise_at_word(c, finding, word);
}

/* Words that switch one mitigation off, by value or by being there. */
static const struct {
	const char *name, *value; /* NULL: the bare word */
} off_words[] = {
    {"spectre_v2", "off"},
    {"spectre_v2_user", "off"},
    {"spec_store_bypass_disable", "off"},
    {"spec_rstack_overflow", "off"},
    {"retbleed", "off"},
    {"tsa", "off"},
    {"vmscape", "off"},
    {"nospectre_v1", NULL},
    {"nospectre_v2", NULL},
    {"nospec_store_bypass_disable", NULL},
};

static void check_single_off(struct advise_check *c)
{
	const char *list = NULL;
	const struct cmdline_word *first = NULL;

	if (mitigations_off(c))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(off_words); i++) {
		const struct cmdline_word *word = cmdline_last(c->cmdline, off_words[i].name);

		if (!word || (off_words[i].value && !text_equal(word->value, off_words[i].value)))
			continue;
		(void)advise_word(c, off_words[i].name);
		list = advise_printf(c, "%s%s%s", list ? list : "", list ? ", " : "", word->text);
		first = first ? first : word;
	}
	if (list)
		advise_at_word(c, advise_report(c, "Mitigations are switched off one by one: %s", list), first);
}

/* Attack vectors of 6.17 and later that concern VMs: "auto,no_guest_host,no_guest_guest". */
static void check_vectors(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "mitigations");

	if (!word || !word->value)
		return;
	const char *value = word->value;
	bool to_host = text_has_word(value, ",;", "no_guest_host"),
	     to_guest = text_has_word(value, ",;", "no_guest_guest");

	if (!to_host && !to_guest)
		return;
	struct advise_finding *finding = advise_report(c, "%s leaves %s open to VMs", word->text,
						       to_host && to_guest ? "the host and other VMs"
						       : to_host	   ? "the host"
									   : "other VMs");

	advise_at_word(c, finding, word);
}

/* The way out is known, and said there. Neither rule is asked on other vendors' parts, the second not on guests. */
static bool has_own_rule(const struct advise_check *c, const struct mitigation *mitigation)
{
	if (text_equal(mitigation->name, "old_microcode"))
		return !host_is_guest(c->host);
	return host_is_amd(c->host) && lacks_microcode(mitigation->text.text);
}

/* "Vulnerable: eIBRS with unprivileged eBPF", "...; Unprivileged eBPF enabled": a sysctl away from mitigated. */
static bool by_ebpf(const struct mitigation *mitigation)
{
	return strcasestr(fact_text_or(&mitigation->text, ""), "unprivileged eBPF") != NULL;
}

static void report_ebpf(struct advise_check *c, const struct mitigation *mitigation)
{
	advise_forget(c);
	(void)advise_note(c, &mitigation->text);
	struct advise_finding *finding = advise_report_as(
	    c, host_is_guest(c->host) ? ADVISE_INFO : ADVISE_WARN,
	    "%s: any user may load eBPF programs, which the mitigation does not cover", mitigation->name);

	finding->by_hand = "sysctl -w kernel.unprivileged_bpf_disabled=1, and the same line in /etc/sysctl.d";
}

static void check_vulnerable(struct advise_check *c)
{
	const struct host_mitigations *mitigations = &c->host->mitigations;
	const char *list = NULL;

	if (mitigations_off(c))
		return;
	for (int i = 0; i < mitigations->count; i++) {
		const struct mitigation *mitigation = &mitigations->list[i];

		if (mitigation->state != MITIGATION_VULNERABLE || has_own_rule(c, mitigation) || by_ebpf(mitigation))
			continue;
		(void)advise_note(c, &mitigation->text);
		list = advise_printf(c, "%s%s%s", list ? list : "", list ? ", " : "", mitigation->name);
	}
	if (list)
		(void)advise_report_as(c, host_is_guest(c->host) ? ADVISE_INFO : ADVISE_WARN,
				       "The kernel calls this host vulnerable: %s", list);
	for (int i = 0; i < mitigations->count; i++)
		if (mitigations->list[i].state == MITIGATION_VULNERABLE && by_ebpf(&mitigations->list[i]))
			report_ebpf(c, &mitigations->list[i]);
}

static void check_no_microcode(struct advise_check *c)
{
	const struct host_mitigations *mitigations = &c->host->mitigations;

	for (int i = 0; i < mitigations->count; i++) {
		const struct mitigation *mitigation = &mitigations->list[i];

		if (mitigation->state != MITIGATION_VULNERABLE || !lacks_microcode(mitigation->text.text))
			continue;
		advise_forget(c);
		(void)advise_note(c, &mitigation->text);
		(void)advise_note(c, &c->host->cpu.microcode);
		(void)advise_note(c, &c->host->os.bios_date);
		/* "Vulnerable: Safe RET, no microcode": what is missing stands behind the colon. */
		const char *colon = strstr(mitigation->text.text, ": ");

		/* A guest is shown what its host lets it see, and cannot mend it. */
		(void)advise_report_as(c, host_is_guest(c->host) ? ADVISE_INFO : ADVISE_WARN,
				       "%s: %s: the microcode or firmware is too old for this mitigation",
				       mitigation->name, colon ? colon + 2 : mitigation->text.text);
	}
}

static void check_old_microcode(struct advise_check *c)
{
	if (!file_starts(c, "old_microcode", "Vulnerable"))
		return;
	(void)advise_note(c, &c->host->cpu.microcode);
	(void)advise_report(c, "The kernel knows of newer microcode than %s",
			    fact_text_or(&c->host->cpu.microcode, "the one that runs"));
}

static void check_mixed_microcode(struct advise_check *c)
{
	bool mixed;

	if (advise_switch(c, &c->host->cpu.microcode_mixed, &mixed) && mixed)
		(void)advise_report(c, "CPUs of this host run different microcode");
}

static void check_retbleed_ibpb(struct advise_check *c)
{
	if (file_starts(c, "retbleed", "Mitigation: IBPB"))
		(void)advise_report(c,
				    "retbleed is mitigated by IBPB on each kernel entry: a large cost on this family");
}

static void check_srso_ibpb(struct advise_check *c)
{
	static const char full[] = "Mitigation: IBPB";

	/* "Mitigation: IBPB on VMEXIT only" is the cheaper form for hosts. */
	if (file_starts(c, "spec_rstack_overflow", full) && !strstr(words_of_file(c, "spec_rstack_overflow"), "VMEXIT"))
		(void)advise_report(c, "SRSO is mitigated by IBPB on each kernel entry instead of Safe RET");
}

static void check_vmscape(struct advise_check *c)
{
	if (file_starts(c, "vmscape", "Mitigation: IBPB"))
		(void)advise_report(c, "Each exit from a VM to QEMU flushes the branch predictor (vmscape)");
}

static void check_smt(struct advise_check *c)
{
	const struct host_mitigations *mitigations = &c->host->mitigations;
	const char *list = NULL;

	for (int i = 0; i < mitigations->count; i++) {
		const struct mitigation *mitigation = &mitigations->list[i];

		if (mitigation->state != MITIGATION_ACTIVE || !strstr(mitigation->text.text, "SMT vulnerable"))
			continue;
		(void)advise_note(c, &mitigation->text);
		list = advise_printf(c, "%s%s%s", list ? list : "", list ? ", " : "", mitigation->name);
	}
	if (list)
		(void)advise_report(c, "Mitigated, but not between the threads of a core: %s", list);
}

/* Automatic IBRS came with Zen 4; the flag is not shown by every kernel, so the generation stands for it. */
static void check_retpolines(struct advise_check *c)
{
	if (c->host->cpu.zen < ZEN_4 || !file_starts(c, "spectre_v2", "Mitigation: Retpolines"))
		return;
	const struct cmdline_word *word = advise_word(c, "spectre_v2");

	(void)advise_note(c, &c->host->os.kernel_release);
	(void)advise_report(c, "spectre_v2 is mitigated by retpolines on %s, which has Automatic IBRS%s%s",
			    c->host->cpu.zen_name ? c->host->cpu.zen_name : "a part", word ? ": chosen by " : "",
			    word ? word->text : "");
}

/* What is switched on at each kernel entry, VM exit or indirect branch. */
static const char *const costly[] = {"retbleed", "spec_rstack_overflow", "spectre_v2", "tsa", "vmscape"};

static void check_bill(struct advise_check *c)
{
	const char *list = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(costly); i++) {
		const struct mitigation *mitigation = host_mitigation(&c->host->mitigations, costly[i]);

		if (!mitigation || mitigation->state != MITIGATION_ACTIVE)
			continue;
		(void)advise_note(c, &mitigation->text);
		list = advise_printf(c, "%s%s%s", list ? list : "", list ? ", " : "", costly[i]);
	}
	if (list)
		(void)advise_report(c, "Mitigations that cost time here: %s", list);
}

/* Faults that concern a generation and that only newer kernels have files for. */
static const struct {
	const char *name;
	enum cpu_zen first, last;
} newer_faults[] = {
    {"retbleed", ZEN_1, ZEN_2},
    {"spec_rstack_overflow", ZEN_1, ZEN_4C},
    {"tsa", ZEN_3, ZEN_4C},
    {"vmscape", ZEN_1, ZEN_5C},
};

/* Those of them that this kernel has no file for, or NULL. */
static const char *faults_unknown(struct advise_check *c)
{
	enum cpu_zen zen = c->host->cpu.zen;
	const char *list = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(newer_faults); i++)
		if (zen >= newer_faults[i].first && zen <= newer_faults[i].last &&
		    !host_mitigation(&c->host->mitigations, newer_faults[i].name))
			list = advise_printf(c, "%s%s%s", list ? list : "", list ? ", " : "", newer_faults[i].name);
	return list;
}

static void check_fine(struct advise_check *c)
{
	const struct host_mitigations *mitigations = &c->host->mitigations;
	const char *source = mitigations->directory.source ? mitigations->directory.source : "vulnerabilities";
	int known = 0;

	for (int i = 0; i < mitigations->count; i++) {
		if (mitigations->list[i].state == MITIGATION_VULNERABLE)
			return;
		known += mitigations->list[i].state != MITIGATION_UNKNOWN;
	}
	if (!known)
		return;
	const char *unknown = faults_unknown(c);
	const char *faults = known == 1 ? "fault" : "faults";

	advise_note_text(c, source, "%d %s, none \"Vulnerable\"", known, faults);
	if (unknown)
		(void)advise_report_as(c, ADVISE_INFO,
				       "The kernel is too old to know of %s; of the %d %s that it knows, it calls this "
				       "host vulnerable to none",
				       unknown, known, faults);
	else
		(void)advise_report(c, "The kernel calls this host vulnerable to none of the %d %s it knows", known,
				    faults);
}

#define STUDY_A "study A: build of GDB on EPYC 9354P"

const struct advise_rule advise_security_rules[] = {
    {
	.id = "security.mitigations-off",
	.severity = ADVISE_WARN,
	.needs = JUDGES_WORDS | NEEDS_CMDLINE,
	.title = "All mitigations are switched off",
	.mechanism =
	    "mitigations=off leaves the host open to what VMs can read by speculation: other VMs and the host itself. "
	    "Not a reasonable default where tenants do not trust each other.",
	.effect = "with mitigations=off, work on the host ran 15.5 % faster; a VM gained next to nothing from it (0.3 "
		  "% slower to 1.3 % "
		  "faster), but 12 to 14 % from its own",
	.basis = BASIS_STUDY,
	.source = STUDY_A,
	.hurts = "with mitigations: time at kernel entries and VM exits",
	.knobs = "boot.mitigations=auto",
	.by_hand = "take mitigations=off off the command line and reboot",
	.experiment = "mitigations=auto against mitigations=off, for the host and for a VM apart",
	.check = check_off,
    },
    {
	.id = "security.mitigation-switched-off",
	.severity = ADVISE_WARN,
	.needs = JUDGES_WORDS | NEEDS_CMDLINE | NEEDS_METAL,
	.title = "Single mitigations are switched off",
	.mechanism = "The word switches off what the kernel would do by itself for this CPU.",
	.effect = "less safety for less time at kernel entries and VM exits; the size depends on the fault",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.txt",
	.hurts = "with mitigations: time at kernel entries and VM exits",
	.by_hand = "take the word off the command line and reboot",
	.check = check_single_off,
    },
    {
	.id = "security.guest-vectors-off",
	.severity = ADVISE_WARN,
	.needs = JUDGES_WORDS | NEEDS_CMDLINE | NEEDS_METAL,
	.title = "Mitigations against attacks from VMs are switched off",
	.mechanism =
	    "no_guest_host and no_guest_guest tell the kernel that no VM attacks the host or another VM. That suits a "
	    "guest, or a host whose VMs all belong to one owner who trusts what runs in them.",
	.effect = "VMs can read memory of the host or of other VMs by speculation",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "attack_vector_controls.rst",
	.hurts = "with mitigations: time at VM exits",
	.knobs = "boot.mitigations=auto",
	.by_hand = "take no_guest_host and no_guest_guest out of mitigations=, reboot",
	.check = check_vectors,
    },
    {
	.id = "security.vulnerable",
	.severity = ADVISE_WARN,
	.title = "The kernel calls this host vulnerable",
	.mechanism =
	    "The files in /sys/devices/system/cpu/vulnerabilities say so in the kernel's words; they are not judged "
	    "again here.",
	.effect = "data of one VM or of the host can leak to another",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "index.rst",
	.hurts = "mitigations cost time at kernel entries and VM exits",
	.by_hand = "grep . /sys/devices/system/cpu/vulnerabilities/*; then a newer kernel or firmware; take out a "
		   "kernel parameter "
		   "that switches the mitigation off",
	.check = check_vulnerable,
    },
    {
	.id = "security.microcode-missing",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD,
	.title = "A mitigation waits for newer microcode",
	.mechanism =
	    "The kernel has the code for the mitigation, but the CPU's microcode lacks the part that makes it work "
	    "(\"no microcode\" in the kernel's words).",
	.effect = "the host stays vulnerable until the microcode is updated",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "srso.rst",
	.hurts = "nothing known",
	.by_hand = "install amd64-microcode (Debian, Ubuntu), linux-firmware (Fedora, RHEL), ucode-amd (SUSE) or a "
		   "newer BIOS; "
		   "reboot",
	.check = check_no_microcode,
    },
    {
	.id = "security.old-microcode",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "The kernel knows of newer microcode",
	.mechanism = "Linux carries a list of microcode revisions and compares what runs.",
	.effect = "faults that newer microcode mends stay open",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "old_microcode.rst",
	.hurts = "nothing known",
	.by_hand = "update the microcode package or the BIOS, reboot",
	.check = check_old_microcode,
    },
    {
	.id = "security.microcode-mixed",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "CPUs run different microcode",
	.mechanism =
	    "All CPUs are meant to run one revision. An update that reached only some, or sockets with different "
	    "parts, leaves mitigations and behaviour mixed.",
	.effect = "unlike behaviour and safety from CPU to CPU",
	.basis = BASIS_REASONED,
	.source = "/proc/cpuinfo, microcode",
	.hurts = "nothing known",
	.by_hand = "grep microcode /proc/cpuinfo | sort | uniq -c; reboot with early microcode loading",
	.check = check_mixed_microcode,
    },
    {
	.id = "security.retbleed-ibpb",
	.severity = ADVISE_INFO,
	.title = "retbleed is mitigated by IBPB on each kernel entry",
	.mechanism =
	    "The branch predictor is flushed at each entry to the kernel, which VM exits and system calls do all the "
	    "time. Zen 1 and 2 have the cheaper untrained return thunk, older families do not.",
	.effect = "a large cost for system calls and VM exits; not measured here",
	.basis = BASIS_REPORTS,
	.source = "ClangBuiltLinux issue 1708",
	.hurts = "switching it off leaves the host open",
	.by_hand = "retbleed=unret where the family has it (Zen 1 and 2)",
	.experiment = "retbleed=ibpb against retbleed=unret on Zen 1 and 2",
	.check = check_retbleed_ibpb,
    },
    {
	.id = "security.srso-ibpb",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "SRSO is mitigated by IBPB on each kernel entry",
	.mechanism = "Safe RET is the kernel's choice on Zen 3 and 4; IBPB on each kernel entry is the costliest form, "
		     "chosen by "
		     "spec_rstack_overflow=ibpb or because Safe RET is not built in.",
	.effect = "a large cost for system calls and VM exits; not measured here",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "srso.rst",
	.hurts = "nothing known with current microcode",
	.knobs = "boot.spec_rstack_overflow=safe-ret",
	.by_hand =
	    "take spec_rstack_overflow=ibpb off the command line; ibpb-vmexit is for hosts whose users are trusted",
	.experiment = "spec_rstack_overflow=safe-ret against ibpb",
	.check = check_srso_ibpb,
    },
    {
	.id = "security.vmscape-cost",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "Exits from a VM to QEMU flush the branch predictor",
	.mechanism =
	    "The vmscape mitigation issues an IBPB before the first return to userspace after a VM ran. Devices that "
	    "QEMU emulates exit that way for each request; vhost and iothreads do not.",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "vmscape.rst",
	.hurts = "vmscape=off leaves QEMU's memory open to its guest",
	.experiment = "vhost instead of an emulated device; vmscape=ibpb against vmscape=off",
	.check = check_vmscape,
    },
    {
	.id = "security.smt-vulnerable",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "A mitigation does not hold between the threads of a core",
	.mechanism = "The kernel says \"SMT vulnerable\": two VMs that share a core may still read each other. Whole "
		     "cores for a "
		     "VM, core scheduling or nosmt close that.",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "index.rst",
	.hurts = "nosmt halves the threads",
	.by_hand = "give each VM whole cores, or echo off > /sys/devices/system/cpu/smt/control",
	.check = check_smt,
    },
    {
	.id = "security.retpolines-on-auto-ibrs",
	.severity = ADVISE_INFO,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Retpolines are used on a CPU that has Automatic IBRS",
	.mechanism =
	    "Zen 4 and later mitigate spectre_v2 in hardware (Automatic IBRS), which Linux takes by itself. Retpolines "
	    "stand there when a word chose them or the kernel is older than the feature.",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "spectre.rst",
	.hurts = "nothing known",
	.by_hand = "take spectre_v2= off the command line, or use a newer kernel",
	.experiment = "spectre_v2=auto against spectre_v2=retpoline",
	.check = check_retpolines,
    },
    {
	.id = "security.mitigation-bill",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "Mitigations that cost time",
	.mechanism = "These act at kernel entries, VM exits or indirect branches. Work inside a VM depends most on the "
		     "guest's own "
		     "mitigations, work on the host on the host's.",
	.effect = "host off: host work 15.5 % faster, a VM with its own on 1.3 %; VM off: 12 % with the host off, 14.2 "
		  "% with it on",
	.basis = BASIS_STUDY,
	.source = STUDY_A,
	.hurts = "switching them off is a risk wherever VMs do not trust each other",
	.experiment = "mitigations=auto against mitigations=off in a VM that trusts all it runs",
	.check = check_bill,
    },
    {
	.id = "security.none-vulnerable",
	.severity = ADVISE_GOOD,
	.title = "The kernel calls this host vulnerable to nothing it knows",
	.mechanism =
	    "Each file in /sys/devices/system/cpu/vulnerabilities says \"Not affected\" or names its mitigation.",
	.basis = BASIS_DOCUMENT,
	.source = HW_VULN "index.rst",
	.hurts = "nothing known",
	.check = check_fine,
    },
    {.id = NULL},
};

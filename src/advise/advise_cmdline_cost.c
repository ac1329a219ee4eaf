/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the rules about words of the kernel command line that do what they say, at a price: mitigations, idle states,
 * clocks, SMT, nested paging.
 */
#include "advise_cmdline.h"
#include "advise_words.h"

#define PARAMETERS "Linux Documentation/admin-guide/kernel-parameters.txt"

static void check_iommu_off(struct advise_check *c)
{
	static const char *const names[] = {"amd_iommu", "iommu"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct cmdline_word *word = advise_word(c, names[i]);

		if (word && word->value && text_has_word(word->value, ",", "off"))
			advise_at_word(c, advise_report(c, "%s switches the IOMMU off", word->text), word);
	}
}

static void check_mitigations_value(struct advise_check *c)
{
	const struct kernel_word *known = advise_kernel_word("mitigations");
	const struct cmdline_word *word;

	for (int at = 0; (word = advise_next_word(c, &at, "mitigations"));) {
		/* From 6.17 on attack vectors may follow: "auto,no_user_kernel", in its first form
		 * "auto;no_user_kernel". The part before them may be empty (auto). */
		const char *value = word->value ? word->value : "";
		const char *vectors = strstr(value, ",no_");
		size_t length = vectors ? (size_t)(vectors - value) : strcspn(value, ";");
		const char *before = advise_printf(c, "%.*s", (int)length, value);
		bool only_vectors = length == 0 && value[0];

		if (*value != '$' && !only_vectors && !text_has_word(known->values, " ", before))
			advise_at_word(
			    c, advise_report(c, "%s is not a value: the kernel stays with its default", word->text),
			    word);
	}
}

static void check_mitigations_mixed(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "mitigations");

	if (!word || !text_equal(word->value, "off"))
		return;
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *single = &c->cmdline->words[i];
		const struct kernel_word *known = single->for_init ? NULL : advise_kernel_word(single->name);

		if (!known || !(known->flags & WORD_MITIGATION) || !single->value || text_equal(single->value, "off"))
			continue;
		advise_note_text(c, c->cmdline->path, "%s", single->text);
		advise_at_word(
		    c, advise_report(c, "mitigations=off stands beside %s, which asks for one", single->text), single);
	}
}

static void check_nosmt(struct advise_check *c)
{
	for (int i = 0; i < c->cmdline->count; i++) {
		const struct cmdline_word *word = &c->cmdline->words[i];
		const struct kernel_word *known = word->for_init ? NULL : advise_kernel_word(word->name);
		bool is_nosmt = known && text_equal(known->name, "nosmt");
		bool by_mitigation = known && word->value && text_has_word(word->value, ",", "nosmt") &&
				     (text_equal(known->name, "mitigations") || text_equal(known->name, "retbleed"));

		if (!is_nosmt && !by_mitigation)
			continue;
		advise_forget(c);
		advise_note_text(c, c->cmdline->path, "%s", word->text);
		advise_at_word(c,
			       advise_report(c, "%s %s", word->text,
					     is_nosmt ? "takes the second thread of each core off line"
						      : "takes the second threads off line where a CPU needs it to be "
							"safe"),
			       word);
	}
}

static void check_tick(struct advise_check *c)
{
	static const char *const names[] = {"nohz", "highres"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct cmdline_word *word = advise_word(c, names[i]);

		if (word && text_equal(word->value, "off"))
			advise_at_word(c, advise_report(c, "%s keeps the periodic tick", word->text), word);
	}
}

static void check_clocksource(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "clocksource");

	if (word && word->value && text_has_word("hpet acpi_pm jiffies", " ", word->value))
		advise_at_word(c, advise_report(c, "%s: every look at the clock goes to a slow device", word->text),
			       word);
}

static void check_aspm(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "pcie_aspm");

	if (word && text_equal(word->value, "off"))
		advise_at_word(c, advise_report(c, "pcie_aspm=off leaves link power saving as the firmware set it"),
			       word);
	else if (word && text_equal(word->value, "force"))
		advise_at_word(
		    c, advise_report(c, "pcie_aspm=force turns link power saving on where devices say they lack it"),
		    word);
}

static void check_governor_in_active(struct advise_check *c)
{
	const struct cmdline_word *governor = advise_word(c, "cpufreq.default_governor");
	const struct cmdline_word *mode = advise_word(c, "amd_pstate");

	if (governor && governor->value && mode && text_equal(mode->value, "active") &&
	    text_has_word("schedutil ondemand conservative userspace", " ", governor->value))
		advise_at_word(c,
			       advise_report(c,
					     "%s has no effect beside amd_pstate=active, which has performance and "
					     "powersave only",
					     governor->text),
			       governor);
}

static void check_npt(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "kvm_amd.npt");

	if (word && word->value && text_has_word("0 n N off", " ", word->value))
		advise_at_word(c, advise_report(c, "%s switches nested paging off", word->text), word);
}

static void check_zerocopy(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "vhost_net.experimental_zcopytx");

	if (word && word->value && text_has_word("1 y Y", " ", word->value))
		advise_at_word(c, advise_report(c, "%s: zero-copy sending of vhost-net is on", word->text), word);
}

static void check_cpus_cut(struct advise_check *c)
{
	static const char *const names[] = {"maxcpus", "nr_cpus"};
	const struct cpuset *present;
	int64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		advise_forget(c);
		const struct cmdline_word *word = advise_word(c, names[i]);

		if (!word || !word->value || text_int(word->value, 0, &number) < 0 || number < 1)
			continue;
		/* nr_cpus cuts "present" too, so only the topology of a linted file's host can tell. */
		if (advise_cpus(c, &c->host->cpu.present, &present) && number < cpuset_count(present))
			advise_at_word(c,
				       advise_report(c, "%s leaves %d of %d CPUs unused", word->text,
						     (int)(cpuset_count(present) - number), cpuset_count(present)),
				       word);
	}
}

const struct advise_rule advise_cmdline_cost_rules[] = {
    {
	.id = "cmdline.iommu-off",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE,
	.title = "The IOMMU is switched off on the command line",
	.mechanism =
	    "Without it no device can be given to a VM (VFIO), AVIC cannot post device interrupts, and without "
	    "interrupt remapping CPUs with an APIC id above 254 cannot be used.",
	.effect = "users of a graphics APU saw 5 to 12 % from it; on a server iommu=pt gives most of that",
	.basis = BASIS_REPORTS,
	.source = "amd-strix-halo-toolboxes issue 66",
	.hurts = "with the IOMMU on: a little DMA overhead, near none with iommu=pt",
	.knobs = "boot.iommu=pt",
	.by_hand = "write iommu=pt instead",
	.experiment = "iommu=pt against amd_iommu=off on the workload itself",
	.check = check_iommu_off,
    },
    {
	.id = "cmdline.mitigations-value",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "mitigations= has a value that the kernel does not know",
	.mechanism =
	    "The values are off, auto and auto,nosmt, in newer kernels with attack vectors behind a semicolon.",
	.effect = "the default (auto) stays in force",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "nothing",
	.by_hand = "write mitigations=auto, mitigations=auto,nosmt or mitigations=off",
	.check = check_mitigations_value,
    },
    {
	.id = "cmdline.mitigations-contradict",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE,
	.title = "mitigations=off stands beside a single mitigation that is asked for",
	.mechanism = "The single word wins for its own mitigation, all others are off: rarely what was meant.",
	.effect = "one mitigation stays on",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "security, if the single word goes; time, if mitigations=off goes",
	.by_hand = "keep one of the two",
	.check = check_mitigations_mixed,
    },
    {
	.id = "cmdline.smt-off",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "SMT is switched off on the command line",
	.mechanism = "Half of the hardware threads are gone. Guests with threads=2 then get two cores for each pair.",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.check = check_nosmt,
    },
    {
	.id = "cmdline.periodic-tick",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE,
	.title = "nohz=off or highres=off keeps the periodic tick",
	.mechanism =
	    "Each CPU is woken up to HZ times a second also when idle, timers are rounded to the tick; on a host this "
	    "blocks deep idle, in a guest it makes exits.",
	.effect = "study B suggests it as a trial in guests that run databases and gives no figure; more power and "
		  "more exits "
		  "are certain",
	.basis = BASIS_REASONED,
	.source = "study B; Linux Documentation/timers/no_hz.rst",
	.hurts = "without the words: nothing known",
	.by_hand = "take the word out",
	.experiment = "the database's own benchmark with and without the words, in several boots",
	.check = check_tick,
    },
    {
	.id = "cmdline.slow-clocksource",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "A slow clock source is forced",
	.mechanism =
	    "TSC is read in the CPU without a system call; HPET and the ACPI timer are devices behind the chipset, and "
	    "KVM's pvclock for guests needs TSC.",
	.effect = "every gettimeofday() becomes a system call with a device access",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/virt/kvm/x86/timekeeping.rst",
	.hurts = "a machine whose TSC is really unstable needs the word; the kernel finds that out by itself",
	.by_hand = "take the word out",
	.check = check_clocksource,
    },
    {
	.id = "cmdline.aspm",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "PCIe link power management is set on the command line",
	.mechanism =
	    "off keeps the kernel's hands away, so the firmware's choice stays; force uses it also where devices "
	    "declare that they cannot, which has hung machines.",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.check = check_aspm,
    },
    {
	.id = "cmdline.governor-in-active-mode",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE,
	.title = "A default governor that amd_pstate=active does not have",
	.mechanism =
	    "In active mode the hardware chooses the frequency by EPP; there are only the governors performance and "
	    "powersave.",
	.effect = "none of what was asked for",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/pm/amd-pstate.rst",
	.hurts = "nothing",
	.by_hand = "take the governor out, or use amd_pstate=passive",
	.check = check_governor_in_active,
    },
    {
	.id = "cmdline.npt-off",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "Nested paging is switched off",
	.mechanism = "KVM then keeps shadow page tables: every change of a guest's page tables exits to the host.",
	.effect = "heavy loss in anything that maps memory or switches processes",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/virt/kvm/x86/mmu.rst",
	.hurts = "nothing",
	.knobs = "boot.kvm_amd.npt=absent",
	.by_hand = "take kvm_amd.npt=0 out",
	.check = check_npt,
    },
    {
	.id = "cmdline.vhost-zerocopy",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "Zero-copy sending of vhost-net is on",
	.mechanism = "It saves a copy for large packets that leave the host and is off by default, because a "
		     "slow receiver can hold a guest's buffers.",
	.basis = BASIS_REASONED,
	.source = "Linux drivers/vhost/net.c",
	.check = check_zerocopy,
    },
    {
	.id = "cmdline.cpus-cut",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "The command line leaves CPUs unused",
	.mechanism =
	    "maxcpus= and nr_cpus= stop bringing CPUs up at that number, in the order of the firmware: often whole L3 "
	    "groups or the second threads are missing.",
	.effect = "the CPUs that are left out do no work",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "power of the CPUs that come back",
	.by_hand = "take the word out",
	.check = check_cpus_cut,
    },
    {.id = NULL},
};

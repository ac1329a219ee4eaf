/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about idle states that boot words, the firmware or the lack of a driver decide. */
#include <inttypes.h>

#include "advise_check.h"

/* The number of processor.max_cstate=N when it keeps C2 away, else -1. Also spelt without the module by some. */
static int64_t max_cstate(struct advise_check *c, const struct cmdline_word **ret_word)
{
	static const char *const names[] = {"processor.max_cstate", "max_cstate"};
	int64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct cmdline_word *word = advise_word(c, names[i]);

		if (!word || !word->value || text_int(word->value, 10, &number) < 0 || number < 0 || number > 1)
			continue;
		*ret_word = word;
		return number;
	}
	return -1;
}

static bool idle_is(struct advise_check *c, const char *value, const struct cmdline_word **ret_word)
{
	*ret_word = cmdline_last(c->cmdline, "idle");
	if (!*ret_word || !text_equal((*ret_word)->value, value))
		return false;
	return advise_word(c, "idle") != NULL;
}

static void report_word(struct advise_check *c, const struct cmdline_word *word, const char *title)
{
	struct advise_finding *finding = advise_report(c, "%s", title);

	advise_at_word(c, finding, word);
	finding->by_hand = advise_boot_command(c, NULL, word->text);
}

static void check_max_cstate(struct advise_check *c)
{
	const struct cmdline_word *word;
	int64_t number = max_cstate(c, &word);

	if (number < 0)
		return;
	const struct idle_state *deepest = c->subject->cmdline ? NULL : host_idle_deepest(&c->host->idle);

	if (deepest)
		(void)advise_note(c, &deepest->name);
	report_word(
	    c, word,
	    advise_printf(c, "%s keeps C2 away: an old work-around for freezes that costs idle power", word->text));
}

static void check_nomwait(struct advise_check *c)
{
	const struct cmdline_word *word;

	if (idle_is(c, "nomwait", &word))
		report_word(c, word, "idle=nomwait takes MWAIT away from the idle states and may raise idle power");
}

static void check_poll(struct advise_check *c)
{
	const struct cmdline_word *word;

	if (idle_is(c, "poll", &word))
		report_word(c, word, "idle=poll: idle CPUs run a busy loop and never sleep");
	else if (idle_is(c, "halt", &word))
		report_word(c, word, "idle=halt: idle CPUs go no deeper than C1");
}

/* Does the command line itself explain why there is no deep state, or no driver? */
static bool words_explain(struct advise_check *c)
{
	static const char *const words[] = {"processor.max_cstate", "max_cstate", "idle", "cpuidle.off", "acpi"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (cmdline_last(&c->host->cmdline, words[i]))
			return true;
	return false;
}

static void check_only_c1(struct advise_check *c)
{
	const struct idle_state *deepest = host_idle_deepest(&c->host->idle);
	int64_t latency_us;

	if (!deepest || deepest->polls || deepest->number > 1 || words_explain(c) ||
	    !advise_number(c, &deepest->latency_us, &latency_us) || latency_us > 10)
		return;
	(void)advise_note(c, &deepest->name);
	(void)advise_note(c, &c->host->idle.driver);
	(void)advise_report(c, "The deepest idle state that the firmware offers is %s (%" PRId64 " us)",
			    fact_text_or(&deepest->name, "C1"), latency_us);
}

static void check_no_driver(struct advise_check *c)
{
	const struct host_idle *idle = &c->host->idle;
	const struct cmdline_word *off = advise_word(c, "cpuidle.off");
	const struct cmdline_word *sleepless;
	struct advise_finding *finding;

	if (c->subject->cmdline) {
		if (off && text_equal(off->value, "1"))
			report_word(c, off, "cpuidle.off=1 leaves no idle driver: idle CPUs only halt (C1)");
		return;
	}
	/* idle.idle-poll says it with the word. */
	if (idle_is(c, "poll", &sleepless) || idle_is(c, "halt", &sleepless))
		return;
	/* "none" in the file: a copy without the file says nothing. */
	if (idle->driver.state != FACT_ABSENT || !idle->driver.note || idle->state_count)
		return;
	(void)advise_note(c, &idle->driver);
	finding = advise_report(c, "No idle driver runs: idle CPUs only halt (C1)");
	if (off)
		finding->by_hand = advise_boot_command(c, NULL, off->text);
}

const struct advise_rule advise_idle_boot_rules[] = {
    {
	.id = "idle.max-cstate-cmdline",
	.severity = ADVISE_WARN,
	.needs = JUDGES_WORDS | NEEDS_AMD | NEEDS_METAL | NEEDS_CMDLINE,
	.title = "processor.max_cstate on the command line keeps C2 away",
	.mechanism = "processor.max_cstate=1 leaves C1 only. It was advised when first Ryzen systems froze at idle; "
		     "those freezes "
		     "had other cures since (firmware, the BIOS option Typical Current Idle).",
	.effect = "idle watts and boost headroom: keeping C2 away cost 75 to 89 W on an EPYC 9354P",
	.basis = BASIS_STUDY,
	.source = "study A; MCE-Ryzen-Decoder issue 2; Linux Documentation/admin-guide/kernel-parameters.txt",
	.hurts = "wake-up latency; on a first-generation part that froze, set Typical Current Idle in the BIOS first",
	.knobs = "boot.processor.max_cstate=absent",
	.by_hand = "take processor.max_cstate off the kernel command line",
	.check = check_max_cstate,
    },
    {
	.id = "idle.nomwait-cmdline",
	.severity = ADVISE_ADVICE,
	.needs = JUDGES_WORDS | NEEDS_AMD | NEEDS_METAL | NEEDS_CMDLINE,
	.title = "idle=nomwait on the command line",
	.mechanism = "idle=nomwait forbids the MWAIT instruction for idle states: C1 is then entered with HLT, and "
		     "states that need "
		     "MWAIT are gone. It comes from the same old recipes as max_cstate.",
	.effect = "may raise idle power; how much depends on how the firmware describes its states",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.txt",
	.hurts = "nothing known",
	.knobs = "boot.idle=absent",
	.by_hand = "take idle=nomwait off the kernel command line",
	.experiment = "idle watts with and without it",
	.check = check_nomwait,
    },
    {
	.id = "idle.idle-poll",
	.severity = ADVISE_WARN,
	.needs = JUDGES_WORDS | NEEDS_AMD | NEEDS_METAL | NEEDS_CMDLINE,
	.title = "The command line keeps idle CPUs from sleeping",
	.mechanism = "idle=poll replaces sleep by a busy loop: best wake-up latency, full power, less boost for busy "
		     "cores, and the "
		     "sibling thread of each idle one is slowed. idle=halt stops at C1 and turns cpuidle off.",
	.effect = "all idle power savings are gone with poll, those of C2 with halt",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.txt",
	.hurts = "wake-up latency",
	.knobs = "boot.idle=absent",
	.by_hand = "take idle=poll off the kernel command line; for a few CPUs use pm_qos_resume_latency_us instead",
	.check = check_poll,
    },
    {
	.id = "idle.only-c1",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "The firmware offers no idle state below C1",
	.mechanism = "C2 (CC6 in hardware) appears only when the BIOS option Global C-state Control is on. Without it "
		     "idle cores "
		     "clock on in C1, draw power and leave less of it for the boost of the busy ones.",
	.effect = "idle watts and boost headroom: keeping C2 away cost 75 to 89 W on an EPYC 9354P",
	.basis = BASIS_STUDY,
	.source = "study A; Linux Documentation/admin-guide/pm/cpuidle.rst",
	.hurts = "wake-up latency of idle vCPUs; some keep it off on purpose",
	.by_hand = "BIOS set-up: Advanced > AMD CBS > CPU Common Options > Global C-state Control = Enabled",
	.experiment = "idle watts and a one-threaded benchmark with the option on and off",
	.check = check_only_c1,
    },
    {
	.id = "idle.no-cpuidle-driver",
	.severity = ADVISE_WARN,
	.needs = JUDGES_WORDS | NEEDS_AMD | NEEDS_METAL,
	.title = "No idle driver runs",
	.mechanism = "acpi_idle tells the kernel about C2. Without any driver (cpuidle.off=1, idle=poll or halt, ACPI "
		     "off) an idle "
		     "CPU only halts, which is C1.",
	.effect = "idle watts and boost headroom, as when C2 is shut out",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/pm/cpuidle.rst",
	.hurts = "wake-up latency of idle vCPUs",
	.knobs = "boot.cpuidle.off=absent",
	.by_hand = "cat /sys/devices/system/cpu/cpuidle/current_driver; look for cpuidle.off=1, idle= and acpi= on the "
		   "command line",
	.check = check_no_driver,
    },
    {.id = NULL},
};

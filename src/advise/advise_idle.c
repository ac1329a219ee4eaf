/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about idle states at run time: latency requests, disabled states, the idle governor. */
#include <ctype.h>
#include <inttypes.h>

#include "advise_check.h"

/* "C2" of the state, or "state 2". */
static const char *state_name(struct advise_check *c, const struct idle_state *state)
{
	return fact_known(&state->name) && *state->name.text ? state->name.text
							     : advise_printf(c, "state %d", state->number);
}

/* "C2 needs 400 us": each sleeping state whose latency is above the limit; *ret_first is the shallowest of them. */
static const char *shut_states(struct advise_check *c, int64_t limit_us, const struct idle_state **ret_first)
{
	const char *text = NULL;

	for (int i = 0; i < c->host->idle.state_count; i++) {
		const struct idle_state *state = &c->host->idle.states[i];

		if (state->polls || fact_number_or(&state->latency_us, 0) <= limit_us)
			continue;
		(void)advise_note(c, &state->latency_us);
		if (!text)
			*ret_first = state;
		text = advise_printf(c, "%s%s%s needs %s", text ? text : "", text ? ", " : "", state_name(c, state),
				     fact_shown(c->arena, &state->latency_us));
	}
	return text;
}

/* "tuned (pid 911, profile virtual-host), qemu (pid 12)", or what is known instead. */
static const char *holders(struct advise_check *c)
{
	const struct host_idle *idle = &c->host->idle;
	const struct fact *profile = &c->host->daemons.tuned.active_profile;
	const char *text = NULL;

	for (int i = 0; i < MIN_OF(idle->holder_count, 6); i++) {
		const struct idle_holder *holder = &idle->holders[i];
		bool tuned = text_equal(holder->command, "tuned") && fact_known(profile) && *profile->text;

		text = advise_printf(c, "%s%s%s (pid %d%s%s)", text ? text : "", text ? ", " : "", holder->command,
				     holder->pid, tuned ? ", profile " : "", tuned ? profile->text : "");
	}
	if (text) {
		advise_note_text(c, "/proc/*/fd", "open in %s", text);
		return advise_printf(c, "held by %s", text);
	}
	if (fact_known(profile) && *profile->text) {
		(void)advise_note(c, profile);
		return advise_printf(c, "tuned profile %s is active", profile->text);
	}
	return idle->holders_state.state == FACT_UNREADABLE ? "root would tell who holds it"
							    : "who holds it is not known";
}

/* Is it tuned that holds it, or probably so? */
static bool by_tuned(const struct advise_check *c)
{
	const struct host_idle *idle = &c->host->idle;
	const struct fact *profile = &c->host->daemons.tuned.active_profile;

	for (int i = 0; i < idle->holder_count; i++)
		if (text_equal(idle->holders[i].command, "tuned"))
			return true;
	return !idle->holder_count && fact_known(profile) && *profile->text;
}

static bool held_latency(struct advise_check *c, int64_t *ret_us)
{
	return advise_number(c, &c->host->idle.dma_latency_us, ret_us) && *ret_us < IDLE_LATENCY_NO_REQUEST;
}

/*
 * Whoever does `echo 100 > /dev/cpu_dma_latency` writes the 4 bytes "100\n", which the kernel takes as a binary number
 * (kernel/power/qos.c). Returns the text that was meant, or NULL.
 */
static const char *written_as_text(struct advise_check *c, int64_t held_us)
{
	char text[5] = {0};
	uint32_t bits = (uint32_t)held_us;

	for (int i = 0; i < 4; i++)
		text[i] = (char)(bits >> (8 * i) & 0xff);
	for (int i = 0; i < 3; i++)
		if (!isdigit((unsigned char)text[i]))
			return NULL;
	if (text[3] != '\n' && !isdigit((unsigned char)text[3]))
		return NULL;
	return text[3] == '\n' ? advise_printf(c, "%.3s", text) : advise_printf(c, "%s", text);
}

static void check_shut_out(struct advise_check *c)
{
	const struct idle_state *first = NULL;
	const struct host_tuned *tuned = &c->host->daemons.tuned;
	const struct host_idle *idle = &c->host->idle;
	int64_t held_us;

	if (!held_latency(c, &held_us))
		return;
	const char *shut = shut_states(c, held_us, &first);

	if (!shut)
		return;
	const char *who = holders(c);
	bool only_polls = first->number <= 1;
	struct advise_finding *finding =
	    only_polls
		? advise_report(c, "No core can sleep at all: wake-up latency is held to %" PRId64 " us", held_us)
		: advise_report(c, "No core can enter %s: wake-up latency is held to %" PRId64 " us",
				state_name(c, first), held_us);

	finding->detail = advise_printf(c, "%s; %s on this CPU", who, shut);
	if (!by_tuned(c)) {
		finding->knobs = NULL;
		finding->by_hand = idle->holder_count
				       ? advise_printf(c,
						       "end or reconfigure %s, or give the limit to the CPUs that "
						       "need it: pm_qos_resume_latency_us",
						       idle->holders[0].command)
				       : "fuser -v /dev/cpu_dma_latency, as root, names the holder";
	}
	/* Up to 2.21 tuned asks for 100 us by itself whenever the load is above 0.2 (tuned issue 588). */
	if (held_us == 100 && fact_is_on(&tuned->dynamic_tuning)) {
		finding->detail = advise_printf(c, "%s; tuned's dynamic tuning asks for 100 us at any load above 0.2",
						finding->detail);
		finding->knobs = NULL;
		finding->by_hand = "set dynamic_tuning = 0 in /etc/tuned/tuned-main.conf; systemctl restart tuned";
	}
}

static void check_no_request(struct advise_check *c)
{
	int64_t held_us;

	if (advise_number(c, &c->host->idle.dma_latency_us, &held_us) && held_us == IDLE_LATENCY_NO_REQUEST)
		(void)advise_report(c, "No latency request is active (2000000000 us is the kernel's default)");
}

static void check_harmless_request(struct advise_check *c)
{
	const struct idle_state *first = NULL, *deepest = host_idle_deepest(&c->host->idle);
	int64_t held_us;

	if (!held_latency(c, &held_us) || !deepest || !fact_known(&deepest->latency_us) ||
	    shut_states(c, held_us, &first) || written_as_text(c, held_us))
		return;
	(void)advise_note(c, &deepest->latency_us);
	(void)advise_report(c, "A latency request of %" PRId64 " us is held and shuts out no state", held_us);
}

static void check_written_as_text(struct advise_check *c)
{
	int64_t held_us;

	if (!held_latency(c, &held_us))
		return;
	const char *meant = written_as_text(c, held_us);

	if (!meant)
		return;
	struct advise_finding *finding =
	    advise_report(c, "A latency request was written as the text \"%s\" and counts as %" PRId64 " s", meant,
			  held_us / 1000000);

	finding->detail = holders(c);
}

static void check_implausible(struct advise_check *c)
{
	const struct fact *held = &c->host->idle.dma_latency_us;

	if (held->state != FACT_IMPLAUSIBLE)
		return;
	(void)advise_note(c, held);
	(void)advise_report(c, "The latency request cannot be understood: %s", held->note);
}

static void check_disabled(struct advise_check *c)
{
	struct cpuset online = *host_cpu_online(c->host);

	for (int i = 0; i < c->host->idle.state_count; i++) {
		const struct idle_state *state = &c->host->idle.states[i];

		advise_forget(c);
		if (cpuset_empty(&state->disabled_on) || fact_is_text(&state->default_status, "disabled"))
			continue;
		bool all = cpuset_empty(&online) || cpuset_subset(&online, &state->disabled_on);

		advise_note_text(
		    c, advise_printf(c, "/sys/devices/system/cpu/cpu*/cpuidle/state%d/disable", state->number),
		    "1 on CPUs %s", advise_cpu_list(c, &state->disabled_on));
		struct advise_finding *finding =
		    all ? advise_report(c, "Idle state %s is disabled on all CPUs", state_name(c, state))
			: advise_report_as(c, ADVISE_ADVICE, "Idle state %s is disabled on CPUs %s",
					   state_name(c, state), advise_cpu_list(c, &state->disabled_on));

		finding->knobs = advise_printf(c, "idle.%d=on", state->number);
	}
}

static void check_resume(struct advise_check *c)
{
	const struct host_idle *idle = &c->host->idle;
	const struct idle_state *deepest = host_idle_deepest(idle);
	const char *limit;

	if (cpuset_empty(&idle->resume_limited_on) || !advise_text(c, &idle->resume_latency, &limit))
		return;
	int64_t limit_us = 0;

	if (!text_equal(limit, "n/a") && text_int(limit, 10, &limit_us) < 0)
		return;
	const char *shown = text_equal(limit, "n/a") ? "n/a (no sleep at all)" : advise_printf(c, "%s us", limit);
	bool shuts = deepest && fact_number_or(&deepest->latency_us, 0) > limit_us;

	if (deepest)
		(void)advise_note(c, &deepest->latency_us);
	struct advise_finding *finding =
	    advise_report_as(c, shuts ? ADVISE_ADVICE : ADVISE_INFO, "CPUs %s have a resume latency limit of %s",
			     advise_cpu_list(c, &idle->resume_limited_on), shown);

	if (shuts)
		finding->detail = advise_printf(c, "%s needs %s: these CPUs do not enter it", state_name(c, deepest),
						fact_shown(c->arena, &deepest->latency_us));
}

static void check_governor(struct advise_check *c)
{
	const char *governor;

	if (!advise_text(c, &c->host->idle.governor, &governor))
		return;
	bool guest = host_is_guest(c->host);

	if (guest)
		(void)advise_note(c, &c->host->os.hypervisor);
	if (text_equal(governor, "haltpoll") && guest)
		(void)advise_report_as(c, ADVISE_INFO, "Idle governor haltpoll: right in a guest");
	else if (text_equal(governor, "haltpoll"))
		(void)advise_report(c, "Idle governor haltpoll runs on a host: it polls before each sleep");
	else if (text_equal(governor, "ladder") && !guest)
		(void)advise_report(c, "Idle governor ladder goes to sleep step by step");
}

static void check_all_allowed(struct advise_check *c)
{
	const struct host_idle *idle = &c->host->idle;
	const struct idle_state *deepest = host_idle_deepest(idle);
	const struct cpuset *online = host_cpu_online(c->host);
	int64_t latency_us;

	/* Two sleeping states at least: POLL, C1 and one that saves. */
	if (!deepest || idle->state_count < 3 || cpuset_empty(online) || !fact_known(&idle->dma_latency_us) ||
	    !advise_number(c, &deepest->latency_us, &latency_us) || !cpuset_subset(online, &deepest->allowed_on))
		return;
	(void)advise_note(c, &idle->dma_latency_us);
	(void)advise_report(c, "All CPUs may enter %s, the deepest idle state", state_name(c, deepest));
}

const struct advise_rule advise_idle_rules[] = {
    {
	.id = "idle.c2-shut-out",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "A latency request shuts the deep idle states out",
	.mechanism =
	    "While a process holds /dev/cpu_dma_latency at N us, no core of the host enters a state whose wake-up "
	    "takes "
	    "longer. EPYC has only C1 and C2, and C2 takes hundreds of microseconds: idle cores stay in C1, draw power "
	    "and leave less of it for the boost of the busy ones.",
	.effect =
	    "costs idle watts (study A measured 75 to 89 W more with profile virtual-host, which holds 70 us and sets "
	    "governor performance) and boost headroom; shortens wake-ups",
	.basis = BASIS_STUDY,
	.source = "study A (EPYC 9354P, at the wall); tuned issues 588, 808 and 132",
	.hurts = "wake-up latency of idle vCPUs grows from about 1 us to that of the state",
	.knobs = "tuned.profile=throughput-performance",
	.by_hand = "tuned-adm profile throughput-performance; or end the process that holds the file",
	.experiment = "now against tuned.profile=throughput-performance, at idle and with the real VMs",
	.check = check_shut_out,
    },
    {
	.id = "idle.state-disabled",
	.severity = ADVISE_WARN,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "An idle state was disabled by hand",
	.mechanism =
	    "The file disable of an idle state keeps a CPU out of it until the next boot. Latency guides and benchmark "
	    "scripts write it and leave it; nothing shows it but this file.",
	.effect = "idle watts and boost headroom, as with a latency request that shuts the state out",
	.basis = BASIS_DOCUMENT,
	.source =
	    "Linux Documentation/admin-guide/pm/cpuidle.rst; study A for the size (75 to 89 W on a whole EPYC 9354P)",
	.hurts = "wake-up latency of idle vCPUs",
	.knobs = "idle.C2=on",
	.by_hand = "cpupower idle-set -E; or echo 0 | tee /sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
	.check = check_disabled,
    },
    {
	.id = "idle.resume-latency",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "Some CPUs have a wake-up latency limit of their own",
	.mechanism =
	    "pm_qos_resume_latency_us limits the idle states of one CPU, and stays until it is written again or the "
	    "host "
	    "reboots. It is the right tool for the CPUs of one latency-sensitive VM, and a leftover on others.",
	.effect = "these CPUs idle in shallower states: watts for wake-up latency",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/ABI/testing/sysfs-devices-power",
	.hurts = "wake-up latency of these CPUs",
	.knobs = "latency=0",
	.by_hand = "echo 0 | tee /sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us",
	.check = check_resume,
    },
    {
	.id = "idle.governor",
	.severity = ADVISE_ADVICE,
	.title = "The idle governor does not fit the machine",
	.mechanism =
	    "menu and teo choose the state by the expected sleep. haltpoll polls a while first, which spares a guest "
	    "exits "
	    "and costs a host watts; ladder goes one state deeper at a time and was made for kernels with a tick.",
	.effect = "not known in general",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/pm/cpuidle.rst; Documentation/virt/guest-halt-polling.rst",
	.hurts = "nothing known",
	.knobs = "boot.cpuidle.governor=absent",
	.by_hand =
	    "echo menu > /sys/devices/system/cpu/cpuidle/current_governor; take cpuidle.governor= off the command line",
	.experiment = "now against the idle governor menu, at idle and under load",
	.check = check_governor,
    },
    {
	.id = "idle.latency-written-as-text",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "A latency request was written as text",
	.mechanism =
	    "/dev/cpu_dma_latency takes 4 binary bytes. The text of three digits and a newline is 4 bytes too, and is "
	    "taken as a number of seconds: a request that was meant to hold the latency down holds nothing.",
	.effect = "the latency that was asked for is not held",
	.basis = BASIS_DOCUMENT,
	.source = "Linux kernel/power/qos.c",
	.hurts = "a request that works costs idle watts",
	.by_hand =
	    "write an int of 4 bytes and keep the file open: exec 3> /dev/cpu_dma_latency; printf '\\144\\0\\0\\0' >&3",
	.check = check_written_as_text,
    },
    {
	.id = "idle.latency-implausible",
	.severity = ADVISE_ADVICE,
	.title = "The latency request cannot be understood",
	.mechanism = "The file holds one binary number of 4 bytes between 0 and 2000000000. Anything else was not "
		     "copied as it was, "
		     "so that nothing is said about idle states here.",
	.effect = "none on the host; findings about idle states are missing",
	.basis = BASIS_DOCUMENT,
	.source = "Linux kernel/power/qos.c",
	.hurts = "nothing known",
	.by_hand = "od -A n -t d4 /dev/cpu_dma_latency",
	.check = check_implausible,
    },
    {
	.id = "idle.latency-request-harmless",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "A latency request is held and shuts out nothing",
	.mechanism =
	    "A request forbids only states whose latency is above it. On CPUs with quick states, or with a generous "
	    "request, it changes nothing.",
	.source = "Linux drivers/cpuidle/governor.c",
	.by_hand = "od -A n -t d4 /dev/cpu_dma_latency; grep . /sys/devices/system/cpu/cpu0/cpuidle/state*/latency",
	.check = check_harmless_request,
    },
    {
	.id = "idle.latency-default",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_METAL,
	.title = "No latency request is active",
	.mechanism = "2000000000 us is what the kernel says when no process asks for a wake-up latency; nothing is "
		     "shut out by it.",
	.source = "Linux include/linux/pm_qos.h, PM_QOS_CPU_LATENCY_DEFAULT_VALUE",
	.check = check_no_request,
    },
    {
	.id = "idle.deepest-allowed",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_AMD | NEEDS_METAL,
	.title = "All CPUs may enter the deepest idle state",
	.mechanism = "Neither a latency request nor a limit per CPU nor a disabled state keeps a core awake: idle "
		     "cores save power "
		     "and leave it to busy ones.",
	.source = "Linux drivers/cpuidle/governor.c",
	.check = check_all_allowed,
    },
    {.id = NULL},
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_idle.h. */
#include "host_idle.h"

#include <errno.h>
#include <inttypes.h>

#include "host.h"
#include "text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define LATENCY_FILE "/dev/cpu_dma_latency"

/* The kernel has at most 10 states (CPUIDLE_STATE_MAX); a foreign tree may claim more. */
enum { STATES_MAX = 16 };

/* Open files looked at in the search for holders; beyond that the search is called incomplete. */
enum { HOLDERS_MAX = 64, FDS_MAX = 100000, PIDS_MAX = 65536 };

/* "none" is what the kernel says when there is no driver. */
static struct fact read_name(struct host *host, const char *name, const char *path)
{
	struct fact fact = fact_read_text(host->arena, host->sys, name, "%s", path);

	if (fact_is_text(&fact, "none") || fact_is_text(&fact, "")) {
		fact = fact_absent(name, fact.source);
		fact.note = "none";
	}
	return fact;
}

/* The file holds one binary s32 (kernel/power/qos.c); anything else was not copied as it is. */
static struct fact read_dma_latency(struct host *host)
{
	const struct sys_look *look = sys_read(host->sys, LATENCY_FILE);
	int32_t held_us;

	if (look->state != SYS_VALUE)
		return fact_of_look("idle.dma_latency", look);
	if (look->size != sizeof(held_us))
		return fact_implausible("idle.dma_latency", look->path, "", "not a binary number of 4 bytes");
	memcpy(&held_us, look->data, sizeof(held_us));
	struct fact fact = fact_number("idle.dma_latency", UNIT_US, held_us, look->path);

	fact.raw = arena_printf(host->arena, "%" PRId32, held_us);
	if (held_us < 0)
		return fact_implausible(fact.name, fact.source, fact.raw, "negative");
	if (held_us > IDLE_LATENCY_NO_REQUEST)
		return fact_implausible(fact.name, fact.source, fact.raw, "above the kernel's own default of 2000 s");
	if (held_us == IDLE_LATENCY_NO_REQUEST)
		fact.note = "nobody asks";
	return fact;
}

static void read_states(struct host *host, int cpu)
{
	struct host_idle *idle = &host->idle;
	const char *dir = arena_printf(host->arena, CPU_DIR "/cpu%d/cpuidle", cpu);
	const struct sys_look *look = sys_list(host->sys, "%s", dir);
	struct arena *arena = host->arena;
	struct sys *sys = host->sys;

	idle->states = ARENA_ARRAY(arena, STATES_MAX, struct idle_state);
	for (size_t i = 0; look->state == SYS_VALUE && i < look->size && idle->state_count < STATES_MAX; i++) {
		struct idle_state *state = &idle->states[idle->state_count];
		int64_t number;

		if (!text_starts(look->names[i], "state") ||
		    text_int(look->names[i] + strlen("state"), 10, &number) < 0 || number < 0 || number > 1000)
			continue;
		int k = (int)number;

		*state = (struct idle_state){.number = k};
		state->name = fact_read_text(arena, sys, "idle.name", "%s/state%d/name", dir, k);
		state->desc = fact_read_text(arena, sys, "idle.desc", "%s/state%d/desc", dir, k);
		state->latency_us = fact_read_number(arena, sys, UNIT_US, "idle.latency", "%s/state%d/latency", dir, k);
		state->residency_us =
		    fact_read_number(arena, sys, UNIT_US, "idle.residency", "%s/state%d/residency", dir, k);
		state->usage = fact_read_number(arena, sys, UNIT_COUNT, "idle.usage", "%s/state%d/usage", dir, k);
		state->time_us = fact_read_number(arena, sys, UNIT_US, "idle.time", "%s/state%d/time", dir, k);
		state->polls = fact_is_text(&state->name, "POLL");
		idle->state_count++;
	}
}

/* One read per CPU and state; a state that the first CPU has no switch for has none anywhere. */
static void read_disabled(struct host *host, const struct cpuset *cpus)
{
	for (int i = 0; i < host->idle.state_count; i++) {
		struct idle_state *state = &host->idle.states[i];

		if (state->polls)
			continue;
		CPUSET_FOREACH (cpu, cpus) {
			struct fact off =
			    fact_read_switch(host->arena, host->sys, "idle.disable",
					     CPU_DIR "/cpu%d/cpuidle/state%d/disable", cpu, state->number);

			if (off.state == FACT_ABSENT && cpu == cpuset_first(cpus))
				break;
			if (fact_is_on(&off))
				cpuset_add(&state->disabled_on, cpu);
		}
		if (!cpuset_empty(&state->disabled_on))
			state->default_status = fact_read_text(host->arena, host->sys, "idle.default_status",
							       CPU_DIR "/cpu%d/cpuidle/state%d/default_status",
							       cpuset_first(&state->disabled_on), state->number);
	}
}

/* "0" is no limit, "n/a" allows no sleep at all (drivers/base/power/sysfs.c). */
static int64_t resume_limit_us(const struct fact *fact)
{
	int64_t limit_us;

	if (!fact_known(fact) || fact_is_text(fact, "0"))
		return INT64_MAX;
	if (fact_is_text(fact, "n/a"))
		return 0;
	return text_int(fact->text, 10, &limit_us) == 0 && limit_us >= 0 ? limit_us : INT64_MAX;
}

/* Read the per-CPU limits and conclude where each state is allowed. */
static void read_allowed(struct host *host, const struct cpuset *cpus)
{
	struct host_idle *idle = &host->idle;
	int64_t dma_us = fact_number_or(&idle->dma_latency_us, INT64_MAX);
	bool limits_here = true;

	idle->resume_latency = fact_absent("idle.resume_latency", CPU_DIR "/cpu*/power/pm_qos_resume_latency_us");
	CPUSET_FOREACH (cpu, cpus) {
		int64_t limit_us = INT64_MAX;

		if (limits_here) {
			struct fact resume = fact_read_text(host->arena, host->sys, "idle.resume_latency",
							    CPU_DIR "/cpu%d/power/pm_qos_resume_latency_us", cpu);

			limits_here = resume.state != FACT_ABSENT || cpu != cpuset_first(cpus);
			limit_us = resume_limit_us(&resume);
			if (limit_us != INT64_MAX && cpuset_empty(&idle->resume_limited_on))
				idle->resume_latency = resume;
			if (limit_us != INT64_MAX)
				cpuset_add(&idle->resume_limited_on, cpu);
		}
		limit_us = MIN_OF(limit_us, dma_us);
		for (int i = 0; i < idle->state_count; i++) {
			struct idle_state *state = &idle->states[i];

			if (fact_number_or(&state->latency_us, 0) <= limit_us && !cpuset_has(&state->disabled_on, cpu))
				cpuset_add(&state->allowed_on, cpu);
		}
	}
	for (int i = 0; i < idle->state_count; i++)
		idle->states[i].allowed = !cpuset_empty(&idle->states[i].allowed_on);
}

/* ---- who holds a request: open files that are the device ---- */

struct holder_search {
	struct host *host;
	int fd_count, pid_count;
	int refused; /* processes whose files could not be listed */
	bool stopped;
};

static bool is_holder(const struct host_idle *idle, int pid)
{
	for (int i = 0; i < idle->holder_count; i++)
		if (idle->holders[i].pid == pid)
			return true;
	return false;
}

static void add_holder(struct host *host, int pid)
{
	struct fact comm = fact_read_text(host->arena, host->sys, "idle.holder", "/proc/%d/comm", pid);

	if (host->idle.holder_count < HOLDERS_MAX)
		host->idle.holders[host->idle.holder_count++] =
		    (struct idle_holder){.pid = pid, .command = fact_text_or(&comm, "?")};
}

static void search_process(struct holder_search *search, int pid)
{
	struct host *host = search->host;
	const struct sys_look *files = sys_list(host->sys, "/proc/%d/fd", pid);

	if (files->state == SYS_UNREADABLE)
		search->refused++;
	if (files->state != SYS_VALUE || is_holder(&host->idle, pid))
		return;
	for (size_t i = 0; i < files->size; i++) {
		if (++search->fd_count > FDS_MAX) {
			search->stopped = true;
			return;
		}
		const struct sys_look *link = sys_link(host->sys, "/proc/%d/fd/%s", pid, files->names[i]);

		if (link->state == SYS_VALUE && text_equal(link->data, LATENCY_FILE)) {
			add_holder(host, pid);
			return;
		}
	}
}

static void search_all(struct holder_search *search)
{
	const struct sys_look *processes = sys_list(search->host->sys, "/proc");

	for (size_t i = 0; processes->state == SYS_VALUE && i < processes->size && !search->stopped; i++) {
		int64_t pid;

		if (text_int(processes->names[i], 10, &pid) < 0 || pid <= 0 || pid > INT32_MAX)
			continue;
		if (++search->pid_count > PIDS_MAX)
			search->stopped = true;
		else
			search_process(search, (int)pid);
	}
}

static void read_holders(struct host *host)
{
	struct host_idle *idle = &host->idle;
	struct holder_search search = {.host = host};
	int64_t pid;

	idle->holders_state = fact_absent("idle.holders", "/proc/*/fd");
	if (fact_number_or(&idle->dma_latency_us, IDLE_LATENCY_NO_REQUEST) >= IDLE_LATENCY_NO_REQUEST)
		return;
	idle->holders = ARENA_ARRAY(host->arena, HOLDERS_MAX, struct idle_holder);
	/* tuned first: it is the usual one, and so heads the list. */
	struct fact tuned = fact_read_text(host->arena, host->sys, "idle.tuned_pid", "/run/tuned/tuned.pid");

	if (fact_known(&tuned) && text_int(tuned.text, 10, &pid) == 0 && pid > 0 && pid <= INT32_MAX)
		search_process(&search, (int)pid);
	search.refused = 0;
	search_all(&search);
	if (search.refused)
		idle->holders_state =
		    fact_unreadable("idle.holders", "/proc/*/fd", EACCES, "permission denied; root would tell");
	else if (search.stopped)
		idle->holders_state = fact_unreadable("idle.holders", "/proc/*/fd", E2BIG, "too many open files");
	else if (search.pid_count)
		idle->holders_state = fact_switch("idle.holders", true, "/proc/*/fd");
	else
		idle->holders_state.note = "no processes to look at";
}

void host_idle_read(struct host *host)
{
	struct host_idle *idle = &host->idle;
	struct cpuset cpus = *host_cpu_online(host);

	if (cpuset_empty(&cpus))
		cpuset_add(&cpus, 0);
	idle->driver = read_name(host, "idle.driver", CPU_DIR "/cpuidle/current_driver");
	idle->governor = read_name(host, "idle.governor", CPU_DIR "/cpuidle/current_governor");
	if (idle->governor.state == FACT_ABSENT)
		idle->governor = read_name(host, "idle.governor", CPU_DIR "/cpuidle/current_governor_ro");
	idle->dma_latency_us = read_dma_latency(host);
	read_states(host, cpuset_first(&cpus));
	read_disabled(host, &cpus);
	read_allowed(host, &cpus);
	read_holders(host);
}

const struct idle_state *host_idle_deepest(const struct host_idle *idle)
{
	return idle->state_count ? &idle->states[idle->state_count - 1] : NULL;
}

const struct idle_state *host_idle_deepest_allowed(const struct host_idle *idle)
{
	for (int i = idle->state_count - 1; i >= 0; i--)
		if (idle->states[i].allowed)
			return &idle->states[i];
	return NULL;
}

/* "latency 400 us, target residency 800 us; used 12 times, 3 s in all" */
static struct fact state_in_words(const struct host *host, const struct idle_state *state, struct arena *arena)
{
	const char *latency = fact_shown(arena, &state->latency_us);
	const char *text = arena_printf(arena, "latency %s", latency);

	if (fact_known(&state->residency_us))
		text = arena_printf(arena, "%s, target residency %s", text, fact_shown(arena, &state->residency_us));
	if (fact_known(&state->usage))
		text = arena_printf(arena, "%s, entered %" PRId64 " times by CPU %d", text, state->usage.number,
				    MAX_OF(0, cpuset_first(host_cpu_online(host))));
	if (!cpuset_empty(&state->disabled_on))
		text = arena_printf(arena, "%s; disabled on %s", text, cpuset_format(arena, &state->disabled_on));
	else if (!state->allowed)
		text = arena_printf(arena, "%s; shut out by a latency limit", text);
	struct fact fact = fact_text("idle.state", text, state->latency_us.source);

	return fact;
}

void host_idle_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_idle *idle = &host->idle;
	struct arena *arena = rows->arena;

	rows->section = "Whole host";
	host_rows_add(rows, "Driver", &idle->driver);
	host_rows_add(rows, "Governor", &idle->governor);
	struct fact held = idle->dma_latency_us;

	if (fact_is_number(&held, IDLE_LATENCY_NO_REQUEST))
		held = fact_text("idle.dma_latency", "none (2000000000 us is the kernel's default)", held.source);
	host_rows_add(rows, "Latency request", &held);
	for (int i = 0; i < idle->holder_count; i++) {
		const struct idle_holder *holder = &idle->holders[i];
		struct fact who = fact_text(
		    "idle.holder", arena_printf(arena, "%s (pid %d)", holder->command, holder->pid), "/proc/*/fd");

		host_rows_add(rows, "Held by", &who);
	}
	if (idle->holders_state.state == FACT_UNREADABLE || (fact_known(&idle->holders_state) && !idle->holder_count)) {
		struct fact nobody = fact_text("idle.holder", "a part of the kernel: no process has the file open",
					       idle->holders_state.source);

		host_rows_add(rows, "Held by",
			      idle->holders_state.state == FACT_UNREADABLE ? &idle->holders_state : &nobody);
	}
	if (fact_known(&idle->resume_latency))
		host_rows_add_on(rows, "Resume latency", &idle->resume_latency, &idle->resume_limited_on);
	rows->section = "States";
	for (int i = 0; i < idle->state_count; i++) {
		struct fact fact = state_in_words(host, &idle->states[i], arena);

		host_rows_add(rows, fact_text_or(&idle->states[i].name, "?"), &fact);
	}
	if (!idle->state_count) {
		struct fact none = fact_absent("idle.states", CPU_DIR "/cpu0/cpuidle");

		host_rows_add(rows, "States", &none);
	}
}

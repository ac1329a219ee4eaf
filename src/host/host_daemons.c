/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns finding out which services run that write the knobs hvtune looks at. */
#include "host_daemons.h"

#include "host.h"
#include "host_process.h"
#include "text.h"

enum { COMM_LENGTH = 15 };

static const struct known_daemon {
	const char *name, *writes;
	const char *units; /* systemd units without ".service", blank separated */
	bool runs_once;	   /* a service that writes and leaves: known by being enabled, not by a process */
} known_daemons[] = {
    {"tuned", "governor, EPP, boost, C-state latency, sysctls, boot words", "tuned", false},
    {"tuned-ppd", "switches tuned's profile on request of the desktop", "tuned-ppd", false},
    {"power-profiles-daemon", "EPP, governor, boost, platform profile", "power-profiles-daemon", false},
    {"tlp", "governor, EPP, boost, frequency limits, ASPM, runtime power management", "tlp", true},
    {"auto-cpufreq", "governor, EPP, boost, frequency limits", "auto-cpufreq", false},
    {"cpupower", "governor and frequency limits once at boot", "cpupower", true},
    {"cpufrequtils", "governor and frequency limits once at boot", "cpufrequtils", true},
    {"irqbalance", "affinity of interrupts", "irqbalance", false},
    {"ksmtuned", "KSM", "ksmtuned", false},
    {"ksm", "KSM once at boot", "ksm", true},
    {"numad", "CPU affinity and memory of processes", "numad", false},
    {"thermald", "power limits of Intel parts", "thermald", false},
    {"scx", "the CPU scheduler (sched_ext)", "scx scx_loader", false},
    {"gamemoded", "governor, priorities, core parking on request of games", "", false},
    {"system76-power", "governor, EPP, boost", "com.system76.PowerDaemon system76-power", false},
    {"laptop-mode", "governor, disk and device power", "laptop-mode", true},
};

const struct daemon *host_daemon(const struct host_daemons *daemons, const char *name)
{
	for (int i = 0; i < daemons->count; i++)
		if (text_equal(daemons->list[i].name, name))
			return &daemons->list[i];
	return NULL;
}

bool host_daemon_runs(const struct host_daemons *daemons, const char *name)
{
	const struct daemon *daemon = host_daemon(daemons, name);

	return daemon && fact_is_on(&daemon->running);
}

/* Where systemd keeps the control groups of services: cgroup v2, the hybrid, v1. NULL: none of them is there. */
static const char *slice_of_services(struct host *host)
{
	static const char *const slices[] = {"/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/systemd/system.slice",
					     "/sys/fs/cgroup/unified/system.slice"};

	/* One small file tells as much as a list of the directory would, and names no other service of the host. */
	for (size_t i = 0; i < ARRAY_SIZE(slices); i++)
		if (sys_read(host->sys, "%s/cgroup.procs", slices[i])->state != SYS_ABSENT)
			return slices[i];
	return NULL;
}

/* The first unit of a daemon that is there: as a control group below `slice`, or enabled at boot. NULL: none. */
static const char *unit_seen(struct host *host, const struct known_daemon *known, const char *slice)
{
	for (const char *at = known->units; *at;) {
		size_t length = strcspn(at, " ");
		const char *unit = arena_strndup(host->arena, at, length);
		const struct sys_look *look =
		    known->runs_once
			? sys_link(host->sys, "/etc/systemd/system/multi-user.target.wants/%s.service", unit)
			: sys_read(host->sys, "%s/%s.service/cgroup.procs", slice, unit);

		if (look->state != SYS_ABSENT)
			return look->path;
		at += length + strspn(at + length, " ");
	}
	return NULL;
}

static struct fact daemon_by_unit(struct host *host, const struct known_daemon *known, const char *slice)
{
	const char *path = *known->units ? unit_seen(host, known, slice) : NULL;

	if (!*known->units)
		return fact_absent("daemons.running", "a user's service");
	struct fact fact = fact_switch("daemons.running", path != NULL, path ? path : slice);

	if (path && known->runs_once)
		fact.note = "runs once at boot";
	return fact;
}

/* Is a word of the command line the daemon's program? For programs that an interpreter runs. */
static bool runs_script(const struct sys_look *cmdline, const char *name)
{
	const char *end = cmdline->data + cmdline->size;

	for (const char *at = cmdline->data; at < end; at += strlen(at) + 1) {
		const char *slash = strrchr(at, '/');

		if (text_equal(slash ? slash + 1 : at, name))
			return true;
	}
	return false;
}

/* Note which daemon a process is, if any. */
static void look_at_process(void *context, const char *pid, const char *name)
{
	struct host *host = context;
	struct host_daemons *daemons = &host->daemons;
	bool interpreted = text_starts(name, "python");
	const struct sys_look *cmdline = interpreted ? sys_read(host->sys, "/proc/%s/cmdline", pid) : NULL;

	for (int i = 0; i < daemons->count; i++) {
		struct daemon *daemon = &daemons->list[i];
		bool is_it = interpreted ? cmdline->state == SYS_VALUE && runs_script(cmdline, daemon->name)
					 : strncmp(name, daemon->name, COMM_LENGTH) == 0;

		if (is_it)
			daemon->running =
			    fact_switch("daemons.running", true, arena_printf(host->arena, "/proc/%s/comm", pid));
	}
}

/*
 * Without systemd's control groups only the processes tell. That one does not run is only known where all processes
 * are seen: process 1 is there and hvtune is in no container.
 */
static void scan_processes(struct host *host)
{
	struct host_daemons *daemons = &host->daemons;
	bool sees_all = sys_read(host->sys, "/proc/1/comm")->state == SYS_VALUE && !fact_known(&host->os.container);
	size_t count = host_each_process(host, look_at_process, host);

	daemons->looked = daemons->walked = count > 0;
	sees_all = sees_all && count < HOST_PROCESS_LIMIT;
	for (int i = 0; sees_all && i < daemons->count; i++)
		if (!fact_known(&daemons->list[i].running) && !known_daemons[i].runs_once)
			daemons->list[i].running = fact_switch("daemons.running", false, "/proc");
}

static void read_scx(struct host *host)
{
	struct host_daemons *daemons = &host->daemons;
	const struct sys_look *state = sys_read(host->sys, "/sys/kernel/sched_ext/state");

	daemons->scx_ops = fact_absent("daemons.scx_ops", "/sys/kernel/sched_ext/root/ops");
	if (state->state != SYS_VALUE)
		return;
	bool enabled = text_starts(state->data, "enabled");

	for (int i = 0; i < daemons->count; i++)
		if (text_equal(daemons->list[i].name, "scx"))
			daemons->list[i].running = fact_switch("daemons.running", enabled, state->path);
	if (enabled)
		daemons->scx_ops =
		    fact_read_text(host->arena, host->sys, "daemons.scx_ops", "/sys/kernel/sched_ext/root/ops");
}

void host_daemons_read(struct host *host)
{
	struct host_daemons *daemons = &host->daemons;

	daemons->count = ARRAY_SIZE(known_daemons);
	daemons->list = ARENA_ARRAY(host->arena, ARRAY_SIZE(known_daemons), struct daemon);
	for (int i = 0; i < daemons->count; i++)
		daemons->list[i] = (struct daemon){.name = known_daemons[i].name,
						   .writes = known_daemons[i].writes,
						   .running = fact_absent("daemons.running", "/proc")};
	const char *slice = slice_of_services(host);

	for (int i = 0; slice && i < daemons->count; i++)
		daemons->list[i].running = daemon_by_unit(host, &known_daemons[i], slice);
	daemons->looked = slice != NULL;
	if (!slice)
		scan_processes(host);
	read_scx(host);
	host_tuned_read(host);
}

void host_daemons_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_daemons *daemons = &host->daemons;

	for (int i = 0; i < daemons->count; i++)
		host_rows_add(rows, daemons->list[i].name, &daemons->list[i].running);
	if (fact_known(&daemons->scx_ops))
		host_rows_add(rows, "scx scheduler", &daemons->scx_ops);
	host_tuned_rows(host, rows);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns opening a host of any kind and the list of its subjects. */
#include "host.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "host_import.h"
#include "text.h"

static const struct {
	const char *what;
	void (*read)(struct host *host);
} readers[] = {
    {"system", host_os_read},
    {"cpu", host_cpu_read},
    {"command line", host_cmdline_read},
    {"frequency", host_cpufreq_read},
    {"idle", host_idle_read},
    {"memory", host_memory_read},
    {"mitigations", host_mitigations_read},
    {"kvm", host_kvm_read},
    {"devices", host_devices_read},
    {"daemons", host_daemons_read},
    {"power", host_power_read},
    {"topology", host_topology_read}, /* what is left to wait for: it was started before all others */
};

static const struct host_subject subjects[] = {
    {"system", "System", host_os_rows},
    {"cpu", "CPU", host_cpu_rows},
    {"topology", "Topology", host_topology_rows},
    {"cpufreq", "Frequency scaling", host_cpufreq_rows},
    {"idle", "Idle states", host_idle_rows},
    {"memory", "Memory", host_memory_rows},
    {"mitigations", "Mitigations", host_mitigations_rows},
    {"kvm", "KVM", host_kvm_rows},
    {"devices", "Devices", host_devices_rows},
    {"daemons", "Services", host_daemons_rows},
    {"power", "Power sources", host_power_rows},
    {"cmdline", "Kernel command line", host_cmdline_rows},
};

const struct host_subject *host_subjects(size_t *ret_count)
{
	if (ret_count)
		*ret_count = ARRAY_SIZE(subjects);
	return subjects;
}

static uint32_t elapsed_us(const struct timespec *since)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint32_t)((now.tv_sec - since->tv_sec) * 1000000 + (now.tv_nsec - since->tv_nsec) / 1000);
}

void host_read_all(struct host *host)
{
	struct host_timing *timings = ARENA_ARRAY(host->arena, ARRAY_SIZE(readers), struct host_timing);

	/* Every kernel has this directory, and no reader asks for it: who copies single files leaves it out. */
	host->whole = sys_has_dir(host->sys, "/sys/module/kernel");
	host_topology_start(host);
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		struct timespec start;

		(void)clock_gettime(CLOCK_MONOTONIC, &start);
		readers[i].read(host);
		timings[i] = (struct host_timing){.what = readers[i].what, .took_us = elapsed_us(&start)};
	}
	host->timings = timings;
	host->timing_count = ARRAY_SIZE(readers);
}

/* A root without any trace of a machine is a mistyped path, not a machine on which everything is absent. */
static int refuse_empty(struct host *host, struct err *err)
{
	if (sys_read(host->sys, "/proc/cpuinfo")->state != SYS_ABSENT ||
	    sys_has_dir(host->sys, "/sys/devices/system/cpu"))
		return 0;
	(void)err_set(err, ENOENT, host->name,
		      "no machine in here: neither /proc/cpuinfo nor /sys/devices/system/cpu below it");
	return err_hint(err, "give the directory or archive that holds sys/ and proc/");
}

static int open_tree(struct host *host, struct err *err)
{
	struct stat info;
	int r;

	/* An archive from standard input is open already. */
	if (host->sys) {
		r = 0;
		host->kind = HOST_ARCHIVE;
	} else if (stat(host->name, &info) < 0) {
		return err_set(err, errno, host->name, "cannot open this host: %s", strerror(errno));
	} else if (S_ISDIR(info.st_mode)) {
		r = sys_open_dir(host->name, &host->sys, err);
		host->kind = r == 0 && sys_is_live(host->sys) ? HOST_LIVE : HOST_DIRECTORY;
	} else {
		r = sys_open_archive(host->name, &host->sys, err);
		host->kind = HOST_ARCHIVE;
	}
	if (r < 0)
		return r;
	r = refuse_empty(host, err);
	if (r == 0)
		host_read_all(host);
	return r;
}

int host_open(const char *what, struct host **ret, struct err *err)
{
	struct arena *arena = arena_new();
	struct host *host = ARENA_NEW(arena, struct host);
	bool imported = false;

	host->arena = arena;
	host->name = arena_strdup(arena, what ? what : "/");
	int r = host_import(host, &imported, err);

	if (r == 0 && !imported)
		r = open_tree(host, err);
	if (r < 0) {
		(void)host_close(host);
		return r;
	}
	*ret = host;
	return 0;
}

struct host *host_close(struct host *host)
{
	if (host) {
		(void)sys_close(host->sys);
		(void)arena_free(host->arena);
	}
	return NULL;
}

void host_close_pointer(struct host **host)
{
	*host = host_close(*host);
}

bool host_is_amd(const struct host *host)
{
	return host->cpu.is_amd;
}

bool host_is_guest(const struct host *host)
{
	return fact_known(&host->os.hypervisor);
}

bool host_kernel_at_least(const struct host *host, int major, int minor)
{
	return host->os.kernel_major > major || (host->os.kernel_major == major && host->os.kernel_minor >= minor);
}

void host_rows_add(struct host_rows *rows, const char *label, const struct fact *fact)
{
	if (rows->count == rows->room) {
		size_t room = rows->room ? rows->room * 2 : 32;
		struct host_row *larger = ARENA_ARRAY(rows->arena, room, struct host_row);

		if (rows->count)
			memcpy(larger, rows->rows, rows->count * sizeof(*larger));
		rows->rows = larger;
		rows->room = room;
	}
	rows->rows[rows->count++] = (struct host_row){.section = rows->section, .label = label, .fact = *fact};
}

void host_rows_add_on(struct host_rows *rows, const char *label, const struct fact *fact, const struct cpuset *cpus)
{
	host_rows_add(rows, label, fact);
	rows->rows[rows->count - 1].cpus = cpuset_format(rows->arena, cpus);
}

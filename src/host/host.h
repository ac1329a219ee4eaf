/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the facts about one host: what it is, subject by subject. A host is the running machine, a directory or archive
 * with its /sys and /proc, or only a topology (hwloc XML or synthetic, lscpu text); what such a host lacks is absent.
 *
 * All facts live in one arena and are freed together with host_close(). Nothing in here writes anywhere.
 */
#ifndef HVTUNE_HOST_H
#define HVTUNE_HOST_H

#include "host_cmdline.h"
#include "host_cpu.h"
#include "host_cpufreq.h"
#include "host_daemons.h"
#include "host_devices.h"
#include "host_idle.h"
#include "host_kvm.h"
#include "host_memory.h"
#include "host_mitigations.h"
#include "host_os.h"
#include "host_power.h"
#include "host_topology.h"

enum host_kind {
	HOST_LIVE,	/* this machine */
	HOST_DIRECTORY, /* a root with sys/ and proc/ below it */
	HOST_ARCHIVE,	/* the same in an archive, or a capture of hvtune's */
	HOST_HWLOC_XML,
	HOST_LSCPU, /* plain or -J */
	HOST_SYNTHETIC,
};

struct host_timing {
	const char *what; /* "topology", "cpufreq"... */
	uint32_t took_us;
};

struct host {
	struct arena *arena;
	struct sys *sys;
	enum host_kind kind;
	const char *name; /* as given; "/" for this machine */
	bool whole; /* all of /sys is there to be asked (this machine, a capture), so that what is missing is missing;
		     * a copy of some files says nothing about others */

	struct host_os os;
	struct host_cpu cpu;
	struct host_cmdline cmdline;
	struct host_topology topology;
	struct host_cpufreq cpufreq;
	struct host_idle idle;
	struct host_memory memory;
	struct host_mitigations mitigations;
	struct host_kvm kvm;
	struct host_devices devices;
	struct host_daemons daemons;
	struct host_power power;

	const struct host_timing *timings; /* timing_count phases of host_open, in order */
	size_t timing_count;
};

/*
 * Open a host and read all its facts. `what` is NULL or "/" for this machine, else the path of a directory, an archive,
 * an hwloc XML file, an lscpu text (plain or -J), or an hwloc synthetic description ("package:2 l3:8 core:4 pu:2") when
 * no such path exists. A file's kind is told by its contents. Missing or refused files are states of facts, not errors;
 * an error is a host that cannot be opened at all, or that holds nothing of a machine.
 */
int host_open(const char *what, struct host **ret, struct err *err);
struct host *host_close(struct host *host);  /* takes NULL, returns NULL */
void host_close_pointer(struct host **host); /* for CLEANUP() */

/* Read all subjects through host->sys; for host_open() and for hosts whose facts come from a text after that. */
void host_read_all(struct host *host);

/* Is the host AMD (or Hygon, which is Zen)? False when the vendor is not known. */
bool host_is_amd(const struct host *host);

/* Is the host itself a virtual machine? */
bool host_is_guest(const struct host *host);

/* Is its Linux at least this version? False when the version is not known. For texts, never to decide what exists. */
bool host_kernel_at_least(const struct host *host, int major, int minor);

/* "EPYC 9354P: 32 cores, 64 threads, 8 CCX of 4 cores (32 MiB L3 each), 1 node. Fedora 42, kernel 6.14." */
const char *host_summary(const struct host *host, struct arena *arena);

/* ---- facts by subject, for `show` ---- */

struct host_row {
	const char *section; /* a heading when it differs from the row before; may be NULL */
	const char *label;
	const char *cpus; /* the CPUs that it holds for, as a list; NULL: it is of the whole host */
	struct fact fact;
};

struct host_rows {
	struct arena *arena;
	struct host_row *rows;
	size_t count, room;
	const char *section; /* given to rows that are added */
};

void host_rows_add(struct host_rows *rows, const char *label, const struct fact *fact);
/* The same for a fact that only these CPUs have: "governor  powersave (CPUs 0-63)". */
void host_rows_add_on(struct host_rows *rows, const char *label, const struct fact *fact, const struct cpuset *cpus);

struct host_subject {
	const char *name;  /* "cpufreq" */
	const char *title; /* "Frequency scaling" */
	void (*rows)(const struct host *host, struct host_rows *rows);
};

/* All subjects in the order of `show`; `ret_count` may be NULL. */
const struct host_subject *host_subjects(size_t *ret_count);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the identity of the CPU and the sets of CPUs that the kernel keeps.
 */
#ifndef HVTUNE_HOST_CPU_H
#define HVTUNE_HOST_CPU_H

#include "fact.h"

struct host;
struct host_rows;

/* Names only: decisions are made by flags and files. */
enum cpu_zen { ZEN_NONE, ZEN_1, ZEN_PLUS, ZEN_2, ZEN_3, ZEN_4, ZEN_4C, ZEN_5, ZEN_5C, ZEN_LATER };

struct host_cpu {
	struct fact vendor;		     /* text: "AuthenticAMD", "HygonGenuine", "GenuineIntel" */
	struct fact family, model, stepping; /* numbers */
	struct fact model_name;		     /* text */
	struct fact flags;		     /* text: the words of /proc/cpuinfo of the first CPU */
	struct fact microcode;		     /* text: "0xa10113e"; of the first CPU */
	struct fact microcode_mixed;	     /* switch: CPUs run different microcode */
	enum cpu_zen zen;
	const char *zen_name; /* "Zen 4", or NULL */
	const char *codename; /* "Genoa", or NULL */
	bool is_amd;	      /* AuthenticAMD or HygonGenuine */
	bool one_l3_per_ccd;  /* on this part each core complex die has one L3 group, by family and model */

	struct fact online, present, possible, offline; /* CPU sets of /sys/devices/system/cpu */
	struct fact isolated, nohz_full;		/* CPU sets; empty is a value */
	struct fact kernel_max;				/* number */
	struct fact smt_control;			/* text: on, off, forceoff, notsupported, notimplemented */
	struct fact smt_active;				/* switch */
};

/* Does /proc/cpuinfo (or the lscpu text) list the flag? False when the flags are not known. */
bool host_cpu_has_flag(const struct host_cpu *cpu, const char *flag);

/* "EPYC 9354P": the model name without maker, marks and fillers. NULL when the name is not known. In the arena. */
const char *host_cpu_short_name(const struct host_cpu *cpu, struct arena *arena);

/* The CPUs to count on: online, or all known ones. */
const struct cpuset *host_cpu_online(const struct host *host);

/* Present CPUs that are not on line. Slots that firmware only declares (possible, never present) are not among them. */
struct cpuset host_cpu_switched_off(const struct host *host);

/* A Ryzen that is no Threadripper: one package with one memory domain, without NPS in its firmware. */
bool host_cpu_is_desktop(const struct host_cpu *cpu);

/* Fill cpu->zen, zen_name, codename, one_l3_per_ccd and is_amd from vendor, family, model and name. */
void host_cpu_name_generation(struct host_cpu *cpu);

/* Make every fact absent, with its name; `source` must outlive the facts. For hosts without /proc and /sys. */
void host_cpu_forget(struct host_cpu *cpu, const char *source);

void host_cpu_read(struct host *host);
void host_cpu_rows(const struct host *host, struct host_rows *rows);

#endif

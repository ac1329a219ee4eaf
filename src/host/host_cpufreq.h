/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns frequency scaling: driver, amd_pstate, governors, EPP, limits, boost, preferred cores, CPPC.
 */
#ifndef HVTUNE_HOST_CPUFREQ_H
#define HVTUNE_HOST_CPUFREQ_H

#include "fact.h"

struct host;
struct host_rows;

struct cpufreq_policy {
	int number;					   /* N of policyN */
	struct cpuset cpus;				   /* affected_cpus; {N} when not readable */
	struct fact driver, governor, available_governors; /* text */
	struct fact epp;	   /* text (word or number); EINVAL: a raw value that has no word */
	struct fact available_epp; /* text */
	struct fact scaling_min_khz, scaling_max_khz, cpuinfo_min_khz, cpuinfo_max_khz; /* numbers */
	struct fact boost;			       /* switch: policyN/boost; absent on older kernels */
	struct fact prefcore_ranking;		       /* number: amd_pstate_prefcore_ranking */
	struct fact lowest_nonlinear_khz, amd_max_khz; /* numbers */
};

/* CPUs that share one value of a per-policy fact. */
struct cpufreq_group {
	const char *value; /* as shown */
	struct cpuset cpus;
	const struct fact *fact; /* of the first such policy */
};

struct host_cpufreq {
	struct fact policies_dir; /* switch: /sys/devices/system/cpu/cpufreq has policies; off: it is there and empty */
	struct cpufreq_policy *policies;
	int policy_count;
	struct fact status;	 /* text: amd_pstate/status */
	struct fact prefcore;	 /* switch: amd_pstate/prefcore */
	struct fact dynamic_epp; /* switch: amd_pstate/dynamic_epp (7.1 and 7.2) */
	struct fact boost;	 /* switch: cpufreq/boost, global */
	struct fact x3d_mode;	 /* text: amd_x3d_mode */
	struct fact cppc;	 /* switch: acpi_cppc of CPU 0 is there, or the flag cppc. Only CPU 0: a sweep over all
				  * CPUs takes a second on Zen 2 and Zen 3 (each read is a mailbox call) */
	struct fact cppc_flag;	 /* switch: CPUID flag cppc (MSR interface) */
	struct fact nominal_mhz; /* number: acpi_cppc/nominal_freq of CPU 0 */
	struct fact acpi_cpufreq_module; /* switch: /sys/module/acpi_cpufreq is there */
};

/* The driver of the first policy; absent without policies. */
const struct fact *host_cpufreq_driver(const struct host_cpufreq *cpufreq);

/*
 * Group the policies by the shown value of one of their facts, at `offset` in struct cpufreq_policy. Returns the number
 * of groups; *ret_groups is in the arena. Policies in which the fact is absent are left out.
 */
size_t host_cpufreq_groups(struct arena *arena, const struct host_cpufreq *cpufreq, size_t offset,
			   struct cpufreq_group **ret_groups);

void host_cpufreq_read(struct host *host);
void host_cpufreq_rows(const struct host *host, struct host_rows *rows);

#endif

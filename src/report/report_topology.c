/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the topology drawn in the terminal. */
#include "report.h"
#include "report_topology.h"

int64_t report_core_rank(const struct host *host, int cpu)
{
	const struct host_cpufreq *cpufreq = &host->cpufreq;

	for (int i = 0; i < cpufreq->policy_count; i++)
		if (cpuset_has(&cpufreq->policies[i].cpus, cpu))
			return fact_number_or(&cpufreq->policies[i].prefcore_ranking, -1);
	return -1;
}

void report_topology(const struct term *term, const struct host *host)
{
	(void)term, (void)host;
}

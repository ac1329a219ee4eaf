/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_cpufreq.h. */
#include "host_cpufreq.h"

#include "host.h"
#include "text.h"

void host_cpufreq_read(struct host *host)
{
	(void)host;
}

void host_cpufreq_rows(const struct host *host, struct host_rows *rows)
{
	(void)host, (void)rows;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the facts declared in host_cpu.h. */
#include "host_cpu.h"

#include "host.h"
#include "text.h"

bool host_cpu_has_flag(const struct host_cpu *cpu, const char *flag)
{
	return text_has_word(fact_text_or(&cpu->flags, ""), " ", flag);
}

const struct cpuset *host_cpu_online(const struct host *host)
{
	static const struct cpuset none;

	return fact_known(&host->cpu.online) ? host->cpu.online.cpus : &none;
}

void host_cpu_name_generation(struct host_cpu *cpu)
{
	(void)cpu;
}

void host_cpu_read(struct host *host)
{
	(void)host;
}

void host_cpu_rows(const struct host *host, struct host_rows *rows)
{
	(void)host, (void)rows;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the sets of CPUs of the library in libvirt's place: at most 64, as text and as bits. */
#ifndef HVTUNE_FAKE_LIBVIRT_CPUS_H
#define HVTUNE_FAKE_LIBVIRT_CPUS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 64 };

static inline unsigned long long parse(const char *text)
{
	unsigned long long set = 0;

	while (*text >= '0' && *text <= '9') {
		char *end;
		long first = strtol(text, &end, 10), until = *end == '-' ? strtol(end + 1, &end, 10) : first;

		for (long cpu = first; cpu <= until && cpu < CPUS; cpu++)
			set |= 1ULL << cpu;
		text = *end == ',' ? end + 1 : end;
	}
	return set;
}

static inline void format(unsigned long long set, char *ret, size_t size)
{
	*ret = '\0';
	for (int cpu = 0; cpu < CPUS; cpu++) {
		int first = cpu;

		if (!(set >> cpu & 1))
			continue;
		while (cpu + 1 < CPUS && set >> (cpu + 1) & 1)
			cpu++;
		(void)snprintf(ret + strlen(ret), size - strlen(ret), cpu > first ? "%s%d-%d" : "%s%d", *ret ? "," : "",
			       first, cpu);
	}
}

#endif

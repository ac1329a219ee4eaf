/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns sets of CPU numbers and of NUMA node numbers, as values, and the kernel's list syntax for them.
 * The bit operations are glibc's CPU_*_S macros on a set as large as the largest x86 kernel (NR_CPUS = 8192).
 */
#ifndef HVTUNE_CPUSET_H
#define HVTUNE_CPUSET_H

#include <sched.h>

#include "arena.h"
#include "err.h"

enum { CPUSET_MAX = 8192 };

struct cpuset {
	unsigned long bits[CPUSET_MAX / (8 * sizeof(unsigned long))];
};

static inline bool cpuset_has(const struct cpuset *set, int cpu)
{
	return cpu >= 0 && cpu < CPUSET_MAX && CPU_ISSET_S((size_t)cpu, sizeof(*set), (const cpu_set_t *)set);
}

static inline void cpuset_add(struct cpuset *set, int cpu)
{
	if (cpu >= 0 && cpu < CPUSET_MAX)
		CPU_SET_S((size_t)cpu, sizeof(*set), (cpu_set_t *)set);
}

static inline void cpuset_remove(struct cpuset *set, int cpu)
{
	if (cpu >= 0 && cpu < CPUSET_MAX)
		CPU_CLR_S((size_t)cpu, sizeof(*set), (cpu_set_t *)set);
}

int cpuset_count(const struct cpuset *set);
bool cpuset_empty(const struct cpuset *set);
bool cpuset_equal(const struct cpuset *a, const struct cpuset *b);
bool cpuset_subset(const struct cpuset *inner, const struct cpuset *outer); /* inner is wholly in outer */
bool cpuset_meets(const struct cpuset *a, const struct cpuset *b);	    /* they share a member */
struct cpuset cpuset_and(const struct cpuset *a, const struct cpuset *b);
struct cpuset cpuset_or(const struct cpuset *a, const struct cpuset *b);
struct cpuset cpuset_minus(const struct cpuset *a, const struct cpuset *b);
int cpuset_first(const struct cpuset *set);	      /* -1 when empty */
int cpuset_next(const struct cpuset *set, int after); /* the next member above `after`, -1 at the end */
struct cpuset cpuset_range(int first, int last);      /* first..last, both inclusive */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): `cpu` is declared here and cannot stand in parentheses. */
#define CPUSET_FOREACH(cpu, set) for (int cpu = cpuset_first(set); cpu >= 0; cpu = cpuset_next(set, cpu))

/*
 * Parse the list form of sysfs and of boot parameters: "0-3,8,10-15:2/4" (range:used/group as in
 * Documentation/admin-guide/kernel-parameters.rst of Linux). White space around is allowed, an empty text is the empty
 * set. -EINVAL with the column on bad syntax, -ERANGE on a number of CPUSET_MAX or more; *ret untouched then.
 */
int cpuset_parse(const char *text, struct cpuset *ret, struct err *err);

/* Parse the mask form of sysfs: hexadecimal words of 32 bits with commas, "ff00ff00,00000001". Errors as above. */
int cpuset_parse_mask(const char *text, struct cpuset *ret, struct err *err);

/* The list form; "" for the empty set. Allocated in the arena. */
const char *cpuset_format(struct arena *arena, const struct cpuset *set);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a healthy, well-tuned host of 4 CPUs as files, and tests of rules as tables: each case is that host with a few
 * files changed, and one rule that must fire or must be silent there.
 */
#ifndef HVTUNE_HEALTHY_H
#define HVTUNE_HEALTHY_H

#include "tree.h"

/* Files whose contents are this are removed from the healthy host. */
#define GONE "\177gone"
/* Contents with NUL bytes: /dev/cpu_dma_latency, 4 bytes little-endian. */
#define LATENCY_OF(a, b, c, d) "\177bytes" a b c d

#define CPU_FILE(cpu, file) "/sys/devices/system/cpu/cpu" #cpu "/" file
#define POLICY_FILE(cpu, file) "/sys/devices/system/cpu/cpufreq/policy" #cpu "/" file
#define ON_ALL_POLICIES(file, contents)                                                                                \
	{POLICY_FILE(0, file), contents}, {POLICY_FILE(1, file), contents}, {POLICY_FILE(2, file), contents},          \
	{                                                                                                              \
		POLICY_FILE(3, file), contents                                                                         \
	}

enum { SILENT = -1, HEALTHY_CPUS = 4, CHANGES_MAX = 24 };

struct rule_case {
	const char *id;
	int severity;			 /* enum advise_severity, or SILENT */
	const char *says;		 /* part of the title, or NULL */
	void (*bend)(struct host *host); /* changes facts that files cannot make (errno of a read), or NULL */
	struct tree_file changes[CHANGES_MAX];
};

struct tree *healthy_new(void);

/* The same with files on top, which end with a NULL path. */
struct tree *healthy_new_over(const struct tree_file *base);

/* Change files; knows GONE and LATENCY_OF. */
void healthy_change(struct tree *tree, const struct tree_file *changes);

/* Run one case; fails the running test with the id and what was found instead. */
void healthy_run_case(const struct rule_case *rule_case);
void healthy_run_case_over(const struct tree_file *base, const struct rule_case *rule_case);

/*
 * Does every rule of the table have a case in which it fires and one in which it is silent? The healthy host itself
 * counts as the one or the other.
 */
void healthy_covers(const struct advise_rule *rules, const struct rule_case *cases, size_t count);
void healthy_covers_over(const struct tree_file *base, const struct advise_rule *rules, const struct rule_case *cases,
			 size_t count);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what predicates are written with. Every accessor notes the fact as evidence; advise_report() makes a finding of
 * what was noted since the predicate began or since the last advise_forget().
 *
 *	static void check_c2(struct advise_check *c)
 *	{
 *		int64_t held_us;
 *
 *		if (!advise_number(c, &c->host->idle.dma_latency_us, &held_us))
 *			return;
 *		...
 *		advise_report(c, "No core can enter %s", name);
 *	}
 */
#ifndef HVTUNE_ADVISE_CHECK_H
#define HVTUNE_ADVISE_CHECK_H

#include "advise.h"
#include "text.h"

struct advise_check {
	const struct advise_rule *rule;
	const struct advise_subject *subject;
	const struct host *host;
	const struct host_cmdline *cmdline; /* never NULL; look at cmdline->line.state */
	const struct vm *vm;		    /* for rules with NEEDS_VM: the VM that is judged; else NULL */
	struct arena *arena;		    /* for texts of this run */
	struct advise_run *run;		    /* private to advise.c */
};

/*
 * Known? Then the value. Otherwise false: an absent fact is noted, an unreadable or implausible one makes the rule
 * "could not be decided" unless the predicate reports something all the same.
 */
bool advise_number(struct advise_check *c, const struct fact *fact, int64_t *ret);
bool advise_text(struct advise_check *c, const struct fact *fact, const char **ret);
bool advise_switch(struct advise_check *c, const struct fact *fact, bool *ret);
bool advise_cpus(struct advise_check *c, const struct fact *fact, const struct cpuset **ret);

/* Note a fact as evidence without asking for its value; returns whether it is known. */
bool advise_note(struct advise_check *c, const struct fact *fact);

/* Note something that is no single fact (a group of policies, a word of a command line). */
void advise_note_text(struct advise_check *c, const char *source, const char *format, ...) PRINTF_LIKE(3, 4);

/* Drop the evidence noted so far: between the items of a loop. */
void advise_forget(struct advise_check *c);

/* Report a finding with the rule's severity; may be called several times. The returned finding may be refined. */
struct advise_finding *advise_report(struct advise_check *c, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same with another severity than the rule's. */
struct advise_finding *advise_report_as(struct advise_check *c, enum advise_severity severity, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Text in the arena of the run. */
const char *advise_printf(struct advise_check *c, const char *format, ...) PRINTF_LIKE(2, 3);

/* "0-3,8": in the arena of the run. */
const char *advise_cpu_list(struct advise_check *c, const struct cpuset *cpus);

/* The last word with this name on the command line, noted as evidence; NULL when there is none. */
const struct cmdline_word *advise_word(struct advise_check *c, const char *name);

/* Set path, line and column of a finding to a word of the command line. */
void advise_at_word(struct advise_check *c, struct advise_finding *finding, const struct cmdline_word *word);

/* The first line of the kernel log that contains `part`, noted as evidence; NULL: none, or the log can't be read. */
const char *advise_log_line(struct advise_check *c, const char *part);

/*
 * The values of a fact of the policies by CPUs (see host_cpufreq_groups()), noted as one piece of evidence:
 * "performance (0-5), schedutil (6-11)". `file` is the name of the file in policy*.
 */
size_t advise_groups(struct advise_check *c, size_t offset, const char *file, struct cpufreq_group **ret_groups);

/*
 * What brings words on to the kernel command line of this host, or takes them off it, in the words of its boot loader.
 * Either may be NULL. In the arena of the run.
 */
const char *advise_boot_command(struct advise_check *c, const char *add, const char *remove);

/* What carries the boot loader's file of this host, as it is, over to the next boot. In the arena of the run. */
const char *advise_boot_rewrite(struct advise_check *c);

/* The tables, one per file; each ends with a NULL id. A new file is added to advise_tables[] in advise.c. */
extern const struct advise_rule advise_cpufreq_rules[];
extern const struct advise_rule advise_cpufreq_driver_rules[];
extern const struct advise_rule advise_cpufreq_limit_rules[];
extern const struct advise_rule advise_idle_rules[];
extern const struct advise_rule advise_idle_boot_rules[];
extern const struct advise_rule advise_power_rules[];
extern const struct advise_rule advise_memory_rules[];
extern const struct advise_rule advise_pages_rules[];
extern const struct advise_rule advise_topology_rules[];
extern const struct advise_rule advise_topology_cpu_rules[];
extern const struct advise_rule advise_cmdline_rules[];
extern const struct advise_rule advise_cmdline_cost_rules[];
extern const struct advise_rule advise_cmdline_cpu_rules[];
extern const struct advise_rule advise_cmdline_memory_rules[];
extern const struct advise_rule advise_cmdline_syntax_rules[];
extern const struct advise_rule advise_tuned_cpufreq_rules[];
extern const struct advise_rule advise_tuned_option_rules[];
extern const struct advise_rule advise_tuned_profile_rules[];
extern const struct advise_rule advise_tuned_rules[];
extern const struct advise_rule advise_daemon_rules[];
extern const struct advise_rule advise_kvm_rules[];
extern const struct advise_rule advise_security_rules[];
extern const struct advise_rule advise_device_rules[];
extern const struct advise_rule advise_system_rules[];
extern const struct advise_rule advise_vm_cpu_rules[];
extern const struct advise_rule advise_vm_sibling_rules[];
extern const struct advise_rule advise_vm_l3_rules[];
extern const struct advise_rule advise_vm_thread_rules[];
extern const struct advise_rule advise_vm_node_rules[];
extern const struct advise_rule advise_vm_cell_rules[];
extern const struct advise_rule advise_vm_pages_rules[];
extern const struct advise_rule advise_vm_topology_rules[];
extern const struct advise_rule advise_vm_feature_rules[];
extern const struct advise_rule advise_vm_device_rules[];
extern const struct advise_rule advise_vm_running_rules[];

#endif

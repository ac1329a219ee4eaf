/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about lists of CPUs on the kernel command line: isolcpus, nohz_full, rcu_nocbs, irqaffinity. */
#include <ctype.h>
#include <errno.h>

#include "advise_check.h"
#include "advise_words.h"

#define PARAMETERS "Linux Documentation/admin-guide/kernel-parameters.txt"

/* What one word says. */
struct cpu_list {
	const struct cmdline_word *word; /* NULL: not on the line */
	struct cpuset cpus;
	bool usable;   /* the kernel takes the list, and it names a CPU */
	bool beyond;   /* it names numbers that the kernel has no CPU for (nr_cpu_ids and above): see check_absent() */
	bool balanced; /* isolcpus with flags other than domain: the scheduler still balances these CPUs */
	const char *fault; /* what is wrong with it, or NULL */
	unsigned offset;   /* of the fault in the value, 0-based */
};

/* The flags before the list: "managed_irq,domain,2-7". Returns where the list starts. */
static const char *skip_flags(struct advise_check *c, struct cpu_list *list, const char *value)
{
	bool any = false, domain = false;

	while (isalpha((unsigned char)*value)) {
		size_t length = strcspn(value, ",");
		const char *flag = advise_printf(c, "%.*s", (int)MIN_OF(length, 60), value);

		if (text_equal(flag, "all") || text_equal(flag, "N") || isdigit((unsigned char)flag[1]))
			break;
		if (!text_has_word("nohz domain managed_irq", " ", flag) && !list->fault) {
			list->fault = advise_printf(c, "\"%s\" is no flag (nohz, domain, managed_irq)", flag);
			list->offset = (unsigned)(value - list->word->value);
		}
		any = true;
		domain = domain || text_equal(flag, "domain");
		value += length + (value[length] != '\0');
	}
	list->balanced = any && !domain;
	return value;
}

/* lib/bitmap.c takes "all" and "N" for the last CPU; both mean CPUs that this host may not have told. */
static const char *without_names(struct advise_check *c, const char *text)
{
	const struct cpuset *online = host_cpu_online(c->host);
	int last = -1;

	CPUSET_FOREACH (cpu, online)
		last = cpu;
	if (last < 0)
		return text;
	if (text_equal(text, "all"))
		return advise_printf(c, "0-%d", last);
	const char *name = strchr(text, 'N');

	return name ? advise_printf(c, "%.*s%d%s", (int)(name - text), text, last, name + 1) : text;
}

/*
 * nr_cpu_ids: one more than the last possible CPU; 0 when that is not known. bitmap_parselist() answers -ERANGE to a
 * number from there on, and housekeeping_setup() then drops the whole word (kernel/sched/isolation.c).
 */
static int cpu_limit(const struct advise_check *c)
{
	const struct fact *possible = &c->host->cpu.possible;
	int limit = 0;

	if (fact_known(possible))
		CPUSET_FOREACH (cpu, possible->cpus)
			limit = cpu + 1;
	return limit;
}

static struct cpu_list list_of(struct advise_check *c, const char *name)
{
	struct cpu_list list = {.word = advise_word(c, name)};
	struct err err = {0};

	if (!list.word || !list.word->value || strchr(list.word->value, '$'))
		return list;
	const char *text = list.word->value;

	if (text_equal(name, "isolcpus"))
		text = skip_flags(c, &list, text);
	int r = cpuset_parse(without_names(c, text), &list.cpus, &err);

	if (r < 0 && !list.fault) {
		list.fault = advise_printf(c, "%s", err.what);
		list.offset = (unsigned)(text - list.word->value) + (err.column ? err.column - 1 : 0);
	}
	int limit = cpu_limit(c);

	CPUSET_FOREACH (cpu, &list.cpus)
		list.beyond = list.beyond || (limit && cpu >= limit);
	list.usable = r == 0 && !cpuset_empty(&list.cpus) && !list.beyond;
	return list;
}

/* The CPUs that the scheduler leaves alone by isolcpus=; false when there are none. */
static bool isolated(struct advise_check *c, struct cpu_list *ret)
{
	*ret = list_of(c, "isolcpus");
	return ret->usable && !ret->balanced;
}

/* The isolated CPUs, or those of nohz_full= where only that is given. */
static bool set_apart(struct advise_check *c, struct cpu_list *ret)
{
	if (isolated(c, ret))
		return true;
	advise_forget(c);
	*ret = list_of(c, "nohz_full");
	return ret->usable;
}

static void check_syntax(struct advise_check *c)
{
	static const char *const names[] = {"isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		advise_forget(c);
		const struct cpu_list list = list_of(c, names[i]);

		if (!list.fault)
			continue;
		struct advise_finding *finding = advise_report(c, "%s: %s", names[i], list.fault);

		advise_at_word(c, finding, list.word);
		finding->column += (unsigned)strlen(list.word->name) + 1 + list.offset;
	}
}

/* What a number beyond the last possible CPU does to each word. */
static void report_beyond(struct advise_check *c, const struct cpu_list *list)
{
	const struct cpuset *possible;
	bool irqs = cmdline_same_name(list->word->name, "irqaffinity");

	if (!advise_cpus(c, &c->host->cpu.possible, &possible))
		return;
	const struct cpuset missing = cpuset_minus(&list->cpus, possible);
	struct advise_finding *finding =
	    irqs ? advise_report_as(c, ADVISE_WARN, "irqaffinity names CPUs beyond the last that can be here: %s",
				    advise_cpu_list(c, &missing))
		 : advise_report(c,
				 "%s names CPUs beyond the last that can be here (%s): the kernel drops the whole "
				 "list",
				 list->word->name, advise_cpu_list(c, &missing));

	finding->effect =
	    irqs ? "the list counts only up to that number"
		 : "no CPU is set apart; the kernel logs \"Housekeeping: nohz_full= or isolcpus= incorrect "
		   "CPU range\"";
	advise_at_word(c, finding, list->word);
}

static void check_absent(struct advise_check *c)
{
	static const char *const names[] = {"isolcpus", "nohz_full", "irqaffinity"};
	const struct cpuset *online, *present;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		advise_forget(c);
		const struct cpu_list list = list_of(c, names[i]);

		if (list.beyond)
			report_beyond(c, &list);
		if (!list.usable || !advise_cpus(c, &c->host->cpu.online, &online))
			continue;
		const struct cpuset missing = cpuset_minus(&list.cpus, online);

		if (cpuset_empty(&missing))
			continue;
		bool known = advise_cpus(c, &c->host->cpu.present, &present);

		advise_at_word(c,
			       advise_report_as(c, ADVISE_WARN, "%s names CPUs that %s: %s", names[i],
						known && cpuset_subset(&missing, present)
						    ? "are off line"
						    : "this host does not have on line",
						advise_cpu_list(c, &missing)),
			       list.word);
	}
}

static void check_split_cores(struct advise_check *c)
{
	const struct host_topology *topology = &c->host->topology;
	struct cpu_list list;

	if (!topology->core_known || !set_apart(c, &list))
		return;
	const struct cpuset cpus = cpuset_and(&list.cpus, host_cpu_online(c->host));
	const struct cpuset whole = topology_whole_cores(topology, &cpus);
	const struct cpuset left_out = cpuset_minus(&whole, &cpus);

	if (cpuset_empty(&left_out))
		return;
	advise_note_text(c, "topology", "%s: sibling threads %s", advise_cpu_list(c, &cpus),
			 advise_cpu_list(c, &left_out));
	advise_at_word(c,
		       advise_report(c, "%s sets %s apart but leaves their sibling threads %s to the host",
				     list.word->name, advise_cpu_list(c, &cpus), advise_cpu_list(c, &left_out)),
		       list.word);
}

static void check_split_l3(struct advise_check *c)
{
	const struct host_topology *topology = &c->host->topology;
	struct cpu_list list;
	const char *cut = "", *touched = "";
	int cut_count = 0;

	if (!topology->l3_known || topology->l3_count < 2 || !set_apart(c, &list))
		return;
	const struct cpuset cpus = cpuset_and(&list.cpus, host_cpu_online(c->host));
	/* Siblings left out are another finding; here they count as taken. */
	const struct cpuset whole = topology->core_known ? topology_whole_cores(topology, &cpus) : cpus;

	for (int i = 0; i < topology->l3_count; i++) {
		const struct cpuset *group = &topology->l3s[i].cpus;

		if (!cpuset_meets(group, &whole))
			continue;
		touched = advise_printf(c, "%s%s%d", touched, *touched ? "," : "", i);
		if (cpuset_subset(group, &whole))
			continue;
		cut_count++;
		if (cut_count <= 4)
			cut = advise_printf(c, "%s%s%d (%s)", cut, *cut ? ", " : "", i, advise_cpu_list(c, group));
	}
	if (!cut_count)
		return;
	advise_note_text(c, "topology", "%s touches L3 groups %s", advise_cpu_list(c, &cpus), touched);
	advise_at_word(c,
		       advise_report(c, "%s cuts through %d L3 group%s: %s%s", list.word->name, cut_count,
				     cut_count == 1 ? "" : "s", cut, cut_count > 4 ? "..." : ""),
		       list.word);
}

/* The CPUs that stay for the host. */
static struct cpuset left_to_host(struct advise_check *c, const struct cpu_list *list)
{
	return cpuset_minus(host_cpu_online(c->host), &list->cpus);
}

static void check_none_left(struct advise_check *c)
{
	const struct host_topology *topology = &c->host->topology;
	const struct cpuset *online;
	struct cpu_list list;

	if (!set_apart(c, &list) || !advise_cpus(c, &c->host->cpu.online, &online))
		return;
	const struct cpuset left = left_to_host(c, &list);

	if (cpuset_empty(&left)) {
		advise_at_word(c, advise_report(c, "%s leaves no CPU to the host", list.word->text), list.word);
		return;
	}
	if (!topology->core_known)
		return;
	for (int i = 0; i < topology->core_count; i++)
		if (cpuset_subset(&topology->cores[i].cpus, &left))
			return;
	advise_at_word(c,
		       advise_report_as(c, ADVISE_WARN, "%s leaves no whole core to the host, only %s", list.word->name,
					advise_cpu_list(c, &left)),
		       list.word);
}

static void check_cpu0(struct advise_check *c)
{
	struct cpu_list list;

	if (set_apart(c, &list) && cpuset_has(&list.cpus, 0))
		advise_at_word(
		    c, advise_report(c, "%s holds CPU 0, which the kernel uses for work of its own", list.word->name),
		    list.word);
}

static void check_lists_differ(struct advise_check *c)
{
	const struct cpu_list apart = list_of(c, "isolcpus");
	const struct cpu_list tickless = list_of(c, "nohz_full");

	if (!apart.usable || !tickless.usable || apart.balanced || cpuset_equal(&apart.cpus, &tickless.cpus))
		return;
	const struct cpuset only_isolated = cpuset_minus(&apart.cpus, &tickless.cpus);
	const struct cpuset only_tickless = cpuset_minus(&tickless.cpus, &apart.cpus);
	const char *first = cpuset_empty(&only_isolated)
				? ""
				: advise_printf(c, "; %s keep the tick", advise_cpu_list(c, &only_isolated));
	const char *second = cpuset_empty(&only_tickless) ? ""
							  : advise_printf(c, "; %s are tickless but balanced",
									  advise_cpu_list(c, &only_tickless));

	advise_at_word(c, advise_report(c, "isolcpus and nohz_full name different CPUs%s%s", first, second),
		       tickless.word);
}

static void check_one_without_other(struct advise_check *c)
{
	const struct cpu_list apart = list_of(c, "isolcpus");
	const struct cpu_list tickless = list_of(c, "nohz_full");

	/* tuned's cpu-partitioning leaves isolcpus out by design and marks the line with this word. */
	if (cmdline_last(c->cmdline, "tuned.non_isolcpus"))
		return;
	if (tickless.usable && !apart.word)
		advise_at_word(c,
			       advise_report(c,
					     "nohz_full without isolcpus: the tick comes back whenever two tasks share "
					     "one of %s",
					     advise_cpu_list(c, &tickless.cpus)),
			       tickless.word);
	else if (apart.usable && !apart.balanced && !tickless.word)
		advise_at_word(
		    c,
		    advise_report(c, "isolcpus without nohz_full: %s keep their tick", advise_cpu_list(c, &apart.cpus)),
		    apart.word);
}

static void check_irq_overlap(struct advise_check *c)
{
	const struct cpu_list irqs = list_of(c, "irqaffinity");
	struct cpu_list list;

	if (!irqs.usable || !isolated(c, &list) || !cpuset_meets(&irqs.cpus, &list.cpus))
		return;
	const struct cpuset both = cpuset_and(&irqs.cpus, &list.cpus);

	advise_at_word(c,
		       advise_report(c, "irqaffinity sends interrupts to isolated CPUs: %s", advise_cpu_list(c, &both)),
		       irqs.word);
}

static void check_complement(struct advise_check *c)
{
	const struct host_topology *topology = &c->host->topology;
	const struct cpu_list irqs = list_of(c, "irqaffinity");
	struct cpu_list list;

	if (!isolated(c, &list) || !topology->core_known || !topology->l3_known)
		return;
	const struct cpuset *online = host_cpu_online(c->host);
	const struct cpuset left = cpuset_minus(online, &list.cpus);
	bool fits = cpuset_subset(&list.cpus, online) && !cpuset_empty(&left) &&
		    !topology_split_cores(topology, &list.cpus) && !topology_split_l3s(topology, &list.cpus);

	if (!fits || (irqs.usable && !cpuset_equal(&irqs.cpus, &left)))
		return;
	advise_at_word(c,
		       advise_report(c, "isolcpus names whole cores and whole L3 groups (%s)%s",
				     advise_cpu_list(c, &list.cpus),
				     irqs.usable ? "; irqaffinity is their complement" : ""),
		       list.word);
}

static void check_unbalanced(struct advise_check *c)
{
	struct cpu_list list;

	if (isolated(c, &list))
		advise_at_word(
		    c,
		    advise_report(c,
				  "The scheduler does not balance load on isolated CPUs (%s): pin every vCPU to one of "
				  "them, a range puts all threads on its first CPU",
				  advise_cpu_list(c, &list.cpus)),
		    list.word);
}

/* Is what the host's own line asks for what the kernel shows? */
static void check_in_effect(struct advise_check *c)
{
	const struct {
		const char *name;
		const struct fact *fact;
	} pairs[] = {{"isolcpus", &c->host->cpu.isolated}, {"nohz_full", &c->host->cpu.nohz_full}};

	if (c->cmdline != &c->host->cmdline)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const struct cpuset *shown;

		advise_forget(c);
		const struct cpu_list list = list_of(c, pairs[i].name);

		if (!list.usable || list.balanced || !fact_known(pairs[i].fact) ||
		    !advise_cpus(c, pairs[i].fact, &shown))
			continue;
		struct cpuset asked = cpuset_and(&list.cpus, host_cpu_online(c->host));

		/* The boot CPU keeps its tick whatever is asked. */
		if (i == 1)
			cpuset_remove(&asked, 0);
		if (cpuset_subset(&asked, shown))
			continue;
		advise_at_word(c,
			       advise_report(c, "%s asks for %s, but the kernel shows %s", pairs[i].name,
					     advise_cpu_list(c, &asked), advise_cpu_list(c, shown)),
			       list.word);
	}
}

const struct advise_rule advise_cmdline_cpu_rules[] = {
    {
	.id = "cmdline.cpu-list-syntax",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "A list of CPUs is not understood",
	.mechanism =
	    "The form is 0-3,8,10-15:2/4 (first 2 of each 4), for isolcpus with flags before it. The kernel drops the "
	    "whole word on an error in the list.",
	.effect = "no CPU is set apart",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/kernel-parameters.rst",
	.hurts = "nothing",
	.by_hand = "correct the list",
	.check = check_syntax,
    },
    {
	.id = "cmdline.cpu-list-absent",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE,
	.title = "A list names CPUs that are not there",
	.mechanism =
	    "A number beyond the last possible CPU makes the kernel drop the whole list of isolcpus= or nohz_full=. "
	    "Numbers that could be there and are not on line are only without effect. Often the list was written for "
	    "another machine or for SMT on.",
	.effect = "fewer CPUs are set apart than meant",
	.basis = BASIS_DOCUMENT,
	.source = "Linux kernel/sched/isolation.c, housekeeping_setup(); lib/bitmap-str.c",
	.hurts = "nothing",
	.by_hand = "lscpu -e shows the CPUs that are there; cat /sys/devices/system/cpu/possible",
	.check = check_absent,
    },
    {
	.id = "cmdline.isolation-splits-cores",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE | NEEDS_METAL,
	.title = "CPUs are set apart without their sibling threads",
	.mechanism =
	    "Two threads share a core's units and caches: work of the host on the sibling slows the isolated thread "
	    "and its timing depends on it. Which numbers are siblings differs between machines.",
	.effect = "a busy sibling takes a large part of the core's throughput, and isolation loses its meaning",
	.basis = BASIS_REASONED,
	.source = "lxd issue 14709; pve-helpers issue 4",
	.hurts = "the host loses these threads",
	.by_hand = "add the sibling threads to the list (lscpu -e=cpu,core,cache), or leave them off line",
	.check = check_split_cores,
    },
    {
	.id = "cmdline.isolation-splits-l3",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE | NEEDS_METAL,
	.title = "CPUs are set apart across the edge of an L3 group",
	.mechanism =
	    "CPUs of one CCX share its L3. In a group that is cut, the host's work evicts the lines of the isolated "
	    "CPUs.",
	.effect = "not known in general; larger for work whose data fits the L3",
	.basis = BASIS_REASONED,
	.source = "study B: a VM inside one CCX beats one across two",
	.hurts = "the host loses or gains whole groups",
	.by_hand = "choose whole L3 groups: hvtune show topology",
	.experiment = "the list as it is against one of whole L3 groups, same number of cores",
	.check = check_split_l3,
    },
    {
	.id = "cmdline.no-core-for-host",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_CMDLINE | NEEDS_METAL,
	.title = "Isolation leaves no core to the host",
	.mechanism =
	    "Interrupts, QEMU's own threads, vhost and kernel threads need CPUs outside the list. A core of which only "
	    "one thread is left shares its units with an isolated CPU.",
	.effect = "work of the host runs on isolated CPUs",
	.basis = BASIS_REASONED,
	.source = PARAMETERS,
	.hurts = "the VMs lose a core",
	.by_hand = "leave at least one whole core out of the list",
	.check = check_none_left,
    },
    {
	.id = "cmdline.cpu0-isolated",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE | NEEDS_METAL,
	.title = "CPU 0 is among the CPUs that are set apart",
	.mechanism =
	    "The boot CPU keeps the time and takes what the kernel sends to no other CPU; nohz_full leaves it out "
	    "whatever the list says.",
	.effect = "CPU 0 is disturbed more than the others",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/timers/no_hz.rst",
	.hurts = "another CPU goes to the host instead",
	.by_hand = "leave CPU 0 and its siblings out of the list",
	.check = check_cpu0,
    },
    {
	.id = "cmdline.isolation-lists-differ",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_CMDLINE,
	.title = "isolcpus and nohz_full name different CPUs",
	.mechanism =
	    "An isolated CPU with a tick is still interrupted; a tickless CPU that is balanced gets other work, which "
	    "brings the tick back.",
	.effect = "the CPUs that are in one list only are half isolated",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/timers/no_hz.rst",
	.hurts = "nohz_full makes each entry to the kernel dearer, which guests with many exits feel",
	.by_hand = "make the lists equal",
	.check = check_lists_differ,
    },
    {
	.id = "cmdline.isolation-half",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "Only one of isolcpus and nohz_full is given",
	.mechanism = "isolcpus keeps other tasks away, nohz_full stops the tick while one task runs. Cpusets can do "
		     "the first at "
		     "run time; nohz_full makes entries to the kernel dearer.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/timers/no_hz.rst",
	.check = check_one_without_other,
    },
    {
	.id = "cmdline.irqaffinity-on-isolated",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "Interrupts are sent to isolated CPUs",
	.mechanism = "irqaffinity= is the default of all interrupts that are not managed by their driver.",
	.effect = "devices interrupt the isolated CPUs",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.hurts = "the other CPUs take these interrupts",
	.by_hand = "name only CPUs that are not isolated in irqaffinity=",
	.check = check_irq_overlap,
    },
    {
	.id = "cmdline.isolation-whole",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_CMDLINE | NEEDS_METAL,
	.title = "The isolated CPUs are whole cores and whole L3 groups",
	.mechanism = "Nothing of the host shares a core or an L3 with them.",
	.basis = BASIS_REASONED,
	.source = PARAMETERS,
	.check = check_complement,
    },
    {
	.id = "cmdline.isolated-not-balanced",
	.severity = ADVISE_INFO,
	.needs = NEEDS_CMDLINE,
	.title = "Isolated CPUs are not load-balanced",
	.mechanism =
	    "The scheduler never moves a task from one isolated CPU to another. A VM whose threads may all use a range "
	    "of them runs on one CPU; each vCPU must be pinned to its own. Isolation lasts until the next boot; "
	    "cpuset partitions do the same and can be taken back.",
	.basis = BASIS_DOCUMENT,
	.source = PARAMETERS,
	.by_hand = "virsh vcpupin, or taskset for each thread; or take isolcpus= out and use cpusets",
	.check = check_unbalanced,
    },
    {
	.id = "cmdline.isolation-not-in-effect",
	.severity = ADVISE_WARN,
	.needs = NEEDS_CMDLINE,
	.title = "The kernel does not isolate what the command line asks for",
	.mechanism =
	    "The kernel dropped the word (syntax, or built without CONFIG_NO_HZ_FULL or CONFIG_CPU_ISOLATION).",
	.effect = "the CPUs are not isolated",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/ABI/testing/sysfs-devices-system-cpu",
	.hurts = "nothing",
	.by_hand = "journalctl -k -b | grep -iE 'isolcpus|nohz|housekeeping'",
	.check = check_in_effect,
    },
    {.id = NULL},
};

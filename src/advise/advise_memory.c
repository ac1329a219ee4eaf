/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about memory but for reserved hugepages: THP, KSM, NUMA balancing, swap, reclaim. */
#include <inttypes.h>

#include "advise_check.h"

enum { KIB_1G = 1048576, KIB_16M = 16384 };

static bool vms_run(struct advise_check *c)
{
	if (!host_kvm_in_use(&c->host->kvm))
		return false;
	(void)advise_note(c, &c->host->kvm.users);
	return true;
}

/* KVM is known not to be there: such a host runs no VMs, and rules about their memory do not concern it. */
static bool kvm_is_out(const struct advise_check *c)
{
	return fact_is_off(&c->host->kvm.module_vendor) || fact_is_off(&c->host->kvm.flag_svm);
}

static void check_thp_never(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	const char *enabled;

	if (kvm_is_out(c) || !advise_text(c, &memory->thp_enabled, &enabled) || !text_equal(enabled, "never"))
		return;
	for (int i = 0; i < memory->page_size_count; i++)
		(void)advise_note(c, &memory->pages[i].total);
	/* With a pool, "never" may be how VMs and the rest are kept apart. */
	if (host_memory_reserved_kib(memory))
		return;
	(void)advise_report_as(c, vms_run(c) ? ADVISE_WARN : ADVISE_ADVICE,
			       "Transparent hugepages are off and none are reserved: guest memory is all 4 KiB pages");
}

static void check_thp_always(struct advise_check *c)
{
	const char *enabled;

	if (advise_text(c, &c->host->memory.thp_enabled, &enabled) && text_equal(enabled, "always"))
		(void)advise_report(c, "Transparent hugepages are given to every process, not only to VMs");
}

static void check_thp_word(struct advise_check *c)
{
	const struct cmdline_word *word = advise_word(c, "transparent_hugepage");
	const struct tuned_setting *setting =
	    host_tuned_setting(&c->host->daemons.tuned, "vm", "transparent_hugepages");

	if (!word || !word->value)
		return;
	if (!setting)
		setting = host_tuned_setting(&c->host->daemons.tuned, "vm", "transparent_hugepage");
	/* Of the host's own line the rules about tuned say that it contradicts the profile. */
	bool differs = setting && c->subject->cmdline && !text_equal(setting->value, word->value);

	if (differs)
		advise_note_text(c, setting->path ? setting->path : "tuned profile", "%s=%s", setting->option,
				 setting->value);
	struct advise_finding *finding =
	    advise_report_as(c, differs ? ADVISE_ADVICE : ADVISE_INFO,
			     differs ? "%s on the command line: tuned then leaves its own setting %s undone"
				     : "%s on the command line decides about transparent hugepages%s",
			     word->text, differs ? setting->value : "");

	advise_at_word(c, finding, word);
}

static void check_ksm(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t run, sharing, profit = 0;

	if (!advise_number(c, &memory->ksm_run, &run) || run != 1 ||
	    !advise_number(c, &memory->ksm_pages_sharing, &sharing))
		return;
	bool has_profit = advise_number(c, &memory->ksm_general_profit, &profit);

	if (has_profit && profit < 0)
		(void)advise_report_as(
		    c, ADVISE_ADVICE,
		    "KSM needs more memory for itself than it saves (general_profit %" PRId64 " bytes)", profit);
	else
		(void)advise_report_as(
		    c, ADVISE_INFO, "KSM runs and saves %s",
		    text_kib(c->arena, sharing > 0 && sharing < (INT64_C(1) << 40) ? sharing * 4 : 0));
}

static void check_ksm_nodes(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t run, across;

	if (c->host->topology.node_count < 2 || !advise_number(c, &memory->ksm_run, &run) || run != 1)
		return;
	if (advise_number(c, &memory->ksm_merge_across_nodes, &across) && across == 1)
		(void)advise_report(c, "KSM merges pages across the %d NUMA nodes", c->host->topology.node_count);
}

static void check_ksm_stopped(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t run, sharing;

	if (advise_number(c, &memory->ksm_run, &run) && run == 0 &&
	    advise_number(c, &memory->ksm_pages_sharing, &sharing) && sharing > 0 && sharing < (INT64_C(1) << 40))
		(void)advise_report(c, "KSM is stopped, but %s stay merged", text_kib(c->arena, sharing * 4));
}

/* kernel.numa_balancing: bit 0 balances, bit 1 is memory tiering (admin-guide/sysctl/kernel.rst). */
static void check_numa_balancing(struct advise_check *c)
{
	int64_t bits;

	if (c->host->topology.node_count < 2 || !advise_number(c, &c->host->memory.numa_balancing, &bits))
		return;
	bool run = vms_run(c);

	advise_note_text(c, "topology", "%d NUMA nodes", c->host->topology.node_count);
	if (bits & 1)
		(void)advise_report_as(
		    c, run ? ADVISE_ADVICE : ADVISE_INFO,
		    "NUMA balancing is on: it helps VMs that float and hurts some that are large or bound");
	else
		(void)advise_report_as(c, ADVISE_INFO, "NUMA balancing is %s on this host with %d nodes",
				       bits & 2 ? "in memory tiering mode only" : "off", c->host->topology.node_count);
}

static void check_swap(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t total_kib, free_kib, memory_kib, available_kib;

	if (!advise_number(c, &memory->swap_total_kib, &total_kib) || !total_kib ||
	    !advise_number(c, &memory->swap_free_kib, &free_kib) || !advise_number(c, &memory->total_kib, &memory_kib))
		return;
	int64_t used_kib = total_kib - free_kib;

	if (used_kib < KIB_1G)
		return;
	bool tight = advise_number(c, &memory->available_kib, &available_kib) && available_kib < memory_kib / 10;

	/* What is swapped out may be what nobody needs; a swap that is nearly full has no room for the rest. */
	bool full = free_kib < total_kib / 4;
	enum advise_severity severity = tight && vms_run(c) ? ADVISE_WARN : full ? ADVISE_ADVICE : ADVISE_INFO;

	(void)advise_report_as(c, severity, "%s of %s swap are in use%s", text_kib(c->arena, used_kib),
			       text_kib(c->arena, total_kib), tight ? ", and little memory is available" : "");
}

static void check_available(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t total_kib, available_kib;

	if (!advise_number(c, &memory->total_kib, &total_kib) ||
	    !advise_number(c, &memory->available_kib, &available_kib))
		return;
	if (total_kib >= 4 * (int64_t)KIB_1G && available_kib < total_kib / 50 && available_kib < 2 * (int64_t)KIB_1G)
		(void)advise_report(c, "Only %s of %s are available", text_kib(c->arena, available_kib),
				    text_kib(c->arena, total_kib));
}

static void check_zone_reclaim(struct advise_check *c)
{
	int64_t mode;

	if (c->host->topology.node_count > 1 && advise_number(c, &c->host->memory.zone_reclaim_mode, &mode) && mode > 0)
		(void)advise_report(c, "vm.zone_reclaim_mode = %" PRId64 " on a host with %d nodes", mode,
				    c->host->topology.node_count);
}

static void check_node_full(struct advise_check *c)
{
	const struct host_topology *topology = &c->host->topology;

	for (int i = 0; i < topology->node_count && topology->node_count > 1; i++) {
		const struct topology_node *node = &topology->nodes[i];
		int64_t total_kib, free_kib;

		advise_forget(c);
		if (node->memoryless || !advise_number(c, &node->memory_kib, &total_kib) || total_kib < KIB_1G ||
		    !advise_number(c, &node->free_kib, &free_kib))
			continue;
		if (free_kib < total_kib / 50)
			(void)advise_report(c, "Node %d has %s of %s free", node->os_node, text_kib(c->arena, free_kib),
					    text_kib(c->arena, total_kib));
	}
}

static void check_overcommit(struct advise_check *c)
{
	int64_t mode;

	if (kvm_is_out(c) || !advise_number(c, &c->host->memory.overcommit_memory, &mode) || mode != 2)
		return;
	(void)advise_note(c, &c->host->memory.commit_limit_kib);
	(void)advise_note(c, &c->host->memory.committed_kib);
	(void)advise_report(c, "vm.overcommit_memory = 2: memory is only promised up to a limit");
}

/*
 * init_per_zone_wmark_min() takes 4 * sqrt(KiB of memory), at most 256 MiB: 23 MiB at 32 GiB and more above. Less than
 * 16 MiB there was set by hand.
 */
static void check_min_free(struct advise_check *c)
{
	int64_t total_kib, min_kib;

	if (!advise_number(c, &c->host->memory.total_kib, &total_kib) || total_kib < 32 * (int64_t)KIB_1G ||
	    !advise_number(c, &c->host->memory.min_free_kbytes, &min_kib))
		return;
	if (min_kib < KIB_16M)
		(void)advise_report(c, "vm.min_free_kbytes is %s on a host with %s", text_kib(c->arena, min_kib),
				    text_kib(c->arena, total_kib));
}

#define VM_RST "Linux Documentation/admin-guide/sysctl/vm.rst"
#define KSM_RST "Linux Documentation/admin-guide/mm/ksm.rst"
#define THP_RST "Linux Documentation/admin-guide/mm/transhuge.rst"

const struct advise_rule advise_memory_rules[] = {
    {
	.id = "memory.thp-never",
	.severity = ADVISE_WARN,
	.needs = NEEDS_METAL,
	.title = "Guest memory can only be 4 KiB pages",
	.mechanism =
	    "Transparent hugepages are off and no hugepages are reserved. With nested paging each TLB miss then "
	    "walks up to 24 table entries, and a TLB entry covers 4 KiB instead of 2 MiB.",
	.effect = "slower memory access in every VM; how much depends on the workload",
	.basis = BASIS_DOCUMENT,
	.source = THP_RST,
	.hurts = "databases that ask for THP to be off on the host itself: use madvise, which only QEMU and others "
		 "that ask get",
	.knobs = "thp=madvise",
	.by_hand =
	    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (and take transparent_hugepage=never off the "
	    "command line)",
	.check = check_thp_never,
    },
    {
	.id = "memory.thp-always",
	.severity = ADVISE_INFO,
	.title = "Transparent hugepages are given to every process",
	.mechanism =
	    "QEMU asks for hugepages by madvise(), so VMs get them with `madvise` as with `always`. `always` gives "
	    "them to all else too, which costs memory and compaction.",
	.basis = BASIS_DOCUMENT,
	.source = THP_RST,
	.hurts = "with madvise other programs on the host lose them",
	.experiment = "thp=always against thp=madvise with the VMs that matter",
	.check = check_thp_always,
    },
    {
	.id = "memory.thp-set-at-boot",
	.severity = ADVISE_ADVICE,
	.needs = JUDGES_WORDS | NEEDS_CMDLINE,
	.title = "The command line decides about transparent hugepages",
	.mechanism =
	    "tuned does not touch transparent hugepages when transparent_hugepage= stands on the kernel command line.",
	.effect = "the profile's setting has no effect",
	.basis = BASIS_DOCUMENT,
	.source = "tuned, plug-in vm",
	.hurts = "nothing known",
	.by_hand = "take the word off the command line, or the setting out of the profile",
	.check = check_thp_word,
    },
    {
	.id = "memory.ksm-running",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "KSM merges equal pages of VMs",
	.mechanism =
	    "ksmd scans guest memory, splits hugepages to merge their parts, and each write to a merged page costs a "
	    "fault and a copy. What is merged can be told by timing from another VM.",
	.effect = "memory saved against CPU time of ksmd and fewer hugepages; size not known in general",
	.basis = BASIS_DOCUMENT,
	.source = KSM_RST,
	.hurts = "without KSM an overcommitted host needs the memory that was saved",
	.knobs = "ksm=2",
	.by_hand = "systemctl disable --now ksmtuned ksm; echo 2 > /sys/kernel/mm/ksm/run",
	.experiment = "ksm=2 against ksm=1 with the VMs that matter",
	.check = check_ksm,
    },
    {
	.id = "memory.ksm-across-nodes",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "KSM merges pages across NUMA nodes",
	.mechanism = "One copy of a merged page lies on one node; VMs on the other nodes read it over the fabric.",
	.effect = "remote reads of merged pages",
	.basis = BASIS_DOCUMENT,
	.source = KSM_RST,
	.hurts = "merging per node saves less memory",
	.knobs = "ksm.merge_across_nodes=0",
	.by_hand = "echo 2 > /sys/kernel/mm/ksm/run; echo 0 > /sys/kernel/mm/ksm/merge_across_nodes; echo 1 > "
		   "/sys/kernel/mm/ksm/run",
	.check = check_ksm_nodes,
    },
    {
	.id = "memory.ksm-stopped-but-merged",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "KSM is stopped, but pages stay merged",
	.mechanism = "run=0 stops the scan and keeps what is merged; only run=2 takes it apart.",
	.basis = BASIS_DOCUMENT,
	.source = KSM_RST,
	.hurts = "taking pages apart needs the memory that was saved",
	.knobs = "ksm=2",
	.by_hand = "echo 2 > /sys/kernel/mm/ksm/run",
	.check = check_ksm_stopped,
    },
    {
	.id = "memory.numa-balancing",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "NUMA balancing: its sign is not the same on every host",
	.mechanism =
	    "The kernel unmaps pages to see which node uses them, and moves them. For a VM each such round goes "
	    "through KVM's MMU notifier; a VM that is bound to its node gains nothing from it.",
	.effect = "off cost up to 20 % on one EPYC host and cured a VM that lagged on another",
	.basis = BASIS_REPORTS,
	.source = "tuned issue 283; cloud-hypervisor issue 7574 (EPYC 9V33X)",
	.hurts = "VMs that are not bound lose locality without it",
	.by_hand = "sysctl kernel.numa_balancing=0 (or 1)",
	.experiment = "numa_balancing=1 against numa_balancing=0 with the VMs that matter",
	.check = check_numa_balancing,
    },
    {
	.id = "memory.swap-in-use",
	.severity = ADVISE_WARN,
	.title = "Memory is swapped out",
	.mechanism =
	    "Guest memory on normal pages can be swapped. A guest does not see it: its own memory then takes as long "
	    "as the disk.",
	.effect = "pauses in VMs whose memory was swapped out",
	.basis = BASIS_REASONED,
	.source = VM_RST,
	.hurts = "nothing known",
	.by_hand = "grep VmSwap /proc/*/status tells whose memory it is; smaller or fewer VMs, or reserved hugepages",
	.check = check_swap,
    },
    {
	.id = "memory.available-low",
	.severity = ADVISE_WARN,
	.title = "Hardly any memory is available",
	.mechanism = "The kernel reclaims all the time, and kills the largest process when that is not enough: a VM.",
	.effect = "pauses, and killed VMs",
	.basis = BASIS_REASONED,
	.source = "Linux Documentation/filesystems/proc.rst, MemAvailable",
	.hurts = "nothing known",
	.by_hand = "free -h; smaller or fewer VMs, or a smaller pool of hugepages",
	.check = check_available,
    },
    {
	.id = "memory.zone-reclaim",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "Zone reclaim is on",
	.mechanism =
	    "A node that runs short frees its own page cache first instead of taking memory of another node. That "
	    "suits partitioned workloads and stalls a host whose VMs and caches share nodes.",
	.effect = "allocation stalls against fewer remote pages",
	.basis = BASIS_DOCUMENT,
	.source = VM_RST,
	.hurts = "partitioned workloads that want local memory at any price",
	.knobs = "zone_reclaim_mode=0",
	.by_hand = "sysctl vm.zone_reclaim_mode=0 (tuned's hpc-compute sets 1)",
	.experiment = "zone_reclaim_mode=0 against 1",
	.check = check_zone_reclaim,
    },
    {
	.id = "memory.node-nearly-full",
	.severity = ADVISE_INFO,
	.needs = NEEDS_METAL,
	.title = "A NUMA node has hardly any free memory",
	.mechanism =
	    "What is free on a node, not what it has in all, decides where a new VM's memory lands. Page cache counts "
	    "as used here and can be given back.",
	.basis = BASIS_REASONED,
	.source = "/sys/devices/system/node/nodeN/meminfo",
	.hurts = "nothing known",
	.by_hand = "numastat -m",
	.check = check_node_full,
    },
    {
	.id = "memory.overcommit-strict",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_METAL,
	.title = "Memory is promised strictly",
	.mechanism =
	    "With vm.overcommit_memory=2 the kernel refuses mappings beyond CommitLimit, which counts all memory of a "
	    "VM at its start, touched or not.",
	.effect = "VMs fail to start although memory is free",
	.basis = BASIS_DOCUMENT,
	.source = VM_RST,
	.hurts = "without it memory that was promised may not be there in the end",
	.knobs = "overcommit_memory=0",
	.by_hand = "sysctl vm.overcommit_memory=0",
	.check = check_overcommit,
    },
    {
	.id = "memory.min-free-tiny",
	.severity = ADVISE_ADVICE,
	.title = "The kernel's reserve of free memory was lowered",
	.mechanism =
	    "Below vm.min_free_kbytes allocations stall in reclaim, and network drivers lose packets; the kernel's own "
	    "choice grows with memory.",
	.effect = "stalls and lost packets under memory pressure",
	.basis = BASIS_DOCUMENT,
	.source = VM_RST,
	.hurts = "a larger reserve is memory that nothing else uses",
	.by_hand = "take vm.min_free_kbytes out of /etc/sysctl.d and reboot, or set it to 67584 or more",
	.check = check_min_free,
    },
    {.id = NULL},
};

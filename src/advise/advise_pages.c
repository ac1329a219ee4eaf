/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about reserved hugepages: what the kernel parameters asked for against what is there, and how it is
 * used. */
#include <inttypes.h>

#include "advise_check.h"

enum { KIB_1G = 1048576 };

static const char *size_shown(struct advise_check *c, int64_t kib)
{
	return text_kib(c->arena, kib);
}

static void note_word(struct advise_check *c, const struct cmdline_word *word)
{
	advise_note_text(c, c->host->cmdline.path ? c->host->cmdline.path : "/proc/cmdline", "%s", word->text);
}

static const struct hugewords *words_of(const struct advise_check *c)
{
	return &c->host->memory.hugewords;
}

/* A pool that the words ask for and that the kernel has, with its total; false when either is not known. */
static bool known_pool(struct advise_check *c, const struct hugeword_pool *asked, const struct memory_pages **ret_pages,
		       int64_t *ret_total)
{
	*ret_pages = host_memory_pages_of(&c->host->memory, asked->size_kib);
	return *ret_pages && advise_number(c, &(*ret_pages)->total, ret_total);
}

static const struct memory_node_pages *node_pages(const struct memory_pages *pages, int os_node)
{
	for (int i = 0; i < pages->node_count; i++)
		if (pages->nodes[i].os_node == os_node)
			return &pages->nodes[i];
	return NULL;
}

/* "node 1 has 4 of 8" for the nodes that fall short of a per-node word; NULL when none is known to. */
static const char *short_nodes(struct advise_check *c, const struct hugeword_pool *asked,
			       const struct memory_pages *pages)
{
	const char *list = NULL;

	for (int i = 0; i < asked->node_count; i++) {
		const struct memory_node_pages *node = node_pages(pages, asked->os_nodes[i]);
		int64_t there;

		if (!node || !fact_known(&node->total) || node->total.number >= asked->node_pages[i])
			continue;
		(void)advise_number(c, &node->total, &there);
		list = advise_printf(c, "%s%snode %d has %" PRId64 " of %" PRId64, list ? list : "", list ? ", " : "",
				     node->os_node, there, asked->node_pages[i]);
	}
	return list;
}

static void check_short(struct advise_check *c)
{
	const struct hugewords *words = words_of(c);

	for (int i = 0; i < words->pool_count; i++) {
		const struct hugeword_pool *asked = &words->pools[i];
		const struct memory_pages *pages;
		int64_t total;

		advise_forget(c);
		note_word(c, asked->word);
		if (!known_pool(c, asked, &pages, &total))
			continue;
		const char *nodes = short_nodes(c, asked, pages);

		if (total >= asked->pages && !nodes)
			continue;
		bool cma = asked->size_kib == KIB_1G && words->cma_word;
		struct advise_finding *finding =
		    advise_report(c, "%s asks for %" PRId64 " pages of %s, and there are %" PRId64, asked->word->text,
				  asked->pages, size_shown(c, asked->size_kib), total);

		finding->detail =
		    cma	    ? "hugetlb_cma= is set: the kernel then skips the boot-time reservation of 1 GiB pages"
		    : nodes ? nodes
			    : "either the memory was not there at boot, or pages were given back since";
	}
}

/* Does sysfs hold what the words ask for, everywhere? Nothing is said unless every pool could be compared. */
static void check_as_asked(struct advise_check *c)
{
	const struct hugewords *words = words_of(c);

	for (int i = 0; i < words->pool_count; i++) {
		const struct hugeword_pool *asked = &words->pools[i];
		const struct memory_pages *pages;
		int64_t total;

		note_word(c, asked->word);
		if (!asked->pages || !known_pool(c, asked, &pages, &total) || total < asked->pages ||
		    short_nodes(c, asked, pages))
			return;
	}
	if (words->pool_count)
		(void)advise_report(c, "All hugepages that the kernel parameters ask for are there");
}

/* Nodes that have memory and list pages of this size. */
static bool node_counts(const struct advise_check *c, const struct memory_node_pages *node)
{
	const struct topology_node *place = topology_node_by_os(&c->host->topology, node->os_node);

	return fact_known(&node->total) && !(place && place->memoryless);
}

static int spread_of(struct advise_check *c, const struct memory_pages *pages, int64_t *ret_least, int64_t *ret_most)
{
	int nodes = 0;

	for (int i = 0; i < pages->node_count; i++) {
		if (!node_counts(c, &pages->nodes[i]))
			continue;
		int64_t total = pages->nodes[i].total.number;

		(void)advise_note(c, &pages->nodes[i].total);
		*ret_least = nodes ? MIN_OF(*ret_least, total) : total;
		*ret_most = nodes ? MAX_OF(*ret_most, total) : total;
		nodes++;
	}
	return nodes;
}

static void check_uneven(struct advise_check *c)
{
	for (int i = 0; i < c->host->memory.page_size_count; i++) {
		const struct memory_pages *pages = &c->host->memory.pages[i];
		const struct hugeword_pool *asked = hugewords_pool(words_of(c), pages->size_kib);
		int64_t least = 0, most = 0;

		advise_forget(c);
		/* A split that was asked for node by node is no fault. */
		if (asked && asked->per_node)
			continue;
		if (spread_of(c, pages, &least, &most) < 2 || most - least <= 1)
			continue;
		bool by_word = asked && asked->pages > 0;

		if (by_word)
			note_word(c, asked->word);
		/* Without a word the split may be just what the admin set node by node: a fact, not a fault. */
		(void)advise_report_as(c, by_word ? ADVISE_ADVICE : ADVISE_INFO,
				       "Pages of %s lie unevenly on the nodes: from %" PRId64 " to %" PRId64 " a node",
				       size_shown(c, pages->size_kib), least, most);
	}
}

static void check_1g(struct advise_check *c)
{
	const struct hugewords *words = words_of(c);

	if (!fact_known(&c->host->cpu.flags) || host_cpu_has_flag(&c->host->cpu, "pdpe1gb"))
		return;
	for (int i = 0; i < words->word_count; i++) {
		const struct hugeword *word = &words->words[i];

		if (word->verdict != HUGEWORD_SIZE_UNKNOWN || word->size_kib != KIB_1G)
			continue;
		advise_forget(c);
		note_word(c, word->word);
		advise_note_text(c, c->host->cpu.flags.source ? c->host->cpu.flags.source : "/proc/cpuinfo",
				 "no flag pdpe1gb");
		struct advise_finding *finding =
		    advise_report(c, "%s is ignored: this CPU shows no 1 GiB pages", word->word->text);

		if (host_is_guest(c->host))
			finding->detail = "a guest sees them only when its CPU model has the feature pdpe1gb";
		return;
	}
}

static int64_t asked_kib(const struct hugewords *words)
{
	int64_t sum = 0;

	for (int i = 0; i < words->pool_count; i++)
		sum += MIN_OF(words->pools[i].pages, INT64_C(1) << 31) * words->pools[i].size_kib;
	return sum;
}

static void check_larger_than_memory(struct advise_check *c)
{
	const struct hugewords *words = words_of(c);
	int64_t total_kib;

	for (int i = 0; i < words->pool_count; i++)
		note_word(c, words->pools[i].word);
	if (!words->pool_count || !advise_number(c, &c->host->memory.total_kib, &total_kib) || total_kib <= 0)
		return;
	if (asked_kib(words) >= total_kib)
		(void)advise_report(c, "The kernel parameters ask for %s of hugepages on a host with %s of memory",
				    size_shown(c, asked_kib(words)), size_shown(c, total_kib));
}

static void check_leave_little(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t reserved_kib = host_memory_reserved_kib(memory), total_kib;

	if (!reserved_kib || !advise_number(c, &memory->total_kib, &total_kib))
		return;
	for (int i = 0; i < memory->page_size_count; i++)
		(void)advise_note(c, &memory->pages[i].total);
	int64_t rest_kib = total_kib - reserved_kib;

	/* The kernel, page tables, QEMU itself and the page cache live in the rest. */
	if (rest_kib >= 0 && rest_kib < INT64_C(2) * KIB_1G && rest_kib < total_kib / 8)
		(void)advise_report(c, "Hugepages hold %s of %s: %s are left for everything else",
				    size_shown(c, reserved_kib), size_shown(c, total_kib), size_shown(c, rest_kib));
}

static void check_idle(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t reserved_kib = host_memory_reserved_kib(memory), idle_kib = host_memory_idle_kib(memory);

	for (int i = 0; i < memory->page_size_count; i++)
		if (fact_number_or(&memory->pages[i].total, 0) > 0) {
			(void)advise_note(c, &memory->pages[i].total);
			(void)advise_note(c, &memory->pages[i].free);
		}
	if (idle_kib >= KIB_1G && idle_kib > reserved_kib / 2)
		(void)advise_report(c, "%s of %s in hugepages are free, and nothing else can use them",
				    size_shown(c, idle_kib), size_shown(c, reserved_kib));
}

static void check_surplus(struct advise_check *c)
{
	for (int i = 0; i < c->host->memory.page_size_count; i++) {
		const struct memory_pages *pages = &c->host->memory.pages[i];
		int64_t surplus;

		advise_forget(c);
		if (advise_number(c, &pages->surplus, &surplus) && surplus > 0)
			(void)advise_report(c, "%" PRId64 " pages of %s are surplus: they go away when freed", surplus,
					    size_shown(c, pages->size_kib));
	}
}

static void check_none(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	int64_t total_kib;

	if (!memory->page_size_count || !host_kvm_in_use(&c->host->kvm) || host_memory_reserved_kib(memory))
		return;
	(void)advise_note(c, &c->host->kvm.users);
	if (!advise_number(c, &memory->total_kib, &total_kib) || total_kib < INT64_C(16) * KIB_1G)
		return;
	for (int i = 0; i < memory->page_size_count; i++)
		if (!advise_note(c, &memory->pages[i].total))
			return;
	(void)advise_note(c, &memory->thp_enabled);
	(void)advise_report(c, "VMs run, and no hugepages are reserved");
}

/* A pool with pages in it and no mount of its size. */
static bool mounted(const struct advise_check *c, const struct memory_pages *pages)
{
	const char *mounts = fact_text_or(&c->host->memory.hugetlb_mounts, "");
	const char *size = arena_printf(c->arena, "(%s)", text_kib(c->arena, pages->size_kib));
	bool is_default = fact_is_number(&c->host->memory.default_page_kib, pages->size_kib);

	return strstr(mounts, size) || (is_default && strstr(mounts, "(default size)"));
}

static void check_no_mount(struct advise_check *c)
{
	const struct host_memory *memory = &c->host->memory;
	const struct fact *mounts = &memory->hugetlb_mounts;

	/* In a container the mounts are the container's. */
	if (fact_known(&c->host->os.container) || !host_kvm_in_use(&c->host->kvm))
		return;
	if (!fact_known(mounts) && !text_equal(mounts->note, MEMORY_NO_HUGETLBFS))
		return;
	for (int i = 0; i < memory->page_size_count; i++) {
		int64_t total;

		advise_forget(c);
		(void)advise_note(c, mounts);
		if (advise_number(c, &memory->pages[i].total, &total) && total > 0 && !mounted(c, &memory->pages[i]))
			(void)advise_report(
			    c, "%" PRId64 " pages of %s are reserved, and no hugetlbfs of that size is mounted", total,
			    size_shown(c, memory->pages[i].size_kib));
	}
}

static void check_default_size(struct advise_check *c)
{
	const struct hugewords *words = words_of(c);

	if (!words->default_word || words->default_kib != KIB_1G)
		return;
	note_word(c, words->default_word);
	(void)advise_note(c, &c->host->memory.hugetlb_mounts);
	(void)advise_report(c, "%s: everything that asks for hugepages without a size now gets pages of 1 GiB",
			    words->default_word->text);
}

#define HUGETLB_GUIDE "Linux Documentation/admin-guide/mm/hugetlbpage.rst"

const struct advise_rule advise_pages_rules[] = {
    {
	.id = "memory.hugepages-short-of-boot-word",
	.severity = ADVISE_WARN,
	.title = "Fewer hugepages than the kernel parameters ask for",
	.mechanism =
	    "The kernel reserves what it finds and says so only in its log. 1 GiB pages need contiguous memory "
	    "that is there at boot only; a VM that counts on the missing pages does not start.",
	.effect = "VMs that need the missing pages fail to start",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLB_GUIDE,
	.hurts = "pages that are reserved are lost to everything else",
	.knobs = NULL,
	.by_hand =
	    "dmesg | grep HugeTLB tells what was allocated; ask for fewer pages, or per node (hugepages=0:8,1:8)",
	.check = check_short,
    },
    {
	.id = "memory.hugepages-as-asked",
	.severity = ADVISE_GOOD,
	.title = "All hugepages that the kernel parameters ask for are there",
	.mechanism =
	    "The words were read in order as the kernel reads them, and compared with the pools, per node where "
	    "the words are.",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLB_GUIDE,
	.hurts = "nothing known",
	.check = check_as_asked,
    },
    {
	.id = "memory.hugepages-uneven",
	.severity = ADVISE_ADVICE,
	.title = "Hugepages lie unevenly on the NUMA nodes",
	.mechanism =
	    "A plain hugepages=N is spread over the nodes, but a node without enough contiguous memory gets fewer. "
	    "A VM bound to that node then fails to start, or takes pages of another node.",
	.effect = "remote memory for VMs that are placed by node, or a failed start with strict binding",
	.basis = BASIS_REPORTS,
	.source = "performance-addon-operators issue 279; " HUGETLB_GUIDE,
	.hurts = "nothing known",
	.by_hand = "grep . /sys/devices/system/node/node*/hugepages/*/nr_hugepages; ask per node: hugepages=0:8,1:8",
	.check = check_uneven,
    },
    {
	.id = "memory.1g-not-supported",
	.severity = ADVISE_FAIL,
	.title = "1 GiB pages are asked for on a CPU that has none",
	.mechanism = "The kernel ignores a size that the CPU does not have, and the hugepages= behind it.",
	.effect = "none of these pages exist",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLB_GUIDE,
	.hurts = "nothing known",
	.by_hand = "use hugepagesz=2M; grep -c pdpe1gb /proc/cpuinfo tells whether 1 GiB pages are there",
	.check = check_1g,
    },
    {
	.id = "memory.boot-words-larger-than-memory",
	.severity = ADVISE_FAIL,
	.title = "The kernel parameters ask for more hugepages than there is memory",
	.mechanism = "The kernel takes what it can get, which leaves next to nothing for itself.",
	.effect = "the host may not boot, or run out of memory early",
	.basis = BASIS_REASONED,
	.source = HUGETLB_GUIDE,
	.hurts = "nothing known",
	.by_hand = "lower hugepages= so that a few GiB are left",
	.check = check_larger_than_memory,
    },
    {
	.id = "memory.hugepages-leave-little",
	.severity = ADVISE_WARN,
	.title = "Hugepages leave little memory for everything else",
	.mechanism =
	    "Reserved pages cannot be swapped, nor used by the kernel, by QEMU's own memory or by the page cache. "
	    "What is left must hold all of that.",
	.effect = "reclaim, swapping and in the end killed processes, QEMU among them",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLB_GUIDE,
	.hurts = "fewer reserved pages mean fewer or smaller VMs",
	.by_hand = "echo N > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages with a smaller N",
	.check = check_leave_little,
    },
    {
	.id = "memory.hugepages-idle",
	.severity = ADVISE_INFO,
	.title = "Most reserved hugepages are free",
	.mechanism = "Pages in a pool belong to the pool whether a VM uses them or not.",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLB_GUIDE,
	.hurts = "1 GiB pages that are given back can rarely be had again without a reboot",
	.by_hand = "echo N > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
	.check = check_idle,
    },
    {
	.id = "memory.hugepages-surplus",
	.severity = ADVISE_INFO,
	.title = "Some hugepages are surplus",
	.mechanism =
	    "A pool was shrunk below what is in use, or nr_overcommit_hugepages let it grow. Such pages go back to "
	    "the system as soon as they are freed, so the next start of that VM may not find them.",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLB_GUIDE,
	.hurts = "nothing known",
	.by_hand = "raise nr_hugepages to what the VMs need",
	.check = check_surplus,
    },
    {
	.id = "memory.hugepages-none",
	.severity = ADVISE_INFO,
	.title = "VMs run without reserved hugepages",
	.mechanism =
	    "With nested paging a TLB miss walks up to 24 entries for 4 KiB pages. Transparent hugepages cover much "
	    "of a VM's memory, reserved ones all of it and for good; 1 GiB pages suit large pinned VMs.",
	.effect = "study B: threads benchmark in the guest 28.5 % more events, hugepages and pinning together",
	.basis = BASIS_STUDY,
	.source = "study B: sysbench threads, before and after",
	.hurts = "reserved memory is lost to everything else; VMs with such pages can't be ballooned or swapped",
	.experiment = "one VM with transparent hugepages against the same VM on reserved pages",
	.check = check_none,
    },
    {
	.id = "memory.hugetlb-no-mount",
	.severity = ADVISE_ADVICE,
	.title = "Hugepages are reserved, but no hugetlbfs of their size is mounted",
	.mechanism =
	    "libvirt puts guest memory on a hugetlbfs mount of the wanted page size, and looks for mounts when its "
	    "daemon starts. QEMU's memfd backend needs none.",
	.effect = "libvirt refuses VMs with this page size",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt qemu.conf hugetlbfs_mount; " HUGETLB_GUIDE,
	.hurts = "nothing known",
	.by_hand = "mount -t hugetlbfs -o pagesize=1G none /dev/hugepages1G, then restart virtqemud or libvirtd",
	.check = check_no_mount,
    },
    {
	.id = "memory.dev-hugepages-1g",
	.severity = ADVISE_INFO,
	.title = "The default hugepage size is 1 GiB",
	.mechanism =
	    "default_hugepagesz= also sets the page size of /dev/hugepages, of mmap(MAP_HUGETLB) without a size and "
	    "of vm.nr_hugepages. For a pool of 1 GiB pages hugepagesz=1G is enough.",
	.basis = BASIS_DOCUMENT,
	.source = HUGETLB_GUIDE,
	.hurts = "databases and DPDK that expect 2 MiB pages there",
	.check = check_default_size,
    },
    {.id = NULL},
};

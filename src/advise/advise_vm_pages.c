/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the rules about the pages of a VM: hugepages by size, number and node, and what there is without them. */
#include <inttypes.h>

#include "advise_vm.h"

#define POOL_BY_HAND                                                                                                   \
	"echo N > /sys/devices/system/node/nodeN/hugepages/hugepages-SIZEkB/nr_hugepages; 1 GiB pages at boot: "       \
	"hugepagesz=1G hugepages=NODE:N"

enum { SIZES_MAX = 8 };

/* The sizes of page that the VM asks for, each once. */
static int sizes_of(const struct host *host, const struct vm *vm, int64_t sizes[SIZES_MAX])
{
	int64_t default_kib = fact_number_or(&host->memory.default_page_kib, 2048);
	int count = 0;

	if (!vm->hugepages)
		return 0;
	for (int i = 0; i < MAX_OF(vm->page_count, 1) && count < SIZES_MAX; i++) {
		int64_t size_kib = vm->page_count && vm->pages[i].size_kib ? vm->pages[i].size_kib : default_kib;
		bool known = false;

		for (int j = 0; j < count; j++)
			known = known || sizes[j] == size_kib;
		if (!known && size_kib > 0)
			sizes[count++] = size_kib;
	}
	return count;
}

/* What the VM asks of one pool; pages are counted up, as QEMU does. */
struct demand {
	const struct memory_pages *pool;
	int64_t size_kib, pages;
	int64_t total, free; /* of the pool; free without what is promised to others */
};

/* One finding is about one size: forget the last, note the pool, tell whether it can be judged. */
static bool demand_of(struct advise_check *c, int64_t size_kib, struct demand *ret)
{
	struct demand demand = {.size_kib = size_kib, .pool = host_memory_pages_of(&c->host->memory, size_kib)};
	int64_t needed_kib = vm_pages_needed_kib(c->host, c->vm, size_kib), reserved;

	advise_forget(c);
	if (needed_kib <= 0 || !demand.pool)
		return false;
	demand.pages = (needed_kib + size_kib - 1) / size_kib;
	advise_note_text(c, "memory of the VM", "%" PRId64 " pages of %s", demand.pages, text_kib(c->arena, size_kib));
	if (!advise_number(c, &demand.pool->total, &demand.total) ||
	    !advise_number(c, &demand.pool->free, &demand.free))
		return false;
	reserved = fact_number_or(&demand.pool->reserved, 0);
	demand.free = MAX_OF(demand.free - reserved, 0);
	*ret = demand;
	return true;
}

/* Its own pages are among those in use. */
static bool is_running(const struct vm *vm)
{
	return vm->state == VM_STATE_RUNNING;
}

/* Pages that the kernel makes when they are asked for. */
static bool may_overcommit(const struct demand *demand)
{
	return fact_number_or(&demand->pool->overcommit, 0) > 0;
}

static const char *need_text(struct advise_check *c, const struct demand *demand)
{
	return advise_printf(c, "%" PRId64 " page%s of %s", demand->pages, demand->pages == 1 ? "" : "s",
			     text_kib(c->arena, demand->size_kib));
}

static void check_none(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];
	struct demand demand;

	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); i < count; i++)
		if (demand_of(c, sizes[i], &demand) && demand.total == 0 && !may_overcommit(&demand))
			advise_vm_at(c, advise_report(c, "The VM needs %s, none are reserved", need_text(c, &demand)),
				     c->vm->hugepages_place);
}

static void check_too_few(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];
	struct demand demand;

	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); i < count; i++)
		if (demand_of(c, sizes[i], &demand) && demand.total > 0 && demand.total < demand.pages &&
		    !may_overcommit(&demand))
			advise_vm_at(c,
				     advise_report(c, "The VM needs %s, %" PRId64 " are reserved",
						   need_text(c, &demand), demand.total),
				     c->vm->hugepages_place);
}

static void check_in_use(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];
	struct demand demand;

	/* A VM that is not to be started now may wait for others to end. */
	if (is_running(c->vm) || !c->subject->path)
		return;
	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); i < count; i++)
		if (demand_of(c, sizes[i], &demand) && demand.total >= demand.pages && demand.free < demand.pages &&
		    !may_overcommit(&demand))
			advise_vm_at(
			    c,
			    advise_report(c, "The VM needs %s: %" PRId64 " are reserved, but only %" PRId64 " are free",
					  need_text(c, &demand), demand.total, demand.free),
			    c->vm->hugepages_place);
}

static void check_no_spare(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];
	struct demand demand;

	if (is_running(c->vm) || !c->subject->path)
		return;
	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); i < count; i++)
		if (demand_of(c, sizes[i], &demand) && demand.free == demand.pages)
			advise_report(c, "%s are needed and free: they fit exactly, none is spare",
				      need_text(c, &demand));
}

static void check_size(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];
	const char *have = "";

	for (int i = 0; i < c->host->memory.page_size_count; i++)
		have = advise_printf(c, "%s%s%s", have, *have ? ", " : "",
				     text_kib(c->arena, c->host->memory.pages[i].size_kib));
	/* A copy of a few files says nothing about pools that are not among them. */
	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); *have && i < count; i++) {
		advise_forget(c);
		advise_note_text(c, "page sizes of this host", "%s", have);
		if (host_memory_pages_of(&c->host->memory, sizes[i]) ||
		    vm_pages_needed_kib(c->host, c->vm, sizes[i]) <= 0)
			continue;
		if (!c->host->whole && (sizes[i] == 2048 || sizes[i] == 1048576))
			continue;
		advise_vm_at(c,
			     advise_report(c, "The VM asks for pages of %s, this host has %s",
					   text_kib(c->arena, sizes[i]), have),
			     c->vm->hugepages_place);
	}
}

/* A size of memory that is not made of whole pages: of the guest, or of its cell `cell`. */
static void report_remainder(struct advise_check *c, int64_t memory_kib, int64_t size_kib, const struct vm_cell *cell)
{
	if (memory_kib <= 0 || size_kib <= 0 || memory_kib % size_kib == 0)
		return;
	advise_note_text(c, cell ? advise_printf(c, "memory of cell %d", cell->id) : "memory of the VM",
			 "%" PRId64 " KiB", memory_kib);
	advise_vm_at(c,
		     advise_report(c, "%" PRId64 " KiB are no multiple of the page size, %s", memory_kib,
				   text_kib(c->arena, size_kib)),
		     cell && cell->place.line ? cell->place : c->vm->memory_place);
}

static void check_multiple(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];

	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); i < count; i++) {
		advise_forget(c);
		advise_note_text(c, "page size", "%s", text_kib(c->arena, sizes[i]));
		if (!c->vm->cell_count) {
			report_remainder(c, vm_pages_needed_kib(c->host, c->vm, sizes[i]), sizes[i], NULL);
			continue;
		}
		for (int j = 0; count == 1 && j < c->vm->cell_count; j++)
			report_remainder(c, c->vm->cells[j].memory_kib, sizes[i], &c->vm->cells[j]);
	}
}

/* ---- per node ---- */

/* Free pages on these nodes; -1 when one is not known. */
static int64_t free_on(struct advise_check *c, const struct memory_pages *pool, const struct cpuset *nodes)
{
	int64_t sum = 0, free;
	bool found = false;

	for (int i = 0; i < pool->node_count; i++) {
		if (!cpuset_has(nodes, pool->nodes[i].os_node))
			continue;
		if (!advise_number(c, &pool->nodes[i].free, &free))
			return -1;
		sum += free;
		found = true;
	}
	return found ? sum : -1;
}

/* Where the pages are wanted: where memory is bound to, else where all vCPUs are. */
static struct cpuset wanted_nodes(const struct host *host, const struct vm *vm)
{
	struct cpuset nodes = vm_memory_nodes(vm), host_nodes = vm_host_nodes(host);
	struct vm_view view = vm_view_of(host, vm);

	nodes = cpuset_and(&nodes, &host_nodes);
	return cpuset_empty(&nodes) && view.usable && view.pinned == view.count ? vm_nodes_of(host, &view.cpus) : nodes;
}

static void check_wrong_node(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];
	struct demand demand;
	struct cpuset nodes = wanted_nodes(c->host, c->vm), all = vm_host_nodes(c->host);
	bool strict = vm_memory_is_strict(c->vm);

	if (is_running(c->vm) || cpuset_empty(&nodes) || cpuset_subset(&all, &nodes) || c->vm->cell_count > 1)
		return;
	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); i < count; i++) {
		if (!demand_of(c, sizes[i], &demand) || demand.free < demand.pages)
			continue;
		int64_t near = free_on(c, demand.pool, &nodes);

		if (near < 0 || near >= demand.pages)
			continue;
		struct advise_finding *finding = advise_report_as(
		    c, strict ? ADVISE_FAIL : ADVISE_WARN,
		    "The VM belongs on %s and needs %s, but only %" PRId64 " of %" PRId64 " free ones are there",
		    advise_node_text(c, &nodes), need_text(c, &demand), near, demand.free);

		finding->detail =
		    strict ? "Bound strictly, it does not start" : "The rest comes from other nodes: remote memory";
		advise_vm_at(c, finding, c->vm->hugepages_place);
	}
}

static void check_spans(struct advise_check *c)
{
	int64_t sizes[SIZES_MAX];
	struct demand demand;
	struct cpuset nodes = wanted_nodes(c->host, c->vm);

	if (is_running(c->vm) || c->vm->cell_count > 1 || !cpuset_empty(&nodes))
		return;
	for (int i = 0, count = sizes_of(c->host, c->vm, sizes); i < count; i++) {
		int64_t most = 0;

		if (!demand_of(c, sizes[i], &demand) || demand.free < demand.pages || demand.pool->node_count < 2)
			continue;
		for (int j = 0; j < demand.pool->node_count; j++) {
			struct cpuset node = cpuset_range(demand.pool->nodes[j].os_node, demand.pool->nodes[j].os_node);

			most = MAX_OF(most, free_on(c, demand.pool, &node));
		}
		if (most < demand.pages)
			advise_vm_at(c,
				     advise_report(c,
						   "%" PRId64 " pages of %s are free in all, but at most %" PRId64
						   " on one node: a VM of %" PRId64 " must span nodes",
						   demand.free, text_kib(c->arena, sizes[i]), most, demand.pages),
				     c->vm->hugepages_place);
	}
}

/* ---- <page nodeset> names cells ---- */

static void check_cell_missing(struct advise_check *c)
{
	for (int i = 0; i < c->vm->page_count; i++) {
		struct cpuset cells = {0}, missing;

		if (!c->vm->pages[i].cells.given)
			continue;
		for (int j = 0; j < c->vm->cell_count; j++)
			cpuset_add(&cells, c->vm->cells[j].id);
		/* A guest without cells is one cell. */
		if (!c->vm->cell_count)
			cpuset_add(&cells, 0);
		advise_forget(c);
		advise_note_text(c, "cells of the guest", "%s",
				 c->vm->cell_count ? advise_cpu_list(c, &cells) : "none");
		missing = cpuset_minus(&c->vm->pages[i].cells.set, &cells);
		if (!cpuset_empty(&missing))
			advise_vm_at(c,
				     advise_report(c, "Pages are for guest cell %s, which the guest does not have",
						   advise_cpu_list(c, &missing)),
				     c->vm->pages[i].place);
	}
}

static void check_cell(struct advise_check *c)
{
	for (int i = 0; i < c->vm->page_count; i++) {
		struct cpuset cells = {0};

		for (int j = 0; j < c->vm->cell_count; j++)
			cpuset_add(&cells, c->vm->cells[j].id);
		if (!c->vm->pages[i].cells.given || !c->vm->cell_count ||
		    !cpuset_subset(&c->vm->pages[i].cells.set, &cells))
			continue;
		advise_forget(c);
		advise_note_text(c, "cells of the guest", "%s", advise_cpu_list(c, &cells));
		advise_vm_at(c,
			     advise_report(c, "Page nodeset %s means guest cell%s %s, not host nodes: it is there",
					   advise_cpu_list(c, &c->vm->pages[i].cells.set),
					   cpuset_count(&c->vm->pages[i].cells.set) == 1 ? "" : "s",
					   advise_cpu_list(c, &c->vm->pages[i].cells.set)),
			     c->vm->pages[i].place);
	}
}

/* ---- without hugepages ---- */

static void check_small_pages(struct advise_check *c)
{
	bool is_file = c->vm->memory_source && !text_equal(c->vm->memory_source, "anonymous");
	const char *enabled;

	/* Files and memfds follow shmem_enabled, and so does shared memory. */
	if (c->vm->hugepages || is_file || text_equal(c->vm->memory_access, "shared") ||
	    !advise_text(c, &c->host->memory.thp_enabled, &enabled) || !text_equal(enabled, "never"))
		return;
	advise_note_text(c, "hugepages of the VM", "none");
	advise_vm_at(c,
		     advise_report(c, "No hugepages for the VM, and transparent ones are off: its memory is all 4 KiB "
				      "pages"),
		     c->vm->memory_place);
}

const struct advise_rule advise_vm_pages_rules[] = {
    {
	.id = "vm.pages-none",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A VM needs hugepages and none are reserved",
	.mechanism = "Hugepages come from a pool of their own, which is empty unless it was filled at boot or by hand.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/hugetlbpage.rst",
	.hurts = "memory in the pool is lost to everything else",
	.by_hand = POOL_BY_HAND,
	.check = check_none,
    },
    {
	.id = "vm.pages-too-few",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A VM needs more hugepages than are reserved",
	.mechanism =
	    "The pool was filled for less, or only partly: memory was too fragmented when it was asked for, and "
	    "the kernel says nothing of that.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/hugetlbpage.rst",
	.hurts = "memory in the pool is lost to everything else",
	.by_hand = POOL_BY_HAND,
	.check = check_too_few,
    },
    {
	.id = "vm.pages-in-use",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The hugepages that a VM needs are in use",
	.mechanism = "The pool is large enough, but others hold or have been promised pages of it.",
	.effect = "the VM does not start now",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/hugetlbpage.rst",
	.hurts = "memory in the pool is lost to everything else",
	.by_hand = "grep -l -s hugetlb /proc/*/numa_maps names the users; " POOL_BY_HAND,
	.check = check_in_use,
    },
    {
	.id = "vm.pages-size",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "A VM asks for a page size that the host does not have",
	.mechanism = "x86 has pages of 4 KiB, 2 MiB and, with the CPU flag pdpe1gb, 1 GiB.",
	.effect = "the VM does not start",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/hugetlbpage.rst",
	.hurts = "nothing known",
	.by_hand = "ls /sys/kernel/mm/hugepages",
	.check = check_size,
    },
    {
	.id = "vm.pages-not-multiple",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "The memory of a VM is no multiple of its page size",
	.mechanism = "Memory backed by hugepages, of the guest and of each cell, consists of whole pages.",
	.effect = "the VM does not start, or takes a page more than it uses",
	.basis = BASIS_REPORTS,
	.source = "cockpit-machines issue 350; Linux Documentation/admin-guide/mm/hugetlbpage.rst",
	.hurts = "nothing known",
	.by_hand = "round the memory up to whole pages",
	.check = check_multiple,
    },
    {
	.id = "vm.pages-on-other-node",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "The hugepages are on another node than the VM",
	.mechanism = "Each node has a pool of its own. A plain number at boot or in sysctl spreads over the nodes, and "
		     "what was there before may be used up on one of them.",
	.effect = "remote memory, or a VM that does not start when it is bound strictly",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/hugetlbpage.rst",
	.hurts = "memory in the pool is lost to everything else",
	.by_hand = POOL_BY_HAND,
	.check = check_wrong_node,
    },
    {
	.id = "vm.pages-cell-missing",
	.severity = ADVISE_FAIL,
	.needs = NEEDS_VM,
	.title = "Pages are asked for a guest cell that is not defined",
	.mechanism =
	    "nodeset in <page> names cells of the guest, unlike nodeset in <numatune>, which names nodes of the "
	    "host. libvirt refuses a cell that the guest does not have.",
	.effect = "the VM is refused",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: memoryBacking",
	.hurts = "nothing known",
	.by_hand = "virsh edit VM: leave nodeset out of <page>, or name cells of <numa>",
	.check = check_cell_missing,
    },
    {
	.id = "vm.small-pages",
	.severity = ADVISE_WARN,
	.needs = NEEDS_VM,
	.title = "The memory of a VM is all small pages",
	.mechanism = "With nested paging a TLB miss walks two page tables. Large pages make misses rarer and walks "
		     "shorter; with transparent_hugepage never and no hugepages there are none.",
	.effect = "study B: 28.5 % more events with hugepages and pins together; of the pages alone there is no figure",
	.basis = BASIS_STUDY,
	.source = "study B; cloud-hypervisor issue 4852",
	.hurts = "madvise: none for others; hugepages: memory in the pool is lost to everything else",
	.knobs = "thp=madvise",
	.by_hand = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled before the VM starts",
	.check = check_small_pages,
    },
    {
	.id = "vm.pages-span-nodes",
	.severity = ADVISE_ADVICE,
	.needs = NEEDS_VM,
	.title = "No node alone has the hugepages for a VM",
	.mechanism =
	    "The pool is large enough in all, but spread over nodes: the VM gets memory on several of them and "
	    "sees one.",
	.effect = "a part of its memory is remote",
	.basis = BASIS_REPORTS,
	.source = "kubevirt issue 14854; performance-addon-operators issue 279",
	.hurts = "memory in the pool is lost to everything else",
	.by_hand = POOL_BY_HAND,
	.experiment = "look at numastat -p PID once it runs",
	.check = check_spans,
    },
    {
	.id = "vm.pages-no-spare",
	.severity = ADVISE_INFO,
	.needs = NEEDS_VM,
	.title = "The hugepages fit exactly",
	.mechanism = "The VM takes the last page of its pool. Nothing else that wants such pages starts beside it.",
	.basis = BASIS_DOCUMENT,
	.source = "Linux Documentation/admin-guide/mm/hugetlbpage.rst",
	.hurts = "nothing known",
	.check = check_no_spare,
    },
    {
	.id = "vm.pages-cell",
	.severity = ADVISE_GOOD,
	.needs = NEEDS_VM,
	.title = "Pages are asked for by guest cell",
	.mechanism = "nodeset in <page> names cells of the guest; the host's nodes are chosen by <numatune>.",
	.basis = BASIS_DOCUMENT,
	.source = "libvirt documentation, formatdomain: memoryBacking",
	.hurts = "nothing known",
	.check = check_cell,
    },
    {.id = NULL},
};

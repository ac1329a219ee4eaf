/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in report_place_pages.h. */
#include "report_place_pages.h"

#include <inttypes.h>

#include "text.h"

enum { GIB_KIB = 1048576 };

static const int64_t sizes_kib[] = {2048, GIB_KIB};

/* Pages of this size that the plan takes on a node beyond what the VMs hold there now. */
static int64_t wanted(const struct report_place *place, int node, int64_t page_kib)
{
	const struct place_plan *plan = place->plan;
	int64_t pages = 0;

	for (int i = 0; i < plan->vm_count; i++) {
		const struct place_vm_plan *vm = &plan->vms[i];
		const struct place_request *request = vm->request;
		const int64_t *memory_kib = place->vms[i].memory_kib;
		int64_t now_kib = 0;

		/* What stays where it is, or is only pinned anew, has its pages. */
		if (request->right == PLACE_KEEP || request->right == PLACE_REPIN || !vm->result ||
		    !vm->result->placed || vm->page_kib != page_kib || !memory_kib)
			continue;
		if (request->right == PLACE_MOVE && request->memory_now_kib && request->page_kib == page_kib)
			now_kib = request->memory_now_kib[node];
		pages += (MAX_OF(memory_kib[node] - now_kib, 0) + page_kib - 1) / page_kib;
	}
	return pages;
}

/* The pool of a node; a machine of one node may have only the totals. */
static bool pool_of(const struct report_place *place, int node, int64_t page_kib, int64_t *ret_free, int64_t *ret_total)
{
	const struct memory_pages *pool = host_memory_pages_of(&place->host->memory, page_kib);
	const struct fact *free = NULL, *total = NULL;

	if (!pool)
		return false;
	if (place->plan->os_node_count == 1) {
		free = &pool->free;
		total = &pool->total;
	}
	for (int i = 0; i < pool->node_count; i++)
		if (pool->nodes[i].os_node == place->plan->os_nodes[node]) {
			free = &pool->nodes[i].free;
			total = &pool->nodes[i].total;
		}
	if (!free || !fact_known(free) || !fact_known(total))
		return false;
	*ret_free = free->number;
	*ret_total = total->number;
	return true;
}

const struct report_place_pages *report_place_pages(struct arena *arena, const struct report_place *place,
						    int *ret_count)
{
	const struct place_plan *plan = place->plan;
	struct report_place_pages *list =
	    ARENA_ARRAY(arena, (size_t)plan->os_node_count * ARRAY_SIZE(sizes_kib) + 1, struct report_place_pages);
	int count = 0;

	for (int node = 0; node < plan->os_node_count; node++)
		for (size_t i = 0; i < ARRAY_SIZE(sizes_kib); i++) {
			int64_t pages = wanted(place, node, sizes_kib[i]), free, total;

			if (place->wishes->what_if.nps || place->wishes->what_if.l3_as_numa || !pages ||
			    !pool_of(place, node, sizes_kib[i], &free, &total) || pages <= free)
				continue;
			list[count++] = (struct report_place_pages){.os_node = plan->os_nodes[node],
								    .page_kib = sizes_kib[i],
								    .more = pages - free,
								    .total = total + pages - free};
		}
	*ret_count = count;
	return list;
}

const char *report_place_pages_text(struct arena *arena, const struct report_place_pages *pages)
{
	return arena_printf(arena,
			    "reserve %" PRId64 " more page%s of %s on node %d: echo %" PRId64
			    " > /sys/devices/system/node/node%d/hugepages/hugepages-%" PRId64 "kB/nr_hugepages",
			    pages->more, pages->more == 1 ? "" : "s", text_kib(arena, pages->page_kib), pages->os_node,
			    pages->total, pages->os_node, pages->page_kib);
}

const char *report_place_pages_boot(struct arena *arena, const struct report_place *place,
				    const struct report_place_pages *pages, int count)
{
	const char *list = "";
	bool missing = false;

	for (int node = 0; node < place->plan->os_node_count; node++) {
		int64_t free, total = 0;

		(void)pool_of(place, node, GIB_KIB, &free, &total);
		for (int i = 0; i < count; i++)
			if (pages[i].os_node == place->plan->os_nodes[node] && pages[i].page_kib == GIB_KIB) {
				total = pages[i].total;
				missing = true;
			}
		if (total > 0)
			list = arena_printf(arena, "%s%s%d:%" PRId64, list, *list ? "," : "",
					    place->plan->os_nodes[node], total);
	}
	return missing ? arena_printf(arena, "hugepagesz=1G hugepages=%s", list) : NULL;
}

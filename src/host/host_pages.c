/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns reading and showing the pools of hugepages. */
#include "host_pages.h"

#include "host.h"
#include "text.h"

#define POOLS "/sys/kernel/mm/hugepages"
#define NODES "/sys/devices/system/node"

enum { SIZE_LIMIT = 16, NODE_LIMIT = 256 };

/* A pool of more pages than this (4 EiB of 4 KiB pages) is garbage, and products with a page size stay in range. */
#define PAGES_BELIEVED (INT64_C(1) << 40)

/* "hugepages-2048kB" is 2048; -1 for any other name. */
static int64_t size_of_name(struct arena *arena, const char *name)
{
	static const char start[] = "hugepages-";
	int64_t kib;
	size_t length = strlen(name);

	if (!text_starts(name, start) || length < sizeof(start) + 2 || !text_equal(name + length - 2, "kB"))
		return -1;
	const char *number = arena_strndup(arena, name + strlen(start), length - strlen(start) - 2);

	return text_int(number, 10, &kib) < 0 || kib <= 0 || kib > (INT64_C(1) << 32) ? -1 : kib;
}

static struct fact read_count(struct host *host, const char *name, const char *directory, const char *file)
{
	return fact_within(fact_read_number(host->arena, host->sys, UNIT_COUNT, name, "%s/%s", directory, file), 0,
			   PAGES_BELIEVED, "no number of pages");
}

static int node_of_name(const char *name)
{
	int64_t number;

	if (!text_starts(name, "node") || text_int(name + strlen("node"), 10, &number) < 0 || number < 0 ||
	    number >= CPUSET_MAX)
		return -1;
	return (int)number;
}

static void read_node_pages(struct host *host, const struct sys_look *nodes, struct memory_pages *pages)
{
	size_t limit = MIN_OF(nodes->size, (size_t)NODE_LIMIT);

	if (nodes->state != SYS_VALUE)
		return;
	pages->nodes = ARENA_ARRAY(host->arena, limit, struct memory_node_pages);
	for (size_t i = 0; i < nodes->size && pages->node_count < NODE_LIMIT; i++) {
		int os_node = node_of_name(nodes->names[i]);

		if (os_node < 0 || (size_t)pages->node_count >= limit)
			continue;
		const char *directory = arena_printf(host->arena, NODES "/node%d/hugepages/hugepages-%ldkB", os_node,
						     (long)pages->size_kib);
		struct memory_node_pages node = {
		    .os_node = os_node,
		    .total = read_count(host, "memory.node_hugepages", directory, "nr_hugepages"),
		};

		if (node.total.state == FACT_ABSENT)
			continue;
		node.free = read_count(host, "memory.node_hugepages_free", directory, "free_hugepages");
		node.surplus = read_count(host, "memory.node_hugepages_surplus", directory, "surplus_hugepages");
		pages->nodes[pages->node_count++] = node;
	}
}

static void read_pool(struct host *host, const char *name, struct memory_pages *pages)
{
	const char *directory = arena_printf(host->arena, POOLS "/%s", name);

	pages->total = read_count(host, "memory.hugepages", directory, "nr_hugepages");
	pages->free = read_count(host, "memory.hugepages_free", directory, "free_hugepages");
	pages->reserved = read_count(host, "memory.hugepages_reserved", directory, "resv_hugepages");
	pages->surplus = read_count(host, "memory.hugepages_surplus", directory, "surplus_hugepages");
	pages->overcommit = read_count(host, "memory.hugepages_overcommit", directory, "nr_overcommit_hugepages");
}

static int compare_sizes(const void *a, const void *b)
{
	const struct memory_pages *first = a, *second = b;

	return (first->size_kib > second->size_kib) - (first->size_kib < second->size_kib);
}

void host_pages_read(struct host *host)
{
	struct host_memory *memory = &host->memory;
	const struct sys_look *sizes = sys_list(host->sys, POOLS);

	if (sizes->state != SYS_VALUE || !sizes->size)
		return;
	const struct sys_look *nodes = sys_list(host->sys, NODES);

	memory->pages = ARENA_ARRAY(host->arena, SIZE_LIMIT, struct memory_pages);
	for (size_t i = 0; i < sizes->size && memory->page_size_count < SIZE_LIMIT; i++) {
		int64_t kib = size_of_name(host->arena, sizes->names[i]);

		if (kib < 0)
			continue;
		struct memory_pages *pages = &memory->pages[memory->page_size_count++];

		pages->size_kib = kib;
		read_pool(host, sizes->names[i], pages);
		read_node_pages(host, nodes, pages);
	}
	qsort(memory->pages, (size_t)memory->page_size_count, sizeof(*memory->pages), compare_sizes);
}

const struct memory_pages *host_memory_pages_of(const struct host_memory *memory, int64_t size_kib)
{
	for (int i = 0; i < memory->page_size_count; i++)
		if (memory->pages[i].size_kib == size_kib)
			return &memory->pages[i];
	return NULL;
}

/* Sizes are at most 2^32 KiB and counts 2^40: one garbage pool must not overflow the sum. */
static int64_t pool_kib(const struct memory_pages *pages, const struct fact *count)
{
	int64_t kib;

	return __builtin_mul_overflow(fact_number_or(count, 0), pages->size_kib, &kib) || kib > (INT64_C(1) << 50)
		   ? 0
		   : kib;
}

int64_t host_memory_reserved_kib(const struct host_memory *memory)
{
	int64_t sum = 0;

	for (int i = 0; i < memory->page_size_count; i++)
		sum += pool_kib(&memory->pages[i], &memory->pages[i].total);
	return sum;
}

/* Free, and not promised to a mapping that has not touched it yet. */
int64_t host_memory_idle_kib(const struct host_memory *memory)
{
	int64_t sum = 0;

	for (int i = 0; i < memory->page_size_count; i++) {
		const struct memory_pages *pages = &memory->pages[i];
		int64_t free_kib = pool_kib(pages, &pages->free);
		int64_t promised_kib = pool_kib(pages, &pages->reserved);

		sum += free_kib > promised_kib ? free_kib - promised_kib : 0;
	}
	return sum;
}

static struct fact node_row(struct host_rows *rows, const struct memory_node_pages *node)
{
	struct fact fact = node->total;

	if (!fact_known(&node->total) || !fact_known(&node->free))
		return fact;
	fact = fact_text(fact.name,
			 arena_printf(rows->arena, "%s, %s free", fact_shown(rows->arena, &node->total),
				      fact_shown(rows->arena, &node->free)),
			 fact.source);
	return fact;
}

void host_pages_rows(const struct host *host, struct host_rows *rows)
{
	const struct host_memory *memory = &host->memory;

	rows->section = "Hugepages";
	host_rows_add(rows, "Default size", &memory->default_page_kib);
	host_rows_add(rows, "Mounts", &memory->hugetlb_mounts);
	for (int i = 0; i < memory->page_size_count; i++) {
		const struct memory_pages *pages = &memory->pages[i];

		rows->section = arena_printf(rows->arena, "Hugepages of %s", text_kib(rows->arena, pages->size_kib));
		host_rows_add(rows, "Total", &pages->total);
		host_rows_add(rows, "Free", &pages->free);
		host_rows_add(rows, "Reserved (HugePages_Rsvd)", &pages->reserved);
		host_rows_add(rows, "Surplus", &pages->surplus);
		for (int n = 0; n < pages->node_count; n++) {
			struct fact fact = node_row(rows, &pages->nodes[n]);

			host_rows_add(rows, arena_printf(rows->arena, "Node %d", pages->nodes[n].os_node), &fact);
		}
	}
}

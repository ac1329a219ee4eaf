/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the nodes of a host for placing: as the kernel has them, or as NPS or L3-as-NUMA in the BIOS would make them,
 * with what memory each could give; and which of them are one for memory.
 */
#include <errno.h>

#include "place_shape.h"

enum {
	SAME_CONTROLLERS_BELOW =
	    12,			/* SLIT: 10 is local, 11 what firmware gives for L3-as-NUMA inside one NPS domain */
	HOST_KEEPS_PERCENT = 6, /* of each node's memory: kernel, QEMU itself, page cache */
};

bool shape_as_is(const struct place_shape *shape)
{
	return shape->wishes->what_if.nps == 0 && !shape->wishes->what_if.l3_as_numa;
}

int shape_page_size(int64_t page_kib)
{
	const int64_t sizes[PLACE_PAGE_SIZES] = {4, 2048, 1048576};

	for (int i = 0; i < PLACE_PAGE_SIZES; i++) {
		if (sizes[i] == page_kib)
			return i;
	}
	return -1;
}

static const struct memory_node_pages *pool_on(const struct memory_pages *pool, int os_node)
{
	for (int i = 0; pool && i < pool->node_count; i++) {
		if (pool->nodes[i].os_node == os_node)
			return &pool->nodes[i];
	}
	return NULL;
}

/* Huge pages of one size on a node. A machine of one node may have only the totals of /proc or /sys/kernel/mm. */
static void read_pool(struct place_shape *shape, struct shape_os_node *node, int size, bool only_node)
{
	const struct memory_pages *pool = host_memory_pages_of(&shape->host->memory, shape->page_kib[size]);
	const struct memory_node_pages *here = pool_on(pool, node->os_node);
	int64_t free = -1, total = -1;

	if (here) {
		free = fact_number_or(&here->free, -1);
		total = fact_number_or(&here->total, -1);
	} else if (pool && only_node) {
		free = fact_number_or(&pool->free, -1);
		total = fact_number_or(&pool->total, -1);
	}
	node->total_pages[size] = total >= 0 ? total : PLACE_MEMORY_UNKNOWN;
	node->free_pages[size] = free >= 0 ? free : PLACE_MEMORY_UNKNOWN;
}

static void read_memory(struct place_shape *shape, struct shape_os_node *node, const struct topology_node *from,
			bool only_node)
{
	int64_t total_kib = fact_number_or(&from->memory_kib, -1), pools_kib = 0;

	for (int size = 1; size < PLACE_PAGE_SIZES; size++) {
		read_pool(shape, node, size, only_node);
		if (node->total_pages[size] > 0)
			pools_kib += node->total_pages[size] * shape->page_kib[size];
	}
	/* What is free right now says little: the page cache gives way. What no pool holds is what VMs could have. */
	node->total_pages[0] = PLACE_MEMORY_UNKNOWN;
	if (total_kib >= 0)
		node->total_pages[0] =
		    MAX_OF(total_kib - total_kib * HOST_KEEPS_PERCENT / 100 - pools_kib, 0) / shape->page_kib[0];
	node->free_pages[0] = node->total_pages[0];
}

static void divide_memory(struct shape_os_node *node, int by)
{
	for (int size = 0; size < PLACE_PAGE_SIZES; size++) {
		if (node->free_pages[size] > 0)
			node->free_pages[size] /= by;
		if (node->total_pages[size] > 0)
			node->total_pages[size] /= by;
	}
}

static struct shape_os_node *add_node(struct place_shape *shape)
{
	struct shape_os_node *node = &shape->os_nodes[shape->os_node_count];

	node->base = shape->os_node_count++;
	return node;
}

/* Nodes as they are; one that holds CPUs of several packages (numa=off) is one a package here. */
static void nodes_as_they_are(struct place_shape *shape)
{
	const struct host_topology *topology = &shape->host->topology;

	for (int i = 0; i < topology->node_count; i++) {
		const struct topology_node *from = &topology->nodes[i];
		int packages = cpuset_count(&from->packages);

		if (packages > 1)
			shape_note(shape,
				   "node %d has CPUs of %d sockets (numa=off?): its memory is taken as even over them",
				   from->os_node, packages);
		if (packages == 0) {
			struct shape_os_node *node = add_node(shape);

			node->os_node = from->os_node;
			node->socket = -1;
			continue;
		}
		CPUSET_FOREACH (package, &from->packages) {
			struct shape_os_node *node = add_node(shape);

			node->os_node = from->os_node;
			node->socket = package;
			node->cpus = cpuset_and(&from->cpus, &topology->packages[package].cpus);
			read_memory(shape, node, from, topology->node_count == 1);
			divide_memory(node, packages);
		}
	}
	if (topology->node_count > 0)
		return;
	shape_note(shape, "NUMA nodes are not known: one a socket is assumed, and memory is left aside");
	for (int package = 0; package < topology->package_count; package++) {
		struct shape_os_node *node = add_node(shape);

		node->os_node = node->socket = package;
		node->cpus = topology->packages[package].cpus;
		for (int size = 0; size < PLACE_PAGE_SIZES; size++)
			node->free_pages[size] = node->total_pages[size] = PLACE_MEMORY_UNKNOWN;
	}
}

/* Nodes of one package that share their controllers: near by SLIT, or known to be L3 groups of one NPS domain. */
static void find_bases(struct place_shape *shape)
{
	const struct host_topology *topology = &shape->host->topology;
	bool l3_nodes = fact_is_on(&topology->l3_as_numa);

	if (topology->node_count != shape->os_node_count)
		return;
	for (int i = 0; i < shape->os_node_count; i++) {
		struct shape_os_node *node = &shape->os_nodes[i];
		const int *distances = topology->nodes[i].distances;

		for (int j = 0; j < i && node->socket >= 0; j++) {
			bool near = distances ? distances[j] < SAME_CONTROLLERS_BELOW : l3_nodes;

			if (near && shape->os_nodes[j].socket == node->socket) {
				node->base = shape->os_nodes[j].base;
				break;
			}
		}
	}
}

/* ---- what if ---- */

static void add_memory(int64_t *to, int64_t from)
{
	if (*to == PLACE_MEMORY_UNKNOWN || from == PLACE_MEMORY_UNKNOWN)
		*to = PLACE_MEMORY_UNKNOWN;
	else
		*to += from;
}

/* The L3 groups of a package, by number. Returns their count. */
static int l3s_of(const struct host_topology *topology, int package, int *ret)
{
	int count = 0;

	for (int i = 0; i < topology->l3_count; i++) {
		if (topology->l3s[i].package == package)
			ret[count++] = i;
	}
	return count;
}

static int make_nps(struct place_shape *shape, int nps, struct err *err)
{
	const struct host_topology *topology = &shape->host->topology;
	const struct shape_os_node *was = shape->os_nodes;
	int was_count = shape->os_node_count, *l3s = ARENA_ARRAY(shape->arena, (size_t)topology->l3_count + 1, int);

	shape->os_nodes = ARENA_ARRAY(shape->arena, (size_t)(nps * topology->package_count), struct shape_os_node);
	shape->os_node_count = 0;
	for (int package = 0; package < topology->package_count; package++) {
		int count = l3s_of(topology, package, l3s);

		if (count % nps != 0 || count == 0)
			return err_set(err, EINVAL, "nps", "%d L3 groups of a socket cannot be %d equal nodes", count,
				       nps);
		for (int part = 0; part < nps; part++) {
			struct shape_os_node *node = add_node(shape);

			node->os_node = package * nps + part;
			node->socket = package;
			for (int i = part * (count / nps); i < (part + 1) * (count / nps); i++)
				node->cpus = cpuset_or(&node->cpus, &topology->l3s[l3s[i]].cpus);
			for (int i = 0; i < was_count; i++) {
				for (int size = 0; size < PLACE_PAGE_SIZES && was[i].socket == package; size++) {
					add_memory(&node->free_pages[size], was[i].free_pages[size]);
					add_memory(&node->total_pages[size], was[i].total_pages[size]);
				}
			}
			divide_memory(node, nps);
		}
	}
	return 0;
}

/* Each node becomes one node an L3; its memory behind the same controllers is divided evenly. */
static void make_l3_nodes(struct place_shape *shape)
{
	const struct host_topology *topology = &shape->host->topology;
	const struct shape_os_node *was = shape->os_nodes;
	int was_count = shape->os_node_count;

	shape->os_nodes =
	    ARENA_ARRAY(shape->arena, (size_t)(topology->l3_count * MAX_OF(was_count, 1)), struct shape_os_node);
	shape->os_node_count = 0;
	for (int i = 0; i < was_count; i++) {
		int first = shape->os_node_count;

		for (int l3 = 0; l3 < topology->l3_count; l3++) {
			struct cpuset cpus = cpuset_and(&was[i].cpus, &topology->l3s[l3].cpus);

			if (cpuset_empty(&cpus))
				continue;
			shape->os_nodes[shape->os_node_count] = was[i];
			shape->os_nodes[shape->os_node_count].cpus = cpus;
			shape->os_nodes[shape->os_node_count].base = i;
			shape->os_nodes[shape->os_node_count].os_node = shape->os_node_count;
			shape->os_node_count++;
		}
		for (int at = first; at < shape->os_node_count; at++)
			divide_memory(&shape->os_nodes[at], shape->os_node_count - first);
	}
}

/* Huge pages of a size that no node has: what could be reserved out of ordinary memory is what there is to plan with.
 */
static void lend_pools(struct place_shape *shape)
{
	for (int size = 1; size < PLACE_PAGE_SIZES; size++) {
		int64_t sum = 0;

		for (int i = 0; i < shape->os_node_count; i++)
			sum += MAX_OF(shape->os_nodes[i].total_pages[size], 0);
		for (int i = 0; i < shape->os_node_count && sum == 0; i++) {
			struct shape_os_node *node = &shape->os_nodes[i];
			int64_t ordinary = node->total_pages[0];

			node->total_pages[size] = ordinary == PLACE_MEMORY_UNKNOWN
						      ? PLACE_MEMORY_UNKNOWN
						      : ordinary * shape->page_kib[0] / shape->page_kib[size];
			node->free_pages[size] = node->total_pages[size];
		}
	}
}

int shape_read_nodes(struct place_shape *shape, struct err *err)
{
	const struct host_topology *topology = &shape->host->topology;
	const struct place_what_if *what_if = &shape->wishes->what_if;
	size_t room = (size_t)(topology->node_count + 1) * (size_t)MAX_OF(topology->package_count, 1);
	int bad = 0;

	shape->os_nodes = ARENA_ARRAY(shape->arena, room, struct shape_os_node);
	nodes_as_they_are(shape);
	find_bases(shape);
	if ((what_if->nps != 0 || what_if->l3_as_numa) && !topology->l3_known)
		return err_set(err, ENOTSUP, shape->host->name,
			       "its L3 groups are not known: no other nodes can be planned");
	if (what_if->nps != 0 && what_if->nps != 1 && what_if->nps != 2 && what_if->nps != 4)
		return err_set(err, EINVAL, "nps", "%d nodes a socket: 1, 2 and 4 exist", what_if->nps);
	if (what_if->nps != 0)
		bad = make_nps(shape, what_if->nps, err);
	if (bad == 0 && what_if->l3_as_numa)
		make_l3_nodes(shape);
	lend_pools(shape);
	return bad;
}

void shape_merge_nodes(struct place_shape *shape)
{
	int *node_of_base = ARENA_ARRAY(shape->arena, (size_t)shape->os_node_count, int);

	shape->nodes = ARENA_ARRAY(shape->arena, (size_t)shape->os_node_count, struct place_node);
	shape->host_nodes = ARENA_ARRAY(shape->arena, (size_t)shape->os_node_count, struct place_host_node);
	for (int i = 0; i < shape->os_node_count; i++) {
		struct shape_os_node *os = &shape->os_nodes[i];
		int base = os->base, node = -1;

		if (cpuset_empty(&os->cpus)) {
			os->base = -1;
			shape_note(shape, "node %d has no CPUs: nothing is placed in its memory", os->os_node);
			continue;
		}
		if (node_of_base[base] == 0)
			node_of_base[base] = ++shape->node_count;
		node = node_of_base[base] - 1;
		shape->nodes[node].socket = os->socket;
		for (int size = 0; size < PLACE_PAGE_SIZES; size++) {
			add_memory(&shape->nodes[node].free_pages[size], os->free_pages[size]);
			add_memory(&shape->nodes[node].total_pages[size], os->total_pages[size]);
		}
		cpuset_add(&shape->host_nodes[node].os_nodes, os->os_node);
		shape->host_nodes[node].cpus = cpuset_or(&shape->host_nodes[node].cpus, &os->cpus);
		os->base = node;
	}
}

int shape_device_node(const struct place_shape *shape, int os_node)
{
	const struct topology_node *now = topology_node_by_os(&shape->host->topology, os_node);

	for (int i = 0; now && !cpuset_empty(&now->cpus) && i < shape->node_count; i++) {
		if (cpuset_subset(&now->cpus, &shape->host_nodes[i].cpus))
			return i;
	}
	return -1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns pools of VMs that share cores: few, each on one node, sized by the overcommit that was asked for. A pool is one
 * item of the packing, so that it takes few whole CCXs; its VMs may run on all of its CPUs and on no others.
 */
#include <errno.h>

#include "place_plan.h"

/* Cores for so many vCPUs at this overcommit (400: four vCPUs a thread). */
static int pool_cores(const struct place_shape *shape, int64_t vcpus, int percent)
{
	int64_t per_core = (int64_t)shape->threads_per_core * percent;

	return (int)((vcpus * 100 + per_core - 1) / per_core);
}

static int largest_node(const struct place_shape *shape)
{
	int best = 1;

	for (int node = 0; node < shape->node_count; node++) {
		int cores = 0;

		for (int i = 0; i < shape->ccx_count; i++)
			cores += shape->ccxs[i].node == node ? shape->ccxs[i].free : 0;
		best = MAX_OF(best, cores);
	}
	return best;
}

static int64_t largest_memory_kib(const struct place_shape *shape, unsigned sizes)
{
	int64_t best = 0;

	for (int node = 0; node < shape->node_count; node++) {
		for (int size = 0; size < PLACE_PAGE_SIZES; size++) {
			int64_t pages = shape->nodes[node].free_pages[size];

			if (!(sizes & (1U << size)))
				continue;
			best = MAX_OF(best, pages == PLACE_MEMORY_UNKNOWN ? INT64_MAX : pages * shape->page_kib[size]);
		}
	}
	return best;
}

/* Does the VM go into this pool and leave it small enough for one node? */
static bool joins(const struct planning *planning, const struct place_pool *pool, const struct place_vm *item,
		  const struct place_request *request)
{
	const struct place_shape *shape = planning->shape;

	if (pool->overcommit_percent != request->overcommit_percent || item->page_sizes != plan_page_sizes(request))
		return false;
	if (pool_cores(shape, (int64_t)pool->vcpus + request->vcpus, pool->overcommit_percent) > largest_node(shape))
		return false;
	return item->memory_kib + request->memory_kib <= largest_memory_kib(shape, item->page_sizes);
}

static int new_pool(struct planning *planning, const struct place_request *request)
{
	struct place_shape *shape = planning->shape;
	int item = planning->item_count++, index = planning->pool_count++;
	struct place_pool *pool = &planning->pools[index];

	*pool = (struct place_pool){.overcommit_percent = request->overcommit_percent};
	pool->name = arena_printf(shape->arena, "pool %d", index + 1);
	planning->items[item] = (struct plan_item){.request = -1, .pool = index};
	planning->vms[item] = (struct place_vm){.name = pool->name,
						.device_node = -1,
						.apart_group = -1,
						.priority = 1,
						.page_sizes = plan_page_sizes(request)};
	return item;
}

static void join(struct planning *planning, int item, const struct place_request *request)
{
	struct place_pool *pool = &planning->pools[planning->items[item].pool];
	struct place_vm *vm = &planning->vms[item];

	pool->vcpus += request->vcpus;
	pool->cores = vm->cores = pool_cores(planning->shape, pool->vcpus, pool->overcommit_percent);
	vm->memory_kib += request->memory_kib;
	vm->priority = MAX_OF(vm->priority, MAX_OF(request->priority, 1));
}

int plan_pools(struct planning *planning, struct err *err)
{
	for (int i = 0; i < planning->request_count; i++) {
		const struct place_request *request = &planning->requests[i];
		int item = -1;

		if (request->overcommit_percent == 0 || request->right == PLACE_KEEP)
			continue;
		if (request->overcommit_percent < 100 || request->overcommit_percent > 10000)
			return err_set(err, EINVAL, request->name, "an overcommit of %d %%: from 100 to 10000",
				       request->overcommit_percent);
		for (int at = 0; at < planning->item_count && item < 0; at++) {
			int pool = planning->items[at].pool;

			if (pool >= 0 && joins(planning, &planning->pools[pool], &planning->vms[at], request))
				item = at;
		}
		if (item < 0)
			item = new_pool(planning, request);
		join(planning, item, request);
		planning->item_of[i] = item;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns what place_host.c and place_plan.c share: requests as items of the problem (a VM each, or a pool of shared VMs).
 */
#ifndef HVTUNE_PLACE_PLAN_H
#define HVTUNE_PLACE_PLAN_H

#include "place_shape.h"

struct plan_item {
	int request; /* index; -1: a pool */
	int pool;    /* index; -1: a VM of its own */
};

struct planning {
	struct place_shape *shape;
	const struct place_request *requests;
	int request_count;
	int *item_of; /* by request */
	struct plan_item *items;
	struct place_vm *vms; /* item_count, as given to the solver */
	int item_count;
	struct place_pool *pools;
	int pool_count;
	const struct place_solution *solution;
	int64_t (*os_free)[PLACE_PAGE_SIZES]; /* by OS node, while memory is given out */
};

/* Group the shared VMs into pools and add each as one item (place_pool.c). */
int plan_pools(struct planning *planning, struct err *err);
int plan_cores_of(const struct place_shape *shape, const struct place_request *request);
unsigned plan_page_sizes(const struct place_request *request);
/* Turn the solution into CPU numbers, memory and guest topologies (place_plan.c). */
const struct place_vm_plan *plan_make(struct planning *planning);

#endif

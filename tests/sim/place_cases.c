/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns drawing hosts and VMs. Cores per VM are whole cores (SMT folded): random uniform 1..12; cloud mostly small;
 * enterprise uniform over a list. Memory per core is 2 x {2,4,4,4,8} GiB. On hosts of more than one node 12 % of the
 * VMs have a device on a random node; on the X3D host 40 % want the cache die and 30 % the frequency die. Reserved: a
 * core of each node below 64 cores, else two, in its first CCX; 6 % of each node's memory.
 */
#include "place_cases.h"

#include <time.h>

static const int64_t gib_kib = 1048576;

const struct case_host case_hosts[] = {
    {"2P Naples", 2, 4, 2, 4, 64, false},
    {"1P Rome NPS1", 1, 1, 16, 4, 512, false},
    {"1P Rome NPS4", 1, 4, 4, 4, 128, false},
    {"2P Rome NPS1", 2, 1, 16, 4, 512, false},
    {"2P Rome NPS4", 2, 4, 4, 4, 128, false},
    {"1P Milan", 1, 1, 8, 8, 512, false},
    {"2P Milan", 2, 1, 8, 8, 512, false},
    {"2P Milan NPS4", 2, 4, 2, 8, 128, false},
    {"1P Genoa NPS1", 1, 1, 12, 8, 768, false},
    {"2P Genoa NPS2", 2, 2, 6, 8, 384, false},
    {"2P Genoa NPS4", 2, 4, 3, 8, 192, false},
    {"2P Bergamo", 2, 1, 16, 8, 768, false},
    {"2P Turin", 2, 1, 16, 8, 1152, false},
    {"2P Turin Dense", 2, 1, 12, 16, 1536, false},
    {"2P Turin Dense NPS4", 2, 4, 3, 16, 384, false},
    {"Threadripper 7970X", 1, 1, 4, 8, 256, false},
    {"Ryzen 7950X3D", 1, 1, 2, 8, 128, true},
};
const int case_host_count = (int)ARRAY_SIZE(case_hosts);

/* splitmix64 */
static uint64_t draw(struct case_random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15U;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

int case_below(struct case_random *random, int below)
{
	return (int)((draw(random) >> 32) * (uint64_t)below >> 32);
}

double case_uniform(struct case_random *random)
{
	return (double)(draw(random) >> 11) / 9007199254740992.0;
}

struct place_case *case_new(struct arena *arena, const struct case_host *host, int vm_room)
{
	struct place_case *of = ARENA_NEW(arena, struct place_case);
	int node_count = host->sockets * host->nodes, node_cores = host->ccxs * host->cores;
	int reserve = node_cores >= 64 ? 2 : 1;

	of->ccxs = ARENA_ARRAY(arena, (size_t)(node_count * host->ccxs), struct place_ccx);
	of->nodes = ARENA_ARRAY(arena, (size_t)node_count, struct place_node);
	of->vms = ARENA_ARRAY(arena, (size_t)vm_room, struct place_vm);
	of->vm_room = vm_room;
	of->problem = (struct place_problem){.ccxs = of->ccxs,
					     .ccx_count = node_count * host->ccxs,
					     .nodes = of->nodes,
					     .node_count = node_count,
					     .page_kib = {0, 2048, 0},
					     .vms = of->vms,
					     .max_excess_ns = -1,
					     .max_changes = -1};
	for (int node = 0; node < node_count; node++) {
		int64_t pages = host->memory_gib * 512LL * 94 / 100;

		of->nodes[node] = (struct place_node){
		    .socket = node / host->nodes, .free_pages = {0, pages, 0}, .total_pages = {0, pages, 0}};
		of->memory_kib += (double)pages * 2048;
		for (int i = 0; i < host->ccxs; i++) {
			int cores = host->cores - (i == 0 ? reserve : 0), at = node * host->ccxs + i;

			of->ccxs[at] = (struct place_ccx){.cores = cores,
							  .free = cores,
							  .node = node,
							  .socket = node / host->nodes,
							  .quadrant = -1,
							  .ccd = at};
			if (host->x3d)
				of->ccxs[at].class = i == 0 ? PLACE_CLASS_CACHE : PLACE_CLASS_FREQUENCY;
			of->cores += cores;
		}
	}
	of->all_cores = node_count * node_cores;
	return of;
}

static int draw_cores(struct case_random *random, enum mix mix)
{
	static const int enterprise[] = {1, 2, 2, 3, 4, 4, 6, 8, 8, 10, 12, 16, 24};
	static const struct {
		int percent, cores;
	} cloud[] = {{45, 1}, {25, 2}, {16, 4}, {9, 8}, {4, 16}, {1, 32}};
	int at = 0, percent = 0;

	if (mix == MIX_RANDOM)
		return 1 + case_below(random, 12);
	if (mix == MIX_ENTERPRISE)
		return enterprise[case_below(random, (int)ARRAY_SIZE(enterprise))];
	percent = case_below(random, 100);
	while (percent >= cloud[at].percent)
		percent -= cloud[at++].percent;
	return cloud[at].cores;
}

struct place_vm case_draw(struct case_random *random, const struct place_case *of, const struct case_host *host,
			  enum mix mix)
{
	static const int gib_per_thread[] = {2, 4, 4, 4, 8};
	struct place_vm vm = {.name = "vm", .device_node = -1, .apart_group = -1, .priority = 1, .page_sizes = 2};

	vm.cores = draw_cores(random, mix);
	/* Never more than half of the host: then a quarter. */
	if (vm.cores > of->cores / 2)
		vm.cores = MAX_OF(of->cores / 4, 1);
	vm.memory_kib =
	    (int64_t)vm.cores * 2 * gib_per_thread[case_below(random, (int)ARRAY_SIZE(gib_per_thread))] * gib_kib;
	if (of->problem.node_count > 1 && case_below(random, 100) < 12)
		vm.device_node = case_below(random, of->problem.node_count);
	if (host->x3d) {
		int percent = case_below(random, 100);

		if (percent < 70)
			vm.wish = percent < 40 ? PLACE_CLASS_CACHE : PLACE_CLASS_FREQUENCY;
	}
	return vm;
}

void case_fill(struct place_case *of, const struct case_host *host, enum mix mix, int load, uint64_t seed)
{
	struct case_random random = {.state = seed};
	int want = of->cores * load / 100, sum = 0;
	double memory_kib = 0;

	of->problem.vm_count = 0;
	while (of->problem.vm_count < of->vm_room) {
		struct place_vm vm = case_draw(&random, of, host, mix);

		/* The first that is too much is the last that is drawn. To go on with smaller ones until every gap is
		 * filled makes harder hosts than those of the reference figures. */
		if (sum + vm.cores > want || memory_kib + (double)vm.memory_kib > 0.95 * of->memory_kib)
			break;
		sum += vm.cores;
		memory_kib += (double)vm.memory_kib;
		of->vms[of->problem.vm_count++] = vm;
	}
}

double case_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

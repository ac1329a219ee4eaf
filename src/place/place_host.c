/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns planning VMs on a host from end to end: requests to problem, solving, solution to plan.
 */
#include "place_host.h"

#include <errno.h>

#include "place_plan.h"
#include "text.h"

struct place_wishes place_wishes_default(void)
{
	return (struct place_wishes){.max_excess_ns = -1, .max_changes = -1, .reserve_cores = -1};
}

int plan_cores_of(const struct place_shape *shape, const struct place_request *request)
{
	int per_core = request->smt == PLACE_SMT_THREADS ? shape->threads_per_core : 1;

	return (request->vcpus + per_core - 1) / per_core;
}

unsigned plan_page_sizes(const struct place_request *request)
{
	if (request->memory_kib <= 0)
		return 0;
	if (request->page_kib == PLACE_PAGES_AUTO)
		return 1U << 1 | 1U << 2;
	return 1U << shape_page_size(request->page_kib == 0 ? 4 : request->page_kib);
}

static int check_host(const struct host *host, struct err *err)
{
	if (host->kind == HOST_LSCPU)
		return err_set(
		    err, ENOTSUP, host->name,
		    "lscpu's text does not tell which threads are siblings and which share an L3: give a capture, "
		    "a directory with /sys, or hwloc XML");
	if (!fact_is_on(&host->topology.state))
		return err_set(err, ENOTSUP, host->name, "its topology is not known");
	if (!host->topology.core_known)
		return err_set(err, ENOTSUP, host->name,
			       "which threads are siblings is not known: no whole core can be given");
	return 0;
}

static int check_request(const struct place_request *request, struct err *err)
{
	const char *name = request->name ? request->name : "VM";

	if (request->vcpus < 1 || request->vcpus > CPUSET_MAX)
		return err_set(err, EINVAL, name, "%d vCPUs: from 1 to %d can be planned", request->vcpus,
			       (int)CPUSET_MAX);
	if (request->page_kib != 0 && request->page_kib != PLACE_PAGES_AUTO && shape_page_size(request->page_kib) < 0)
		return err_set(err, EINVAL, name, "pages of %ld KiB: there are ordinary ones (4), 2048 and 1048576",
			       (long)request->page_kib);
	if (request->memory_kib < 0 || request->priority < 0)
		return err_set(err, EINVAL, name, "its memory or priority is negative");
	if (request->right != PLACE_NEW && cpuset_empty(&request->cpus_now))
		return err_set(err, EINVAL, name, "it exists, but where it is pinned is not said");
	return 0;
}

/* Does a kept VM have cores of its own? One that may run on more than it has vCPUs floats, and holds none of them. */
static bool holds_cores(const struct place_shape *shape, const struct place_request *request)
{
	int touched = 0;

	for (int i = 0; i < shape->core_count; i++)
		touched += cpuset_meets(&shape->cores[i].cpus, &request->cpus_now);
	return touched <= request->vcpus;
}

static void mark_existing(struct planning *planning, struct cpuset *ret_taken)
{
	struct place_shape *shape = planning->shape;

	for (int i = 0; i < planning->request_count; i++) {
		const struct place_request *request = &planning->requests[i];

		if (request->right == PLACE_NEW)
			continue;
		if (!holds_cores(shape, request)) {
			shape_note(
			    shape,
			    "%s floats over CPUs %s: it has no cores of its own, and what it uses is not counted",
			    request->name ? request->name : "VM", cpuset_format(shape->arena, &request->cpus_now));
			continue;
		}
		*ret_taken = cpuset_or(ret_taken, &request->cpus_now);
		for (int core = 0; core < shape->core_count && request->right == PLACE_KEEP; core++)
			shape->cores[core].kept |= cpuset_meets(&shape->cores[core].cpus, &request->cpus_now);
	}
}

/* Where an existing VM is, in cores by CCX. Returns their sum. */
static int count_now(const struct place_shape *shape, const struct place_request *request, int *now)
{
	int sum = 0;

	for (int i = 0; i < shape->core_count; i++) {
		if (!cpuset_meets(&shape->cores[i].cpus, &request->cpus_now))
			continue;
		now[shape->cores[i].ccx]++;
		sum++;
	}
	return sum;
}

/* Memory that it holds now by node of the problem; without knowledge as much as its cores there say. */
static int64_t *pages_now(const struct place_shape *shape, const struct place_request *request,
			  const struct place_vm *vm)
{
	int64_t *pages = ARENA_ARRAY(shape->arena, (size_t)shape->node_count, int64_t);
	int64_t size_kib = shape->page_kib[vm->now_page_size];
	bool as_is = shape_as_is(shape);

	for (int os = 0; request->memory_now_kib && as_is && os < shape->os_node_count; os++) {
		if (shape->os_nodes[os].base >= 0)
			pages[shape->os_nodes[os].base] += request->memory_now_kib[os] / size_kib;
	}
	for (int i = 0; (!request->memory_now_kib || !as_is) && i < shape->ccx_count; i++)
		pages[shape->ccxs[i].node] += vm->memory_kib * vm->now[i] / (vm->cores * size_kib);
	return pages;
}

/* Pages that it holds and gives back when it leaves: what is free counts without them. */
static void give_back(struct place_shape *shape, const struct place_request *request, const struct place_vm *vm)
{
	int size = vm->now_page_size;
	bool as_is = shape_as_is(shape);

	for (int node = 0; vm->memory_kib > 0 && node < shape->node_count; node++) {
		int64_t *free = &shape->nodes[node].free_pages[size];

		if (*free != PLACE_MEMORY_UNKNOWN && size > 0)
			*free = MIN_OF(*free + vm->now_pages[node], shape->nodes[node].total_pages[size]);
	}
	/* The nodes of the system, where several make one of the problem: all may have had it when nothing tells. */
	for (int i = 0; vm->memory_kib > 0 && size > 0 && i < shape->os_node_count; i++) {
		int64_t *free = &shape->os_nodes[i].free_pages[size], total = shape->os_nodes[i].total_pages[size];
		int base = shape->os_nodes[i].base;
		int64_t had = request->memory_now_kib && as_is ? request->memory_now_kib[i] / shape->page_kib[size]
			      : base >= 0		       ? vm->now_pages[base]
							       : 0;

		if (*free != PLACE_MEMORY_UNKNOWN)
			*free = MIN_OF(*free + had, total);
	}
}

static void add_existing(struct place_shape *shape, const struct place_request *request, struct place_vm *vm)
{
	int *now = ARENA_ARRAY(shape->arena, (size_t)shape->ccx_count, int);
	int cores = holds_cores(shape, request) ? count_now(shape, request, now) : 0;

	if (request->right == PLACE_KEEP)
		vm->cores = MAX_OF(cores, 1);
	vm->now = now;
	vm->now_page_size = MAX_OF(shape_page_size(request->page_kib), request->page_kib == PLACE_PAGES_AUTO ? 1 : 0);
	vm->now_pages = pages_now(shape, request, vm);
	if (request->right != PLACE_KEEP && cores != vm->cores) {
		shape_note(shape,
			   "%s: its vCPUs are not on %d whole cores of their own now: it is placed as if it were new",
			   request->name ? request->name : "VM", vm->cores);
		if (request->memory_now_kib)
			give_back(shape, request, vm);
		vm->now = NULL;
		vm->now_pages = NULL;
		vm->now_page_size = 0;
		return;
	}
	vm->right = request->right;
	if (vm->right == PLACE_MOVE)
		give_back(shape, request, vm);
	/* Ordinary memory is counted from the whole: what stays is taken off. */
	for (int node = 0; vm->right != PLACE_MOVE && vm->now_page_size == 0 && node < shape->node_count; node++) {
		int64_t *free = &shape->nodes[node].free_pages[0];

		if (*free != PLACE_MEMORY_UNKNOWN)
			*free = MAX_OF(*free - vm->now_pages[node], 0);
	}
}

static int group_of(const struct planning *planning, int index)
{
	for (int i = 0; i <= index; i++) {
		if (text_equal(planning->requests[i].apart_group, planning->requests[index].apart_group))
			return i;
	}
	return -1;
}

static void add_item(struct planning *planning, int index)
{
	struct place_shape *shape = planning->shape;
	const struct place_request *request = &planning->requests[index];
	struct place_vm *vm = &planning->vms[planning->item_count];

	planning->item_of[index] = planning->item_count;
	planning->items[planning->item_count++] = (struct plan_item){.request = index, .pool = -1};
	*vm = (struct place_vm){.name = request->name,
				.cores = plan_cores_of(shape, request),
				.memory_kib = request->memory_kib,
				.page_sizes = plan_page_sizes(request),
				.device_node = -1,
				.wish = shape->host->topology.x3d ? request->wish : PLACE_CLASS_NONE,
				.max_nodes = request->max_nodes,
				.even = request->even,
				.apart = request->apart,
				.apart_group = request->apart_group ? group_of(planning, index) : -1,
				.priority = MAX_OF(request->priority, 1)};
	if (request->wish != PLACE_CLASS_NONE && !shape->host->topology.x3d)
		shape_note(shape, "%s: this host's L3 groups are alike, so a class is no matter here",
			   request->name ? request->name : "VM");
	if (request->has_device) {
		vm->device_node = shape_device_node(shape, request->device_os_node);
		if (vm->device_node < 0)
			shape_note(shape, "%s: which node its device would be near can't be told",
				   request->name ? request->name : "VM");
	}
	if (request->right != PLACE_NEW)
		add_existing(shape, request, vm);
}

static struct planning *new_planning(struct place_shape *shape, const struct place_request *requests, int count)
{
	struct planning *planning = ARENA_NEW(shape->arena, struct planning);
	size_t room = (size_t)count;

	planning->shape = shape;
	planning->requests = requests;
	planning->request_count = count;
	planning->item_of = ARENA_ARRAY(shape->arena, room, int);
	planning->items = ARENA_ARRAY(shape->arena, room, struct plan_item);
	planning->vms = ARENA_ARRAY(shape->arena, room, struct place_vm);
	planning->pools = ARENA_ARRAY(shape->arena, room, struct place_pool);
	return planning;
}

static const struct place_plan *make_plan(struct planning *planning, const struct place_problem *problem)
{
	struct place_shape *shape = planning->shape;
	struct place_plan *plan = ARENA_NEW(shape->arena, struct place_plan);
	int *os_nodes = ARENA_ARRAY(shape->arena, (size_t)shape->os_node_count, int);

	for (int i = 0; i < shape->os_node_count; i++)
		os_nodes[i] = shape->os_nodes[i].os_node;
	*plan = (struct place_plan){.host = shape->host,
				    .problem = problem,
				    .solution = planning->solution,
				    .vms = plan_make(planning),
				    .vm_count = planning->request_count,
				    .pools = planning->pools,
				    .pool_count = planning->pool_count,
				    .nodes = shape->host_nodes,
				    .os_node_count = shape->os_node_count,
				    .os_nodes = os_nodes,
				    .reserve = shape->reserve,
				    .reserve_why = shape->reserve_why,
				    .ccx_cpus = shape->ccx_cpus,
				    .ccx_l3 = shape->ccx_l3,
				    .notes = shape->notes,
				    .note_count = shape->note_count};
	return plan;
}

static const struct place_problem *make_problem(const struct planning *planning)
{
	const struct place_shape *shape = planning->shape;
	struct place_problem *problem = ARENA_NEW(shape->arena, struct place_problem);

	*problem = (struct place_problem){.ccxs = shape->ccxs,
					  .ccx_count = shape->ccx_count,
					  .nodes = shape->nodes,
					  .node_count = shape->node_count,
					  .vms = planning->vms,
					  .vm_count = planning->item_count,
					  .policy = shape->wishes->policy,
					  .strict = shape->wishes->strict,
					  .max_excess_ns = shape->wishes->max_excess_ns,
					  .max_changes = shape->wishes->max_changes,
					  .effort = shape->wishes->effort};
	for (int i = 0; i < PLACE_PAGE_SIZES; i++)
		problem->page_kib[i] = shape->page_kib[i];
	return problem;
}

/* The shape with its cores marked, and the requests as items. */
static int prepare(struct planning *planning, struct err *err)
{
	struct place_shape *shape = planning->shape;
	struct cpuset taken = {0};
	int bad = shape_read_nodes(shape, err);

	if (bad < 0)
		return bad;
	shape_merge_nodes(shape);
	bad = shape_read_cores(shape, err);
	if (bad < 0)
		return bad;
	mark_existing(planning, &taken);
	shape_choose_reserve(shape, &taken);
	shape_count_cores(shape);
	for (int i = 0; i < planning->request_count; i++) {
		const struct place_request *request = &planning->requests[i];

		if (request->overcommit_percent == 0 || request->right == PLACE_KEEP)
			add_item(planning, i);
	}
	return plan_pools(planning, err);
}

int place_host(struct arena *arena, const struct host *host, const struct place_request *requests, int request_count,
	       const struct place_wishes *wishes, const struct place_plan **ret, struct err *err)
{
	struct place_shape *shape = ARENA_NEW(arena, struct place_shape);
	struct planning *planning = NULL;
	const struct place_problem *problem = NULL;
	int bad = check_host(host, err);

	if (bad == 0 && (request_count < 0 || request_count > PLACE_VMS_MAX))
		bad = err_set(err, EINVAL, NULL, "%d VMs: at most %d can be planned at once", request_count,
			      (int)PLACE_VMS_MAX);
	for (int i = 0; i < request_count && bad == 0; i++)
		bad = check_request(&requests[i], err);
	if (bad < 0)
		return bad;
	*shape = (struct place_shape){.arena = arena, .host = host, .wishes = wishes};
	shape->page_kib[0] = 4;
	shape->page_kib[1] = 2048;
	shape->page_kib[2] = 1048576;
	planning = new_planning(shape, requests, request_count);
	bad = prepare(planning, err);
	if (bad < 0)
		return bad;
	problem = make_problem(planning);
	bad = place_solve(arena, problem, &planning->solution, err);
	if (bad < 0)
		return bad;
	*ret = make_plan(planning, problem);
	return 0;
}

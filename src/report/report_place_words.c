/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what the forms of a plan share: places and reasons in words, marks and owners for pictures, the order of steps.
 */
#include "report_place.h"

#include "text.h"

int report_place_cores(const struct place_plan *plan, int index)
{
	const struct place_vm_result *result = plan->vms[index].result;
	int cores = 0;

	for (int i = 0; result && i < result->part_count; i++)
		cores += result->parts[i].cores;
	return cores;
}

int report_place_placed(const struct report_place *place, int *ret_asked)
{
	int asked = 0, placed = 0;

	for (int i = 0; i < place->plan->vm_count; i++) {
		asked += place->vms[i].asked;
		placed += place->vms[i].asked && place->plan->vms[i].result && place->plan->vms[i].result->placed;
	}
	*ret_asked = asked;
	return placed;
}

/* ---- places ---- */

/* By the host as it is; where another BIOS setting is supposed, by the plan. */
static struct cpuset nodes_of_cpus(const struct report_place *place, const struct cpuset *cpus)
{
	const struct place_plan *plan = place->plan;
	bool supposed = place->wishes->what_if.nps || place->wishes->what_if.l3_as_numa;
	struct cpuset nodes = {0};

	for (int i = 0; supposed && i < plan->problem->node_count; i++)
		if (cpuset_meets(&plan->nodes[i].cpus, cpus))
			nodes = cpuset_or(&nodes, &plan->nodes[i].os_nodes);
	for (int i = 0; !supposed && i < plan->host->topology.node_count; i++)
		if (cpuset_meets(&plan->host->topology.nodes[i].cpus, cpus))
			cpuset_add(&nodes, plan->host->topology.nodes[i].os_node);
	return nodes;
}

static const char *nodes_text(struct arena *arena, const struct cpuset *nodes)
{
	return cpuset_empty(nodes)
		   ? "no known node"
		   : arena_printf(arena, "node%s %s", cpuset_count(nodes) > 1 ? "s" : "", cpuset_format(arena, nodes));
}

const char *report_place_where(struct arena *arena, const struct report_place *place, int index)
{
	const struct place_plan *plan = place->plan;
	struct cpuset l3s = {0}, nodes = nodes_of_cpus(place, &plan->vms[index].cpus);
	bool known = true;

	for (int i = 0; i < plan->problem->ccx_count; i++) {
		if (!cpuset_meets(&plan->ccx_cpus[i], &plan->vms[index].cpus))
			continue;
		known = known && plan->ccx_l3[i] >= 0;
		cpuset_add(&l3s, plan->ccx_l3[i]);
	}
	if (!known || cpuset_empty(&l3s))
		return arena_printf(arena, "%s (which cores share an L3 is not known)", nodes_text(arena, &nodes));
	return arena_printf(arena, "%s %s of %s", report_group_word(plan->host), cpuset_format(arena, &l3s),
			    nodes_text(arena, &nodes));
}

struct cpuset report_place_free_ccxs(const struct place_plan *plan)
{
	struct cpuset free = {0};

	for (int i = 0; i < plan->problem->ccx_count; i++)
		if (plan->problem->ccxs[i].cores > 0 && plan->solution->free[i] == plan->problem->ccxs[i].cores)
			cpuset_add(&free, plan->ccx_l3[i]);
	return free;
}

/* ---- proof and reasons ---- */

const char *report_place_proof(struct arena *arena, const struct place_plan *plan)
{
	const struct place_solution *solution = plan->solution;

	if (solution->proof == PLACE_PROVED_ALL)
		return "proved optimal in every term: all placements were looked at";
	if (solution->proof == PLACE_PROVED_LATENCY)
		return "proved optimal in cores placed and in latency: both are at their bounds";
	return arena_printf(arena, "not proved optimal: within %.1f ns per core of a bound",
			    (double)solution->gap_ps / 1000);
}

const char *report_place_vm_proof(struct arena *arena, const struct place_vm_result *result, int cores)
{
	if (result->cost <= result->bound)
		return "proved optimal";
	return arena_printf(arena, "within %.1f ns per core of a bound", place_ns(result->cost - result->bound, cores));
}

/* What the policy does with all of them: that a single VM is where it is rests on the others. */
static const char *policy_reason(enum place_policy policy)
{
	static const char *const reasons[] = {
	    [PLACE_PACK] = "policy pack leaves the others as large as can be",
	    [PLACE_SPREAD] = "policy spread gives all VMs as few neighbours in their L3 as can be",
	    [PLACE_POWER] = "policy power uses as few dies as can be, so that others sleep deeply",
	};

	return reasons[policy];
}

static const char *many_ccxs(struct arena *arena, const struct report_place *place, int index)
{
	const struct place_vm_result *result = place->plan->vms[index].result;
	const char *word = report_group_word(place->host);
	int cores = report_place_cores(place->plan, index);

	if (result->part_count > result->ccx_fewest && result->ccx_fewest > 0)
		return arena_printf(arena, "%d cores over %d %ss, where %d would do on an empty host%s%s", cores,
				    result->part_count, word, result->ccx_fewest, result->reason ? ": " : "",
				    result->reason ? result->reason : "");
	return arena_printf(arena, "no %s gives %d cores to VMs, so it spans %d, the fewest that do%s", word, cores,
			    result->part_count, result->even && result->part_count > 1 ? ", in equal parts" : "");
}

const char *report_place_why(struct arena *arena, const struct report_place *place, int index)
{
	const struct place_vm_plan *vm = &place->plan->vms[index];
	const struct place_vm_result *result = vm->result;
	bool l3_known = place->plan->host->topology.l3_known;
	const char *text;

	if (vm->request->right == PLACE_KEEP)
		return "it has a place and was not asked to leave it";
	if (vm->pool >= 0)
		text = "it shares a pool with others, as asked";
	else if (!l3_known)
		text = "by node and whole cores only: which cores share an L3 is not known here";
	else if (result->part_count > 1)
		text = many_ccxs(arena, place, index);
	else
		text = arena_printf(arena, "it fits into one %s; %s", report_group_word(place->host),
				    policy_reason(place->wishes->policy));
	if (result->node_count > 1)
		text = arena_printf(arena, "%s; no single node has its cores and its memory", text);
	if (vm->request->has_device)
		text = arena_printf(arena, "%s; its device is on node %d%s", text, vm->request->device_os_node,
				    result->device_cost ? ", which it is not wholly on" : "");
	if (vm->request->wish != PLACE_CLASS_NONE)
		text = arena_printf(arena, "%s; %s cores were asked for%s", text,
				    vm->request->wish == PLACE_CLASS_CACHE ? "large-cache" : "high-frequency",
				    result->class_cost ? ", and not all are" : "");
	return text;
}

/* ---- steps ---- */

int64_t report_place_moved_kib(const struct report_place *place, int index)
{
	const struct place_plan *plan = place->plan;
	const struct report_place_vm *shown = &place->vms[index];
	const struct host_topology *topology = &place->host->topology;
	int64_t moved = 0;

	/* Of VMs that hold whole cores the plan knows; one that floats is new to it. */
	if (plan->vms[index].result->moved_kib > 0)
		return plan->vms[index].result->moved_kib;
	if (!shown->vm || shown->vm->state != VM_STATE_RUNNING || !shown->memory_kib || plan->vms[index].memory_stays)
		return 0;
	if (!shown->vm->node_kib)
		return plan->vms[index].request->right == PLACE_REPIN ? 0 : -1;
	for (int i = 0; i < topology->node_count; i++)
		for (int j = 0; j < plan->os_node_count; j++)
			if (plan->os_nodes[j] == topology->nodes[i].os_node)
				moved += MAX_OF(shown->vm->node_kib[i] - shown->memory_kib[j], 0);
	return MIN_OF(moved, plan->vms[index].request->memory_kib);
}

/* Does it have no CPUs of its own now? */
static bool floats(const struct report_place *place, int index)
{
	const struct place_request *request = place->plan->vms[index].request;

	return cpuset_count(&request->cpus_now) > 2 * request->vcpus || cpuset_empty(&request->cpus_now);
}

static enum report_place_step step_of(const struct report_place *place, int index)
{
	const struct place_vm_plan *vm = &place->plan->vms[index];
	bool runs = place->vms[index].vm && place->vms[index].vm->state == VM_STATE_RUNNING;

	if (!vm->result || !vm->result->placed || vm->request->right == PLACE_KEEP)
		return STEP_NONE;
	if (!runs)
		return vm->request->right == PLACE_NEW || vm->result->changed || place->vms[index].restart ? STEP_START
													   : STEP_NONE;
	if (!floats(place, index) && !vm->result->changed && !place->vms[index].restart)
		return STEP_NONE;
	return report_place_moved_kib(place, index) ? STEP_MOVE : STEP_REPIN;
}

const struct report_place_order *report_place_order(struct arena *arena, const struct report_place *place,
						    int *ret_count)
{
	struct report_place_order *order = ARENA_ARRAY(arena, (size_t)place->plan->vm_count, struct report_place_order);
	int count = 0;

	for (int step = STEP_REPIN; step <= STEP_START; step++) {
		int first = count;

		for (int i = 0; i < place->plan->vm_count; i++) {
			int at = count;

			if (step_of(place, i) != (enum report_place_step)step)
				continue;
			/* The least memory first: what can go wrong late has then cost least. */
			while (step == STEP_MOVE && at > first &&
			       report_place_moved_kib(place, order[at - 1].vm) > report_place_moved_kib(place, i)) {
				order[at] = order[at - 1];
				at--;
			}
			order[at] = (struct report_place_order){i, (enum report_place_step)step};
			count++;
		}
	}
	*ret_count = count;
	return order;
}

/* ---- pictures ---- */

const char *report_place_mark(struct arena *arena, int index)
{
	const char *mark = "";

	for (int left = index; left >= 0; left = left / 26 - 1)
		mark = arena_printf(arena, "%c%s", 'A' + left % 26, mark);
	return mark;
}

static const char *owners_legend(struct arena *arena, const struct report_place *place)
{
	const char *text = "h host";

	for (int i = 0; i < place->plan->vm_count; i++)
		text = arena_printf(arena, "%s, %s %s", text, report_place_mark(arena, i),
				    place->plan->vms[i].request->name);
	return text;
}

const struct report_owners *report_place_owners(struct arena *arena, const struct report_place *place, bool after)
{
	size_t cpu_count = (size_t)MAX_OF(place->host->topology.cpu_count, 1);
	const char **marks = ARENA_ARRAY(arena, cpu_count, const char *);
	int *tints = ARENA_ARRAY(arena, cpu_count, int);
	struct cpuset *changed = ARENA_NEW(arena, struct cpuset);
	struct report_owners *owners = ARENA_NEW(arena, struct report_owners);

	*owners = (struct report_owners){.marks = marks, .width = 1, .changed = changed, .tints = tints};
	CPUSET_FOREACH (cpu, &place->plan->reserve)
		if (cpu < place->host->topology.cpu_count)
			marks[cpu] = "h";
	for (int i = 0; i < place->plan->vm_count; i++) {
		const struct place_vm_plan *vm = &place->plan->vms[i];
		bool placed = vm->result && vm->result->placed, kept = vm->request->right == PLACE_KEEP;
		const struct cpuset *cpus = after && placed && !kept ? &vm->cpus : &vm->request->cpus_now;

		/* Where it may run is not where it is. */
		if (cpus == &vm->request->cpus_now && floats(place, i))
			continue;
		const char *mark = report_place_mark(arena, i);

		owners->width = MAX_OF(owners->width, term_columns(mark));
		CPUSET_FOREACH (cpu, cpus) {
			if (cpu >= place->host->topology.cpu_count)
				break;
			/* More than one VM there now. */
			marks[cpu] = marks[cpu] && !text_equal(marks[cpu], "h") ? "+" : mark;
			tints[cpu] = i;
			if (after && !kept)
				cpuset_add(changed, cpu);
		}
		CPUSET_FOREACH (cpu, &vm->idle_siblings)
			if (after && placed && cpu < place->host->topology.cpu_count && !marks[cpu]) {
				marks[cpu] = place->vms[i].smt == PLACE_VM_SMT_ONE_PER_CORE ? mark : "-";
				tints[cpu] = i;
			}
	}
	owners->legend = owners_legend(arena, place);
	return owners;
}

int report_place_svg(FILE *out, const struct report_place *place)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();

	return report_topology_svg_owners(out, place->host, report_place_owners(arena, place, true));
}

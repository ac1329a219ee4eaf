/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a plan as JSON. */
#include "report_place.h"
#include "report_place_pages.h"
#include "text.h"

static json_t *set_json(struct arena *arena, const struct cpuset *set)
{
	return json_string(cpuset_format(arena, set));
}

static json_t *pins_json(const struct place_vm_plan *vm)
{
	json_t *pins = json_array();

	for (int i = 0; vm->cpus_of_vcpus && i < vm->request->vcpus; i++)
		json_array_append_new(pins, json_integer(vm->cpus_of_vcpus[i]));
	return pins;
}

static json_t *memory_json(const struct place_plan *plan, const struct place_vm_plan *vm, const int64_t *memory_kib)
{
	json_t *nodes = json_array();

	for (int i = 0; memory_kib && i < plan->os_node_count; i++)
		if (memory_kib[i] > 0)
			json_array_append_new(nodes, json_pack("{s:i, s:I, s:I, s:I}", "node", plan->os_nodes[i], "kib",
							       (json_int_t)memory_kib[i], "page_kib",
							       (json_int_t)vm->page_kib, "pages",
							       (json_int_t)(memory_kib[i] / MAX_OF(vm->page_kib, 1))));
	return nodes;
}

static json_t *parts_json(const struct place_plan *plan, const struct place_vm_result *result)
{
	json_t *parts = json_array();

	for (int i = 0; i < result->part_count; i++) {
		int l3 = plan->ccx_l3[result->parts[i].ccx];

		json_array_append_new(parts, json_pack("{s:o, s:i}", "ccx", l3 >= 0 ? json_integer(l3) : json_null(),
						       "cores", result->parts[i].cores));
	}
	return parts;
}

static json_t *score_json(const struct place_vm_result *result, int cores)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "ns_per_core", place_ns(result->cost, cores),
			 "between_cores", place_ns(result->pair_cost, cores), "memory",
			 place_ns(result->memory_cost, cores), "device", place_ns(result->device_cost, cores), "class",
			 place_ns(result->class_cost, cores), "ideal", place_ns(result->ideal, cores), "bound",
			 place_ns(result->bound, cores), "proved_optimal", result->cost <= result->bound);
}

static json_t *moved_json(const struct report_place *place, int index)
{
	int64_t kib = report_place_moved_kib(place, index);

	return kib < 0 ? json_null() : json_integer(kib);
}

static void add_placed(struct arena *arena, json_t *json, const struct report_place *place, int index)
{
	const struct place_vm_plan *vm = &place->plan->vms[index];
	const struct vm_layout *layout = &place->vms[index].layout;

	json_object_set_new(json, "where", report_json_text(report_place_where(arena, place, index)));
	json_object_set_new(json, "cpus", set_json(arena, &vm->cpus));
	json_object_set_new(json, "cpu_of_vcpu", pins_json(vm));
	json_object_set_new(json, "idle_siblings", set_json(arena, &vm->idle_siblings));
	json_object_set_new(json, "emulator", set_json(arena, &layout->service));
	json_object_set_new(json, "parts", parts_json(place->plan, vm->result));
	json_object_set_new(json, "memory", memory_json(place->plan, vm, place->vms[index].memory_kib));
	json_object_set_new(json, "guest",
			    json_pack("{s:i, s:i, s:i, s:i, s:b, s:i, s:o}", "sockets", vm->sockets, "dies", vm->dies,
				      "cores", vm->cores, "threads", vm->threads, "l3_even", vm->l3_even, "cells",
				      layout->cell_count, "note", report_json_text(vm->topology_note)));
	json_object_set_new(json, "score", score_json(vm->result, report_place_cores(place->plan, index)));
	json_object_set_new(json, "changed", json_boolean(vm->result->changed));
	json_object_set_new(json, "migrate_kib", moved_json(place, index));
	json_object_set_new(json, "with_next_start", report_json_text(place->vms[index].restart));
	json_object_set_new(json, "why", report_json_text(report_place_why(arena, place, index)));
}

static json_t *vm_json(struct arena *arena, const struct report_place *place, int index)
{
	static const char *const rights[] = {
	    [PLACE_NEW] = "new", [PLACE_KEEP] = "keep", [PLACE_REPIN] = "repin", [PLACE_MOVE] = "move"};
	const struct place_vm_plan *vm = &place->plan->vms[index];
	bool placed = vm->result && vm->result->placed, kept = vm->request->right == PLACE_KEEP;
	json_t *json = json_object();

	json_object_set_new(json, "name", report_json_text(vm->request->name));
	json_object_set_new(json, "mark", json_string(report_place_mark(arena, index)));
	json_object_set_new(json, "vcpus", json_integer(vm->request->vcpus));
	json_object_set_new(json, "right", json_string(rights[vm->request->right]));
	json_object_set_new(json, "cpus_now", set_json(arena, &vm->request->cpus_now));
	json_object_set_new(json, "placed", json_boolean(placed || kept));
	if (placed && !kept)
		add_placed(arena, json, place, index);
	else if (!kept)
		json_object_set_new(json, "why", report_json_text(vm->result ? vm->result->reason : NULL));
	return json;
}

static json_t *next_json(const struct place_plan *plan)
{
	static const int sizes[] = {4, 8, 16};
	json_t *next = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int64_t cost;
		int ccxs;
		bool fits = place_next(plan->problem, plan->solution, sizes[i], &cost, &ccxs);

		json_array_append_new(next, fits ? json_pack("{s:i, s:b, s:i, s:f}", "cores", sizes[i], "fits", 1,
							     "ccxs", ccxs, "ns_per_core", place_ns(cost, sizes[i]))
						 : json_pack("{s:i, s:b}", "cores", sizes[i], "fits", 0));
	}
	return next;
}

static json_t *steps_json(struct arena *arena, const struct report_place *place)
{
	static const char *const names[] = {
	    [STEP_NONE] = "none", [STEP_REPIN] = "repin", [STEP_MOVE] = "move", [STEP_START] = "start"};
	json_t *steps = json_array();
	int count, page_count;
	const struct report_place_order *order = report_place_order(arena, place, &count);
	const struct report_place_pages *pages = report_place_pages(arena, place, &page_count);

	for (int i = 0; i < page_count; i++)
		json_array_append_new(steps,
				      json_pack("{s:s, s:i, s:I, s:I, s:I}", "do", "reserve_pages", "node",
						pages[i].os_node, "page_kib", (json_int_t)pages[i].page_kib, "more",
						(json_int_t)pages[i].more, "total", (json_int_t)pages[i].total));
	for (int i = 0; i < count; i++)
		json_array_append_new(steps,
				      json_pack("{s:o, s:s, s:o}", "vm",
						report_json_text(place->plan->vms[order[i].vm].request->name), "do",
						names[order[i].step], "migrate_kib", moved_json(place, order[i].vm)));
	return steps;
}

json_t *report_place_json(const struct report_place *place)
{
	CLEANUP(arena_free_pointer) struct arena *arena = arena_new();
	static const char *const policies[] = {
	    [PLACE_PACK] = "pack", [PLACE_SPREAD] = "spread", [PLACE_POWER] = "power"};
	const struct place_plan *plan = place->plan;
	struct cpuset free_ccxs = report_place_free_ccxs(plan);
	json_t *json = report_json_start("place", plan->host), *vms = json_array(), *notes = json_array();

	for (int i = 0; i < plan->vm_count; i++)
		json_array_append_new(vms, vm_json(arena, place, i));
	for (int i = 0; i < plan->note_count; i++)
		json_array_append_new(notes, report_json_text(plan->notes[i]));
	for (int i = 0; i < place->note_count; i++)
		json_array_append_new(notes, report_json_text(place->notes[i]));
	json_object_set_new(json, "policy", json_string(policies[place->wishes->policy]));
	json_object_set_new(json, "vms", vms);
	json_object_set_new(json, "reserve", set_json(arena, &plan->reserve));
	json_object_set_new(json, "free_ccxs", set_json(arena, &free_ccxs));
	json_object_set_new(json, "next", next_json(plan));
	json_object_set_new(json, "steps", steps_json(arena, place));
	json_object_set_new(json, "proof", json_string(report_place_proof(arena, plan)));
	json_object_set_new(json, "proved_optimal", json_boolean(plan->solution->proof != PLACE_NOT_PROVED));
	json_object_set_new(json, "gap_ns_per_core", json_real((double)plan->solution->gap_ps / 1000));
	json_object_set_new(json, "notes", notes);
	return json;
}

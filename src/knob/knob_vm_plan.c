/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns a plan that puts VMs where their layouts say. */
#include <errno.h>

#include "knob_vm.h"
#include "text.h"
#include "vm_write_edit.h"

struct planning {
	struct knob_machine *machine;
	const struct knob_vm_placing *placings;
	const struct knob_vm *vms; /* count, as the placings */
	size_t count;
	struct knob_plan plan;
};

/* One kind of change, of all VMs. */
typedef int (*add_points)(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_layout *layout,
			  struct knob_points *points, struct err *err);

static int add_definition(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_layout *layout,
			  struct knob_points *points, struct err *err)
{
	const struct vm_xml_edit *edits;
	int count;

	if (!vm->declared)
		return 0;
	count = vm_write_edits(machine->arena, layout, vm->declared, &edits);
	return knob_vm_define(machine, vm, edits, count, points, err);
}

static int add_emulator(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_layout *layout,
			struct knob_points *points, struct err *err)
{
	return cpuset_empty(&layout->service) ? 0 : knob_vm_pin_emulator(machine, vm, &layout->service, points, err);
}

static int add_iothreads(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_layout *layout,
			 struct knob_points *points, struct err *err)
{
	return cpuset_empty(&layout->service) ? 0 : knob_vm_pin_iothreads(machine, vm, &layout->service, points, err);
}

static int add_vcpus(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_layout *layout,
		     struct knob_points *points, struct err *err)
{
	return layout->pins ? knob_vm_pin_vcpus(machine, vm, layout->pins, layout->vcpus, points, err) : 0;
}

static int add_memory(struct knob_machine *machine, const struct knob_vm *vm, const struct vm_layout *layout,
		      struct knob_points *points, struct err *err)
{
	return cpuset_empty(&layout->nodes) || !knob_vm_memory_moves(vm)
		   ? 0
		   : knob_vm_move_memory(machine, vm, &layout->nodes, points, err);
}

/* In the order of knob_vm.h. */
static const struct {
	const char *knob;
	add_points add;
	bool live;
} kinds[] = {
    {"vm.definition", add_definition, false}, {"vm.emulator", add_emulator, true},
    {"vm.iothreads", add_iothreads, true},    {"vm.pins", add_vcpus, true},
    {"vm.memory", add_memory, true},
};

/* Read what the points hold; those that are right already are no part of the step. */
static int take_points(struct planning *planning, const struct knob_points *points, const char *name, struct err *err)
{
	struct knob_plan *plan = &planning->plan;
	struct knob_step *step = &plan->steps[plan->step_count];

	*step = (struct knob_step){.knob = knob_find(name), .name = name, .first = plan->points.count};
	for (size_t i = 0; i < points->count; i++) {
		struct knob_point *point = &points->items[i];
		int r = knob_get(planning->machine, point, &point->old, err);

		if (r < 0)
			return r;
		knob_points_add(knob_same(point->knob, point->old, point->new) ? &plan->already : &plan->points, point);
	}
	step->count = plan->points.count - step->first;
	plan->step_count += step->count > 0;
	return 0;
}

static int add_kind(struct planning *planning, size_t kind, struct err *err)
{
	struct knob_points points = {.arena = planning->machine->arena};

	for (size_t i = 0; i < planning->count; i++) {
		const struct knob_vm_placing *placing = &planning->placings[i];
		int r = kinds[kind].live && placing->declare_only
			    ? 0
			    : kinds[kind].add(planning->machine, &planning->vms[i], placing->layout, &points, err);

		if (r < 0)
			return r;
	}
	return take_points(planning, &points, kinds[kind].knob, err);
}

/* What is not done by the writes. */
static void add_remarks(struct planning *planning, size_t index)
{
	const struct knob_vm *vm = &planning->vms[index];
	const struct vm_layout *layout = planning->placings[index].layout;
	struct arena *arena = planning->machine->arena;
	struct knob_plan *plan = &planning->plan;
	const char *restart = vm_layout_restart(arena, layout, vm->live ? vm->live : vm->running);

	if (vm->running && vm->declared && (restart || planning->placings[index].declare_only)) {
		plan->follows = plan->follows ? arena_printf(arena, "%s, %s", plan->follows, vm->name)
					      : arena_printf(arena, "a restart of %s", vm->name);
		if (restart)
			knob_plan_note(planning->machine, plan,
				       arena_printf(arena, "%s gets with its next start: %s", vm->name, restart));
	}
	if (vm->running && !vm->declared)
		knob_plan_note(planning->machine, plan,
			       arena_printf(arena, "%s has no definition that lasts: this holds until it stops%s%s",
					    vm->name, restart ? "; left out: " : "", restart ? restart : ""));
	if (vm->of_libvirt && vm->domain.saved)
		knob_plan_note(planning->machine, plan,
			       arena_printf(arena,
					    "%s was saved (managed save): it will start with what it was saved "
					    "with, and its definition only counts after that",
					    vm->name));
}

/* The layout was made of what was read before; meanwhile it may have become another VM. */
static int check_vcpus(const struct knob_vm *vm, const struct vm_layout *layout, struct err *err)
{
	const struct vm *versions[] = {vm->declared, vm->running};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (versions[i] && versions[i]->vcpu_max != layout->vcpus)
			return err_set(err, EINVAL, vm->name, "has %d vCPUs, not %d", versions[i]->vcpu_max,
				       layout->vcpus);
	return 0;
}

int knob_vm_plan(struct knob_machine *machine, const struct knob_vm_placing *placings, size_t count,
		 struct knob_plan *ret, struct err *err)
{
	struct arena *arena = machine->arena;
	struct knob_vm *vms = ARENA_ARRAY(arena, count + 1, struct knob_vm);
	struct planning planning = {
	    .machine = machine,
	    .placings = placings,
	    .vms = vms,
	    .count = count,
	    .plan = {.points.arena = arena,
		     .guards.arena = arena,
		     .already.arena = arena,
		     .steps = ARENA_ARRAY(arena, ARRAY_SIZE(kinds), struct knob_step)},
	};

	for (size_t i = 0; i < count; i++) {
		int r = knob_vm_find(machine, placings[i].name, &vms[i], err);

		if (r == 0)
			r = check_vcpus(&vms[i], placings[i].layout, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int r = add_kind(&planning, i, err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < count; i++)
		add_remarks(&planning, i);
	*ret = planning.plan;
	return 0;
}

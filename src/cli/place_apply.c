/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in place_apply.h. */
#include "place_apply.h"

#include <errno.h>

#include "change.h"
#include "knob_vm.h"
#include "report_place_pages.h"
#include "text.h"
#include "vm_libvirt.h"

struct applying {
	const struct cli *cli;
	const struct place_inputs *inputs;
	const struct report_place *report;
	struct knob_machine *machine;
	struct knob_vm_placing *placings; /* count, */
	int *indexes;			  /* and which VM of the plan each is */
	size_t count;
};

int place_apply_check(const struct cli *cli)
{
	static const struct {
		enum cli_option_id id;
		const char *why;
	} others[] = {
	    {OPTION_NEW, "--new plans VMs that do not exist: --format xml prints them"},
	    {OPTION_FILE, "--file plans VMs of a file: --format diff prints the change"},
	    {OPTION_WHAT_IF, "--what-if plans for another machine than this"},
	    {OPTION_FORMAT, "--format prints what to do by hand"},
	    {OPTION_PLAN, "--plan prints what to do by hand"},
	};
	static const enum cli_option_id own[] = {OPTION_YES, OPTION_DRY_RUN, OPTION_SETTLE};

	if (!cli_given(cli, OPTION_APPLY)) {
		for (size_t i = 0; i < ARRAY_SIZE(own); i++)
			if (cli_given(cli, own[i]))
				return cli_usage(cli, "--yes, --dry-run and --settle go with --apply");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (cli_given(cli, others[i].id))
			return cli_usage(cli, "--apply cannot be: %s", others[i].why);
	if (text_equal(cli->values[OPTION_SVG], "-"))
		return cli_usage(cli, "--apply cannot be: the picture goes to standard output; --svg FILE");
	if (cli_given(cli, OPTION_CONNECT) && !text_equal(cli->values[OPTION_CONNECT], VM_LIBVIRT_URI))
		return cli_usage(cli, "--apply changes VMs through %s only; --format virsh prints what to do by hand",
				 VM_LIBVIRT_URI);
	return change_check_options(cli);
}

/* Has the plan a place for it, other than to leave it alone? */
static bool is_placed(const struct report_place *report, int index)
{
	return report->vms[index].asked && report->vms[index].layout.vcpus > 0;
}

int place_apply_foreign(const struct place_inputs *inputs, const struct report_place *report)
{
	for (int i = 0; i < inputs->count; i++)
		if (is_placed(report, i) && inputs->inputs[i].declared &&
		    inputs->inputs[i].declared->source == VM_PROXMOX_CONF)
			return i;
	return -1;
}

/*
 * Threads that go where most of the memory is not, and cannot follow, would run slower than before: such a VM moves as
 * a whole, with its next start.
 */
static bool waits_for_start(const struct applying *applying, int index)
{
	const struct place_input *input = &applying->inputs->inputs[index];
	const struct vm *vm = input->declared ? input->declared : input->vm;
	int64_t moved_kib = report_place_moved_kib(applying->report, index);

	return input->vm && input->vm->state == VM_STATE_RUNNING && input->declared &&
	       !text_equal(vm->numa_mode, "restrictive") &&
	       2 * moved_kib > applying->report->plan->vms[index].request->memory_kib;
}

static void note(const struct applying *applying, struct knob_plan *plan, const char *text)
{
	knob_plan_note(applying->machine, plan, text);
}

/* How much memory moves or has to wait. */
static void note_memory(const struct applying *applying, struct knob_plan *plan, size_t at)
{
	struct arena *arena = applying->machine->arena;
	int64_t moved_kib = report_place_moved_kib(applying->report, applying->indexes[at]);
	const struct knob_vm_placing *placing = &applying->placings[at];
	const struct place_input *input = &applying->inputs->inputs[applying->indexes[at]];

	if (moved_kib <= 0 || !input->vm || input->vm->state != VM_STATE_RUNNING)
		return;
	if (placing->declare_only)
		note(applying, plan,
		     arena_printf(
			 arena,
			 "%s of %s lie on other nodes than its new place and cannot be moved while it runs: its "
			 "threads stay where they are, and all of it moves with its next start",
			 text_kib(arena, moved_kib), placing->name));
	else
		note(applying, plan,
		     arena_printf(arena, "%s of %s are on other nodes than its new place: they %s",
				  text_kib(arena, moved_kib), placing->name,
				  text_equal(input->declared ? input->declared->numa_mode : NULL, "restrictive")
				      ? "are copied while it runs"
				      : "follow with its next start"));
}

/* CPUs that a VM keeps until its next start, and others get at once. */
static void note_overlap(const struct applying *applying, struct knob_plan *plan, size_t waiting)
{
	struct arena *arena = applying->machine->arena;
	const struct cpuset *now = &applying->report->plan->vms[applying->indexes[waiting]].request->cpus_now;

	for (size_t i = 0; i < applying->count; i++) {
		struct cpuset cpus = vm_layout_cpus(applying->placings[i].layout), both = cpuset_and(&cpus, now);

		if (!applying->placings[i].declare_only && !cpuset_empty(&both))
			note(applying, plan,
			     arena_printf(arena, "until %s is started again, %s shares CPU%s %s with it",
					  applying->placings[waiting].name, applying->placings[i].name,
					  cpuset_count(&both) == 1 ? "" : "s", cpuset_format(arena, &both)));
	}
}

static void add_notes(const struct applying *applying, struct knob_plan *plan)
{
	struct arena *arena = applying->machine->arena;
	int count;
	const struct report_place_pages *pages = report_place_pages(arena, applying->report, &count);

	for (size_t i = 0; i < applying->count; i++) {
		note_memory(applying, plan, i);
		if (applying->placings[i].declare_only)
			note_overlap(applying, plan, i);
	}
	for (int i = 0; i < count; i++)
		note(applying, plan,
		     arena_printf(arena, "before the next start of these VMs: %s",
				  report_place_pages_text(arena, &pages[i])));
}

/* The command, for the journal. */
static const char *command(const struct applying *applying)
{
	const char *text = "place";

	for (size_t i = 0; i < applying->count; i++)
		text = arena_printf(applying->machine->arena, "%s %s", text, applying->placings[i].name);
	return arena_printf(applying->machine->arena, "%s --apply", text);
}

static void collect(struct applying *applying)
{
	size_t room = (size_t)applying->inputs->count + 1;

	applying->placings = ARENA_ARRAY(applying->machine->arena, room, struct knob_vm_placing);
	applying->indexes = ARENA_ARRAY(applying->machine->arena, room, int);
	for (int i = 0; i < applying->inputs->count; i++) {
		if (!is_placed(applying->report, i))
			continue;
		applying->indexes[applying->count] = i;
		applying->placings[applying->count++] =
		    (struct knob_vm_placing){.name = applying->report->vms[i].layout.name,
					     .layout = &applying->report->vms[i].layout,
					     .declare_only = waits_for_start(applying, i)};
	}
}

int place_apply(const struct cli *cli, const struct place_inputs *inputs, const struct report_place *report,
		json_t *json)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct applying applying = {.cli = cli, .inputs = inputs, .report = report, .machine = &machine};
	json_t *part = json ? json_object() : NULL;
	struct knob_plan plan;
	struct err err = {0};
	int asked, placed = report_place_placed(report, &asked), r;

	if (json)
		json_object_set_new(json, "change", part);
	if (placed < asked) {
		(void)err_set(&err, ENOSPC, NULL, "%d of %d VMs have no place, so nothing is changed", asked - placed,
			      asked);
		(void)err_hint(&err, "name the VMs that are to be placed");
		if (json)
			(void)report_json_print(stdout, json_incref(json));
		(void)cli_fail(&err);
		return EXIT_FINDINGS;
	}
	r = change_open(cli, &machine);
	if (r)
		return r;
	collect(&applying);
	if (knob_vm_plan(&machine, applying.placings, applying.count, &plan, &err) < 0)
		return cli_fail(&err);
	add_notes(&applying, &plan);
	if (!json)
		(void)fputc('\n', cli->out.out);
	return change_run_plan(cli, &machine, command(&applying), &plan, json, part);
}

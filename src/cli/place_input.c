/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in place_input.h. */
#include "place_input.h"

#include <errno.h>

#include "lint_file.h"
#include "text.h"
#include "vm_proxmox.h"
#include "vm_qemu_line.h"
#include "vm_xml.h"

struct collecting {
	const struct cli *cli;
	const struct host *host;
	const struct place_defaults *defaults;
	struct place_inputs *inputs;
	struct err *err;
};

void place_inputs_free(struct place_inputs *inputs)
{
	for (int i = 0; i < inputs->file_vm_count; i++)
		(void)vm_free(inputs->file_vms[i]);
	inputs->file_vm_count = 0;
	inputs->host_vms = vm_host_free(inputs->host_vms);
}

/* Arrays of an arena do not grow in place: twice the room, the old one stays behind. */
static int make_room(struct place_inputs *inputs, struct err *err)
{
	int room = MAX_OF(2 * inputs->room, 16);

	if (inputs->count >= PLACE_VMS_MAX)
		return err_set(err, E2BIG, NULL, "more than %d VMs", PLACE_VMS_MAX);
	if (inputs->count < inputs->room)
		return 0;
	struct place_input *more = ARENA_ARRAY(inputs->arena, (size_t)room, struct place_input);
	struct place_request *requests = ARENA_ARRAY(inputs->arena, (size_t)room, struct place_request);

	if (inputs->count) {
		memcpy(more, inputs->inputs, (size_t)inputs->count * sizeof(*more));
		memcpy(requests, inputs->requests, (size_t)inputs->count * sizeof(*requests));
	}
	inputs->inputs = more;
	inputs->requests = requests;
	inputs->room = room;
	return 0;
}

void place_inputs_note(struct place_inputs *inputs, const char *note)
{
	if (inputs->note_count == inputs->note_room) {
		int room = MAX_OF(2 * inputs->note_room, 8);
		const char **more = ARENA_ARRAY(inputs->arena, (size_t)room, const char *);

		if (inputs->note_count)
			memcpy(more, inputs->notes, (size_t)inputs->note_count * sizeof(*more));
		inputs->notes = more;
		inputs->note_room = room;
	}
	inputs->notes[inputs->note_count++] = note;
}

static bool is_named(const struct cli *cli, const char *name)
{
	for (int i = 0; i < cli->argument_count; i++)
		if (text_equal(cli->arguments[i], name))
			return true;
	return false;
}

/* ---- VMs that exist ---- */

/*
 * A VM that is asked for by name or by its file may leave its place: without migrating while it runs, freely when it
 * does not. One that only is on the host keeps it unless --repin or --move says otherwise.
 */
static enum place_right right_of(const struct collecting *c, const struct vm *vm, bool asked, bool named)
{
	if (!place_vm_has_place(vm, NULL))
		return PLACE_NEW;
	if (!asked)
		return PLACE_KEEP;
	if (c->defaults->move)
		return PLACE_MOVE;
	if (c->defaults->repin)
		return PLACE_REPIN;
	if (named)
		return vm->state == VM_STATE_RUNNING ? PLACE_REPIN : PLACE_MOVE;
	return PLACE_KEEP;
}

static void apply_defaults(const struct collecting *c, struct place_request *request)
{
	request->even = c->defaults->even || place_request_wants_even(c->host, request);
	if (request->wish == PLACE_CLASS_NONE)
		request->wish = c->defaults->wish;
}

/* A VM that runs and is declared: where it runs counts, but its topology and pages are those of the declaration. */
static int add_vm(struct collecting *c, const struct vm *vm, const struct vm *declared, const char *text, size_t size,
		  bool from_file)
{
	struct place_inputs *inputs = c->inputs;
	bool named = is_named(c->cli, vm->name);
	bool asked = c->cli->argument_count ? named : true;
	enum place_right right = right_of(c, vm, asked, named || from_file);
	struct place_request request = {0};

	if (!asked && right == PLACE_NEW) {
		place_inputs_note(inputs,
				  arena_printf(inputs->arena,
					       "%s has no place: it floats over all CPUs, those of other VMs too",
					       vm->name ? vm->name : "a VM without a name"));
		return 0;
	}
	int r = make_room(inputs, c->err);

	if (r == 0)
		r = place_request_of_vm(inputs->arena, c->host, vm, c->defaults->smt, right, &request, c->err);
	if (r < 0)
		return r;
	apply_defaults(c, &request);
	inputs->requests[inputs->count] = request;
	inputs->inputs[inputs->count++] = (struct place_input){.vm = vm,
							       .declared = declared,
							       .text = text,
							       .size = size,
							       .asked = right != PLACE_KEEP,
							       .even_by_us = request.even && !c->defaults->even,
							       .smt = c->defaults->smt};
	return 0;
}

static const struct {
	bool (*looks_like)(const char *text, size_t size);
	int (*read)(const char *path, const char *text, size_t size, struct vm **ret, struct err *err);
	bool editable;
} readers[] = {
    {vm_looks_like_libvirt_xml, vm_read_libvirt_xml, true},
    {vm_looks_like_proxmox, vm_read_proxmox, false},
    {vm_looks_like_qemu_line, vm_read_qemu_line, false},
};

static int add_file(struct collecting *c, const char *path)
{
	const char *shown = text_equal(path, "-") ? "standard input" : path, *text;
	int r = lint_file_read(c->inputs->arena, path, &text, c->err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		size_t size = strlen(text);
		struct vm *vm = NULL;

		if (!readers[i].looks_like(text, size))
			continue;
		r = readers[i].read(shown, text, size, &vm, c->err);
		if (r < 0)
			return r;
		c->inputs->file_vms[c->inputs->file_vm_count++] = vm;
		return add_vm(c, vm, vm, readers[i].editable ? text : NULL, size, true);
	}
	return err_set(c->err, EINVAL, shown,
		       "this is no VM: neither libvirt's domain XML, a configuration of Proxmox nor a QEMU"
		       " command line");
}

/* Is there a VM of that name from a file already? The file is what is asked about. */
static bool is_there(const struct place_inputs *inputs, const char *name)
{
	for (int i = 0; i < inputs->count; i++)
		if (text_equal(inputs->requests[i].name, name))
			return true;
	return false;
}

/* The VMs of the host, after those of files. One that can't be planned is left aside with the reason. */
static int add_host_vms(struct collecting *c, struct host *host)
{
	struct place_inputs *inputs = c->inputs;
	int r = vm_host_read(host, c->cli->values[OPTION_CONNECT], &inputs->host_vms, c->err);

	for (int i = 0; r == 0 && i < inputs->host_vms->count; i++) {
		const struct vm_host_entry *entry = &inputs->host_vms->entries[i];
		const struct vm *vm = entry->running ? entry->running : entry->declared;

		if (entry->problem)
			place_inputs_note(inputs, arena_printf(inputs->arena, "left aside: %s", entry->problem));
		if (!vm || is_there(inputs, entry->name))
			continue;
		if (vm->vcpu_max < 1)
			place_inputs_note(inputs, arena_printf(inputs->arena, "left aside: %s: its vCPUs are not known",
							       entry->name));
		else
			r = add_vm(c, vm, entry->declared, entry->declared_text, entry->declared_size, false);
	}
	if (r == 0 && inputs->host_vms->refused)
		place_inputs_note(inputs,
				  arena_printf(inputs->arena, "%s may not be read: VMs that do not run are not known",
					       inputs->host_vms->refused));
	return r;
}

/* ---- new ones ---- */

static int add_new(struct collecting *c, const char *words, const char *name, int copies)
{
	struct place_inputs *inputs = c->inputs;
	struct place_request request;
	int count, r = place_request_of_words(inputs->arena, c->host, words, &request, &count, c->err);

	if (r < 0)
		return r;
	count = copies ? copies : count;
	name = name ? name : request.name ? request.name : "new";
	if (c->defaults->smt != PLACE_VM_SMT_AS_DECLARED)
		request.smt = c->defaults->smt == PLACE_VM_SMT_EXPOSED ? PLACE_SMT_THREADS : PLACE_SMT_ISOLATED;
	if (request.apart)
		request.apart_group = name;
	apply_defaults(c, &request);
	for (int i = 0; i < count && r == 0; i++) {
		r = make_room(inputs, c->err);
		if (r < 0)
			break;
		request.name = count > 1 ? arena_printf(inputs->arena, "%s-%d", name, i + 1) : name;
		inputs->requests[inputs->count] = request;
		inputs->inputs[inputs->count++] = (struct place_input){
		    .asked = true, .even_by_us = request.even && !c->defaults->even, .smt = c->defaults->smt};
	}
	return r;
}

static int add_news(struct collecting *c)
{
	const char *name = c->cli->values[OPTION_NAME], *copies_text = c->cli->values[OPTION_COPIES];
	int64_t copies = 0;
	const char *wrong = name ? place_vm_name_problem(c->inputs->arena, name) : NULL;
	int at = 0, r = 0;

	if (wrong)
		return err_set(c->err, EINVAL, "--name", "\"%s\": %s", name, wrong);
	if (copies_text && (text_int(copies_text, 10, &copies) < 0 || copies < 1 || copies > PLACE_VMS_MAX))
		return err_set(c->err, EINVAL, "--count", "\"%s\" is no number of VMs from 1 to %d", copies_text,
			       PLACE_VMS_MAX);
	for (const char *words = cli_next(c->cli, OPTION_NEW, &at); words && r == 0;
	     words = cli_next(c->cli, OPTION_NEW, &at))
		r = add_new(c, words, name, (int)copies);
	return r;
}

/* ---- all ---- */

static int check_names(struct collecting *c)
{
	for (int i = 0; i < c->cli->argument_count; i++) {
		bool found = false;

		for (int j = 0; j < c->inputs->count && !found; j++)
			found = text_equal(c->inputs->requests[j].name, c->cli->arguments[i]);
		if (found)
			continue;
		(void)err_set(c->err, ENOENT, c->cli->arguments[i], "there is no such VM");
		return err_hint(c->err, "--file reads one from a file, --new describes one");
	}
	return 0;
}

int place_inputs_collect(const struct cli *cli, struct host *host, const struct place_defaults *defaults,
			 struct place_inputs *inputs, struct err *err)
{
	struct collecting c = {cli, host, defaults, inputs, err};
	int at = 0, r = 0;

	inputs->file_vms = ARENA_ARRAY(inputs->arena, (size_t)cli->given_count + 1, struct vm *);
	for (const char *path = cli_next(cli, OPTION_FILE, &at); path && r == 0; path = cli_next(cli, OPTION_FILE, &at))
		r = add_file(&c, path);
	if (r == 0)
		r = add_host_vms(&c, host);
	if (r == 0)
		r = add_news(&c);
	return r < 0 ? r : check_names(&c);
}

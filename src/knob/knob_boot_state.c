/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns seeing a machine afresh for its boot loader, carrying out boot plans, and the file of the trial that waits. */
#include "knob_boot_state.h"

#include <errno.h>
#include <jansson.h>
#include <sys/random.h>

#include "text.h"

enum { TOOL_SECONDS = 600 }; /* update-grub with os-prober on many disks */

/* ---- the host ---- */

int boot_view_open(struct knob_machine *machine, struct boot_view *ret, struct err *err)
{
	struct boot_view view = {.arena = arena_new()};
	const char *root = sys_root(machine->sys);
	int r = sys_open_dir(root ? root : "/", &view.sys, err);

	if (r < 0) {
		view.arena = arena_free(view.arena);
		return r;
	}
	view.host = ARENA_NEW(view.arena, struct host);
	view.host->arena = view.arena;
	view.host->sys = view.sys;
	view.host->name = sys_name(view.sys);
	view.host->kind = sys_is_live(view.sys) ? HOST_LIVE : HOST_DIRECTORY;
	host_cmdline_read(view.host);
	host_os_read(view.host);
	knob_boot_find(view.host, &view.loader);
	*ret = view;
	return 0;
}

void boot_view_close(struct boot_view *view)
{
	view->sys = sys_close(view->sys);
	view->arena = arena_free(view->arena);
}

int boot_view_line(struct knob_machine *machine, struct boot_view *view, const char **ret, struct err *err)
{
	static const char *const kargs[] = {"rpm-ostree", "kargs", NULL};
	struct host_cmdline cmdline = {.count = 0};
	int r;

	if (view->loader.kind == KNOB_BOOT_OSTREE && sys_writer_is_live(machine->writer))
		return boot_run(machine, kargs, ret, err);
	r = knob_boot_configured(view->host, &view->loader, view->arena, &cmdline, err);
	if (r == 0)
		*ret = fact_text_or(&cmdline.line, "");
	return r;
}

int boot_view_value(struct knob_machine *machine, struct boot_view *view, const char *name, const char **ret,
		    struct err *err)
{
	const char *line = "";
	int r;

	if (text_equal(name, KNOB_BOOT_KERNEL_NAME))
		return knob_boot_configured_kernel(view->host, &view->loader, view->arena, ret, err);
	r = boot_view_line(machine, view, &line, err);
	if (r == 0)
		*ret = knob_boot_value(view->arena, line, name);
	return r;
}

const char *boot_view_running(struct boot_view *view, const char *name)
{
	const struct sys_look *line = sys_read(view->sys, "/proc/cmdline");

	if (text_equal(name, KNOB_BOOT_KERNEL_NAME))
		return fact_text_or(&view->host->os.kernel_release, "not known");
	return knob_boot_value(view->arena, line->state == SYS_VALUE ? line->data : "", name);
}

/* ---- plans ---- */

int boot_run(struct knob_machine *machine, const char *const *argv, const char **ret_output, struct err *err)
{
	const char *output = "";
	int r = sys_writer_is_live(machine->writer)
		    ? sys_writer_run(machine->writer, machine->arena, argv, TOOL_SECONDS, &output, err)
		    : 0;

	if (ret_output)
		*ret_output = output;
	return r;
}

static int run_commands(struct knob_machine *machine, const struct knob_boot_plan *plan, bool before, bool make,
			struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->command_count; i++)
		if (plan->commands[i].before == before && (make || !plan->commands[i].makes))
			r = boot_run(machine, plan->commands[i].argv, NULL, err);
	return r;
}

int boot_carry_out(struct knob_machine *machine, const struct knob_boot_plan *plan, bool make, struct err *err)
{
	int r = run_commands(machine, plan, true, make, err);

	for (size_t i = 0; r == 0 && i < plan->file_count; i++) {
		const struct knob_boot_file *file = &plan->files[i];

		r = file->after
			? sys_writer_replace(machine->writer, file->path, file->after, file->after_size, 0644, err)
			: sys_writer_remove(machine->writer, file->path, err);
	}
	return r < 0 ? r : run_commands(machine, plan, false, make, err);
}

int boot_failed_units(struct knob_machine *machine, const char ***ret, size_t *ret_count, struct err *err)
{
	static const char *const list[] = {"systemctl",	 "list-units", "--state=failed", "--no-legend", "--plain",
					   "--no-pager", NULL};
	const char *output = "";
	int r = boot_run(machine, list, &output, err);
	size_t lines = 1, count = 0;

	if (r < 0)
		return r;
	for (const char *at = output; *at; at++)
		lines += *at == '\n';
	const char **names = ARENA_ARRAY(machine->arena, lines, const char *);

	while (*output) {
		size_t length = strcspn(output, " \n");

		if (length)
			names[count++] = arena_strndup(machine->arena, output, length);
		output += strcspn(output, "\n");
		output += *output == '\n';
	}
	*ret = names;
	*ret_count = count;
	return 0;
}

/* ---- the trial ---- */

static int bad_state(struct err *err)
{
	int r = err_set(err, EBADMSG, BOOT_TRIAL_STATE, "is no state of a trial boot");

	(void)err_hint(err, "remove the file; hvtune undo puts the rest back");
	return r;
}

static const char **texts_of(struct arena *arena, const json_t *list, size_t *ret_count)
{
	const char **texts = ARENA_ARRAY(arena, json_array_size(list) + 1, const char *);
	size_t count = 0, index;
	json_t *item;

	json_array_foreach (list, index, item)
		if (json_is_string(item))
			texts[count++] = arena_strdup(arena, json_string_value(item));
	*ret_count = count;
	return texts;
}

int boot_trial_read(struct knob_machine *machine, struct boot_trial **ret, struct err *err)
{
	struct boot_trial *trial = ARENA_NEW(machine->arena, struct boot_trial);
	const char *data = NULL, *id = NULL, *boot = NULL, *of = NULL, *name;
	json_t *words = NULL, *failed = NULL, *value;
	struct err ignored = {0};
	int r = sys_writer_read(machine->writer, machine->arena, BOOT_TRIAL_STATE, &data, NULL, &ignored);

	if (r == -ENOENT || r == -ENOTDIR) {
		*ret = NULL;
		return 0;
	}
	if (r < 0) {
		(void)err_copy(err, &ignored);
		return r;
	}
	json_t *json = json_loads(data, JSON_REJECT_DUPLICATES, NULL);

	if (json_unpack(json, "{s:s, s:s, s:o, s:o, s?s}", "id", &id, "boot", &boot, "words", &words, "failed", &failed,
			"of", &of) < 0 ||
	    !json_is_object(words) || !json_is_array(failed)) {
		json_decref(json);
		return bad_state(err);
	}
	trial->id = arena_strdup(machine->arena, id);
	trial->boot = arena_strdup(machine->arena, boot);
	trial->of = of ? arena_strdup(machine->arena, of) : NULL;
	trial->names = ARENA_ARRAY(machine->arena, json_object_size(words) + 1, const char *);
	trial->values = ARENA_ARRAY(machine->arena, json_object_size(words) + 1, const char *);
	json_object_foreach (words, name, value) {
		trial->names[trial->count] = arena_strdup(machine->arena, name);
		trial->values[trial->count++] =
		    arena_strdup(machine->arena, json_is_string(value) ? json_string_value(value) : "");
	}
	trial->failed = texts_of(machine->arena, failed, &trial->failed_count);
	json_decref(json);
	*ret = trial;
	return 0;
}

/* A line that was changed is another trial: the boot that runs may be the one before. */
static int name_trial(struct knob_machine *machine, struct boot_trial *trial, struct err *err)
{
	uint32_t random = 0;

	trial->boot = knob_boot_id(machine);
	trial->of = machine->trial_of ? machine->trial_of->who : NULL;
	if (machine->trial_of) {
		trial->id = machine->trial_of->id;
		return 0;
	}
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return err_set(err, EIO, NULL, "the kernel gives no random number");
	trial->id = arena_printf(machine->arena, "%08x", random);
	return 0;
}

static int new_trial(struct knob_machine *machine, struct boot_trial **ret, struct err *err)
{
	struct boot_trial *trial = ARENA_NEW(machine->arena, struct boot_trial);
	const struct knob_trial_of *of = machine->trial_of;
	int r = 0;

	if (of) {
		trial->failed = ARENA_ARRAY(machine->arena, of->failed_count + 1, const char *);
		for (size_t i = 0; i < of->failed_count; i++)
			trial->failed[trial->failed_count++] = of->failed[i];
	} else {
		r = boot_failed_units(machine, &trial->failed, &trial->failed_count, err);
	}
	if (r == 0)
		*ret = trial;
	return r;
}

static int write_trial(struct knob_machine *machine, const struct boot_trial *trial, const char *name,
		       const char *value, struct err *err)
{
	json_t *words = json_object(), *failed = json_array();

	for (size_t i = 0; i < trial->count; i++)
		(void)json_object_set_new(words, trial->names[i], json_string(trial->values[i]));
	if (value)
		(void)json_object_set_new(words, name, json_string(value));
	else
		(void)json_object_del(words, name);
	for (size_t i = 0; i < trial->failed_count; i++)
		(void)json_array_append_new(failed, json_string(trial->failed[i]));
	bool empty = json_object_size(words) == 0;
	json_t *json =
	    json_pack("{s:s, s:s, s:o, s:o}", "id", trial->id, "boot", trial->boot, "words", words, "failed", failed);

	if (json && trial->of)
		(void)json_object_set_new(json, "of", json_string(trial->of));
	CLEANUP(base_free) char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;

	json_decref(json);
	if (!text)
		err_no_memory();
	const char *line = arena_printf(machine->arena, "%s\n", text);

	return empty ? sys_writer_remove(machine->writer, BOOT_TRIAL_STATE, err)
		     : sys_writer_replace(machine->writer, BOOT_TRIAL_STATE, line, strlen(line), 0600, err);
}

int boot_trial_set(struct knob_machine *machine, const char *name, const char *value, struct err *err)
{
	struct boot_trial *trial = NULL;
	int r = boot_trial_read(machine, &trial, err);

	if (r == 0 && !trial && !value)
		return 0;
	if (r == 0 && !trial)
		r = new_trial(machine, &trial, err);
	if (r == 0 && trial && (value || !trial->id))
		r = name_trial(machine, trial, err);
	return r < 0 || !trial ? r : write_trial(machine, trial, name, value, err);
}

struct knob_boot_change *boot_trial_changes(struct arena *arena, const struct boot_trial *trial)
{
	struct knob_boot_change *changes = ARENA_ARRAY(arena, trial->count + 1, struct knob_boot_change);

	for (size_t i = 0; i < trial->count; i++)
		changes[i] = knob_boot_change_of(trial->names[i], trial->values[i]);
	return changes;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns a word of the kernel's command line, and the kernel itself, as a point of a knob: of the default entry or of a
 * trial boot, its reading, writing and what a plan with it says. By default it is asked for in a trial boot, and only
 * `hvtune confirm` makes it part of the default.
 */
#include <errno.h>

#include "knob_boot_internal.h"
#include "knob_boot_knob.h"
#include "knob_boot_state.h"
#include "knob_plan.h"
#include "knob_table.h"
#include "text.h"

#define FAMILY KNOB_BOOT_FAMILY
static const char of_default[] = "default ", of_trial[] = "trial ";

/* ---- reading and writing a word ---- */

const char *knob_boot_name(const char *where)
{
	return strchr(where, ' ') + 1;
}

static int get_default(struct knob_machine *machine, const char *name, const char **ret, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	const char *value = "";
	int r = boot_view_open(machine, &view, err);

	if (r == 0)
		r = boot_view_value(machine, &view, name, &value, err);
	if (r == 0)
		*ret = arena_strdup(machine->arena, value);
	return r;
}

static int get_trial(struct knob_machine *machine, const char *name, const char **ret, struct err *err)
{
	struct boot_trial *trial = NULL;
	int r = boot_trial_read(machine, &trial, err);

	if (r < 0)
		return r;
	*ret = NULL;
	for (size_t i = 0; trial && i < trial->count; i++)
		if (text_equal(trial->names[i], name))
			*ret = trial->values[i];
	return 0;
}

static int get_word(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	return text_starts(where, of_trial) ? get_trial(machine, knob_boot_name(where), ret, err)
					    : get_default(machine, knob_boot_name(where), ret, err);
}

static int set_default(struct knob_machine *machine, const char *name, const char *text, struct err *err)
{
	const struct knob_boot_change change = knob_boot_change_of(name, text);
	CLEANUP(boot_view_close) struct boot_view view = {0};
	struct knob_boot_plan plan = {0};
	int r = boot_view_open(machine, &view, err);

	if (r == 0)
		r = knob_boot_plan_default(view.host, &view.loader, &change, 1, view.arena, &plan, err);
	return r < 0 ? r : boot_carry_out(machine, &plan, false, err);
}

static int set_word(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	return text_starts(where, of_trial) ? boot_trial_set(machine, knob_boot_name(where), text, err)
					    : set_default(machine, knob_boot_name(where), text ? text : "absent", err);
}

static int settle_default(struct knob_machine *machine, struct boot_view *view, struct err *err)
{
	const char *const *maker = knob_boot_maker(view->arena, &view->loader);

	return maker ? boot_run(machine, maker, NULL, err) : 0;
}

/* The entry of the trial is made of its state, and taken away without one. */
static int settle_trial(struct knob_machine *machine, struct boot_view *view, struct err *err)
{
	static const char *const enable[] = {"systemctl", "enable", "hvtune-confirm.service", NULL};
	struct knob_boot_plan plan = {0};
	struct boot_trial *trial = NULL;
	struct err ignored = {0};
	int r = boot_trial_read(machine, &trial, err);

	if (r < 0)
		return r;
	/* Without that service the trial is confirmed by hand, as its plan says. */
	if (trial && !trial->of)
		(void)boot_run(machine, enable, NULL, &ignored);
	r = trial ? knob_boot_plan_trial(view->host, &view->loader, boot_trial_changes(view->arena, trial),
					 trial->count, trial->id, view->arena, &plan, err)
		  : knob_boot_plan_forget(view->host, &view->loader, view->arena, &plan, err);
	return r < 0 ? r : boot_carry_out(machine, &plan, true, err);
}

static int settle_words(struct knob_machine *machine, const struct knob_point *points, size_t count, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	bool lasting = false, trial = false;
	int r = boot_view_open(machine, &view, err);

	for (size_t i = 0; i < count; i++) {
		if (!points[i].knob || points[i].knob->actuator->settle != settle_words)
			continue;
		trial = trial || text_starts(points[i].where, of_trial);
		lasting = lasting || text_starts(points[i].where, of_default);
	}
	if (r == 0 && lasting)
		r = settle_default(machine, &view, err);
	return r < 0 || !trial ? r : settle_trial(machine, &view, err);
}

/* A kill may have left new contents beside any of the files that a trial is made of. */
static int tidy_words(struct knob_machine *machine, const char *where, struct err *err)
{
	static const char state[] = BOOT_TRIAL_STATE;
	static const char *const paths[] = {state, "/boot/grub/custom.cfg", "/boot/grub2/custom.cfg",
					    "/boot/efi/EFI/hvtune/grubenv", "/efi/EFI/hvtune/grubenv"};
	static const char *const entries[] = {"/boot/loader/entries", "/efi/loader/entries",
					      "/boot/efi/loader/entries"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(paths); i++)
		r = sys_writer_tidy(machine->writer, paths[i], err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(entries); i++)
		for (size_t j = 0; r == 0 && knob_boot_trial_entries[j]; j++)
			r = sys_writer_tidy(
			    machine->writer,
			    arena_printf(machine->arena, "%s/%s", entries[i], knob_boot_trial_entries[j]), err);
	(void)where;
	return r;
}

static bool same_words(const char *a, const char *b)
{
	return text_equal(a, b);
}

/*
 * A value that the default has is of the default, any other of the trial: both are of one word. So is another way to
 * write its name.
 */
static bool same_name(const char *a, const char *b)
{
	static const char pages[] = "hugepages.";
	const char *name = knob_boot_name(a), *other = knob_boot_name(b);
	int64_t bytes, other_bytes;

	if (text_starts(name, pages) && text_starts(other, pages) && text_size(name + strlen(pages), &bytes) == 0 &&
	    text_size(other + strlen(pages), &other_bytes) == 0)
		return bytes == other_bytes;
	return cmdline_same_name(name, other);
}

const struct knob_actuator knob_boot_word = {
    .name = "boot",
    .get = get_word,
    .set = set_word,
    .same = same_words,
    .same_place = same_name,
    .tidy = tidy_words,
    .settle = settle_words,
};

static int refuse_files(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			struct knob_points *points, struct err *err)
{
	(void)machine;
	(void)knob;
	(void)points;
	return err_set(err, EINVAL, ask->name, "is no setting: the files that boot.NAME=VALUE with --no-trial changes");
}

const struct knob knob_boot_files = {
    .name = FAMILY "files",
    .summary = "the files of the boot loader that words of the default line are written to",
    .value = "TEXT",
    .scope = KNOB_BOOT,
    .unit = KNOB_OF_HOST,
    .actuator = &knob_whole_file,
    .path = "/etc/default/grub",
    .expand = refuse_files,
    .yields = true,
    .rank = KNOB_RANK_BOOT,
    .after = "a reboot",
};

/* ---- plans ---- */

static int trial_or_default(struct knob_machine *machine, const struct knob_ask *ask, const char *name,
			    const char **ret_where, const char **ret_label, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	const char *now = "", *pending = NULL;
	int r = boot_view_open(machine, &view, err);

	if (r == 0)
		r = boot_view_value(machine, &view, name, &now, err);
	if (r == 0)
		r = get_trial(machine, name, &pending, err);
	if (r < 0)
		return r;
	bool as_asked = !pending && text_equal(now, ask->value);

	if (machine->no_trial || as_asked || !*ask->value) {
		*ret_where = arena_printf(machine->arena, "%s%s", of_default, name);
		return 0;
	}
	if (view.loader.no_trial) {
		r = err_set(err, ENOTSUP, ask->name, "no trial boot is possible here: %s", view.loader.no_trial);
		(void)err_hint(err, "--no-trial changes the default entry without one");
		return r;
	}
	*ret_where = arena_printf(machine->arena, "%s%s", of_trial, name);
	*ret_label =
	    text_equal(now, "absent") ? "trial boot" : arena_printf(machine->arena, "trial boot; default: %s", now);
	return 0;
}

int knob_boot_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		     struct knob_points *points, struct err *err)
{
	const char *name = arena_strdup(machine->arena, ask->name + strlen(FAMILY)), *where = NULL, *label = "";
	struct knob_boot_change change = knob_boot_change_of(name, *ask->value ? ask->value : "absent");
	int r;

	if (text_equal(name, "*"))
		return -ENOENT;
	if (ask->where)
		return err_set(err, EINVAL, ask->where, "%s is one for the whole host and takes no @WHERE", ask->name);
	if (knob_boot_may_repeat(name))
		return err_set(err, EINVAL, ask->name,
			       "may stand several times on the line and is no knob; edit it by hand");
	r = knob_boot_change_check(&change, err);
	if (r == 0)
		r = trial_or_default(machine, ask, name, &where, &label, err);
	if (r == 0)
		knob_points_add(
		    points, &(struct knob_point){
				.knob = knob, .name = ask->name, .where = where, .label = label, .new = ask->value});
	return r;
}

/* All words of a plan that go the same way, with those that the trial has already. */
static size_t changes_of(struct knob_machine *machine, const struct knob_plan *plan, bool trial,
			 const struct boot_trial *pending, struct knob_boot_change **ret)
{
	size_t room = plan->points.count + (trial && pending ? pending->count : 0), count = 0;
	struct knob_boot_change *changes = ARENA_ARRAY(machine->arena, room + 1, struct knob_boot_change);

	for (size_t i = 0; trial && pending && i < pending->count; i++)
		changes[count++] = knob_boot_change_of(pending->names[i], pending->values[i]);
	for (size_t i = 0; i < plan->points.count; i++) {
		const struct knob_point *point = &plan->points.items[i];

		if (point->knob->actuator == &knob_boot_word && text_starts(point->where, of_trial) == trial)
			changes[count++] = knob_boot_change_of(knob_boot_name(point->where), point->new);
	}
	*ret = changes;
	return count;
}

static void add_notes(struct knob_machine *machine, struct knob_plan *plan, const struct knob_boot_plan *boot,
		      bool with_files)
{
	for (size_t i = 0; with_files && i < boot->file_count; i++)
		knob_plan_note(machine, plan,
			       arena_printf(machine->arena, "boot: %s %s", boot->files[i].after ? "writes" : "removes",
					    boot->files[i].path));
	for (size_t i = 0; i < boot->command_count; i++)
		knob_plan_note(machine, plan,
			       arena_printf(machine->arena, "boot: runs %s, %s",
					    boot_command_text(machine->arena, boot->commands[i].argv),
					    boot->commands[i].why));
	for (size_t i = 0; i < boot->note_count; i++)
		knob_plan_note(machine, plan, arena_strdup(machine->arena, boot->notes[i]));
}

static bool is_last_boot_step(const struct knob_plan *plan, const struct knob_step *step)
{
	for (const struct knob_step *later = step + 1; later < plan->steps + plan->step_count; later++)
		if (later->knob->actuator == &knob_boot_word)
			return false;
	return true;
}

/* Parameters whose "off" leaves the host open, beside mitigations= (Documentation/admin-guide/hw-vuln). */
bool knob_boot_opens_hole(const char *name, const char *value)
{
	static const char off[] = "spectre_v2 spectre_v2_user spec_store_bypass_disable l1tf mds tsx_async_abort "
				  "mmio_stale_data retbleed spec_rstack_overflow gather_data_sampling "
				  "reg_file_data_sampling indirect_target_selection tsa vmscape kvm.nx_huge_pages";
	static const char present[] = "nopti nospectre_v1 nospectre_v2 nospec_store_bypass_disable nosmep nosmap";

	return (text_equal(value, "off") && text_has_word(off, " ", name)) ||
	       (text_equal(value, "present") && text_has_word(present, " ", name));
}

/*
 * The default's words stand in several files at once. These are points of their own, written last and put back first:
 * whatever was half done, every byte comes back. Where somebody has changed such a file since, it is left, and the
 * words are taken out of it one by one.
 */
static void add_files(struct knob_machine *machine, struct knob_plan *plan, const struct knob_boot_plan *boot)
{
	struct arena *arena = machine->arena;
	struct knob_step *steps = ARENA_ARRAY(arena, plan->step_count + 2, struct knob_step);

	memcpy(steps, plan->steps, plan->step_count * sizeof(*steps));
	steps[plan->step_count++] = (struct knob_step){.knob = &knob_boot_files,
						       .name = knob_boot_files.name,
						       .first = plan->points.count,
						       .count = boot->file_count};
	plan->steps = steps;
	for (size_t i = 0; i < boot->file_count; i++) {
		const struct knob_boot_file *file = &boot->files[i];
		struct knob_point point = {.knob = &knob_boot_files,
					   .name = knob_boot_files.name,
					   .where = arena_strdup(arena, file->path),
					   .label = ""};

		point.old = file->before ? arena_strndup(arena, file->before, file->before_size) : NULL;
		point.new = file->after ? arena_strndup(arena, file->after, file->after_size) : NULL;
		knob_points_add(&plan->points, &point);
	}
}

static bool has_files(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->step_count; i++)
		if (plan->steps[i].knob == &knob_boot_files)
			return true;
	return false;
}

/* Words of a trial that is well become the default's; a kernel may not. */
static void note_kernel(struct knob_machine *machine, struct knob_plan *plan, const struct boot_view *view,
			const struct knob_boot_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct knob_boot_plan ignored = {0};
		struct err err = {0};

		if (changes[i].op == KNOB_BOOT_KERNEL && !machine->trial_of &&
		    knob_boot_plan_default(view->host, &view->loader, &changes[i], 1, view->arena, &ignored, &err) < 0)
			knob_plan_note(
			    machine, plan,
			    arena_printf(machine->arena, "hvtune confirm will refuse: %s (%s)", err.what, err.hint));
	}
}

/* The plan as the loader will have it, so that what it refuses is told before anything is written. */
int knob_boot_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	const struct knob_point *point = &plan->points.items[step->first];
	struct knob_boot_plan trial = {0}, lasting = {0};
	struct knob_boot_change *changes = NULL;
	struct boot_trial *pending = NULL;
	size_t count;
	int r;

	if (text_equal(point->new, "")) {
		(void)err_set(err, EINVAL, point->name, "an empty value is none");
		return err_hint(err, "absent takes the word off the line");
	}
	if (knob_boot_opens_hole(knob_boot_name(point->where), point->new) && !plan->hole)
		plan->hole = arena_printf(machine->arena, "%s=%s", point->name, point->new);
	if (!is_last_boot_step(plan, step) || has_files(plan))
		return 0;
	r = boot_view_open(machine, &view, err);
	if (r == 0)
		r = boot_trial_read(machine, &pending, err);
	if (r < 0)
		return r;
	count = changes_of(machine, plan, true, pending, &changes);
	if (count > (pending ? pending->count : 0)) {
		r = knob_boot_plan_trial(view.host, &view.loader, changes, count, "trial", view.arena, &trial, err);
		if (r < 0)
			return r;
		add_notes(machine, plan, &trial, true);
		knob_plan_note(
		    machine, plan,
		    machine->trial_of
			? "trial boot: only the next boot has the new line, and no boot after it"
			: "trial boot: only the next boot has the new line; hvtune confirm makes it the default once "
			  "that boot is well, and otherwise the boot after it is the old one");
		note_kernel(machine, plan, &view, changes, count);
	}
	count = changes_of(machine, plan, false, NULL, &changes);
	if (count) {
		r = knob_boot_plan_default(view.host, &view.loader, changes, count, view.arena, &lasting, err);
		if (r == 0)
			add_notes(machine, plan, &lasting, false);
		if (r == 0 && lasting.file_count)
			add_files(machine, plan, &lasting);
	}
	return r;
}

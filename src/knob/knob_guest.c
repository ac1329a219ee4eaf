/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is declared in knob_guest.h. */
#include "knob_guest.h"

#include <errno.h>

#include "knob_boot_knob.h"
#include "knob_guest_grub.h"
#include "knob_libvirt.h"
#include "text.h"

#define FAMILY KNOB_GUEST_FAMILY

static const char *uuid_of(struct knob_machine *machine, const char *where)
{
	return arena_strndup(machine->arena, where, strcspn(where, " "));
}

/* What stands behind the UUID: a word, or a path. */
static const char *rest_of(const char *where)
{
	return where + strcspn(where, " ") + 1;
}

static bool same_text(const char *a, const char *b)
{
	return text_equal(a, b);
}

/* ---- files ---- */

static int get_file(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	return knob_guest_read(machine, uuid_of(machine, where), rest_of(where), ret, err);
}

/* Only files that are there are edited: there is always a text. */
static int set_file(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const char *now = NULL;
	int r = text ? get_file(machine, where, &now, err)
		     : err_set(err, EINVAL, where, "a file of a guest is not taken away");

	if (r < 0 || text_equal(now, text))
		return r;
	return knob_guest_replace(machine, uuid_of(machine, where), rest_of(where), text, err);
}

static int tidy_file(struct knob_machine *machine, const char *where, struct err *err)
{
	return knob_guest_tidy(machine, uuid_of(machine, where), rest_of(where), err);
}

static const struct knob_actuator guest_file = {
    .name = "guest-file", .get = get_file, .set = set_file, .same = same_text, .tidy = tidy_file};

static int refuse_files(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
			struct knob_points *points, struct err *err)
{
	(void)machine, (void)knob, (void)points;
	return err_set(err, EINVAL, ask->name, "is no setting: the files of a guest that guest.NAME@VM=VALUE changes");
}

const struct knob knob_guest_files = {
    .name = FAMILY "files",
    .summary = "the files of a guest's boot loader that words of its line are written to",
    .value = "TEXT",
    .scope = KNOB_GUEST,
    .unit = KNOB_OF_NAMES,
    .actuator = &guest_file,
    .expand = refuse_files,
    .yields = true,
    .rank = KNOB_RANK_BOOT,
    .after = "a reboot of the guest",
};

/* ---- words ---- */

static int get_word(struct knob_machine *machine, const char *where, const char **ret, struct err *err)
{
	struct guest_grub grub = {0};
	const char *line = "";
	int r = guest_grub_read(machine, uuid_of(machine, where), &grub, err);

	if (r == 0)
		r = guest_grub_line(&grub, &line, err);
	if (r == 0)
		*ret = knob_boot_value(machine->arena, line, rest_of(where));
	return r;
}

static int set_word(struct knob_machine *machine, const char *where, const char *text, struct err *err)
{
	const struct knob_boot_change change = knob_boot_change_of(rest_of(where), text ? text : "absent");
	struct guest_grub grub = {0};
	int r = guest_grub_read(machine, uuid_of(machine, where), &grub, err);

	if (r == 0)
		r = boot_edit(grub.table, &grub.where, &change, 1, err);
	for (size_t i = 0; r == 0 && i < (grub.table ? grub.table->count : 0); i++)
		if (!text_equal(grub.table->files[i].text, grub.table->before[i].text))
			r = knob_guest_replace(machine, grub.uuid, grub.table->files[i].path, grub.table->files[i].text,
					       err);
	return r;
}

static bool is_word(const struct knob_point *point)
{
	return point->knob && point->knob->actuator == &knob_guest_word;
}

/* The guest of a point when it is the first that is a word of it; else NULL. */
static const char *first_of_guest(struct knob_machine *machine, const struct knob_point *points, size_t at)
{
	const char *uuid = is_word(&points[at]) ? uuid_of(machine, points[at].where) : NULL;

	for (size_t i = 0; uuid && i < at; i++)
		if (is_word(&points[i]) && text_equal(uuid_of(machine, points[i].where), uuid))
			return NULL;
	return uuid;
}

/* Make the menu of each guest once. One that is gone for good needs none. */
static int settle_words(struct knob_machine *machine, const struct knob_point *points, size_t count, struct err *err)
{
	struct err why = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		const char *uuid = first_of_guest(machine, points, i);
		struct guest_grub grub = {0};

		if (!uuid)
			continue;
		r = guest_grub_read(machine, uuid, &grub, &why);
		if (r == 0)
			r = knob_guest_run(machine, uuid, true, grub.maker, NULL, &why);
		r = r == -ENOENT ? 0 : r;
	}
	if (r < 0 && err)
		(void)err_copy(err, &why);
	return r;
}

const struct knob_actuator knob_guest_word = {
    .name = "guest", .get = get_word, .set = set_word, .same = same_text, .settle = settle_words};

/* ---- plans ---- */

static int expand_vm(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask, const char *vm,
		     struct knob_points *points, struct err *err)
{
	struct knob_domain domain = {0};
	int r = knob_libvirt_find(machine, vm, &domain, err);

	if (r < 0)
		return r;
	if (!domain.running)
		return err_set(err, EHOSTDOWN, domain.name, "the VM is off: its guest is reached only while it runs");
	knob_points_add(points,
			&(struct knob_point){
			    .knob = knob,
			    .name = ask->name,
			    .where = arena_printf(machine->arena, "%s %s", domain.uuid, ask->name + strlen(FAMILY)),
			    .label = domain.name,
			    .new = ask->value,
			});
	return 0;
}

int knob_guest_expand(struct knob_machine *machine, const struct knob *knob, const struct knob_ask *ask,
		      struct knob_points *points, struct err *err)
{
	const char *name = ask->name + strlen(FAMILY);
	struct knob_boot_change change = knob_boot_change_of(name, *ask->value ? ask->value : "absent");
	char *rest = ask->where ? arena_strdup(machine->arena, ask->where) : NULL;
	int r;

	/* What there is would have to be asked of each guest. */
	if (text_equal(name, "*") || (!ask->where && !*ask->value))
		return err_set(err, ENOENT, ask->name, "is of one guest: %s@VM", ask->name);
	if (!ask->where)
		return err_set(err, EINVAL, ask->name, "needs the name of a VM: %s@NAME=%s", ask->name, ask->value);
	if (knob_boot_may_repeat(name))
		return err_set(err, EINVAL, ask->name,
			       "may stand several times on the line and is no knob; edit it in the guest");
	if (text_equal(name, KNOB_BOOT_KERNEL_NAME))
		return err_set(err, ENOTSUP, ask->name, "hvtune chooses no kernel inside a guest");
	r = knob_boot_change_check(&change, err);
	for (char *vm = strsep(&rest, ","); r == 0 && vm; vm = strsep(&rest, ","))
		r = expand_vm(machine, knob, ask, vm, points, err);
	return r;
}

/* Is there a later step of guests' words? */
static bool is_last_step(const struct knob_plan *plan, const struct knob_step *step)
{
	for (const struct knob_step *later = step + 1; later < plan->steps + plan->step_count; later++)
		if (later->knob->actuator == &knob_guest_word)
			return false;
	return true;
}

static bool has_files(const struct knob_plan *plan)
{
	for (size_t i = 0; i < plan->step_count; i++)
		if (plan->steps[i].knob == &knob_guest_files)
			return true;
	return false;
}

/* The files of one guest with all words of the plan in them, as points. */
static int add_files(struct knob_machine *machine, struct knob_plan *plan, const char *uuid, const char *label,
		     size_t words, struct err *err)
{
	struct knob_boot_change *changes = ARENA_ARRAY(machine->arena, words + 1, struct knob_boot_change);
	struct guest_grub grub = {0};
	size_t count = 0;
	int r = guest_grub_read(machine, uuid, &grub, err);

	for (size_t i = 0; i < words; i++) {
		const struct knob_point *point = &plan->points.items[i];

		if (is_word(point) && text_equal(uuid_of(machine, point->where), uuid))
			changes[count++] = knob_boot_change_of(rest_of(point->where), point->new);
	}
	if (r == 0)
		r = boot_edit(grub.table, &grub.where, changes, count, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < grub.table->count; i++) {
		const struct boot_file *before = &grub.table->before[i], *after = &grub.table->files[i];

		if (text_equal(before->text, after->text))
			continue;
		knob_points_add(&plan->points, &(struct knob_point){
						   .knob = &knob_guest_files,
						   .name = knob_guest_files.name,
						   .where = arena_printf(machine->arena, "%s %s", uuid, before->path),
						   .label = arena_printf(machine->arena, "%s %s", label, before->path),
						   .old = before->text,
						   .new = arena_strdup(machine->arena, after->text),
					       });
	}
	knob_plan_note(machine, plan, arena_printf(machine->arena, "guest: runs %s in %s", grub.maker[0], label));
	return 0;
}

/*
 * As for the host's line, the files are points of their own, written last and put back first: whatever was half done,
 * every byte comes back.
 */
static int add_all_files(struct knob_machine *machine, struct knob_plan *plan, struct err *err)
{
	size_t words = plan->points.count;
	struct knob_step *steps = ARENA_ARRAY(machine->arena, plan->step_count + 2, struct knob_step);
	int r = 0;

	for (size_t i = 0; r == 0 && i < words; i++) {
		const char *uuid = first_of_guest(machine, plan->points.items, i);

		if (uuid)
			r = add_files(machine, plan, uuid, plan->points.items[i].label, words, err);
	}
	if (r < 0 || plan->points.count == words)
		return r;
	memcpy(steps, plan->steps, plan->step_count * sizeof(*steps));
	steps[plan->step_count++] = (struct knob_step){.knob = &knob_guest_files,
						       .name = knob_guest_files.name,
						       .first = words,
						       .count = plan->points.count - words};
	plan->steps = steps;
	knob_plan_note(machine, plan,
		       "guest: there is no trial boot of a guest; a line that it cannot boot with is mended at its "
		       "console, or by hvtune undo while it still runs");
	return 0;
}

int knob_guest_judge(struct knob_machine *machine, struct knob_plan *plan, const struct knob_step *step,
		     struct err *err)
{
	const struct knob_point *point = &plan->points.items[step->first];

	if (knob_boot_opens_hole(rest_of(point->where), point->new) && !plan->hole)
		plan->hole = arena_printf(machine->arena, "%s=%s", point->name, point->new);
	knob_boot_note_word(machine, plan, point);
	return !is_last_step(plan, step) || has_files(plan) ? 0 : add_all_files(machine, plan, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns judging a trial boot and accepting it. */
#include "knob_confirm.h"

#include <ctype.h>
#include <errno.h>

#include "cpuset.h"
#include "knob_boot_state.h"
#include "text.h"

struct looking {
	struct knob_machine *machine;
	struct boot_view *view;
	const struct boot_trial *trial;
	struct knob_confirm *confirm;
	size_t room;
};

static void add(struct looking *looking, enum knob_confirm_state state, const char *what, const char *found)
{
	struct knob_confirm *confirm = looking->confirm;
	struct arena *arena = looking->machine->arena;

	if (confirm->count == looking->room) {
		looking->room = looking->room ? 2 * looking->room : 32;
		struct knob_confirm_item *larger = ARENA_ARRAY(arena, looking->room, struct knob_confirm_item);

		if (confirm->count)
			memcpy(larger, confirm->items, confirm->count * sizeof(*larger));
		confirm->items = larger;
	}
	confirm->items[confirm->count++] = (struct knob_confirm_item){
	    .what = arena_strdup(arena, what), .found = found ? arena_strdup(arena, found) : NULL, .state = state};
	confirm->worst = MAX_OF(confirm->worst, state);
}

static const char *word_of(const struct looking *looking, size_t word)
{
	const char *name = looking->trial->names[word], *value = looking->trial->values[word];

	return arena_printf(looking->machine->arena, "%s=%s", name, value);
}

/* ---- the line, and the kernel ---- */

static void look_at_line(struct looking *looking)
{
	struct arena *arena = looking->view->arena;

	for (size_t i = 0; i < looking->trial->count; i++) {
		const char *name = looking->trial->names[i], *wanted = looking->trial->values[i];
		const char *found = boot_view_running(looking->view, name);
		bool same = text_equal(found, wanted);

		add(looking, same ? KNOB_CONFIRM_GOOD : KNOB_CONFIRM_BAD,
		    text_equal(name, KNOB_BOOT_KERNEL_NAME)
			? arena_printf(arena, "the kernel is %s", wanted)
			: arena_printf(arena, "the kernel's line: %s", word_of(looking, i)),
		    same ? NULL : found);
	}
}

/* ---- what the words were to bring about ---- */

/* The trimmed text of a file, or NULL. */
static const char *text_of(struct looking *looking, const char *path)
{
	const struct sys_look *look = sys_read(looking->view->sys, "%s", path);

	return look->state == SYS_VALUE ? text_trim(looking->view->arena, look->data) : NULL;
}

static bool mode_is(struct arena *arena, const char *wanted, const char *found)
{
	(void)arena;
	return text_equal(wanted, "disable") ? !found || text_equal(found, "disable") : text_equal(wanted, found);
}

static bool choice_is(struct arena *arena, const char *wanted, const char *found)
{
	return found && strstr(found, arena_printf(arena, "[%s]", wanted));
}

static bool is_off(struct arena *arena, const char *wanted, const char *found)
{
	(void)arena;
	(void)wanted;
	return text_equal(found, "0");
}

static bool cpus_are(struct arena *arena, const char *wanted, const char *found)
{
	struct cpuset want = {{0}}, have = {{0}};
	bool domain = isdigit((unsigned char)*wanted) || text_has_word(wanted, ",", "domain");

	(void)arena;
	while (*wanted && !isdigit((unsigned char)*wanted)) {
		wanted += strcspn(wanted, ",");
		wanted += *wanted == ',';
	}
	/* With other flags than domain alone the CPUs stay in the scheduler's domains; "all" is the kernel's to know.
	 */
	if (!domain || !*wanted || cpuset_parse(wanted, &want, NULL) < 0)
		return true;
	return found && cpuset_parse(found, &have, NULL) == 0 && cpuset_equal(&want, &have);
}

static bool pages_are(struct arena *arena, const char *wanted, const char *found)
{
	int64_t want, have;

	(void)arena;
	if (text_int(wanted, 10, &want) < 0) /* node by node */
		return found != NULL;
	return found && text_int(found, 10, &have) == 0 && have >= want;
}

static const struct {
	const char *name, *path;
	bool (*holds)(struct arena *arena, const char *wanted, const char *found);
} effects[] = {
    {"amd_pstate", "/sys/devices/system/cpu/amd_pstate/status", mode_is},
    {"transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled", choice_is},
    {"nosmt", "/sys/devices/system/cpu/smt/active", is_off},
    {"isolcpus", "/sys/devices/system/cpu/isolated", cpus_are},
    {"nohz_full", "/sys/devices/system/cpu/nohz_full", cpus_are},
    {"hugepages.2M", "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", pages_are},
    {"hugepages.1G", "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", pages_are},
};

static void look_at_effects(struct looking *looking)
{
	struct arena *arena = looking->view->arena;

	for (size_t i = 0; i < looking->trial->count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(effects); j++) {
			const char *wanted = looking->trial->values[i], *found;

			if (!text_equal(looking->trial->names[i], effects[j].name) || text_equal(wanted, "absent"))
				continue;
			found = text_of(looking, effects[j].path);
			bool holds = effects[j].holds(arena, wanted, found);

			add(looking, holds ? KNOB_CONFIRM_GOOD : KNOB_CONFIRM_BAD,
			    arena_printf(arena, "%s has done what was asked (%s)", word_of(looking, i),
					 effects[j].path),
			    holds   ? NULL
			    : found ? found
				    : "not there");
		}
}

/* ---- the system ---- */

static int look_at_units(struct looking *looking, struct err *err)
{
	static const char *const show[] = {"systemctl", "show", "--property=ActiveState", "multi-user.target", NULL};
	const char *before = "", *new_ones = "", *output = "", **failed = NULL;
	struct arena *arena = looking->machine->arena;
	size_t count = 0;
	int r = boot_run(looking->machine, show, &output, err);

	if (r == 0)
		r = boot_failed_units(looking->machine, &failed, &count, err);
	if (r < 0)
		return r;
	bool up = strstr(output, "ActiveState=active");

	add(looking, up ? KNOB_CONFIRM_GOOD : KNOB_CONFIRM_NOT_YET, "the system has come up (multi-user.target)",
	    up ? NULL : text_trim(arena, output));
	for (size_t i = 0; i < looking->trial->failed_count; i++)
		before = arena_printf(arena, "%s %s", before, looking->trial->failed[i]);
	for (size_t i = 0; i < count; i++)
		if (!text_has_word(before, " ", failed[i]))
			new_ones = arena_printf(arena, "%s%s%s", new_ones, *new_ones ? ", " : "", failed[i]);
	add(looking, *new_ones ? KNOB_CONFIRM_BAD : KNOB_CONFIRM_GOOD, "no unit fails that did not fail before",
	    *new_ones ? new_ones : NULL);
	return 0;
}

static void add_guest(struct looking *looking, const char *kind, const char *name, bool runs)
{
	add(looking, runs ? KNOB_CONFIRM_GOOD : KNOB_CONFIRM_NOT_YET,
	    arena_printf(looking->view->arena, "%s %s, which starts with the host, runs", kind, name),
	    runs ? NULL : "not running");
}

static bool is_there(struct looking *looking, const char *path)
{
	return sys_read(looking->view->sys, "%s", path)->state != SYS_ABSENT;
}

/* libvirt keeps a link for each VM that starts with the host, and a pid file for each that runs. */
static void look_at_libvirt(struct looking *looking)
{
	struct arena *arena = looking->view->arena;
	const struct sys_look *names = sys_list(looking->view->sys, "/etc/libvirt/qemu/autostart");

	for (size_t i = 0; names->state == SYS_VALUE && i < names->size; i++) {
		const char *dot = strrchr(names->names[i], '.');

		if (!text_equal(dot, ".xml"))
			continue;
		const char *name = arena_strndup(arena, names->names[i], (size_t)(dot - names->names[i]));

		add_guest(looking, "VM", name,
			  is_there(looking, arena_printf(arena, "/run/libvirt/qemu/%s.pid", name)));
	}
}

/* Proxmox: "onboot: 1" before the first snapshot's section. */
static void look_at_proxmox(struct looking *looking)
{
	struct arena *arena = looking->view->arena;
	const struct sys_look *names = sys_list(looking->view->sys, "/etc/pve/qemu-server");

	for (size_t i = 0; names->state == SYS_VALUE && i < names->size; i++) {
		const char *dot = strrchr(names->names[i], '.');
		const struct sys_look *conf = sys_read(looking->view->sys, "/etc/pve/qemu-server/%s", names->names[i]);

		if (!text_equal(dot, ".conf") || conf->state != SYS_VALUE)
			continue;
		const char *section = strstr(conf->data, "\n["), *id;
		const char *head =
		    arena_strndup(arena, conf->data, section ? (size_t)(section - conf->data) : conf->size);

		if (!text_has_word(head, "\n", "onboot: 1"))
			continue;
		id = arena_strndup(arena, names->names[i], (size_t)(dot - names->names[i]));
		add_guest(looking, "VM", id, is_there(looking, arena_printf(arena, "/run/qemu-server/%s.pid", id)));
	}
}

/* ---- all of it ---- */

static int need_trial(struct knob_machine *machine, struct boot_trial **ret, struct err *err)
{
	int r = boot_trial_read(machine, ret, err);

	return r == 0 && !*ret ? err_set(err, ENOENT, NULL, "no trial boot waits to be confirmed") : r;
}

const char *knob_confirm_text(struct knob_machine *machine, const struct knob_confirm *confirm)
{
	const char *form =
	    confirm->of && confirm->is_trial_boot
		? "This boot (%s) is one of a study, and is not made the default: hvtune study status."
	    : confirm->of				    ? "A study has asked for a boot (%s): hvtune study status."
	    : !confirm->is_trial_boot && confirm->asked_now ? "The trial boot (%s) is still to come: reboot."
	    : !confirm->is_trial_boot
		? "The host runs with the old line: the trial boot (%s) was not confirmed, or never came "
		  "up. hvtune undo forgets it."
	    : confirm->worst != KNOB_CONFIRM_GOOD
		? "This is the trial boot (%s), and it is not well: the next boot has the old line. hvtune "
		  "undo forgets the trial."
	    : confirm->count ? "The trial boot is well: %s is in the default line of all boots now."
			     : "This is the trial boot (%s); hvtune confirm makes its line the default.";

	/* Each of the forms has the one %s. */
	const char *at = strstr(form, "%s");

	return arena_printf(machine->arena, "%.*s%s%s", (int)(at - form), form, confirm->asked, at + 2);
}

static int look_at_all(struct looking *looking, struct err *err)
{
	look_at_line(looking);
	look_at_effects(looking);
	/* A machine of files has no systemd to ask. */
	int r = sys_writer_is_live(looking->machine->writer) ? look_at_units(looking, err) : 0;

	look_at_libvirt(looking);
	look_at_proxmox(looking);
	return r;
}

int knob_confirm_boot(struct knob_machine *machine, const struct knob_ask *words, size_t count,
		      const char *const *failed, size_t failed_count, struct knob_confirm *ret, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	struct knob_confirm confirm = {.asked = ""};
	struct boot_trial expected = {.names = ARENA_ARRAY(machine->arena, count + 1, const char *),
				      .values = ARENA_ARRAY(machine->arena, count + 1, const char *),
				      .count = count,
				      .failed = ARENA_ARRAY(machine->arena, failed_count + 1, const char *),
				      .failed_count = failed_count};
	struct looking looking = {.machine = machine, .view = &view, .confirm = &confirm, .trial = &expected};
	int r = boot_view_open(machine, &view, err);

	for (size_t i = 0; i < count; i++) {
		expected.names[i] = words[i].name;
		expected.values[i] = words[i].value;
	}
	for (size_t i = 0; i < failed_count; i++)
		expected.failed[i] = failed[i];
	if (r == 0)
		r = look_at_all(&looking, err);
	if (r == 0)
		*ret = confirm;
	return r;
}

int knob_confirm_look(struct knob_machine *machine, bool checks, struct knob_confirm *ret, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	struct knob_confirm confirm = {.asked = ""};
	struct boot_trial *trial = NULL;
	struct looking looking = {.machine = machine, .view = &view, .confirm = &confirm};
	int r = need_trial(machine, &trial, err);

	if (r == 0)
		r = boot_view_open(machine, &view, err);
	if (r < 0)
		return r;
	looking.trial = trial;
	confirm.of = trial->of;
	for (size_t i = 0; i < trial->count; i++)
		confirm.asked =
		    arena_printf(machine->arena, "%s%s%s", confirm.asked, i ? " " : "", word_of(&looking, i));
	confirm.is_trial_boot = text_equal(knob_boot_trial_id(view.host), trial->id);
	confirm.asked_now = *trial->boot && text_equal(trial->boot, knob_boot_id(machine));
	if (confirm.is_trial_boot && checks && !confirm.of)
		r = look_at_all(&looking, err);
	if (r == 0)
		*ret = confirm;
	return r;
}

/* The changes that asked for the trial, the newest first: what they wrote is the trial's state. */
static int forget(struct knob_machine *machine, struct knob_report *report, struct err *err)
{
	struct knob_journal journal = {0};
	unsigned *ids = NULL;
	int r = knob_journal_read(machine, &journal, err);
	size_t count = r == 0 ? knob_in_force(machine, &journal, &ids) : 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		for (size_t j = 0; j < journal.count; j++) {
			const struct knob_change *change = &journal.changes[j];
			bool of_trial = change->id == ids[i] && change->point_count > 0;

			for (size_t k = 0; of_trial && k < change->point_count; k++)
				of_trial = text_starts(change->points[k].where, "trial ");
			if (of_trial)
				r = knob_undo(machine, ids[i], report, err);
		}
	return r;
}

int knob_confirm_accept(struct knob_machine *machine, const struct knob_apply_options *options, struct knob_report *ret,
			struct err *err)
{
	struct knob_report ignored = {0};
	struct boot_trial *trial = NULL;
	struct knob_plan plan = {0};
	int r = need_trial(machine, &trial, err);

	if (r == 0 && trial->of)
		r = err_set(err, EPERM, trial->of, "the trial boot is not one that a person asked for");
	if (r < 0)
		return r;
	struct knob_ask *asks = ARENA_ARRAY(machine->arena, trial->count + 1, struct knob_ask);

	for (size_t i = 0; i < trial->count; i++) {
		asks[i].name = arena_printf(machine->arena, "boot.%s", trial->names[i]);
		asks[i].value = trial->values[i];
	}
	machine->no_trial = true;
	r = knob_plan_make(machine, asks, trial->count, &plan, err);
	if (r == 0)
		r = knob_apply(machine, &plan, options, ret, err);
	return r < 0 ? r : forget(machine, &ignored, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the boots of a study: what is asked for, and asking for it. What has come up is judged in study_arrive.c. */
#include <errno.h>
#include <time.h>

#include "knob_apply.h"
#include "study_boot_internal.h"
#include "text.h"

/* ---- what a study needs ---- */

/* A person's level may set words of the kernel's line besides. */
static bool sets_words(const struct study_factor *factor)
{
	for (size_t l = 0; l < factor->level_count; l++)
		for (size_t i = 0; i < factor->levels[l].ask_count; i++)
			if (study_ask_cost(&factor->levels[l].asks[i]) == STUDY_HOST_BOOT)
				return true;
	return false;
}

bool study_needs_boots(const struct study *study)
{
	for (size_t f = 0; f < study->factor_count; f++)
		if (study->factors[f].cost == STUDY_HOST_BOOT || sets_words(&study->factors[f]))
			return true;
	return false;
}

/* Do two configurations differ in what a boot sets? */
static bool same_boot(const struct study_matrix *matrix, size_t a, size_t b)
{
	return study_switch_cost(matrix, a, b) < STUDY_HOST_BOOT;
}

unsigned study_count_boots(const struct study_matrix *matrix, unsigned rounds)
{
	size_t at = matrix->baseline;
	unsigned boots = 0;

	for (unsigned round = 0; round < rounds; round++)
		for (size_t i = 0; i < matrix->count; i++) {
			boots += !same_boot(matrix, at, i);
			at = i;
		}
	return boots + (matrix->count && !same_boot(matrix, at, matrix->baseline));
}

unsigned study_usual_boots(const struct study_matrix *matrix)
{
	const struct study *study = matrix->study;
	unsigned once = study_count_boots(matrix, 1);

	/* A block is a round; a race needs fewer rounds the more configurations it has. One in four may fail. */
	return once ? study_count_boots(matrix, MAX_OF(study->runs_most, 1U)) * 5 / 4 + 4 : 0;
}

const char *study_boots_refused(struct knob_machine *machine)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	struct boot_trial *trial = NULL;
	struct err err = {0};

	if (boot_view_open(machine, &view, &err) < 0)
		return arena_strdup(machine->arena, err.what);
	if (view.loader.no_trial)
		return arena_printf(machine->arena, "%s: no entry can be booted for once: %s", view.loader.name,
				    view.loader.no_trial);
	if (sys_writer_is_live(machine->writer) && !sys_has_dir(machine->sys, "/run/systemd/system"))
		return "systemd does not run this host, and nothing else would go on with the study after a boot";
	if (boot_trial_read(machine, &trial, &err) < 0)
		return arena_strdup(machine->arena, err.what);
	if (trial && !trial->of)
		return "a trial boot waits to be confirmed: hvtune confirm, or hvtune undo";
	return NULL;
}

/* ---- words ---- */

/* The word of the kernel's line that an ask is about; NULL: about none. */
static const char *word_of(const struct knob_ask *ask)
{
	static const char *const families[] = {"boot.", "module."};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (study_ask_cost(ask) == STUDY_HOST_BOOT && text_starts(ask->name, families[i]))
			return ask->name + strlen(families[i]);
	return NULL;
}

size_t study_boot_names(struct arena *arena, const struct study *study, const char *const **ret)
{
	const char **names;
	size_t count = 0, room = 0;

	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			room += study->factors[f].levels[l].ask_count;
	names = ARENA_ARRAY(arena, room + 1, const char *);
	for (size_t f = 0; f < study->factor_count; f++)
		for (size_t l = 0; l < study->factors[f].level_count; l++)
			for (size_t i = 0; i < study->factors[f].levels[l].ask_count; i++) {
				const char *name = word_of(&study->factors[f].levels[l].asks[i]);
				bool there = !name;

				for (size_t n = 0; n < count && !there; n++)
					there = text_equal(names[n], name);
				if (!there)
					names[count++] = name;
			}
	*ret = names;
	return count;
}

size_t study_boot_words(struct arena *arena, const struct study_matrix *matrix, size_t config, struct knob_ask **ret)
{
	struct knob_ask *asks = NULL;
	size_t count = study_host_asks_of(arena, matrix, config, STUDY_HOST_BOOT, STUDY_HOST_BOOT, &asks), used = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = word_of(&asks[i]);

		if (name)
			asks[used++] = (struct knob_ask){.name = name, .value = asks[i].value};
	}
	*ret = asks;
	return used;
}

static const char *value_in(const struct knob_ask *asks, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(asks[i].name, name))
			return asks[i].value;
	return NULL;
}

bool study_boot_chooses_kernel(struct arena *arena, const struct study *study)
{
	const char *const *names = NULL;
	size_t count = study_boot_names(arena, study, &names);

	for (size_t i = 0; i < count; i++)
		if (text_equal(names[i], KNOB_BOOT_KERNEL_NAME))
			return true;
	return false;
}

int study_boot_lines(struct study_boot *boot, struct study_lines *ret, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	const char *line = "", *running = NULL, *kernel = "";
	int r = boot_view_open(boot->machine, &view, err);

	if (r == 0)
		r = boot_view_line(boot->machine, &view, &line, err);
	if (r == 0 && study_boot_chooses_kernel(boot->arena, boot->study))
		r = boot_view_value(boot->machine, &view, KNOB_BOOT_KERNEL_NAME, &kernel, err);
	if (r == 0)
		r = sys_writer_read(boot->machine->writer, boot->arena, "/proc/cmdline", &running, NULL, err);
	if (r < 0)
		return r;
	ret->standard = arena_strdup(boot->arena, line);
	ret->running = running;
	ret->trial = knob_boot_trial_id(view.host);
	ret->trial = ret->trial ? arena_strdup(boot->arena, ret->trial) : NULL;
	ret->standard_kernel = arena_strdup(boot->arena, kernel);
	ret->running_kernel = arena_strdup(boot->arena, boot_view_running(&view, KNOB_BOOT_KERNEL_NAME));
	return 0;
}

const char *study_boot_usual(struct study_boot *boot, const struct study_lines *lines, const char *name)
{
	return text_equal(name, KNOB_BOOT_KERNEL_NAME) ? lines->standard_kernel
						       : knob_boot_value(boot->arena, lines->standard, name);
}

static const char *running_value(struct study_boot *boot, const struct study_lines *lines, const char *name)
{
	return text_equal(name, KNOB_BOOT_KERNEL_NAME) ? lines->running_kernel
						       : knob_boot_value(boot->arena, lines->running, name);
}

size_t study_boot_wanted(struct study_boot *boot, const struct study_lines *lines, size_t config, struct knob_ask **ret,
			 bool *ret_trial)
{
	const char *const *names = NULL;
	struct knob_ask *asks, *wanted;
	size_t asked = study_boot_words(boot->arena, &boot->matrix, config, &asks);
	size_t count = study_boot_names(boot->arena, boot->study, &names);

	*ret_trial = false;
	wanted = ARENA_ARRAY(boot->arena, count + 1, struct knob_ask);
	for (size_t i = 0; i < count; i++) {
		const char *usual = study_boot_usual(boot, lines, names[i]);
		const char *value = value_in(asks, asked, names[i]);

		wanted[i] = (struct knob_ask){.name = names[i], .value = value ? value : usual};
		*ret_trial = *ret_trial || !text_equal(wanted[i].value, usual);
	}
	*ret = wanted;
	return count;
}

bool study_boot_has(struct study_boot *boot, const struct study_lines *lines, const struct knob_ask *words,
		    size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!text_equal(running_value(boot, lines, words[i].name), words[i].value))
			return false;
	return true;
}

json_t *study_boot_levels(const struct study_matrix *matrix, size_t config)
{
	const struct study *study = matrix->study;
	const size_t *levels = study_levels(matrix, config);
	json_t *json = json_object();

	for (size_t f = 0; f < study->factor_count; f++)
		if (study->factors[f].cost >= STUDY_HOST_BOOT)
			(void)json_object_set_new(json, study->factors[f].name,
						  json_string(study->factors[f].levels[levels[f]].name));
	return json;
}

/* ---- taking back what was asked for ---- */

bool study_boot_in_force(struct study_boot *boot, unsigned *ret_id, bool *ret_done, struct err *err)
{
	struct knob_journal journal = {0};
	unsigned *ids = NULL;
	size_t count =
	    knob_journal_read(boot->machine, &journal, err) < 0 ? 0 : knob_in_force(boot->machine, &journal, &ids);

	for (size_t i = 0; i < count; i++)
		for (size_t c = 0; c < journal.count; c++)
			if (journal.changes[c].id == ids[i] && text_starts(journal.changes[c].what, STUDY_BOOT_MARK)) {
				*ret_id = ids[i];
				*ret_done =
				    journal.changes[c].state == KNOB_CHANGE_DONE && !journal.changes[c].undo_begun;
				return true;
			}
	return false;
}

int study_boot_forget(struct study_boot *boot, struct err *err)
{
	unsigned id = 0, last = 0;
	bool done = false;

	while (study_boot_in_force(boot, &id, &done, err) && id != last) {
		struct knob_report report = {0};
		int r = knob_undo(boot->machine, id, &report, err);

		if (r < 0)
			return r;
		last = id;
	}
	return 0;
}

/* ---- asking for a boot ---- */

static int64_t now_s(void)
{
	return (int64_t)time(NULL);
}

const char *const *study_boot_units(struct study_boot *boot, size_t *ret_count)
{
	const char **names = ARENA_ARRAY(boot->arena, json_array_size(boot->state->units) + 1, const char *);
	size_t count = 0, index;
	json_t *name;

	json_array_foreach (boot->state->units, index, name)
		if (json_is_string(name))
			names[count++] = json_string_value(name);
	*ret_count = count;
	return names;
}

/* A trial of these words, of those that are not the default's already. */
static int plan_trial(struct study_boot *boot, const struct knob_ask *words, size_t count, const char *levels,
		      struct err *err)
{
	struct knob_trial_of of = {.who = arena_printf(boot->arena, "study %.12s", boot->state->uid),
				   .id = boot->state->asked.trial};
	struct knob_ask *asks = ARENA_ARRAY(boot->arena, count + 1, struct knob_ask);
	const struct knob_apply_options options = {
	    .what = arena_printf(boot->arena, STUDY_BOOT_MARK "%s: %s", boot->study->name, levels)};
	struct knob_report report = {0};
	struct knob_plan plan = {0};
	int r;

	of.failed = study_boot_units(boot, &of.failed_count);
	for (size_t i = 0; i < count; i++)
		asks[i] = (struct knob_ask){.name = arena_printf(boot->arena, "boot.%s", words[i].name),
					    .value = words[i].value};
	boot->machine->trial_of = &of;
	r = knob_plan_make(boot->machine, asks, count, &plan, err);
	if (r == 0)
		r = knob_apply(boot->machine, &plan, &options, &report, err);
	boot->machine->trial_of = NULL;
	return r;
}

static int ask(struct study_boot *boot, const struct knob_ask *words, size_t count, bool trial, json_t *levels,
	       struct err *err)
{
	struct study_state *state = boot->state;
	int r = study_boot_forget(boot, err);

	json_decref(state->asked.levels);
	state->asked = (struct study_asked){
	    .boot = knob_boot_id(boot->machine),
	    .trial = trial ? arena_printf(boot->arena, "study-%.8s-%u", state->uid, state->boots + 1) : "",
	    .levels = levels,
	    .at_s = now_s()};
	if (r < 0)
		return r;
	state->boots++;
	state->clean = true;
	r = study_state_write(boot->machine, state, err);
	if (r == 0 && trial)
		r = plan_trial(boot, words, count, study_levels_text(boot->arena, levels), err);
	if (r == 0)
		return STUDY_REBOOT;
	state->asked.boot = NULL;
	state->boots--;
	(void)study_state_write(boot->machine, state, NULL);
	return r;
}

/* What a configuration wants of the line; *ret_here as study_boot_is_here(). */
static int want(struct study_boot *boot, size_t config, struct knob_ask **ret, size_t *ret_count, bool *ret_trial,
		bool *ret_here, struct err *err)
{
	struct study_lines lines;
	int r = study_boot_lines(boot, &lines, err);

	if (r < 0)
		return r;
	*ret_count = study_boot_wanted(boot, &lines, config, ret, ret_trial);
	/* What the words of a trial bring besides those asked for (panic=) is not in the baseline. */
	*ret_here = *ret_count == 0 || (text_equal(boot->state->boot, knob_boot_id(boot->machine)) &&
					study_boot_has(boot, &lines, *ret, *ret_count) && (*ret_trial || !lines.trial));
	return 0;
}

int study_boot_is_here(struct study_boot *boot, size_t config, struct err *err)
{
	struct knob_ask *words;
	size_t count;
	bool trial, here;
	int r = want(boot, config, &words, &count, &trial, &here, err);

	return r < 0 ? r : here;
}

int study_boot_enter(struct study_boot *boot, size_t config, bool anew, struct err *err)
{
	struct study_state *state = boot->state;
	struct knob_ask *words;
	size_t count;
	bool trial, here;
	int r = want(boot, config, &words, &count, &trial, &here, err);

	if (r < 0 || (here && !anew))
		return r;
	/* The last one is kept for the way back. */
	if (state->boots + (trial ? 1 : 0) >= state->boots_most)
		return STUDY_NO_BOOT;
	return ask(boot, words, count, trial, study_boot_levels(&boot->matrix, config), err);
}

void study_boot_was_well(struct study_boot *boot)
{
	if (study_boot_forgive(boot->state, boot->state->asked.levels, true))
		(void)study_state_write(boot->machine, boot->state, NULL);
}

int study_boot_leave(struct study_boot *boot, struct err *err)
{
	struct study_state *state = boot->state;
	struct study_lines lines;
	struct knob_ask *words;
	const char *const *names = NULL;
	int r = study_boot_lines(boot, &lines, err);

	if (r < 0)
		return r;
	size_t count = study_boot_names(boot->arena, boot->study, &names);

	words = ARENA_ARRAY(boot->arena, count + 1, struct knob_ask);
	for (size_t i = 0; i < count; i++)
		words[i] = (struct knob_ask){.name = names[i], .value = study_boot_usual(boot, &lines, names[i])};
	/* A boot that was no trial has the default's line, whatever somebody has made of the default since. */
	if (!lines.trial && !state->asked.boot)
		return study_boot_forget(boot, err);
	if (!lines.trial && study_boot_has(boot, &lines, words, count)) {
		state->asked.boot = NULL;
		r = study_boot_forget(boot, err);
		return r < 0 ? r : study_state_write(boot->machine, state, err);
	}
	json_t *levels = study_boot_levels(&boot->matrix, boot->matrix.baseline);

	/* Twice it did not come up as it was, and a third time would not be better. */
	if (study_boot_failures(state, levels, false) >= STUDY_MOST_FAILED) {
		json_decref(levels);
		state->asked.boot = NULL;
		return study_boot_forget(boot, err);
	}
	return ask(boot, words, count, false, levels, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns judging a boot that has come up in a study. */
#include <errno.h>
#include <time.h>

#include "bench_spawn.h"
#include "knob_confirm.h"
#include "study_boot_internal.h"
#include "study_hand.h"
#include "text.h"

enum { LOOK_EVERY_S = 5, LONGEST_BOOT_S = 3600 };

/* ---- failed boots ---- */

unsigned study_boot_failures(const struct study_state *state, const json_t *levels, bool lost)
{
	unsigned count = 0;
	json_t *failure;
	size_t index;

	json_array_foreach (state->failures, index, failure)
		count += !json_is_true(json_object_get(failure, "over")) &&
			 json_is_true(json_object_get(failure, "lost")) == lost &&
			 json_equal(json_object_get(failure, "levels"), levels);
	return count;
}

bool study_boot_forgive(struct study_state *state, const json_t *levels, bool lost)
{
	bool any = study_boot_failures(state, levels, lost) > 0;
	json_t *failure;
	size_t index;

	json_array_foreach (state->failures, index, failure)
		if (json_is_true(json_object_get(failure, "lost")) == lost &&
		    json_equal(json_object_get(failure, "levels"), levels))
			(void)json_object_set_new(failure, "over", json_true());
	return any;
}

static int find_config(const struct study_matrix *matrix, const json_t *levels)
{
	for (size_t config = 0; config < matrix->count; config++) {
		json_t *of = study_boot_levels(matrix, config);
		bool same = json_equal(of, levels);

		json_decref(of);
		if (same)
			return (int)config;
	}
	return -1;
}

static bool is_baseline(const struct study_boot *boot, const json_t *levels)
{
	json_t *of = study_boot_levels(&boot->matrix, boot->matrix.baseline);
	bool same = json_equal(of, levels);

	json_decref(of);
	return same;
}

static void end_as(struct study_boot *boot, const char *why)
{
	boot->state->end = "failed";
	boot->state->why = why;
}

/* What could not be booted is measured no more. */
static void give_up(struct study_boot *boot, const char *why)
{
	struct study_state *state = boot->state;
	const char *levels = study_levels_text(boot->arena, state->asked.levels);

	if (is_baseline(boot, state->asked.levels)) {
		end_as(boot, arena_printf(boot->arena, "the baseline does not come up: %s", why));
	} else {
		(void)json_array_append_new(state->out,
					    json_pack("{s:O, s:s}", "levels", state->asked.levels, "why", why));
	}
	if (boot->notify)
		boot->notify(boot->data, "failed",
			     state->end
				 ? arena_printf(boot->arena, "%s; the study has ended", state->why)
				 : arena_printf(boot->arena,
						"%s cannot be measured: %s. The study goes on without it, from the "
						"baseline.",
						levels, why));
}

/* How often in a row it is so now. */
static unsigned note_failure(struct study_boot *boot, const char *why, bool lost)
{
	struct study_state *state = boot->state;

	(void)json_array_append_new(state->failures,
				    json_pack("{s:O, s:s, s:I, s:b, s:b}", "levels", state->asked.levels, "why", why,
					      "at", (json_int_t)time(NULL), "lost", lost, "over", 0));
	state->boot = "";
	state->asked.boot = NULL;
	return study_boot_failures(state, state->asked.levels, lost);
}

static void boot_failed(struct study_boot *boot, const char *why)
{
	if (note_failure(boot, why, false) >= STUDY_MOST_FAILED && !boot->state->end)
		give_up(boot,
			arena_printf(boot->arena, "%d boots in a row failed, the last: %s", STUDY_MOST_FAILED, why));
}

/* It had come up well, and then the host went down: a panic under load looks so, and a power cut. */
static void boot_lost(struct study_boot *boot)
{
	static const char why[] = "the host went down before a run was whole";

	if (note_failure(boot, why, true) >= STUDY_MOST_LOST && !boot->state->end)
		give_up(boot, arena_printf(boot->arena, "%d times in a row %s", STUDY_MOST_LOST, why));
}

/* ---- the look at a boot ---- */

/* What is not well, in words; NULL: all is. */
static const char *faults_of(struct study_boot *boot, const struct knob_confirm *confirm)
{
	const char *text = NULL, *kernel = knob_kernel_release(boot->machine);

	for (size_t i = 0; i < confirm->count; i++) {
		const struct knob_confirm_item *item = &confirm->items[i];

		if (item->state != KNOB_CONFIRM_GOOD)
			text = arena_printf(boot->arena, "%s%snot so: %s%s%s", text ? text : "", text ? "; " : "",
					    item->what, item->found ? ", but " : "", item->found ? item->found : "");
	}
	/* A study of kernels has said which it expects among the words. */
	if (kernel && boot->state->kernel && !study_boot_chooses_kernel(boot->arena, boot->study) &&
	    !text_equal(kernel, boot->state->kernel))
		text = arena_printf(boot->arena, "%s%sthe kernel is %s, and the study began with %s", text ? text : "",
				    text ? "; " : "", kernel, boot->state->kernel);
	return text;
}

/* Wait until the boot is whole. *ret: what is not well, NULL: nothing. */
static int look(struct study_boot *boot, const struct knob_ask *words, size_t count, const char **ret, struct err *err)
{
	const char *const *failed;
	struct knob_confirm confirm = {0};
	size_t failed_count;
	int r;

	failed = study_boot_units(boot, &failed_count);
	r = knob_confirm_boot(boot->machine, words, count, failed, failed_count, &confirm, err);
	for (unsigned waited = 0; r == 0 && confirm.worst == KNOB_CONFIRM_NOT_YET && waited < boot->wait_s;
	     waited += LOOK_EVERY_S) {
		if (bench_signals_wait(boot->signals, LOOK_EVERY_S * INT64_C(1000000000)))
			return err_set(err, EINTR, NULL, "stopped while the host came up");
		r = knob_confirm_boot(boot->machine, words, count, failed, failed_count, &confirm, err);
	}
	if (r == 0)
		*ret = faults_of(boot, &confirm);
	return r;
}

static void boot_is_good(struct study_boot *boot, bool asked)
{
	struct study_state *state = boot->state;
	int64_t took = (int64_t)time(NULL) - state->asked.at_s;

	/* A host that was switched off for a night took no night to boot. */
	if (asked && took > 0 && took <= LONGEST_BOOT_S) {
		state->boots_timed++;
		state->boots_s += (double)took;
		state->spent_s += (double)took;
	}
	state->boot = knob_boot_id(boot->machine);
	state->asked.boot = NULL;
	if (asked)
		(void)study_boot_forgive(state, state->asked.levels, false);
}

/* The levels that the running line has; those of the baseline when it is nobody's. */
static int note_levels(struct study_boot *boot, struct err *err)
{
	struct study_lines lines;
	size_t found = boot->matrix.baseline;
	int r = study_boot_lines(boot, &lines, err);

	if (r < 0)
		return r;
	for (size_t config = boot->matrix.count; config-- > 0;) {
		struct knob_ask *words;
		bool trial;
		size_t count = study_boot_wanted(boot, &lines, config, &words, &trial);

		if (study_boot_has(boot, &lines, words, count) &&
		    study_hand_is_here(&boot->matrix, boot->state, config))
			found = config;
	}
	json_decref(boot->state->asked.levels);
	boot->state->asked.levels = study_boot_levels(&boot->matrix, found);
	return 0;
}

/* A boot of the default entry that nobody asked for: work may go on in it, when it is well. */
static int judge_plain(struct study_boot *boot, struct err *err)
{
	const char *faults = NULL;
	int r = note_levels(boot, err);

	if (r == 0)
		r = look(boot, NULL, 0, &faults, err);
	if (r == 0 && !faults)
		boot_is_good(boot, false);
	return r;
}

static int judge_asked(struct study_boot *boot, const struct study_lines *lines, struct err *err)
{
	struct study_state *state = boot->state;
	int config = find_config(&boot->matrix, state->asked.levels);
	const char *faults = NULL;
	struct knob_ask *words = NULL;
	bool trial = false;
	size_t count = 0;
	int r;

	if (*state->asked.trial && !text_equal(lines->trial, state->asked.trial)) {
		boot_failed(boot, lines->trial
				      ? "another trial's line came up"
				      : "the default entry came up instead: its kernel panicked or hung, or the "
					"power was cut");
		return lines->trial ? 0 : judge_plain(boot, err);
	}
	if (!*state->asked.trial && lines->trial) {
		boot_failed(boot, "a trial's line came up instead of the default entry");
		return 0;
	}
	if (config >= 0)
		count = study_boot_wanted(boot, lines, (size_t)config, &words, &trial);
	r = look(boot, words, count, &faults, err);
	if (r < 0)
		return r;
	if (faults)
		boot_failed(boot, faults);
	else
		boot_is_good(boot, true);
	return 0;
}

/* Forbid what is out from number `from` on. */
static int take_out(struct study_boot *boot, size_t from, struct err *err)
{
	for (size_t i = from; i < json_array_size(boot->state->out); i++) {
		const json_t *out = json_array_get(boot->state->out, i);
		int r = study_forbid_levels(boot->arena, boot->study, json_object_get(out, "levels"), err);

		if (r < 0)
			return r;
	}
	study_matrix_make(boot->arena, boot->study, &boot->matrix);
	if (boot->state->boots_timed)
		boot->study->boot_s = boot->state->boots_s / boot->state->boots_timed;
	return 0;
}

int study_boot_open(struct study_boot *boot, struct err *err)
{
	return take_out(boot, 0, err);
}

static int judge(struct study_boot *boot, struct err *err)
{
	struct study_state *state = boot->state;
	struct study_lines lines;
	bool done = false;
	unsigned id = 0;
	int r = study_boot_lines(boot, &lines, err);

	if (r < 0)
		return r;
	/* The power was cut before the loader was told. */
	if (state->asked.boot && *state->asked.trial && !lines.trial &&
	    !(study_boot_in_force(boot, &id, &done, err) && done)) {
		state->asked.boot = NULL;
		state->boots--;
		r = study_boot_forget(boot, err);
		if (r < 0)
			return r;
	}
	if (state->asked.boot)
		return judge_asked(boot, &lines, err);
	if (*state->boot && !state->clean)
		boot_lost(boot);
	state->boot = "";
	return judge_plain(boot, err);
}

int study_boot_arrive(struct study_boot *boot, struct err *err)
{
	struct study_state *state = boot->state;
	const char *now = knob_boot_id(boot->machine);
	size_t out = json_array_size(state->out);
	int r;

	/* It was to be booted, and was not: a kill, or somebody who stopped the reboot. */
	if (text_equal(state->asked.boot, now))
		return STUDY_REBOOT;
	if (!state->asked.boot && text_equal(state->boot, now))
		return 0;
	r = judge(boot, err);
	if (r == 0)
		r = take_out(boot, out, err);
	if (r == 0 && boot->matrix.count < 2 && !state->end)
		end_as(boot, "too much of it cannot be booted: nothing is left to compare");
	return r < 0 ? r : study_state_write(boot->machine, state, err);
}

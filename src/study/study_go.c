/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the life of a study over boots of the host. */
#include "study_go.h"

#include <errno.h>
#include <time.h>

#include "study_boot_internal.h"
#include "study_hand.h"
#include "study_run_internal.h"
#include "study_unit.h"
#include "study_vm.h"
#include "text.h"

enum { NOTIFY_S = 60 };

/* ---- telling somebody ---- */

void study_notify(struct study_boot *boot, const char *event, const char *text)
{
	const struct study *study = boot->study;
	struct arena *arena = boot->arena;
	const char *const more[] = {arena_printf(arena, "HVTUNE_STUDY=%s", study->name),
				    arena_printf(arena, "HVTUNE_EVENT=%s", event),
				    arena_printf(arena, "HVTUNE_TEXT=%s", text), NULL};
	CLEANUP(bench_outcome_clear) struct bench_outcome outcome = {0};
	struct bench_command command;

	if (boot->notify)
		boot->notify(boot->data, event, text);
	if (!study->notify.line)
		return;
	command = study_command(arena, &study->notify, boot->state->directory, NULL, NOTIFY_S);
	command.environment = study_environment(arena, more);
	(void)bench_spawn(&command, NULL, &outcome, NULL);
}

/* ---- the beginning ---- */

static json_t *names_json(const char *const *names, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(list, json_string(names[i]));
	return list;
}

/* What a boot leaves behind in the loader's own files, besides what undo puts back. */
static int look_at_loader(struct study_boot *boot, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	int r = boot_view_open(boot->machine, &view, err);

	if (r == 0)
		boot->state->next_entry = knob_boot_names_next(view.host, &view.loader);
	return r;
}

static int tidy_loader(struct study_boot *boot, struct err *err)
{
	CLEANUP(boot_view_close) struct boot_view view = {0};
	struct knob_boot_plan plan = {0};
	int r = boot_view_open(boot->machine, &view, err);

	if (r == 0 && !boot->state->next_entry)
		r = knob_boot_plan_tidy(view.host, &view.loader, view.arena, &plan, err);
	return r < 0 ? r : boot_carry_out(boot->machine, &plan, true, err);
}

static int look_at_units(struct study_boot *boot, struct err *err)
{
	const char **names = NULL;
	size_t count = 0;
	int r = boot_failed_units(boot->machine, &names, &count, err);

	if (r == 0)
		boot->state->units = names_json(names, count);
	return r;
}

/* Of a study that is gone on with in another process: what a person has done, and what was decided before it. */
static void carry_over(struct study_boot *boot)
{
	CLEANUP(study_state_clear) struct study_state old = {0};
	struct study_state *state = boot->state;

	if (study_state_read(boot->machine, &old, NULL) < 0 || !text_equal(old.uid, state->uid))
		return;
	state->hooks = old.hooks;
	old.hooks = NULL;
	if (!study_asks(boot->study))
		return;
	state->hand = old.hand;
	state->out = old.out;
	state->units = old.units;
	old.hand = (struct study_hand){0};
	old.out = old.units = NULL;
	state->step = old.step;
	state->config = old.config;
	state->kernel = old.kernel;
	state->spent_s = old.spent_s;
}

/* Who boots the host by hand comes back to units that have failed, too; without systemd there are none. */
static void look_at_units_if_any(struct study_boot *boot)
{
	if (!boot->state->units && look_at_units(boot, NULL) < 0)
		boot->state->units = json_array();
}

int study_go_begin(struct study_boot *boot, struct err *err)
{
	const struct study_hands hands = {boot->machine, boot->study, boot->state};
	struct study_state *state = boot->state;
	struct err fault = {0};
	bool boots = study_needs_boots(boot->study), unit = boots && !state->timing;
	int r = study_state_refuse(boot->machine, state->uid, err);

	if (r < 0)
		return r;
	carry_over(boot);
	if (boots)
		r = look_at_units(boot, err);
	else if (study_asks(boot->study))
		look_at_units_if_any(boot);
	if (r == 0 && boots)
		r = look_at_loader(boot, err);
	if (r == 0)
		r = study_hand_begin(&hands, err);
	if (r < 0)
		return r;
	if (!state->kernel)
		state->kernel = knob_kernel_release(boot->machine);
	state->suited = study_suited_json(boot->study);
	state->vms = study_vm_running_json(boot->machine, boot->study);
	state->hooks = state->hooks ? state->hooks : json_object();
	state->out = state->out ? state->out : json_array();
	state->failures = json_array();
	state->began_s = (int64_t)time(NULL);
	state->boots_most = !unit			? 0
			    : boot->study->limits.boots ? boot->study->limits.boots
							: study_usual_boots(&boot->matrix);
	state->boot = knob_boot_id(boot->machine);
	state->asked.levels = study_boot_levels(&boot->matrix, boot->matrix.baseline);
	state->clean = true;
	state->starting = unit;
	if (!unit)
		study_state_take(boot->machine, state);
	r = study_state_claim(boot->machine, state, err);
	if (r < 0 || !unit)
		return r;
	r = study_unit_install(boot->machine, err);
	if (r < 0) {
		(void)study_unit_remove(boot->machine, &fault);
		(void)study_state_remove(boot->machine, &fault);
	}
	return r;
}

/* ---- the end ---- */

static void end_as(struct study_boot *boot, const char *end, const char *why)
{
	if (boot->state->end)
		return;
	boot->state->end = end;
	boot->state->why = why ? arena_strdup(boot->machine->arena, why) : NULL;
}

static const char *last_words(struct study_boot *boot)
{
	const struct study_state *state = boot->state;
	const char *text = arena_printf(boot->arena, "study %s has ended (%s%s%s): %s, %s", boot->study->name,
					state->end, state->why ? ": " : "", state->why ? state->why : "",
					text_count(boot->arena, state->runs, "run", "runs"),
					text_count(boot->arena, state->boots, "boot", "boots"));
	json_t *out;
	size_t index;

	if (json_object_size(state->hooks))
		text = arena_printf(boot->arena, "%s; not put back: %s", text,
				    study_levels_text(boot->arena, state->hooks));
	/* There is nobody to be asked when it ends. */
	const char *by_hand = study_hand_left(boot->arena, boot->study, state);

	if (by_hand)
		text = arena_printf(boot->arena, "%s; still changed by hand: %s", text, by_hand);
	if (boot->study->leave_best && text_equal(state->end, "done"))
		text = arena_printf(boot->arena, "%s; to keep the best: hvtune study apply %.8s --pick fastest", text,
				    state->uid);
	json_array_foreach (state->out, index, out)
		text = arena_printf(boot->arena, "%s; not measurable: %s (%s)", text,
				    study_levels_text(boot->arena, json_object_get(out, "levels")),
				    json_string_value(json_object_get(out, "why")));
	return text;
}

static int tell_person(struct study_boot *boot, enum study_move *ret)
{
	study_notify(boot, "ask", study_hand_say(boot->arena, boot->state));
	*ret = STUDY_WAITS;
	return 0;
}

/* STUDY_ASKS: a person is to put back what he has changed. Who aborts a study does not wait for anybody. */
static int leave_by_hand(struct study_boot *boot, struct err *err)
{
	const struct study_hands hands = {boot->machine, boot->study, boot->state};
	json_t *levels;

	if (study_wish_read(boot->machine) == STUDY_WISH_ABORT)
		return 0;
	levels = study_hand_levels(&boot->matrix, boot->matrix.baseline);
	int r = boot->state->hand.levels ? study_hand_leave(&hands, levels, err) : 0;

	json_decref(levels);
	return r;
}

/* Nothing of it is left but what it has measured. */
static int finish(struct study_boot *boot, enum study_move *ret, struct err *err)
{
	bool boots = study_needs_boots(boot->study);
	int asks = leave_by_hand(boot, err);

	if (asks)
		return asks < 0 ? asks : tell_person(boot, ret);
	int r = boots ? study_boot_leave(boot, err) : 0;
	struct err fault = {0};

	/* Those that no boot of the host starts by itself. One that does not start is told, and keeps nothing from its
	 * end. */
	if (r == 0 && study_vm_wake(boot->machine, boot->study, boot->state->vms, false, &fault) < 0)
		study_notify(boot, "failed",
			     arena_printf(boot->arena, "a VM that ran before the study is off: %s: %s", fault.where,
					  fault.what));
	if (r == STUDY_REBOOT) {
		*ret = STUDY_BOOTS;
		return 0;
	}
	if (r == 0 && boots)
		r = tidy_loader(boot, err);
	if (r == 0 && boots)
		r = study_unit_remove(boot->machine, err);
	if (r < 0)
		return r;
	study_notify(boot, "end", last_words(boot));
	*ret = json_object_size(boot->state->hooks) ? STUDY_OWES : STUDY_OVER;
	return study_state_over(boot->machine, boot->state, err);
}

/* ---- going on ---- */

static int hold(struct study_boot *boot, bool is_new, enum study_move *ret, struct err *err)
{
	boot->state->paused = true;
	boot->state->clean = true;
	*ret = STUDY_HOLDS;
	if (is_new)
		study_notify(boot, "paused", arena_printf(boot->arena, "study %s is paused", boot->study->name));
	return study_state_write(boot->machine, boot->state, err);
}

/* What the runs of this boot have come to. *ret_goes: it is decided what to do. */
static int after_runs(struct study_boot *boot, const struct study_outcome *outcome, int result, const struct err *why,
		      bool *ret_decided, enum study_move *ret, struct err *err)
{
	struct study_state *state = boot->state;
	enum study_wish wish = study_wish_read(boot->machine);

	state->runs = (unsigned)outcome->count;
	*ret_decided = true;
	if (result < 0) {
		end_as(boot, "failed", arena_printf(boot->arena, "%s: %s", why->where, why->what));
	} else if (outcome->reboots) {
		*ret = STUDY_BOOTS;
		return 0;
	} else if (outcome->asks) {
		state->clean = true;
		int r = study_state_write(boot->machine, state, err);

		return r < 0 ? r : tell_person(boot, ret);
	} else if (outcome->paused || (text_equal(outcome->state, "stopped") && wish == STUDY_WISH_PAUSE)) {
		return hold(boot, true, ret, err);
	} else if (text_equal(outcome->state, "stopped") && wish != STUDY_WISH_ABORT && !outcome->over) {
		state->clean = true;
		*ret = STUDY_LEFT;
		return study_state_write(boot->machine, state, err);
	} else {
		end_as(boot, outcome->state, wish == STUDY_WISH_ABORT ? "aborted" : outcome->why);
	}
	*ret_decided = false;
	state->clean = true;
	return study_state_write(boot->machine, state, err);
}

/* As study_boot_arrive(); a signal makes it -EINTR, and then the next boot is judged as nobody's. */
static int arrive(struct study_boot *boot, struct err *err)
{
	struct study_state *state = boot->state;
	struct bench_signals signals;

	bench_signals_hold(&signals);
	boot->signals = &signals;
	int r = study_boot_arrive(boot, err);

	boot->signals = NULL;
	bench_signals_release(&signals);
	if (r != -EINTR)
		return r;
	state->asked.boot = NULL;
	state->boot = "";
	state->clean = true;
	int written = study_state_write(boot->machine, state, err);

	return written < 0 ? written : r;
}

/*
 * What a kill or a boot has left is put back before anything is judged; who asks is told of this process already. What
 * would end it comes after that, since half of it would be left again: -EINTR.
 */
static int put_in_order(struct study_boot *boot, struct err *err)
{
	struct study_state *state = boot->state;
	struct bench_signals signals;
	const char *stuck = NULL;
	struct err fault = {0};

	bench_signals_hold(&signals);
	study_state_name(boot->machine, state);
	int r = study_state_write(boot->machine, state, err);

	/* What has to be put back inside guests needs them up; where one is not, that is told then. */
	if (r == 0)
		(void)study_vm_wake(boot->machine, boot->study, state->vms, true, &fault);
	if (r == 0)
		r = study_host_tidy(boot->machine, NULL, err);
	/* Of a mount that went with a boot nothing is left to be taken back; a file that was written is. */
	if (r == 0 && study_host_unhook(boot->arena, boot->study, state, &stuck) < 0 && boot->notify)
		boot->notify(boot->data, "failed", arena_printf(boot->arena, "Not put back: %s.", stuck));
	bool came = bench_signals_came(&signals);

	bench_signals_release(&signals);
	return r < 0 ? r : came ? -EINTR : 0;
}

int study_go_on(struct study_boot *boot, const struct study_setup *setup, struct study_outcome *outcome,
		enum study_move *ret, struct err *err)
{
	struct study_state *state = boot->state;
	enum study_wish wish;
	bool decided = false;
	struct err fault = {0};
	int arrived, r = put_in_order(boot, err);

	if (r < 0 && r != -EINTR)
		return r;
	wish = study_wish_read(boot->machine);
	if (r == -EINTR && wish == STUDY_NO_WISH && !state->end) {
		*ret = STUDY_LEFT;
		return 0;
	}
	if (wish == STUDY_WISH_ABORT)
		end_as(boot, "stopped", "aborted");
	/* He says himself when it is done, whatever boots meanwhile; who aborts it waits no more. */
	if (study_hand_waits(state) && wish != STUDY_WISH_ABORT) {
		*ret = STUDY_WAITS;
		return study_state_write(boot->machine, state, err);
	}
	(void)json_object_clear(state->hand.wanted);
	arrived = study_needs_boots(boot->study) ? arrive(boot, err) : 0;
	if (arrived == -EINTR && !state->end) {
		*ret = STUDY_LEFT;
		return 0;
	}
	if (arrived < 0 && arrived != -EINTR)
		return arrived;
	study_state_take(boot->machine, state);
	r = study_state_write(boot->machine, state, err);
	if (r == 0 && !state->end && (state->paused || wish == STUDY_WISH_PAUSE))
		return hold(boot, !state->paused, ret, err);
	if (r == 0 && !state->end && arrived == STUDY_REBOOT) {
		*ret = STUDY_BOOTS;
		state->clean = true;
		return study_state_write(boot->machine, state, err);
	}
	const struct study_hands hands = {boot->machine, boot->study, state};

	if (r == 0 && !state->end) {
		r = study_hand_look(&hands, err);
		if (r == STUDY_ASKS)
			return tell_person(boot, ret);
	}
	if (r == 0 && !state->end) {
		int result = study_run(setup, outcome, &fault);

		/* The results could not be reached: it may be tried again when they can. */
		if (result < 0 && !outcome->session) {
			(void)err_copy(err, &fault);
			return result;
		}
		r = after_runs(boot, outcome, result, &fault, &decided, ret, err);
	}
	if (r < 0 || decided)
		return r;
	/* That the results cannot say so keeps nothing from its end. */
	if (wish == STUDY_WISH_ABORT && setup->store &&
	    study_end_cut(setup->store, state->uid, "it was killed, and aborted after that", &fault) < 0 &&
	    boot->notify)
		boot->notify(boot->data, "failed", arena_printf(boot->arena, "%s: %s", fault.where, fault.what));
	return finish(boot, ret, err);
}

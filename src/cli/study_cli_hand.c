/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a person changes in a study, as he is told of it and as he answers. */
#include <errno.h>

#include "change.h"
#include "report.h"
#include "study_cli_boot.h"
#include "study_go.h"
#include "study_hand.h"
#include "study_unit.h"
#include "text.h"

/* ---- what is told ---- */

void study_cli_print_asks(const struct cli *cli, struct arena *arena, const struct study_state *state)
{
	json_t *text;
	size_t index;

	json_array_foreach (state->hand.texts, index, text) {
		(void)fprintf(cli->out.out, "  %zu. ", index + 1);
		term_flow(&cli->out, 5, true, json_is_string(text) ? json_string_value(text) : "?");
	}
	term_flow(&cli->out, 0, true, study_hand_todo(arena, state));
	if (state->hand.fault)
		term_flow(&cli->out, 0, true, arena_printf(arena, "It was not taken for done: %s.", state->hand.fault));
}

json_t *study_cli_asks_json(const struct study_state *state)
{
	json_t *list = json_array(), *level;
	const char *factor;
	size_t index = 0;

	json_object_foreach (state->hand.wanted, factor, level) {
		json_array_append_new(list, json_pack("{s:s, s:O, s:O?}", "factor", factor, "level", level, "text",
						      json_array_get(state->hand.texts, index)));
		index++;
	}
	return list;
}

void study_cli_print_left_by_hand(const struct cli *cli, struct arena *arena, const struct study_state *state)
{
	struct study_mistakes mistakes = {0};
	struct study *study = NULL;
	const char *left = NULL;

	if (study_read(arena, state->file, state->text, strlen(state->text), &study, &mistakes) == 0 &&
	    study_suit_again(arena, study, state->suited, NULL) == 0)
		left = study_hand_left(arena, study, state);
	if (left)
		term_flow(&cli->out, 0, true, arena_printf(arena, "Still changed by hand: %s.", left));
}

/* ---- the end of the runs ---- */

static int keep(struct study_boot *boot, bool asks, struct err *err)
{
	int r = study_state_write(boot->machine, boot->state, err);

	if (r == 0 && asks)
		study_notify(boot, "ask", study_hand_say(boot->arena, boot->state));
	return r;
}

int study_cli_settle(struct study_boot *boot, const struct study_outcome *outcome, int result, json_t *levels,
		     struct err *err)
{
	const struct study_hands hands = {boot->machine, boot->study, boot->state};
	struct study_state *state = boot->state;
	bool aborted = study_wish_read(boot->machine) == STUDY_WISH_ABORT;
	bool changed = study_hand_left(boot->arena, boot->study, state) != NULL;
	/* Stopped, or not even begun: where a person has changed something it is not forgotten. */
	bool stopped = text_equal(outcome->state, "stopped") || (result < 0 && !outcome->session);

	state->clean = true;
	state->pid = 0;
	state->runs = (unsigned)outcome->count;
	if (outcome->asks || outcome->paused || (stopped && changed && !aborted)) {
		state->paused = !outcome->asks;
		json_decref(levels);
		return keep(boot, outcome->asks, err);
	}
	state->end = outcome->state;
	state->why = outcome->why ? arena_strdup(boot->machine->arena, outcome->why) : NULL;
	int r = aborted ? 0 : study_hand_leave(&hands, levels, err);

	json_decref(levels);
	return r < 0 ? r : r == STUDY_ASKS ? keep(boot, true, err) : study_state_over(boot->machine, state, err);
}

/* ---- the answer ---- */

static bool is_answer(const struct cli *cli)
{
	return cli_given(cli, OPTION_DONE) || cli_given(cli, OPTION_CANNOT);
}

/* How it stands after the answer; `text` for people. */
static int tell(const struct cli *cli, const struct study_state *state, const char *word, const char *text, int code)
{
	if (cli_given(cli, OPTION_JSON)) {
		json_t *json = report_json_start("study resume", NULL);

		json_object_set_new(json, "study", report_json_text(state->name));
		json_object_set_new(json, "uid", report_json_text(state->uid));
		json_object_set_new(json, "state", report_json_text(word));
		json_object_set_new(json, "asks", study_cli_asks_json(state));
		json_object_set_new(json, "not_done", report_json_text(state->hand.fault));
		(void)report_json_print(stdout, json);
	} else {
		term_flow(&cli->out, 0, true, text);
	}
	return code;
}

/* He has not said anything that can be taken for an answer. */
static int tell_waits(const struct cli *cli, struct arena *arena, const struct study_state *state)
{
	int code =
	    tell(cli, state, "asks", arena_printf(arena, "Study %s waits for a person.", state->name), EXIT_FINDINGS);

	if (!cli_given(cli, OPTION_JSON))
		study_cli_print_asks(cli, arena, state);
	return code;
}

static int open_study(struct study_boot *boot, struct err *err)
{
	struct study_mistakes mistakes = {0};
	const struct study_state *state = boot->state;

	if (study_read(boot->arena, state->file, state->text, strlen(state->text), &boot->study, &mistakes) < 0) {
		(void)err_copy(err, &mistakes.items[0]);
		return -EINVAL;
	}
	int r = study_suit_again(boot->arena, boot->study, state->suited, err);

	return r < 0 ? r : study_boot_open(boot, err);
}

/* The study that this process would go on with has ended: nothing is left to be done but by a person. `asked`: he was.
 */
static int end_here(const struct cli *cli, struct study_boot *boot, bool asked, struct err *err)
{
	const struct study_hands hands = {boot->machine, boot->study, boot->state};
	struct study_state *state = boot->state;
	json_t *levels = study_hand_levels(&boot->matrix, boot->matrix.baseline);
	int r = asked ? 0 : study_hand_leave(&hands, levels, err);

	json_decref(levels);
	if (r == STUDY_ASKS) {
		study_notify(boot, "ask", study_hand_say(boot->arena, state));
		return tell_waits(cli, boot->arena, state);
	}
	const char *left = study_hand_left(boot->arena, boot->study, state);
	const char *text =
	    arena_printf(boot->arena, "Study %s has ended%s%s%s%s.", state->name, state->why ? ": " : "",
			 state->why ? state->why : "", left ? "; still changed by hand: " : "; all is as it was before",
			 left ? left : "");

	if (r == 0)
		r = study_state_over(boot->machine, state, err);
	if (r == 0 && study_state_is_stuck(boot->machine, state))
		return study_cli_tell_stuck(boot->arena, state);
	return r < 0 ? cli_fail(err)
		     : tell(cli, state, "none", text, asked && !state->hand.kept ? EXIT_FINE : EXIT_FINDINGS);
}

/* Its unit goes on with it. */
static int start_unit(const struct cli *cli, struct study_boot *boot, struct err *err)
{
	struct study_state *state = boot->state;
	int r;

	state->paused = false;
	r = study_state_write(boot->machine, state, err);
	if (r == 0)
		r = study_wish_write(boot->machine, STUDY_NO_WISH, err);
	if (r == 0)
		r = study_unit_start(boot->machine, err);
	return r < 0 ? cli_fail(err)
		     : tell(cli, state, "waiting",
			    arena_printf(boot->arena, "Study %s goes on: hvtune study status tells how it stands.",
					 state->name),
			    EXIT_FINE);
}

/* With the answer in force; `ended`: it was the last thing asked for. False: this process is to go on with it. */
static bool after_answer(struct cli *cli, struct study_boot *boot, bool ended, int *ret_code)
{
	struct err err = {0};

	if (boot->state->end && !study_needs_boots(boot->study))
		*ret_code = end_here(cli, boot, ended, &err);
	else if (study_needs_boots(boot->study) || !sys_writer_is_live(boot->machine->writer))
		*ret_code = start_unit(cli, boot, &err);
	else
		return false;
	return true;
}

static int take_answer(const struct cli *cli, struct study_boot *boot, struct err *err)
{
	const struct study_hands hands = {boot->machine, boot->study, boot->state};

	return cli_given(cli, OPTION_CANNOT) ? study_hand_cannot(&hands, cli->values[OPTION_CANNOT], err)
					     : study_hand_done(&hands, err);
}

static int refuse_answer(struct knob_machine *machine, const struct study_state *state)
{
	struct err err = {0};
	bool alive = study_state_is_alive(machine, state);

	(void)err_set(&err, EINVAL, NULL, "study %s %s, and asks nothing%s", state->name,
		      study_state_words(machine, state), alive ? " now" : "");
	(void)err_hint(&err, alive ? "hvtune study status tells how it stands" : "hvtune study resume goes on with it");
	return cli_fail(&err);
}

bool study_cli_answer_asks(struct cli *cli, int *ret_code)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct study_boot boot = {.machine = &machine, .state = &state};
	struct err err = {0};

	/* Which session is gone on with is said. */
	if (!is_answer(cli) && cli->argument_count != 1)
		return false;
	*ret_code = cli_given(cli, OPTION_DONE) && cli_given(cli, OPTION_CANNOT)
			? cli_usage(cli, "either it is --done, or it --cannot be")
		    : is_answer(cli) && cli->argument_count != 1
			? cli_usage(cli, "--done and --cannot are about the study that waits here")
		    : is_answer(cli) && cli_given(cli, OPTION_CANNOT) && !*cli->values[OPTION_CANNOT]
			? cli_usage(cli, "--cannot takes the reason, which is told with the answer")
			: change_open(cli, &machine);
	if (*ret_code)
		return true;
	int r = study_state_read(&machine, &state, &err);

	if (r < 0) {
		*ret_code = is_answer(cli) ? cli_fail(&err) : 0;
		return is_answer(cli);
	}
	if (!study_hand_waits(&state) || study_state_is_alive(&machine, &state)) {
		*ret_code = is_answer(cli) ? refuse_answer(&machine, &state) : 0;
		return is_answer(cli);
	}
	if (!is_answer(cli)) {
		*ret_code = tell_waits(cli, machine.arena, &state);
		return true;
	}
	*ret_code = change_needs_root(cli, &machine);
	if (*ret_code)
		return true;
	bool ended = state.end;

	boot.arena = machine.arena;
	r = open_study(&boot, &err);
	if (r == 0)
		r = take_answer(cli, &boot, &err);
	if (r == -EAGAIN)
		*ret_code = tell_waits(cli, machine.arena, &state);
	else if (r < 0)
		*ret_code = cli_fail(&err);
	return r < 0 || after_answer(cli, &boot, ended, ret_code);
}

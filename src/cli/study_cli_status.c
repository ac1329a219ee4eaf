/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is asked and wished from any shell of a study that runs. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "change.h"
#include "knob_journal.h"
#include "report.h"
#include "study_hand.h"
#include "study_cli_boot.h"
#include "study_unit.h"
#include "text.h"

struct standing {
	const struct study_state *state;
	struct study *study;
	const char *word; /* "starting", "running", "booting", "paused", "waiting", "asks", "ending", "not put back" */
	enum study_wish wish;
	double left_s; /* of the budget; negative: it has none */
};

/* Opens the machine and reads the state; 0, or an exit code after a line. */
static int open_state(struct cli *cli, struct knob_machine *machine, struct study_state *state)
{
	struct err err = {0};
	int r;

	if (cli->argument_count != 1)
		return cli_usage(cli, "study %s takes no argument: it is about the study that runs here",
				 cli->arguments[0]);
	r = change_open(cli, machine);
	if (r)
		return r;
	r = study_state_read(machine, state, &err);
	if (r == -ENOENT) {
		if (cli_given(cli, OPTION_JSON)) {
			json_t *json = report_json_start("study status", NULL);

			json_object_set_new(json, "state", report_json_text("none"));
			(void)report_json_print(stdout, json);
		} else {
			(void)cli_fail(&err);
		}
		return EXIT_FINDINGS;
	}
	return r ? cli_fail(&err) : 0;
}

/* ---- status ---- */

static const char *word_of(struct knob_machine *machine, const struct study_state *state)
{
	bool alive = study_state_is_alive(machine, state);

	if (study_hand_waits(state) && !alive)
		return "asks";
	if (study_state_is_stuck(machine, state))
		return "not put back";
	if (state->end)
		return "ending";
	if (text_equal(state->asked.boot, knob_boot_id(machine)))
		return "booting";
	if (alive)
		return "running";
	if (study_state_is_starting(machine, state))
		return "starting";
	return state->paused ? "paused" : "waiting";
}

static void find_standing(struct knob_machine *machine, const struct study_state *state, struct standing *ret)
{
	struct study_mistakes mistakes = {0};

	*ret = (struct standing){
	    .state = state, .word = word_of(machine, state), .wish = study_wish_read(machine), .left_s = -1};
	if (study_read(machine->arena, state->file, state->text, strlen(state->text), &ret->study, &mistakes) == 0 &&
	    (ret->study->budget_s > 0 || state->budget_s > 0))
		ret->left_s =
		    MAX_OF((state->budget_s > 0 ? state->budget_s : ret->study->budget_s) - state->spent_s, 0.);
}

static json_t *boots_json(const json_t *list)
{
	json_t *copy = json_deep_copy(list);

	return copy ? copy : json_array();
}

static void print_json(const struct standing *standing)
{
	static const char *const wishes[] = {
	    [STUDY_NO_WISH] = NULL, [STUDY_WISH_PAUSE] = "pause", [STUDY_WISH_ABORT] = "abort"};
	const struct study_state *state = standing->state;
	json_t *json = report_json_start("study status", NULL);

	json_object_set_new(json, "study", report_json_text(state->name));
	json_object_set_new(json, "uid", report_json_text(state->uid));
	json_object_set_new(json, "state", report_json_text(standing->word));
	json_object_set_new(json, "wish", report_json_text(wishes[standing->wish]));
	json_object_set_new(json, "configuration", report_json_text(state->config));
	json_object_set_new(json, "runs", json_integer(state->runs));
	json_object_set_new(json, "boots", json_integer(state->boots));
	json_object_set_new(json, "boots_most", json_integer(state->boots_most));
	json_object_set_new(json, "boot_s",
			    state->boots_timed ? json_real(state->boots_s / state->boots_timed) : json_null());
	json_object_set_new(json, "spent_s", json_real(state->spent_s));
	json_object_set_new(json, "left_s", standing->left_s >= 0 ? json_real(standing->left_s) : json_null());
	json_object_set_new(json, "failed_boots", boots_json(state->failures));
	json_object_set_new(json, "not_measurable", boots_json(state->out));
	json_object_set_new(json, "asks", study_cli_asks_json(state));
	json_object_set_new(json, "not_done", report_json_text(state->hand.fault));
	json_object_set_new(json, "by_hand", state->hand.levels ? json_deep_copy(state->hand.levels) : json_object());
	json_object_set_new(json, "end", report_json_text(state->end));
	json_object_set_new(json, "why", report_json_text(state->why));
	(void)report_json_print(stdout, json);
}

static void print_levels(const struct cli *cli, struct arena *arena, const char *head, const json_t *list)
{
	json_t *item;
	size_t index;

	json_array_foreach (list, index, item)
		term_flow(&cli->out, 0, true,
			  arena_printf(arena, "%s %s: %s.", head,
				       study_levels_text(arena, json_object_get(item, "levels")),
				       json_string_value(json_object_get(item, "why"))));
}

static void print_text(const struct cli *cli, struct arena *arena, const struct standing *standing)
{
	static const struct {
		const char *word, *text;
	} words[] = {{"running", "runs"},
		     {"starting", "is starting: " STUDY_UNIT " has not begun yet; where that lasts, systemctl status "
				  "hvtune-study tells why"},
		     {"booting", "waits for the host to boot"},
		     {"paused", "is paused: hvtune study resume goes on with it"},
		     {"waiting", "waits: it was stopped or killed, and goes on with the next boot, or hvtune study "
				 "resume"},
		     {"asks", "waits for a person"},
		     {"not put back", "has ended, and not all is as it was before"},
		     {"ending", "has ended, and the host is put back to what it was"}};
	const struct study_state *state = standing->state;
	const char *text = "";

	/* No boot goes on with it by itself. */
	if (text_equal(standing->word, "waiting") && !state->boots_most)
		text = "was killed before its end: hvtune study resume goes on with it, hvtune study abort ends it and "
		       "puts back what it left";
	if (text_equal(standing->word, "asks") && state->end)
		text = "has ended, and waits for a person to put back what was changed by hand";
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!*text && text_equal(words[i].word, standing->word))
			text = words[i].text;
	term_flow(&cli->out, 0, true,
		  arena_printf(arena, "Study %s %s%s.", state->name, text,
			       standing->wish == STUDY_WISH_PAUSE && !state->paused ? "; it holds after this run"
			       : standing->wish == STUDY_WISH_ABORT		    ? "; it is being aborted"
										    : ""));
	if (text_equal(standing->word, "asks"))
		study_cli_print_asks(cli, arena, state);
	if (text_equal(standing->word, "not put back")) {
		text = standing->study ? study_host_by_hand(arena, standing->study, state) : NULL;
		term_flow(
		    &cli->out, 0, true,
		    arena_printf(arena, "Not put back: %s.", text ? text : study_levels_text(arena, state->hooks)));
		term_flow(&cli->out, 0, true, "To put it back: " STUDY_TRY_AGAIN ".");
	}
	if (state->config && !state->end)
		term_flow(
		    &cli->out, 0, true,
		    arena_printf(arena, "%s: %s.", text_equal(standing->word, "asks") ? "Next" : "Now", state->config));
	text = arena_printf(arena, "%s, ", text_count(arena, state->runs, "run", "runs"));
	if (state->boots_most)
		text = arena_printf(arena, "%s%u of at most %s, ", text, state->boots,
				    text_count(arena, state->boots_most, "boot", "boots"));
	text = arena_printf(arena, "%s%s", text, text_duration(arena, state->spent_s));
	if (state->boots_timed)
		text = arena_printf(arena, "%s (a boot takes %s)", text,
				    text_duration(arena, state->boots_s / state->boots_timed));
	if (standing->left_s >= 0)
		text = arena_printf(arena, "%s; at most %s left", text, text_duration(arena, standing->left_s));
	term_flow(&cli->out, 0, true, arena_printf(arena, "%s.", text));
	print_levels(cli, arena, "A boot failed,", state->failures);
	print_levels(cli, arena, "Not measurable:", state->out);
}

int study_cli_status(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct standing standing;
	int r = open_state(cli, &machine, &state);

	if (r)
		return r;
	find_standing(&machine, &state, &standing);
	if (cli_given(cli, OPTION_JSON))
		print_json(&standing);
	else
		print_text(cli, machine.arena, &standing);
	return EXIT_FINE;
}

/* ---- wishes ---- */

/* Opens the machine and writes the wish. 0, or an exit code; *ret_told: nobody is there to hear it, and that is said.
 */
static int wish_for(struct cli *cli, struct knob_machine *machine, struct study_state *state, enum study_wish wish,
		    bool *ret_told)
{
	struct err err = {0};

	*ret_told = false;
	int r = open_state(cli, machine, state);

	if (r == 0)
		r = change_needs_root(cli, machine);
	if (r)
		return r;
	if (wish == STUDY_WISH_PAUSE && study_hand_waits(state) && !study_state_is_alive(machine, state)) {
		term_flow(&cli->out, 0, true,
			  arena_printf(machine->arena,
				       "Study %s waits for a person, and does nothing until he says so: hvtune study "
				       "status.",
				       state->name));
		*ret_told = true;
		return EXIT_FINE;
	}
	if (wish == STUDY_WISH_PAUSE && study_state_is_stuck(machine, state))
		return study_cli_tell_stuck(machine->arena, state);
	/* Nobody is there to hear it, and nothing begins it anew by itself. */
	if (wish == STUDY_WISH_PAUSE && !state->boots_most && !study_state_is_alive(machine, state)) {
		term_flow(
		    &cli->out, 0, true,
		    arena_printf(machine->arena,
				 "Study %s %s. hvtune study resume goes on with it, hvtune study abort ends it and "
				 "puts back what it left.",
				 state->name, study_state_words(machine, state)));
		*ret_told = true;
		return state->paused ? EXIT_FINE : EXIT_FINDINGS;
	}
	/* He has done by hand what the commands of its levels cannot. */
	if (cli_given(cli, OPTION_DONE)) {
		if (study_state_is_alive(machine, state))
			return study_state_refuse(machine, NULL, &err) < 0 ? cli_fail(&err) : EXIT_COULD_NOT;
		(void)json_object_clear(state->hooks);
		if (study_state_write(machine, state, &err) < 0)
			return cli_fail(&err);
	}
	return study_wish_write(machine, wish, &err) < 0 ? cli_fail(&err) : 0;
}

int study_cli_pause(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	bool told;
	int r = wish_for(cli, &machine, &state, STUDY_WISH_PAUSE, &told);

	if (r || told)
		return r;
	if (state.timing) {
		(void)kill(state.pid, SIGTERM);
		term_flow(
		    &cli->out, 0, true,
		    arena_printf(machine.arena,
				 "Study %s has measured nothing yet that could be kept: it ends, and can be run again.",
				 state.name));
		return EXIT_FINE;
	}
	term_flow(&cli->out, 0, true,
		  arena_printf(machine.arena, "Study %s %s. hvtune study resume goes on with it.", state.name,
			       study_state_is_alive(&machine, &state)
				   ? "holds after the run that is being made, with the settings put back"
				   : "is paused"));
	return EXIT_FINE;
}

/* Its unit may be about to begin: that ends it, or is gone before this process does. */
static int end_here(struct cli *cli, struct knob_machine *machine)
{
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct err fault = {0}, gone = {0};

	if (study_unit_stop(machine, &fault) < 0)
		(void)cli_fail(&fault);
	if (study_state_read(machine, &state, &gone) == -ENOENT) {
		term_flow(&cli->out, 0, true, "The study has ended, and everything is put back.");
		return EXIT_FINE;
	}
	return study_cli_carry_on(cli);
}

int study_cli_abort(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	bool told;
	int r = wish_for(cli, &machine, &state, STUDY_WISH_ABORT, &told);

	if (r)
		return r;
	study_cli_print_left_by_hand(cli, machine.arena, &state);
	if (study_state_is_alive(&machine, &state)) {
		/* It puts everything back itself, and boots the host into its default where that takes a boot. */
		(void)kill(state.pid, SIGTERM);
		term_flow(&cli->out, 0, true,
			  arena_printf(machine.arena,
				       "Study %s ends: everything is put back%s. hvtune study status tells when that "
				       "is done.",
				       state.name, state.boots ? ", by a boot of the host where it takes one" : ""));
		return EXIT_FINE;
	}
	if (!sys_writer_is_live(machine.writer))
		return EXIT_FINE;
	return end_here(cli, &machine);
}

bool study_cli_wake(struct cli *cli, int *ret_code)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	CLEANUP(study_state_clear) struct study_state state = {0};
	struct err err = {0};
	int r;

	if (cli->argument_count != 1 || change_open(cli, &machine) != 0)
		return false;
	r = study_state_read(&machine, &state, &err);
	/* One that boots nothing, or has ended, has no unit, and is gone on with by its results. */
	if (r == -ENOENT || (r == 0 && study_state_is_stuck(&machine, &state)) ||
	    (r == 0 && !state.boots_most && !study_state_is_alive(&machine, &state)))
		return false;
	*ret_code = change_needs_root(cli, &machine);
	if (*ret_code)
		return true;
	state.paused = false;
	if (r == 0)
		r = study_wish_write(&machine, STUDY_NO_WISH, &err);
	/* The one that runs writes its own state, and knows of no pause before it holds. */
	if (r == 0 && !study_state_is_alive(&machine, &state)) {
		r = study_state_write(&machine, &state, &err);
		if (r == 0)
			r = study_unit_start(&machine, &err);
	}
	*ret_code = r < 0 ? cli_fail(&err) : EXIT_FINE;
	if (r == 0)
		term_flow(&cli->out, 0, true,
			  arena_printf(machine.arena, "Study %s goes on: hvtune study status tells how it stands.",
				       state.name));
	return true;
}

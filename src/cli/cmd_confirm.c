/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns `hvtune confirm`. */
#include <errno.h>
#include <time.h>

#include "change.h"
#include "knob_confirm.h"
#include "report.h"
#include "report_knob.h"
#include "text.h"

enum { MOST_WAIT_S = 3600, LOOK_EVERY_S = 5 };

static const char *const state_words[] = {
    [KNOB_CONFIRM_GOOD] = "good", [KNOB_CONFIRM_NOT_YET] = "not yet", [KNOB_CONFIRM_BAD] = "bad"};

static json_t *items_json(const struct knob_confirm *confirm)
{
	json_t *list = json_array();

	for (size_t i = 0; i < confirm->count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:s, s:o}", "what", report_json_text(confirm->items[i].what),
						"state", state_words[confirm->items[i].state], "found",
						report_json_text(confirm->items[i].found)));
	return list;
}

static void print_items(const struct cli *cli, struct arena *arena, const struct knob_confirm *confirm)
{
	for (size_t i = 0; i < confirm->count; i++) {
		const struct knob_confirm_item *item = &confirm->items[i];

		term_flow(&cli->out, 0, true,
			  arena_printf(arena, "%s: %s%s%s", state_words[item->state], item->what,
				       item->found ? "; found " : "", item->found ? item->found : ""));
	}
}

/* Look until it is well, or cannot become well, or the time is over. */
static int look(struct knob_machine *machine, int64_t wait_s, struct knob_confirm *ret, struct err *err)
{
	const struct timespec pause = {.tv_sec = LOOK_EVERY_S};
	int r = knob_confirm_look(machine, true, ret, err);

	for (int64_t waited = 0; r == 0 && ret->worst == KNOB_CONFIRM_NOT_YET && waited < wait_s;
	     waited += LOOK_EVERY_S) {
		(void)nanosleep(&pause, NULL);
		r = knob_confirm_look(machine, true, ret, err);
	}
	return r;
}

static int accept(const struct cli *cli, struct knob_machine *machine, const struct knob_confirm *confirm,
		  struct err *err)
{
	const struct knob_apply_options options = {.what = arena_printf(machine->arena, "confirm %s", confirm->asked)};
	struct change_signals signals;
	struct knob_report report = {0};

	change_hold_signals(&signals);
	int r = knob_confirm_accept(machine, &options, &report, err);

	change_release_signals(&signals);
	if (r < 0)
		report_knob_events(&cli->out, machine->arena, &report);
	return r;
}

int cmd_confirm(struct cli *cli)
{
	CLEANUP(knob_machine_close) struct knob_machine machine = {0};
	struct knob_confirm confirm = {0};
	struct err err = {0};
	int64_t wait_s = 0;
	int r;

	if (cli->argument_count)
		return cli_usage(cli, "confirm takes no argument");
	if (cli_given(cli, OPTION_WAIT) &&
	    (text_int(cli->values[OPTION_WAIT], 10, &wait_s) < 0 || wait_s < 0 || wait_s > MOST_WAIT_S))
		return cli_usage(cli, "--wait takes seconds, at most %d", MOST_WAIT_S);
	r = change_open(cli, &machine);
	if (r == 0)
		r = change_needs_root(cli, &machine);
	if (r)
		return r;
	if (look(&machine, wait_s, &confirm, &err) < 0)
		return cli_fail(&err);
	/* The service that confirms runs in every trial boot: that this is none of its own is no fault. */
	if (confirm.of && !cli_given(cli, OPTION_JSON)) {
		term_flow(&cli->out, 0, true, knob_confirm_text(&machine, &confirm));
		return EXIT_FINE;
	}
	bool good = !confirm.of && confirm.is_trial_boot && confirm.worst == KNOB_CONFIRM_GOOD;

	if (!cli_given(cli, OPTION_JSON))
		print_items(cli, machine.arena, &confirm);
	if (good && accept(cli, &machine, &confirm, &err) < 0)
		return cli_fail(&err);
	if (cli_given(cli, OPTION_JSON)) {
		json_t *json = report_json_start("confirm", NULL);

		json_object_set_new(json, "asked", report_json_text(confirm.asked));
		json_object_set_new(json, "trial_boot", json_boolean(confirm.is_trial_boot));
		json_object_set_new(json, "checks", items_json(&confirm));
		json_object_set_new(json, "confirmed", json_boolean(good));
		(void)report_json_print(stdout, json);
	} else {
		term_flow(&cli->out, 0, true, knob_confirm_text(&machine, &confirm));
	}
	return good || confirm.of ? EXIT_FINE : EXIT_FINDINGS;
}
